//! What a solution comes to: the value of its objective, how far that is from its bound, how full the servers are.

use crate::threads::FEW_USERS;
use crate::tolerance::{CLOSED, SAME, part};
use crate::{
    Certificate, ClassId, GroupResult, GuaranteeResult, Instance, Level, LimitResult, LimitedBy, Part,
    ResourceId, Solution, User, UserId, all_waiting, group_results, guarantee_results, guaranteed_shares,
    limit_results,
};
use rayon::prelude::*;

/// What a solution comes to: the numbers over all users that head its document and its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The value of the objective; of a sum in units of its certificate's `10^exponent`, as all that follows.
    pub value: f64,
    /// The smallest weighted share among the children of the root (users without a group, and groups without a parent) of those
    /// that still want more, groups counted as [`Part`] has it; `None` if all have all they ask for.
    pub level: Option<f64>,
    /// An upper bound on the value.
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
    /// Tasks that wait, of users who have a number of them; `None` where nobody has.
    pub unplaced: Option<f64>,
    /// What groups get.
    pub groups: Vec<GroupResult>,
    /// What is used of limits.
    pub limits: Vec<LimitResult>,
    /// What is guaranteed.
    pub guarantees: Vec<GuaranteeResult>,
}

impl Headline {
    /// Takes one pass over the users.
    pub fn new(instance: &Instance, solution: &Solution) -> Self {
        let pooled = solution.allocation.is_pooled();
        let (loads, standing) = if instance.user_count() < FEW_USERS {
            (solution.allocation.loads(instance), standing(instance, solution))
        } else {
            rayon::join(|| solution.allocation.loads(instance), || standing(instance, solution))
        };
        let level = (standing.level < f64::INFINITY).then_some(standing.level);
        let groups = group_results(instance, solution);
        let unplaced = all_waiting(instance, solution);
        match &solution.certificate {
            Certificate::Levels { .. } | Certificate::Bottlenecks => {
                let Standing { value, mut bound, first, .. } = standing;
                if solution.exact.is_some() {
                    // What is left between the two is rounding.
                    bound = value;
                }
                let unpriced = || match solution.certificate {
                    Certificate::Bottlenecks => Vec::new(),
                    _ => vec![0.0; instance.classes().len() * instance.resources().len()],
                };
                Self {
                    value,
                    level,
                    bound,
                    relative_gap: if value == bound { 0.0 } else { (1.0 - value / bound).max(0.0) },
                    limits: limit_results(
                        instance,
                        &solution.allocation,
                        first.map(|level| level.limit_prices.as_slice()),
                    ),
                    prices: first.map_or_else(unpriced, |level| level.prices.clone()),
                    loads,
                    pooled,
                    unplaced,
                    groups,
                    guarantees: guarantee_results(instance, solution),
                }
            }
            Certificate::Total(total) => Self {
                value: total.value,
                level,
                bound: total.bound,
                relative_gap: total.relative_gap,
                prices: total.prices.clone(),
                loads,
                pooled,
                unplaced,
                groups,
                limits: limit_results(instance, &solution.allocation, Some(&total.limit_prices)),
                guarantees: guarantee_results(instance, solution),
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

/// The level beside a value that is a smallest share: where it says more.
pub fn stated_level(value: f64, level: Option<f64>) -> Option<f64> {
    level.filter(|level| *level > value * (1.0 + SAME))
}

/// What the children of the root come to: users without a group, and groups without a parent.
struct Standing<'a> {
    /// The smallest weighted share.
    value: f64,
    /// An upper bound on it.
    bound: f64,
    /// The first level, if its prices are those of the value.
    first: Option<&'a Level>,
    /// The smallest weighted share of those that still want more; infinite if nobody does.
    level: f64,
}

/// One child of the root, or several: the least of each number.
#[derive(Clone, Copy)]
struct Least {
    /// The weighted share.
    share: f64,
    /// The same of those that no price holds, and of those that still want more.
    satisfied: f64,
    wanting: f64,
    /// What tasks allow, weighted.
    cap: f64,
    /// Whether somebody runs out of tasks below the first level.
    is_out_of_tasks: bool,
}

/// What holds a child of the root.
#[derive(Clone, Copy)]
struct Holds {
    /// Prices, of capacity or of limits.
    prices: bool,
    /// Capacity: it still wants more.
    capacity: bool,
}

impl Holds {
    fn of(reason: LimitedBy) -> Self {
        Self { prices: reason.is_by_prices(), capacity: reason == LimitedBy::Capacity }
    }
}

impl Least {
    const NOBODY: Self = Self {
        share: f64::INFINITY,
        satisfied: f64::INFINITY,
        wanting: f64::INFINITY,
        cap: f64::INFINITY,
        is_out_of_tasks: false,
    };

    fn of(share: f64, cap: f64, holds: Holds, is_out_of_tasks: bool) -> Self {
        let share_if = |holds: bool| if holds { share } else { f64::INFINITY };
        let (satisfied, wanting) = (share_if(!holds.prices), share_if(holds.capacity));
        Self { share, satisfied, wanting, cap, is_out_of_tasks }
    }

    fn and(self, other: Self) -> Self {
        Self {
            share: self.share.min(other.share),
            satisfied: self.satisfied.min(other.satisfied),
            wanting: self.wanting.min(other.wanting),
            cap: self.cap.min(other.cap),
            is_out_of_tasks: self.is_out_of_tasks || other.is_out_of_tasks,
        }
    }
}

/// As the checker has it, the bound is what the first level proves of all (where none of them is out of tasks below it), or
/// what somebody's tasks allow, if that is less. A group's tasks are those of its members.
fn standing<'a>(instance: &Instance, solution: &'a Solution) -> Standing<'a> {
    let level_of = solution.certificate.level_of().unwrap_or_default();
    // Weighted share, weighted cap, and what holds the user.
    let figures = |i: usize| {
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
        (share, cap, reason)
    };
    let grouped = instance.has_groups();
    let users = (0..instance.user_count()).into_par_iter().with_min_len(FEW_USERS);
    let users = users.filter(|i| !grouped || instance.user(UserId(*i)).group().is_none()).map(|i| {
        let (share, cap, reason) = figures(i);
        // What is guaranteed may be all tasks, far above the first level.
        let is_out_of_tasks =
            reason == LimitedBy::Tasks && level_of.get(i) == Some(&0) && instance.quotas().is_empty();
        Least::of(share, cap, Holds::of(reason), is_out_of_tasks)
    });
    let mut least = users.reduce(|| Least::NOBODY, Least::and);
    if grouped {
        let weight = |i: usize| instance.user(UserId(i)).weight().to_f64();
        let floors = match instance.has_guarantees() {
            true => guaranteed_shares(instance, solution.objective, &solution.guaranteed),
            false => Vec::new(),
        };
        let parts = |wants_more: fn(LimitedBy) -> bool| {
            instance.parts_of_groups(|i| {
                let (share, _, reason) = figures(i);
                let floor = floors.get(i).copied().unwrap_or(0.0);
                Part { floor, ..Part::new(share * weight(i), wants_more(reason)) }
            })
        };
        let cap = |i: usize| Some(figures(i).1 * weight(i));
        let add = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        let by_prices = parts(LimitedBy::is_by_prices);
        // Only where limits hold somebody do the two differ.
        let by_capacity = match instance.limit_rows().is_empty() {
            true => by_prices.clone(),
            false => parts(|reason| reason == LimitedBy::Capacity),
        };
        let groups = instance.groups().iter().zip(by_prices.iter().zip(&by_capacity));
        let groups = groups.zip(instance.of_groups(None, cap, add));
        for ((group, (part, wanting)), cap) in groups.filter(|((group, _), _)| group.parent.is_none()) {
            // A group without members asks for nothing.
            let Some(cap) = cap else { continue };
            let weight = group.weight.to_f64();
            let holds = Holds { prices: part.wants_more, capacity: false };
            let mut child = Least::of(part.share / weight, cap / weight, holds, false);
            if wanting.wants_more {
                child.wanting = wanting.share / weight;
            }
            least = least.and(child);
        }
    }
    let Least { share: value, satisfied, wanting: level, cap, is_out_of_tasks } = least;
    if matches!(solution.certificate, Certificate::Bottlenecks) {
        return Standing { value, bound: value, first: None, level };
    }
    let first = solution.certificate.levels().first();
    let bound = first.filter(|_| !is_out_of_tasks).map_or(cap, |level| level.bound.min(cap));
    // What differs by the rounding of a product is the same.
    let bound = if (bound - value).abs() <= CLOSED * value { value } else { bound };
    Standing { value, bound, first: first.filter(|first| satisfied >= first.value), level }
}

/// The most work that a task of this user does on a class that it can use.
fn largest_rate(instance: &Instance, user: User<'_>) -> f64 {
    if user.rule().rates().is_empty() {
        return 1.0;
    }
    let classes = (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class));
    classes.map(|class| user.rule().rate(class).to_f64()).fold(0.0, f64::max)
}
