//! Users side by side, without kinds, groups and quotas, are solved to the byte as if nobody had ever heard of these: what says nothing
//! of them changes no bit of a solution, and what says the same in other words no share.

use crate::conformance::backends;
use crate::solving::shares_of;
use fairplan_instances::files::{read_instance, write_json};
use fairplan_instances::{Instance, NewGroup, Objective, Solution, generate};
use fairplan_tests::{decimal, random_draft};
use serde_json::{Value, json};
use std::io::Write;

const OBJECTIVES: [&str; 8] = ["drfh", "tsf", "drf", "drf-per-server", "bmf", "pf", "alpha=2", "utilitarian"];

fn read(text: &Value) -> Instance {
    let mut file = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    file.write_all(text.to_string().as_bytes()).unwrap();
    read_instance(file.path().to_str().unwrap()).unwrap()
}

/// A solution without the time that it took.
fn solved(instance: &Instance, objective: &str) -> Option<Solution> {
    let objective: Objective = objective.parse().unwrap();
    let mut solution = backends()[0].solve(instance, objective).ok()?;
    solution.statistics.seconds = 0.0;
    Some(solution)
}

/// The instances and what they are in JSON, which states no kinds, groups and quotas.
fn flat() -> impl Iterator<Item = (Instance, Value)> {
    let papers = [generate::drfh_fig1(), generate::drfh_fig4(&[1, 2, 3])].map(Result::unwrap);
    let random = (0..60).filter_map(|seed| random_draft(seed).build().ok());
    papers.into_iter().chain(random).map(|instance| {
        let mut text = Vec::new();
        write_json(&instance, &mut text).unwrap();
        let stated: Value = serde_json::from_slice(&text).unwrap();
        assert!(stated.get("groups").is_none() && !stated.to_string().contains("kinds"));
        (instance, stated)
    })
}

#[test]
fn kinds_groups_and_quotas_that_say_nothing_change_no_bit_of_a_solution() {
    let mut compared = 0;
    for (instance, mut stated) in flat() {
        stated["groups"] = json!([]);
        for user in stated["users"].as_array_mut().unwrap() {
            for nothing in ["limit", "guarantee", "reserve"] {
                user[nothing] = json!({});
            }
            // One piece of one kind is the user.
            let user = user.as_object_mut().unwrap();
            if !user.contains_key("rates") {
                let mut kind = json!({"id": "only", "each": 1, "demand": user.remove("demand").unwrap()});
                if let Some(eligible) = user.remove("eligible") {
                    kind["eligible"] = eligible;
                }
                user.insert("kinds".into(), json!([kind]));
            }
        }
        let told = read(&stated);
        for objective in OBJECTIVES {
            let plain = solved(&instance, objective);
            assert_eq!(plain, solved(&told, objective), "{objective} of {stated}");
            compared += usize::from(plain.is_some());
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn users_each_alone_in_a_group_of_their_weight_have_the_shares_of_users_side_by_side() {
    for (instance, _) in flat() {
        let mut draft = fairplan_instances::Draft::from(&instance);
        let alone = |(i, user): (usize, &fairplan_instances::DraftUser)| NewGroup {
            id: format!("alone-{i}"),
            weight: user.weight,
            parent: None,
        };
        draft.groups = draft.users.iter().enumerate().map(alone).collect();
        for (i, user) in draft.users.iter_mut().enumerate() {
            (user.group, user.weight) = (Some(i), decimal("1"));
        }
        let grouped = draft.build().unwrap();
        for objective in ["drfh", "drf"] {
            let (Some(flat), Some(grouped_solution)) =
                (solved(&instance, objective), solved(&grouped, objective))
            else {
                continue;
            };
            let pairs = shares_of(&instance, &flat).into_iter().zip(shares_of(&grouped, &grouped_solution));
            for (one, other) in pairs {
                assert!(
                    (one - other).abs() <= 1e-8 * one.max(1e-3),
                    "{objective}: {one}, in a group {other}"
                );
            }
        }
    }
}
