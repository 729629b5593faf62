//! What inputs contain: hashed once, and again when a file looks different from then.

use crate::SweepError;
use crate::task::{Input, hexadecimal};
use sha2::{Digest, Sha256};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The SHA-256 of a file's bytes.
pub(crate) fn sha256(path: &str) -> Result<String, SweepError> {
    let failed = |error| SweepError::reading(Path::new(path), error);
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        let reason = "is not a regular file; tasks read files whose content can be known";
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, reason)));
    }
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 17];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// The inputs of a list of tasks, each held against what it was when the tasks were planned.
pub(crate) struct Inputs<'a> {
    planned: &'a [Input],
    /// How each looked when its content was last found to be the planned one.
    seen: Vec<Mutex<Option<Looks>>>,
}

/// What changes when a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Looks {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Which file it is, where that can be told.
    number: u64,
}

impl Looks {
    fn of(file: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(file);
        #[cfg(not(unix))]
        let number = 0;
        Self { bytes: file.len(), modified: file.modified().ok(), number }
    }
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(planned: &'a [Input]) -> Self {
        Self { planned, seen: planned.iter().map(|_| Mutex::new(None)).collect() }
    }

    /// Refuses an input whose content is not the planned one.
    pub(crate) fn check(&self, position: usize) -> Result<(), SweepError> {
        let (Some(input), Some(seen)) = (self.planned.get(position), self.seen.get(position)) else {
            return Err(SweepError::refused(format!(
                "a task reads input {position}, which the header does not list; plan again"
            )));
        };
        let path = Path::new(&input.path);
        let looks = Looks::of(&fs::metadata(path).map_err(|error| SweepError::reading(path, error))?);
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == Some(looks) {
            return Ok(());
        }
        if sha256(&input.path)? != input.sha256 {
            let reason = "has changed since the sweep was planned; plan again, or bring the old file back";
            return Err(SweepError::refused(format!("{}: {reason}", input.path)));
        }
        *seen = Some(looks);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_refused_and_one_that_was_only_touched_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "one").unwrap();
        let path_text = path.to_str().unwrap().to_owned();
        let planned = [Input { sha256: sha256(&path_text).unwrap(), path: path_text }];
        let inputs = Inputs::new(&planned);
        inputs.check(0).unwrap();
        fs::write(folder.path().join("b"), "one").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        inputs.check(0).unwrap();
        fs::write(&path, "other").unwrap();
        assert!(inputs.check(0).unwrap_err().to_string().contains("has changed since"));
        fs::remove_file(&path).unwrap();
        assert!(inputs.check(0).unwrap_err().to_string().contains("No such file"));
        assert!(inputs.check(1).is_err());
    }
}
