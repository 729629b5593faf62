//! `import`: instances, traces and demands over time from published files and from the state of real clusters.

mod demands;
mod google2011;
mod kubernetes;
mod kubernetes_queues;
mod kueue;
mod published;
mod slurm;
mod traces;
mod written;
mod yarn;

use crate::arguments::CommonOptions;
use crate::failure::Answer;
use fairplan::Error;

/// Make an instance, a trace or demands over time from published files or from the state of a cluster
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
    KubernetesQueues(kubernetes_queues::Arguments),
    Kueue(kueue::Arguments),
    Slurm(slurm::Arguments),
    Yarn(yarn::Arguments),
    #[command(name = "alibaba-gpu2023")]
    AlibabaGpu2023(published::AlibabaArguments),
    #[command(name = "azure-v1")]
    AzureV1(published::AzureArguments),
    #[command(name = "alibaba-gpu2023-trace")]
    AlibabaGpu2023Trace(traces::AlibabaArguments),
    #[command(name = "azure-v1-trace")]
    AzureV1Trace(traces::AzureArguments),
    PhillyTrace(traces::PhillyArguments),
    SwfTrace(traces::SwfArguments),
    Snowset(demands::SnowsetArguments),
    Helios(demands::HeliosArguments),
    ShavedIce(demands::ShavedIceArguments),
}

/// Reads the files and writes what was made of them.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    match arguments.source {
        Source::Google2011(arguments) => google2011::instance(arguments, common),
        Source::Google2011Trace(arguments) => google2011::trace(arguments, common),
        Source::Kubernetes(arguments) => kubernetes::run(arguments, common),
        Source::KubernetesQueues(arguments) => kubernetes_queues::run(arguments, common),
        Source::Kueue(arguments) => kueue::run(arguments, common),
        Source::Slurm(arguments) => slurm::run(arguments, common),
        Source::Yarn(arguments) => yarn::run(arguments, common),
        Source::AlibabaGpu2023(arguments) => published::alibaba(arguments, common),
        Source::AzureV1(arguments) => published::azure(arguments, common),
        Source::AlibabaGpu2023Trace(arguments) => traces::alibaba(arguments, common),
        Source::AzureV1Trace(arguments) => traces::azure(arguments, common),
        Source::PhillyTrace(arguments) => traces::philly_jobs(arguments, common),
        Source::SwfTrace(arguments) => traces::workload_log(arguments, common),
        Source::Snowset(arguments) => demands::from_snowset(arguments, common),
        Source::Helios(arguments) => demands::from_helios(arguments, common),
        Source::ShavedIce(arguments) => demands::from_shaved_ice(arguments, common),
    }
}
