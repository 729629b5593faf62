//! Which nodes take tasks of queues: files of queues say nothing of what tasks tolerate.
//!
//! A taint that is named after a device of the node, such as `nvidia.com/gpu`, keeps away tasks that ask for
//! none of it: Kubernetes lets the others tolerate it. Of every other taint no task of a queue is known to tolerate it.
//!
//! Source: the Kubernetes documentation, "Taints and Tolerations" and "Admission Control", "ExtendedResourceToleration".

use crate::kubernetes::Node;
use crate::report::ImportReport;

/// The devices that its taints keep for tasks that ask for them; the key of the taint that keeps everybody away, if one does.
fn kept_for(node: &Node) -> Result<Vec<&str>, &str> {
    let device = |key: &'_ str| node.devices().find(|device| *device == key);
    let site = node.site();
    site.repelling().map(|taint| device(&taint.key).ok_or(taint.key.as_str())).collect()
}

/// Whether tasks of some queue may run on a node; one that is closed to all is told.
pub(super) fn is_open(node: &Node, report: &mut ImportReport) -> bool {
    let closed_by = kept_for(node).err();
    if let Some(key) = closed_by {
        let told = "nodes left out: taints keep away all tasks without a toleration, and queues do not say what tasks tolerate";
        report.named(told, &format!("{} ({key})", node.name));
    }
    closed_by.is_none()
}

/// Whether its taints leave it to tasks that ask for nothing but some of these resources.
pub(super) fn is_for_some(node: &Node, resources: &[&str]) -> bool {
    kept_for(node).is_ok_and(|devices| devices.iter().all(|device| resources.contains(device)))
}

/// Those of the resources, by position, that tasks must ask for to run on a node.
pub(super) fn needs(node: &Node, resources: &[&str]) -> Vec<usize> {
    let devices = kept_for(node).unwrap_or_default();
    (0..resources.len()).filter(|r| devices.contains(&resources[*r])).collect()
}

/// Names the nodes that are kept for who asks for their devices.
pub(super) fn tell_of_devices(nodes: &[Node], resources: &[&str], report: &mut ImportReport) {
    for node in nodes {
        let Some(device) = kept_for(node).ok().and_then(|devices| devices.first().copied()) else { continue };
        let told = match is_for_some(node, resources) {
            true => "nodes with a taint named after a device: only tasks that ask for the device run there",
            false => "nodes with a taint named after a device that no queue asks for: nothing runs there",
        };
        report.named(told, &format!("{} ({device})", node.name));
    }
}

#[cfg(test)]
mod tests {
    use crate::shown::tenants;
    use crate::{KubernetesQueuesOptions, kubernetes_queues};

    /// A node of 16 cores and what else it has, with these taints.
    fn node(name: &str, more: &str, taints: &str) -> String {
        let has = format!("{{cpu: 16, memory: 64Gi{more}}}");
        format!(
            "kind: Node\nmetadata: {{name: {name}}}\nspec: {{taints: [{taints}]}}\nstatus: {{allocatable: {has}}}\n---\n"
        )
    }

    /// The users of two queues of Volcano, of which one is given GPUs, and what is told, or why there are none.
    fn users(nodes: &str) -> Result<(Vec<String>, String), String> {
        let queue = |name: &str, spec: &str| {
            let head = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n";
            format!("{head}metadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n")
        };
        let queues =
            queue("web", "deserved: {cpu: 12}") + &queue("vision", "deserved: {cpu: 16, nvidia.com/gpu: 8}");
        let folder = tempfile::tempdir().unwrap();
        let [nodes, queues] = [("nodes.yaml", nodes), ("queues.yaml", &queues)].map(|(name, content)| {
            let path = folder.path().join(name).to_str().unwrap().to_owned();
            std::fs::write(&path, content).unwrap();
            vec![path]
        });
        let read = kubernetes_queues(&KubernetesQueuesOptions { nodes, queues });
        let (instance, report) = read.map_err(|failure| format!("{failure}\n{}", failure.report))?;
        Ok((tenants(&instance), report.to_string()))
    }

    #[test]
    fn a_node_whose_taint_no_task_is_known_to_tolerate_is_left_out_by_name() {
        let master = "{key: node-role.kubernetes.io/master, effect: NoSchedule}";
        let soft = "{key: old, effect: PreferNoSchedule}";
        let (found, told) = users(&(node("a", "", soft) + &node("m", "", master))).unwrap();
        assert_eq!(
            found,
            ["web w1 1,4294967296 sure cpu=12", "vision w1 1,4294967296 sure cpu=16"],
            "{told}"
        );
        let why = "1 node left out: taints keep away all tasks without a toleration, and queues do not say what tasks tolerate: \
                   m (node-role.kubernetes.io/master)\n1 node\n";
        assert!(told.contains(why), "{told}");
        let refused = users(&node("m", "", master)).unwrap_err();
        assert!(refused.contains("no servers") && refused.contains("1 node left out: taints"), "{refused}");
    }

    #[test]
    fn a_node_with_a_taint_named_after_its_device_takes_only_tasks_that_ask_for_the_device() {
        let gpu = "{key: nvidia.com/gpu, value: present, effect: NoSchedule}";
        let nodes = node("a", "", "") + &node("g", ", nvidia.com/gpu: 8", gpu);
        let (found, told) = users(&nodes).unwrap();
        assert_eq!(
            found,
            [
                "web w1 1,4294967296,0 on a sure cpu=12",
                "vision w1 2,8589934592,1 sure cpu=16 nvidia.com/gpu=8",
            ],
            "{told}"
        );
        let why = "1 node with a taint named after a device: only tasks that ask for the device run there: g (nvidia.com/gpu)\n";
        assert!(told.contains(why), "{told}");
        // Both taints must be tolerated.
        let (found, _) =
            users(&nodes.replace(gpu, &format!("{gpu}, {{key: down, effect: NoExecute}}"))).unwrap();
        assert_eq!(found.len(), 2);
        // A taint of a device that the node does not have is one like others.
        let told = users(&(node("a", "", "") + &node("g", "", gpu))).unwrap().1;
        assert!(told.contains("1 node left out: taints"), "{told}");
        // Nobody asks for what the node is kept for.
        let other = "{key: vendor.example/fpga, effect: NoSchedule}";
        let (found, told) =
            users(&(node("a", "", "") + &node("f", ", vendor.example/fpga: 1", other))).unwrap();
        assert_eq!(found[0], "web w1 1,4294967296 on a sure cpu=12", "{told}");
        let why = "1 node with a taint named after a device that no queue asks for: nothing runs there: f (vendor.example/fpga)\n";
        assert!(told.contains(why), "{told}");
    }

    #[test]
    fn a_guarantee_of_more_than_the_nodes_that_let_its_tasks_in_is_told() {
        let gpu = "{key: nvidia.com/gpu, effect: NoSchedule}";
        for (taint, is_told) in [("", false), (gpu, true)] {
            let nodes = node("a", "", "") + &node("b", ", nvidia.com/gpu: 8", taint);
            let told = users(&nodes.replace("cpu: 16", "cpu: 8")).unwrap().1;
            let why = "1 guarantee is of more than its servers have: web (cpu)\n";
            assert_eq!(told.contains(why), is_told, "{told}");
        }
    }
}
