//! `import google-2011` and `import google-2011-trace`.

use super::super::traces;
use super::written::{write_import, write_present};
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress;
use fairplan::Error;
use fairplan::imports::{
    DrawnServers, Google2011Options, Google2011TraceOptions, Grouping, google_2011, google_2011_present,
    google_2011_trace,
};
use std::path::PathBuf;

/// Google's cluster-usage traces of 2011 (v2.1), as of one moment
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Machines of equal capacity become a server class; users get the tasks that run or wait at the moment.

Example: fairplan import google-2011 --machine-events machine_events.csv.gz \\
           --task-events task_events-*.csv.gz -o google.json")]
pub struct InstanceArguments {
    /// Parts of the table machine_events in order, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    machine_events: Vec<String>,
    /// Parts of the table task_events in order, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    task_events: Vec<String>,
    /// The moment in microseconds of trace time; 0 is the state before the trace begins
    #[arg(long, value_name = "TIME", default_value_t = 0)]
    at: u64,
    /// Take every machine of the trace with its last known capacity: the published 12,583 servers
    #[arg(long)]
    last_shapes: bool,
    /// Who becomes a user: each user of the trace (user), or each different request of each user (shape)
    #[arg(long, value_name = "HOW", default_value = "user")]
    group: Grouping,
    /// Write where tasks run at the moment as a fairplan.placement.v1, which `fairplan compare --placement` judges; server classes
    /// then carry the ids of their machines
    #[arg(long, value_name = "FILE")]
    placement_out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Google's cluster-usage traces of 2011 (v2.1), as a trace: tasks with the times they ran, and servers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A task is submitted when it first was and runs for as long as all its runs took together. Tasks that ran before the \
first row are submitted at time 0; what still runs at the last row ends there. Tasks that never ran or whose request \
or user is unknown are left out; everything is counted in the header. Job events name users, submissions and ends that \
rows of tasks lack, and keep the memory needed to the jobs that have not ended.
The ending of -o FILE is the format: .parquet, .jsonl or .jsonl.gz.

Example: fairplan import google-2011-trace \\
           --task-events task_events/part-0023[5-7]-of-00500.csv.gz --servers 2000 --seed 1 \\
           -o hours.jsonl.gz")]
#[command(group = clap::ArgGroup::new("cluster").required(true).args(["machine_events", "servers"]))]
pub struct TraceArguments {
    /// Consecutive parts of the table task_events in order, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    task_events: Vec<String>,
    /// Parts of the table job_events of the same time in order, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1..)]
    job_events: Vec<String>,
    /// Take the machines of the trace, which come, change and go: parts of the table machine_events in order
    #[arg(long, value_name = "FILE", num_args = 1..)]
    machine_events: Vec<String>,
    /// Draw this many servers from the published distribution instead
    #[arg(long, value_name = "N")]
    servers: Option<u64>,
    /// Seed of the servers drawn
    #[arg(long, value_name = "N", default_value_t = 0, requires = "servers")]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads the trace and writes the instance.
pub fn instance(arguments: InstanceArguments, common: CommonOptions) -> Result<Answer, Error> {
    let InstanceArguments { machine_events, task_events, at, last_shapes, group, placement_out, output } =
        arguments;
    let options = Google2011Options { machine_events, task_events, at, last_shapes, grouping: group };
    match placement_out {
        None => write_import(|| google_2011(&options), &output, common),
        Some(placement) => {
            write_present(|| google_2011_present(&options), "google", &placement, &output, common)
        }
    }
}

/// Reads the trace and writes it as one.
pub fn trace(arguments: TraceArguments, common: CommonOptions) -> Result<Answer, Error> {
    let TraceArguments { task_events, job_events, machine_events, servers, seed, output } = arguments;
    let destination = output.trace()?;
    let servers = servers.map(|count| DrawnServers { count, seed });
    let options = Google2011TraceOptions { task_events, job_events, machine_events, servers };
    let mut trace = progress::during(common, "reading the trace", || google_2011_trace(&options))?;
    traces::write(&mut trace, &destination, common)
}
