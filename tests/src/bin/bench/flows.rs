//! Stochastic demand: what a Markov chain of a million states costs.

use super::{Outcome, fastest};
use fairplan_instances::Evidence;
use fairplan_instances::generate::mrf_fig1;
use fairplan_simulation::{MarkovSettings, markov};
use fairplan_solver::{SHARED, sharing_rule};

/// Allocations that are timed, one after the other.
const ALLOCATIONS: u32 = 200_000;

pub(super) fn chains(scale: u64) -> Outcome {
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
