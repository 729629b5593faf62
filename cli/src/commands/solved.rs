//! Solving and checking the result before anyone sees it; hashing the instance meanwhile where the result names it.

use crate::arguments::CommonOptions;
use crate::failure::Failure;
use crate::progress;
use fairplan_instances::{Instance, Objective, Solution, Solver, Status, files};
use fairplan_verify::{SolutionClaim, Verdict, verify_solution};
use std::time::Instant;

/// A solution as it was found and what the checker says about it.
pub struct Solved {
    /// The solution; its status is `Optimal` only if every verdict holds.
    pub solution: Solution,
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
        let proof = progress::during(common.quiet, "checking the solution", || {
            verify_solution(instance, &SolutionClaim::from(&solution))
        });
        if let Some(broken) = proof.failures().find(|verdict| verdict.property == "well-formed") {
            let (backend, witness) = (solution.backend, &broken.witness);
            return Err(Failure::internal(format!(
                "backend {backend} returned what is no solution: {witness}"
            )));
        }
        if !proof.holds() {
            solution.status = Status::Uncertified;
        }
        let failures = proof.failures().cloned().collect();
        Ok(Self { solution, failures })
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
