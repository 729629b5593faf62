//! Exact methods: fair allocations with the prices that prove them.

mod aggregation;
mod bins;
mod highs;
mod interior_point;
mod level;
mod lexicographic;
mod price_pass;
mod reduction;
mod refinement;
mod repair;
mod smooth;
mod streaming;
mod sums;

use fairplan_instances::{Instance, Objective, Solution, Solver, SolverError};
use highs::Highs;
use interior_point::InteriorPoint;
use lexicographic::FirstBins;

pub use highs::HighsAlgorithm;
pub use lexicographic::TOLERANCE;
pub use price_pass::PricePass;

/// Adaptive aggregation over the interior point: bins of similar users, refined until the certificate closes.
struct Auto;

/// Bins that aggregation starts with, with up to this many pairs of a bin and a class.
const FIRST_BINS: FirstBins = FirstBins::ByDirection { bins: 128, least: 32, pairs: 100_000 };

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
                FIRST_BINS,
                &InteriorPoint,
            ),
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
        match objective {
            Objective::Drfh => lexicographic::solve(
                instance,
                self.name(),
                ["interior-point"; 2],
                FirstBins::Exact,
                &InteriorPoint,
            ),
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
        match objective {
            Objective::Drfh => {
                lexicographic::solve(instance, self.name(), [method; 2], FirstBins::Exact, &Highs(self.0))
            }
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
