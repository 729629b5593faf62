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
