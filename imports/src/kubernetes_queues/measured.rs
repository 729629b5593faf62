//! How YuniKorn measures a queue: what it uses of each resource against what it is guaranteed, else against the nearest maximum, its
//! own or above it, else against all there is; the resource of which it uses most counts.

use super::found::{Found, stated};
use crate::queue_tasks::largest;
use crate::queues::Part;
use crate::servers::Server;
use crate::spare_cores::Asked;
use fairplan_instances::Decimal;

/// The queues that are measured, over which resources of which servers: the first resource is cpu, the second memory.
pub(super) struct Measure<'a> {
    pub found: &'a [Found],
    /// The position of the queue above each.
    pub parents: &'a [Option<usize>],
    pub resources: &'a [&'a str],
    pub servers: &'a [Server],
}

impl Measure<'_> {
    /// A queue's tasks count by the resource of which they need most of what they are measured against, and in an instance by that of
    /// which they need most of all there is: the weight is the one over the other.
    pub fn weight(&self, position: usize) -> f64 {
        let guarantee = &self.found[position].guarantee;
        let none_of = Part::stated_none(&stated(guarantee, self.resources));
        let of = |r: usize| {
            let name = self.resources[r];
            let sure = guarantee.get(name).filter(|sure| !sure.is_zero()).and_then(|sure| sure.decimal());
            Measured::new(r, self.servers, sure, self.nearest_limit(position, name))
        };
        let cores = of(0);
        let all = (0..self.resources.len()).filter(|r| !none_of.contains(r));
        // Tasks do without what leaves cores to the queue when it has the most of it.
        let cores = cores.asked();
        let counts = |(r, resource): &(usize, Measured)| !resource.asked().leaves(self.resources[*r], &cores);
        let there: Vec<Measured> = all
            .map(|r| (r, of(r)))
            .filter(counts)
            .map(|(_, resource)| resource)
            .filter(Measured::is_asked_for)
            .collect();
        // Tasks have the proportions of what is guaranteed: see `queue_tasks`.
        let of_all = largest(there.iter().filter_map(|resource| Some(resource.sure? / resource.total)));
        let need = |resource: &Measured| resource.sure.unwrap_or(resource.total * of_all);
        let most = |part: &dyn Fn(&Measured) -> f64| there.iter().map(part).fold(0.0, f64::max);
        let weight = most(&|resource| need(resource) / resource.total)
            / most(&|resource| need(resource) / resource.against());
        if weight.is_finite() { weight } else { 1.0 }
    }

    /// The queue's own limit of a resource, or that of the nearest queue above it that has one.
    fn nearest_limit(&self, queue: usize, name: &str) -> Option<Decimal> {
        let mut at = Some(queue);
        while let Some(here) = at {
            if let Some(most) = self.found[here].limit.get(name).filter(|most| !most.is_zero()) {
                return most.decimal();
            }
            at = self.parents[here];
        }
        None
    }
}

/// A resource by which a queue is measured.
struct Measured {
    /// All there is of it.
    total: f64,
    /// What the queue is guaranteed.
    sure: Option<f64>,
    /// The most that the queue may have.
    most: Option<f64>,
    /// The cores of the servers that have it.
    cores_beside: f64,
    /// Whether nine of ten servers have it.
    is_usual: bool,
}

impl Measured {
    fn new(r: usize, servers: &[Server], sure: Option<Decimal>, most: Option<Decimal>) -> Self {
        let having = || servers.iter().filter(|server| !server.capacity[r].is_zero());
        Self {
            total: having().map(|server| server.capacity[r].to_f64()).sum(),
            sure: sure.map(Decimal::to_f64),
            most: most.map(Decimal::to_f64),
            cores_beside: having().map(|server| server.capacity[0].to_f64()).sum(),
            is_usual: having().count() * 10 >= servers.len() * 9,
        }
    }

    /// What the queue's use is measured against.
    fn against(&self) -> f64 {
        self.sure.or(self.most).unwrap_or(self.total)
    }

    /// Whether the queue's tasks ask for it: what nine of ten servers have, and what the queue is given.
    fn is_asked_for(&self) -> bool {
        self.total > 0.0 && (self.is_usual || self.sure.or(self.most).is_some())
    }

    /// The same as tasks ask for it, which have the proportions of the servers.
    fn asked(&self) -> Asked {
        let most = self.most.map_or(self.total, |most| most.min(self.total));
        Asked { most, all: self.total, of_a_task: self.total / self.cores_beside }
    }
}
