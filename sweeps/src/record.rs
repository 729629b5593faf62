//! What is kept of a task that was run: a file under its id, whole or not there at all.
//!
//! A result lies in `DIRECTORY/ab/abcd….json`, beside the exit status in one object, so that the two cannot part. A failure lies in
//! `abcd….failed.json` there; the next run tries again, and a result takes its place.

use crate::{Outcome, SweepError, Task};
use fairplan_instances::FAIRPLAN_VERSION;
use fairplan_report::output::place_file;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The format of a record.
pub(crate) const FORMAT: &str = "fairplan.run.v1";

/// How a record ends. One that a power failure cut short does not.
const END: &[u8] = b"}\n";

/// One run of one task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record<'a> {
    /// `fairplan.run.v1`.
    #[serde(borrow)]
    pub format: &'a str,
    /// The version that ran the task.
    pub fairplan_version: &'a str,
    /// The id of the task.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub id: &'a str,
    /// How the command ended: 0 done, 1 the answer is no, everything else a failure.
    pub exit_status: u8,
    /// Why it failed. Absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The document that the command wrote, with a format of its own. Absent if it failed.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub result: Option<&'a RawValue>,
}

/// Whether a task has a result, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    Done,
    Failed,
    Missing,
}

fn path(directory: &Path, id: &str, ending: &str) -> PathBuf {
    directory.join(id.get(..2).unwrap_or(id)).join(format!("{id}{ending}"))
}

/// Where the result of a task lies.
pub(crate) fn result_path(directory: &Path, id: &str) -> PathBuf {
    path(directory, id, ".json")
}

/// Where its failure lies.
pub(crate) fn failure_path(directory: &Path, id: &str) -> PathBuf {
    path(directory, id, ".failed.json")
}

/// Whether the result of a task is there, whole and of this version.
///
/// # Errors
/// A result of another version or of another task under this name.
pub(crate) fn is_there(directory: &Path, id: &str) -> Result<bool, SweepError> {
    let path = result_path(directory, id);
    let reading = |error| SweepError::reading(&path, error);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(reading(error)),
    };
    let beginning = beginning(FAIRPLAN_VERSION, id);
    let mut head = Vec::with_capacity(beginning.len());
    file.by_ref().take(beginning.len() as u64).read_to_end(&mut head).map_err(reading)?;
    let mut tail = Vec::with_capacity(END.len());
    let length = file.seek(SeekFrom::End(0)).map_err(reading)?;
    file.seek(SeekFrom::Start(length.saturating_sub(END.len() as u64))).map_err(reading)?;
    file.read_to_end(&mut tail).map_err(reading)?;
    match head == beginning.as_bytes() {
        true => Ok(tail == END),
        // Cut short, or filled with zeros: as good as not there.
        false if head.len() < beginning.len() || head.contains(&0) => Ok(false),
        false => Err(foreign(&path)),
    }
}

fn beginning(version: &str, id: &str) -> String {
    format!("{{\"format\":\"{FORMAT}\",\"fairplan_version\":\"{version}\",\"id\":\"{id}\",")
}

fn foreign(path: &Path) -> SweepError {
    let reason = format!(
        "is no result of this task by fairplan {FAIRPLAN_VERSION}; use a directory of its own, or remove it"
    );
    SweepError::refused(format!("{}: {reason}", path.display()))
}

/// How things stand with a task.
pub(crate) fn stands(directory: &Path, id: &str) -> Result<Stands, SweepError> {
    Ok(match is_there(directory, id)? {
        true => Stands::Done,
        false if failure_path(directory, id).exists() => Stands::Failed,
        false => Stands::Missing,
    })
}

/// Keeps what came of a task. Returns whether it is a result.
pub(crate) fn keep(directory: &Path, task: &Task, outcome: Outcome) -> Result<bool, SweepError> {
    let Outcome { status, message, result } = outcome;
    let read = serde_json::from_slice::<&RawValue>(&result);
    let (status, message, result) = match (status, read) {
        (0 | 1, Ok(result)) if result.get().starts_with('{') => (status, None, Some(result)),
        (0 | 1, _) => {
            (3, Some("the command wrote no JSON document, so that there is no result to keep".into()), None)
        }
        (status, _) => (status, Some(message), None),
    };
    let is_done = result.is_some();
    let record = Record {
        format: FORMAT,
        fairplan_version: FAIRPLAN_VERSION,
        id: &task.id,
        exit_status: status,
        message,
        result,
    };
    let failed = failure_path(directory, &task.id);
    let path = if is_done { result_path(directory, &task.id) } else { failed.clone() };
    let written = || -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&record)?;
        bytes.push(b'\n');
        match place_file(&path, &bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                place_file(&path, &bytes)
            }
            other => other,
        }
    };
    written().map_err(|error| SweepError::writing(&path, error))?;
    if is_done && failed.exists() {
        // Whoever runs the same task beside us may have been quicker.
        let _ = fs::remove_file(failed);
    }
    Ok(is_done)
}

/// The bytes of a record, from which [`Record`] is read: its result, or else its failure; `None` where neither is there.
pub(crate) fn read(directory: &Path, id: &str) -> Result<Option<(PathBuf, Vec<u8>)>, SweepError> {
    for path in [result_path(directory, id), failure_path(directory, id)] {
        match fs::read(&path) {
            Ok(bytes) if bytes.ends_with(END) => return Ok(Some((path, bytes))),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(SweepError::reading(&path, error)),
        }
    }
    Ok(None)
}

impl<'a> Record<'a> {
    /// What the bytes of `path` say of the task.
    pub(crate) fn parse(path: &Path, bytes: &'a [u8], id: &str) -> Result<Self, SweepError> {
        if !bytes.starts_with(beginning(FAIRPLAN_VERSION, id).as_bytes()) {
            return Err(foreign(path));
        }
        let damaged = |problem: String| {
            SweepError::refused(format!(
                "{}: is damaged: {problem}; remove it and run the task again",
                path.display()
            ))
        };
        let record: Self = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        let is_done = record.exit_status <= 1;
        if record.result.is_some() != is_done || record.message.is_some() == is_done {
            let what = if is_done { "a result and no message" } else { "a message and no result" };
            return Err(damaged(format!("exit_status = {}: goes with {what}", record.exit_status)));
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::Ordered;

    fn task() -> Task {
        let arguments = vec!["solve".to_owned(), "a.json".to_owned()];
        Task {
            id: Task::id(&arguments, std::iter::empty()),
            arguments,
            inputs: Vec::new(),
            parameters: Ordered::default(),
        }
    }

    fn outcome(status: u8, message: &str, result: &str) -> Outcome {
        Outcome { status, message: message.into(), result: result.into() }
    }

    #[test]
    fn a_result_takes_the_place_of_a_failure_and_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let (directory, task) = (folder.path(), task());
        assert_eq!(stands(directory, &task.id).unwrap(), Stands::Missing);
        assert!(!keep(directory, &task, outcome(2, "a.json: is bad", "")).unwrap());
        assert_eq!(stands(directory, &task.id).unwrap(), Stands::Failed);
        assert!(keep(directory, &task, outcome(1, "", "{\n \"holds\": false}\n")).unwrap());
        assert_eq!(stands(directory, &task.id).unwrap(), Stands::Done);
        assert!(!failure_path(directory, &task.id).exists());
        let (path, bytes) = read(directory, &task.id).unwrap().unwrap();
        let record = Record::parse(&path, &bytes, &task.id).unwrap();
        assert_eq!((record.exit_status, record.result.unwrap().get()), (1, "{\n \"holds\": false}"));
    }

    #[test]
    fn what_was_cut_short_is_not_there_and_what_is_of_another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (directory, task) = (folder.path(), task());
        keep(directory, &task, outcome(0, "", "{\"value\": 1}")).unwrap();
        let path = result_path(directory, &task.id);
        let whole = fs::read(&path).unwrap();
        for cut in [0, 1, 40, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(!is_there(directory, &task.id).unwrap(), "cut at {cut}");
            assert!(read(directory, &task.id).unwrap().is_none());
        }
        fs::write(&path, vec![0; whole.len()]).unwrap();
        assert!(!is_there(directory, &task.id).unwrap(), "zeros");
        let text = String::from_utf8(whole).unwrap();
        let other = text.replace(&format!("\"{FAIRPLAN_VERSION}\""), "\"9.9.9\"");
        fs::write(&path, &other).unwrap();
        assert!(is_there(directory, &task.id).unwrap_err().to_string().contains("by fairplan"));
        assert!(
            Record::parse(&path, other.as_bytes(), &task.id).unwrap_err().to_string().contains("by fairplan")
        );
    }

    #[test]
    fn what_is_no_document_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        for written in ["", "user,share\n", "{\"a\": 1}\n{\"b\": 2}\n", "[1]"] {
            assert!(!keep(folder.path(), &task(), outcome(0, "", written)).unwrap(), "{written}");
        }
        assert_eq!(stands(folder.path(), &task().id).unwrap(), Stands::Failed);
    }
}
