//! Levels come in whole tasks: those that placements can have, and the tasks that each of them takes. Nobody needs more than
//! all its tasks, or those with which a limit may hold it, so that a level is about those who still want more; and nobody less than the whole
//! tasks that it is guaranteed.
//!
//! Where users stand side by side, levels are compared exactly. In groups a level gives them what filling the tree does, and
//! levels are told apart by doubles.

use super::fill::Priority;
use super::packing::{MANY, Packing};
use crate::merged_classes::greatest_common_divisor;
use crate::tolerance::whole_tasks::{LEVELS, WHOLE_TASKS};
use fairplan_instances::{
    Breakpoint, FilledTree, Instance, LimitRoom, LimitedTasks, Part, Placement, User, UserId, Violation,
    compare_ratios,
};
use std::cmp::Ordering;
use std::ops::Range;

/// The users that can have tasks, and how levels come to them.
pub(super) struct Breakpoints {
    users: Vec<Step>,
    /// `(shape, pieces of it in one task)`.
    pieces: Vec<(u32, u64)>,
    of_user: Vec<Option<usize>>,
    /// Where users stand in groups.
    tree: Option<FilledTree>,
}

struct Step {
    user: UserId,
    /// Where its pieces are among those of all.
    pieces: Range<usize>,
    /// The fewest tasks with which it may want no more, and the most that it can have: of both all its tasks where no limit is above it.
    limit: u64,
    most: u64,
    /// The tasks that it is guaranteed.
    sure: u64,
    /// So many tasks run at once or none.
    gang: u64,
    /// The share of one task over the weight, `a_i = δ_i / w_i`.
    exact: (u128, u128),
    nearly: f64,
    /// The share of one task, `δ_i`.
    share: f64,
}

impl Breakpoints {
    /// # Errors
    /// Weights and totals with so many digits that shares cannot be compared exactly.
    pub fn new(instance: &Instance, packing: &Packing) -> Result<Self, Violation> {
        let (mut users, mut pieces) = (Vec::new(), Vec::new());
        let limited = LimitedTasks::of(instance);
        let sure = limited.guaranteed(instance);
        let mut of_user = vec![None; instance.user_count()];
        for user in instance.users() {
            let of_task = packing.pieces(user.index());
            if of_task.is_empty() {
                continue;
            }
            let first = pieces.len();
            pieces.extend_from_slice(of_task);
            let weight = user.weight();
            let coefficient = weight.scaled(weight.exponent()).unwrap_or_default();
            let power = 10u128.checked_pow(weight.exponent().unsigned_abs().into());
            let scale = |value: u128, when: bool| if when { value.checked_mul(power?) } else { Some(value) };
            // In lowest terms: units may be finer than what servers and tasks have.
            let (taken, total) = user.exact_task_share();
            let unit = greatest_common_divisor(taken, total).max(1);
            let over = scale(taken / unit, weight.exponent() < 0);
            let under = (total / unit).checked_mul(coefficient);
            let under = under.and_then(|under| scale(under, weight.exponent() > 0));
            let exact = over.zip(under).map(|(p, q)| {
                let divisor = greatest_common_divisor(p, q).max(1);
                (p / divisor, q / divisor)
            });
            let Some(exact) = exact.filter(|(p, _)| *p < 1 << 76) else {
                let place = format!("users[{}].weight", user.index().0);
                let problem = "has too many digits beside its demand to compare shares exactly; round it";
                return Err(Violation::new(place, weight, problem));
            };
            of_user[user.index().0] = Some(users.len());
            users.push(Step {
                user: user.index(),
                pieces: first..pieces.len(),
                limit: limited.fewest[user.index().0],
                most: limited.most[user.index().0],
                sure: sure[user.index().0],
                gang: user.at_once(),
                exact,
                nearly: exact.0 as f64 / exact.1 as f64,
                share: user.task_share(),
            });
        }
        let tree = instance.has_groups().then(|| FilledTree::of_whole_tasks(instance));
        Ok(Self { users, pieces, of_user, tree })
    }

    /// The level of a breakpoint, nearly.
    pub fn nearly(&self, at: Breakpoint) -> f64 {
        self.of_user[at.user.0].map_or(0.0, |step| match &self.tree {
            None => self.users[step].nearly * at.tasks as f64,
            Some(tree) => tree.level(at.user, self.users[step].share * at.tasks as f64),
        })
    }

    /// Compares two breakpoints: exactly, or in groups as doubles.
    pub fn compare(&self, a: Breakpoint, b: Breakpoint) -> Ordering {
        match self.tree {
            None => compare_ratios(self.exact(a), self.exact(b)),
            Some(_) => self.nearly(a).total_cmp(&self.nearly(b)),
        }
    }

    /// Whether one level is at least another; in groups as nearly as bounds are proved.
    pub fn reaches(&self, one: Breakpoint, other: Breakpoint) -> bool {
        match self.tree {
            None => self.compare(one, other).is_ge(),
            Some(_) => self.nearly(one) >= self.nearly(other) * (1.0 - LEVELS),
        }
    }

    fn exact(&self, at: Breakpoint) -> (u128, u128) {
        let (p, q) = self.of_user[at.user.0].map_or((0, 1), |step| self.users[step].exact);
        (p * u128::from(at.tasks.min(MANY)), q)
    }

    /// `⌊g / a_i⌋`, exactly.
    fn whole(&self, step: &Step, at: Breakpoint) -> u64 {
        let exact = self.exact(at);
        let reaches =
            |tasks: u64| compare_ratios((step.exact.0 * u128::from(tasks), step.exact.1), exact).is_le();
        let mut tasks = ((self.nearly(at) / step.nearly) as u64).min(MANY);
        while tasks > 0 && !reaches(tasks) {
            tasks -= 1;
        }
        while tasks < MANY && reaches(tasks + 1) {
            tasks += 1;
        }
        tasks
    }

    /// Tasks of every user (0 for those that can have none) for a level of `at`, or of more than that, in whole gangs; never more than
    /// those with which it may want no more. No placement of that level has fewer.
    pub fn required(&self, at: Breakpoint, more: bool) -> Vec<u64> {
        self.tasks_for(at, more, |step| step.limit)
    }

    /// Tasks of every user with which a placement has a level of `at`, whoever of them limits hold.
    pub fn enough(&self, at: Breakpoint) -> Vec<u64> {
        self.tasks_for(at, false, |step| step.most / step.gang * step.gang)
    }

    fn tasks_for(&self, at: Breakpoint, more: bool, most: fn(&Step) -> u64) -> Vec<u64> {
        let mut required = vec![0; self.of_user.len()];
        let level = self.nearly(at);
        let shares = self.tree.as_ref().map(|tree| tree.shares(level));
        // Who has what it is guaranteed, whatever the level, needs no more for one that is a little higher.
        let has_guarantees = self.users.iter().any(|step| step.sure > 0);
        let beyond = self.tree.as_ref().filter(|_| has_guarantees);
        let beyond = beyond.map(|tree| tree.shares(if more { level * (1.0 + LEVELS) } else { level }));
        let is_at_floor = |step: &Step| {
            let share = beyond.as_ref().map(|shares| shares[step.user.0]);
            step.sure > 0 && share.is_some_and(|share| share <= step.share * step.sure as f64)
        };
        for step in &self.users {
            let (whole, is_exact) = match &shares {
                None => {
                    let whole = self.whole(step, at);
                    let exact = (step.exact.0 * u128::from(whole), step.exact.1);
                    (whole, compare_ratios(exact, self.exact(at)).is_eq())
                }
                Some(shares) => whole_nearly(shares[step.user.0] / step.share),
            };
            let needed = if more || !is_exact { whole + 1 } else { whole };
            let needed = if is_at_floor(step) { 0 } else { step.in_gangs(needed) };
            required[step.user.0] = needed.max(step.sure).min(most(step));
        }
        required
    }

    /// The most tasks that a user can have for all that it has and its limits.
    pub fn most(&self, user: UserId) -> u64 {
        self.of_user[user.0].map_or(0, |step| self.users[step].most)
    }

    /// The level at which everybody has all the tasks that it can have; `None` where somebody's are without limit.
    fn all(&self) -> Option<Breakpoint> {
        let all = |step: &Step| Breakpoint { user: step.user, tasks: step.most };
        let is_limited = self.users.iter().all(|step| step.most < u64::MAX);
        let last = self.users.iter().map(all).max_by(|a, b| self.compare(*a, *b));
        last.filter(|_| is_limited)
    }

    /// The largest breakpoint at most `ceiling` whose tasks are worth no more than `budget`, a piece of shape `s` being worth
    /// `values[s]`.
    pub fn largest(&self, ceiling: Breakpoint, values: &[u64], budget: u128) -> Breakpoint {
        let within = |at: Breakpoint| self.worth(&self.required(at, false), values) <= budget;
        if within(ceiling) {
            return ceiling;
        }
        // Doubles first, then exactly among the breakpoints close by.
        let of_one: Vec<f64> = self.users.iter().map(|step| self.worth_of_one(step, values) as f64).collect();
        let roughly = |level: f64| {
            let shares = self.tree.as_ref().map(|tree| tree.shares(level));
            let worth = |(step, of_one): (&Step, &f64)| {
                let tasks = match &shares {
                    None => level / step.nearly,
                    Some(shares) => shares[step.user.0] / step.share,
                };
                let gangs = ((tasks - WHOLE_TASKS) / step.gang as f64).ceil().max(0.0);
                (gangs * step.gang as f64).max(step.sure as f64).min(step.limit as f64) * of_one
            };
            self.users.iter().zip(&of_one).map(worth).sum::<f64>() <= budget as f64
        };
        let (mut low, mut high) = (0.0, self.nearly(ceiling));
        for _ in 0..70 {
            let middle = 0.5 * (low + high);
            if roughly(middle) { low = middle } else { high = middle }
        }
        let mut near = vec![ceiling];
        for step in &self.users {
            let gangs = self.tasks_at(step.user, low).min(MANY) / step.gang;
            let around = [0, gangs.saturating_sub(1), gangs, gangs + 1];
            let around = around.map(|gangs| gangs.saturating_mul(step.gang));
            let around = around.into_iter().filter(|tasks| *tasks <= step.limit);
            near.extend(around.map(|tasks| Breakpoint { user: step.user, tasks }));
        }
        near.retain(|at| self.compare(*at, ceiling).is_le());
        near.sort_by(|a, b| self.compare(*a, *b));
        let reached = near.partition_point(|at| within(*at));
        near[reached.saturating_sub(1)]
    }

    /// What the tasks of all users are worth together.
    pub fn worth(&self, tasks: &[u64], values: &[u64]) -> u128 {
        self.users.iter().map(|step| u128::from(tasks[step.user.0]) * self.worth_of_one(step, values)).sum()
    }

    /// What one task is worth.
    fn worth_of_one(&self, step: &Step, values: &[u64]) -> u128 {
        let pieces = self.pieces[step.pieces.clone()].iter();
        pieces.map(|(shape, each)| u128::from(*each) * u128::from(values[*shape as usize])).sum()
    }

    /// The largest breakpoint below `at`; none below 0.
    pub fn below(&self, at: Breakpoint) -> Option<Breakpoint> {
        let required = self.required(at, false);
        let lower = |step: &Step| {
            let here = Breakpoint { user: step.user, tasks: required[step.user.0] };
            // Who has all its tasks may have had them before.
            if step.limit == here.tasks && self.compare(here, at).is_lt() {
                return Some(here);
            }
            let tasks = here.tasks.checked_sub(1)? / step.gang * step.gang;
            Some(Breakpoint { tasks, ..here })
        };
        let lower = self.users.iter().filter_map(lower);
        lower.filter(|lower| self.compare(*lower, at).is_lt()).max_by(|a, b| self.compare(*a, *b))
    }

    /// The level of so many tasks, if these alone say who wants more: of those that do; of all if nobody does.
    pub fn value(&self, tasks: &[u64]) -> Option<Breakpoint> {
        let wants_more = |step: &&Step| tasks[step.user.0] < step.limit;
        let own = |step: &Step| Breakpoint { user: step.user, tasks: tasks[step.user.0] };
        let smallest = self.users.iter().filter(wants_more).map(own).min_by(|a, b| self.compare(*a, *b));
        smallest.or_else(|| self.all())
    }

    /// The level of a placement that keeps all limits; or where nobody in it wants more, which is more than any level, the smallest that
    /// anybody has.
    pub fn reached(&self, instance: &Instance, placement: &Placement) -> Option<Reached> {
        let tasks = &placement.tasks;
        if !instance.has_limits() {
            return Some(Reached { all: false, at: self.value(tasks)? });
        }
        let room = LimitRoom::of(instance, placement);
        let has_left = |user: User<'_>| user.tasks().is_none_or(|all| tasks[user.index().0] < all);
        let wants_more = |user: User<'_>| has_left(user) && !room.holds(user);
        let own = |step: &Step| Breakpoint { user: step.user, tasks: tasks[step.user.0] };
        let wanting = || self.users.iter().filter(|step| wants_more(instance.user(step.user)));
        let lowest = wanting().map(own).min_by(|a, b| self.compare(*a, *b));
        let Some(lowest) = lowest else {
            let least = self.users.iter().map(own).min_by(|a, b| self.compare(*a, *b));
            return least.map(|at| Reached { all: true, at });
        };
        if self.tree.is_none() {
            return Some(Reached { all: false, at: lowest });
        }
        // Whom a limit of its group holds may have left less to its siblings than it could have had.
        let part = |i: usize| {
            let Some(step) = self.of_user[i].map(|step| &self.users[step]) else {
                return Part::new(0.0, false);
            };
            let floor = step.share * step.sure as f64;
            Part { floor, ..Part::new(step.share * tasks[i] as f64, wants_more(instance.user(UserId(i)))) }
        };
        let [_, level] = Part::smallest(&instance.parts_at_the_root(part));
        let below = |step: &Step| Breakpoint {
            user: step.user,
            tasks: self.tasks_at(step.user, level * (1.0 + LEVELS)).min(tasks[step.user.0]),
        };
        // Who has what it is guaranteed may have more than the level gives it.
        let is_below = |at: &Breakpoint| self.nearly(*at) <= level * (1.0 + LEVELS);
        let none = |step: &Step| Breakpoint { user: step.user, tasks: 0 };
        let below = wanting().map(below).chain(wanting().map(none)).filter(is_below);
        let below = below.max_by(|a, b| self.compare(*a, *b));
        let least = || wanting().map(none).min_by(|a, b| self.compare(*a, *b));
        below.or_else(least).map(|at| Reached { all: false, at })
    }

    /// The smallest level over all users of what each could have alone, `alone` tasks, where that is not all that it wants; the
    /// level of all tasks if it is for everybody, which is told.
    pub fn alone(&self, alone: impl Fn(UserId) -> u64) -> Option<Reached> {
        let own = |step: &Step| (step.limit, Breakpoint { user: step.user, tasks: alone(step.user) });
        let short = self.users.iter().map(own).filter(|(limit, own)| own.tasks < *limit).map(|(_, own)| own);
        match short.min_by(|a, b| self.compare(*a, *b)) {
            Some(at) => Some(Reached { all: false, at }),
            None => self.all().map(|at| Reached { all: true, at }),
        }
    }
}

impl Step {
    /// The tasks of the fewest whole gangs with so many.
    fn in_gangs(&self, tasks: u64) -> u64 {
        tasks.div_ceil(self.gang).saturating_mul(self.gang)
    }
}

/// A level, or that it is with all that everybody wants or may have.
#[derive(Clone, Copy)]
pub(super) struct Reached {
    pub all: bool,
    pub at: Breakpoint,
}

/// The whole tasks in a number of them, and whether that is all of it.
fn whole_nearly(tasks: f64) -> (u64, bool) {
    let nearest = tasks.round();
    match (tasks - nearest).abs() <= LEVELS * nearest.max(1.0) {
        true => ((nearest as u64).min(MANY), true),
        false => ((tasks as u64).min(MANY), false),
    }
}

/// The smallest level is served first.
impl Priority for Breakpoints {
    fn compare(&self, (a, of_a): (UserId, u64), (b, of_b): (UserId, u64)) -> Ordering {
        let share = |user, tasks| Breakpoint { user, tasks };
        Self::compare(self, share(a, of_a), share(b, of_b))
    }

    fn tasks_at(&self, user: UserId, level: f64) -> u64 {
        let tasks = |step: &Step| match &self.tree {
            None => level / step.nearly,
            Some(tree) => tree.share(user, level) / step.share,
        };
        self.of_user[user.0].map_or(0, |step| tasks(&self.users[step]).min(MANY as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Decimal, GroupId, InstanceBuilder, NewGroup, NewUser, ServerClass};

    #[test]
    fn levels_in_groups_are_one_just_inside_the_tolerance_and_two_just_outside() {
        let reaches = |demand: &str| {
            let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
            builder.class(ServerClass::new("s", 1, vec![Decimal::from(10)])).unwrap();
            builder.groups(vec![NewGroup { id: "g".into(), weight: Decimal::ONE, parent: None }]).unwrap();
            for (id, demand) in [("a", "1"), ("b", demand)] {
                let demand = [demand.parse().unwrap()];
                builder.user(NewUser { group: Some(GroupId(0)), ..NewUser::new(id, &demand) }).unwrap();
            }
            let instance = builder.build().unwrap();
            let breakpoints = Breakpoints::new(&instance, &Packing::new(&instance).unwrap()).unwrap();
            let one_task = |user: usize| Breakpoint { user: UserId(user), tasks: 1 };
            breakpoints.reaches(one_task(1), one_task(0))
        };
        // A task of the second is worth this much less.
        const { assert!(4.5e-10 < LEVELS && LEVELS < 5.5e-10) };
        assert!(reaches("0.99999999955") && !reaches("0.99999999945"));
    }
}
