//! Sums over users worked by hand on the instance of MRF Sec. 2.3: requirements (1/2, 1) and (1, 1/2) of a unit server,
//! where every one of them gives both users 2/3.

use crate::{assert_accepted, cluster, decimals, failures, only_on};
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

/// A sum that is proved by these prices, in a unit of one.
fn closed(value: f64, prices: Vec<f64>) -> Total {
    Total {
        value,
        bound: value,
        relative_gap: 0.0,
        prices,
        limit_prices: Vec::new(),
        exponent: 0,
        price_exponent: 0,
    }
}

/// The optimum of alpha-fairness: with `G = 2/3` the margin `G^−α` is paid at prices of two thirds of it each.
fn optimum(alpha: f64) -> (Objective, Vec<f64>, Total) {
    let share: f64 = 2.0 / 3.0 * (1.0 - 1e-14);
    let margin = share.powf(-alpha);
    let value = 2.0 * if alpha == 1.0 { share.ln() } else { share.powf(1.0 - alpha) / (1.0 - alpha) };
    let price = margin / 1.5;
    (Objective::alpha_fair(alpha).unwrap(), vec![share, share], closed(value, vec![price, price]))
}

fn check(objective: Objective, tasks: &[f64], total: Total) -> SolutionProof {
    check_on(&mirrored(), objective, tasks, total)
}

/// Users of whom all tasks run are held by these, the others by capacity.
fn check_on(instance: &Instance, objective: Objective, tasks: &[f64], total: Total) -> SolutionProof {
    let allocation = Allocation::from_matrix(instance.classes().len(), tasks);
    let has_all = |user: fairplan_instances::User<'_>| {
        user.tasks().is_some_and(|all| allocation.tasks(user.index()) > all as f64 * (1.0 - 1e-9))
    };
    let limited_by = |user| if has_all(user) { LimitedBy::Tasks } else { LimitedBy::Capacity };
    let claim = SolutionClaim {
        objective,
        tasks: Tasks::Allocation(&allocation),
        certificate: &Certificate::Total(total),
        limited_by: &instance.users().map(limited_by).collect::<Vec<_>>(),
        exact: None,
        printed: None,
        guaranteed: Vec::new(),
    };
    verify_solution(instance, &claim)
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
        refused(&tasks, Total { exponent: 1, price_exponent: 1, ..total.clone() }, in_tens);
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
        Total { exponent, price_exponent: exponent, ..closed(total.value / unit, prices) }
    };
    // All are worth three there.
    for (exponent, accepted) in
        [(-149, true), (-150, false), (150, true), (151, false), (-300, false), (300, false)]
    {
        assert_eq!(check(objective, &tasks, in_unit(exponent)).holds(), accepted, "10^{exponent}");
    }
    let little = [tasks[0] * 0.1, tasks[1] * 0.1];
    let nothing = Total { exponent: 100_000, price_exponent: 100_000, ..closed(0.0, vec![0.0; 2]) };
    let proof = check(objective, &little, nothing);
    assert!(failures(&proof).contains(&"optimality"), "{proof:?}");
}

/// One user on a server of one core, another on one of ten, each by itself: of the second all but this part.
fn apart(alpha: f64, missing: f64) -> (Instance, Objective, [f64; 4], Total) {
    let mut builder = cluster(&[decimals(&["1"]), decimals(&["10"])]);
    for (class, id) in ["a", "b"].into_iter().enumerate() {
        let rule = only_on(&mut builder, &[class]);
        builder.user(NewUser { rule, ..NewUser::new(id, &decimals(&["1"])) }).unwrap();
    }
    let tasks = [1.0 - 1e-14, 0.0, 0.0, 10.0 * (1.0 - missing)];
    let [a, b] = [tasks[0] / 11.0, tasks[3] / 11.0];
    let value = (a.powf(1.0 - alpha) + b.powf(1.0 - alpha)) / (1.0 - alpha);
    let prices = [a, b].map(|share| share.powf(-alpha) / 11.0).to_vec();
    let total = closed(value, prices);
    (builder.build().unwrap(), Objective::alpha_fair(alpha).unwrap(), tasks, total)
}

/// What the second of them has adds less than 1e-9 to the sum, so that no gap tells whether it has enough.
#[test]
fn who_adds_nothing_to_a_sum_may_miss_what_it_would_take_by_the_tolerance_and_no_more() {
    let missed = |missing: f64, dearer: f64| {
        let (instance, objective, tasks, mut total) = apart(11.0, missing);
        total.prices[1] *= dearer;
        failures(&check_on(&instance, objective, &tasks, total))
    };
    // Idle, at the price of what it has.
    assert_eq!(missed(0.9e-2, 1.0), Vec::<&str>::new());
    assert_eq!(missed(1.1e-2, 1.0), ["own-optimality", "hidden-optimality"]);
    // All used up, at a price at which it would take less or more.
    let at = |more: f64| (1.0f64 + more).powf(-11.0);
    assert_eq!((missed(1e-14, at(0.9e-2)), missed(1e-14, at(-0.9e-2))), (vec![], vec![]));
    assert_eq!(missed(1e-14, at(1.2e-2)), ["own-optimality"]);
    assert_eq!(missed(1e-14, at(-1.2e-2)), ["own-optimality"]);
}

/// It may run where tasks are dear only if they are so nowhere else.
#[test]
fn who_adds_nothing_to_a_sum_runs_its_tasks_where_they_are_cheapest() {
    let mut builder = cluster(&[decimals(&["1"]), decimals(&["10"]), decimals(&["10"])]);
    for (classes, id) in [(&[0][..], "a"), (&[1, 2], "b"), (&[2], "c")] {
        let rule = only_on(&mut builder, classes);
        builder.user(NewUser { rule, ..NewUser::new(id, &decimals(&["1"])) }).unwrap();
    }
    let instance = builder.build().unwrap();
    let judged = |tasks: [f64; 9], shares: [f64; 3]| {
        let value = shares.map(|share: f64| share.powf(-10.0) / -10.0).iter().sum();
        // The last class is as dear as who has less there makes it, where both are not the same.
        let prices =
            vec![shares[0].powf(-11.0) / 21.0, shares[1].powf(-11.0) / 21.0, shares[2].powf(-11.0) / 21.0];
        let total = closed(value, prices);
        failures(&check_on(&instance, Objective::alpha_fair(11.0).unwrap(), &tasks, total))
    };
    let all = 1.0 - 1e-14;
    let fair = [all, 0.0, 0.0, 0.0, 10.0 * all, 0.0, 0.0, 0.0, 10.0 * all];
    assert_eq!(judged(fair, [all / 21.0, 10.0 * all / 21.0, 10.0 * all / 21.0]), Vec::<&str>::new());
    let on_both = [all, 0.0, 0.0, 0.0, 10.0 * all, 5.0 * all, 0.0, 0.0, 5.0 * all];
    assert!(judged(on_both, [all / 21.0, 15.0 * all / 21.0, 5.0 * all / 21.0]).contains(&"own-optimality"));
}

/// Where its eight tasks run makes no difference to the first, whose worth is all of the sum; on the small class they are missed.
#[test]
fn tasks_that_would_cost_less_elsewhere_take_no_more_than_the_tolerance_of_what_others_want() {
    let alpha = 40.0;
    let judged = |there: f64| {
        let mut builder = cluster(&[decimals(&["80"]), decimals(&["20"])]);
        let rules = [&[0, 1][..], &[0], &[1]].map(|classes| only_on(&mut builder, classes));
        for (rule, (id, tasks)) in rules.into_iter().zip([("few", Some(8)), ("a", None), ("b", None)]) {
            builder.user(NewUser { rule, tasks, ..NewUser::new(id, &decimals(&["1"])) }).unwrap();
        }
        let (all, on_small) = (1.0 - 1e-14, 20.0 * there);
        let tasks = [
            (8.0 - on_small) * all,
            on_small * all,
            (72.0 + on_small) * all,
            0.0,
            0.0,
            (20.0 - on_small) * all,
        ];
        let shares = [0.08, tasks[2] / 100.0, tasks[5] / 100.0];
        let value = shares.map(|share: f64| share.powf(1.0 - alpha) / (1.0 - alpha)).iter().sum();
        let prices = vec![shares[1].powf(-alpha) / 100.0, shares[2].powf(-alpha) / 100.0];
        let total = closed(value, prices);
        let objective = Objective::alpha_fair(alpha).unwrap();
        failures(&check_on(&builder.build().unwrap(), objective, &tasks, total))
    };
    assert_eq!((judged(0.0), judged(0.9e-2)), (vec![], vec![]));
    assert_eq!(judged(1.1e-2), ["own-optimality", "hidden-optimality"]);
}

/// A user of a weight of 1e15 needs all of one resource and nearly all of another, of which the second user lives on what is left. That is priced,
/// and what lies idle of it is less than a millionth of a thousandth.
#[test]
fn room_on_which_somebody_could_live_counts_from_the_tolerance_on() {
    let judged = |runs: f64| {
        let mut builder = cluster(&[decimals(&["1.0000000002", "1"])]);
        let (needs, weight) = (decimals(&["1", "1"]), "1000000000000000".parse().unwrap());
        builder.user(NewUser { weight, ..NewUser::new("heavy", &needs) }).unwrap();
        // Two of its tasks are what the first leaves.
        builder.user(NewUser::new("small", &decimals(&["0.0000000001", "0"]))).unwrap();
        let all: f64 = 1.0 - 1e-14;
        let share: f64 = runs * 1e-10 / 1.0000000002;
        let value = 1e15 * all.ln() + share.ln();
        let price = 1.0 / (runs * 1e-10);
        let total = closed(value, vec![price, 1e15 / all - price]);
        failures(&check_on(&builder.build().unwrap(), Objective::ProportionalFairness, &[all, runs], total))
    };
    assert_eq!(judged(2.0 - 1e-3), Vec::<&str>::new());
    // Of the first resource a part of 0.9e-10 is idle, and of 1.1e-10.
    assert_eq!(judged(1.1), Vec::<&str>::new());
    assert_eq!(judged(0.9), ["hidden-optimality"]);
}
