//! Exact methods: fair allocations with the prices that prove them.

mod aggregation;
mod bins;
mod interior_point;
mod level;
mod lexicographic;
mod reduction;
mod repair;
mod streaming;

use fairplan_instances::{Instance, Objective, Solution, Solver, SolverError};
use interior_point::InteriorPoint;
use lexicographic::FirstBins;

pub use lexicographic::TOLERANCE;

/// Adaptive aggregation over the interior point: bins of similar users, refined until the certificate closes.
struct Auto;

/// Bins that aggregation starts with.
const FIRST_BINS: usize = 256;

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, SolverError> {
        match objective {
            Objective::Drfh => lexicographic::solve(
                instance,
                self.name(),
                ["interior-point", "aggregation"],
                FirstBins::ByDirection(FIRST_BINS),
                &InteriorPoint,
            ),
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
        match objective {
            Objective::Drfh => lexicographic::solve(
                instance,
                self.name(),
                ["interior-point"; 2],
                FirstBins::Exact,
                &InteriorPoint,
            ),
        }
    }
}

/// The backend of this name: `auto`, `ipm` or `highs`.
pub fn backend(name: &str) -> Option<Box<dyn Solver>> {
    match name {
        "auto" => Some(Box::new(Auto)),
        "ipm" => Some(Box::new(Ipm)),
        _ => None,
    }
}

/// The names that [`backend`] knows, the default first.
pub const BACKENDS: [&str; 3] = ["auto", "ipm", "highs"];
