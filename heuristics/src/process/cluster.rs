//! A policy in another process on servers whose tasks come and go.
//!
//! Tasks that ask for the same are one user to it, called `shape-1`, `shape-2` and so on in the order in which they first come.

use super::command::OutsidePolicy;
use super::dialogue::Dialogue;
use super::messages::{amounts, server, short_of, text, user};
use crate::error::{PlacementError, ProcessFailure};
use crate::packing::{fits, resized};
use fairplan_instances::wording::printable;
use fairplan_instances::{Decimal, ServerChoice};
use hashbrown::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// What a cluster calls its resources and its first servers.
#[derive(Clone, Debug, Default)]
pub struct ClusterNames {
    /// The resources, each with the power of ten that is its unit.
    pub resources: Vec<(String, i8)>,
    /// The servers that are there from the beginning, each with its class. Others are called `server/N`, of no class.
    pub servers: Vec<(String, String)>,
}

/// Where it is noted why a policy of somebody else's broke off: who asks for a server cannot be told.
#[derive(Clone, Debug, Default)]
pub struct FailureNote(Arc<Mutex<Option<PlacementError>>>);

impl FailureNote {
    /// What went wrong, if anything did.
    pub fn read(&self) -> Option<PlacementError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note(&self, failure: PlacementError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }
}

/// The choice of a policy in another process.
pub(super) struct OutsideChoice {
    policy: OutsidePolicy,
    names: ClusterNames,
    note: FailureNote,
    /// `None` before the first task, and after a failure.
    dialogue: Option<Dialogue>,
    /// What has become of tasks before the first that is asked for.
    before: Vec<u8>,
    has_failed: bool,
    capacities: Vec<Vec<u128>>,
    free: Vec<Vec<u128>>,
    positions: HashMap<String, u32>,
    demands: Vec<Vec<u128>>,
    task: u64,
}

impl OutsideChoice {
    pub fn new(policy: OutsidePolicy, names: ClusterNames, note: FailureNote) -> Self {
        Self {
            policy,
            names,
            note,
            dialogue: None,
            before: Vec::new(),
            has_failed: false,
            capacities: Vec::new(),
            free: Vec::new(),
            positions: HashMap::new(),
            demands: Vec::new(),
            task: 0,
        }
    }

    fn exponent(&self, r: usize) -> i32 {
        self.names.resources.get(r).map_or(0, |(_, exponent)| (*exponent).into())
    }

    fn decimals(&self, units: &[u128]) -> Vec<Decimal> {
        let decimal = |(r, units): (usize, &u128)| Decimal::from_units(*units, self.exponent(r));
        units.iter().enumerate().map(|at| decimal(at).unwrap_or(Decimal::ZERO)).collect()
    }

    fn server_name(&self, server: usize) -> (String, String) {
        let known = self.names.servers.get(server).cloned();
        known.unwrap_or_else(|| (format!("server/{}", server + 1), String::new()))
    }

    fn server_fields(&self, at: usize) -> Vec<u8> {
        let (name, class) = self.server_name(at);
        server(&name, &class, &amounts(&self.decimals(&self.capacities[at])))
    }

    fn user_fields(&self, shape: usize) -> Vec<u8> {
        user(&format!("shape-{}", shape + 1), &self.decimals(&self.demands[shape]), None)
    }

    /// Says something that is not answered, once the policy has been told of the cluster.
    fn tell(&mut self, kind: &str, fields: &[u8]) {
        if let Some(dialogue) = &mut self.dialogue {
            message(kind, fields, dialogue.outgoing());
        }
    }

    /// Says what becomes of a task on a server; later, if the policy is not told of the cluster yet.
    fn tell_of_task(&mut self, kind: &str, server: usize, shape: usize) {
        let (name, _) = self.server_name(server);
        let user = format!("\"shape-{}\"", shape + 1);
        let fields = [b"\"server\":", &text(&name)[..], b",\"user\":", user.as_bytes()].concat();
        match &mut self.dialogue {
            Some(dialogue) => message(kind, &fields, dialogue.outgoing()),
            None if !self.has_failed => message(kind, &fields, &mut self.before),
            None => {}
        }
    }

    /// Starts the policy and tells it of the cluster as it is.
    fn begin(&mut self) -> Result<Dialogue, ProcessFailure> {
        let mut dialogue = Dialogue::begin(&self.policy)?;
        let wrapped = |fields: Vec<u8>| [b"{", &fields[..], b"}"].concat();
        let join = |parts: Vec<Vec<u8>>| parts.join(&b","[..]);
        let resources = join(self.names.resources.iter().map(|(name, _)| text(name)).collect());
        let servers = join((0..self.free.len()).map(|at| wrapped(self.server_fields(at))).collect());
        let users = join((0..self.demands.len()).map(|shape| wrapped(self.user_fields(shape))).collect());
        let parts: [&[u8]; 7] = [
            b"{\"type\":\"cluster\",\"resources\":[",
            &resources,
            b"],\"servers\":[",
            &servers,
            b"],\"users\":[",
            &users,
            b"]}\n",
        ];
        parts.into_iter().for_each(|part| dialogue.outgoing().extend_from_slice(part));
        dialogue.outgoing().append(&mut self.before);
        Ok(dialogue)
    }

    fn asked(&mut self, shape: usize) -> Result<Option<usize>, ProcessFailure> {
        let mut dialogue = match self.dialogue.take() {
            Some(dialogue) => dialogue,
            None => self.begin()?,
        };
        self.task += 1;
        let (task, out) = (self.task, dialogue.outgoing());
        let _ = writeln!(out, "{{\"type\":\"place\",\"task\":{task},\"user\":\"shape-{}\"}}", shape + 1);
        let what = || format!("task {task}, of user shape-{}", shape + 1);
        let server = dialogue.answer(dialogue.timeout(), what, |name| self.positions.get(name).copied())?;
        if let Some(server) = server {
            let (demand, free) = (&self.demands[shape], &self.free[server as usize]);
            let names: Vec<String> = self.names.resources.iter().map(|(name, _)| name.clone()).collect();
            if let Some(short) = short_of(demand, free, &names, |r| self.exponent(r)) {
                let (name, _) = self.server_name(server as usize);
                let problem = format!("{}, does not fit server {}: {short}", what(), printable(&name, 200));
                return Err(dialogue.failure(problem));
            }
        }
        self.dialogue = Some(dialogue);
        Ok(server.map(|server| server as usize))
    }
}

impl ServerChoice for OutsideChoice {
    fn add_server(&mut self, capacity: &[u128]) {
        let at = self.free.len();
        self.positions.insert(self.server_name(at).0, at as u32);
        self.capacities.push(capacity.to_vec());
        self.free.push(capacity.to_vec());
        let fields = self.server_fields(at);
        self.tell("server", &fields);
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        let Some(left) = resized(&self.free[server], from, to) else { return false };
        self.free[server] = left;
        self.capacities[server] = to.to_vec();
        let fields = self.server_fields(server);
        self.tell("server", &fields);
        true
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.demands.push(demand.to_vec());
        let fields = self.user_fields(self.demands.len() - 1);
        self.tell("user", &fields);
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        if self.has_failed {
            return None;
        }
        match self.asked(shape) {
            Ok(server) => {
                let server = server?;
                self.free[server].iter_mut().zip(&self.demands[shape]).for_each(|(free, need)| *free -= need);
                Some(server)
            }
            Err(failure) => {
                self.has_failed = true;
                self.note.note(failure.into());
                None
            }
        }
    }

    /// Such a policy is told of tasks only by being asked.
    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        fits(&self.demands[shape], &self.free[server]) && self.take(shape) == Some(server)
    }

    /// Such a policy is told, not asked.
    fn hold(&mut self, server: usize, shape: usize) -> bool {
        if !fits(&self.demands[shape], &self.free[server]) {
            return false;
        }
        self.free[server].iter_mut().zip(&self.demands[shape]).for_each(|(free, need)| *free -= need);
        self.tell_of_task("begin", server, shape);
        true
    }

    fn release(&mut self, server: usize, shape: usize) {
        self.free[server].iter_mut().zip(&self.demands[shape]).for_each(|(free, need)| *free += need);
        self.tell_of_task("end", server, shape);
    }

    fn decides_alone(&self) -> bool {
        true
    }
}

/// A message of this type, which is not answered.
fn message(kind: &str, fields: &[u8], out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = write!(out, "{{\"type\":\"{kind}\",");
    out.extend_from_slice(fields);
    out.extend_from_slice(b"}\n");
}
