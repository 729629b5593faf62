//! What can be asked for in vain.

use crate::POLICIES;

/// A name that is no policy. Its text lists what would do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownPolicy(String);

impl UnknownPolicy {
    pub(crate) fn name(name: &str) -> Self {
        let known: Vec<&str> = POLICIES.iter().map(|(name, _)| *name).collect();
        Self(format!("unknown policy {}: use {}", shown(name), known.join(", ")))
    }

    pub(crate) fn slots(name: &str) -> Self {
        Self(format!(
            "policy {}: into how many slots is the largest server divided? Use slots=N, N from 1 to {}",
            shown(name),
            u32::MAX
        ))
    }
}

/// A typed name on one line, without raw control characters.
fn shown(name: &str) -> String {
    name.chars().take(60).flat_map(char::escape_debug).collect()
}

/// An instance whose tasks cannot be placed one by one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// A placement lists every server, and there are too many for that.
    #[error(
        "server_classes: {servers} servers: whole tasks are placed on at most {}; place them on a sample",
        crate::packing::MAX_SERVERS
    )]
    TooManyServers {
        /// How many servers the instance has.
        servers: u64,
    },
    /// Time was over before nothing more fitted. Part of a placement is not what the policy says, so there is none.
    #[error("no placement in time: {placed} tasks were placed, and more had room; allow more time")]
    OutOfTime {
        /// How many tasks had a server.
        placed: u64,
    },
    /// The rates of one user differ so much that its share cannot be counted exactly.
    #[error("users[{user}].rates: span more than 24 decimal digits; round them")]
    RatesTooFarApart {
        /// Position of the user.
        user: usize,
    },
}
