//! `import`: instances and traces from published files.

mod google2011;
mod traces;

use crate::arguments::CommonOptions;
use crate::failure::{Answer, Failure};

/// Make an instance or a trace from published files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: fairplan import google-2011 --machine-events machine_events.csv.gz --task-events task_events-*.csv.gz")]
pub struct Arguments {
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, clap::Subcommand)]
enum Source {
    #[command(name = "google-2011")]
    Google2011(google2011::InstanceArguments),
    #[command(name = "google-2011-trace")]
    Google2011Trace(google2011::TraceArguments),
    #[command(name = "alibaba-gpu2023-trace")]
    AlibabaGpu2023Trace(traces::AlibabaArguments),
    #[command(name = "azure-v1-trace")]
    AzureV1Trace(traces::AzureArguments),
    PhillyTrace(traces::PhillyArguments),
    SwfTrace(traces::SwfArguments),
}

/// Reads the files and writes what was made of them.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    match arguments.source {
        Source::Google2011(arguments) => google2011::instance(arguments, common),
        Source::Google2011Trace(arguments) => google2011::trace(arguments, common),
        Source::AlibabaGpu2023Trace(arguments) => traces::alibaba(arguments, common),
        Source::AzureV1Trace(arguments) => traces::azure(arguments, common),
        Source::PhillyTrace(arguments) => traces::philly_jobs(arguments, common),
        Source::SwfTrace(arguments) => traces::workload_log(arguments, common),
    }
}
