//! How often an answer is not proved: every family of random instances under every objective, as one Markdown table.
//!
//! ```text
//! closing [--cases N] [--first SEED] [--family NAME]... [--objective NAME]... [--backend NAME] [--time-limit SECONDS] [--list] [--print]
//! ```
//! `offline` among the objectives stands for the optimum over demands that are known in advance, a few quanta of them.
//!
//! The backend `exact` solves in fractions, and each is held against the rational oracle: for small families only.
//!
//! `--list` names each instance that is left open, `--print` writes those to standard error, to be solved by hand.

use fairplan_instances::{
    Certificate, Deadline, Instance, InstanceError, Objective, Solution, Status, TaskDemands, TaskOptimum,
};
use fairplan_solver::{accepted_task_optimum_within, backend_within, exact_within};
use fairplan_tests::{FAMILIES, Family, family, is_as_the_oracle_says, printed, with_demands};
use fairplan_verify::{
    SolutionClaim, TaskClaim, Verdict, verify_shortfall, verify_solution, verify_task_optimum,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Objectives that are asked for unless others are named.
const OBJECTIVES: [&str; 8] =
    ["drfh", "tsf", "pf", "alpha=0.5", "alpha=2", "alpha=64", "utilitarian", OFFLINE];
const OFFLINE: &str = "offline";
/// The backend that solves in fractions, whose answers are held against the rational oracle, too.
const EXACT: &str = "exact";
/// Families of more users than demands over time are meant to be drawn for, or with kinds of tasks or quotas, which these do not know.
const NOT_OFFLINE: [&str; 7] = ["plain", "google", "kinds", "trees", "quotas", "ending", "queues"];

/// What is asked of an instance.
#[derive(Clone, Copy)]
enum Asked {
    Objective(Objective),
    Offline,
}

impl Asked {
    fn read(name: &str) -> Outcome<Self> {
        Ok(if name == OFFLINE { Self::Offline } else { Self::Objective(name.parse()?) })
    }

    fn name(self) -> String {
        match self {
            Self::Objective(objective) => objective.to_string(),
            Self::Offline => OFFLINE.into(),
        }
    }
}

struct Settings {
    cases: u64,
    first: u64,
    families: Vec<&'static Family>,
    objectives: Vec<Asked>,
    backend: String,
    /// Most seconds for an instance.
    limit: Option<Duration>,
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
            limit: None,
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
                "--objective" => settings.objectives.push(Asked::read(&value()?)?),
                "--backend" => settings.backend = value()?,
                "--time-limit" => settings.limit = Some(Duration::from_secs(value()?.parse()?)),
                "--list" => settings.list = true,
                "--print" => settings.print = true,
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        if settings.families.is_empty() {
            settings.families = FAMILIES.iter().collect();
        }
        if settings.objectives.is_empty() {
            settings.objectives = OBJECTIVES.iter().map(|name| Asked::read(name)).collect::<Outcome<_>>()?;
        }
        Ok(settings)
    }
}

impl Settings {
    fn deadline(&self) -> Deadline {
        self.limit.map_or_else(Deadline::never, Deadline::after)
    }
}

/// What came of one instance.
enum Answer {
    Proved,
    /// Guarantees cannot be kept together, with the proof.
    Refused,
    /// Uncertified, as it says; with the gap and what does not hold.
    Open(f64, String),
    /// No solution, or one that the checker refuses.
    Wrong(String),
}

fn main() -> Outcome<()> {
    let settings = Settings::read()?;
    // A panic is counted, not printed.
    std::panic::set_hook(Box::new(|_| {}));
    println!(
        "| family | objective | instances | guarantees refused | uncertified | no answer or wrong | seconds, mean | longest |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for family in &settings.families {
        for objective in &settings.objectives {
            if !(matches!(objective, Asked::Offline) && NOT_OFFLINE.contains(&family.name)) {
                row(&settings, family, *objective);
            }
        }
    }
    Ok(())
}

fn row(settings: &Settings, family: &Family, asked: Asked) {
    let objective = asked.name();
    let (mut open, mut refused, mut wrong, mut sum, mut longest, mut cases) = (0, 0, 0, 0.0, 0.0f64, 0);
    for seed in settings.first..settings.first + settings.cases {
        let instance = (family.instance)(seed);
        if let Asked::Objective(objective) = asked
            && objective.applies_to(&instance).is_err()
        {
            continue;
        }
        cases += 1;
        let started = Instant::now();
        let answer = match asked {
            Asked::Objective(objective) => answer(&instance, objective, settings),
            Asked::Offline => answer_offline(family, seed, settings),
        };
        let seconds = started.elapsed().as_secs_f64();
        sum += seconds;
        longest = longest.max(seconds);
        let told = match answer {
            Answer::Refused => {
                refused += 1;
                continue;
            }
            Answer::Proved if seconds < 10.0 => continue,
            Answer::Proved => "slow".to_string(),
            Answer::Open(gap, property) => {
                open += 1;
                format!("open, gap {gap:.1e} ({property})")
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
            if matches!(asked, Asked::Offline) {
                let (_, series) = with_demands(family, seed);
                let quantum = |t| format!("quantum {t}: (users, tasks) {:?}", series.demands(t));
                (0..series.quantum_count()).for_each(|t| eprintln!("{}", quantum(t)));
            }
        }
    }
    let mean = sum / f64::from(cases);
    let name = family.name;
    println!("| {name} | {objective} | {cases} | {refused} | {open} | {wrong} | {mean:.3} | {longest:.2} |");
}

fn answer_offline(family: &Family, seed: u64, settings: &Settings) -> Answer {
    let deadline = settings.deadline();
    let solve = || {
        let (instance, series) = with_demands(family, seed);
        let demands = TaskDemands::new(&instance, &series).map_err(|error| error.to_string())?;
        // As `offline` does: what the checker refuses is not the answer while there is another way.
        let mut accept =
            |optimum: &TaskOptimum| verify_task_optimum(&demands, TaskClaim::from(optimum)).holds();
        let optimum = accepted_task_optimum_within(&demands, &deadline, &mut accept);
        let claim = TaskClaim::from(&optimum);
        let numbers = optimum.levels.iter().flat_map(|level| level.prices.iter().chain(&level.multipliers));
        if numbers.chain(&optimum.tasks).any(|number| !number.is_finite()) {
            return Err("a number is not finite".to_string());
        }
        Ok(verify_task_optimum(&demands, claim))
    };
    match catch_unwind(AssertUnwindSafe(solve)) {
        Err(_) => Answer::Wrong("it panicked".into()),
        Ok(Err(problem)) => Answer::Wrong(problem),
        Ok(Ok(proof)) => match proof.verdicts.iter().find(|verdict| !verdict.holds) {
            None => Answer::Proved,
            Some(Verdict { property, witness, .. }) => {
                Answer::Open(proof.relative_gap, format!("{property}: {witness}"))
            }
        },
    }
}

fn answer(instance: &Instance, objective: Objective, settings: &Settings) -> Answer {
    let deadline = settings.deadline();
    let solve = || {
        if settings.backend == EXACT {
            let solution =
                exact_within(&deadline).solve(instance, objective).map_err(|error| error.to_string())?;
            is_as_the_oracle_says(instance, &solution)?;
            return Ok(Some(solution));
        }
        let solver = backend_within(&settings.backend, &deadline).map_err(|error| error.to_string())?;
        // As `solve` does: what the checker refuses is not the answer while there is another way.
        let mut accept =
            |solution: &Solution| verify_solution(instance, &SolutionClaim::from(solution)).holds();
        match solver.solve_for(instance, objective, &mut accept) {
            Ok(solution) => Ok(Some(solution)),
            Err(InstanceError::Guarantees(shortfall)) => {
                match verify_shortfall(instance, objective, &shortfall) {
                    verdict if verdict.holds => Ok(None),
                    verdict => Err(format!("guarantees are said not to fit: {}", verdict.witness)),
                }
            }
            Err(error) => Err(error.to_string()),
        }
    };
    match catch_unwind(AssertUnwindSafe(solve)) {
        Err(_) => Answer::Wrong("it panicked".into()),
        Ok(Err(problem)) => Answer::Wrong(problem),
        Ok(Ok(None)) => Answer::Refused,
        Ok(Ok(Some(solution))) => judged(instance, &solution),
    }
}

fn judged(instance: &Instance, solution: &Solution) -> Answer {
    let proof = verify_solution(instance, &SolutionClaim::from(solution));
    if solution.status == Status::Uncertified {
        let gap = match &solution.certificate {
            Certificate::Total(total) => total.relative_gap,
            _ => proof.level_gaps.iter().copied().fold(proof.relative_gap, f64::max),
        };
        let refused = proof.failures().next();
        let why = refused.map_or("as it says".into(), |Verdict { property, witness, .. }| {
            format!("{property}: {witness}")
        });
        return Answer::Open(gap, why);
    }
    match proof.failures().next() {
        None => Answer::Proved,
        Some(verdict) => Answer::Wrong(format!("called optimal, and refused: {verdict:?}")),
    }
}
