//! Stochastic demand: what a Markov chain of a million states costs.

use super::{Outcome, fastest};
use fairplan_instances::Evidence;
use fairplan_instances::generate::mrf_fig1;
use fairplan_simulation::{MarkovSettings, markov};
use fairplan_solver::{SHARED, sharing_rule};

pub(super) fn chains(scale: u64) -> Outcome {
    println!("## Markov chains of the three classes of MRF Fig. 1\n");
    println!(
        "| objective | load | states | cycles | border mass | largest error | seconds |\n|---|---|---|---|---|---|---|"
    );
    let load = if scale == 1 { 0.9 } else { 0.7 };
    for objective in SHARED {
        let traffic = mrf_fig1(load)?;
        let rule = sharing_rule(&traffic, objective)?;
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
                "| {objective} | {load} | {states} | {cycles} | {border_mass:.1e} | {error:.1e} | {seconds:.2} |"
            );
        }
    }
    println!();
    Ok(())
}
