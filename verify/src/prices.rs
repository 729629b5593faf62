//! What claimed prices come to: for a unit of work, and for the whole cluster.

use crate::rounding::{Sum, decimal_up, down, up};
use crate::tolerance::LEAST_PRICE;
use crate::users::{Usable, UsableClasses};
use fairplan_instances::{Instance, User};
use std::collections::HashSet;

/// The prices with what is too small to count left out.
pub(crate) fn usable_prices(prices: &[f64]) -> Vec<f64> {
    prices.iter().map(|price| if *price < LEAST_PRICE { 0.0 } else { *price }).collect()
}

/// The different price vectors of the classes that such users can use, per unit of work.
pub(crate) fn distinct_columns(usable: &Usable, prices: &[f64], m: usize) -> Vec<f64> {
    let mut seen = HashSet::new();
    let mut columns = Vec::new();
    for &class in &usable.classes {
        let rate = usable.rate(class).to_f64();
        let per_work = |price: &f64| (price / rate).min(f64::MAX);
        let column: Vec<f64> = prices[class * m..(class + 1) * m].iter().map(per_work).collect();
        if seen.insert(column.iter().map(|price| price.to_bits()).collect::<Vec<_>>()) {
            columns.extend(column);
        }
    }
    columns
}

/// The least that a unit of a user's work costs, all its kinds together, given the columns of every distinct [`Usable`];
/// `surely` as [`surely`](crate::tolerance::surely) has it.
pub(crate) fn cost_of_work(
    user: User<'_>,
    usable_classes: &UsableClasses,
    columns: &[Vec<f64>],
    surely: f64,
) -> f64 {
    let least = |kind: usize| {
        let demand = usable_classes.demand_doubles(user, kind);
        down(cheapest(demand, &columns[usable_classes.position(kind)]).min(f64::MAX) * surely)
    };
    let mut kinds = usable_classes.kinds(user);
    let first = kinds.next().map_or(0.0, least);
    kinds.fold(first, |cost, kind| down(cost + least(kind)).min(f64::MAX))
}

/// `min over columns of demand · column`, in plain doubles.
fn cheapest(demand: &[f64], columns: &[f64]) -> f64 {
    columns
        .chunks_exact(demand.len())
        .map(|column| demand.iter().zip(column).map(|(demand, price)| demand * price).sum::<f64>())
        .fold(f64::INFINITY, f64::min)
}

/// `Σ_lr C_lr p_lr`, rounded up.
pub(crate) fn capacity_value(instance: &Instance, prices: &[f64]) -> f64 {
    let mut sum = Sum::new();
    for (class, prices) in instance.classes().iter().zip(prices.chunks(instance.resources().len())) {
        for (capacity, price) in class.capacity.iter().zip(prices) {
            if *price > 0.0 && !capacity.is_zero() && class.count > 0 {
                // A count is below 2^53, so it is a double. Overflow: no bound.
                let value = up(up(decimal_up(*capacity) * price) * class.count as f64);
                if value.is_infinite() {
                    return value;
                }
                sum.add(value);
            }
        }
    }
    sum.above()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_just_below_the_least_counts_as_none_and_the_least_counts() {
        assert_eq!(usable_prices(&[0.99 * LEAST_PRICE, LEAST_PRICE]), [0.0, LEAST_PRICE]);
    }
}
