//! Real files of other systems become instances and traces; one module a format, each strict about what it reads.

mod census;
mod google2011;
mod kubernetes;
mod kueue;
mod manifests;
mod quantity;
mod queues;
mod report;
mod slurm;
mod xml;
mod yarn;

pub use census::TaskGrouping;
pub use google2011::{
    DrawnServers, Google2011Options, Google2011Report, Google2011TraceOptions, Grouping, google_2011,
    google_2011_trace,
};
pub use kubernetes::{Daemons, KubernetesOptions, PodOwner, kubernetes};
pub use kueue::{KueueOptions, QueueLevel, QueueWeights, kueue};
pub use report::ImportReport;
pub use slurm::{JobOwner, SlurmOptions, slurm};
pub use yarn::{YarnOptions, yarn};
