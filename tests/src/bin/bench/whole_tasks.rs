//! The best that whole tasks can do: how soon it is known, how often it is proved, and how far the policies are from it.

use super::Outcome;
use fairplan_heuristics::policy;
use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, google, population,
};
use fairplan_instances::{
    Deadline, Decimal, Instance, InstanceBuilder, NewUser, PlacementFigures, Random, breakpoint_value,
};
use fairplan_solver::{proportional_bracket, whole_task_bracket};
use fairplan_verify::{ProportionalClaim, WholeTaskClaim, verify_proportional, verify_whole_tasks};
use std::time::{Duration, Instant};

/// Google's 12,583 servers, and users whose tasks take 0.02 to 0.5 of each resource, all equally likely; weights are 10 to
/// the power of anything up to so much to both sides.
pub(super) fn uniform(users: usize, seed: u64, decades: u64) -> Result<Instance, Box<dyn std::error::Error>> {
    let one = PopulationOptions { kind: PopulationKind::Spread, users: 1, cluster: Cluster::Google, seed };
    let servers = population(&one)?;
    let mut random = Random::new(seed, 7);
    let mut builder = InstanceBuilder::new("uniform tasks", servers.resources().to_vec())?;
    for class in servers.classes() {
        builder.class(class.clone())?;
    }
    for i in 0..users {
        let mut draw = || Decimal::new(random.between(2_000, 50_000), -5);
        let demand = [draw()?, draw()?];
        let weight = if decades == 0 {
            Decimal::ONE
        } else {
            let power = random.between(0, 2_000 * decades) as f64 / 1_000.0 - decades as f64;
            Decimal::from_units((10f64.powf(power) * 1_000.0).round() as u128, -3)?
        };
        builder.user(NewUser { weight, ..NewUser::new(&format!("u{i}"), &demand) })?;
    }
    Ok(builder.build()?)
}

/// Google's 12,583 servers, and so many of the users of the trace's snapshot, all equally likely.
fn snapshot(users: usize, seed: u64) -> Result<Instance, Box<dyn std::error::Error>> {
    let all = google(&GoogleOptions::default())?;
    let mut drawn: Vec<_> = all.users().collect();
    let mut random = Random::new(seed, 9);
    for at in 0..users {
        let other = at + random.below((drawn.len() - at) as u64) as usize;
        drawn.swap(at, other);
    }
    let mut builder = InstanceBuilder::new("users of the snapshot", all.resources().to_vec())?;
    for class in all.classes() {
        builder.class(class.clone())?;
    }
    drawn.truncate(users);
    drawn.sort_by_key(|user| user.index());
    for user in drawn {
        builder.user(NewUser::new(user.id(), user.demand()))?;
    }
    Ok(builder.build()?)
}

/// What users' tasks take.
#[derive(Clone, Copy, PartialEq)]
enum Tasks {
    /// 0.02 to 0.5 of each resource.
    Uniform,
    /// What users of the trace's snapshot ask for in the mean: some of thousands a server, some of one.
    Snapshot,
}

/// Brackets over some seeds.
struct Row {
    users: usize,
    tasks: Tasks,
    seeds: u64,
    /// To both sides that weights span.
    decades: u64,
    /// Seconds after which the best bracket so far is taken.
    limit: Option<f64>,
}

const ROWS: [Row; 10] = [
    Row { users: 10, tasks: Tasks::Uniform, seeds: 30, decades: 0, limit: None },
    Row { users: 100, tasks: Tasks::Uniform, seeds: 30, decades: 0, limit: None },
    Row { users: 100, tasks: Tasks::Uniform, seeds: 30, decades: 2, limit: None },
    Row { users: 500, tasks: Tasks::Uniform, seeds: 3, decades: 0, limit: None },
    Row { users: 500, tasks: Tasks::Uniform, seeds: 3, decades: 2, limit: None },
    Row { users: 1_000, tasks: Tasks::Uniform, seeds: 1, decades: 0, limit: None },
    Row { users: 2_000, tasks: Tasks::Uniform, seeds: 1, decades: 0, limit: Some(120.0) },
    Row { users: 10_000, tasks: Tasks::Uniform, seeds: 1, decades: 0, limit: Some(300.0) },
    Row { users: 100, tasks: Tasks::Snapshot, seeds: 5, decades: 0, limit: None },
    Row { users: SNAPSHOT, tasks: Tasks::Snapshot, seeds: 1, decades: 0, limit: None },
];

impl Row {
    fn name(&self) -> String {
        let users = self.users;
        let tasks = if self.tasks == Tasks::Snapshot { "the trace's, mean" } else { "0.02–0.5" };
        let weights = if self.decades > 0 { ", weights 0.01–100" } else { "" };
        let limit = self.limit.map_or_else(String::new, |limit| format!(", in {limit} s"));
        format!("{users}, {tasks}{weights}{limit}")
    }

    fn instance(&self, seed: u64) -> Result<Instance, Box<dyn std::error::Error>> {
        match self.tasks {
            Tasks::Snapshot => snapshot(self.users, seed),
            Tasks::Uniform => uniform(self.users, seed, self.decades),
        }
    }
}

/// The users of the trace's snapshot.
const SNAPSHOT: usize = 507;

/// Brackets over some seeds: how many are closed, the widest gap, the longest search.
pub fn brackets(scale: u64) -> Outcome {
    println!("## The best that whole tasks can do, on 12,583 servers\n");
    println!(
        "| users, tasks | instances | proved optimal | widest gap | seconds, mean | seconds, longest | \
         checked again in, longest | First-Fit / bound | Best-Fit / bound |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in ROWS {
        let (seeds, name) = ((row.seeds / scale).max(1), row.name());
        let (mut closed, mut widest, mut total, mut longest, mut checked) = (0, 0.0f64, 0.0, 0.0f64, 0.0f64);
        let mut ratios = [(f64::INFINITY, 0.0f64); 2];
        for seed in 1..=seeds {
            let instance = row.instance(seed)?;
            let start = Instant::now();
            let limit = row.limit.map(Duration::from_secs_f64).map_or_else(Deadline::never, Deadline::after);
            let bracket = whole_task_bracket(&instance, &limit)?;
            let seconds = start.elapsed().as_secs_f64();
            (total, longest) = (total + seconds, longest.max(seconds));
            let start = Instant::now();
            let claim = WholeTaskClaim { bracket: &bracket, stated: None };
            let verdicts = verify_whole_tasks(&instance, &claim, &Deadline::never());
            if let Some(broken) = verdicts.iter().find(|verdict| !verdict.holds) {
                return Err(format!("{name}, seed {seed}: {}: {}", broken.property, broken.witness).into());
            }
            checked = checked.max(start.elapsed().as_secs_f64());
            closed += u64::from(bracket.is_closed);
            let [upper, lower] = [bracket.upper, bracket.lower].map(|at| breakpoint_value(&instance, at));
            widest = widest.max(1.0 - lower / upper);
            for (name, (least, most)) in ["first-fit", "best-fit"].into_iter().zip(&mut ratios) {
                let value = PlacementFigures::new(&instance, &policy(name, 0)?.place(&instance)?).value;
                (*least, *most) = (least.min(value / upper), most.max(value / upper));
            }
        }
        let [first_fit, best_fit] = ratios.map(|(least, most)| format!("{least:.3}–{most:.3}"));
        println!(
            "| {name} | {seeds} | {closed} | {widest:.1e} | {:.2} | {longest:.2} | {checked:.2} | {first_fit} | \
             {best_fit} |",
            total / seeds as f64
        );
    }
    println!();
    Ok(())
}

/// Brackets of the sum of logarithms: the widest gap a user, the longest search.
pub fn proportional_brackets(scale: u64) -> Outcome {
    println!("## Proportional fairness over whole tasks, on 12,583 servers\n");
    println!(
        "| users, tasks | instances | widest gap, of a user | seconds, mean | seconds, longest | \
         checked again in, longest |"
    );
    println!("|---|---|---|---|---|---|");
    for (users, seeds) in [(10, 30), (100, 30), (500, 3)] {
        let seeds = (seeds / scale).max(1);
        let (mut widest, mut total, mut longest, mut checked) = (0.0f64, 0.0, 0.0f64, 0.0f64);
        for seed in 1..=seeds {
            let instance = uniform(users, seed, 0)?;
            let start = Instant::now();
            let bracket = proportional_bracket(&instance, &Deadline::never())?;
            let seconds = start.elapsed().as_secs_f64();
            (total, longest) = (total + seconds, longest.max(seconds));
            let (Some(upper), Some(lower)) = (bracket.upper, bracket.lower) else {
                return Err(format!("{users} users, seed {seed}: some user has no task").into());
            };
            let start = Instant::now();
            let claim = ProportionalClaim { bracket: &bracket, proved_optimal: None };
            let verdicts = verify_proportional(&instance, &claim, &Deadline::never());
            if let Some(broken) = verdicts.iter().find(|verdict| !verdict.holds) {
                return Err(
                    format!("{users} users, seed {seed}: {}: {}", broken.property, broken.witness).into()
                );
            }
            checked = checked.max(start.elapsed().as_secs_f64());
            widest = widest.max((upper - lower) / users as f64);
        }
        println!(
            "| {users}, 0.02–0.5 | {seeds} | {widest:.1e} | {:.2} | {longest:.2} | {checked:.2} |",
            total / seeds as f64
        );
    }
    println!();
    Ok(())
}
