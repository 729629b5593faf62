//! Moves from Best-Fit's placement to nearly the best level: how soon there is a plan, and how far it is from its own lower bound.

use super::Outcome;
use super::whole_tasks::uniform;
use fairplan_heuristics::policy;
use fairplan_instances::generate::{GoogleOptions, google};
use fairplan_instances::{Deadline, Instance, MoveRules};
use fairplan_solver::{fewest_moves, level_target};
use fairplan_verify::{MovesClaim, verify_moves};
use std::time::{Duration, Instant};

/// The part of the bound that is aimed at, and the seconds for a plan.
const PART: f64 = 0.99;
const SECONDS: u64 = 60;

/// Draws of a number, as an instance.
type Draw = fn(u64) -> Result<Instance, Box<dyn std::error::Error>>;

/// Ten draws of 100 users on Google's 12,583 servers with large tasks, few on a server.
pub fn moves(scale: u64) -> Outcome {
    drawn("tasks of 0.02–0.5", |seed| uniform(100, seed, 0), scale)
}

/// Ten draws of 100 users of the trace, whose tasks are small, thirty on a server.
pub fn moves_of_the_trace(scale: u64) -> Outcome {
    let real = |seed| Ok(google(&GoogleOptions { users: Some(100), seed, ..GoogleOptions::default() })?);
    drawn("the trace's tasks", real, scale)
}

fn drawn(tasks: &str, draw: Draw, scale: u64) -> Outcome {
    println!(
        "## Moves from Best-Fit's placement to 99% of the best level, 100 users on 12,583 servers, {tasks}, {SECONDS} s each\n"
    );
    println!("| draw | reached | cost | lower bound | cost / bound | steps | seconds | checked again in |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for seed in 1..=(10 / scale).max(1) {
        let instance = draw(seed)?;
        let before = policy("best-fit", 0)?.place(&instance)?;
        let start = Instant::now();
        let limit = Deadline::after(Duration::from_secs(SECONDS));
        let Some(target) = level_target(&instance, PART, &limit.after_part(0.3))? else { continue };
        let rules = MoveRules::new(&instance);
        let plan = fewest_moves(&instance, &before, &target.required, &rules, None, &limit)?;
        let seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let claim = MovesClaim {
            before: &before,
            steps: &plan.steps,
            rules: &rules,
            required: &plan.required,
            level: None,
            cost: plan.cost,
            lower_bound: plan.lower_bound,
            proof: &plan.proof,
            whole_guarantees: None,
            printed: None,
        };
        if let Some(broken) = verify_moves(&instance, &claim).0.iter().find(|verdict| !verdict.holds) {
            return Err(format!("draw {seed}: {}: {}", broken.property, broken.witness).into());
        }
        let checked = start.elapsed().as_secs_f64();
        let ratio = plan.cost as f64 / plan.lower_bound.max(1) as f64;
        ratios.push(ratio);
        let reached = if plan.required == target.required { "yes" } else { "no" };
        println!(
            "| {seed} | {reached} | {} | {} | {ratio:.3} | {} | {seconds:.1} | {checked:.1} |",
            plan.cost,
            plan.lower_bound,
            plan.steps.len()
        );
    }
    ratios.sort_by(f64::total_cmp);
    if let Some(median) = ratios.get(ratios.len() / 2) {
        println!("\nMedian of cost / bound: {median:.3}\n");
    }
    Ok(())
}
