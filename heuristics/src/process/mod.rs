//! A policy in another process: it is told of the cluster, asked where each task goes, and every answer is checked.
//!
//! Users are served in the same order as under every other policy. Who is next depends on answers only where the user with the
//! lowest share still waits for one: a user that is turned down leaves, and those with higher shares never come before it. So
//! tasks of other users are asked for ahead of the answers, which saves most of the waiting between two processes.

mod command;
mod messages;
mod pipes;

use crate::PlacementError;
use crate::journal::Journal;
use crate::packing::{Packing, fits};
use crate::shares::Shares;
use fairplan_instances::wording::printable;
use fairplan_instances::{Deadline, Decimal, Instance, Placement, ResourceId, ServerNames, UserId};
use hashbrown::HashMap;
use messages::{Answer, Messages, answer};
use pipes::{Conversation, Silence};
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// Tasks that are asked for before the first of them has an answer, at most.
const AHEAD: usize = 512;

/// A policy that is a command of its own, which speaks `fairplan.policy.v1` on its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePolicy {
    text: String,
    words: Vec<String>,
    timeout: Duration,
}

/// Why a policy in another process placed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFailure {
    /// The command.
    pub command: String,
    /// What it did.
    pub problem: String,
    /// The end of what it wrote to its standard error.
    pub last_words: String,
}

impl fmt::Display for ProcessFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy {}: {}", printable(&self.command, 200), printable(&self.problem, 600))?;
        match self.last_words.trim() {
            "" => Ok(()),
            words => {
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                write!(f, "; its last words: {}", printable(&words, 600))
            }
        }
    }
}

impl std::error::Error for ProcessFailure {}

impl OutsidePolicy {
    /// The policy of a command line, cut at blanks as a shell does, with 'single' and "double" quotes. It is given up when it
    /// takes longer than `timeout` for an answer.
    ///
    /// # Errors
    /// A quote that does not end, or no word at all: what is wrong.
    pub fn new(command: &str, timeout: Duration) -> Result<Self, String> {
        Ok(Self { text: command.into(), words: command::words(command)?, timeout })
    }

    /// The command line: its name in results.
    pub fn name(&self) -> String {
        self.text.clone()
    }

    fn failure(&self, problem: String, last_words: String) -> ProcessFailure {
        ProcessFailure { command: self.text.clone(), problem, last_words }
    }

    /// Fills the servers of `instance` as other policies do, asking where each task goes.
    ///
    /// # Errors
    /// What the policy did that no policy may, with task, user, server and resource as far as there are such, and its last words;
    /// time is over.
    pub fn place_within(
        &self,
        instance: &Instance,
        deadline: &Deadline,
    ) -> Result<Placement, PlacementError> {
        let packing = Packing::in_resources(instance)?;
        let shares = Shares::new(instance)?;
        let names = ServerNames::new(instance);
        let names: Vec<String> = (0..packing.servers()).map(|s| names.name(s as u64).into_owned()).collect();
        let process = Conversation::begin(&self.words)
            .map_err(|error| self.failure(format!("cannot be started: {error}"), String::new()))?;
        let mut filling = Asking {
            policy: self,
            instance,
            packing: &packing,
            deadline,
            process,
            messages: Messages::new(instance),
            servers: names.iter().map(String::as_str).zip(0..).collect(),
            free: packing.free(),
            tasks: vec![0; instance.user_count()],
            journal: Journal::new(packing.servers()),
            asked: VecDeque::new(),
            waits: vec![false; instance.user_count()],
            task: 0,
        };
        filling.messages.cluster(&names, &packing, filling.process.outgoing());
        filling.fill(shares)?;
        filling.process.end();
        Ok(Placement { tasks: filling.tasks, servers: filling.journal.finish() })
    }
}

/// A policy that is being asked.
struct Asking<'a> {
    policy: &'a OutsidePolicy,
    instance: &'a Instance,
    packing: &'a Packing,
    deadline: &'a Deadline,
    process: Conversation,
    messages: Messages,
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

impl Asking<'_> {
    /// Asks until no user is left.
    fn fill(&mut self, mut shares: Shares) -> Result<(), PlacementError> {
        let has_rates = self.instance.rules().iter().any(|rule| !rule.rates().is_empty());
        // What a task adds to a share is known before its server only without rates.
        let ahead = if has_rates { 1 } else { AHEAD };
        let nowhere = |instance: &Instance, user: usize| !instance.user(UserId(user)).fits_somewhere();
        let mut may_ask = true;
        loop {
            // Many questions at once cost both sides less than as many one by one.
            may_ask |= self.asked.len() <= ahead / 2;
            while may_ask && let Some(user) = shares.lowest() {
                if self.waits[user] {
                    break;
                }
                let limit = self.instance.user(UserId(user)).tasks();
                if limit.is_some_and(|limit| self.tasks[user] >= limit)
                    || self.tasks[user] == 0 && nowhere(self.instance, user)
                {
                    shares.leave(user);
                    continue;
                }
                self.task += 1;
                self.messages.place(self.task, user, self.process.outgoing());
                self.asked.push_back((self.task, user));
                self.waits[user] = true;
                may_ask = self.asked.len() < ahead;
                if !has_rates {
                    shares.add_tasks(user, 1, || self.packing.class_of(0));
                }
            }
            let Some((task, user)) = self.asked.front().copied() else { return self.nothing_more() };
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

    fn of(&self, task: u64, user: usize) -> String {
        format!("task {task}, of user {}", printable(self.instance.user(UserId(user)).id(), 200))
    }

    fn failure(&mut self, problem: String) -> PlacementError {
        let last_words = self.process.last_words();
        self.policy.failure(problem, last_words).into()
    }

    /// The server that is answered for a task.
    fn answer(&mut self, task: u64, user: usize) -> Result<Option<usize>, PlacementError> {
        let limit =
            self.deadline.time_left().map_or(self.policy.timeout, |left| left.min(self.policy.timeout));
        let line = match self.process.line(limit) {
            Ok(line) => line,
            Err(Silence::Late) if self.deadline.is_over() => {
                return Err(PlacementError::OutOfTime { placed: self.tasks.iter().sum() });
            }
            Err(Silence::Late) => {
                let seconds = self.policy.timeout.as_secs_f64();
                return Err(self.failure(format!(
                    "no answer within {seconds} s for {}; allow more with --policy-timeout",
                    self.of(task, user)
                )));
            }
            Err(Silence::Ended(how)) => {
                return Err(self.failure(format!("{how} before it answered for {}", self.of(task, user))));
            }
        };
        let problem = match answer(&line) {
            Answer::Nowhere => return Ok(None),
            Answer::Server(name) => match self.servers.get(name.as_ref()) {
                Some(server) => return Ok(Some(*server as usize)),
                None => format!("there is no server {}", printable(&name, 200)),
            },
            Answer::Nonsense => {
                let line = String::from_utf8_lossy(&line).into_owned();
                format!(
                    "answers {}, where {{\"server\": \"ID\"}} or {{\"server\": null}} is expected",
                    printable(line.trim_end(), 200)
                )
            }
        };
        Err(self.failure(format!("{}: {problem}", self.of(task, user))))
    }

    /// Takes the room of a task, which must be there.
    fn take(&mut self, task: u64, user: usize, server: usize) -> Result<(), PlacementError> {
        let shape = &self.packing.shapes[self.packing.shape_of[user] as usize];
        let row = server * self.packing.width..(server + 1) * self.packing.width;
        let class = self.packing.class_of(server);
        let name = |asking: &Self| {
            let names = ServerNames::new(asking.instance);
            printable(&names.name(server as u64), 200)
        };
        if shape.classes.binary_search(&class.0).is_err() {
            let problem = format!("{}, may not run on server {}", self.of(task, user), name(self));
            return Err(self.failure(problem));
        }
        if !fits(&shape.demand, &self.free[row.clone()]) {
            let free = &self.free[row];
            let short = (0..free.len()).find(|r| shape.demand[*r] > free[*r]).unwrap_or(0);
            let amount = |units: u128| {
                let exponent = self.instance.unit_exponent(ResourceId(short));
                Decimal::from_units(units, exponent.into())
                    .map_or_else(|_| units.to_string(), |d| d.to_string())
            };
            let problem = format!(
                "{}, does not fit server {}: it needs {} of {}, and {} is free",
                self.of(task, user),
                name(self),
                amount(shape.demand[short]),
                printable(&self.instance.resources()[short], 100),
                amount(free[short]),
            );
            return Err(self.failure(problem));
        }
        self.free[row].iter_mut().zip(&shape.demand).for_each(|(free, demand)| *free -= demand);
        Ok(())
    }

    /// Nothing is asked any more, so nothing must be said any more.
    fn nothing_more(&mut self) -> Result<(), PlacementError> {
        match self.process.has_more() {
            false => Ok(()),
            true => Err(self.failure("answers more often than it is asked".into())),
        }
    }
}
