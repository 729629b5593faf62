//! Exact methods: fair allocations with the prices that prove them.

mod aggregation;
mod bins;
mod bottleneck;
mod certificate;
mod choice;
mod highs;
mod interior_point;
mod level;
mod lexicographic;
mod offline;
mod per_server;
mod price_pass;
mod progress;
mod reduction;
mod refinement;
mod repair;
mod search;
mod sharing;
mod streaming;
mod sums;
mod task_rows;
mod whole_tasks;

use fairplan_instances::{Instance, Objective, Solution, Solver, SolverError};
use highs::Highs;
use interior_point::InteriorPoint;
use lexicographic::FirstBins;

pub use certificate::TOLERANCE;
pub use highs::HighsAlgorithm;
pub use offline::offline_optimum;
pub use price_pass::PricePass;
pub use sharing::{SHARED, sharing_rule};
pub use whole_tasks::whole_task_bracket;

/// Adaptive aggregation over the interior point: bins of similar users, refined until the certificate closes.
struct Auto;

/// Bins that aggregation starts with, with up to this many pairs of a bin and a class.
const FIRST_BINS: FirstBins = FirstBins::ByDirection { bins: 128, least: 32, pairs: 100_000 };

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, SolverError> {
        objective.applies_to(instance)?;
        match objective {
            Objective::Drfh | Objective::TaskShareFairness | Objective::DrfPooled => lexicographic::solve(
                instance,
                objective,
                self.name(),
                ["interior-point", "aggregation"],
                FIRST_BINS,
                &InteriorPoint,
            ),
            Objective::BottleneckMaxFairness => Ok(bottleneck::solve(instance, self.name())),
            Objective::DrfPerServer => Ok(per_server::solve(instance, self.name())),
            other => Err(unsolved(other)),
        }
    }
}

/// The interior point alone, over users merged only where their demands are the same.
struct Ipm;

impl Solver for Ipm {
    fn name(&self) -> &'static str {
        "ipm"
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, SolverError> {
        objective.applies_to(instance)?;
        match objective {
            Objective::Drfh | Objective::TaskShareFairness | Objective::DrfPooled => lexicographic::solve(
                instance,
                objective,
                self.name(),
                ["interior-point"; 2],
                FirstBins::Exact,
                &InteriorPoint,
            ),
            Objective::BottleneckMaxFairness => Ok(bottleneck::solve(instance, self.name())),
            Objective::DrfPerServer => Ok(per_server::solve(instance, self.name())),
            other => Err(unsolved(other)),
        }
    }
}

/// HiGHS, over users merged only where their demands are the same.
struct HighsBackend(HighsAlgorithm);

impl Solver for HighsBackend {
    fn name(&self) -> &'static str {
        "highs"
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, SolverError> {
        let method = match self.0 {
            HighsAlgorithm::Simplex => "simplex",
            HighsAlgorithm::InteriorPoint => "highs-interior-point",
        };
        objective.applies_to(instance)?;
        match objective {
            Objective::Drfh | Objective::TaskShareFairness | Objective::DrfPooled => lexicographic::solve(
                instance,
                objective,
                self.name(),
                [method; 2],
                FirstBins::Exact,
                &Highs(self.0),
            ),
            Objective::BottleneckMaxFairness => Ok(bottleneck::solve(instance, self.name())),
            Objective::DrfPerServer => Ok(per_server::solve(instance, self.name())),
            other => Err(unsolved(other)),
        }
    }
}

fn unsolved(objective: Objective) -> SolverError {
    SolverError::Unsupported(format!("this version of fairplan does not solve the objective {objective}"))
}

/// The `highs` backend with one of HiGHS's algorithms.
pub fn highs(algorithm: HighsAlgorithm) -> Box<dyn Solver> {
    Box::new(HighsBackend(algorithm))
}

/// The backend of this name: `auto`, `ipm` or `highs`.
pub fn backend(name: &str) -> Option<Box<dyn Solver>> {
    match name {
        "auto" => Some(Box::new(Auto)),
        "ipm" => Some(Box::new(Ipm)),
        "highs" => Some(highs(HighsAlgorithm::Simplex)),
        _ => None,
    }
}

/// The names that [`backend`] knows, the default first.
pub const BACKENDS: [&str; 3] = ["auto", "ipm", "highs"];
