//! Prices prove an upper bound whatever they are: wrong ones weaken it, none makes it false.

use crate::planted::{Kind, Planted, planted};
use fairplan_instances::{ClassId, Instance, ResourceId, User};
use num_bigint::BigUint;
use proptest::prelude::*;

/// The prices, but none for what a class has none of.
fn of_what_there_is(instance: &Instance, prices: &[f64]) -> Vec<f64> {
    let m = instance.resources().len();
    let is_there = |at: usize| instance.capacity_units(ClassId(at / m), ResourceId(at % m)) > 0;
    prices.iter().enumerate().map(|(at, price)| if is_there(at) { *price } else { 0.0 }).collect()
}

/// Prices that solvers would never return, and some that they would.
fn prices(length: usize) -> impl Strategy<Value = Vec<f64>> {
    let price = prop_oneof![
        Just(0.0),
        Just(-0.0),
        0.0f64..1.0,
        (-320i32..300).prop_map(|exponent| 10f64.powi(exponent)),
        Just(f64::MAX),
    ];
    prop::collection::vec(price, length)
}

fn with_prices() -> impl Strategy<Value = (Planted, Vec<Vec<f64>>)> {
    planted(Kind::Mixed).prop_flat_map(|planted| {
        let length = planted.statement.levels[0].prices.len();
        let levels = planted.statement.levels.len();
        (Just(planted), prop::collection::vec(prices(length), levels))
    })
}

/// `C·p / Σ_i w_i π_i(p)` for whole prices and rates of 1, as an exact fraction.
fn exact_bound(instance: &Instance, prices: &[u64]) -> (BigUint, BigUint) {
    let m = instance.resources().len();
    let classes = 0..instance.classes().len();
    let value: BigUint = (classes.clone().flat_map(|l| (0..m).map(move |r| (l, r))))
        .map(|(l, r)| BigUint::from(instance.capacity_units(ClassId(l), ResourceId(r))) * prices[l * m + r])
        .sum();
    // The capacities of planted instances are whole, so are their units; weights have 30 places at most.
    let shift = BigUint::from(10u32).pow(30);
    let (mut numerator, mut denominator) = (BigUint::ZERO, BigUint::from(1u32));
    for user in instance.users() {
        let cost =
            |l: usize| (0..m).map(|r| user.demand_units(ResourceId(r)) * u128::from(prices[l * m + r])).sum();
        let cost: u128 = classes.clone().filter(|&l| user.can_use(ClassId(l))).map(cost).min().unwrap();
        let weight = BigUint::from(10u32).pow((30 + i32::from(user.weight().exponent())) as u32)
            * user.weight().scaled(user.weight().exponent()).unwrap();
        let (demand, total) = dominant(instance, user);
        // cost · weight / δ = cost · weight · total / demand, added to the fraction.
        numerator = numerator * demand + cost * weight * total * &denominator;
        denominator *= demand;
    }
    (value * denominator * shift, numerator)
}

fn dominant(instance: &Instance, user: User<'_>) -> (u128, u128) {
    let r = user.dominant_resource();
    (user.demand_units(r), instance.total_units(r))
}

/// A double as a fraction.
fn exactly(x: f64) -> (BigUint, BigUint) {
    let fraction = BigUint::from((x.to_bits() & ((1 << 52) - 1)) | 1 << 52);
    let exponent = (x.to_bits() >> 52) as u32;
    (fraction << exponent, BigUint::from(1u32) << 1075)
}

fn at_most((a, b): &(BigUint, BigUint), (c, d): &(BigUint, BigUint)) -> bool {
    a * d <= c * b
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_prices_prove_less_than_the_optimum((planted, prices) in with_prices()) {
        let mut statement = planted.statement;
        for (level, prices) in statement.levels.iter_mut().zip(prices) {
            level.prices = of_what_there_is(&planted.instance, &prices);
        }
        let proof = statement.check_in_memory(&planted.instance);
        prop_assert_eq!(proof.level_gaps.len(), statement.levels.len());
        for gap in &proof.level_gaps {
            prop_assert!(*gap > 0.0 && *gap <= 1.0, "planted tasks leave a little room, so no gap is closed: {gap}");
        }
        prop_assert!(proof.primal <= proof.dual);
    }

    #[test]
    fn bounds_are_the_exact_ones_rounded_up(
        (planted, prices) in planted(Kind::Plain).prop_flat_map(|planted| {
            let length = planted.statement.levels[0].prices.len();
            (Just(planted), prop::collection::vec(0u64..1000, length))
        })
    ) {
        let mut statement = planted.statement;
        let prices: Vec<f64> = prices.iter().map(|price| *price as f64).collect();
        statement.levels[0].prices = of_what_there_is(&planted.instance, &prices);
        let prices: Vec<u64> = statement.levels[0].prices.iter().map(|price| *price as u64).collect();
        let proof = statement.check_in_memory(&planted.instance);
        let exact = exact_bound(&planted.instance, &prices);
        if exact.1 == BigUint::ZERO {
            prop_assert_eq!(proof.dual, f64::INFINITY);
        } else {
            prop_assert!(at_most(&exact, &exactly(proof.dual)), "{} is too low", proof.dual);
            prop_assert!(at_most(&exactly(proof.dual * (1.0 - 1e-13)), &exact), "{} is too high", proof.dual);
        }
    }
}
