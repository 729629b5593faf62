//! Fields that queues do not have, and amounts in the wrong place: what is lost is told.

use super::*;

/// The users of queues in this text, and what is told.
fn read(text: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let (found, report) = users(vec![path]).unwrap();
    (found, report.to_string())
}

fn told(text: &str) -> String {
    read(text).1
}

const UNKNOWN: &str = "1 field left out because it is not known here: ";

#[test]
fn amounts_of_volcano_in_the_wrong_place_are_told_by_queue_and_field() {
    let queue = |spec: &str| {
        told(&format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: a}}\nspec: {{weight: 1, {spec}}}\n"
        ))
    };
    let lost = queue("guarantee: {cpu: 4}");
    assert!(lost.contains(&format!("{UNKNOWN}Queue a.guarantee.cpu\n")), "{lost}");
    let lost = queue("capacity: {cpu: 4}");
    assert!(lost.contains("capacity"), "{lost}");
    let usual = queue(
        "guarantee: {resource: {cpu: 4}}, capability: {cpu: 8}, extendClusters: [{name: x, capacity: {cpu: 1}}], type: a",
    );
    assert!(!usual.contains("known here") && !usual.contains("called so"), "{usual}");
}

#[test]
fn amounts_of_kai_in_the_wrong_place_are_told_by_queue_and_field() {
    let lost = told(
        "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {resources: {gpu: {guaranteed: 2, quota: 1, limit: -1}}}\n",
    );
    assert!(lost.contains(&format!("{UNKNOWN}Queue a.resources.gpu.guaranteed\n")), "{lost}");
}

#[test]
fn amounts_of_yunikorn_in_the_wrong_place_are_told_by_partition_and_field() {
    let queue = |more: &str| {
        told(&format!(
            "partitions: [{{name: default, queues: [{{name: root, queues: [{{name: a, {more}}}]}}]}}]"
        ))
    };
    let lost = queue("resources: {maximum: {vcore: 4}}");
    assert!(
        lost.contains(&format!("{UNKNOWN}partition default.queues.queues.resources.maximum\n")),
        "{lost}"
    );
    let to_come = queue("parent: true");
    let why = "1 queue for others to be made below (parent: true), of which there are none: it counts with tasks of its own: root.a\n";
    assert!(to_come.contains(why), "{to_come}");
}

#[test]
fn cpu_is_no_resource_of_yunikorn_which_counts_vcore() {
    let (found, told) = read(
        "partitions: [{name: default, queues: [{name: root, queues: [{name: a, resources: {max: {cpu: 1}}}]}]}]",
    );
    assert!(!found[0].contains("most"), "{found:?}");
    assert!(told.contains("1 amount of cpu left out, which YuniKorn counts as vcore: root.a\n"), "{told}");
}

#[test]
fn partitions_that_are_left_out_and_their_order_of_nodes_are_named() {
    let told = told(
        "partitions: [{name: default, nodesortpolicy: {type: binpacking}, queues: [{name: root, queues: [{name: a}]}]}, {name: gpu, queues: []}]",
    );
    assert!(told.contains("1 partition left out: it has nodes of its own: gpu\n"), "{told}");
    assert!(
        told.contains("1 partition whose order of nodes is left out (nodesortpolicy): default\n"),
        "{told}"
    );
}
