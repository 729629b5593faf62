//! What may be off by how much: a claim just inside each tolerance is accepted, just outside refused by its property.

use crate::by_hand::{fig1, two_levels};
use crate::placements::{Claim, failures as failures_of, full};
use crate::{Statement, cluster, decimal, decimals, failures, only_on};
use fairplan_instances::{
    DemandSeries, DemandSeriesBuilder, FairShares, Instance, Level, LimitedBy, NewUser, OfflineLevel,
    OfflineMeasure, OfflineOptimum, OfflineProblem, Placement, ProportionalBracket, QuantumLabel,
    TaskDemands, TaskOptimum,
};
use fairplan_verify::{OfflineClaim, TaskClaim, is_best_sum, verify_offline, verify_task_optimum};

/// Scales something of a statement by this factor.
type Change = fn(&mut Statement, f64);

/// What is refused of a statement with a change that is so many times the tolerance.
fn refused(case: fn() -> (Instance, Statement), change: Change, off: f64) -> Vec<&'static str> {
    let (instance, mut statement) = case();
    change(&mut statement, 1.0 + off);
    failures(&statement.check(&instance))
}

#[test]
fn each_number_of_a_solution_may_be_off_by_its_tolerance_and_no_more() {
    let cases: [(&str, f64, Change); 8] = [
        ("value", 1e-10, |statement, by| statement.value *= by),
        ("value", 1e-10, |statement, by| statement.dual *= by),
        ("prices", 1e-9, |statement, by| statement.prices[0] *= by),
        ("price-scale", 1e-9, |statement, by| {
            statement.levels[0].prices.iter_mut().chain(&mut statement.prices).for_each(|price| *price *= by);
        }),
        ("shares", 1e-9, |statement, by| statement.shares[1] *= by),
        ("shares", 1e-9, |statement, by| statement.user_tasks[0] *= by),
        ("utilization", 1e-9, |statement, by| statement.class_utilization[0] *= by),
        ("utilization", 1e-9, |statement, by| statement.utilization[1] *= by),
    ];
    for (property, tolerance, change) in cases {
        for off in [0.9 * tolerance, -0.9 * tolerance] {
            let found = refused(fig1, change, off);
            assert!(found.is_empty(), "{property} by {off}: {found:?}");
        }
        let found = refused(fig1, change, 1.1 * tolerance);
        assert!(found.contains(&property), "{property}: {found:?}");
    }
}

/// A level above that the prices of its own do not hold back: what a user that is frozen below could gain.
#[test]
fn a_level_may_be_off_by_what_is_stated_and_no_more() {
    let change: Change = |statement, by| statement.levels[1].value *= by;
    assert_eq!(refused(two_levels, change, 0.9e-9), Vec::<&str>::new());
    assert!(refused(two_levels, change, 1.1e-9).contains(&"levels"));
}

/// One user on the first of two servers.
fn beside_an_empty_server() -> (Instance, Statement) {
    let mut builder = cluster(&[decimals(&["1", "1"]), decimals(&["1", "1"])]);
    let first = only_on(&mut builder, &[0]);
    builder.user(NewUser { rule: first, ..NewUser::new("a", &decimals(&["1", "0"])) }).unwrap();
    let instance = builder.build().unwrap();
    let level = Level { value: 0.5, bound: 0.5, prices: vec![0.5, 0.0, 0.0, 0.0], limit_prices: Vec::new() };
    let statement = Statement::of(&instance, vec![1.0, 0.0], vec![level], vec![0], vec![LimitedBy::Capacity]);
    (instance, statement)
}

/// Loads are counted in steps, so that nothing used may be stated as a step, and no more.
#[test]
fn what_is_used_of_a_server_may_be_off_by_a_step_of_counting_and_no_more() {
    let stated = |used: f64| {
        let (instance, mut statement) = beside_an_empty_server();
        statement.class_utilization[2] = used;
        failures(&statement.check(&instance))
    };
    assert_eq!(stated(0.9e-28), Vec::<&str>::new());
    assert_eq!(stated(1.1e-28), ["utilization"]);
}

#[test]
fn each_number_of_a_placement_may_be_off_by_its_tolerance_and_no_more() {
    type Change = fn(&mut Claim, f64);
    let cases: [(&str, Change); 4] = [
        ("value", |claim, by| claim.value *= by),
        ("value", |claim, by| claim.level = claim.level.map(|level| level * by)),
        ("shares", |claim, by| claim.shares[0] *= by),
        ("utilization", |claim, by| claim.utilization[1] *= by),
    ];
    for (property, change) in cases {
        let refused = |off: f64| {
            let mut claim = full();
            change(&mut claim, 1.0 + off);
            failures_of(&claim)
        };
        assert_eq!((refused(0.9e-9), refused(-0.9e-9)), (vec![], vec![]), "{property}");
        assert_eq!(refused(1.1e-9), [property]);
    }
}

/// Of each unit of weight: two users of weights 1 and 2.
#[test]
fn the_sides_of_a_sum_meet_just_inside_the_tolerance_and_not_just_outside() {
    let mut builder = cluster(&[decimals(&["1"])]);
    builder.user(NewUser::new("a", &decimals(&["0.1"]))).unwrap();
    builder.user(NewUser { weight: decimal("2"), ..NewUser::new("b", &decimals(&["0.1"])) }).unwrap();
    let instance = builder.build().unwrap();
    let meet = |gap: f64| {
        let bracket = ProportionalBracket {
            without_tasks: Vec::new(),
            upper: Some(3.0 * gap),
            proof: None,
            lower: Some(0.0),
            placement: Placement { tasks: vec![0; 2], servers: vec![Vec::new()] },
            truncated_searches: 0,
            rounds: 0,
        };
        is_best_sum(&instance, &bracket)
    };
    assert!(meet(0.9e-8) && !meet(1.1e-8));
}

/// So much of each user in one quantum.
fn in_one_quantum(demands: &[(&str, u64)]) -> DemandSeries {
    let mut series = DemandSeriesBuilder::default();
    demands.iter().for_each(|(user, _)| assert!(series.user(user).is_ok()));
    series.quantum(QuantumLabel::Number(0)).unwrap();
    (0..demands.len()).for_each(|user| series.demand(user, demands[user].1).unwrap());
    series.build().unwrap()
}

/// Two users who ask for three slices each of four.
fn level_of_slices(value: f64, whole_slices: bool) -> Vec<&'static str> {
    let series = in_one_quantum(&[("a", 3), ("b", 3)]);
    let problem = OfflineProblem {
        series: &series,
        shares: &FairShares::PerUser(2),
        guaranteed: None,
        measure: OfflineMeasure::Totals,
        whole_slices,
    };
    let level = OfflineLevel { value, users: vec![0, 1] };
    let optimum = OfflineOptimum { allocated: vec![2.0, 2.0], levels: vec![level], rounds: 0, exact: None };
    let verdicts = verify_offline(&problem, OfflineClaim::from(&optimum)).verdicts;
    verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property).collect()
}

#[test]
fn a_level_of_slices_may_be_off_by_its_tolerance_and_no_more() {
    for (whole, tolerance, property) in [(false, 1e-9, "level-gaps"), (true, 1e-15, "whole-slices")] {
        assert_eq!(level_of_slices(2.0 * (1.0 + 0.8 * tolerance), whole), Vec::<&str>::new());
        assert_eq!(level_of_slices(2.0 * (1.0 + 1.2 * tolerance), whole), [property]);
    }
}

#[test]
fn who_is_on_no_level_of_tasks_may_lack_the_tolerance_and_no_more() {
    let mut builder = cluster(&[decimals(&["10"])]);
    builder.user(NewUser::new("a", &decimals(&["1"]))).unwrap();
    let instance = builder.build().unwrap();
    let series = in_one_quantum(&[("a", 4)]);
    let demands = TaskDemands::new(&instance, &series).unwrap();
    let refused = |off: f64| {
        let optimum =
            TaskOptimum { tasks: vec![4.0 * (1.0 - off)], levels: Vec::new(), iterations: 0, exact: None };
        let verdicts = verify_task_optimum(&demands, TaskClaim::from(&optimum)).verdicts;
        let failing = verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property);
        failing.collect::<Vec<_>>()
    };
    assert_eq!(refused(0.9e-6), Vec::<&str>::new());
    assert_eq!(refused(1.1e-6), ["levels"]);
}
