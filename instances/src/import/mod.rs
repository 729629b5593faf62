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
pub use philly::{GpuServers, philly};
pub use swf::{ProcessorServers, swf};

#[cfg(test)]
mod tests;
