//! How far proofs may be from closed, guarantees and definitions from kept: just inside each tolerance a claim is accepted, just outside
//! refused by its property.

use crate::by_hand::fig1;
use crate::{Statement, cluster, decimal, decimals, failures, only_on};
use fairplan_instances::{
    Allocation, Catalog, Certificate, DemandSeriesBuilder, GroupId, GuaranteeResult, KeptGuarantees, Level,
    LimitedBy, NewGroup, NewUser, Objective, Offer, Owner, QuantumLabel, Quota, ResourceId, ShortOwner,
    TaskDemands, TaskLevel, TaskOptimum, UserId,
};
use fairplan_verify::{
    PlacementClaim, Printed, PrintedPlacement, SolutionClaim, TaskClaim, Tasks, Verdict, least_cost,
    verify_placement, verify_solution, verify_task_optimum,
};

const CAPACITY: LimitedBy = LimitedBy::Capacity;

fn failing(verdicts: Vec<Verdict>) -> Vec<&'static str> {
    verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property).collect()
}

#[test]
fn what_is_reached_may_be_below_what_is_proved_by_the_gap_and_no_more() {
    let refused = |off: f64| {
        let (instance, Statement { mut tasks, mut levels, level_of, limited_by, .. }) = fig1();
        tasks.iter_mut().for_each(|tasks| *tasks *= 1.0 - off);
        levels[0].value *= 1.0 - off;
        failures(&Statement::of(&instance, tasks, levels, level_of, limited_by).check_in_memory(&instance))
    };
    assert_eq!(refused(0.9e-9), Vec::<&str>::new());
    assert_eq!(refused(1.1e-9), ["level-gaps", "optimality"]);
}

/// `b` is at the level of `a` with all of the second resource that it may use but for what the only task of `c` takes, which could run on the other
/// class: at these prices it could have that much more, of which a hundredth of a ten-thousandth of the cluster is let pass.
#[test]
fn who_is_frozen_may_be_left_what_is_let_pass_and_no_more() {
    let refused = |task: &str, weight: &str| {
        let mut builder = cluster(&[decimals(&["1", "0.999998"]), decimals(&["0", "0.000002"])]);
        builder.user(NewUser::new("a", &decimals(&["1", "0"]))).unwrap();
        let rule = only_on(&mut builder, &[0]);
        let weight = decimal(weight);
        builder.user(NewUser { weight, rule, ..NewUser::new("b", &decimals(&["0", "1"])) }).unwrap();
        builder.user(NewUser { tasks: Some(1), ..NewUser::new("c", &decimals(&["0", task])) }).unwrap();
        let instance = builder.build().unwrap();
        let (weight, task, price) = (weight.to_f64(), decimal(task).to_f64(), 5e-4);
        let prices = vec![1.0 - weight * price, price, 0.0, 0.0];
        let bound = 1.0 + price * task;
        let level = Level { value: 1.0, bound, prices, limit_prices: Vec::new() };
        let tasks = vec![1.0, 0.0, weight, 0.0, 1.0, 0.0];
        let limited_by = vec![CAPACITY, CAPACITY, LimitedBy::Tasks];
        failures(
            &Statement::of(&instance, tasks, vec![level], vec![0; 3], limited_by).check_in_memory(&instance),
        )
    };
    assert_eq!(refused("0.00000099", "0.99999701"), Vec::<&str>::new());
    assert_eq!(refused("0.00000101", "0.99999699"), ["freezing"]);
}

/// The same where that much is idle: a thousandth of it is let pass.
#[test]
fn what_is_idle_may_be_as_little_as_is_let_pass_and_no_more() {
    let refused = |weight: &str| {
        let mut builder = cluster(&[decimals(&["1", "1"])]);
        builder.user(NewUser::new("a", &decimals(&["1", "0"]))).unwrap();
        let weight = decimal(weight);
        builder.user(NewUser { weight, ..NewUser::new("b", &decimals(&["0", "1"])) }).unwrap();
        let instance = builder.build().unwrap();
        let (weight, price) = (weight.to_f64(), 5e-4);
        let prices = vec![1.0 - weight * price, price];
        let level = Level { value: 1.0, bound: prices[0] + price, prices, limit_prices: Vec::new() };
        let statement =
            Statement::of(&instance, vec![1.0, weight], vec![level], vec![0; 2], vec![CAPACITY; 2]);
        failures(&statement.check_in_memory(&instance))
    };
    assert_eq!(refused("0.999999901"), Vec::<&str>::new());
    assert_eq!(refused("0.999999899"), ["freezing"]);
}

/// Of a tree of groups prices are held against what a level costs where it is moved a little.
#[test]
fn prices_of_a_level_in_groups_may_be_off_their_unit_by_the_tolerance_and_no_more() {
    let refused = |off: f64| {
        let mut builder = cluster(&[decimals(&["2", "12"]), decimals(&["12", "2"])]);
        builder.groups(vec![NewGroup { id: "g".into(), weight: decimal("1"), parent: None }]).unwrap();
        let group = Some(GroupId(0));
        builder.user(NewUser { group, ..NewUser::new("user-1", &decimals(&["0.2", "1"])) }).unwrap();
        builder.user(NewUser::new("user-2", &decimals(&["1", "0.2"]))).unwrap();
        let instance = builder.build().unwrap();
        let (_, Statement { tasks, mut levels, level_of, limited_by, .. }) = fig1();
        levels[0].prices.iter_mut().for_each(|price| *price *= 1.0 + off);
        failures(&Statement::of(&instance, tasks, levels, level_of, limited_by).check_in_memory(&instance))
    };
    for off in [0.9e-6, -0.9e-6] {
        assert_eq!(refused(off), Vec::<&str>::new(), "{off}");
    }
    assert_eq!((refused(1.1e-6), refused(-1.1e-6)), (vec!["price-scale"], vec!["price-scale"]));
}

#[test]
fn a_server_may_be_left_what_its_bottleneck_is_known_to_and_no_more() {
    let mut builder = cluster(&[decimals(&["1"])]);
    builder.user(NewUser::new("a", &decimals(&["1"]))).unwrap();
    let instance = builder.build().unwrap();
    let refused = |left: f64| {
        let allocation = Allocation::from_matrix(1, &[1.0 - left]);
        let claim = SolutionClaim {
            objective: Objective::DrfPerServer,
            tasks: Tasks::Allocation(&allocation),
            certificate: &Certificate::Bottlenecks,
            limited_by: &[CAPACITY],
            exact: None,
            printed: None,
            guaranteed: Vec::new(),
        };
        failures(&verify_solution(&instance, &claim))
    };
    assert_eq!(refused(0.9e-6), Vec::<&str>::new());
    assert_eq!(refused(1.1e-6), ["bottlenecks"]);
}

/// Ten cores for `a`, who is guaranteed so many, and `b`; `a` has a part more than that.
fn says_held_up(sure: &str, more: f64, held_up: bool) -> bool {
    let mut builder = cluster(&[decimals(&["10"])]);
    let a = builder.user(NewUser::new("a", &decimals(&["1"]))).unwrap();
    builder.user(NewUser::new("b", &decimals(&["1"]))).unwrap();
    let quota = Quota { guarantee: vec![(ResourceId(0), decimal(sure))], ..Quota::default() };
    builder.quota(Owner::User(a), quota.clone()).unwrap();
    let instance = builder.build().unwrap();
    let floor = decimal(sure).to_f64() / 10.0;
    let share = floor * (1.0 + more);
    let level = Level { value: 1.0 - share, bound: 1.0 - share, prices: vec![0.1], limit_prices: Vec::new() };
    let tasks = vec![10.0 * share, 10.0 * (1.0 - share)];
    let statement = Statement::of(&instance, tasks, vec![level], vec![0; 2], vec![CAPACITY; 2]);
    let stated = GuaranteeResult {
        floor,
        share,
        held_up,
        ..GuaranteeResult::stated(&instance, Owner::User(a), &quota)
    };
    let printed = Printed { guarantees: &[stated], ..statement.printed() };
    let allocation = Allocation::from_matrix(1, &statement.tasks);
    let (levels, level_of) = (statement.levels.clone(), statement.level_of.clone());
    let claim = SolutionClaim {
        objective: Objective::Drfh,
        tasks: Tasks::Allocation(&allocation),
        certificate: &Certificate::Levels { levels, level_of },
        limited_by: &statement.limited_by,
        exact: None,
        printed: Some(printed),
        guaranteed: Vec::new(),
    };
    !failures(&verify_solution(&instance, &claim)).contains(&"guarantees")
}

#[test]
fn who_is_said_to_be_held_up_stands_above_others_by_its_tolerance() {
    // 5 (1 + x) beside 5 (1 − x): above it by a part of 2x.
    assert!(says_held_up("5.00000135", 0.0, true) && !says_held_up("5.00000115", 0.0, true));
    assert!(says_held_up("5.0000045", 0.0, false) && !says_held_up("5.0000055", 0.0, false));
}

#[test]
fn who_is_said_to_be_held_up_has_no_more_than_it_is_guaranteed_but_for_its_tolerance() {
    assert!(says_held_up("6", 0.9e-8, true) && !says_held_up("6", 1.1e-8, true));
    assert!(says_held_up("6", 1.1e-10, false) && !says_held_up("6", 0.9e-10, false));
}

/// Whether a placement of two tasks of one core is said to keep a guarantee of about three, and one that is said to be short is.
#[test]
fn whole_tasks_are_short_of_a_guarantee_that_holds_one_more_but_for_rounding_and_no_less() {
    let is_short = |sure: &str| {
        let mut builder = cluster(&[decimals(&["10"])]);
        let a = builder.user(NewUser::new("a", &decimals(&["1"]))).unwrap();
        let quota = Quota { guarantee: vec![(ResourceId(0), decimal(sure))], ..Quota::default() };
        builder.quota(Owner::User(a), quota.clone()).unwrap();
        let instance = builder.build().unwrap();
        let holds = |short: Option<ShortOwner>| {
            let kept = KeptGuarantees { guarantees: 1, kept: u64::from(short.is_none()), short };
            let printed = PrintedPlacement {
                value: 0.2,
                level: Some(0.2),
                unplaced: None,
                groups: &[],
                guarantees: Some(&kept),
                whole_guarantees: None,
                dominant_shares: &[0.2],
                utilization: &[0.2],
            };
            let claim = PlacementClaim { tasks: &[2], servers: &[vec![(0, 2)]], printed: Some(printed) };
            !failing(verify_placement(&instance, &claim)).contains(&"guarantees")
        };
        let guarantee = GuaranteeResult::stated(&instance, Owner::User(a), &quota).in_words();
        let part = 2.0 / decimal(sure).to_f64();
        let short =
            holds(Some(ShortOwner { owner: instance.name_of(Owner::User(UserId(0))), guarantee, part }));
        assert_ne!(short, holds(None), "{sure}");
        short
    };
    assert!(is_short("2.9999999999973") && !is_short("2.9999999999967"));
}

#[test]
fn the_bound_of_a_purchase_asks_for_less_than_is_required_by_its_tolerance_and_no_more() {
    let mut builder = cluster(&[decimals(&["1"])]);
    builder.user(NewUser::new("a", &decimals(&["1"]))).unwrap();
    let instance = builder.build().unwrap();
    let offer = Offer {
        id: "more".into(),
        capacity: Some(decimals(&["1"])),
        price: decimal("1"),
        ..Offer::default()
    };
    let catalog = Catalog::new(&instance, String::new(), String::new(), vec![offer]).unwrap();
    // One server is there; so many more must be bought, a whole number of them.
    let least = |required: f64| least_cost(&instance, &catalog, &[required], false, &[vec![1.0], vec![1.0]]);
    assert!(least(4.0 * (1.0 + 0.9e-9)) <= 3.0 && least(4.0 * (1.0 + 1.1e-9)) > 3.9);
}

/// One task of each of two users, of resources that nobody else uses; the second, whose standing counts so many times as much in the
/// bound, may have a little less of its own than there is.
fn refused_over_time(weight: &str, multiplier: f64, running: f64) -> Vec<&'static str> {
    let mut builder = cluster(&[decimals(&["1", "1"])]);
    builder.user(NewUser::new("a", &decimals(&["1", "0"]))).unwrap();
    let weight = decimal(weight);
    builder.user(NewUser { weight, ..NewUser::new("b", &decimals(&["0", "1"])) }).unwrap();
    let instance = builder.build().unwrap();
    let mut series = DemandSeriesBuilder::default();
    ["a", "b"].into_iter().for_each(|user| assert!(series.user(user).is_ok()));
    series.quantum(QuantumLabel::Number(0)).unwrap();
    (0..2).for_each(|user| series.demand(user, 2).unwrap());
    let series = series.build().unwrap();
    let demands = TaskDemands::new(&instance, &series).unwrap();
    // What the standing of all of a resource costs: nothing is gained by more or fewer tasks.
    let multipliers = [1.0, multiplier];
    let prices = vec![multipliers[0] * demands.worth()[0], multipliers[1] * demands.worth()[1]];
    let value = demands.worth()[0] * running;
    let level = TaskLevel { value, users: vec![0, 1], multipliers: multipliers.to_vec(), prices };
    let tasks = vec![running, value / demands.worth()[1]];
    let optimum = TaskOptimum { tasks, levels: vec![level], iterations: 0, exact: None };
    failing(verify_task_optimum(&demands, TaskClaim::from(&optimum)).verdicts)
}

#[test]
fn a_level_of_tasks_may_be_below_its_bound_by_the_tolerance_and_no_more() {
    assert_eq!(refused_over_time("1", 1.0, 1.0 - 0.9e-6), Vec::<&str>::new());
    assert_eq!(refused_over_time("1", 1.0, 1.0 - 1.1e-6), ["level-gaps"]);
}

#[test]
fn who_is_frozen_on_a_level_of_tasks_may_be_left_the_tolerance_and_no_more() {
    assert_eq!(refused_over_time("0.9991", 1e-4, 1.0), Vec::<&str>::new());
    assert_eq!(refused_over_time("0.9989", 1e-4, 1.0), ["freezing"]);
}
