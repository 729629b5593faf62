//! Real files of other systems become instances or demands over time; one module a format, each strict about what it reads.

mod google2011;
mod helios;
mod snowset;

pub use google2011::{Google2011Options, Google2011Report, Grouping, google_2011};
pub use helios::{HeliosOptions, helios};
pub use snowset::{SnowsetDemand, SnowsetOptions, SnowsetReport, snowset};
