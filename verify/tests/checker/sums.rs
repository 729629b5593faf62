//! Sums over users worked by hand on the instance of MRF Sec. 2.3: requirements (1/2, 1) and (1, 1/2) of a unit server,
//! where every one of them gives both users 2/3.

use crate::{assert_accepted, cluster, decimals, failures};
use fairplan_instances::{Allocation, Certificate, Instance, LimitedBy, NewUser, Objective, RuleId, Total};
use fairplan_verify::{SolutionClaim, SolutionProof, Tasks, verify_solution};

fn mirrored() -> Instance {
    let mut builder = cluster(&[decimals(&["1", "1"])]);
    for (id, demand) in [("a", ["0.5", "1"]), ("b", ["1", "0.5"])] {
        let demand = decimals(&demand);
        let weight = "1".parse().unwrap();
        builder
            .user(NewUser { id, demand: &demand, weight, tasks: None, rule: RuleId(0), group: None })
            .unwrap();
    }
    builder.build().unwrap()
}

/// The optimum of alpha-fairness: with `G = 2/3` the margin `G^−α` is paid at prices of two thirds of it each.
fn optimum(alpha: f64) -> (Objective, Vec<f64>, Total) {
    let share: f64 = 2.0 / 3.0 * (1.0 - 1e-14);
    let margin = share.powf(-alpha);
    let value = 2.0 * if alpha == 1.0 { share.ln() } else { share.powf(1.0 - alpha) / (1.0 - alpha) };
    let price = margin / 1.5;
    let total = Total {
        value,
        bound: value,
        relative_gap: 0.0,
        prices: vec![price, price],
        limit_prices: Vec::new(),
        exponent: 0,
    };
    (Objective::alpha_fair(alpha).unwrap(), vec![share, share], total)
}

fn check(objective: Objective, tasks: &[f64], total: Total) -> SolutionProof {
    let allocation = Allocation::from_matrix(1, tasks);
    let claim = SolutionClaim {
        objective,
        tasks: Tasks::Allocation(&allocation),
        certificate: &Certificate::Total(total),
        limited_by: &[LimitedBy::Capacity; 2],
        exact: None,
        printed: None,
        guaranteed: Vec::new(),
    };
    verify_solution(&mirrored(), &claim)
}

#[test]
fn every_sum_gives_two_thirds_and_is_accepted() {
    for alpha in [0.0, 0.3, 1.0, 2.0, 7.0, 64.0] {
        let (objective, tasks, total) = optimum(alpha);
        let proof = check(objective, &tasks, total);
        assert_accepted(&proof);
        assert!(proof.primal <= proof.dual && proof.relative_gap < 1e-11, "alpha {alpha}: {proof:?}");
    }
}

#[test]
fn the_bound_never_falls_below_the_optimum_whatever_the_prices() {
    for alpha in [0.0, 0.3, 1.0, 2.0, 7.0, 64.0] {
        let (objective, tasks, total) = optimum(alpha);
        for (a, b) in [(1.0, 1.0), (0.5, 1.5), (1.001, 1.001), (3.0, 0.1), (0.0, 2.0), (0.999_999, 1.0)] {
            let prices = vec![total.prices[0] * a, total.prices[1] * b];
            let proof = check(objective, &tasks, Total { prices, ..total.clone() });
            assert!(proof.dual >= total.value, "alpha {alpha}, prices × {a}, {b}: {proof:?}");
        }
    }
}

#[test]
fn what_is_not_the_optimum_or_not_stated_in_its_unit_is_refused() {
    for alpha in [0.0, 0.3, 1.0, 2.0, 7.0, 64.0] {
        let (objective, tasks, total) = optimum(alpha);
        let refused = |tasks: &[f64], total: Total, property: &str| {
            let proof = check(objective, tasks, total);
            assert!(failures(&proof).contains(&property), "alpha {alpha}: {property} holds: {proof:?}");
        };
        refused(&[tasks[0] * (1.0 - 1e-6), tasks[1]], total.clone(), "optimality");
        refused(&[tasks[0] * (1.0 + 1e-6), tasks[1]], total.clone(), "capacity");
        refused(&tasks, Total { value: total.value * (1.0 - 1e-6), ..total.clone() }, "value");
        refused(&tasks, Total { bound: total.bound * (1.0 - 1e-6), ..total.clone() }, "value");
        refused(&tasks, Total { relative_gap: 1e-6, ..total.clone() }, "value");
        let in_tens = if alpha == 1.0 { "well-formed" } else { "value" };
        refused(&tasks, Total { exponent: 1, ..total.clone() }, in_tens);
        let dear = total.prices.iter().map(|price| price * (1.0 + 1e-5)).collect();
        refused(&tasks, Total { prices: dear, ..total.clone() }, "price-scale");
        let uneven = vec![total.prices[0] * 1.01, total.prices[1] * 0.99];
        refused(&[0.7, 0.6], Total { prices: uneven, ..total.clone() }, "optimality");
        let negative = vec![-total.prices[0], total.prices[1]];
        refused(&tasks, Total { prices: negative, ..total.clone() }, "well-formed");
        refused(&tasks, Total { value: f64::NAN, ..total.clone() }, "well-formed");
    }
}

/// In a unit in which nothing is left of what users are worth, nothing is lost by whoever has too little: no gap of such numbers counts.
#[test]
fn a_sum_in_a_unit_in_which_it_is_next_to_nothing_or_next_to_everything_is_refused() {
    let (objective, tasks, total) = optimum(2.0);
    let in_unit = |exponent: i32| {
        let unit = 10f64.powi(exponent);
        let prices = total.prices.iter().map(|price| price / unit).collect();
        Total {
            value: total.value / unit,
            bound: total.bound / unit,
            relative_gap: 0.0,
            prices,
            limit_prices: Vec::new(),
            exponent,
        }
    };
    // All are worth three there.
    for (exponent, accepted) in
        [(-149, true), (-150, false), (150, true), (151, false), (-300, false), (300, false)]
    {
        assert_eq!(check(objective, &tasks, in_unit(exponent)).holds(), accepted, "10^{exponent}");
    }
    let little = [tasks[0] * 0.1, tasks[1] * 0.1];
    let nothing = Total {
        value: 0.0,
        bound: 0.0,
        relative_gap: 0.0,
        prices: vec![0.0; 2],
        limit_prices: Vec::new(),
        exponent: 100_000,
    };
    let proof = check(objective, &little, nothing);
    assert!(failures(&proof).contains(&"optimality"), "{proof:?}");
}
