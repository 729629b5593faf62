//! Queues of which none is left below, a single queue, and files of other objects.

use super::*;

/// The nodes and queues of these texts, as lines and what is told; else the error and what is told.
fn read(nodes: &str, queues: &str) -> Result<(Vec<String>, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        vec![path]
    };
    let options =
        KubernetesQueuesOptions { nodes: file("nodes.yaml", nodes), queues: file("queues.yaml", queues) };
    let (instance, report) =
        kubernetes_queues(&options).map_err(|failure| format!("{failure}\n{}", failure.report))?;
    Ok((tenants(&instance), report.to_string()))
}

const NODE: &str = "kind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: 8, memory: 32Gi}}\n---\n";

fn queue(name: &str, spec: &str, state: &str) -> String {
    format!(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{weight: 1{spec}}}\n\
         status: {{state: {state}}}\n---\n"
    )
}

#[test]
fn a_queue_of_volcano_whose_children_are_all_closed_has_no_tasks_of_its_own() {
    let queues = queue("par", "", "Open") + &queue("ch", ", parent: par", "Closed") + &queue("b", "", "Open");
    let (found, told) = read(NODE, &queues).unwrap();
    assert_eq!(found, ["b w1 1,4294967296"]);
    assert!(told.contains("1 queue left out: stopped: ch\n"), "{told}");
    assert!(told.contains("1 group left out: nobody is left below: par\n"), "{told}");
    // Closed above all is closed everywhere.
    let told = read(NODE, &(queues + &queue("root", "", "Closed"))).unwrap_err();
    assert!(told.contains("no queue is left") && told.contains("4 queues left out: stopped"), "{told}");
}

#[test]
fn a_single_queue_that_is_guaranteed_more_than_there_is_is_told() {
    let (_, told) = read(NODE, &queue("a", ", deserved: {cpu: 100}", "Open")).unwrap();
    assert!(told.contains("1 guarantee is of more than its servers have: a (cpu)\n"), "{told}");
}

#[test]
fn what_else_stands_in_the_files_of_nodes_is_not_said_to_stand_in_those_of_queues() {
    let class = "kind: PriorityClass\nmetadata: {name: high}\n---\n";
    let told = read(&(NODE.to_owned() + class), NODE).unwrap_err();
    assert!(told.contains("YuniKorn here, but 1 object of kind Node; `kubectl get queues"), "{told}");
}
