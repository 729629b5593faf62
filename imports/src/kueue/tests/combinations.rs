//! Queues whose tasks take one flavor of each of several resource groups: where they run, and of what each flavor's quota is.

use super::*;

/// A node of two labels, `capacity` and `accelerator`.
fn node(name: &str, labels: [&str; 2], cpu: u64, gpus: u64) -> String {
    let [capacity, accelerator] = labels;
    format!(
        "kind: Node\nmetadata: {{name: {name}, labels: {{capacity: {capacity}, accelerator: {accelerator}}}}}\n\
         status: {{allocatable: {{cpu: {cpu}, nvidia.com/gpu: {gpus}}}}}\n---\n"
    )
}

/// On-demand nodes with either GPU, and spot nodes with the cheap one.
fn nodes() -> String {
    node("n1", ["on-demand", "a100"], 32, 8)
        + &node("n2", ["on-demand", "t4"], 16, 4)
        + &node("n3", ["spot", "t4"], 16, 4)
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
    )
}

/// A resource group: the resource, and its flavors with what they say of it.
fn group(resource: &str, flavors: &[(&str, &str)]) -> String {
    let flavor = |(name, quota): &(&str, &str)| {
        format!("{{name: {name}, resources: [{{name: {resource}, nominalQuota: {quota}}}]}}")
    };
    let flavors = flavors.iter().map(flavor).collect::<Vec<_>>().join(", ");
    format!("{{coveredResources: [{resource}], flavors: [{flavors}]}}")
}

fn queue(name: &str, more: &str, groups: &[String]) -> String {
    object("ClusterQueue", name, &format!("{more}resourceGroups: [{}]", groups.join(", ")))
}

fn read_on(queues: &str, nodes: Option<&str>) -> Result<(Instance, ImportReport), String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let flavor =
        |name: &str, label: &str| object("ResourceFlavor", name, &format!("nodeLabels: {{{label}: {name}}}"));
    let flavors = flavor("on-demand", "capacity")
        + &flavor("spot", "capacity")
        + &flavor("a100", "accelerator")
        + &flavor("t4", "accelerator");
    let files = vec![write("queues.yaml", &(flavors + queues))];
    let nodes = nodes.map(|nodes| write("nodes.yaml", nodes)).into_iter().collect();
    kueue(&KueueOptions { files, nodes, ..Default::default() }).map_err(|failure| failure.to_string())
}

fn on_nodes(queues: &str) -> (Vec<String>, ImportReport) {
    let (instance, report) = read_on(queues, Some(&nodes())).unwrap();
    (tenants(&instance), report)
}

fn team() -> String {
    queue(
        "team",
        "",
        &[
            group("cpu", &[("on-demand", "8"), ("spot", "12")]),
            group("nvidia.com/gpu", &[("a100", "4"), ("t4", "2")]),
        ],
    )
}

const NONE_THERE: &str = "combinations of flavors left out: no node lets in tasks with all of them";

#[test]
fn the_quota_of_a_flavor_is_one_over_the_nodes_of_all_combinations_with_it() {
    let (told, report) = on_nodes(&team());
    assert_eq!(
        told,
        [
            // Without a cohort there is nobody to borrow from; and nobody else to be sure of anything against.
            "[team] w1 most on spot+t4 cpu=12 most on a100+on-demand|on-demand+t4 cpu=8 most on a100+on-demand nvidia.com/gpu=4 most on \
             on-demand+t4|spot+t4 nvidia.com/gpu=2",
            // Each in the proportions of its own two flavors, and as heavy as the largest part of its node that they are.
            "team@on-demand+a100 <team w0.5 2,1 on a100+on-demand",
            "team@on-demand+t4 <team w0.5 4,1 on on-demand+t4",
            "team@spot+t4 <team w0.75 6,1 on spot+t4",
        ]
    );
    assert_eq!(report.count(NONE_THERE), 1, "{report}");
    assert!(report.to_string().contains(": team spot+a100\n"), "{report}");
}

#[test]
fn what_a_cohort_has_of_a_flavor_is_one_over_the_combinations_of_all_its_queues() {
    let a = queue(
        "a",
        "cohortName: lab, ",
        &[
            group("cpu", &[("on-demand", "8, borrowingLimit: 4"), ("spot", "0")]),
            group("nvidia.com/gpu", &[("a100", "4, lendingLimit: 1"), ("t4", "2")]),
        ],
    );
    let b = queue("b", "cohortName: lab, ", &[group("cpu", &[("spot", "10")])]);
    let (told, _) = on_nodes(&(a + &b));
    assert_eq!(
        told,
        [
            "[lab] w1 most on spot+t4 cpu=10 most on a100+on-demand|on-demand+t4 cpu=8 most on a100+on-demand nvidia.com/gpu=4 most on \
             on-demand+t4|spot+t4 nvidia.com/gpu=2",
            "[a] <lab w1 sure on a100+on-demand|on-demand+t4 cpu=8 sure on a100+on-demand nvidia.com/gpu=4 sure on \
             on-demand+t4|spot+t4 nvidia.com/gpu=2 kept on a100+on-demand nvidia.com/gpu=3",
            "a@on-demand+a100 <a w0.5 2,1 on a100+on-demand",
            "a@on-demand+t4 <a w0.5 4,1 on on-demand+t4",
            // Of spot nodes it has no quota: its tasks there have the proportions of these.
            "a@spot+t4 <a w0.5 4,1 on spot+t4",
            "b <lab w1 1,0 on spot+t4 sure cpu=10",
        ]
    );
}

#[test]
fn known_tasks_may_run_on_the_nodes_of_every_combination() {
    let workload = "kind: LocalQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: lq, namespace: ns}\nspec: {clusterQueue: team}\n\
                    ---\nkind: Workload\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: job, namespace: ns}\nspec: {queueName: lq, \
                    podSets: [{count: 7, template: {spec: {containers: [{resources: {requests: {cpu: 4, nvidia.com/gpu: 1}}}]}}}]}\n";
    let (told, _) = on_nodes(&(team() + workload));
    assert!(told[0].contains(" most on a100+on-demand|on-demand+t4 cpu=8"), "{told:#?}");
    assert_eq!(told[1..], ["team:cpu4-nvidia.com/gpu1 <team w1 4,1 x7"]);
}

#[test]
fn tasks_that_ask_for_nothing_of_a_group_take_no_flavor_of_it() {
    let pods = |name: &str, requests: &str| {
        format!(
            "{{name: {name}, count: 3, template: {{spec: {{containers: [{{resources: {{requests: {{{requests}}}}}}}]}}}}}}"
        )
    };
    let workload = format!(
        "kind: LocalQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: lq, namespace: ns}}\nspec: {{clusterQueue: plain}}\n---\n\
         kind: Workload\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: job, namespace: ns}}\nspec: {{queueName: lq, podSets: [{}, {}]}}\n",
        pods("driver", "cpu: 2"),
        pods("worker", "cpu: 4, nvidia.com/gpu: 1")
    );
    // A flavor of cores that every node has, and GPUs of some nodes.
    let groups = [group("cpu", &[("anywhere", "20")]), group("nvidia.com/gpu", &[("a100", "4")])];
    let anywhere = object("ResourceFlavor", "anywhere", "");
    let (told, _) = on_nodes(&(anywhere + &queue("plain", "", &groups) + &workload));
    // The cores of both count in the one quota, which is over all nodes.
    assert_eq!(
        told,
        [
            "[plain] w1 most on anywhere|a100+anywhere cpu=20 most on a100+anywhere nvidia.com/gpu=4",
            "plain:cpu2 <plain w1 2,0 x3",
            "plain:cpu4-nvidia.com/gpu1 <plain w1 4,1 x3 on a100+anywhere",
        ]
    );
}

#[test]
fn a_queue_left_with_one_combination_is_a_user() {
    let groups = [group("cpu", &[("spot", "8")]), group("nvidia.com/gpu", &[("a100", "4"), ("t4", "2")])];
    let (told, report) = on_nodes(&queue("team", "", &groups));
    assert_eq!(report.count(NONE_THERE), 1, "{report}");
    assert_eq!(
        told,
        ["team w1 4,1 on spot+t4 sure cpu=8 nvidia.com/gpu=2 most on spot+t4 cpu=8 nvidia.com/gpu=2"]
    );
}

#[test]
fn without_nodes_the_flavors_of_several_groups_are_one_place_which_is_told() {
    let (instance, report) = read_on(&team(), None).unwrap();
    assert_eq!(classes(&instance), ["a100+on-demand+spot+t4 x1 20,6"]);
    let told = "without nodes these flavors are one place here, so that a task may have of each, which in Kueue takes one: team";
    assert!(report.to_string().contains(told), "{report}");
    assert!(!on_nodes(&team()).1.to_string().contains("one place"));
}

#[test]
fn too_many_combinations_are_refused_by_the_name_of_the_queue() {
    let many = |resource: &str, prefix: &str| {
        let names: Vec<String> = (0..32).map(|at| format!("{prefix}{at}")).collect();
        let flavors: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        (names.clone(), group(resource, &flavors))
    };
    let ((cpu, one), (gpu, other)) = (many("cpu", "c"), many("nvidia.com/gpu", "g"));
    let flavors: String =
        cpu.iter().chain(&gpu).map(|name| object("ResourceFlavor", name, "nodeLabels: {}")).collect();
    let text = flavors + &queue("wide", "", &[one, other]);
    let error = read_on(&text, Some(&nodes())).unwrap_err();
    assert!(
        error.contains(
            "ClusterQueue wide: resourceGroups = 32 combinations with 32 more flavors: are more than 1000"
        ),
        "{error}"
    );
    assert!(read_on(&text, None).is_ok());
}

#[test]
fn the_memory_of_either_architecture_is_one_quota_as_in_kueues_documentation() {
    // Its page "Administer Cluster Quotas": multiple flavors, with nodes of two architectures.
    let groups =
        [group("cpu", &[("x86", "9"), ("arm", "12")]), group("memory", &[("default-flavor", "84Gi")])];
    let flavors = object("ResourceFlavor", "x86", "nodeLabels: {cpu-arch: x86}")
        + &object("ResourceFlavor", "arm", "nodeLabels: {cpu-arch: arm}")
        + &object("ResourceFlavor", "default-flavor", "");
    let node = |name: &str, arch: &str| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{cpu-arch: {arch}}}}}\nstatus: {{allocatable: {{cpu: 16, memory: 64Gi}}}}\n---\n"
        )
    };
    let nodes = node("n1", "x86") + &node("n2", "arm");
    let (instance, _) = read_on(&(flavors + &queue("cluster-queue", "", &groups)), Some(&nodes)).unwrap();
    let told = tenants(&instance);
    let all = 84u64 << 30;
    assert!(told[0].starts_with("[cluster-queue] w1 "), "{told:#?}");
    let rows = [
        " most on default-flavor+x86 cpu=9".to_owned(),
        " most on arm+default-flavor cpu=12".to_owned(),
        format!(" most on default-flavor+x86|arm+default-flavor memory={all}"),
    ];
    for row in rows {
        assert!(told[0].contains(&row), "{row}: {told:#?}");
    }
    assert_eq!(told.len(), 3, "{told:#?}");
}

#[test]
fn quotas_of_what_no_server_has_and_devices_that_no_quota_is_of_are_told_by_name() {
    let quota = |resource: &str| format!("{{name: {resource}, nominalQuota: 4, borrowingLimit: 2}}");
    let quotas = format!("[{}, {}]", quota("cpu"), quota("example.com/slice"));
    let groups = format!(
        "{{coveredResources: [cpu, example.com/slice], flavors: [{{name: a100, resources: {quotas}}}]}}"
    );
    let (told, report) = on_nodes(&queue("q", "cohortName: c, ", &[groups]));
    assert!(told.iter().any(|line| line.starts_with("q ")), "{told:#?}");
    let report = report.to_string();
    for why in [
        "1 guarantee left out: no server that the queue may use has the resource: q (example.com/slice)\n",
        "1 limit left out: no server that the queue may use has the resource: c (example.com/slice)\n",
        "3 nodes have nvidia.com/gpu, which no queue asks for: it is left out\n",
    ] {
        assert!(report.contains(why), "{why}{report}");
    }
    assert!(!report.contains("no task of the queue"), "{report}");
}

#[test]
fn limits_and_flavors_that_are_not_kept_without_nodes_are_told_by_queue_and_flavor() {
    let memory = || group("memory", &[("m", "36")]);
    let cores = group("cpu", &[("arm", "9, borrowingLimit: 0"), ("x86", "0")]);
    let text = queue("a", "cohort: all, ", &[cores, memory()])
        + &queue("b", "cohort: all, ", &[group("cpu", &[("x86", "6")]), memory()]);
    let flavors = object("ResourceFlavor", "arm", "") + &object("ResourceFlavor", "x86", "");
    let (_, report) = read_on(&(flavors.clone() + &object("ResourceFlavor", "m", "") + &text), None).unwrap();
    for told in [
        "1 borrowing limit of one of several flavors that are one place here: it holds for these flavors together only: a (cpu of arm)\n",
        "1 cluster queue that may use a flavor here of which it has no quota, as it is one place with its flavors: b (arm)\n",
    ] {
        assert!(report.to_string().contains(told), "{told}\n{report}");
    }
    let both = text.replace("nominalQuota: 0}", "nominalQuota: 0, borrowingLimit: 2}");
    let (instance, report) = read_on(&(flavors + &object("ResourceFlavor", "m", "") + &both), None).unwrap();
    assert!(tenants(&instance).iter().any(|line| line.starts_with("a ") && line.contains("most cpu=11")));
    let told = "2 borrowing limits of one of several flavors that are one place here: they hold for these flavors together only: a (cpu of arm), a \
                (cpu of x86)\n";
    assert!(report.to_string().contains(told), "{report}");
}
