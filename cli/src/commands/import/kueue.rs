//! `import kueue`.

use super::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::{KueueOptions, QueueLevel, QueueWeights};

/// Kueue's queues: each cohort's quotas are the servers, each ClusterQueue or LocalQueue is a user
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The nominal quotas of all queues of a cohort are one pool, each flavor of it a server class. A task is a thousandth of its \
queue's nominal quota: `tasks` is 1000 for a queue without a cohort and 1000 (nominal + borrowingLimit) / nominal where \
borrowing is limited. Both v1beta1 and v1beta2 are read. What is left out is counted on standard error.

The file is made by
  kubectl get clusterqueues,cohorts,localqueues -A -o yaml > queues.yaml

Example: fairplan import kueue imports/data/kueue/queues.yaml")]
pub struct Arguments {
    /// ClusterQueues, Cohorts and LocalQueues, as YAML or JSON, gzipped or not; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Who becomes a user: each ClusterQueue (cluster-queue), or each LocalQueue (local-queue)
    #[arg(long, value_name = "WHO", default_value = "cluster-queue")]
    user: QueueLevel,
    /// What weights the users: their part of the pool's quotas (quota), or fairSharing.weight (fair-sharing)
    #[arg(long, value_name = "WHAT", default_value = "quota")]
    weights: QueueWeights,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads the queues and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { files, user, weights, output } = arguments;
    let options = KueueOptions { files, users: user, weights };
    write_import(|| fairplan::imports::kueue(&options), &output, common)
}
