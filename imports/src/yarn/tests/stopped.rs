//! Queues that are stopped, and those above them.

use super::*;

const TREE: [(&str, &str); 7] = [
    ("root.queues", "a,b"),
    ("root.a.capacity", "40"),
    ("root.b.capacity", "60"),
    ("root.a.queues", "c,d"),
    ("root.a.c.capacity", "50"),
    ("root.a.d.capacity", "50"),
    ("root.a.d.maximum-capacity", "90"),
];

#[test]
fn a_queue_whose_children_are_all_stopped_has_no_tasks_of_its_own() {
    let stopped = [("root.a.c.state", "STOPPED"), ("root.a.d.state", "stopped")];
    let (found, report) = with_properties(&[&TREE[..], &stopped].concat()).unwrap();
    assert!(matches!(&found[..], [only] if only.starts_with("root.b ")), "{found:?}");
    let told = report.to_string();
    assert!(told.contains("2 queues left out: stopped: root.a.c, root.a.d\n"), "{told}");
    assert!(told.contains("1 group left out: nobody is left below: root.a\n"), "{told}");
}

#[test]
fn a_stopped_queue_counts_with_all_below_it() {
    let (found, report) = with_properties(&[&TREE[..], &[("root.a.state", "STOPPED")]].concat()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(report.count("queues left out: stopped"), 3, "{report}");
}

#[test]
fn where_all_queues_are_stopped_none_is_said_to_be_missing() {
    let each = [("root.a.state", "STOPPED"), ("root.b.state", "STOPPED")];
    for stopped in [&each[..], &[("root.state", "STOPPED")]] {
        let folder = tempfile::tempdir().unwrap();
        let queues = folder.path().join("capacity-scheduler.xml").to_str().unwrap().to_owned();
        let property = |(name, value): &(&str, &str)| {
            format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
        };
        let text: String = TREE.iter().chain(stopped).map(property).collect();
        std::fs::write(&queues, format!("<configuration>{text}</configuration>")).unwrap();
        let failure = yarn(&YarnOptions { queues, ..options("") }).unwrap_err();
        assert!(failure.to_string().contains("no queue is left that anything can run in"), "{failure}");
        assert_eq!(failure.report.count("queues left out: stopped"), 4, "{}", failure.report);
    }
}
