//! Mechanisms without credits, metrics, and what users report.

use crate::{allocations, demands, outcome, series, settings};
use fairplan_instances::{CacheModel, FairShares};
use fairplan_mechanisms::{Conduct, Reports, Run, Ties, mechanism, non_conformant};
use proptest::collection::vec;
use proptest::prelude::*;

/// Serves the user with the least by weight, one slice at a time.
fn one_by_one(demands: &[u64], weights: &[u64], capacity: u64) -> Vec<u64> {
    let mut got = vec![0u64; demands.len()];
    for _ in 0..capacity {
        let wanting = (0..demands.len()).filter(|user| got[*user] < demands[*user]);
        // a / v < b / w, ties to the first: `min_by` keeps it.
        let Some(next) = wanting.min_by(|a, b| (got[*a] * weights[*b]).cmp(&(got[*b] * weights[*a]))) else {
            break;
        };
        got[next] += 1;
    }
    got
}

proptest! {
    #[test]
    fn weighted_max_min_is_filling_one_slice_at_a_time(
        users in vec((0u64..30, 1u64..12), 1..9), scale in 1u64..4,
    ) {
        let (demands, weights): (Vec<u64>, Vec<u64>) = users.into_iter().unzip();
        let shares: Vec<u64> = weights.iter().map(|weight| weight * scale).collect();
        let rows: Vec<Vec<u64>> = demands.iter().map(|demand| vec![*demand]).collect();
        let got = outcome("max-min", &settings("0", 0, Ties::Lowest), &FairShares::Each(shares.clone()), &series(&rows));
        let expected = one_by_one(&demands, &weights, shares.iter().sum());
        prop_assert_eq!(allocations(&got).concat(), expected);
    }
}

#[test]
fn strict_partitions_ignore_demands_and_large_remainders_come_first() {
    let rows = demands(&["0,9", "9,0", "9,9"]);
    let strict = |shares, ties| {
        let got = outcome("strict", &settings("0", 0, ties), &shares, &series(&rows));
        allocations(&got).into_iter().map(|row| row[0]).collect::<Vec<_>>()
    };
    assert_eq!(strict(FairShares::PerUser(2), Ties::Lowest), [2, 2, 2]);
    assert_eq!(strict(FairShares::Each(vec![1, 5, 3]), Ties::Lowest), [1, 5, 3]);
    assert_eq!(strict(FairShares::Capacity(8), Ties::Lowest), [3, 3, 2]);
    assert_eq!(strict(FairShares::Capacity(8), Ties::Highest), [2, 3, 3]);
}

#[test]
fn metrics_are_those_of_a_run_worked_out_by_hand() {
    // Strict partitions of 2: A demands 4 and 1, B 0 and 2, C nothing at all; A is greedy.
    let rows = demands(&["4,1", "0,2", "0,0"]);
    let greedy = [true, false, false];
    let conduct = Conduct { non_conformant: &greedy, reports: Reports::Truthful };
    let shares = FairShares::PerUser(2);
    let run =
        Run { shares: &shares, conduct, cache: Some(CacheModel { slowdown: 51.0 }), per_quantum: false };
    let outcome = run.named("strict", &settings("0", 0, Ties::Lowest), &series(&rows)).unwrap();
    let users = &outcome.users;
    assert_eq!([users[0].demand, users[0].allocated, users[0].useful], [5, 4, 3]);
    assert_eq!([users[0].welfare, users[1].welfare, users[2].welfare], [Some(0.6), Some(1.0), None]);
    // Of the five slices of A's working sets three are in memory.
    assert_eq!(users[0].throughput, Some((2.0 + 2.0 / 51.0 + 1.0) / 5.0));
    assert_eq!((users[2].throughput, users[0].credits), (None, None));
    let metrics = outcome.metrics;
    assert_eq!(metrics.utilization, 5.0 / 12.0);
    // Only B is conformant and demands anything.
    assert_eq!((metrics.fairness, metrics.short_term_fairness), (1.0, 1.0));
    assert_eq!((metrics.welfare_min, metrics.welfare_mean), (0.6, 0.8));
    assert_eq!(metrics.allocation_min_over_max, 2.0 / 3.0);
    assert_eq!(metrics.incentive, Some(0.4));
    assert_eq!((metrics.handoffs_per_quantum, metrics.disparity), (0.0, None));
}

#[test]
fn handoffs_are_slices_that_a_user_did_not_have_before() {
    let rows = demands(&["2,0,4", "2,4,0"]);
    let outcome =
        outcome("max-min", &settings("0", 0, Ties::Lowest), &FairShares::PerUser(2), &series(&rows));
    // B takes 2 in the second quantum, A takes 4 in the third.
    assert_eq!(outcome.metrics.handoffs_per_quantum, 3.0);
    assert_eq!(outcome.metrics.short_term_fairness, 1.0);
}

#[test]
fn hoarders_report_their_fair_share_and_idle_slices_help_nobody() {
    let rows = demands(&["0,0,0", "4,4,4"]);
    let hoard = |name: &str, reports: Reports<'_>| {
        let greedy = [true, false];
        let mut mechanism = mechanism(name, &settings("0.5", 100, Ties::Lowest), &greedy, 3).unwrap();
        let conduct = Conduct { non_conformant: &greedy, reports };
        let shares = FairShares::PerUser(2);
        let run = Run { shares: &shares, conduct, cache: None, per_quantum: false };
        let outcome = run.outcome(mechanism.as_mut(), &series(&rows)).unwrap();
        (outcome.users[0].allocated, outcome.users[0].useful, outcome.users[1].useful)
    };
    for name in ["karma", "max-min"] {
        assert_eq!(hoard(name, Reports::Truthful), (0, 0, 12), "{name}");
        assert_eq!(hoard(name, Reports::Hoarding), (6, 0, 6), "{name}");
        let other = series(&demands(&["1,0,0", "4,4,1"]));
        assert_eq!(hoard(name, Reports::Series(&other)), (1, 0, 8), "{name}");
    }
}

#[test]
fn non_conformant_users_are_as_many_as_asked_for_and_drawn_from_the_seed() {
    for count in [0, 1, 50, 100] {
        let chosen = non_conformant(100, count, 7);
        assert_eq!(chosen.iter().filter(|greedy| **greedy).count(), count);
        assert_eq!(chosen, non_conformant(100, count, 7));
    }
    assert_ne!(non_conformant(100, 50, 7), non_conformant(100, 50, 8));
    // Each user is as likely as any other.
    let mut counts = [0; 5];
    for seed in 0..5000 {
        non_conformant(5, 2, seed)
            .iter()
            .enumerate()
            .for_each(|(user, greedy)| counts[user] += usize::from(*greedy));
    }
    assert!(counts.iter().all(|count| (1900..2100).contains(count)), "{counts:?}");
}
