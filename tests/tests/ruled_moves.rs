//! `plan move` where whole tasks meet rules: each step keeps limits a server, what is reached keeps gangs, domains and spread, and the
//! checker refuses steps that do not.

use crate::moves::file_of;
use crate::rules_of_whole_tasks::{broken, drawn, put, scattered, take};
use fairplan::{Control, MoveTarget, MovesBody, MovesOptions, ResultFile, moves, verify};
use fairplan_heuristics::place_along;
use fairplan_instances::{Deadline, Document, Instance, Placement, Random, ServerNames, ServerTasks};
use std::collections::BTreeSet;

/// Rules that a server keeps by itself.
const INSIDE: [&str; 4] = ["capacity", "devices", "eligibility", "per-server"];

/// What runs after the steps, made one by one; `None` if one cannot be made, or breaks a rule inside its server.
fn replayed(instance: &Instance, before: &Placement, plan: &MovesBody) -> Option<Vec<ServerTasks>> {
    let names = ServerNames::new(instance);
    let at = |name: &Option<String>| name.as_ref().map(|name| names.position(name).unwrap() as usize);
    let mut servers = before.servers.clone();
    for step in &plan.steps {
        let user = instance.users().position(|user| user.id() == step.user).unwrap() as u32;
        for _ in 0..step.tasks {
            if let Some(from) = at(&step.from) {
                servers[from].iter().find(|(other, _)| *other == user)?;
                take(&mut servers[from], user);
            }
            if let Some(to) = at(&step.to) {
                put(&mut servers[to], user);
            }
        }
        if broken(instance, &servers).iter().any(|rule| INSIDE.contains(rule)) {
            return None;
        }
    }
    Some(servers)
}

/// Some tasks that keep all rules, and no more.
fn partly(random: &mut Random, instance: &Instance) -> Placement {
    let along = scattered(random, instance);
    place_along(instance, &along, Some(&vec![0; instance.user_count()]), &Deadline::never()).unwrap()
}

/// The properties that fail of a plan.
fn refused(instance: &Instance, plan: &MovesBody) -> BTreeSet<String> {
    let bytes = serde_json::to_vec(&Document::new(plan.clone())).unwrap();
    let file = ResultFile::new("m.json".into(), bytes).unwrap();
    let verified = verify(instance, file, &Control::none()).unwrap();
    let failing = verified.verdicts.iter().filter(|verdict| !verdict.holds);
    failing.map(|verdict| verdict.property.to_string()).collect()
}

/// Plans for random clusters with rules; how many steps they have, how many tasks start, and how many changed plans broke a rule.
fn tried(cases: std::ops::Range<u64>) -> [u64; 3] {
    let mut sums = [0; 3];
    for case in cases {
        let mut random = Random::new(case, 26);
        let instance = drawn(&mut random, false);
        let before = partly(&mut random, &instance);
        let other = place_along(&instance, &scattered(&mut random, &instance), None, &Deadline::never());
        let target = match case % 3 {
            0 if instance.has_task_limits() => MoveTarget::Unplaced,
            1 => MoveTarget::Placement(file_of(&instance, &other.unwrap())),
            _ => MoveTarget::Level(0.25 * random.between(1, 4) as f64),
        };
        let options = MovesOptions { target, ..MovesOptions::new(file_of(&instance, &before)) };
        let plan = match moves(&instance, &options, &Control::none()) {
            Ok(plan) => plan,
            Err(error) => {
                assert!(error.to_string().contains("no user can have tasks"), "case {case}: {error}");
                continue;
            }
        };
        let servers = replayed(&instance, &before, &plan);
        let servers = servers.unwrap_or_else(|| panic!("case {case}: a step cannot be made: {plan:?}"));
        assert_eq!(broken(&instance, &servers), BTreeSet::new(), "case {case}: {plan:?}");
        assert_eq!(refused(&instance, &plan), BTreeSet::new(), "case {case}");
        assert!(plan.lower_bound <= plan.cost, "case {case}");
        sums[0] += plan.steps.len() as u64;
        sums[1] += plan.starts;
        for _ in 0..3 {
            let Some(at) = (!plan.steps.is_empty()).then(|| random.below(plan.steps.len() as u64) as usize)
            else {
                break;
            };
            let mut forged = plan.clone();
            match random.below(3) {
                0 => drop(forged.steps.remove(at)),
                1 if forged.steps[at].to.is_some() => {
                    let server = random.below(instance.server_count());
                    forged.steps[at].to = Some(ServerNames::new(&instance).name(server).into_owned());
                }
                _ => forged.steps[at].tasks += 1,
            }
            let is_broken = replayed(&instance, &before, &forged)
                .is_none_or(|servers| !broken(&instance, &servers).is_empty());
            if is_broken {
                assert_ne!(refused(&instance, &forged), BTreeSet::new(), "case {case}: {forged:?}");
                sums[2] += 1;
            }
        }
    }
    sums
}

#[test]
fn steps_keep_the_rules_and_changed_ones_are_refused() {
    let [steps, starts, forged] = tried(0..150);
    assert!(steps > 200 && starts > 200 && forged > 60, "{steps} steps, {starts} starts, {forged} forged");
}

#[test]
#[ignore = "a minute: twenty times as many"]
fn steps_of_many_plans_keep_the_rules_and_changed_ones_are_refused() {
    tried(1_000..4_000);
}
