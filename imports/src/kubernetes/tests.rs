//! The small cluster that is shipped gives what its files say by hand, real clusters what counting their files another
//! way gives, and every defect is refused with file, object, field and value.

use super::*;
use crate::defects::each_is_named;
use crate::real_files::real_file;
use crate::shown::tenants;
use fairplan_instances::{ClassId, UserId};
use serde_json::Value;
use std::collections::BTreeMap;

fn shipped(name: &str) -> String {
    format!("{}/data/kubernetes/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options() -> KubernetesOptions {
    KubernetesOptions {
        nodes: vec![shipped("nodes.json")],
        pods: vec![shipped("pods.yaml")],
        grouping: TaskGrouping::User,
        ..Default::default()
    }
}

/// Each user's name, demand, tasks and eligible classes.
fn users(instance: &Instance) -> Vec<String> {
    let classes = instance.classes();
    let user = |user: fairplan_instances::User<'_>| {
        let demand: Vec<String> = user.demand().iter().map(Decimal::to_string).collect();
        let may_run: Vec<&str> = (0..classes.len())
            .filter(|&l| user.rule().allows(ClassId(l)))
            .map(|l| classes[l].id.as_str())
            .collect();
        format!("{} {} x{} on {}", user.id(), demand.join(","), user.tasks().unwrap(), may_run.join("+"))
    };
    instance.users().map(user).collect()
}

fn classes(instance: &Instance) -> Vec<String> {
    let class = |class: &fairplan_instances::ServerClass| {
        let capacity: Vec<String> = class.capacity.iter().map(Decimal::to_string).collect();
        format!("{} x{} {}", class.id, class.count, capacity.join(","))
    };
    instance.classes().iter().map(class).collect()
}

#[test]
fn nodes_become_classes_and_pods_tasks_of_their_namespace() {
    let (instance, report) = kubernetes(&options()).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory", "nvidia.com/gpu"]);
    assert_eq!(
        classes(&instance),
        [
            "cpu3.92-memory15.5Gi x2 3.92,16678711296,0",
            "worker-3 x1 3.92,16678711296,0",
            "gpu-1 x1 64,274877906944,8",
        ]
    );
    assert_eq!(
        users(&instance),
        [
            // 250m + 100m, the limit of the proxy; 512Mi + 128Mi.
            "shop@untainted 0.35,671088640,0 x2 on cpu3.92-memory15.5Gi+worker-3",
            // While it starts 2 cores beside no sidecar yet, which is more than 1 + 0.1; 4Gi and 64Mi overhead.
            "shop@disk=ssd 2,4362076160,0 x1 on cpu3.92-memory15.5Gi",
            "research@!disk+tolerates:gpu 8,64000000000,2 x1 on worker-3+gpu-1",
            "monitoring 0.02,104857600,0 x1 on cpu3.92-memory15.5Gi+worker-3+gpu-1",
        ]
    );
    for (count, what) in [
        (4, "nodes"),
        (1, "nodes left out: cordoned (unschedulable)"),
        (1, "nodes left out: not ready"),
        (4, "pods running"),
        (3, "pods pending"),
        (1, "pods left out: Succeeded"),
        (2, "containers of these without requests (taken as 0)"),
        (1, "pods belong to their node (DaemonSet or static) and count as movable"),
        (1, "tasks left out: they ask for none of the resources"),
        (1, "tasks left out: no server meets their conditions"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
}

#[test]
fn daemons_are_taken_off_their_nodes_when_asked_for() {
    let (instance, _) = kubernetes(&KubernetesOptions { daemons: Daemons::Reserve, ..options() }).unwrap();
    assert!(instance.users().all(|user| !user.id().starts_with("monitoring")));
    assert_eq!(classes(&instance)[0], "worker-1 x1 3.9,16573853696,0", "{:?}", classes(&instance));
}

#[test]
fn pods_are_a_resource_when_asked_for_and_nodes_that_are_closed_count() {
    let resources = Some(vec!["cpu".to_owned(), "pods".to_owned()]);
    let (instance, report) =
        kubernetes(&KubernetesOptions { resources, all_nodes: true, ..options() }).unwrap();
    assert_eq!(instance.classes().iter().map(|class| class.count).sum::<u64>(), 6);
    assert!(instance.users().all(|user| user.demand()[1] == Decimal::ONE));
    assert_eq!(report.count("tasks left out: they ask for none of the resources"), 0);
}

#[test]
fn a_resource_that_nobody_has_is_refused_and_limits_of_pods_that_may_bind_are_told() {
    let resources = Some(vec!["cpu".to_owned(), "memroy".to_owned()]);
    let told = kubernetes(&KubernetesOptions { resources, ..options() }).unwrap_err().to_string();
    assert!(
        told.ends_with("resources = memroy: no node has it and no pod requests it (did you mean memory?)"),
        "{told}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let mut nodes: Value =
        serde_json::from_str(&std::fs::read_to_string(shipped("nodes.json")).unwrap()).unwrap();
    let what = "nodes whose limit of pods is left out, though more than half as many are there: name pods in --resources";
    for (most, count) in [("110", 0), ("1", 4)] {
        for node in nodes["items"].as_array_mut().unwrap() {
            node["status"]["allocatable"]["pods"] = most.into();
        }
        std::fs::write(&path, nodes.to_string()).unwrap();
        let with = KubernetesOptions { nodes: vec![path.clone()], ..options() };
        assert_eq!(kubernetes(&with).unwrap().1.count(what), count, "{most}");
    }
}

#[test]
fn a_node_without_allocatable_amounts_has_its_capacity_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, content).unwrap();
        path
    };
    let nodes = "kind: Node\nmetadata: {name: node}\nstatus: {alocatable: {cpu: 3}, capacity: {cpu: 4}}\n";
    let pods = "kind: Pod\nmetadata: {name: p, namespace: a}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n";
    let options = KubernetesOptions {
        nodes: vec![write("nodes.yaml", nodes)],
        pods: vec![write("pods.yaml", pods)],
        ..options()
    };
    let (instance, report) = kubernetes(&options).unwrap();
    assert_eq!(classes(&instance)[0].split(' ').nth(2), Some("4,0"), "{:?}", classes(&instance));
    let what = "nodes that state no status.allocatable: their status.capacity is taken";
    assert_eq!(report.count(what), 1, "{report}");
}

#[test]
fn taints_of_a_state_that_are_lifted_from_open_nodes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, content).unwrap();
        path
    };
    let nodes = "kind: Node\nmetadata: {name: node}\nspec: {taints: [{key: node.kubernetes.io/memory-pressure, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 4}}\n";
    let pods = "kind: Pod\nmetadata: {name: p, namespace: a}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Pending}\n";
    let options = KubernetesOptions {
        nodes: vec![write("nodes.yaml", nodes)],
        pods: vec![write("pods.yaml", pods)],
        all_nodes: true,
        ..options()
    };
    let (_, report) = kubernetes(&options).unwrap();
    assert_eq!(
        report.count("nodes whose taints of a state, such as memory pressure, are lifted"),
        1,
        "{report}"
    );
}

#[test]
fn users_are_the_values_of_a_label_or_every_request() {
    let owner = "label=team".parse().unwrap();
    let (instance, report) = kubernetes(&KubernetesOptions { owner, ..options() }).unwrap();
    let ids: Vec<&str> = instance.users().map(|user| user.id()).collect();
    assert_eq!(ids, ["front@untainted", "back@disk=ssd", "lab@!disk+tolerates:gpu", "namespace/monitoring"]);
    assert_eq!(report.count("pods without the label team are their namespace's"), 3);

    let (instance, _) =
        kubernetes(&KubernetesOptions { grouping: TaskGrouping::Shape, ..options() }).unwrap();
    assert_eq!(instance.user(UserId(3)).id(), "monitoring:cpu0.02-memory100Mi");
}

/// What is replaced in one of the shipped files, by what, and what the message must contain.
#[test]
fn each_defect_is_named_with_file_object_field_and_value() {
    let defects = [
        ("nodes.json", "3920m", "3920x", "Node worker-1: status.allocatable.cpu = 3920x: is no quantity"),
        (
            "nodes.json",
            "\"cpu\": 64",
            "\"cpu\": -64",
            "Node gpu-1: status.allocatable.cpu = -64: must be >= 0",
        ),
        ("nodes.json", "\"cpu\": 64", "\"cpu\": true", "Node gpu-1: status.allocatable.cpu: invalid type"),
        ("nodes.json", "\"effect\": \"NoSchedule\"", "\"effect\": 1", "Node gpu-1: spec.taints[0].effect"),
        ("nodes.json", "NoSchedule", "NoSchedul", "Node gpu-1: spec.taints[0].effect"),
        ("pods.yaml", "operator: Exists", "operator: Exist", "tolerations[0].operator"),
        ("nodes.json", "\"items\": [", "\"items\": 1, \"x\": [", "items must be a list"),
        (
            "pods.yaml",
            "cpu: 250m",
            "cpu: 250 m",
            "Pod shop/web-1: spec.containers[0].resources.requests.cpu = 250 m",
        ),
        ("pods.yaml", "memory: 64Mi", "memory: lots", "Pod shop/database: spec.overhead.memory = lots"),
        (
            "pods.yaml",
            "cpu: 100m",
            "cpu: 1e",
            "Pod shop/database: spec.initContainers[1].resources.requests.cpu = 1e",
        ),
        ("pods.yaml", "operator: In,", "operator: Is,", "Pod monitoring/agent-1: spec.affinity"),
        ("pods.yaml", "kind: PodList", "kind: NodeList", "kind = Node: there is no Pod here"),
        ("pods.yaml", "items:\n", "items: {\n", "line"),
    ];
    each_is_named(shipped, &defects, |file, path| {
        let mut options = options();
        let list = if file == "nodes.json" { &mut options.nodes } else { &mut options.pods };
        *list = vec![path];
        kubernetes(&options).unwrap_err().to_string()
    });
    let swapped = KubernetesOptions { nodes: options().pods, pods: options().nodes, ..Default::default() };
    let error = kubernetes(&swapped).unwrap_err().to_string();
    assert!(error.contains("kind = Pod: there is no Node here; `kubectl get nodes -o json`"), "{error}");
}

#[test]
fn a_file_cut_off_anywhere_is_refused_or_has_fewer_objects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(shipped("nodes.json")).unwrap();
    for length in (1..text.trim_end().len()).step_by(7) {
        std::fs::write(&path, &text[..length]).unwrap();
        let error = kubernetes(&KubernetesOptions { nodes: vec![path.clone()], ..options() })
            .unwrap_err()
            .to_string();
        assert!(error.contains("nodes.json: line "), "{length}: {error}");
    }
}

#[test]
fn a_real_cluster_of_three_nodes_has_what_counting_its_files_says() {
    let Some(nodes) = real_file("kubernetes/sbctl/nodes.json") else { return };
    let namespaces =
        ["default", "kube-system", "kurl", "longhorn-system", "minio", "projectcontour", "velero"];
    let pods: Vec<String> = namespaces
        .iter()
        .filter_map(|name| real_file(&format!("kubernetes/sbctl/pods/{name}.json")))
        .collect();
    let resources = Some(["cpu", "memory", "pods"].map(str::to_owned).to_vec());
    let options = KubernetesOptions {
        nodes: vec![nodes],
        pods: pods.clone(),
        resources,
        grouping: TaskGrouping::User,
        ..Default::default()
    };
    let (instance, report) = kubernetes(&options).unwrap();
    assert_eq!(instance.classes().iter().map(|class| class.count).sum::<u64>(), 3);
    assert_eq!(instance.total(fairplan_instances::ResourceId(1)), 3.0 * 16_287_804.0 * 1024.0);

    let (mut running, mut millis, mut containers, mut stating) = (BTreeMap::new(), 0.0, 0, 0);
    for path in &pods {
        let list: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        for pod in list["items"].as_array().unwrap() {
            for container in pod["spec"]["containers"].as_array().unwrap() {
                containers += 1;
                let requests = &container["resources"]["requests"];
                stating += u32::from(requests.is_object());
                if let Some(cpu) = requests["cpu"].as_str() {
                    millis += cpu
                        .strip_suffix('m')
                        .map_or_else(|| cpu.parse::<f64>().unwrap() * 1000.0, |m| m.parse().unwrap());
                }
            }
            if pod["status"]["phase"] == "Running" {
                *running.entry(pod["metadata"]["namespace"].as_str().unwrap().to_owned()).or_insert(0u64) +=
                    1;
            }
        }
    }
    assert_eq!((containers, stating), (69, 27), "the file is another one");
    let mut tasks = BTreeMap::new();
    for user in instance.users() {
        *tasks.entry(user.id().split('@').next().unwrap().to_owned()).or_insert(0u64) +=
            user.tasks().unwrap();
    }
    assert_eq!(tasks, running);
    assert_eq!(report.count("pods running"), 57);
    let cpu: f64 =
        instance.users().map(|user| user.demand()[0].to_f64() * user.tasks().unwrap() as f64).sum();
    assert!((1000.0 * cpu - millis).abs() < 1e-6, "{cpu} cores against {millis} thousandths");
}

#[test]
fn the_openb_cluster_has_what_its_tables_say() {
    let (Some(nodes), Some(pods)) =
        (real_file("derived/k8s_openb_nodes.json.gz"), real_file("derived/k8s_openb_pods.json.gz"))
    else {
        return;
    };
    let options = KubernetesOptions {
        nodes: vec![nodes],
        pods: vec![pods],
        grouping: TaskGrouping::User,
        ..Default::default()
    };
    let (instance, report) = kubernetes(&options).unwrap();
    assert_eq!(report.count("nodes"), 1523);
    assert_eq!(report.count("pods pending"), 8152);
    let tasks: Vec<(&str, u64)> = instance.users().map(|user| (user.id(), user.tasks().unwrap())).collect();
    // In the order of their first pod.
    assert_eq!(tasks, [("ls", 4647), ("burstable", 100), ("be", 3398), ("guaranteed", 7)]);
    let shapes = kubernetes(&KubernetesOptions { grouping: TaskGrouping::Shape, ..options }).unwrap().0;
    assert_eq!(shapes.resources()[2..], ["alibabacloud.com/gpu-milli", "nvidia.com/gpu"]);
    let total = |r: usize| -> f64 {
        shapes.users().map(|user| user.demand()[r].to_f64() * user.tasks().unwrap() as f64).sum()
    };
    // The same from the table that the files were made of.
    let Some(table) = real_file("alibaba-gpu2023/openb_pod_list_default.csv") else { return };
    let text = std::fs::read_to_string(table).unwrap();
    let column = |column: usize| -> f64 {
        text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse::<f64>().unwrap()).sum()
    };
    assert!((total(0) - column(1) / 1000.0).abs() < 1e-6);
    assert!((total(1) - column(2) * 1048576.0).abs() < 1.0);
    // Parts of GPUs are annotations there, only whole ones are requests too.
    let milli = |line: &str| -> f64 {
        line.split(',').skip(3).take(2).map(|cell| cell.parse::<f64>().unwrap()).product()
    };
    assert_eq!(total(2), text.lines().skip(1).map(milli).sum::<f64>());
    let whole = |line: &&str| line.split(',').nth(4) == Some("1000");
    let gpus: f64 =
        text.lines().filter(whole).map(|line| line.split(',').nth(3).unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!(total(3), gpus);
}

#[test]
fn parts_of_a_gpus_memory_that_pods_ask_for_in_annotations_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.yaml").to_str().unwrap().to_owned();
    let pod = |name: &str, annotation: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: a, annotations: {annotation}}}\n\
             spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}\n"
        )
    };
    let pods = [pod("one", "{alibabacloud.com/gpu-mem: 8Gi}"), pod("two", "{other: one}")];
    std::fs::write(&path, pods.join("---\n")).unwrap();
    let (_, report) = kubernetes(&KubernetesOptions { pods: vec![path], ..options() }).unwrap();
    let told =
        "pods ask for a part of a GPU's memory in the annotation alibabacloud.com/gpu-mem, which is not read";
    assert_eq!(report.count(told), 1, "{report}");
}

#[test]
fn quotas_of_namespaces_are_limits_of_their_groups() {
    let quotas = vec![shipped("quotas.yaml")];
    let tree = |quotas: Vec<String>| KubernetesOptions { quotas, grouping: TaskGrouping::Tree, ..options() };
    let (instance, report) = kubernetes(&tree(quotas.clone())).unwrap();
    // The least of two quotas counts; the cluster has less than a tebibyte.
    assert_eq!(
        tenants(&instance)[..3],
        ["[research] w1 most nvidia.com/gpu=4", "[shop] w1 most cpu=4", "[monitoring] w1"]
    );
    for (count, what) in [
        (3, "quotas"),
        (1, "quotas left out: they cover only some pods (scopes)"),
        (1, "limits of limits.cpu left out, which no task is measured in"),
        (1, "limits of count/services left out, which no task is measured in"),
        (1, "limits left out: there is no more than that"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    // Limits on the number of pods say how pods are counted.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.yaml").to_str().unwrap().to_owned();
    let limit = "kind: ResourceQuota\nmetadata: {name: a, namespace: shop}\nspec: {hard: {pods: 2}}\n";
    std::fs::write(&path, limit).unwrap();
    let (_, report) = kubernetes(&tree(vec![path.clone()])).unwrap();
    let told = "limits of pods left out: --resources cpu,memory,nvidia.com/gpu,pods counts pods too";
    assert_eq!(report.count(told), 1, "{report}");
    let resources = Some(["cpu", "memory", "pods"].map(str::to_owned).to_vec());
    let (instance, _) = kubernetes(&KubernetesOptions { resources, ..tree(vec![path]) }).unwrap();
    assert!(tenants(&instance).contains(&"[shop] w1 most pods=2".to_owned()), "{:?}", tenants(&instance));
    let shapes = KubernetesOptions { grouping: TaskGrouping::Shape, ..tree(quotas.clone()) };
    let labels = KubernetesOptions { owner: PodOwner::Label("team".into()), ..tree(quotas) };
    for options in [shapes, labels] {
        let error = kubernetes(&options).unwrap_err().to_string();
        assert!(error.contains("quotas.yaml: quotas: quotas limit namespaces"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quotas.yaml").to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(shipped("quotas.yaml")).unwrap();
    std::fs::write(&path, text.replace("gpu: \"4\"", "gpu: \"0\"")).unwrap();
    let (instance, report) = kubernetes(&tree(vec![path.clone()])).unwrap();
    assert!(instance.groups().iter().all(|group| group.id != "research"));
    let barred = "tasks left out: they ask for nvidia.com/gpu, of which their limit is 0";
    assert_eq!(report.count(barred), 1, "{report}");
    // Without `requests.` Kubernetes does not know a resource that is an extension.
    std::fs::write(&path, text.replace("requests.nvidia.com/gpu: \"4\"", "nvidia.com/gpu: \"0\"")).unwrap();
    let (instance, report) = kubernetes(&tree(vec![path.clone()])).unwrap();
    assert!(tenants(&instance).contains(&"[research] w1".to_owned()), "{:?}", tenants(&instance));
    let ignored = "limits of nvidia.com/gpu left out, which Kubernetes does not enforce: it knows requests.nvidia.com/gpu only";
    assert_eq!(report.count(ignored), 1, "{report}");
    std::fs::write(&path, text.replace("cpu: \"4\"", "cpu: four")).unwrap();
    let error = kubernetes(&tree(vec![path.clone()])).unwrap_err().to_string();
    assert!(error.contains("ResourceQuota shop/second: spec.hard.cpu = four"), "{error}");
    // A cluster without any has an empty list; a list of others is the wrong file.
    std::fs::write(&path, r#"{"kind": "List", "items": []}"#).unwrap();
    assert!(kubernetes(&tree(vec![path])).is_ok());
    let error = kubernetes(&tree(vec![shipped("nodes.json")])).unwrap_err().to_string();
    assert!(error.contains("there is no ResourceQuota here, but 6 objects of kind Node"), "{error}");
}

#[test]
fn devices_that_no_pod_asks_for_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let pods = folder.path().join("pods.json").to_str().unwrap().to_owned();
    let pod = r#"{"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}"#;
    std::fs::write(&pods, pod).unwrap();
    let (instance, report) = kubernetes(&KubernetesOptions { pods: vec![pods], ..options() }).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory"]);
    assert_eq!(
        report.count("nodes have nvidia.com/gpu, which no pod asks for: it is left out"),
        1,
        "{report}"
    );
}

#[test]
fn what_is_no_object_of_kubernetes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.json").to_str().unwrap().to_owned();
    for (text, told) in [
        (r#"[{"a": 1}, {"b": 2}]"#, "Pod number 1: has no metadata and no spec, so it is no Pod; write"),
        (r#"{"jobs": [], "meta": {}}"#, "this looks like what a command of Slurm prints"),
    ] {
        std::fs::write(&path, text).unwrap();
        let pods = KubernetesOptions { pods: vec![path.clone()], ..options() };
        let error = kubernetes(&pods).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    std::fs::write(&path, r#"{"nodes": [{"name": "a"}]}"#).unwrap();
    let error = kubernetes(&KubernetesOptions { nodes: vec![path], ..options() }).unwrap_err().to_string();
    assert!(error.contains("this looks like what a command of Slurm prints"), "{error}");
}
