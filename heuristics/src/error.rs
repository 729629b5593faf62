//! Names that are no policy, and instances whose tasks cannot be placed.

use fairplan_instances::wording::printable;
use fairplan_instances::{Registry, UnknownName, Violation};
use std::fmt;

/// More servers than this are not listed one by one (a placement has an entry for each).
pub(crate) const MAX_SERVERS: u64 = 50_000_000;

/// A name that is no policy, or an instance whose tasks cannot be placed one by one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// No policy has this name. The text says what would do.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A policy of slots without a number of them.
    #[error(
        "policy {}: into how many slots is the largest server divided? Use {policy}=N, N from 1 to {}",
        printable(named, 60),
        u32::MAX
    )]
    Slots {
        /// As it was asked for.
        named: String,
        /// What it is called before its number.
        policy: &'static str,
    },
    /// Time was over before nothing more fitted. Part of a placement is not what the policy says, so there is none.
    #[error("no placement in time: {placed} tasks were placed, and more had room; allow more time")]
    OutOfTime {
        /// How many tasks had a server.
        placed: u64,
    },
    /// There are so many tasks that they would be placed one by one for hours, and no time was set.
    #[error(
        "no placement: {placed} tasks were placed one by one, and more had room; make tasks larger, or set a time limit and wait that long"
    )]
    TooMany {
        /// How many tasks had a server.
        placed: u64,
    },
    /// A policy in another process broke off, or did what no policy may.
    #[error(transparent)]
    Outside(#[from] ProcessFailure),
    /// A policy of somebody else's failed, or answered what cannot be.
    #[error("policy {}: {}", printable(policy, 60), printable(problem, 400))]
    Asked {
        /// Its name.
        policy: String,
        /// What it did, with task, server and resource.
        problem: String,
    },
    /// A policy that looks at devices, on servers without any or with several kinds of them.
    #[error(
        "policy {policy}: looks at the devices of one resource, and there are devices of {found}; state `devices` on the server classes"
    )]
    DevicesNeeded {
        /// Its name.
        policy: String,
        /// Resources with devices.
        found: usize,
    },
    /// The instance has a rule that the policy does not know, more servers than are listed one by one, or rates that cannot be counted
    /// exactly.
    #[error(transparent)]
    Rule(#[from] Violation),
}

impl PlacementError {
    /// The same where more than the policies of this crate are known by name.
    pub fn among<T>(self, others: &Registry<T>) -> Self {
        match self {
            Self::Unknown(unknown) => Self::Unknown(unknown.among(others)),
            other => other,
        }
    }
}

/// Why a policy in another process placed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFailure {
    /// The command.
    pub command: String,
    /// What it did.
    pub problem: String,
    /// The end of what it wrote to its standard error.
    pub last_words: String,
}

impl fmt::Display for ProcessFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy {}: {}", printable(&self.command, 200), printable(&self.problem, 600))?;
        match self.last_words.trim() {
            "" => Ok(()),
            words => {
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                write!(f, "; its last words: {}", printable(&words, 600))
            }
        }
    }
}

impl std::error::Error for ProcessFailure {}
