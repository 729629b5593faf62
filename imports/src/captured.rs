//! A real cluster to try things on: its nodes and pods as `kubectl` printed them, shortened. `data/README.md` says whose they
//! are.

/// What `kubectl get nodes -o json` said.
pub const KUBERNETES_NODES: &str = include_str!("../data/kubernetes/captured/nodes.json");

/// What `kubectl get pods -A -o json` said at the same time.
pub const KUBERNETES_PODS: &str = include_str!("../data/kubernetes/captured/pods.json");
