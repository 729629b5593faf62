//! Whether nodes have room for all quotas, and whether what members keep is kept of the limits of their cohorts.

use super::found::Found;
use super::lending::Account;
use super::objects::Amount;
use super::places::Places;
use crate::report::ImportReport;
use fairplan_instances::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// Places at which pools use flavors, each with a resource.
type At = BTreeSet<(usize, usize)>;

/// What there is of quotas at places.
pub(super) struct Room {
    /// Where nodes have less than all quotas: how much less, where only one pool has quotas there.
    short: BTreeMap<(usize, usize), Option<Quantity>>,
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
        let mut quotas = Quotas::new();
        let mut apart = At::new();
        let of_queues = found.queues.iter().map(|queue| (&queue.name, &queue.pool, &queue.amounts));
        let of_cohorts = found.cohorts.iter().map(|cohort| (&cohort.name, &cohort.pool, &cohort.amounts));
        let members: Vec<(&String, &String, &Vec<Amount>)> = of_queues.chain(of_cohorts).collect();
        let position = |name: &String| resources.iter().position(|resource| resource == name);
        for (_, pool, amounts) in &members {
            for amount in *amounts {
                let place = places.of_flavor(pool, &amount.flavor);
                if let Some(at) = place.zip(position(&amount.resource)) {
                    let (sum, pools) = quotas.entry(at).or_default();
                    *sum = sum.plus(amount.nominal);
                    pools.insert(pool.as_str());
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
        let lacking = |at: &(usize, usize)| Some((*at, lacking(places, &quotas, *at)?));
        let room = Self { short: quotas.keys().filter_map(lacking).collect(), apart };
        for (name, pool, amounts) in members {
            for amount in amounts.iter().filter(|amount| amount.lending.is_some()) {
                let at = places.of_flavor(pool, &amount.flavor).zip(position(&amount.resource));
                if at.is_some_and(|at| room.short.get(&at) == Some(&None)) {
                    let told = "lending limits that hold as far as the tasks of the files tell, since nodes have less than all quotas";
                    report.named(told, &format!("{name} ({} of {})", amount.resource, amount.flavor));
                }
            }
        }
        room
    }

    /// What nobody else may have there of what somebody keeps. Where nodes have less than the quotas that is so much less, since others cannot use
    /// up theirs; it is nothing where what is kept is taken off limits, and where several pools are there, of which each may use up what there is.
    pub(super) fn kept(&self, (place, r): (usize, usize), accounts: &[Account]) -> Quantity {
        let kept = accounts.iter().filter_map(Account::reserve).fold(Quantity::default(), Quantity::plus);
        match self.short.get(&(place, r)) {
            None => kept,
            Some(_) if accounts.iter().any(Account::is_idle) => Quantity::default(),
            Some(lacking) => lacking.map(|lacking| kept.minus(lacking)).unwrap_or_default(),
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
type Quotas<'a> = BTreeMap<(usize, usize), (Quantity, BTreeSet<&'a str>)>;

/// By how much the nodes of a place, and of all places that share some with it, have less of a resource than the quotas there are, if they do;
/// not how much where these are of several pools.
fn lacking(places: &Places, quotas: &Quotas<'_>, (place, r): (usize, usize)) -> Option<Option<Quantity>> {
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
    (!lacking.is_zero()).then(|| (pools.len() == 1 && shares.len() == 1).then_some(lacking))
}
