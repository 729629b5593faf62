//! Queues with a `stopPolicy`: `Hold` lets nothing in, and what runs there ends in its own time; `HoldAndDrain` ends that too.
//!
//! Source: Kueue's documentation, "Cluster Queue" and "Local Queue", "StopPolicy".

use super::objects::{self, LocalSpec, QueueSpec, WorkloadSpec};
use super::workloads;
use crate::manifests::Manifest;
use fairplan_instances::InstanceError;
use hashbrown::{HashMap, HashSet};

/// Whether a queue lets anything in, and lets what is there go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// Both.
    #[default]
    No,
    /// Only what is there.
    Hold,
    /// Neither.
    Drain,
}

impl Stop {
    /// As `stopPolicy` says.
    pub(super) fn of(policy: &str) -> Self {
        match policy {
            "Hold" => Self::Hold,
            "HoldAndDrain" => Self::Drain,
            _ => Self::No,
        }
    }
}

/// What is known of stops before any queue is read.
#[derive(Default)]
pub(super) struct Stops {
    /// Of each local queue whether it is stopped, itself or with its cluster queue.
    locals: HashMap<String, Stop>,
    /// The local queues and the cluster queues that hold, in which something runs.
    running: HashSet<String>,
    running_clusters: HashSet<String>,
}

impl Stops {
    /// Reads the policies of all queues and, if one holds, which workloads run.
    pub(super) fn read(manifests: &[Manifest]) -> Result<Self, InstanceError> {
        let of = |kind: &'static str| manifests.iter().filter(move |manifest| manifest.kind == kind);
        let mut clusters = HashMap::new();
        for manifest in of("ClusterQueue") {
            let (name, spec) = objects::spec::<QueueSpec>(manifest)?;
            clusters.insert(name, spec.stop());
        }
        let (mut stops, mut above) = (Self::default(), HashMap::new());
        for manifest in of("LocalQueue") {
            let (_, spec) = objects::spec::<LocalSpec>(manifest)?;
            let cluster = clusters.get(&spec.cluster_queue).copied().unwrap_or_default();
            stops.locals.insert(manifest.name.clone(), spec.stop().max(cluster));
            above.insert(manifest.name.clone(), spec.cluster_queue);
        }
        if stops.locals.values().all(|stop| *stop != Stop::Hold) {
            return Ok(stops);
        }
        for manifest in of("Workload") {
            let (_, spec) = objects::spec::<WorkloadSpec>(manifest)?;
            let queue = workloads::queue_of(manifest, &spec);
            let status = workloads::status(manifest)?;
            if status.is_admitted() && status.left_out(&spec).is_none() && stops.of(&queue) == Stop::Hold {
                stops.running_clusters.extend(above.get(&queue).cloned());
                stops.running.insert(queue);
            }
        }
        Ok(stops)
    }

    /// Whether a local queue is among those of the files.
    pub(super) fn knows(&self, local: &str) -> bool {
        self.locals.contains_key(local)
    }

    /// Whether a local queue is stopped, itself or with its cluster queue.
    pub(super) fn of(&self, local: &str) -> Stop {
        self.locals.get(local).copied().unwrap_or_default()
    }

    /// Whether something goes on in a local queue that holds.
    pub(super) fn runs_in(&self, local: &str) -> bool {
        self.running.contains(local)
    }

    /// Whether something goes on in a cluster queue that holds.
    pub(super) fn runs_in_cluster(&self, queue: &str) -> bool {
        self.running_clusters.contains(queue)
    }
}
