//! A bracket of the sum of logarithms, re-proved: its placement counted, its bound from what tasks are claimed to be worth
//! and logarithms of whole numbers, rounded away from the claim.
//!
//! Sums are over the users that can have tasks, weights are parts of their sum, and everything is a fraction over one
//! denominator. What a user wants at its price is looked for nearby in doubles, and proved by what one task more and one
//! less would add.

use super::between::{held_by_all, tasks_within_limits};
use super::logarithm::{ONE, logarithm};
use super::{
    Worth, begin, check_counted, check_values, check_without_tasks, has_tasks, server_values_hold,
    users_without_tasks,
};
use crate::limited_tasks::Limited;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Deadline, Instance, Kind, LogarithmProof, ProportionalBracket, User};
use num_bigint::{BigInt, BigUint};

/// A bracket of the sum of logarithms, as claimed.
#[derive(Clone, Debug)]
pub struct ProportionalClaim<'a> {
    /// The bracket itself.
    pub bracket: &'a ProportionalBracket,
    /// Whether its sides are said to meet; `None` where nothing is said.
    pub proved_optimal: Option<bool>,
}

/// Re-proves a bracket from the instance alone: the properties of its placement, `users-without-tasks`, `lower-bound`,
/// `server-values`, `upper-bound` and, where it is stated, `proved-optimal`. What there was no time for does not hold. Never panics on
/// a claim.
pub fn verify_proportional(
    instance: &Instance,
    claim: &ProportionalClaim<'_>,
    deadline: &Deadline,
) -> Vec<Verdict> {
    let bracket = claim.bracket;
    let (mut verdicts, is_sound) = begin(instance, &bracket.placement, || check_form(instance, bracket));
    if !is_sound {
        return verdicts;
    }
    let has_tasks = has_tasks(instance, &bracket.without_tasks);
    verdicts.push(users_without_tasks(instance, &has_tasks));
    // The bounds rest on it.
    if verdicts.iter().any(|verdict| !verdict.holds) {
        return verdicts;
    }
    if let (Some(upper), Some(proof)) = (bracket.upper, &bracket.proof) {
        let logarithms = Logarithms::new(instance, &has_tasks);
        verdicts.push(logarithms.lower_bound(bracket));
        verdicts.push(server_values_hold(instance, worth(proof), &has_tasks, deadline));
        verdicts.push(logarithms.upper_bound(upper, proof));
        verdicts.extend(claim.proved_optimal.map(|stated| logarithms.meet(bracket, upper, stated)));
    } else if let Some(stated) = claim.proved_optimal {
        let mut verdict = Worst::of("proved-optimal", 0.0);
        if stated {
            verdict.fail(|| "proved_optimal is true, and no user can have tasks".into());
        }
        verdicts.push(verdict.verdict());
    }
    verdicts
}

/// Whether the sides of a bracket that holds meet: no placement has a larger sum than its own.
pub fn is_best_sum(instance: &Instance, bracket: &ProportionalBracket) -> bool {
    bracket.gap_per_weight(instance).is_some_and(|gap| gap <= tolerance::LOGARITHMS_MEET)
}

fn worth(proof: &LogarithmProof) -> Worth<'_> {
    Worth { tasks: &proof.task_values, servers: &proof.server_values, limits: &[] }
}

fn check_form(instance: &Instance, bracket: &ProportionalBracket) -> Result<(), String> {
    check_counted(instance)?;
    check_without_tasks(instance, &bracket.without_tasks)?;
    let others = bracket.without_tasks.len() < instance.user_count();
    if [bracket.upper.is_some(), bracket.proof.is_some()] != [others; 2] {
        return Err("a bound and its proof are stated exactly if some user can have tasks".into());
    }
    if bracket.lower.is_some() && !others {
        return Err("a lower bound is stated, and no user can have tasks".into());
    }
    if let Some(proof) = &bracket.proof {
        check_values(instance, &bracket.without_tasks, worth(proof))?;
        if proof.values_per_log == 0 {
            return Err("values_per_log is 0".into());
        }
    }
    match [bracket.upper, bracket.lower].iter().flatten().find(|bound| !bound.is_finite()) {
        Some(bound) => Err(format!("{bound} is no bound")),
        None => Ok(()),
    }
}

/// The users that can have tasks, with their weights in whole units.
struct Logarithms<'a> {
    instance: &'a Instance,
    has_tasks: &'a [bool],
    users: Vec<(User<'a>, BigInt)>,
    /// The sum of the weights, in units and as it is.
    units: BigInt,
    weights: f64,
}

impl<'a> Logarithms<'a> {
    fn new(instance: &'a Instance, has_tasks: &'a [bool]) -> Self {
        let users = || instance.users().filter(|user| has_tasks[user.index().0]);
        let least = users().map(|user| user.weight().exponent()).min().unwrap_or(0);
        let in_units = |user: User<'a>| {
            let weight = user.weight();
            let digits = weight.scaled(weight.exponent()).unwrap_or_default();
            let power = u32::try_from(i32::from(weight.exponent()) - i32::from(least)).unwrap_or(0);
            (user, BigInt::from(digits) * BigInt::from(10u8).pow(power))
        };
        let users_in_units: Vec<(User<'a>, BigInt)> = users().map(in_units).collect();
        Self {
            instance,
            has_tasks,
            units: users_in_units.iter().map(|(_, units)| units).sum(),
            users: users_in_units,
            weights: users().map(|user| user.weight().to_f64()).sum(),
        }
    }

    /// `(low, high)` of `ONE ln δ_i`.
    fn of_one_task(&self, user: User<'_>) -> (BigInt, BigInt) {
        let (taken, of_all) = user.exact_task_share();
        let (low, high) = logarithm(&BigUint::from(taken));
        let total = logarithm(&BigUint::from(of_all));
        (BigInt::from(low) - total.1, BigInt::from(high) - total.0)
    }

    fn lower_bound(&self, bracket: &ProportionalBracket) -> Verdict {
        let mut verdict = Worst::of("lower-bound", tolerance::ROUNDING);
        let tasks = |user: User<'_>| bracket.placement.tasks[user.index().0];
        let without = self.users.iter().find(|(user, _)| tasks(*user) == 0);
        match (bracket.lower, without) {
            (None, Some(_)) => {}
            (None, None) => verdict.fail(|| "every user has tasks, and no lower bound is stated".into()),
            (Some(_), Some((user, _))) => {
                verdict.fail(|| format!("a lower bound is stated, and user {} has no task", user.id()));
            }
            (Some(lower), None) => {
                let of = |(user, weight): &(User<'_>, BigInt)| {
                    weight * (self.of_one_task(*user).0 + logarithm(&BigUint::from(tasks(*user))).0)
                };
                let sum: BigInt = self.users.iter().map(of).sum();
                self.compare(&mut verdict, lower, sum, self.units.clone());
            }
        }
        verdict.verdict()
    }

    fn upper_bound(&self, upper: f64, proof: &LogarithmProof) -> Verdict {
        let mut verdict = Worst::of("upper-bound", tolerance::ROUNDING);
        let per_log = BigInt::from(proof.values_per_log);
        let mut sum = BigInt::from(0);
        let limited = Limited::of(self.instance);
        for (user, weight) in &self.users {
            let of_kind = |kind: Kind<'_>| BigInt::from(proof.task_values[kind.index().0]) * kind.each();
            let value: BigInt = user.kinds().map(of_kind).sum();
            let limit = tasks_within_limits(self.instance, &limited, *user).max(1);
            // Everything over `units · per_log`, logarithms in parts of `ONE`.
            let price = value * &self.units * ONE;
            let each = weight * &per_log;
            let most = most_of(&each, &price, limit);
            sum += each * self.of_one_task(*user).1 + most;
        }
        let held = held_by_all(self.instance, worth(proof), self.has_tasks);
        sum += BigInt::from(held) * &self.units * ONE;
        self.compare(&mut verdict, upper, sum, &self.units * per_log);
        verdict.verdict()
    }

    fn meet(&self, bracket: &ProportionalBracket, upper: f64, stated: bool) -> Verdict {
        let mut verdict = Worst::of("proved-optimal", 0.0);
        let gap = bracket.lower.map(|lower| (upper - lower) / self.weights);
        if stated != gap.is_some_and(|gap| gap <= tolerance::LOGARITHMS_MEET) {
            verdict.fail(|| format!("proved_optimal is {stated}, and the opposite is so"));
        }
        verdict.verdict()
    }

    /// Holds a stated sum against a mean over the weights in parts of `ONE`, as a difference of means.
    fn compare(&self, verdict: &mut Worst, stated: f64, over: BigInt, under: BigInt) {
        let parts = i128::try_from(over / under).map_or(f64::NAN, |parts| parts as f64);
        let computed = parts / ONE as f64 * self.weights;
        verdict.see(((stated - computed) / self.weights).abs(), || {
            format!("{stated} is stated, {computed} is computed")
        });
    }
}

/// Tasks around the best number that are looked at, at most so many to each side.
const WIDEST: u64 = 128;

/// At least the largest `each · ONE ln k − price · k` for `k` from 1 to `limit`, hardly more than it. It rises before and
/// falls after, so a fall at both ends proves that it is between. Of so many tasks that logarithms of neighbours are too
/// near to tell, parts of tasks count too.
fn most_of(each: &BigInt, price: &BigInt, limit: u64) -> BigInt {
    let ratio = ratio(price, each) / ONE as f64;
    let near = (1.0 / -(-ratio).exp_m1()) as u64;
    let near = near.clamp(1, limit.max(1));
    let at = |k: u64| {
        let (low, high) = logarithm(&BigUint::from(k));
        (each * low - price * k, each * high - price * k)
    };
    let mut width = 2;
    while width <= WIDEST {
        let (first, last) = (near.saturating_sub(width).max(1), near.saturating_add(width).min(limit));
        let rises = first == 1 || at(first).1 < at(first + 1).0;
        let falls = last == limit || at(last).1 < at(last - 1).0;
        if rises
            && falls
            && let Some(most) = (first..=last).map(|k| at(k).1).max()
        {
            return most;
        }
        width *= 4;
    }
    most_of_parts(each, price).unwrap_or_else(|| at(limit.max(1)).1)
}

/// The same over all numbers: at `x = each · ONE / price` it is `each · ONE (ln x − 1)`. Nothing where tasks cost nothing.
fn most_of_parts(each: &BigInt, price: &BigInt) -> Option<BigInt> {
    const FINER: u64 = 64;
    if *price <= BigInt::from(0) {
        return None;
    }
    let finer = BigUint::from(1u8) << FINER;
    let x: BigInt = ((each * ONE) << FINER) / price + 1;
    let x = x.to_biguint()?.max(finer.clone());
    Some(each * (BigInt::from(logarithm(&x).1) - BigInt::from(logarithm(&finer).0)) - each * ONE)
}

/// A quotient, nearly.
fn ratio(over: &BigInt, under: &BigInt) -> f64 {
    let shift = over.bits().max(under.bits()).saturating_sub(1_000);
    let nearly = |x: &BigInt| {
        let (x, rest) = (x >> shift, x.bits().saturating_sub(shift).saturating_sub(100));
        i128::try_from(x >> rest).map_or(0.0, |x| x as f64 * 2f64.powi(rest as i32))
    };
    nearly(over) / nearly(under)
}
