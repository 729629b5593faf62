//! Servers and tasks found one by one become classes and users: servers that nothing tells apart are a class.

use super::holders::{Holder, Holders};
use super::report::ImportReport;
use super::rules::with_rules;
use super::servers::{Class, Memory, Names, Server, add_named_classes, shape};
use super::sets::Sets;
use super::tasks::{Piece, Rules, Tasks, User};
use fairplan_instances::wording::{agreeing, choose};
use fairplan_instances::{
    ClassId, Decimal, Instance, InstanceBuilder, NewKind, NewUser, Placement, PlacementRule, ResourceId,
    ServerTasks, Violation,
};
use hashbrown::HashMap;
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
            _ => Err(Violation::new("group", text, choose(text, &["user", "shape", "tree"]))),
        }
    }
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
    /// The instance: classes as [`add_named_classes`] makes them, users in the order of their first task, those of [`Sets`] last.
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
        let mut sets = Sets::default();
        for tasks in &self.tasks {
            // Without servers nothing is known of any condition.
            let may_run = meeting.get(tasks.condition).map_or(&[][..], Vec::as_slice);
            let lacks = |r: &usize| {
                !tasks.demand[*r].is_zero() && classes.iter().all(|class| class.server.capacity[*r].is_zero())
            };
            let barred =
                |r: &usize| !tasks.demand[*r].is_zero() && holders.bars(&tasks.owner, *r, may_run, classes);
            let mut leave_out = |why: String| {
                report.add(tasks.count, format!("tasks left out: {why}"));
                sets.leave_out(tasks);
            };
            if let Some(r) = (0..resources.len()).find(barred) {
                leave_out(format!("they ask for {}, of which their limit is 0", resources[r]));
            } else if tasks.demand.iter().all(|demand| demand.is_zero()) {
                leave_out("they ask for none of the resources".into());
            } else if let Some(r) = (0..resources.len()).find(lacks) {
                leave_out(format!("they ask for {}, which no server has", resources[r]));
            } else if may_run.is_empty() {
                leave_out("no server meets their conditions".into());
            } else if !sets.take(tasks, may_run) {
                let request = grouping.tells_requests_apart().then_some(tasks.demand.as_slice());
                let kind = (tasks.owner.as_str(), may_run, request, &tasks.rules);
                let user = *found.entry(kind).or_insert_with(|| {
                    let (owner, rules) = (tasks.owner.as_str(), &tasks.rules);
                    users.push(User { owner, may_run, rules, tasks: Vec::new(), pieces: Vec::new() });
                    users.len() - 1
                });
                users[user].tasks.push(tasks);
            }
        }
        users.extend(sets.users(report));

        if users.is_empty() && !classes.is_empty() {
            return Err(none_left(report));
        }
        if grouping == TaskGrouping::Tree {
            builder.groups(holders.groups(&users, report))?;
        }
        let mut names = Names::default();
        for user in &users {
            let group = builder.group_named(user.owner);
            let mut rule = |may_run: &[usize]| {
                let eligible = may_run.iter().copied().map(ClassId).collect();
                let everywhere = may_run.len() == classes.len();
                builder.rule(PlacementRule::new((!everywhere).then_some(eligible), Vec::new()))
            };
            if !user.pieces.is_empty() {
                let mut of_kinds = Names::default();
                let kind = |piece: &Piece<'_>| NewKind {
                    id: of_kinds.unique(shape(&resources, piece.demand, self.memory)),
                    each: piece.each,
                    demand: piece.demand.to_vec(),
                    rule: rule(piece.may_run),
                };
                let kinds: Vec<NewKind> = user.pieces.iter().map(kind).collect();
                let size: u64 = kinds.iter().map(|kind| kind.each).sum();
                let id = names.unique(format!("{}+gang{size}", user.owner));
                let new = NewUser { tasks: Some(user.count()), group, ..NewUser::new(&id, &[]) };
                builder.user_with_kinds(new, &kinds)?;
                continue;
            }
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
            let rule = rule(user.may_run);
            let id = names.unique(id);
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

/// Where the tasks of users run, in the order of the instance's servers.
fn placement(users: &[User<'_>], classes: &[Class<'_>], servers: usize) -> Placement {
    let mut position = vec![0; servers];
    classes
        .iter()
        .flat_map(|class| &class.members)
        .enumerate()
        .for_each(|(at, server)| position[*server] = at);
    let mut placement = Placement { tasks: vec![0; users.len()], servers: vec![ServerTasks::new(); servers] };
    let mut first = 0;
    for (i, user) in users.iter().enumerate() {
        let kinds = user.pieces.len().max(1);
        let (mut running, mut before) = (vec![0u64; kinds], 0u64);
        for tasks in &user.tasks {
            let kind = user.piece_after(before);
            before += tasks.count;
            for (server, count) in &tasks.on {
                running[kind] += count;
                let there = &mut placement.servers[position[*server]];
                let id = (first + kind) as u32;
                match there.iter_mut().rev().find(|(known, _)| *known == id) {
                    Some((_, tasks)) => *tasks += count,
                    None => there.push((id, *count)),
                }
            }
        }
        let whole = running.iter().zip(&user.pieces).map(|(running, piece)| running / piece.each).min();
        placement.tasks[i] = whole.unwrap_or(running[0]);
        first += kinds;
    }
    // Sets of one user come one after the other, each with all its kinds.
    placement.servers.iter_mut().for_each(|there| there.sort_unstable());
    placement
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

/// What makes tasks those of one user: their owner, where they may run, for a user each request what they ask for, and their rules.
type Kind<'a> = (&'a str, &'a [usize], Option<&'a [Decimal]>, &'a Rules);

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
}
