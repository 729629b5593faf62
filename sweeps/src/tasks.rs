//! Reading a list of tasks line by line: only the lines that are asked for are understood.

use crate::task::{FORMAT, Header, Task};
use crate::{Indices, SweepError};
use fairplan_instances::files::source::{self, Source};
use fairplan_instances::{FAIRPLAN_VERSION, InstanceError};

/// Bytes of a line, at most: a header may list a million inputs.
const LONGEST: usize = 1 << 30;

/// A list of tasks that has been looked at: its header is one of this version.
#[derive(Debug)]
pub struct TaskFile {
    path: String,
    header: Header,
}

impl TaskFile {
    /// Reads the header.
    ///
    /// # Errors
    /// A file that is no list of tasks, or one of another version.
    pub fn open(path: &str) -> Result<Self, SweepError> {
        if path == "-" {
            return Err(SweepError::refused(
                "a sweep is read several times; name a file, not standard input",
            ));
        }
        let mut source = source::open(path)?;
        let mut line = Vec::new();
        source.read_line(&mut line, LONGEST, 1)?;
        let header: Header = serde_json::from_slice(&line).map_err(|error| {
            malformed(path, 1, format!("is not the header of a {FORMAT}: {error}; make one by sweep plan"))
        })?;
        if header.format != FORMAT {
            let problem = format!("format = {}: must be {FORMAT}", header.format);
            return Err(malformed(path, 1, problem));
        }
        if header.fairplan_version != FAIRPLAN_VERSION {
            let planned = &header.fairplan_version;
            let problem = format!(
                "was planned by fairplan {planned}, and this is {FAIRPLAN_VERSION}; plan again, or run that version"
            );
            return Err(SweepError::refused(format!("{path}: {problem}")));
        }
        Ok(Self { path: path.to_owned(), header })
    }

    /// What heads the list.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The path of the list.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The lines of these tasks, in order.
    pub(crate) fn lines<'a>(&'a self, indices: &'a Indices) -> Result<Lines<'a>, SweepError> {
        if let Some(last) = indices.last().filter(|last| *last >= self.header.tasks) {
            let count = self.header.tasks;
            return Err(SweepError::refused(format!(
                "index {last}: {} has {count} tasks, 0 to {}",
                self.path,
                count.saturating_sub(1)
            )));
        }
        let mut source = source::open(&self.path)?;
        source.read_line(&mut Vec::new(), LONGEST, 1)?;
        Ok(Lines { tasks: self, source, next: 0, wanted: Box::new(indices.iter()) })
    }

    /// The task that a line says.
    ///
    /// # Errors
    /// A line that is none, or whose id is not that of its arguments and inputs.
    pub(crate) fn task(&self, Line { index, text }: &Line) -> Result<Task, SweepError> {
        let wrong = |problem: String| self.wrong(*index, problem);
        let task: Task = serde_json::from_slice(text)
            .map_err(|error| wrong(format!("is no task: {error}; plan again")))?;
        let inputs = task.inputs.iter().map(|position| self.header.inputs.get(*position));
        let inputs: Option<Vec<&str>> =
            inputs.map(|input| input.map(|input| input.sha256.as_str())).collect();
        match inputs.map(|inputs| Task::id(&task.arguments, inputs.into_iter())) {
            Some(id) if id == task.id => Ok(task),
            _ => Err(wrong(
                "its id is not that of its arguments and inputs; plan again instead of changing a plan"
                    .into(),
            )),
        }
    }

    /// What is wrong with the line of a task.
    pub(crate) fn wrong(&self, index: u64, problem: String) -> SweepError {
        malformed(&self.path, index + 2, problem)
    }
}

fn malformed(file: &str, line: u64, problem: String) -> SweepError {
    InstanceError::Malformed { file: file.into(), place: format!("line {line}"), problem }.into()
}

/// The line of one task, not yet understood.
pub(crate) struct Line {
    pub(crate) index: u64,
    text: Vec<u8>,
}

/// Lines of tasks in order.
pub(crate) struct Lines<'a> {
    tasks: &'a TaskFile,
    source: Source,
    /// The index of the next line of the file.
    next: u64,
    wanted: Box<dyn Iterator<Item = u64> + Send + 'a>,
}

impl Lines<'_> {
    /// The next line that is wanted.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, SweepError> {
        let Some(index) = self.wanted.next() else { return Ok(None) };
        let mut text = Vec::new();
        while self.next <= index {
            if !self.source.read_line(&mut text, LONGEST, self.next + 2)? {
                let problem = format!(
                    "the file ends here, and its header promises {} tasks; plan again",
                    self.tasks.header.tasks
                );
                return Err(malformed(&self.tasks.path, self.next + 2, problem));
            }
            self.next += 1;
        }
        Ok(Some(Line { index, text }))
    }

    /// The next lines that are wanted, at most so many; none at the end.
    pub(crate) fn batch(&mut self, most: usize) -> Result<Vec<Line>, SweepError> {
        let mut batch = Vec::with_capacity(most);
        while batch.len() < most {
            match self.next()? {
                Some(line) => batch.push(line),
                None => break,
            }
        }
        Ok(batch)
    }
}
