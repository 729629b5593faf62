//! Servers of systems whose traces do not tell of theirs.

use fairplan_instances::{Decimal, ServerClass};

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
    pub(super) fn class(&self) -> ServerClass {
        ServerClass::new("server", self.count, self.capacity.clone())
    }
}
