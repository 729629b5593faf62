//! Stochastic demand: what a Markov chain of a million states costs, and what simulations cost.

use super::{Outcome, fastest};
use fairplan_instances::Evidence;
use fairplan_instances::generate::{mrf_fig1, mrf_fig2};
use fairplan_simulation::{
    MarkovSettings, PacketSettings, SimulationSettings, TaskLevelSettings, flow_level, markov, packet_level,
    task_level,
};
use fairplan_solver::{SHARED, sharing_rule};

/// Allocations that are timed, one after the other.
const ALLOCATIONS: u32 = 200_000;

pub(super) fn flows(scale: u64) -> Outcome {
    chains(scale)?;
    simulations(scale)
}

/// All of one core: what is simulated in a second.
fn simulations(scale: u64) -> Outcome {
    println!("## Simulations of the three classes of MRF Fig. 2 at a load of 0.7, on one core\n");
    println!("| objective | flows a second | tasks a second | packet services a second |\n|---|---|---|---|");
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let traffic = mrf_fig2(0.7)?;
    let settings = |arrivals| SimulationSettings { replications: 2, arrivals: arrivals / scale, seed: 1 };
    let drawn = |arrivals| (2 * (arrivals / scale)) as f64;
    for objective in SHARED {
        let rule = sharing_rule(&traffic, objective)?;
        let (flows, tasks, packets) = (500_000, 200, 2_000);
        let (flow_seconds, done) =
            one_core.install(|| fastest(3, || flow_level(&traffic, &*rule, settings(flows))));
        done?;
        let of_tasks = TaskLevelSettings::default();
        let (task_seconds, done) = one_core
            .install(|| fastest(3, || task_level(&traffic, objective, &*rule, settings(tasks), of_tasks)));
        done?;
        let of_packets = PacketSettings::default();
        let (packet_seconds, done) = one_core
            .install(|| fastest(3, || packet_level(&traffic, objective, settings(packets), of_packets)));
        done?;
        // Every packet is served by every resource.
        let services = drawn(packets) * of_packets.packets_per_flow * traffic.resources().len() as f64;
        println!(
            "| {objective} | {:.1} million | {:.1} million | {:.1} million |",
            drawn(flows) / flow_seconds / 1e6,
            drawn(tasks) * of_tasks.tasks_per_job / task_seconds / 1e6,
            services / packet_seconds / 1e6
        );
    }
    println!();
    Ok(())
}

fn chains(scale: u64) -> Outcome {
    println!("## Markov chains of the three classes of MRF Fig. 1\n");
    println!(
        "| objective | load | an allocation | states | cycles | border mass | largest error | seconds |\n|---|---|---|---|---|---|---|---|"
    );
    let load = if scale == 1 { 0.9 } else { 0.7 };
    for objective in SHARED {
        let traffic = mrf_fig1(load)?;
        let rule = sharing_rule(&traffic, objective)?;
        let (allocation, done) = fastest(3, || {
            let mut sharing = rule();
            let mut rates = [0.0; 3];
            (0..ALLOCATIONS).try_for_each(|n| sharing.rates(&[n % 97, n % 89, n % 83], &mut rates))
        });
        done?;
        let allocation = allocation / f64::from(ALLOCATIONS);
        let settings = MarkovSettings { border_mass: 5e-9, ..MarkovSettings::default() };
        let (seconds, outcome) = fastest(1, || markov(&traffic, &*rule, settings));
        let outcome = outcome?;
        let error = outcome
            .classes
            .iter()
            .map(|class| class.service_rate_error / class.service_rate)
            .fold(0.0, f64::max);
        if let Evidence::Chain { states, cycles, border_mass, .. } = outcome.evidence {
            println!(
                "| {objective} | {load} | {:.2} µs | {states} | {cycles} | {border_mass:.1e} | {error:.1e} | {seconds:.2} |",
                allocation * 1e6
            );
        }
    }
    println!();
    Ok(())
}
