//! What a solution comes to: the value of its objective, how far that is from its bound, how full the servers are.

use crate::{Certificate, ClassId, Instance, Level, LimitedBy, ResourceId, Solution, User, UserId};
use rayon::prelude::*;

/// What a solution comes to: the numbers over all users that head its document and its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The value of the objective; of a sum in units of its certificate's `10^exponent`, as all that follows.
    pub value: f64,
    /// An upper bound on it.
    pub bound: f64,
    /// How far the bound is above the value: for a max-min `1 - value / bound`, 0 when both are 0; for a sum as
    /// [`Total`](crate::Total) has it.
    pub relative_gap: f64,
    /// The derivatives of the value by capacity, row-major `classes × resources`. All 0 where a user without more
    /// tasks, or without a usable class, decides the value: no capacity would raise it. Empty where the allocation is not
    /// the largest of anything.
    pub prices: Vec<f64>,
    /// The load of every class, row-major `classes × resources`, in the units of the instance; one row where all servers
    /// are one.
    pub loads: Vec<f64>,
    /// Whether all servers are one.
    pub pooled: bool,
}

impl Headline {
    /// Takes one pass over the users.
    pub fn new(instance: &Instance, solution: &Solution) -> Self {
        let pooled = solution.allocation.is_pooled();
        let loads = || solution.allocation.loads(instance);
        match &solution.certificate {
            Certificate::Levels { .. } | Certificate::Bottlenecks => {
                let (loads, (value, bound, first)) =
                    rayon::join(loads, || smallest_share(instance, solution));
                let unpriced = || match solution.certificate {
                    Certificate::Bottlenecks => Vec::new(),
                    _ => vec![0.0; instance.classes().len() * instance.resources().len()],
                };
                Self {
                    value,
                    bound,
                    relative_gap: if value == bound { 0.0 } else { (1.0 - value / bound).max(0.0) },
                    prices: first.map_or_else(unpriced, |level| level.prices.clone()),
                    loads,
                    pooled,
                }
            }
            Certificate::Total(total) => Self {
                value: total.value,
                bound: total.bound,
                relative_gap: total.relative_gap,
                prices: total.prices.clone(),
                loads: loads(),
                pooled,
            },
        }
    }

    /// Whether any capacity is worth anything.
    pub fn has_prices(&self) -> bool {
        self.prices.iter().any(|price| *price > 0.0)
    }

    /// The part of one class's capacity that is used, one number a resource; 0 where it has none. `None` where all
    /// servers are one.
    pub fn class_utilization(&self, instance: &Instance, class: ClassId) -> Option<Vec<f64>> {
        let m = instance.resources().len();
        if self.pooled {
            return None;
        }
        let server = &instance.classes()[class.0];
        let capacity = server.capacity.iter().map(|c| c.to_f64() * server.count as f64);
        let loads = self.loads[class.0 * m..(class.0 + 1) * m].iter();
        Some(loads.zip(capacity).map(|(load, capacity)| part(*load, capacity)).collect())
    }

    /// The part of the whole cluster's capacity that is used, one number a resource; 0 where it has none.
    pub fn utilization(&self, instance: &Instance) -> Vec<f64> {
        let m = instance.resources().len();
        let load = |r: usize| self.loads.iter().skip(r).step_by(m).sum();
        (0..m).map(|r| part(load(r), instance.total(ResourceId(r)))).collect()
    }
}

/// The smallest weighted share, an upper bound on it, and the first level if its prices are those of the value.
///
/// As the checker has it, the bound is what the first level proves of all users (where none of them is out of tasks below
/// it), or what somebody's tasks allow, if that is less.
fn smallest_share<'a>(instance: &Instance, solution: &'a Solution) -> (f64, f64, Option<&'a Level>) {
    if matches!(solution.certificate, Certificate::Bottlenecks) {
        let shares = (0..instance.user_count()).into_par_iter();
        let value = shares.map(|i| solution.allocation.dominant_share(instance, UserId(i)));
        let value = value.reduce(|| f64::INFINITY, f64::min);
        return (value, value, None);
    }
    let level_of = solution.certificate.level_of().unwrap_or_default();
    // The smallest of all, of those that capacity does not limit, and of what tasks allow; and whether the first level
    // bounds nobody less.
    let shares = (0..instance.user_count()).into_par_iter().map(|i| {
        let (user, reason) = (instance.user(UserId(i)), solution.limited_by[i]);
        let weighted = |share: f64| match share {
            0.0 => 0.0,
            share => share / solution.objective.share_per_level(user),
        };
        let share = weighted(solution.allocation.dominant_share(instance, user.index()));
        let cap = match (reason, user.tasks()) {
            (LimitedBy::NoUsableClass, _) => 0.0,
            (_, None) => f64::INFINITY,
            (_, Some(tasks)) => weighted(tasks as f64 * largest_rate(instance, user) * user.task_share()),
        };
        let limited = if reason == LimitedBy::Capacity { f64::INFINITY } else { share };
        (share, limited, cap, reason == LimitedBy::Tasks && level_of.get(i) == Some(&0))
    });
    let least = |a: (f64, f64, f64, bool), b: (f64, f64, f64, bool)| {
        (a.0.min(b.0), a.1.min(b.1), a.2.min(b.2), a.3 || b.3)
    };
    let nobody = || (f64::INFINITY, f64::INFINITY, f64::INFINITY, false);
    let (value, least_of_the_limited, cap, is_out_of_tasks) = shares.reduce(nobody, least);
    let first = solution.certificate.levels().first();
    let bound = first.filter(|_| !is_out_of_tasks).map_or(cap, |level| level.bound.min(cap));
    // What differs by the rounding of a product is the same.
    let bound = if (bound - value).abs() <= 4.0 * f64::EPSILON * value { value } else { bound };
    (value, bound, first.filter(|level| least_of_the_limited >= level.value))
}

/// The most work that a task of this user does on a class that it can use.
fn largest_rate(instance: &Instance, user: User<'_>) -> f64 {
    if user.rule().rates().is_empty() {
        return 1.0;
    }
    let classes = (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class));
    classes.map(|class| user.rule().rate(class).to_f64()).fold(0.0, f64::max)
}

/// `load / capacity`. Allocations are feasible exactly; what rounding puts above a full 1 is taken off.
fn part(load: f64, capacity: f64) -> f64 {
    let part = if capacity > 0.0 { load / capacity } else { 0.0 };
    if part > 1.0 && part < 1.0 + 1e-9 { 1.0 } else { part }
}
