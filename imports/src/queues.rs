//! A tree of queues over a cluster: its leaves become users, weights multiplied down the tree and limits the least on
//! the way.

use super::census::{Server, add_classes};
use super::report::ImportReport;
use fairplan_instances::{Decimal, Instance, InstanceBuilder, NewUser, Violation};
use std::collections::{BTreeSet, HashMap};

/// One queue of the tree; parents stand before their children.
pub(super) struct Queue {
    /// Its whole path or unique name.
    pub(super) name: String,
    /// The position of the queue it belongs to.
    pub(super) parent: Option<usize>,
    /// Against the other children of its parent.
    pub(super) weight: f64,
    /// The most it may have of each resource of the cluster, where that is limited.
    pub(super) limit: Vec<Option<Decimal>>,
}

/// The cluster with the leaves of the tree as users.
///
/// A task of every user is a thousandth of the cluster, so `tasks` counts thousandths of the cluster too: as many as
/// the tightest limit of the queue and those above it allows, or no limit.
pub(super) fn instance(
    name: String,
    resources: Vec<String>,
    servers: &[Server],
    queues: &[Queue],
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let mut builder = InstanceBuilder::new(name, resources)?;
    add_classes(&mut builder, servers)?;
    let totals: Vec<Total> =
        (0..builder.resources().len()).map(|r| Total::of(servers, r)).collect::<Result<_, _>>()?;
    let demand: Vec<Decimal> = totals.iter().map(Total::thousandth).collect::<Result<_, _>>()?;
    let parents: BTreeSet<usize> = queues.iter().filter_map(|queue| queue.parent).collect();
    let mut sums: HashMap<Option<usize>, f64> = HashMap::new();
    for queue in queues {
        *sums.entry(queue.parent).or_default() += queue.weight;
    }
    for (position, queue) in queues.iter().enumerate() {
        if parents.contains(&position) {
            continue;
        }
        let (mut weight, mut most) = (1.0, u64::MAX);
        let mut at = Some(position);
        while let Some(queue) = at.map(|at| &queues[at]) {
            weight *= queue.weight / sums[&queue.parent];
            for (total, limit) in totals.iter().zip(&queue.limit) {
                most = most.min(limit.map_or(u64::MAX, |limit| total.thousandths_in(limit)));
            }
            at = queue.parent;
        }
        let weight = rounded(weight).filter(|weight| !weight.is_zero());
        match weight {
            None => report.one("queues left out: their weight is 0"),
            Some(_) if most == 0 => report.one("queues left out: their limit is 0"),
            Some(weight) => {
                // A thousand tasks are the whole cluster.
                let tasks = (most < 1000).then_some(most);
                builder.user(NewUser { weight, tasks, ..NewUser::new(&queue.name, &demand) })?;
            }
        }
    }
    report.add(builder.user_count() as u64, "queues at the leaves");
    builder.build()
}

/// What the whole cluster has of a resource, in units of a power of ten.
struct Total {
    units: u128,
    exponent: i8,
}

impl Total {
    fn of(servers: &[Server], r: usize) -> Result<Self, Violation> {
        let exponent = servers.iter().map(|server| server.capacity[r].exponent()).min().unwrap_or(0).min(0);
        let sum = servers
            .iter()
            .try_fold(0u128, |sum, server| sum.checked_add(server.capacity[r].scaled(exponent)?))
            .filter(|sum| *sum < u128::MAX / 1000);
        sum.map(|units| Self { units, exponent })
            .ok_or_else(|| Violation::new("capacity", "", "is too large to add up"))
    }

    fn thousandth(&self) -> Result<Decimal, Violation> {
        Decimal::from_units(self.units, i32::from(self.exponent) - 3)
            .map_err(|error| Violation::new("a thousandth of the cluster", "", error.to_string()))
    }

    /// How many whole thousandths of it `limit` holds.
    fn thousandths_in(&self, limit: Decimal) -> u64 {
        let exponent = limit.exponent().min(self.exponent);
        let ratio = || {
            let total =
                self.units.checked_mul(10u128.checked_pow(u32::from(self.exponent.abs_diff(exponent)))?)?;
            limit.scaled(exponent)?.checked_mul(1000)?.checked_div(total)
        };
        ratio().and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX)
    }
}

/// A weight with twelve significant digits; `None` for what is no number >= 0.
pub(super) fn rounded(weight: f64) -> Option<Decimal> {
    Decimal::parse(format!("{weight:.11e}").as_bytes()).ok()
}
