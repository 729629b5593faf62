//! Progressive filling with a policy in another process.
//!
//! Users are served in the same order as under every other policy. Who is next depends on answers only where the user with the
//! lowest share still waits for one: a user that is turned down leaves, and those with higher shares never come before it. So
//! tasks of other users are asked for ahead of the answers, which saves most of the waiting between two processes.

use super::OutsidePolicy;
use super::dialogue::{Dialogue, Unanswered};
use super::messages::{Messages, short_of};
use crate::journal::Journal;
use crate::packing::{Packing, fits};
use crate::shares::Shares;
use crate::{PlacementError, Turn};
use fairplan_instances::wording::printable;
use fairplan_instances::{Deadline, Instance, Placement, ResourceId, ServerNames, UserId};
use hashbrown::HashMap;
use std::collections::VecDeque;

/// Tasks that are asked for before the first of them has an answer, at most.
const AHEAD: usize = 512;

/// Fills the servers of `instance`, asking where each task goes.
pub(super) fn fill(
    policy: &OutsidePolicy,
    instance: &Instance,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let packing = Packing::in_resources(instance)?;
    let shares = Shares::new(instance, Turn::LowestShare)?;
    let names = ServerNames::new(instance);
    let names: Vec<String> = (0..packing.servers()).map(|s| names.name(s as u64).into_owned()).collect();
    let mut filling = Filling {
        instance,
        packing: &packing,
        deadline,
        dialogue: Dialogue::begin(policy)?,
        messages: Messages::new(instance),
        names: &names,
        servers: names.iter().map(String::as_str).zip(0..).collect(),
        free: packing.free(),
        tasks: vec![0; instance.user_count()],
        journal: Journal::new(packing.servers()),
        asked: VecDeque::new(),
        waits: vec![false; instance.user_count()],
        task: 0,
    };
    filling.messages.cluster(&names, &packing, filling.dialogue.outgoing());
    filling.fill(shares)?;
    filling.dialogue.end()?;
    Ok(Placement { tasks: filling.tasks, servers: filling.journal.finish() })
}

/// What is placed and asked so far.
struct Filling<'a> {
    instance: &'a Instance,
    packing: &'a Packing,
    deadline: &'a Deadline,
    dialogue: Dialogue,
    messages: Messages,
    names: &'a [String],
    servers: HashMap<&'a str, u32>,
    free: Vec<u128>,
    tasks: Vec<u64>,
    journal: Journal,
    /// The tasks without an answer, by number and user.
    asked: VecDeque<(u64, usize)>,
    /// Of each user whether a task of it is among them.
    waits: Vec<bool>,
    /// Tasks asked for so far.
    task: u64,
}

impl Filling<'_> {
    /// Asks until no user is left.
    fn fill(&mut self, mut shares: Shares) -> Result<(), PlacementError> {
        let has_rates = self.instance.rules().iter().any(|rule| !rule.rates().is_empty());
        // What a task adds to a share is known before its server only without rates.
        let ahead = if has_rates { 1 } else { AHEAD };
        let mut may_ask = true;
        loop {
            // Many questions at once cost both sides less than as many one by one.
            may_ask |= self.asked.len() <= ahead / 2;
            while may_ask && let Some(user) = shares.lowest() {
                if self.waits[user] {
                    break;
                }
                let view = self.instance.user(UserId(user));
                if view.tasks().is_some_and(|limit| self.tasks[user] >= limit)
                    || self.tasks[user] == 0 && !view.fits_somewhere()
                {
                    shares.leave(user);
                    continue;
                }
                self.task += 1;
                self.messages.place(self.task, user, self.dialogue.outgoing());
                self.asked.push_back((self.task, user));
                self.waits[user] = true;
                may_ask = self.asked.len() < ahead;
                if !has_rates {
                    shares.add_tasks(user, 1, || self.packing.class_of(0));
                }
            }
            let Some((task, user)) = self.asked.front().copied() else { return Ok(()) };
            let server = self.answer(task, user)?;
            self.asked.pop_front();
            self.waits[user] = false;
            match server {
                None => shares.leave(user),
                Some(server) => {
                    self.take(task, user, server)?;
                    self.tasks[user] += 1;
                    self.journal.add(server as u32, user as u32);
                    if has_rates {
                        shares.add_tasks(user, 1, || self.packing.class_of(server));
                    }
                }
            }
        }
    }

    /// The server that is answered for a task.
    fn answer(&mut self, task: u64, user: usize) -> Result<Option<usize>, PlacementError> {
        let timeout = self.dialogue.timeout();
        let limit = self.deadline.time_left().map_or(timeout, |left| left.min(timeout));
        let (instance, servers) = (self.instance, &self.servers);
        let found = |name: &str| servers.get(name).copied();
        match self.dialogue.answer(limit, || of(instance, task, user), found) {
            Ok(server) => Ok(server.map(|server| server as usize)),
            Err(Unanswered::Late(_)) if self.deadline.is_over() => {
                Err(PlacementError::OutOfTime { placed: self.tasks.iter().sum() })
            }
            Err(unanswered) => Err(PlacementError::Outside(unanswered.into())),
        }
    }

    /// Takes the room of a task, which must be there.
    fn take(&mut self, task: u64, user: usize, server: usize) -> Result<(), PlacementError> {
        let shape = &self.packing.shapes[self.packing.shape_of[user] as usize];
        let class = self.packing.class_of(server);
        let free = &mut self.free[server * self.packing.width..(server + 1) * self.packing.width];
        let problem = if shape.classes.binary_search(&class.0).is_err() {
            "may not run on"
        } else if !fits(&shape.demand, free) {
            "does not fit"
        } else {
            free.iter_mut().zip(&shape.demand).for_each(|(free, demand)| *free -= demand);
            return Ok(());
        };
        let named = printable(&self.names[server], 200);
        let mut problem = format!("{}, {problem} server {named}", of(self.instance, task, user));
        let exponent = |r: usize| self.instance.unit_exponent(ResourceId(r)).into();
        if let Some(short) = short_of(&shape.demand, free, self.instance.resources(), exponent) {
            problem = format!("{problem}: {short}");
        }
        Err(self.dialogue.failure(problem).into())
    }
}

fn of(instance: &Instance, task: u64, user: usize) -> String {
    format!("task {task}, of user {}", printable(instance.user(UserId(user)).id(), 200))
}
