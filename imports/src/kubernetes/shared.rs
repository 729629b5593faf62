//! GPUs that pods share: parts of one device where nodes say how large it is, counted where they do not.

use super::*;
use fairplan_instances::{ResourceId, UserId};

/// What is made of nodes `(labels, allocatable)` and of pods `(annotations, requests)`.
fn read(nodes: &[(&str, &str)], pods: &[(&str, &str)]) -> (Instance, ImportReport) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, items: Vec<String>| {
        let path = folder.path().join(name);
        std::fs::write(&path, items.join("\n---\n")).unwrap();
        vec![path.to_str().unwrap().to_owned()]
    };
    let node = |(at, (labels, has)): (usize, &(&str, &str))| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n{at}, labels: {{{labels}}}}}, status: {{allocatable: {{cpu: 8, memory: 64Gi, {has}}}}}}}"
        )
    };
    let pod = |(at, (annotations, asks)): (usize, &(&str, &str))| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p{at}, namespace: a{at}, annotations: {{{annotations}}}}}, spec: \
             {{containers: [{{name: c, resources: {{requests: {{cpu: 1, memory: 1Gi, {asks}}}, limits: {{{asks}}}}}}}]}}}}"
        )
    };
    let options = KubernetesOptions {
        nodes: write("nodes.yaml", nodes.iter().enumerate().map(node).collect()),
        pods: write("pods.yaml", pods.iter().enumerate().map(pod).collect()),
        rules: true,
        ..Default::default()
    };
    kubernetes(&options).unwrap()
}

/// The last resource, how many devices the first class has of it, and what each user asks for of it.
fn shared(instance: &Instance) -> (&str, Option<u64>, Vec<f64>) {
    let last = instance.resources().len() - 1;
    let asked = instance.users().map(|user| user.demand()[last].to_f64()).collect();
    (&instance.resources()[last], instance.classes()[0].devices_of(ResourceId(last)), asked)
}

#[test]
fn memory_of_gpus_is_taken_of_one_where_nodes_say_how_much_one_has() {
    for (memory, count) in
        [("aliyun.com/gpu-mem", "aliyun.com/gpu-count"), ("volcano.sh/gpu-memory", "volcano.sh/gpu-number")]
    {
        let has = format!("{memory}: 64, {count}: 4");
        let asks = format!("{memory}: 10");
        let (instance, report) = read(&[("", &has)], &[("", &asks)]);
        assert_eq!(shared(&instance), (memory, Some(4), vec![10.0]), "{report}");
        assert_eq!(instance.device_size(ResourceId(2)).unwrap().to_f64(), 16.0);
        // Another node has larger ones.
        let larger = format!("{memory}: 64, {count}: 2");
        let (instance, report) = read(&[("", &has), ("", &larger)], &[("", &asks)]);
        let told = format!(
            "nodes do not say how large a device of {memory} is, or not all the same: it counts as one amount"
        );
        assert_eq!((shared(&instance).1, report.count(&told)), (None, 2), "{report}");
    }
}

#[test]
fn gpus_taken_in_turn_are_devices_of_as_many_parts_as_their_label_says() {
    let has = "nvidia.com/gpu.shared: 8";
    let (instance, _) = read(&[("nvidia.com/gpu.replicas: \"4\"", has)], &[("", "nvidia.com/gpu.shared: 1")]);
    assert_eq!(shared(&instance), ("nvidia.com/gpu.shared", Some(2), vec![1.0]));
    assert_eq!(instance.device_size(ResourceId(2)).unwrap().to_f64(), 4.0);
    let (instance, _) = read(&[("", has)], &[("", "nvidia.com/gpu.shared: 1")]);
    assert_eq!(shared(&instance).1, None);
}

#[test]
fn parts_of_gpus_in_annotations_of_kai_are_requests() {
    let (has, label) = ("nvidia.com/gpu: 2", "nvidia.com/gpu.memory: \"16000\"");
    let pods = [("gpu-fraction: \"0.5\"", ""), ("gpu-memory: \"2001\"", ""), ("", "nvidia.com/gpu: 1")];
    let (instance, report) = read(&[(label, has)], &pods);
    assert_eq!(shared(&instance), ("nvidia.com/gpu", Some(2), vec![0.5, 0.126, 1.0]), "{report}");
    let (instance, report) = read(&[("", has)], &pods);
    assert_eq!(shared(&instance).2, [0.5, 0.0, 1.0]);
    let told = "pods ask for a part of a GPU in annotations, which are not read: nodes do not all say the same nvidia.com/gpu.memory";
    assert_eq!(report.count(told), 1, "{report}");
    let several = ("gpu-fraction: \"0.5\", gpu-fraction-num-devices: \"2\"", "");
    let (_, report) = read(&[(label, has)], &[several, pods[2]]);
    let told =
        "pods ask for parts of several GPUs in annotations (gpu-fraction-num-devices), which are not read";
    assert_eq!(report.count(told), 1, "{report}");
}

#[test]
fn gpus_that_nodes_state_twice_are_devices_of_one_resource() {
    let milli = "alibabacloud.com/gpu-milli";
    let has = format!("{milli}: 2000, nvidia.com/gpu: 2");
    let annotations = format!("{milli}: \"300\"");
    let (instance, report) = read(&[("", &has)], &[(&annotations, ""), ("", "nvidia.com/gpu: 2")]);
    assert_eq!(shared(&instance), (milli, Some(2), vec![300.0, 2000.0]), "{report}");
    assert_eq!(instance.resources(), ["cpu", "memory", milli]);
    assert_eq!(instance.user(UserId(1)).tasks(), Some(1));
}
