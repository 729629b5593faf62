//! The server of highest score, where scores are whole numbers from 0 to 100: how Kubernetes' scheduler chooses, and therefore the
//! policies that were published for it. Of equal scores the server counts that comes first in an order that is drawn once, as in
//! the simulator with which they were published. It matters much: tasks to which all servers are alike gather on few of them.
//!
//! A score depends on one server and one task alone, and on what tasks are expected, so it is kept until one of these changes.

use super::{Choice, Chosen, OnDevices, Servers, place, place_in_order};
use crate::first_with_room::FirstFitting;
use crate::random::below;
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ResourceId, ServerChoice};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::marker::PhantomData;

/// The highest score.
pub(crate) const HIGHEST: i64 = 100;

/// How good a server with room is for a task: all in which the policies of this kind differ.
pub(crate) trait NodeScore: Sized + Send + 'static {
    /// What the policy is called.
    const NAME: &'static str;

    /// For an instance, by these of its resources.
    fn new(instance: &Instance, looked_at: CpuAndGpu) -> Self;

    /// For servers and tasks that come and go, of which none is known yet.
    fn unknown(looked_at: CpuAndGpu) -> Self;

    /// There is a server of this capacity, or will be.
    fn added(&mut self, _capacity: &[u128]) {}

    /// Takes note of the shapes that tasks have by now; whether all servers are to be scored anew for that.
    fn is_changed(&mut self, _servers: &Servers) -> bool {
        false
    }

    /// The score, and the device of which the task takes a part if the policy chooses that too.
    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>);

    /// A task is placed on the server.
    fn placed(&mut self, _servers: &Servers, _server: usize, _shape: usize) {}

    /// So many pieces that were placed on a server are there no more.
    fn taken_back(&mut self, _servers: &Servers, _server: usize, _shape: usize, _count: u64) {}
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

    /// Those of resources with devices of these sizes, 0 where there are none; `None` unless one has devices.
    fn of_sizes(sizes: &[u128]) -> Option<Self> {
        let mut with = (0..sizes.len()).filter(|r| sizes[*r] > 0);
        let gpu = with.next()?;
        with.next().is_none().then(|| Self { cpu: (0..sizes.len()).find(|r| *r != gpu), gpu })
    }
}

/// The policy of a score.
pub(crate) struct ByScore<S> {
    /// Draws the order of servers that decides among equal scores.
    seed: u64,
    score: PhantomData<fn() -> S>,
}

impl<S: NodeScore> ByScore<S> {
    pub fn new(seed: u64) -> Self {
        Self { seed, score: PhantomData }
    }

    fn choice(&self, instance: &Instance) -> Result<Scored<S>, PlacementError> {
        let looked_at = CpuAndGpu::of(instance, S::NAME)?;
        Ok(Scored::new(S::new(instance, looked_at), self.seed))
    }
}

impl<S: NodeScore> PlacementPolicy for ByScore<S> {
    fn name(&self) -> String {
        S::NAME.into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        place(instance, self.turn(), deadline, self.choice(instance)?)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        place_in_order(asked, self.choice(asked.instance)?)
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(FirstFitting::new(totals.len()))
    }

    fn choice_on_devices(&self, _totals: &[u128], sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        let score = S::unknown(CpuAndGpu::of_sizes(sizes)?);
        Some(Box::new(OnDevices::new(sizes, Scored::new(score, self.seed))))
    }
}

/// The most of a resource that a server has, in units; at least 1.
pub(crate) fn most(instance: &Instance, resource: usize) -> u128 {
    instance.largest_server_units(ResourceId(resource)).max(1)
}

/// CPU, if there is any, and GPU, each with the most that a server has.
pub(crate) struct Measured(Vec<(usize, f64)>);

impl Measured {
    pub fn new(instance: &Instance, CpuAndGpu { cpu, gpu }: CpuAndGpu) -> Self {
        Self([cpu, Some(gpu)].into_iter().flatten().map(|r| (r, most(instance, r) as f64)).collect())
    }

    /// Of no server yet.
    pub fn unknown(CpuAndGpu { cpu, gpu }: CpuAndGpu) -> Self {
        Self([cpu, Some(gpu)].into_iter().flatten().map(|r| (r, 1.0)).collect())
    }

    /// There is a server of this capacity.
    pub fn added(&mut self, capacity: &[u128]) {
        self.0.iter_mut().for_each(|(r, most)| *most = most.max(capacity[*r] as f64));
    }

    /// The score of a server of which 1 is taken off by the mean of these terms over the resources.
    pub fn score_below_highest(&self, term: impl Fn(usize, f64) -> f64) -> i64 {
        let sum: f64 = self.0.iter().map(|(r, most)| term(*r, *most)).sum();
        ((1.0 - sum / self.0.len() as f64) * HIGHEST as f64) as i64
    }
}

/// Takes the server of highest score; ties go to the first in an order that a seed draws.
pub(crate) struct Scored<S> {
    rule: S,
    seed: u64,
    /// The servers in that order, drawn anew where there are more.
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
        if self.order.len() != servers.count() {
            self.order = drawn(servers.count(), self.seed);
        }
        if self.rule.is_changed(servers) {
            self.known.clear();
        }
        self.known.resize(servers.shapes(), Vec::new());
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

    fn added(&mut self, capacity: &[u128]) {
        self.rule.added(capacity);
        // What is measured by the largest server is so anew.
        self.known.clear();
    }

    fn taken(&mut self, servers: &Servers, server: usize, shape: usize) {
        self.rule.placed(servers, server, shape);
    }

    fn taken_back(&mut self, servers: &Servers, server: usize, shape: usize, count: u64) {
        self.rule.taken_back(servers, server, shape, count);
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
