//! Exact methods: fair allocations with the prices that prove them.

mod aggregation;
mod bins;
mod bottleneck;
mod certificate;
mod choice;
mod entitlements;
mod highs;
mod interior_point;
mod level;
mod lexicographic;
mod offline;
mod over_time;
mod per_server;
mod planning;
mod price_pass;
mod progress;
mod reduction;
mod refinement;
mod repair;
mod search;
mod sharing;
mod smooth;
mod streaming;
mod sums;
mod task_rows;
#[cfg(test)]
mod test_stream;
mod whole_tasks;

use fairplan_instances::{Deadline, Instance, Objective, Solution, Solver, SolverError};
use highs::Highs;
use interior_point::InteriorPoint;
use level::LevelSolver;
use lexicographic::FirstBins;
use smooth::SumSolver;

pub use certificate::TOLERANCE;
pub use entitlements::{SCHEDULER_RULES, SchedulerRule, entitlements};
pub use highs::HighsAlgorithm;
pub use offline::{OfflineLevels, offline_levels_by_highs, offline_optimum};
pub use over_time::{
    TASK_MECHANISMS, TaskSettings, UnknownTaskMechanism, divide_tasks, task_level_by_highs, task_optimum,
};
pub use planning::{Placer, Planner, ServingOrder};
pub use price_pass::PricePass;
pub use sharing::{SHARED, sharing_rule};
pub use whole_tasks::{proportional_bracket, whole_task_bracket};

/// A backend: the drivers of every objective around one way to solve their small problems.
struct Backend<L, S> {
    name: &'static str,
    /// What results call the method, where users are merged only if alike and where they share bins.
    method: [&'static str; 2],
    first_bins: FirstBins,
    levels: L,
    sums: S,
    /// Whether sums of every α can be solved, not only the linear one.
    curved: bool,
}

/// Bins that aggregation starts with, with up to this many pairs of a bin and a class.
const FIRST_BINS: FirstBins = FirstBins::ByDirection { bins: 128, least: 32, pairs: 100_000 };

impl<L: LevelSolver, S: SumSolver> Solver for Backend<L, S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, SolverError> {
        objective.applies_to(instance)?;
        if let Some(alpha) = objective.alpha() {
            if alpha > 0.0 && !self.curved {
                return Err(SolverError::Unsupported(format!(
                    "{} solves what is linear, and {objective} is not; take auto or ipm",
                    self.name
                )));
            }
            let objective = (objective, alpha);
            return smooth::solve(instance, objective, self.name, self.method, self.first_bins, &self.sums);
        }
        match objective {
            Objective::BottleneckMaxFairness => Ok(bottleneck::solve(instance, self.name)),
            Objective::DrfPerServer => Ok(per_server::solve(instance, self.name)),
            _ => lexicographic::solve(
                instance,
                objective,
                self.name,
                self.method,
                self.first_bins,
                &self.levels,
            ),
        }
    }
}

/// The `highs` backend with one of HiGHS's algorithms: users are merged only where they are alike.
pub fn highs(algorithm: HighsAlgorithm) -> Box<dyn Solver> {
    highs_within(algorithm, &Deadline::never())
}

fn highs_within(algorithm: HighsAlgorithm, deadline: &Deadline) -> Box<dyn Solver> {
    let method = match algorithm {
        HighsAlgorithm::Simplex => "simplex",
        HighsAlgorithm::InteriorPoint => "highs-interior-point",
    };
    Box::new(Backend {
        name: "highs",
        method: [method; 2],
        first_bins: FirstBins::Exact,
        levels: Highs(algorithm, deadline.clone()),
        sums: Highs(algorithm, deadline.clone()),
        curved: false,
    })
}

/// An interior point over bins of similar users, or only over users that are alike.
fn interior_point(
    name: &'static str,
    method: [&'static str; 2],
    first_bins: FirstBins,
    deadline: &Deadline,
) -> Box<dyn Solver> {
    let (levels, sums) = (InteriorPoint(deadline.clone()), smooth::InteriorPoint(deadline.clone()));
    Box::new(Backend { name, method, first_bins, levels, sums, curved: true })
}

/// The backend of this name: `auto`, `ipm` or `highs`.
pub fn backend(name: &str) -> Option<Box<dyn Solver>> {
    backend_within(name, &Deadline::never())
}

/// The same, to end by a deadline whatever it solves: then a solution is the best so far, `Uncertified` unless it is proved,
/// and an error where there is none yet.
pub fn backend_within(name: &str, deadline: &Deadline) -> Option<Box<dyn Solver>> {
    match name {
        "auto" => Some(interior_point("auto", ["interior-point", "aggregation"], FIRST_BINS, deadline)),
        "ipm" => Some(interior_point("ipm", ["interior-point"; 2], FirstBins::Exact, deadline)),
        "highs" => Some(highs_within(HighsAlgorithm::Simplex, deadline)),
        _ => None,
    }
}

/// The names that [`backend`] knows, the default first.
pub const BACKENDS: [&str; 3] = ["auto", "ipm", "highs"];
