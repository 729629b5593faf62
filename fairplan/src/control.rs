//! What a caller has to say while a function works: when to end, and who is told how far it is.

use fairplan_instances::Deadline;

/// What a function tells while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// This begins: `solving`.
    Stage(&'a str),
    /// How far the stage is: `asking what servers are worth: 3 of 10 classes`.
    Step(&'a str),
    /// Something is left out of the result, and why.
    Note(&'a str),
}

/// When to end, and whom to tell.
///
/// ```
/// use fairplan::{Control, Deadline, Progress, SolveOptions, generate, solve};
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// let stages = Mutex::new(Vec::new());
/// let tell = |progress: Progress<'_>| {
///     if let Progress::Stage(stage) = progress {
///         stages.lock().unwrap().push(stage.to_owned());
///     }
/// };
/// let control = Control { deadline: Deadline::after(Duration::from_secs(60)), progress: &tell };
/// solve(&generate::drfh_fig1()?, &SolveOptions::default(), &control)?;
/// assert_eq!(*stages.lock().unwrap(), ["solving", "checking the solution"]);
/// # Ok::<(), fairplan::Error>(())
/// ```
#[derive(Clone)]
pub struct Control<'a> {
    /// When the function has to end: at a time, when it is asked to, or never. What it then returns is said at each function.
    pub deadline: Deadline,
    /// Called now and then, from any thread.
    pub progress: &'a (dyn Fn(Progress<'_>) + Sync),
}

impl Control<'static> {
    /// No deadline, and nobody is told anything.
    pub fn none() -> Self {
        Self { deadline: Deadline::never(), progress: &|_| {} }
    }
}

impl Default for Control<'static> {
    fn default() -> Self {
        Self::none()
    }
}

impl Control<'_> {
    /// The same with another deadline.
    pub fn until(&self, deadline: Deadline) -> Self {
        Self { deadline, progress: self.progress }
    }

    /// Tells what the result leaves out, and why.
    pub fn note(&self, note: &str) {
        (self.progress)(Progress::Note(note));
    }

    /// Tells what begins.
    pub fn stage(&self, stage: &str) {
        (self.progress)(Progress::Stage(stage));
    }
}
