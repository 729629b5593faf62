//! The first level against an interior point method from elsewhere, Clarabel, called directly: value and prices.

use crate::solving::{close, solve, value_of};
use fairplan_instances::Objective;
use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, drfh_fig1, google, population,
};
use fairplan_tests::{by_clarabel, random_draft};

#[test]
fn values_of_random_instances_agree() {
    let mut compared = 0;
    for seed in 1_100_000..1_100_300 {
        let draft = random_draft(seed);
        let instance = draft.build().unwrap();
        if let Some(theirs) = by_clarabel(&instance, Objective::Drfh, 1e-11) {
            let (ours, theirs) = (value_of(&instance, &solve(&instance)), theirs.value);
            assert!((ours - theirs).abs() <= 1e-8, "seed {seed}: {ours}, by Clarabel {theirs}\n{draft}");
            compared += 1;
        }
    }
    assert!(compared > 250, "Clarabel solved only {compared} of 300");
}

#[test]
fn values_and_prices_of_clusters_agree() {
    let mut instances = vec![
        drfh_fig1().unwrap(),
        google(&GoogleOptions { users: Some(60), ..GoogleOptions::default() }).unwrap(),
    ];
    for (kind, resources) in
        [(PopulationKind::Spread, 2), (PopulationKind::Alike, 3), (PopulationKind::Weighted, 4)]
    {
        let cluster = Cluster::Random { classes: 5, resources };
        instances.push(population(&PopulationOptions { kind, users: 80, cluster, seed: 8 }).unwrap());
    }
    for instance in &instances {
        let theirs = by_clarabel(instance, Objective::Drfh, 1e-11).expect("Clarabel solves clusters");
        let solution = solve(instance);
        assert!(close(&[value_of(instance, &solution)], &[theirs.value], 1e-8), "{instance:?}");
        let largest = theirs.prices.iter().copied().fold(0.0, f64::max);
        for (ours, theirs) in solution.certificate.levels()[0].prices.iter().zip(&theirs.prices) {
            assert!(
                (ours - theirs).abs() <= 1e-6 * largest,
                "{instance:?}: price {ours}, by Clarabel {theirs}"
            );
        }
    }
}
