//! The users of an instance in the solver's own terms, column by column.

use crate::level::Rates;
use crate::limits::Limits;
use crate::sums::column;
use fairplan_instances::{Instance, KindId, UserId};
use std::ops::Range;

/// Users handled together in one streaming step. Sums inside are sequential, so this bounds their rounding.
pub(crate) const CHUNK: usize = 1 << 14;

/// The users, column by column, in the order `order`. Where users have kinds of tasks each kind is one of them here, a line of
/// its user's, all of which rise and are frozen together: so a level does not know the difference.
pub(crate) struct Population {
    /// Position in the instance of each user here (of each kind, where there are `lines`); `None` when that is the same.
    pub order: Option<Vec<u32>>,
    /// Whose kinds these are; `None` where everybody is one user.
    pub lines: Option<Lines>,
    /// `d_ir = D_ir / (δ_i Σ_l C_lr)`, one column a resource; the largest entry of a user is 1.
    pub directions: Vec<Vec<f64>>,
    /// Weights (of a kind its part of its user's), as the objective has them (see [`Objective::share_per_level`]); `None` when all are 1.
    pub weights: Option<Vec<f64>>,
    /// What each user's tasks are worth at rate 1, `δ_i T_i` (infinite when unlimited); `None` when no user is limited.
    pub tasks: Option<Vec<f64>>,
    /// Pattern of each user, or [`NO_PATTERN`] for one that can run nowhere.
    pub pattern: Vec<u32>,
    /// Ranges of users with the same placement rule, with the rates that rule gives on the merged classes
    /// (whatever the zero demands). They are below the same limits, too.
    pub by_rule: Vec<(Range<usize>, Rates)>,
    /// For each of these ranges the set of limits.
    pub limits_of_rule: Vec<u32>,
    pub limits: Limits,
}

/// The pattern of users that can run on no class.
pub(crate) const NO_PATTERN: u32 = u32::MAX;

/// Which kinds belong to which user.
pub(crate) struct Lines {
    /// Position in the instance of the user of each kind here.
    pub user: Vec<u32>,
    /// The dominant share of a kind in parts of its user's.
    pub part: Vec<f64>,
    /// The kinds here of each user of the instance, those of user `i` from `starts[i]` on.
    pub starts: Vec<u32>,
    pub members: Vec<u32>,
}

impl Population {
    pub fn len(&self) -> usize {
        self.pattern.len()
    }

    pub fn weight(&self, user: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[user])
    }

    pub fn tasks(&self, user: usize) -> f64 {
        self.tasks.as_ref().map_or(f64::INFINITY, |tasks| tasks[user])
    }

    /// How many users there are, however many kinds they have.
    pub fn users(&self) -> usize {
        self.lines.as_ref().map_or(self.len(), |lines| lines.starts.len() - 1)
    }

    /// The user that this is, or whose kind it is: a number below [`Self::users`].
    pub fn user_of(&self, line: usize) -> usize {
        self.lines.as_ref().map_or(line, |lines| lines.user[line] as usize)
    }

    /// That user in the instance.
    pub fn user_id(&self, user: usize) -> UserId {
        UserId(if self.lines.is_some() { user } else { self.position(user) })
    }

    /// The dominant share of a kind in parts of its user's.
    pub fn part(&self, line: usize) -> f64 {
        self.lines.as_ref().map_or(1.0, |lines| lines.part[line])
    }

    /// The kinds of a user, by its number below [`Self::users`].
    pub fn lines_of(&self, user: usize) -> impl Iterator<Item = usize> + '_ {
        let (own, members) = match &self.lines {
            None => (Some(user), &[][..]),
            Some(Lines { starts, members, .. }) => {
                (None, &members[starts[user] as usize..starts[user + 1] as usize])
            }
        };
        own.into_iter().chain(members.iter().map(|line| *line as usize))
    }

    /// The share that a user has, given those of what it consists of here: as far as all its kinds run.
    pub fn share_of_user(&self, user: usize, share: impl Fn(usize) -> f64) -> f64 {
        match self.lines {
            None => share(user),
            Some(_) => {
                self.lines_of(user).map(|line| share(line) / self.part(line)).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// The weight of a user, of which each of its kinds here has its part.
    pub fn weight_of_user(&self, user: usize) -> f64 {
        match self.lines {
            None => self.weight(user),
            Some(_) => self.lines_of(user).next().map_or(0.0, |line| self.weight(line) / self.part(line)),
        }
    }

    /// The dominant share of one task, as far as it is of this kind.
    pub fn task_share(&self, instance: &Instance, line: usize) -> f64 {
        match self.lines {
            None => instance.user(self.user_id(line)).task_share(),
            Some(_) => instance.kind(KindId(self.position(line))).task_share(),
        }
    }

    /// Something about every user, in the order of the instance: what `choose` takes of two of its kinds.
    pub fn by_user<T: Copy>(&self, here: Vec<T>, choose: impl Fn(T, T) -> T) -> Vec<T> {
        let Some(lines) = &self.lines else { return self.by_position(here) };
        let of_user = |lines: &[u32]| lines.iter().map(|line| here[*line as usize]).reduce(&choose);
        let ranges = lines.starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        ranges.filter_map(|range| of_user(&lines.members[range])).collect()
    }

    /// What a unit of its user's dominant share costs for each kind here, given what one of its own does; all the user's kinds
    /// together.
    pub fn costs_of_users(&self, costs: &[f64]) -> Option<Vec<f64>> {
        let lines = self.lines.as_ref()?;
        let mut of_users = vec![0.0; lines.starts.len() - 1];
        for (line, cost) in costs.iter().enumerate() {
            of_users[lines.user[line] as usize] += cost * lines.part[line];
        }
        Some(lines.user.iter().map(|user| of_users[*user as usize]).collect())
    }

    /// Something about every user, in the order of the instance (about every kind, where there are `lines`).
    pub fn by_position<T: Copy>(&self, here: Vec<T>) -> Vec<T> {
        let Some(order) = &self.order else { return here };
        let mut there = here.clone();
        order.iter().zip(here).for_each(|(position, x)| there[*position as usize] = x);
        there
    }

    /// Position in the instance.
    pub fn position(&self, user: usize) -> usize {
        self.order.as_ref().map_or(user, |order| order[user] as usize)
    }

    /// Every so many-th user of each rule; positions are those here.
    pub fn sample(&self, stride: usize) -> Self {
        let of_rule = |(range, _): &(Range<usize>, Rates)| range.clone().step_by(stride);
        self.of_those(self.by_rule.iter().flat_map(of_rule).map(|i| i as u32).collect())
    }

    /// Only these users, which have no kinds, in rising order; positions are those here.
    pub fn of_those(&self, taken: Vec<u32>) -> Self {
        let pick = |column: &Vec<f64>| taken.iter().map(|i| column[*i as usize]).collect();
        let (mut by_rule, mut limits_of_rule) = (Vec::new(), Vec::new());
        let mut start = 0;
        for ((range, rates), limits) in self.by_rule.iter().zip(&self.limits_of_rule) {
            let end = taken.partition_point(|i| (*i as usize) < range.end);
            if start < end {
                by_rule.push((start..end, rates.clone()));
                limits_of_rule.push(*limits);
            }
            start = end;
        }
        Self {
            directions: self.directions.iter().map(pick).collect(),
            weights: self.weights.as_ref().map(pick),
            tasks: self.tasks.as_ref().map(pick),
            pattern: taken.iter().map(|i| self.pattern[*i as usize]).collect(),
            lines: None,
            by_rule,
            limits_of_rule,
            limits: self.limits.clone(),
            order: Some(taken),
        }
    }
}

impl Lines {
    /// The kinds of an instance in an order, in which this one is at `position`.
    pub fn new(instance: &Instance, kinds: usize, position: impl Fn(usize) -> usize + Sync) -> Self {
        let kind = |line: usize| instance.kind(KindId(position(line)));
        let user: Vec<u32> = column(kinds, |line| kind(line).user().index().0 as u32);
        let starts: Vec<u32> =
            instance.users().map(|user| user.kind_range().start as u32).chain([kinds as u32]).collect();
        let mut members = vec![0; kinds];
        (0..kinds).for_each(|line| members[position(line)] = line as u32);
        let of_users: Vec<f64> = column(starts.len() - 1, |i| instance.user(UserId(i)).task_share());
        let part = column(kinds, |line| kind(line).task_share() / of_users[user[line] as usize]);
        Self { user, part, starts, members }
    }
}
