//! The bracket of what whole tasks can reach: against trying everything, against published values, against forgeries.

use fairplan_instances::generate::{GoogleOptions, drfh_fig4, google};
use fairplan_instances::{
    AllocationProof, Breakpoint, ClassId, Deadline, Decimal, Draft, DraftKind, Instance, InstanceBuilder,
    KindId, NewGroup, NewUser, Objective, ResourceId, ServerClass, User, UserId, WholeTaskBracket,
    WholeTaskProof, breakpoint_value, files, files::sha256_hex,
};
use fairplan_report::allocated_bound::allocated_claim;
use fairplan_report::bound::{BoundDocument, StatedBracket, bound_document};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_report::{read_json, write_json};
use fairplan_solver::{allocated_bracket, backend, whole_task_bracket};
use fairplan_tests::{
    Dice, best_whole_allocation, best_whole_level, compare_breakpoints, decimal, draft, holds_few_pieces,
    kind, plain_user, random_draft_without_rates, with_random_kinds, with_random_profiles,
    with_random_server_rules,
};
use fairplan_verify::{AllocatedClaim, WholeTaskClaim, verify_allocated, verify_whole_tasks};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn bracket(instance: &Instance) -> WholeTaskBracket {
    let bracket = whole_task_bracket(instance, &Deadline::never()).unwrap();
    let claim = WholeTaskClaim { bracket: &bracket, stated: None };
    let failed: Vec<_> = verify_whole_tasks(instance, &claim, &Deadline::never())
        .into_iter()
        .filter(|verdict| !verdict.holds)
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    bracket
}

/// How many of `count` brackets are closed, all of which must contain the best of whole tasks.
fn closed_of(count: u64, draft: impl Fn(u64) -> Draft) -> u64 {
    const SAME: f64 = 2e-9;
    let (mut closed, mut tried, mut seed) = (0, 0, 0);
    while tried < count {
        seed += 1;
        let Ok(instance) = draft(seed).build() else { continue };
        let Some(best) = best_whole_level(&instance, 3_000) else { continue };
        tried += 1;
        let bracket = bracket(&instance);
        let by_values = matches!(bracket.proof, Some(WholeTaskProof::Values { .. }));
        let upper = if by_values { breakpoint_value(&instance, bracket.upper) } else { f64::INFINITY };
        let can_have = |user: &User<'_>| bracket.without_tasks.binary_search(&user.index()).is_err();
        let has_all = |user: User<'_>| {
            user.tasks().is_some_and(|tasks| bracket.placement.tasks[user.index().0] >= tasks)
        };
        let lower = match instance.users().filter(can_have).all(has_all) {
            true => f64::INFINITY,
            false => breakpoint_value(&instance, bracket.lower),
        };
        assert!(
            lower <= best * (1.0 + SAME),
            "seed {seed}: {lower} is placed, {best} is the best: {bracket:?}\n{}",
            draft(seed)
        );
        assert!(best <= upper * (1.0 + SAME), "seed {seed}: {upper} is proved, {best} exists");
        assert_eq!(bracket.is_closed, lower >= upper * (1.0 - SAME), "seed {seed}: {lower} to {upper}");
        closed += u64::from(bracket.is_closed);
    }
    closed
}

#[test]
fn three_hundred_small_brackets_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(300, random_draft_without_rates);
    println!("{closed} of 300 closed");
    assert!(closed >= 270, "only {closed} of 300 brackets are closed");
}

pub fn with_server_rules(seed: u64) -> Draft {
    let mut draft = random_draft_without_rates(seed);
    let mut dice = Dice::new(seed);
    for user in draft.users.iter_mut().filter(|_| dice.below(3) == 0) {
        user.tasks = Some(1 + seed % 4);
    }
    with_random_server_rules(draft, seed)
}

#[test]
fn two_hundred_brackets_under_rules_inside_servers_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(200, with_server_rules);
    println!("{closed} of 200 closed");
    assert!(closed >= 180, "only {closed} of 200 brackets are closed");
}

#[test]
#[ignore = "half a minute"]
fn a_thousand_brackets_under_rules_inside_servers_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(1_000, with_server_rules);
    println!("{closed} of 1000 closed");
    assert!(closed >= 900, "only {closed} of 1000 brackets are closed");
}

/// The same with profiles of devices.
pub fn with_profiles(seed: u64) -> Draft {
    let mut draft = random_draft_without_rates(seed);
    let mut dice = Dice::new(!seed);
    for user in draft.users.iter_mut().filter(|_| dice.below(3) == 0) {
        user.tasks = Some(1 + seed % 4);
    }
    with_random_profiles(draft, seed)
}

#[test]
fn three_hundred_brackets_with_profiles_of_devices_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(300, with_profiles);
    let kinds = closed_of(100, |seed| with_random_profiles(with_kinds(seed), seed));
    println!("{closed} of 300 closed, {kinds} of 100 of users with kinds");
    assert!(closed >= 270 && kinds >= 90, "only {closed} of 300 and {kinds} of 100 brackets are closed");
}

#[test]
#[ignore = "half a minute"]
fn thousands_of_brackets_with_profiles_of_devices_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(1_000, with_profiles);
    let kinds = closed_of(500, |seed| with_random_profiles(with_kinds(seed), seed));
    let allocated = closed_allocations_of(1_000, with_profiles);
    println!("{closed} of 1000 closed, {kinds} of 500 of users with kinds, {allocated} of 1000 allocations");
    assert!(
        closed >= 900 && kinds >= 450 && allocated >= 900,
        "{closed}, {kinds} and {allocated} are closed"
    );
}

/// Once the trainer lacks workers, the smallest tasks are handed out by billions: one by one that takes minutes.
#[test]
fn billions_of_tasks_beside_a_user_whose_kinds_run_out_are_handed_out_at_once() {
    let mut draft = draft(&[(2, "4 0"), (1, "6 4")], &["1 0", "5 2", "0.000000001 0"]);
    (draft.users[0].tasks, draft.users[0].eligible) = (Some(3), Some(vec![1]));
    draft.users[1].kinds = vec![kind("worker", 2, "1 1", None), kind("driver", 1, "3 0", None)];
    let started = Instant::now();
    let tasks = bracket(&draft.build().unwrap()).placement.tasks;
    assert!(tasks[2] > 1_000_000_000, "{tasks:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// Few servers and users, most of which have kinds.
pub fn with_kinds(seed: u64) -> Draft {
    let mut draft = random_draft_without_rates(seed);
    draft.users.truncate(2 + (seed % 2) as usize);
    let mut dice = Dice::new(seed);
    for user in draft.users.iter_mut().filter(|_| dice.below(3) == 0) {
        user.tasks = Some(1 + seed % 4);
    }
    with_random_kinds(draft, seed)
}

/// The same in a tree.
fn with_kinds_in_groups(seed: u64) -> Draft {
    in_a_tree(with_kinds(seed), seed)
}

#[test]
fn three_hundred_brackets_of_users_with_kinds_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(200, with_kinds);
    let in_groups = closed_of(100, with_kinds_in_groups);
    println!("{closed} of 200 closed, {in_groups} of 100 in groups");
    assert!(closed >= 180 && in_groups >= 90, "only {closed} of 200 and {in_groups} of 100 are closed");
}

#[test]
#[ignore = "a minute"]
fn three_thousand_brackets_of_users_with_kinds_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(2_000, with_kinds);
    let in_groups = closed_of(1_000, with_kinds_in_groups);
    println!("{closed} of 2000 closed, {in_groups} of 1000 in groups");
    assert!(closed >= 1_800 && in_groups >= 900, "only {closed} and {in_groups} are closed");
}

/// How many of `count` brackets of how much can be allocated are closed, all of which must contain the most there is.
fn closed_allocations_of(count: u64, draft: impl Fn(u64) -> Draft) -> u64 {
    let (mut closed, mut tried, mut seed) = (0, 0, 0);
    while tried < count {
        seed += 1;
        let Ok(instance) = draft(seed).build() else { continue };
        let resource = ResourceId(instance.resources().len() - 1);
        let Some(best) = best_whole_allocation(&instance, resource, 3_000) else { continue };
        tried += 1;
        let bracket = allocated_bracket(&instance, resource, &Deadline::never()).unwrap();
        let failed: Vec<_> =
            verify_allocated(&instance, &allocated_claim(&instance, &bracket), &Deadline::never())
                .into_iter()
                .filter(|verdict| !verdict.holds)
                .collect();
        assert!(failed.is_empty(), "seed {seed}: {failed:?}");
        let (lower, upper) = (bracket.lower(&instance), bracket.upper);
        assert!(lower <= best && best <= upper, "seed {seed}: {lower} to {upper}, the most is {best}");
        closed += u64::from(bracket.is_closed(&instance));
    }
    closed
}

#[test]
fn four_hundred_brackets_of_what_can_be_allocated_contain_the_most_and_nine_in_ten_are_closed() {
    let plain = closed_allocations_of(100, random_draft_without_rates);
    let rules = closed_allocations_of(200, with_server_rules);
    let kinds = closed_allocations_of(100, with_kinds);
    println!(
        "{plain} of 100 closed, {rules} of 200 under rules inside servers, {kinds} of 100 of users with kinds"
    );
    assert!(plain >= 90 && rules >= 180 && kinds >= 90, "only {plain}, {rules} and {kinds} are closed");
}

#[test]
fn three_hundred_brackets_of_what_can_be_allocated_by_profiles_contain_the_most_and_nine_in_ten_are_closed() {
    let closed = closed_allocations_of(300, with_profiles);
    println!("{closed} of 300 closed");
    assert!(closed >= 270, "only {closed} of 300 brackets are closed");
}

#[test]
#[ignore = "half a minute"]
fn a_thousand_brackets_of_what_can_be_allocated_contain_the_most_and_nine_in_ten_are_closed() {
    let closed = closed_allocations_of(1_000, with_server_rules);
    println!("{closed} of 1000 closed");
    assert!(closed >= 900, "only {closed} of 1000 brackets are closed");
}

/// A proof under rules inside servers from which something is taken away.
fn forge_allocation(claim: &mut (AllocationProof, f64, f64, bool), dice: &mut Dice) -> &'static str {
    let (proof, upper, lower, proved_optimal) = claim;
    let part = dice.pick(&[0.5, 0.9, 0.99]);
    match dice.below(6) {
        0 => {
            *upper *= part;
            "upper lowered"
        }
        1 => {
            *lower *= 2.0 - part;
            "lower raised"
        }
        2 => {
            *proved_optimal = !*proved_optimal;
            "proved_optimal turned round"
        }
        3 => {
            // Servers that hold nothing of worth may hold nothing.
            proof.server_values.iter_mut().for_each(|value| *value = (*value as f64 * part) as u64);
            "server values lowered"
        }
        4 => {
            proof.task_values.iter_mut().for_each(|value| *value *= 2);
            "task values doubled"
        }
        _ => {
            proof.values_in_all = 0;
            "nothing is worth anything"
        }
    }
}

#[test]
fn none_of_a_thousand_forged_proofs_of_what_can_be_allocated_is_accepted() {
    refuse_forged_allocations(1_000, with_server_rules);
}

#[test]
fn none_of_five_hundred_forged_proofs_of_what_can_be_allocated_by_profiles_is_accepted() {
    refuse_forged_allocations(500, with_profiles);
}

fn refuse_forged_allocations(count: usize, draft: impl Fn(u64) -> Draft) {
    let mut dice = Dice::new(23);
    let (mut forged, mut seed) = (0, 0);
    while forged < count {
        seed += 1;
        let Ok(instance) = draft(seed).build() else { continue };
        if instance.server_count() > 60 {
            continue;
        }
        let resource = ResourceId(instance.resources().len() - 1);
        let bracket = allocated_bracket(&instance, resource, &Deadline::never()).unwrap();
        let honest = allocated_claim(&instance, &bracket);
        // Where nothing is worth its room, less room says nothing.
        if honest.lower == 0.0 || bracket.proof.server_values.iter().all(|value| *value < 1_000) {
            continue;
        }
        for _ in 0..10 {
            let mut claim = (bracket.proof.clone(), honest.upper, honest.lower, honest.proved_optimal);
            let what = forge_allocation(&mut claim, &mut dice);
            let (proof, upper, lower, proved_optimal) = &claim;
            let claim = AllocatedClaim {
                proof,
                upper: *upper,
                lower: *lower,
                proved_optimal: *proved_optimal,
                ..honest.clone()
            };
            let holds =
                verify_allocated(&instance, &claim, &Deadline::never()).iter().all(|verdict| verdict.holds);
            assert!(!holds, "seed {seed}: {what} is accepted");
            forged += 1;
        }
    }
}

/// Small drafts with a random tree over the users, some of whom have few tasks.
fn in_a_random_tree(seed: u64) -> Draft {
    in_a_tree(random_draft_without_rates(seed), seed)
}

fn in_a_tree(mut draft: Draft, seed: u64) -> Draft {
    let mut dice = Dice::new(seed);
    let groups = 1 + dice.below(3) as usize;
    draft.groups = (0..groups)
        .map(|g| NewGroup {
            id: format!("group-{g}"),
            weight: Decimal::new(1 + dice.below(4), 0).unwrap(),
            parent: (g > 0 && dice.below(2) == 0).then(|| format!("group-{}", dice.below(g as u64))),
        })
        .collect();
    for user in &mut draft.users {
        user.group = Some(dice.below(groups as u64 + 1) as usize).filter(|group| *group < groups);
        if dice.below(3) == 0 {
            user.tasks = Some(1 + dice.below(4));
        }
    }
    draft
}

#[test]
fn three_hundred_brackets_of_levels_in_random_trees_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(300, in_a_random_tree);
    println!("{closed} of 300 closed");
    assert!(closed >= 270, "only {closed} of 300 brackets are closed");
}

/// Two or three users of large tasks, and one of tasks of which a server holds hundreds or thousands.
pub fn with_tiny_tasks(seed: u64) -> Draft {
    let mut dice = Dice::new(seed);
    let mut digits = |least: u64, most: u64, power: i32| {
        Decimal::new(least + dice.below(most - least + 1), power).unwrap()
    };
    let resources = 1 + (seed % 3) as usize;
    let users = 3 + (seed % 2) as usize;
    let class = |l: usize, digits: &mut dyn FnMut(u64, u64, i32) -> Decimal| {
        ServerClass::new(
            format!("class-{l}"),
            1 + (seed + l as u64) % 3,
            (0..resources).map(|_| digits(4, 10, -1)).collect(),
        )
    };
    let classes = (0..2).map(|l| class(l, &mut digits)).collect();
    let mut demand = |i: usize| -> Vec<Decimal> {
        let (least, most, power) = if i + 1 == users { (3, 60, -4) } else { (8, 40, -2) };
        (0..resources).map(|_| digits(least, most, power)).collect()
    };
    Draft {
        device_profiles: Vec::new(),
        name: "tiny tasks".into(),
        resources: (0..resources).map(|r| format!("resource-{r}")).collect(),
        classes,
        groups: Vec::new(),
        users: (0..users).map(|i| plain_user(i, demand(i))).collect(),
        quotas: Vec::new(),
        measured_by: None,
    }
}

#[test]
fn three_hundred_brackets_of_tiny_beside_large_tasks_contain_the_optimum_and_nine_in_ten_are_closed() {
    let closed = closed_of(300, with_tiny_tasks);
    println!("{closed} of 300 closed");
    assert!(closed >= 270, "only {closed} of 300 brackets are closed");
}

/// Thirty users of Google's servers, some 300 of them, which hold 10 to 100 tasks each.
fn with_small_tasks(seed: u64) -> Instance {
    let servers = google(&GoogleOptions { servers: Some(300), seed, ..GoogleOptions::default() }).unwrap();
    let mut builder = InstanceBuilder::new("small tasks", servers.resources().to_vec()).unwrap();
    for class in servers.classes() {
        builder.class(class.clone()).unwrap();
    }
    let mut dice = Dice::new(seed);
    for i in 0..30 {
        let mut draw = || Decimal::new(200 + dice.below(5_800), -5).unwrap();
        let demand = [draw(), draw()];
        builder.user(NewUser::new(&format!("user-{i}"), &demand)).unwrap();
    }
    builder.build().unwrap()
}

#[test]
#[ignore = "a minute"]
fn small_tasks_fill_servers_so_far_that_most_placements_are_proved_optimal() {
    let open: Vec<u64> = (1..=5).filter(|seed| !bracket(&with_small_tasks(*seed)).is_closed).collect();
    println!("{open:?} of 5 stay open");
    assert!(open.len() <= 1, "{open:?}");
}

/// What more than the upper bound takes is more CPU than there is, whatever is on which server.
#[test]
#[ignore = "half a minute"]
fn the_real_users_of_google_have_the_best_that_whole_tasks_can_do() {
    let instance = google(&GoogleOptions::default()).unwrap();
    let bracket = bracket(&instance);
    let (upper, lower) = (bracket.upper.unwrap(), bracket.lower.unwrap());
    assert!(bracket.is_closed && compare_breakpoints(&instance, lower, upper).is_eq(), "{lower:?} {upper:?}");
    // The README's picture shows it.
    let kept = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/google_comparison.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let best = breakpoint_value(&instance, Some(upper));
    assert_eq!(
        [&kept["bounds"]["integral_upper"], &kept["bounds"]["integral_lower"]],
        [&best.into(), &Value::from(best)]
    );
    let cpu = ResourceId(0);
    let taken = instance.users().map(|user| {
        let is_more = |tasks: u64| {
            compare_breakpoints(&instance, Breakpoint { user: user.index(), tasks }, upper).is_gt()
        };
        let mut tasks = 1u64;
        while !is_more(tasks) {
            tasks *= 2;
        }
        let (mut short, mut enough) = (tasks / 2, tasks);
        while enough - short > 1 {
            let middle = (short + enough) / 2;
            if is_more(middle) { enough = middle } else { short = middle }
        }
        u128::from(enough) * user.demand_units(cpu)
    });
    assert!(taken.sum::<u128>() > instance.total_units(cpu));
}

#[test]
fn on_a_hundred_google_servers_best_fit_is_optimal_and_first_fit_is_not() {
    use fairplan_heuristics::policy;
    use fairplan_instances::PlacementFigures;
    for (users, best, first_fit) in [
        (&[1][..], 0.61965, 0.61965),
        (&[1, 2], 0.43843, 0.43843),
        (&[1, 2, 3], 0.28436, 0.26306),
        (&[2, 3], 0.46181, 0.45498),
    ] {
        let instance = drfh_fig4(users).unwrap();
        let bracket = bracket(&instance);
        assert!(bracket.is_closed, "{users:?}");
        let value = |name: &str| {
            let placement = policy(name, 0).unwrap().place(&instance).unwrap();
            PlacementFigures::new(&instance, &placement).value
        };
        let found = [breakpoint_value(&instance, bracket.upper), value("best-fit"), value("first-fit")];
        for (found, published) in found.into_iter().zip([best, best, first_fit]) {
            assert!((found - published).abs() < 5e-6, "{users:?}: {found} instead of {published}");
        }
    }
}

#[test]
fn a_user_whose_task_fits_no_server_gets_none_and_the_others_are_bounded_apart() {
    let mut draft = Draft::from(&drfh_fig4(&[1, 2]).unwrap());
    draft.users[0].demand = vec![decimal("0.6"), decimal("0.9")];
    draft.classes.retain(|class| class.capacity[0] != decimal("1"));
    let bracket = bracket(&draft.build().unwrap());
    assert_eq!(bracket.without_tasks.len(), 1);
    assert_eq!(bracket.placement.tasks[0], 0);
    assert!(bracket.is_closed && bracket.lower.unwrap().tasks > 0);
}

/// One task of two kinds on few servers, against all ways to put its pieces: who fits by each kind alone may not fit.
#[test]
fn who_can_have_no_task_since_its_pieces_are_in_one_anothers_way_is_told() {
    let (mut held, mut stuck) = (0, 0);
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let servers: Vec<[u64; 2]> =
            (0..=dice.below(3)).map(|_| [2 + dice.below(6), 2 + dice.below(6)]).collect();
        let kinds: Vec<([u64; 2], u64)> =
            (0..2).map(|_| ([1 + dice.below(5), dice.below(4)], 1 + dice.below(3))).collect();
        let amounts = |[cpu, memory]: [u64; 2]| json!({"cpu": cpu, "memory": memory});
        let classes = servers.iter().enumerate();
        let classes: Vec<Value> = classes
            .map(|(l, all)| json!({"id": format!("c{l}"), "count": 1, "capacity": amounts(*all)}))
            .collect();
        let of_kind = |(k, (demand, each)): (usize, &([u64; 2], u64))| json!({"id": format!("k{k}"), "each": each, "demand": amounts(*demand)});
        let of_kinds: Vec<Value> = kinds.iter().enumerate().map(of_kind).collect();
        let text = json!({"format": "fairplan.instance.v1", "resources": ["cpu", "memory"], "server_classes": classes,
            "users": [{"id": "a", "kinds": of_kinds}, {"id": "b", "demand": {"cpu": 1}}]});
        let read = files::read_json(files::source::in_memory("it", text.to_string().into()).unwrap());
        let instance = read.unwrap();
        let bracket = bracket(&instance);
        let is_held = holds_few_pieces(&instance, instance.user(UserId(0)));
        assert_eq!(bracket.without_tasks.contains(&UserId(0)), !is_held, "seed {seed}: {text}");
        (held, stuck) = (held + usize::from(is_held), stuck + usize::from(!is_held));
    }
    assert!(held > 50 && stuck > 50, "{held} {stuck}");
}

fn document(instance: &Instance) -> Value {
    let bracket = bracket(instance);
    let mut file = Vec::new();
    let sha256 = sha256_hex(instance);
    let solution = backend("auto").unwrap().solve(instance, Objective::Drfh).unwrap();
    let divisible = DivisibleBound::new(instance, &solution, None);
    write_json(&mut file, &bound_document(instance, &sha256, &divisible, &[], &bracket)).unwrap();
    serde_json::from_slice(&file).unwrap()
}

fn accepts(instance: &Instance, document: &Value) -> bool {
    let bytes = serde_json::to_vec(document).unwrap();
    let Ok(document) = read_json::<BoundDocument>("bound.json", &bytes) else { return false };
    StatedBracket::new(&document, instance, &sha256_hex(instance))
        .is_ok_and(|stated| stated.verdicts(instance).iter().all(|verdict| verdict.holds))
}

/// Makes the document say something that is not so; returns what.
fn forge(instance: &Instance, document: &mut Value, dice: &mut Dice) -> String {
    let scaled = |value: &Value, factor: f64| json!(value.as_f64().unwrap() * factor);
    let plus = |value: &Value, more: i64| json!(value.as_i64().unwrap() + more);
    let factor = dice.pick(&[0.5, 0.9, 0.999, 1.001, 1.5, -1.0]);
    let certificate = |name: &str| format!("/certificate/{name}");
    match dice.below(12) {
        0 => {
            let name = dice.pick(&["/integral_upper", "/integral_lower"]);
            let field = document.pointer_mut(name).unwrap();
            *field = scaled(field, factor);
            format!("{name} times {factor}")
        }
        1 => {
            let field = document.pointer_mut("/proved_optimal").unwrap();
            *field = json!(!field.as_bool().unwrap());
            "proved_optimal turned round".into()
        }
        2 => {
            let field = document.pointer_mut(&certificate("upper/tasks")).unwrap();
            let by = dice.pick(&[-1, 1, 7]);
            *field = plus(field, by);
            format!("upper/tasks {by:+}")
        }
        3 => {
            let field = document.pointer_mut(&certificate("lower/tasks")).unwrap();
            let by = dice.pick(&[-1, 1, 5]);
            *field = plus(field, by);
            format!("lower/tasks {by:+}")
        }
        4 => {
            // A little less may still be true; less than tasks of one user are worth is not.
            let task_values = document.pointer(&certificate("task_values")).unwrap().clone();
            let worth_of_one = |l: usize, k: usize| {
                let kind = instance.kind(KindId(k));
                let copies = |r| instance.capacity_units(ClassId(l), r) / kind.piece_units(r);
                let copies = copies(ResourceId(0)).min(copies(ResourceId(1)));
                copies as u64 * task_values[k].as_u64().unwrap()
            };
            let worth = |l: usize| (0..instance.kind_count()).map(|k| worth_of_one(l, k)).max().unwrap();
            let held: Vec<usize> = (0..instance.classes().len()).filter(|l| worth(*l) > 0).collect();
            let l = dice.pick(&held);
            let by = dice.below(worth(l)) + 1;
            *document.pointer_mut(&certificate(&format!("server_values/{l}"))).unwrap() =
                json!(worth(l) - by);
            format!("server_values[{l}] less than pieces of one kind are worth, by {by}")
        }
        5 => {
            let values = document.pointer_mut(&certificate("task_values")).unwrap().as_array_mut().unwrap();
            let factor = dice.pick(&[3, 10, 1_000]);
            values.iter_mut().for_each(|value| *value = json!(value.as_u64().unwrap() * factor));
            format!("task_values times {factor}")
        }
        6 => {
            let values = document.pointer_mut(&certificate("task_values")).unwrap().as_array_mut().unwrap();
            values.iter_mut().for_each(|value| *value = json!(value.as_u64().unwrap() / 2));
            "task_values halved".into()
        }
        7 => {
            let name = dice.pick(&["task_values", "server_values"]);
            document.pointer_mut(&certificate(name)).unwrap().as_array_mut().unwrap().pop();
            format!("{name} cut")
        }
        8 => {
            let servers = document.pointer_mut("/placement/servers").unwrap().as_array_mut().unwrap();
            let busy: Vec<usize> =
                (0..servers.len()).filter(|s| !servers[*s]["tasks"].as_array().unwrap().is_empty()).collect();
            let s = dice.pick(&busy);
            let by = dice.pick(&[1, 2, 1_000_000]);
            let part = &mut servers[s]["tasks"][0];
            let counted = if part.get("pieces").is_some() { "pieces" } else { "tasks" };
            part[counted] = plus(&part[counted], by);
            format!("servers[{s}] {by:+} {counted}")
        }
        9 => {
            let users = document.pointer_mut("/placement/users").unwrap().as_array_mut().unwrap();
            let i = dice.below(users.len() as u64) as usize;
            users[i]["tasks"] = plus(&users[i]["tasks"], 1);
            format!("users[{i}] one task more")
        }
        10 => {
            let user = document.pointer("/placement/users/0/id").unwrap().clone();
            document["users_without_tasks"] = json!([user]);
            "a user that can have tasks is said to have none".into()
        }
        _ => {
            let hash = document.pointer("/instance/sha256").unwrap().as_str().unwrap().to_string();
            let at = dice.below(hash.len() as u64) as usize;
            let other = if &hash[at..=at] == "0" { "1" } else { "0" };
            document["instance"]["sha256"] = json!(format!("{}{other}{}", &hash[..at], &hash[at + 1..]));
            "another hash".into()
        }
    }
}

/// Figure 4's first two users as kinds of one, two pieces of the first for each of the second, beside its third.
fn users_of_fig4_as_kinds() -> Instance {
    let mut draft = Draft::from(&drfh_fig4(&[1, 2, 3]).unwrap());
    let driver = draft.users.remove(1);
    let worker = &mut draft.users[0];
    let kind = |id: &str, each, demand: &[Decimal]| DraftKind {
        profile: None,
        id: id.into(),
        each,
        demand: demand.to_vec(),
        eligible: None,
    };
    worker.kinds = vec![kind("worker", 2, &worker.demand), kind("driver", 1, &driver.demand)];
    draft.build().unwrap()
}

#[test]
fn none_of_a_thousand_forged_brackets_is_accepted() {
    let plain = [&[1][..], &[1, 2], &[1, 2, 3], &[2, 3]].map(|users| drfh_fig4(users).unwrap());
    let instances: Vec<Instance> = plain.into_iter().chain([users_of_fig4_as_kinds()]).collect();
    let originals: Vec<Value> = instances.iter().map(document).collect();
    for (instance, original) in instances.iter().zip(&originals) {
        assert!(accepts(instance, original));
    }
    let mut dice = Dice::new(17);
    for k in 0..1_000 {
        let at = k % instances.len();
        let mut forged = originals[at].clone();
        let forgery = forge(&instances[at], &mut forged, &mut dice);
        assert!(!accepts(&instances[at], &forged), "forgery {k}, of instance {at}: {forgery}");
    }
}

#[test]
fn a_level_of_more_tasks_than_a_user_has_is_refused() {
    let mut draft = Draft::from(&drfh_fig4(&[1, 2]).unwrap());
    draft.users.iter_mut().for_each(|user| user.tasks = Some(2));
    let instance = draft.build().unwrap();
    let original = document(&instance);
    assert!(accepts(&instance, &original) && original["certificate"]["upper"]["tasks"] == 2, "{original}");
    for side in ["upper", "lower"] {
        let mut forged = original.clone();
        forged["certificate"][side]["tasks"] = json!(3);
        assert!(!accepts(&instance, &forged), "{side}");
    }
}

#[test]
fn a_bracket_that_was_stopped_at_once_is_still_proved() {
    let instance = drfh_fig4(&[1, 2, 3]).unwrap();
    let bracket = whole_task_bracket(&instance, &Deadline::after(Duration::ZERO)).unwrap();
    let claim = WholeTaskClaim { bracket: &bracket, stated: None };
    assert!(verify_whole_tasks(&instance, &claim, &Deadline::never()).iter().all(|verdict| verdict.holds));
    assert!(compare_breakpoints(&instance, bracket.lower.unwrap(), bracket.upper.unwrap()).is_le());
}
