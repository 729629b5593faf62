//! The checker against solutions worked by hand, planted optima, forgeries and a million users.
#![cfg(test)]

mod bounds;
mod by_hand;
mod devices;
mod forgeries;
mod placements;
mod planted;
mod proof_tolerances;
mod scale;
mod sums;
mod tolerances;

use fairplan_instances::{
    Allocation, Certificate, Decimal, Instance, InstanceBuilder, Level, LimitedBy, Objective, PlacementRule,
    ResourceId, RuleId, ServerClass,
};
use fairplan_verify::{Printed, SolutionClaim, SolutionProof, Tasks, verify_solution};

fn decimal(number: &str) -> Decimal {
    number.parse().unwrap()
}

fn decimals(numbers: &[&str]) -> Vec<Decimal> {
    numbers.iter().copied().map(decimal).collect()
}

/// A builder with resources named `r0`, `r1`, … and classes `c0`, `c1`, … of one server each.
fn cluster(capacities: &[Vec<Decimal>]) -> InstanceBuilder {
    let resources = (0..capacities[0].len()).map(|r| format!("r{r}")).collect();
    let mut builder = InstanceBuilder::new("test", resources).unwrap();
    for (position, capacity) in capacities.iter().enumerate() {
        let class = ServerClass::new(format!("c{position}"), 1, capacity.clone());
        builder.class(class).unwrap();
    }
    builder
}

/// The rule "only on these classes", at rate 1.
fn only_on(builder: &mut InstanceBuilder, classes: &[usize]) -> RuleId {
    let classes = classes.iter().map(|&class| fairplan_instances::ClassId(class)).collect();
    builder.rule(PlacementRule::new(Some(classes), Vec::new()))
}

/// All that a result file states, in a form that a test can falsify.
#[derive(Clone, Debug)]
struct Statement {
    /// Tasks, row-major `users × classes`.
    tasks: Vec<f64>,
    levels: Vec<Level>,
    level_of: Vec<u32>,
    limited_by: Vec<LimitedBy>,
    value: f64,
    unplaced: Option<f64>,
    level: Option<f64>,
    primal: f64,
    dual: f64,
    relative_gap: f64,
    user_tasks: Vec<f64>,
    shares: Vec<f64>,
    dominant: Vec<ResourceId>,
    class_utilization: Vec<f64>,
    utilization: Vec<f64>,
    prices: Vec<f64>,
}

impl Statement {
    /// Completes an allocation and its levels by what follows from them, in plain doubles.
    fn of(
        instance: &Instance,
        tasks: Vec<f64>,
        levels: Vec<Level>,
        level_of: Vec<u32>,
        limited_by: Vec<LimitedBy>,
    ) -> Self {
        let (classes, m) = (instance.classes().len(), instance.resources().len());
        let work = |user: fairplan_instances::User<'_>| -> f64 {
            let row = &tasks[user.index().0 * classes..];
            (0..classes).map(|l| row[l] * user.rule().rate(fairplan_instances::ClassId(l)).to_f64()).sum()
        };
        let shares: Vec<f64> = instance.users().map(|user| work(user) * user.task_share()).collect();
        let weighted = |i: usize| shares[i] / instance.user(fairplan_instances::UserId(i)).weight().to_f64();
        let value = (0..shares.len()).map(weighted).fold(f64::INFINITY, f64::min);
        let wants_more = |i: &usize| limited_by[*i] == LimitedBy::Capacity;
        let level = (0..shares.len()).filter(wants_more).map(weighted).fold(f64::INFINITY, f64::min);
        let waits = |user: fairplan_instances::User<'_>| -> Option<f64> {
            let i = user.index().0;
            let runs: f64 = tasks[i * classes..(i + 1) * classes].iter().sum();
            let all = user.tasks()? as f64;
            Some(if limited_by[i] == LimitedBy::Tasks { 0.0 } else { all - runs })
        };
        let unplaced = instance.has_task_limits().then(|| instance.users().filter_map(waits).sum());
        let mut loads = vec![0.0; classes * m];
        for user in instance.users() {
            for l in 0..classes {
                for r in 0..m {
                    loads[l * m + r] += tasks[user.index().0 * classes + l] * user.demand_doubles()[r];
                }
            }
        }
        let used = |load: f64, capacity: f64| if capacity == 0.0 { 0.0 } else { load / capacity };
        let capacity = |l: usize, r: usize| {
            let class = &instance.classes()[l];
            class.count as f64 * class.capacity[r].to_f64()
        };
        let first_is_value = levels.first().is_some_and(|level| level.value <= value * (1.0 + 1e-12));
        Self {
            value,
            level: (level < f64::INFINITY).then_some(level),
            unplaced,
            primal: value,
            dual: value,
            relative_gap: 0.0,
            user_tasks: tasks.chunks(classes).map(|row| row.iter().sum()).collect(),
            dominant: instance.users().map(|user| user.dominant_resource()).collect(),
            class_utilization: (0..classes * m).map(|i| used(loads[i], capacity(i / m, i % m))).collect(),
            utilization: (0..m)
                .map(|r| used(loads.iter().skip(r).step_by(m).sum(), instance.total(ResourceId(r))))
                .collect(),
            prices: if first_is_value { levels[0].prices.clone() } else { vec![0.0; classes * m] },
            shares,
            tasks,
            levels,
            level_of,
            limited_by,
        }
    }

    fn printed(&self) -> Printed<'_> {
        Printed {
            unplaced: self.unplaced,
            level: self.level,
            limits: &[],
            guarantees: &[],
            groups: &[],
            value: self.value,
            primal: self.primal,
            dual: self.dual,
            relative_gap: self.relative_gap,
            tasks: &self.user_tasks,
            dominant_shares: &self.shares,
            dominant_resources: &self.dominant,
            class_utilization: &self.class_utilization,
            utilization: &self.utilization,
            prices: &self.prices,
        }
    }

    /// What the checker says, the tasks listed as in a result file.
    fn check(&self, instance: &Instance) -> SolutionProof {
        let classes = instance.classes().len();
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for row in self.tasks.chunks(classes) {
            let here = row.iter().enumerate().filter(|(_, tasks)| **tasks != 0.0);
            entries.extend(here.map(|(class, tasks)| (class as u32, *tasks)));
            starts.push(entries.len());
        }
        self.check_as(instance, Tasks::Listed { starts, entries }, true)
    }

    /// What the checker says, the tasks held as solvers hold them and nothing printed.
    fn check_in_memory(&self, instance: &Instance) -> SolutionProof {
        let allocation = Allocation::from_matrix(instance.classes().len(), &self.tasks);
        self.check_as(instance, Tasks::Allocation(&allocation), false)
    }

    fn check_as(&self, instance: &Instance, tasks: Tasks<'_>, printed: bool) -> SolutionProof {
        let (levels, level_of) = (self.levels.clone(), self.level_of.clone());
        let claim = SolutionClaim {
            objective: Objective::Drfh,
            tasks,
            certificate: &Certificate::Levels { levels, level_of },
            limited_by: &self.limited_by,
            exact: None,
            printed: printed.then(|| self.printed()),
            guaranteed: Vec::new(),
        };
        verify_solution(instance, &claim)
    }
}

fn failures(proof: &SolutionProof) -> Vec<&'static str> {
    proof.failures().map(|verdict| verdict.property).collect()
}

#[track_caller]
fn assert_accepted(proof: &SolutionProof) {
    assert!(proof.holds(), "{:#?}", proof.failures().collect::<Vec<_>>());
}
