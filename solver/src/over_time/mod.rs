//! Tasks over server classes whose demands are known for all quanta: the lexicographic max-min of the weighted dominant
//! shares summed over the quanta.
//!
//! The shares that can be reached are no polymatroid any more, so levels are found by linear programming
//! (`interior_point.rs`), whose quanta are tied together by the users' totals alone (`block.rs`). `levels.rs` raises the
//! level of all users, freezes those that capacity holds, and goes on with the rest. One quantum on its own, with what
//! users have from before it, is the same problem (`online.rs`).

mod block;
mod interior_point;
mod levels;
#[cfg(feature = "highs")]
mod linear_program;
mod online;
mod problem;
mod running;
mod simplex;

use fairplan_instances::{Deadline, TaskDemands, TaskLevel, TaskOptimum};
use levels::{Asked, Outcome, lexicographic};
#[cfg(feature = "highs")]
pub use linear_program::task_level_by_highs;
pub use online::{TASK_MECHANISMS, TaskRule, TaskSettings, divide_tasks, divide_tasks_within};
use problem::{Problem, Quantum};

/// Runs the demanded tasks as evenly as possible over all quanta. The caller judges by the levels how close it came.
pub fn task_optimum(demands: &TaskDemands<'_>) -> TaskOptimum {
    task_optimum_within(demands, &Deadline::never())
}

/// The same, to end by a deadline: then without the levels that were not found in time.
pub fn task_optimum_within(demands: &TaskDemands<'_>, deadline: &Deadline) -> TaskOptimum {
    let problem = Problem::new(demands);
    let users = problem.users.len();
    let asked = Asked { base: vec![0.0; users], least: vec![0.0; users], most: problem.most(), proved: true };
    let Outcome { tasks, levels, iterations, .. } = lexicographic(&problem, &asked, deadline);
    let instance = demands.instance();
    // A class had 1 of each resource.
    let capacity: Vec<f64> = instance
        .classes()
        .iter()
        .flat_map(|class| class.capacity.iter().map(|capacity| class.count as f64 * capacity.to_f64()))
        .collect();
    let priced = |position: usize, price: f64| {
        let capacity = capacity[position % capacity.len()];
        if capacity > 0.0 { price / capacity } else { 0.0 }
    };
    let mut in_series = Vec::with_capacity(demands.series().entry_count() * instance.classes().len());
    for (t, (quantum, tasks)) in problem.quanta.iter().zip(&tasks).enumerate() {
        in_order(demands.series().demands(t).0, quantum, tasks, instance.classes().len(), &mut in_series);
    }
    let tasks = in_series;
    let standings = demands.standings(&tasks);
    let lowest =
        |users: &[u32]| users.iter().map(|user| standings[*user as usize]).fold(f64::INFINITY, f64::min);
    let levels = levels.into_iter().map(|level| TaskLevel {
        value: lowest(&level.users),
        prices: level.prices.iter().enumerate().map(|(at, price)| priced(at, *price)).collect(),
        ..level
    });
    TaskOptimum { tasks, levels: levels.collect(), iterations, exact: None }
}

/// Appends a quantum's tasks by demand and class, in the order of the series: nothing for who can use no class.
fn in_order(demanders: &[u32], quantum: &Quantum, tasks: &[f64], classes: usize, rows: &mut Vec<f64>) {
    let mut entries = quantum.users.iter().zip(tasks.chunks_exact(classes)).peekable();
    for user in demanders {
        match entries.next_if(|(other, _)| **other == *user as usize) {
            Some((_, tasks)) => rows.extend(tasks),
            None => rows.extend(std::iter::repeat_n(0.0, classes)),
        }
    }
}
