//! Many different users, whose bins are refined round after round until the certificate closes.

use crate::solving::solve;
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_verify::verify_solution;

/// Users within 35% of each other in every demand, so that most of them are near some price boundary.
fn alike_users_are_certified(users: u64, seed: u64) {
    let cluster = Cluster::Random { classes: 10, resources: 4 };
    let options = PopulationOptions { kind: PopulationKind::Alike, users, cluster, seed };
    let instance = population(&options).unwrap();
    let proof = verify_solution(&instance, &(&solve(&instance)).into());
    assert!(proof.holds(), "{users} users, seed {seed}: {proof:?}");
}

#[test]
fn small_bins_at_price_boundaries_do_not_stall_the_path() {
    alike_users_are_certified(200_000, 4);
}

#[test]
fn prices_that_nearly_agree_do_not_hide_that_users_disagree() {
    alike_users_are_certified(50_000, 41);
}

#[test]
#[ignore = "half a minute"]
fn a_level_above_its_bound_is_not_taken_for_solved() {
    alike_users_are_certified(50_000, 42);
}
