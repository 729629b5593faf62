//! How many tasks a second First-Fit and Best-Fit place on the Google cluster and on two of it, beside the
//! plain scan. `cargo run --release -p fairplan-heuristics --example placement_speed [--no-scan]`

#![allow(clippy::unwrap_used)]

#[path = "../tests/placement/scan.rs"]
mod scan;

use fairplan_heuristics::policy;
use fairplan_instances::{Decimal, Instance, InstanceBuilder, NewUser, ServerClass};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::time::Instant;

/// The last known shape of each server of the 2011 Google trace: how many, cpu, memory.
const SERVERS: [(u64, &str, &str); 10] = [
    (6732, "0.5", "0.4995"),
    (3863, "0.5", "0.2493"),
    (1001, "0.5", "0.749"),
    (795, "1", "1"),
    (126, "0.25", "0.2498"),
    (52, "0.5", "0.1241"),
    (5, "0.5", "0.03085"),
    (5, "0.5", "0.9678"),
    (3, "1", "0.5"),
    (1, "0.5", "0.06158"),
];

/// The fastest of so many runs counts.
const REPEAT: usize = 5;

/// Users with demands uniform in `from..to` of a server, to `digits` decimals.
fn instance(times: u64, users: usize, (from, to): (f64, f64), digits: i32, resources: usize) -> Instance {
    let names = (0..resources).map(|r| format!("r{r}")).collect();
    let mut builder = InstanceBuilder::new("", names).unwrap();
    for (l, (count, cpu, memory)) in SERVERS.iter().enumerate() {
        let numbers = [cpu, memory].into_iter().cycle().take(resources);
        let capacity = numbers.map(|number| number.parse().unwrap()).collect();
        builder.class(ServerClass::new(l.to_string(), times * count, capacity)).unwrap();
    }
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let mut uniform = || from + (to - from) * (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    for i in 0..users {
        let mut decimal = || Decimal::new((uniform() * 10f64.powi(digits)) as u64, -digits).unwrap();
        let demand: Vec<Decimal> = (0..resources).map(|_| decimal()).collect();
        builder.user(NewUser::new(&i.to_string(), &demand)).unwrap();
    }
    builder.build().unwrap()
}

fn main() {
    let with_scan = !std::env::args().any(|argument| argument == "--no-scan");
    println!("| users | servers | policy | tasks | million tasks/s | plain scan |");
    println!("|---|---|---|---|---|---|");
    for (label, users, range, digits, resources) in [
        ("500, uniform 0.02-0.5, 4 digits", 500, (0.02, 0.5), 4, 2),
        ("500, uniform 0.02-0.5, 15 digits", 500, (0.02, 0.5), 15, 2),
        ("500, uniform 0.0005-0.01, 15 digits", 500, (0.0005, 0.01), 15, 2),
        ("50, uniform 0.0005-0.01, 15 digits", 50, (0.0005, 0.01), 15, 2),
        ("500, uniform 0.02-0.5, 4 resources", 500, (0.02, 0.5), 15, 4),
        ("500, uniform 0.0005-0.01, 4 resources", 500, (0.0005, 0.01), 15, 4),
    ] {
        for times in [1, 2] {
            let instance = instance(times, users, range, digits, resources);
            for (name, rule) in [("first-fit", scan::Rule::FirstFit), ("best-fit", scan::Rule::BestFit)] {
                let policy = policy(name, 0).unwrap();
                let mut seconds = f64::INFINITY;
                let mut placement = None;
                for _ in 0..REPEAT {
                    let start = Instant::now();
                    placement = Some(policy.place(&instance).unwrap());
                    seconds = seconds.min(start.elapsed().as_secs_f64());
                }
                let placement = placement.unwrap();
                let tasks: u64 = placement.tasks.iter().sum();
                let scanned = if with_scan && tasks < 100_000 {
                    let start = Instant::now();
                    let identical = scan::place(&instance, rule) == placement;
                    let speed = tasks as f64 / 1e6 / start.elapsed().as_secs_f64();
                    format!("{speed:.4}, {}", if identical { "identical" } else { "DIFFERENT" })
                } else {
                    "-".into()
                };
                let speed = tasks as f64 / 1e6 / seconds;
                let servers = instance.server_count();
                println!("| {label} | {servers} | {name} | {tasks} | {speed:.2} | {scanned} |");
            }
        }
    }
}
