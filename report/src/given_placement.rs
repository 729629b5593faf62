//! A `fairplan.placement.v1` that somebody else made: only what runs where is taken from it, and counted anew.

use crate::foreign::{Foreign, check_stamp};
use crate::json::{MalformedResult, read_json};
use crate::placement::{PlacementBody, ServerResult, UserTasks, tasks_by_name, tasks_on_servers};
use fairplan_instances::files::stated_format;
use fairplan_instances::wording::printable;
use fairplan_instances::{Body, Instance, InstanceStamp, KindId, Placement, UserId, stated, tasks_of};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What runs where, by whoever placed it. Servers may hold more than they have, and tasks may be where they should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenPlacement {
    /// Who placed it, where the file says so.
    pub policy: Option<String>,
    /// Tasks on servers.
    pub placement: Placement,
}

/// The members of the format. Whoever places need not know what it comes to, so only `servers` must be there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(default, rename = "fairplan_version")]
    _fairplan_version: IgnoredAny,
    #[serde(default, deserialize_with = "stated")]
    instance: Option<InstanceStamp>,
    #[serde(default, deserialize_with = "stated")]
    policy: Option<String>,
    #[serde(default, rename = "seed")]
    _seed: IgnoredAny,
    #[serde(default, rename = "value")]
    _value: IgnoredAny,
    #[serde(default, rename = "level")]
    _level: IgnoredAny,
    #[serde(default, rename = "unplaced")]
    _unplaced: IgnoredAny,
    #[serde(default, rename = "groups")]
    _groups: IgnoredAny,
    #[serde(default, rename = "guarantees")]
    _guarantees: IgnoredAny,
    #[serde(default, rename = "guaranteed_groups")]
    _guaranteed_groups: IgnoredAny,
    #[serde(default, deserialize_with = "stated")]
    users: Option<Vec<StatedUser>>,
    #[serde(default, rename = "utilization")]
    _utilization: IgnoredAny,
    #[serde(default, deserialize_with = "stated")]
    servers: Option<Vec<ServerResult>>,
}

/// What is said of a user all the same. It must say what the servers do.
#[derive(Deserialize)]
struct StatedUser {
    id: String,
    #[serde(default, deserialize_with = "stated")]
    tasks: Option<u64>,
}

impl GivenPlacement {
    /// Reads it.
    ///
    /// # Errors
    /// Another format, the file of another instance, servers, classes or users that the instance does not have, servers, users, or users
    /// of a server that are named twice, more tasks of a user than it has, and users who have other tasks than run on the servers:
    /// each with file and place.
    pub fn read(
        file: &str,
        bytes: &[u8],
        instance: &Instance,
        sha256: &str,
    ) -> Result<Self, MalformedResult> {
        let foreign = |foreign: Foreign| MalformedResult {
            file: file.into(),
            place: String::new(),
            problem: foreign.to_string(),
        };
        let format = PlacementBody::<Vec<ServerResult>>::FORMAT;
        // The members of another format would be unknown ones.
        if let Some(other) = stated_format(bytes).0.filter(|stated| stated != format) {
            let problem = format!("a placement is a {format}, as `place --servers-out` writes it");
            return Err(foreign(Foreign::new("format", &other, problem)));
        }
        let stated: Stated = read_json(file, bytes)?;
        if let Some(stamp) = &stated.instance {
            check_stamp(stamp, instance, sha256).map_err(foreign)?;
        }
        let Some(servers) = &stated.servers else {
            return Err(foreign(Foreign::without("servers", "place with --servers-out")));
        };
        let placement = counted(servers, instance).map_err(foreign)?;
        agreeing(stated.users.as_deref().unwrap_or_default(), instance, &placement).map_err(foreign)?;
        let policy = stated.policy.filter(|policy| !policy.is_empty());
        Ok(Self { policy, placement })
    }
}

/// That users who are listed are those of the instance, each once, with the tasks that run on the servers.
fn agreeing(users: &[StatedUser], instance: &Instance, placement: &Placement) -> Result<(), Foreign> {
    let mut listed = vec![false; instance.user_count()];
    for (position, stated) in users.iter().enumerate() {
        let place = |field: &str| format!("users[{position}].{field}");
        let Some(UserId(user)) = instance.user_named(&stated.id) else {
            return Err(Foreign::new(place("id"), &stated.id, "no such user"));
        };
        if std::mem::replace(&mut listed[user], true) {
            return Err(Foreign::new(place("id"), &stated.id, "is named twice"));
        }
        let running = placement.tasks[user];
        if let Some(tasks) = stated.tasks.filter(|tasks| *tasks != running) {
            let problem = format!("on the servers run {running} of {}", printable(&stated.id, 200));
            return Err(Foreign::new(place("tasks"), &tasks.to_string(), problem));
        }
    }
    Ok(())
}

/// The tasks of each user and on each server, users in the instance's order. Of kinds the pieces are counted, which may be more than
/// those of whole tasks.
fn counted(stated: &[ServerResult], instance: &Instance) -> Result<Placement, Foreign> {
    // Whoever places need not list servers that hold nothing.
    let read = if stated.is_empty() { tasks_by_name } else { tasks_on_servers };
    let mut servers = read(stated, instance, "servers")?;
    let mut pieces = vec![0u64; instance.kind_count()];
    for (s, server) in stated.iter().enumerate() {
        for (k, part) in server.tasks.iter().enumerate() {
            let place = |field: &str| format!("servers[{s}].tasks[{k}].{field}");
            let is_same = |other: &UserTasks| other.user == part.user && other.kind == part.kind;
            if server.tasks[..k].iter().any(is_same) {
                let (field, value) = part.kind.as_ref().map_or(("user", &part.user), |kind| ("kind", kind));
                return Err(Foreign::new(place(field), value, "is named twice on this server"));
            }
            let (KindId(kind), count) = part.found(instance, &format!("servers[{s}].tasks[{k}]"))?;
            let of = instance.kind(KindId(kind));
            let tasks = of.user().tasks();
            let limit = tasks.map_or(u64::MAX, |tasks| tasks.saturating_mul(of.each()));
            let field = if of.id().is_some() { "pieces" } else { "tasks" };
            match pieces[kind].checked_add(count).filter(|sum| *sum <= limit && count > 0) {
                Some(sum) => pieces[kind] = sum,
                None if count == 0 => {
                    let problem = format!("leave out users without {field}");
                    return Err(Foreign::new(place(field), "0", problem));
                }
                None => {
                    let named = printable(&part.user, 200);
                    let problem = match of.id() {
                        None => format!("with these, more tasks of {named} run than the {limit} that it has"),
                        Some(_) => format!(
                            "with these, more pieces of {named} run than the {limit} of all its tasks"
                        ),
                    };
                    return Err(Foreign::new(place(field), &count.to_string(), problem));
                }
            }
        }
    }
    servers.iter_mut().for_each(|server| server.sort_unstable());
    Ok(Placement { tasks: tasks_of(instance, &pieces), servers })
}
