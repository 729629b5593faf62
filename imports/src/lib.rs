//! Real files of other systems become instances, traces and demands over time; one module a format, each strict about what it reads.

mod alibaba_gpu2023;
mod alibaba_gpu2023_instance;
mod alibaba_tables;
mod azure_v1;
mod azure_v1_instance;
mod captured;
mod census;
mod columns;
#[cfg(test)]
mod defects;
mod deployed;
mod google2011;
mod helios;
mod kubernetes;
mod kubernetes_queues;
mod kueue;
mod manifests;
mod philly;
mod queue_tasks;
mod queues;
mod quota_places;
#[cfg(test)]
mod real_files;
mod report;
mod seconds;
mod shaved_ice;
#[cfg(test)]
mod shown;
mod slurm;
mod snowset;
mod swf;
mod xml;
mod yarn;

pub use alibaba_gpu2023::alibaba_gpu2023;
pub use alibaba_gpu2023_instance::{AlibabaGpu2023Options, alibaba_gpu2023_instance};
pub use azure_v1::{AzureV1Options, azure_v1};
pub use azure_v1_instance::{AzureV1InstanceOptions, azure_v1_instance};
pub use captured::{KUBERNETES_NODES, KUBERNETES_PODS};
pub use census::{PresentCluster, TaskGrouping};
pub use deployed::{
    ConfigurationKind, Deployed, DeployedQueue, Spec, deployed, deployed_in, specs, specs_in,
};
pub use google2011::{
    DrawnServers, Google2011Options, Google2011Report, Google2011TraceOptions, Grouping, google_2011,
    google_2011_present, google_2011_trace,
};
pub use helios::{HeliosOptions, helios};
pub use kubernetes::{
    Daemons, KubernetesOptions, PodOwner, ZONE, kubernetes, kubernetes_present, node_labels,
};
pub use kubernetes_queues::{KubernetesQueuesOptions, kubernetes_queues};
pub use kueue::{KueueOptions, QueueLevel, QueueWeights, kueue};
pub use philly::philly;
pub use report::{ImportFailure, ImportReport};
pub use shaved_ice::shaved_ice;
pub use slurm::{JobOwner, SlurmOptions, slurm, slurm_present};
pub use snowset::{SnowsetDemand, SnowsetOptions, SnowsetReport, WarehouseSample, snowset};
pub use swf::swf;
pub use yarn::{YarnOptions, yarn};

use fairplan_instances::{Decimal, InstanceError, ServerClass, Violation};

/// Servers that are all alike, for traces that do not tell of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualServers {
    /// How many.
    pub count: u64,
    /// What each has, one number a resource.
    pub capacity: Vec<Decimal>,
}

impl EqualServers {
    /// As the one class `server`.
    fn class(&self) -> ServerClass {
        ServerClass::new("server", self.count, self.capacity.clone())
    }
}

/// Refuses files in which there is none of what they are read for: the check of every importer.
fn some(files: &str, what: &str, count: usize) -> Result<(), InstanceError> {
    if count > 0 {
        return Ok(());
    }
    let violation = Violation::new("", "", format!("there are no {what}"));
    Err(InstanceError::Invalid { file: files.to_owned(), violation })
}

/// Several files in a message about what they say together.
fn together<'a>(files: impl IntoIterator<Item = &'a String>) -> String {
    files.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
