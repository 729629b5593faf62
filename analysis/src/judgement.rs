//! What a placement leaves: who waits, what is free where nothing that waits fits, which servers hold nothing; and where it
//! breaks a rule.

use fairplan_instances::{
    ClassId, Decimal, Instance, Kind, KindId, LimitRoom, Placement, ResourceId, ServerNames, User,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What a placement leaves, and where it breaks a rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Users with a number of tasks, some of which wait.
    pub waiting: Vec<WaitingTasks>,
    /// What is free on servers on which no waiting task fits, by class and resource, where it is anything. Nothing is stranded
    /// where nothing waits. Whether a task fits is a matter of amounts: devices and other rules may strand more.
    pub stranded: Vec<StrandedCapacity>,
    /// Whether more may be stranded, because there are limits, or rules that only whole tasks meet, of which amounts say nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stranded_at_least: bool,
    /// Servers without a task.
    pub empty_servers: u64,
    /// The tasks that run need at least so many servers: those of the largest capacity that together have what they use.
    pub servers_needed_at_least: u64,
    /// So many servers with tasks were found that can be emptied one after the other, their tasks going where there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_servers: Option<u64>,
    /// The tasks that move for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_by_moving: Option<u64>,
    /// No steps can empty more servers with tasks: the others are needed at least. Absent where a server holds more than it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_servers_at_most: Option<u64>,
    /// Servers that hold more than they have. Empty for every policy.
    pub over_committed: Vec<OverCommitted>,
    /// Limits of which more is taken, and reserves that are not left. Empty for every policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_limits: Vec<OverLimit>,
    /// Tasks on servers on which their user may not run. Empty for every policy.
    pub misplaced: Vec<MisplacedTasks>,
    /// Rules that only whole tasks meet and that are broken: devices, tasks a server, gangs and their domains, spread. Empty for every
    /// policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_rules: Vec<BrokenRule>,
    /// Pieces of kinds of tasks that make no whole task with the others: they take room and count in no share. Empty for every policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<LoosePieces>,
}

/// A rule that only whole tasks meet, broken at least once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrokenRule {
    /// `devices`, `per-server`, `gangs`, `gangs-in-domains` or `spread`.
    pub rule: String,
    /// Where it is broken first.
    pub first: String,
}

/// Pieces that belong to no whole task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoosePieces {
    /// The user's id.
    pub user: String,
    /// Which of its kinds.
    pub kind: String,
    /// How many pieces there are beyond those of its whole tasks.
    pub pieces: u64,
}

/// Tasks of a user that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitingTasks {
    /// The user's id.
    pub user: String,
    /// How many of its tasks have no server.
    pub tasks: u64,
}

/// Capacity that nothing that waits can use where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrandedCapacity {
    /// The server class.
    pub class: String,
    /// The resource.
    pub resource: String,
    /// How much of it, over the servers of the class.
    pub amount: f64,
    /// The part of the whole cluster's capacity of the resource.
    pub part: f64,
}

/// A server that holds more of a resource than it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverCommitted {
    /// What the server is called.
    pub server: String,
    /// The resource.
    pub resource: String,
    /// What its tasks ask for.
    pub used: f64,
    /// What it has.
    pub capacity: f64,
}

/// A limit of which more is taken than there is, or a reserve that others have a part of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverLimit {
    /// Whose it is: `group web`, or `user shop`.
    pub owner: String,
    /// The server classes that it covers; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// The resource.
    pub resource: String,
    /// What its owner takes of it; of a reserve what all others take.
    pub used: f64,
    /// The most that may be.
    pub most: f64,
    /// What is reserved, if it is a reserve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<f64>,
}

/// Tasks on a server on which their user may not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MisplacedTasks {
    /// What the server is called.
    pub server: String,
    /// The user's id.
    pub user: String,
    /// Which of its kinds of tasks, where it has kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How many tasks, or pieces of the kind.
    pub tasks: u64,
}

impl Judgement {
    /// Looks at a placement, in whole numbers. Which rules that only whole tasks meet it breaks is for the checker to say.
    pub fn new(instance: &Instance, placement: &Placement, broken_rules: Vec<BrokenRule>) -> Self {
        let m = instance.resources().len();
        let names = ServerNames::new(instance);
        let waiting = waiting(instance, placement);
        let mut judged = Self { waiting, broken_rules, ..Self::default() };
        let mut states: HashMap<(ClassId, Vec<u128>), u64> = HashMap::new();
        let mut used = vec![0u128; m];
        for ((class, tasks), server) in instance.classes_of_servers().zip(&placement.servers).zip(0..) {
            judged.empty_servers += u64::from(tasks.is_empty());
            let load = load(instance, tasks);
            for &(kind, count) in tasks {
                let kind = instance.kind(KindId(kind as usize));
                if !kind.rule().allows(class) {
                    judged.misplaced.push(MisplacedTasks {
                        server: names.name(server).into_owned(),
                        user: kind.user().id().into(),
                        kind: kind.id().map(Into::into),
                        tasks: count,
                    });
                }
            }
            let mut free = Vec::with_capacity(m);
            for (r, load) in load.into_iter().enumerate() {
                let capacity = instance.capacity_units(class, ResourceId(r));
                used[r] = used[r].saturating_add(load);
                free.push(capacity.saturating_sub(load));
                if load > capacity {
                    judged.over_committed.push(OverCommitted {
                        server: names.name(server).into_owned(),
                        resource: instance.resources()[r].clone(),
                        used: amount(instance, r, load),
                        capacity: amount(instance, r, capacity),
                    });
                }
            }
            *states.entry((class, free)).or_default() += 1;
        }
        judged.over_limits = over_limits(instance, placement);
        judged.loose = loose(instance, placement);
        judged.stranded = stranded(instance, placement, &states);
        judged.stranded_at_least = instance.has_server_rules() || !instance.limit_rows().is_empty();
        judged.servers_needed_at_least = needed(instance, &used);
        judged
    }

    /// With how many servers of `of` were emptied by moving how many tasks.
    pub fn with_emptied(self, of: &Placement, servers: u64, moving: u64) -> Self {
        let used = of.servers.len() as u64 - self.empty_servers;
        let most = self.over_committed.is_empty().then(|| used.saturating_sub(self.servers_needed_at_least));
        Self {
            emptied_servers: Some(servers),
            emptied_by_moving: Some(moving),
            emptied_servers_at_most: most,
            ..self
        }
    }

    /// Whether no server holds more than it has, no task is where it may not be, and limits and rules of whole tasks are kept: only
    /// then do bounds hold for it.
    pub fn is_valid(&self) -> bool {
        self.over_committed.is_empty()
            && self.misplaced.is_empty()
            && self.over_limits.is_empty()
            && self.broken_rules.is_empty()
    }

    /// How many servers hold more than they have of something.
    pub fn over_committed_servers(&self) -> u64 {
        let mut servers: Vec<&str> = self.over_committed.iter().map(|over| over.server.as_str()).collect();
        servers.dedup();
        servers.len() as u64
    }

    /// The part of the whole cluster's capacity of a resource that is stranded.
    pub fn stranded_part(&self, resource: &str) -> f64 {
        let of = self.stranded.iter().filter(|stranded| stranded.resource == resource);
        // The sum of nothing is a zero below zero.
        of.map(|stranded| stranded.part).sum::<f64>() + 0.0
    }
}

fn over_limits(instance: &Instance, placement: &Placement) -> Vec<OverLimit> {
    let told = |(j, taken): (usize, u128)| {
        let row = &instance.limit_rows()[j];
        let id = |class: &ClassId| instance.classes()[class.0].id.clone();
        OverLimit {
            owner: instance.name_of(row.owner),
            classes: row.classes.as_ref().map(|classes| classes.iter().map(id).collect()),
            resource: instance.resources()[row.resource.0].clone(),
            used: amount(instance, row.resource.0, taken),
            most: row.amount.to_f64(),
            reserve: row.reserve.map(Decimal::to_f64),
        }
    };
    LimitRoom::of(instance, placement).broken(instance).map(told).collect()
}

fn loose(instance: &Instance, placement: &Placement) -> Vec<LoosePieces> {
    let told = |(kind, pieces)| {
        let kind = instance.kind(kind);
        LoosePieces { user: kind.user().id().into(), kind: kind.id().unwrap_or_default().into(), pieces }
    };
    if !instance.has_kinds() {
        return Vec::new();
    }
    placement.loose_pieces(instance).into_iter().map(told).collect()
}

fn load(instance: &Instance, tasks: &[(u32, u64)]) -> Vec<u128> {
    let mut load = vec![0u128; instance.resources().len()];
    for &(kind, count) in tasks {
        let kind = instance.kind(KindId(kind as usize));
        for (r, load) in load.iter_mut().enumerate() {
            let units = kind.piece_units(ResourceId(r)).saturating_mul(u128::from(count));
            *load = load.saturating_add(units);
        }
    }
    load
}

fn waiting(instance: &Instance, placement: &Placement) -> Vec<WaitingTasks> {
    let waits = |user: User<'_>| {
        let tasks = placement.waiting(user).filter(|tasks| *tasks > 0)?;
        Some(WaitingTasks { user: user.id().into(), tasks })
    };
    instance.users().filter_map(waits).collect()
}

/// What is free where nothing that waits fits; `states` says how many servers of a class have so much free.
fn stranded(
    instance: &Instance,
    placement: &Placement,
    states: &HashMap<(ClassId, Vec<u128>), u64>,
) -> Vec<StrandedCapacity> {
    let m = instance.resources().len();
    let waits = || instance.users().filter(|user| placement.waiting(*user) != Some(0));
    if waits().next().is_none() {
        return Vec::new();
    }
    // Where a piece fits, so does every smaller one: of each rule only the least demands matter.
    let mut least: Vec<Vec<Vec<u128>>> = vec![Vec::new(); instance.rules().len()];
    for kind in waits().flat_map(User::kinds) {
        let demand: Vec<u128> = (0..m).map(|r| Kind::piece_units(kind, ResourceId(r))).collect();
        let least = &mut least[kind.rule_id().0];
        if !least.iter().any(|smaller| fits(smaller, &demand)) {
            least.retain(|larger| !fits(&demand, larger));
            least.push(demand);
        }
    }
    let mut amounts: BTreeMap<(ClassId, usize), u128> = BTreeMap::new();
    for ((class, free), servers) in states {
        let rules = instance.rules().iter().zip(&least).filter(|(rule, _)| rule.allows(*class));
        if rules.flat_map(|(_, least)| least).any(|demand| fits(demand, free)) {
            continue;
        }
        for (r, free) in free.iter().enumerate().filter(|(_, free)| **free > 0) {
            let sum = amounts.entry((*class, r)).or_default();
            *sum = sum.saturating_add(free.saturating_mul(u128::from(*servers)));
        }
    }
    let told = |((class, r), units): ((ClassId, usize), u128)| StrandedCapacity {
        class: instance.classes()[class.0].id.clone(),
        resource: instance.resources()[r].clone(),
        amount: amount(instance, r, units),
        part: units as f64 / instance.total_units(ResourceId(r)) as f64,
    };
    amounts.into_iter().map(told).collect()
}

fn fits(demand: &[u128], free: &[u128]) -> bool {
    demand.iter().zip(free).all(|(demand, free)| demand <= free)
}

/// So many servers of each resource's largest are needed to have what is used of it; the most over the resources.
fn needed(instance: &Instance, used: &[u128]) -> u64 {
    let of = |(r, used): (usize, &u128)| {
        let capacity = |l: usize| instance.capacity_units(ClassId(l), ResourceId(r));
        let mut sizes: Vec<(u128, u64)> =
            instance.classes().iter().enumerate().map(|(l, class)| (capacity(l), class.count)).collect();
        sizes.sort_unstable_by_key(|(capacity, _)| std::cmp::Reverse(*capacity));
        let (mut rest, mut servers) = (*used, 0u64);
        for (capacity, count) in sizes.into_iter().filter(|(capacity, _)| *capacity > 0) {
            let wanted = u64::try_from(rest.div_ceil(capacity)).unwrap_or(u64::MAX).min(count);
            servers += wanted;
            rest = rest.saturating_sub(capacity.saturating_mul(u128::from(wanted)));
        }
        servers
    };
    used.iter().enumerate().map(of).max().unwrap_or(0)
}

/// So many smallest units of a resource as a number.
fn amount(instance: &Instance, r: usize, units: u128) -> f64 {
    let text = format!("{units}e{}", instance.unit_exponent(ResourceId(r)));
    text.parse().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Draft, DraftUser, ServerClass};

    /// Two servers of 4 cpu and 8 memory called a and b, one of 2 cpu and 2 memory; `tall` needs 1 and 4, `wide` 2 and 1.
    fn instance(tasks: [Option<u64>; 2]) -> Instance {
        let decimals = |numbers: [&str; 2]| numbers.map(|number| number.parse().unwrap()).to_vec();
        let user = |id: &str, demand, tasks| DraftUser {
            profile: None,
            id: id.into(),
            demand: decimals(demand),
            weight: "1".parse().unwrap(),
            tasks,
            eligible: None,
            rates: Vec::new(),
            group: None,
            kinds: Vec::new(),
            per_server: None,
            gang: None,
            spread: None,
        };
        let mut large = ServerClass::new("large", 2, decimals(["4", "8"]));
        large.names = vec!["a".into(), "b".into()];
        let mut wide = user("wide", ["2", "1"], tasks[1]);
        wide.eligible = Some(vec![0]);
        Draft {
            device_profiles: Vec::new(),
            name: String::new(),
            resources: vec!["cpu".into(), "memory".into()],
            classes: vec![large, ServerClass::new("small", 1, decimals(["2", "2"]))],
            groups: Vec::new(),
            quotas: Vec::new(),
            measured_by: None,
            users: vec![user("tall", ["1", "4"], tasks[0]), wide],
        }
        .build()
        .unwrap()
    }

    fn judged(instance: &Instance, servers: [&[(u32, u64)]; 3]) -> Judgement {
        let mut tasks = vec![0; 2];
        servers.iter().copied().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
        let servers = servers.map(<[_]>::to_vec).into();
        Judgement::new(instance, &Placement { tasks, servers }, Vec::new())
    }

    #[test]
    fn what_is_free_is_stranded_only_where_nothing_that_waits_fits() {
        let instance = instance([Some(3), Some(1)]);
        // Server a has 2 and 0 free, b everything; the small one is too small for tall and not for wide.
        let judged = judged(&instance, [&[(0, 2)], &[], &[]]);
        let waiting: Vec<_> = judged.waiting.iter().map(|user| (user.user.as_str(), user.tasks)).collect();
        assert_eq!(waiting, [("tall", 1), ("wide", 1)]);
        let stranded: Vec<_> =
            judged.stranded.iter().map(|s| (s.class.as_str(), s.resource.as_str(), s.amount)).collect();
        assert_eq!(stranded, [("large", "cpu", 2.0), ("small", "cpu", 2.0), ("small", "memory", 2.0)]);
        assert_eq!(judged.stranded_part("memory"), 2.0 / 18.0);
        assert_eq!((judged.empty_servers, judged.servers_needed_at_least), (2, 1));
        assert!(judged.is_valid());
    }

    #[test]
    fn where_nothing_waits_nothing_is_stranded() {
        let instance = instance([Some(2), Some(1)]);
        let judged = judged(&instance, [&[(0, 2)], &[(1, 1)], &[]]);
        assert_eq!((judged.waiting.len(), judged.stranded.len()), (0, 0));
        assert_eq!(
            (judged.empty_servers, judged.servers_needed_at_least),
            (1, 2),
            "9 of memory need two servers"
        );
    }

    #[test]
    fn servers_with_too_much_and_tasks_where_they_may_not_be_are_named() {
        let instance = instance([None, None]);
        let judged = judged(&instance, [&[(0, 3)], &[], &[(1, 2)]]);
        let over: Vec<_> = judged
            .over_committed
            .iter()
            .map(|o| (o.server.as_str(), o.resource.as_str(), o.used, o.capacity))
            .collect();
        assert_eq!(over, [("a", "memory", 12.0, 8.0), ("small/1", "cpu", 4.0, 2.0)]);
        assert_eq!(judged.over_committed_servers(), 2);
        let misplaced: Vec<_> =
            judged.misplaced.iter().map(|m| (m.server.as_str(), m.user.as_str(), m.tasks)).collect();
        assert_eq!(misplaced, [("small/1", "wide", 2)]);
        assert!(!judged.is_valid());
    }
}
