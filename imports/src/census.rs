//! Servers and tasks found one by one become classes and users: servers that nothing tells apart are a class.

use super::queues::Stated;
use super::report::ImportReport;
use fairplan_instances::wording::agreeing;
use fairplan_instances::{
    ClassId, Decimal, Draft, DraftUser, Gang, Instance, InstanceBuilder, NewGroup, NewUser, Owner, Placement,
    PlacementRule, Quota, ResourceId, ServerClass, ServerTasks, Violation,
};
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use std::str::FromStr;

/// Who becomes a user of the instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskGrouping {
    /// Each owner of tasks; its demand is the mean request over its tasks, exact, then rounded to twelve
    /// significant digits, halves up.
    User,
    /// Each different request of each owner, as `OWNER:cpu2-memory4Gi`; the demand is the request.
    Shape,
    /// The same, and each owner is a group: however many its users are, they share one weight.
    #[default]
    Tree,
}

impl TaskGrouping {
    /// Whether tasks that ask for different amounts belong to different users.
    fn tells_requests_apart(self) -> bool {
        matches!(self, Self::Shape | Self::Tree)
    }
}

impl FromStr for TaskGrouping {
    type Err = Violation;
    /// `user`, `shape` or `tree`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "user" => Ok(Self::User),
            "shape" => Ok(Self::Shape),
            "tree" => Ok(Self::Tree),
            _ => Err(Violation::new("group", text, "choose user, shape or tree")),
        }
    }
}

/// How the amounts of memory and storage are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    Bytes,
    Mebibytes,
}

/// One server.
#[derive(Default)]
pub(super) struct Server {
    pub(super) name: String,
    /// What it is beside what it holds, such as the model of its GPUs: servers of two kinds are two classes.
    pub(super) kind: String,
    /// What a class is called in which all servers with this label are; nothing where they are called by what they hold.
    pub(super) label: String,
    pub(super) capacity: Vec<Decimal>,
    /// The zone that it is in, where that matters to somebody: then of all servers.
    pub(super) domain: Option<String>,
    /// Of each condition that tasks put on servers, whether this one meets it.
    pub(super) meets: Vec<bool>,
}

/// Tasks that are alike.
pub(super) struct Tasks {
    pub(super) owner: String,
    pub(super) demand: Vec<Decimal>,
    pub(super) count: u64,
    /// Which condition they put on servers.
    pub(super) condition: usize,
    /// Where some of them run: which server, and how many of them.
    pub(super) on: Vec<(usize, u64)>,
    pub(super) rules: Rules,
}

/// The rules of tasks among themselves: tasks of different rules are of different users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Rules {
    /// What tells these tasks from others of the same rules, such as `app=web`; empty where nothing needs to.
    pub(super) of: String,
    /// The most of them on one server.
    pub(super) per_server: Option<u64>,
    /// By how many they differ between two domains at most.
    pub(super) spread: Option<u64>,
    /// How many of them run at once or not at all.
    pub(super) gang: Option<Gang>,
}

impl Rules {
    /// What is added to the name of their user.
    fn name(&self) -> String {
        let gang = self.gang.map(|gang| format!("gang{}", gang.tasks));
        let parts = Some(self.of.clone()).filter(|of| !of.is_empty()).into_iter().chain(gang);
        parts.map(|part| format!("+{part}")).collect()
    }
}

/// A group of users, which may be inside another and have a limit.
pub(super) struct Holder {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) weight: Decimal,
    /// The most of each resource, where that is limited.
    pub(super) limit: Stated,
}

/// A cluster as it is: its servers by name, its users, and where their tasks run.
#[derive(Clone, Debug)]
pub struct PresentCluster {
    /// Its servers and users.
    pub instance: Instance,
    /// Where tasks run; the others wait. Servers may hold more than they have room for.
    pub placement: Placement,
}

/// All servers and tasks of a cluster as they were found.
pub(super) struct Census {
    pub(super) name: String,
    pub(super) resources: Vec<String>,
    pub(super) memory: Memory,
    /// What each condition is called; nothing where it has no name.
    pub(super) conditions: Vec<String>,
    pub(super) servers: Vec<Server>,
    pub(super) tasks: Vec<Tasks>,
    /// The resources of which servers have devices, each with the size of one.
    pub(super) devices: Vec<(ResourceId, Decimal)>,
    /// The groups of owners, and those above them, of which more is known than that there are users in them.
    pub(super) holders: Vec<Holder>,
}

impl Census {
    /// The instance: classes as [`add_classes`] makes them, users in the order of their first task.
    ///
    /// A user whose tasks may run everywhere has its owner's name; tasks of one owner under different conditions are
    /// several users, named `OWNER@CONDITION`, after the first of the conditions that come to the same servers. Tasks that
    /// ask for nothing, that no server may run, or that ask for what no server has, are left out and counted.
    pub(super) fn instance(
        self,
        grouping: TaskGrouping,
        report: &mut ImportReport,
    ) -> Result<Instance, Violation> {
        self.read(grouping, false, report).map(|(instance, _)| instance)
    }

    /// The same with the names of its servers, and where its tasks run.
    pub(super) fn present(
        self,
        grouping: TaskGrouping,
        report: &mut ImportReport,
    ) -> Result<PresentCluster, Violation> {
        let (instance, placement) = self.read(grouping, true, report)?;
        Ok(PresentCluster { instance, placement })
    }

    fn read(
        self,
        grouping: TaskGrouping,
        named: bool,
        report: &mut ImportReport,
    ) -> Result<(Instance, Placement), Violation> {
        let mut builder = InstanceBuilder::new(self.name, self.resources)?;
        let resources = builder.resources().to_vec();
        let classes = add_named_classes(&mut builder, &self.servers, self.memory, named)?;
        let conditions = self.servers.first().map_or(0, |server| server.meets.len());
        let classes = &classes;
        let meeting = |condition: usize| {
            (0..classes.len()).filter(move |&l| classes[l].server.meets[condition]).collect()
        };
        let meeting: Vec<Vec<usize>> = (0..conditions).map(meeting).collect();
        let holders = Holders::new(&self.holders);
        let mut users: Vec<User> = Vec::new();
        let mut found: HashMap<Kind, usize> = HashMap::new();
        for tasks in &self.tasks {
            // Without servers nothing is known of any condition.
            let may_run = meeting.get(tasks.condition).map_or(&[][..], Vec::as_slice);
            let lacks = |r: &usize| {
                !tasks.demand[*r].is_zero() && classes.iter().all(|class| class.server.capacity[*r].is_zero())
            };
            let barred = |r: &usize| !tasks.demand[*r].is_zero() && holders.bars(&tasks.owner, *r);
            if let Some(r) = (0..resources.len()).find(barred) {
                report.add(
                    tasks.count,
                    format!("tasks left out: they ask for {}, of which a limit of theirs is 0", resources[r]),
                );
            } else if tasks.demand.iter().all(|demand| demand.is_zero()) {
                report.add(tasks.count, "tasks left out: they ask for none of the resources");
            } else if let Some(r) = (0..resources.len()).find(lacks) {
                report.add(
                    tasks.count,
                    format!("tasks left out: they ask for {}, which no server has", resources[r]),
                );
            } else if may_run.is_empty() {
                report.add(tasks.count, "tasks left out: no server meets their conditions");
            } else {
                let request = grouping.tells_requests_apart().then_some(tasks.demand.as_slice());
                let kind = (tasks.owner.as_str(), may_run, request, &tasks.rules);
                let user = *found.entry(kind).or_insert_with(|| {
                    users.push(User { owner: &tasks.owner, may_run, rules: &tasks.rules, tasks: Vec::new() });
                    users.len() - 1
                });
                users[user].tasks.push(tasks);
            }
        }

        if users.is_empty() && !classes.is_empty() {
            return Err(none_left(report));
        }
        if grouping == TaskGrouping::Tree {
            builder.groups(holders.groups(&users, report))?;
        }
        let mut names = Names::default();
        for user in &users {
            let (demand, count) = user.mean(&resources)?;
            let mut id = user.owner.to_owned();
            if grouping.tells_requests_apart() {
                id = format!("{id}:{}", shape(&resources, &demand, self.memory));
            }
            let everywhere = user.may_run.len() == classes.len();
            let condition = user.tasks.first().and_then(|tasks| self.conditions.get(tasks.condition));
            match (condition.map_or("", String::as_str), user.may_run) {
                _ if everywhere => {}
                (named, _) if named == user.owner => {}
                ("", [class]) => id = format!("{id}@{}", classes[*class].id),
                ("", several) => id = format!("{id}@{}-classes", several.len()),
                (named, _) => id = format!("{id}@{named}"),
            }
            id.push_str(&user.rules.name());
            let eligible = user.may_run.iter().copied().map(ClassId).collect();
            let rule = builder.rule(PlacementRule::new((!everywhere).then_some(eligible), Vec::new()));
            let id = names.unique(id);
            let group = builder.group_named(user.owner);
            builder.user(NewUser { tasks: Some(count), rule, group, ..NewUser::new(&id, &demand) })?;
        }
        for (owner, quota) in holders.limits(&builder, &users, classes, report) {
            builder.quota(owner, quota)?;
        }
        let placement = placement(&users, classes, self.servers.len());
        if named && grouping == TaskGrouping::User {
            let averaged = users.iter().zip(&placement.tasks).filter(|(user, _)| user.asks_differently());
            report.add(
                averaged.map(|(_, tasks)| tasks).sum(),
                "tasks that run count with the mean request of their user (--group shape tells requests apart)",
            );
        }
        let instance = builder.build()?;
        Ok((with_rules(instance, &self.devices, &users, report)?, placement))
    }
}

/// The same with devices, each of its size, and the rules of users. A gang that has no room on the empty cluster is none.
fn with_rules(
    instance: Instance,
    devices: &[(ResourceId, Decimal)],
    users: &[User<'_>],
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let ruled = users.iter().any(|user| *user.rules != Rules::default());
    if devices.is_empty() && !ruled {
        return Ok(instance);
    }
    let mut draft = Draft::from(&instance);
    let devices = dividing(devices, &draft, report);
    for (l, class) in draft.classes.iter_mut().enumerate() {
        for (resource, size) in &devices {
            let place = || format!("server_classes[{l}].capacity.{}", instance.resources()[resource.0]);
            let count = parts(class.capacity[resource.0], *size).ok_or_else(|| {
                let problem = format!("must be a whole number of devices of {size}");
                Violation::new(place(), class.capacity[resource.0], problem)
            })?;
            class.devices.extend((count > 0).then_some((*resource, count)));
        }
    }
    for (user, draft) in users.iter().zip(&mut draft.users) {
        (draft.per_server, draft.spread) = (user.rules.per_server, user.rules.spread);
    }
    let without_gangs = draft.build()?;
    for ((user, draft), held) in users.iter().zip(&mut draft.users).zip(without_gangs.users()) {
        let Some(gang) = user.rules.gang else { continue };
        if held.held_alone(gang.in_one_domain) < gang.tasks {
            let count = user.tasks.iter().map(|tasks| tasks.count).sum();
            report.add(
                count,
                "tasks are in gangs that the empty cluster has no room for: here each runs for itself",
            );
        } else {
            draft.gang = Some(gang);
        }
    }
    draft.build()
}

/// The devices of which every task takes whole ones or a part of one.
fn dividing<'a>(
    devices: &'a [(ResourceId, Decimal)],
    draft: &Draft,
    report: &mut ImportReport,
) -> Vec<&'a (ResourceId, Decimal)> {
    let is_divided = |(ResourceId(r), size): &&(ResourceId, Decimal)| {
        let is_odd = |user: &&DraftUser| {
            let units = in_one_unit(user.demand[*r], *size);
            units.is_none_or(|(amount, size)| amount > size && !amount.is_multiple_of(size))
        };
        let odd = draft.users.iter().filter(is_odd).filter_map(|user| user.tasks).sum();
        let name = &draft.resources[*r];
        let what = format!(
            "tasks ask for more than one device of {name} and no whole number: here {name} is no device"
        );
        report.add(odd, what);
        odd == 0
    };
    devices.iter().filter(is_divided).collect()
}

/// How many times a size an amount is, if that is whole.
fn parts(amount: Decimal, size: Decimal) -> Option<u64> {
    let (amount, size) = in_one_unit(amount, size)?;
    let count = amount.checked_div(size).filter(|_| amount.is_multiple_of(size))?;
    u64::try_from(count).ok()
}

/// Two amounts as whole numbers of one unit.
fn in_one_unit(a: Decimal, b: Decimal) -> Option<(u128, u128)> {
    let unit = a.exponent().min(b.exponent());
    Some((a.scaled(unit)?, b.scaled(unit)?))
}

/// Where the tasks of users run, in the order of the instance's servers.
fn placement(users: &[User<'_>], classes: &[Class<'_>], servers: usize) -> Placement {
    let mut position = vec![0; servers];
    classes
        .iter()
        .flat_map(|class| &class.members)
        .enumerate()
        .for_each(|(at, server)| position[*server] = at);
    let mut placement = Placement { tasks: vec![0; users.len()], servers: vec![ServerTasks::new(); servers] };
    for (i, user) in users.iter().enumerate() {
        for (server, count) in user.tasks.iter().flat_map(|tasks| &tasks.on) {
            placement.tasks[i] += count;
            let there = &mut placement.servers[position[*server]];
            match there.last_mut().filter(|(last, _)| *last == i as u32) {
                Some((_, tasks)) => *tasks += count,
                None => there.push((i as u32, *count)),
            }
        }
    }
    placement
}

/// What is known of groups, by name.
struct Holders<'a> {
    list: &'a [Holder],
    position: HashMap<&'a str, usize>,
}

impl<'a> Holders<'a> {
    fn new(list: &'a [Holder]) -> Self {
        let position = list.iter().enumerate().map(|(at, holder)| (holder.id.as_str(), at)).collect();
        Self { list, position }
    }

    /// The group and those above it, as far as they are known.
    fn upwards(&self, id: &str) -> impl Iterator<Item = usize> + '_ {
        let named = |id: &str| self.position.get(id).copied();
        let above = |at: &usize| {
            self.list[*at].parent.as_deref().and_then(|parent| self.position.get(parent).copied())
        };
        std::iter::successors(named(id), above).take(self.list.len())
    }

    /// Whether some limit of an owner lets it have nothing of a resource.
    fn bars(&self, owner: &str, r: usize) -> bool {
        self.upwards(owner)
            .any(|at| self.list[at].limit.get(r).is_some_and(|most| most.is_some_and(Decimal::is_zero)))
    }

    /// The known groups with users, then one of weight 1 for each other owner, in the order of their first users.
    fn groups(&self, users: &[User<'_>], report: &mut ImportReport) -> Vec<NewGroup> {
        let used: HashSet<usize> = users.iter().flat_map(|user| self.upwards(user.owner)).collect();
        report.add((self.list.len() - used.len()) as u64, "groups left out: nothing runs or waits there");
        let known = (0..self.list.len()).filter(|at| used.contains(at)).map(|at| {
            let Holder { id, parent, weight, .. } = &self.list[at];
            NewGroup { id: id.clone(), weight: *weight, parent: parent.clone() }
        });
        let mut seen: HashSet<&str> = self.position.keys().copied().collect();
        let owners = users.iter().map(|user| user.owner).filter(|owner| seen.insert(*owner));
        let others = owners.map(|id| NewGroup { id: id.to_owned(), weight: Decimal::ONE, parent: None });
        known.chain(others).collect()
    }

    /// The limits of groups, where there is more than that and a user below asks for the resource.
    fn limits(
        &self,
        builder: &InstanceBuilder,
        users: &[User<'_>],
        classes: &[Class<'_>],
        report: &mut ImportReport,
    ) -> Vec<(Owner, Quota)> {
        let mut asked = vec![vec![false; builder.resources().len()]; self.list.len()];
        for user in users {
            for at in self.upwards(user.owner) {
                for (asked, r) in asked[at].iter_mut().zip(0..) {
                    *asked |= user.tasks.iter().any(|tasks| !tasks.demand[r as usize].is_zero());
                }
            }
        }
        let all = |r: usize| -> f64 {
            classes.iter().map(|class| class.members.len() as f64 * class.server.capacity[r].to_f64()).sum()
        };
        let mut quotas = Vec::new();
        for (at, holder) in self.list.iter().enumerate() {
            let Some(group) = builder.group_named(&holder.id) else { continue };
            let mut quota = Quota::default();
            for (r, limit) in holder.limit.iter().enumerate().filter_map(|(r, limit)| Some((r, (*limit)?))) {
                if !asked[at][r] {
                    report.one("limits left out: nobody asks for the resource");
                } else if limit.to_f64() >= all(r) {
                    report.one("limits left out: there is no more than that");
                } else {
                    quota.limit.push((ResourceId(r), limit));
                }
            }
            quotas.push((Owner::Group(group), quota));
        }
        quotas
    }
}

/// What to say where no user is left: what became of the tasks.
fn none_left(report: &ImportReport) -> Violation {
    let left_out = report.counts().filter(|(_, what)| what.starts_with("tasks left out"));
    let left_out: Vec<String> =
        left_out.map(|(count, what)| format!("{count} {}", agreeing(count, what))).collect();
    let problem = match left_out.as_slice() {
        [] => "there are none, because nothing runs or waits here".to_owned(),
        _ => format!("there are none: {}", left_out.join("; ")),
    };
    Violation::new("users", "", problem)
}

/// A server class with one of its servers.
pub(super) struct Class<'a> {
    id: String,
    server: &'a Server,
    /// The positions of all of them.
    members: Vec<usize>,
}

impl<'a> Class<'a> {
    /// One of its servers, which are alike.
    pub(super) fn server(&self) -> &'a Server {
        self.server
    }
}

/// Adds servers that nothing tells apart as classes, by descending count, then in the order of their first server; a
/// class of one server has its name, others are named after what one is and holds: `T4-cpu96-memory384Gi-gpu2`.
pub(super) fn add_classes<'a>(
    builder: &mut InstanceBuilder,
    servers: &'a [Server],
    memory: Memory,
) -> Result<Vec<Class<'a>>, Violation> {
    add_named_classes(builder, servers, memory, false)
}

/// The same, where `named` with the names of their servers.
fn add_named_classes<'a>(
    builder: &mut InstanceBuilder,
    servers: &'a [Server],
    memory: Memory,
    named: bool,
) -> Result<Vec<Class<'a>>, Violation> {
    let mut position: HashMap<_, usize> = HashMap::new();
    let mut alike: Vec<(&Server, Vec<usize>)> = Vec::new();
    for (at, server) in servers.iter().enumerate() {
        let alone = (&server.kind, &server.capacity, &server.domain, &server.meets);
        let class = *position.entry(alone).or_insert_with(|| {
            alike.push((server, Vec::new()));
            alike.len() - 1
        });
        alike[class].1.push(at);
    }
    alike.sort_by_key(|(_, members)| Reverse(members.len()));
    let mut names = Names::default();
    let mut of_label: HashMap<&str, usize> = HashMap::new();
    for (server, _) in &alike {
        *of_label.entry(&server.label).or_default() += 1;
    }
    let mut classes = Vec::with_capacity(alike.len());
    for (server, members) in alike {
        let count = members.len() as u64;
        let holds = shape(builder.resources(), &server.capacity, memory);
        let wanted = match server.kind.as_str() {
            _ if !server.label.is_empty() && of_label[server.label.as_str()] == 1 => server.label.clone(),
            _ if count == 1 => server.name.clone(),
            "" => holds,
            kind => format!("{kind}-{holds}"),
        };
        let id = names.unique(wanted);
        let mut class = ServerClass::new(id.clone(), count, server.capacity.clone());
        class.domain.clone_from(&server.domain);
        if named {
            class.names = members.iter().map(|member| servers[*member].name.clone()).collect();
        }
        builder.class(class)?;
        classes.push(Class { id, server, members });
    }
    Ok(classes)
}

/// What makes tasks those of one user: their owner, where they may run, for a user each request what they ask for, and their rules.
type Kind<'a> = (&'a str, &'a [usize], Option<&'a [Decimal]>, &'a Rules);

/// Tasks that become one user.
struct User<'a> {
    owner: &'a str,
    may_run: &'a [usize],
    rules: &'a Rules,
    tasks: Vec<&'a Tasks>,
}

impl User<'_> {
    /// Whether not all its tasks ask for the same.
    fn asks_differently(&self) -> bool {
        self.tasks.windows(2).any(|pair| pair[0].demand != pair[1].demand)
    }

    /// The mean demand and how many tasks there are.
    fn mean(&self, resources: &[String]) -> Result<(Vec<Decimal>, u64), Violation> {
        let count = self.tasks.iter().fold(0u64, |sum, tasks| sum.saturating_add(tasks.count));
        let mean = |r: usize| {
            let demands = || self.tasks.iter().map(|tasks| (tasks.demand[r], tasks.count));
            mean(demands, count).ok_or_else(|| {
                let place = format!("{}: {}", self.owner, resources[r]);
                Violation::new(
                    place,
                    "",
                    "the requests are too far apart to average exactly; choose --group shape",
                )
            })
        };
        Ok(((0..resources.len()).map(mean).collect::<Result<_, _>>()?, count))
    }
}

/// Significant digits of a mean that is not exact.
const DIGITS: u32 = 12;

/// The mean of amounts, each with how often it occurs, `count` in all: exact where they are all alike, else rounded
/// to [`DIGITS`] significant digits, halves up.
fn mean<I: Iterator<Item = (Decimal, u64)>>(amounts: impl Fn() -> I, count: u64) -> Option<Decimal> {
    let (first, _) = amounts().next()?;
    if amounts().all(|(amount, _)| amount == first) {
        return Some(first);
    }
    let unit = amounts().map(|(amount, _)| amount.exponent()).min()?;
    let sum = amounts().try_fold(0u128, |sum, (amount, times)| {
        sum.checked_add(amount.scaled(unit)?.checked_mul(u128::from(times))?)
    })?;
    let (mut sum, mut divisor, mut exponent) = (sum, u128::from(count), i32::from(unit));
    let (least, most) = (10u128.pow(DIGITS - 1), 10u128.pow(DIGITS));
    while sum / divisor >= most {
        divisor = divisor.checked_mul(10)?;
        exponent += 1;
    }
    while sum / divisor < least && !sum.is_multiple_of(divisor) {
        sum = sum.checked_mul(10)?;
        exponent -= 1;
    }
    let rounded = sum.checked_add(divisor / 2)? / divisor;
    Decimal::from_units(rounded, exponent).ok()
}

/// What one server holds or one task needs, for people: `cpu4-memory15.5Gi`. Memory and storage are shortened.
pub(super) fn shape(resources: &[String], amounts: &[Decimal], memory: Memory) -> String {
    let parts = resources.iter().zip(amounts).filter(|(_, amount)| !amount.is_zero());
    let parts: Vec<String> = parts
        .map(|(name, amount)| match memory.unit_of(name) {
            Some(power) => format!("{name}{}", short(*amount, power)),
            None => format!("{name}{amount}"),
        })
        .collect();
    parts.join("-")
}

impl Memory {
    /// Of how many bytes, as a power of two, amounts of this resource are counted; `None` for what is no memory.
    fn unit_of(self, resource: &str) -> Option<u32> {
        let is_memory = ["memory", "storage", "ephemeral-storage"].contains(&resource)
            || resource.starts_with("hugepages-");
        is_memory.then_some(match self {
            Self::Bytes => 0,
            Self::Mebibytes => 20,
        })
    }
}

/// So many units of `2^power` bytes, with one decimal of the largest unit that they reach.
fn short(amount: Decimal, power: u32) -> String {
    let bytes = amount.to_f64() * 2f64.powi(power as i32);
    for (unit, size) in [("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)] {
        let count = bytes / (1u64 << size) as f64;
        if count >= 1.0 {
            return format!("{}{unit}", (count * 10.0).round() / 10.0);
        }
    }
    bytes.to_string()
}

/// Gives each thing a name of its own: what is named like an earlier one gets a number.
#[derive(Default)]
pub(super) struct Names(HashMap<String, u64>);

impl Names {
    pub(super) fn unique(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        while self.0.contains_key(&name) {
            let again = self.0.get_mut(&wanted).map_or(2, |times| {
                *times += 1;
                *times
            });
            name = format!("{wanted}#{again}");
        }
        self.0.insert(name.clone(), 1);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn server(name: &str, cpu: &str, meets: [bool; 2]) -> Server {
        let capacity = vec![decimal(cpu), decimal("0")];
        Server { name: name.into(), capacity, meets: meets.into(), ..Server::default() }
    }

    fn tasks(owner: &str, cpu: &str, gpu: &str, count: u64, condition: usize) -> Tasks {
        let demand = vec![decimal(cpu), decimal(gpu)];
        let (owner, on, rules) = (owner.into(), Vec::new(), Rules::default());
        Tasks { owner, demand, count, condition, on, rules }
    }

    fn census(tasks: Vec<Tasks>) -> Census {
        let servers = vec![
            server("a", "4", [true, false]),
            server("b", "4", [true, true]),
            server("c", "4", [true, false]),
            server("d", "8", [true, true]),
        ];
        let resources = vec!["cpu".into(), "gpu".into()];
        let conditions = vec![String::new(), "fast".into()];
        let (name, memory, devices, holders) = (String::new(), Memory::Bytes, Vec::new(), Vec::new());
        Census { name, resources, memory, conditions, servers, tasks, devices, holders }
    }

    #[test]
    fn servers_alike_in_capacity_and_in_whom_they_take_are_a_class_and_tasks_alike_in_both_a_user() {
        let found = vec![
            tasks("x", "1", "0", 2, 0),
            tasks("x", "2", "0", 1, 0),
            tasks("x", "3", "0", 5, 1),
            tasks("y", "1", "1", 7, 0),
            tasks("z", "0", "0", 9, 0),
        ];
        let mut report = ImportReport::default();
        let instance = census(found).instance(TaskGrouping::User, &mut report).unwrap();
        let classes: Vec<_> =
            instance.classes().iter().map(|class| (class.id.as_str(), class.count)).collect();
        assert_eq!(classes, [("cpu4", 2), ("b", 1), ("d", 1)]);
        let users: Vec<_> =
            instance.users().map(|user| (user.id(), user.demand()[0].to_string(), user.tasks())).collect();
        assert_eq!(users, [("x", "1.33333333333".into(), Some(3)), ("x@fast", "3".into(), Some(5))]);
        assert_eq!(report.count("tasks left out: they ask for gpu, which no server has"), 7);
        assert_eq!(report.count("tasks left out: they ask for none of the resources"), 9);
    }

    #[test]
    fn tasks_that_run_are_placed_on_the_servers_of_these_names() {
        let on = |on: &[(usize, u64)], tasks: Tasks| Tasks { on: on.to_vec(), ..tasks };
        let found = vec![
            on(&[(2, 1), (3, 1)], tasks("x", "1", "0", 2, 0)),
            on(&[(2, 3)], tasks("x", "2", "0", 4, 0)),
            on(&[(1, 4)], tasks("x", "3", "0", 5, 1)),
            on(&[(0, 7)], tasks("y", "1", "1", 7, 0)),
        ];
        let mut report = ImportReport::default();
        let PresentCluster { instance, placement } =
            census(found).present(TaskGrouping::User, &mut report).unwrap();
        let names: Vec<_> = instance.classes().iter().map(|class| class.names.join(" ")).collect();
        assert_eq!(names, ["a c", "b", "d"], "a and c are alike");
        assert_eq!(placement.tasks, [5, 4], "those left out are nowhere");
        assert_eq!(placement.servers, [vec![], vec![(0, 4)], vec![(1, 4)], vec![(0, 1)]]);
        let averaged =
            "tasks that run count with the mean request of their user (--group shape tells requests apart)";
        assert_eq!(report.count(averaged), 5);
    }

    #[test]
    fn a_cluster_without_servers_is_refused_and_its_tasks_counted() {
        let mut report = ImportReport::default();
        let found = vec![tasks("x", "1", "0", u64::MAX, 0), tasks("x", "2", "0", 1, 1)];
        let alone = Census { servers: Vec::new(), ..census(found) };
        let refusal = alone.instance(TaskGrouping::User, &mut report).unwrap_err();
        assert_eq!(refusal.to_string(), "server_classes: the cluster has no servers");
        let refusal = census(vec![tasks("x", "1", "0", u64::MAX, 0), tasks("x", "2", "0", 1, 0)])
            .instance(TaskGrouping::User, &mut report)
            .unwrap_err();
        assert!(refusal.to_string().starts_with("users[0].tasks = "), "{refusal}");
    }

    #[test]
    fn a_shape_is_a_user_with_the_request_itself() {
        let found = vec![tasks("x", "1", "0", 2, 0), tasks("x", "2", "0", 1, 0), tasks("x", "1", "0", 3, 0)];
        let instance = census(found).instance(TaskGrouping::Shape, &mut ImportReport::default()).unwrap();
        let users: Vec<_> = instance.users().map(|user| (user.id(), user.tasks())).collect();
        assert_eq!(users, [("x:cpu1", Some(5)), ("x:cpu2", Some(1))]);
    }

    #[test]
    fn names_of_classes_say_the_kind_and_memory_in_its_own_unit() {
        let resources = ["cpu", "memory"].map(str::to_owned);
        let amounts = [decimal("96"), decimal("1048576")];
        assert_eq!(shape(&resources, &amounts, Memory::Mebibytes), "cpu96-memory1Ti");
        assert_eq!(shape(&resources, &amounts, Memory::Bytes), "cpu96-memory1Mi");
        assert_eq!(
            shape(&resources, &[decimal("2000000"), decimal("0.5")], Memory::Mebibytes),
            "cpu2000000-memory512Ki"
        );

        let server = |name: &str, kind: &str| Server { kind: kind.into(), ..server(name, "4", [true, true]) };
        let servers =
            [server("a", "T4"), server("b", "T4"), server("c", "G2"), server("d", "G2"), server("e", "")];
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        let classes = add_classes(&mut builder, &servers, Memory::Bytes).unwrap();
        let ids: Vec<&str> = classes.iter().map(|class| class.id.as_str()).collect();
        assert_eq!(ids, ["T4-cpu4", "G2-cpu4", "e"]);
    }

    #[test]
    fn where_no_user_is_left_the_error_says_what_became_of_the_tasks() {
        let found = vec![tasks("x", "1", "1", 7, 0), tasks("z", "0", "0", 1, 0)];
        let mut report = ImportReport::default();
        let told = |found, report: &mut ImportReport| {
            census(found).instance(TaskGrouping::User, report).unwrap_err().to_string()
        };
        assert_eq!(
            told(found, &mut report),
            "users: there are none: 7 tasks left out: they ask for gpu, which no server has; \
             1 task left out: it asks for none of the resources"
        );
        assert_eq!(
            told(Vec::new(), &mut ImportReport::default()),
            "users: there are none, because nothing runs or waits here"
        );
    }

    #[test]
    fn a_mean_is_exact_or_has_twelve_digits() {
        let mean = |amounts: &[(&str, u64)]| {
            let count = amounts.iter().map(|(_, times)| times).sum();
            let text = super::mean(|| amounts.iter().map(|(text, times)| (decimal(text), *times)), count);
            text.unwrap().to_string()
        };
        assert_eq!(mean(&[("0.1", 1), ("0.2", 1)]), "0.15");
        assert_eq!(mean(&[("1", 1), ("0", 2)]), "0.333333333333");
        assert_eq!(mean(&[("2", 1), ("0", 2)]), "0.666666666667");
        assert_eq!(mean(&[("12345678901234567", 3)]), "12345678901234567");
        assert_eq!(mean(&[("12345678901234567", 1), ("12345678901234568", 1)]), "12345678901200000");
        assert_eq!(mean(&[("0.000000001", 1), ("0", 999_999)]), "1e-15");
    }

    #[test]
    fn names_that_occur_again_are_numbered() {
        let mut names = Names::default();
        let given: Vec<_> = ["a", "a", "a#2", "a"].map(|name| names.unique(name.into())).into();
        assert_eq!(given, ["a", "a#2", "a#2#2", "a#3"]);
    }
}
