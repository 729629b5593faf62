//! Exact methods: fair allocations with the prices that prove them.

mod interior_point;
mod level;

use fairplan_instances::{Instance, Objective, Solution, Solver, SolverError};

struct Unfinished;

impl Solver for Unfinished {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn solve(&self, _: &Instance, _: Objective) -> Result<Solution, SolverError> {
        Err(SolverError::Unsupported("not built yet".into()))
    }
}

/// The backend of this name: `auto`, `ipm` or `highs`.
pub fn backend(name: &str) -> Option<Box<dyn Solver>> {
    BACKENDS.contains(&name).then(|| Box::new(Unfinished) as Box<dyn Solver>)
}

/// The names that [`backend`] knows, the default first.
pub const BACKENDS: [&str; 3] = ["auto", "ipm", "highs"];
