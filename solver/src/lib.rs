//! Exact methods: fair allocations with the prices that prove them.

mod aggregation;
mod bins;
mod bottleneck;
mod certificate;
mod choice;
mod entitlements;
mod exact;
mod highs;
mod idle_limits;
mod interior_point;
mod level;
mod lexicographic;
mod limits;
mod linear_program;
mod linear_solver;
mod merged_classes;
mod offline;
mod open_part;
mod over_time;
mod per_server;
mod planning;
mod pools;
mod population;
mod price_pass;
mod progress;
mod question;
mod reduction;
mod refinement;
mod repair;
mod search;
mod sharing;
mod simplex;
mod smooth;
mod steps;
mod streaming;
mod sums;
mod task_rows;
#[cfg(test)]
mod test_stream;
#[cfg_attr(not(feature = "highs"), expect(dead_code, reason = "some are those of HiGHS"))]
mod tolerance;
mod tree;
mod ways;
mod whole_tasks;

use fairplan_instances::{
    Deadline, Entry, Instance, InstanceError, Objective, Registry, Solution, Solver, Status, UnknownName,
};
use question::Question;
use ways::{Fractions, Way};

pub use entitlements::{PooledQuota, SCHEDULER_RULES, SchedulerRule, entitlements};
pub use exact::{accepted_task_optimum_within, exact_task_optimum_within};
pub use highs::{HAS_HIGHS, HighsAlgorithm, highs_version};
#[cfg(feature = "highs")]
pub use offline::{OfflineLevels, offline_levels_by_highs};
pub use offline::{exact_offline_optimum_within, offline_optimum, offline_optimum_within};
#[cfg(feature = "highs")]
pub use over_time::task_level_by_highs;
pub use over_time::{
    TASK_MECHANISMS, TaskRule, TaskSettings, divide_tasks, divide_tasks_within, task_optimum,
    task_optimum_within,
};
pub use planning::{PlaceAll, Planner, ServingOrder};
pub use price_pass::PricePass;
pub use sharing::{SHARED, sharing_rule};
pub use steps::steps_between;
pub use tolerance::TOLERANCE;
pub use whole_tasks::{
    LevelTarget, Mend, allocated_bracket, allocated_by_prices, allocated_placement, fewest_moves, joined,
    level_target, proportional_bracket, proportional_joined, proportional_with_best_of, whole_task_bracket,
    with_best_of,
};

/// A backend: the ways it tries, one after the other.
struct Backend {
    name: &'static str,
    ways: &'static [Way],
    /// Whether sums of every α can be solved, not only the linear one.
    curved: bool,
    /// When to end, whatever is solved.
    deadline: Deadline,
}

impl Solver for Backend {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
        self.solve_for(instance, objective, &mut |_| true)
    }

    fn solve_for(
        &self,
        instance: &Instance,
        objective: Objective,
        accept: &mut dyn FnMut(&Solution) -> bool,
    ) -> Result<Solution, InstanceError> {
        self.answer(Question::new(instance, objective, self.name, &self.deadline), accept)
    }

    fn solve_near(
        &self,
        instance: &Instance,
        objective: Objective,
        level: f64,
    ) -> Result<Solution, InstanceError> {
        let question = Question::new(instance, objective, self.name, &self.deadline).near(level);
        let solution = self.answer(question, &mut |_| true)?;
        if solution.status == Status::Optimal || self.deadline.is_over() {
            return Ok(solution);
        }
        self.solve(instance, objective)
    }
}

impl Backend {
    fn answer(
        &self,
        question: Question<'_>,
        accept: &mut dyn FnMut(&Solution) -> bool,
    ) -> Result<Solution, InstanceError> {
        let Question { instance, objective, .. } = question;
        objective.applies_to(instance)?;
        match (objective, objective.alpha()) {
            (_, Some(alpha)) if alpha > 0.0 && !self.curved => Err(InstanceError::Unsupported(format!(
                "{} solves what is linear, and {objective} is not; take auto or ipm",
                self.name
            ))),
            _ if matches!(self.ways, [Way::Exact(_)]) => ways::exactly(&question),
            (Objective::BottleneckMaxFairness, None) => Ok(bottleneck::solve(instance, self.name)),
            (Objective::DrfPerServer, None) => Ok(per_server::solve(instance, self.name)),
            _ => {
                let without = if self.ways.len() > 1 { idle_limits::solve(&question, accept) } else { None };
                without.map_or_else(|| ways::solve(&question, self.ways, accept), Ok)
            }
        }
    }
}

/// The `highs` backend with one of HiGHS's algorithms: users are merged only where they are alike.
pub fn highs(algorithm: HighsAlgorithm) -> Box<dyn Solver> {
    highs_within(algorithm, &Deadline::never())
}

fn highs_within(algorithm: HighsAlgorithm, deadline: &Deadline) -> Box<dyn Solver> {
    let ways: &[Way] = match algorithm {
        HighsAlgorithm::Simplex => &[Way::Highs(HighsAlgorithm::Simplex)],
        HighsAlgorithm::InteriorPoint => &[Way::Highs(HighsAlgorithm::InteriorPoint)],
    };
    Box::new(Backend { name: "highs", ways, curved: false, deadline: deadline.clone() })
}

fn curved(name: &'static str, ways: &'static [Way], deadline: &Deadline) -> Box<dyn Solver> {
    Box::new(Backend { name, ways, curved: true, deadline: deadline.clone() })
}

/// Fractions instead of doubles, for the max-mins that have them: see [`Solution::exact`].
pub fn exact_within(deadline: &Deadline) -> Box<dyn Solver> {
    let ways: &[Way] = &[Way::Exact(Fractions::Asked)];
    Box::new(Backend { name: "exact", ways, curved: true, deadline: deadline.clone() })
}

/// A solver of which nearly everybody runs on one class: at most as many users on several as there are rows of capacity and limits.
/// What is not put together by the deadline stays as it is.
pub fn sparse(solver: Box<dyn Solver>, deadline: &Deadline) -> Box<dyn Solver> {
    Box::new(exact::Sparse(solver, deadline.clone()))
}

/// Makes a backend that ends by a deadline.
pub type MakeBackend = fn(&Deadline) -> Box<dyn Solver>;

/// Every backend, the default first.
pub const BACKENDS: Registry<MakeBackend> = Registry::new(
    "backend",
    &[
        Entry {
            name: "auto",
            line: "aggregation, else interior point",
            make: |deadline| curved("auto", ways::ALL, deadline),
        },
        Entry {
            name: "ipm",
            line: "interior point",
            make: |deadline| curved("ipm", &[Way::InteriorPoint { first: false }], deadline),
        },
        Entry {
            name: "highs",
            line: "simplex",
            make: |deadline| highs_within(HighsAlgorithm::Simplex, deadline),
        },
    ],
);

/// The backend of this name, without a deadline.
pub fn backend(name: &str) -> Option<Box<dyn Solver>> {
    backend_within(name, &Deadline::never()).ok()
}

/// The backend of this name, to end by a deadline whatever it solves: then a solution is the best so far, `Uncertified` unless it
/// is proved, and an error where there is none yet.
pub fn backend_within(name: &str, deadline: &Deadline) -> Result<Box<dyn Solver>, UnknownName> {
    BACKENDS.find(name).map(|(backend, _)| (backend.make)(deadline))
}
