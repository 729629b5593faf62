//! `import yarn`.

use super::written::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::YarnOptions;

/// A YARN cluster: its nodes, and the queues of its scheduler as groups and users
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes of equal memory (MiB), vcores and label become a server class. Queues above others become groups, the leaves users, each \
with its own weight. minResources, and a capacity in percent or in amounts, become guarantees, maxResources and maximum-capacity \
limits; so do those of each label, of which a leaf has a user. A task is one vcore with its part of the memory, or less, so \
that every node holds one; percentages guarantee what such tasks can hold together. What is left out is counted on standard error.

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
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads nodes and queues and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { nodes, queues, output } = arguments;
    let options = YarnOptions { nodes, queues };
    write_import(|| fairplan::imports::yarn(&options), &output, common)
}
