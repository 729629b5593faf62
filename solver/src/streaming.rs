//! One streaming pass over the users: what a unit of dominant share costs each of them at given prices.

use crate::level::Rates;
use crate::population::{CHUNK, Population};
use rayon::prelude::*;

/// The price of a class that a user cannot run on. Finite, so that times a zero demand it is zero.
const FORBIDDEN: f64 = 1e200;

/// Users for whom the running minimum is kept in registers.
const LANES: usize = 64;

/// Writes `π_i = min_l Σ_r d_ir p_lr / ρ_il` of every user to `costs` (`prices` row-major `classes × resources`,
/// in parts of the cluster's total, and those of the limits). Users without a usable class get a number that means nothing.
pub(crate) fn cheapest_costs(users: &Population, prices: &[f64], capacities: &[f64], costs: &mut [f64]) {
    let m = users.directions.len();
    let mut rest = costs;
    for ((range, rates), limits) in users.by_rule.iter().zip(&users.limits_of_rule) {
        let (here, later) = rest.split_at_mut(range.len());
        rest = later;
        let seen = users.limits.seen(*limits, prices);
        let effective = effective_prices(&seen, capacities, rates, m);
        here.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, costs)| {
            let start = range.start + chunk * CHUNK;
            for (block, costs) in costs.chunks_mut(LANES).enumerate() {
                let from = start + block * LANES;
                match m {
                    1 => block_minimum::<1>(users, from, &effective, costs),
                    2 => block_minimum::<2>(users, from, &effective, costs),
                    3 => block_minimum::<3>(users, from, &effective, costs),
                    4 => block_minimum::<4>(users, from, &effective, costs),
                    _ => any_minimum(users, from, &effective, costs),
                }
            }
        });
    }
}

/// Prices per unit of work, with what cannot be used out of reach.
pub(crate) fn effective_prices(prices: &[f64], capacities: &[f64], rates: &Rates, m: usize) -> Vec<f64> {
    let mut effective = Vec::with_capacity(prices.len());
    for ((prices, capacities), rate) in prices.chunks(m).zip(capacities.chunks(m)).zip(rates) {
        for (price, capacity) in prices.iter().zip(capacities) {
            effective.push(if *rate == 0.0 || *capacity == 0.0 { FORBIDDEN } else { price / rate });
        }
    }
    effective
}

fn block_minimum<const M: usize>(users: &Population, from: usize, prices: &[f64], costs: &mut [f64]) {
    let n = costs.len();
    let columns: [&[f64]; M] = std::array::from_fn(|r| &users.directions[r][from..from + n]);
    if n < LANES {
        return any_minimum(users, from, prices, costs);
    }
    let mut least = [f64::INFINITY; LANES];
    let columns: [&[f64; LANES]; M] = columns.map(|column| {
        // The length was checked above.
        column.first_chunk().unwrap_or(&[0.0; LANES])
    });
    for price in prices.as_chunks::<M>().0 {
        for i in 0..LANES {
            let mut cost = columns[0][i] * price[0];
            for r in 1..M {
                cost += columns[r][i] * price[r];
            }
            least[i] = if cost < least[i] { cost } else { least[i] };
        }
    }
    costs.copy_from_slice(&least);
}

fn any_minimum(users: &Population, from: usize, prices: &[f64], costs: &mut [f64]) {
    let m = users.directions.len();
    for (i, cost) in costs.iter_mut().enumerate() {
        *cost = prices
            .chunks(m)
            .map(|price| price.iter().zip(&users.directions).map(|(p, d)| p * d[from + i]).sum())
            .fold(f64::INFINITY, f64::min);
    }
}
