//! A queue as a scheduler's configuration has it, and where what is read of them goes.

use fairplan_instances::quantity::Quantity;
use fairplan_instances::{InstanceError, Violation};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What YARN, YuniKorn and Slurm call what is above all queues or accounts, here too: what it states holds for all of them.
pub const DEPLOYED_ROOT: &str = "root";

/// What a configuration is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigurationKind {
    /// Objects of Kueue.
    Kueue,
    /// Objects of Volcano.
    Volcano,
    /// Objects of KAI.
    Kai,
    /// YuniKorn's partitions.
    YuniKorn,
    /// YARN's `capacity-scheduler.xml`.
    Yarn,
    /// YARN's `fair-scheduler.xml`.
    YarnFair,
    /// Lines of `sacctmgr`, or what `sacctmgr dump` and `sacctmgr -P show qos` write.
    Slurm,
}

/// A queue as a configuration has it. Names are those of the configuration, paths where it has paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeployedQueue {
    /// The queue it belongs to; empty at the top.
    pub parent: String,
    /// Its weight, where it states one; of several the largest.
    pub weight: Option<f64>,
    /// By what weights it gets what is left of resources, by class and resource, where that is stated of each: `overQuotaWeight` of KAI.
    pub weights: BTreeMap<(String, String), f64>,
    /// What it gets, by class (flavor or label, empty where there are none) and resource: in cores, bytes (YARN and Slurm: MiB) or
    /// pieces; infinite where it has no end; of YARN in percent or as a weight where it says so.
    pub amounts: BTreeMap<(String, String), f64>,
    /// The most it may have, of the same.
    pub limits: BTreeMap<(String, String), f64>,
    /// What stays its own when it is idle, of the same: Volcano's `guarantee`.
    pub reserves: BTreeMap<(String, String), f64>,
    /// The most that others may have of its amounts, where that is less than all: `lendingLimit` of Kueue.
    pub lends: BTreeMap<(String, String), f64>,
    /// Its flavors in the order in which Kueue tries them; empty of others, which have no such order.
    pub order: Vec<String>,
    /// What else holds its jobs that no export writes and applying one leaves as it is, by the name of the option: limits of Slurm's accounts,
    /// and of their QOS after its name.
    pub beside: BTreeMap<String, String>,
    /// Whether queues below it are compared by memory alone, as YARN does where nothing else is said.
    pub by_memory: bool,
    /// Whether it is a user of an account of Slurm, and no account.
    pub is_user: bool,
    /// Whether it is an account of a dump of Slurm that may not use the QOS that makes it sure of something.
    pub lacks_sure_qos: bool,
    /// Whether it gives nothing out, whatever it has: `stopPolicy` of Kueue. What is applied without that lets it give again.
    pub is_stopped: bool,
    /// Before whom it or its jobs come; `None` where the files do not say it. Of Slurm that of the QOS of the account.
    pub priority: Option<f64>,
}

/// The queues of a configuration by name.
pub type Deployed = BTreeMap<String, DeployedQueue>;

/// What an object of a configuration states beside what is read: the `spec` of one of Kubernetes, the fields of a queue or partition of
/// others, or of the whole configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// `ResourceFlavor`, `ClusterQueue`, `Cohort` or `Queue`; `partition`, `queue` or `configuration`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it states.
    pub spec: Value,
}

/// An object that states these texts.
pub(super) fn spec_of(kind: &str, name: &str, fields: BTreeMap<String, String>) -> Spec {
    let fields = fields.into_iter().map(|(field, value)| (field, value.into()));
    Spec { kind: kind.to_owned(), name: name.to_owned(), spec: fields.collect::<Map<_, _>>().into() }
}

/// An object without the fields that are read elsewhere.
pub(super) fn without(kind: &str, name: String, object: &Value, read: &[&str]) -> Spec {
    let mut spec = object.clone();
    if let Value::Object(fields) = &mut spec {
        fields.retain(|field, _| !read.contains(&field.as_str()));
    }
    Spec { kind: kind.to_owned(), name, spec }
}

/// Where what is read goes.
pub(super) struct Reading<'a> {
    pub(super) file: &'a str,
    pub(super) found: &'a mut Deployed,
}

impl Reading<'_> {
    pub(super) fn refused(&self, place: &str, value: &str, problem: &str) -> InstanceError {
        InstanceError::Invalid { file: self.file.into(), violation: Violation::new(place, value, problem) }
    }

    /// Adds a queue, which is there once.
    pub(super) fn add(&mut self, name: &str, queue: DeployedQueue) -> Result<(), InstanceError> {
        match self.found.insert(name.to_owned(), queue) {
            None => Ok(()),
            Some(_) => Err(self.refused("queue", name, "is named twice")),
        }
    }

    /// The queue above all, where it limits them or says how they are compared: it is there anyway.
    pub(super) fn add_root(
        &mut self,
        limits: BTreeMap<(String, String), f64>,
        by_memory: bool,
    ) -> Result<(), InstanceError> {
        if limits.is_empty() && !by_memory {
            return Ok(());
        }
        self.add(DEPLOYED_ROOT, DeployedQueue { limits, by_memory, ..DeployedQueue::default() })
    }

    /// A number or a quantity.
    pub(super) fn quantity(&self, place: &str, text: &str) -> Result<f64, InstanceError> {
        let read = Quantity::parse(text).map_err(|problem| self.refused(place, text, problem))?;
        Ok(read.part_of(Quantity::ONE))
    }
}
