//! What every program handed to HiGHS has in common: one model at a time, quiet, on one thread; a panic of its crate is an
//! error like any other.

use fairplan_instances::{Deadline, SolverError};
use highs::Model;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held from the creation of a HiGHS model to its end: its destructor touches state of the whole process.
static ONE_MODEL_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Waits until there is no other model; there is none while what this returns is held.
pub(crate) fn no_other_model() -> MutexGuard<'static, ()> {
    ONE_MODEL_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the HiGHS crate, which panics on a status that it does not know.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, SolverError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| broken("it panicked"))
}

/// The error of a backend that did what it should not.
pub(crate) fn broken(problem: impl Into<String>) -> SolverError {
    SolverError::Backend { backend: "highs", problem: problem.into() }
}

/// Sets what makes results the same on every machine.
pub(crate) fn quiet(model: &mut Model) {
    model.make_quiet();
    model.set_option("threads", 1);
    model.set_option("parallel", "off");
}

/// Makes it stop when time is over.
pub(crate) fn end_by(model: &mut Model, deadline: &Deadline) {
    if let Some(left) = deadline.time_left() {
        model.set_option("time_limit", left.as_secs_f64());
    }
}

/// The power of two nearest to `x`, or one: scaling by it changes no digit.
pub(crate) fn power(x: f64) -> f64 {
    if x > 0.0 { x.log2().round().exp2() } else { 1.0 }
}
