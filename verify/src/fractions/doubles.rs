//! The doubles beside fractions: each is next to its fraction.

use super::costs::LevelCosts;
use super::fraction::Fraction;
use super::stated::{Holding, Stated};
use super::used_rows::{for_each_part, in_full};
use crate::claim::SolutionClaim;
use crate::task_limits::has_task_row;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{LimitedBy, User, UserId};

/// `exact-doubles`: every double is next to its fraction.
pub(super) fn doubles(stated: &Stated<'_>, holdings: &[Holding], claim: &SolutionClaim<'_>) -> Verdict {
    let mut worst = Worst::of("exact-doubles", tolerance::EXACT_DOUBLES);
    let of_levels = claim.certificate.levels();
    for (k, (level, exact)) in of_levels.iter().zip(&stated.levels).enumerate() {
        worst.compare(level.value, exact.value.near(), || format!("level {k}"));
        worst.compare(level.bound, exact.value.near(), || format!("bound of level {k}"));
        // Whole numbers may be too long for a double, but not in parts of the largest.
        let largest =
            exact.prices.iter().chain(&exact.limit_prices).max().filter(|price| price.is_positive());
        let Some(largest) = largest else { continue };
        let doubles: Vec<f64> = level.prices.iter().chain(&level.limit_prices).copied().collect();
        let fractions: Vec<f64> =
            exact.prices.iter().chain(&exact.limit_prices).map(|price| price.over(largest).near()).collect();
        let scale = doubles.iter().copied().fold(0.0, f64::max);
        for (double, fraction) in doubles.iter().zip(&fractions) {
            worst.compare(*double, fraction * scale, || format!("a price of level {k}"));
        }
        if exact.task_prices.is_empty() {
            let unit = unit_of_prices(stated, holdings, k);
            if !unit.is_positive() {
                worst.fail(|| format!("the prices of level {k} cost nobody who has it anything"));
                continue;
            }
            worst.compare(scale, largest.over(&unit).near(), || {
                format!("the unit of the prices of level {k}")
            });
        }
    }
    for (user, holding) in stated.instance.users().zip(holdings) {
        let mut parts = Vec::new();
        for_each_part(stated, user, holding, |kind, class, amount| {
            let tasks = in_full(stated, amount).near();
            if tasks > 0.0 {
                parts.push((kind, class, tasks));
            }
        });
        let mut next = parts.into_iter();
        for kind in claim.tasks.kinds(user) {
            claim.tasks.visit(user.index().0, kind, |class, here| match next.next() {
                Some((of_kind, of_class, tasks)) if (of_kind, of_class) == (kind, class) => {
                    worst.compare(here, tasks, || format!("tasks of user {}", user.id()));
                }
                _ => worst
                    .fail(|| format!("user {}: doubles and fractions are on different classes", user.id())),
            });
        }
        if next.next().is_some() {
            worst.fail(|| format!("user {}: fractions are on more classes than doubles", user.id()));
        }
    }
    worst.verdict()
}

/// What one more of a level costs all who have it, at its fractions' prices: doubles are in this unit, so that they are the derivative
/// of the level.
fn unit_of_prices(stated: &Stated<'_>, holdings: &[Holding], k: usize) -> Fraction {
    let costs = LevelCosts::of(stated.instance, stated.objective, stated.usable, &stated.levels[k]);
    if let Some(filling) = &stated.filling {
        let rise = filling.rise(k);
        let cost = |(user, holding): (User<'_>, &Holding)| {
            let rises = rise.of(filling, user.index().0)?;
            let per_level = stated.work_per_level(user);
            let per_share = per_level.over(&Fraction::decimal(user.weight()));
            Some(costs.of_work(user, holding).times(&per_share).times(&rises))
        };
        let users = stated.instance.users().zip(holdings).filter_map(cost);
        return users.fold(Fraction::zero(), |sum, cost| sum.plus(&cost));
    }
    // Whose tasks do different work on different classes is held by prices, with all its tasks too.
    let does_unlike_work = |i: usize| {
        !stated.objective.is_pooled()
            && has_task_row(stated.instance.user(UserId(i)), stated.usable.of_user(i))
    };
    let rises = |i: usize| match stated.limited_by[i] {
        LimitedBy::NoUsableClass => false,
        LimitedBy::Tasks => stated.level_of[i] as usize + usize::from(does_unlike_work(i)) > k,
        LimitedBy::Capacity | LimitedBy::Limit => stated.level_of[i] as usize >= k,
    };
    let users = stated.instance.users().zip(holdings).filter(|(user, _)| rises(user.index().0));
    let cost = |(user, holding): (User<'_>, &Holding)| {
        costs.of_work(user, holding).times(&stated.work_per_level(user))
    };
    users.map(cost).fold(Fraction::zero(), |sum, cost| sum.plus(&cost))
}
