//! The benchmark: what solving and placing cost, both sides of every comparison in one run, as one Markdown table.
//!
//! Nothing here asserts a time. Every solved row carries its certified gap, proved by the checker.

#[path = "bench/allocated.rs"]
mod allocated;
#[path = "bench/dynamic.rs"]
mod dynamic;
#[path = "bench/elsewhere.rs"]
mod elsewhere;
#[path = "bench/exact.rs"]
mod exact;
#[path = "bench/exports.rs"]
mod exports;
#[path = "bench/flows.rs"]
mod flows;
#[path = "bench/groups.rs"]
mod groups;
#[path = "bench/kinds.rs"]
mod kinds;
#[path = "bench/measured.rs"]
mod measured;
#[path = "bench/moves.rs"]
mod moves;
#[path = "bench/over_time.rs"]
mod over_time;
#[path = "bench/planning.rs"]
mod planning;
#[path = "bench/simulation.rs"]
mod simulation;
#[path = "bench/sums.rs"]
mod sums;
#[path = "bench/sweeps.rs"]
mod sweeps;
#[path = "bench/whole_tasks.rs"]
mod whole_tasks;
#[path = "bench/wide.rs"]
mod wide;

use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Instance, Objective, Solution, Solver};
use fairplan_solver::{HighsAlgorithm, PricePass, backend, highs};
use fairplan_verify::verify_solution;
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

/// The command's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A part of the benchmark: its name, and what measures it at one over a scale of the size.
type Part = (&'static str, fn(u64) -> Outcome);

/// Every part, by the name that selects it.
const PARTS: [Part; 30] = [
    ("highs", against_highs),
    ("million", a_million_users),
    ("exact", exact::fractions),
    ("groups", groups::groups),
    ("kinds", kinds::kinds),
    ("servers", different_servers),
    ("wide", wide::unlike),
    ("clarabel", sums::against_clarabel),
    ("sums", sums::a_million_users),
    ("fungible", sums::fungible_resources),
    ("placement", placements),
    ("bound", whole_tasks::brackets),
    ("bound-pf", whole_tasks::proportional_brackets),
    ("gpus", allocated::gpus),
    ("judged", elsewhere::judged),
    ("decisions", elsewhere::decisions),
    ("moves", moves::moves),
    ("moves-trace", moves::moves_of_the_trace),
    ("plan", planning::purchases),
    ("export", exports::exports),
    ("karma", dynamic::karma_quanta),
    ("mechanisms", dynamic::a_day_of_every_mechanism),
    ("offline", dynamic::offline),
    ("offline-highs", dynamic::offline_against_highs),
    ("over-time", over_time::over_time),
    ("flows", flows::flows),
    ("simulation", simulation::simulations),
    ("command", whole_command),
    ("sweeps", sweeps::sweeps),
    ("larger", sweeps::larger),
];

/// Without arguments all parts, otherwise those named; `--quick` makes everything a tenth as large.
fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let scale = if arguments.iter().any(|argument| argument == "--quick") { 10 } else { 1 };
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let all = !PARTS.iter().any(|(name, _)| named(name));
    println!("Machine: {}\n", machine());
    PARTS.iter().filter(|(name, _)| all || named(name)).try_for_each(|(_, part)| part(scale))
}

fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split(':').nth(1).unwrap_or("unknown").trim().to_string()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {cores} cores, {} of memory; fairplan {}",
        field(&read("/proc/cpuinfo"), "model name"),
        field(&read("/proc/meminfo"), "MemTotal"),
        env!("CARGO_PKG_VERSION")
    )
}

fn instance(
    kind: PopulationKind,
    users: u64,
    cluster: Cluster,
) -> Result<Instance, Box<dyn std::error::Error>> {
    Ok(population(&PopulationOptions { kind, users, cluster, seed: 1 })?)
}

/// Seconds of the fastest of some runs, and the last result.
fn fastest<T>(runs: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best: Option<(f64, T)> = None;
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed().as_secs_f64();
        best = Some((best.map_or(seconds, |(best, _)| seconds.min(best)), result));
    }
    // There was at least one run.
    best.unwrap_or_else(|| (f64::NAN, work()))
}

fn proof(instance: &Instance, solution: &Solution) -> String {
    let proof = verify_solution(instance, &solution.into());
    let widest = proof.level_gaps.iter().copied().fold(proof.relative_gap, f64::max);
    let levels = solution.certificate.levels().len();
    format!(
        "{} | {levels} | {widest:.1e} | {}",
        solution.method,
        if proof.holds() { "proved" } else { "NOT PROVED" }
    )
}

fn against_highs(scale: u64) -> Outcome {
    println!("## Against HiGHS, the same instance in the same run\n");
    println!(
        "| users × classes | backend | seconds | ratio to `auto` | method | levels | gap | certificate |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for users in [5_000 / scale, 10_000 / scale] {
        let instance = instance(PopulationKind::Spread, users, Cluster::Google)?;
        let mut baseline = 0.0;
        let mut row = |name: &str, solver: &dyn Solver, runs: usize| -> Outcome {
            let (seconds, solution) = fastest(runs, || solver.solve(&instance, Objective::Drfh));
            let solution = solution?;
            if baseline == 0.0 {
                baseline = seconds;
            }
            let ratio = seconds / baseline;
            println!(
                "| {users} × 10 | {name} | {seconds:.4} | {ratio:.0} | {} |",
                proof(&instance, &solution)
            );
            Ok(())
        };
        let auto = backend("auto").ok_or("no backend auto")?;
        let ipm = backend("ipm").ok_or("no backend ipm")?;
        row("auto", auto.as_ref(), 9)?;
        row("ipm", ipm.as_ref(), 3)?;
        row("HiGHS simplex", highs(HighsAlgorithm::Simplex).as_ref(), 1)?;
        row("HiGHS interior point", highs(HighsAlgorithm::InteriorPoint).as_ref(), 1)?;
    }
    println!();
    Ok(())
}

fn a_million_users(scale: u64) -> Outcome {
    use PopulationKind::{Alike, Spread, Weighted, Zeros};
    let users = 1_000_000 / scale;
    println!("## {users} different users\n");
    println!(
        "One pass computes what a unit of share costs every user at given prices; same process, same threads.\n"
    );
    println!(
        "| population | classes × resources | seconds | passes | one pass | peak memory beyond the instance | method | levels | gap | certificate |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let random = |classes, resources| Cluster::Random { classes, resources };
    for (kind, cluster, shape) in [
        (Spread, Cluster::Google, "Google, 10 × 2"),
        (Alike, Cluster::Google, "Google, 10 × 2"),
        (Zeros, Cluster::Google, "Google, 10 × 2"),
        (Weighted, Cluster::Google, "Google, 10 × 2"),
        (Spread, random(10, 3), "random, 10 × 3"),
        (Alike, random(10, 3), "random, 10 × 3"),
        (Spread, random(10, 4), "random, 10 × 4"),
        (Alike, random(10, 4), "random, 10 × 4"),
        (Spread, random(100, 4), "random, 100 × 4"),
        (Alike, random(100, 4), "random, 100 × 4"),
    ] {
        let instance = instance(kind, users, cluster)?;
        let mut pass = PricePass::new(&instance);
        let (one_pass, _) = fastest(20, || pass.run()[0]);
        drop(pass);
        let auto = backend("auto").ok_or("no backend auto")?;
        let before = memory("VmRSS");
        // Linux resets the high-water mark when a process asks for it; elsewhere the column is an upper bound.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let runs = if shape.starts_with("random, 100") { 2 } else { 9 };
        let (seconds, solution) = fastest(runs, || auto.solve(&instance, Objective::Drfh));
        let peak = (memory("VmHWM") - before) / 1024.0;
        println!(
            "| {kind} | {shape} | {seconds:.3} | {:.0} | {:.2} ms | {peak:.0} MiB | {} |",
            seconds / one_pass,
            one_pass * 1e3,
            proof(&instance, &solution?)
        );
    }
    println!();
    Ok(())
}

/// A line of the process's own accounts, in KiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

fn different_servers(scale: u64) -> Outcome {
    let (servers, users) = (12_583 / scale, 1_000 / scale);
    println!("## {servers} pairwise different servers, {users} users\n");
    println!("| population | seconds | peak memory | method | levels | gap | certificate |");
    println!("|---|---|---|---|---|---|---|");
    for (kind, words) in
        [(PopulationKind::Spread, "spread: classes pool"), (PopulationKind::Alike, "alike: they do not")]
    {
        let instance = instance(kind, users, Cluster::Distinct { servers })?;
        let auto = backend("auto").ok_or("no backend auto")?;
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let (seconds, solution) = fastest(5, || auto.solve(&instance, Objective::Drfh));
        let peak = memory("VmHWM") / 1024.0;
        println!("| {words} | {seconds:.2} | {peak:.0} MiB | {} |", proof(&instance, &solution?));
    }
    println!();
    Ok(())
}

fn placements(scale: u64) -> Outcome {
    println!("## Placement of whole tasks\n");
    println!("| policy | servers | tasks placed | seconds | tasks a second |");
    println!("|---|---|---|---|---|");
    for name in ["first-fit", "best-fit"] {
        for times in [1, 2] {
            let servers = 12_583 * times / scale;
            let instance = google_with_small_tasks(servers)?;
            let policy = fairplan_heuristics::policy(name, 0)?;
            let (seconds, placement) = fastest(3, || policy.place(&instance));
            let tasks: u64 = placement?.tasks.iter().sum();
            println!("| {name} | {servers} | {tasks} | {seconds:.3} | {:.2e} |", tasks as f64 / seconds);
        }
    }
    println!();
    Ok(())
}

fn google_with_small_tasks(servers: u64) -> Result<Instance, Box<dyn std::error::Error>> {
    let options = fairplan_instances::generate::GoogleOptions {
        servers: Some(servers),
        users: Some(500),
        rounded: false,
        finite: false,
        seed: 1,
    };
    Ok(fairplan_instances::generate::google(&options)?)
}

/// The command, if it was built.
fn command() -> Result<Option<std::path::PathBuf>, Box<dyn std::error::Error>> {
    let fairplan = std::env::current_exe()?.with_file_name("fairplan");
    if fairplan.exists() {
        return Ok(Some(fairplan));
    }
    println!("(the whole command was not measured: build it first with `make build`)");
    Ok(None)
}

/// The command from tables to tables, beside what pandas needs to read the users.
fn whole_command(scale: u64) -> Outcome {
    let users = 1_000_000 / scale;
    let Some(fairplan) = command()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (servers, people, result) = (path("servers.csv"), path("users.csv"), path("shares.csv"));
    let instance = instance(PopulationKind::Spread, users, Cluster::Google)?;
    fairplan_instances::files::write_servers(&instance, &servers, &mut std::fs::File::create(&servers)?)?;
    fairplan_instances::files::write_users(
        &instance,
        &people,
        &mut std::io::BufWriter::new(std::fs::File::create(&people)?),
    )?;
    let mut command = String::new();
    write!(command, "solve --servers {servers} --users {people} --format csv --quiet -o {result}")?;
    let (ours, status) = fastest(5, || Command::new(&fairplan).args(command.split(' ')).status());
    if !status?.success() {
        return Err("the command failed".into());
    }
    let script = format!(
        "import pandas, time\nbest = 9e9\nfor _ in range(5):\n t = time.perf_counter()\n pandas.read_csv({people:?})\n \
         best = min(best, time.perf_counter() - t)\nprint(best)"
    );
    println!("## The whole command: {users} users, tables in and tables out\n");
    println!(
        "| what | seconds |\n|---|---|\n| `fairplan solve --servers … --users … --format csv -o …` | {ours:.2} |"
    );
    match Command::new("python3").args(["-c", &script]).output() {
        Ok(output) if output.status.success() => {
            let pandas: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
            println!(
                "| `pandas.read_csv` of the users alone | {pandas:.2} |\n| ratio | {:.2} |",
                ours / pandas
            );
        }
        _ => println!("| `pandas.read_csv` of the users alone | not measured: python3 has no pandas |"),
    }
    Ok(())
}
