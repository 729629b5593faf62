//! Real files of other systems become instances; one module a format, each strict about what it reads.

mod census;
mod google2011;
mod kubernetes;
mod manifests;
mod quantity;
mod report;
mod slurm;

pub use census::TaskGrouping;
pub use google2011::{Google2011Options, Google2011Report, Grouping, google_2011};
pub use kubernetes::{Daemons, KubernetesOptions, PodOwner, kubernetes};
pub use report::ImportReport;
pub use slurm::{JobOwner, SlurmOptions, slurm};
