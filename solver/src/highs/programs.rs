//! Linear programs by HiGHS, where our own simplex method does not decide: one model at a time, quiet, on one thread; a panic of its crate is an error like any other.

use crate::linear_program::{Ended, Outcome, Program, Row, Sense, Settings};
use fairplan_instances::{Deadline, InstanceError};
use highs::{ColProblem, HighsModelStatus, HighsStatus, Model, SolvedModel};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held from the creation of a HiGHS model to its end: its destructor touches state of the whole process.
static ONE_MODEL_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Waits until there is no other model; there is none while what this returns is held.
pub(crate) fn no_other_model() -> MutexGuard<'static, ()> {
    ONE_MODEL_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the HiGHS crate, which panics on a status that it does not know.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, InstanceError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| broken("it panicked"))
}

/// The error of a backend that did what it should not.
pub(crate) fn broken(problem: impl Into<String>) -> InstanceError {
    InstanceError::Backend { backend: "highs", problem: problem.into() }
}

/// Solves a program in the time that is left.
pub(crate) fn solve(
    program: &Program,
    settings: Settings,
    deadline: &Deadline,
) -> Result<Outcome, InstanceError> {
    let _alone = no_other_model();
    guarded(|| {
        let mut model = build(program, settings);
        if let Some(left) = deadline.time_left() {
            model.set_option("time_limit", left.as_secs_f64());
        }
        let solved = model.try_solve().map_err(stopped)?;
        Ok(outcome(&solved, settings))
    })?
}

fn stopped(status: HighsStatus) -> InstanceError {
    broken(format!("stopped with {status:?}"))
}

fn build(program: &Program, settings: Settings) -> Model {
    let mut problem = ColProblem::default();
    let rows: Vec<highs::Row> =
        program.rows.iter().map(|(least, most)| problem.add_row(*least..=*most)).collect();
    for column in &program.columns {
        let entries = column.entries.iter().map(|(Row(row), entry)| (rows[*row], *entry));
        problem.add_column_with_integrality(column.cost, 0.0..=column.most, entries, column.is_whole);
    }
    let mut model = problem.optimise(match program.sense {
        Sense::Minimise => highs::Sense::Minimise,
        Sense::Maximise => highs::Sense::Maximise,
    });
    set(&mut model, settings);
    model
}

fn set(model: &mut Model, settings: Settings) {
    // The same results on every machine.
    model.make_quiet();
    model.set_option("threads", 1);
    model.set_option("parallel", "off");
    if settings.simplex {
        model.set_option("solver", "simplex");
    }
    if settings.as_it_is {
        model.set_option("presolve", "off");
    }
    let numbers = [
        ("primal_feasibility_tolerance", settings.primal),
        ("dual_feasibility_tolerance", settings.dual),
        ("small_matrix_value", settings.smallest_entry),
        ("mip_feasibility_tolerance", settings.branching.map(|branching| branching.whole)),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            model.set_option(name, number);
        }
    }
    if let Some(branching) = settings.branching {
        model.set_option("mip_rel_gap", 0.0);
        model.set_option("mip_abs_gap", 0.0);
        model.set_option("mip_max_nodes", branching.most_nodes);
    }
}

fn outcome(solved: &SolvedModel, settings: Settings) -> Outcome {
    let ended = match solved.status() {
        HighsModelStatus::Optimal => Ended::Optimal,
        HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => Ended::Infeasible,
        HighsModelStatus::ReachedSolutionLimit => Ended::MostNodes,
        HighsModelStatus::ReachedTimeLimit => Ended::OutOfTime,
        HighsModelStatus::Unknown => Ended::Undecided,
        status => Ended::Otherwise(format!("{status:?}")),
    };
    let solution = solved.get_solution();
    let bound = settings.branching.and_then(|_| solved.double_info_value(c"mip_dual_bound").ok());
    Outcome {
        ended,
        columns: solution.columns().to_vec(),
        multipliers: solution.dual_rows().to_vec(),
        value: solved.objective_value(),
        bound: bound.unwrap_or(f64::NAN),
    }
}
