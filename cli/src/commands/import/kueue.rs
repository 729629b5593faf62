//! `import kueue`.

use super::written::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::{KueueOptions, QueueLevel, QueueWeights};

/// Kueue's cohorts and queues as groups and users with their quotas, over nodes or over the quotas themselves
#[derive(Debug, clap::Args)]
#[command(override_usage = "fairplan import kueue [OPTIONS] <FILE>...")]
#[command(after_help = "\
Cohorts become groups, as deep as they are nested, ClusterQueues users in them. The nominal quota becomes a guarantee, nominal \
and borrowing limit together a limit, what is not lent a reserve; a queue with several flavors is a group with a user for each. \
With --nodes a flavor is the nodes that its labels and taints allow, and a queue with several resource groups is where a flavor \
of each lets its tasks run; without, the nominal quotas of each flavor are a server. Workloads that run or wait become users of so many tasks; a queue without any is one user whose task is \
a GPU or a core with its part of the quotas, or less. Both v1beta1 and v1beta2 are read. What is left out is counted on standard \
error.

The files are made by
  kubectl get clusterqueues,cohorts,localqueues,resourceflavors,workloads -A -o yaml > queues.yaml
  kubectl get nodes -o json > nodes.json

Example: fairplan import kueue imports/data/kueue/queues.yaml")]
pub struct Arguments {
    /// ClusterQueues, Cohorts, LocalQueues, ResourceFlavors and Workloads, as YAML or JSON, gzipped or not; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "nodes")]
    files: Vec<String>,
    /// Nodes, as JSON or YAML, gzipped or not (default: the quotas are the cluster)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    nodes: Vec<String>,
    /// Who becomes a user: each ClusterQueue (cluster-queue), or each LocalQueue (local-queue)
    #[arg(long, value_name = "WHO", default_value = "cluster-queue")]
    user: QueueLevel,
    /// What weights queues and cohorts: fairSharing.weight (fair-sharing), or their part of the pool's quotas (quota)
    #[arg(long, value_name = "WHAT", default_value = "fair-sharing")]
    weights: QueueWeights,
    #[command(flatten)]
    output: OutputArguments,
}

/// What is said where all files are nodes, as one who writes them first may not have meant.
const NO_QUEUES: &str = "there is no FILE with queues: --nodes takes all files behind it; write the files with queues before --nodes, or behind --";

/// Reads the queues and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { files, nodes, user, weights, output } = arguments;
    if files.is_empty() {
        return Err(Error::input(NO_QUEUES));
    }
    let options = KueueOptions { files, nodes, users: user, weights };
    write_import(|| fairplan::imports::kueue(&options), &output, common)
}
