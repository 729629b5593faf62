//! A policy in another process: it is told of the cluster, asked where each task goes, and every answer is checked.

mod cluster;
mod command;
mod dialogue;
mod filling;
mod messages;
mod pipes;

pub use cluster::{ClusterNames, FailureNote};

use crate::PlacementError;
use fairplan_instances::wording::printable;
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};
use std::fmt;
use std::time::Duration;

/// A policy that is a command of its own, which speaks `fairplan.policy.v1` on its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePolicy {
    text: String,
    words: Vec<String>,
    timeout: Duration,
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

impl OutsidePolicy {
    /// The policy of a command line, cut at blanks as a shell does, with 'single' and "double" quotes. It is given up when it
    /// takes longer than `timeout` for an answer.
    ///
    /// # Errors
    /// A quote that does not end, or no word at all: what is wrong.
    pub fn new(command: &str, timeout: Duration) -> Result<Self, String> {
        Ok(Self { text: command.into(), words: command::words(command)?, timeout })
    }

    /// The same policy, which is given up at the latest when it takes longer than `limit` for an answer.
    pub fn within(&self, limit: Duration) -> Self {
        Self { timeout: self.timeout.min(limit), ..self.clone() }
    }

    /// The command line: its name in results.
    pub fn name(&self) -> String {
        self.text.clone()
    }

    /// Fills the servers of `instance` as other policies do, asking where each task goes.
    ///
    /// # Errors
    /// What the policy did that no policy may, with task, user, server and resource as far as there are such, and its last words;
    /// time is over.
    pub fn place_within(
        &self,
        instance: &Instance,
        deadline: &Deadline,
    ) -> Result<Placement, PlacementError> {
        filling::fill(self, instance, deadline)
    }

    /// Begins to choose servers for tasks that come and go. After a failure, which is noted, no task has a server any more.
    pub fn choice(&self, names: ClusterNames, note: FailureNote) -> Box<dyn ServerChoice> {
        Box::new(cluster::OutsideChoice::new(self.clone(), names, note))
    }
}
