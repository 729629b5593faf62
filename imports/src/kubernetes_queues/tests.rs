//! Each scheduler's shipped queues, how tasks of queues fit servers, real files, and what is refused.

use super::*;
use crate::defects::each_is_named;
use crate::real_files::real_file;

fn shipped(name: &str) -> String {
    format!("{}/data/kubernetes/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn users(queues: Vec<String>) -> Result<(Vec<String>, ImportReport), String> {
    let options = KubernetesQueuesOptions { nodes: vec![shipped("nodes.json")], queues, tree: false };
    let (instance, report) = kubernetes_queues(&options).map_err(|error| error.to_string())?;
    let most = |tasks: Option<u64>| tasks.map_or("any".to_owned(), |tasks| tasks.to_string());
    let user = |user: fairplan_instances::User<'_>| {
        format!("{} weight {} x{}", user.id(), user.weight(), most(user.tasks()))
    };
    Ok((instance.users().map(user).collect(), report))
}

/// The cluster has 75.76 cores, of which 37.88 are half, and 8 GPUs.
#[test]
fn each_schedulers_weights_and_limits_are_read() {
    let (found, report) = users(vec![shipped("volcano.yaml")]).unwrap();
    assert_eq!(
        found,
        [
            "engineering-production weight 0.2 xany",
            "engineering-development weight 0.05 xany",
            "science weight 0.75 x500"
        ]
    );
    assert_eq!(report.count("queues guarantee or deserve something, which an instance cannot state"), 1);
    let (found, report) = users(vec![shipped("kai.yaml")]).unwrap();
    assert_eq!(found, ["team-a weight 0.75 x250", "team-b weight 0.25 x500"]);
    assert_eq!(report.count("quotas are guaranteed, which an instance cannot state"), 1);
    let (found, report) = users(vec![shipped("yunikorn.yaml")]).unwrap();
    assert_eq!(found, ["root.search weight 0.666666666667 x500", "root.ads weight 0.333333333333 xany"]);
    assert_eq!(report.count("partitions left out: they have nodes of their own"), 1);
}

#[test]
fn each_defect_is_named_with_file_queue_field_and_value() {
    let defects = [
        ("volcano.yaml", "\"37.88\"", "lots", "Queue science: spec.capability.cpu = lots"),
        ("volcano.yaml", "1/2/8", "1/8", "Queue engineering-production: hierarchy-weights = 1/8"),
        (
            "volcano.yaml",
            "spec: {weight: 1}",
            "spec: {weight: one}",
            "Queue engineering-production: spec.weight",
        ),
        ("kai.yaml", "parentQueue: training}", "parentQueue: nobody}", "queue team-b: parent = nobody"),
        ("kai.yaml", "limit: 2}", "limit: two}", "Queue team-a: spec.resources.gpu.limit"),
        (
            "yunikorn.yaml",
            "vcore: 18.94",
            "vcore: x",
            "partition default, queue root.ads: resources.guaranteed.vcore = x",
        ),
        ("yunikorn.yaml", "partitions:", "parts:", "there is no queue of Volcano, KAI or YuniKorn here"),
    ];
    each_is_named(shipped, &defects, |_, path| users(vec![path]).unwrap_err());
}

/// A cluster of 400 servers of 64 cores and 256 GiB, of which 40 have 8 GPUs.
fn large_cluster(folder: &std::path::Path) -> String {
    let node = |at: usize| {
        let gpus = if at < 40 { ", nvidia.com/gpu: 8" } else { "" };
        format!(
            "kind: Node\nmetadata: {{name: n{at}}}\nstatus: {{allocatable: {{cpu: 64, memory: 256Gi, pods: 110{gpus}}}}}\n---\n"
        )
    };
    let path = folder.join("large.yaml");
    std::fs::write(&path, (0..400).map(node).collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn tasks_fit_the_servers_and_small_limits_do_not_vanish() {
    let folder = tempfile::tempdir().unwrap();
    let queue = |name: &str, spec: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
        )
    };
    let text = queue("root", "weight: 1")
        + &queue("any", "weight: 1")
        + &queue("small", "capability: {cpu: 10, pods: 20}")
        + &queue("training", "parent: root, capability: {nvidia.com/gpu: 4, example.com/fpga: 1}");
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let options = KubernetesQueuesOptions {
        nodes: vec![large_cluster(folder.path())],
        queues: vec![path],
        tree: false,
    };
    let (instance, report) = kubernetes_queues(&options).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory", "nvidia.com/gpu"]);
    let users: Vec<String> = instance
        .users()
        .map(|user| format!("{} {} {} x{:?}", user.id(), user.demand()[0], user.demand()[2], user.tasks()))
        .collect();
    // 25,600 cores in 5,000 parts, in 500,000; 320 GPUs in 10,000.
    assert_eq!(users, ["any 5.12 0 xNone", "small 0.0512 0 xSome(195)", "training 0.256 0.032 xSome(125)"]);
    for user in instance.users() {
        let holds = instance.classes().iter().filter(|class| {
            class.capacity.iter().zip(user.demand()).all(|(has, asks)| has.to_f64() >= 10.0 * asks.to_f64())
        });
        let servers: u64 = holds.map(|class| class.count).sum();
        assert_eq!(servers, if user.id() == "training" { 40 } else { 400 }, "{}", user.id());
    }
    for (count, what) in [
        (1, "amounts of pods left out, which no task is measured in"),
        (1, "amounts of example.com/fpga left out, which no task is measured in"),
        (3, "queues at the leaves"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
}

#[test]
fn a_tree_of_many_queues_is_read_quickly_and_a_circle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let queue = |name: &str, parent: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{parent: {parent}}}\n---\n"
        )
    };
    let write = |text: String| {
        let path = folder.path().join("many.yaml").to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        vec![path]
    };
    // Children before their parents.
    let many: String = (0..3000)
        .rev()
        .map(|at| {
            queue(&format!("q{at}"), &if at == 0 { "root".into() } else { format!("q{}", (at - 1) / 50) })
        })
        .collect();
    let (found, _) = users(write(many)).unwrap();
    assert_eq!(found.len(), 3000 - 3000 / 50);
    let error = users(write(queue("a", "b") + &queue("b", "a"))).unwrap_err();
    assert!(error.contains("queue a: parent = b: is not among the queues, or is below itself"), "{error}");
    let error = users(write(queue("a", "root") + &queue("a", "root"))).unwrap_err();
    assert!(error.contains("queue = a: is named twice"), "{error}");
}

#[test]
fn real_queues_are_read() {
    for (path, leaves) in [
        ("queues/volcano/example_hierarchical-jobs_queues.yaml", 4),
        ("queues/volcano/benchmark_testcases_gang_config_queue.yaml", 1),
        ("queues/volcano/example_deployment_queue.yaml", 1),
        ("queues/kai/queues.yaml", 2),
        ("queues/kai/default-queues.yaml", 1),
        ("queues/yunikorn/queues.yaml", 3),
        ("queues/yunikorn/limit.yaml", 2),
    ] {
        let Some(file) = real_file(path) else { return };
        assert_eq!(users(vec![file]).unwrap().0.len(), leaves, "{path}");
    }
}
