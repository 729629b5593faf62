//! Many different users, whose bins are refined round after round until the certificate closes.

use crate::solving::solve;
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Decimal, Draft, Instance, NewGroup, Status};
use fairplan_tests::Dice;
use fairplan_verify::verify_solution;

/// Users within 35% of each other in every demand, so that most of them are near some price boundary.
fn alike_users_are_certified(users: u64, seed: u64) {
    let cluster = Cluster::Random { classes: 10, resources: 4 };
    let options = PopulationOptions { kind: PopulationKind::Alike, users, cluster, seed };
    let instance = population(&options).unwrap();
    let proof = verify_solution(&instance, &(&solve(&instance)).into());
    assert!(proof.holds(), "{users} users, seed {seed}: {proof:?}");
}

/// That many users of fifty classes are proved over bins: an interior point over all of them takes twenty times as long.
fn bins_are_enough(users: u64, seed: u64) {
    let cluster = Cluster::Random { classes: 50, resources: 4 };
    let options = PopulationOptions { kind: PopulationKind::Alike, users, cluster, seed };
    let instance = population(&options).unwrap();
    let solution = solve(&instance);
    assert_eq!((solution.method, solution.status), ("aggregation", Status::Optimal), "seed {seed}");
    let proof = verify_solution(&instance, &(&solution).into());
    assert!(proof.holds(), "{users} users, seed {seed}: {proof:?}");
}

#[test]
fn what_the_users_of_the_last_level_miss_is_in_its_gap() {
    bins_are_enough(20_000, 2);
}

#[test]
fn a_gap_that_falls_fast_is_closed_before_bins_are_given_up() {
    bins_are_enough(20_000, 3);
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

/// A hundred thousand users with weights from a thousandth to a thousand, of whom many take too little for a gain to be told from rounding.
fn tiny_users() -> Draft {
    let options = PopulationOptions {
        kind: PopulationKind::Weighted,
        users: 100_000,
        cluster: Cluster::Google,
        seed: 1,
    };
    Draft::from(&population(&options).unwrap())
}

/// That bins alone prove it: other ways take a hundred times as long.
fn proved_by_bins(instance: &Instance) {
    let solution = solve(instance);
    assert_eq!((solution.method, solution.status), ("aggregation", Status::Optimal));
    let proof = verify_solution(instance, &(&solution).into());
    assert!(proof.holds(), "{proof:?}");
}

#[test]
fn users_to_whom_rounding_is_a_gain_are_held_by_clear_prices() {
    proved_by_bins(&tiny_users().build().unwrap());
}

#[test]
fn members_of_groups_to_whom_rounding_is_a_gain_are_held_by_clear_prices() {
    let mut draft = tiny_users();
    draft.groups = (0..1_000u32)
        .map(|g| NewGroup {
            id: format!("g{g}"),
            weight: Decimal::from(1 + g % 5),
            parent: (g >= 10).then(|| format!("g{}", g % 10)),
        })
        .collect();
    let mut dice = Dice::new(7);
    draft.users.iter_mut().for_each(|user| user.group = Some(10 + dice.below(990) as usize));
    proved_by_bins(&draft.build().unwrap());
}
