//! A headroom takes of the answer what it keeps free: that is not sure, and no rule gives it.

use super::tests::exported;
use super::*;

/// Servers of one class, of 8 cores and 8 GiB together, and users who would take all of it.
fn of_eight_cores(servers: u64, users: &[&str], memory: u64) -> Instance {
    let users: Vec<String> = users
        .iter()
        .map(|id| format!(r#"{{"id": "{id}", "demand": {{"cpu": 1, "memory": {memory}}}}}"#))
        .collect();
    let text = format!(
        r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"], "server_classes": [{{"id": "n", "count": {servers},
            "capacity": {{"cpu": {}, "memory": {}}}}}], "users": [{}]}}"#,
        8 / servers,
        8 / servers * memory,
        users.join(", ")
    );
    files::read_json(files::source::in_memory("it", text.into_bytes()).unwrap()).unwrap()
}

fn with_headroom(instance: &Instance, target: Target, headroom: &str, hard: bool) -> Export {
    let headroom = headroom.parse().unwrap();
    exported(instance, target, &ExportOptions { headroom, hard, ..ExportOptions::default() }).unwrap()
}

fn memory_of(target: Target) -> u64 {
    if target.is_kubernetes() { 1 << 30 } else { 1024 }
}

#[test]
fn what_the_headroom_takes_of_the_answer_is_not_kept() {
    for target in Target::ALL {
        for (headroom, left) in [("0.5", 0.5), ("0.25", 0.75), ("0", 1.0)] {
            for (users, servers) in [(&["a"][..], 2), (&["a", "b"][..], 1)] {
                let instance = of_eight_cores(servers, users, memory_of(target));
                for hard in [false, true] {
                    for tenant in with_headroom(&instance, target, headroom, hard).tenants {
                        let kept = tenant.kept.unwrap();
                        assert!((kept - left).abs() < 1e-9, "{target} {headroom} {servers}: {kept}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_rule_gives_what_slurms_account_above_all_keeps_free() {
    for (users, headroom, each) in
        [(&["a"][..], "0.5", 0.5), (&["a", "b"][..], "0.5", 0.25), (&["a", "b"][..], "0", 0.5)]
    {
        let instance = of_eight_cores(2, users, 1024);
        let soft = with_headroom(&instance, Target::Slurm, headroom, false);
        for tenant in &soft.tenants {
            let by_rule = tenant.entitled.unwrap();
            assert!((by_rule - each).abs() < GAINED, "{headroom}: {by_rule}");
        }
    }
}

#[test]
fn another_headroom_of_slurm_is_a_change() {
    let instance = of_eight_cores(2, &["a"], 1024);
    let [half, none] = ["0.5", "0"].map(|part| with_headroom(&instance, Target::Slurm, part, true));
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = [file.path().display().to_string()];
    let told = |export: &Export, deployed: &Export| {
        std::fs::write(file.path(), deployed.text()).unwrap();
        let changes = export_changes(export, &path).unwrap();
        let of_root = changes.changes.into_iter().filter(|change| change.queue == "root");
        of_root.map(|change| (change.what, change.before, change.after)).collect::<Vec<_>>()
    };
    let said = |text: &str| Some(text.to_owned());
    let expected = [("most cpu", None, said("4")), ("most mem", None, said("4Gi"))];
    let expected = expected.map(|(what, before, after)| (what.to_owned(), before, after));
    assert_eq!(told(&half, &none), expected);
    assert_eq!(told(&half, &half), []);
    // What keeps nobody from anything is not told.
    assert_eq!(told(&none, &none), []);
}
