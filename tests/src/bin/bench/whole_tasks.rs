//! The best that whole tasks can do: how soon it is known, how often it is proved, and how far the policies are from it.

use super::Outcome;
use fairplan_heuristics::policy;
use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, google, population,
};
use fairplan_instances::{Decimal, Instance, InstanceBuilder, NewUser, Random};
use fairplan_report::bound::breakpoint_value;
use fairplan_report::placement::PlacementFigures;
use fairplan_solver::{proportional_bracket, whole_task_bracket};
use fairplan_verify::{ProportionalClaim, WholeTaskClaim, verify_proportional, verify_whole_tasks};
use std::time::Instant;

/// Google's 12,583 servers, and users whose tasks take 0.02 to 0.5 of each resource, all equally likely.
fn uniform(users: usize, seed: u64) -> Result<Instance, Box<dyn std::error::Error>> {
    let one = PopulationOptions { kind: PopulationKind::Spread, users: 1, cluster: Cluster::Google, seed };
    let servers = population(&one)?;
    let mut random = Random::new(seed, 7);
    let mut builder = InstanceBuilder::new("uniform tasks", servers.resources().to_vec())?;
    for class in servers.classes() {
        builder.class(class.clone())?;
    }
    for i in 0..users {
        let mut draw = || Decimal::new(random.between(2_000, 50_000), -5);
        builder.user(NewUser::new(&format!("u{i}"), &[draw()?, draw()?]))?;
    }
    Ok(builder.build()?)
}

/// The users of the trace's snapshot, with the mean of what their tasks ask for: some of thousands a server, some of one.
const SNAPSHOT: usize = 507;

/// Brackets over some seeds: how many are closed, the widest gap, the longest search.
pub fn brackets(scale: u64) -> Outcome {
    println!("## The best that whole tasks can do, on 12,583 servers\n");
    println!(
        "| users, tasks | instances | proved optimal | widest gap | seconds, mean | seconds, longest | \
         checked again in, longest | First-Fit / bound | Best-Fit / bound |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (users, seeds) in [(10, 30), (100, 30), (500, 3), (SNAPSHOT, 1)] {
        let seeds = (seeds / scale).max(1);
        let kind = if users == SNAPSHOT { "the trace's, mean" } else { "0.02–0.5" };
        let (mut closed, mut widest, mut total, mut longest, mut checked) = (0, 0.0f64, 0.0, 0.0f64, 0.0f64);
        let mut ratios = [(f64::INFINITY, 0.0f64); 2];
        for seed in 1..=seeds {
            let instance =
                if users == SNAPSHOT { google(&GoogleOptions::default())? } else { uniform(users, seed)? };
            let start = Instant::now();
            let bracket = whole_task_bracket(&instance, &|_| false)?;
            let seconds = start.elapsed().as_secs_f64();
            (total, longest) = (total + seconds, longest.max(seconds));
            let start = Instant::now();
            let claim = WholeTaskClaim { bracket: &bracket, stated: None };
            if let Some(broken) = verify_whole_tasks(&instance, &claim).iter().find(|verdict| !verdict.holds)
            {
                return Err(
                    format!("{users} users, seed {seed}: {}: {}", broken.property, broken.witness).into()
                );
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
            "| {users}, {kind} | {seeds} | {closed} | {widest:.1e} | {:.2} | {longest:.2} | {checked:.2} | {first_fit} | \
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
            let instance = uniform(users, seed)?;
            let start = Instant::now();
            let bracket = proportional_bracket(&instance, &|_| false)?;
            let seconds = start.elapsed().as_secs_f64();
            (total, longest) = (total + seconds, longest.max(seconds));
            let (Some(upper), Some(lower)) = (bracket.upper, bracket.lower) else {
                return Err(format!("{users} users, seed {seed}: some user has no task").into());
            };
            let start = Instant::now();
            let claim = ProportionalClaim { bracket: &bracket, proved_optimal: None };
            if let Some(broken) = verify_proportional(&instance, &claim).iter().find(|verdict| !verdict.holds)
            {
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
