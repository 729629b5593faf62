//! `import kubernetes`.

use super::written::{write_import, write_present};
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use fairplan::Error;
use fairplan::imports::{Daemons, KubernetesOptions, PodOwner, TaskGrouping, ZONE};
use std::path::PathBuf;

/// A Kubernetes cluster: its nodes, and its pods that run or wait
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes with the same allocatable amounts that the same pods may run on become a server class. Each namespace (or label) becomes a \
group of one weight, its pods that ask for the same become tasks of a user in it. They may run where their node selector, required node affinity and tolerations allow, and where they run; \
pods without a status count as pending. Amounts are exact: cpu in cores, memory and storage in bytes. What is left out is counted on standard error.

The files are made by
  kubectl get nodes -o json > nodes.json
  kubectl get pods -A -o json > pods.json
  kubectl get resourcequotas -A -o json > quotas.json
  kubectl get podgroups,jobs -A -o json > gangs.json

Example: fairplan import kubernetes --nodes imports/data/kubernetes/nodes.json \\
           --pods imports/data/kubernetes/pods.yaml")]
pub struct Arguments {
    /// Nodes, as JSON or YAML, gzipped or not; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    nodes: Vec<String>,
    /// Pods, as JSON or YAML, gzipped or not
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pods: Vec<String>,
    /// ResourceQuotas, as JSON or YAML, which become limits of their namespaces
    #[arg(long, value_name = "FILE", num_args = 1..)]
    quotas: Vec<String>,
    /// Whose a pod is: its namespace's (namespace), or the value's of a label (label:KEY)
    #[arg(long, value_name = "WHOSE", default_value = "namespace", alias = "user")]
    group_by: PodOwner,
    /// Who becomes a user: each different request of a namespace or label, which is a group of one weight (tree), the same without
    /// groups (shape), or each namespace or label with its mean request (user)
    #[arg(long, value_name = "HOW", default_value = "tree")]
    group: TaskGrouping,
    /// The resources that count, such as cpu,memory,pods (default: all that are requested); a pod takes one of pods
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    resources: Option<Vec<String>>,
    /// What becomes of pods that belong to their node (of a DaemonSet, or static): tasks that may run elsewhere too
    /// (count), or taken off what their node has (reserve)
    #[arg(long, value_name = "HOW", default_value = "count")]
    daemons: Daemons,
    /// Count nodes that are cordoned or not ready as well, as if they were not
    #[arg(long)]
    all_nodes: bool,
    /// Keep the rules that only whole tasks meet, where an instance can: GPUs as devices, zones as domains, at most one pod on a node
    /// (required podAntiAffinity), spread over zones (topologySpreadConstraints), gangs
    #[arg(long)]
    rules: bool,
    /// PodGroups of Volcano and of the scheduler plugins, whose minMember pods start together, and Jobs, whose parallelism do; pod
    /// groups of Kueue say it themselves
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "rules")]
    gangs: Vec<String>,
    /// The label of nodes whose value is their domain
    #[arg(long, value_name = "LABEL", default_value = ZONE, requires = "rules")]
    domain: String,
    /// Write where tasks run now as a fairplan.placement.v1, which `fairplan compare --placement` judges; server classes then
    /// carry the names of their nodes
    #[arg(long, value_name = "FILE")]
    placement_out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads nodes and pods and writes the instance.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments {
        nodes,
        pods,
        quotas,
        group_by,
        group,
        resources,
        daemons,
        all_nodes,
        rules,
        gangs,
        domain,
        placement_out,
        output,
    } = arguments;
    let options = KubernetesOptions {
        nodes,
        pods,
        quotas,
        owner: group_by,
        grouping: group,
        resources,
        daemons,
        all_nodes,
        rules,
        gangs,
        domain,
    };
    match placement_out {
        None => write_import(|| fairplan::imports::kubernetes(&options), &output, common),
        Some(placement) => {
            let import = || fairplan::imports::kubernetes_present(&options);
            write_present(import, "kubernetes", &placement, &output, common)
        }
    }
}
