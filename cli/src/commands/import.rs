//! `import`: instances and demands over time from published traces.

use super::generate::write_instance;
use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use crate::progress;
use fairplan_instances::files;
use fairplan_instances::import::{
    Google2011Options, Google2011Report, Grouping, HeliosOptions, SnowsetDemand, SnowsetOptions, google_2011,
    helios, snowset,
};
use fairplan_report::output::Destination;
use fairplan_report::{summary, table};
use std::path::PathBuf;

/// Make an instance, or demands over time, from a published trace
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: fairplan import google-2011 --machine-events machine_events.csv.gz --task-events task_events-*.csv.gz")]
pub struct Arguments {
    #[command(subcommand)]
    trace: Trace,
}

#[derive(Debug, clap::Subcommand)]
enum Trace {
    #[command(name = "google-2011")]
    Google2011(Google2011Arguments),
    Snowset(SnowsetArguments),
    Helios(HeliosArguments),
}

/// Snowflake's queries (Snowset): one user a warehouse
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What a query holds from createdTime until endTime is its user's demand, averaged over each quantum and rounded up. The \
result is a fairplan.demands.v1.

Example: fairplan import snowset snowset-main.csv.gz --quantum 60 --until '2018-02-22 00:00:00' -o demands.json")]
struct SnowsetArguments {
    /// The table snowset-main with its header, gzipped or not
    #[arg(value_name = "FILE")]
    queries: String,
    /// Seconds of a quantum
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    quantum: u64,
    /// Slices are so many bytes of memoryUsed, instead of one server of serverCount
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    memory_slice: Option<u64>,
    /// From this time in UTC on (2018-02-21 00:00:00)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Until this time in UTC
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Helios' virtual clusters: demand is running and pending GPUs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is a user, named by what its name begins with. The result is a fairplan.demands.v1; the quotas are the fair \
shares.

Example: fairplan import helios *.cluster_sequence_vc.csv.gz --every 5 --fair-shares-to quotas.csv -o demands.json")]
struct HeliosArguments {
    /// Files NAME.cluster_sequence_vc.csv, gzipped or not
    #[arg(value_name = "FILE", num_args = 1.., required = true)]
    sequences: Vec<String>,
    /// Take one row of so many as a quantum (rows are a minute apart)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Write the quotas here, as a table for --fair-shares
    #[arg(long, value_name = "FILE")]
    fair_shares_to: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Google's cluster-usage traces of 2011 (v2.1), as of one moment
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Machines of equal capacity become a server class; users get the tasks that run or wait at the moment.

Example: fairplan import google-2011 --machine-events machine_events.csv.gz \
--task-events task_events-*.csv.gz -o google.json")]
struct Google2011Arguments {
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
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads the trace and writes the instance, or the demands.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    match arguments.trace {
        Trace::Google2011(arguments) => google(arguments, common),
        Trace::Snowset(arguments) => from_snowset(arguments, common),
        Trace::Helios(arguments) => from_helios(arguments, common),
    }
}

fn from_snowset(arguments: SnowsetArguments, common: CommonOptions) -> Result<Answer, Failure> {
    let SnowsetArguments { queries, quantum, memory_slice, from, until, output } = arguments;
    let destination = output.destination()?;
    let demand = memory_slice.map_or(SnowsetDemand::Servers, |slice| SnowsetDemand::Memory { slice });
    let options = SnowsetOptions { queries, demand, quantum, from, until };
    let (series, report) = progress::during(common.quiet, "reading the trace", || snowset(&options))?;
    destination.write(|out| files::write_demands(&series, out))?;
    tell(common, || {
        let left_out = report.incomplete;
        format!("{}{} queries read, {left_out} of them incomplete\n", summary::demands(&series), report.rows)
    });
    Ok(Answer::Yes)
}

fn from_helios(arguments: HeliosArguments, common: CommonOptions) -> Result<Answer, Failure> {
    let HeliosArguments { sequences, every, fair_shares_to, output } = arguments;
    let destination = output.destination()?;
    let quotas_to = fair_shares_to.map(|path| Destination::new(Some(&path))).transpose()?;
    let options = HeliosOptions { sequences, every };
    let (series, quotas) = progress::during(common.quiet, "reading the trace", || helios(&options))?;
    if let Some(quotas_to) = quotas_to {
        quotas_to.write(|out| table::write_fair_shares(out, &series, &quotas))?;
    }
    destination.write(|out| files::write_demands(&series, out))?;
    tell(common, || summary::demands(&series));
    Ok(Answer::Yes)
}

fn google(arguments: Google2011Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let Google2011Arguments { machine_events, task_events, at, last_shapes, group, output } = arguments;
    let destination = output.destination()?;
    let options = Google2011Options { machine_events, task_events, at, last_shapes, grouping: group };
    let (instance, report) = progress::during(common.quiet, "reading the trace", || google_2011(&options))?;
    write_instance(&instance, &destination, common)?;
    tell(common, || told(&report));
    Ok(Answer::Yes)
}

/// What was read and what was left out, where anything was.
fn told(report: &Google2011Report) -> String {
    let counts = [
        (report.machine_rows, "rows of machine events read"),
        (report.task_rows, "rows of task events read"),
        (report.running, "tasks running"),
        (report.waiting, "tasks waiting"),
        (report.machines_without_capacity, "machines left out: no row states their capacity"),
        (report.tasks_without_request, "tasks left out: no row states a request"),
        (report.tasks_without_user, "tasks left out: no row names a user"),
        (report.tasks_asking_nothing, "tasks left out: they ask for neither CPU nor memory"),
        (report.deviating_requests, "SCHEDULE rows with another request than their task's (its own is kept)"),
        (report.starts_unseen, "tasks first met after their SUBMIT row: earlier rows are missing"),
        (report.ends_unseen, "ends of tasks never met: earlier rows are missing"),
    ];
    let width = counts.iter().map(|(count, _)| count.to_string().len()).max().unwrap_or(0);
    let lines = counts.iter().filter(|(count, _)| *count > 0);
    lines.map(|(count, what)| format!("{count:>width$} {what}\n")).collect()
}
