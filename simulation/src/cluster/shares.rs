//! Weighted dominant shares of users whose tasks differ: `max_r u_ir / (C_r w_i)` of what the tasks of user `i` hold,
//! compared exactly.

use fairplan_instances::compare_ratios;
use std::cmp::Ordering;

/// Two doubles of shares that differ by more than this part of the larger one differ in truth.
const UNCERTAIN: f64 = 64.0 * f64::EPSILON;

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
}

impl Shares {
    /// No users and no servers yet.
    pub fn new(width: usize) -> Self {
        Self {
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
    pub fn add_user(&mut self, weight: u64) {
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
        self.measure(user);
    }

    /// A task is over.
    pub fn release(&mut self, user: usize, demand: &[u64]) {
        let used = &mut self.used[user * self.width..];
        used.iter_mut().zip(demand).for_each(|(used, demand)| *used -= u128::from(*demand));
        self.tasks[user] -= 1;
        self.measure(user);
    }

    fn measure(&mut self, user: usize) {
        let mut dominant = (0u128, 1u128);
        for (used, total) in self.used[user * self.width..].iter().zip(&self.totals) {
            // Nothing is held of what there is none of.
            let share = (*used, (*total).max(1));
            if compare(dominant, nearly(dominant), share, nearly(share)).is_lt() {
                dominant = share;
            }
        }
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
        // Most users have so much more that their doubles say so.
        let above = |user: usize| self.nearly[user] * (1.0 + 2.0 * UNCERTAIN);
        let mut bound = above(least);
        for (other_place, other) in users {
            let other = *other as usize;
            if self.nearly[other] <= bound && self.compare(other, least).then(other.cmp(&least)).is_lt() {
                (place, least, bound) = (other_place, other, above(other));
            }
        }
        Some(place)
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
    if (x - y).abs() > UNCERTAIN * x.max(y) { x.total_cmp(&y) } else { compare_ratios(a, b) }
}
