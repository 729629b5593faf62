//! Real files of other systems become instances and traces; one module a format, each strict about what it reads.

mod alibaba_gpu2023;
mod azure_v1;
mod columns;
mod google2011;
mod philly;
mod seconds;
mod swf;

pub use alibaba_gpu2023::alibaba_gpu2023;
pub use azure_v1::{AzureV1Options, azure_v1};
pub use google2011::{
    DrawnServers, Google2011Options, Google2011Report, Google2011TraceOptions, Grouping, google_2011,
    google_2011_trace,
};
pub use philly::philly;
pub use swf::swf;

use crate::{Decimal, ServerClass};

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
        ServerClass { id: "server".into(), count: self.count, capacity: self.capacity.clone() }
    }
}

#[cfg(test)]
mod tests;
