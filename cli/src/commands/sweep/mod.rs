//! `sweep`: many runs of one command, on any engine, as one table.

mod collect;
mod engines;
mod failed;
mod missing;
mod plan;
mod reproduction;
mod run;

pub use reproduction::reproduced;

use crate::arguments::CommonOptions;
use crate::failure::Answer;
use clap::Subcommand;
use fairplan::Error;
use fairplan_sweeps::Commands;

/// Run a command many times with changing options, on this machine or on any engine, and get one table
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A specification (YAML or JSON) names a command, what is always said to it, and parameters with their values; `plan` makes of it a \
list of tasks, one a line. Each task is known by what it says, what its inputs contain and the version. Its result is \
kept whole under that name or not at all, and not computed again; so a sweep that was stopped goes on where it ended, on whatever \
engine.

Example: fairplan sweep plan sweep.yaml -o sweep.jsonl
         fairplan sweep run sweep.jsonl --all -o results
         fairplan sweep collect sweep.jsonl results -o all.parquet")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Plan(plan::Arguments),
    Run(run::Arguments),
    Missing(missing::Arguments),
    Collect(collect::Arguments),
    Slurm(engines::SlurmArguments),
    Kubernetes(engines::KubernetesArguments),
}

/// Does what was asked for.
pub fn run(arguments: Arguments, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    match arguments.what {
        What::Plan(arguments) => plan::run(arguments, common, swept),
        What::Run(arguments) => run::run(arguments, common, swept),
        What::Missing(arguments) => missing::run(arguments, common),
        What::Collect(arguments) => collect::run(arguments, common, swept),
        What::Slurm(arguments) => engines::slurm(arguments, common),
        What::Kubernetes(arguments) => engines::kubernetes(arguments, common),
    }
}
