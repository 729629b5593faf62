//! What needs a resource that the target does not count is not told as sure, and has no share by its rule.

use super::tests::{exported, fails_beside, json_of, solution};
use super::*;

/// An instance with one server, written by hand.
fn of_one_server(capacity: &str, users: &str) -> Instance {
    let names: serde_json::Map<String, serde_json::Value> = serde_json::from_str(capacity).unwrap();
    let resources = serde_json::to_string(&names.keys().collect::<Vec<_>>()).unwrap();
    let text = format!(
        r#"{{"format": "fairplan.instance.v1", "resources": {resources},
            "server_classes": [{{"id": "node", "count": 1, "capacity": {capacity}}}], "users": [{users}]}}"#
    );
    files::read_json(files::source::in_memory("it", text.into_bytes()).unwrap()).unwrap()
}

fn told(instance: &Instance, solved: &ResultFile, target: Target) -> (Export, Vec<(Option<f64>, bool)>) {
    let export = export(instance, solved, target, &ExportOptions::default(), &Control::none()).unwrap();
    let told = export.tenants.iter().map(|tenant| (tenant.kept, tenant.entitled.is_some())).collect();
    (export, told)
}

#[test]
fn what_others_may_take_uncounted_is_not_sure_and_has_no_share_by_the_rule() {
    for (target, device) in
        [(Target::Yarn, "gpu"), (Target::YarnFair, "gpu"), (Target::Slurm, "fpga"), (Target::Kai, "fpga")]
    {
        let memory = if target == Target::Kai { 1u64 << 30 } else { 1024 };
        let capacity = format!(r#"{{"cpu": 100, "memory": {}, "{device}": 4}}"#, 100 * memory);
        let user = |id: &str, devices: u64| {
            format!(r#"{{"id": "{id}", "demand": {{"cpu": 1, "memory": {memory}, "{device}": {devices}}}}}"#)
        };
        let users = [user("u", 1), user("v", 1), user("w", 0)].join(", ");
        let instance = of_one_server(&capacity, &users);
        let solved = solution(&instance);
        let (export, both) = told(&instance, &solved, target);
        assert_eq!(both[..2], [(Some(0.0), false), (Some(0.0), false)], "{target}: {both:?}");
        assert!(both[2].0 > Some(0.9) && both[2].1, "{target}: {both:?}");
        let title = target.title();
        let note = format!(
            "{title} counts no {device}: nobody is told what it gets of it, and the part of u and 1 more that needs it is not sure: others may take \
             all of it"
        );
        assert!(export.notes.contains(&note), "{:?}", export.notes);
        // A file that promises them something is refused.
        let nothing: [&str; 0] = [];
        assert_eq!(fails_beside(&instance, &solved, &json_of(export.body())), nothing, "{target}");
        let mut sure = export.body();
        sure.tenants[0].kept = Some(1.0);
        assert_eq!(fails_beside(&instance, &solved, &json_of(sure)), ["exported-kept"], "{target}");
        let mut entitled = export.body();
        entitled.tenants[0].entitled = Some(12.5);
        assert_eq!(fails_beside(&instance, &solved, &json_of(entitled)), ["exported-kept"], "{target}");
        // Whoever is the only one to ask for it has it.
        let alone = of_one_server(&capacity, &[user("u", 1), user("w", 0)].join(", "));
        let (_, both) = told(&alone, &solution(&alone), target);
        assert!(both.iter().all(|(kept, entitled)| *kept > Some(0.9) && *entitled), "{target}: {both:?}");
        // So have all where cores run out before.
        let plenty = of_one_server(&capacity.replace("4}", "100}"), &users);
        let (_, all) = told(&plenty, &solution(&plenty), target);
        assert!(all.iter().all(|(kept, entitled)| *kept > Some(0.9) && *entitled), "{target}: {all:?}");
    }
}

#[test]
fn a_target_that_counts_none_of_the_resources_is_refused_by_name() {
    let users = r#"{"id": "u", "demand": {"gpu": 1}}, {"id": "v", "demand": {"gpu": 1}}"#;
    let instance = of_one_server(r#"{"gpu": 100}"#, users);
    for target in [Target::Yarn, Target::YarnFair] {
        let refused = exported(&instance, target, &ExportOptions::default()).unwrap_err().to_string();
        let says = format!("resources = gpu: {} counts none of these resources", target.title());
        assert!(refused.contains(&says), "{refused}");
    }
    assert!(exported(&instance, Target::Kueue, &ExportOptions::default()).is_ok());
}

#[test]
fn minimum_amounts_without_an_amount_are_refused_as_the_scheduler_does() {
    let text = "<allocations><queue name=\"a\"><minResources></minResources></queue></allocations>";
    let refused = deployed_in(ConfigurationKind::YarnFair, "it", text).unwrap_err().to_string();
    assert!(refused.contains("minResources") && refused.contains("must be amounts"), "{refused}");
}
