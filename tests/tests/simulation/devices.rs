//! Traces with devices: parts of a device are of one device, and every task keeps its own until it ends.

use fairplan_heuristics::{POLICIES, policy};
use fairplan_instances::trace::{NewTasks, Trace, TraceHeader};
use fairplan_instances::{ClusterOutcome, Decimal, Random, ServerClass};
use fairplan_simulation::{
    ClusterRules, ClusterSettings, ServiceOrder, SimulationError, TaskEvent, Watch, simulate_cluster,
};
use fairplan_solver::backend;

/// A device, in units.
const DEVICE: u64 = 10;

/// What starts and ends, server by server, checked device by device: some way to hand out the devices of a server to the tasks on it
/// that keeps each task where it began must exist, so all ways are kept.
struct Ledger<'a> {
    trace: &'a Trace,
    /// Of each server the ways in which its tasks may have its devices: tasks by their number with their devices.
    ways: Vec<Vec<Vec<(u64, u64)>>>,
    begun: u64,
    /// Tasks on servers, `(server, shape, number)`, the first that began first.
    there: Vec<(u32, u64, u64)>,
    most: usize,
}

impl Watch for Ledger<'_> {
    fn task(&mut self, _time: u64, event: TaskEvent) {
        let gpu = |shape| self.trace.register().shapes().units(shape)[1];
        match event {
            TaskEvent::Started { demand, server, .. } => {
                let (wants, number) = (gpu(demand), self.begun);
                self.begun += 1;
                self.there.push((server, wants, number));
                self.start(server as usize, wants, number);
            }
            TaskEvent::Ended { demand, server, .. } | TaskEvent::Evicted { demand, server, .. } => {
                // All run equally long, so of those alike the first that began is the first to end.
                let wants = gpu(demand);
                let at = self.there.iter().position(|task| (task.0, task.1) == (server, wants)).unwrap();
                let (.., number) = self.there.remove(at);
                let ways = &mut self.ways[server as usize];
                ways.iter_mut().for_each(|way| way.retain(|(task, _)| *task != number * 4_096 + wants));
                ways.sort_unstable();
                ways.dedup();
            }
        }
    }
}

impl Ledger<'_> {
    /// Goes from every way in which the devices were had to every way in which the next task may have its own.
    fn start(&mut self, server: usize, wants: u64, number: u64) {
        let devices = self.trace.register().header().server_classes[server].capacity[1].to_f64() as u64;
        let mut next = Vec::new();
        for way in &self.ways[server] {
            let free = |device: u64| {
                let on_it = way.iter().filter(|(_, mask)| mask >> device & 1 == 1);
                DEVICE - on_it.map(|(task, _)| (task % 4_096).min(DEVICE)).sum::<u64>()
            };
            let taken = |mask: &u64| match wants < DEVICE {
                _ if wants == 0 => *mask == 0,
                true => mask.count_ones() == 1 && free(u64::from(mask.trailing_zeros())) >= wants,
                false => {
                    u64::from(mask.count_ones()) == wants / DEVICE
                        && (0..devices).all(|device| mask >> device & 1 == 0 || free(device) == DEVICE)
                }
            };
            for mask in (0..1 << devices).filter(taken) {
                let mut way = way.clone();
                way.push((number * 4_096 + wants, mask));
                next.push(way);
            }
        }
        assert!(!next.is_empty(), "task {number} of {wants} has no device on server {server}");
        next.sort_unstable();
        next.dedup();
        self.most = self.most.max(next.len());
        self.ways[server] = next;
    }
}

fn trace(seed: u64) -> Trace {
    let mut random = Random::new(seed, 24);
    let mut header = TraceHeader::new("", &["cpu", "gpu"]);
    header.resources[1].decimal_places = 1;
    header.resources[1].device = Some(Decimal::ONE);
    for server in 0..2 {
        let gpus = (1 + random.below(3)) as u32;
        header.server_classes.push(ServerClass::new(format!("s{server}"), 1, vec![4u32.into(), gpus.into()]));
    }
    let mut trace = Trace::new(header).unwrap();
    for job in 0..12 {
        let gpu = ["0", "1", "2", "0.3", "0.4", "0.6", "0.7"][random.below(7) as usize];
        let demand: [Decimal; 2] = [1u32.into(), gpu.parse().unwrap()];
        let tasks = NewTasks {
            user: ["a", "b"][random.below(2) as usize],
            job: &format!("j{job}"),
            demand: &demand,
            count: 1,
            duration: 5_000_000,
            rules: None,
            more: false,
        };
        trace.submitted(job * 1_000_000, tasks).unwrap();
    }
    trace
}

fn run(
    trace: &Trace,
    name: &str,
    settings: ClusterSettings,
) -> Result<(ClusterOutcome, usize), SimulationError> {
    let sizes: Vec<u128> = trace.register().devices().iter().map(|size| u128::from(*size)).collect();
    let policy = policy(name, 5).unwrap();
    let choice = |totals: &[u128], _: &[u128]| policy.choice_on_devices(totals, &sizes).unwrap();
    let solver = backend("auto").unwrap();
    let rules = ClusterRules {
        choice: &choice,
        order: ServiceOrder::LowestShare,
        solver: &*solver,
        present: None,
        tenants: None,
    };
    let ways = vec![vec![Vec::new()]; 2];
    let mut ledger = Ledger { trace, ways, begun: 0, there: Vec::new(), most: 0 };
    let outcome = simulate_cluster(&mut trace.replay().unwrap(), rules, settings, &mut ledger)?;
    Ok((outcome, ledger.most))
}

#[test]
fn tasks_of_random_traces_have_devices_that_they_keep() {
    let (mut completed, mut most) = (0, 0);
    for seed in 0..100 {
        let trace = trace(seed);
        for name in POLICIES.names().filter(|name| !name.contains('=')) {
            let (outcome, ways) = run(&trace, name, ClusterSettings::default()).unwrap();
            completed += outcome.tasks.completed;
            most = most.max(ways);
        }
    }
    assert!(completed > 4_000 && most > 10, "{completed} tasks, at most {most} ways");
}

#[test]
fn devices_are_not_given_twice() {
    let settings = ClusterSettings { over_commit: "1.5".parse().unwrap(), ..ClusterSettings::default() };
    let refusal = run(&trace(1), "best-fit", settings).unwrap_err().to_string();
    assert!(refusal.contains("over_commit = 1.5: devices are not given twice"), "{refusal}");
}
