//! Real files of other systems become instances; one module a format, each strict about what it reads.

mod google2011;

pub use google2011::{Google2011Options, Google2011Report, Grouping, google_2011};
