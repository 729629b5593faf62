//! Solving as the papers do.

use fairplan::{Control, Error, Instance, Objective, SolveOptions, Solved, solve};

/// What is fair on an instance, proved.
pub(crate) fn solved(
    instance: &Instance,
    objective: Objective,
    control: &Control<'_>,
) -> Result<Solved, Error> {
    solve(instance, &SolveOptions { objective, hash: false, ..SolveOptions::default() }, control)
}
