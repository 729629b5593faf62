//! A thousand corrupted solution files: none is accepted by what `verify` does.

use fairplan_instances::Headline;
use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, drfh_fig1, drfh_fig4, google, population,
};
use fairplan_instances::{Instance, Objective, files::sha256_hex};
use fairplan_report::solution::{SolutionDocument, StatedSolution, solution_document};
use fairplan_report::{read_json, write_json};
use fairplan_solver::backend;
use fairplan_tests::{Dice, Draft, DraftUser};
use serde_json::Value;

/// What `verify` does with the two files.
fn accepts(instance: &Instance, result: &[u8]) -> bool {
    let Ok(document) = read_json::<SolutionDocument>("solution.json", result) else { return false };
    StatedSolution::new(&document, instance, &sha256_hex(instance))
        .is_ok_and(|stated| stated.proof(instance).holds())
}

fn solution_file(instance: &Instance, objective: Objective) -> Vec<u8> {
    let solution = backend("auto").unwrap().solve(instance, objective).unwrap();
    let headline = Headline::new(instance, &solution);
    let sha256 = sha256_hex(instance);
    let mut file = Vec::new();
    write_json(&mut file, &solution_document(instance, &solution, &headline, &sha256, false)).unwrap();
    file
}

fn instances() -> [Instance; 5] {
    let random = Cluster::Random { classes: 4, resources: 3 };
    let weighted = PopulationOptions { kind: PopulationKind::Weighted, users: 20, cluster: random, seed: 2 };
    let finite = GoogleOptions { servers: Some(60), users: Some(12), finite: true, ..Default::default() };
    [
        drfh_fig1().unwrap(),
        drfh_fig4(&[1, 2, 3]).unwrap(),
        google(&GoogleOptions { users: Some(30), ..Default::default() }).unwrap(),
        google(&finite).unwrap(),
        population(&weighted).unwrap(),
    ]
}

/// The paths of all values in the document that `wanted` says, except those that decide nothing.
fn paths(document: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    fn walk(value: &Value, path: String, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Array(items) => {
                for (k, item) in items.iter().enumerate() {
                    walk(item, format!("{path}/{k}"), found);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    walk(field, format!("{path}/{name}"), found);
                }
            }
            _ => {}
        }
        found.push((path, value.clone()));
    }
    let mut found = Vec::new();
    walk(document, String::new(), &mut found);
    let decides_nothing = ["/stats", "/fairplan_version", "/backend", "/method", "/instance/warnings"];
    found.retain(|(path, value)| {
        !path.is_empty() && !decides_nothing.iter().any(|start| path.starts_with(start)) && wanted(value)
    });
    found.into_iter().map(|(path, _)| path).collect()
}

/// A changed file, and what was done to it.
fn corrupt(dice: &mut Dice, file: &[u8], kind: u64) -> (Vec<u8>, String) {
    let mut document: Value = serde_json::from_slice(file).unwrap();
    let users = document["users"].as_array().unwrap().len();
    // What a document lacks cannot be corrupted: something else is.
    let kind = match kind {
        8 if document["users"][0]["placement"].is_null() => 0,
        9 | 10 if document["certificate"]["levels"].is_null() => 1,
        kind => kind,
    };
    let mut pick = |paths: Vec<String>| paths[dice.below(paths.len() as u64) as usize].clone();
    let done = match kind {
        0..=2 => {
            let path = pick(paths(&document, |value| value.is_f64()));
            let number = document.pointer_mut(&path).unwrap();
            let old = number.as_f64().unwrap();
            *number = match kind {
                0 => Value::from(old * 1.001 + 1e-3),
                1 => Value::from(-old - 1e-6),
                _ => Value::Null,
            };
            format!("{path}: {old} became {number}")
        }
        3 => {
            let path = pick(paths(&document, |value| value.is_string()));
            *document.pointer_mut(&path).unwrap() = Value::from("someone");
            format!("{path} renamed")
        }
        4 | 5 => {
            // A hair of a user's tasks more or less changes nothing.
            let counts = |item: &Value| item["tasks"].as_f64().is_none_or(|tasks| tasks > 1e-6);
            let list = |value: &Value| value.as_array().is_some_and(|a| a.len() > 1 && a.iter().all(counts));
            let path = pick(paths(&document, list));
            let list = document.pointer_mut(&path).unwrap().as_array_mut().unwrap();
            let k = dice.below(list.len() as u64 - 1) as usize;
            if kind == 4 {
                list.remove(k);
                format!("{path}/{k} removed")
            } else {
                let copy = list[k].clone();
                list.push(copy);
                format!("{path}/{k} doubled")
            }
        }
        6 => {
            let path = pick(paths(&document, |value| value.as_object().is_some_and(|o| !o.is_empty())));
            let fields = document.pointer_mut(&path).unwrap().as_object_mut().unwrap();
            let name = fields.keys().next().unwrap().clone();
            fields.remove(&name);
            format!("{path}/{name} removed")
        }
        7 | 8 => {
            let (a, b) = (dice.below(users as u64) as usize, dice.below(users as u64 - 1) as usize);
            let b = if b >= a { b + 1 } else { b };
            let field = if kind == 7 { "id" } else { "placement" };
            let (first, second) = (document["users"][a][field].clone(), document["users"][b][field].clone());
            document["users"][a][field] = second;
            document["users"][b][field] = first;
            format!("{field} of users {a} and {b} swapped")
        }
        9 => {
            let level = &mut document["users"][dice.below(users as u64) as usize]["level"];
            *level = Value::from(level.as_u64().unwrap() + 1);
            "a level raised".into()
        }
        10 => {
            for level in document["certificate"]["levels"].as_array_mut().unwrap() {
                level["bound"] = Value::from(level["bound"].as_f64().unwrap() * (1.0 - 1e-7));
            }
            "bounds lowered".into()
        }
        11 => {
            let hash = document["instance"]["sha256"].as_str().unwrap().to_owned();
            let digit = if hash.starts_with('0') { "1" } else { "0" };
            document["instance"]["sha256"] = Value::from(format!("{digit}{}", &hash[1..]));
            "another instance's hash".into()
        }
        _ => {
            let length = dice.below(file.len() as u64 - 2) as usize;
            return (file[..length].to_vec(), format!("truncated to {length} bytes"));
        }
    };
    (serde_json::to_vec(&document).unwrap(), done)
}

/// None of the corrupted results of these is accepted.
fn are_refused(dice: &mut Dice, instance: &Instance, objective: Objective, cases: u64) {
    let file = solution_file(instance, objective);
    let reordered: Value = serde_json::from_slice(&file).unwrap();
    assert!(accepts(instance, &file) && accepts(instance, &serde_json::to_vec(&reordered).unwrap()));
    for case in 0..cases {
        let (corrupted, done) = corrupt(dice, &file, case % 13);
        // Users of the same demand have the same placement: swapping those changes nothing.
        if serde_json::from_slice::<Value>(&corrupted).is_ok_and(|same| same == reordered) {
            continue;
        }
        assert!(!accepts(instance, &corrupted), "{objective} of {instance:?}: {done} is accepted");
    }
}

#[test]
fn not_one_of_a_thousand_corrupted_files_is_accepted() {
    let mut dice = Dice::new(77);
    for instance in instances() {
        are_refused(&mut dice, &instance, Objective::Drfh, 234);
    }
}

#[test]
#[ignore = "half a minute"]
fn not_one_corrupted_file_of_another_objective_is_accepted() {
    let mut dice = Dice::new(78);
    for objective in [
        Objective::TaskShareFairness,
        Objective::DrfPooled,
        Objective::DrfPerServer,
        Objective::BottleneckMaxFairness,
        Objective::ProportionalFairness,
        Objective::alpha_fair(2.0).unwrap(),
        Objective::Utilitarian,
    ] {
        for instance in instances().iter().filter(|instance| objective.applies_to(instance).is_ok()) {
            are_refused(&mut dice, instance, objective, 130);
        }
    }
}

#[test]
fn a_result_is_not_taken_for_one_of_another_objective() {
    // A user more, so that no two objectives mean the same allocation.
    let mut draft = Draft::from(&drfh_fig1().unwrap());
    draft.users.push(DraftUser { id: "user-3".into(), ..draft.users[0].clone() });
    let instance = draft.build().unwrap();
    let objectives = [
        Objective::Drfh,
        Objective::TaskShareFairness,
        Objective::DrfPooled,
        Objective::DrfPerServer,
        Objective::BottleneckMaxFairness,
        Objective::ProportionalFairness,
        Objective::alpha_fair(2.0).unwrap(),
        Objective::Utilitarian,
    ];
    for objective in objectives {
        let file = String::from_utf8(solution_file(&instance, objective)).unwrap();
        for other in objectives.iter().filter(|other| **other != objective) {
            let stated = |name: &Objective| format!("\"objective\": \"{name}\"");
            let renamed = file.replacen(&stated(&objective), &stated(other), 1);
            assert_ne!(renamed, file);
            assert!(!accepts(&instance, renamed.as_bytes()), "{objective} passes for {other}");
        }
    }
}
