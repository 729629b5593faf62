//! Users who join and leave (Karma Sec. 3.4).

use crate::{allocations, demands, outcome, series, settings};
use fairplan_instances::{DynamicOutcome, FairShares};
use fairplan_mechanisms::{MECHANISMS, Ties};

/// C joins in the third quantum, A leaves after it.
fn run(name: &str, shares: FairShares, rows: &[Vec<u64>]) -> DynamicOutcome {
    let quanta = rows[0].len();
    let series = series(rows).with_members(vec![0..3, 0..quanta, 2..quanta]).unwrap();
    outcome(name, &settings("0.5", 10, Ties::Lowest), &shares, &series)
}

fn credits(outcome: &DynamicOutcome) -> Vec<Vec<f64>> {
    outcome.quanta.as_ref().unwrap().iter().map(|quantum| quantum.credits.clone()).collect()
}

#[test]
fn a_newcomer_starts_with_the_mean_credits_and_the_others_keep_theirs() {
    let rows = demands(&["4,0,2,0", "0,1,2,2", "0,0,2,2"]);
    let outcome = run("karma", FairShares::PerUser(2), &rows);
    // Fair share 2, guaranteed 1, one credit minted each quantum; 4 slices, then 6, then 4 again.
    assert_eq!(allocations(&outcome), demands(&["4,0,2,0", "0,1,2,2", "0,0,2,2"]));
    assert_eq!(
        credits(&outcome),
        [
            vec![10.0 + 1.0 - 3.0, 10.0 + 1.0 + 1.0, 0.0],
            vec![9.0, 13.0, 0.0],
            // C starts with the mean of 9 and 13, and all three pay what they are minted.
            vec![9.0, 13.0, 11.0],
            vec![0.0, 13.0, 11.0],
        ]
    );
}

#[test]
fn a_mean_that_is_no_whole_number_is_rounded_down() {
    let rows = demands(&["4,1,1,0", "0,1,1,1", "0,0,1,1"]);
    let outcome = run("karma", FairShares::PerUser(2), &rows);
    let after = credits(&outcome);
    assert_eq!(after[1], [9.0, 13.0, 0.0]);
    let rows = demands(&["3,1,1,0", "0,0,1,1", "0,0,1,1"]);
    let outcome = run("karma", FairShares::PerUser(2), &rows);
    // 10 + 1 - 2 + 1 and 10 + 1 + 1 + 1: the mean of 10 and 13 is 11, and a credit is minted to everyone.
    assert_eq!(credits(&outcome)[1..3], [vec![10.0, 13.0, 0.0], vec![11.0, 14.0, 12.0]]);
}

#[test]
fn a_fixed_capacity_is_shared_by_more_or_fewer() {
    let rows = demands(&["9,9,9,0", "9,9,9,9", "0,0,9,9"]);
    for name in MECHANISMS.names() {
        let outcome = run(name, FairShares::Capacity(12), &rows);
        let allocated = allocations(&outcome);
        for quantum in 0..4 {
            let total: u64 = allocated.iter().map(|row| row[quantum]).sum();
            assert!(total <= 12, "{name}: {total} slices in quantum {quantum}");
            // Tickets may be short while old claims run out.
            assert!(total == 12 || name == "sharp", "{name}: {total} slices in quantum {quantum}");
        }
        assert_eq!((allocated[2][0], allocated[2][1], allocated[0][3]), (0, 0, 0), "{name}");
        if ["strict", "max-min"].contains(&name) {
            assert_eq!(allocated, demands(&["6,6,4,0", "6,6,4,6", "0,0,4,6"]), "{name}");
        }
    }
}

#[test]
fn fair_shares_of_their_own_come_and_go_with_the_users() {
    let rows = demands(&["20,20,20,0", "20,20,20,20", "0,0,20,20"]);
    for name in ["strict", "max-min", "las"] {
        let outcome = run(name, FairShares::Each(vec![2, 4, 6]), &rows);
        assert_eq!(allocations(&outcome), demands(&["2,2,2,0", "4,4,4,4", "0,0,6,6"]), "{name}");
    }
    let karma = run("karma", FairShares::Each(vec![2, 4, 6]), &rows);
    let totals: Vec<u64> =
        (0..4).map(|quantum| allocations(&karma).iter().map(|row| row[quantum]).sum()).collect();
    assert_eq!(totals, [6, 6, 12, 10]);
}
