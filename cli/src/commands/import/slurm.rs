//! `import slurm`.

use super::written::{write_import, write_present};
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::{JobOwner, SlurmOptions, TaskGrouping};
use std::path::PathBuf;

/// A Slurm cluster: its nodes, and its jobs that run or wait
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes alike in cpus, memory (MiB), generic resources and partitions become a server class; a job on n nodes becomes n tasks \
that may run on the nodes of its partition that have the types of gpus it asks for. Each user is a group of one weight, jobs that \
ask for the same a user in it. With --accounts users are in their accounts, these in theirs, with shares as weights and GrpTRES \
as limits. What is left out is counted on standard error.

The files are made by
  scontrol show nodes --json > nodes.json    (or sinfo --json)
  squeue --json > jobs.json
  sacctmgr show assoc --json > accounts.json

Example: fairplan import slurm --nodes imports/data/slurm/nodes.json \\
           --jobs imports/data/slurm/jobs.json")]
pub struct Arguments {
    /// Nodes, gzipped or not; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    nodes: Vec<String>,
    /// Jobs, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    jobs: Vec<String>,
    /// Accounts and associations, gzipped or not, as `sacctmgr show assoc --json` or `sshare --json` print: groups with shares and
    /// limits
    #[arg(long, value_name = "FILE", num_args = 1..)]
    accounts: Vec<String>,
    /// Whose a job is: user, account or partition
    #[arg(long, value_name = "WHOSE", default_value = "user")]
    user: JobOwner,
    /// Who becomes a user: each different request of these, which are groups (tree), the same without groups (shape), or each of
    /// these with its mean request (user)
    #[arg(long, value_name = "HOW", default_value = "tree")]
    group: TaskGrouping,
    /// Count nodes that are down, drained or otherwise closed as well
    #[arg(long)]
    all_nodes: bool,
    /// Keep the rules that only whole tasks meet: GPUs as devices, and jobs of several nodes as gangs
    #[arg(long)]
    rules: bool,
    /// With --rules: topology.conf, or what `scontrol show topology` prints. A node's switch is its domain, in which jobs run that ask
    /// for --switches=1
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "rules")]
    topology: Vec<String>,
    /// Write where tasks run now as a fairplan.placement.v1, which `fairplan compare --placement` judges; server classes then
    /// carry the names of their nodes
    #[arg(long, value_name = "FILE")]
    placement_out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads nodes and jobs and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { nodes, jobs, accounts, user, group, all_nodes, rules, topology, placement_out, output } =
        arguments;
    let options =
        SlurmOptions { nodes, jobs, accounts, owner: user, grouping: group, all_nodes, rules, topology };
    match placement_out {
        None => write_import(|| fairplan::imports::slurm(&options), &output, common),
        Some(placement) => {
            let import = || fairplan::imports::slurm_present(&options);
            write_present(import, "slurm", &placement, &output, common)
        }
    }
}
