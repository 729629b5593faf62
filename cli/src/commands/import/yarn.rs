//! `import yarn`.

use super::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::YarnOptions;

/// A YARN cluster: its nodes, and the leaf queues of its scheduler as users
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes of equal memory (MiB) and vcores become a server class. A queue's weight is its part of its parent's, down the tree; a \
task is a thousandth of the cluster or less, so that nine of ten nodes hold ten tasks and a maximum a hundred; `tasks` is the \
most that the queue's maximum and those above it allow. What is left out is counted on standard error.

The files are made by
  curl http://RESOURCE-MANAGER:8088/ws/v1/cluster/nodes > nodes.json
  cp $HADOOP_CONF_DIR/fair-scheduler.xml .    (or capacity-scheduler.xml)

Example: fairplan import yarn --nodes imports/data/yarn/nodes.json \\
           --queues imports/data/yarn/fair-scheduler.xml")]
pub struct Arguments {
    /// The nodes, or a node list of the load simulator; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    nodes: Vec<String>,
    /// fair-scheduler.xml or capacity-scheduler.xml
    #[arg(long, value_name = "FILE")]
    queues: String,
    /// Keep the tree: queues above the leaves become groups, each with its own weight
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads nodes and queues and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { nodes, queues, tree, output } = arguments;
    let options = YarnOptions { nodes, queues, tree };
    write_import(|| fairplan::imports::yarn(&options), &output, common)
}
