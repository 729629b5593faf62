//! The format of demands in JSON.

use crate::files::strict_json::Form;

/// The version that the reader expects and the writer states.
pub(super) const FORM: Form = Form {
    format: "fairplan.demands.v1",
    what: "series of demands",
    otherwise: "or a table: CSV or Parquet",
};
