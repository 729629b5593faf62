//! Tasks over server classes and many quanta: the coupled optimum, with its proof, and the rules without foresight.

use super::Outcome;
use fairplan_instances::generate::{GoogleOptions, Workload, WorkloadOptions, demands, google};
use fairplan_instances::{Decimal, DemandSeries, DemandSeriesBuilder, Instance, TaskDemands};
use fairplan_solver::{TASK_MECHANISMS, TaskSettings, divide_tasks, task_optimum};
use fairplan_verify::{TaskClaim, verify_task_optimum};

/// Users of Google's servers and their demand in tasks: on the mean `load` times what all servers hold.
fn case(
    workload: Workload,
    users: u64,
    quanta: u64,
    load: f64,
) -> Result<(Instance, DemandSeries), Box<dyn std::error::Error>> {
    let instance = google(&GoogleOptions { users: Some(users), seed: 1, ..GoogleOptions::default() })?;
    let shares: f64 = instance.users().map(|user| user.task_share()).sum();
    let mean = Decimal::from((load / shares).round() as u32);
    let drawn =
        demands(&WorkloadOptions { workload, users, quanta, mean, together: Decimal::ZERO, seed: 1 })?;
    let mut builder = DemandSeriesBuilder::default();
    for user in instance.users() {
        builder.user(user.id())?;
    }
    for quantum in 0..drawn.quantum_count() {
        builder.quantum(drawn.label(quantum))?;
        let (users, tasks) = drawn.demands(quantum);
        users.iter().zip(tasks).try_for_each(|(user, tasks)| builder.demand(*user as usize, *tasks))?;
    }
    Ok((instance, builder.build()?))
}

pub(super) fn over_time(scale: u64) -> Outcome {
    let (users, quanta) = (100, 500 / scale);
    println!("## Tasks over 10 server classes, 2 resources, {users} users and {quanta} quanta\n");
    println!("| demands | load | above zero | levels | seconds | iterations | gap | certificate |");
    println!("|---|---|---|---|---|---|---|---|");
    for (workload, load) in [
        (Workload::Bursts, 0.8),
        (Workload::Bursts, 1.1),
        (Workload::Bursts, 1.5),
        (Workload::Bursts, 3.0),
        (Workload::Queries, 0.9),
        (Workload::Queries, 1.5),
    ] {
        let (instance, series) = case(workload, users, quanta, load)?;
        let demands = TaskDemands::new(&instance, &series)?;
        let (seconds, optimum) = super::fastest(2, || task_optimum(&demands));
        let claim = TaskClaim::from(&optimum);
        let (proving, proof) = super::fastest(1, || verify_task_optimum(&demands, claim));
        let proved = if proof.holds() { "proved" } else { "NOT PROVED" };
        println!(
            "| {workload} | {load} | {} | {} | {seconds:.2} | {} | {:.1e} | {proved}, {proving:.2} s |",
            series.entry_count(),
            optimum.levels.len(),
            optimum.iterations,
            proof.relative_gap
        );
    }
    println!("\n| rule without foresight | demands | load | seconds | widest gap |\n|---|---|---|---|---|");
    for (workload, load) in [(Workload::Bursts, 1.1), (Workload::Bursts, 3.0), (Workload::Queries, 1.5)] {
        let (instance, series) = case(workload, users, quanta, load)?;
        let demands = TaskDemands::new(&instance, &series)?;
        for name in TASK_MECHANISMS.names() {
            let settings = TaskSettings { alpha: 0.5, initial_credits: quanta as f64 };
            let (seconds, allocation) = super::fastest(1, || divide_tasks(name, &demands, settings));
            println!("| {name} | {workload} | {load} | {seconds:.2} | {:.1e} |", allocation?.widest_gap());
        }
    }
    println!();
    Ok(())
}
