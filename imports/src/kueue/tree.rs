//! Cohorts, ClusterQueues, LocalQueues and workloads as one tree of queues, with what each is given at each place.

use super::found::{ClusterQueue, Found, Sums, Workload};
use super::lending::{Account, Lending, Member};
use super::objects::Amount;
use super::options::{KueueOptions, QueueLevel, QueueWeights};
use super::places::{Flavors, Places, QueuePlaces};
use super::room::Room;
use crate::amounts::Stated;
use crate::queues::{Part, Queue, Work};
use crate::report::ImportReport;
use crate::servers::{Memory, shape};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Decimal, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// All that the tree is made of.
pub(super) struct Tree<'a> {
    pub(super) found: &'a Found,
    pub(super) places: &'a Places,
    pub(super) resources: &'a [String],
    pub(super) lending: &'a Lending,
    pub(super) room: &'a Room,
}

impl Tree<'_> {
    /// The queues: cohorts, then ClusterQueues, then what is below them.
    pub(super) fn queues(
        &self,
        options: &KueueOptions,
        report: &mut ImportReport,
    ) -> Result<Vec<Queue>, Violation> {
        let Found { cohorts, queues, locals, workloads, states_workloads, .. } = self.found;
        let mut tree = Vec::new();
        for (position, cohort) in cohorts.iter().enumerate() {
            let weight = match options.weights {
                QueueWeights::FairSharing => cohort.weight,
                QueueWeights::Quota => {
                    let accounts = self.lending.of_cohort(position);
                    let own = accounts.map(|(key, account)| (key.clone(), account.nominal())).collect();
                    self.dominant(&cohort.pool, &own)
                }
            };
            let (name, parent) = (cohort.name.clone(), cohort.parent);
            let parts = self.cohort_parts(position, report)?;
            tree.push(Queue { name, parent, weight, parts, is_above: true, ..Queue::default() });
        }
        for (position, queue) in queues.iter().enumerate() {
            let is_above = options.users == QueueLevel::LocalQueue;
            if is_above && locals.iter().all(|local| local.of != position) {
                let told = match self.found.stopped_below.contains(&position) {
                    true => "cluster queues left out: all local queues that name them are stopped",
                    false => "cluster queues left out: no local queue names them",
                };
                report.named(told, &queue.name);
                continue;
            }
            let weight = match options.weights {
                QueueWeights::FairSharing => queue.weight,
                QueueWeights::Quota => {
                    let own = queue.amounts.iter().map(|amount| (of(amount), amount.nominal)).collect();
                    self.dominant(&queue.pool, &own)
                }
            };
            let places = &self.places.of_queues[position];
            self.tell_of_shared_limits(queue, &places.quotas, report);
            let running = self.running(position, places, &places.tasks)?;
            let bare: Vec<Part> = running.iter().map(|part| self.without_amounts(part)).collect();
            let parts = match places.are_apart() {
                true => self.given(position, &places.quotas)?,
                false => running.clone(),
            };
            let (name, parent) = (queue.name.clone(), queue.cohort);
            let own = tree.len();
            tree.push(Queue { name, parent, weight, parts, is_above, ..Queue::default() });
            let mut holders = vec![(own, None)];
            if is_above {
                holders.clear();
                for (at, local) in locals.iter().enumerate().filter(|(_, local)| local.of == position) {
                    let (name, weight) = (local.name.clone(), local.weight);
                    holders.push((tree.len(), Some(at)));
                    let (parent, parts) = (Some(own), bare.clone());
                    tree.push(Queue { name, parent, weight, parts, ..Queue::default() });
                }
            }
            for (holder, local) in holders {
                let mine = workloads.iter().filter(|work| match local {
                    Some(local) => work.local == local,
                    None => locals[work.local].of == position,
                });
                let mut shapes: BTreeMap<(Vec<Quantity>, Flavors), u64> = BTreeMap::new();
                for work in mine {
                    let asked = |name: &String| work.requests.get(name).copied().unwrap_or_default();
                    let demand: Vec<Quantity> = self.resources.iter().map(asked).collect();
                    let (at, all) = self.places_of(work, places, queue);
                    let name = &tree[holder].name;
                    if demand.iter().all(|amount| amount.is_zero()) {
                        report.add(work.count, "pods left out: they ask for nothing that a quota is of");
                    } else if at.is_empty() && !all.is_empty() {
                        let told = "pods left out: no node is of the flavors that they may take";
                        report.named_times(work.count, told, name);
                    } else {
                        *shapes.entry((demand, at)).or_default() += work.count;
                    }
                }
                if shapes.is_empty() && *states_workloads {
                    report.one("queues in which nothing runs or waits");
                    tree[holder].work = Some(Work { demand: None, tasks: 0 });
                }
                // Where a quota is of several combinations, these are below who has it.
                if shapes.is_empty() && holder == own && places.are_apart() {
                    let tasks = tree[holder].work.take().map(|work| work.tasks);
                    for (part, bare) in running.iter().zip(&bare) {
                        let name = format!("{}@{}", queue.name, self.places.names[part.place]);
                        let (parent, weight, parts) = (Some(own), self.weight_of(part), vec![bare.clone()]);
                        let work = tasks.map(|tasks| Work { demand: None, tasks });
                        tree.push(Queue { name, parent, weight, parts, work, ..Queue::default() });
                    }
                }
                for ((demand, at), tasks) in shapes {
                    let amount_of = |name: &str| self.resources.iter().position(|own| own == name);
                    let groups =
                        queue.groups_of(|name| amount_of(name).is_some_and(|r| !demand[r].is_zero()));
                    let chosen = match at == *places.of(&groups) {
                        true => String::new(),
                        false => format!("@{}", self.named(&at)),
                    };
                    let at = self.running(position, places, &at)?;
                    let parts = at.iter().map(|part| self.without_amounts(part)).collect();
                    let demand = demand.into_iter().map(|amount| self.exact(&tree[holder].name, amount));
                    let demand = demand.collect::<Result<Vec<Decimal>, Violation>>()?;
                    let asked = shape(self.resources, &demand, Memory::Bytes);
                    let name = format!("{}:{asked}{chosen}", tree[holder].name);
                    let parent = Some(holder);
                    let work = Some(Work { demand: Some(demand), tasks });
                    tree.push(Queue { name, parent, weight: 1.0, parts, work, ..Queue::default() });
                }
            }
        }
        Ok(tree)
    }

    /// Where pods run that ask for what they do: at the places with a flavor that they may take of each group; and all places of those
    /// groups.
    fn places_of<'p>(
        &self,
        work: &Workload,
        places: &'p QueuePlaces,
        queue: &ClusterQueue,
    ) -> (Flavors, &'p Flavors) {
        let groups = work.groups_asked(queue, self.resources);
        let all = places.of(&groups);
        let may_take = |there: &BTreeSet<String>| queue.has_one_of_each(&groups, &work.flavors, there);
        let at = all.iter().filter(|(_, there)| may_take(there));
        (at.map(|(place, there)| (*place, there.clone())).collect(), all)
    }

    /// What places are called together.
    fn named(&self, at: &Flavors) -> String {
        at.keys().map(|place| self.places.names[*place].as_str()).collect::<Vec<_>>().join("|")
    }

    /// The largest part that amounts are of all quotas of the pool.
    fn dominant(&self, pool: &str, own: &Sums) -> f64 {
        let Found { cohorts, queues, .. } = self.found;
        let of_queues = queues.iter().filter(|queue| queue.pool == pool).flat_map(|queue| &queue.amounts);
        let of_cohorts =
            cohorts.iter().filter(|cohort| cohort.pool == pool).flat_map(|cohort| &cohort.amounts);
        let (mut all, mut mine): (BTreeMap<&str, Quantity>, BTreeMap<&str, Quantity>) = Default::default();
        for amount in of_queues.chain(of_cohorts) {
            let sum = all.entry(&amount.resource).or_default();
            *sum = sum.plus(amount.nominal);
        }
        for ((_, resource), amount) in own {
            let sum = mine.entry(resource).or_default();
            *sum = sum.plus(*amount);
        }
        let part = |(resource, amount): (&&str, &Quantity)| {
            let whole = all.get(resource).filter(|whole| !whole.is_zero());
            whole.map_or(0.0, |whole| amount.part_of(*whole))
        };
        mine.iter().map(part).fold(0.0, f64::max)
    }

    /// Says which borrowing limits of a queue do not hold, because several of its flavors are one place.
    fn tell_of_shared_limits(&self, queue: &ClusterQueue, at: &Flavors, report: &mut ImportReport) {
        let limited = |amount: &&Amount| queue.cohort.is_some() && amount.borrowing.is_some();
        for amount in
            queue.amounts.iter().filter(limited).filter(|amount| self.resources.contains(&amount.resource))
        {
            let is_same_place = |other: &&Amount| {
                other.resource == amount.resource
                    && other.flavor != amount.flavor
                    && at
                        .values()
                        .any(|flavors| flavors.contains(&amount.flavor) && flavors.contains(&other.flavor))
            };
            if queue.amounts.iter().any(|other| is_same_place(&other)) {
                report.named(
                    "borrowing limits of one of several flavors that are one place here: they hold for these flavors together only",
                    &format!("{} ({} of {})", queue.name, amount.resource, amount.flavor),
                );
            }
        }
    }

    /// What a queue is given at some places, of the flavors that it has there, in the proportions of its own quotas.
    fn given(&self, position: usize, at: &Flavors) -> Result<Vec<Part>, Violation> {
        let queue = &self.found.queues[position];
        let mut parts: Vec<Part> = Vec::new();
        for (&place, flavors) in at {
            let mut part = Part::new(place, self.resources.len());
            let mut shape = part.guarantee.clone();
            for (r, resource) in self.resources.iter().enumerate() {
                let is_own =
                    |amount: &&Amount| amount.resource == *resource && flavors.contains(&amount.flavor);
                let account = |amount| self.lending.account(Member::Queue(position), &of(amount));
                let own: Vec<Account> = queue.amounts.iter().filter(is_own).map(account).collect();
                if own.is_empty() {
                    continue;
                }
                shape[r] = Some(self.exact(&queue.name, total(&own, Account::nominal))?);
                // Of what a queue without tasks keeps its cohort is sure of nothing, and nobody in it.
                let is_in_vain = queue.cohort.is_some_and(|cohort| {
                    let of_cohort =
                        |amount: &Amount| self.lending.account(Member::Cohort(cohort), &of(amount));
                    let around: Vec<Account> = queue.amounts.iter().filter(is_own).map(of_cohort).collect();
                    self.found.cohorts[cohort].parent.is_some() && total(&around, Account::sure).is_zero()
                });
                part.guarantee[r] = shape[r].filter(|sure| !is_in_vain || sure.is_zero());
                let is_alone = queue.cohort.is_none() && self.places.shared[place][r];
                part.limit[r] = self.most(&queue.name, &own, (place, r), is_alone)?;
                let of_pool: BTreeSet<usize> =
                    flavors.iter().filter_map(|flavor| self.places.of_flavor(&queue.pool, flavor)).collect();
                let is_elsewhere = |pool: &usize| *pool != place && self.room.is_short(*pool, r);
                let kept = match of_pool.iter().any(is_elsewhere) {
                    true => Quantity::default(),
                    false => self.room.kept((place, r), &own),
                };
                part.reserve[r] = Some(self.exact(&queue.name, kept)?);
            }
            part.shape = Some(shape);
            parts.push(part);
        }
        Ok(parts)
    }

    /// Where some tasks of a queue run and in which proportions they ask for what; what it is given there counts where its flavors are.
    fn running(&self, position: usize, at: &QueuePlaces, tasks: &Flavors) -> Result<Vec<Part>, Violation> {
        let queue = &self.found.queues[position];
        let mut parts = self.given(position, tasks)?;
        for (part, flavors) in parts.iter_mut().zip(tasks.values()) {
            let covered = || (0..self.resources.len()).filter(|r| part.guarantee[*r].is_some());
            let mut asked: Vec<usize> =
                covered().filter(|r| queue.asks_for(&self.resources[*r], flavors)).collect();
            if asked.is_empty() {
                asked = covered().collect();
            }
            // Without a quota of its own a queue may borrow of what the others have.
            let has_none = |r: &usize| part.guarantee[*r].is_none_or(Decimal::is_zero);
            if asked.iter().any(has_none) {
                part.shape = Some(self.shape_of_others(part.place, &asked));
            }
            let is_left = |r: &usize| {
                has_none(r)
                    && !asked.contains(r)
                    && self.all_of(part.place, *r) > 0.0
                    && queue.may_borrow_of(&self.resources[*r], flavors)
            };
            part.none_of = covered().filter(is_left).collect();
            let of_queue = at.quotas.iter().filter(|(_, others)| !flavors.is_disjoint(others));
            let of_pool = flavors.iter().filter_map(|flavor| self.places.of_flavor(&queue.pool, flavor));
            part.within = of_queue.map(|(place, _)| *place).chain(of_pool).collect();
        }
        Ok(parts)
    }

    /// Among the combinations of flavors of a queue: the largest part of its nodes that the quotas of one are.
    fn weight_of(&self, part: &Part) -> f64 {
        let of_all = |(r, amount): (usize, &Option<Decimal>)| {
            let all = self.all_of(part.place, r);
            amount.filter(|_| all > 0.0).map_or(0.0, |amount| amount.to_f64() / all)
        };
        let part = part.guarantee.iter().enumerate().map(of_all).fold(0.0, f64::max);
        if part > 0.0 { part } else { 1.0 }
    }

    /// What the servers of a place have of a resource.
    fn all_of(&self, place: usize, r: usize) -> f64 {
        let there = self.places.servers.iter().filter(|server| server.meets[place]);
        there.map(|server| server.capacity[r].to_f64()).sum()
    }

    /// What the servers of a place have of some resources.
    fn shape_of_others(&self, place: usize, covered: &[usize]) -> Stated {
        let of = |r: usize| Some(self.all_of(place, r)).filter(|all| covered.contains(&r) && *all > 0.0);
        (0..self.resources.len()).map(|r| of(r).and_then(crate::amounts::rounded)).collect()
    }

    /// What a cohort is given: what it and all below have, but for what idle members keep, unless it is above all, and its own limits.
    fn cohort_parts(&self, position: usize, report: &mut ImportReport) -> Result<Vec<Part>, Violation> {
        let cohort = &self.found.cohorts[position];
        let place_of = |flavor: &str| self.places.of_flavor(&cohort.pool, flavor);
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        let lost = cohort.amounts.iter().filter(|amount| place_of(&amount.flavor).is_none()).count() as u64;
        report.add(lost, "quotas of cohorts left out: no queue with a quota uses their flavor");
        for (r, resource) in self.resources.iter().enumerate() {
            let mut held: BTreeMap<usize, Vec<Account>> = BTreeMap::new();
            let accounts = self.lending.of_cohort(position).filter(|((_, other), _)| other == resource);
            for ((flavor, _), account) in accounts {
                if let Some(place) = place_of(flavor) {
                    held.entry(place).or_default().push(account);
                }
            }
            for (place, held) in held {
                let part = parts.entry(place).or_insert_with(|| {
                    let part = Part::new(place, self.resources.len());
                    Part { shape: Some(part.guarantee.clone()), ..part }
                });
                // What no flavor of a place covers nobody may use there.
                if let Some(shape) = &mut part.shape {
                    shape[r] = Some(self.exact(&cohort.name, total(&held, Account::nominal))?);
                }
                let is_top = cohort.parent.is_none();
                let of_pool = is_top && self.places.shared[place][r];
                let most = self.most(&cohort.name, &held, (place, r), of_pool)?;
                // Where the cohort has nothing to run but what is kept for queues without tasks, no queue with tasks may have any.
                part.limit[r] = most.filter(|most| !most.is_zero());
                if !is_top {
                    part.guarantee[r] = Some(self.exact(&cohort.name, total(&held, Account::sure))?);
                    let kept = self.room.kept((place, r), &held);
                    part.reserve[r] = Some(self.exact(&cohort.name, kept)?);
                }
            }
        }
        Ok(parts.into_values().collect())
    }

    /// The most that a member may have by its accounts of some quotas; none where that is no less than its cohort may have, or without one all there
    /// is, unless it is stated of the pool.
    fn most(
        &self,
        name: &str,
        accounts: &[Account],
        (place, r): (usize, usize),
        of_pool: bool,
    ) -> Result<Option<Decimal>, Violation> {
        let of = if self.room.is_kept_of_limits(place, r) { Account::most } else { Account::most_used };
        let most = total(accounts, of);
        let has_none = most.is_zero() && self.all_of(place, r) > 0.0;
        let counts = of_pool || has_none || most < total(accounts, Account::around);
        counts.then(|| self.exact(name, most)).transpose()
    }

    fn without_amounts(&self, part: &Part) -> Part {
        let (shape, none_of, within) = (part.shape.clone(), part.none_of.clone(), part.within.clone());
        Part { shape, none_of, within, ..Part::new(part.place, self.resources.len()) }
    }

    fn exact(&self, queue: &str, amount: Quantity) -> Result<Decimal, Violation> {
        amount.decimal().ok_or_else(|| Violation::new(queue, "", "has a quota of too many digits"))
    }
}

fn total(accounts: &[Account], of: fn(&Account) -> Quantity) -> Quantity {
    accounts.iter().map(of).fold(Quantity::default(), Quantity::plus)
}

fn of(amount: &Amount) -> (String, String) {
    (amount.flavor.clone(), amount.resource.clone())
}
