//! Shares come in whole tasks: the values that placements can have, and the tasks that each of them takes.

use super::fill::Priority;
use super::packing::{MANY, Packing};
use crate::reduction::greatest_common_divisor;
use crate::tolerance::whole_tasks::WHOLE_TASKS;
use fairplan_instances::{Breakpoint, Instance, UserId, Violation, compare_ratios};
use std::cmp::Ordering;

/// The share of one task over the weight, `a_i = δ_i / w_i`, of every user that can have tasks.
pub(super) struct Breakpoints {
    users: Vec<Step>,
    of_user: Vec<Option<usize>>,
}

struct Step {
    user: UserId,
    shape: usize,
    limit: u64,
    exact: (u128, u128),
    nearly: f64,
}

impl Breakpoints {
    /// # Errors
    /// Weights and totals with so many digits that shares cannot be compared exactly.
    pub fn new(instance: &Instance, packing: &Packing) -> Result<Self, Violation> {
        let mut users = Vec::new();
        let mut of_user = vec![None; instance.user_count()];
        for user in instance.users() {
            let Some(shape) = packing.shape_of[user.index().0] else { continue };
            let resource = user.dominant_resource();
            let weight = user.weight();
            let coefficient = weight.scaled(weight.exponent()).unwrap_or_default();
            let power = 10u128.checked_pow(weight.exponent().unsigned_abs().into());
            let scale = |value: u128, when: bool| if when { value.checked_mul(power?) } else { Some(value) };
            let over = scale(user.demand_units(resource), weight.exponent() < 0);
            let under = instance.total_units(resource).checked_mul(coefficient);
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
                shape: shape as usize,
                limit: user.tasks().unwrap_or(u64::MAX),
                exact,
                nearly: exact.0 as f64 / exact.1 as f64,
            });
        }
        Ok(Self { users, of_user })
    }

    /// The share of a breakpoint, nearly.
    pub fn nearly(&self, at: Breakpoint) -> f64 {
        self.of_user[at.user.0].map_or(0.0, |step| self.users[step].nearly * at.tasks as f64)
    }

    /// Compares two breakpoints exactly.
    pub fn compare(&self, a: Breakpoint, b: Breakpoint) -> Ordering {
        compare_ratios(self.exact(a), self.exact(b))
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

    /// Tasks of every user (0 for those that can have none) for a share of `at`, or of more than that.
    pub fn required(&self, at: Breakpoint, more: bool) -> Vec<u64> {
        let mut required = vec![0; self.of_user.len()];
        for step in &self.users {
            let whole = self.whole(step, at);
            let exactly =
                compare_ratios((step.exact.0 * u128::from(whole), step.exact.1), self.exact(at)).is_eq();
            required[step.user.0] = if more || !exactly { whole + 1 } else { whole };
        }
        required
    }

    /// A user that does not have as many tasks.
    pub fn beyond_limit(&self, required: &[u64]) -> Option<UserId> {
        self.users.iter().find(|step| step.limit < required[step.user.0]).map(|step| step.user)
    }

    /// The largest breakpoint at most `ceiling` whose tasks are within the limits and worth no more than `budget`, a task
    /// of shape `s` being worth `values[s]`.
    pub fn largest(&self, ceiling: Breakpoint, values: &[u64], budget: u128) -> Breakpoint {
        let within = |at: Breakpoint| {
            let required = self.required(at, false);
            self.beyond_limit(&required).is_none() && self.worth(&required, values) <= budget
        };
        if within(ceiling) {
            return ceiling;
        }
        // Doubles first, then exactly among the breakpoints close by.
        let roughly = |share: f64| {
            let worth = |step: &Step| {
                let tasks = (share / step.nearly - WHOLE_TASKS).ceil().max(0.0);
                if tasks > step.limit as f64 { f64::INFINITY } else { tasks * values[step.shape] as f64 }
            };
            self.users.iter().map(worth).sum::<f64>() <= budget as f64
        };
        let (mut low, mut high) = (0.0, self.nearly(ceiling));
        for _ in 0..70 {
            let middle = 0.5 * (low + high);
            if roughly(middle) { low = middle } else { high = middle }
        }
        let mut near = vec![ceiling];
        for step in &self.users {
            let tasks = ((low / step.nearly) as u64).min(MANY);
            let around = [0, tasks.saturating_sub(1), tasks, tasks + 1];
            near.extend(around.map(|tasks| Breakpoint { user: step.user, tasks }));
        }
        near.retain(|at| self.compare(*at, ceiling).is_le());
        near.sort_by(|a, b| self.compare(*a, *b));
        let reached = near.partition_point(|at| within(*at));
        near[reached.saturating_sub(1)]
    }

    /// What the tasks of all users are worth together.
    pub fn worth(&self, tasks: &[u64], values: &[u64]) -> u128 {
        self.users.iter().map(|s| u128::from(tasks[s.user.0]) * u128::from(values[s.shape])).sum()
    }

    /// The largest breakpoint below `at`; none below 0.
    pub fn below(&self, at: Breakpoint) -> Option<Breakpoint> {
        let required = self.required(at, false);
        let lower = |step: &Step| {
            let tasks = required[step.user.0].checked_sub(1)?;
            Some(Breakpoint { user: step.user, tasks })
        };
        self.users.iter().filter_map(lower).max_by(|a, b| self.compare(*a, *b))
    }

    /// The value of a placement of so many tasks: the smallest share.
    pub fn value(&self, tasks: &[u64]) -> Option<Breakpoint> {
        let own = self.users.iter().map(|s| Breakpoint { user: s.user, tasks: tasks[s.user.0] });
        own.min_by(|a, b| self.compare(*a, *b))
    }

    /// The smallest over all users of what each could have alone, `alone` tasks, or has.
    pub fn alone(&self, alone: impl Fn(usize) -> u64) -> Option<Breakpoint> {
        let own = self.users.iter().map(|s| Breakpoint { user: s.user, tasks: s.limit.min(alone(s.shape)) });
        own.min_by(|a, b| self.compare(*a, *b))
    }
}

/// The smallest share is served first.
impl Priority for Breakpoints {
    fn compare(&self, (a, of_a): (UserId, u64), (b, of_b): (UserId, u64)) -> Ordering {
        let share = |user, tasks| Breakpoint { user, tasks };
        Self::compare(self, share(a, of_a), share(b, of_b))
    }

    /// The level is the share.
    fn tasks_at(&self, user: UserId, level: f64) -> u64 {
        self.of_user[user.0].map_or(0, |step| (level / self.users[step].nearly).min(MANY as f64) as u64)
    }
}
