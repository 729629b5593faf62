//! Traces run on clusters: hours of a real trace from its published files, and starts and ends of tasks a second.

use super::{Outcome, fastest};
use fairplan_heuristics::policy;
use fairplan_imports::{DrawnServers, Google2011TraceOptions, google_2011_trace};
use fairplan_instances::generate::{GoogleOptions, google};
use fairplan_instances::trace::{EventSource, MICROSECONDS, NewTasks, Trace, TraceHeader};
use fairplan_instances::{ClusterOutcome, Random, TaskCounts, UserId};
use fairplan_simulation::{ClusterRules, ClusterSettings, ServiceOrder, simulate_cluster};
use fairplan_solver::backend;

/// The directory of the real trace's `task_events`, for who has it.
const DIRECTORY: &str = "FAIRPLAN_GOOGLE2011";

fn run(source: &mut dyn EventSource, name: &str) -> Result<ClusterOutcome, Box<dyn std::error::Error>> {
    let policy = policy(name, 1)?;
    let choice = |totals: &[u128], largest: &[u128]| policy.choice(totals, largest);
    let solver = backend("auto").ok_or("no solver")?;
    let rules = ClusterRules {
        choice: &choice,
        order: ServiceOrder::LowestShare,
        solver: &*solver,
        present: None,
        tenants: None,
    };
    Ok(simulate_cluster(source, rules, ClusterSettings::default(), &mut ())?)
}

/// Google's 12,583 servers, and jobs of 500 users with the requests of real tasks, more than the cluster can do: queues grow
/// for as long as jobs come.
fn saturated(scale: u64) -> Result<Trace, Box<dyn std::error::Error>> {
    let instance = google(&GoogleOptions { users: Some(500), seed: 1, ..GoogleOptions::default() })?;
    let mut header = TraceHeader::new(
        "saturated",
        instance.resources().iter().map(String::as_str).collect::<Vec<_>>().as_slice(),
    );
    header.server_classes = instance.classes().to_vec();
    let mut trace = Trace::new(header)?;
    let mut random = Random::new(1, 9);
    for job in 0..20_000 / scale {
        let user = instance.user(UserId(random.below(500) as usize));
        let (count, duration) = (random.spread(4, 6) as u32, random.spread(4, 6) * MICROSECONDS);
        let job_id = job.to_string();
        let tasks = NewTasks {
            user: user.id(),
            job: &job_id,
            demand: user.demand(),
            count,
            duration,
            rules: None,
            more: false,
        };
        trace.submitted(job * scale * 15_000, tasks)?;
    }
    Ok(trace)
}

pub(super) fn simulations(scale: u64) -> Outcome {
    println!("## Traces run on clusters, on one core\n");
    println!("| trace | servers | policy | tasks | starts and ends | seconds | starts and ends a second |");
    println!("|---|---|---|---|---|---|---|");
    let row = |trace: &str, servers: u64, name: &str, seconds: f64, outcome: &ClusterOutcome| {
        let TaskCounts { completed, running, evicted, .. } = outcome.tasks;
        // Tasks that started, and those that ended.
        let events = completed + running + evicted + completed;
        println!(
            "| {trace} | {servers} | {name} | {} | {events} | {seconds:.2} | {:.0} |",
            outcome.tasks.submitted,
            events as f64 / seconds
        );
    };
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let mut parts: Vec<String> = std::fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path().display().to_string()))
            .collect::<Result<_, std::io::Error>>()?;
        parts.retain(|part| part.contains("part-") && !part.contains("part-00000"));
        parts.sort();
        let servers = DrawnServers { count: 2000, seed: 1 };
        let options =
            Google2011TraceOptions { task_events: parts, servers: Some(servers), ..Default::default() };
        for name in ["best-fit", "first-fit", "slots=14"] {
            let (seconds, outcome) = fastest(2, || run(&mut google_2011_trace(&options)?, name));
            row("Google 2011, reading included", servers.count, name, seconds, &outcome?);
        }
    } else {
        println!(
            "| (name the directory of Google's task_events by {DIRECTORY} to run its hours) | | | | | | |"
        );
    }
    let trace = saturated(scale)?;
    for name in ["best-fit", "first-fit", "worst-fit", "dot-product", "random", "slots=14"] {
        let (seconds, outcome) = fastest(2, || run(&mut trace.replay()?, name));
        row("real requests, more than fit", 12_583, name, seconds, &outcome?);
    }
    println!();
    Ok(())
}
