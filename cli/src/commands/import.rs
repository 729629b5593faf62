//! `import`: instances from published traces.

use super::generate::write_instance;
use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use crate::progress;
use fairplan_instances::import::{Google2011Options, Google2011Report, Grouping, google_2011};

/// Make an instance from a published trace
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

/// Reads the trace and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let Trace::Google2011(arguments) = arguments.trace;
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
