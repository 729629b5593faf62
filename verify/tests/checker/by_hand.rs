//! Solutions worked by hand, and what is wrong with small changes of them.

use crate::{Statement, assert_accepted, cluster, decimal, decimals, failures, only_on};
use fairplan_instances::{
    ClassId, Instance, InstanceBuilder, Level, LimitedBy, NewUser, PlacementRule, ServerClass,
};

const CAPACITY: LimitedBy = LimitedBy::Capacity;

fn level(value: f64, prices: &[f64]) -> Level {
    Level { value, bound: value, prices: prices.to_vec(), limit_prices: Vec::new() }
}

/// DRFH Fig. 1: two servers, two users, mirror images of each other.
pub fn fig1() -> (Instance, Statement) {
    let mut builder = InstanceBuilder::new("Fig. 1", vec!["cpu".into(), "memory".into()]).unwrap();
    for (id, capacity) in [("high-memory", ["2", "12"]), ("high-cpu", ["12", "2"])] {
        builder.class(ServerClass::new(id, 1, decimals(&capacity))).unwrap();
    }
    builder.user(NewUser::new("user-1", &decimals(&["0.2", "1"]))).unwrap();
    builder.user(NewUser::new("user-2", &decimals(&["1", "0.2"]))).unwrap();
    let instance = builder.build().unwrap();
    // Cpu is full on the one server, memory on the other: y_i = 14/5 p, so Σ y_i = 1 and C·p = 4 p = 5/7.
    let levels = vec![level(5.0 / 7.0, &[5.0 / 28.0, 0.0, 0.0, 5.0 / 28.0])];
    let statement =
        Statement::of(&instance, vec![10.0, 0.0, 0.0, 10.0], levels, vec![0; 2], vec![CAPACITY; 2]);
    (instance, statement)
}

#[test]
fn the_optimum_of_the_paper_is_accepted() {
    let (instance, statement) = fig1();
    let proof = statement.check(&instance);
    assert_accepted(&proof);
    assert!(proof.primal <= 5.0 / 7.0 && 5.0 / 7.0 <= proof.dual && proof.relative_gap < 1e-14);
    assert_accepted(&statement.check_in_memory(&instance));
}

#[test]
fn one_step_of_a_double_too_many_overloads_a_server() {
    let (instance, mut statement) = fig1();
    statement.tasks[0] = 10.0f64.next_up();
    assert_eq!(failures(&statement.check(&instance)), ["capacity"]);
}

#[test]
fn drf_in_each_server_apart_is_far_from_optimal() {
    // The paper's other half of Fig. 1: six tasks each.
    let (instance, mut statement) = fig1();
    statement.tasks = vec![5.0, 1.0, 1.0, 5.0];
    let proof = statement.check(&instance);
    assert!(failures(&proof).contains(&"optimality"));
    assert!((proof.relative_gap - 0.4).abs() < 1e-12);
}

/// One server of (1, 1); user `a` needs only the first resource, `b` only the second, `c` both, half as much.
/// `a` and `c` share the first resource: 2/3 each of it, `c`'s task at 1/2 of it. Then `b` takes what is left.
pub fn two_levels() -> (Instance, Statement) {
    let mut builder = cluster(&[decimals(&["1", "1"])]);
    builder.user(NewUser::new("a", &decimals(&["1", "0"]))).unwrap();
    builder.user(NewUser::new("b", &decimals(&["0", "1"]))).unwrap();
    builder.user(NewUser::new("c", &decimals(&["1", "0.5"]))).unwrap();
    let instance = builder.build().unwrap();
    let levels = vec![level(0.5, &[0.5, 0.0]), level(0.75, &[0.0, 1.0])];
    let statement = Statement::of(&instance, vec![0.5, 0.75, 0.5], levels, vec![0, 1, 0], vec![CAPACITY; 3]);
    (instance, statement)
}

#[test]
fn zero_demands_make_a_second_level() {
    let (instance, statement) = two_levels();
    assert_accepted(&statement.check(&instance));
}

#[test]
fn freezing_a_user_that_could_have_more_is_found_out_however_small_the_price() {
    let (instance, mut forged) = two_levels();
    forged.level_of = vec![0; 3];
    for price in [0.0, 1e-300, 1e-30, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3] {
        forged.levels = vec![level(0.5, &[0.5, price])];
        forged = Statement::of(&instance, vec![0.5; 3], forged.levels, forged.level_of, forged.limited_by);
        let proof = forged.check(&instance);
        assert!(failures(&proof).contains(&"freezing"), "price {price}: {:?}", failures(&proof));
    }
}

#[test]
fn all_tasks_for_everybody_needs_no_level() {
    let mut builder = cluster(&[decimals(&["10"])]);
    let one = [decimal("1")];
    builder.user(NewUser { tasks: Some(2), ..NewUser::new("a", &one) }).unwrap();
    builder.user(NewUser { tasks: Some(4), ..NewUser::new("b", &one) }).unwrap();
    let instance = builder.build().unwrap();
    let limited_by = vec![LimitedBy::Tasks; 2];
    let statement = Statement::of(&instance, vec![2.0, 4.0], Vec::new(), vec![0; 2], limited_by);
    assert_eq!(statement.value, 0.2);
    assert_accepted(&statement.check(&instance));

    let mut too_many = statement.clone();
    too_many.tasks[1] = 4.0f64.next_up();
    assert_eq!(failures(&too_many.check(&instance)), ["task-limits"]);
    let mut too_few = statement;
    too_few.tasks[1] = 4.0 * (1.0 - 1e-8);
    assert!(failures(&too_few.check(&instance)).contains(&"limited-by"));
}

#[test]
fn tasks_run_out_below_a_level_and_above_it() {
    // 10 units: a has 1 task, b and c share the other 9 until c's tasks run out at exactly its level's share.
    let mut builder = cluster(&[decimals(&["10"])]);
    let one = [decimal("1")];
    builder.user(NewUser { tasks: Some(1), ..NewUser::new("a", &one) }).unwrap();
    builder.user(NewUser::new("b", &one)).unwrap();
    builder.user(NewUser { tasks: Some(5), weight: decimal("0.5"), ..NewUser::new("c", &one) }).unwrap();
    let instance = builder.build().unwrap();
    // b has 6 = 0.6 of the pool, c has 3 = 0.3, weighted 0.6 as well; c's cap is 0.5, weighted 1.
    let reasons = vec![LimitedBy::Tasks, CAPACITY, CAPACITY];
    let levels = vec![level(0.6, &[1.0 / 15.0])];
    let statement = Statement::of(&instance, vec![1.0, 6.0, 3.0], levels, vec![0; 3], reasons);
    let proof = statement.check(&instance);
    assert_accepted(&proof);
    assert_eq!(statement.value, 0.1);
    assert!(proof.primal <= 0.1 && proof.dual >= 0.1, "the value is what a's one task is worth");
    assert_eq!(statement.prices, [0.0], "capacity does not raise the value");

    let mut tasks_for_capacity = statement.clone();
    tasks_for_capacity.limited_by[2] = LimitedBy::Tasks;
    assert!(failures(&tasks_for_capacity.check(&instance)).contains(&"limited-by"));
    let mut capacity_for_tasks = statement.clone();
    capacity_for_tasks.limited_by[0] = CAPACITY;
    assert!(failures(&capacity_for_tasks.check(&instance)).contains(&"levels"));
    let mut beyond_the_levels = statement;
    beyond_the_levels.level_of[0] = 1;
    assert!(failures(&beyond_the_levels.check(&instance)).contains(&"limited-by"));
}

#[test]
fn a_user_without_usable_class_makes_the_value_zero_and_leaves_the_others_their_levels() {
    let mut builder = cluster(&[decimals(&["4", "4"]), decimals(&["4", "0"])]);
    let nowhere = only_on(&mut builder, &[1]);
    builder.user(NewUser { rule: nowhere, ..NewUser::new("a", &decimals(&["1", "1"])) }).unwrap();
    builder.user(NewUser::new("b", &decimals(&["1", "0"]))).unwrap();
    let instance = builder.build().unwrap();
    let levels = vec![level(1.0, &[0.125, 0.0, 0.125, 0.0])];
    let reasons = vec![LimitedBy::NoUsableClass, CAPACITY];
    let statement = Statement::of(&instance, vec![0.0, 0.0, 4.0, 4.0], levels, vec![0; 2], reasons);
    let proof = statement.check(&instance);
    assert_accepted(&proof);
    assert_eq!((proof.primal, proof.dual, proof.relative_gap), (0.0, 0.0, 0.0));

    let mut runs_anyway = statement.clone();
    runs_anyway.tasks = vec![0.0, 1.0, 4.0, 3.0];
    assert!(failures(&runs_anyway.check(&instance)).contains(&"eligibility"));
    let mut said_to_have_none = statement;
    said_to_have_none.limited_by[1] = LimitedBy::NoUsableClass;
    assert!(failures(&said_to_have_none.check(&instance)).contains(&"limited-by"));
}

#[test]
fn of_several_dominant_resources_the_first_is_stated() {
    let mut builder = cluster(&[decimals(&["0.3", "3", "9"])]);
    builder.user(NewUser::new("a", &decimals(&["0.1", "1", "2"]))).unwrap();
    let instance = builder.build().unwrap();
    let levels = vec![level(1.0, &[10.0 / 3.0, 0.0, 0.0])];
    let mut statement = Statement::of(&instance, vec![3.0], levels, vec![0], vec![CAPACITY]);
    for (resource, expected) in [(0, &[][..]), (1, &["shares"]), (2, &["shares"])] {
        statement.dominant = vec![fairplan_instances::ResourceId(resource)];
        assert_eq!(failures(&statement.check(&instance)), expected);
    }
}

#[test]
fn units_of_a_millionth_of_a_millionth_and_of_millions_of_millions_are_the_same_to_the_checker() {
    for (cpu, memory) in [("1e-12", "1e12"), ("1e12", "1e-12"), ("2.5e-12", "7e-12")] {
        let mut builder = cluster(&[decimals(&[cpu, memory])]);
        builder.user(NewUser::new("a", &decimals(&[cpu, memory]))).unwrap();
        let instance = builder.build().unwrap();
        let levels = vec![level(1.0, &[1.0 / decimal(cpu).to_f64(), 0.0])];
        let statement = Statement::of(&instance, vec![1.0], levels, vec![0], vec![CAPACITY]);
        assert_accepted(&statement.check(&instance));
    }
}

/// Two classes of (6) and (6). On the second a task of `a` does three times the work; `b` can run only there.
fn fast_and_slow(tasks: u64, weight_of_b: &str) -> Instance {
    let mut builder = cluster(&[decimals(&["6"]), decimals(&["6"])]);
    let faster = PlacementRule::new(None, vec![(ClassId(1), decimal("3"))]);
    let rule = builder.rule(faster);
    let one = decimals(&["1"]);
    builder.user(NewUser { tasks: Some(tasks), rule, ..NewUser::new("a", &one) }).unwrap();
    let rule = only_on(&mut builder, &[1]);
    builder.user(NewUser { weight: decimal(weight_of_b), rule, ..NewUser::new("b", &one) }).unwrap();
    builder.build().unwrap()
}

#[test]
fn few_tasks_are_split_between_fast_and_slow_classes() {
    // (3 - y) + 3 y = 6 - y, and with p the price of the fast class: 3 Y - Z = p, Y - Z = 0 for `a`, Y = p for `b`,
    // 12 (p/2 + p) = 1, and C·p + 3 Z = 6/18 + 3/36 = 5/12.
    let instance = fast_and_slow(3, "1");
    let levels = vec![level(5.0 / 12.0, &[0.0, 1.0 / 18.0])];
    let tasks = vec![2.0, 1.0, 0.0, 5.0];
    let statement = Statement::of(&instance, tasks, levels, vec![0; 2], vec![CAPACITY; 2]);
    assert_accepted(&statement.check(&instance));
    let mut early = statement.clone();
    early.tasks = vec![2.1, 0.9, 0.0, 4.8];
    assert!(failures(&early.check(&instance)).contains(&"optimality"));
    let mut unpriced = statement;
    unpriced.levels[0].prices = vec![0.0; 2];
    assert!(failures(&unpriced.check(&instance)).contains(&"level-gaps"));
}

#[test]
fn tasks_run_out_on_the_slow_class_when_the_fast_one_is_full() {
    // `b` has the fast class to itself, 6 of 12 at weight 8; `a` rises on to its one task on the slow class.
    let instance = fast_and_slow(1, "8");
    let levels = vec![level(1.0 / 16.0, &[0.0, 1.0 / 96.0])];
    let tasks = vec![1.0, 0.0, 0.0, 6.0];
    let statement =
        Statement::of(&instance, tasks, levels, vec![1, 0], vec![LimitedBy::Tasks, LimitedBy::Capacity]);
    assert_accepted(&statement.check(&instance));

    let with = |tasks: Vec<f64>, price: f64| {
        let levels = vec![level(1.0 / 16.0, &[0.0, price])];
        let limits = vec![LimitedBy::Tasks, LimitedBy::Capacity];
        failures(&Statement::of(&instance, tasks, levels, vec![1, 0], limits).check(&instance))
    };
    assert!(with(vec![0.9, 0.0, 0.0, 6.0], 1.0 / 96.0).contains(&"limited-by"), "not all tasks run");
    assert!(with(vec![1.0, 0.0, 0.0, 5.9], 1.0 / 96.0).contains(&"limited-by"), "the fast class has room");
    assert!(with(vec![1.0, 0.0, 0.0, 6.0], 0.0).contains(&"limited-by"), "no price holds it");
}

/// Four cores for two users, of whom the first has tasks for two: what is left for it is of its tasks, whatever full servers cost.
#[test]
fn who_has_all_its_tasks_but_for_rounding_is_not_held_by_capacity() {
    let mut builder = cluster(&[decimals(&["4", "4"])]);
    builder.user(NewUser { tasks: Some(2), ..NewUser::new("a", &decimals(&["1", "0"])) }).unwrap();
    builder.user(NewUser::new("b", &decimals(&["1", "0"]))).unwrap();
    let instance = builder.build().unwrap();
    // `a` costs nothing more where its tasks hold it, so that `b` pays for all of the level.
    let says = |missing: f64, by: LimitedBy| {
        let price = if by == CAPACITY { 0.125 } else { 0.25 };
        let (tasks, levels) = (vec![2.0 * (1.0 - missing), 2.0], vec![level(0.5, &[price, 0.0])]);
        let statement = Statement::of(&instance, tasks, levels, vec![0; 2], vec![by, CAPACITY]);
        failures(&statement.check_in_memory(&instance))
    };
    for missing in [0.0, 0.99e-10] {
        assert_eq!(says(missing, CAPACITY), ["limited-by"], "{missing}");
    }
    // Between the two either may be said.
    for (missing, by) in [(0.0, LimitedBy::Tasks), (0.99e-10, LimitedBy::Tasks), (1.01e-10, CAPACITY)] {
        assert!(says(missing, by).is_empty(), "{missing}: {:?}", says(missing, by));
    }
}
