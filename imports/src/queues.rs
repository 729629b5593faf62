//! A tree of queues over a cluster: its leaves become users, with limits the least on the way up; the queues above become
//! groups, or weights are multiplied down the tree.

use super::census::{Memory, Server, add_classes};
use super::queue_tasks::Scope;
use super::report::ImportReport;
use fairplan_instances::{Decimal, Instance, InstanceBuilder, NewGroup, NewUser, Violation};
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

/// The cluster that queues share.
pub(super) struct Cluster<'a> {
    pub(super) name: String,
    pub(super) resources: Vec<String>,
    pub(super) memory: Memory,
    pub(super) servers: &'a [Server],
}

/// The cluster with the leaves of the tree as users, in groups if the `tree` is to be kept.
///
/// What a task asks for and how small it is, [`Scope`] says; `tasks` is how many of them the tightest limit of the queue
/// and those above it allows, or no limit.
pub(super) fn instance(
    Cluster { name, resources, memory, servers }: Cluster<'_>,
    queues: &[Queue],
    tree: bool,
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
    let groups = if tree { groups(queues, &is_leaf) } else { Vec::new() };
    builder.groups(groups)?;
    let mut scopes: HashMap<Vec<usize>, Scope> = HashMap::new();
    for (queue, _) in queues.iter().zip(&is_leaf).filter(|(_, is_leaf)| **is_leaf) {
        let mut of_cluster = 1.0;
        let mut limits: Vec<Option<Decimal>> = vec![None; builder.resources().len()];
        let mut given: &[usize] = &[];
        let mut at = Some(queue);
        while let Some(queue) = at {
            of_cluster *= queue.weight / weights[&queue.parent];
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
        let weight = rounded(if tree { queue.weight } else { of_cluster });
        // Of what has no part of the cluster some queue above may have none.
        let Some(weight) = weight.filter(|weight| !weight.is_zero() && of_cluster > 0.0) else {
            report.one("queues left out: their weight is 0");
            continue;
        };
        let Some(task) = scope.task(&limits)? else {
            report.one("queues left out: their limit is 0, or too small to hold a task");
            continue;
        };
        let group = queue.parent.and_then(|parent| builder.group_named(&queues[parent].name));
        builder.user(NewUser {
            weight,
            tasks: task.most,
            group,
            ..NewUser::new(&queue.name, &task.demand)
        })?;
    }
    report.add(
        common_limits(servers, queues, &is_leaf),
        "queues whose limits are taken for each queue below them, since an instance cannot state a common limit",
    );
    report.add(builder.user_count() as u64, "queues at the leaves");
    builder.build()
}

/// The queues above leaves as groups, but for a single one above all, and those without weight, below which nobody has any.
fn groups(queues: &[Queue], is_leaf: &[bool]) -> Vec<NewGroup> {
    let tops = queues.iter().filter(|queue| queue.parent.is_none()).count();
    let is_group = |position: usize| {
        let queue = &queues[position];
        !is_leaf[position] && queue.weight > 0.0 && (tops > 1 || queue.parent.is_some())
    };
    let group = |position: usize| {
        let queue = &queues[position];
        let parent = queue.parent.filter(|parent| is_group(*parent));
        let weight = rounded(queue.weight).unwrap_or(Decimal::ONE);
        NewGroup { id: queue.name.clone(), weight, parent: parent.map(|parent| queues[parent].name.clone()) }
    };
    (0..queues.len()).filter(|position| is_group(*position)).map(group).collect()
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
