//! Questions to a policy in another process while servers are filled: which server each task or piece goes to, by the names of servers.

use super::command::OutsidePolicy;
use super::dialogue::{Dialogue, Unanswered};
use super::messages::{Messages, short_of};
use crate::PlacementError;
use crate::packing::Packing;
use fairplan_instances::wording::printable;
use fairplan_instances::{Deadline, Instance, KindId, ResourceId, ServerNames};
use hashbrown::HashMap;

/// The names of all servers, in order.
pub(super) fn names_of(instance: &Instance, packing: &Packing) -> Vec<String> {
    let names = ServerNames::new(instance);
    (0..packing.servers()).map(|s| names.name(s as u64).into_owned()).collect()
}

/// A policy that is asked.
pub(super) struct Questions<'a> {
    instance: &'a Instance,
    deadline: &'a Deadline,
    dialogue: Dialogue,
    messages: Messages,
    names: &'a [String],
    positions: HashMap<&'a str, u32>,
    /// Tasks and pieces asked for so far: the number of the last question.
    asked: u64,
}

impl<'a> Questions<'a> {
    /// Starts the policy and tells it of the cluster.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn begin(
        policy: &OutsidePolicy,
        instance: &'a Instance,
        deadline: &'a Deadline,
        packing: &Packing,
        names: &'a [String],
    ) -> Result<Self, PlacementError> {
        let mut dialogue = Dialogue::begin(policy)?;
        let mut messages = Messages::new(instance);
        messages.cluster(names, packing, dialogue.outgoing());
        let positions = names.iter().map(String::as_str).zip(0..).collect();
        Ok(Self { instance, deadline, dialogue, messages, names, positions, asked: 0 })
    }

    /// Asks for a server for a piece of a kind, on these classes if not all that it may use are open: the question's number.
    pub fn ask(&mut self, kind: KindId, classes: Option<&[usize]>) -> u64 {
        self.asked += 1;
        self.messages.place(self.asked, kind, classes, self.dialogue.outgoing());
        self.asked
    }

    /// Tells that so many pieces of a kind on a server are there no more.
    pub fn ended(&mut self, server: usize, kind: KindId, count: u64) {
        (0..count).for_each(|_| self.messages.end(&self.names[server], kind, self.dialogue.outgoing()));
    }

    /// The server that is answered to the oldest question without an answer, which is this one, or none.
    ///
    /// # Errors
    /// What the policy did that no policy may; time is over, with `placed` tasks.
    pub fn answer(
        &mut self,
        question: u64,
        kind: KindId,
        placed: impl Fn() -> u64,
    ) -> Result<Option<usize>, PlacementError> {
        let timeout = self.dialogue.timeout();
        let limit = self.deadline.time_left().map_or(timeout, |left| left.min(timeout));
        let (instance, positions) = (self.instance, &self.positions);
        let what = || named(instance, question, kind);
        match self.dialogue.answer(limit, what, |name| positions.get(name).copied()) {
            Ok(server) => Ok(server.map(|server| server as usize)),
            Err(Unanswered::Late(_)) if self.deadline.is_over() => {
                Err(PlacementError::OutOfTime { placed: placed() })
            }
            Err(unanswered) => Err(PlacementError::Outside(unanswered.into())),
        }
    }

    /// The failure of a policy that answers a server which this piece `may not run on` or `does not fit`, and why.
    pub fn refused(
        &mut self,
        question: u64,
        kind: KindId,
        server: usize,
        (problem, why): (&str, Option<String>),
    ) -> PlacementError {
        let what = named(self.instance, question, kind);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let name = printable(&self.names[server], 200);
        self.dialogue.failure(format!("{what}, {problem} server {name}{why}")).into()
    }

    /// What a piece lacks where it has no room.
    pub fn short_of(&self, demand: &[u128], free: &[u128]) -> Option<String> {
        let exponent = |r: usize| self.instance.unit_exponent(ResourceId(r)).into();
        short_of(demand, free, self.instance.resources(), exponent)
    }

    /// Nothing is asked any more.
    ///
    /// # Errors
    /// The policy says more than it was asked.
    pub fn end(&mut self) -> Result<(), PlacementError> {
        Ok(self.dialogue.end()?)
    }
}

fn named(instance: &Instance, question: u64, kind: KindId) -> String {
    let kind = instance.kind(kind);
    let user = printable(kind.user().id(), 200);
    match kind.id() {
        None => format!("task {question}, of user {user}"),
        Some(id) => format!("task {question}, a piece of kind {} of user {user}", printable(id, 200)),
    }
}
