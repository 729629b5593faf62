//! A tree of queues over a cluster, as schedulers state it: queues above others become groups, the leaves users, and what each is
//! given becomes its guarantee, its limit and its reserve.

use super::amounts::{Stated, rounded, tighter};
use super::queue_tasks::{Asked, Scopes};
use super::quota_places::{Spread, sum};
use super::report::ImportReport;
use super::servers::{Class, Memory, Server, add_classes};
use super::tolerance::SUMS;
use fairplan_instances::{
    ClassAmounts, ClassId, Decimal, Instance, InstanceBuilder, NewGroup, NewUser, Owner, PlacementRule,
    Quota, ResourceAmounts, ResourceId, Violation,
};
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
    /// What it is given at each place where it may run anything.
    pub(super) parts: Vec<Part>,
    /// What runs or waits in it, of a leaf of which that is known.
    pub(super) work: Option<Work>,
}

/// Tasks that are known.
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
    /// given, in the proportions of its guarantee where that states them all, else of the servers.
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
}

/// The place of what knows no places.
pub(super) fn one_place() -> Vec<String> {
    vec![String::new()]
}

/// What is told of queues whose tasks are [`Scopes`]'s.
const MADE_UP: &str = "queues state no tasks, so made-up ones count: a core or a GPU with its part of the rest, or less (the guide's page on \
                       import says how)";

/// The cluster with the queues as its tenants.
///
/// A leaf is a user, with its own tasks where they are known, else one of [`Scopes`]'; where these may run at several places, it is a
/// group with a user `QUEUE@PLACE` for each. The scheduler's own root is no group unless it limits them. What a queue is given of what no task below it asks for,
/// limits of all there is, and leaves that can run nothing are left out and counted.
///
/// # Errors
/// Guarantees above limits, and what breaks a rule of the model.
pub(super) fn instance(
    Cluster { name, resources, memory, servers, places, root }: Cluster<'_>,
    queues: &[Queue],
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let mut builder = InstanceBuilder::new(name, resources.clone())?;
    let classes = add_classes(&mut builder, servers, memory)?;
    let tree = Tree::new(queues, &resources, servers, (&places, root))?;
    let users = tree.users(servers, report);
    let below = tree.users_below(&users);
    let groups = tree.groups(&users, &below, report);
    builder.groups(groups)?;
    let mut quotas = Vec::new();
    for (queue, users) in tree.leaves().map(|leaf| (leaf, &users[leaf])) {
        let divided = users.len() > 1;
        for User { parts, demand } in users {
            let parts: Vec<&Part> = parts.iter().map(|part| &queues[queue].parts[*part]).collect();
            let name = &queues[queue].name;
            let id = match parts[..] {
                [part] if divided => format!("{name}@{}", places[part.place]),
                _ => name.clone(),
            };
            let may_run = |l: usize| parts.iter().any(|part| classes[l].server().meets[part.place]);
            let eligible: Vec<ClassId> = (0..classes.len()).filter(|l| may_run(*l)).map(ClassId).collect();
            let everywhere = eligible.len() == classes.len();
            let rule = builder.rule(PlacementRule::new((!everywhere).then_some(eligible), Vec::new()));
            let group = if divided { Some(queue) } else { queues[queue].parent };
            let group = group.and_then(|group| builder.group_named(&queues[group].name));
            let weight = match parts[..] {
                [part] if divided => tree.weight_of(part),
                _ => tree.weights[queue],
            };
            let tasks = queues[queue].work.as_ref().map(|work| work.tasks);
            let user = builder.user(NewUser { weight, tasks, rule, group, ..NewUser::new(&id, demand) })?;
            let asked: Vec<bool> = demand.iter().map(|demand| !demand.is_zero()).collect();
            quotas.push((Owner::User(user), tree.quota(queue, &parts, &asked, &classes, false, report)?));
        }
    }
    for queue in (0..queues.len()).filter(|queue| !tree.is_leaf[*queue]) {
        let Some(group) = builder.group_named(&queues[queue].name) else { continue };
        let parts: Vec<&Part> = queues[queue].parts.iter().collect();
        let quota = tree.quota(queue, &parts, &below[queue], &classes, tree.is_above_all(queue), report)?;
        quotas.push((Owner::Group(group), quota));
    }
    for (owner, quota) in quotas {
        builder.quota(owner, quota)?;
    }
    tree.tell_what_cannot_be_kept(&below, report);
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
}

/// Queues with what follows from where they stand.
struct Tree<'a> {
    queues: &'a [Queue],
    resources: &'a [String],
    places: &'a [String],
    servers: &'a [Server],
    root: Option<&'static str>,
    is_leaf: Vec<bool>,
    /// Above zero.
    weights: Vec<Decimal>,
    /// How many are below no other.
    tops: usize,
    /// How many have no weight of their own.
    weightless: u64,
    /// What the servers of each place have together.
    totals: Vec<Vec<f64>>,
    /// What all servers have together.
    all: Vec<f64>,
}

impl<'a> Tree<'a> {
    fn new(
        queues: &'a [Queue],
        resources: &'a [String],
        servers: &'a [Server],
        (places, root): (&'a [String], Option<&'static str>),
    ) -> Result<Self, Violation> {
        let mut is_leaf = vec![true; queues.len()];
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
        let weightless =
            queues.iter().filter(|queue| queue.weight <= 0.0 && least.contains_key(&queue.parent)).count()
                as u64;
        let total = |place: usize, r: usize| {
            let there = servers.iter().filter(|server| server.meets[place]);
            there.map(|server| server.capacity[r].to_f64()).sum()
        };
        let totals =
            (0..places.len()).map(|place| (0..resources.len()).map(|r| total(place, r)).collect()).collect();
        let tops = queues.iter().filter(|queue| queue.parent.is_none()).count();
        let all = |r: usize| servers.iter().map(|server| server.capacity[r].to_f64()).sum();
        let all = (0..resources.len()).map(all).collect();
        Ok(Self { queues, resources, places, servers, root, is_leaf, weights, tops, weightless, totals, all })
    }

    fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.queues.len()).filter(|queue| self.is_leaf[*queue])
    }

    /// The queue and those above it.
    fn upwards(&self, queue: usize) -> impl Iterator<Item = &'a Queue> {
        let queues = self.queues;
        std::iter::successors(Some(&queues[queue]), move |queue| queue.parent.map(|parent| &queues[parent]))
    }

    /// What each leaf becomes; nothing of other queues.
    fn users(&self, servers: &[Server], report: &mut ImportReport) -> Vec<Vec<User>> {
        let mut scopes = Scopes::new(servers, self.resources);
        let kept = self.kept_whole();
        let mut users = Vec::with_capacity(self.queues.len());
        for (at, queue) in self.queues.iter().enumerate() {
            let mut own = Vec::new();
            if let Some(demand) = queue.work.as_ref().and_then(|work| work.demand.clone()) {
                users.push(vec![User { parts: (0..queue.parts.len()).collect(), demand }]);
                continue;
            }
            for (position, part) in queue.parts.iter().enumerate().filter(|_| self.is_leaf[at]) {
                // Percentages of nothing are limits of 0, which says less.
                if self.places.len() > 1 && !servers.iter().any(|server| server.meets[part.place]) {
                    report.one(format!("queues left out at {}: no server is there", self.places[part.place]));
                    continue;
                }
                let mut most: Stated = vec![None; self.resources.len()];
                let mut sure: Stated = vec![None; self.resources.len()];
                let mut given: Vec<usize> = Vec::new();
                let counts = |other: &&Part| other.place == part.place || part.within.contains(&other.place);
                for part in self.upwards(at).flat_map(|above| above.parts.iter().filter(counts)) {
                    for (most, limit) in most.iter_mut().zip(&part.limit) {
                        *most = tighter(*most, *limit);
                    }
                    for (sure, amount) in sure.iter_mut().zip(&part.guarantee) {
                        *sure = tighter(*sure, above_zero(*amount));
                    }
                    if given.is_empty() {
                        given = part.given();
                    }
                }
                let barred: Vec<usize> =
                    (0..most.len()).filter(|r| most[*r].is_some_and(Decimal::is_zero)).collect();
                let none_of = self.none_of(at, part);
                let above = self.given_above(at, part, servers);
                given.extend(above.iter().filter(|r| !given.contains(r)).copied().collect::<Vec<_>>());
                given.sort_unstable();
                let shape = part.shape.as_deref();
                let only =
                    shape.map(|shape| (0..shape.len()).filter(|r| above_zero(shape[*r]).is_some()).collect());
                // Whole tasks can keep a guarantee, their own and those above, only where one is no larger.
                let amounts: Stated =
                    most.iter().zip(&sure).map(|(most, sure)| tighter(*most, *sure)).collect();
                let barred_from_all = |name: &str| {
                    let position = self.resources.iter().position(|resource| resource == name);
                    position.is_some_and(|r| barred.contains(&r))
                };
                if let Some(resource) =
                    ["cpu", "vcores", "memory"].into_iter().find(|name| barred_from_all(name))
                {
                    report
                        .named("queues left out: their limit is 0", &format!("{} ({resource})", queue.name));
                    continue;
                }
                for r in &none_of {
                    report.named(
                        format!(
                            "queues are given 0 of {} beside more of others, so their tasks ask for none",
                            self.resources[*r]
                        ),
                        &queue.name,
                    );
                }
                let barred = barred.into_iter().chain(none_of).collect();
                let asked = Asked { place: part.place, only, given, barred };
                match scopes
                    .of(&asked)
                    .and_then(|scope| scope.task(shape.unwrap_or(&part.guarantee), &amounts))
                {
                    Some(demand) if self.is_shut_out(at, part.place, &demand, &kept) => {
                        let place = &self.places[part.place];
                        report.one(format!(
                            "queues left out at {place}: another keeps all that is there, used or not"
                        ));
                    }
                    Some(demand) => {
                        self.tell_of_given_above(&above, part, servers, report);
                        own.push(User { parts: vec![position], demand });
                    }
                    None => report.named("queues left out: no server has what they ask for", &queue.name),
                }
            }
            users.push(own);
        }
        users
    }

    /// The resources that a leaf is given nothing of itself, but a queue above it is, below the one above all, and no other queue in
    /// that: what is given there is for whoever is in it. Not where what the leaf itself is sure of is more than the servers have that
    /// have such a resource.
    fn given_above(&self, leaf: usize, part: &Part, servers: &[Server]) -> Vec<usize> {
        let at = |queue: &Queue| queue.parts.iter().find(|other| other.place == part.place).map(Part::given);
        let is_above = |queue: usize, other: usize| {
            self.upwards(other).skip(1).any(|above| std::ptr::eq(above, &self.queues[queue]))
        };
        let mut found = Vec::new();
        let mut here = self.queues[leaf].parent;
        while let Some(above) = here.filter(|above| !self.is_above_all(*above)) {
            here = self.queues[above].parent;
            for r in at(&self.queues[above]).unwrap_or_default() {
                let below = (0..self.queues.len()).filter(|other| is_above(above, *other));
                let mut below = below.filter_map(|other| at(&self.queues[other]));
                if !below.any(|given| given.contains(&r)) && self.is_sure_beside(part, r, servers) {
                    found.push(r);
                }
            }
        }
        found
    }

    /// The resources of which a leaf, or the nearest queue above it that says anything of them, is given 0 beside more of others.
    fn none_of(&self, leaf: usize, part: &Part) -> Vec<usize> {
        let says = |queue: &Queue, r: usize| {
            let there = queue.parts.iter().find(|other| other.place == part.place)?;
            let is_none = there.none_of.contains(&r);
            (is_none || there.given().contains(&r)).then_some(is_none)
        };
        let nearest = |r: &usize| {
            let mut at = Some(leaf);
            while let Some(here) = at.filter(|here| *here == leaf || !self.is_above_all(*here)) {
                if let Some(is_none) = says(&self.queues[here], *r) {
                    return is_none;
                }
                at = self.queues[here].parent;
            }
            false
        };
        (0..self.resources.len()).filter(nearest).collect()
    }

    /// Says of which resources tasks ask for some only because of that: where all servers have some they do anyway.
    fn tell_of_given_above(
        &self,
        above: &[usize],
        part: &Part,
        servers: &[Server],
        report: &mut ImportReport,
    ) {
        let lacks =
            |r: usize| servers.iter().any(|server| server.meets[part.place] && server.capacity[r].is_zero());
        for r in above.iter().filter(|r| lacks(**r)) {
            report.one(format!(
                "queues whose tasks ask for {} because a queue above them is given some and none below it is",
                self.resources[*r]
            ));
        }
    }

    /// Whether the servers that have a resource have all that a queue is sure of.
    fn is_sure_beside(&self, part: &Part, r: usize, servers: &[Server]) -> bool {
        let there = |server: &&Server| server.meets[part.place] && !server.capacity[r].is_zero();
        let has = |other: usize| {
            servers.iter().filter(there).map(|server| server.capacity[other].to_f64()).sum::<f64>()
        };
        let sure = |other: usize| part.guarantee.get(other).copied().flatten().map_or(0.0, Decimal::to_f64);
        (0..self.resources.len()).all(|other| sure(other) <= has(other))
    }

    /// Whether a queue keeps all that a place has of a resource.
    fn keeps_whole(&self, part: &Part, r: usize) -> bool {
        let reserve = part.reserve.get(r).copied().flatten().filter(|reserve| !reserve.is_zero());
        reserve.is_some_and(|reserve| reserve.to_f64() >= self.totals[part.place][r])
    }

    /// What queues keep for themselves to the last of it: the queue, the place and the resource.
    fn kept_whole(&self) -> Vec<(&'a Queue, usize, usize)> {
        let mut kept = Vec::new();
        for queue in self.queues {
            for part in &queue.parts {
                let whole = (0..self.resources.len()).filter(|r| self.keeps_whole(part, *r));
                kept.extend(whole.map(|r| (queue, part.place, r)));
            }
        }
        kept
    }

    /// Whether others than the queue and those above it keep all of something that its task needs.
    fn is_shut_out(
        &self,
        queue: usize,
        place: usize,
        task: &[Decimal],
        kept: &[(&'a Queue, usize, usize)],
    ) -> bool {
        let is_own = |owner: &Queue| self.upwards(queue).any(|above| std::ptr::eq(above, owner));
        let is_in =
            |other: usize| self.servers.iter().all(|server| server.meets[other] || !server.meets[place]);
        kept.iter().any(|(owner, at, r)| !task[*r].is_zero() && is_in(*at) && !is_own(owner))
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

    /// The queues above users as groups.
    fn groups(&self, users: &[Vec<User>], below: &[Vec<bool>], report: &mut ImportReport) -> Vec<NewGroup> {
        let is_group = |position: usize| {
            let queue = &self.queues[position];
            let divided = !self.is_leaf[position] || users[position].len() > 1;
            let somebody = below[position].contains(&true);
            let is_root = self.is_above_all(position) && self.root == Some(queue.name.as_str());
            divided && somebody && (!is_root || self.limits(queue))
        };
        let empty =
            (0..self.queues.len()).filter(|queue| !self.is_leaf[*queue] && !below[*queue].contains(&true));
        report.add(empty.count() as u64, "groups left out: nobody is left below");
        report.add(
            self.weightless,
            "queues of weight 0, taken as a thousandth of the smallest weight of their siblings",
        );
        let group = |position: usize| {
            let queue = &self.queues[position];
            let parent = queue.parent.filter(|parent| is_group(*parent));
            NewGroup {
                id: queue.name.clone(),
                weight: self.weights[position],
                parent: parent.map(|parent| self.queues[parent].name.clone()),
            }
        };
        (0..self.queues.len()).filter(|position| is_group(*position)).map(group).collect()
    }

    /// Whether all others are below the queue.
    fn is_above_all(&self, queue: usize) -> bool {
        self.queues[queue].parent.is_none() && self.tops == 1
    }

    /// Whether a queue may have less than there is.
    fn limits(&self, queue: &Queue) -> bool {
        queue.parts.iter().any(|part| (0..self.resources.len()).any(|r| self.binds(part, r).is_some()))
    }

    /// The limit of a resource, if there is more than that at its place.
    fn binds(&self, part: &Part, r: usize) -> Option<Decimal> {
        let limit = part.limit.get(r).copied().flatten();
        limit.filter(|limit| limit.to_f64() < self.totals[part.place][r])
    }

    /// Says of guarantees that are of more than there is, each by itself and those of a resource together.
    fn tell_what_cannot_be_kept(&self, below: &[Vec<bool>], report: &mut ImportReport) {
        let more = |sure: f64, all: f64| sure > all * (1.0 + SUMS);
        for r in 0..self.resources.len() {
            let (mut sum, mut count) = (0.0, 0);
            for (at, queue) in self.queues.iter().enumerate().filter(|(at, _)| below[*at][r]) {
                let sure =
                    |part: &Part| part.guarantee.get(r).copied().flatten().map_or(0.0, Decimal::to_f64);
                let beyond = |part: &Part| more(sure(part), self.totals[part.place][r]);
                let counts = !self.is_above_all(at) && queue.parts.iter().any(|part| sure(part) > 0.0);
                if counts && queue.parts.iter().any(beyond) {
                    report.one("guarantees are of more than their servers have");
                }
                // Of the queue above all nothing is kept: everybody is in it.
                let is_top = |queue: &Queue| queue.parent.is_none() && self.tops == 1;
                let has_some =
                    |above: &Queue| !is_top(above) && above.parts.iter().any(|part| sure(part) > 0.0);
                let is_inside = self.upwards(at).skip(1).any(has_some);
                if counts && !is_inside {
                    sum += queue.parts.iter().map(sure).sum::<f64>();
                    count += 1;
                }
            }
            if count > 1 && more(sum, self.all[r]) {
                let resource = &self.resources[r];
                report.add(
                    count,
                    format!("guarantees of {resource} come to more than all servers have together"),
                );
            }
        }
    }

    /// The classes of a place.
    fn classes_of(&self, place: usize, classes: &[Class<'_>]) -> Vec<ClassId> {
        (0..classes.len()).filter(|l| classes[*l].server().meets[place]).map(ClassId).collect()
    }

    /// Among the places of one queue: the largest part of the place that it is sure of.
    fn weight_of(&self, part: &Part) -> Decimal {
        let of_all = |(r, amount): (usize, &Option<Decimal>)| {
            let all: f64 = self.totals[part.place][r];
            amount.filter(|_| all > 0.0).map_or(0.0, |amount| amount.to_f64() / all)
        };
        let part = part.guarantee.iter().enumerate().map(of_all).fold(0.0, f64::max);
        rounded(part).filter(|weight| !weight.is_zero()).unwrap_or(Decimal::ONE)
    }

    /// What a queue is given at some of its places together, of what its tasks ask for.
    fn quota(
        &self,
        queue: usize,
        parts: &[&Part],
        asked: &[bool],
        classes: &[Class<'_>],
        is_top: bool,
        report: &mut ImportReport,
    ) -> Result<Quota, Violation> {
        let name = &self.queues[queue].name;
        let mut quota = Quota::default();
        let resources = || asked.iter().enumerate();
        // What a queue keeps or may have at most at one of several places is of its servers: others may have as much elsewhere.
        let sets: Vec<Vec<ClassId>> = parts.iter().map(|part| self.classes_of(part.place, classes)).collect();
        // Where it can run nowhere else, what it is sure of can be nowhere else.
        let is_one_place = self.is_leaf[queue] && sets.len() == 1;
        let is_whole = self.places.len() == 1 || (is_one_place && sets[0].len() == classes.len());
        let mut stated: Vec<ResourceAmounts> = Vec::new();
        for part in parts {
            let mut amounts = ResourceAmounts::new();
            for (r, asks) in resources() {
                let Some(limit) = part.limit.get(r).copied().flatten().filter(|limit| !limit.is_zero())
                else {
                    continue;
                };
                let sure = part.guarantee.get(r).copied().flatten();
                if let Some(sure) = sure.filter(|sure| sure.to_f64() > limit.to_f64() && !is_top) {
                    let problem = format!("is more than its limit of {limit}; lower it or raise the limit");
                    let resource = &self.resources[r];
                    return Err(Violation::new(
                        format!("queue {name}: guaranteed {resource}"),
                        sure,
                        problem,
                    ));
                }
                match self.binds(part, r) {
                    None => report.one("limits left out: there is no more than that"),
                    Some(_) if !asks => {
                        report.one("limits left out: no task of the queue asks for the resource")
                    }
                    Some(limit) => amounts.push((ResourceId(r), limit)),
                }
            }
            if is_whole {
                quota.limit.extend(amounts);
            } else {
                stated.push(amounts);
            }
        }
        let mut shared = false;
        for r in (0..asked.len()).filter(|_| !is_whole) {
            let of =
                |part: usize| stated[part].iter().find(|(other, _)| other.0 == r).map(|(_, limit)| *limit);
            // Where nothing of a resource may be asked for, its limits elsewhere hold on the same servers too.
            let asked: Vec<usize> = (0..parts.len()).filter(|part| parts[*part].may_ask_for(r)).collect();
            let limits: Vec<Option<Decimal>> = asked.iter().map(|part| of(*part)).collect();
            let sets: Vec<Vec<ClassId>> = asked.into_iter().map(|part| sets[part].clone()).collect();
            let spread = Spread { name, resource: &self.resources[r], is_cap: true };
            shared |= spread.over(&sets, &limits, ResourceId(r), &mut quota.limits)?;
        }
        let Quota { guarantee, guarantees, reserve, reserves, .. } = &mut quota;
        let lists: [Given<'_>; 2] = [
            ("guarantees", |part| &part.guarantee, guarantee, guarantees),
            ("reserves", |part| &part.reserve, reserve, reserves),
        ];
        for (what, of, over_all, over_some) in lists {
            for (r, asks) in resources() {
                // Whoever needs something that is kept whole is shut out there, so nothing is left to keep.
                let counts = |part: &Part| what != "reserves" || !self.keeps_whole(part, r);
                let amount = |part: &&Part| above_zero(of(part).get(r).copied().flatten());
                let amounts: Vec<Option<Decimal>> =
                    parts.iter().map(|part| amount(part).filter(|_| counts(part))).collect();
                if amounts.iter().all(Option::is_none) {
                    continue;
                }
                if is_top {
                    report.one(format!("{what} of the queue above all left out: everybody is in it"));
                } else if !asks {
                    report.one(format!("{what} left out: no task of the queue asks for the resource"));
                } else if is_whole || (what == "guarantees" && is_one_place) {
                    over_all.push((ResourceId(r), sum(name, &self.resources[r], &amounts)?));
                } else {
                    let spread = Spread { name, resource: &self.resources[r], is_cap: false };
                    shared |= spread.over(&sets, &amounts, ResourceId(r), over_some)?;
                }
            }
        }
        if shared {
            report.one("queues with several quotas on the same servers, which count together there");
        }
        Ok(quota)
    }
}

/// What a quota is given: what that is called, where a part states it, and what it becomes over all classes and over some.
type Given<'q> = (&'static str, fn(&Part) -> &Stated, &'q mut ResourceAmounts, &'q mut Vec<ClassAmounts>);

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
