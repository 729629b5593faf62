//! Traces whose tasks meet rules: gangs, domains, spread, limits a server and profiles, each recounted event by event as it is stated.

use fairplan_heuristics::{POLICIES, policy};
use fairplan_instances::files::{trace_sha256_hex, write_trace};
use fairplan_instances::trace::{EventKind, NewTasks, Submission, Trace, TraceHeader};
use fairplan_instances::{
    Decimal, DeviceProfile, DeviceProfiles, Gang, ProfileId, Random, ResourceId, ServerClass, TaskCounts,
    TaskRules,
};
use fairplan_simulation::{ClusterRules, ClusterSettings, ServiceOrder, TaskEvent, Watch, simulate_cluster};
use fairplan_solver::backend;

/// Slices of a GPU, and of each profile how many it takes, beginning where.
const SLICES: u32 = 5;
const PROFILES: [(u32, &[u32]); 3] = [(1, &[0, 1, 2, 3]), (2, &[0, 3]), (3, &[0, 2])];

/// The jobs of a trace, each of a user of its own, while they run.
struct Ledger<'a> {
    trace: &'a Trace,
    time: u64,
    jobs: Vec<Submission>,
    /// The servers of the running tasks of each job, and how many have ended.
    on: Vec<Vec<u32>>,
    ended: Vec<u64>,
    /// Started by rules, and instants at which somebody with rules waited.
    started: u64,
    waited: u64,
}

impl<'a> Ledger<'a> {
    fn new(trace: &'a Trace) -> Self {
        let jobs = trace.events().iter().filter_map(|event| match event.kind {
            EventKind::Submitted(submission) => Some(submission),
            _ => None,
        });
        let jobs: Vec<Submission> = jobs.collect();
        let (on, ended) = (vec![Vec::new(); jobs.len()], vec![0; jobs.len()]);
        Self { trace, time: 0, jobs, on, ended, started: 0, waited: 0 }
    }

    fn rules(&self, job: usize) -> TaskRules {
        self.trace.register().header().task_rules(self.jobs[job].rules)
    }

    fn units(&self, job: usize) -> &[u64] {
        self.trace.register().shapes().units(self.jobs[job].demand)
    }

    /// What each server has at this time, nothing if it is not there.
    fn capacities(&self) -> Vec<Option<Vec<u64>>> {
        let register = self.trace.register();
        let units = |shape| Some(register.shapes().units(shape).to_vec());
        let mut all: Vec<_> = register.initial_servers().map(|(_, shape)| units(shape)).collect();
        for event in self.trace.events().iter().filter(|event| event.time <= self.time) {
            match event.kind {
                EventKind::ServerRemoved(server) => all[server.index()] = None,
                EventKind::ServerAdded(server, shape) | EventKind::ServerChanged(server, shape) => {
                    all.resize(all.len().max(server.index() + 1), None);
                    all[server.index()] = units(shape);
                }
                EventKind::Submitted(_) => {}
            }
        }
        all
    }

    fn domain(&self, server: usize) -> usize {
        self.trace.register().domain_of(fairplan_instances::trace::ServerNumber(server as u32))
    }

    /// The tasks of a job in each domain that has a server; `None` in others.
    fn in_domains(&self, job: usize) -> Vec<Option<u64>> {
        let mut counts = vec![None; 8];
        for (server, capacity) in self.capacities().iter().enumerate() {
            if capacity.is_some() {
                counts[self.domain(server)].get_or_insert(0);
            }
        }
        for server in &self.on[job] {
            *counts[self.domain(*server as usize)].as_mut().expect("a task runs where no server is") += 1;
        }
        counts
    }

    /// What servers have free of CPU and of GPU.
    fn free(&self) -> Vec<[u64; 2]> {
        let capacities = self.capacities().into_iter();
        let mut free: Vec<[u64; 2]> =
            capacities.map(|units| units.map_or([0; 2], |units| [units[0], units[1]])).collect();
        for (job, on) in self.on.iter().enumerate() {
            for server in on {
                for (free, demand) in free[*server as usize].iter_mut().zip(self.units(job)) {
                    *free = free.checked_sub(*demand).expect("a server holds more than it has");
                }
            }
        }
        free
    }

    /// Whether the profiles on a server find slices, by trying all ways; the GPUs of these tests are all cut.
    fn cut(&self, server: u32) -> bool {
        let mut wanted = Vec::new();
        for (job, on) in self.on.iter().enumerate() {
            let times = on.iter().filter(|other| **other == server).count();
            wanted.extend(vec![self.rules(job).profile; times].into_iter().flatten());
        }
        let capacity = self.capacities()[server as usize].clone().unwrap_or(vec![0; 2]);
        finds_slices(&wanted, &mut vec![0; (capacity[1] / u64::from(SLICES)) as usize])
    }

    /// For how many more tasks of a job each server has room, where it needs no GPU.
    fn room(&self, job: usize) -> Vec<u64> {
        let (demand, most) = (self.units(job)[0], self.rules(job).per_server);
        let there = |server: usize| self.on[job].iter().filter(|on| **on == server as u32).count() as u64;
        let of = |(server, free): (usize, &[u64; 2])| {
            (free[0] / demand).min(most.map_or(u64::MAX, |most| most - there(server)))
        };
        self.free().iter().enumerate().map(of).collect()
    }

    /// Whether the next task or gang of a job that waits has room, as far as that is a matter of counting.
    fn has_room(&self, job: usize) -> bool {
        let (room, rules) = (self.room(job), self.rules(job));
        let mut of_domain = [0u64; 8];
        room.iter().enumerate().for_each(|(server, room)| of_domain[self.domain(server)] += room);
        let there = self.in_domains(job);
        match (rules.gang, rules.spread) {
            (None, None) => room.iter().any(|room| *room > 0),
            (Some(Gang { tasks, in_one_domain: true }), None) => of_domain.iter().any(|room| *room >= tasks),
            (Some(gang), None) => room.iter().sum::<u64>() >= gang.tasks,
            (None, Some(most)) => {
                let least = there.iter().flatten().min().copied().unwrap_or(0);
                let mut of = of_domain.iter().zip(&there);
                of.any(|(room, there)| *room > 0 && there.is_some_and(|there| there + 1 - least <= most))
            }
            // Where both hold, whoever places one task after the other may stop before who tries all ways.
            (Some(_), Some(_)) => false,
        }
    }
}

fn finds_slices(wanted: &[ProfileId], taken: &mut [u32]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    let (slices, starts) = PROFILES[first.number];
    for gpu in 0..taken.len() {
        for bits in starts.iter().map(|start| ((1 << slices) - 1) << start) {
            if taken[gpu] & bits == 0 {
                taken[gpu] |= bits;
                let found = finds_slices(rest, taken);
                taken[gpu] &= !bits;
                if found {
                    return true;
                }
            }
        }
    }
    false
}

impl Watch for Ledger<'_> {
    fn task(&mut self, time: u64, event: TaskEvent) {
        self.time = time;
        match event {
            TaskEvent::Started { user, server, .. } => {
                let job = user as usize;
                self.on[job].push(server);
                self.started += u64::from(self.jobs[job].rules.is_some());
                self.free();
                assert!(self.cut(server), "{time}: server {server} has no slices for job {job}");
                let there = self.on[job].iter().filter(|on| **on == server).count() as u64;
                assert!(self.rules(job).per_server.is_none_or(|most| there <= most), "{time}: job {job}");
                if let Some(most) = self.rules(job).spread {
                    let counts = self.in_domains(job);
                    let least = counts.iter().flatten().min().copied().unwrap();
                    let here = counts[self.domain(server as usize)].unwrap();
                    assert!(here - least <= most, "{time}: job {job} {counts:?}");
                }
            }
            TaskEvent::Ended { user, server, .. } | TaskEvent::Evicted { user, server, .. } => {
                let job = user as usize;
                let at = self.on[job].iter().position(|on| *on == server).unwrap();
                self.on[job].remove(at);
                self.ended[job] += u64::from(matches!(event, TaskEvent::Ended { .. }));
            }
        }
    }

    fn instant(&mut self, time: u64, _: &TaskCounts) -> bool {
        self.time = time;
        let submitted = |job: usize| {
            let events = self.trace.events().iter().filter(|event| event.time <= time);
            events.filter(|event| matches!(event.kind, EventKind::Submitted(_))).count() > job
        };
        for job in 0..self.jobs.len() {
            if let Some(gang) = self.rules(job).gang {
                let running = self.on[job].len() as u64;
                assert!(running.is_multiple_of(gang.tasks), "{time}: {running} of job {job} run");
                let in_domains = self.in_domains(job);
                let is_whole = in_domains.iter().flatten().all(|count| count.is_multiple_of(gang.tasks));
                assert!(is_whole || !gang.in_one_domain, "{time}: job {job} {in_domains:?}");
            }
            let waiting = u64::from(self.jobs[job].count) - self.on[job].len() as u64 - self.ended[job];
            if submitted(job) && waiting > 0 && self.rules(job).profile.is_none() {
                assert!(!self.has_room(job), "{time}: job {job} waits and has room");
                self.waited += u64::from(self.jobs[job].rules.is_some());
            }
        }
        false
    }
}

fn rules(random: &mut Random) -> TaskRules {
    let gang = Gang { tasks: random.between(2, 3), in_one_domain: random.below(2) == 0 };
    let gang = Some(gang).filter(|_| random.below(2) == 0);
    let least = gang.filter(|gang| gang.in_one_domain).map_or(1, |gang| gang.tasks);
    let (per_server, spread) = (random.between(1, 2), random.between(least, 4));
    let profile = ProfileId { resource: ResourceId(1), number: random.below(3) as usize };
    TaskRules {
        gang,
        per_server: Some(per_server).filter(|_| random.below(3) == 0),
        spread: Some(spread).filter(|_| random.below(3) == 0),
        profile: Some(profile).filter(|_| random.below(4) == 0),
    }
}

/// Servers in up to three domains that come and go, and jobs of which most meet rules.
fn trace(seed: u64) -> Trace {
    let mut random = Random::new(seed, 25);
    let mut header = TraceHeader::new("", &["cpu", "gpu"]);
    header.resources[1].decimal_places = 0;
    header.resources[1].device = Some(SLICES.into());
    let profiles = PROFILES.iter().enumerate().map(|(number, (slices, starts))| DeviceProfile {
        name: format!("p{number}"),
        slices: *slices,
        starts: starts.to_vec(),
    });
    let profiles = profiles.collect();
    header.device_profiles = vec![DeviceProfiles { resource: ResourceId(1), slices: SLICES, profiles }];
    for number in 0..3 {
        let drawn =
            std::iter::repeat_with(|| rules(&mut random)).find(|rules| *rules != TaskRules::default());
        header.rules.extend(drawn.map(|rules| (format!("r{number}"), rules)));
    }
    let names: Vec<String> = header.rules.iter().map(|(name, _)| name.clone()).collect();
    let met: Vec<TaskRules> = header.rules.iter().map(|(_, rules)| *rules).collect();
    let domains: Vec<String> = (0..4).map(|_| format!("d{}", random.below(3))).collect();
    let capacity = |random: &mut Random| -> [Decimal; 2] {
        [(random.between(2, 6) as u32).into(), (SLICES * random.below(3) as u32).into()]
    };
    let mut capacities: Vec<[Decimal; 2]> = (0..4).map(|_| capacity(&mut random)).collect();
    for server in 0..4 {
        let class = ServerClass::new(format!("s{server}"), 1, capacities[server].to_vec());
        header.server_classes.push(ServerClass { domain: Some(domains[server].clone()), ..class });
    }
    let mut trace = Trace::new(header).unwrap();
    let mut away = None;
    for job in 0..14u64 {
        let time = job * 1_000_000;
        match away {
            None if random.below(4) == 0 => {
                let server = random.below(4) as usize;
                trace.server_removed(time, &format!("s{server}/1")).unwrap();
                away = Some(server);
            }
            Some(server) if random.below(2) == 0 => {
                let (id, domain) = (format!("s{server}/1"), Some(domains[server].as_str()));
                trace.server_added_in(time, &id, &capacities[server], domain).unwrap();
                away = None;
            }
            _ if random.below(4) == 0 => {
                let server = random.below(4) as usize;
                if away != Some(server) {
                    capacities[server][0] = (random.between(1, 6) as u32).into();
                    trace.server_changed(time, &format!("s{server}/1"), &capacities[server]).unwrap();
                }
            }
            _ => {}
        }
        let number = random.below(4) as usize;
        let gang = met.get(number).and_then(|rules| rules.gang).map_or(1, |gang| gang.tasks as u32);
        let tasks = NewTasks {
            user: &format!("u{job}"),
            job: &format!("j{job}"),
            demand: &[(random.between(1, 2) as u32).into(), Decimal::ZERO],
            count: gang * random.between(1, 3) as u32,
            duration: random.between(1, 6) * 700_000,
            rules: names.get(number).map(String::as_str),
            more: false,
        };
        trace.submitted(time, tasks).unwrap();
    }
    trace
}

/// Runs traces under all policies that know rules; how many tasks with rules started, and how often such waited.
fn run(seeds: std::ops::Range<u64>) -> (u64, u64) {
    let solver = backend("auto").unwrap();
    let (mut started, mut waited) = (0, 0);
    for seed in seeds {
        let trace = trace(seed);
        let sizes: Vec<u128> = trace.register().devices().iter().map(|size| u128::from(*size)).collect();
        for name in POLICIES.names().filter(|name| !name.contains('=')) {
            let policy = policy(name, 5).unwrap();
            let choice = |totals: &[u128], _: &[u128]| policy.choice_on_devices(totals, &sizes).unwrap();
            let rules = ClusterRules {
                choice: &choice,
                order: if seed % 2 == 0 { ServiceOrder::LowestShare } else { ServiceOrder::FewestTasks },
                solver: &*solver,
                present: None,
                tenants: None,
            };
            let settings = ClusterSettings { resubmit: true, ..ClusterSettings::default() };
            let mut ledger = Ledger::new(&trace);
            let source = &mut trace.replay().unwrap();
            let outcome = simulate_cluster(source, rules, settings, &mut ledger).unwrap();
            let left: u64 =
                ledger.jobs.iter().zip(&ledger.ended).map(|(job, ended)| u64::from(job.count) - ended).sum();
            assert_eq!((outcome.tasks.running, outcome.tasks.waiting), (0, left), "seed {seed}, {name}");
            assert_eq!(outcome.tasks.too_large, left, "seed {seed}, {name}: who fits alone is not left over");
            (started, waited) = (started + ledger.started, waited + ledger.waited);
        }
    }
    (started, waited)
}

#[test]
fn tasks_of_random_traces_keep_their_rules_and_wait_only_without_room() {
    let (started, waited) = run(0..60);
    assert!(started > 3_000 && waited > 1_000, "{started} started, {waited} waited");
}

#[test]
#[ignore = "a quarter of a minute: forty times as many"]
fn tasks_of_many_random_traces_keep_their_rules_and_wait_only_without_room() {
    run(1_000..2_200);
}

#[test]
fn traces_with_rules_are_the_same_from_lines_and_from_parquet() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let trace = trace(seed);
        let digest = trace_sha256_hex(&mut trace.replay().unwrap()).unwrap();
        for name in ["t.jsonl", "t.parquet"] {
            let path = folder.path().join(name).to_str().unwrap().to_owned();
            let mut bytes = Vec::new();
            write_trace(&mut trace.replay().unwrap(), name, &mut bytes).unwrap();
            std::fs::write(&path, bytes).unwrap();
            let mut read = fairplan_instances::files::read_trace(&path).unwrap();
            assert_eq!(trace_sha256_hex(&mut *read).unwrap(), digest, "seed {seed}, {name}");
        }
    }
}
