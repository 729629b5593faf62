//! What is read, and who of it are users.

use fairplan_instances::Violation;
use fairplan_instances::wording::choose;
use std::str::FromStr;

/// What [`kueue`](super::kueue()) reads and how.
#[derive(Clone, Debug, Default)]
pub struct KueueOptions {
    /// Files of ClusterQueues and, if there are any, Cohorts, LocalQueues, ResourceFlavors and Workloads: JSON or YAML, gzipped
    /// or not.
    pub files: Vec<String>,
    /// Files of nodes; without any the quotas are the cluster.
    pub nodes: Vec<String>,
    /// Who becomes a user.
    pub users: QueueLevel,
    /// What weights queues and cohorts.
    pub weights: QueueWeights,
}

/// Who becomes a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLevel {
    /// Each ClusterQueue.
    #[default]
    ClusterQueue,
    /// Each LocalQueue; its ClusterQueue is a group.
    LocalQueue,
}

impl FromStr for QueueLevel {
    type Err = Violation;
    /// `cluster-queue` or `local-queue`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "cluster-queue" => Ok(Self::ClusterQueue),
            "local-queue" => Ok(Self::LocalQueue),
            _ => Err(Violation::new("user", text, choose(text, &["cluster-queue", "local-queue"]))),
        }
    }
}

/// What weights queues and cohorts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueWeights {
    /// What `fairSharing.weight` says, by which Kueue divides what is borrowed.
    #[default]
    FairSharing,
    /// The part that a queue's nominal quota is of its pool, in its dominant resource.
    Quota,
}

impl FromStr for QueueWeights {
    type Err = Violation;
    /// `quota` or `fair-sharing`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "quota" => Ok(Self::Quota),
            "fair-sharing" => Ok(Self::FairSharing),
            _ => Err(Violation::new("weights", text, choose(text, &["quota", "fair-sharing"]))),
        }
    }
}
