//! Limits of users and groups: the division against exact arithmetic, cases worked by hand, and claims that are wrong.

use crate::conformance::backends;
use crate::groups::conforms;
use fairplan_instances::{
    Certificate, ClassAmounts, ClassId, DraftQuota, Instance, LimitedBy, Objective, Quota, ResourceId,
    Solution, UserId,
};
use fairplan_report::solution::StatedNumbers;
use fairplan_tests::{
    Draft, Fraction, decimal, draft, exact_tree, random_crowd, random_kinds_under_limits,
    random_tree_with_limits,
};
use fairplan_verify::{SolutionClaim, verify_solution};
use std::ops::Range;

fn every_backend_keeps_limits_exactly(seeds: Range<u64>, objective: Objective, random: fn(u64) -> Draft) {
    let backends = backends();
    let (mut failures, mut held, mut built) = (Vec::new(), 0, 0);
    for seed in seeds.clone() {
        let draft = random(seed);
        let Ok(instance) = draft.build() else { continue };
        built += 1;
        for solver in &backends {
            if let Err(problem) = conforms(&instance, objective, solver.as_ref()) {
                failures.push(format!("seed {seed}, {}: {problem}\n{draft}", solver.name()));
            }
        }
        let solution = backends[0].solve(&instance, objective).unwrap();
        held += u64::from(solution.limited_by.contains(&LimitedBy::Limit));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(3 * held > built, "limits hold somebody in {held} of {built} cases only");
    assert!(10 * built > 8 * (seeds.end - seeds.start), "only {built} cases are instances");
}

#[test]
fn every_backend_keeps_the_limits_of_five_hundred_random_trees_exactly() {
    every_backend_keeps_limits_exactly(0..500, Objective::Drfh, random_tree_with_limits);
}

#[test]
fn every_backend_keeps_limits_of_random_trees_by_task_shares_exactly() {
    every_backend_keeps_limits_exactly(0..150, Objective::TaskShareFairness, random_tree_with_limits);
}

#[test]
fn every_backend_keeps_limits_and_reserves_of_users_with_kinds_exactly() {
    every_backend_keeps_limits_exactly(0..160, Objective::Drfh, random_kinds_under_limits);
}

#[test]
fn every_backend_keeps_limits_and_reserves_of_users_with_kinds_by_task_shares_exactly() {
    every_backend_keeps_limits_exactly(400..450, Objective::TaskShareFairness, random_kinds_under_limits);
}

/// Limits that several users share cost no level problem each, and stop one after the other.
#[test]
fn hundreds_of_groups_with_limits_and_guarantees_are_proved_in_seconds() {
    let mut draft = random_crowd(11, 2_000);
    draft.groups = (0..200)
        .map(|g| fairplan_instances::NewGroup {
            id: format!("group-{g}"),
            weight: decimal(["1", "2", "0.5"][g % 3]),
            parent: (g % 4 == 3).then(|| format!("group-{}", g - 1)),
        })
        .collect();
    for (i, user) in draft.users.iter_mut().enumerate() {
        user.group = Some(i % 200);
        user.tasks = user.tasks.map(|tasks| 100 * tasks);
        user.rates.clear();
    }
    let total: f64 = draft.classes.iter().map(|class| class.capacity[0].to_f64() * class.count as f64).sum();
    // A half to three halves of what would be the part of each.
    let amount = |g: usize| format!("{:.4}", total / 200.0 * (0.5 + (g * 7 % 11) as f64 / 10.0));
    draft.quotas = (0..200).map(|g| limit(true, &format!("group-{g}"), &amount(g))).collect();
    let with_limits = draft.clone();
    for quota in draft.quotas.iter_mut().step_by(3) {
        let (resource, most) = quota.quota.limit[0];
        quota.quota.guarantee = vec![(resource, decimal(&format!("{:.4}", most.to_f64() * 0.3)))];
    }
    for draft in [with_limits, draft] {
        let instance = draft.build().unwrap();
        let start = std::time::Instant::now();
        let solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        assert_eq!(solution.status, fairplan_instances::Status::Optimal);
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        assert!(proof.holds(), "{:?}", proof.failures().next());
        let held = solution.limited_by.iter().filter(|by| **by == LimitedBy::Limit).count();
        assert!(held > 100, "limits hold {held} users only");
    }
}

/// Where a limit is met just when the tasks of all whom it counts run out, no limit ends the stage.
#[test]
fn limits_that_are_met_where_tasks_run_out_hold_nobody() {
    use fairplan::{Control, SolveOptions, solve};
    for (users, groups) in [
        (
            r#"{"id": "a", "demand": {"cpu": 1}, "limit": {"cpu": 1}, "guarantee": {"cpu": 0.5}},
               {"id": "b", "tasks": 2, "demand": {"cpu": 1}, "limit": {"cpu": 2}}"#,
            "",
        ),
        (
            r#"{"id": "a", "group": "g", "tasks": 5, "demand": {"cpu": 2}, "limit": {"cpu": 10}}"#,
            r#"{"id": "g", "guarantee": {"cpu": 11}}"#,
        ),
        (
            r#"{"id": "a", "group": "g", "demand": {"cpu": 1}}, {"id": "b", "group": "h", "tasks": 2, "demand": {"cpu": 2}}"#,
            r#"{"id": "h", "limit": {"cpu": 4}}, {"id": "g", "limit": {"cpu": 3.75}}"#,
        ),
    ] {
        let json = format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "groups": [{groups}], "users": [{users}],
                 "server_classes": [{{"id": "s", "count": 1, "capacity": {{"cpu": 22}}}}]}}"#
        );
        let source = fairplan_instances::files::source::in_memory("i.json", json.into_bytes()).unwrap();
        let instance = fairplan_instances::files::read_json(source).unwrap();
        for objective in [Objective::Drfh, Objective::TaskShareFairness] {
            let options = SolveOptions { objective, ..SolveOptions::default() };
            let solved = solve(&instance, &options, &Control::none());
            assert!(solved.is_ok(), "{objective}: {:?}\n{users}", solved.err());
        }
    }
}

/// A limit of whole tasks leaves what a number of tasks does, though nobody has all tasks; and so for thousands.
#[test]
fn limits_of_single_users_are_as_many_tasks_however_many_users_there_are() {
    let mut limited = random_crowd(7, 2_000);
    limited.users.iter_mut().for_each(|user| user.tasks = None);
    let mut counted = limited.clone();
    for i in (0..limited.users.len()).step_by(2) {
        let (tasks, user) = (1 + i as u64 % 40, &limited.users[i]);
        let used =
            Draft { users: vec![user.clone()], quotas: Vec::new(), ..limited.clone() }.build().unwrap();
        let amount = used.user(UserId(0)).demand()[0].to_f64() * tasks as f64;
        if amount == 0.0 {
            continue;
        }
        limited.quotas.push(limit(false, &user.id, &format!("{amount:.4}")));
        counted.users[i].tasks = Some(tasks);
    }
    let [limited, counted] = [limited, counted].map(|draft| draft.build().unwrap());
    let start = std::time::Instant::now();
    let solution = backends()[0].solve(&limited, Objective::Drfh).unwrap();
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    let proof = verify_solution(&limited, &SolutionClaim::from(&solution));
    assert!(proof.holds(), "{:?}", proof.failures().next());
    assert!(solution.limited_by.contains(&LimitedBy::Limit));
    let other = backends()[0].solve(&counted, Objective::Drfh).unwrap();
    for i in 0..limited.user_count() {
        let [one, two] = [(&limited, &solution), (&counted, &other)]
            .map(|(of, s)| s.allocation.dominant_share(of, UserId(i)));
        assert!((one - two).abs() <= 1e-6 * two, "user {i}: {one}, {two}");
    }
}

/// The limit of a user or a group over all classes of the one resource.
fn limit(is_group: bool, owner: &str, amount: &str) -> DraftQuota {
    let quota = Quota { limit: vec![(ResourceId(0), decimal(amount))], ..Quota::default() };
    DraftQuota { is_group, owner: owner.into(), quota }
}

fn solved(instance: &Instance) -> Solution {
    let exact = exact_tree(instance, Objective::Drfh);
    for solver in backends() {
        conforms(instance, Objective::Drfh, solver.as_ref())
            .unwrap_or_else(|problem| panic!("{exact:?}: {problem}"));
    }
    backends()[0].solve(instance, Objective::Drfh).unwrap()
}

/// Three users of one server of 12, of which the first may have 2.
fn capped() -> Draft {
    let mut users = draft(&[(1, "12")], &["1", "1", "1"]);
    users.quotas = vec![limit(false, "user-0", "2")];
    users
}

#[test]
fn what_a_limit_leaves_goes_to_the_others() {
    let instance = capped().build().unwrap();
    let twelfth = |n: u32| Fraction::new(n, 12);
    assert_eq!(exact_tree(&instance, Objective::Drfh), [twelfth(2), twelfth(5), twelfth(5)]);
    let solution = solved(&instance);
    assert_eq!(solution.limited_by, [LimitedBy::Limit, LimitedBy::Capacity, LimitedBy::Capacity]);
    let numbers = StatedNumbers::new(&instance, &solution);
    // The level is of those who still want more; the value counts whom a limit holds too, and its price is that of the limit.
    let headline = numbers.headline();
    assert!(
        (headline.value - 2.0 / 12.0).abs() < 1e-9 && (headline.level.unwrap() - 5.0 / 12.0).abs() < 1e-9
    );
    assert!((headline.limits[0].price - 1.0 / 12.0).abs() < 1e-8 && headline.prices == [0.0]);
}

#[test]
fn a_limit_of_a_group_is_divided_among_its_members_and_the_rest_goes_up() {
    let mut users = draft(&[(1, "12")], &["1", "1", "1"]);
    users.quotas = vec![limit(true, "a", "3")];
    let draft = crate::groups::in_groups(users, &[("a", None), ("b", None)], &[Some(0), Some(0), Some(1)]);
    let instance = draft.build().unwrap();
    let of = |n: u32| Fraction::new(n, 24);
    assert_eq!(exact_tree(&instance, Objective::Drfh), [of(3), of(3), of(18)]);
    assert_eq!(solved(&instance).limited_by, [LimitedBy::Limit, LimitedBy::Limit, LimitedBy::Capacity]);
}

#[test]
fn a_limit_on_some_classes_moves_a_user_to_the_others() {
    // The first user may have 1 of the 6 on class 0, and its share on class 1 is not limited.
    let mut users = draft(&[(1, "6"), (1, "6")], &["1", "1"]);
    let limits =
        vec![ClassAmounts { classes: vec![ClassId(0)], amounts: vec![(ResourceId(0), decimal("1"))] }];
    users.quotas = vec![DraftQuota {
        is_group: false,
        owner: "user-0".into(),
        quota: Quota { limits, ..Quota::default() },
    }];
    let instance = users.build().unwrap();
    let half = Fraction::new(1, 2);
    assert_eq!(exact_tree(&instance, Objective::Drfh), [half.clone(), half]);
    let solution = solved(&instance);
    assert_eq!(solution.limited_by, [LimitedBy::Capacity; 2]);
}

#[test]
fn a_pool_keeps_limits_and_refuses_those_on_some_classes() {
    let instance = capped().build().unwrap();
    for solver in backends() {
        let solution = solver.solve(&instance, Objective::DrfPooled).unwrap();
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        assert!(proof.holds(), "{:?}", proof.failures().collect::<Vec<_>>());
        assert!((solution.allocation.tasks(fairplan_instances::UserId(0)) - 2.0).abs() < 1e-9);
    }
    let mut draft = capped();
    let limits =
        vec![ClassAmounts { classes: vec![ClassId(0)], amounts: vec![(ResourceId(0), decimal("1"))] }];
    draft.quotas[0].quota.limits = limits;
    let refusal = backends()[0].solve(&draft.build().unwrap(), Objective::DrfPooled).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "limits = user user-0: drf treats all servers as one, so nothing is limited on some; drop it or use drfh"
    );
}

/// What the checker finds wrong with the solution of [`capped`] after a change.
fn found(change: impl FnOnce(&mut Solution)) -> Vec<&'static str> {
    found_of(capped(), change)
}

fn found_of(draft: Draft, change: impl FnOnce(&mut Solution)) -> Vec<&'static str> {
    let instance = draft.build().unwrap();
    let mut solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
    let numbers = StatedNumbers::new(&instance, &solution);
    assert!(verify_solution(&instance, &numbers.claim(&solution)).holds());
    change(&mut solution);
    let numbers = StatedNumbers::new(&instance, &solution);
    verify_solution(&instance, &numbers.claim(&solution)).failures().map(|verdict| verdict.property).collect()
}

fn limit_prices(solution: &mut Solution, level: usize) -> &mut Vec<f64> {
    match &mut solution.certificate {
        Certificate::Levels { levels, .. } => &mut levels[level].limit_prices,
        _ => panic!("a max-min has levels"),
    }
}

#[test]
fn a_forged_price_of_a_limit_proves_nothing() {
    assert!(!found(|solution| limit_prices(solution, 0)[0] *= 1.0 + 1e-4).is_empty());
    assert!(!found(|solution| limit_prices(solution, 0)[0] *= 0.5).is_empty());
    assert!(!found(|solution| limit_prices(solution, 0)[0] = 0.0).is_empty());
}

#[test]
fn a_price_of_a_limit_that_is_not_used_up_is_refused() {
    let mut draft = capped();
    draft.quotas = vec![limit(false, "user-0", "11")];
    assert!(found_of(draft.clone(), |_| {}).is_empty());
    assert!(!found_of(draft, |solution| limit_prices(solution, 0)[0] = 0.01).is_empty());
}

#[test]
fn a_price_of_a_limit_that_does_not_exist_is_no_certificate() {
    assert_eq!(found(|solution| limit_prices(solution, 0).push(0.0)), ["well-formed"]);
    assert_eq!(found(|solution| limit_prices(solution, 0).clear()), ["well-formed"]);
    assert_eq!(found(|solution| limit_prices(solution, 0)[0] = -1.0), ["well-formed"]);
}

#[test]
fn a_limit_passed_by_a_millionth_is_seen() {
    let more = |solution: &mut Solution, part: f64| {
        let allocation = &solution.allocation;
        let tasks: Vec<f64> = (0..3)
            .map(|i| allocation.tasks(fairplan_instances::UserId(i)) * if i == 0 { part } else { 0.9 })
            .collect();
        solution.allocation = fairplan_instances::Allocation::new(1, tasks, vec![0; 3], vec![1.0]);
    };
    assert!(found(|solution| more(solution, 1.0 + 1e-6)).contains(&"limits"));
    assert!(!found(|solution| more(solution, 1.0)).contains(&"limits"));
}

#[test]
fn who_is_held_by_a_limit_is_told_apart_from_who_is_held_by_capacity() {
    assert!(found(|solution| solution.limited_by[0] = LimitedBy::Capacity).contains(&"limited-by"));
    assert!(found(|solution| solution.limited_by[1] = LimitedBy::Limit).contains(&"limited-by"));
}

#[test]
fn what_has_no_meaning_under_limits_says_where_they_are_why_and_what_to_take() {
    let instance = capped().build().unwrap();
    for (objective, why) in [
        (
            "bmf",
            "is defined by the resources of which users have the largest share, and quotas are none of these",
        ),
        ("drf-per-server", "shares each server out apart, and a quota counts over several of them"),
    ] {
        let objective: Objective = objective.parse().unwrap();
        let error = backends()[0].solve(&instance, objective).unwrap_err().to_string();
        let advice =
            "leave quotas out (`convert --without guarantees,limits,reserves`) or use drfh, tsf, drf or pf";
        assert_eq!(error, format!("users[0].limit = user user-0: {objective} {why}; {advice}"));
    }
}

#[test]
fn thousands_of_users_below_limits_share_bins_and_are_proved() {
    let mut held = 0;
    for seed in 0..6 {
        let mut draft = random_crowd(seed, 3_000);
        draft.groups = (0..10)
            .map(|g| fairplan_instances::NewGroup {
                id: format!("group-{g}"),
                weight: decimal("1"),
                parent: (g > 5).then(|| "group-0".to_owned()),
            })
            .collect();
        for (i, user) in draft.users.iter_mut().enumerate() {
            user.group = Some(i % 10);
            user.tasks = user.tasks.map(|tasks| 100 * tasks);
            user.rates.clear();
        }
        // What a twentieth of the cluster's servers have, or a fifth of those of the first class.
        let of_all = |part: f64| {
            let total: f64 =
                draft.classes.iter().map(|class| class.capacity[0].to_f64() * class.count as f64).sum();
            decimal(&format!("{:.4}", part * total + 0.01))
        };
        let mut quotas =
            vec![limit(true, "group-0", "1"), limit(true, "group-1", "1"), limit(true, "group-7", "1")];
        for (quota, part) in quotas.iter_mut().zip([0.1, 0.05, 0.01]) {
            quota.quota.limit[0].1 = of_all(part);
        }
        let first = ClassAmounts { classes: vec![ClassId(0)], amounts: vec![(ResourceId(0), of_all(0.02))] };
        quotas[1].quota.limits.push(first);
        draft.quotas = quotas;
        let instance = draft.build().unwrap();
        let solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        let failures: Vec<_> = proof.failures().collect();
        assert!(failures.is_empty(), "seed {seed}, {}: {failures:?}", solution.method);
        assert_eq!(solution.status, fairplan_instances::Status::Optimal, "seed {seed}, {}", solution.method);
        held += usize::from(solution.limited_by.contains(&LimitedBy::Limit));
    }
    assert!(held >= 4, "limits hold users in {held} of 6 cases");
}

#[test]
fn a_stated_price_of_a_limit_that_is_dropped_or_a_second_owner_of_it_is_refused() {
    use fairplan::{Control, Objective, ResultFile, SolveOptions, report, solve, verify};
    let json = br#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "s", "count": 1, "capacity": {"cpu": 10}}],
        "groups": [{"id": "g", "limit": {"cpu": 4}}],
        "users": [{"id": "a", "group": "g", "demand": {"cpu": 1}}, {"id": "b", "demand": {"cpu": 1}}]}"#;
    let source = fairplan_instances::files::source::in_memory("i.json", json.to_vec()).unwrap();
    let instance = fairplan_instances::files::read_json(source).unwrap();
    let options = SolveOptions { objective: Objective::Drfh, ..SolveOptions::default() };
    let solved = solve(&instance, &options, &Control::none()).unwrap();
    let mut bytes = Vec::new();
    report::write_json(&mut bytes, &solved.document(&instance, false)).unwrap();
    let honest: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let holds = |document: &serde_json::Value| {
        let file = ResultFile::new("s.json".into(), serde_json::to_vec(document).unwrap()).unwrap();
        verify(&instance, file, &Control::none()).is_ok_and(|verified| verified.holds)
    };
    assert!(holds(&honest) && honest["limits"][0]["price"].as_f64() > Some(0.0), "{honest}");
    let refused = |forge: &dyn Fn(&mut serde_json::Value)| {
        let mut forged = honest.clone();
        forge(&mut forged);
        !holds(&forged)
    };
    assert!(refused(&|solution| solution["limits"][0]["price"] = 0.0.into()));
    assert!(refused(&|solution| solution["limits"][0]["user"] = "b".into()));
    assert!(refused(&|solution| solution["limits"][0]["used"] = 0.5.into()));
}
