//! Stochastic demand: Markov chains and simulations against numbers computed apart from this project, against each
//! other, and against queues that have a formula.

use fairplan_instances::{Objective, Traffic, TrafficClass, TrafficOutcome};
use fairplan_simulation::{MarkovSettings, markov};
use fairplan_solver::sharing_rule;

const DRF: Objective = Objective::DrfPooled;
const PF: Objective = Objective::ProportionalFairness;
const BMF: Objective = Objective::BottleneckMaxFairness;

fn named(resources: usize, classes: &[(&[f64], f64)]) -> Traffic {
    let classes = classes.iter().enumerate();
    let classes =
        classes.map(|(k, (demand, rate))| TrafficClass::new(&format!("class-{k}"), demand.to_vec(), *rate));
    let names = (0..resources).map(|r| format!("resource-{r}")).collect();
    Traffic::new("", names, vec![1.0; resources], classes.collect()).unwrap()
}

/// The classes of MRF Sec. 4.3, their arrivals in these proportions.
fn mrf(load: f64, arrivals: [f64; 3]) -> Traffic {
    let demands: [&[f64]; 3] = [&[0.1, 1.0], &[1.0, 0.1], &[1.0, 1.0]];
    let classes: Vec<(&[f64], f64)> = demands.into_iter().zip(arrivals).collect();
    named(2, &classes).at_load(load)
}

fn chain(traffic: &Traffic, objective: Objective, border_mass: f64) -> TrafficOutcome {
    let rule = sharing_rule(traffic, objective).unwrap();
    markov(traffic, &*rule, MarkovSettings { border_mass, ..MarkovSettings::default() }).unwrap()
}

fn service_rates(outcome: &TrafficOutcome) -> Vec<f64> {
    outcome.classes.iter().map(|class| class.service_rate).collect()
}

#[test]
fn service_rates_are_those_computed_apart() {
    let (equal, unequal) = ([1.0; 3], [4.0, 1.0, 1.0]);
    for (load, arrivals, objective, published) in [
        (0.5, equal, DRF, [0.451568, 0.451568, 0.398216]),
        (0.5, equal, PF, [0.499870, 0.499870, 0.390091]),
        (0.5, equal, BMF, [0.487323, 0.487323, 0.403776]),
        (0.7, unequal, DRF, [0.296762, 0.375177, 0.288844]),
        (0.7, unequal, PF, [0.299520, 0.672461, 0.283884]),
        (0.7, unequal, BMF, [0.298236, 0.657231, 0.290514]),
    ] {
        let start = std::time::Instant::now();
        let outcome = chain(&mrf(load, arrivals), objective, 1e-9);
        println!(
            "{objective} {load}: {:?} {:?} {:?}",
            start.elapsed(),
            service_rates(&outcome),
            outcome.evidence
        );
        for (class, published) in outcome.classes.iter().zip(published) {
            assert!((class.service_rate - published).abs() < 2e-6, "{objective} at {load}: {outcome:?}");
        }
    }
}
