//! The users that leaves of a tree become, and what one task of each asks for.

use super::{Part, Queue, Tree, User, above_zero};
use crate::amounts::{Stated, rounded_down, tighter};
use crate::queue_tasks::{Asked, Scopes};
use crate::report::ImportReport;
use crate::servers::Server;
use crate::spare_cores;
use fairplan_instances::{Decimal, ResourceKind};
use std::collections::BTreeMap;

/// A leaf at one of its places, of which nothing is known but what queues are given.
#[derive(Clone, Copy)]
struct Leaf<'a> {
    /// The position of the queue.
    at: usize,
    queue: &'a Queue,
    part: &'a Part,
}

/// What a leaf is given at a place, by itself and by the queues above it.
struct Given {
    /// The most that it may have, and of how much it is sure: the least that is stated on the way up.
    most: Stated,
    sure: Stated,
    /// The resources that the nearest queue which says anything is given.
    of: Vec<usize>,
}

/// All that a place has of a resource, kept by these queues.
struct KeptWhole<'a> {
    by: Vec<&'a Queue>,
    place: usize,
    r: usize,
}

/// What one task asks for, and what tells it from the other tasks of its queue, if there are others.
type Task = (Vec<Decimal>, Option<usize>);

impl<'a> Tree<'a> {
    /// What each leaf becomes; nothing of other queues.
    pub(super) fn users(&self, report: &mut ImportReport) -> Vec<Vec<User>> {
        let mut scopes = Scopes::new(self.servers, self.resources);
        let kept = self.kept_whole();
        let mut users = Vec::with_capacity(self.queues.len());
        for (at, queue) in self.queues.iter().enumerate() {
            let mut own = Vec::new();
            if let Some(demand) = queue.work.as_ref().and_then(|work| work.demand.clone()) {
                let parts = self.parts_open_to(at, &demand, &kept, report);
                own.extend(parts.map(|parts| User { parts, demand, asks_for: None }));
            } else if self.is_leaf[at] {
                for (position, part) in queue.parts.iter().enumerate() {
                    let tasks = self.tasks_made_up(Leaf { at, queue, part }, &mut scopes, &kept, report);
                    let user = |(demand, asks_for)| User { parts: vec![position], demand, asks_for };
                    own.extend(tasks.into_iter().map(user));
                }
            }
            users.push(own);
        }
        users
    }

    /// The parts of a leaf at which its known tasks may have some of all that they ask for; where there is none, which is told, it runs nothing.
    fn parts_open_to(
        &self,
        at: usize,
        demand: &[Decimal],
        kept: &[KeptWhole<'_>],
        report: &mut ImportReport,
    ) -> Option<Vec<usize>> {
        let queue = &self.queues[at];
        let asked = || (0..demand.len()).filter(|r| !demand[*r].is_zero());
        let barred = |part: &'a Part| {
            let Given { most, .. } = self.given(Leaf { at, queue, part });
            asked().find(|r| most[*r].is_some_and(Decimal::is_zero))
        };
        let barred: Vec<Option<usize>> = queue.parts.iter().map(barred).collect();
        let everywhere = if barred.contains(&None) { None } else { barred.first().copied().flatten() };
        let nowhere = asked().find(|r| self.all[*r] == 0.0);
        let shut_out: Vec<bool> =
            queue.parts.iter().map(|part| self.is_shut_out(at, part.place, demand, kept)).collect();
        // Where no server of a place has it they do not run anyway.
        let is_open = |position: &usize| {
            let there = &self.totals[queue.parts[*position].place];
            !shut_out[*position] && barred[*position].is_none_or(|r| there[r] == 0.0)
        };
        let open: Vec<usize> = (0..queue.parts.len()).filter(is_open).collect();
        let told = match (everywhere, nowhere) {
            (Some(r), _) if shut_out.contains(&false) => {
                format!("tasks left out: they ask for {}, of which their limit is 0", self.resources[r])
            }
            (None, Some(r)) => {
                format!("tasks left out: they ask for {}, which no server has", self.resources[r])
            }
            _ if open.is_empty() && !queue.parts.is_empty() => {
                "tasks left out: another queue keeps all that is there, used or not".to_owned()
            }
            _ => return Some(open),
        };
        report.named_times(queue.work.as_ref().map_or(0, |work| work.tasks), told, &queue.name);
        None
    }

    /// The tasks of a leaf at a place, mostly of one kind; none, which is told, where it can run nothing.
    fn tasks_made_up(
        &self,
        leaf: Leaf<'a>,
        scopes: &mut Scopes<'_>,
        kept: &[KeptWhole<'_>],
        report: &mut ImportReport,
    ) -> Vec<Task> {
        let Leaf { at, queue, part } = leaf;
        // Percentages of nothing are limits of 0, which says less.
        if self.places.len() > 1 && !self.servers.iter().any(|server| server.meets[part.place]) {
            let told = format!("queues left out at {}: no server is there", self.places[part.place]);
            report.named(told, &queue.name);
            return Vec::new();
        }
        let Given { most, sure, of: mut given } = self.given(leaf);
        let barred: Vec<usize> = (0..most.len()).filter(|r| most[*r].is_some_and(Decimal::is_zero)).collect();
        let keeps_all_from_it = |demand: &[Decimal]| self.is_shut_out(at, part.place, demand, kept);
        let kept_from_it = || {
            format!(
                "queues left out at {}: another keeps all that is there, used or not",
                self.places[part.place]
            )
        };
        if let Some(r) = self.needed_by_all(&barred) {
            let mut demand = vec![Decimal::ZERO; self.resources.len()];
            demand[r] = Decimal::ONE;
            if keeps_all_from_it(&demand) {
                report.named(kept_from_it(), &queue.name);
                return Vec::new();
            }
            let what = match queue.parts.len() {
                1 => "queues left out: their limit is 0".to_owned(),
                _ => format!("queues left out at {}: their limit is 0", self.places[part.place]),
            };
            report.named(what, &format!("{} ({})", queue.name, self.resources[r]));
            return Vec::new();
        }
        let none_of = self.none_of(at, part);
        self.tell_of_none(&none_of, queue, report);
        let above = self.given_above(at, part);
        given.extend(above.iter().filter(|r| !given.contains(r)).copied().collect::<Vec<_>>());
        given.sort_unstable();
        let shape = part.shape.as_deref();
        let only = shape.map(|shape| (0..shape.len()).filter(|r| above_zero(shape[*r]).is_some()).collect());
        let barred = barred.into_iter().chain(none_of).collect();
        let asked = Asked { place: part.place, only, given, barred };
        // Whole tasks can keep a guarantee, their own and those above, only where one is no larger.
        let amounts: Stated = most.iter().zip(&sure).map(|(most, sure)| tighter(*most, *sure)).collect();
        let shape = shape.unwrap_or(&part.guarantee);
        let counted = self.counted(leaf);
        let task = |asked: &Asked| {
            let mut task = scopes.of(asked)?.task(shape, &amounts)?;
            counted.iter().for_each(|part| keep_guarantees(&mut task, part));
            Some(task)
        };
        let tasks = self.kinds_of_tasks(leaf, &most, asked, task);
        let Some((demand, _)) = tasks.first() else {
            report.named("queues left out: no server has what they ask for", &queue.name);
            return tasks;
        };
        if keeps_all_from_it(demand) {
            report.named(kept_from_it(), &queue.name);
            return Vec::new();
        }
        self.tell_of_given_above(&above, part, report);
        self.tell_of_kinds(&tasks, queue, report);
        tasks
    }

    /// What a leaf is given, by itself and above it.
    fn given(&self, leaf: Leaf<'a>) -> Given {
        let none = || -> Stated { vec![None; self.resources.len()] };
        let mut given = Given { most: none(), sure: none(), of: Vec::new() };
        for part in self.counted(leaf) {
            for (most, limit) in given.most.iter_mut().zip(&part.limit) {
                *most = tighter(*most, *limit);
            }
            for (sure, amount) in given.sure.iter_mut().zip(&part.guarantee) {
                *sure = tighter(*sure, above_zero(*amount));
            }
            if given.of.is_empty() {
                given.of = part.given();
            }
        }
        given
    }

    /// What a leaf and the queues above it are given where that counts for it.
    fn counted(&self, leaf: Leaf<'a>) -> Vec<&'a Part> {
        let here = leaf.part;
        let counts = |other: &&Part| other.place == here.place || here.within.contains(&other.place);
        self.upwards(leaf.at).flat_map(|above| above.parts.iter().filter(counts)).collect()
    }

    /// The first of the resources that no task can do without, if it is among these.
    fn needed_by_all(&self, barred: &[usize]) -> Option<usize> {
        let position = |name: &str| self.resources.iter().position(|resource| resource == name);
        ["cpu", "vcores", "memory"].into_iter().filter_map(position).find(|r| barred.contains(r))
    }

    /// Says of what tasks of a queue ask for none, as it is given 0.
    fn tell_of_none(&self, none_of: &[usize], queue: &Queue, report: &mut ImportReport) {
        for r in none_of {
            report.named(
                format!(
                    "queues are given 0 of {} beside more of others, so their tasks ask for none",
                    self.resources[*r]
                ),
                &queue.name,
            );
        }
    }

    /// Says which kinds of tasks a queue has, if there are several.
    fn tell_of_kinds(&self, tasks: &[Task], queue: &Queue, report: &mut ImportReport) {
        let told: Vec<String> = (tasks.iter().filter_map(|(_, asks_for)| *asks_for))
            .map(|r| format!("@{}", self.resources[r]))
            .collect();
        if let [capped, _, ..] = &told[..] {
            report.named(
                format!(
                    "queues whose limit of {} leaves them cores for tasks without: a group of users {}",
                    &capped[1..],
                    told.join(" and ")
                ),
                &queue.name,
            );
        }
    }

    /// The kinds of tasks of a leaf at a place. A limit of what tasks can do without is none of cores: where it leaves some, the queue has
    /// tasks without it too, and with each kind comes the resource that tells it from the others.
    fn kinds_of_tasks(
        &self,
        Leaf { queue, part, .. }: Leaf<'_>,
        most: &Stated,
        mut asked: Asked,
        mut task: impl FnMut(&Asked) -> Option<Vec<Decimal>>,
    ) -> Vec<Task> {
        let Some(mut last) = task(&asked) else { return Vec::new() };
        let is_one_kind = part.shape.is_some() || queue.parts.len() > 1;
        let mut kinds = Vec::new();
        while let Some(capped) = self.leaves_cores(part, &last, most).filter(|_| !is_one_kind) {
            asked.barred.push(capped);
            let Some(without) = task(&asked) else { break };
            kinds.push((std::mem::replace(&mut last, without), Some(capped)));
        }
        let cores = if kinds.is_empty() { None } else { self.cores() };
        kinds.push((last, cores));
        kinds
    }

    /// What a task asks for beside cores and memory, of which the queue has so little that cores are left to it when it has the most
    /// of that.
    fn leaves_cores(&self, part: &Part, task: &[Decimal], most: &Stated) -> Option<usize> {
        let cores = self.cores()?;
        let asked = |r: usize| {
            let all = self.totals[part.place][r];
            let most = most[r].map_or(all, |most| most.to_f64().min(all));
            spare_cores::Asked { most, all, of_a_task: task[r].to_f64() }
        };
        let leaves = |r: &usize| asked(*r).leaves(&self.resources[*r], &asked(cores));
        (0..task.len())
            .filter(leaves)
            .min_by(|one, other| asked(*one).tasks().total_cmp(&asked(*other).tasks()))
    }

    /// The resource that cores are.
    fn cores(&self) -> Option<usize> {
        self.resources.iter().position(|name| ResourceKind::of(name) == ResourceKind::Cores)
    }

    /// The resources that a leaf is given nothing of itself, but a queue above it is, below the one above all, and no other queue in
    /// that: what is given there is for whoever is in it. Not where what the leaf itself is sure of is more than the servers have that
    /// have such a resource.
    fn given_above(&self, leaf: usize, part: &Part) -> Vec<usize> {
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
                if !below.any(|given| given.contains(&r)) && self.is_sure_beside(part, r) {
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
    fn tell_of_given_above(&self, above: &[usize], part: &Part, report: &mut ImportReport) {
        let lacks = |r: usize| {
            self.servers.iter().any(|server| server.meets[part.place] && server.capacity[r].is_zero())
        };
        for r in above.iter().filter(|r| lacks(**r)) {
            report.one(format!(
                "queues whose tasks ask for {} because a queue above them is given some and none below it is",
                self.resources[*r]
            ));
        }
    }

    /// Whether the servers that have a resource have all that a queue is sure of.
    fn is_sure_beside(&self, part: &Part, r: usize) -> bool {
        let there = |server: &&Server| server.meets[part.place] && !server.capacity[r].is_zero();
        let has = |other: usize| {
            self.servers.iter().filter(there).map(|server| server.capacity[other].to_f64()).sum::<f64>()
        };
        let sure = |other: usize| part.guarantee.get(other).copied().flatten().map_or(0.0, Decimal::to_f64);
        (0..self.resources.len()).all(|other| sure(other) <= has(other))
    }

    /// Whether a queue keeps all that a place has of a resource.
    pub(super) fn keeps_whole(&self, part: &Part, r: usize) -> bool {
        let reserve = part.reserve.get(r).copied().flatten().filter(|reserve| !reserve.is_zero());
        reserve.is_some_and(|reserve| reserve.to_f64() >= self.totals[part.place][r])
    }

    /// What queues keep for themselves to the last of it, one by itself or those together in which nothing runs.
    fn kept_whole(&self) -> Vec<KeptWhole<'a>> {
        let mut kept = Vec::new();
        let mut idle: BTreeMap<(usize, usize), (f64, Vec<&Queue>)> = BTreeMap::new();
        for queue in self.queues {
            let is_idle = queue.work.as_ref().is_some_and(|work| work.tasks == 0);
            for part in &queue.parts {
                for r in 0..self.resources.len() {
                    if self.keeps_whole(part, r) {
                        kept.push(KeptWhole { by: vec![queue], place: part.place, r });
                    } else if let Some(reserve) =
                        above_zero(part.reserve.get(r).copied().flatten()).filter(|_| is_idle)
                    {
                        let (sum, by) = idle.entry((part.place, r)).or_default();
                        *sum += reserve.to_f64();
                        by.push(queue);
                    }
                }
            }
        }
        let whole = idle.into_iter().filter(|((place, r), (sum, _))| *sum >= self.totals[*place][*r]);
        kept.extend(whole.map(|((place, r), (_, by))| KeptWhole { by, place, r }));
        kept
    }

    /// Whether others than the queue and those above it keep all of something that its task needs.
    fn is_shut_out(&self, queue: usize, place: usize, task: &[Decimal], kept: &[KeptWhole<'_>]) -> bool {
        let is_own = |owner: &&Queue| self.upwards(queue).any(|above| std::ptr::eq(above, *owner));
        let is_in =
            |other: usize| self.servers.iter().all(|server| server.meets[other] || !server.meets[place]);
        kept.iter()
            .any(|KeptWhole { by, place: at, r }| !task[*r].is_zero() && is_in(*at) && !by.iter().any(is_own))
    }
}

/// Takes off a task what would keep its queue from what it is sure of: of a resource of which a part states a limit and no guarantee no more than the
/// limit holds when so many tasks run as the guarantees are for.
fn keep_guarantees(task: &mut [Decimal], part: &Part) {
    let stated =
        |amounts: &Stated, r: usize| above_zero(amounts.get(r).copied().flatten()).map(Decimal::to_f64);
    let asked = |r: &usize| !task[*r].is_zero();
    let runs =
        (0..task.len()).filter(asked).filter_map(|r| Some(stated(&part.guarantee, r)? / task[r].to_f64()));
    let tasks = runs.fold(f64::INFINITY, f64::min);
    if tasks == f64::INFINITY {
        return;
    }
    for r in 0..task.len() {
        let Some(most) = stated(&part.limit, r).filter(|_| stated(&part.guarantee, r).is_none()) else {
            continue;
        };
        if let Some(less) = rounded_down(most / tasks).filter(|less| less.to_f64() < task[r].to_f64()) {
            task[r] = less;
        }
    }
}
