//! `import alibaba-gpu2023` and `import azure-v1`: published traces as instances.

use super::written::write_import;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::{
    AlibabaGpu2023Options, AzureV1InstanceOptions, EqualServers, TaskGrouping, alibaba_gpu2023_instance,
    azure_v1_instance,
};
use fairplan::instances::Decimal;

/// Alibaba's GPU cluster of 2023: its nodes, and its pods with parts of GPUs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes of one model and size become a server class; a pod may run on the models that its gpu_spec names. The files name no \
tenants: users are the classes of service (qos), or pods for the lists of five columns. Memory is in MiB. No pod names its \
node, so that there is no present placement to write: `fairplan place` makes one.

The files are those of cluster-trace-gpu-v2023 in github.com/alibaba/clusterdata.

Example: fairplan import alibaba-gpu2023 --nodes openb_node_list_all_node.csv \\
           --pods openb_pod_list_default.csv")]
pub struct AlibabaArguments {
    /// The table of nodes: sn, cpu_milli, memory_mib, gpu, model
    #[arg(long, value_name = "FILE")]
    nodes: String,
    /// The table of pods
    #[arg(long, value_name = "FILE")]
    pods: String,
    /// Only the pods that are there at this second of the trace
    #[arg(long, value_name = "SECOND")]
    at: Option<u64>,
    /// Who becomes a user: each different request of a class of service, which is a group of one weight (tree), the same without
    /// groups (shape), or each class of service with its mean request (user)
    #[arg(long, value_name = "HOW", default_value = "tree")]
    group: TaskGrouping,
    /// Make each GPU a device: a part of a GPU is of one GPU. Needs --group shape or tree
    #[arg(long)]
    devices: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// Arrivals of Azure's V1 trace: each size of virtual machine is a user, over servers that you choose
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A user has as many tasks as machines of its size arrive. The files do not say which batches are of one tenant, nor which \
servers there are.

The files are the arrivals and the map of sizes published with the generative models of SOSP 2021.

Example: fairplan import azure-v1 --arrivals v1.dev.txt.gz --sizes flav_map.txt --servers 1000 \\
           --cores 64 --memory 448")]
pub struct AzureArguments {
    /// What arrives when, by letter of its size
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    arrivals: Vec<String>,
    /// What the letters mean: cores,GB letter
    #[arg(long, value_name = "FILE")]
    sizes: String,
    /// Count arrivals from this second of the trace on
    #[arg(long, value_name = "SECOND", default_value_t = 0)]
    from: u64,
    /// Count arrivals before this second of the trace (default: all)
    #[arg(long, value_name = "SECOND")]
    until: Option<u64>,
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

/// Reads Alibaba's tables and writes the instance.
pub fn alibaba(arguments: AlibabaArguments, common: CommonOptions) -> Result<Answer, Error> {
    let AlibabaArguments { nodes, pods, at, group, devices, output } = arguments;
    let options = AlibabaGpu2023Options { nodes, pods, at, grouping: group, devices };
    write_import(|| alibaba_gpu2023_instance(&options), &output, common)
}

/// Reads Azure's arrivals and writes the instance.
pub fn azure(arguments: AzureArguments, common: CommonOptions) -> Result<Answer, Error> {
    let AzureArguments { arrivals, sizes, from, until, servers, cores, memory, output } = arguments;
    let servers = EqualServers { count: servers, capacity: vec![cores, memory] };
    let seconds = from..until.unwrap_or(u64::MAX);
    let options = AzureV1InstanceOptions { arrivals, sizes, seconds, servers };
    write_import(|| azure_v1_instance(&options), &output, common)
}
