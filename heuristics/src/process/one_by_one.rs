//! Filling with a policy in another process where gangs, tasks of several pieces or quotas make every question depend on the answers
//! before it.
//!
//! Users are served as by every other policy, and each task is asked for when those before it have their servers. A gang is asked for
//! task by task, where it has room as a whole; a task of several pieces piece by piece. If one of them has no server, those that have
//! one are taken back, of which the policy is told as of tasks that end. Where not all classes that a user may use are open now, the
//! question names those that are: limits, reserves and guarantees leave room there, and so do `spread` and the domain of a gang.

use super::command::OutsidePolicy;
use super::questions::{Questions, names_of};
use crate::devices::{Choice, Chosen, Servers, place};
use crate::packing::{Packing, fits};
use crate::{PlacementError, Turn};
use fairplan_instances::{ClassId, Deadline, Instance, KindId, Placement};

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
    let names = names_of(instance, &packing);
    let questions = Questions::begin(policy, instance, deadline, &packing, &names)?;
    let mut asking = Asking { instance, questions, failure: None };
    let placement = place(instance, Turn::LowestShare, deadline, &mut asking)?;
    match asking.failure {
        None => asking.questions.end()?,
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
    questions: Questions<'a>,
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
        self.questions.ended(server, KindId(shape), count);
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
        let question = self.questions.ask(KindId(kind), open);
        let Some(server) = self.questions.answer(question, KindId(kind), || 0)? else { return Ok(None) };
        match self.against(servers, server, kind) {
            None => Ok(Some(Chosen::server(server))),
            Some(problem) => Err(self.questions.refused(question, KindId(kind), server, problem)),
        }
    }

    /// What keeps a piece away from a server, and why.
    fn against(
        &self,
        servers: &Servers,
        server: usize,
        kind: usize,
    ) -> Option<(&'static str, Option<String>)> {
        let (demand, free, class) = (servers.demand(kind), servers.free(server), servers.class_of(server));
        if self.usable(kind).binary_search(&class).is_err() {
            return Some(("may not run on", None));
        }
        if !fits(demand, free) {
            return Some(("does not fit", self.questions.short_of(demand, free)));
        }
        let no_room = "limits, reserves or guarantees leave it no room there (`classes` names where they do)";
        let by_quotas = (!servers.is_eligible(kind, class)).then_some(no_room);
        let rule = by_quotas.or_else(|| servers.rule_against(server, kind))?;
        Some(("may not run on", Some(rule.into())))
    }
}
