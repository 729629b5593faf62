//! Whether nodes have room for all quotas, and whether what members keep is kept of the limits of their cohorts.

use super::found::Found;
use super::lending::Account;
use super::objects::Amount;
use super::places::Places;
use crate::report::ImportReport;
use fairplan_instances::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// A place at which pools use flavors, and a resource.
type At = (usize, usize);

/// How it is where nodes have less than all quotas.
#[derive(Clone, Copy, PartialEq)]
enum Lacking {
    /// So much less than those of the only pool that has some there.
    OfOnePool(Quantity),
    /// Several pools have some there, or one in several flavors on the same nodes, each of which may use up what there is.
    OfSeveral,
}

/// What there is of quotas at places.
pub(super) struct Room {
    /// Where nodes have less than all quotas.
    short: BTreeMap<At, Lacking>,
    /// Where somebody keeps what counts at other nodes than the quota of its cohort does.
    apart: BTreeSet<At>,
}

impl Room {
    /// The room for all quotas of the files; names who keeps something where there is none.
    pub(super) fn of(
        found: &Found,
        places: &Places,
        resources: &[String],
        report: &mut ImportReport,
    ) -> Self {
        let mut quotas = Quotas::new();
        let mut apart = BTreeSet::new();
        let of_queues = found.queues.iter().map(|queue| (&queue.name, &queue.pool, &queue.amounts));
        let of_cohorts = found.cohorts.iter().map(|cohort| (&cohort.name, &cohort.pool, &cohort.amounts));
        let members: Vec<(&String, &String, &Vec<Amount>)> = of_queues.chain(of_cohorts).collect();
        let at = |pool: &str, amount: &Amount| -> Option<At> {
            let r = resources.iter().position(|resource| *resource == amount.resource);
            places.of_flavor(pool, &amount.flavor).zip(r)
        };
        for (_, pool, amounts) in &members {
            for amount in *amounts {
                if let Some(at) = at(pool, amount) {
                    let (sum, pools) = quotas.entry(at).or_default();
                    *sum = sum.plus(amount.nominal);
                    pools.insert(pool.as_str());
                }
            }
        }
        for (queue, own) in found.queues.iter().zip(&places.of_queues) {
            for amount in queue.amounts.iter().filter(|amount| amount.lending.is_some()) {
                let counts = |(place, _): &At| {
                    own.quotas.get(place).is_some_and(|flavors| flavors.contains(&amount.flavor))
                };
                apart.extend(at(&queue.pool, amount).filter(|at| !counts(at)));
            }
        }
        let lacking = |at: &At| Some((*at, lacking(places, &quotas, *at)?));
        let room = Self { short: quotas.keys().filter_map(lacking).collect(), apart };
        for (name, pool, amounts) in members {
            for amount in amounts.iter().filter(|amount| amount.lending.is_some()) {
                if at(pool, amount).and_then(|at| room.short.get(&at)) == Some(&Lacking::OfSeveral) {
                    let told = "lending limits that hold as far as the tasks of the files tell, since nodes have less than all quotas";
                    report.named(told, &format!("{name} ({} of {})", amount.resource, amount.flavor));
                }
            }
        }
        room
    }

    /// What nobody else may have there of what somebody keeps. Where nodes have less than the quotas that is so much less, since others cannot use
    /// up theirs; it is nothing where what is kept is taken off limits, and where several pools are there, of which each may use up what there is.
    pub(super) fn kept(&self, at: At, accounts: &[Account]) -> Quantity {
        let kept = accounts.iter().filter_map(Account::reserve).fold(Quantity::default(), Quantity::plus);
        match self.short.get(&at) {
            None => kept,
            Some(Lacking::OfOnePool(lacking)) if !accounts.iter().any(Account::is_idle) => {
                kept.minus(*lacking)
            }
            Some(_) => Quantity::default(),
        }
    }

    /// Whether nodes have less than all quotas.
    pub(super) fn is_short(&self, place: usize, r: usize) -> bool {
        self.short.contains_key(&(place, r))
    }

    /// Whether what members keep is kept of the limits of their cohorts there; else what they have no tasks for is taken off these.
    pub(super) fn is_kept_of_limits(&self, place: usize, r: usize) -> bool {
        !self.is_short(place, r) && !self.apart.contains(&(place, r))
    }
}

/// The quotas at a place, and of which pools they are.
type Quotas<'a> = BTreeMap<At, (Quantity, BTreeSet<&'a str>)>;

/// Whether the nodes of a place, and of all places that share some with it, have less of a resource than the quotas there are.
fn lacking(places: &Places, quotas: &Quotas<'_>, (place, r): At) -> Option<Lacking> {
    let here = || places.servers.iter().filter(|server| server.meets[place]);
    let shares: BTreeSet<usize> = quotas
        .keys()
        .filter(|(other, resource)| *resource == r && here().any(|server| server.meets[*other]))
        .map(|(other, _)| *other)
        .chain([place])
        .collect();
    let there: Vec<_> = shares.iter().filter_map(|other| quotas.get(&(*other, r))).collect();
    let all = there.iter().fold(Quantity::default(), |all, (sum, _)| all.plus(*sum));
    let pools: BTreeSet<&str> = there.iter().flat_map(|(_, pools)| pools.iter().copied()).collect();
    let nodes = places.servers.iter().filter(|server| shares.iter().any(|other| server.meets[*other]));
    let has = nodes.filter_map(|server| Quantity::parse(&server.capacity[r].to_string()).ok());
    let lacking = all.minus(has.fold(Quantity::default(), Quantity::plus));
    match (lacking.is_zero(), pools.len(), shares.len()) {
        (true, ..) => None,
        (false, 1, 1) => Some(Lacking::OfOnePool(lacking)),
        _ => Some(Lacking::OfSeveral),
    }
}
