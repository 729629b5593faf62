//! Progressive filling with a policy in another process.
//!
//! Users are served in the same order as under every other policy. Answers change that order only by turning a user down, who
//! leaves; the others follow each other as before. So tasks are asked for ahead of the answers, as if all had a server, which saves
//! most of the waiting between two processes. What was asked for a user behind the answer that turns it down would not have been
//! asked: room only shrinks, so that no server will do for it either. A policy that answers otherwise is begun again and asked so
//! that it need not know this: no task before the one before it of the same user is answered. Where users stand in groups, or a
//! task's work depends on its server, each answer is waited for.

use super::command::OutsidePolicy;
use super::questions::{Questions, names_of};
use crate::devices::Servers;
use crate::journal::Journal;
use crate::packing::{Packing, fits};
use crate::shares::Shares;
use crate::{PlacementError, Turn};
use fairplan_instances::{Deadline, Instance, KindId, Placement, UserId};
use std::collections::VecDeque;

/// Tasks that are asked for before the first of them has an answer, at most.
const AHEAD: usize = 512;

/// And of one user: policies look at that many in vain when they turn it down.
const OF_ONE: u32 = 64;

/// Fills the servers of `instance`, asking where each task goes.
pub(super) fn fill(
    policy: &OutsidePolicy,
    instance: &Instance,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let mut of_one = OF_ONE;
    loop {
        if let Some(placement) = filled(policy, instance, deadline, of_one)? {
            return Ok(placement);
        }
        // Who is asked for one task of a user at a time is never asked behind turning it down.
        of_one = 1;
    }
}

/// The same with so many tasks of a user asked for at once; none if that makes a difference to the policy.
fn filled(
    policy: &OutsidePolicy,
    instance: &Instance,
    deadline: &Deadline,
    of_one: u32,
) -> Result<Option<Placement>, PlacementError> {
    // Rules are about users, so each is a shape of its own where there are any.
    let packing = Packing::in_resources(instance)?;
    let packing = if instance.has_server_rules() { packing.apart() } else { packing };
    let shares = Shares::new(instance, Turn::LowestShare)?;
    let names = names_of(instance, &packing);
    let mut filling = Filling {
        instance,
        packing: &packing,
        questions: Questions::begin(policy, instance, deadline, &packing, &names)?,
        free: packing.free(),
        ruled: instance.has_server_rules().then(|| Servers::new(instance, &packing)),
        tasks: vec![0; instance.user_count()],
        journal: Journal::new(packing.servers()),
        asked: VecDeque::new(),
        waits: vec![0; instance.user_count()],
        is_turned_down: vec![false; instance.user_count()],
    };
    if !filling.fill(shares, of_one)? {
        return Ok(None);
    }
    filling.questions.end()?;
    Ok(Some(Placement { tasks: filling.tasks, servers: filling.journal.finish() }))
}

/// What is placed and asked so far.
struct Filling<'a> {
    instance: &'a Instance,
    packing: &'a Packing,
    questions: Questions<'a>,
    free: Vec<u128>,
    /// The same with devices and what other rules count, where only whole tasks meet rules.
    ruled: Option<Servers>,
    tasks: Vec<u64>,
    journal: Journal,
    /// The tasks without an answer, by number and user.
    asked: VecDeque<(u64, usize)>,
    /// Of each user how many of its tasks are among them, and whether it has been turned down.
    waits: Vec<u32>,
    is_turned_down: Vec<bool>,
}

impl Filling<'_> {
    /// Asks until no user is left; whether no user had a server after it was turned down.
    fn fill(&mut self, mut shares: Shares, of_one: u32) -> Result<bool, PlacementError> {
        let has_rates = self.instance.rules().iter().any(|rule| !rule.rates().is_empty());
        let waits_for_each = has_rates || self.instance.has_groups();
        let ahead = if waits_for_each { 1 } else { AHEAD };
        // Many questions at once cost both sides less than as many one by one.
        let mut refilled_at = 0;
        loop {
            if self.asked.len() <= refilled_at {
                self.ask(&mut shares, ahead, of_one, !waits_for_each);
                refilled_at = self.asked.len() / 2;
            }
            let Some((task, user)) = self.asked.front().copied() else { return Ok(true) };
            let server = self.questions.answer(task, KindId(user), || self.tasks.iter().sum())?;
            self.asked.pop_front();
            self.waits[user] -= 1;
            match server {
                None if self.is_turned_down[user] => {}
                None => {
                    self.is_turned_down[user] = true;
                    shares.leave(user);
                }
                Some(_) if self.is_turned_down[user] => return Ok(false),
                Some(server) => {
                    self.take(task, user, server)?;
                    self.tasks[user] += 1;
                    self.journal.add(server as u32, user as u32);
                    if waits_for_each {
                        shares.add_tasks(user, 1, || self.packing.class_of(server));
                    }
                }
            }
        }
    }

    /// Asks for the next tasks, as far as who is next is known and not too many have been asked for.
    fn ask(&mut self, shares: &mut Shares, ahead: usize, of_one: u32, counts: bool) {
        while self.asked.len() < ahead
            && let Some(user) = shares.lowest()
            && self.waits[user] < of_one
        {
            let view = self.instance.user(UserId(user));
            let asked = self.tasks[user] + u64::from(self.waits[user]);
            if view.tasks().is_some_and(|limit| asked >= limit) || asked == 0 && !view.fits_somewhere() {
                shares.leave(user);
                continue;
            }
            // Nobody has kinds here, so a user is a kind.
            let task = self.questions.ask(KindId(user), None);
            self.asked.push_back((task, user));
            self.waits[user] += 1;
            if counts {
                shares.add_tasks(user, 1, || self.packing.class_of(0));
            }
        }
    }

    /// Takes the room of a task, which must be there.
    fn take(&mut self, task: u64, user: usize, server: usize) -> Result<(), PlacementError> {
        let shape = &self.packing.shapes[self.packing.shape_of[user] as usize];
        let class = self.packing.class_of(server);
        let free = &mut self.free[server * self.packing.width..(server + 1) * self.packing.width];
        let problem = if shape.classes.binary_search(&class.0).is_err() {
            ("may not run on", None)
        } else if !fits(&shape.demand, free) {
            ("does not fit", self.questions.short_of(&shape.demand, free))
        } else if let Some(rule) = self.ruled.as_ref().and_then(|ruled| ruled.rule_against(server, user)) {
            ("may not run on", Some(rule.into()))
        } else {
            free.iter_mut().zip(&shape.demand).for_each(|(free, demand)| *free -= demand);
            self.ruled.iter_mut().for_each(|ruled| ruled.take(server, user, None));
            return Ok(());
        };
        Err(self.questions.refused(task, KindId(user), server, problem))
    }
}
