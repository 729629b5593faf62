//! Solving and checking the result before anyone sees it; hashing the instance meanwhile where the result names it.

use crate::arguments::CommonOptions;
use crate::failure::Failure;
use crate::progress;
use fairplan_instances::{Instance, Objective, Solution, Solver, Status, files};
use fairplan_report::solution::StatedNumbers;
use fairplan_verify::{SolutionClaim, Verdict, verify_solution, well_formed};
use std::time::Instant;

/// A solution as it was found and what the checker says about it.
pub struct Solved {
    /// The solution; its status is `Optimal` only if every verdict holds.
    pub solution: Solution,
    /// The numbers that its document states, which are checked with it.
    pub numbers: StatedNumbers,
    /// The verdicts that do not hold.
    pub failures: Vec<Verdict>,
}

impl Solved {
    /// Solves `instance`, and re-proves the solution by code that shares nothing with the solver.
    pub fn new(
        instance: &Instance,
        solver: &dyn Solver,
        objective: Objective,
        common: CommonOptions,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let solution = progress::during(common.quiet, "solving", || solver.solve(instance, objective));
        let seconds = start.elapsed().as_secs_f64();
        let mut solution = timed(solution?, seconds);
        let formed = well_formed(instance, &SolutionClaim::from(&solution));
        if !formed.holds {
            let (backend, witness) = (solution.backend, &formed.witness);
            return Err(Failure::internal(format!(
                "backend {backend} returned what is no solution: {witness}"
            )));
        }
        // What will be stated is what is checked: `verify` finds nothing else in the file.
        let (numbers, proof) = progress::during(common.quiet, "checking the solution", || {
            let numbers = StatedNumbers::new(instance, &solution);
            let proof = verify_solution(instance, &numbers.claim(&solution));
            (numbers, proof)
        });
        if !proof.holds() {
            solution.status = Status::Uncertified;
        }
        let failures = proof.failures().cloned().collect();
        Ok(Self { solution, numbers, failures })
    }

    /// An error unless the solution is proved optimal.
    pub fn certified(&self) -> Result<(), Failure> {
        let Some(failure) = self.failures.first() else {
            return match self.solution.status {
                Status::Optimal => Ok(()),
                Status::Uncertified => Err(Failure::internal("the solution is valid but not proved optimal")),
            };
        };
        let (backend, more) = (self.solution.backend, self.failures.len() - 1);
        let also = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let Verdict { property, witness, .. } = failure;
        Err(Failure::internal(format!(
            "the solution of backend {backend} is not proved: {property}: {witness}{also}"
        )))
    }
}

/// What `work` returns, and the hash of the instance, computed meanwhile.
pub fn hashed<T>(
    instance: &Instance,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, String), Failure> {
    let (hash, outcome) = std::thread::scope(|scope| {
        let hash = scope.spawn(|| files::sha256_hex(instance));
        let outcome = work();
        (hash.join(), outcome)
    });
    Ok((outcome?, hash.map_err(|_| Failure::internal("hashing the instance failed"))?))
}

/// Solvers see no clock; the time they took is noted here.
fn timed(mut solution: Solution, seconds: f64) -> Solution {
    solution.statistics.seconds = seconds;
    solution
}
