//! The numbers of the papers and of their corrections, user by user and quantum by quantum.

use crate::{allocations, demands, outcome, series, settings};
use fairplan_instances::FairShares;
use fairplan_mechanisms::Ties;

/// Karma Fig. 2 and 3: what the text implies of the demands.
const FIG_2: [&str; 3] = ["3,3,0,2,2", "2,0,3,2,3", "1,0,0,4,5"];

/// KDN Table I.
const TABLE_1: [&str; 3] = ["1,3,2,1,1,1,4,2,1,5", "4,5,1,5,5,2,1,5,3,1", "3,1,4,4,2,4,5,1,2,1"];

fn useful(name: &str, ties: Ties, rows: &[Vec<u64>], fair_share: u64) -> Vec<u64> {
    let settings = settings("0", 1_000_000, ties);
    let outcome = outcome(name, &settings, &FairShares::PerUser(fair_share), &series(rows));
    outcome.users.iter().map(|user| user.useful).collect()
}

#[test]
fn karma_fig_3_gives_all_three_users_eight_slices_and_eight_credits() {
    let outcome = outcome(
        "karma",
        &settings("0.5", 6, Ties::Lowest),
        &FairShares::PerUser(2),
        &series(&demands(&FIG_2)),
    );
    assert_eq!(allocations(&outcome), demands(&["3,3,0,1,1", "2,0,3,1,2", "1,0,0,4,3"]));
    assert!(outcome.users.iter().all(|user| (user.allocated, user.credits) == (8, Some(8.0))));
}

#[test]
fn karma_fig_2_periodic_max_min_gives_ten_nine_and_five() {
    assert_eq!(useful("max-min", Ties::Lowest, &demands(&FIG_2), 2), [10, 9, 5]);
}

#[test]
fn three_times_the_slices_with_credits_after_every_quantum() {
    let rows = demands(&["6,12,0,6,6", "6,0,12,6,6", "0,0,0,18,12"]);
    let outcome =
        outcome("karma", &settings("0.5", 6, Ties::Lowest), &FairShares::PerUser(6), &series(&rows));
    assert_eq!(allocations(&outcome), demands(&["6,12,0,3,3", "6,0,12,3,3", "0,0,0,12,12"]));
    let credits = [[6.0, 0.0, 6.0, 9.0, 12.0], [6.0, 12.0, 6.0, 9.0, 12.0], [12.0, 18.0, 24.0, 18.0, 12.0]];
    for (quantum, kept) in outcome.quanta.unwrap().iter().enumerate() {
        assert_eq!(kept.credits, credits.map(|of| of[quantum]), "quantum {quantum}");
    }
}

#[test]
fn kdn_tables_2_and_3_cell_by_cell() {
    let rows = demands(&TABLE_1);
    let karma = outcome("karma", &settings("1", 10, Ties::Highest), &FairShares::PerUser(2), &series(&rows));
    assert_eq!(
        allocations(&karma),
        demands(&["1,3,2,1,1,1,3,2,1,4", "2,2,1,3,3,2,1,3,3,1", "3,1,3,2,2,3,2,1,2,1"])
    );
    let max_min =
        outcome("max-min", &settings("0", 0, Ties::Demand), &FairShares::PerUser(2), &series(&rows));
    assert_eq!(
        allocations(&max_min),
        demands(&["1,2,2,1,1,1,2,2,1,4", "3,3,1,3,3,2,1,3,3,1", "2,1,3,2,2,3,3,1,2,1"])
    );
}

#[test]
fn karma_lemma_2_under_reporting_gains_or_loses_as_others_demand() {
    // n = 8 users of fair share 1; only A, B and C ever demand (Table 1).
    let mut rows = demands(&["8,8,8", "8,0,8", "0,8,0", "0,0,0", "0,0,0", "0,0,0", "0,0,0", "0,0,0"]);
    assert_eq!(useful("karma", Ties::Lowest, &rows, 1)[0], 9);
    rows[0][0] = 0;
    assert_eq!(useful("karma", Ties::Lowest, &rows, 1)[0], 10);
    // Everyone else demands 0, 1, 1 (Table 2).
    let mut rows = vec![vec![0, 1, 1]; 8];
    rows[0] = vec![8, 8, 8];
    assert_eq!(useful("karma", Ties::Lowest, &rows, 1)[0], 10);
    rows[0][0] = 0;
    assert_eq!(useful("karma", Ties::Lowest, &rows, 1)[0], 2);
}

#[test]
fn karma_theorem_5_max_min_can_favour_a_user_by_a_factor_of_users_plus_one() {
    // n users; all but the last always demand 1, the last only in the end.
    let n = 6;
    let mut rows = vec![vec![1; n + 1]; n];
    rows[n - 1] = [vec![0; n], vec![n as u64]].concat();
    let totals = useful("max-min", Ties::Lowest, &rows, 1);
    assert_eq!((totals[0], totals[n - 1]), (n as u64 + 1, 1));
}
