//! What differs of a server class, a user or a group that is in one of two instances, or in both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A class or a user that is not the same in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartChange {
    /// Its id.
    pub id: String,
    /// `added`, `removed` or `changed`.
    pub kind: String,
    /// What changed, such as `count 3 -> 5`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}
