//! Whether nodes have room for all quotas, and whether what members keep is kept of the limits of their cohorts.

use super::found::Found;
use super::objects::Amount;
use super::places::Places;
use crate::report::ImportReport;
use crate::tolerance::SUMS;
use fairplan_instances::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// Places at which pools use flavors, each with a resource.
type At = BTreeSet<(usize, usize)>;

/// What there is of quotas at places.
pub(super) struct Room {
    /// Where nodes have less than all quotas.
    short: At,
    /// Where somebody keeps what counts at other nodes than the quota of its cohort does.
    apart: At,
}

impl Room {
    /// The room for all quotas of the files; names who keeps something where there is none.
    pub(super) fn of(
        found: &Found,
        places: &Places,
        resources: &[String],
        report: &mut ImportReport,
    ) -> Self {
        let mut quotas: BTreeMap<(usize, usize), Quantity> = BTreeMap::new();
        let mut apart = At::new();
        let of_queues = found.queues.iter().map(|queue| (&queue.name, &queue.pool, &queue.amounts));
        let of_cohorts = found.cohorts.iter().map(|cohort| (&cohort.name, &cohort.pool, &cohort.amounts));
        let members: Vec<(&String, &String, &Vec<Amount>)> = of_queues.chain(of_cohorts).collect();
        let position = |name: &String| resources.iter().position(|resource| resource == name);
        for (_, pool, amounts) in &members {
            for amount in *amounts {
                let place = places.of_flavor(pool, &amount.flavor);
                if let Some(at) = place.zip(position(&amount.resource)) {
                    let sum = quotas.entry(at).or_default();
                    *sum = sum.plus(amount.nominal);
                }
            }
        }
        for (queue, at) in found.queues.iter().zip(&places.of_queues) {
            for amount in queue.amounts.iter().filter(|amount| amount.lending.is_some()) {
                let place = places.of_flavor(&queue.pool, &amount.flavor);
                let counts = |place: &usize| {
                    at.quotas.get(place).is_some_and(|flavors| flavors.contains(&amount.flavor))
                };
                if let Some(at) = place.filter(|place| !counts(place)).zip(position(&amount.resource)) {
                    apart.insert(at);
                }
            }
        }
        let is_short = |at: &(usize, usize)| lacks(places, &quotas, *at);
        let room = Self { short: quotas.keys().copied().filter(is_short).collect(), apart };
        for (name, pool, amounts) in members {
            for amount in amounts.iter().filter(|amount| amount.lending.is_some()) {
                let at = places.of_flavor(pool, &amount.flavor).zip(position(&amount.resource));
                if at.is_some_and(|(place, r)| room.is_short(place, r)) {
                    let told = "lending limits that hold as far as the tasks of the files tell, since nodes have less than all quotas";
                    report.named(told, &format!("{name} ({} of {})", amount.resource, amount.flavor));
                }
            }
        }
        room
    }

    /// Whether nodes have less than all quotas.
    pub(super) fn is_short(&self, place: usize, r: usize) -> bool {
        self.short.contains(&(place, r))
    }

    /// Whether what members keep is kept of the limits of their cohorts there.
    pub(super) fn is_kept_of_limits(&self, place: usize, r: usize) -> bool {
        !self.is_short(place, r) && !self.apart.contains(&(place, r))
    }
}

/// Whether the nodes of a place, and of all places that share some with it, have less of a resource than the quotas there are.
fn lacks(places: &Places, quotas: &BTreeMap<(usize, usize), Quantity>, (place, r): (usize, usize)) -> bool {
    let here = || places.servers.iter().filter(|server| server.meets[place]);
    let shares: BTreeSet<usize> = quotas
        .keys()
        .filter(|(other, resource)| *resource == r && here().any(|server| server.meets[*other]))
        .map(|(other, _)| *other)
        .chain([place])
        .collect();
    let all = shares.iter().filter_map(|other| quotas.get(&(*other, r))).copied();
    let all = all.fold(Quantity::default(), Quantity::plus);
    let there = places.servers.iter().filter(|server| shares.iter().any(|other| server.meets[*other]));
    let has: f64 = there.map(|server| server.capacity[r].to_f64()).sum();
    all.part_of(Quantity::ONE) > has * (1.0 + SUMS)
}
