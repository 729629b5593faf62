//! `import kubernetes-queues`.

use super::written::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::KubernetesQueuesOptions;

/// Queues of Volcano, KAI or YuniKorn over the nodes of a Kubernetes cluster, as groups and users
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Queues above others become groups, the leaves users, each with its own weight: Volcano's weight (or its hierarchy's weights), \
KAI's overQuotaWeight, and in YuniKorn the part of the cluster that is guaranteed, or else the nearest maximum. What Volcano's queues deserve, KAI's quota \
and YuniKorn's guaranteed become guarantees; capability, limit and max limits; what Volcano's queues have guaranteed is reserved \
for them too. A task is one GPU or one core with its part of the rest, or less, so that every node holds one; it asks for cpu \
and memory, and for GPUs if nearly all nodes have some or its queue is given some. What is left out is counted on standard error.

The files are made by
  kubectl get nodes -o json > nodes.json
  kubectl get queues -o yaml > queues.yaml    (YuniKorn: its queues.yaml or ConfigMap)

Example: fairplan import kubernetes-queues --nodes imports/data/kubernetes/nodes.json \\
           --queues imports/data/kubernetes/volcano.yaml")]
pub struct Arguments {
    /// Nodes, as JSON or YAML, gzipped or not; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    nodes: Vec<String>,
    /// Queues, as YAML or JSON, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    queues: Vec<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads nodes and queues and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { nodes, queues, output } = arguments;
    let options = KubernetesQueuesOptions { nodes, queues };
    write_import(|| fairplan::imports::kubernetes_queues(&options), &output, common)
}
