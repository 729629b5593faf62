//! Fuzzing at length: `cargo run --release -p fairplan-tests --bin fuzz -- --count 200000 --seed 1`. Prints a table of what
//! became of the inputs; what breaks a rule is kept in target/fuzz and ends the command with 1. `--target NAME` reads
//! those of one target only, `--only ROUND` one input again.

use fairplan_tests::fuzz::{folder_of, run, targets};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut count, mut seed, mut wanted, mut only) = (200_000u64, 1u64, None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--count" => count = value.parse()?,
            "--seed" => seed = value.parse()?,
            "--target" => wanted = Some(value),
            "--only" => only = Some(value.parse::<u64>()?),
            other => return Err(format!("{other}: there are --count, --seed, --target and --only").into()),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the workspace has a folder")?;
    let binary = root.join("target/release/fairplan");
    if !binary.exists() {
        return Err("build the fairplan command first: make build".into());
    }
    let mut targets = targets(&binary);
    targets.retain(|target| wanted.as_ref().is_none_or(|wanted| target.name == *wanted));
    let rounds = count.div_ceil(targets.len().max(1) as u64);
    let folder = root.join("target/fuzz");
    let (mut inputs, mut accepted, mut broken) = (0, 0, 0);
    println!("| target | inputs | accepted | refused | slowest |\n|---|--:|--:|--:|--:|");
    for target in &targets {
        let rounds = only.map_or(0..rounds, |only| only..only + 1);
        let counts = run(target, seed, rounds, &folder_of(&folder, target));
        inputs += counts.inputs;
        accepted += counts.accepted;
        broken += counts.failures.len() as u64;
        let refused = counts.inputs - counts.accepted - counts.failures.len() as u64;
        let slowest = counts.slowest.as_millis();
        println!("| {} | {} | {} | {refused} | {slowest} ms |", target.name, counts.inputs, counts.accepted);
        counts.failures.iter().for_each(|failure| eprintln!("--target {failure}"));
    }
    println!("| all, seed {seed} | {inputs} | {accepted} | {} | |", inputs - accepted - broken);
    if broken > 0 {
        eprintln!("{broken} inputs break a rule; they are kept in target/fuzz");
        std::process::exit(1);
    }
    Ok(())
}
