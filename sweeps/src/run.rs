//! Running tasks: on all threads, one task a thread, each result kept at once. What is there is skipped.
//!
//! Every worker has threads of its own for what happens inside a task: one, unless there are fewer tasks than threads. So tasks
//! do not wait for each other's parts, and a small task does not pay for being split.

use crate::commands::{Commands, Outcome, PIPE};
use crate::inputs::Inputs;
use crate::record;
use crate::tasks::{Lines, TaskFile};
use crate::{Indices, SweepError};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is told how things stand.
const TOLD_EVERY: Duration = Duration::from_millis(250);

/// How tasks are run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// Which tasks.
    pub indices: &'a Indices,
    /// Threads in all.
    pub threads: usize,
    /// Set by whoever wants it to end: tasks that run are finished, no other is begun.
    pub stop: &'a AtomicBool,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How many tasks were asked for.
    pub asked: u64,
    /// How many of them had their results before.
    pub there: u64,
    /// How many have been run and have results.
    pub done: u64,
    /// How many have been run and failed.
    pub failed: u64,
    /// Since the beginning.
    pub elapsed: Duration,
    /// How long the rest takes, if it goes on so; `None` before anything is known.
    pub left: Option<Duration>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How many tasks were asked for.
    pub asked: u64,
    /// How many of them had their results before.
    pub there: u64,
    /// How many have been run and have results now.
    pub done: u64,
    /// How many failed, and the first of them with what it said.
    pub failed: u64,
    /// The index of a failed task, and what it said.
    pub first_failure: Option<(u64, String)>,
}

/// Runs the tasks and keeps their results in `directory`, which is made where it is not there. A task that fails does not keep the
/// others from running.
///
/// # Errors
/// An input that is not as it was planned, a result that cannot be written, a list of tasks that was changed: these end
/// everything. So does `stop`; what is done by then is kept.
pub fn run(
    tasks: &TaskFile,
    directory: &Path,
    commands: &dyn Commands,
    options: &RunOptions<'_>,
    told: &dyn Fn(&Standing),
) -> Result<Ran, SweepError> {
    let lines = tasks.lines(options.indices)?;
    if directory.is_file() {
        let reason = "is a file; name a directory for the results";
        return Err(SweepError::refused(format!("{}: {reason}", directory.display())));
    }
    fs::create_dir_all(directory).map_err(|error| SweepError::writing(directory, error))?;
    let inputs = Inputs::new(&tasks.header().inputs);
    let asked = options.indices.count();
    if asked == tasks.header().tasks {
        (0..tasks.header().inputs.len()).try_for_each(|input| inputs.check(input))?;
    }
    let threads = options.threads.max(1);
    let workers = threads.min(usize::try_from(asked).unwrap_or(threads)).max(1);
    let shared = Shared {
        tasks,
        directory,
        commands,
        inputs,
        stop: options.stop,
        lines: Mutex::new(lines),
        counts: Counts::default(),
        first_failure: Mutex::new(None),
        broken: Mutex::new(None),
        is_broken: AtomicBool::new(false),
        begun: Instant::now(),
        asked,
    };
    thread::scope(|scope| {
        let (ended, waiting) = channel::<()>();
        for _ in 0..workers {
            let (shared, ended) = (&shared, ended.clone());
            scope.spawn(move || {
                if let Err(error) = shared.work(threads / workers) {
                    shared.is_broken.store(true, Ordering::Relaxed);
                    shared.broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
                drop(ended);
            });
        }
        drop(ended);
        while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(TOLD_EVERY) {
            told(&shared.standing());
        }
    });
    let Standing { there, done, failed, .. } = shared.standing();
    if let Some(error) = shared.broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let open = asked - there - done - failed;
    if open > 0 {
        return Err(SweepError::Stopped(format!(
            "stopped: {open} of {asked} tasks are not run; the same command goes on where this ended"
        )));
    }
    let first_failure = shared.first_failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Ran { asked, there, done, failed, first_failure })
}

#[derive(Default)]
struct Counts {
    there: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
}

/// What workers share.
struct Shared<'a> {
    tasks: &'a TaskFile,
    directory: &'a Path,
    commands: &'a dyn Commands,
    inputs: Inputs<'a>,
    stop: &'a AtomicBool,
    lines: Mutex<Lines<'a>>,
    counts: Counts,
    first_failure: Mutex<Option<(u64, String)>>,
    /// What ends everything.
    broken: Mutex<Option<SweepError>>,
    is_broken: AtomicBool,
    begun: Instant,
    asked: u64,
}

impl Shared<'_> {
    /// Runs task by task until there are no more.
    fn work(&self, threads: usize) -> Result<(), SweepError> {
        // This thread is one of them, so that what a task splits stays with it. The pool is the task's own until the worker ends.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).use_current_thread().build();
        let _pool =
            pool.map_err(|error| SweepError::refused(format!("--threads {threads}: {error}; state fewer")))?;
        while !self.stop.load(Ordering::Relaxed) && !self.is_broken.load(Ordering::Relaxed) {
            let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).next()?;
            let Some(line) = line else { break };
            let task = self.tasks.task(&line)?;
            if record::is_there(self.directory, &task.id)? {
                self.counts.there.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let unchanged = || task.inputs.iter().try_for_each(|input| self.inputs.check(*input));
            unchanged()?;
            let outcome = self.outcome(&task.arguments);
            if self.stop.load(Ordering::Relaxed) && outcome.status > 1 {
                break; // It may have ended early because it was asked to.
            }
            unchanged()?;
            let message = outcome.message.clone();
            let count = match record::keep(self.directory, &task, outcome)? {
                true => &self.counts.done,
                false => {
                    let mut first = self.first_failure.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(index, _)| line.index < *index) {
                        *first = Some((line.index, message));
                    }
                    &self.counts.failed
                }
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// What comes of the commands of a task, each reading what the one before it wrote; the first that fails ends it.
    fn outcome(&self, words: &[String]) -> Outcome {
        let mut parts = words.split(|word| word == PIPE).peekable();
        let mut last = Outcome { status: 0, message: String::new(), result: Vec::new() };
        let mut input = None;
        while let Some(part) = parts.next() {
            last = self.commands.run(part, input);
            if parts.peek().is_none() {
                break;
            }
            if last.status > 1 {
                let first = part.first().map_or("", String::as_str);
                last.message = format!("{first}: {}", last.message);
                break;
            }
            input = Some(std::mem::take(&mut last.result));
        }
        last
    }

    fn standing(&self) -> Standing {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { there, done, failed } = &self.counts;
        let (there, done, failed) = (count(there), count(done), count(failed));
        let elapsed = self.begun.elapsed();
        let run = done + failed;
        let open = self.asked.saturating_sub(there + run);
        let left = (run > 0).then(|| elapsed.as_secs_f64() / run as f64 * open as f64);
        let left = left.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Standing { asked: self.asked, there, done, failed, elapsed, left }
    }
}
