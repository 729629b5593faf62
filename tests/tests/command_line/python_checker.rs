//! The second checker, in Python and from the mathematics alone, on what the command writes.

use super::{Folder, fixtures, text};
use crate::second_checker::second_checker;
use fairplan_instances::Objective;
use fairplan_tests::{
    random_draft, random_draft_with_task_rows, random_kinds_under_limits, random_kinds_under_quotas,
    random_kinds_under_quotas_of_classes, random_tree, random_tree_with_limits, random_tree_with_quotas,
    random_tree_with_quotas_of_classes, with_random_kinds,
};

/// What the checker says, or nothing where there is no Python.
fn check(folder: &Folder, solution: &str) -> Option<Result<String, String>> {
    second_checker(&folder.path("instance.json"), &folder.path(solution))
}

#[test]
#[ignore = "a minute"]
fn every_fixture_passes_with_every_backend_and_is_refused_when_changed() {
    for instance in fixtures() {
        let folder = Folder::new();
        folder.instance("instance.json", &instance);
        for backend in fairplan_tests::backend_names() {
            folder.done(&["solve", "instance.json", "--backend", backend, "-o", "solution.json"]);
            let Some(told) = check(&folder, "solution.json") else { return };
            assert!(told.is_ok(), "{backend}: {told:?}");
        }
        for objective in
            ["tsf", "drf", "drf-per-server", "bmf", "pf", "alpha=0.5", "alpha=2", "alpha=64", "utilitarian"]
        {
            if objective.parse::<Objective>().unwrap().applies_to(&instance).is_ok() {
                folder.done(&["solve", "instance.json", "--objective", objective, "-o", "other.json"]);
                let Some(told) = check(&folder, "other.json") else { return };
                assert!(told.is_ok(), "{objective}: {told:?}");
            }
        }
        let solution = folder.read("solution.json");
        let at = solution.find("\"dominant_share\": ").unwrap() + 18;
        let end = at + solution[at..].find(',').unwrap();
        for forged in ["0.987654321", "null"] {
            folder.write("forged.json", format!("{}{forged}{}", &solution[..at], &solution[end..]));
            let Some(told) = check(&folder, "forged.json") else { return };
            assert!(told.is_err(), "{forged}: {told:?}");
        }
    }
}

#[test]
#[ignore = "half a minute"]
fn random_trees_of_groups_pass_the_second_checker_too() {
    let mut checked = 0;
    for seed in 0..30 {
        let folder = Folder::new();
        folder.instance("instance.json", &random_tree(seed).build().unwrap());
        for objective in ["drfh", "tsf"] {
            folder.done(&["-q", "solve", "instance.json", "--objective", objective, "-o", "solution.json"]);
            let Some(told) = check(&folder, "solution.json") else { return };
            assert!(told.is_ok(), "seed {seed}, {objective}: {told:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 60);
}

#[test]
#[ignore = "half a minute"]
fn fractions_pass_the_second_checker_and_forged_ones_do_not() {
    let (mut checked, mut refused) = (0, 0);
    for seed in 0..16 {
        let folder = Folder::new();
        let draft = match seed % 4 {
            0 => random_draft(seed),
            1 => random_draft_with_task_rows(seed),
            2 => {
                let mut draft = with_random_kinds(random_draft(seed), seed);
                if seed % 8 == 2 {
                    draft.users.iter_mut().for_each(|user| user.tasks = None);
                }
                draft
            }
            _ => random_tree_with_limits(seed),
        };
        let instance = draft.build().unwrap();
        folder.instance("instance.json", &instance);
        for objective in ["drfh", "tsf", "drf", "drf-per-server"] {
            let words =
                ["-q", "solve", "instance.json", "--exact", "--objective", objective, "-o", "solution.json"];
            if !folder.run(&words).status.success() {
                continue;
            }
            let Some(told) = check(&folder, "solution.json") else { return };
            assert!(told.is_ok(), "seed {seed}, {objective}: {told:?}");
            checked += 1;
            if told.as_ref().is_ok_and(|told| !told.contains("fractions exact")) {
                assert!(instance.has_groups(), "seed {seed}, {objective}: {told:?}");
                continue;
            }
            // Off by far less than any tolerance.
            let mut forged: serde_json::Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
            let users = forged["users"].as_array_mut().unwrap().iter_mut();
            let mut fields = users.filter_map(|user| user.pointer_mut("/exact/tasks"));
            let Some(field) = fields.find(|text| *text != "0") else { continue };
            let stated = field.as_str().unwrap();
            let (above, below) = stated.split_once('/').unwrap_or((stated, "1"));
            let zeros = "0".repeat(29);
            *field = format!("{above}{zeros}1/{below}{zeros}0").into();
            folder.write("solution.json", forged.to_string());
            let Some(told) = check(&folder, "solution.json") else { return };
            assert!(told.is_err(), "seed {seed}, {objective}: {told:?}");
            refused += 1;
        }
    }
    assert!(checked >= 40 && refused >= 30, "{checked}, {refused}");
}

#[test]
fn fractions_of_limits_of_unlike_work_and_of_groups_in_a_pool_pass_the_second_checker() {
    let of_classes = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [
        {"id": "a", "count": 1, "capacity": {"cpu": 8}}, {"id": "b", "count": 1, "capacity": {"cpu": 3}}], USERS}"#;
    let users = [
        // A user's own limit.
        (r#""users": [{"id": "u", "demand": {"cpu": 1}, "limit": {"cpu": 2}}]"#, "drfh"),
        // The tasks of `u`, which do twice the work on `a`, all run, some of them on `b`: held by what `v` takes of `a`.
        (
            r#""users": [{"id": "v", "demand": {"cpu": 1}, "eligible": ["a"]},
                {"id": "u", "demand": {"cpu": 1}, "rates": {"a": 2}, "tasks": 4}]"#,
            "drfh",
        ),
        // A level that holds nobody but `u`, who has all its tasks where they do most.
        (
            r#""users": [{"id": "v", "demand": {"cpu": 1}}, {"id": "u", "demand": {"cpu": 1}, "rates": {"a": 2}, "tasks": 2}]"#,
            "drfh",
        ),
        (
            r#""groups": [{"id": "g"}], "users": [{"id": "u", "group": "g", "demand": {"cpu": 1}}, {"id": "v", "demand": {"cpu": 1}}]"#,
            "drf",
        ),
        // What one reserves whose task is too small for it.
        (
            r#""users": [{"id": "u", "demand": {"cpu": 1}, "reserve": {"cpu": 2}, "tasks": 1}, {"id": "v", "demand": {"cpu": 1}}]"#,
            "tsf",
        ),
    ];
    for (users, objective) in users {
        let folder = Folder::new();
        folder.write("instance.json", of_classes.replace("USERS", users));
        folder.done(&[
            "-q",
            "solve",
            "instance.json",
            "--exact",
            "--objective",
            objective,
            "-o",
            "solution.json",
        ]);
        let Some(told) = check(&folder, "solution.json") else { return };
        assert!(told.is_ok(), "{users}: {told:?}");
    }
}

#[test]
fn what_a_profile_takes_of_a_device_need_not_be_stated_to_the_second_checker() {
    let folder = Folder::new();
    let instance = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "gpu"],
        "server_classes": [{"id": "a", "count": 3, "capacity": {"cpu": 8, "gpu": 2}, "devices": {"gpu": 2}}],
        "device_profiles": {"gpu": {"slices": 4, "profiles": {"1g": {"slices": 1, "starts": [0, 1, 2, 3]}}}},
        "users": [{"id": "plain", "profile": "1g"},
                  {"id": "bundle", "kinds": [{"id": "w", "each": 2, "demand": {"cpu": 1}, "profile": "1g"},
                                             {"id": "d", "each": 1, "demand": {"cpu": 1}}]}]}"#;
    folder.write("instance.json", instance);
    folder.done(&["-q", "solve", "instance.json", "-o", "solution.json"]);
    let Some(told) = check(&folder, "solution.json") else { return };
    assert!(told.is_ok(), "{told:?}");
}

#[test]
#[ignore = "half a minute"]
fn users_with_kinds_pass_the_second_checker_too() {
    let mut checked = 0;
    for seed in 0..30 {
        let folder = Folder::new();
        let draft = if seed % 2 == 0 { random_tree(seed) } else { random_draft(seed) };
        let mut draft = with_random_kinds(draft, seed);
        if seed % 4 == 1 {
            draft.users.iter_mut().for_each(|user| user.tasks = None);
        }
        let instance = draft.build().unwrap();
        folder.instance("instance.json", &instance);
        for objective in ["drfh", "tsf", "drf", "drf-per-server", "pf", "alpha=2", "utilitarian"] {
            let applies = objective.parse::<Objective>().unwrap().applies_to(&instance).is_ok();
            let words = ["-q", "solve", "instance.json", "--objective", objective, "-o", "solution.json"];
            if !applies || !folder.run(&words).status.success() {
                assert!(!["drfh", "tsf"].contains(&objective), "seed {seed}");
                continue;
            }
            let Some(told) = check(&folder, "solution.json") else { return };
            assert!(told.is_ok(), "seed {seed}, {objective}: {told:?}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn random_limits_pass_the_second_checker_and_a_forged_price_of_one_does_not() {
    let mut refused = 0;
    for seed in 0..60 {
        let folder = Folder::new();
        let random = if seed < 30 { random_tree_with_limits } else { random_kinds_under_limits };
        // Some reserve more than there is.
        let Ok(instance) = random(seed).build() else { continue };
        folder.instance("instance.json", &instance);
        folder.done(&["-q", "solve", "instance.json", "-o", "solution.json"]);
        let Some(told) = check(&folder, "solution.json") else { return };
        assert!(told.is_ok(), "seed {seed}: {told:?}");
        let mut forged: serde_json::Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
        let levels = forged["certificate"]["levels"].as_array_mut().unwrap();
        // Where nobody can have anything, no price is needed.
        let levels = levels.iter_mut().filter(|level| level["value"].as_f64() > Some(0.0));
        // Without limits, which nobody with kinds may need, none are stated.
        let mut prices = levels.filter_map(|level| level.get_mut("limit_prices")?.as_array_mut()).flatten();
        let Some(price) = prices.find(|price| price.as_f64() > Some(0.0)) else { continue };
        *price = 0.0.into();
        folder.write("solution.json", forged.to_string());
        let Some(told) = check(&folder, "solution.json") else { return };
        assert!(told.is_err(), "seed {seed}: {told:?}");
        let verdict = folder.run(&["-q", "verify", "instance.json", "solution.json"]);
        assert_eq!(verdict.status.code(), Some(1), "seed {seed}");
        refused += 1;
    }
    assert!(refused > 20, "only {refused} prices of limits were forged");
}

#[test]
fn random_guarantees_and_reserves_pass_the_second_checker() {
    let (mut checked, mut of_groups, mut sums) = (0, 0, 0);
    // Two of three are refused: limits and reserves are drawn apart from what is guaranteed.
    for seed in 0..190 {
        let random = match seed {
            150.. => random_kinds_under_quotas_of_classes,
            110.. => random_kinds_under_quotas,
            _ if seed % 2 == 0 => random_tree_with_quotas,
            _ => random_tree_with_quotas_of_classes,
        };
        let draft = random(seed);
        let folder = Folder::new();
        let Ok(instance) = draft.build() else { continue };
        folder.instance("instance.json", &instance);
        let output = folder.run(&["-q", "solve", "instance.json", "-o", "solution.json"]);
        if !output.status.success() {
            // Guarantees that cannot be kept, or that are not defined.
            assert!(matches!(output.status.code(), Some(1 | 2)), "seed {seed}: {}", text(&output.stderr));
            continue;
        }
        let Some(told) = check(&folder, "solution.json") else { return };
        assert!(told.is_ok(), "seed {seed}: {told:?}");
        checked += 1;
        // Sums too, where members of groups have fixed parts.
        let objective = ["pf", "alpha=2", "utilitarian"][seed as usize % 3];
        let of_sum =
            folder.run(&["-q", "solve", "instance.json", "--objective", objective, "-o", "sum.json"]);
        if of_sum.status.success() {
            let Some(told) = check(&folder, "sum.json") else { return };
            assert!(told.is_ok(), "seed {seed}, {objective}: {told:?}");
            sums += 1;
        }
        of_groups += u64::from(folder.read("solution.json").contains("guaranteed_groups"));
    }
    assert!(checked > 30 && of_groups > 5 && sums > 5, "{checked}, {of_groups} by groups, {sums} sums");
}

#[test]
fn a_guarantee_changes_nobodys_part_of_a_group_in_a_sum_for_the_second_checker() {
    // The guarantee of x is all that it has, and y has as much: half of the group's.
    let text = r#"{"format": "fairplan.instance.v1", "resources": ["memory", "gpu"], "server_classes": [
        {"id": "a", "count": 1, "capacity": {"memory": 2, "gpu": 1}}, {"id": "b", "count": 1, "capacity": {"memory": 1, "gpu": 2}}],
        "groups": [{"id": "g"}], "users": [
        {"id": "x", "demand": {"memory": 2, "gpu": 1}, "group": "g", "eligible": ["a"], "guarantee": {"gpu": 1}},
        {"id": "y", "demand": {"memory": 1, "gpu": 2}, "group": "g", "eligible": ["b"]}]}"#;
    let folder = Folder::new();
    folder.write("instance.json", text);
    for objective in ["pf", "alpha=2", "utilitarian"] {
        folder.done(&["-q", "solve", "instance.json", "--objective", objective, "-o", "solution.json"]);
        let Some(told) = check(&folder, "solution.json") else { return };
        assert!(told.is_ok(), "{objective}: {told:?}");
        // Half as much for y would be what guarantees leave of a group of one: its part is still half.
        let solution = folder.read("solution.json");
        let stated: serde_json::Value = serde_json::from_str(&solution).unwrap();
        let tasks = stated["users"][1]["tasks"].as_f64().unwrap();
        let mut forged = stated;
        for (field, value) in [("tasks", tasks / 2.0), ("dominant_share", tasks / 3.0)] {
            forged["users"][1][field] = value.into();
        }
        forged["users"][1]["placement"][0]["tasks"] = (tasks / 2.0).into();
        folder.write("forged.json", forged.to_string());
        let Some(told) = check(&folder, "forged.json") else { return };
        assert!(told.is_err(), "{objective}: {told:?}");
    }
}
