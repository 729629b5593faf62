//! Each scheduler's shipped queues, how tasks of queues fit servers, real files, and what is refused.

mod emptied;
mod unknown;

use super::*;
use crate::defects::each_is_named;
use crate::real_files::real_file;
use crate::shown::tenants;

fn shipped(name: &str) -> String {
    format!("{}/data/kubernetes/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn users(queues: Vec<String>) -> Result<(Vec<String>, ImportReport), String> {
    let options = KubernetesQueuesOptions { nodes: vec![shipped("nodes.json")], queues };
    let (instance, report) = kubernetes_queues(&options).map_err(|error| error.to_string())?;
    Ok((tenants(&instance), report))
}

/// The cluster has 75.76 cores, of which 37.88 are half, and 8 GPUs in one server, which takes only tasks that ask for one.
#[test]
fn each_schedulers_tree_weights_guarantees_and_limits_are_read() {
    let (found, _) = users(vec![shipped("volcano.yaml")]).unwrap();
    assert_eq!(
        found,
        [
            "[root/engineering] w2",
            "engineering-production <root/engineering w8 1,4254773289.79,0 on cpu3.92-memory15.5Gi",
            "engineering-development <root/engineering w2 1,4254773289.79,0 on cpu3.92-memory15.5Gi",
            "science w6 1,4254773289.79,0 on cpu3.92-memory15.5Gi sure cpu=11 most cpu=37.88 kept cpu=10",
        ]
    );
    let (found, _) = users(vec![shipped("kai.yaml")]).unwrap();
    assert_eq!(
        found,
        [
            "[training] w1 most cpu=37.88",
            // Only what is given GPUs asks for them, here with the eighth of the server that each is.
            "[team-a] <training w3 sure nvidia.com/gpu=2 most nvidia.com/gpu=2",
            "team-a@nvidia.com/gpu <team-a w1 8,34359738368,1",
            "team-a@cpu <team-a w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi",
            "team-b <training w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi",
        ]
    );
    let (found, report) = users(vec![shipped("yunikorn.yaml")]).unwrap();
    assert_eq!(
        found,
        [
            "root.search w0.5 1,4254773289.79,0 on cpu3.92-memory15.5Gi sure cpu=37.88 most cpu=37.88",
            "root.ads w0.25 1,4254773289.79,0 on cpu3.92-memory15.5Gi sure cpu=18.94",
        ]
    );
    assert_eq!(report.count("partitions left out: they have nodes of their own"), 1);
}

/// Two servers of 16 cores and 64 GiB, one with 8 GPUs.
fn small_cluster(folder: &std::path::Path) -> String {
    let node = |name: &str, gpus: &str| {
        format!(
            "kind: Node\nmetadata: {{name: {name}}}\nstatus: {{allocatable: {{cpu: 16, memory: 64Gi{gpus}}}}}\n---\n"
        )
    };
    let path = folder.join("small.yaml");
    std::fs::write(&path, node("a", "") + &node("b", ", nvidia.com/gpu: 8")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A queue of Volcano's.
fn volcano(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
    )
}

#[test]
fn a_limit_of_gpus_is_none_of_cores_and_more_gpus_are_no_fewer_cores() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = vec![small_cluster(folder.path())];
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let read = |queues: String| {
        std::fs::write(&path, queues).unwrap();
        let options = KubernetesQueuesOptions { nodes: nodes.clone(), queues: vec![path.clone()] };
        let (instance, report) = kubernetes_queues(&options).unwrap();
        (tenants(&instance), report.to_string())
    };
    let cpu = "1,4294967296,0";
    let (found, told) =
        read(volcano("b", "weight: 1") + &volcano("c", "weight: 3, capability: {nvidia.com/gpu: 2}"));
    let gpus = "2,8589934592,1";
    assert_eq!(
        found,
        [
            "[c] w3 most nvidia.com/gpu=2".to_owned(),
            format!("b w1 {cpu}"),
            format!("c@nvidia.com/gpu <c w1 {gpus}"),
            format!("c@cpu <c w1 {cpu}"),
        ]
    );
    let why = "queue whose limit of nvidia.com/gpu leaves it cores for tasks without: a group of users @nvidia.com/gpu and @cpu: c";
    assert!(told.contains(why), "{told}");
    assert!(told.contains("1 queue is given no nvidia.com/gpu, so its tasks ask for none\n"), "{told}");
    // A limit above the queue holds for all below it, and is theirs together.
    let (found, _) = read(
        volcano("top", "capability: {nvidia.com/gpu: 2}")
            + &volcano("c", "parent: top")
            + &volcano("d", "parent: top"),
    );
    assert_eq!(
        found[..3],
        ["[top] w1 most nvidia.com/gpu=2", "[c] <top w1", "[d] <top w1"].map(str::to_owned)[..],
        "{found:?}"
    );
    // No GPUs at all, and as many as the cores can feed: one kind of task.
    let (found, _) = read(volcano("c", "capability: {nvidia.com/gpu: 0}"));
    assert_eq!(found, [format!("c w1 {cpu}")]);
    let (found, _) = read(volcano("c", "capability: {nvidia.com/gpu: 2, cpu: 4}"));
    assert_eq!(found, [format!("c w1 {gpus} most cpu=4 nvidia.com/gpu=2")]);
}

#[test]
fn yunikorn_measures_by_cores_whoever_has_tasks_without_what_it_is_limited_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let weights = |most: &str| {
        let queues = format!(
            "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n    - name: b\n      resources: {{guaranteed: {{vcore: 8, memory: 32Gi}}}}\n    \
             - name: c\n      resources: {{max: {{{most}}}}}\n"
        );
        std::fs::write(&path, queues).unwrap();
        let options =
            KubernetesQueuesOptions { nodes: vec![small_cluster(folder.path())], queues: vec![path.clone()] };
        let (instance, _) = kubernetes_queues(&options).unwrap();
        let c = instance.groups().iter().find(|group| group.id == "root.c").map(|group| group.weight);
        let users = instance.users().map(|user| user.weight());
        (c, users.collect::<Vec<_>>())
    };
    let decimal = |text: &str| text.parse().unwrap();
    let (quarter, one) = (decimal("0.25"), decimal("1"));
    assert_eq!(weights("nvidia.com/gpu: 2"), (Some(one), vec![quarter, one, one]));
    // Two GPUs go with four cores: nothing is left to tasks without.
    assert_eq!(weights("nvidia.com/gpu: 2, vcore: 4"), (None, vec![quarter, decimal("0.125")]));
}

/// All the GPUs that there are: such a maximum says nothing, and leaves no cores by itself.
#[test]
fn a_maximum_of_all_there_is_changes_nothing_of_what_a_queue_of_yunikorn_is_measured_by() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let queue = |name: &str, most: &str| {
        format!("    - name: {name}\n      resources: {{guaranteed: {{nvidia.com/gpu: 1}}{most}}}\n")
    };
    let (with, without) = (queue("with", ", max: {nvidia.com/gpu: 8}"), queue("without", ""));
    let queues =
        format!("partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n{with}{without}");
    std::fs::write(&path, queues).unwrap();
    let options = KubernetesQueuesOptions { nodes: vec![small_cluster(folder.path())], queues: vec![path] };
    let (instance, _) = kubernetes_queues(&options).unwrap();
    assert_eq!(instance.total(fairplan_instances::ResourceId(2)), 8.0);
    let users: Vec<_> = instance.users().collect();
    assert_eq!(users[0].weight(), users[1].weight());
    assert_eq!(users[0].demand(), users[1].demand());
}

#[test]
fn weights_of_one_part_of_a_hierarchy_that_differ_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("volcano.yaml").to_str().unwrap().to_owned();
    let queue = |name: &str, weights: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}, annotations: {{volcano.sh/hierarchy: \
             root/eng/{name}, volcano.sh/hierarchy-weights: {weights}}}}}\nspec: {{weight: 1}}\n---\n"
        )
    };
    let told = |second: &str| {
        std::fs::write(&path, queue("p", "1/3/8") + &queue("d", second)).unwrap();
        users(vec![path.clone()]).unwrap().1.to_string()
    };
    assert!(!told("1/3/2").contains("weights of hierarchies"));
    let report = told("1/2/2");
    assert!(
        report.contains("weight of hierarchies left out: another queue stated another one before: root/eng"),
        "{report}"
    );
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
        (
            "yunikorn.yaml",
            "max: {vcore: 37.88}",
            "max: {vcore: 30}",
            "partition default, queue root.search: resources.guaranteed.vcore = 37.88: is more than the 30 in resources.max.vcore",
        ),
        (
            "volcano.yaml",
            "deserved: {cpu: 11}",
            "deserved: {cpu: 40}",
            "Queue science: spec.deserved.cpu = 40: is more than the 37.88 in spec.capability.cpu, which the scheduler refuses",
        ),
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
fn tasks_are_a_core_or_a_gpu_and_amounts_of_what_is_not_there_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let queue = |name: &str, spec: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
        )
    };
    let text = queue("root", "weight: 1")
        + &queue("any", "weight: 1")
        + &queue("small", "capability: {cpu: 10, pods: 20}")
        + &queue("tiny", "deserved: {cpu: 250m}")
        + &queue("training", "parent: root, capability: {nvidia.com/gpu: 4, example.com/fpga: 1}")
        + &queue("idle", "weight: 0")
        + &queue("barred", "capability: {cpu: 0}");
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let options = KubernetesQueuesOptions { nodes: vec![large_cluster(folder.path())], queues: vec![path] };
    let (instance, report) = kubernetes_queues(&options).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory", "nvidia.com/gpu"]);
    let memory = |cores: u64| cores * (4 << 30);
    assert_eq!(
        tenants(&instance),
        [
            "[training] w1 most nvidia.com/gpu=4".to_owned(),
            format!("any w1 1,{},0", memory(1)),
            format!("small w1 1,{},0 most cpu=10", memory(1)),
            format!("tiny w1 0.25,{},0 sure cpu=0.25", memory(1) / 4),
            format!("training@nvidia.com/gpu <training w1 8,{},1", memory(8)),
            format!("training@cpu <training w1 1,{},0", memory(1)),
            format!("idle w1 1,{},0", memory(1)),
        ]
    );
    for (count, what) in [
        (1, "amounts of pods left out, which no task is measured in"),
        (1, "amounts of example.com/fpga left out, which no task is measured in"),
        (1, "queues left out: their limit is 0"),
        (5, "queues at the leaves"),
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
    assert_eq!(found.iter().filter(|line| !line.starts_with('[')).count(), 3000 - 3000 / 50);
    let error = users(write(queue("a", "b") + &queue("b", "a"))).unwrap_err();
    assert!(error.contains("queue a: parent = b: is below the queue itself"), "{error}");
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
        let found = users(vec![file]).unwrap().0;
        assert_eq!(found.iter().filter(|line| !line.starts_with('[')).count(), leaves, "{path}");
    }
}

#[test]
fn what_comes_before_shares_or_is_not_stated_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        users(vec![path.clone()])
    };
    let kai = |spec: &str| {
        format!("apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: a}}\nspec: {{{spec}}}\n")
    };
    let volcano = |spec: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
        )
    };
    let yunikorn = |queue: &str| format!("partitions: [{{name: default, queues: [{{name: a, {queue}}}]}}]\n");
    let priorities = "priorities of queues left out: here shares alone decide";
    for (text, count) in [
        (kai("priority: 200"), 1),
        (kai("priority: 100"), 0),
        (volcano("priority: 7"), 1),
        (volcano("priority: 0"), 0),
        (yunikorn("properties: {priority.offset: \"1000\"}"), 1),
        (yunikorn("properties: {priority.offset: 0, priority.policy: default}"), 0),
        (yunikorn("properties: {priority.policy: fence}"), 1),
    ] {
        let (_, report) = read(&text).unwrap();
        assert_eq!(report.count(priorities), count, "{text}\n{report}");
    }
    // Volcano's admission takes a weight of 0 for 1; in KAI such a queue has nothing beyond its quota.
    let one = |weight: u8| {
        let amount = format!("{{quota: 1, limit: -1, overQuotaWeight: {weight}}}");
        format!("resources: {{cpu: {amount}, memory: {amount}}}")
    };
    let (found, report) =
        read(&format!("{}---\n{}", kai(&one(0)), kai(&one(2)).replace("name: a", "name: b"))).unwrap();
    assert!(found[0].starts_with("a w0.002 ") && found[1].starts_with("b w2 "), "{found:?}");
    let nothing = "queues of weight 0, taken as a thousandth of the smallest weight of their siblings";
    assert_eq!(report.count(nothing), 1, "{report}");
    let (_, report) = read(&kai("preemptMinRuntime: 5m, reclaimMinRuntime: 10m")).unwrap();
    let for_a_while = "queues whose pods run for a while before any is preempted (preemptMinRuntime, reclaimMinRuntime), which is \
                       not kept";
    assert_eq!(report.count(for_a_while), 1, "{report}");
    assert!(report.to_string().contains("which is not kept: a\n"), "{report}");
    let of_a_pool =
        kai("priority: 100").replace("{name: a}", "{name: a, labels: {kai.scheduler/node-pool: p}}");
    let (_, report) = read(&of_a_pool).unwrap();
    let pools = "queues of a node pool (kai.scheduler/node-pool), which here may use all nodes";
    assert_eq!(report.count(pools), 1, "{report}");
    let affinity = "affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [g]}}";
    let others = "extendClusters: [{name: other}], dequeueStrategy: fifo";
    let (_, report) = read(&volcano(&format!("reclaimable: false, {affinity}, {others}"))).unwrap();
    for what in [
        "queues with other clusters to run on (extendClusters), of which nothing is here",
        "queues whose first job holds up the others (dequeueStrategy: fifo), which is not kept",
        "affinities of queues to groups of nodes left out: here all nodes take tasks of every queue",
        "queues not to be reclaimed from (reclaimable: false), which is not kept",
    ] {
        assert_eq!(report.count(what), 1, "{what}\n{report}");
    }
    let report = report.to_string();
    for told in [
        "1 queue with other clusters to run on (extendClusters), of which nothing is here: a\n",
        "(dequeueStrategy: fifo), which is not kept: a\n",
        "here all nodes take tasks of every queue: a\n",
        "(reclaimable: false), which is not kept: a\n",
    ] {
        assert!(report.contains(told), "{told}{report}");
    }
    let (_, report) =
        read(&kai("resources: {cpu: {quota: 5}, memory: {quota: 5, limit: -1, overQuotaWeight: 2}}"))
            .unwrap();
    for what in [
        "limits not stated, taken as none (KAI takes them as 0, so that nothing runs: state -1)",
        "weights not stated, taken as the queue's others (KAI takes them as 0: nothing beyond the quota)",
    ] {
        assert_eq!(report.count(what), 1, "{what}\n{report}");
    }
    // What is stated counts, whatever is not.
    let (found, report) = read(&kai(
        "resources: {cpu: {quota: 0, limit: -1}, memory: {quota: 0, limit: -1}, gpu: {quota: 1, limit: -1, overQuotaWeight: 0.5}}",
    ))
    .unwrap();
    assert!(found[0].contains(" w0.5 "), "{found:?}");
    assert_eq!(report.count("queues weigh resources differently: the largest weight counts"), 0, "{report}");
    let compressed = read("kind: ConfigMap\nbinaryData: {queues.yaml.gz: H4sI}\n").unwrap_err();
    assert!(
        compressed.contains("queues.yaml: binaryData.queues.yaml.gz: is compressed; `kubectl"),
        "{compressed}"
    );
}

#[test]
fn partitions_in_the_values_of_yunikorns_chart_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.yaml").to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(shipped("yunikorn.yaml")).unwrap();
    let inside: String = text.lines().map(|line| format!("    {line}\n")).collect();
    std::fs::write(&path, format!("yunikornDefaults:\n  queues.yaml: |\n{inside}")).unwrap();
    assert_eq!(users(vec![path.clone()]).unwrap().0, users(vec![shipped("yunikorn.yaml")]).unwrap().0);
    std::fs::write(&path, "yunikornDefaults: {}\n").unwrap();
    let told = users(vec![path]).unwrap_err();
    assert!(told.contains("there is no queue of Volcano, KAI or YuniKorn here; "), "{told}");
}

#[test]
fn queues_of_several_schedulers_are_refused() {
    for (first, second, told) in [
        ("volcano.yaml", "kai.yaml", "is of KAI, but others are of Volcano"),
        ("kai.yaml", "yunikorn.yaml", "yunikorn.yaml: partitions: is of YuniKorn, but others are of KAI"),
    ] {
        let error = users(vec![shipped(first), shipped(second)]).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn yunikorns_queues_in_a_config_map_are_measured_by_the_nearest_maximum_where_nothing_is_guaranteed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kind: ConfigMap\nmetadata: {name: yunikorn-configs}\ndata:\n  queues.yaml: |\n    partitions:\n    - name: default\n      \
                limits: [{limit: b, groups: [dev, ops], maxresources: {vcore: 1}}]\n      queues:\n      - name: root\n        queues:\n        - name: sandbox\n          resources: {max: {vcore: 7576m}}\n          \
                queues:\n          - {name: sure, resources: {guaranteed: {vcore: 3788m}}}\n          - {name: low, limits: [{limit: a, users: [ada], maxresources: {vcore: 1}}, {users: ['*'], maxapplications: 2}], maxapplications: 5, childtemplate: {maxapplications: 1}}\n";
    let path = folder.path().join("config.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let (found, report) = users(vec![path.clone()]).unwrap();
    assert_eq!(
        found,
        [
            "[root.sandbox] w0.1 most cpu=7.576",
            "root.sandbox.sure <root.sandbox w0.05 1,4254773289.79,0 on cpu3.92-memory15.5Gi sure cpu=3.788",
            "root.sandbox.low <root.sandbox w0.1 1,4254773289.79,0 on cpu3.92-memory15.5Gi",
        ]
    );
    for (count, what) in [
        (1, "limits of what single users have in a queue left out: whose its tasks are is not known"),
        (2, "limits of what groups of users have in a queue left out: whose its tasks are is not known"),
        (1, "limits of applications of users or groups left out (limits, maxapplications)"),
        (1, "limits of the number of applications left out (maxapplications)"),
        (1, "templates of queues to come left out (childtemplate)"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
        let of = if count == 2 { "default" } else { "root.sandbox.low" };
        let end = what.rsplit_once("left out").map_or("", |(_, end)| end);
        assert!(report.to_string().contains(&format!("left out{end}: {of}\n")), "{what}\n{report}");
    }
    std::fs::write(&path, text.replace("- name: root", "- name: [root")).unwrap();
    let error = users(vec![path]).unwrap_err();
    assert!(error.contains("config.yaml: data.queues.yaml"), "{error}");
}

#[test]
fn what_kais_departments_are_sure_of_stays_theirs_and_of_one_above_all_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let queue = |name: &str, parent: &str, quota: u64, limit: i64| {
        format!(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{parentQueue: \"{parent}\", \
             resources: {{cpu: {{quota: {quota}, limit: {limit}}}}}}}\n---\n"
        )
    };
    let path = folder.path().join("kai.yaml").to_str().unwrap().to_owned();
    let read = |text: String| {
        std::fs::write(&path, text).unwrap();
        users(vec![path.clone()]).unwrap()
    };
    let two =
        queue("one", "", 30_000, 40_000) + &queue("a", "one", 50_000, 20_000) + &queue("two", "", 0, -1);
    let (found, report) = read(two + &queue("b", "two", 0, -1));
    assert_eq!(found[..2], ["[one] w1 sure cpu=30 most cpu=40", "[two] w1"]);
    assert_eq!(found[2], "a <one w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi sure cpu=20 most cpu=20");
    assert_eq!(report.count("queue whose quota is above its limit, which counts: a, cpu 50000 > 20000"), 1);
    let (found, report) = read(queue("one", "", 30_000, 40_000) + &queue("a", "one", 0, -1));
    assert_eq!(found[0], "[one] w1 most cpu=40");
    assert_eq!(report.count("guarantees of the top queue left out: everybody is in it"), 1, "{report}");
    // KAI has no queue above all of its own.
    let (found, _) = read(queue("root", "", 0, -1) + &queue("a", "root", 0, -1));
    let a = "a <root w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi";
    assert_eq!(found, ["[root] w1", a]);
    let two = queue("root", "", 0, -1) + &queue("a", "root", 0, -1) + &queue("other", "", 0, -1);
    assert_eq!(read(two).0[2], "other w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi", "beside it");
    let lost =
        std::fs::write(&path, queue("a", "root", 0, -1)).map(|()| users(vec![path.clone()]).unwrap_err());
    assert!(lost.unwrap().contains("is not among the queues"));
}

#[test]
fn queues_of_kai_that_are_given_no_gpus_are_told_and_that_all_stay_idle() {
    let advice = " (in KAI a queue may go over a quota of 0; a quota of 1 says that its tasks want GPUs)";
    let told = "queues are given no nvidia.com/gpu, so their tasks ask for none";
    let (_, report) = users(vec![shipped("kai.yaml")]).unwrap();
    assert_eq!(report.count(&format!("{told}{advice}")), 1, "{report}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kai.yaml").to_str().unwrap().to_owned();
    let read = |quota: i64| {
        let text = format!(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: a}}\nspec: {{resources: {{gpu: {{quota: {quota}, limit: -1}}}}}}\n"
        );
        std::fs::write(&path, text).unwrap();
        users(vec![path.clone()]).unwrap()
    };
    for quota in [0, -1] {
        let (found, report) = read(quota);
        assert_eq!(found, ["a w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi"]);
        assert_eq!(report.count(&format!("{told}: all of it stays idle{advice}")), 1, "{report}");
    }
    let (_, report) = read(4);
    assert!(!report.to_string().contains("no nvidia.com/gpu"), "{report}");
    // A limit of 0, its own or that of the queue above, lets it have none.
    let queue = |name: &str, more: &str| {
        format!(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{more}}}\n---\n"
        )
    };
    let barred = "resources: {gpu: {quota: 0, limit: 0}}";
    let text = queue("top", barred)
        + &queue("a", "parentQueue: top")
        + &queue("b", barred)
        + &queue("c", "resources: {gpu: {quota: 1, limit: -1}}");
    std::fs::write(&path, text).unwrap();
    let (_, report) = users(vec![path]).unwrap();
    assert!(
        report
            .to_string()
            .contains("2 queues have a limit of 0 nvidia.com/gpu, so their tasks ask for none\n"),
        "{report}"
    );
    assert!(!report.to_string().contains("in KAI a queue may go over"), "{report}");
}

#[test]
fn a_guarantee_without_memory_keeps_its_own_proportions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let queue = |name: &str, deserved: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{deserved: {{{deserved}}}}}\n---\n"
        )
    };
    let text = queue("a", "cpu: 4, nvidia.com/gpu: 4") + &queue("b", "cpu: 48, nvidia.com/gpu: 4");
    std::fs::write(&path, text).unwrap();
    let (found, report) = users(vec![path]).unwrap();
    // Four tasks of each; the server has 8 GPUs.
    let [a, b] = [0, 1].map(|at: usize| {
        found[at].split(' ').nth(2).unwrap().split(',').map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!([&a[0], &a[2]], ["1", "1"], "{found:#?}\n{report}");
    assert_eq!(b[0].parse::<f64>().unwrap() / b[2].parse::<f64>().unwrap(), 12.0, "{found:#?}");
    assert!(found[0].ends_with("sure cpu=4 nvidia.com/gpu=4"), "{found:#?}");
}

#[test]
fn closed_queues_of_volcano_and_those_below_them_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let queue = |name: &str, spec: &str, state: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{weight: 1{spec}}}\n\
             status: {{state: {state}}}\n---\n"
        )
    };
    let path = folder.path().join("volcano.yaml").to_str().unwrap().to_owned();
    let text = queue("below", ", parent: c", "Open") + &queue("a", "", "Open") + &queue("c", "", "Closed");
    std::fs::write(&path, text + &queue("d", "", "Closing")).unwrap();
    let (found, report) = users(vec![path.clone()]).unwrap();
    assert_eq!(found, ["a w1 1,4254773289.79,0 on cpu3.92-memory15.5Gi"]);
    assert_eq!(report.count("queues left out: stopped"), 3, "{report}");
    std::fs::write(&path, queue("c", "", "Closed")).unwrap();
    let options = KubernetesQueuesOptions { nodes: vec![shipped("nodes.json")], queues: vec![path] };
    let failure = kubernetes_queues(&options).unwrap_err();
    assert!(failure.to_string().contains("no queue is left that anything can run in"), "{failure}");
    assert_eq!(failure.report.count("queues left out: stopped"), 1, "{}", failure.report);
}

#[test]
fn devices_that_no_queue_is_given_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let node = r#"{"kind": "Node", "metadata": {"name": "a"},
        "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "example.com/fpga": "2"}}}"#;
    std::fs::write(&nodes, node).unwrap();
    let options = KubernetesQueuesOptions { nodes: vec![nodes], queues: vec![shipped("volcano.yaml")] };
    let (_, report) = kubernetes_queues(&options).unwrap();
    let told = "nodes have example.com/fpga, which no queue asks for: it is left out";
    assert_eq!(report.count(told), 1, "{report}");
}

#[test]
fn what_a_queue_is_given_is_asked_for_below_it_where_nobody_there_is_given_some() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let nodes = large_cluster(folder.path());
    let of = |leaves: &str| {
        let amounts = "{guaranteed: {vcore: 64, nvidia.com/gpu: 8}, max: {nvidia.com/gpu: 16, vcores: 8}}";
        let text = format!(
            "partitions: [{{name: default, queues: [{{name: root, queues: [{{name: ml, resources: {amounts}, queues: [{leaves}]}}, {{name: web}}]}}]}}]\n"
        );
        let queues = vec![write("queues.yaml", &text)];
        let options = KubernetesQueuesOptions { nodes: vec![nodes.clone()], queues };
        let (instance, report) = kubernetes_queues(&options).unwrap();
        let gpus = |user: fairplan_instances::User<'_>| user.demand()[2].to_string();
        let gpus: Vec<String> = instance.users().map(gpus).collect();
        (tenants(&instance), gpus, report)
    };
    let cores = "{name: a, resources: {guaranteed: {vcore: 4}}}, {name: b, resources: {max: {vcore: 640}}}";
    let (told, gpus, report) = of(cores);
    assert!(told[0].ends_with("sure cpu=64 nvidia.com/gpu=8 most nvidia.com/gpu=16"), "{told:?}");
    // Each has tasks with and without, as sixteen GPUs leave cores to them.
    assert_eq!(
        gpus.iter().map(|gpus| gpus != "0").collect::<Vec<_>>(),
        [true, false, true, false, false],
        "{gpus:?}"
    );
    let below = "queues whose tasks ask for nvidia.com/gpu because a queue above them is given some and none below it is";
    assert_eq!(report.count(below), 2, "{report}");
    let meant = "amounts of vcores left out, which no task is measured in (did you mean vcore?)";
    assert_eq!(report.count(meant), 1, "{report}");
    // Where one below is given some they are for that one; and nobody is sure of more than the servers with GPUs have.
    let (_, gpus, _) = of(&format!("{cores}, {{name: c, resources: {{max: {{nvidia.com/gpu: 4}}}}}}"));
    assert_eq!(gpus.iter().map(|gpus| gpus != "0").collect::<Vec<_>>(), [false, false, true, false, false]);
    let (_, gpus, _) = of("{name: a, resources: {guaranteed: {vcore: 4000}}}");
    assert_eq!(gpus, ["0", "0"]);
}

#[test]
fn a_queue_of_yunikorn_weighs_as_its_use_is_measured_against_what_it_is_guaranteed() {
    let folder = tempfile::tempdir().unwrap();
    let weights = |a: &str, b: &str| {
        let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
        let queue =
            |name: &str, spec: &str| format!("{{name: {name}, resources: {{guaranteed: {{{spec}}}}}}}");
        let text = format!(
            "partitions: [{{name: default, queues: [{{name: root, queues: [{}, {}]}}]}}]",
            queue("a", a),
            queue("b", b)
        );
        std::fs::write(&path, text).unwrap();
        let options =
            KubernetesQueuesOptions { nodes: vec![large_cluster(folder.path())], queues: vec![path] };
        let (instance, _) = kubernetes_queues(&options).unwrap();
        let weights: Vec<f64> = instance.users().map(|user| user.weight().to_f64()).collect();
        weights[1] / weights[0]
    };
    // Of 25,600 cores and 100 TiB. Tasks of both have four cores for each part of their guarantee, which is what they have most of.
    assert_eq!(weights("vcore: 4, memory: 1Gi", "vcore: 4, memory: 12Gi"), 1.0);
    // 4 of 25,600 cores are as much as 16 of 102,400 GiB.
    assert_eq!(weights("vcore: 4, memory: 1Gi", "vcore: 4, memory: 32Gi"), 2.0);
    // Without an amount of memory, tasks have their part of it, and it is measured against all of it.
    assert_eq!(weights("vcore: 4", "vcore: 12"), 3.0);
}

#[test]
fn a_queue_that_is_given_none_of_a_resource_beside_more_of_others_has_tasks_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let volcano = |name: &str, spec: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
        )
    };
    let kai = |name: &str, cpu: &str, memory: &str| {
        format!(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{resources: {{cpu: {{quota: {cpu}, \
             limit: -1}}, memory: {{quota: {memory}, limit: -1}}}}}}\n---\n"
        )
    };
    let of_volcano = volcano("team", "deserved: {cpu: 0, memory: 14Gi}")
        + &volcano("a", "parent: team, deserved: {cpu: 0, memory: 12Gi}, capability: {cpu: 8}")
        + &volcano("b", "parent: team, deserved: {cpu: 0, memory: 0}")
        + &volcano("c", "deserved: {cpu: 1, memory: 1Gi}");
    let of_kai = kai("a", "0", "12000") + &kai("b", "0", "0") + &kai("c", "1000", "1000");
    let of_yunikorn = "partitions: [{name: default, queues: [{name: root, queues: [{name: a, resources: {guaranteed: {vcore: 0, memory: \
                       12Gi}}}, {name: b}, {name: c, resources: {guaranteed: {vcore: 1, memory: 1Gi}}}]}]}]\n";
    for (text, without) in [
        (of_volcano.as_str(), [true, true, false]),
        (&of_kai, [true, false, false]),
        (of_yunikorn, [true, false, false]),
    ] {
        std::fs::write(&path, text).unwrap();
        let options =
            KubernetesQueuesOptions { nodes: vec![shipped("nodes.json")], queues: vec![path.clone()] };
        let (instance, report) = kubernetes_queues(&options).unwrap();
        let found: Vec<bool> = instance.users().map(|user| user.demand()[0].is_zero()).collect();
        assert_eq!(found, without, "{text}\n{:?}", tenants(&instance));
        assert!(instance.users().all(|user| !user.demand()[1].is_zero()), "{text}");
        let told = "queues are given 0 of cpu beside more of others, so their tasks ask for none";
        assert_eq!(report.count(told), found.iter().filter(|without| **without).count() as u64, "{report}");
    }
}

#[test]
fn what_no_scheduler_knows_a_meaning_of_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let refusal = |text: &str| {
        std::fs::write(&path, text).unwrap();
        users(vec![path.clone()]).unwrap_err()
    };
    let volcano = |spec: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
        )
    };
    let kai = |cpu: &str| {
        format!(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: a}}\nspec: {{resources: {{cpu: {{{cpu}}}}}}}\n"
        )
    };
    let yunikorn = |names: [&str; 2]| {
        let [one, other] = names;
        format!(
            "partitions: [{{name: p, queues: [{{name: root, queues: [{{name: {one}}}, {{name: {other}}}]}}]}}]\n"
        )
    };
    let hierarchy = volcano("weight: 1").replace(
        "{name: a}",
        "{name: a, annotations: {volcano.sh/hierarchy: root/a, volcano.sh/hierarchy-weights: 1/-8}}",
    );
    for (text, told) in [
        (volcano("weight: -3"), "Queue a: spec.weight = -3: must be a number of 0 or more"),
        (hierarchy, "Queue a: hierarchy-weights = 1/-8: must have a number of 0 or more for each part"),
        (kai("quota: 0, limit: -1, overQuotaWeight: -2"), "Queue a: spec.resources.cpu.overQuotaWeight = -2"),
        (
            kai("quota: -2, limit: -1"),
            "Queue a: spec.resources.cpu.quota = -2: must be a number of 0 or more, or -1",
        ),
        (kai("quota: 0, limit: -1000"), "Queue a: spec.resources.cpu.limit = -1000"),
        (yunikorn(["dev", "Dev"]), "partition p: queue = root.Dev: is the queue root.dev too"),
    ] {
        let refused = refusal(&text);
        assert!(refused.contains(told), "{refused}");
    }
    std::fs::write(&path, yunikorn(["dev", "ops"])).unwrap();
    assert!(users(vec![path.clone()]).is_ok());
}

#[test]
fn orders_and_preemption_of_yunikorns_queues_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let told = |partition: &str, properties: &str| {
        let text = format!(
            "partitions: [{{name: p, {partition}queues: [{{name: root, queues: [{{name: a, properties: {{{properties}}}}}]}}]}}]\n"
        );
        std::fs::write(&path, text).unwrap();
        users(vec![path.clone()]).unwrap().1.to_string()
    };
    for (partition, properties, what) in [
        (
            "",
            "application.sort.policy: fair",
            "1 queue whose order of applications is left out (application.sort): here a queue is one tenant: root.a",
        ),
        ("", "preemption.policy: fence", "1 queue with a policy or a delay of preemption, which is left out"),
        ("", "preemption.delay: 5m", "1 queue with a policy or a delay of preemption, which is left out"),
        (
            "placementrules: [{name: tag, value: namespace}], ",
            "quota.preemption.delay: 1m",
            "1 queue with a policy or a delay of preemption, which is left out",
        ),
        (
            "placementrules: [{name: tag, value: namespace}], ",
            "",
            "1 partition whose placement rules are left out: there are the queues of the file, and no others",
        ),
        ("preemption: {enabled: false}, ", "", "1 partition without preemption, which is left out"),
    ] {
        let report = told(partition, properties);
        assert!(report.contains(what), "{what}\n{report}");
    }
    let report = told(
        "preemption: {enabled: true}, ",
        "application.sort.policy: fifo, preemption.policy: default, preemption.delay: 30s",
    );
    assert!(!report.contains("preemption") && !report.contains("order of applications"), "{report}");
}

/// What is limited and not guaranteed keeps no queue from what it is guaranteed.
#[test]
fn tasks_of_queues_are_so_small_that_their_guarantees_fit_under_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = small_cluster(folder.path());
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let read = |text: String| {
        std::fs::write(&path, text).unwrap();
        let options = KubernetesQueuesOptions { nodes: vec![nodes.clone()], queues: vec![path.clone()] };
        let (instance, _) = kubernetes_queues(&options).unwrap();
        instance
            .users()
            .map(|user| user.demand().iter().map(Decimal::to_string).collect())
            .collect::<Vec<Vec<String>>>()
    };
    let own = read(
        volcano("a", "deserved: {cpu: 8}, capability: {cpu: 16, memory: 16Gi}") + &volcano("b", "weight: 1"),
    );
    assert_eq!(
        (&own[0][..2], &own[1][..2]),
        (&["1".into(), "2147483648".into()][..], &["1".into(), "4294967296".into()][..])
    );
    // As below a queue that is guaranteed as much together.
    let above = volcano("top", "deserved: {cpu: 8}, capability: {memory: 16Gi}")
        + &volcano("a", "parent: top")
        + &volcano("b", "parent: top");
    assert_eq!(read(above + &volcano("c", "weight: 1"))[0][1], "2147483648");
    // What is guaranteed too has its own proportion.
    let both = read(volcano("a", "deserved: {cpu: 8, memory: 16Gi}, capability: {cpu: 16, memory: 16Gi}"));
    assert_eq!(both[0][..2], ["1", "2147483648"]);
}
