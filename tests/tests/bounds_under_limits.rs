//! Bounds of whole tasks under limits and reserves, over all classes or some, of users and of groups: never above what `solve` proves, never
//! below what a policy places, the same number to every command, and believed only where they are so.

use crate::quotas_placed::small;
use crate::ruled_quotas::{all_placements, with_quotas};
use fairplan::{
    BoundOptions, CompareOptions, ComparedBound, Control, PlaceOptions, ResultFile, SolveOptions, bound,
    compare_with_bound, place, report, solve, verify,
};
use fairplan_instances::{
    Breakpoint, ClassAmounts, ClassId, Deadline, DraftQuota, Headline, Instance, LimitedTasks, NewGroup,
    Placement, PlacementFigures, Quota, QuotaPart, Random, ResourceId, UserId, WholeTaskBracket,
    WholeTaskProof, breakpoint_value, guaranteed_whole_tasks, keeps_guarantees_of_users, stated_bounds,
};
use fairplan_tests::{
    Draft, decimal, draft, random_kinds_under_limits, random_kinds_under_quotas_of_classes,
    random_tree_with_limits, random_tree_with_quotas_of_classes,
};
use fairplan_verify::{WholeTaskClaim, verify_whole_tasks};

const POLICIES: [&str; 5] = ["best-fit", "first-fit", "worst-fit", "dot-product", "random"];

fn bracketed(instance: &Instance) -> fairplan::Bound {
    bound(instance, &BoundOptions::default(), &Control::none()).unwrap()
}

/// What `solve` proves where the guarantees are those that a bound counts.
fn solved(counted: &Instance) -> Headline {
    let instance = counted.with_whole_guarantees(&guaranteed_whole_tasks(counted)).unwrap();
    let solved = solve(&instance, &SolveOptions::default(), &Control::none()).unwrap();
    Headline::new(&instance, &solved.solution)
}

/// A draft with a quota of its first user, or of the group of all.
fn with_quota(mut draft: Draft, of_group: bool, quota: Quota) -> Instance {
    if of_group {
        draft.groups = vec![NewGroup { id: "all".into(), weight: decimal("1"), parent: None }];
        draft.users.iter_mut().for_each(|user| user.group = Some(0));
    }
    let owner = if of_group { "all".to_owned() } else { draft.users[0].id.clone() };
    draft.quotas = vec![DraftQuota { is_group: of_group, owner, quota }];
    draft.build().unwrap()
}

fn over(class: usize, amount: &str) -> Vec<ClassAmounts> {
    vec![ClassAmounts { classes: vec![ClassId(class)], amounts: vec![(ResourceId(0), decimal(amount))] }]
}

/// Whether what is written of a bound is believed.
fn is_believed(instance: &Instance, bound: &fairplan::Bound) -> bool {
    let mut bytes = Vec::new();
    report::write_json(&mut bytes, &bound.document(instance)).unwrap();
    let file = ResultFile::new("bound.json".into(), bytes).unwrap();
    let verified = verify(instance, file, &Control::none()).unwrap();
    if !verified.holds {
        let open: Vec<_> = verified.verdicts.iter().filter(|verdict| !verdict.holds).collect();
        eprintln!("{open:?}");
    }
    verified.holds
}

#[test]
fn limits_and_reserves_over_some_classes_are_counted_as_solve_counts_them() {
    // Of six cores a limit leaves two of the four on the first class.
    let one = || draft(&[(1, "4"), (1, "2")], &["1"]);
    let two = || draft(&[(1, "4"), (1, "2")], &["1", "1"]);
    let limits = Quota { limits: over(0, "2"), ..Quota::default() };
    // The first user keeps two there idle, and has nothing else.
    let mut keeps = two();
    keeps.users[0].eligible = Some(vec![0]);
    keeps.users[0].tasks = Some(1);
    let reserves = Quota { reserves: over(0, "2"), ..Quota::default() };
    for (name, instance, tasks) in [
        ("a limit of a user", with_quota(one(), false, limits.clone()), 4.0),
        ("a limit of a group", with_quota(two(), true, limits), 4.0),
        ("a reserve", with_quota(keeps, false, reserves), 4.0),
    ] {
        let (found, solved) = (bracketed(&instance), solved(&instance));
        let stated = stated_bounds(&instance, &found.bracket, Some(found.divisible.bound));
        let level = solved.level.unwrap();
        assert!((level - tasks / 6.0).abs() < 1e-9, "{name}: solve says {level}");
        assert_eq!(stated.level_upper.unwrap_or(stated.upper), tasks / 6.0, "{name}");
        assert!((found.divisible.bound - solved.bound).abs() < 1e-9, "{name}: {:?}", found.divisible);
        assert!(stated.upper <= solved.bound * (1.0 + 1e-9), "{name}: {stated:?}");
        let proof = found.bracket.proof.as_ref().unwrap();
        assert!(matches!(proof, WholeTaskProof::Values { limit_values, .. } if !limit_values.is_empty()));
        assert!(found.bracket.is_closed && is_believed(&instance, &found), "{name}");
    }
}

#[test]
fn whole_tasks_that_do_not_fill_what_a_limit_leaves_are_bounded_below_divided_ones() {
    // On the first class there is room for 4 cores of tasks of 3; the second holds one of them.
    let instance = with_quota(
        draft(&[(1, "9"), (1, "3")], &["3"]),
        false,
        Quota { limits: over(0, "4"), ..Quota::default() },
    );
    let found = bracketed(&instance);
    assert_eq!(found.bracket.placement.tasks, [2]);
    assert!((found.divisible.bound - 7.0 / 12.0).abs() < 1e-9);
    let stated = stated_bounds(&instance, &found.bracket, Some(found.divisible.bound));
    assert_eq!((stated.level_upper, stated.proved_optimal), (Some(0.5), true));
}

#[test]
fn what_limits_close_for_a_user_everywhere_leaves_it_nothing() {
    let quota = Quota { reserve: vec![(ResourceId(0), decimal("5.5"))], ..Quota::default() };
    // Half a core is left for the other user.
    let mut draft = draft(&[(1, "4"), (1, "2")], &["1", "1"]);
    draft.users[0].tasks = Some(2);
    let instance = with_quota(draft, false, quota);
    let found = bracketed(&instance);
    let stated = stated_bounds(&instance, &found.bracket, Some(found.divisible.bound));
    assert!((found.divisible.bound - 0.5 / 6.0).abs() < 1e-9);
    assert_eq!((stated.upper, stated.level_upper, stated.proved_optimal), (0.0, Some(0.0), true));
    assert!(is_believed(&instance, &found));
}

/// A bound with another proof, or another upper side.
fn forged(instance: &Instance, honest: &WholeTaskBracket, random: &mut Random) -> WholeTaskBracket {
    let mut forged = honest.clone();
    let user = UserId(random.below(instance.user_count() as u64) as usize);
    let tasks = random.below(6).min(instance.user(user).tasks().unwrap_or(6));
    if random.below(2) == 0 {
        forged.upper = Some(Breakpoint { user, tasks });
    }
    let Some(WholeTaskProof::Values { task_values, server_values, limit_values }) = &mut forged.proof else {
        return forged;
    };
    if limit_values.is_empty() {
        *limit_values = vec![0; instance.limit_rows().len()];
    }
    let values = [task_values, server_values, limit_values].into_iter().nth(random.below(3) as usize);
    if let Some(value) = values.and_then(|values| {
        let at = random.below(values.len().max(1) as u64) as usize;
        values.get_mut(at)
    }) {
        *value = (*value).max(1 << 40) / 8 * random.below(16);
    }
    forged
}

#[test]
fn no_forged_worth_of_limits_makes_a_bound_below_a_placement_believed() {
    let mut random = Random::new(31, 5);
    let (mut tried, mut refused, mut believed, mut priced) = (0, 0, 0, 0);
    for case in 0..90 {
        let instance = with_quotas(&mut random, case % 3 == 0, case % 2 == 0, case % 5 == 0);
        if instance.limit_rows().is_empty() {
            continue;
        }
        let Some(ways) = all_placements(&instance) else { continue };
        let level = |servers: &Vec<fairplan_instances::ServerTasks>| {
            let mut tasks = vec![0; instance.user_count()];
            servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
            let placement = Placement { tasks, servers: servers.clone() };
            PlacementFigures::new(&instance, &placement).level.unwrap_or(f64::INFINITY)
        };
        let best = ways.iter().map(level).fold(0.0, f64::max);
        let found = bracketed(&instance).bracket;
        let Some(WholeTaskProof::Values { limit_values, .. }) = &found.proof else { continue };
        tried += 1;
        priced += u32::from(limit_values.iter().any(|value| *value > 0));
        for _ in 0..40 {
            let forged = forged(&instance, &found, &mut random);
            let stated = Some(stated_bounds(&instance, &forged, None));
            let claim = WholeTaskClaim { bracket: &forged, stated };
            let verdicts = verify_whole_tasks(&instance, &claim, &Deadline::never());
            let upper = breakpoint_value(&instance, forged.upper);
            // Whether it is said to be closed is another question.
            if verdicts.iter().any(|verdict| !verdict.holds && verdict.property != "bounds") {
                refused += 1;
                continue;
            }
            believed += 1;
            assert!(best <= upper * (1.0 + 1e-9), "case {case}: {best} is placed, {forged:?} is believed");
        }
    }
    assert!(
        tried > 25 && priced > 1 && refused > 400 && believed > 40,
        "{tried} {priced} {refused} {believed}"
    );
}

#[test]
fn a_lower_bound_of_groups_under_limits_that_leaves_tasks_of_somebody_out_is_refused() {
    // Of ten cores two are in a group, of which a limit holds the first at one.
    let mut draft = draft(&[(10, "1")], &["1", "1", "1"]);
    draft.groups = vec![NewGroup { id: "both".into(), weight: decimal("1"), parent: None }];
    (draft.users[0].group, draft.users[1].group) = (Some(0), Some(0));
    let quota = Quota { limit: vec![(ResourceId(0), decimal("1"))], ..Quota::default() };
    draft.quotas = vec![DraftQuota { is_group: false, owner: draft.users[0].id.clone(), quota }];
    let instance = draft.build().unwrap();
    let found = bracketed(&instance);
    assert!(is_believed(&instance, &found));
    let honest = found.bracket.lower.unwrap();
    for tasks in 0..honest.tasks {
        let forged =
            WholeTaskBracket { lower: Some(Breakpoint { tasks, ..honest }), ..found.bracket.clone() };
        let stated = Some(stated_bounds(&instance, &found.bracket, None));
        let verdicts =
            verify_whole_tasks(&instance, &WholeTaskClaim { bracket: &forged, stated }, &Deadline::never());
        let refused = verdicts.iter().find(|verdict| verdict.property == "lower-bound" && !verdict.holds);
        assert!(refused.is_some(), "{tasks} of {honest:?}: {verdicts:?}");
    }
}

#[test]
fn bounds_lie_between_every_placement_and_what_solve_proves_and_all_commands_tell_the_same() {
    let (mut tried, mut lower_than_before, mut levels) = (0, 0, 0);
    for seed in 0..240 {
        let random = match seed % 4 {
            0 => random_tree_with_limits,
            1 => random_tree_with_quotas_of_classes,
            2 => random_kinds_under_limits,
            _ => random_kinds_under_quotas_of_classes,
        };
        let Some(instance) = small(random(seed)) else { continue };
        let guarantees = instance.has_guarantees();
        // What is kept for some may leave too little for what others are guaranteed.
        let Ok(found) = bound(&instance, &BoundOptions::default(), &Control::none()) else { continue };
        tried += 1;
        assert!(is_believed(&instance, &found), "seed {seed}");
        let counted = found.divisible.counted(&instance);
        let stated = stated_bounds(&counted, &found.bracket, Some(found.divisible.bound));
        assert!(stated.upper <= found.divisible.bound, "seed {seed}: {stated:?}");
        let solved = solved(&counted);
        let about = |a: f64, b: f64| (a - b).abs() <= 1e-7 * b.abs().max(1e-9);
        assert!(
            about(found.divisible.bound, solved.bound),
            "seed {seed}: {} {}",
            found.divisible.bound,
            solved.bound
        );
        let most = stated.level_upper.unwrap_or(f64::INFINITY);
        for policy in POLICIES {
            let options = PlaceOptions { policy: policy.into(), seed, ..PlaceOptions::default() };
            let placed = place(&instance, &options, &Control::none()).unwrap();
            let figures = placed.figures;
            if !keeps_guarantees_of_users(&counted, &placed.placement.tasks) {
                continue;
            }
            assert!(figures.value <= stated.upper * (1.0 + 1e-9), "seed {seed}, {policy}: {stated:?}");
            let level = PlacementFigures::new(&counted, &placed.placement).level.unwrap_or(0.0);
            assert!(level <= most * (1.0 + 1e-9), "seed {seed}, {policy}: {level} above {stated:?}");
            // `bound` looks at what the others place, and draws nothing.
            let looked_at = !guarantees && policy != "random";
            if let Some(found) = stated.level_lower.filter(|_| looked_at) {
                assert!(level <= found * (1.0 + 1e-9), "seed {seed}, {policy}: {level}, {stated:?}");
            }
        }
        let options = CompareOptions { timing: false, ..CompareOptions::default() };
        let (comparison, kept) = compare_with_bound(&instance, &options, &Control::none()).unwrap();
        if let Some(ComparedBound::SmallestShare(kept)) = kept {
            let kept = kept.document(&instance);
            assert_eq!(comparison.bounds.integral_upper, Some(kept.integral_upper), "seed {seed}");
            assert_eq!(comparison.bounds.integral_level_upper, kept.integral_level_upper, "seed {seed}");
            assert_eq!(kept.integral_upper, found.document(&instance).integral_upper, "seed {seed}");
            assert_eq!(comparison.bounds.divisible, kept.divisible, "seed {seed}");
        }
        let free =
            instance.without_parts(&[QuotaPart::Limits, QuotaPart::Reserves, QuotaPart::Guarantees]).unwrap();
        let before = bracketed(&free);
        lower_than_before += u32::from(found.divisible.bound < before.divisible.bound * (1.0 - 1e-9));
        // Where limits can hold nobody, the level is that of `solve`.
        let LimitedTasks { fewest, .. } = LimitedTasks::of(&instance);
        let holds_nobody =
            instance.users().all(|user| fewest[user.index().0] == user.tasks().unwrap_or(u64::MAX));
        let all_fit = instance.users().all(|user| user.tasks() == Some(0) || user.fits_somewhere());
        if let (true, true, Some(level)) = (holds_nobody, all_fit, solved.level) {
            let upper = stated.level_upper.unwrap_or(stated.upper);
            assert!(upper <= level * (1.0 + 1e-7), "seed {seed}: {upper} above the {level} of solve");
            levels += 1;
        }
    }
    assert!(tried > 100 && lower_than_before > 20 && levels > 10, "{tried} {lower_than_before} {levels}");
}

#[test]
fn of_placements_that_give_nobody_more_the_one_in_which_fewest_tasks_wait_is_stated() {
    // The second user can have no task beside the first two, so that every placement is worth nothing.
    let mut draft = draft(&[(1, "4")], &["1", "4", "2"]);
    for (user, tasks) in draft.users.iter_mut().zip([4, 1, 2]) {
        user.tasks = Some(tasks);
    }
    let instance = draft.build().unwrap();
    let found = bracketed(&instance);
    let waiting = |placement: &Placement| placement.all_waiting(&instance);
    for policy in POLICIES {
        let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
        let placed = place(&instance, &options, &Control::none()).unwrap();
        assert!(waiting(&found.bracket.placement) <= waiting(&placed.placement), "{policy}");
    }
}
