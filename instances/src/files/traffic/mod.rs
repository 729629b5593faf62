//! Stochastic demand from files and to files: `fairplan.traffic.v1`, strict and small.

mod read;
mod write;

pub use read::{TrafficFile, read_traffic, read_traffic_in_memory};
pub use write::{traffic_sha256_hex, write_traffic};

use super::strict_json::Form;

/// The version that the reader expects and the writer states.
const FORM: Form = Form {
    format: "fairplan.traffic.v1",
    what: "description of traffic",
    otherwise: "fairplan generate mrf-fig1 shows one",
};
