//! Every way an instance is read from a file or written to one. Reading is strict: what is not understood is
//! refused with file, place and value, and every number means exactly the decimal that is written.

mod amounts;
mod canonical;
mod canonical_text;
mod catalog;
#[cfg(feature = "parquet")]
mod cells;
#[cfg(feature = "parquet")]
mod columnar;
mod csv;
mod demands;
#[cfg(feature = "parquet")]
mod frame;
mod gangs;
mod groups;
mod guard;
mod headers;
mod instance_fields;
mod json;
#[cfg(feature = "parquet")]
mod numbers;
mod open;
mod optional_columns;
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod profiles;
mod quotas;
pub mod rows;
mod sorted_rows;
pub mod source;
mod stated_format;
mod strict_json;
mod table_writer;
mod tables;
mod trace;
mod traffic;
mod utf16;
mod values;

pub use canonical::{sha256_hex, write_json};
pub use catalog::{CatalogFile, catalog_in, read_amount, read_catalog};
#[cfg(feature = "parquet")]
pub use columnar::{BatchWriter, Columnar};
pub use demands::{
    DemandsFile, QUANTUM, Rounding, demands_sha256_hex, read_demands, read_demands_and_instance,
    read_demands_in_memory, read_demands_opened, read_fair_shares, read_members, read_proportions,
    write_demands,
};
#[cfg(feature = "parquet")]
pub use frame::Frame;
pub use groups::write_groups;
pub use guard::guarded;
pub use headers::bad_header;
pub use instance_fields::InstanceFile;
pub use json::read_json;
pub use open::open_table;
pub use stated_format::stated_format;
pub use table_writer::{write_servers, write_users};
pub use tables::{read_opened, read_tables};
pub use trace::{TraceLine, read_trace, read_trace_in_memory, trace_sha256_hex, write_trace};
pub use traffic::{TrafficFile, read_traffic, read_traffic_in_memory, traffic_sha256_hex, write_traffic};
pub use values::{decimal, whole_number};

use crate::{Instance, InstanceError};

/// Reads an instance from `fairplan.instance.v1` JSON, gzipped or not; `-` is standard input.
pub fn read_instance(path: &str) -> Result<Instance, InstanceError> {
    json::read_json(source::open(path)?)
}

#[cfg(test)]
mod tests;
