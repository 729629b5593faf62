//! What the Karma paper proves for `α = 0` and credits that do not run out (Sec. 3.3), tried out.

use crate::{allocations, outcome, series, settings};
use fairplan_instances::FairShares;
use fairplan_mechanisms::Ties;
use proptest::collection::vec;
use proptest::prelude::*;

const FAIR_SHARE: u64 = 3;

fn rows() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (2usize..6, 1usize..7).prop_flat_map(|(users, quanta)| {
        let demand = prop_oneof![1 => Just(0), 3 => 0..4 * FAIR_SHARE];
        vec(vec(demand, quanta), users)
    })
}

fn run(rows: &[Vec<u64>], name: &str, alpha: &str, ties: Ties) -> Vec<Vec<u64>> {
    let settings = settings(alpha, 1_000_000, ties);
    allocations(&outcome(name, &settings, &FairShares::PerUser(FAIR_SHARE), &series(rows)))
}

/// What user 0 gets of its true demand when it reports another.
fn useful(truth: &[Vec<u64>], report: &[u64], ties: Ties) -> u64 {
    let mut rows = truth.to_vec();
    rows[0] = report.to_vec();
    let allocated = run(&rows, "karma", "0", ties);
    allocated[0].iter().zip(&truth[0]).map(|(slices, demand)| slices.min(demand)).sum()
}

fn index_ties() -> impl Strategy<Value = Ties> {
    prop_oneof![Just(Ties::Lowest), Just(Ties::Highest)]
}

fn ties() -> impl Strategy<Value = Ties> {
    prop_oneof![Just(Ties::Lowest), Just(Ties::Highest), Just(Ties::Demand)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Lemma 1, to the slice, as long as ties do not look at demands.
    #[test]
    fn over_reporting_never_pays(rows in rows(), more in vec(0u64..20, 7), ties in index_ties()) {
        let report: Vec<u64> = rows[0].iter().zip(&more).map(|(demand, more)| demand + more).collect();
        let (honest, lying) = (useful(&rows, &rows[0], ties), useful(&rows, &report, ties));
        prop_assert!(lying <= honest, "{} with the truth, {} with {:?}", honest, lying, report);
    }

    /// Lemma 2, first part, to the slice.
    #[test]
    fn under_reporting_gains_at_most_half_as_much_again(rows in rows(), less in vec(0u64..20, 7), ties in index_ties()) {
        let report: Vec<u64> = rows[0].iter().zip(&less).map(|(demand, less)| demand.saturating_sub(*less)).collect();
        let (honest, lying) = (useful(&rows, &rows[0], ties), useful(&rows, &report, ties));
        prop_assert!(2 * lying <= 3 * honest, "{} with the truth, {} with {:?}", honest, lying, report);
    }

    /// Theorem 1, for any `α`.
    #[test]
    fn no_slice_is_idle_while_somebody_lacks_one(rows in rows(), tenths in 0u8..=10, ties in ties()) {
        let allocated = run(&rows, "karma", &format!("{}", f64::from(tenths) / 10.0), ties);
        for quantum in 0..rows[0].len() {
            let sum = |of: &[Vec<u64>]| of.iter().map(|row| row[quantum]).sum::<u64>();
            prop_assert_eq!(sum(&allocated), sum(&rows).min(FAIR_SHARE * rows.len() as u64));
            prop_assert!(rows.iter().zip(&allocated).all(|(demand, got)| got[quantum] <= demand[quantum]));
        }
    }

    /// Theorem 4: given the past, every quantum maximises the smallest total (here by trying every other division).
    #[test]
    fn the_smallest_total_is_as_large_as_it_can_be_in_every_quantum(rows in rows(), ties in ties()) {
        let allocated = run(&rows, "karma", "0", ties);
        let users = rows.len();
        let mut totals = vec![0u64; users];
        for quantum in 0..rows[0].len() {
            // The largest level that the slices suffice for, user by user up to its demand.
            let reachable = |level: u64| {
                let needs = (0..users).map(|user| level.saturating_sub(totals[user]));
                let possible = (0..users).all(|user| totals[user] + rows[user][quantum] >= level);
                possible && needs.sum::<u64>() <= FAIR_SHARE * users as u64
            };
            let best = (0..).take_while(|level| reachable(*level)).last().unwrap_or(0);
            for user in 0..users {
                totals[user] += allocated[user][quantum];
            }
            prop_assert_eq!(*totals.iter().min().unwrap(), best, "quantum {}", quantum);
        }
    }

    /// Karma Sec. 6: with `α = 0` Karma is least attained service.
    #[test]
    fn without_guarantee_karma_is_least_attained_service(rows in rows(), ties in ties()) {
        prop_assert_eq!(run(&rows, "karma", "0", ties), run(&rows, "las", "0", ties));
    }

    /// The guaranteed share is there in every quantum, whatever others do.
    #[test]
    fn nobody_gets_less_than_its_guaranteed_share(rows in rows(), thirds in 0u64..=3, ties in ties()) {
        let allocated = run(&rows, "karma", ["0", "0.334", "0.667", "1"][thirds as usize], ties);
        for (demand, got) in rows.iter().zip(&allocated) {
            prop_assert!(demand.iter().zip(got).all(|(demand, got)| *got >= thirds.min(*demand)));
        }
    }
}
