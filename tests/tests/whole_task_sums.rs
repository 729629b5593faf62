//! The bracket of the sum of logarithms of whole tasks: against trying everything, against divisible tasks, against
//! forgeries.

use super::whole_tasks::{with_kinds, with_profiles, with_server_rules, with_tiny_tasks};
use fairplan_instances::Headline;
use fairplan_instances::generate::drfh_fig4;
use fairplan_instances::{Deadline, Draft, Instance, Objective, ProportionalBracket, files::sha256_hex};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_report::proportional_bound::{
    ProportionalBoundDocument, StatedProportionalBracket, proportional_bound_document,
};
use fairplan_report::{read_json, write_json};
use fairplan_solver::{backend, proportional_bracket};
use fairplan_tests::{Dice, best_whole_sum, decimal, random_draft_without_rates, with_random_profiles};
use fairplan_verify::{ProportionalClaim, verify_proportional};
use serde_json::{Value, json};
use std::time::Duration;

fn bracket(instance: &Instance) -> ProportionalBracket {
    let bracket = proportional_bracket(instance, &Deadline::never()).unwrap();
    assert_proved(instance, &bracket);
    bracket
}

fn assert_proved(instance: &Instance, bracket: &ProportionalBracket) {
    let claim = ProportionalClaim { bracket, proved_optimal: None };
    let failed: Vec<_> = verify_proportional(instance, &claim, &Deadline::never())
        .into_iter()
        .filter(|verdict| !verdict.holds)
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// How many of `count` brackets are as good as closed, all of which must contain the best of whole tasks.
fn contained(count: u64, draft: impl Fn(u64) -> Draft) -> u64 {
    let (mut closed, mut tried, mut seed) = (0, 0, 0);
    while tried < count {
        seed += 1;
        let Ok(instance) = draft(seed).build() else { continue };
        let Some(best) = best_whole_sum(&instance, 3_000) else { continue };
        tried += 1;
        let bracket = bracket(&instance);
        let upper = bracket.upper.unwrap();
        let slack = 1e-9 * (1.0 + best.abs());
        assert!(best <= upper + slack, "seed {seed}: {upper} is proved, {best} exists");
        let Some(lower) = bracket.lower else { continue };
        assert!(lower <= best + slack, "seed {seed}: {lower} is placed, {best} is the best");
        closed += u64::from(lower >= best - slack);
    }
    closed
}

#[test]
fn three_hundred_small_brackets_contain_the_largest_sum_and_most_placements_reach_it() {
    let closed = contained(300, random_draft_without_rates);
    println!("{closed} of 300 placements are the best");
    assert!(closed >= 200, "only {closed} of 300 placements have the largest sum");
}

#[test]
fn two_hundred_brackets_of_tiny_beside_large_tasks_contain_the_largest_sum() {
    println!("{} of 200 placements are the best", contained(200, with_tiny_tasks));
}

#[test]
fn two_hundred_brackets_under_rules_inside_servers_contain_the_largest_sum_and_most_placements_reach_it() {
    let closed = contained(200, with_server_rules);
    println!("{closed} of 200 placements are the best");
    assert!(closed >= 130, "only {closed} of 200 placements have the largest sum");
}

#[test]
fn a_hundred_brackets_with_profiles_of_devices_contain_the_largest_sum_and_most_placements_reach_it() {
    let closed = contained(100, with_profiles);
    println!("{closed} of 100 placements are the best");
    assert!(closed >= 65, "only {closed} of 100 placements have the largest sum");
}

#[test]
fn two_hundred_brackets_of_users_with_kinds_contain_the_largest_sum_and_most_placements_reach_it() {
    let closed = contained(150, with_kinds);
    let cut = contained(50, |seed| with_random_profiles(with_kinds(seed), seed));
    println!("{closed} of 150 placements are the best, {cut} of 50 with profiles of devices");
    assert!(closed >= 100 && cut >= 30, "only {closed} of 150 and {cut} of 50 have the largest sum");
}

#[test]
#[ignore = "half a minute"]
fn two_thousand_brackets_of_users_with_kinds_contain_the_largest_sum() {
    println!("{} of 2000 placements are the best", contained(2_000, with_kinds));
}

#[test]
#[ignore = "half a minute"]
fn a_thousand_brackets_under_rules_inside_servers_contain_the_largest_sum() {
    println!("{} of 1000 placements are the best", contained(1_000, with_server_rules));
}

#[test]
fn the_sum_of_whole_tasks_is_no_more_than_that_of_divisible_ones() {
    for users in [&[1][..], &[1, 2], &[1, 2, 3], &[2, 3]] {
        let instance = drfh_fig4(users).unwrap();
        let solution = backend("auto").unwrap().solve(&instance, Objective::ProportionalFairness).unwrap();
        let divisible = Headline::new(&instance, &solution).bound;
        let bracket = bracket(&instance);
        let (upper, lower) = (bracket.upper.unwrap(), bracket.lower.unwrap());
        assert!(upper <= divisible, "{users:?}: {upper}, divisible {}", divisible);
        assert!((upper - lower) / users.len() as f64 <= 2e-3, "{users:?}: {lower} to {upper}");
    }
}

#[test]
fn a_search_of_logarithms_that_was_stopped_at_once_is_still_proved() {
    let instance = drfh_fig4(&[1, 2, 3]).unwrap();
    let bracket = proportional_bracket(&instance, &Deadline::after(Duration::ZERO)).unwrap();
    assert_proved(&instance, &bracket);
    assert!(bracket.lower.is_none_or(|lower| lower <= bracket.upper.unwrap()));
}

#[test]
fn where_not_everybody_can_have_a_task_there_is_a_bound_and_no_lower_one() {
    let mut draft = Draft::from(&drfh_fig4(&[1, 2, 3]).unwrap());
    draft.classes.truncate(1);
    draft.classes[0].count = 1;
    draft.users.iter_mut().for_each(|user| user.demand = draft.classes[0].capacity.clone());
    let bracket = bracket(&draft.build().unwrap());
    assert!(bracket.without_tasks.is_empty() && bracket.lower.is_none());
    assert!(bracket.upper.unwrap().is_finite());
}

#[test]
fn users_without_tasks_are_in_no_sum() {
    let mut draft = Draft::from(&drfh_fig4(&[1, 2]).unwrap());
    draft.users[0].demand = vec![decimal("0.6"), decimal("0.9")];
    draft.classes.retain(|class| class.capacity[0] != decimal("1"));
    let instance = draft.clone().build().unwrap();
    let with = bracket(&instance);
    assert_eq!((with.without_tasks.len(), with.placement.tasks[0]), (1, 0));
    draft.users.remove(0);
    let without = bracket(&draft.build().unwrap());
    assert!((with.upper.unwrap() - without.upper.unwrap()).abs() < 1e-9);
    assert!((with.lower.unwrap() - without.lower.unwrap()).abs() < 1e-9);
}

fn document(instance: &Instance) -> Value {
    let bracket = bracket(instance);
    let mut file = Vec::new();
    let sha256 = sha256_hex(instance);
    let solution = backend("auto").unwrap().solve(instance, Objective::ProportionalFairness).unwrap();
    let divisible = bracket.without_tasks.is_empty().then(|| DivisibleBound::new(instance, &solution, None));
    let document = proportional_bound_document(instance, &sha256, divisible.as_ref(), &bracket);
    write_json(&mut file, &document).unwrap();
    serde_json::from_slice(&file).unwrap()
}

fn accepts(instance: &Instance, document: &Value) -> bool {
    let bytes = serde_json::to_vec(document).unwrap();
    let Ok(document) = read_json::<ProportionalBoundDocument>("bound.json", &bytes) else { return false };
    StatedProportionalBracket::new(&document, instance, &sha256_hex(instance))
        .is_ok_and(|stated| stated.verdicts(instance).iter().all(|verdict| verdict.holds))
}

/// Makes the document say something that is not so; returns what.
fn forge(document: &mut Value, dice: &mut Dice) -> String {
    let list = |document: &mut Value, name: &str, dice: &mut Dice, change: &dyn Fn(u64) -> u64| {
        let values = document["certificate"][name].as_array_mut().unwrap();
        // Values of nearly nothing are a margin: without it the claim may be just as true.
        let counts = |value: &Value| value.as_u64().unwrap() > 1_000_000;
        let above: Vec<usize> = (0..values.len()).filter(|i| counts(&values[*i])).collect();
        let at = dice.pick(&above);
        values[at] = json!(change(values[at].as_u64().unwrap()));
        format!("{name}[{at}]")
    };
    match dice.below(9) {
        0 => {
            let name = dice.pick(&["integral_upper", "integral_lower", "gap_per_weight"]);
            let by = dice.pick(&[-0.5, -1e-3, -1e-6, 1e-6, 1e-3, 0.5]);
            document[name] = json!(document[name].as_f64().unwrap() + by);
            format!("{name} {by:+}")
        }
        1 => {
            document["proved_optimal"] = json!(!document["proved_optimal"].as_bool().unwrap());
            "proved_optimal turned round".into()
        }
        2 => list(document, "task_values", dice, &|value| value / 2) + " halved",
        3 => list(document, "task_values", dice, &|value| value * 3) + " tripled",
        4 => list(document, "server_values", dice, &|value| value - value / 8 - 1) + " an eighth less",
        5 => list(document, "server_values", dice, &|value| value + value / 8 + 1) + " an eighth more",
        6 => {
            let units = document["certificate"]["values_per_log"].as_u64().unwrap();
            // By less than one task of many the best numbers of tasks stay: where the sides meet, that proves the same.
            let units = dice.pick(&[0, units / 2, units - units / 10, units + units / 10, units * 3]);
            document["certificate"]["values_per_log"] = json!(units);
            format!("values_per_log = {units}")
        }
        7 => {
            let user = document.pointer("/placement/users/0/id").unwrap().clone();
            document["users_without_tasks"] = json!([user]);
            "a user that can have tasks is said to have none".into()
        }
        _ => {
            let tasks = document.pointer_mut("/placement/users/0/tasks").unwrap();
            *tasks = json!(tasks.as_u64().unwrap() + 1);
            "one task more".into()
        }
    }
}

#[test]
fn none_of_a_thousand_forged_brackets_of_sums_is_accepted() {
    // A user that is alone is bounded by what servers hold of it, whatever its tasks are said to be worth.
    let instances = [&[1, 2][..], &[1, 2, 3], &[2, 3]].map(|users| drfh_fig4(users).unwrap());
    let originals = instances.each_ref().map(document);
    for (instance, original) in instances.iter().zip(&originals) {
        assert!(accepts(instance, original));
    }
    let mut dice = Dice::new(19);
    for k in 0..1_000 {
        let at = k % instances.len();
        let mut forged = originals[at].clone();
        let forgery = forge(&mut forged, &mut dice);
        assert!(!accepts(&instances[at], &forged), "forgery {k}, of instance {at}: {forgery}");
    }
}
