//! How often an answer is not proved: every family of random instances under every objective, as one Markdown table.
//!
//! ```text
//! closing [--cases N] [--first SEED] [--family NAME]... [--objective NAME]... [--backend NAME] [--list] [--print]
//! ```
//! `--list` names each instance that is left open, `--print` writes those to standard error, to be solved by hand.

use fairplan_instances::{Certificate, Instance, Objective, Solution, Status};
use fairplan_solver::backend;
use fairplan_tests::{FAMILIES, Family, family, printed};
use fairplan_verify::{SolutionClaim, verify_solution};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Objectives that are asked for unless others are named.
const OBJECTIVES: [&str; 7] = ["drfh", "tsf", "pf", "alpha=0.5", "alpha=2", "alpha=64", "utilitarian"];

struct Settings {
    cases: u64,
    first: u64,
    families: Vec<&'static Family>,
    objectives: Vec<Objective>,
    backend: String,
    list: bool,
    print: bool,
}

impl Settings {
    fn read() -> Outcome<Self> {
        let mut settings = Self {
            cases: 100,
            first: 0,
            families: Vec::new(),
            objectives: Vec::new(),
            backend: "auto".into(),
            list: false,
            print: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--cases" => settings.cases = value()?.parse()?,
                "--first" => settings.first = value()?.parse()?,
                "--family" => {
                    let name = value()?;
                    let found = family(&name).ok_or_else(|| format!("unknown family {name}"))?;
                    settings.families.push(found);
                }
                "--objective" => settings.objectives.push(value()?.parse()?),
                "--backend" => settings.backend = value()?,
                "--list" => settings.list = true,
                "--print" => settings.print = true,
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        if settings.families.is_empty() {
            settings.families = FAMILIES.iter().collect();
        }
        if settings.objectives.is_empty() {
            settings.objectives = OBJECTIVES.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        }
        Ok(settings)
    }
}

/// What came of one instance.
enum Answer {
    Proved,
    /// Uncertified, as it says; with the gap.
    Open(f64),
    /// No solution, or one that the checker refuses.
    Wrong(String),
}

fn main() -> Outcome<()> {
    let settings = Settings::read()?;
    // A panic is counted, not printed.
    std::panic::set_hook(Box::new(|_| {}));
    println!("| family | objective | instances | uncertified | no answer or refused | seconds, mean | longest |");
    println!("|---|---|---|---|---|---|---|");
    for family in &settings.families {
        for objective in &settings.objectives {
            row(&settings, family, *objective)?;
        }
    }
    Ok(())
}

fn row(settings: &Settings, family: &Family, objective: Objective) -> Outcome<()> {
    let (mut open, mut wrong, mut sum, mut longest, mut cases) = (0, 0, 0.0, 0.0f64, 0);
    for seed in settings.first..settings.first + settings.cases {
        let instance = (family.instance)(seed);
        if objective.applies_to(&instance).is_err() {
            continue;
        }
        cases += 1;
        let started = Instant::now();
        let answer = answer(&instance, objective, &settings.backend);
        let seconds = started.elapsed().as_secs_f64();
        sum += seconds;
        longest = longest.max(seconds);
        let told = match answer {
            Answer::Proved if seconds < 10.0 => continue,
            Answer::Proved => "slow".to_string(),
            Answer::Open(gap) => {
                open += 1;
                format!("open, gap {gap:.1e}")
            }
            Answer::Wrong(problem) => {
                wrong += 1;
                problem
            }
        };
        if settings.list {
            let (users, classes) = (instance.user_count(), instance.classes().len());
            let resources = instance.resources().len();
            eprintln!(
                "{} {objective} seed {seed} ({users} users, {classes} classes, {resources} resources), \
                 {seconds:.1} s: {told}",
                family.name
            );
        }
        if settings.print {
            eprintln!("{}", printed(&instance));
        }
    }
    let mean = sum / f64::from(cases);
    println!("| {} | {objective} | {cases} | {open} | {wrong} | {mean:.3} | {longest:.2} |", family.name);
    Ok(())
}

fn answer(instance: &Instance, objective: Objective, name: &str) -> Answer {
    let solve = || {
        let solver = backend(name).ok_or("no such backend")?;
        solver.solve(instance, objective).map_err(|error| error.to_string())
    };
    match catch_unwind(AssertUnwindSafe(solve)) {
        Err(_) => Answer::Wrong("it panicked".into()),
        Ok(Err(problem)) => Answer::Wrong(problem),
        Ok(Ok(solution)) => judged(instance, &solution),
    }
}

fn judged(instance: &Instance, solution: &Solution) -> Answer {
    let proof = verify_solution(instance, &SolutionClaim::from(solution));
    if solution.status == Status::Uncertified {
        let gap = match &solution.certificate {
            Certificate::Total(total) => total.relative_gap,
            _ => proof.level_gaps.iter().copied().fold(proof.relative_gap, f64::max),
        };
        return Answer::Open(gap);
    }
    match proof.failures().next() {
        None => Answer::Proved,
        Some(verdict) => Answer::Wrong(format!("called optimal, and refused: {verdict:?}")),
    }
}
