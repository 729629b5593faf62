//! A tree of queues over a cluster, as schedulers state it: queues above others become groups, the leaves users, and what each is
//! given becomes its guarantee, its limit and its reserve.

mod quotas;
mod sure;
mod users;

use super::amounts::{Stated, rounded};
use super::report::ImportReport;
use super::servers::{Memory, Server, add_classes};
use fairplan_instances::{
    ClassId, Decimal, Instance, InstanceBuilder, NewUser, Owner, PlacementRule, Violation,
};
use hashbrown::HashMap;

/// One queue of the tree, which is none below itself.
#[derive(Clone, Default)]
pub(super) struct Queue {
    /// Its whole path or unique name.
    pub(super) name: String,
    /// The position of the queue it belongs to.
    pub(super) parent: Option<usize>,
    /// Against the other children of its parent.
    pub(super) weight: f64,
    /// What it is given at each place where it may run anything.
    pub(super) parts: Vec<Part>,
    /// What runs or waits in it, of a leaf of which that is known.
    pub(super) work: Option<Work>,
    /// Whether it is there for queues below it, of which perhaps none is left: nothing runs in such a queue itself.
    pub(super) is_above: bool,
}

/// Tasks that are known.
#[derive(Clone)]
pub(super) struct Work {
    /// What one of them asks for; of none nothing is known.
    pub(super) demand: Option<Vec<Decimal>>,
    /// How many there are.
    pub(super) tasks: u64,
}

/// What a queue is given on the servers of one place.
#[derive(Clone, Default)]
pub(super) struct Part {
    /// Which place.
    pub(super) place: usize,
    /// What it is sure of.
    pub(super) guarantee: Stated,
    /// The most it may have.
    pub(super) limit: Stated,
    /// What stays its own when it is idle.
    pub(super) reserve: Stated,
    /// In which proportions its tasks ask for which resources here; `None`: for what nearly all servers have and what it is
    /// given, in the proportions of its guarantee where that states several, else of the servers.
    pub(super) shape: Option<Stated>,
    /// Of which resources it is given 0, beside more of others: its tasks ask for none.
    pub(super) none_of: Vec<usize>,
    /// The places at which queues above count what is used here, beside this one: this one is part of them.
    pub(super) within: Vec<usize>,
}

/// The cluster that queues share.
pub(super) struct Cluster<'a> {
    pub(super) name: String,
    pub(super) resources: Vec<String>,
    pub(super) memory: Memory,
    /// The servers; each meets the places, by position, that it belongs to.
    pub(super) servers: &'a [Server],
    /// What places are called; a single one is all of the cluster.
    pub(super) places: Vec<String>,
    /// What the scheduler calls the queue above all that every cluster has, where it has one.
    pub(super) root: Option<&'static str>,
    /// Whether limits are parts of what the servers have: those of no less than all of it are left out. Others stay, since servers may be added.
    pub(super) are_limits_parts: bool,
}

/// What is said where no queue is left. Why each was left out is told beside it.
pub(super) const NOBODY: &str =
    "no queue is left that anything can run in; all queues of the files are left out";

/// What is told of queues into which nothing new is let.
pub(super) const STOPPED: &str = "queues left out: stopped";

/// The place of what knows no places.
pub(super) fn one_place() -> Vec<String> {
    vec![String::new()]
}

/// What is told of queues whose tasks are of [`Scopes`](super::queue_tasks::Scopes).
const MADE_UP: &str = "queues state no tasks, so made-up ones count: a core or a GPU with its part of the rest, or less (the guide's page on \
                       import says how)";

/// The cluster with the queues as its tenants.
///
/// A leaf is a user, with its own tasks where they are known, else one of [`Scopes`](super::queue_tasks::Scopes); where these may run at several places, it is a
/// group with a user `QUEUE@PLACE` for each, and where a limit of GPUs leaves it cores, one with a user `QUEUE@RESOURCE` for tasks with and without. The scheduler's own root is no group unless it limits them. What a queue is given of what no task below it asks for,
/// limits of all there is, and leaves that can run nothing are left out and counted.
///
/// # Errors
/// Guarantees above limits, queues of which none is left, and what breaks a rule of the model.
pub(super) fn instance(
    cluster: Cluster<'_>,
    queues: &[Queue],
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let Cluster { resources, servers, places, .. } = &cluster;
    let mut builder = InstanceBuilder::new(cluster.name.clone(), resources.clone())?;
    let classes = add_classes(&mut builder, servers, cluster.memory)?;
    let tree = Tree::new(queues, &cluster)?;
    let users = tree.users(report);
    let below = tree.users_below(&users);
    let queues = &tree.sure_of_tasks(&users, report)[..];
    let tree = Tree::new(queues, &cluster)?;
    if !servers.is_empty() && users.iter().all(Vec::is_empty) {
        tree.tell_of_empty(&below, report);
        return Err(Violation::new("", "", NOBODY));
    }
    let groups = tree.groups(&users, &below, report);
    builder.groups(groups)?;
    let mut quotas = Vec::new();
    for (queue, users) in tree.leaves().map(|leaf| (leaf, &users[leaf])) {
        let divided = users.len() > 1;
        for User { parts, demand, asks_for } in users {
            let parts: Vec<&Part> = parts.iter().map(|part| &queues[queue].parts[*part]).collect();
            let name = &queues[queue].name;
            let id = match (asks_for, &parts[..]) {
                (Some(r), _) => format!("{name}@{}", resources[*r]),
                (None, [part]) if divided => format!("{name}@{}", places[part.place]),
                _ => name.clone(),
            };
            let may_run = |l: usize| {
                let server = classes[l].server();
                parts.iter().any(|part| server.meets[part.place]) && server.lets_in(|r| !demand[r].is_zero())
            };
            let eligible: Vec<ClassId> = (0..classes.len()).filter(|l| may_run(*l)).map(ClassId).collect();
            let everywhere = eligible.len() == classes.len();
            let rule = builder.rule(PlacementRule::new((!everywhere).then_some(eligible), Vec::new()));
            let group = if divided { Some(queue) } else { queues[queue].parent };
            let group = group.and_then(|group| builder.group_named(&queues[group].name));
            let weight = match (asks_for, &parts[..]) {
                (Some(_), _) => Decimal::ONE,
                (None, [part]) if divided => tree.weight_of(part),
                _ => tree.weights[queue],
            };
            let tasks = queues[queue].work.as_ref().map(|work| work.tasks);
            let user = builder.user(NewUser { weight, tasks, rule, group, ..NewUser::new(&id, demand) })?;
            let asked: Vec<bool> = demand.iter().map(|demand| !demand.is_zero()).collect();
            if asks_for.is_none() {
                quotas.push((Owner::User(user), tree.quota(queue, &parts, &asked, &classes, false, report)?));
            }
        }
    }
    let has_quota =
        |queue: &usize| !tree.is_leaf[*queue] || users[*queue].iter().any(|user| user.asks_for.is_some());
    for queue in (0..queues.len()).filter(has_quota) {
        let Some(group) = builder.group_named(&queues[queue].name) else { continue };
        let parts: Vec<&Part> = queues[queue].parts.iter().collect();
        let quota = tree.quota(queue, &parts, &below[queue], &classes, tree.is_above_all(queue), report)?;
        quotas.push((Owner::Group(group), quota));
    }
    for (owner, quota) in quotas {
        builder.quota(owner, quota)?;
    }
    tree.tell_what_cannot_be_kept(&users, &below, report);
    let leaves = || tree.leaves().filter(|leaf| !users[*leaf].is_empty());
    report.add(leaves().count() as u64, "queues at the leaves");
    report.add(leaves().filter(|leaf| queues[*leaf].work.is_none()).count() as u64, MADE_UP);
    builder.build()
}

/// A user that a leaf becomes.
struct User {
    /// Which parts of the queue it has.
    parts: Vec<usize>,
    /// What one task asks for.
    demand: Vec<Decimal>,
    /// What tells its tasks from the queue's others, where the queue has some with a resource and some without.
    asks_for: Option<usize>,
}

/// Queues with what follows from where they stand.
struct Tree<'a> {
    queues: &'a [Queue],
    resources: &'a [String],
    places: &'a [String],
    servers: &'a [Server],
    root: Option<&'static str>,
    are_limits_parts: bool,
    is_leaf: Vec<bool>,
    /// Above zero.
    weights: Vec<Decimal>,
    /// How many are below no other.
    tops: usize,
    /// Those that have no weight of their own.
    weightless: Vec<usize>,
    /// What the servers of each place have together.
    totals: Vec<Vec<f64>>,
    /// What all servers have together.
    all: Vec<f64>,
}

impl<'a> Tree<'a> {
    fn new(queues: &'a [Queue], cluster: &'a Cluster<'a>) -> Result<Self, Violation> {
        let Cluster { resources, servers, places, root, are_limits_parts, .. } = cluster;
        let (root, are_limits_parts) = (*root, *are_limits_parts);
        let mut is_leaf: Vec<bool> = queues.iter().map(|queue| !queue.is_above).collect();
        let mut least: HashMap<Option<usize>, f64> = HashMap::new();
        for queue in queues {
            queue.parent.into_iter().for_each(|parent| is_leaf[parent] = false);
            if queue.weight > 0.0 {
                let least = least.entry(queue.parent).or_insert(f64::INFINITY);
                *least = least.min(queue.weight);
            }
        }
        let weight = |queue: &Queue| {
            let stated = Some(queue.weight).filter(|weight| *weight > 0.0);
            let weight =
                stated.unwrap_or_else(|| least.get(&queue.parent).map_or(1.0, |least| least / 1000.0));
            rounded(weight).filter(|weight| !weight.is_zero()).ok_or_else(|| {
                Violation::new(format!("queue {}: weight", queue.name), weight, "is no usable weight")
            })
        };
        let weights = queues.iter().map(weight).collect::<Result<_, _>>()?;
        let is_weightless = |queue: &Queue| queue.weight <= 0.0 && least.contains_key(&queue.parent);
        let weightless = (0..queues.len()).filter(|position| is_weightless(&queues[*position])).collect();
        let total = |place: usize, r: usize| {
            let there = servers.iter().filter(|server| server.meets[place]);
            there.map(|server| server.capacity[r].to_f64()).sum()
        };
        let totals =
            (0..places.len()).map(|place| (0..resources.len()).map(|r| total(place, r)).collect()).collect();
        let tops = queues.iter().filter(|queue| queue.parent.is_none()).count();
        let all = |r: usize| servers.iter().map(|server| server.capacity[r].to_f64()).sum();
        let all = (0..resources.len()).map(all).collect();
        Ok(Self {
            queues,
            resources,
            places,
            servers,
            root,
            are_limits_parts,
            is_leaf,
            weights,
            tops,
            weightless,
            totals,
            all,
        })
    }

    fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.queues.len()).filter(|queue| self.is_leaf[*queue])
    }

    /// The queue and those above it.
    fn upwards(&self, queue: usize) -> impl Iterator<Item = &'a Queue> {
        let queues = self.queues;
        std::iter::successors(Some(&queues[queue]), move |queue| queue.parent.map(|parent| &queues[parent]))
    }

    /// Of which resources somebody at or below each queue asks for some; of nothing where nobody is left.
    fn users_below(&self, users: &[Vec<User>]) -> Vec<Vec<bool>> {
        let mut below = vec![vec![false; self.resources.len()]; self.queues.len()];
        for (leaf, user) in
            users.iter().enumerate().flat_map(|(leaf, users)| users.iter().map(move |user| (leaf, user)))
        {
            let mut at = Some(leaf);
            while let Some(queue) = at {
                for (asks, demand) in below[queue].iter_mut().zip(&user.demand) {
                    *asks |= !demand.is_zero();
                }
                at = self.queues[queue].parent;
            }
        }
        below
    }

    /// Whether all others are below the queue.
    fn is_above_all(&self, queue: usize) -> bool {
        self.queues[queue].parent.is_none() && self.tops == 1
    }
}

impl Part {
    /// At a place, where nothing is stated yet.
    pub(super) fn new(place: usize, resources: usize) -> Self {
        let none = || vec![None; resources];
        Self {
            place,
            guarantee: none(),
            limit: none(),
            reserve: none(),
            shape: None,
            none_of: Vec::new(),
            within: Vec::new(),
        }
    }

    /// The resources of which amounts state 0 while they state more of others. Amounts hold so many tasks, and none that needs what
    /// they have none of: whoever is sure of memory and of no cores is sure of tasks without cores.
    pub(super) fn stated_none(guarantee: &Stated) -> Vec<usize> {
        let is_zero = |amount: &Option<Decimal>| amount.is_some_and(|amount| amount.is_zero());
        if !guarantee.iter().any(|amount| above_zero(*amount).is_some()) {
            return Vec::new();
        }
        (0..guarantee.len()).filter(|r| is_zero(&guarantee[*r])).collect()
    }

    /// Whether tasks here may ask for a resource.
    fn may_ask_for(&self, r: usize) -> bool {
        self.shape.as_ref().is_none_or(|shape| shape[r].is_some())
    }

    /// Of which resources it is given an amount above zero.
    fn given(&self) -> Vec<usize> {
        let has = |amounts: &Stated, r: usize| {
            amounts.get(r).copied().flatten().is_some_and(|amount| !amount.is_zero())
        };
        let lists = [&self.guarantee, &self.limit, &self.reserve];
        (0..self.limit.len()).filter(|r| lists.iter().any(|amounts| has(amounts, *r))).collect()
    }
}

fn above_zero(amount: Option<Decimal>) -> Option<Decimal> {
    amount.filter(|amount| !amount.is_zero())
}
