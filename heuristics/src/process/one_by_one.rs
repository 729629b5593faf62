//! Filling with a policy in another process where gangs, tasks of several pieces or quotas make every question depend on the answers
//! before it.
//!
//! Users are served as by every other policy, and each task is asked for when those before it have their servers. A gang is asked for
//! task by task, where it has room as a whole; a task of several pieces piece by piece. If one of them has no server, those that have
//! one are taken back, of which the policy is told as of tasks that end. Where not all classes that a user may use are open now, the
//! question names those that are: limits, reserves and guarantees leave room there, and so do `spread` and the domain of a gang.

use super::command::OutsidePolicy;
use super::dialogue::{Dialogue, Unanswered};
use super::messages::{Messages, short_of};
use crate::devices::{Choice, Chosen, Servers, place};
use crate::packing::{Packing, fits};
use crate::{PlacementError, Turn};
use fairplan_instances::wording::printable;
use fairplan_instances::{ClassId, Deadline, Instance, KindId, Placement, ResourceId, ServerNames};
use hashbrown::HashMap;

/// Whether instances of this sort are placed so.
pub(super) fn is_needed(instance: &Instance) -> bool {
    let has_gangs = || instance.users().any(|user| user.gang().is_some());
    instance.has_kinds() || !instance.quotas().is_empty() || has_gangs()
}

/// Fills the servers of `instance`, asking where each task or piece goes.
pub(super) fn fill(
    policy: &OutsidePolicy,
    instance: &Instance,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let packing = Packing::in_resources(instance)?;
    let names = ServerNames::new(instance);
    let names: Vec<String> = (0..packing.servers()).map(|s| names.name(s as u64).into_owned()).collect();
    let mut asking = Asking {
        instance,
        deadline,
        dialogue: Dialogue::begin(policy)?,
        messages: Messages::new(instance),
        positions: names.iter().map(String::as_str).zip(0..).collect(),
        names: &names,
        task: 0,
        failure: None,
    };
    asking.messages.cluster(&names, &packing, asking.dialogue.outgoing());
    let placement = place(instance, Turn::LowestShare, deadline, &mut asking)?;
    match asking.failure {
        None => asking.dialogue.end()?,
        Some(_) if deadline.is_over() => {
            return Err(PlacementError::OutOfTime { placed: placement.tasks.iter().sum() });
        }
        Some(failure) => return Err(failure),
    }
    Ok(placement)
}

/// A policy at work.
struct Asking<'a> {
    instance: &'a Instance,
    deadline: &'a Deadline,
    dialogue: Dialogue,
    messages: Messages,
    names: &'a [String],
    positions: HashMap<&'a str, u32>,
    /// Tasks and pieces asked for so far.
    task: u64,
    /// Why nothing is asked any more.
    failure: Option<PlacementError>,
}

impl Choice for &mut Asking<'_> {
    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen> {
        if self.failure.is_some() {
            return None;
        }
        let usable = self.usable(shape);
        let is_open =
            |class: &usize| servers.is_eligible(shape, *class) && servers.between().allows(*class, shape);
        let open: Vec<usize> = usable.iter().copied().filter(is_open).collect();
        if open.is_empty() {
            return None;
        }
        let named = (open.len() < usable.len()).then_some(&*open);
        self.answered(servers, shape, named).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    fn taken_back(&mut self, _servers: &Servers, server: usize, shape: usize, count: u64) {
        let Asking { messages, dialogue, names, .. } = &mut **self;
        (0..count).for_each(|_| messages.end(&names[server], KindId(shape), dialogue.outgoing()));
    }
}

impl Asking<'_> {
    /// The classes that pieces of a kind may run on.
    fn usable(&self, kind: usize) -> Vec<usize> {
        let rule = self.instance.kind(KindId(kind)).rule();
        (0..self.instance.classes().len()).filter(|class| rule.allows(ClassId(*class))).collect()
    }

    /// Asks for a server for a piece of a kind, and checks the answer.
    fn answered(
        &mut self,
        servers: &Servers,
        kind: usize,
        open: Option<&[usize]>,
    ) -> Result<Option<Chosen>, PlacementError> {
        self.task += 1;
        self.messages.place_on(self.task, KindId(kind), open, self.dialogue.outgoing());
        let timeout = self.dialogue.timeout();
        let limit = self.deadline.time_left().map_or(timeout, |left| left.min(timeout));
        let what = named(self.instance, self.task, kind);
        let positions = &self.positions;
        let server = match self.dialogue.answer(limit, || what.clone(), |name| positions.get(name).copied()) {
            Ok(None) => return Ok(None),
            Ok(Some(server)) => server as usize,
            Err(Unanswered::Late(_)) if self.deadline.is_over() => {
                return Err(PlacementError::OutOfTime { placed: 0 });
            }
            Err(unanswered) => return Err(PlacementError::Outside(unanswered.into())),
        };
        let Some((problem, why)) = self.against(servers, server, kind) else {
            return Ok(Some(Chosen::server(server)));
        };
        let name = printable(&self.names[server], 200);
        let why = if why.is_empty() { why } else { format!(": {why}") };
        Err(self.dialogue.failure(format!("{what}, {problem} server {name}{why}")).into())
    }

    /// What keeps a piece away from a server, and why.
    fn against(&self, servers: &Servers, server: usize, kind: usize) -> Option<(&'static str, String)> {
        let (demand, free, class) = (servers.demand(kind), servers.free(server), servers.class_of(server));
        if self.usable(kind).binary_search(&class).is_err() {
            return Some(("may not run on", String::new()));
        }
        if !fits(demand, free) {
            let exponent = |r: usize| self.instance.unit_exponent(ResourceId(r)).into();
            let short = short_of(demand, free, self.instance.resources(), exponent);
            return Some(("does not fit", short.unwrap_or_default()));
        }
        let no_room = "limits, reserves or guarantees leave it no room there (`classes` names where they do)";
        let by_quotas = (!servers.is_eligible(kind, class)).then_some(no_room);
        let rule = by_quotas.or_else(|| servers.rule_against(server, kind))?;
        Some(("may not run on", rule.into()))
    }
}

fn named(instance: &Instance, task: u64, kind: usize) -> String {
    let kind = instance.kind(KindId(kind));
    let user = printable(kind.user().id(), 200);
    match kind.id() {
        None => format!("task {task}, of user {user}"),
        Some(id) => format!("task {task}, a piece of kind {} of user {user}", printable(id, 200)),
    }
}
