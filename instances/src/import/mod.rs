//! Real files of other systems become instances and traces; one module a format, each strict about what it reads.

mod google2011;

pub use google2011::{
    DrawnServers, Google2011Options, Google2011Report, Google2011TraceOptions, Grouping, google_2011,
    google_2011_trace,
};
