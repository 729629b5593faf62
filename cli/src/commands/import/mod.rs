//! `import`: instances and traces from published files and from the state of real clusters.

mod google2011;
mod kubernetes;
mod slurm;

use super::generate::write_instance;
use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use crate::progress;
use fairplan_instances::import::ImportReport;
use fairplan_instances::{Instance, InstanceError};

/// Make an instance or a trace from published files or from the state of a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: fairplan import kubernetes --nodes nodes.json --pods pods.json")]
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
    Kubernetes(kubernetes::Arguments),
    Slurm(slurm::Arguments),
}

/// Reads the files and writes what was made of them.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    match arguments.source {
        Source::Google2011(arguments) => google2011::instance(arguments, common),
        Source::Google2011Trace(arguments) => google2011::trace(arguments, common),
        Source::Kubernetes(arguments) => kubernetes::run(arguments, common),
        Source::Slurm(arguments) => slurm::run(arguments, common),
    }
}

/// Writes the instance that `import` makes and says what was read and what was left out.
fn write_import(
    import: impl FnOnce() -> Result<(Instance, ImportReport), InstanceError>,
    output: &OutputArguments,
    common: CommonOptions,
) -> Result<Answer, Failure> {
    let destination = output.destination()?;
    let (instance, report) = progress::during(common.quiet, "reading the files", import)?;
    write_instance(&instance, &destination, common)?;
    tell(common, || report.to_string());
    Ok(Answer::Yes)
}
