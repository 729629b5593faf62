//! `import …-trace`: the files of one kind of trace each.

use super::super::traces;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress;
use fairplan::Error;
use fairplan::imports::{AzureV1Options, EqualServers, alibaba_gpu2023, azure_v1, philly, swf};
use fairplan::instances::trace::SortedTrace;
use fairplan::instances::{Decimal, InstanceError};

/// Alibaba's GPU cluster of 2023, as a trace: nodes with CPU, memory and GPUs, pods with parts of GPUs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A pod is a job of one task, from its creation on and for as long as from scheduled_time to deletion_time; users are the \
classes of service (qos). Pods that were never scheduled are left out; everything is counted in the header.
The ending of -o FILE is the format: .parquet, .jsonl or .jsonl.gz.

Example: fairplan import alibaba-gpu2023-trace --nodes openb_node_list_all_node.csv \\
           --pods openb_pod_list_default.csv -o gpu.jsonl")]
pub struct AlibabaArguments {
    /// The table of nodes: sn, cpu_milli, memory_mib, gpu, model
    #[arg(long, value_name = "FILE")]
    nodes: String,
    /// The table of pods
    #[arg(long, value_name = "FILE")]
    pods: String,
    /// Make each GPU a device: a part of a GPU is of one GPU
    #[arg(long)]
    devices: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// Arrivals of Azure's V1 trace: batches of virtual machines and how long they stay
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A batch is a job; a machine stays for the middle of its duration's bin. The files do not say which batches are of one \
tenant: each is a user of its own, or --users deals them out in turn.
The ending of -o FILE is the format: .parquet, .jsonl or .jsonl.gz.

Example: fairplan import azure-v1-trace --arrivals v1.dev.txt.gz \\
           --durations v1.dev.c2100000.txt.gz --sizes flav_map.txt \\
           --intervals v1.interval_map.txt --servers 1000 --cores 64 --memory 512 --users 100 \\
           -o azure.parquet")]
pub struct AzureArguments {
    /// What arrives when, by letter of its size
    #[arg(long, value_name = "FILE")]
    arrivals: String,
    /// How long it stays, by bin, in the same form
    #[arg(long, value_name = "FILE")]
    durations: String,
    /// What the letters mean: cores,GB letter
    #[arg(long, value_name = "FILE")]
    sizes: String,
    /// Which duration is in which bin: seconds bin
    #[arg(long, value_name = "FILE")]
    intervals: String,
    /// Deal the batches out to this many users in turn instead of making each a user
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    users: Option<u64>,
    /// How many servers
    #[arg(long, value_name = "N")]
    servers: u64,
    /// Cores of a server
    #[arg(long, value_name = "CORES")]
    cores: Decimal,
    /// Memory of a server in GB
    #[arg(long, value_name = "GB")]
    memory: Decimal,
    #[command(flatten)]
    output: OutputArguments,
}

/// Microsoft's Philly traces: GPU jobs of virtual clusters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rows may come in any order. Users are the virtual clusters. A job of more GPUs than a server has is one task for each \
server full and one for the rest, placed one by one; with --gangs it is the fewest equal tasks that servers hold, which start at \
once or not at all.
The ending of -o FILE is the format: .parquet, .jsonl or .jsonl.gz.

Example: fairplan import philly-trace philly_jobs.csv.gz --servers 352 --gpus 8 -o philly.jsonl")]
pub struct PhillyArguments {
    /// The table of jobs: timestamp, duration, num_gpus, cluster
    #[arg(value_name = "FILE")]
    jobs: String,
    /// How many servers
    #[arg(long, value_name = "N")]
    servers: u64,
    /// GPUs of a server
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    gpus: u32,
    /// A job's tasks start at once or not at all (rules of the trace, which policies must know)
    #[arg(long)]
    gangs: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// A log in the Standard Workload Format of parallel machines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A job is as many tasks of one processor as it had processors, submitted together and placed one by one, with --gangs all at once or none. Servers are those \
that the log's comments describe (MaxNodes, MaxProcs), unless given.
The ending of -o FILE is the format: .parquet, .jsonl or .jsonl.gz.

Example: fairplan import swf-trace NASA-iPSC-1993-3.1-cln.swf.gz -o nasa.jsonl")]
pub struct SwfArguments {
    /// The log, gzipped or not
    #[arg(value_name = "FILE")]
    log: String,
    /// How many servers, instead of those that the log describes
    #[arg(long, value_name = "N")]
    servers: Option<u64>,
    /// With --servers: processors of each
    #[arg(long, value_name = "N", default_value_t = 1, requires = "servers", value_parser = clap::value_parser!(u32).range(1..))]
    processors: u32,
    /// A job's tasks start at once or not at all (rules of the trace, which policies must know)
    #[arg(long)]
    gangs: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads Alibaba's tables and writes the trace.
pub fn alibaba(arguments: AlibabaArguments, common: CommonOptions) -> Result<Answer, Error> {
    let AlibabaArguments { nodes, pods, devices, output } = arguments;
    import(output, common, || alibaba_gpu2023(&nodes, &pods, devices))
}

/// Reads Azure's files and writes the trace.
pub fn azure(arguments: AzureArguments, common: CommonOptions) -> Result<Answer, Error> {
    let AzureArguments { arrivals, durations, sizes, intervals, users, servers, cores, memory, output } =
        arguments;
    let servers = EqualServers { count: servers, capacity: vec![cores, memory] };
    let options = AzureV1Options { arrivals, durations, sizes, intervals, users, servers };
    import(output, common, || azure_v1(&options))
}

/// Reads Philly's table and writes the trace.
pub fn philly_jobs(arguments: PhillyArguments, common: CommonOptions) -> Result<Answer, Error> {
    let PhillyArguments { jobs, servers, gpus, gangs, output } = arguments;
    import(output, common, || philly(&jobs, servers, gpus, gangs))
}

/// Reads a log and writes the trace.
pub fn workload_log(arguments: SwfArguments, common: CommonOptions) -> Result<Answer, Error> {
    let SwfArguments { log, servers, processors, gangs, output } = arguments;
    let servers = servers.map(|count| EqualServers { count, capacity: vec![Decimal::from(processors)] });
    import(output, common, || swf(&log, servers, gangs))
}

fn import(
    output: OutputArguments,
    common: CommonOptions,
    read: impl FnOnce() -> Result<SortedTrace, InstanceError>,
) -> Result<Answer, Error> {
    let destination = output.trace()?;
    let mut trace = progress::during(common, "reading the trace", read)?;
    traces::write(&mut trace, &destination, common)
}
