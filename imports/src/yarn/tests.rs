//! The shipped cluster under both schedulers, the load simulator's real node list, and what is refused.

use super::*;
use crate::defects::each_is_named;
use crate::real_files::real_file;

fn shipped(name: &str) -> String {
    format!("{}/data/yarn/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options(queues: &str) -> YarnOptions {
    YarnOptions { nodes: vec![shipped("nodes.json")], queues: shipped(queues), tree: false }
}

fn users(instance: &Instance) -> Vec<String> {
    let most = |tasks: Option<u64>| tasks.map_or("any".to_owned(), |tasks| tasks.to_string());
    instance
        .users()
        .map(|user| format!("{} weight {} x{}", user.id(), user.weight(), most(user.tasks())))
        .collect()
}

#[test]
fn the_fair_scheduler_weighs_down_the_tree_and_limits_by_the_tightest_maximum() {
    let (instance, report) = yarn(&options("fair-scheduler.xml")).unwrap();
    let classes: Vec<_> = instance.classes().iter().map(|class| (class.id.as_str(), class.count)).collect();
    assert_eq!(classes, [("memory64Gi-vcores16", 2), ("n3", 1)]);
    // The cluster has 262144 MiB and 40 vcores.
    assert_eq!(
        users(&instance),
        [
            "root.production.etl weight 0.5 x250",
            "root.production.reports weight 0.25 x500",
            // Of a cluster in 2000 parts, so that the maximum holds a hundred.
            "root.research.alice weight 0.125 x156",
            "root.research.bob & co weight 0.125 x300",
        ]
    );
    for (count, what) in [
        (1, "nodes left out: lost"),
        (1, "queues have a minimum, which an instance cannot state"),
        (
            1,
            "queue whose minResources are above its maxResources, which count: root.research.alice, memory 32768 > 20480",
        ),
        (1, "queues with the scheduling policy fair (taken as drf)"),
        (4, "queues at the leaves"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
}

#[test]
fn the_tree_of_queues_is_kept_as_groups_with_their_own_weights() {
    let (instance, _) = yarn(&YarnOptions { tree: true, ..options("fair-scheduler.xml") }).unwrap();
    let groups: Vec<_> = instance.groups().iter().map(|group| (&*group.id, group.weight.to_f64())).collect();
    // The root above all is none: everybody is in it.
    assert_eq!(groups, [("root.production", 3.0), ("root.research", 1.0)]);
    assert_eq!(
        users(&instance),
        [
            "root.production.etl weight 2 x250",
            "root.production.reports weight 1 x500",
            "root.research.alice weight 1 x156",
            "root.research.bob & co weight 1 x300",
        ]
    );
    let of: Vec<_> = instance.users().filter_map(|user| user.group()).map(|group| group.0).collect();
    assert_eq!(of, [0, 0, 1, 1]);
}

#[test]
fn the_capacity_scheduler_takes_percentages_weights_and_maxima_of_the_queue_above() {
    let (instance, report) = yarn(&options("capacity-scheduler.xml")).unwrap();
    assert_eq!(
        users(&instance),
        [
            "root.production weight 0.75 xany",
            "root.research.alice weight 0.1875 x500",
            "root.research.bob weight 0.0625 x200",
        ]
    );
    assert_eq!(report.count("queues left out: stopped"), 1);
    let common = "queues whose limits are taken for each queue below them, since an instance cannot state a common limit";
    assert_eq!(report.count(common), 1, "{report}");
}

#[test]
fn each_defect_is_named_with_file_queue_field_and_value() {
    let defects = [
        (
            "fair-scheduler.xml",
            "<weight>2.0</weight>",
            "<weight>two</weight>",
            "queue root.production.etl: weight = two",
        ),
        ("fair-scheduler.xml", "50.0%", "half", "queue root.production.reports: maxResources = half"),
        ("fair-scheduler.xml", "</allocations>", "", "<allocations> is never closed"),
        ("fair-scheduler.xml", "</weight>", "</wait>", "line 5"),
        ("fair-scheduler.xml", "&amp;", "&nope;", "nope"),
        ("fair-scheduler.xml", "<queue name=\"bob &amp; co\"/>", "<queue/>", "<queue>: has no name"),
        ("fair-scheduler.xml", "allocations>", "alocations>", "expected <allocations> (fair-scheduler.xml)"),
        (
            "capacity-scheduler.xml",
            "<value>75</value>",
            "<value>x</value>",
            "queue root.production: capacity = x",
        ),
        ("capacity-scheduler.xml", "root.queues", "root.ques", "root.queues is missing"),
    ];
    each_is_named(shipped, &defects, |_, path| {
        yarn(&YarnOptions { queues: path, ..options("") }).unwrap_err().to_string()
    });
    let error =
        yarn(&YarnOptions { nodes: vec![shipped("../slurm/jobs.json")], ..options("fair-scheduler.xml") });
    assert!(error.unwrap_err().to_string().contains("there are no nodes here; `curl"));
}

#[test]
fn the_load_simulators_nodes_without_a_size_have_its_default() {
    let Some(nodes) = real_file("yarn/hadoop-sls_nodes-with-resources.json") else { return };
    let (instance, report) =
        yarn(&YarnOptions { nodes: vec![nodes], ..options("fair-scheduler.xml") }).unwrap();
    let classes: Vec<_> = instance.classes().iter().map(|class| (class.id.as_str(), class.count)).collect();
    assert_eq!(classes, [("memory10Gi-vcores10", 2), ("node1", 1), ("node4", 1)]);
    assert_eq!(
        report.count("nodes without a size: taken as the load simulator's default, 10240 MiB and 10 vcores"),
        2
    );
}
