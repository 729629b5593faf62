//! Fragmentation Gradient Descent (Weng et al., "Beware of Fragmentation", ATC 2023): every task goes where it makes the least GPU
//! unusable for the tasks to be expected.
//!
//! With `p_m` the part of the expected tasks that are like `m`, a server is fragmented by `F = Σ_m p_m F(m)`, where `F(m)` is the GPU
//! left on it that a task like `m` cannot use: all of it if the task has no room or wants no GPU, else what is left on devices that
//! have none for it: too small, cut where it wants any part, without a start for its profile. Expected are the tasks of the instance, the most frequent ones that make up 95% of them; where
//! tasks come and go, those that began so far and one of each shape that is known, counted anew when there are twice as many or another shape. The score is that of the
//! paper's simulator, `⌊100 / (1 + e^Δ)⌋` where `F` rises by `Δ` GPUs; of several devices the one of highest score (ties: the lowest
//! index).

use super::Servers;
use super::device::{Device, Make, Want};
use super::scored::{CpuAndGpu, HIGHEST, NodeScore};
use fairplan_instances::{Decimal, Instance, Kind, KindId, ProfileId, RuleId};
use std::collections::HashMap;

/// The part of all tasks that are expected, in percent: the most frequent ones.
const EXPECTED_PERCENT: u128 = 95;

/// Where the least GPU becomes unusable.
pub(crate) struct Fgd {
    gpu: usize,
    /// Kinds whose pieces are expected, and how many of them; of users without kinds their tasks.
    expected: Vec<(usize, u64)>,
    /// Of tasks that come and go those that began.
    began: Option<Began>,
    /// The same by what they want of GPUs; made when servers are known.
    wants: Option<Wants>,
    /// What each server is fragmented by, in its version.
    present: Vec<(u32, u128)>,
    /// From which fall of `F`, in billionths of a GPU, each score is reached.
    thresholds: Vec<i128>,
    /// For each want the tasks that have room for all else.
    with_room: Vec<u64>,
    left: Vec<u128>,
    devices: Vec<Device>,
}

/// Tasks that began, by shape, one more of each.
#[derive(Default)]
struct Began {
    tasks: Vec<u64>,
    all: u64,
    /// How many there were when the expected ones were counted.
    counted: u64,
}

/// The expected tasks by what they want of GPUs.
struct Wants {
    /// Together.
    tasks: u64,
    /// How many want no GPU.
    without: u64,
    /// What it may be.
    sizes: Vec<Want>,
    /// Of each task: which of the sizes, how many are expected, and the kind.
    of_size: Vec<(usize, u64, usize)>,
}

const BILLION: i128 = 1_000_000_000;

impl Fgd {
    /// Without any task that is expected.
    fn unexpecting(gpu: usize) -> Self {
        let threshold = |score: i64| {
            let odds = score as f64 / (HIGHEST - score) as f64;
            (odds.ln() * BILLION as f64).round() as i128
        };
        Self {
            gpu,
            expected: Vec::new(),
            began: None,
            wants: None,
            present: Vec::new(),
            thresholds: (1..HIGHEST).map(threshold).collect(),
            with_room: Vec::new(),
            left: Vec::new(),
            devices: Vec::new(),
        }
    }

    fn begin(&mut self, servers: &Servers) {
        let mut wants = Wants { tasks: 0, without: 0, sizes: Vec::new(), of_size: Vec::new() };
        for &(user, tasks) in &self.expected {
            wants.tasks += tasks;
            let want = servers.want(user, self.gpu);
            if want == Want::Nothing {
                wants.without += tasks;
                continue;
            }
            let at = wants.sizes.iter().position(|other| *other == want).unwrap_or_else(|| {
                wants.sizes.push(want);
                wants.sizes.len() - 1
            });
            wants.of_size.push((at, tasks, user));
        }
        self.present = vec![(0, 0); servers.count()];
        self.wants = Some(wants);
    }

    /// `F` times the number of expected tasks of a server of a class, with `left` of all resources but GPUs, in units of GPU;
    /// [`Fgd::count_room`] has counted who has room for all else.
    fn fragmented(&self, wants: &Wants, make: &Make, devices: &[Device]) -> u128 {
        let total: u128 = devices.iter().map(|device| device.free).sum();
        let mut sum = u128::from(wants.tasks) * total;
        for (want, tasks) in wants.sizes.iter().zip(&self.with_room) {
            if *tasks == 0 {
                continue;
            }
            let (mut usable, mut count) = (0, 0);
            for device in devices.iter().filter(|device| make.has_room(**device, *want)) {
                usable += device.free;
                count += 1;
            }
            if count >= want.devices() {
                sum -= u128::from(*tasks) * usable;
            }
        }
        sum
    }

    /// Counts for each want the expected tasks that have room in `left`, GPUs aside.
    fn count_room(&mut self, servers: &Servers, wants: &Wants, class: usize) {
        self.with_room.clear();
        self.with_room.resize(wants.sizes.len(), 0);
        for &(at, tasks, user) in &wants.of_size {
            let demand = servers.demand(user);
            let fits = |r: usize| r == self.gpu || demand[r] <= self.left[r];
            if servers.is_eligible(user, class) && (0..demand.len()).all(fits) {
                self.with_room[at] += tasks;
            }
        }
    }

    /// The score of a fall of `F` times the number of expected tasks.
    fn score_of(&self, before: u128, after: u128, whole: u128) -> i64 {
        let fall = (before as i128 - after as i128).saturating_mul(BILLION);
        let reached = |threshold: &i128| threshold.saturating_mul(whole as i128) <= fall;
        self.thresholds.partition_point(reached) as i64
    }
}

/// The most frequent of these tasks, which are expected.
fn most_frequent(mut tasks: Vec<(usize, u64)>) -> Vec<(usize, u64)> {
    tasks.retain(|(_, tasks)| *tasks > 0);
    tasks.sort_unstable_by_key(|(kind, tasks)| (std::cmp::Reverse(*tasks), *kind));
    let all: u128 = tasks.iter().map(|(_, tasks)| u128::from(*tasks)).sum();
    let mut sum = 0;
    let wanted = tasks.iter().position(|(_, tasks)| {
        sum += u128::from(*tasks);
        sum * 100 >= all * EXPECTED_PERCENT
    });
    tasks.truncate(wanted.map_or(tasks.len(), |last| last + 1));
    tasks
}

/// What makes tasks alike.
fn likeness(kind: Kind<'_>) -> (RuleId, Vec<Decimal>, Option<ProfileId>) {
    (kind.rule_id(), kind.piece().to_vec(), kind.profile())
}

impl NodeScore for Fgd {
    const NAME: &'static str = "fgd";

    fn new(instance: &Instance, CpuAndGpu { gpu, .. }: CpuAndGpu) -> Self {
        let is_limited = instance.users().all(|user| user.tasks().is_some());
        let mut counted: HashMap<_, (usize, u64)> = HashMap::new();
        for kind in (0..instance.kind_count()).map(|k| instance.kind(KindId(k))) {
            // Where somebody has no number of tasks, all are expected alike.
            let tasks = kind.user().tasks().filter(|_| is_limited).unwrap_or(1);
            let alike = counted.entry(likeness(kind)).or_insert((kind.index().0, 0));
            alike.1 = alike.1.saturating_add(tasks.saturating_mul(kind.each()));
        }
        Self { expected: most_frequent(counted.into_values().collect()), ..Self::unexpecting(gpu) }
    }

    fn unknown(CpuAndGpu { gpu, .. }: CpuAndGpu) -> Self {
        Self { began: Some(Began::default()), ..Self::unexpecting(gpu) }
    }

    fn is_changed(&mut self, servers: &Servers) -> bool {
        let Some(began) = &mut self.began else { return false };
        let more = servers.shapes() - began.tasks.len();
        began.tasks.resize(servers.shapes(), 1);
        began.all += more as u64;
        if more == 0 && began.all < began.counted.saturating_mul(2) {
            return false;
        }
        began.counted = began.all;
        self.expected = most_frequent(began.tasks.iter().copied().enumerate().collect());
        self.wants = None;
        true
    }

    fn placed(&mut self, servers: &Servers, _server: usize, shape: usize) {
        let Some(began) = &mut self.began else { return };
        began.all += (servers.shapes() - began.tasks.len()) as u64 + 1;
        began.tasks.resize(servers.shapes(), 1);
        began.tasks[shape] += 1;
    }

    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        if self.wants.is_none() {
            self.begin(servers);
        }
        self.present.resize(servers.count(), (0, 0));
        let Some(wants) = self.wants.take() else { return (0, None) };
        let (class, make) = (servers.class_of(server), servers.make(self.gpu));
        if self.present[server].0 != servers.version(server) {
            self.left.clear();
            self.left.extend_from_slice(servers.free(server));
            self.count_room(servers, &wants, class);
            let now = self.fragmented(&wants, make, servers.devices(server));
            self.present[server] = (servers.version(server), now);
        }
        let before = self.present[server].1;
        let demand = servers.demand(shape);
        self.left.clear();
        self.left.extend(servers.free(server).iter().zip(demand).map(|(free, demand)| free - demand));
        self.count_room(servers, &wants, class);
        let mut devices = std::mem::take(&mut self.devices);
        devices.clear();
        devices.extend_from_slice(servers.devices(server));
        let whole = u128::from(wants.tasks) * make.size;
        let want = servers.want(shape, self.gpu);
        let best = if !want.is_of_one() {
            let unused = devices.iter_mut().filter(|device| make.has_room(**device, want));
            unused.take(want.devices() as usize).for_each(|device| make.take(device, want));
            (self.score_of(before, self.fragmented(&wants, make, &devices), whole), None)
        } else {
            let mut best = (-1, None);
            for at in 0..devices.len() {
                let device = devices[at];
                if !make.has_room(device, want) || devices[..at].contains(&device) {
                    continue;
                }
                make.take(&mut devices[at], want);
                let score = self.score_of(before, self.fragmented(&wants, make, &devices), whole);
                devices[at] = device;
                if score > best.0 {
                    best = (score, Some(at));
                }
            }
            best
        };
        self.devices = devices;
        self.wants = Some(wants);
        best
    }
}
