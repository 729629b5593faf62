//! Who is served next: the user with the lowest weighted dominant share, or the fewest tasks, compared exactly.
//!
//! The weighted dominant share of user `i` is `work_i · δ_i / w_i` with `work_i = Σ_l ρ_il x_il` (DRFH
//! Sec. III-A and V-A), a fraction of whole numbers. A tournament over the users, in their order, keeps the
//! lowest at the top; where tasks are counted, each is one share. Of users in groups the group with the lowest share is asked first (`turns.rs`).

use crate::tournament::Tournament;
use crate::turns::Turns;
use crate::{PlacementError, Turn};
use fairplan_instances::{ClassId, Decimal, Instance, PlacementRule, User, Violation};
use num_bigint::BigUint;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Rates in the smallest unit of their user stay below this, so that the work of 2^48 tasks can be counted.
const MAX_RATE: u128 = 1 << 80;

/// The weighted dominant shares of all users.
pub(crate) struct Shares {
    exact: Exact,
    rates: Vec<Rates>,
    rates_of: Vec<u32>,
    /// One unit's share as a double.
    step: Vec<f64>,
    order: Order,
}

/// Who keeps the lowest at the top.
enum Order {
    /// All users side by side.
    Users(Tournament),
    /// Groups first, then the users inside.
    Groups(Turns),
}

/// What users have, in whole numbers.
struct Exact {
    /// The distinct shares of one unit of work.
    units: Vec<Fraction>,
    unit_of: Vec<u32>,
    work: Vec<u128>,
}

/// A positive fraction that need not be in lowest terms.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Fraction {
    Small(u128, u128),
    Big(BigUint, BigUint),
}

/// The work that a task does on each class, in units of `10^exponent`; `None` is one unit everywhere.
struct Rates {
    exponent: i8,
    by_class: Option<Vec<u128>>,
}

impl Shares {
    /// Nobody has anything yet.
    pub fn new(instance: &Instance, turn: Turn) -> Result<Self, PlacementError> {
        let users = instance.user_count();
        let rates: Vec<Option<Rates>> = (instance.rules().iter())
            .map(|rule| match turn {
                Turn::LowestShare => Rates::new(rule, instance.classes().len()),
                // A task counts as one wherever it runs.
                Turn::FewestTasks => Some(Rates { exponent: 0, by_class: None }),
            })
            .collect();
        let of_task = |user: User<'_>| match turn {
            Turn::LowestShare => user.exact_task_share(),
            Turn::FewestTasks => (1, 1),
        };
        let mut positions = HashMap::new();
        let (mut units, mut unit_of) = (Vec::new(), Vec::with_capacity(users));
        let mut step = Vec::with_capacity(users);
        for user in instance.users() {
            let exponent = match &rates[user.rule_id().0] {
                Some(rates) => rates.exponent,
                None => {
                    let place = format!("users[{}].rates", user.index().0);
                    return Err(
                        Violation::new(place, "", "span more than 24 decimal digits; round them").into()
                    );
                }
            };
            let unit = unit_share(of_task(user), user.weight(), exponent);
            unit_of.push(*positions.entry(unit).or_insert_with_key(|unit| {
                units.push(unit.clone());
                (units.len() - 1) as u32
            }));
            step.push(unit_share_nearly(of_task(user), user.weight(), exponent));
        }
        let order = match instance.has_groups() {
            true => Order::Groups(Turns::new(instance, |user| {
                let exponent = rates[user.rule_id().0].as_ref().map_or(0, |rates| rates.exponent);
                unit_share(of_task(user), Decimal::ONE, exponent).to_big()
            })),
            false => Order::Users(Tournament::new(users)),
        };
        Ok(Self {
            exact: Exact { units, unit_of, work: vec![0; users] },
            // Rules that no user has may be out of bounds; they are not asked.
            rates: rates
                .into_iter()
                .map(|rates| rates.unwrap_or(Rates { exponent: 0, by_class: None }))
                .collect(),
            rates_of: instance.users().map(|user| user.rule_id().0 as u32).collect(),
            step,
            order,
        })
    }

    /// The user to be served next, unless all have left.
    pub fn lowest(&self) -> Option<usize> {
        match &self.order {
            Order::Users(tournament) => tournament.winner(),
            Order::Groups(turns) => turns.lowest(),
        }
    }

    /// The users that have not left, where they stand side by side; `None` where groups take turns.
    pub fn side_by_side(&self) -> Option<impl Iterator<Item = usize>> {
        match &self.order {
            Order::Users(tournament) => Some(tournament.there()),
            Order::Groups(_) => None,
        }
    }

    /// What a user has, nearly.
    pub fn share(&self, user: usize) -> f64 {
        self.exact.work[user] as f64 * self.step[user]
    }

    /// What one task on a class adds to that.
    pub fn step(&self, user: usize, class: ClassId) -> f64 {
        self.work_of_task(user, || class) as f64 * self.step[user]
    }

    /// The work of a user after so many more tasks on a class, if it can be counted.
    pub fn work_after(&self, user: usize, class: ClassId, tasks: u64) -> Option<u128> {
        self.work_of_task(user, || class).checked_mul(tasks.into())?.checked_add(self.exact.work[user])
    }

    /// How many tasks on a class a user gets before the turn comes of `other` with this work; none if that is too much to
    /// count.
    pub fn tasks_until(&self, user: usize, class: ClassId, other: usize, work: u128) -> Option<u64> {
        // The work with which the user has the same share, rounded down.
        let Exact { units, unit_of, .. } = &self.exact;
        let (same, is_exact) = if unit_of[user] == unit_of[other] {
            (work, true)
        } else {
            let unit = |user: usize| units[unit_of[user] as usize].to_big();
            let ((own_p, own_q), (p, q)) = (unit(user), unit(other));
            let (over, under) = (p * own_q * work, q * own_p);
            let same = &over / &under;
            let is_exact = &same * &under == over;
            (u128::try_from(same).ok()?, is_exact)
        };
        let Some(left) = same.checked_sub(self.exact.work[user]) else { return Some(0) };
        let each = self.work_of_task(user, || class);
        // Of users with equal shares the first comes first.
        let at_same = if is_exact && user >= other { left.is_multiple_of(each) } else { false };
        u64::try_from(left / each + u128::from(!at_same)).ok()
    }

    fn work_of_task(&self, user: usize, class: impl FnOnce() -> ClassId) -> u128 {
        match &self.rates[self.rates_of[user] as usize].by_class {
            None => 1,
            Some(rates) => rates[class().0],
        }
    }

    /// Counts so many more tasks of `user`; `class` tells where they run (asked only of users with rates).
    pub fn add_tasks(&mut self, user: usize, count: u64, class: impl FnOnce() -> ClassId) {
        let more = self.work_of_task(user, class) * u128::from(count);
        self.exact.work[user] += more;
        let share = self.share(user);
        match &mut self.order {
            Order::Groups(turns) => turns.add(user, more),
            Order::Users(tournament) => tournament.replay(user, share, &|a, b| self.exact.is_lower(a, b)),
        }
    }

    /// Takes `user` out of the round.
    pub fn leave(&mut self, user: usize) {
        match &mut self.order {
            Order::Groups(turns) => turns.leave(user),
            Order::Users(tournament) => {
                tournament.replay(user, f64::INFINITY, &|a, b| self.exact.is_lower(a, b));
            }
        }
    }
}

impl Exact {
    fn is_lower(&self, a: usize, b: usize) -> bool {
        self.compare(a, b).is_lt()
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (work_a, work_b) = (self.work[a], self.work[b]);
        if self.unit_of[a] == self.unit_of[b] || work_a == 0 || work_b == 0 {
            return work_a.cmp(&work_b);
        }
        let (unit_a, unit_b) = (&self.units[self.unit_of[a] as usize], &self.units[self.unit_of[b] as usize]);
        if let (Fraction::Small(p, q), Fraction::Small(r, s)) = (unit_a, unit_b) {
            let product = |x: u128, y: u128, z: u128| x.checked_mul(y)?.checked_mul(z);
            if let (Some(left), Some(right)) = (product(work_a, *p, *s), product(work_b, *r, *q)) {
                return left.cmp(&right);
            }
        }
        let ((p, q), (r, s)) = (unit_a.to_big(), unit_b.to_big());
        (p * s * work_a).cmp(&(r * q * work_b))
    }
}

impl Fraction {
    fn to_big(&self) -> (BigUint, BigUint) {
        match self {
            Self::Small(p, q) => (BigUint::from(*p), BigUint::from(*q)),
            Self::Big(p, q) => (p.clone(), q.clone()),
        }
    }
}

impl Rates {
    /// `None` when the rates have no common unit that is fine and short enough.
    fn new(rule: &PlacementRule, classes: usize) -> Option<Self> {
        if rule.rates().is_empty() {
            return Some(Self { exponent: 0, by_class: None });
        }
        let exponent = rule.rates().iter().map(|(_, rate)| rate.exponent()).fold(0, i8::min);
        let by_class: Option<Vec<u128>> = (0..classes)
            .map(|l| rule.rate(ClassId(l)).scaled(exponent).filter(|rate| *rate < MAX_RATE))
            .collect();
        by_class.map(|rates| Self { exponent, by_class: Some(rates) })
    }
}

/// `δ_i · 10^exponent / w`: the share of one unit of work over a weight, `δ_i` being that of a task.
fn unit_share((demand, total): (u128, u128), weight: Decimal, exponent: i8) -> Fraction {
    let power = i32::from(exponent) - i32::from(weight.exponent());
    // A decimal is a 64-bit whole number of its own last digit.
    let coefficient = weight.scaled(weight.exponent()).unwrap_or_default();
    let (up, down) = (power.max(0).unsigned_abs(), power.min(0).unsigned_abs());
    let scaled = |value: u128, by: u32| 10u128.checked_pow(by)?.checked_mul(value);
    let small = (scaled(demand, up), total.checked_mul(coefficient).and_then(|value| scaled(value, down)));
    match small {
        (Some(p), Some(q)) => Fraction::Small(p, q),
        _ => {
            let ten = BigUint::from(10u8);
            Fraction::Big(ten.pow(up) * demand, ten.pow(down) * total * coefficient)
        }
    }
}

/// The same as a double, by fewer than ten roundings.
fn unit_share_nearly((demand, total): (u128, u128), weight: Decimal, exponent: i8) -> f64 {
    let share = demand as f64 / total as f64;
    let unit = 10f64.powi(-i32::from(exponent));
    share / unit / weight.to_f64()
}
