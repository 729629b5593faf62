//! Solving, and checking the solution by code that shares nothing with the solver before anyone sees it.

use crate::checked::Checked;
use crate::error::all_hold;
use crate::{Control, Error, Found};
use fairplan_instances::{Deadline, Instance, InstanceError, Objective, Solution, Solver, Status, files};
use fairplan_report::solution::{SolutionDocument, StatedNumbers, UserResults, solution_document};
use fairplan_solver::{backend_within, exact_within, sparse};
use fairplan_verify::{SolutionClaim, Verdict, verify_shortfall, verify_solution, well_formed};
use std::time::{Duration, Instant};

/// Sums of an alpha up to this are proved nearly always, even where numbers are far apart.
const OFTEN_PROVED: f64 = 8.0;

/// What to solve for, and how.
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// What is fair. Default: [`Objective::Drfh`].
    pub objective: Objective,
    /// One of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
    /// Whether to find fractions instead of doubles: of `drfh`, `tsf` and `drf` (`backend` is of no account then). Default: no.
    pub exact: bool,
    /// Whether nearly everybody is to run on one class: as fair, and at most as many users on several classes as there are rows of capacity
    /// and limits. Fractions are always so. Default: no.
    pub sparse: bool,
    /// Whether to compute, while solving, the SHA-256 by which the document names the instance. Default: yes.
    pub hash: bool,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self { objective: Objective::Drfh, backend: AUTO.into(), exact: false, sparse: false, hash: true }
    }
}

/// A solution that was checked.
#[derive(Debug)]
pub struct Solved {
    /// The solution; its status is `Optimal` only if every verdict holds.
    pub solution: Solution,
    /// The numbers that its document states, which were checked with it.
    pub numbers: StatedNumbers,
    /// The verdicts that do not hold; none of a proved solution.
    pub failures: Vec<Verdict>,
    /// The SHA-256 of the instance; empty if it was not asked for.
    pub sha256: String,
}

/// Finds the exact fair allocation of divisible tasks, with prices, and proves it.
///
/// An allocation that is valid but not proved to be optimal is an [`Error::Uncertified`], or an [`Error::TimeLimit`] if the
/// deadline was over, each with the [`Solved`] that there is. A tenth of the time is kept for checking.
///
/// ```
/// use fairplan::{Control, SolveOptions, UserId, generate, solve};
///
/// let instance = generate::drfh_fig1()?;
/// let solved = solve(&instance, &SolveOptions::default(), &Control::none())?;
/// assert!((solved.solution.allocation.tasks(UserId(0)) - 10.0).abs() < 1e-8);
/// assert!((solved.numbers.headline().value - 5.0 / 7.0).abs() < 1e-9);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn solve(instance: &Instance, options: &SolveOptions, control: &Control<'_>) -> Result<Solved, Error> {
    let deadline = control.deadline.after_part(SOLVING);
    let solver = match options {
        SolveOptions { exact: true, .. } => exact_within(&deadline),
        SolveOptions { sparse: true, .. } => sparse(solver(&options.backend, &deadline)?, &deadline),
        _ => solver(&options.backend, &deadline)?,
    };
    let solve = || Solved::new(instance, &*solver, options.objective, control);
    let solved = if options.hash {
        let (solved, sha256) = hashed(instance, solve)?;
        Solved { sha256, ..solved }
    } else {
        solve()?
    };
    solved.certified().map_err(|failure| failure.by(&deadline))
}

/// The part of the time that solving may take; the rest is for checking.
pub(crate) const SOLVING: f64 = 0.9;

/// The backend that functions take by default.
pub(crate) const AUTO: &str = "auto";

/// The backend of this name, to end by a deadline.
pub(crate) fn solver(backend: &str, deadline: &Deadline) -> Result<Box<dyn Solver>, Error> {
    Ok(Box::new(Checked(backend_within(backend, deadline)?)))
}

/// What is said first where guarantees seem not to fit and the proof of that is wrong.
const NO_PROOF: &str = "the guarantees seem to be more than can be kept together, but the proof of that does not hold: lower guarantees, \
                        or look for demands that are very many times smaller than others. The check that failed";

impl Solved {
    /// Solves `instance`, and re-proves the solution.
    pub(crate) fn new(
        instance: &Instance,
        solver: &dyn Solver,
        objective: Objective,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let (start, mut checking) = (Instant::now(), Duration::ZERO);
        control.stage("solving");
        // Where a way's answer does not pass, another's may.
        let mut proved = None;
        let mut accept = |solution: &Solution| {
            let start = Instant::now();
            control.stage("checking the solution");
            let numbers = StatedNumbers::new(instance, solution);
            let claim = SolutionClaim::from(solution);
            let holds = well_formed(instance, &claim).holds
                && verify_solution(instance, &numbers.claim(solution)).holds();
            proved = holds.then_some(numbers);
            checking += start.elapsed();
            holds
        };
        let outcome = solver.solve_for(instance, objective, &mut accept);
        if let Err(InstanceError::Guarantees(shortfall)) = &outcome {
            all_hold(NO_PROOF, &[verify_shortfall(instance, objective, shortfall)])?;
        }
        let mut solution = outcome?;
        // Solvers see no clock; the time they took is noted here.
        solution.statistics.seconds = start.elapsed().saturating_sub(checking).as_secs_f64();
        if let Some(numbers) = proved {
            return Ok(Self { solution, numbers, failures: Vec::new(), sha256: String::new() });
        }
        let formed = well_formed(instance, &SolutionClaim::from(&solution));
        if !formed.holds {
            let (backend, witness) = (solution.backend, &formed.witness);
            return Err(Error::backend(format!("backend {backend} returned what is no solution: {witness}")));
        }
        // What will be stated is what is checked: `verify` finds nothing else in the file.
        control.stage("checking the solution");
        let numbers = StatedNumbers::new(instance, &solution);
        let proof = verify_solution(instance, &numbers.claim(&solution));
        if !proof.holds() {
            solution.status = Status::Uncertified;
        }
        let failures = proof.failures().cloned().collect();
        Ok(Self { solution, numbers, failures, sha256: String::new() })
    }

    /// The same if it is proved optimal.
    pub(crate) fn certified(self) -> Result<Self, Error> {
        match self.what_fails() {
            None => Ok(self),
            Some(why) => Err(Error::Uncertified { why, found: Found::some(self) }),
        }
    }

    fn what_fails(&self) -> Option<String> {
        let Some(Verdict { witness, .. }) = self.failures.first() else {
            let is_open = self.solution.status == Status::Uncertified;
            let hint = self.way_out();
            return is_open.then(|| format!("the solution is valid but not proved optimal{hint}"));
        };
        let (backend, more) = (self.solution.backend, self.failures.len() - 1);
        let also = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        // What `verify` calls the property would tell nobody more.
        Some(format!("the solution of backend {backend} is not proved: {witness}{also}{}", self.way_out()))
    }

    /// What may be proved instead.
    fn way_out(&self) -> String {
        match self.solution.objective.alpha() {
            Some(alpha) if alpha > OFTEN_PROVED => {
                format!("; a smaller alpha is proved more often, such as alpha={OFTEN_PROVED}")
            }
            _ => String::new(),
        }
    }

    /// The `fairplan.solution.v1`; with `timing` it says how long solving took.
    pub fn document<'a>(&'a self, instance: &'a Instance, timing: bool) -> SolutionDocument<UserResults<'a>> {
        solution_document(instance, &self.solution, self.numbers.headline(), &self.sha256, timing)
    }
}

/// What `work` returns, and the hash of the instance, computed meanwhile.
pub(crate) fn hashed<T>(
    instance: &Instance,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<(T, String), Error> {
    // Who has one thread, as a task of a sweep, gains nothing by a second, whose start takes as long as a small solve.
    if rayon::current_num_threads() == 1 {
        let outcome = work()?;
        return Ok((outcome, files::sha256_hex(instance)));
    }
    let (hash, outcome) = std::thread::scope(|scope| {
        let hash = scope.spawn(|| files::sha256_hex(instance));
        let outcome = work();
        (hash.join(), outcome)
    });
    Ok((outcome?, hash.map_err(|_| Error::backend("hashing the instance failed"))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Certificate, generate};

    /// Says first what the checker refuses, and then the truth.
    struct SecondTry;

    impl SecondTry {
        fn truth(instance: &Instance) -> Result<Solution, InstanceError> {
            match fairplan_solver::backend(AUTO) {
                Some(solver) => solver.solve(instance, Objective::Drfh),
                None => Err(InstanceError::Unsupported("there is no default backend".into())),
            }
        }
    }

    impl Solver for SecondTry {
        fn name(&self) -> &'static str {
            "second-try"
        }

        fn solve(&self, instance: &Instance, _: Objective) -> Result<Solution, InstanceError> {
            let mut solution = Self::truth(instance)?;
            if let Certificate::Levels { levels, .. } = &mut solution.certificate {
                levels.iter_mut().for_each(|level| level.bound *= 1.0 + 1e-6);
            }
            Ok(solution)
        }

        fn solve_for(
            &self,
            instance: &Instance,
            objective: Objective,
            accept: &mut dyn FnMut(&Solution) -> bool,
        ) -> Result<Solution, InstanceError> {
            let first = self.solve(instance, objective)?;
            if accept(&first) {
                return Ok(first);
            }
            let second = Self::truth(instance)?;
            Ok(if accept(&second) { second } else { first })
        }
    }

    #[test]
    fn what_the_checker_refuses_is_not_the_answer_while_the_solver_has_another() {
        let instance = generate::drfh_fig1().unwrap();
        let solved = Solved::new(&instance, &SecondTry, Objective::Drfh, &Control::none()).unwrap();
        assert_eq!((solved.failures.len(), solved.solution.status), (0, Status::Optimal));
        // Where it has none, the refusal stands.
        struct OnlyTry;
        impl Solver for OnlyTry {
            fn name(&self) -> &'static str {
                "only-try"
            }
            fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
                SecondTry.solve(instance, objective)
            }
        }
        let refused = Solved::new(&instance, &OnlyTry, Objective::Drfh, &Control::none()).unwrap();
        assert_eq!(refused.solution.status, Status::Uncertified);
        assert!(!refused.failures.is_empty());
    }
}
