//! `import kubernetes-queues`.

use super::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::KubernetesQueuesOptions;

/// Queues of Volcano, KAI or YuniKorn over the nodes of a Kubernetes cluster: their leaves are the users
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Weights are Volcano's weight (or its hierarchy's weights), KAI's overQuotaWeight, and in YuniKorn the part of the cluster \
that is guaranteed; they are multiplied down the tree of queues. A task is a thousandth or less of the servers that have what \
it asks for, so that nine of ten hold ten tasks and a limit a hundred; it asks for cpu and memory, and for GPUs if nearly \
all servers have some or its queue is given some. `tasks` is the most that the tightest capability, limit or max allows. \
What is guaranteed is no limit; what is left out is counted on standard error.

The files are made by
  kubectl get nodes -o json > nodes.json
  kubectl get queues -o yaml > queues.yaml    (YuniKorn: its queues.yaml)

Example: fairplan import kubernetes-queues --nodes imports/data/kubernetes/nodes.json \\
           --queues imports/data/kubernetes/volcano.yaml")]
pub struct Arguments {
    /// Nodes, as JSON or YAML, gzipped or not; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    nodes: Vec<String>,
    /// Queues, as YAML or JSON, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    queues: Vec<String>,
    /// Keep the tree: queues above the leaves become groups, each with its own weight
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads nodes and queues and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { nodes, queues, tree, output } = arguments;
    let options = KubernetesQueuesOptions { nodes, queues, tree };
    write_import(|| fairplan::imports::kubernetes_queues(&options), &output, common)
}
