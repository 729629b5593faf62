//! Sweeps: what a task costs beside the command that it is, and how long lists, results and tables take.

use super::{Outcome, command, fastest};
use crate::measured::{Cost, measured};
use fairplan::{Control, Objective, SolveOptions, report, solve};
use std::path::Path;
use std::process::Command;

/// The rows of the table, beside the floors that were set for them.
pub fn sweeps(scale: u64) -> Outcome {
    let Some(fairplan) = command()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let (few, many) = (10_000 / scale, 100_000 / scale);
    let run = |words: &[&str]| -> Result<Cost, Box<dyn std::error::Error>> {
        measured(Command::new(&fairplan).arg("--quiet").args(words).current_dir(folder.path()))
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    run(&["generate", "drfh-fig1", "-o", "fig1.json"])?;
    run(&["generate", "karma-fig2", "-o", "fig2.json"])?;
    let objectives: Vec<Objective> =
        (1..=few).map(|k| format!("alpha={}", k as f64 / 1e3).parse()).collect::<Result<_, _>>()?;
    let list: Vec<String> = objectives.iter().map(Objective::to_string).collect();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text);
    let head = |command: &str, arguments: &str| {
        format!("command: {command}\narguments: [{arguments}]\nparameters: ")
    };
    write("solves.yaml", head("solve", "fig1.json") + &format!("{{objective: [{}]}}\n", list.join(", ")))?;
    let allocate = head("allocate", "fig2.json, --fair-share, 2, --alpha, 0.5");
    write("many.yaml", allocate + &format!("{{seed: {{seeds: {many}}}}}\n"))?;
    println!("## Sweeps\n");
    println!("| what | seconds | processor seconds | memory | floor |\n|---|---|---|---|---|");
    let row = |what: &str, cost: &Cost, floor: &str| {
        println!("| {what} | {:.2} | {:.2} | {:.0} MiB | {floor} |", cost.seconds, cost.processor, cost.peak);
    };
    run(&["sweep", "plan", "solves.yaml", "-o", "solves.jsonl"])?;
    let solves = run(&["sweep", "run", "solves.jsonl", "--all", "-o", "solves"])?;
    row(&format!("`sweep run --all`: {few} solves of the DRFH paper's Fig. 1"), &solves, "");
    let one = run(&["sweep", "run", "solves.jsonl", "--all", "--threads", "1", "-o", "solves-1"])?;
    row("the same with `--threads 1`", &one, "");
    let plan = run(&["sweep", "plan", "many.yaml", "-o", "many.jsonl"])?;
    row(&format!("`sweep plan`: {many} tasks, one input"), &plan, "5 s");
    row(
        &format!("`sweep run --all`: {many} allocations of Karma's Fig. 2"),
        &run(&["sweep", "run", "many.jsonl", "--all", "-o", "many"])?,
        "",
    );
    let collect = run(&["sweep", "collect", "many.jsonl", "many", "-o", "many.parquet"])?;
    row(&format!("`sweep collect`: {many} results into Parquet"), &collect, "10 s");
    let again = run(&["sweep", "run", "many.jsonl", "--all", "-o", "many"])?;
    row(&format!("`sweep run --all` again: {many} results are there"), &again, "");
    row(&format!("`sweep missing`: {many} results"), &run(&["sweep", "missing", "many.jsonl", "many"])?, "");
    let alone = command_alone(&folder.path().join("fig1.json"), &objectives)?;
    let each = |seconds: f64| seconds * 1e3 / few as f64;
    println!(
        "\nOne solve takes {:.3} ms as a task (`--threads 1`) and {:.3} ms as three calls of the library (read, solve, write): the \
         overhead of a task is {:.3} ms; the floor is 2 ms. The {few} solves kept {cores} cores busy {:.1}% of the time; the floor is \
         90%.\n",
        each(one.seconds),
        each(alone),
        each(one.seconds) - each(alone),
        100.0 * solves.processor / (solves.seconds * cores),
    );
    Ok(())
}

/// Seconds of reading, solving for each objective and writing, in this thread.
fn command_alone(instance: &Path, objectives: &[Objective]) -> Result<f64, Box<dyn std::error::Error>> {
    let path = instance.to_string_lossy();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let all = || -> Result<(), fairplan::Error> {
        for objective in objectives {
            let instance = fairplan::read::instance(&path)?;
            let options = SolveOptions { objective: *objective, ..SolveOptions::default() };
            let solved = solve(&instance, &options, &Control::none())?;
            let mut text = Vec::new();
            report::write_json(&mut text, &solved.document(&instance, false))
                .map_err(fairplan::Error::backend)?;
        }
        Ok(())
    };
    let (seconds, outcome) = pool.install(|| fastest(1, all));
    outcome?;
    Ok(seconds)
}

/// Users by the ten million, from Parquet to Parquet.
pub fn larger(scale: u64) -> Outcome {
    let Some(fairplan) = command()? else { return Ok(()) };
    println!("## One solve of many users, from Parquet to Parquet\n");
    println!(
        "| population | users | seconds | processor seconds | memory | of it a user | floor |\n|---|---|---|---|---|---|---|"
    );
    for (kind, millions, floor) in [("spread", 10, "8192 MiB"), ("alike", 10, "8192 MiB"), ("spread", 30, "")]
    {
        // Thirty million take seven GiB.
        if millions > 10 && available() < 9_000.0 {
            println!("| {kind} | {millions} million | not measured: too little memory is free | | | | |");
            continue;
        }
        let users = millions * 1_000_000 / scale;
        let folder = tempfile::tempdir()?;
        let line = format!(
            "\"$0\" -q generate population --kind {kind} --users {users} --seed 1 | \
             \"$0\" -q convert - --to-servers servers.parquet --to-users users.parquet"
        );
        let made =
            Command::new("sh").args(["-c", &line]).arg(&fairplan).current_dir(folder.path()).status()?;
        if !made.success() {
            return Err("the tables cannot be made".into());
        }
        let words = [
            "solve",
            "--servers",
            "servers.parquet",
            "--users",
            "users.parquet",
            "--no-timing",
            "-o",
            "out.parquet",
        ];
        let cost = measured(Command::new(&fairplan).arg("--quiet").args(words).current_dir(folder.path()))?;
        println!(
            "| {kind} | {users} | {:.1} | {:.1} | {:.0} MiB | {:.0} bytes | {floor} |",
            cost.seconds,
            cost.processor,
            cost.peak,
            cost.peak * f64::from(1 << 20) / users as f64
        );
    }
    println!();
    Ok(())
}

/// MiB that a process may still get.
fn available() -> f64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = told.lines().find(|line| line.starts_with("MemAvailable")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
