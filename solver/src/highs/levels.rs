//! The second, independent way to solve what is linear, a level or a utilitarian sum: a linear program through good_lp
//! and HiGHS.
//!
//! HiGHS works with absolute tolerances and drops tiny entries, so it never sees pool shares: rows and columns
//! are scaled by powers of two first, which changes no digit, and the answer is judged on the original numbers
//! like any other.

use super::HighsAlgorithm;
use super::programs::{broken, guarded, no_other_model};
use crate::level::{Groups, LevelProblem, LevelSolution, LevelSolver, dot};
use crate::linear_program::power;
use crate::smooth::{SumProblem, SumSolution, SumSolver};
use crate::tolerance::highs::{CLEARLY_POSITIVE, FEASIBILITY, ROOM};
use fairplan_instances::{Deadline, InstanceError};
use good_lp::solvers::highs::{HighsParallelType, HighsProblem, HighsSolution, HighsSolverType, highs};
use good_lp::{
    Constraint, DualValues, Expression, ProblemVariables, ResolutionError, Solution, SolutionStatus,
    SolutionWithDual, SolverModel, Variable, constraint, variable,
};

/// Linear programs through HiGHS, which ends by a deadline.
pub(crate) struct Highs(pub HighsAlgorithm, pub Deadline);

/// What a pair costs at least before HiGHS begins to solve: measured at 5e-6 with 9 million of them.
const SECONDS_A_PAIR: f64 = 2e-6;

impl LevelSolver for Highs {
    fn solve(&self, problem: &LevelProblem<'_>, _accuracy: f64) -> Result<LevelSolution, InstanceError> {
        self.has_time(problem.groups)?;
        let scaling = Scaling::of(problem);
        let groups = problem.groups;
        let mut program = Program::new(problem, &scaling, &self.1)?;
        let level = program.variables.add(variable().min(0.0));
        for g in 0..groups.len() {
            let required = if groups.rising[g] { Expression::from(level) } else { Expression::from(1.0) };
            program.require(problem, &scaling, g, required);
        }
        let solved = program.maximise(level.into(), self)?;
        let splits = solved.splits(&scaling);
        let mut prices = solved.prices(problem, &scaling);
        let reached = solved.value(level) * scaling.level;
        let spent = dot(&prices, problem.capacities);
        let priced: Vec<bool> = prices
            .iter()
            .zip(problem.capacities)
            .map(|(price, capacity)| price * capacity > CLEARLY_POSITIVE * spent)
            .collect();
        let mut frozen = problem.frozen(&priced, reached);
        let mut iterations = 1;
        // At a vertex a multiplier of zero proves nothing: ask who can have more while nobody has less.
        let mut open: Vec<usize> = (0..groups.len()).filter(|&g| !frozen[g]).collect();
        while !open.is_empty() {
            let (gained, of_gains) = self.gains(problem, &scaling, reached, &open)?;
            iterations += 1;
            let still: Vec<usize> =
                open.iter().zip(&gained).filter(|(_, gain)| **gain <= ROOM.0).map(|(g, _)| *g).collect();
            if still.len() == open.len() {
                still.iter().for_each(|g| frozen[*g] = true);
                // The duals of "nobody gains" prove the level just as well, and give each of these groups a
                // positive multiplier; so does the mean of both.
                let mean = |(p, q): (&f64, &f64)| 0.5 * (p + q);
                prices = prices.iter().zip(&of_gains).map(mean).collect();
                break;
            }
            open = still;
        }
        Ok(LevelSolution { level: reached, splits, prices, frozen, iterations })
    }

    fn deadline(&self) -> &Deadline {
        &self.1
    }
}

/// Only for α = 0, where the mean of the works is their sum.
impl SumSolver for Highs {
    fn solve(&self, problem: &SumProblem<'_>, _accuracy: f64) -> Result<SumSolution, InstanceError> {
        self.has_time(problem.groups)?;
        let mut groups = problem.groups.clone();
        groups.limit.copy_from_slice(problem.limit);
        let linear = LevelProblem {
            resources: problem.resources,
            capacities: problem.capacities,
            groups: &groups,
            limits: None,
        };
        let mut scaling = Scaling::of(&linear);
        let worth = |g: usize, pair: usize| problem.size[g] * groups.rate[pair] * scaling.pair[pair];
        let worths: Vec<f64> = (0..groups.len())
            .flat_map(|g| groups.pairs(g).map(move |pair| (g, pair)))
            .map(|(g, pair)| worth(g, pair))
            .collect();
        scaling.level = power(worths.iter().copied().fold(0.0, f64::max));
        let program = Program::new(&linear, &scaling, &self.1)?;
        let mut sum = Expression::default();
        program
            .splits
            .iter()
            .zip(&worths)
            .for_each(|(split, worth)| sum.add_mul(worth / scaling.level, *split));
        let solved = program.maximise(sum, self)?;
        let splits = solved.splits(&scaling);
        let work = |g: usize| groups.pairs(g).map(|pair| groups.rate[pair] * splits[pair]).sum();
        Ok(SumSolution {
            works: (0..groups.len()).map(work).collect(),
            prices: solved.prices(&linear, &scaling),
            splits,
            log_level: 0.0,
            widest: 0.0,
            iterations: 1,
        })
    }

    fn deadline(&self) -> &Deadline {
        &self.1
    }
}

impl Highs {
    /// An error if a program of this size takes longer to hand over and to presolve, where HiGHS asks for no time, than there
    /// is.
    fn has_time(&self, groups: &Groups) -> Result<(), InstanceError> {
        let enough = groups.pair_count() as f64 * SECONDS_A_PAIR <= self.1.seconds_left();
        if enough && !self.1.is_over() { Ok(()) } else { Err(InstanceError::OutOfTime) }
    }

    /// How much the shares of the `open` groups can exceed the level, in parts of it, most together; and the
    /// prices of that, scaled so that the multipliers of all rising groups add up to one.
    fn gains(
        &self,
        problem: &LevelProblem<'_>,
        scaling: &Scaling,
        level: f64,
        open: &[usize],
    ) -> Result<(Vec<f64>, Vec<f64>), InstanceError> {
        let groups = problem.groups;
        let mut program = Program::new(problem, scaling, &self.1)?;
        let gains: Vec<Variable> =
            open.iter().map(|_| program.variables.add(variable().min(0.0).max(ROOM.1))).collect();
        // Shares that others keep may give way by what the level was solved to.
        let kept = 1.0 - 10.0 * FEASIBILITY;
        let unit = level / scaling.level;
        for g in 0..groups.len() {
            let base = if groups.rising[g] { unit * kept } else { kept };
            let gain = open.iter().position(|o| *o == g).map(|at| unit * gains[at]);
            program.require(problem, scaling, g, Expression::from(base) + gain.unwrap_or_default());
        }
        let solved = program.maximise(gains.iter().copied().sum(), self)?;
        let rising: f64 =
            (0..groups.len()).filter(|&g| groups.rising[g]).map(|g| solved.share_duals[g].abs()).sum();
        let prices = solved.prices(problem, scaling).into_iter().map(|price| price / rising).collect();
        Ok((gains.iter().map(|gain| solved.value(*gain)).collect(), prices))
    }
}

/// The largest unit of a split: HiGHS refuses coefficients above 1e15.
const LARGEST_UNIT: f64 = (1u64 << 40) as f64;

/// Powers of two that bring every row and column near one.
struct Scaling {
    /// Factor of each capacity row.
    row: Vec<f64>,
    /// The level, or the sum, is measured in this.
    level: f64,
    /// The split of each pair is measured in this.
    pair: Vec<f64>,
}

impl Scaling {
    fn of(problem: &LevelProblem<'_>) -> Self {
        let (m, groups) = (problem.resources, problem.groups);
        let class: Vec<f64> =
            problem.capacities.chunks(m).map(|row| power(row.iter().copied().fold(0.0, f64::max))).collect();
        let row = problem.capacities.iter().map(|c| 1.0 / power(*c)).collect();
        let rising: f64 = (0..groups.len())
            .filter(|&g| groups.rising[g])
            .map(|g| problem.load(g).iter().copied().fold(0.0, f64::max))
            .sum();
        let level = power(1.0 / rising);
        let mut pair = vec![1.0; groups.pair_count()];
        for g in 0..groups.len() {
            let size = power(problem.load(g).iter().copied().fold(0.0, f64::max));
            for i in groups.pairs(g) {
                // The split at which the group would fill the class; of one that is next to nothing HiGHS takes no such numbers.
                pair[i] = (class[groups.class[i] as usize] / size).min(LARGEST_UNIT);
            }
        }
        Self { row, level, pair }
    }
}

/// A linear program under construction: splits, capacity rows and task rows first, one share row a group after them.
struct Program {
    variables: ProblemVariables,
    splits: Vec<Variable>,
    capacity: Vec<Constraint>,
    limits: Vec<Constraint>,
    shares: Vec<Constraint>,
    /// The seconds that were left when its making began.
    begun: f64,
}

impl Program {
    /// The variables and the rows that every program has; an error once time is over.
    fn new(
        problem: &LevelProblem<'_>,
        scaling: &Scaling,
        deadline: &Deadline,
    ) -> Result<Self, InstanceError> {
        let begun = deadline.seconds_left();
        let groups = problem.groups;
        let mut variables = ProblemVariables::new();
        let splits: Vec<Variable> =
            (0..groups.pair_count()).map(|_| variables.add(variable().min(0.0))).collect();
        let mut usage = vec![Expression::default(); problem.capacities.len()];
        for g in 0..groups.len() {
            in_time(deadline)?;
            for pair in groups.pairs(g) {
                for (row, a) in problem.rows(pair).zip(problem.load(g)) {
                    if *a > 0.0 {
                        usage[row].add_mul(a * scaling.pair[pair] * scaling.row[row], splits[pair]);
                    }
                }
                for (row, r) in problem.limits_met(g, groups.class[pair]) {
                    let a = problem.load(g)[r];
                    if a > 0.0 {
                        usage[row].add_mul(a * scaling.pair[pair] * scaling.row[row], splits[pair]);
                    }
                }
            }
        }
        let capacity = usage
            .into_iter()
            .zip(problem.capacities.iter().zip(&scaling.row))
            .map(|(usage, (capacity, scale))| constraint!(usage <= capacity * scale))
            .collect();
        let mut limits = Vec::new();
        for g in (0..groups.len()).filter(|&g| groups.has_task_row(g)) {
            let unit = power(groups.limit[g]);
            let mut tasks = Expression::default();
            groups.pairs(g).for_each(|pair| tasks.add_mul(scaling.pair[pair] / unit, splits[pair]));
            limits.push(constraint!(tasks <= groups.limit[g] / unit));
        }
        Ok(Self { variables, splits, capacity, limits, shares: Vec::new(), begun })
    }

    /// Demands this much work for the group: of the scaled level for rising groups, of its share for settled
    /// ones. Written as a `<=` row, whose dual signs good_lp gets right.
    fn require(&mut self, problem: &LevelProblem<'_>, scaling: &Scaling, group: usize, required: Expression) {
        let unit = if problem.groups.rising[group] { scaling.level } else { 1.0 };
        let mut short = required;
        for pair in problem.groups.pairs(group) {
            short.add_mul(-problem.groups.rate[pair] * scaling.pair[pair] / unit, self.splits[pair]);
        }
        self.shares.push(constraint!(short <= 0.0));
    }

    /// Maximises, with every status of HiGHS but an optimum an error: a level is always feasible and bounded.
    fn maximise(self, objective: Expression, by: &Highs) -> Result<Solved, InstanceError> {
        let _alone = no_other_model();
        let solved = guarded(|| -> Result<Solved, InstanceError> {
            let mut model = prepared(self.variables, objective, by.0);
            let mut added = |rows: Vec<Constraint>| -> Result<Vec<_>, InstanceError> {
                rows.into_iter().map(|row| in_time(&by.1).map(|()| model.add_constraint(row))).collect()
            };
            let (capacity, _, shares) = (added(self.capacity)?, added(self.limits)?, added(self.shares)?);
            // Before HiGHS asks for the time it copies the program, which takes about as long as making it did.
            let left = by.1.seconds_left();
            if self.begun - left > left {
                return Err(InstanceError::OutOfTime);
            }
            let mut solution = optimum(model, &by.1)?;
            let duals = solution.compute_dual();
            let capacity_duals = capacity.into_iter().map(|row| duals.dual(row)).collect();
            let share_duals = shares.into_iter().map(|row| duals.dual(row)).collect();
            Ok(Solved { splits: self.splits, solution, capacity_duals, share_duals })
        })??;
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        let values: Vec<f64> = solved.splits.iter().map(|split| solved.solution.value(*split)).collect();
        if finite(&values) && finite(&solved.capacity_duals) && finite(&solved.share_duals) {
            Ok(solved)
        } else {
            Err(broken("it returned numbers that are not finite"))
        }
    }
}

/// A model without rows, on one thread and with the finest tolerances.
fn prepared(variables: ProblemVariables, objective: Expression, algorithm: HighsAlgorithm) -> HighsProblem {
    variables
        .maximise(objective)
        .using(highs)
        .set_parallel(HighsParallelType::Off)
        .set_threads(1)
        .set_solver(match algorithm {
            HighsAlgorithm::Simplex => HighsSolverType::Simplex,
            HighsAlgorithm::InteriorPoint => HighsSolverType::Ipm,
        })
        .set_option("primal_feasibility_tolerance", FEASIBILITY)
        .set_option("dual_feasibility_tolerance", FEASIBILITY)
        .set_option("ipm_iteration_limit", MOST_STEPS)
}

/// Steps of the interior point of HiGHS, which has no limit of its own and may go on for ever where numbers are far apart; what
/// it solves takes 10 to 100.
const MOST_STEPS: i32 = 1_000;

/// An error once time is over.
fn in_time(deadline: &Deadline) -> Result<(), InstanceError> {
    if deadline.is_over() { Err(InstanceError::OutOfTime) } else { Ok(()) }
}

/// Solves in the time that is left, with every status but an optimum an error.
fn optimum(model: HighsProblem, deadline: &Deadline) -> Result<HighsSolution, InstanceError> {
    let model = match deadline.time_left() {
        None => model,
        Some(left) => model.set_time_limit(left.as_secs_f64()),
    };
    let problem = match model.solve() {
        Ok(solution) if matches!(solution.status(), SolutionStatus::Optimal) => return Ok(solution),
        Ok(solution) => format!("stopped with status {:?}", solution.status()),
        Err(ResolutionError::Other(status)) => undecided(status),
        Err(error) => error.to_string(),
    };
    Err(if deadline.is_over() { InstanceError::OutOfTime } else { broken(problem) })
}

/// What is said where HiGHS ends without an answer and without an error.
fn undecided(status: &str) -> String {
    format!(
        "it ended a linear program without an answer (model status {status}): the numbers of the program are too far apart for its tolerance \
         of {FEASIBILITY:e}; take auto, which has other ways"
    )
}

/// The largest value of a variable under some rows, which must have one, and what `priced` rows cost.
pub(crate) fn largest(
    variables: ProblemVariables,
    of: Variable,
    rows: Vec<Constraint>,
    priced: Vec<Constraint>,
    algorithm: HighsAlgorithm,
) -> Result<(f64, Vec<f64>), InstanceError> {
    let _alone = no_other_model();
    guarded(|| -> Result<(f64, Vec<f64>), InstanceError> {
        let mut model = prepared(variables, of.into(), algorithm);
        rows.into_iter().for_each(|row| {
            model.add_constraint(row);
        });
        let priced: Vec<_> = priced.into_iter().map(|row| model.add_constraint(row)).collect();
        let mut solution = optimum(model, &Deadline::never())?;
        let value = solution.value(of);
        let duals = solution.compute_dual();
        Ok((value, priced.into_iter().map(|row| duals.dual(row)).collect()))
    })?
}

/// What HiGHS returned, in its scaled terms.
struct Solved {
    splits: Vec<Variable>,
    solution: HighsSolution,
    capacity_duals: Vec<f64>,
    share_duals: Vec<f64>,
}

impl Solved {
    fn value(&self, variable: Variable) -> f64 {
        self.solution.value(variable)
    }

    fn splits(&self, scaling: &Scaling) -> Vec<f64> {
        self.splits
            .iter()
            .zip(&scaling.pair)
            .map(|(split, unit)| self.solution.value(*split).max(0.0) * unit)
            .collect()
    }

    fn prices(&self, problem: &LevelProblem<'_>, scaling: &Scaling) -> Vec<f64> {
        let price = |((dual, capacity), scale): ((&f64, &f64), &f64)| {
            if *capacity > 0.0 { dual.max(0.0) * scale * scaling.level } else { 0.0 }
        };
        self.capacity_duals.iter().zip(problem.capacities).zip(&scaling.row).map(price).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_decided_is_told_with_its_status_and_a_way_out() {
        let told = undecided("Unknown");
        assert!(
            told.contains("status Unknown") && told.contains("1e-10") && told.contains("take auto"),
            "{told}"
        );
    }
}
