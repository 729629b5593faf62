//! Cohorts, queues and workloads as the files have them.

use super::objects::Amount;
use super::options::QueueLevel;
use crate::kubernetes::{Conditions, PodAmounts};
use fairplan_instances::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// A cohort, with what its object says if there is one.
pub(super) struct Cohort {
    pub name: String,
    pub parent: Option<usize>,
    pub weight: f64,
    pub amounts: Vec<Amount>,
    /// The cohort above all that it is in.
    pub pool: String,
}

/// A ClusterQueue with what it has.
pub(super) struct ClusterQueue {
    pub name: String,
    pub cohort: Option<usize>,
    /// Its root cohort, or itself where it has none.
    pub pool: String,
    pub weight: f64,
    pub amounts: Vec<Amount>,
}

/// Some of the resource groups of a queue.
pub(super) type Groups = BTreeSet<usize>;

/// A LocalQueue.
pub(super) struct LocalQueue {
    pub name: String,
    /// The position of its ClusterQueue.
    pub of: usize,
    pub weight: f64,
}

/// Amounts by flavor and resource.
pub(super) type Sums = BTreeMap<(String, String), Quantity>;

/// What the files say.
pub(super) struct Found {
    pub cohorts: Vec<Cohort>,
    pub queues: Vec<ClusterQueue>,
    pub locals: Vec<LocalQueue>,
    /// The ClusterQueues of which a LocalQueue was left out as stopped, by position.
    pub stopped_below: BTreeSet<usize>,
    pub flavors: BTreeMap<String, Conditions>,
    pub workloads: Vec<Workload>,
    /// Whether files say which workloads run or wait, though perhaps none is admitted.
    pub states_workloads: bool,
    /// What no queue is in.
    pub idle: Vec<IdleCohort>,
}

/// A cohort without queues, with the flavors that it has quotas of.
pub(super) type IdleCohort = (String, Vec<String>);

/// The pods of one pod set.
pub(super) struct Workload {
    /// The position of its LocalQueue.
    pub(super) local: usize,
    pub(super) requests: PodAmounts,
    pub(super) count: u64,
    /// The flavors of its queue that it may take.
    pub(super) flavors: BTreeSet<String>,
}

impl Workload {
    fn asks_for(&self, resource: &str) -> bool {
        self.requests.get(resource).is_some_and(|amount| !amount.is_zero())
    }

    /// The resource groups of its queue of which it asks for some of these resources.
    pub(super) fn groups_asked(&self, queue: &ClusterQueue, resources: &[String]) -> Groups {
        queue.groups_of(|name| resources.iter().any(|own| own == name) && self.asks_for(name))
    }

    /// Whether of each resource group that it asks for something of it may take some flavor.
    pub(super) fn may_take_some(&self, queue: &ClusterQueue) -> bool {
        let groups = queue.groups_of(|name| self.asks_for(name));
        queue.has_one_of_each(&groups, &self.flavors, &self.flavors)
    }
}

impl Found {
    /// The queues, by position, that have no users where these are local queues.
    pub(super) fn without_local_queues(&self, users: QueueLevel) -> BTreeSet<usize> {
        let all = 0..if users == QueueLevel::LocalQueue { self.queues.len() } else { 0 };
        let mut without: BTreeSet<usize> = all.collect();
        self.locals.iter().for_each(|local| _ = without.remove(&local.of));
        without
    }

    /// Of which resource groups of a queue its known tasks ask for some of these resources, for each kind of tasks that there is.
    pub(super) fn groups_asked(&self, queue: usize, resources: &[String]) -> BTreeSet<Groups> {
        let own = self.workloads.iter().filter(|work| self.locals[work.local].of == queue);
        let asked = own.map(|work| work.groups_asked(&self.queues[queue], resources));
        asked.filter(|groups| !groups.is_empty()).collect()
    }
}

impl ClusterQueue {
    /// The resource groups of which it can have something: a quota of its own, or what others of its cohort lend. All groups where
    /// that is none.
    pub(super) fn groups_with_something(&self, resources: &[String]) -> Groups {
        let has_some = |amount: &&Amount| {
            resources.contains(&amount.resource) && (!amount.nominal.is_zero() || self.may_borrow(amount))
        };
        let groups: Groups = self.amounts.iter().filter(has_some).map(|amount| amount.group).collect();
        match groups.is_empty() {
            true => self.groups_of(|_| true),
            false => groups,
        }
    }

    /// Whether it may have more than its own of something.
    fn may_borrow(&self, amount: &Amount) -> bool {
        self.cohort.is_some() && amount.borrowing.is_none_or(|most| !most.is_zero())
    }

    /// Whether it may have more than its own of a resource on some of these flavors.
    pub(super) fn may_borrow_of(&self, resource: &str, flavors: &BTreeSet<String>) -> bool {
        let is_there = |amount: &&Amount| amount.resource == resource && flavors.contains(&amount.flavor);
        self.amounts.iter().filter(is_there).any(|amount| self.may_borrow(amount))
    }

    /// Whether its made-up tasks ask for a resource where they take these flavors: it has some of its own, or may borrow some and tasks
    /// cannot do without. Such are cpu and memory, and what its group is of where it has nothing of that group of its own.
    pub(super) fn asks_for(&self, resource: &str, flavors: &BTreeSet<String>) -> bool {
        let has_some = |amount: &Amount| !amount.nominal.is_zero();
        let there = |amount: &&Amount| flavors.contains(&amount.flavor);
        let of_group =
            |group: usize| self.amounts.iter().filter(there).filter(move |other| other.group == group);
        self.amounts.iter().filter(there).filter(|amount| amount.resource == resource).any(|amount| {
            let is_needed = ["cpu", "memory"].contains(&resource) || !of_group(amount.group).any(has_some);
            has_some(amount) || (is_needed && self.may_borrow(amount))
        })
    }

    /// The resource groups with a resource that is asked for.
    pub(super) fn groups_of(&self, is_asked: impl Fn(&str) -> bool) -> Groups {
        self.amounts.iter().filter(|amount| is_asked(&amount.resource)).map(|amount| amount.group).collect()
    }
}
