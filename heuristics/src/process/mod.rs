//! A policy in another process: it is told of the cluster, asked where each task goes, and every answer is checked.

mod cluster;
mod command;
mod dialogue;
mod filling;
mod messages;
mod one_by_one;
mod pipes;
mod questions;

pub use cluster::{ClusterNames, FailureNote};
pub use command::OutsidePolicy;

use crate::PlacementError;
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};

impl OutsidePolicy {
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
        match one_by_one::is_needed(instance) {
            true => one_by_one::fill(self, instance, deadline),
            false => filling::fill(self, instance, deadline),
        }
    }

    /// Begins to choose servers for tasks that come and go. After a failure, which is noted, no task has a server any more.
    pub fn choice(&self, names: ClusterNames, note: FailureNote) -> Box<dyn ServerChoice> {
        Box::new(cluster::OutsideChoice::new(self.clone(), names, note))
    }
}
