//! A tree of queues over a cluster: its leaves become users, weights multiplied down the tree and limits the least on
//! the way.

use super::census::{Memory, Server, add_classes};
use super::queue_tasks::Scope;
use super::report::ImportReport;
use fairplan_instances::{Decimal, Instance, InstanceBuilder, NewUser, Violation};
use hashbrown::HashMap;

/// One queue of the tree, which is none below itself.
#[derive(Default)]
pub(super) struct Queue {
    /// Its whole path or unique name.
    pub(super) name: String,
    /// The position of the queue it belongs to.
    pub(super) parent: Option<usize>,
    /// Against the other children of its parent.
    pub(super) weight: f64,
    /// The most it may have of each resource of the cluster, where that is limited.
    pub(super) limit: Vec<Option<Decimal>>,
    /// Of which resources, by position, it is given an amount above zero: a limit, a quota, a guarantee.
    pub(super) given: Vec<usize>,
}

/// The cluster with the leaves of the tree as users.
///
/// What a task asks for and how small it is, [`Scope`] says; `tasks` is how many of them the tightest limit of the queue
/// and those above it allows, or no limit.
pub(super) fn instance(
    name: String,
    resources: Vec<String>,
    memory: Memory,
    servers: &[Server],
    queues: &[Queue],
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let mut builder = InstanceBuilder::new(name, resources)?;
    add_classes(&mut builder, servers, memory)?;
    let mut is_leaf = vec![true; queues.len()];
    let mut weights: HashMap<Option<usize>, f64> = HashMap::new();
    for queue in queues {
        if let Some(parent) = queue.parent {
            is_leaf[parent] = false;
        }
        *weights.entry(queue.parent).or_default() += queue.weight;
    }
    let mut scopes: HashMap<Vec<usize>, Scope> = HashMap::new();
    for (queue, _) in queues.iter().zip(&is_leaf).filter(|(_, is_leaf)| **is_leaf) {
        let mut weight = 1.0;
        let mut limits: Vec<Option<Decimal>> = vec![None; builder.resources().len()];
        let mut given: &[usize] = &[];
        let mut at = Some(queue);
        while let Some(queue) = at {
            weight *= queue.weight / weights[&queue.parent];
            for (limit, own) in limits.iter_mut().zip(&queue.limit) {
                *limit = tighter(*limit, *own);
            }
            if given.is_empty() {
                given = &queue.given;
            }
            at = queue.parent.map(|parent| &queues[parent]);
        }
        if !scopes.contains_key(given) {
            scopes.insert(given.to_vec(), Scope::new(servers, limits.len(), given)?);
        }
        let scope = &scopes[given];
        let Some(weight) = rounded(weight).filter(|weight| !weight.is_zero()) else {
            report.one("queues left out: their weight is 0");
            continue;
        };
        let Some(task) = scope.task(&limits)? else {
            report.one("queues left out: their limit is 0, or too small to hold a task");
            continue;
        };
        builder.user(NewUser { weight, tasks: task.most, ..NewUser::new(&queue.name, &task.demand) })?;
    }
    report.add(
        common_limits(servers, queues, &is_leaf),
        "queues whose limits are taken for each queue below them, since an instance cannot state a common limit",
    );
    report.add(builder.user_count() as u64, "queues at the leaves");
    builder.build()
}

/// How many queues limit several leaves together, to less than the whole cluster.
fn common_limits(servers: &[Server], queues: &[Queue], is_leaf: &[bool]) -> u64 {
    let mut leaves = vec![0u64; queues.len()];
    for leaf in (0..queues.len()).filter(|queue| is_leaf[*queue]) {
        let mut above = queues[leaf].parent;
        while let Some(queue) = above {
            leaves[queue] += 1;
            above = queues[queue].parent;
        }
    }
    let all = |r: usize| servers.iter().map(|server| server.capacity[r].to_f64()).sum::<f64>();
    let limits = |queue: &Queue| {
        let stated = queue.limit.iter().enumerate();
        stated.filter_map(|(r, limit)| Some((r, (*limit)?))).any(|(r, limit)| limit.to_f64() < all(r))
    };
    queues.iter().zip(leaves).filter(|(queue, leaves)| *leaves > 1 && limits(queue)).count() as u64
}

/// The smaller of two limits, of which each may be none.
fn tighter(one: Option<Decimal>, other: Option<Decimal>) -> Option<Decimal> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one.to_f64() <= other.to_f64() { one } else { other }),
        (one, other) => one.or(other),
    }
}

/// A weight with twelve significant digits; `None` for what is no number >= 0.
pub(super) fn rounded(weight: f64) -> Option<Decimal> {
    Decimal::parse(format!("{weight:.11e}").as_bytes()).ok()
}
