//! Real files of other systems become instances, traces and demands over time; one module a format, each strict about what it reads.

mod alibaba_gpu2023;
mod alibaba_gpu2023_instance;
mod alibaba_tables;
mod amounts;
mod azure_v1;
mod azure_v1_instance;
mod captured;
mod census;
mod columns;
mod counted_in_bytes;
#[cfg(test)]
mod defects;
mod deployed;
mod equal_servers;
mod files;
mod google2011;
mod helios;
mod holders;
mod kubernetes;
mod kubernetes_queues;
mod kueue;
mod manifests;
mod misspelt;
mod philly;
mod queue_tasks;
mod queues;
mod quota_places;
#[cfg(test)]
mod real_files;
mod report;
mod rules;
mod seconds;
mod servers;
mod sets;
mod shaved_ice;
#[cfg(test)]
mod shown;
mod slurm;
mod snowset;
mod spare_cores;
mod swf;
mod tasks;
mod tolerance;
mod xml;
mod yarn;

pub use alibaba_gpu2023::alibaba_gpu2023;
pub use alibaba_gpu2023_instance::{AlibabaGpu2023Options, alibaba_gpu2023_instance};
pub use azure_v1::{AzureV1Options, azure_v1};
pub use azure_v1_instance::{AzureV1InstanceOptions, azure_v1_instance};
pub use captured::{KUBERNETES_NODES, KUBERNETES_PODS};
pub use census::{PresentCluster, TaskGrouping};
pub use deployed::{
    ConfigurationKind, DEPLOYED_ROOT, Deployed, DeployedQueue, Spec, deployed, deployed_in, specs, specs_in,
};
pub use equal_servers::EqualServers;
pub use google2011::{
    DrawnServers, Google2011Options, Google2011Report, Google2011TraceOptions, Grouping, google_2011,
    google_2011_present, google_2011_trace,
};
pub use helios::{HeliosDemands, HeliosOptions, helios};
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

#[cfg(test)]
mod tests;
