//! The shipped queues give what their file says by hand, real ones are read, and defects are named.

mod admission;
mod borrowed;
mod combinations;
mod emptied;
mod lending;
mod stopped;
mod unkept;

use super::*;
use crate::real_files::real_file;
use crate::shown::tenants;
use fairplan_instances::Decimal;

fn options() -> KueueOptions {
    let file = format!("{}/data/kueue/queues.yaml", env!("CARGO_MANIFEST_DIR"));
    KueueOptions { files: vec![file], ..Default::default() }
}

fn classes(instance: &Instance) -> Vec<String> {
    let amounts = |amounts: &[Decimal]| amounts.iter().map(Decimal::to_string).collect::<Vec<_>>().join(",");
    instance
        .classes()
        .iter()
        .map(|class| format!("{} x{} {}", class.id, class.count, amounts(&class.capacity)))
        .collect()
}

#[test]
fn without_nodes_the_quotas_of_a_root_cohort_are_the_servers() {
    let (instance, report) = kueue(&options()).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory", "nvidia.com/gpu"]);
    assert_eq!(
        classes(&instance),
        [
            // 9 + 3, the cohort's own 6 cores and the 4 of the queue without cohort; 36Gi + 12Gi.
            "a100+default x1 22,51539607552,4",
        ]
    );
    assert_eq!(
        tenants(&instance),
        [
            // All 48Gi but the 6Gi that team-b keeps.
            "[research] <department w1 sure cpu=15 memory=38654705664 nvidia.com/gpu=4 most memory=45097156608",
            "[department] w1 most cpu=18",
            "team-a <research w2 2.25,9663676416,1 sure cpu=9 memory=38654705664 nvidia.com/gpu=4 most cpu=12",
            "team-b <department w1 1,4294967296,0 sure cpu=3 memory=12884901888 kept memory=6442450944",
            "alone w1 1,0,0 sure cpu=4 most cpu=4",
        ]
    );
    for (count, what) in
        [(4, "cluster queues"), (1, "cluster queues left out: they have no quota of their own")]
    {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
}

#[test]
fn weights_are_parts_of_the_quotas_and_users_local_queues_when_asked_for() {
    let weights = |options: &KueueOptions| -> Vec<String> {
        let (instance, _) = kueue(options).unwrap();
        instance.users().map(|user| format!("{} {}", user.id(), user.weight())).collect()
    };
    let quota = KueueOptions { weights: QueueWeights::Quota, ..options() };
    assert_eq!(weights(&quota), ["team-a 1", "team-b 0.25", "alone 1"]);
    let local = KueueOptions { users: QueueLevel::LocalQueue, ..options() };
    let (instance, report) = kueue(&local).unwrap();
    let sure = "cpu=9 memory=38654705664 nvidia.com/gpu=4";
    assert_eq!(
        tenants(&instance)[2..],
        [
            format!("[team-a] <research w2 sure {sure} most cpu=12"),
            "lab/ada <team-a w3 2.25,9663676416,1".to_owned(),
            "lab/bob <team-a w1 2.25,9663676416,1".to_owned(),
        ]
    );
    assert_eq!(report.count("cluster queues left out: no local queue names them"), 2);
    // A task is no larger than what the queue above is guaranteed.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(&options().files[0]).unwrap();
    let less = text.replace("nominalQuota: 9,", "nominalQuota: 900m,");
    std::fs::write(
        &path,
        less.replace("nominalQuota: 4, borrowingLimit: 4", "nominalQuota: 0, borrowingLimit: 0"),
    )
    .unwrap();
    let (instance, _) = kueue(&KueueOptions { files: vec![path], ..local }).unwrap();
    assert_eq!(tenants(&instance)[3], "lab/ada <team-a w3 0.9,38654705664");
}

/// The shipped fleet with `more` objects, over nodes or over its quotas.
fn fleet(folder: &tempfile::TempDir, more: &str, nodes: bool) -> KueueOptions {
    let data = format!("{}/data", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(format!("{data}/kueue/fleet.yaml")).unwrap();
    let path = folder.path().join("fleet.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text + more).unwrap();
    let nodes = if nodes { vec![format!("{data}/kubernetes/nodes.json")] } else { Vec::new() };
    KueueOptions { files: vec![path], nodes, ..Default::default() }
}

#[test]
fn flavors_are_the_nodes_that_their_labels_and_taints_allow_and_limits_are_over_these() {
    let folder = tempfile::tempdir().unwrap();
    let (instance, _) = kueue(&fleet(&folder, "", true)).unwrap();
    assert_eq!(classes(&instance), ["plain x3 3.92,0", "gpu x1 64,8"]);
    assert_eq!(
        tenants(&instance),
        [
            // Nodes have more than the quotas of the cohort above all.
            "[company] w1 most on gpu cpu=32 nvidia.com/gpu=4 most on plain cpu=11",
            // Its own core and what is below it; it borrows two cores, and lends three of its seven on plain nodes.
            "[labs] <company w3 sure on gpu cpu=32 nvidia.com/gpu=4 sure on plain cpu=7 most on plain cpu=9 kept on plain cpu=4",
            "[vision] <labs w2",
            "vision@gpu <vision w0.5 8,1 on gpu sure cpu=32 nvidia.com/gpu=4 kept on gpu nvidia.com/gpu=1",
            "vision@plain <vision w0.340136054422 1,0 on plain sure cpu=4",
            "speech <labs w1 1,0 on plain sure cpu=2",
            "web <company w1 1,0 on plain sure cpu=4 most on plain cpu=4",
        ]
    );
}

#[test]
fn a_queue_without_cohort_shares_nothing_with_a_cohort_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").display().to_string();
    let queue = |name: &str, cohort: &str, cores: u32| {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{{cohort} resourceGroups: \
             [{{flavors: [{{name: default, resources: [{{name: cpu, nominalQuota: {cores}}}]}}]}}]}}\n"
        )
    };
    std::fs::write(&path, queue("same", "", 4) + &queue("team", "cohortName: same,", 6)).unwrap();
    let (instance, _) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    assert_eq!(classes(&instance), ["default x1 10"]);
    let told = tenants(&instance);
    assert_eq!(
        told,
        [
            "[cohort/same] w1 most cpu=6",
            "same w1 1 sure cpu=4 most cpu=4",
            "team <cohort/same w1 1 sure cpu=6"
        ]
    );
}

#[test]
fn flavors_on_the_same_nodes_count_together_there() {
    let folder = tempfile::tempdir().unwrap();
    let more = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: spare}\n\
                ---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: audio}\nspec: {cohortName: labs, \
                resourceGroups: [{flavors: [{name: spare, resources: [{name: cpu, nominalQuota: 3}]}]}]}\n";
    let (instance, report) = kueue(&fleet(&folder, more, true)).unwrap();
    let told = tenants(&instance);
    // Seven of plain and three of spare; what may be borrowed of plain only limits nobody who may use spare on the same nodes.
    let labs = "[labs] <company w3 sure on gpu cpu=32 nvidia.com/gpu=4 sure on plain+spare cpu=10";
    assert!(told.iter().any(|line| line == labs), "{told:#?}");
    // Twelve cores less than a quarter are there, of quotas of fourteen.
    let short = "lending limits that hold as far as the tasks of the files tell, since nodes have less than all quotas";
    assert_eq!(report.count(short), 1, "{report}");
    assert_eq!(report.count("queues with several quotas on the same servers, which count together there"), 2);
}

#[test]
fn without_nodes_each_flavor_is_a_server_with_all_its_quotas() {
    let folder = tempfile::tempdir().unwrap();
    let (instance, _) = kueue(&fleet(&folder, "", false)).unwrap();
    assert_eq!(classes(&instance), ["gpu x1 32,4", "plain x1 11,0"]);
    let told = tenants(&instance);
    assert_eq!(told[0], "[company] w1");
    assert_eq!(
        told[1],
        "[labs] <company w3 sure on gpu cpu=32 nvidia.com/gpu=4 sure on plain cpu=7 most on plain cpu=9 kept on plain cpu=4"
    );
    assert_eq!(
        told[3],
        "vision@gpu <vision w1 8,1 on gpu sure cpu=32 nvidia.com/gpu=4 kept on gpu nvidia.com/gpu=1"
    );
}

const TOLERATES: &str = "tolerations: [{key: nvidia.com/gpu, operator: Exists}],";

#[test]
fn workloads_that_run_or_wait_are_users_below_their_queue() {
    let folder = tempfile::tempdir().unwrap();
    let workload = |name: &str, queue: &str, more: &str, status: &str| {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: {name}, namespace: vision}}\n\
             spec: {{queueName: {queue}, {more} podSets: [{{name: main, count: 2, template: {{spec: {{{TOLERATES} containers: \
             [{{resources: {{requests: {{cpu: 4, nvidia.com/gpu: 1}}}}}}]}}}}}}, {{name: driver, template: {{spec: \
             {{{TOLERATES} containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}]}}\nstatus: {{conditions: [{{type: Finished, status: \"{status}\"}}]}}\n"
        )
    };
    let more = workload("a", "ada", "", "False")
        + &workload("b", "ada", "active: true,", "False")
        + &workload("c", "ada", "active: false,", "False")
        + &workload("d", "ada", "", "True")
        + &workload("e", "bob", "", "False")
        + &workload("a", "ada", "", "False");
    let (instance, report) = kueue(&fleet(&folder, &more, true)).unwrap();
    assert_eq!(
        tenants(&instance)[2..],
        [
            "[vision] <labs w2 sure on gpu cpu=32 nvidia.com/gpu=4 sure on plain cpu=4 kept on gpu nvidia.com/gpu=1",
            // Of a pod set that does not say how many pods it has there is one.
            "vision:cpu1 <vision w1 1,0 x2",
            "vision:cpu4-nvidia.com/gpu1 <vision w1 4,1 x4",
            "speech <labs w1 1,0 x0 on plain sure cpu=2",
            "web <company w1 1,0 x0 on plain sure cpu=4 most on plain cpu=4",
        ]
    );
    for (count, what) in [
        (2, "workloads running or waiting"),
        (1, "workloads left out: named a second time"),
        (1, "workloads left out: finished"),
        (1, "workloads left out: not active"),
        (1, "workloads left out: their local queue is not here"),
        (2, "queues in which nothing runs or waits"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    let local = KueueOptions { users: QueueLevel::LocalQueue, ..fleet(&folder, &more, true) };
    let (instance, _) = kueue(&local).unwrap();
    let told = tenants(&instance);
    assert!(told.contains(&"vision/ada:cpu1 <vision/ada w1 1,0 x2".to_owned()), "{told:?}");
}

#[test]
fn circles_of_cohorts_unknown_flavors_and_second_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let object = |kind: &str, name: &str, spec: &str| {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
        )
    };
    let quota = |flavor: &str| {
        format!(
            "{{resourceGroups: [{{flavors: [{{name: {flavor}, resources: [{{name: cpu, nominalQuota: 1}}]}}]}}]}}"
        )
    };
    for (more, nodes, told) in [
        (
            object("Cohort", "one", "{parentName: two}") + &object("Cohort", "two", "{parent: one}"),
            false,
            "Cohort one: spec.parentName = two: the cohort is below itself",
        ),
        (
            object("ClusterQueue", "lost", &quota("arm")),
            true,
            "ClusterQueue lost: flavor = arm: there is no ResourceFlavor of this name in the files",
        ),
        (
            object("ClusterQueue", "lost", &quota("arm")),
            false,
            "ClusterQueue lost: flavor = arm: there is no ResourceFlavor of this name in the files",
        ),
        (
            object("Cohort", "lost", &quota("arm")),
            false,
            "Cohort lost: flavor = arm: there is no ResourceFlavor",
        ),
        (
            object(
                "ClusterQueue",
                "own",
                &quota("plain").replace("flavors", "coveredResources: [memory], flavors"),
            ),
            false,
            "ClusterQueue own: spec.resourceGroups[0], flavor plain, cpu: is not among the coveredResources of its group, \
             which are memory",
        ),
        (object("ClusterQueue", "web", &quota("plain")), false, "metadata.name = web: is named twice"),
        // Which of the two would be in force?
        (
            object("ResourceFlavor", "plain", "{nodeLabels: {other: label}}"),
            true,
            "ResourceFlavor plain: metadata.name = plain: is named twice",
        ),
        (object("Cohort", "labs", "{}"), false, "Cohort labs: metadata.name = labs: is named twice"),
    ] {
        let error = kueue(&fleet(&folder, &more, nodes)).unwrap_err().to_string();
        assert!(error.contains("fleet.yaml") && error.contains(told), "{error}");
    }
}

/// Two plain nodes, one of them with a label, and one with GPUs that is tainted.
const THREE_NODES: &str = r#"{"items": [
{"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "3920m"}}},
{"kind": "Node", "metadata": {"name": "b", "labels": {"zone": "z2", "gpu": "a100"}},
 "spec": {"taints": [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]},
 "status": {"allocatable": {"cpu": "64", "nvidia.com/gpu": "8"}}},
{"kind": "Node", "metadata": {"name": "c", "labels": {"zone": "z2"}}, "status": {"allocatable": {"cpu": "8"}}}]}"#;

/// What becomes of queues on the three nodes: of flavor `any`, `z2` and `gpu`, the last with these tolerations.
fn on_three_nodes(tolerations: &str, queues: &[(&str, &str)]) -> (Vec<String>, ImportReport) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let api = "apiVersion: kueue.x-k8s.io/v1beta1";
    let mut text = format!(
        "{api}\nkind: ResourceFlavor\nmetadata: {{name: gpu}}\nspec: {{nodeLabels: {{gpu: a100}}, tolerations: [{tolerations}]}}\n\
         ---\n{api}\nkind: ResourceFlavor\nmetadata: {{name: z2}}\nspec: {{nodeLabels: {{zone: z2}}}}\n---\n{api}\n\
         kind: ResourceFlavor\nmetadata: {{name: any}}\n"
    );
    for (name, spec) in queues {
        text += &format!("---\n{api}\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n");
    }
    let (files, nodes) = (vec![write("queues.yaml", &text)], vec![write("nodes.json", THREE_NODES)]);
    let (instance, report) = kueue(&KueueOptions { files, nodes, ..Default::default() }).unwrap();
    (tenants(&instance), report)
}

const CPU_AND_GPU: &str = "cohort: root, resourceGroups: [{flavors: [{name: any, resources: [{name: cpu, nominalQuota: 3}]}]}, \
                           {flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]}]";
const CPU: &str =
    "cohort: root, resourceGroups: [{flavors: [{name: any, resources: [{name: cpu, nominalQuota: 1}]}]}]";

#[test]
fn a_cohorts_limit_stays_when_one_of_its_queues_is_left_out() {
    let (told, report) = on_three_nodes("", &[("t1", CPU_AND_GPU), ("t2", CPU)]);
    assert_eq!(report.count("queues left out at any+gpu: no server is there"), 1, "{report}");
    assert_eq!(told, ["[root] w1 most on a|c cpu=4", "t2 <root w1 1,0 on a|c sure cpu=1"]);
}

#[test]
fn tasks_have_the_tolerations_of_all_their_flavors_and_a_cohorts_limit_is_over_all_nodes_of_a_flavor() {
    let tolerations = "{key: gpu, operator: Exists}";
    let (told, report) = on_three_nodes(tolerations, &[("t1", CPU_AND_GPU), ("t2", CPU)]);
    assert_eq!(report.count("queues left out at any+gpu: no server is there"), 0, "{report}");
    assert!(told[0].contains(" cpu=4") && told[0].contains(" on any+gpu nvidia.com/gpu=4"), "{told:#?}");
    assert!(!told[0].contains("on a|c "), "{told:#?}");
    assert!(told[1].starts_with("t1 <root w1 ") && told[1].contains(" on any+gpu "), "{told:#?}");
    // Of flavors in one group a task has one.
    let either = CPU_AND_GPU.replace("}]}, {flavors: [", "}, ").replace("cohort: root, ", "");
    let (told, _) = on_three_nodes(tolerations, &[("t1", &either)]);
    assert!(told.iter().any(|line| line.starts_with("t1@any") && line.contains(" on a|c ")), "{told:#?}");
}

#[test]
fn stopped_queues_are_left_out_and_counted() {
    let spec = |policy: &str| CPU.replace("cohort: root", &format!("stopPolicy: {policy}"));
    let (none, hold, drain) = (spec("None"), spec("Hold"), spec("HoldAndDrain"));
    let (told, report) = on_three_nodes("", &[("open", &none), ("held", &hold), ("drained", &drain)]);
    assert!(told.len() == 1 && told[0].starts_with("open "), "{told:#?}");
    assert_eq!(report.count("cluster queues left out: stopped"), 2, "{report}");
}

#[test]
fn a_flavor_without_nodes_leaves_its_queue_out() {
    let folder = tempfile::tempdir().unwrap();
    let options = fleet(&folder, "", true);
    let text = std::fs::read_to_string(&options.files[0]).unwrap();
    std::fs::write(&options.files[0], text.replace("hostname: gpu-1", "hostname: gone")).unwrap();
    let (instance, report) = kueue(&options).unwrap();
    assert!(instance.users().all(|user| user.id() != "vision@gpu"), "{:?}", tenants(&instance));
    assert_eq!(report.count("queues left out at gpu: no server is there"), 1, "{report}");
}

#[test]
fn each_defect_is_named_with_file_object_field_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&options().files[0]).unwrap();
    for (from, to, told) in [
        (
            "nominalQuota: 3000m",
            "nominalQuota: 3000x",
            "ClusterQueue team-b: spec.resourceGroups[0], flavor default, cpu.nominalQuota = 3000x",
        ),
        ("borrowingLimit: 3}", "borrowingLimit: -3}", "cpu.borrowingLimit = -3: must be >= 0"),
        ("weight: \"2\"", "weight: two", "ClusterQueue team-a: spec.fairSharing.weight = two"),
        (
            "lendingLimit: 6Gi",
            "lendingLimit: 16Gi",
            "memory.lendingLimit = 16Gi: is more than the nominalQuota",
        ),
        ("nominalQuota: 4}]\n---", "quota: 4}]\n---", "missing field `nominalQuota`"),
    ] {
        assert!(text.contains(from), "{from}");
        let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap_err().to_string();
        assert!(error.contains("queues.yaml") && error.contains(told), "{to}: {error}");
    }
    let none = folder.path().join("none.yaml").to_str().unwrap().to_owned();
    std::fs::write(&none, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    let error = kueue(&KueueOptions { files: vec![none], ..Default::default() }).unwrap_err().to_string();
    assert!(
        error.contains(
            "there is no ClusterQueue with a quota here, but 1 object of kind ConfigMap; `kubectl get"
        ),
        "{error}"
    );
}

#[test]
fn real_queues_become_the_users_and_pools_that_their_files_name() {
    for (name, expected) in [
        (
            "00-resource-flavor.yaml,01-cluster-queues.yaml,01.5-cohorts.yaml",
            "default-flavor+gpu: 3 queues, 1.6 cpu",
        ),
        ("quick-start-setup.yaml", "default-flavor: 1 queues, 9 cpu"),
        ("single-clusterqueue-setup.yaml", "default-flavor: 1 queues, 9 cpu"),
        ("admission-fair-sharing-setup.yaml", "default-flavor: 1 queues, 9 cpu"),
        ("sample-queues.yaml", "tas-flavor: 1 queues, 100 cpu"),
        ("sample-gpu-queues.yaml", "tas-flavor: 1 queues, 100 cpu"),
        ("shared-quota-setup.yaml", "credits+on-demand+spot: 1 queues, 18 cpu"),
    ] {
        let files: Option<Vec<String>> =
            name.split(',').map(|file| real_file(&format!("kueue/{file}"))).collect();
        let Some(files) = files else { return };
        let (instance, _) = kueue(&KueueOptions { files, ..Default::default() }).unwrap();
        let [class] = instance.classes() else { panic!("{name}: {:?}", instance.classes()) };
        let found = format!("{}: {} queues, {} cpu", class.id, instance.users().count(), class.capacity[0]);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn nobody_is_warned_about_the_size_of_tasks_that_were_made_up() {
    let (instance, _) = kueue(&options()).unwrap();
    assert_eq!(fairplan_instances::lint(&instance), []);
}

/// What becomes of these queues without a ResourceFlavor and without nodes, each with its specification.
fn of_quotas_only(queues: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let object = |(name, spec): &(&str, &str)| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
        )
    };
    std::fs::write(&path, queues.iter().map(object).collect::<String>()).unwrap();
    let (instance, _) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    (classes(&instance), tenants(&instance))
}

#[test]
fn a_flavor_of_two_queues_without_a_cohort_keeps_its_name_and_each_has_its_own_quota_of_it() {
    let plain = |cpu: u64| {
        format!(
            "resourceGroups: [{{flavors: [{{name: plain, resources: [{{name: cpu, nominalQuota: {cpu}}}]}}]}}]"
        )
    };
    let (classes, told) = of_quotas_only(&[("a", &plain(10)), ("b", &plain(20))]);
    assert_eq!(classes, ["plain x1 30"]);
    assert_eq!(told, ["a w1 1 sure cpu=10 most cpu=10", "b w1 1 sure cpu=20 most cpu=20"]);
}

#[test]
fn a_single_queue_on_several_flavors_is_a_group_and_a_single_cohort_too() {
    let flavor =
        |name: &str, cpu: u64| format!("{{name: {name}, resources: [{{name: cpu, nominalQuota: {cpu}}}]}}");
    let spec = format!("resourceGroups: [{{flavors: [{}, {}]}}]", flavor("spot", 4), flavor("reserved", 8));
    let (_, told) = of_quotas_only(&[("team", &spec)]);
    assert_eq!(
        told,
        [
            "[team] w1",
            "team@reserved <team w1 1 on reserved sure cpu=8",
            "team@spot <team w1 1 on spot sure cpu=4",
        ]
    );
    let spec = format!("cohortName: all, resourceGroups: [{{flavors: [{}]}}]", flavor("spot", 4));
    assert_eq!(of_quotas_only(&[("team", &spec)]).1, ["[all] w1", "team <all w1 1 sure cpu=4"]);
}

#[test]
fn a_task_of_a_queue_with_memory_of_gpus_is_one_core_with_its_part() {
    // Kueue's own example of dynamic resource allocation.
    let resource = |name: &str, amount: &str| format!("{{name: {name}, nominalQuota: {amount}}}");
    let all =
        [resource("cpu", "40"), resource("memory", "200Gi"), resource("gpu.memory", "800Gi")].join(", ");
    let spec = format!("resourceGroups: [{{flavors: [{{name: default, resources: [{all}]}}]}}]");
    let (_, told) = of_quotas_only(&[("queue", &spec)]);
    let (memory, of_gpus) = (5u64 << 30, 20u64 << 30);
    assert!(told[0].starts_with(&format!("queue w1 1,{memory},{of_gpus} ")), "{told:?}");
}

/// What becomes of these objects of Kueue, each with its kind, its name and its specification.
fn of_objects(objects: &[(&str, &str, &str)]) -> (Vec<String>, Vec<String>, ImportReport) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let object = |(kind, name, spec): &(&str, &str, &str)| {
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}, namespace: \"{namespace}\"}}\nspec: {{{spec}}}\n---\n"
        )
    };
    let text: String = objects.iter().map(object).collect();
    std::fs::write(&path, text.replace(", namespace: \"\"", "")).unwrap();
    let (instance, report) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    (classes(&instance), tenants(&instance), report)
}

#[test]
fn what_a_queue_does_not_lend_is_kept_on_its_flavor_whether_or_not_its_tasks_are_known() {
    let flavors = |lent: &str| {
        format!(
            "cohortName: p, resourceGroups: [{{flavors: [{{name: od, resources: [{{name: cpu, nominalQuota: 20{lent}}}]}}, \
             {{name: spot, resources: [{{name: cpu, nominalQuota: 20}}]}}]}}]"
        )
    };
    let (own, all) = (flavors(", lendingLimit: 0"), flavors(""));
    let queues = [("ClusterQueue", "a", own.as_str()), ("ClusterQueue", "b", all.as_str())];
    let (_, told, _) = of_objects(&queues);
    assert!(told.contains(&"a@od <a w0.5 1 on od sure cpu=20 kept on od cpu=20".to_owned()), "{told:#?}");
    let work =
        "podSets: [{template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}], queueName: lq";
    let busy = [("LocalQueue", "b/lq", "clusterQueue: b"), ("Workload", "b/w", work)];
    let (_, told, _) = of_objects(&[&queues[..], &busy].concat());
    assert!(told.contains(&"a@od <a w0.5 1 x0 on od sure cpu=20 kept on od cpu=20".to_owned()), "{told:#?}");
}

#[test]
fn where_nodes_have_more_than_the_quotas_nobody_has_what_others_do_not_lend() {
    let quota = |more: &str| {
        format!(
            "resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: f, resources: [{{name: cpu, {more}}}]}}]}}]"
        )
    };
    let queue = |name: &str, of: &str, more: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{cohortName: {of}, {}}}\n---\n",
            quota(more)
        )
    };
    let cohort = |more: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {{name: team}}\nspec: {{parentName: org{more}}}\n---\n"
        )
    };
    let flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let node = r#"{"items": [{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "100", "pods": "110"}}}]}"#;
    std::fs::write(path("nodes.json"), node).unwrap();
    let told = |objects: &[String]| {
        std::fs::write(path("queues.yaml"), objects.concat() + flavor).unwrap();
        let files = vec![path("queues.yaml")];
        let (instance, _) =
            kueue(&KueueOptions { files, nodes: vec![path("nodes.json")], ..Default::default() }).unwrap();
        tenants(&instance)
    };
    // Of 14 that the quotas are, b keeps 2 of its 6.
    let two =
        told(&[queue("a", "org", "nominalQuota: 8"), queue("b", "org", "nominalQuota: 6, lendingLimit: 4")]);
    let limited = |told: &[String], name: &str, limit: &str| {
        told.iter().any(|line| line.starts_with(name) && line.contains(&format!("most cpu={limit}")))
    };
    assert!(limited(&two, "a ", "12"), "{two:#?}");
    assert!(!two.iter().any(|line| line.starts_with("b ") && line.contains("most")), "{two:#?}");
    // Of 24 that they are, team lends no more than 3 of its 14, of which b keeps 2 from a.
    let lent = format!(", {}", quota("nominalQuota: 0, lendingLimit: 3"));
    let nested = told(&[
        cohort(&lent),
        queue("a", "team", "nominalQuota: 8"),
        queue("b", "team", "nominalQuota: 6, lendingLimit: 4"),
        queue("c", "org", "nominalQuota: 10"),
    ]);
    assert!(limited(&nested, "a ", "22") && limited(&nested, "c ", "13"), "{nested:#?}");
}

#[test]
fn who_lends_nothing_of_a_flavor_leaves_the_others_without_it() {
    let quota = |flavor: &str, more: &str| format!("{{name: {flavor}, resources: [{{name: cpu, {more}}}]}}");
    let of = |flavors: String| format!("cohortName: c, resourceGroups: [{{flavors: [{flavors}]}}]");
    let owner = of(quota("f", "nominalQuota: 8, lendingLimit: 0"));
    let guest = of(format!("{}, {}", quota("f", "nominalQuota: 0"), quota("g", "nominalQuota: 4")));
    let (_, told, report) =
        of_objects(&[("ClusterQueue", "owner", &owner), ("ClusterQueue", "guest", &guest)]);
    assert!(told.iter().any(|user| user.contains("owner") && user.contains("sure cpu=8")), "{told:#?}");
    assert!(!told.iter().any(|user| user.contains("guest@f")), "{told:#?}");
    assert_eq!(
        report.count("queues left out at f: another keeps all that is there, used or not"),
        1,
        "{report}"
    );
}

/// What an idle queue keeps is nobody's: its cohort is sure of it only as far as the queue has tasks for it.
#[test]
fn cohorts_are_not_sure_of_what_an_idle_queue_of_theirs_does_not_lend() {
    let quota = |of: &str, more: &str| {
        format!(
            "cohortName: {of}, resourceGroups: [{{flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: 10{more}}}]}}]}}]"
        )
    };
    let work = |queue: &str, count: u64| {
        format!(
            "queueName: {queue}, podSets: [{{name: main, count: {count}, template: {{spec: {{containers: [{{name: c, resources: {{requests: \
             {{cpu: 1}}}}}}]}}}}}}]"
        )
    };
    let sure = |tasks: u64, lending: u64| {
        let (prod, dev) = (quota("team", &format!(", lendingLimit: {lending}")), quota("team", ""));
        let (other, of_prod, of_dev) = (quota("org", ""), work("prod", tasks), work("dev", 30));
        let objects = [
            ("Cohort", "org", ""),
            ("Cohort", "team", "parentName: org"),
            ("ClusterQueue", "prod", &prod),
            ("ClusterQueue", "dev", &dev),
            ("ClusterQueue", "other", &other),
            ("LocalQueue", "ns/prod", "clusterQueue: prod"),
            ("LocalQueue", "ns/dev", "clusterQueue: dev"),
            ("Workload", "ns/p", &of_prod),
            ("Workload", "ns/d", &of_dev),
        ];
        let (_, told, _) = of_objects(&objects);
        told.iter().find(|line| line.starts_with("[team]")).cloned().unwrap()
    };
    for (tasks, lending, expected) in [(0, 0, 10), (4, 0, 14), (30, 0, 20), (0, 6, 16), (0, 10, 20)] {
        let told = sure(tasks, lending);
        assert!(told.contains(&format!("sure cpu={expected}")), "{tasks} tasks, {lending} lent: {told}");
    }
}

#[test]
fn a_cohort_without_queues_is_nobody_and_lends_through_the_cohorts_above() {
    let quota = |more: &str, amount: u64| {
        format!(
            "{more}resourceGroups: [{{flavors: [{{name: plain, resources: [{{name: cpu, nominalQuota: {amount}}}]}}]}}]"
        )
    };
    let (spare, own) = (quota("parentName: org, ", 50), quota("cohortName: org, ", 10));
    let queue = ("ClusterQueue", "a", own.as_str());
    let (classes, told, report) = of_objects(&[("Cohort", "org", ""), ("Cohort", "spare", &spare), queue]);
    assert_eq!(classes, ["plain x1 60"]);
    assert_eq!(told, ["[org] w1", "a <org w1 1 sure cpu=10"]);
    assert_eq!(report.count("cohorts without queues, whose quotas are lent by the cohort above"), 1);

    // Through another such cohort, which lends no more than 30 of what it and those in it have.
    let inner = quota("parentName: spare, ", 5);
    let some = spare.replace("nominalQuota: 50", "nominalQuota: 50, lendingLimit: 30");
    let (classes, told, _) = of_objects(&[("Cohort", "inner", &inner), ("Cohort", "spare", &some), queue]);
    assert_eq!((classes, told.len()), (vec!["plain x1 40".to_owned()], 2));

    // Nobody may use what a cohort has that is in no other.
    let lonely = quota("", 50);
    let (classes, told, report) = of_objects(&[("Cohort", "lonely", &lonely), queue]);
    assert_eq!(classes, ["plain x1 10"]);
    assert_eq!(told, ["[org] w1", "a <org w1 1 sure cpu=10"]);
    assert_eq!(report.count("cohorts left out, in which there is no queue with a quota"), 1, "{report}");
}

#[test]
fn guarantees_of_more_than_there_is_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let options = fleet(&folder, "", true);
    let text = std::fs::read_to_string(&options.files[0]).unwrap();
    std::fs::write(&options.files[0], text.replace("nominalQuota: 32", "nominalQuota: 320")).unwrap();
    let (_, report) = kueue(&options).unwrap();
    assert!(report.count("guarantees are of more than their servers have") > 0, "{report}");
}

#[test]
fn a_queue_that_may_have_no_memory_is_left_out_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    let queue = |name: &str, memory: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{resourceGroups: [{{coveredResources: [cpu, memory], \
             flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: 4}}, {{name: memory, nominalQuota: {memory}}}]}}]}}]}}\n---\n"
        )
    };
    std::fs::write(&path, queue("blue", "0") + &queue("red", "4Gi")).unwrap();
    let (_, report) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    assert!(report.to_string().contains("1 queue left out: its limit is 0: blue (memory)\n"), "{report}");
}

/// What is said of the shipped queues with a piece exchanged, and the demand of the first user.
fn told_with(from: &str, to: &str) -> (String, Vec<String>) {
    let text = std::fs::read_to_string(&options().files[0]).unwrap();
    assert!(text.contains(from), "{from}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text.replace(from, to)).unwrap();
    let (instance, report) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    let demand = instance.users().next().unwrap().demand().iter().map(Decimal::to_string).collect();
    (report.to_string(), demand)
}

#[test]
fn a_quota_of_gpus_that_is_written_as_bytes_are_is_told_and_makes_no_task_of_a_byte() {
    let (report, demand) =
        told_with("nvidia.com/gpu, nominalQuota: 4,", "nvidia.com/gpu, nominalQuota: 1Gi,");
    let told = "1 amount in units of bytes of what is counted in ones, read as the scheduler does (1Gi is 1,073,741,824): nvidia.com/gpu 1Gi";
    assert!(report.contains(told), "{report}");
    // A ninth of the quotas of nine cores, 36 GiB and a billion GPUs.
    assert_eq!(demand, ["1", "4294967296", "119304647.111"]);
}

#[test]
fn preemption_and_cohorts_that_no_object_declares_are_told() {
    let (report, _) = told_with("cohortName: research", "cohortName: research");
    assert!(report.contains("without quotas or limits, as in Kueue: department"), "{report}");
    let declared = "kind: Cohort\nmetadata: {name: department}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: research}";
    let (report, _) = told_with("kind: Cohort\nmetadata: {name: research}", declared);
    assert!(!report.contains("department"), "{report}");
    for (preemption, told) in [
        ("reclaimWithinCohort: Never", Some("reclaimWithinCohort")),
        ("reclaimWithinCohort: LowerPriority", Some("reclaimWithinCohort")),
        ("reclaimWithinCohort: Any", None),
        ("withinClusterQueue: LowerPriority", Some("withinClusterQueue")),
        ("withinClusterQueue: Never", None),
        ("borrowWithinCohort: {policy: LowerPriority}", Some("borrowWithinCohort")),
    ] {
        let to = format!("cohortName: research\n  preemption: {{{preemption}}}");
        let (report, _) = told_with("cohortName: research", &to);
        match told {
            Some(told) => {
                assert!(report.contains(told) && report.contains("team-a"), "{preemption}\n{report}")
            }
            None => {
                assert!(!report.contains("Cohort)") && !report.contains("Queue)"), "{preemption}\n{report}")
            }
        }
    }
}
