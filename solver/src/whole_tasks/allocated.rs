//! How much of a resource whole tasks can take, any of which may be refused, from both sides.
//!
//! With all of the resource worth 1, a task is wanted for the part `w_i` of it that it takes. At any worth `z` of the pieces no placement
//! takes more than `Σ_l N_l V_l + Σ_i T_i max(0, w_i − Σ_k each_ik z_ik)`. The same patterns, found by the same searches, as for the
//! smallest share.

use super::devices_alone;
use super::dive::{Bounded, dive_from_bound};
use super::divisible::{divisible_values, is_large};
use super::fill::{Priority, fill};
use super::knapsack::Found;
use super::master::{Master, Mix, Want};
use super::packing::{MANY, Packing};
use super::patterns::Pattern;
use super::refill::refill;
use super::rounds::{self, Effort, Goal, Lengths, held, price};
use super::servers::Servers;
use super::worth::{SCALE, Worth, scaled};
use crate::merged_classes::greatest_common_divisor;
use crate::tolerance::whole_tasks::{CLOSE, UPWARDS};
use fairplan_instances::{
    AllocatedBracket, AllocationProof, Deadline, Instance, InstanceError, LimitedTasks, Placement,
    ResourceId, UserId,
};
use hashbrown::HashMap;
use std::cmp::Ordering;

/// The part of the time after which bounding ends, and of what is left then for whole servers of the mix.
const BOUNDING: f64 = 0.4;
const DIVING: f64 = 0.3;

/// First contents that are looked for may be worth this part less than divisible tasks.
const SEED: Effort = Effort { budget: 10_000, part: 1e-3, kept: usize::MAX };
const BELOW: f64 = 2e-3;

/// Tasks are worth nearly what they take, so that very many contents are worth nearly the same: long searches find little more.
const LENGTHS: Lengths =
    Lengths { first: 2_000, most: 200_000, long: 10_000, last: 20_000, parts: (1e-3, 1e-6), kept: 12 };

/// Tasks of a group that are looked at beyond those of the best mix.
const BEYOND: f64 = 3.0;

/// What all of the resource is worth in whole numbers.
const IN_ALL: u64 = SCALE as u64;

/// Brackets the most of a resource that whole tasks can take. Within a time limit bounding ends after a part of it, and the best
/// bracket so far is returned.
///
/// # Errors
/// Instances with rates or with numbers too long to count in whole tasks; a backend that broke.
pub fn allocated_bracket(
    instance: &Instance,
    resource: ResourceId,
    limit: &Deadline,
) -> Result<AllocatedBracket, InstanceError> {
    let packing = Packing::new(instance)?;
    let demand = Demand::new(instance, &packing, resource);
    let mut search = Search::new(&packing, &demand);
    let servers = packing.servers();
    for (s, shape) in packing.shapes.iter().enumerate().filter(|(_, shape)| !shape.kinds.is_empty()) {
        let classes = (0..servers.len()).filter(|l| shape.copies[*l] > 0);
        search.patterns.extend(classes.map(|l| Pattern::of_one_shape(&packing, l, s)));
    }
    let placement = if demand.groups.is_empty() {
        Placement {
            tasks: vec![0; instance.user_count()],
            servers: vec![Vec::new(); instance.server_count() as usize],
        }
    } else {
        search.run(&limit.after_part(BOUNDING))?;
        let servers = search.dive(&limit.after_part(DIVING))?;
        let dived = fill(instance, &packing, &demand, servers, limit);
        let taken = |placement: &Placement| placement.units_of(instance, resource);
        let is_closed =
            taken(&dived) >= most_units(instance.total_units(resource), search.bound, demand.step);
        let refilled = if is_closed { None } else { refilled(instance, &packing, &demand, limit) };
        refilled.filter(|refilled| taken(refilled) > taken(&dived)).unwrap_or(dived)
    };
    Ok(AllocatedBracket {
        resource,
        upper: most_units(instance.total_units(resource), search.bound, demand.step),
        proof: search.proof(),
        placement,
        truncated_searches: search.truncated_searches,
        rounds: search.rounds,
    })
}

/// A placement of whole tasks that takes much of a resource, without a bound: empty servers filled anew and anew. The same on every
/// machine unless time is over.
///
/// # Errors
/// As [`allocated_bracket`].
pub fn allocated_placement(
    instance: &Instance,
    resource: ResourceId,
    limit: &Deadline,
) -> Result<Placement, InstanceError> {
    let packing = Packing::new(instance)?;
    let demand = Demand::new(instance, &packing, resource);
    let unsupported = || InstanceError::Unsupported("servers are not filled anew with kinds of tasks".into());
    refilled(instance, &packing, &demand, limit).ok_or_else(unsupported)
}

/// The bracket around a placement with the bound that prices prove by themselves, those of devices alone or else those of divided tasks:
/// looser, and proved of each server in a moment. Where such prices take long, no more than that nobody has more than its tasks.
///
/// # Errors
/// As [`allocated_bracket`].
pub fn allocated_by_prices(
    instance: &Instance,
    resource: ResourceId,
    placement: Placement,
    limit: &Deadline,
) -> Result<AllocatedBracket, InstanceError> {
    let packing = Packing::new(instance)?;
    let demand = Demand::new(instance, &packing, resource);
    let mut search = Search::new(&packing, &demand);
    let wants = demand.wants(|group| group.tasks as f64);
    if let Some((mix, found)) = search.relaxed(&wants, limit).filter(|_| !demand.groups.is_empty()) {
        search.exclude(&mix, mix.worth(), &found);
    }
    Ok(AllocatedBracket {
        resource,
        upper: most_units(instance.total_units(resource), search.bound, demand.step),
        proof: search.proof(),
        placement,
        truncated_searches: 0,
        rounds: 0,
    })
}

/// Empty servers filled anew and anew with what takes of the resource, and then with the rest. Nothing where tasks have kinds: servers are
/// filled with tasks, not with pieces of which a task needs several.
fn refilled(instance: &Instance, packing: &Packing, demand: &Demand, stop: &Deadline) -> Option<Placement> {
    if instance.has_kinds() {
        return None;
    }
    let mut servers = Servers::new(packing, &packing.servers());
    let mut waiting = vec![0u64; packing.shapes.len()];
    for group in &demand.groups {
        group.pieces.iter().for_each(|(shape, _)| waiting[*shape as usize] += group.tasks);
    }
    refill(instance, packing, demand.resource, &mut servers, waiting, stop);
    Some(fill(instance, packing, demand, servers, stop))
}

/// The most units that are a multiple of `step` and at most the part `bound / IN_ALL` of all.
fn most_units(total: u128, bound: u128, step: u128) -> u128 {
    let in_all = u128::from(IN_ALL);
    let bound = bound.min(in_all);
    let units = total / in_all * bound + total % in_all * bound / in_all;
    units - units % step
}

/// Tasks of the same pieces that take as much of the resource.
struct Group {
    pieces: Vec<(u32, u64)>,
    /// In [`IN_ALL`], rounded up.
    worth: u64,
    tasks: u64,
}

/// What is asked for of the resource.
struct Demand {
    resource: ResourceId,
    groups: Vec<Group>,
    /// Of each user where it comes in the order of who takes most with a task; the most tasks first are served.
    rank: Vec<usize>,
    /// Whatever is taken is a multiple of so many units.
    step: u128,
}

impl Demand {
    fn new(instance: &Instance, packing: &Packing, resource: ResourceId) -> Self {
        let total = instance.total_units(resource).max(1);
        let units = |user: UserId| instance.user(user).demand_units(resource);
        let mut known: HashMap<_, usize> = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        let mut step = 0;
        let limited = LimitedTasks::of(instance);
        for user in instance.users() {
            let (pieces, taken) = (packing.pieces(user.index()), units(user.index()));
            if pieces.is_empty() || taken == 0 {
                continue;
            }
            step = greatest_common_divisor(step, taken.saturating_mul(user.at_once().into()));
            let group = *known.entry((pieces, taken)).or_insert_with(|| {
                groups.push(Group { pieces: pieces.to_vec(), worth: worth(taken, total), tasks: 0 });
                groups.len() - 1
            });
            let tasks = packing.most_within(&limited, user);
            groups[group].tasks = groups[group].tasks.saturating_add(tasks).min(MANY);
        }
        let mut order: Vec<UserId> = (0..instance.user_count()).map(UserId).collect();
        order.sort_by(|a, b| units(*b).cmp(&units(*a)).then(a.cmp(b)));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, user)| rank[user.0] = at);
        Self { resource, groups, rank, step: step.max(1) }
    }

    /// Tasks that are wanted one by one, each at most so often.
    fn wants(&self, most: impl Fn(&Group) -> f64) -> Vec<Want> {
        let want = |group: &Group| Want {
            worth: group.worth as f64 / SCALE,
            most: most(group),
            tasks: group.pieces.iter().map(|(shape, each)| (*shape, *each as f64)).collect(),
        };
        self.groups.iter().map(want).collect()
    }
}

/// `⌈IN_ALL taken / total⌉`.
fn worth(taken: u128, total: u128) -> u64 {
    // In lowest terms: units may be finer than what servers and tasks have.
    let unit = greatest_common_divisor(taken, total);
    let (taken, total) = (taken / unit, total / unit);
    let worth = match taken.checked_mul(u128::from(IN_ALL)) {
        Some(product) => product.div_ceil(total),
        // Both so long that the digits lost in them do not matter, rounded up.
        None => {
            (taken >> 46).saturating_add(1).saturating_mul(u128::from(IN_ALL)).div_ceil((total >> 46).max(1))
        }
    };
    worth.min(u128::from(u64::MAX)) as u64
}

/// Who takes most with a task is served first, and has all its tasks before the next.
impl Priority for Demand {
    fn compare(&self, (a, _): (UserId, u64), (b, _): (UserId, u64)) -> Ordering {
        self.rank[a.0].cmp(&self.rank[b.0])
    }

    fn tasks_at(&self, user: UserId, level: f64) -> u64 {
        if (self.rank[user.0] as f64) < level { MANY } else { 0 }
    }
}

/// What is known of the bound.
struct Search<'a> {
    packing: &'a Packing,
    demand: &'a Demand,
    /// In [`IN_ALL`].
    bound: u128,
    /// Of shapes and of merged classes.
    values: Vec<u64>,
    server_values: Vec<u64>,
    /// The patterns known, and the last program's mix of them and of the tasks of each group.
    patterns: Vec<Pattern>,
    servers: Vec<f64>,
    tasks: Vec<f64>,
    excess: f64,
    truncated_searches: u64,
    rounds: u64,
}

impl Goal for Search<'_> {
    fn is_met(&self, _: &Mix) -> bool {
        self.excess <= CLOSE
    }

    fn lengths(&self) -> Lengths {
        LENGTHS
    }

    fn reach(&self, mix: &Mix) -> f64 {
        self.had(mix).max(f64::MIN_POSITIVE).ln()
    }

    fn exclude(&mut self, mix: &Mix, worth: Worth<'_>, found: &[Found]) -> f64 {
        let values: Vec<u64> = scaled(worth.tasks).iter().map(|value| *value as u64).collect();
        let (server_values, held) = held(self.packing, &values, found);
        let bound = held + self.not_worth_their_room(&values);
        if bound < self.bound {
            (self.bound, self.values, self.server_values) = (bound, values, server_values);
        }
        self.excess = self.bound as f64 / SCALE / self.had(mix).max(f64::MIN_POSITIVE) - 1.0;
        self.excess
    }
}

impl<'a> Search<'a> {
    /// Knows that no more is taken than all tasks take; and where servers hold nothing else, all that they have.
    fn new(packing: &'a Packing, demand: &'a Demand) -> Self {
        let (values, server_values) = (vec![0; packing.shapes.len()], vec![0; packing.classes.len()]);
        let mut search = Self {
            packing,
            demand,
            bound: 0,
            values,
            server_values,
            patterns: Vec::new(),
            servers: Vec::new(),
            tasks: vec![0.0; demand.groups.len()],
            excess: f64::INFINITY,
            truncated_searches: 0,
            rounds: 0,
        };
        search.bound = search.not_worth_their_room(&search.values);
        search
    }

    /// What tasks are worth beyond their room.
    fn not_worth_their_room(&self, values: &[u64]) -> u128 {
        let beyond = |group: &Group| {
            let room = group
                .pieces
                .iter()
                .map(|(shape, each)| u128::from(values[*shape as usize]) * u128::from(*each));
            u128::from(group.worth).saturating_sub(room.sum()).saturating_mul(u128::from(group.tasks))
        };
        self.demand.groups.iter().map(beyond).fold(0, u128::saturating_add)
    }

    fn had(&self, mix: &Mix) -> f64 {
        self.demand.groups.iter().zip(&mix.wanted).map(|(group, had)| group.worth as f64 / SCALE * had).sum()
    }

    fn run(&mut self, stop: &Deadline) -> Result<(), InstanceError> {
        let wants = self.demand.wants(|group| group.tasks as f64);
        self.seed(&wants, stop);
        let servers = self.packing.servers();
        let packing = self.packing;
        let mut master = Master::new(packing, &wants, &servers, &vec![0.0; servers.len()]);
        let known = std::mem::take(&mut self.patterns);
        let ended = rounds::run(packing, &mut master, known, self, None, stop)?;
        (self.rounds, self.truncated_searches) = (ended.rounds, ended.truncated_searches);
        self.patterns = std::mem::take(&mut master.patterns);
        (self.tasks, self.servers) = (ended.mix.wanted, ended.mix.servers);
        Ok(())
    }

    /// What tasks are worth where nothing but devices counts; without these, what divisible tasks are worth; and the most that servers hold
    /// then. Nothing where that takes long: it is only a start or a stand-in, and what breaks the backend for good shows elsewhere.
    fn relaxed(&self, wants: &[Want], stop: &Deadline) -> Option<(Mix, Vec<Found>)> {
        let packing = self.packing;
        if is_large(packing) {
            return None;
        }
        let found = |bound: f64| Found { patterns: Vec::new(), bound, is_truncated: true };
        if let Ok(Some(mix)) = devices_alone::values(packing, self.demand.resource.0, wants, stop) {
            let values = scaled(&mix.values);
            let bounds = (0..packing.classes.len()).map(|l| devices_alone::bound(packing, l, &values));
            return Some((mix, bounds.map(found).collect()));
        }
        let mix = divisible_values(packing, wants, stop).ok()?;
        // No task is worth more than the room that it takes.
        let of_room = |value: &f64| found((value * SCALE * (1.0 + UPWARDS)).ceil());
        let rooms = mix.server_values.iter().map(of_room).collect();
        Some((mix, rooms))
    }

    /// Starts from these values.
    fn seed(&mut self, wants: &[Want], stop: &Deadline) {
        let Some((mix, found)) = self.relaxed(wants, stop) else { return };
        self.exclude(&mix, mix.worth(), &found);
        let below: Vec<f64> = mix.server_values.iter().map(|value| value * (1.0 - BELOW)).collect();
        let effort = Effort { kept: self.packing.shapes.len(), ..SEED };
        let found = price(self.packing, Worth { servers: &below, ..mix.worth() }, effort, None, stop);
        self.exclude(&mix, mix.worth(), &found);
        self.excess = f64::INFINITY;
        self.patterns.extend(found.into_iter().flat_map(|found| found.patterns));
    }

    fn dive(&self, stop: &Deadline) -> Result<Servers, InstanceError> {
        let mut left = vec![0u64; self.packing.shapes.len()];
        for (group, tasks) in self.demand.groups.iter().zip(&self.tasks) {
            let tasks = ((tasks + BEYOND) as u64).min(group.tasks);
            for (shape, each) in &group.pieces {
                left[*shape as usize] = left[*shape as usize].saturating_add(tasks.saturating_mul(*each));
            }
        }
        // Of a bundle of which some pieces are there the others are wanted, all that is left of each in proportion.
        let wants = |left: &[u64]| -> Vec<Want> {
            let left_of = |shape: u32| left[shape as usize] as f64;
            let most = |group: &Group| {
                let tasks = group.pieces.iter().map(|(shape, each)| left_of(*shape) / *each as f64);
                tasks.fold(0.0, f64::max).min(group.tasks as f64)
            };
            let mut wants = self.demand.wants(most);
            for want in wants.iter_mut().filter(|want| want.tasks.len() > 1 && want.most > 0.0) {
                let most = want.most;
                want.tasks.iter_mut().for_each(|(shape, each)| *each = each.min(left_of(*shape) / most));
                want.tasks.retain(|(_, each)| *each > 0.0);
            }
            wants
        };
        let Self { patterns, servers, server_values, .. } = self;
        dive_from_bound(self.packing, &mut left, &Bounded { patterns, servers, server_values }, &wants, stop)
    }

    fn proof(&self) -> AllocationProof {
        let (task_values, server_values) = self.packing.in_instance_order(&self.values, &self.server_values);
        AllocationProof { task_values, server_values, values_in_all: IN_ALL }
    }
}
