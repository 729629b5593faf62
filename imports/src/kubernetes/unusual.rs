//! Pods and nodes that are not as a healthy cluster prints them: without a status, on closed or changed nodes, with GPUs in
//! annotations.

use super::*;

/// Imports nodes and pods from texts of YAML.
fn import(
    nodes: &str,
    pods: &str,
    all_nodes: bool,
    daemons: Daemons,
) -> Result<(Instance, ImportReport), ImportFailure> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        vec![path]
    };
    let (nodes, pods) = (file("nodes.yaml", nodes), file("pods.yaml", pods));
    kubernetes(&KubernetesOptions {
        nodes,
        pods,
        all_nodes,
        daemons,
        grouping: TaskGrouping::User,
        ..Default::default()
    })
}

/// A node of four cores with taints and more fields of its specification and status.
fn node(name: &str, spec: &str, status: &str) -> String {
    format!(
        "kind: Node\nmetadata: {{name: {name}, labels: {{host: {name}}}}}\nspec: {{{spec}}}\n\
         status: {{allocatable: {{cpu: 4, memory: 8Gi}}{status}}}\n---\n"
    )
}

/// A pod of one core.
fn pod(name: &str, spec: &str, status: &str) -> String {
    format!(
        "kind: Pod\nmetadata: {{name: {name}, namespace: a}}\n\
         spec: {{{spec}, containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}\n{status}\n---\n"
    )
}

fn users(instance: &Instance) -> Vec<(String, u64)> {
    instance.users().map(|user| (user.id().to_owned(), user.tasks().unwrap())).collect()
}

#[test]
fn nodes_without_names_or_cpu_and_pods_without_containers_are_told() {
    let nodes = node("a", "", "")
        + "kind: Node\nmetadata: {name: b}\nstatus: {allocatable: {memory: 8Gi}}\n---\n"
        + "kind: Node\nmetadata: {}\nstatus: {allocatable: {cpu: 4, memory: 8Gi}}\n---\n";
    let nodes = nodes + &node("a", "", "");
    let pods = pod("p", "priority: 0", "") + "kind: Pod\nmetadata: {name: q, namespace: a}\n---\n";
    let (_, report) = import(&nodes, &pods, false, Daemons::Count).unwrap();
    for what in [
        "nodes without a name (metadata.name): no pod says that it runs there",
        "nodes without cpu in status.allocatable",
        "nodes left out: named a second time",
        "pods state no containers (spec.containers), so they ask for nothing",
    ] {
        assert_eq!(report.count(what), 1, "{what}\n{report}");
    }
}

/// A pod that was resized to less, or to more than its node has given it yet: the scheduler counts the larger.
#[test]
fn a_pod_resized_in_place_counts_with_what_it_still_holds() {
    let status = |cpu: u64| {
        format!(
            "status: {{phase: Running, containerStatuses: [{{name: c, allocatedResources: {{cpu: {cpu}, memory: 1Gi}}}}]}}"
        )
    };
    let asks = |allocated: u64| {
        let pods = pod("p", "nodeName: worker", &status(allocated));
        let (instance, report) = import(&node("worker", "", ""), &pods, false, Daemons::Count).unwrap();
        let held = "pods that were resized and hold more than they ask for: what they hold counts";
        (instance.user(fairplan_instances::UserId(0)).demand()[0].to_string(), report.count(held))
    };
    assert_eq!(asks(3), ("3".to_owned(), 1));
    let told = wording_of_one();
    assert!(told.contains("1 pod that was resized and holds more than it asks for"), "{told}");
    // It asks for no memory.
    assert_eq!(asks(1), ("1".to_owned(), 1));
}

/// Source: Kubernetes' `AggregateContainerRequests`, which takes the status alone where `PodResizePending` says `Infeasible`.
#[test]
fn a_pod_that_its_node_can_never_resize_counts_with_what_it_holds() {
    let asks = |reason: &str, given: &str| {
        let status = format!(
            "status: {{phase: Running, conditions: [{{type: PodResizePending, status: \"True\", reason: {reason}}}], containerStatuses: \
             [{{name: c, {given}}}]}}"
        );
        let pods = pod("p", "nodeName: worker", &status).replace("cpu: 1}", "cpu: 3}");
        let (instance, report) = import(&node("worker", "", ""), &pods, false, Daemons::Count).unwrap();
        (instance.user(fairplan_instances::UserId(0)).demand()[0].to_string(), report.to_string())
    };
    for given in ["allocatedResources: {cpu: 2}", "resources: {requests: {cpu: 2}}"] {
        let (held, told) = asks("Infeasible", given);
        assert_eq!(held, "2", "{given}");
        let why = "1 pod whose node can never resize it as it asks (Infeasible): what it holds counts\n";
        assert!(told.contains(why), "{told}");
        assert_eq!(asks("Deferred", given).0, "3", "{given}");
    }
}

/// Source: Kubernetes' `defaultPodRequests`.
#[test]
fn a_limit_of_a_whole_pod_is_its_request_only_of_what_its_containers_do_not_request() {
    let spec = "resources: {limits: {cpu: 3, memory: 2Gi, nvidia.com/gpu: 1}}";
    let (instance, _) = import(&node("worker", "", ""), &pod("p", spec, ""), false, Daemons::Count).unwrap();
    let demand: Vec<String> =
        instance.users().next().unwrap().demand().iter().map(Decimal::to_string).collect();
    assert_eq!(demand, ["1", "2147483648"]);
    let spec = "resources: {limits: {cpu: 3}, requests: {cpu: 2}}";
    let (instance, _) = import(&node("worker", "", ""), &pod("p", spec, ""), false, Daemons::Count).unwrap();
    assert_eq!(instance.users().next().unwrap().demand()[0].to_string(), "2");
}

#[test]
fn a_pod_on_a_node_that_is_left_out_is_told_to_have_no_place_yet() {
    let nodes = node("open", "", "") + &node("worker", "unschedulable: true", "");
    let pods = pod("p", "nodeName: worker", "status: {phase: Running}");
    let (_, report) = import(&nodes, &pods, false, Daemons::Count).unwrap();
    let told = "1 pod runs on nodes that are not among those that count: it has no place here yet\n";
    assert!(report.to_string().contains(told), "{report}");
}

/// What is said of one pod that was resized.
fn wording_of_one() -> String {
    let status = "status: {phase: Running, containerStatuses: [{name: c, allocatedResources: {cpu: 3}}]}";
    let pods = pod("p", "nodeName: worker", status);
    import(&node("worker", "", ""), &pods, false, Daemons::Count).unwrap().1.to_string()
}

#[test]
fn a_pod_without_a_status_is_pending() {
    let pods = pod("p", "priority: 0", "") + &pod("q", "priority: 0", "status: {phase: Running}");
    let (instance, report) = import(&node("worker", "", ""), &pods, false, Daemons::Count).unwrap();
    assert_eq!(users(&instance), [("a".to_owned(), 2)]);
    for (count, what) in
        [(1, "pods without a status (taken as pending)"), (1, "pods pending"), (1, "pods running")]
    {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
}

#[test]
fn where_nothing_is_left_the_counts_come_with_the_error_that_says_why() {
    let done = pod("p", "priority: 0", "status: {phase: Succeeded}");
    let failure = import(&node("worker", "", ""), &done, false, Daemons::Count).unwrap_err();
    assert_eq!(failure.report.count("pods left out: Succeeded"), 1);
    assert!(
        failure.to_string().contains("users: there are none, because nothing runs or waits here"),
        "{failure}"
    );

    let daemon = pod("d", "nodeName: worker", "status: {phase: Running}")
        .replace("namespace: a", "namespace: a, ownerReferences: [{kind: DaemonSet}]");
    let failure = import(&node("worker", "", ""), &daemon, false, Daemons::Reserve).unwrap_err();
    assert_eq!(
        failure.report.count("pods belong to their node (DaemonSet or static) and are taken off it"),
        1,
        "{}",
        failure.report
    );
}

#[test]
fn one_full_node_among_large_ones_is_told_to_have_a_limit_of_pods() {
    let sized =
        |name: &str, pods: u32| node(name, "", "").replace("cpu: 4,", &format!("cpu: 4, pods: {pods},"));
    let on = |name: &str, node: &str| pod(name, &format!("nodeName: {node}"), "status: {phase: Running}");
    let told = |small: u32| {
        let nodes = sized("small", small) + &sized("large", 110);
        let pods = on("p", "small") + &on("q", "small") + &on("r", "large");
        let (_, report) = import(&nodes, &pods, false, Daemons::Count).unwrap();
        report.count("nodes whose limit of pods is left out, though more than half as many are there: name pods in --resources")
    };
    assert_eq!((told(3), told(4)), (1, 0));
}

#[test]
fn all_nodes_are_open_whatever_taints_say_of_their_state() {
    let nodes = node(
        "cordoned",
        "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]",
        "",
    ) + &node(
        "lost",
        "taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}, {key: gpu, effect: NoSchedule}]",
        ", conditions: [{type: Ready, status: Unknown}]",
    );
    let pods = pod("p", "nodeSelector: {host: cordoned}", "status: {phase: Pending}")
        + &pod(
            "q",
            "tolerations: [{key: gpu, operator: Exists}], nodeSelector: {host: lost}",
            "status: {phase: Pending}",
        )
        + &pod("r", "nodeSelector: {host: lost}", "status: {phase: Pending}");
    let (instance, report) = import(&nodes, &pods, true, Daemons::Count).unwrap();
    assert_eq!(
        users(&instance),
        [("a@host=cordoned".to_owned(), 1), ("a@host=lost+tolerates:gpu".to_owned(), 1)]
    );
    assert_eq!(report.count("nodes taken as open, though cordoned or not ready"), 2);
    assert_eq!(report.count("tasks left out: no server meets their conditions"), 1, "{report}");
}

#[test]
fn a_running_pod_may_stay_where_it_is() {
    let nodes = node("changed", "taints: [{key: late, effect: NoSchedule}]", "") + &node("other", "", "");
    let pods = pod("p", "nodeName: changed, nodeSelector: {gone: label}", "status: {phase: Running}")
        + &pod("q", "nodeName: changed", "status: {phase: Running}")
        + &pod("r", "nodeName: other", "status: {phase: Running}");
    let (instance, report) = import(&nodes, &pods, false, Daemons::Count).unwrap();
    let found: Vec<_> = instance
        .users()
        .map(|user| (user.id().to_owned(), user.rule().eligible().map(<[fairplan_instances::ClassId]>::len)))
        .collect();
    assert_eq!(
        found,
        [
            ("a@gone=label+on:changed".to_owned(), Some(1)),
            ("a".to_owned(), None),
            ("a@untainted".to_owned(), Some(1)),
        ]
    );
    assert_eq!(report.count("pods run on a node that would not take them now (it counts for them)"), 2);
}

#[test]
fn gpus_in_annotations_are_thousandths_on_nodes_of_the_models_they_name() {
    let gpu_node = |name: &str, model: &str| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{alibabacloud.com/gpu-card-model: {model}}}}}\n\
             status: {{allocatable: {{cpu: 64, memory: 256Gi, alibabacloud.com/gpu-count: '2', \
             alibabacloud.com/gpu-milli: '2000'}}}}\n---\n"
        )
    };
    let nodes = ["a1", "a2"].map(|name| gpu_node(name, "P100")).concat() + &gpu_node("b", "T4");
    let gpu_pod = |name: &str, annotations: &str| {
        format!(
            "kind: Pod\nmetadata: {{name: {name}, namespace: a, annotations: {{{annotations}}}}}\n\
             spec: {{containers: [{{resources: {{requests: {{cpu: 4}}}}}}]}}\n---\n"
        )
    };
    let pods = gpu_pod("half", "alibabacloud.com/gpu-milli: '460', alibabacloud.com/gpu-count: '1'")
        + &gpu_pod(
            "two",
            "alibabacloud.com/gpu-milli: '1000', alibabacloud.com/gpu-count: '2', alibabacloud.com/gpu-card-model: P100|V100",
        );
    let (instance, report) = import(&nodes, &pods, false, Daemons::Count).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory", "alibabacloud.com/gpu-milli"]);
    assert!(instance.classes()[0].id.starts_with("P100-cpu64-memory256Gi"), "{}", instance.classes()[0].id);
    let found: Vec<_> =
        instance.users().map(|user| (user.id().to_owned(), user.demand()[2].to_string())).collect();
    assert_eq!(
        found,
        [("a".to_owned(), "460".to_owned()), ("a@gpu-card-model=P100,V100".to_owned(), "2000".to_owned())]
    );
    assert_eq!(report.count("pods ask for alibabacloud.com/gpu-milli in annotations"), 2);

    let failure =
        import(&nodes, &pods.replace("'460'", "half"), false, Daemons::Count).unwrap_err().to_string();
    assert!(failure.contains("metadata.annotations.alibabacloud.com/gpu-milli = half"), "{failure}");
    let (_, report) = import(&node("worker", "", ""), &pods, false, Daemons::Count).unwrap();
    let unread =
        "pods ask for GPUs in annotations, which are not read: no node has alibabacloud.com/gpu-milli";
    assert_eq!(report.count(unread), 2, "{report}");
}

#[test]
fn lists_that_do_not_say_what_they_list_are_of_what_is_asked_for() {
    let node = r#"{"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}}"#;
    let pod =
        r#"{"metadata": {"name": "p"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}"#;
    for (nodes, pods) in [
        (format!(r#"{{"items": [{node}]}}"#), format!(r#"{{"items": [{pod}]}}"#)),
        (format!(r#"{{"kind": "List", "items": [{node}]}}"#), format!("[{pod}]")),
        (node.to_owned(), pod.to_owned()),
    ] {
        let (instance, _) = import(&nodes, &pods, false, Daemons::Count).unwrap();
        assert_eq!(users(&instance), [("default".to_owned(), 1)], "{nodes}");
    }
    let failure = import(r#"{"a": 1}"#, pod, false, Daemons::Count).unwrap_err().to_string();
    assert!(failure.contains("Node number 1: has no metadata and no spec, so it is no Node"), "{failure}");
}

#[test]
fn what_is_asked_for_and_not_read_or_kept_is_counted() {
    let anti = "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]";
    let wished = "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {}}]";
    let pods = pod("a", &format!("affinity: {{podAntiAffinity: {{{anti}}}}}"), "")
        + &pod("b", &format!("affinity: {{podAntiAffinity: {{{wished}}}}}"), "")
        + &pod("c", &format!("affinity: {{podAffinity: {{{anti}}}}}"), "")
        + &pod("d", "topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", "")
        + &pod("e", "topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]", "")
        + &pod("f", "resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]", "")
        + &pod("h", "schedulingGates: [{name: example.com/wait}]", "")
        + &pod("i", "schedulingGates: [{name: kueue.x-k8s.io/admission}], priority: 1000", "")
        + &pod("m", "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}, {name: w, emptyDir: {}}]", "")
        + &pod("unclaimed", "volumes: [{name: w, emptyDir: {}}]", "")
        + &pod("j", "schedulerName: volcano", "")
        + &pod("k", "schedulerName: default-scheduler, nodeName: worker", "status: {phase: Running}")
            .replace("namespace: a", "namespace: a, deletionTimestamp: '2026-01-01T00:00:00Z'")
        + &pod("l", "priority: 0", "").replace("{name: c,", "{name: c, ports: [{containerPort: 80, hostPort: 80}],")
        // What is over asks for nothing.
        + &pod("g", "resourceClaims: [{name: gpu}]", "status: {phase: Succeeded}");
    let leaving = node("worker", "", "")
        .replace("name: worker,", "name: worker, deletionTimestamp: '2026-01-01T00:00:00Z',");
    let (_, report) = import(&leaving, &pods, false, Daemons::Count).unwrap();
    for what in [
        "nodes that are being deleted (deletionTimestamp), counted like the others",
        "pods have volumes that are claimed (persistentVolumeClaim), which may be of one node or zone and are not looked at: they may run on the \
         others too",
        "pods have a required podAntiAffinity, which is not kept: they may run together",
        "pods have a required podAffinity, which is not kept: they may run apart",
        "pods have a topologySpreadConstraint with DoNotSchedule, which is not kept: they may run unevenly",
        "pods ask for devices by resourceClaims (DRA), which are not read: their devices do not count",
        "pods have ports of their node (hostPort), which is not kept: those with the same port may run together",
        "pods left out: held by scheduling gates, so not waiting for room",
        "pods of a higher priority than others, which is not kept: here shares alone decide",
        "pods of another scheduler than Kubernetes' own (schedulerName), counted like the others",
        "pods that are being deleted (deletionTimestamp), counted like the others",
    ] {
        assert_eq!(report.count(what), 1, "{what}\n{report}");
    }
}

#[test]
fn a_list_of_yaml_that_was_cut_off_is_refused_by_every_reader_of_objects() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let of = |object: &str| format!("apiVersion: v1\nitems:\n- {object}\n");
    let nodes = write("nodes.yaml", &node("worker", "", ""));
    let queue = |api: &str| {
        write("queues.yaml", &of(&format!("{{apiVersion: {api}, kind: Queue, metadata: {{name: a}}}}")))
    };
    let refused = |failure: ImportFailure| failure.to_string();
    let queues = |api: &str| {
        let options = crate::KubernetesQueuesOptions { nodes: vec![nodes.clone()], queues: vec![queue(api)] };
        refused(crate::kubernetes_queues(&options).unwrap_err())
    };
    let flavors = write("kueue.yaml", &of("{kind: ClusterQueue, metadata: {name: a}}"));
    let kueue = crate::KueueOptions { files: vec![flavors], ..Default::default() };
    let partitions =
        write("yunikorn.yaml", &of("{kind: ConfigMap, metadata: {name: a}, data: {queues.yaml: ''}}"));
    let yunikorn = crate::KubernetesQueuesOptions { nodes: vec![nodes.clone()], queues: vec![partitions] };
    let cut = import(&of("{kind: Node, metadata: {name: a}}"), "", false, Daemons::Count);
    for told in [
        queues("scheduling.volcano.sh/v1beta1"),
        queues("scheduling.run.ai/v2"),
        refused(crate::kubernetes_queues(&yunikorn).unwrap_err()),
        refused(crate::kueue(&kueue).unwrap_err()),
        refused(cut.unwrap_err()),
    ] {
        assert!(told.contains("document 1: has items but no kind") && told.contains("truncated"), "{told}");
    }
}

#[test]
fn what_stands_in_the_files_of_pods_is_not_said_to_stand_in_those_of_quotas() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        vec![path]
    };
    let class = "kind: PriorityClass\nmetadata: {name: high}\n---\n";
    let nodes = file("nodes.yaml", &node("a", "", ""));
    let options = KubernetesOptions {
        pods: file("pods.yaml", &(class.to_owned() + &pod("p", "priority: 0", ""))),
        quotas: nodes.clone(),
        nodes,
        grouping: TaskGrouping::Tree,
        ..Default::default()
    };
    let told = kubernetes(&options).unwrap_err().to_string();
    assert!(told.contains("there is no ResourceQuota here, but 1 object of kind Node;"), "{told}");
}
