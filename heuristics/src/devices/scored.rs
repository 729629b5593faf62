//! The server of highest score, where scores are whole numbers from 0 to 100: how Kubernetes' scheduler chooses, and therefore the
//! policies that were published for it. Of equal scores the server counts that comes first in an order that is drawn once, as in
//! the simulator with which they were published. It matters much: tasks to which all servers are alike gather on few of them.
//!
//! A score depends on one server and one task alone, so it is kept until the server changes.

use super::{Choice, Chosen, Servers};
use crate::PlacementError;
use crate::random::below;
use fairplan_instances::{Instance, ResourceId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The highest score.
pub(crate) const HIGHEST: i64 = 100;

/// How good a server with room is for a task.
pub(crate) trait NodeScore {
    /// The score, and the device of which the task takes a part if the policy chooses that too.
    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>);

    /// The task is placed on the server.
    fn placed(&mut self, _servers: &Servers, _server: usize, _shape: usize) {}
}

/// The two resources that these policies look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuAndGpu {
    /// The first resource without devices, if there is one.
    pub cpu: Option<usize>,
    /// The one with devices.
    pub gpu: usize,
}

impl CpuAndGpu {
    /// Those of an instance with devices of exactly one resource.
    pub fn of(instance: &Instance, policy: &str) -> Result<Self, PlacementError> {
        let has_devices = |r: &usize| instance.device_size(ResourceId(*r)).is_some();
        let all = 0..instance.resources().len();
        let with: Vec<usize> = all.clone().filter(has_devices).collect();
        match with[..] {
            [gpu] => Ok(Self { cpu: all.into_iter().find(|r| *r != gpu), gpu }),
            _ => Err(PlacementError::DevicesNeeded { policy: policy.into(), found: with.len() }),
        }
    }
}

/// Takes the server of highest score; ties go to the first in an order that a seed draws.
pub(crate) struct Scored<S> {
    rule: S,
    seed: u64,
    /// The servers in that order; empty before the first task.
    order: Vec<usize>,
    /// By shape and server: the version of the server that it was scored in, and the score.
    known: Vec<Vec<Known>>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    version: u32,
    score: i8,
    device: u16,
}

/// No device is named.
const NO_DEVICE: u16 = u16::MAX;

impl<S: NodeScore> Scored<S> {
    pub fn new(rule: S, seed: u64) -> Self {
        Self { rule, seed, order: Vec::new(), known: Vec::new() }
    }
}

impl<S: NodeScore> Choice for Scored<S> {
    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen> {
        if self.order.is_empty() {
            self.order = drawn(servers.count(), self.seed);
            self.known = vec![Vec::new(); servers.shapes()];
        }
        let known = &mut self.known[shape];
        known.resize(servers.count(), Known::default());
        let mut best: Option<(usize, Known)> = None;
        for server in self.order.iter().copied().filter(|server| servers.has_room(*server, shape)) {
            let kept = &mut known[server];
            if kept.version != servers.version(server) {
                let (score, device) = self.rule.score(servers, server, shape);
                let device = device.and_then(|device| u16::try_from(device).ok()).unwrap_or(NO_DEVICE);
                *kept =
                    Known { version: servers.version(server), score: score.clamp(0, HIGHEST) as i8, device };
            }
            if best.is_none_or(|(_, known)| kept.score > known.score) {
                best = Some((server, *kept));
            }
        }
        let (server, Known { device, .. }) = best?;
        self.rule.placed(servers, server, shape);
        Some(Chosen { server, device: (device != NO_DEVICE).then_some(usize::from(device)) })
    }
}

/// So many servers in an order drawn by a seed.
fn drawn(servers: usize, seed: u64) -> Vec<usize> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..servers).collect();
    for last in (1..servers).rev() {
        order.swap(last, below(&mut generator, last + 1));
    }
    order
}
