//! `fairplan.placement.v1`: whole tasks on servers, as `place` writes them.

use crate::foreign::{Foreign, check_stamp, in_order, list};
use crate::solution::{AloneResult, CountedOfGroups, divisions_of_groups};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::wording::printable;
use fairplan_instances::{
    Body, Document, Instance, InstanceStamp, KeptGuarantees, KindId, PlacedGroup, Placement,
    PlacementFigures, ResourceMap, ServerNames, ServerTasks, Solution, UserId, stated,
};
use fairplan_verify::{PlacementClaim, PrintedPlacement, Verdict, verify_placement};
use schemars::JsonSchema;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Whole tasks placed on servers by a policy. Every user of the instance appears, in the instance's order. The
/// same instance, policy and seed give the same bytes, unless a time limit ended dividing what groups are guaranteed.
// `S` is the sequence of servers: a list when read, computed one by one when written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
#[schemars(rename = "Placement")]
pub struct PlacementBody<S = Vec<ServerResult>> {
    /// The instance whose users were placed.
    pub instance: InstanceStamp,
    /// The policy that chose the servers.
    pub policy: String,
    /// The seed of its random choices (only the policy `random` makes any).
    pub seed: u64,
    /// The smallest weighted dominant share (dominant share over weight) of all users; where there are groups, of users without
    /// a group and groups without a parent, a group counted for as much as its members divide by their weights, above the whole tasks that they are
    /// guaranteed themselves, or have by `guaranteed_groups`.
    pub value: f64,
    /// The same of those that still want more: that have tasks left, and fit some server at all. Absent if nobody does.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Tasks that wait, of users who have a number of them.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<u64>,
    /// What each group has, in the instance's order. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PlacedGroup>,
    /// Which guarantees it keeps. Absent where nothing is guaranteed.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub guarantees: Option<KeptGuarantees>,
    /// How the members of groups would divide what these are guaranteed, alone in the cluster: the value and the level count the whole tasks of that as
    /// guaranteed to them. Absent where no group is guaranteed more than its members are, or nothing of that is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guaranteed_groups: Vec<AloneResult>,
    /// What each user gets.
    pub users: Vec<PlacedUser>,
    /// The part of the whole cluster's capacity that is used, 0 to 1.
    pub utilization: ResourceMap,
    /// The tasks on each server, with `--servers-out`: all servers of the first class, then of the second, and
    /// so on. Without it a placement cannot be verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<S>,
}

impl<S> Body for PlacementBody<S> {
    const FORMAT: &'static str = "fairplan.placement.v1";
}

/// The whole file.
pub type PlacementDocument<S = Vec<ServerResult>> = Document<PlacementBody<S>>;

/// What one user gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacedUser {
    /// The user's id.
    pub id: String,
    /// The resource of which one task takes the largest part of the whole cluster.
    pub dominant_resource: String,
    /// The part of the whole cluster's dominant resource that the user's tasks take (with rates: the work they
    /// do, counted in that resource).
    #[schemars(range(min = 0))]
    pub dominant_share: f64,
    /// Tasks placed.
    pub tasks: u64,
}

/// The tasks on one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerResult {
    /// What the server is called, where servers of the instance have names.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The server class. Whoever names the server need not say it.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The users with tasks on this server, in the instance's order; kinds of tasks one by one.
    pub tasks: Vec<UserTasks>,
}

/// Tasks of one user on one server, or pieces of one kind of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserTasks {
    /// The user's id.
    pub user: String,
    /// Which of its kinds of tasks, where it has kinds.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whole tasks, at least one, of a user without kinds.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tasks: Option<u64>,
    /// Pieces of the kind, at least one.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub pieces: Option<u64>,
}

impl UserTasks {
    /// So many pieces of the kind at a position; tasks where its user has no kinds.
    pub fn of(instance: &Instance, kind: u32, count: u64) -> Self {
        let kind = instance.kind(KindId(kind as usize));
        let is_kind = kind.id().is_some();
        Self {
            user: kind.user().id().into(),
            kind: kind.id().map(Into::into),
            tasks: (!is_kind).then_some(count),
            pieces: is_kind.then_some(count),
        }
    }

    /// Which kind of the instance it is, and how many; `place` is where it stands.
    pub(crate) fn found(&self, instance: &Instance, place: &str) -> Result<(KindId, u64), Foreign> {
        let at = |field: &str| format!("{place}.{field}");
        let user = instance
            .user_named(&self.user)
            .ok_or_else(|| Foreign::new(at("user"), &self.user, "no such user"))?;
        let user = instance.user(user);
        let (kind, field, count) = match &self.kind {
            None if user.has_kinds() => {
                let kinds: Vec<&str> = user.kinds().filter_map(|kind| kind.id()).collect();
                let problem = format!("is missing; the user has kinds of tasks: {}", kinds.join(", "));
                return Err(Foreign::new(at("kind"), "", printable(&problem, 300)));
            }
            None => (user.kinds().next(), "tasks", self.tasks),
            Some(id) => {
                let found = user.kinds().find(|kind| kind.id() == Some(id));
                let unknown = || Foreign::new(at("kind"), id, "the user has no such kind");
                (Some(found.ok_or_else(unknown)?), "pieces", self.pieces)
            }
        };
        let other = if field == "tasks" { ("pieces", self.pieces) } else { ("tasks", self.tasks) };
        if let (other, Some(stated)) = other {
            return Err(Foreign::new(at(other), &stated.to_string(), format!("say `{field}` here")));
        }
        let missing = || Foreign::new(at(field), "", "is missing");
        let (kind, count) = (kind.ok_or_else(missing)?, count.ok_or_else(missing)?);
        Ok((kind.index(), count))
    }
}

/// More servers than these are not listed one by one.
const MOST_SERVERS: u64 = 50_000_000;

/// The tasks on each server: by the names of servers where they are stated, servers that are not named being empty, else all
/// servers of the instance in its order.
pub(crate) fn tasks_on_servers(
    stated: &[ServerResult],
    instance: &Instance,
    place: &str,
) -> Result<Vec<ServerTasks>, Foreign> {
    if stated.iter().all(|server| server.server.is_none()) {
        return tasks_in_order(stated, instance, place);
    }
    tasks_by_name(stated, instance, place)
}

/// The same by the names of servers; where none is stated, nothing runs.
pub(crate) fn tasks_by_name(
    stated: &[ServerResult],
    instance: &Instance,
    place: &str,
) -> Result<Vec<ServerTasks>, Foreign> {
    let count = instance.server_count();
    if count > MOST_SERVERS {
        let problem = format!("the instance has {count} servers; {MOST_SERVERS} can be listed");
        return Err(Foreign::new(place, &format!("{} entries", stated.len()), problem));
    }
    let names = ServerNames::new(instance);
    let mut servers = vec![ServerTasks::new(); count as usize];
    let mut named_at: HashMap<u64, usize> = HashMap::new();
    for (s, entry) in stated.iter().enumerate() {
        let place = |field: &str| format!("{place}[{s}].{field}");
        let Some(name) = &entry.server else {
            return Err(Foreign::new(place("server"), "", "is missing; other servers are named here"));
        };
        let position = names.position(name);
        let position =
            position.ok_or_else(|| Foreign::new(place("server"), name, "there is no server of this name"))?;
        let class = names.class(position);
        if let Some(stated) = &entry.class
            && instance.class_named(stated) != Some(class)
        {
            let problem = match instance.class_named(stated) {
                None => "there is no server class with this id".to_owned(),
                Some(_) => format!(
                    "server {} is of class {}",
                    printable(name, 200),
                    printable(&instance.classes()[class.0].id, 200)
                ),
            };
            return Err(Foreign::new(place("class"), stated, problem));
        }
        if let Some(other) = named_at.insert(position, s) {
            return Err(Foreign::new(place("server"), name, format!("entry {other} names it too")));
        }
        servers[position as usize] = user_tasks(entry, instance, &place("tasks"))?;
    }
    Ok(servers)
}

/// The same where no server is named.
fn tasks_in_order(
    stated: &[ServerResult],
    instance: &Instance,
    place: &str,
) -> Result<Vec<ServerTasks>, Foreign> {
    if stated.len() as u64 != instance.server_count() {
        let problem = format!(
            "the instance has {}: list all in its order, or name those that are listed (`server`)",
            instance.server_count()
        );
        return Err(Foreign::new(place, &format!("{} entries", stated.len()), problem));
    }
    let mut servers = Vec::with_capacity(stated.len());
    for (s, (stated, class)) in stated.iter().zip(instance.classes_of_servers()).enumerate() {
        let class = &instance.classes()[class.0].id;
        let place_of_class = || format!("{place}[{s}].class");
        match &stated.class {
            Some(stated) if stated == class => {}
            Some(stated) => {
                let problem = format!("the instance has a server of class {} here", printable(class, 200));
                return Err(Foreign::new(place_of_class(), stated, problem));
            }
            None => {
                let problem = "is missing; say it, or name the server where it has a name";
                return Err(Foreign::new(place_of_class(), "", problem));
            }
        }
        servers.push(user_tasks(stated, instance, &format!("{place}[{s}].tasks"))?);
    }
    Ok(servers)
}

/// The tasks on one server.
fn user_tasks(stated: &ServerResult, instance: &Instance, place: &str) -> Result<ServerTasks, Foreign> {
    let known = |(k, part): (usize, &UserTasks)| {
        let (kind, count) = part.found(instance, &format!("{place}[{k}]"))?;
        Ok((kind.0 as u32, count))
    };
    stated.tasks.iter().enumerate().map(known).collect()
}

/// The servers of a placement, each computed when it is written.
#[derive(Clone, Copy)]
pub struct ServerResults<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) placement: &'a Placement,
}

impl Serialize for ServerResults<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = ServerNames::new(self.instance);
        let are_named = names.are_given();
        let servers = self.instance.classes_of_servers().zip(&self.placement.servers).zip(0..);
        serializer.collect_seq(servers.map(|((class, tasks), server)| ServerResult {
            server: are_named.then(|| names.name(server).into_owned()),
            class: Some(self.instance.classes()[class.0].id.as_str().into()),
            tasks: tasks.iter().map(|(kind, count)| UserTasks::of(self.instance, *kind, *count)).collect(),
        }))
    }
}

/// How a placement was asked for.
#[derive(Clone, Copy, Debug)]
pub struct PlacementSettings<'a> {
    /// The policy's name.
    pub policy: &'a str,
    /// The seed of its random choices.
    pub seed: u64,
    /// Whether the document lists the tasks on each server.
    pub servers: bool,
    /// The divisions of what groups are guaranteed, where the level counts that.
    pub divisions: &'a [Solution],
}

/// The document of a placement, ready to be written.
pub fn placement_document<'a>(
    instance: &'a Instance,
    placement: &'a Placement,
    figures: &PlacementFigures,
    sha256: &'a str,
    settings: PlacementSettings<'a>,
) -> PlacementDocument<ServerResults<'a>> {
    let users = instance.users().zip(&figures.dominant_shares).zip(&placement.tasks);
    Document::new(PlacementBody {
        instance: InstanceStamp::new(instance, sha256),
        policy: settings.policy.into(),
        seed: settings.seed,
        value: figures.value,
        level: figures.level,
        unplaced: Some(figures.unplaced),
        groups: figures.groups.clone(),
        guarantees: figures.guarantees.clone(),
        guaranteed_groups: divisions_of_groups(instance, settings.divisions),
        users: users
            .map(|((user, share), tasks)| PlacedUser {
                id: user.id().into(),
                dominant_resource: instance.resources()[user.dominant_resource().0].as_str().into(),
                dominant_share: *share,
                tasks: *tasks,
            })
            .collect(),
        utilization: ResourceMap::new(instance, figures.utilization.iter().copied()),
        servers: settings.servers.then_some(ServerResults { instance, placement }),
    })
}

/// Everything a placement document states, in the instance's order.
#[derive(Clone, Debug)]
pub struct StatedPlacement {
    placement: Placement,
    value: f64,
    level: Option<f64>,
    unplaced: Option<u64>,
    groups: Vec<PlacedGroup>,
    guarantees: Option<KeptGuarantees>,
    of_groups: CountedOfGroups,
    dominant_shares: Vec<f64>,
    utilization: Vec<f64>,
}

impl StatedPlacement {
    /// Matches a document with the instance it says it belongs to. Fails where the two cannot be matched: another
    /// hash, a user or server that is missing, added or in another place, no servers at all.
    pub fn new(document: &PlacementDocument, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&document.instance, instance, sha256)?;
        list("users", document.users.iter().map(|user| &*user.id), instance.users().map(|user| user.id()))?;
        for (i, (user, stated)) in instance.users().zip(&document.users).enumerate() {
            let dominant = &instance.resources()[user.dominant_resource().0];
            if stated.dominant_resource != *dominant {
                let place = format!("users[{i}].dominant_resource");
                return Err(Foreign::new(place, &stated.dominant_resource, format!("it is {dominant}")));
            }
        }
        let ids = instance.groups().iter().map(|group| group.id.as_str());
        list("groups", document.groups.iter().map(|group| &*group.id), ids)?;
        let Some(stated) = &document.servers else {
            return Err(Foreign::without("servers", "place with --servers-out"));
        };
        let servers = tasks_on_servers(stated, instance, "servers")?;
        Ok(Self {
            placement: Placement { tasks: document.users.iter().map(|user| user.tasks).collect(), servers },
            value: document.value,
            level: document.level,
            unplaced: document.unplaced,
            groups: document.groups.clone(),
            guarantees: document.guarantees.clone(),
            of_groups: CountedOfGroups::new(&document.guaranteed_groups, instance)?,
            dominant_shares: document.users.iter().map(|user| user.dominant_share).collect(),
            utilization: in_order(&document.utilization, instance, || "utilization".into())?,
        })
    }

    /// Everything that is found of it.
    pub fn verdicts(&self, instance: &Instance) -> Vec<Verdict> {
        let mut verdicts = verify_placement(instance, &self.claim());
        verdicts.extend(self.of_groups.verdict());
        verdicts
    }

    /// The claim, for [`fairplan_verify::verify_placement`].
    pub fn claim(&self) -> PlacementClaim<'_> {
        PlacementClaim {
            printed: Some(PrintedPlacement {
                value: self.value,
                level: self.level,
                unplaced: self.unplaced,
                groups: &self.groups,
                guarantees: self.guarantees.as_ref(),
                whole_guarantees: self.of_groups.tasks(),
                dominant_shares: &self.dominant_shares,
                utilization: &self.utilization,
            }),
            ..PlacementClaim::from(&self.placement)
        }
    }
}

impl<S: Sync> Tabular for PlacementBody<S> {
    /// A row a user, in the instance's order.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("dominant_resource", "dominant resource", Kind::Name, |user| &user.dominant_resource)
            .column("dominant_share", "dominant share", Kind::Share, |user| user.dominant_share)
            .column("tasks", "tasks", Kind::Count, |user| user.tasks)
            .done()
    }
}

/// The users of a placement as its document will state them, in the instance's order.
pub fn placed_users<'a>(
    instance: &'a Instance,
    placement: &'a Placement,
    figures: &'a PlacementFigures,
) -> Table<'a> {
    Table::over(instance.user_count(), move |row| instance.user(UserId(row)))
        .column("id", "user", Kind::Id, |user| user.id())
        .column("dominant_resource", "dominant resource", Kind::Name, |user| {
            &instance.resources()[user.dominant_resource().0]
        })
        .column("dominant_share", "dominant share", Kind::Share, |user| {
            figures.dominant_shares[user.index().0]
        })
        .column("tasks", "tasks", Kind::Count, |user| placement.tasks[user.index().0])
        .done()
}
