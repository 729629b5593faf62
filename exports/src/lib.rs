//! From an instance and what a solution gives its users to the configuration of the scheduler that shall obey.
//!
//! [`Export`] is the answer in whole units that fit the servers, tenant by tenant and class by class; [`Export::text`] is the
//! scheduler's own file. What a scheduler cannot carry is said in [`Export::notes`].

mod amounts;
mod document;
mod entitled;
mod export;
mod held;
mod kept;
mod names;
mod notes;
mod rounding;
mod seen;
mod stated;
mod sums;
mod target;
mod targets;
mod told;
mod tolerance;
mod tree;
mod uncounted;
mod whole_units;
mod worst_case;

pub use amounts::{MemoryIn, Unit};
pub use document::{ExportBody, ExportedAmount, ExportedTenant};
pub use entitled::{Measure, Shared, Told};
pub use export::{Export, ExportOptions, ExportedClass, Source};
pub use held::Held;
pub use rounding::largest_remainders;
pub use seen::Key;
pub use target::Target;
pub use told::ToldQueue;
pub use tree::Tenant;
