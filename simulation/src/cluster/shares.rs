//! Weighted dominant shares of users whose tasks differ: `max_r u_ir / (C_r w_i)` of what the tasks of user `i` hold,
//! compared exactly.

use super::groups::{Child, Groups, Held};
use fairplan_instances::{compare_nearly, compare_ratios};
use num_bigint::BigUint;
use std::cmp::Ordering;

/// What users hold, and who has less.
pub(super) struct Shares {
    width: usize,
    totals: Vec<u128>,
    /// Row-major `users × width`.
    used: Vec<u128>,
    /// Tasks of users.
    tasks: Vec<u64>,
    /// Whole multiples of one unit.
    weights: Vec<u64>,
    /// The weighted dominant share as a fraction, and as a double.
    fractions: Vec<(u128, u128)>,
    nearly: Vec<f64>,
    /// What each user holds of its dominant resource.
    held: Vec<Held>,
    groups: Groups,
    /// The groups that each user is in, from the root down; empty where nobody is in any.
    paths: Vec<Vec<usize>>,
}

impl Shares {
    /// No users and no servers yet.
    pub fn new(width: usize, groups: Groups) -> Self {
        Self {
            groups,
            paths: Vec::new(),
            held: Vec::new(),
            width,
            totals: vec![0; width],
            used: Vec::new(),
            tasks: Vec::new(),
            weights: Vec::new(),
            fractions: Vec::new(),
            nearly: Vec::new(),
        }
    }

    /// Adds the next user, who holds nothing.
    pub fn add_user(&mut self, weight: u64, group: Option<usize>) {
        self.paths.push(group.map_or(Vec::new(), |group| self.groups.path(group)));
        self.held.push(Held::default());
        self.used.extend(std::iter::repeat_n(0, self.width));
        self.tasks.push(0);
        self.weights.push(weight);
        self.fractions.push((0, 1));
        self.nearly.push(0.0);
    }

    /// The cluster has other totals.
    pub fn set_totals(&mut self, totals: &[u128]) {
        if self.totals != totals {
            self.totals.copy_from_slice(totals);
            (0..self.nearly.len()).for_each(|user| self.measure(user));
        }
    }

    /// What a user holds of each resource.
    pub fn used(&self, user: usize) -> &[u128] {
        &self.used[user * self.width..(user + 1) * self.width]
    }

    /// A task begins.
    pub fn take(&mut self, user: usize, demand: &[u64]) {
        let used = &mut self.used[user * self.width..];
        used.iter_mut().zip(demand).for_each(|(used, demand)| *used += u128::from(*demand));
        self.tasks[user] += 1;
        self.paths[user].iter().for_each(|group| self.groups.tasks[*group] += 1);
        self.measure(user);
    }

    /// A task is over.
    pub fn release(&mut self, user: usize, demand: &[u64]) {
        let used = &mut self.used[user * self.width..];
        used.iter_mut().zip(demand).for_each(|(used, demand)| *used -= u128::from(*demand));
        self.tasks[user] -= 1;
        self.paths[user].iter().for_each(|group| self.groups.tasks[*group] -= 1);
        self.measure(user);
    }

    fn measure(&mut self, user: usize) {
        let mut dominant = (0u128, 1u128);
        let mut held = Held::default();
        for (r, (used, total)) in self.used[user * self.width..].iter().zip(&self.totals).enumerate() {
            // Nothing is held of what there is none of.
            let share = (*used, (*total).max(1));
            if compare(dominant, nearly(dominant), share, nearly(share)).is_lt() {
                (dominant, held) = (share, Held { resource: r, amount: *used });
            }
        }
        let before = std::mem::replace(&mut self.held[user], held);
        self.groups.change(&self.paths[user], before, held, self.width);
        let (used, total) = dominant;
        let share = (used, total * u128::from(self.weights[user]));
        self.fractions[user] = share;
        self.nearly[user] = nearly(share);
    }

    /// Who has less.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        compare(self.fractions[a], self.nearly[a], self.fractions[b], self.nearly[b])
    }

    /// Who has fewer tasks over its weight.
    pub fn compare_tasks(&self, a: usize, b: usize) -> Ordering {
        let tasks = |user: usize| u128::from(self.tasks[user]);
        let weight = |user: usize| u128::from(self.weights[user]);
        (tasks(a) * weight(b)).cmp(&(tasks(b) * weight(a)))
    }

    /// The place of the user with the least among these; ties go to the lowest index.
    pub fn least(&self, users: &[u32]) -> Option<usize> {
        let mut users = users.iter().enumerate();
        let (mut place, mut least) = users.next().map(|(place, user)| (place, *user as usize))?;
        for (other_place, other) in users {
            let other = *other as usize;
            if self.compare(other, least).then(other.cmp(&least)).is_lt() {
                (place, least) = (other_place, other);
            }
        }
        Some(place)
    }

    /// Which of two siblings has less.
    pub fn compare_children(&self, a: Child, b: Child) -> Ordering {
        if let (Child::User(a), Child::User(b)) = (a, b) {
            return self.compare(a, b);
        }
        let (x, y) = (self.nearly_of(a), self.nearly_of(b));
        compare_nearly(x, y).unwrap_or_else(|| self.compare_sums(a, b))
    }

    /// Which of two siblings has fewer tasks over its weight.
    pub fn compare_tasks_of_children(&self, a: Child, b: Child) -> Ordering {
        let tasks = |child| match child {
            Child::Group(group) => u128::from(self.groups.tasks[group]),
            Child::User(user) => u128::from(self.tasks[user]),
        };
        let weight = |child| u128::from(self.weight_of(child));
        (tasks(a) * weight(b)).cmp(&(tasks(b) * weight(a)))
    }

    /// What a child's users hold of the resource that is each one's dominant one.
    fn parts_of(&self, child: Child) -> impl Iterator<Item = (usize, u128)> + '_ {
        let (one, all) = match child {
            Child::Group(group) => (None, &self.groups.parts[group * self.width..][..self.width]),
            Child::User(user) => (Some((self.held[user].resource, self.held[user].amount)), &[][..]),
        };
        one.into_iter().chain(all.iter().copied().enumerate())
    }

    fn nearly_of(&self, child: Child) -> f64 {
        let parts = self.parts_of(child).map(|(r, amount)| nearly((amount, self.totals[r].max(1))));
        parts.sum::<f64>() / self.weight_of(child) as f64
    }

    /// The same exactly, over one denominator.
    fn compare_sums(&self, a: Child, b: Child) -> Ordering {
        let total = |r: usize| BigUint::from(self.totals[r].max(1));
        let over = |child: Child| -> BigUint {
            let others = |r: usize| (0..self.width).filter(|s| *s != r).map(total).product::<BigUint>();
            self.parts_of(child).map(|(r, amount)| others(r) * amount).sum()
        };
        (over(a) * self.weight_of(b)).cmp(&(over(b) * self.weight_of(a)))
    }

    fn weight_of(&self, child: Child) -> u64 {
        match child {
            Child::Group(group) => self.groups.weights[group],
            Child::User(user) => self.weights[user],
        }
    }

    /// Whether any users are in groups.
    pub fn has_groups(&self) -> bool {
        !self.groups.parents.is_empty()
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.groups.parents.len()
    }

    /// How many users are known.
    pub fn user_count(&self) -> usize {
        self.tasks.len()
    }

    /// How many resources there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The groups that a user is in, from the root down.
    pub fn groups_above(&self, user: usize) -> &[usize] {
        &self.paths[user]
    }

    /// The group that a group is in.
    pub fn parent(&self, group: usize) -> Option<usize> {
        self.groups.parents[group]
    }

    /// The groups, every one before the one it is in.
    pub fn groups_upwards(&self) -> impl Iterator<Item = usize> + '_ {
        self.groups.upwards.iter().copied()
    }

    /// The weight of a child among its siblings, in their common unit.
    pub fn weight(&self, child: Child) -> f64 {
        self.weight_of(child) as f64
    }

    /// What a user has of each resource, in parts of all there is.
    pub fn parts(&self, user: usize) -> Vec<f64> {
        self.used(user)
            .iter()
            .zip(&self.totals)
            .map(|(used, total)| nearly((*used, (*total).max(1))))
            .collect()
    }

    /// What a user has of a resource over its weight; without a resource, of its dominant one.
    pub fn weighted(&self, user: usize, resource: Option<usize>) -> f64 {
        let Some(r) = resource else { return self.nearly[user] };
        nearly((self.used(user)[r], self.totals[r].max(1) * u128::from(self.weights[user])))
    }

    /// The dominant share of a user, not weighted.
    pub fn dominant(&self, user: usize) -> f64 {
        let shares = self.used(user).iter().zip(&self.totals);
        shares.map(|(used, total)| nearly((*used, (*total).max(1)))).fold(0.0, f64::max)
    }
}

fn nearly((up, down): (u128, u128)) -> f64 {
    up as f64 / down as f64
}

/// Compares two fractions, by their doubles where these are far enough apart.
fn compare(a: (u128, u128), x: f64, b: (u128, u128), y: f64) -> Ordering {
    compare_nearly(x, y).unwrap_or_else(|| compare_ratios(a, b))
}
