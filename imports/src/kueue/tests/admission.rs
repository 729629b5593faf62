//! What Kueue admits of workloads counts, and what it does not admit is told by name.

use super::*;

/// A cluster queue `q` of some flavors with quotas of these resources, with its local queue.
fn queue(quotas: &[(&str, &[(&str, u64)])]) -> String {
    let covered: Vec<&str> = quotas[0].1.iter().map(|(resource, _)| *resource).collect();
    let flavor = |(name, amounts): &(&str, &[(&str, u64)])| {
        let amount =
            |(resource, amount): &(&str, u64)| format!("{{name: {resource}, nominalQuota: {amount}}}");
        let amounts: Vec<String> = amounts.iter().map(amount).collect();
        format!("{{name: {name}, resources: [{}]}}", amounts.join(", "))
    };
    let flavors: Vec<String> = quotas.iter().map(flavor).collect();
    format!(
        "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: q}}\nspec: {{namespaceSelector: {{}}, resourceGroups: \
         [{{coveredResources: [{}], flavors: [{}]}}]}}\n---\nkind: LocalQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: l, \
         namespace: team}}\nspec: {{clusterQueue: q}}\n---\n",
        covered.join(", "),
        flavors.join(", ")
    )
}

/// A workload of five pods; more of its pods' specification, of its pod set, and of the whole object.
fn workload(name: &str, requests: &str, pod: &str, more: &str) -> String {
    format!(
        "kind: Workload\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: {name}, namespace: team}}\nspec: {{queueName: l, podSets: \
         [{{name: main, count: 5, template: {{spec: {{{pod} containers: [{{resources: {{requests: {{{requests}}}}}}}]}}}}}}]}}\n{more}\n---\n"
    )
}

fn flavor(name: &str, spec: &str) -> String {
    format!(
        "kind: ResourceFlavor\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
    )
}

fn import(text: &str, nodes: &str) -> (Vec<String>, ImportReport) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let nodes = if nodes.is_empty() { Vec::new() } else { vec![write("nodes.yaml", nodes)] };
    let files = vec![write("queues.yaml", text)];
    let (instance, report) = kueue(&KueueOptions { files, nodes, ..Default::default() }).unwrap();
    (tenants(&instance), report)
}

/// Two flavors of GPUs, one of them with a taint, and a node of each.
fn gpus() -> (String, String) {
    let flavors = flavor("v100", "nodeLabels: {gpu: v100}")
        + &flavor("a100", "nodeLabels: {gpu: a100}, nodeTaints: [{key: a100, effect: NoSchedule}]");
    let gpu = "nvidia.com/gpu";
    let queue = queue(&[("v100", &[(gpu, 6)]), ("a100", &[(gpu, 2)])]);
    let node = |name: &str, spec: &str| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{gpu: {name}}}}}\nspec: {{{spec}}}\nstatus: {{allocatable: {{cpu: 64, \
             nvidia.com/gpu: 8}}}}\n---\n"
        )
    };
    let nodes = node("v100", "") + &node("a100", "taints: [{key: a100, effect: NoSchedule}]");
    (flavors + &queue, nodes)
}

#[test]
fn workloads_take_only_flavors_that_their_selector_affinity_and_tolerations_allow() {
    let (queues, nodes) = gpus();
    let tolerates = "tolerations: [{key: a100, operator: Exists}],";
    let affinity = |operator: &str| {
        let term = format!("{{matchExpressions: [{{key: gpu, operator: {operator}, values: [a100]}}]}}");
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}}}, {tolerates}"
        )
    };
    for (pod, runs) in [
        (format!("nodeSelector: {{gpu: a100}}, {tolerates}"), "@a100 <q w1 1 x5 on a100"),
        (String::new(), "@v100 <q w1 1 x5 on v100"),
        (affinity("In"), "@a100 <q w1 1 x5 on a100"),
        (affinity("NotIn"), "@v100 <q w1 1 x5 on v100"),
        (tolerates.to_owned(), " <q w1 1 x5"),
        (format!("nodeSelector: {{zone: b}}, {tolerates}"), " <q w1 1 x5"),
    ] {
        let text = format!("{queues}{}", workload("w", "nvidia.com/gpu: 1", &pod, ""));
        for nodes in ["", &nodes] {
            let (told, report) = import(&text, nodes);
            let expected = format!("q:nvidia.com/gpu1{runs}");
            assert!(told.contains(&expected), "{pod} {told:#?}");
            let is_told = report.to_string().contains("labels of nodes that no flavor of its queue has");
            assert_eq!(is_told, pod.contains("zone"), "{report}");
        }
    }
}

#[test]
fn workloads_that_kueue_never_admits_do_not_run_and_are_named() {
    let (queues, _) = gpus();
    let shut_out = workload("w", "nvidia.com/gpu: 1", "nodeSelector: {gpu: a100},", "");
    let (told, report) = import(&(queues + &shut_out), "");
    assert!(told.iter().all(|user| user.starts_with('[') || user.contains(" x0")), "{told:#?}");
    assert!(report.to_string().contains("so Kueue does not admit it: team/w\n"), "{report}");
    // A queue of cores, and pods that want a GPU too.
    let uncovered = queue(&[("f", &[("cpu", 10)])]) + &workload("w", "cpu: 1, nvidia.com/gpu: 1", "", "");
    let (told, report) = import(&uncovered, "");
    assert_eq!(told, ["q w1 1 x0 sure cpu=10"]);
    assert!(report.to_string().contains("so Kueue does not admit it: team/w (nvidia.com/gpu)\n"), "{report}");
}

#[test]
fn each_pod_counts_as_one_where_a_quota_is_of_pods() {
    let text = queue(&[("f", &[("cpu", 10), ("pods", 2)])]) + &workload("w", "cpu: 1", "", "");
    assert_eq!(import(&text, "").0[1..], ["q:cpu1-pods1 <q w1 1,1 x5"]);
    let node = "kind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: 64, pods: 110}}\n";
    let (told, report) = import(&(text + &flavor("f", "")), node);
    assert_eq!(told, ["[q] w1 most cpu=10 pods=2", "q:cpu1-pods1 <q w1 1,1 x5"]);
    assert!(!report.to_string().contains("asks for the resource"), "{report}");
    // A queue without such a quota counts none.
    let text = queue(&[("f", &[("cpu", 10)])]) + &workload("w", "cpu: 1", "", "");
    assert_eq!(import(&text, "").0[1..], ["q:cpu1 <q w1 1 x5"]);
}

#[test]
fn pods_that_were_not_admitted_or_gave_their_quota_back_do_not_count() {
    let status = |count: u64, more: &str| {
        format!(
            "status: {{conditions: [{{type: Admitted, status: 'True'}}], admission: {{clusterQueue: q, podSetAssignments: [{{name: main, \
             count: {count}}}]}}{more}}}"
        )
    };
    for (status, runs, what) in [
        (status(2, ""), 2, "3 pods left out: their workload was admitted with fewer: team/w"),
        (
            status(5, ", reclaimablePods: [{name: main, count: 4}]"),
            1,
            "4 pods left out: they have given their quota back (reclaimablePods): team/w",
        ),
    ] {
        let text = queue(&[("f", &[("cpu", 10)])]) + &workload("w", "cpu: 1", "", &status);
        let (told, report) = import(&text, "");
        assert_eq!(told[1..], [format!("q:cpu1 <q w1 1 x{runs}")]);
        assert!(report.to_string().contains(what), "{report}");
    }
    // What waits counts whole.
    let waiting = status(2, "").replace("True", "False");
    let text = queue(&[("f", &[("cpu", 10)])]) + &workload("w", "cpu: 1", "", &waiting);
    assert_eq!(import(&text, "").0[1..], ["q:cpu1 <q w1 1 x5"]);
}

#[test]
fn what_kueue_does_beside_quotas_is_told_with_the_name_of_the_queue_or_workload() {
    let plain = queue(&[("f", &[("cpu", 10)])]) + &workload("w", "cpu: 1", "", "");
    for (from, to, told) in [
        ("namespaceSelector: {}, ", "", "without a namespaceSelector"),
        ("namespaceSelector: {}, ", "namespaceSelector: {}, admissionChecks: [prov], ", "(admissionChecks)"),
        ("namespaceSelector: {}, ", "namespaceSelector: {}, queueingStrategy: StrictFIFO, ", "StrictFIFO"),
        (
            "---\nkind: LocalQueue",
            "status: {conditions: [{type: Active, status: 'False'}]}\n---\nkind: LocalQueue",
            "(Active: False in its status)",
        ),
        (
            "metadata: {name: q}",
            "metadata: {name: q, deletionTimestamp: '2026-01-01'}",
            "(deletionTimestamp)",
        ),
        ("queueName: l,", "queueName: l, priority: 1000,", "workload with a priority"),
        ("count: 5,", "count: 5, minCount: 2,", "(minCount)"),
    ] {
        assert!(plain.contains(from), "{from}");
        let found = |text: &str| {
            let text = import(text, "").1.to_string();
            text.lines().find(|line| line.contains(told)).map(str::to_owned)
        };
        let line = found(&plain.replacen(from, to, 1)).unwrap_or_default();
        assert!(
            line.ends_with(": q") || line.ends_with(" q") || line.ends_with(": team/w"),
            "{told}: {line}"
        );
        assert_eq!(found(&plain), None);
    }
    let whole = "1 workload of several pods, which Kueue admits whole or not at all";
    assert!(import(&plain, "").1.to_string().contains(whole));
    let single = plain.replace("count: 5", "count: 1");
    assert!(!import(&single, "").1.to_string().contains(whole));
}

#[test]
fn a_group_of_which_a_queue_can_have_nothing_does_not_decide_where_it_runs() {
    let group = |resource: &str, flavor: &str, quota: &str| {
        format!(
            "{{coveredResources: [{resource}], flavors: [{{name: {flavor}, resources: [{{name: {resource}, nominalQuota: {quota}}}]}}]}}"
        )
    };
    let nothing = group("nvidia.com/gpu", "gpus", "0, borrowingLimit: 0");
    let object = |name: &str, groups: &[String]| {
        format!(
            "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: {name}}}\nspec: {{cohortName: c, resourceGroups: \
             [{}]}}\n---\n",
            groups.join(", ")
        )
    };
    let cores = || group("cpu", "cores", "10");
    let queues = flavor("cores", "")
        + &flavor("gpus", "nodeLabels: {gpu: 'yes'}")
        + &object("without", &[nothing, cores()])
        + &object("with", &[group("nvidia.com/gpu", "gpus", "4"), cores()]);
    let node = |name: &str, labels: &str, gpus: u64| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{{labels}}}}}\nstatus: {{allocatable: {{cpu: 16, nvidia.com/gpu: {gpus}}}}}\n---\n"
        )
    };
    let nodes = node("plain", "", 0) + &node("fast", "gpu: 'yes'", 8);
    let (told, _) = import(&queues, &nodes);
    assert!(told.contains(&"without <c w1 1,0 sure cpu=10".to_owned()), "{told:#?}");
    // Without nodes for the GPUs it is there too, and the other is told by name.
    let (told, report) = import(&queues, &node("plain", "", 0));
    assert!(told.iter().any(|user| user.starts_with("without ")), "{told:#?}");
    assert!(report.to_string().contains("no server is there: with\n"), "{report}");
}

#[test]
fn what_cannot_be_kept_is_told_by_the_name_of_the_queue_and_the_flavor() {
    let queues = queue(&[("f", &[("cpu", 10)]), ("g", &[("cpu", 0)])]);
    let (own, _) = queues.split_once("---").unwrap_or_default();
    let other = own.replace("{name: q}", "{name: other}").replace("10", "1");
    let text = format!("{queues}{other}---\n{}{}", flavor("f", ""), flavor("g", ""));
    let node = "kind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: 4}}\n";
    let (_, report) = import(&text, node);
    assert!(report.to_string().contains("of more than its servers have: q (cpu)\n"), "{report}");
    assert!(
        report.to_string().contains("left out at g: their limit is 0: q (cpu), other (cpu)\n"),
        "{report}"
    );
}

#[test]
fn what_admission_says_that_pods_use_counts_rather_than_what_they_request() {
    let quotas = queue(&[("f", &[("cpu", 10), ("example.com/gpu-memory", 80)])]);
    let status = |usage: &str| {
        format!(
            "status: {{conditions: [{{type: QuotaReserved, status: \"True\"}}], admission: {{podSetAssignments: [{{name: main, count: 5, \
             {usage}}}]}}}}"
        )
    };
    let work = |usage: &str| workload("w", "cpu: 1, nvidia.com/mig-1g.5gb: 1", "", &status(usage));
    let usage = "resourceUsage: {cpu: 5, example.com/gpu-memory: 50}";
    let (found, report) = import(&(quotas.clone() + &work(usage)), "");
    assert!(found.iter().any(|line| line.contains(" 1,10 x5")), "{found:#?}\n{report}");
    assert!(!report.to_string().contains("does not cover"), "{report}");
    let (found, _) = import(&(quotas.clone() + &work("flavors: {cpu: f}")), "");
    assert!(found.iter().any(|line| line.contains(" 1,0 x5")), "{found:#?}");
    // What does not go up among the pods is rounded up.
    let (found, _) =
        import(&(quotas + &work("resourceUsage: {cpu: 5, example.com/gpu-memory: 51.000000001}")), "");
    assert!(found.iter().any(|line| line.contains(" 1,10.201 x5")), "{found:#?}");
}

#[test]
fn tasks_that_ask_for_something_of_which_their_limit_is_0_are_left_out_by_name() {
    let node = |name: &str| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{t: {name}}}}}\nstatus: {{allocatable: {{cpu: 64, gpu: 4}}}}\n---\n"
        )
    };
    let nodes = node("f1") + &node("f2");
    let asks = workload("w", "cpu: 2, gpu: 1", "", "");
    let none = queue(&[("f1", &[("cpu", 40), ("gpu", 0)])]);
    // Others have some, or nobody has.
    for gpus in [4, 0] {
        let others = queue(&[("f1", &[("cpu", 40), ("gpu", gpus)])]);
        let others = others.replace("name: q}", "name: other}").replace("name: l,", "name: of-other,");
        let others = others.replace("clusterQueue: q", "clusterQueue: other");
        let text = [&flavor("f1", "nodeLabels: {t: f1}"), &others, &none, &asks].map(String::as_str).concat();
        for nodes in ["", &nodes] {
            let (told, report) = import(&text, nodes);
            assert!(!told.iter().any(|user| user.starts_with("q")), "{told:#?}");
            let barred = "5 tasks left out: they ask for gpu, of which their limit is 0: q:";
            assert!(report.to_string().contains(barred), "{report}");
        }
    }
    // They run on the flavor of which it has some.
    let some = queue(&[("f1", &[("cpu", 40), ("gpu", 0)]), ("f2", &[("cpu", 40), ("gpu", 3)])]);
    let flavors = flavor("f1", "nodeLabels: {t: f1}") + &flavor("f2", "nodeLabels: {t: f2}");
    let (told, report) = import(&(flavors + &some + &asks), &nodes);
    assert!(told.iter().any(|user| user.starts_with("q:") && user.ends_with(" on f2")), "{told:#?} {report}");
}

#[test]
fn tasks_that_ask_for_what_no_server_has_or_another_keeps_whole_are_left_out_by_name() {
    // Nobody has a GPU, and others run.
    let some = queue(&[("f", &[("cpu", 4), ("gpu", 0)])]);
    let text = some + &workload("w", "cpu: 2, gpu: 1", "", "") + &workload("other", "cpu: 1", "", "");
    let (told, report) = import(&text, "");
    assert!(told.iter().any(|user| user.starts_with("q:cpu1 ")), "{told:#?}");
    assert!(
        report.to_string().contains("5 tasks left out: they ask for gpu, which no server has: q:"),
        "{report}"
    );
    // Of a cohort one keeps all that there is.
    let quota = |more: &str| {
        format!(
            "cohortName: p, resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: f, resources: [{{name: cpu, {more}}}]}}]}}]"
        )
    };
    let (keeps, has_none) = (quota("nominalQuota: 6, lendingLimit: 0"), quota("nominalQuota: 0"));
    let work = "podSets: [{count: 2, template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}], queueName: lq";
    let (_, told, report) = of_objects(&[
        ("ClusterQueue", "keeps", &keeps),
        ("ClusterQueue", "none", &has_none),
        ("LocalQueue", "none/lq", "clusterQueue: none"),
        ("Workload", "none/w", work),
    ]);
    assert!(!told.iter().any(|user| user.starts_with("none:")), "{told:#?}");
    assert!(
        report
            .to_string()
            .contains("2 tasks left out: another queue keeps all that is there, used or not: none:"),
        "{report}"
    );
}
