//! Explanations against cases worked by hand.

use fairplan_analysis::{Explanation, explain};
use fairplan_instances::{DraftQuota, Instance, LimitedBy, Objective, Quota, ResourceId, UserId, generate};
use fairplan_solver::backend;
use fairplan_tests::{decimal, draft};

fn explained(instance: &Instance, user: usize) -> Explanation {
    explained_for(instance, Objective::Drfh, user)
}

fn explained_for(instance: &Instance, objective: Objective, user: usize) -> Explanation {
    let solver = backend("auto").unwrap();
    let solution = solver.solve(instance, objective).unwrap();
    explain(instance, "", &solution, &*solver, UserId(user)).unwrap()
}

/// Each class is full in one resource, which both users pay for: 5/7 at 5/28 a unit.
#[test]
fn the_papers_own_example_is_held_by_the_scarce_resource_of_each_class() {
    let told = explained(&generate::drfh_fig1().unwrap(), 0);
    let held: Vec<(&str, &str)> = told.held_by.iter().map(|held| (&*held.class, &*held.resource)).collect();
    assert_eq!(held, [("high-memory", "cpu"), ("high-cpu", "memory")], "{told:#?}");
    assert!(told.held_by.iter().all(|held| (held.price - 5.0 / 28.0).abs() < 1e-6), "{told:#?}");
    assert_eq!((&*told.dominant_resource, told.limited_by), ("memory", LimitedBy::Capacity));
    let level = told.level.unwrap();
    assert_eq!(level.position, 0);
    assert!((level.value - 5.0 / 7.0).abs() < 1e-9);
}

/// One class of 10 cpu and 100 memory, two users that need 1 cpu a task: cpu binds at 1/2 each. More cpu is worth
/// 1/20 a unit until memory binds too: user 0 needs 9 memory a task, user 1 one, so at 20 cpu.
#[test]
fn a_price_holds_until_the_next_resource_binds() {
    let instance = draft(&[(1, "10 100")], &["1 9", "1 1"]).build().unwrap();
    let told = explained(&instance, 1);
    // Dominant shares: user 0 needs 1/10 of cpu and 9/100 of memory, so cpu; both 5 tasks.
    assert!((told.tasks - 5.0).abs() < 1e-6, "{told:#?}");
    let [range] = &told.price_ranges[..] else { panic!("{told:#?}") };
    assert_eq!((&*range.class, &*range.resource), ("class-0", "resource-0"));
    assert!((range.price - 0.05).abs() < 1e-8);
    // Tasks (c/2, c/2) take 5 c memory: 100 at c = 20. Below, the price holds down to nothing: a tenth is searched.
    assert!((range.most - 20.0).abs() < 0.02, "{range:?}");
    assert!((range.least - 1.0).abs() < 1e-9, "{range:?}");
}

/// Two users share 6 cpu, 1/12 of it a unit. With 8 the second has all its 4 tasks, and the first gains 1/6 a unit, until memory holds it at
/// 7 tasks: with 14 cpu it has again what the price would give it.
#[test]
fn a_price_holds_until_tasks_run_out_even_where_the_level_comes_back_to_its_line() {
    let mut draft = draft(&[(1, "6 7")], &["1 1", "1 0"]);
    draft.users[1].tasks = Some(4);
    let told = explained(&draft.build().unwrap(), 0);
    let [range] = &told.price_ranges[..] else { panic!("{told:#?}") };
    assert!((range.price - 1.0 / 12.0).abs() < 1e-8, "{range:?}");
    assert!((range.most - 8.0).abs() < 1e-3, "{range:?}");
    assert!((range.least - 0.6).abs() < 1e-9, "{range:?}");
}

#[test]
fn needing_less_of_what_binds_leaves_more_to_the_other_and_less_of_the_rest_changes_nothing() {
    let instance = draft(&[(1, "12 100")], &["2 1", "2 2"]).build().unwrap();
    let told = explained(&instance, 0);
    let [cpu, memory] = &told.smaller_demands[..] else { panic!("{told:#?}") };
    // A task of 1 cpu: its share of cpu is measured by its own tasks, so both still get half of it.
    assert_eq!((cpu.smaller, cpu.gain, cpu.lose), (1.0, 0, 0));
    assert!((cpu.own_tasks - 6.0).abs() < 1e-6);
    assert_eq!((memory.smaller, memory.gain, memory.lose), (0.5, 0, 0));
    assert!((memory.own_tasks - 3.0).abs() < 1e-6);
    // Where a resource that is not its dominant one binds, the other gains.
    let instance = draft(&[(1, "10 10")], &["3 2", "1 4"]).build().unwrap();
    let told = explained(&instance, 0);
    let memory = &told.smaller_demands[1];
    assert_eq!((memory.gain, memory.lose), (1, 0), "{told:#?}");
    assert_eq!(memory.largest_gain.as_ref().unwrap().user, "user-1");
}

/// 10 cpu and 100 memory, two users that need 1 cpu a task: both get 5 tasks. Everybody pays its weight for all it has,
/// so cpu costs 2/10 a unit, and a whole share, which is all cpu, 2.
#[test]
fn under_proportional_fairness_a_user_is_held_by_prices_at_which_it_spends_its_weight() {
    let instance = draft(&[(1, "10 100")], &["1 9", "1 1"]).build().unwrap();
    let told = explained_for(&instance, Objective::ProportionalFairness, 0);
    assert_eq!((told.level, &told.price_ranges[..], told.limited_by), (None, &[][..], LimitedBy::Capacity));
    let [held] = &told.held_by[..] else { panic!("{told:#?}") };
    assert_eq!((&*held.class, &*held.resource), ("class-0", "resource-0"));
    assert!((held.price - 0.2).abs() < 1e-8 && (told.tasks - 5.0).abs() < 1e-7, "{told:#?}");
    let [class] = &told.server_classes[..] else { panic!("{told:#?}") };
    assert!(class.usable && class.cheapest && (class.cost_of_share.unwrap() - 2.0).abs() < 1e-7, "{told:#?}");
}

/// 10 cpu and 10 memory, tasks of (3, 2) and (1, 4): memory alone binds, at 2.5 and 1.25 tasks. Were the first user's (3, 1),
/// both would bind: `3 x + y = 10` and `x + 4 y = 10` at 30/11 and 20/11 tasks. Less cpu changes nothing.
#[test]
fn under_proportional_fairness_needing_less_of_what_is_priced_leaves_more_to_the_other() {
    let instance = draft(&[(1, "10 10")], &["3 2", "1 4"]).build().unwrap();
    let told = explained_for(&instance, Objective::ProportionalFairness, 0);
    let [cpu, memory] = &told.smaller_demands[..] else { panic!("{told:#?}") };
    assert_eq!((cpu.gain, cpu.lose, &cpu.largest_gain), (0, 0, &None), "{told:#?}");
    assert!((cpu.own_tasks - 2.5).abs() < 1e-7);
    assert_eq!((memory.smaller, memory.gain, memory.lose), (1.0, 1, 0), "{told:#?}");
    assert!((memory.own_tasks - 30.0 / 11.0).abs() < 1e-7, "{told:#?}");
    let gain = memory.largest_gain.as_ref().unwrap();
    assert_eq!(gain.user, "user-1");
    let part = gain.part;
    assert!((part - (20.0 / 11.0 / 1.25 - 1.0)).abs() < 1e-7, "{part}");
}

/// One task that is worth far more than it costs: what keeps its user from more are its tasks, not the price of cpu, which
/// the other user pays with all its weight for the 9 that are left.
#[test]
fn under_a_sum_a_user_with_few_tasks_is_limited_by_them() {
    let mut parts = draft(&[(1, "10 100")], &["1 1", "1 1"]);
    parts.users[0].tasks = Some(1);
    for (objective, price) in [("pf", 1.0 / 9.0), ("alpha=2", 10.0 / 81.0)] {
        let told = explained_for(&parts.build().unwrap(), objective.parse().unwrap(), 0);
        assert_eq!((told.limited_by, told.level), (LimitedBy::Tasks, None), "{told:#?}");
        assert!((told.tasks - 1.0).abs() < 1e-8, "{told:#?}");
        let [held] = &told.held_by[..] else { panic!("{told:#?}") };
        // With α = 2 a share G = x/10 is worth 1/G² at the margin, and a unit of cpu a tenth of a share.
        assert!((held.price - price).abs() < 1e-7, "{objective}: {held:?}");
    }
}

/// Where the sum is linear the heavier user gets all: a whole share costs 3, which it is worth to it and not to the other.
/// No property of that one says so; one that is eligible for nothing is told that it is.
#[test]
fn under_a_sum_having_nothing_follows_from_prices_or_from_facts() {
    let mut parts = draft(&[(1, "10 10"), (1, "0 5")], &["1 1", "1 1", "1 0"]);
    parts.users[1].weight = decimal("3");
    parts.users[2].eligible = Some(vec![1]);
    let instance = parts.build().unwrap();
    let outbid = explained_for(&instance, Objective::Utilitarian, 0);
    assert!(outbid.dominant_share < 1e-12 && outbid.limited_by == LimitedBy::Capacity, "{outbid:#?}");
    assert_eq!(outbid.why_nothing, [] as [&str; 0]);
    assert!(
        (outbid.server_classes[0].cost_of_share.unwrap() - 3.0).abs() < 1e-8
            && !outbid.server_classes[1].usable,
        "{outbid:#?}"
    );
    for objective in ["pf", "utilitarian", "alpha=8"] {
        let told = explained_for(&instance, objective.parse().unwrap(), 2);
        assert_eq!((told.limited_by, told.held_by.len()), (LimitedBy::NoUsableClass, 0), "{told:#?}");
        let facts = [
            "a task needs resource-0",
            "resource-0 is only in class class-0",
            "the user is not eligible for it",
        ];
        assert_eq!(told.why_nothing, facts, "{objective}");
    }
}

#[test]
fn a_user_without_any_share_is_told_the_smallest_set_of_facts() {
    let mut parts = draft(&[(2, "8 4 4"), (2, "8 0 4"), (1, "8 4 0")], &["1 1 1", "1 0 0", "1 1 1", "1 0 0"]);
    parts.users[0].eligible = Some(vec![1]);
    parts.users[2].eligible = Some(vec![1, 2]);
    parts.users[3].eligible = Some(Vec::new());
    let instance = parts.build().unwrap();
    let facts = |user| explained(&instance, user).why_nothing;
    assert_eq!(
        facts(0),
        [
            "a task needs resource-1",
            "resource-1 is only in classes class-0, class-2",
            "the user is not eligible for any of them"
        ]
    );
    assert_eq!(facts(1), [] as [&str; 0]);
    assert_eq!(
        facts(2),
        [
            "a task needs resource-1 and resource-2",
            "resource-1 and resource-2 are together only in class class-0",
            "the user is not eligible for it"
        ]
    );
    assert_eq!(facts(3), ["the user is eligible for no class with any servers"]);
}

/// 10 cpu and 1,000 memory, and one of two users may have 3 cpu: cpu is full, memory nearly idle.
#[test]
fn under_a_sum_with_limits_nobody_is_held_by_what_is_idle() {
    let mut draft = draft(&[(1, "10 1000")], &["1 1", "1 2"]);
    let limit = Quota { limit: vec![(ResourceId(0), 3u32.into())], ..Quota::default() };
    draft.quotas.push(DraftQuota { is_group: false, owner: draft.users[0].id.clone(), quota: limit });
    let instance = draft.build().unwrap();
    for objective in [Objective::ProportionalFairness, Objective::alpha_fair(2.0).unwrap()] {
        let told = explained_for(&instance, objective, 1);
        let [held] = &told.held_by[..] else { panic!("{told:#?}") };
        assert_eq!((&*held.class, &*held.resource), ("class-0", "resource-0"));
    }
}
