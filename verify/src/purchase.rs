//! What any purchase must cost that is enough, proved from prices of resources.
//!
//! Whatever prices `p >= 0` are put on the resources of each class, work that is done must be paid: a cluster that gives
//! every user `i` its required work `R_i` has `Σ_i R_i π_i(p) <= Σ_l N_l w_l(p)`, with `π_i(p)` the least that a unit of work
//! costs on a class that the user can use, and `w_l(p)` what one server is worth. Where no type is worth more than it costs,
//! but for the `μ_t` by which types of which only `L_t` can be bought are worth more, every purchase that is enough costs at
//! least `Σ_i R_i π_i − Σ_l N_l w_l − Σ_t L_t μ_t` (linear programming duality).

use crate::rounding::{decimal_down, decimal_up, down, up};
use crate::tolerance::{LAST_DIGIT, SHORT, WHOLE_STEP};
use fairplan_instances::{Catalog, Decimal, Instance};

/// The least that a purchase costs which gives every user of `instance` its `required` work, by these prices: one row a class
/// of the instance, then one a type of the catalog that is a class of its own, one number a resource. Every step is rounded
/// downward; the end is rounded up to the next cost that there is. With `whole`, tasks run only where a whole one fits.
pub fn least_cost(
    instance: &Instance,
    catalog: &Catalog,
    required: &[f64],
    whole: bool,
    prices: &[Vec<f64>],
) -> f64 {
    let cluster = catalog.added_to(instance, &vec![0; catalog.types.len()], true);
    let sound = |row: &Vec<f64>| {
        row.len() == instance.resources().len() && row.iter().all(|p| p.is_finite() && *p >= 0.0)
    };
    if prices.len() != cluster.classes.len() || !prices.iter().all(sound) {
        return 0.0;
    }
    let at_most = |sum: f64, x: f64| up(sum + x);
    let worth: Vec<f64> = (cluster.classes.iter().zip(prices))
        .map(|(class, row)| {
            let parts = class.capacity.iter().zip(row).map(|(capacity, p)| up(decimal_up(*capacity) * p));
            parts.fold(0.0, at_most)
        })
        .collect();
    // Where each type is, and whether something can be bought of it.
    let mut next = instance.classes().len();
    let mut position = Vec::new();
    for kind in &catalog.types {
        position.push(kind.more_of.map_or(next, |class| class.0));
        next += usize::from(kind.more_of.is_none());
    }
    let types = || catalog.types.iter().zip(&position);
    // Prices at which types without a limit are not worth more than they cost.
    let scale = types()
        .filter(|(kind, at)| kind.limit.is_none() && worth[**at] > 0.0)
        .map(|(kind, at)| down(decimal_down(kind.price) / worth[*at]))
        .fold(1.0, f64::min);
    let offered = |class: usize| {
        cluster.classes[class].count > 0 || types().any(|(kind, at)| *at == class && kind.limit != Some(0))
    };
    let mut asked = 0.0;
    for (user, work) in cluster.users.iter().zip(required).filter(|(_, work)| **work > 0.0) {
        let cheapest = (0..prices.len())
            .filter(|class| offered(*class))
            .filter(|class| user.eligible.as_ref().is_none_or(|eligible| eligible.contains(class)))
            .filter_map(|class| {
                let capacity = &cluster.classes[class].capacity;
                let needs = user.demand.iter().zip(capacity).filter(|(demand, _)| !demand.is_zero());
                let fits = |(demand, capacity): (&Decimal, &Decimal)| {
                    // What fits exactly fits rounded, too: nothing that is usable is left out.
                    if whole { demand.to_f64() <= capacity.to_f64() } else { !capacity.is_zero() }
                };
                if !needs.clone().all(fits) {
                    return None;
                }
                let rate = user.rates.iter().find(|(other, _)| *other == class);
                let rate = rate.map_or(1.0, |(_, rate)| decimal_up(*rate));
                let parts = user.demand.iter().zip(&prices[class]);
                let cost = parts.fold(0.0, |sum, (demand, p)| down(sum + down(decimal_down(*demand) * p)));
                (rate > 0.0).then(|| down(cost / rate))
            })
            .reduce(f64::min);
        // Who can run nowhere is no matter of prices.
        asked = down(asked + down(down(work * (1.0 - SHORT)) * cheapest.unwrap_or(0.0)));
    }
    let owned = cluster.classes.iter().zip(&worth);
    let owned = owned.map(|(class, worth)| up(class.count as f64 * worth)).fold(0.0, at_most);
    let excess = types().filter_map(|(kind, at)| {
        let excess = up(scale * worth[*at]) - decimal_down(kind.price);
        Some(kind.limit? as f64).filter(|_| excess > 0.0).map(|limit| up(limit * up(excess)))
    });
    let excess = excess.fold(0.0, |sum, x| up(sum + x));
    let bound = down(down(scale * down((asked - owned).max(0.0))) - excess).max(0.0);
    // What overflows proves nothing.
    if ![asked, owned, excess, bound].iter().all(|number| number.is_finite()) {
        return 0.0;
    }
    raised(bound, common_step(catalog))
}

/// A bound raised to the next whole number of steps; what is one but for rounding stays.
fn raised(bound: f64, step: f64) -> f64 {
    f64::max(bound, ((bound / step) * (1.0 - WHOLE_STEP)).ceil() * step * (1.0 - LAST_DIGIT))
}

/// All costs are whole multiples of this.
fn common_step(catalog: &Catalog) -> f64 {
    let exponent = catalog.types.iter().map(|kind| kind.price.exponent()).min().unwrap_or(0);
    let mut whole = catalog.types.iter().map(|kind| kind.price.scaled(exponent));
    let divisor = whole.try_fold(0u128, |divisor, price| Some(greatest_common_divisor(divisor, price?)));
    match divisor {
        Some(divisor) if divisor > 0 => divisor as f64 * 10f64.powi(i32::from(exponent)),
        _ => 10f64.powi(i32::from(exponent)),
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_just_above_whole_steps_stays_and_one_clearly_above_is_raised() {
        let near = 3.0 * (1.0 + 0.9 * WHOLE_STEP);
        assert_eq!(raised(near * 0.01, 0.01), near * 0.01);
        assert!(raised(3.0 * (1.0 + 1.1 * WHOLE_STEP) * 0.01, 0.01) > 0.039);
    }

    /// Prices and counts are multiplied in doubles, which may end a digit lower than the step stated.
    #[test]
    fn a_raised_bound_is_below_the_whole_steps_by_their_last_digits_and_no_more() {
        let bound = raised(3.5, 1.0);
        assert!((4.0 * (1.0 - 1.1 * LAST_DIGIT)..4.0).contains(&bound), "{bound:e}");
    }
}
