//! A call of the library while Python goes on: other threads run, Ctrl-C is heard, progress and notes are told.

use crate::failure::{self, defect};
use fairplan::instances::lint;
use fairplan::{Control, Deadline, Error, Progress};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long Ctrl-C may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// What every function takes beside its options.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Call {
    /// Seconds after which work ends.
    time_limit: Option<f64>,
    /// Called with what begins and how far it is.
    progress: Option<Py<PyAny>>,
    /// Called with what the result leaves out, and why.
    note: Option<Py<PyAny>>,
}

enum Told<T> {
    Progress(String),
    Note(String),
    Done(Result<T, Error>),
}

impl Call {
    /// One that may take as long as it does, and tells nothing.
    pub fn silent() -> Self {
        Self { time_limit: None, progress: None, note: None }
    }

    fn deadline(&self) -> Result<Deadline, Error> {
        let Some(seconds) = self.time_limit else { return Ok(Deadline::never()) };
        let limit = Some(seconds).filter(|seconds| *seconds > 0.0);
        let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let refused = || Error::Setting(format!("time_limit = {seconds}: state seconds, more than 0"));
        limit.map(Deadline::after).ok_or_else(refused)
    }

    /// Runs `work` on threads of its own. Who interrupts it does not wait for its end: it is asked to end, and what it still finds
    /// is lost.
    pub fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Control<'_>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<Result<T, Error>> {
        let asked = Arc::new(AtomicBool::new(false));
        let deadline = match self.deadline() {
            Ok(deadline) => deadline.or_when(asked.clone()),
            Err(refused) => return Ok(Err(refused)),
        };
        let (tell, mut told) = channel();
        let pool = Pool::take()?;
        let spoken = self.progress.is_some();
        let job = move |pool: Pool| {
            let progress = |progress: Progress<'_>| {
                let told = match progress {
                    Progress::Note(note) => Told::Note(note.to_owned()),
                    Progress::Stage(_) | Progress::Step(_) if !spoken => return,
                    Progress::Stage(text) | Progress::Step(text) => Told::Progress(text.to_owned()),
                };
                let _ = tell.send(told);
            };
            let control = Control { deadline, progress: &progress };
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&control)));
            let outcome = outcome.unwrap_or_else(|panic| Err(defect(&*panic)));
            drop(pool);
            // Nobody listens any more after an interruption.
            let _ = tell.send(Told::Done(outcome));
        };
        pool.spawn(job);
        // Whatever ends the loop early asks the work to end.
        let ended = Ended(asked);
        loop {
            let waiting = &mut told;
            match py.detach(move || waiting.recv_timeout(PATIENCE)) {
                Ok(Told::Done(outcome)) => return Ok(outcome),
                Ok(Told::Progress(text)) => call(py, self.progress.as_ref(), text)?,
                Ok(Told::Note(text)) => call(py, self.note.as_ref(), text)?,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    drop(ended);
                    return Err(failure::raised(
                        py,
                        Error::backend("the work ended without an answer"),
                        None,
                    ));
                }
            }
        }
    }
}

/// Notes what deserves a second look of an instance, as the command does.
pub fn look_at(instance: &fairplan::Instance, control: &Control<'_>) {
    lint(instance).iter().for_each(|warning| control.note(&warning.message));
}

fn call(py: Python<'_>, function: Option<&Py<PyAny>>, text: String) -> PyResult<()> {
    function.map_or(Ok(()), |function| function.call1(py, (text,)).map(drop))
}

/// Sets what it holds when it goes.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Threads that no other call uses: calls side by side do not wait for each other's parts, and a process that was forked has
/// threads of its own.
struct Pool {
    process: u32,
    threads: Arc<ThreadPool>,
}

/// Those that wait for the next call.
static IDLE: Mutex<Vec<(u32, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

impl Pool {
    fn take() -> PyResult<Self> {
        let process = std::process::id();
        // A lock that was held while the process was forked is held for ever.
        if let Ok(mut idle) = IDLE.try_lock() {
            while let Some((owner, threads)) = idle.pop() {
                if owner == process {
                    return Ok(Self { process, threads });
                }
                // Its threads are those of another process.
                std::mem::forget(threads);
            }
        }
        let built = ThreadPoolBuilder::new().thread_name(|at| format!("fairplan-{at}")).build();
        let threads = built.map_err(|error| pyo3::exceptions::PyOSError::new_err(error.to_string()))?;
        Ok(Self { process, threads: Arc::new(threads) })
    }

    /// Runs `job` on these threads, with which it does what it likes.
    fn spawn(self, job: impl FnOnce(Pool) + Send + 'static) {
        let threads = Arc::clone(&self.threads);
        threads.spawn(move || job(self));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Ok(mut idle) = IDLE.try_lock() {
            idle.push((self.process, Arc::clone(&self.threads)));
        }
    }
}
