//! The auction: who wins, and what it pays.

use crate::{demands, outcome, series, settings};
use fairplan_instances::{FairShares, Random};
use fairplan_mechanisms::{Mechanism, Mpsp, MpspSettings, Ties};

/// The last round of an auction of `capacity` slices: what each user won, and its unit price.
fn round(capacity: u64, demands: &[u64], strategic: &[bool], seed: u64) -> (Vec<u64>, Vec<f64>) {
    let rows: Vec<Vec<u64>> = demands.iter().map(|demand| vec![*demand]).collect();
    let due = FairShares::Capacity(capacity).entitlement(&series(&rows), 0);
    let mut auction = Mpsp::new(MpspSettings { ties: Ties::Lowest, strategic: strategic.to_vec(), seed });
    auction.admit(&due).unwrap();
    let mut allocated = vec![0; demands.len()];
    auction.allocate(demands, &mut allocated);
    let prices = (0..demands.len()).map(|user| auction.balance(user)).collect();
    (allocated, prices)
}

#[test]
fn without_competition_a_slice_costs_what_the_host_bids() {
    assert_eq!(round(10, &[3, 0, 4], &[false; 3], 0), (vec![3, 0, 4], vec![0.5, 0.0, 0.5]));
}

#[test]
fn a_winner_pays_for_the_slices_that_others_lose_by_it() {
    // Equal bids go to the first: A and B win all 6; C and D lose 4. Without A, whose 4 slices C and D would get in
    // full; without B, who has 2 and lacks 1, they would get both of its slices.
    assert_eq!(round(6, &[4, 3, 3, 1], &[false; 4], 0), (vec![4, 2, 0, 0], vec![1.0, 1.0, 0.0, 0.0]));
    // Of the 6 slices of A, 2 would go to B and 4 back to the host.
    assert_eq!(round(6, &[6, 2], &[false; 2], 0), (vec![6, 0], vec![(2.0 + 4.0 * 0.5) / 6.0, 0.0]));
}

#[test]
fn the_welfare_of_an_auction_weighs_slices_by_their_price() {
    // A: 6 slices at 2/3 of their value are worth 9 and capped at the demand; B got 0 of 2, then 2 of 2 at half.
    let rows = demands(&["6,0", "2,2"]);
    let outcome = outcome("mpsp", &settings("0", 0, Ties::Lowest), &FairShares::Capacity(6), &series(&rows));
    assert_eq!([outcome.users[0].welfare, outcome.users[1].welfare], [Some(1.0), Some(0.5)]);
    assert_eq!(outcome.metrics.utilization, 8.0 / 12.0);
}

#[test]
fn nobody_pays_more_than_it_bids_and_losing_bids_are_no_higher_than_winning_ones() {
    let mut random = Random::new(5, 0);
    for seed in 0..500 {
        let users = random.between(1, 8) as usize;
        let wants: Vec<u64> = (0..users).map(|_| random.below(8)).collect();
        let strategic: Vec<bool> = (0..users).map(|_| random.below(2) == 1).collect();
        let capacity = random.between(1, 20);
        let (won, prices) = round(capacity, &wants, &strategic, seed);
        assert_eq!(won.iter().sum::<u64>(), wants.iter().sum::<u64>().min(capacity));
        for user in 0..users {
            assert!(won[user] <= wants[user]);
            let highest = if strategic[user] { 1.1 } else { 1.0 };
            let paid = prices[user];
            assert!(
                won[user] == 0 && paid == 0.0 || (0.5..=highest).contains(&paid),
                "user {user} pays {paid}"
            );
        }
    }
}
