//! The offline optimum: against every set and every allocation of small series, proved on larger ones, and claims
//! that must not pass.

use fairplan_instances::{
    DemandSeries, DemandSeriesBuilder, FairShares, GuaranteedFraction, OfflineLevel, OfflineMeasure,
    OfflineProblem, QuantumLabel, Random,
};
use fairplan_solver::offline_optimum;
#[cfg(feature = "highs")]
use fairplan_solver::{HighsAlgorithm, offline_levels_by_highs};
use fairplan_tests::Fraction;
use fairplan_verify::{OfflineClaim, verify_offline};

pub(crate) fn series(rows: &[Vec<u64>]) -> DemandSeries {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..rows.len() {
        builder.user(&format!("u{user}")).unwrap();
    }
    for quantum in 0..rows[0].len() {
        builder.quantum(QuantumLabel::Number(quantum as u64)).unwrap();
        for (user, row) in rows.iter().enumerate() {
            builder.demand(user, row[quantum]).unwrap();
        }
    }
    builder.build().unwrap()
}

pub(crate) fn random_rows(random: &mut Random, users: u64, quanta: u64, most: u64) -> Vec<Vec<u64>> {
    let (users, quanta) = (random.between(1, users), random.between(1, quanta));
    let mut demand = || if random.below(3) == 0 { 0 } else { random.below(most + 1) };
    (0..users).map(|_| (0..quanta).map(|_| demand()).collect()).collect()
}

/// Every user's level, from the definition: the set with the least `ρ(Z) / w(Z)` is settled at that (the largest such
/// set), then the rest against it.
pub(crate) fn levels_by_all_sets(rows: &[Vec<u64>], capacity: u64, weights: &[u64]) -> Vec<Option<Fraction>> {
    let users = rows.len();
    let rank = |set: usize| -> u64 {
        let demand = |quantum: usize| {
            (0..users).filter(|user| set >> user & 1 == 1).map(|user| rows[user][quantum]).sum()
        };
        (0..rows[0].len()).map(|quantum| capacity.min(demand(quantum))).sum()
    };
    let counting = (0..users).filter(|user| weights[*user] > 0).fold(0, |set, user| set | 1 << user);
    let mut levels = vec![None; users];
    let mut settled = 0usize;
    while settled != counting {
        let mut best: Option<(Fraction, usize)> = None;
        for set in (1..1usize << users).filter(|set| set & settled == 0 && set & !counting == 0) {
            let weight: u64 = (0..users).filter(|user| set >> user & 1 == 1).map(|user| weights[user]).sum();
            let ratio = Fraction::new(rank(set | settled) - rank(settled), weight);
            // Sets of the same ratio: their union has it too.
            best = match best {
                Some((least, of)) if ratio == least => Some((least, of | set)),
                Some((least, of)) if ratio > least => Some((least, of)),
                _ => Some((ratio, set)),
            };
        }
        let (level, set) = best.unwrap();
        (0..users).filter(|user| set >> user & 1 == 1).for_each(|user| levels[user] = Some(level.clone()));
        settled |= set;
    }
    levels
}

#[test]
fn divided_slices_reach_the_levels_of_all_sets_on_500_random_series() {
    let mut random = Random::new(1, 0);
    for case in 0..500 {
        let rows = random_rows(&mut random, 6, 7, 9);
        let shares: Vec<u64> =
            rows.iter().map(|_| if case % 2 == 0 { 1 } else { random.between(1, 5) }).collect();
        let capacity: u64 = shares.iter().sum();
        let series = series(&rows);
        let shares = FairShares::Each(shares);
        let measure = if case % 3 == 0 { OfflineMeasure::Welfare } else { OfflineMeasure::Totals };
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: None,
            measure,
            whole_slices: false,
        };
        let weights = problem.weights();
        let expected = levels_by_all_sets(&rows, capacity, &weights);
        let optimum = offline_optimum(&problem);
        let totals = optimum.totals(&series);
        for user in (0..rows.len()).filter(|user| weights[*user] > 0) {
            let level = expected[user].as_ref().unwrap().to_f64();
            let ours = totals[user] / weights[user] as f64;
            assert!(
                (ours - level).abs() <= 1e-9 * level,
                "case {case}, user {user}: {ours}, exactly {level}"
            );
        }
        let proof = verify_offline(&problem, OfflineClaim::from(&optimum));
        assert!(proof.holds(), "case {case}: {:?}", proof.verdicts);
    }
}

#[cfg(feature = "highs")]
#[test]
fn divided_slices_reach_the_levels_of_linear_programs_on_500_random_series() {
    let mut random = Random::new(5, 0);
    let half = GuaranteedFraction::new("0.5".parse().unwrap()).unwrap();
    for case in 0..500 {
        let rows = random_rows(&mut random, 12, 20, 30);
        let shares: Vec<u64> = rows.iter().map(|_| random.between(1, 12)).collect();
        let series = series(&rows);
        let shares = FairShares::Each(shares);
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: (case % 2 == 0).then_some(half),
            measure: [OfflineMeasure::Totals, OfflineMeasure::Welfare][case / 2 % 2],
            whole_slices: false,
        };
        let weights = problem.weights();
        let totals = offline_optimum(&problem).totals(&series);
        let theirs = offline_levels_by_highs(&problem, HighsAlgorithm::Simplex).unwrap();
        for user in (0..rows.len()).filter(|user| weights[*user] > 0) {
            let (ours, theirs) = (totals[user] / weights[user] as f64, theirs.standings[user]);
            assert!((ours - theirs).abs() <= 1e-7 * ours, "case {case}, user {user}: {ours}, HiGHS {theirs}");
        }
    }
}

/// The most even totals of whole slices, by trying every allocation: sorted standings, compared from the lowest up.
fn best_by_all_allocations(rows: &[Vec<u64>], capacity: u64, weights: &[u64]) -> Vec<Fraction> {
    fn fill(
        rows: &[Vec<u64>],
        quantum: usize,
        user: usize,
        free: u64,
        capacity: u64,
        totals: &mut Vec<u64>,
        found: &mut dyn FnMut(&[u64]),
    ) {
        if quantum == rows[0].len() {
            return found(totals);
        }
        if user == rows.len() {
            return fill(rows, quantum + 1, 0, capacity, capacity, totals, found);
        }
        for given in 0..=rows[user][quantum].min(free) {
            totals[user] += given;
            fill(rows, quantum, user + 1, free - given, capacity, totals, found);
            totals[user] -= given;
        }
    }
    let mut best: Vec<Fraction> = Vec::new();
    fill(rows, 0, 0, capacity, capacity, &mut vec![0; rows.len()], &mut |totals| {
        let counting = totals.iter().zip(weights).filter(|(_, weight)| **weight > 0);
        let mut standings: Vec<Fraction> =
            counting.map(|(total, weight)| Fraction::new(*total, *weight)).collect();
        standings.sort();
        if best.is_empty() || standings > best {
            best = standings;
        }
    });
    best
}

#[test]
fn whole_slices_are_as_even_as_any_allocation_of_300_tiny_series() {
    let mut random = Random::new(2, 0);
    for case in 0..300 {
        let rows = random_rows(&mut random, 3, 3, 4);
        let shares: Vec<u64> =
            rows.iter().map(|_| if case % 2 == 0 { 1 } else { random.between(1, 3) }).collect();
        let capacity: u64 = shares.iter().sum();
        let series = series(&rows);
        let shares = FairShares::Each(shares);
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: None,
            measure: OfflineMeasure::Totals,
            whole_slices: true,
        };
        let weights = problem.weights();
        let optimum = offline_optimum(&problem);
        let totals = optimum.totals(&series);
        let counting = (0..rows.len()).filter(|user| weights[*user] > 0);
        let mut ours: Vec<Fraction> =
            counting.map(|user| Fraction::new(totals[user] as u64, weights[user])).collect();
        ours.sort();
        assert_eq!(
            ours,
            best_by_all_allocations(&rows, capacity, &weights),
            "case {case}: {rows:?} {weights:?}"
        );
        let proof = verify_offline(&problem, OfflineClaim::from(&optimum));
        assert!(proof.holds(), "case {case}: {:?}", proof.verdicts);
    }
}

#[test]
fn larger_series_are_proved_with_weights_guarantees_members_and_welfare() {
    let mut random = Random::new(3, 0);
    let half = GuaranteedFraction::new("0.5".parse().unwrap()).unwrap();
    for case in 0..40 {
        let (users, quanta) = (random.between(20, 120) as usize, random.between(20, 300) as usize);
        let mut rows: Vec<Vec<u64>> = (0..users)
            .map(|_| (0..quanta).map(|_| if random.below(4) == 0 { random.below(30) } else { 0 }).collect())
            .collect();
        // Some come late.
        let first: Vec<usize> =
            (0..users).map(|user| if user > 0 && random.below(5) == 0 { quanta / 2 } else { 0 }).collect();
        for (row, first) in rows.iter_mut().zip(&first) {
            row[..*first].fill(0);
        }
        let members = first.iter().map(|first| *first..quanta).collect();
        let series = series(&rows).with_members(members).unwrap();
        let shares = match case % 3 {
            0 => FairShares::PerUser(random.between(1, 5)),
            1 => FairShares::Capacity(random.between(users as u64, 4 * users as u64)),
            _ => FairShares::Each((0..users).map(|_| random.between(1, 7)).collect()),
        };
        for whole_slices in [false, true] {
            let problem = OfflineProblem {
                series: &series,
                shares: &shares,
                guaranteed: (case % 2 == 0).then_some(half),
                measure: [OfflineMeasure::Totals, OfflineMeasure::Welfare][case / 2 % 2],
                whole_slices,
            };
            let optimum = offline_optimum(&problem);
            let claim = OfflineClaim::from(&optimum);
            let proof = verify_offline(&problem, claim);
            assert!(proof.holds(), "case {case}, whole {whole_slices}: {:?}", proof.verdicts);
            assert_eq!(optimum, offline_optimum(&problem), "the same input gives the same bytes");
        }
    }
}

#[test]
fn corrupted_claims_do_not_pass() {
    let mut random = Random::new(4, 0);
    let mut accepted = Vec::new();
    let mut tried = 0;
    while tried < 600 {
        let rows = random_rows(&mut random, 6, 6, 9);
        let series = series(&rows);
        let shares = FairShares::Capacity(random.between(1, 8));
        let whole_slices = random.below(2) == 1;
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: None,
            measure: OfflineMeasure::Totals,
            whole_slices,
        };
        if series.entry_count() == 0 {
            continue;
        }
        let mut optimum = offline_optimum(&problem);
        let entry = random.below(series.entry_count() as u64) as usize;
        let level = random.below(optimum.levels.len() as u64) as usize;
        let kind = random.below(8);
        match kind {
            0 => optimum.allocated[entry] += 1.0,
            1 => optimum.allocated[entry] = f64::NAN,
            2 => optimum.allocated[entry] = -1.0,
            // Nobody else gets it, so its user's level is missed.
            3 if optimum.allocated[entry] >= 1.0 => optimum.allocated[entry] -= 1.0,
            4 if optimum.levels[level].value > 0.0 => optimum.levels[level].value *= 1.0 + 1e-6,
            5 => drop(optimum.levels.remove(level)),
            6 => optimum.levels[level].users.push(0),
            7 if optimum.levels.len() > 1 => {
                let last = optimum.levels.len() - 1;
                if (optimum.levels[0].value - optimum.levels[last].value).abs() < 1e-6 {
                    continue;
                }
                optimum.levels.swap(0, last);
            }
            _ => continue,
        }
        tried += 1;
        let proof = verify_offline(&problem, OfflineClaim::from(&optimum));
        if proof.holds() {
            accepted.push((kind, rows, optimum));
        }
    }
    assert!(accepted.is_empty(), "{} of {tried}: {:?}", accepted.len(), accepted.first());
    let nothing: &[OfflineLevel] = &[];
    let series = series(&[vec![1]]);
    let problem = OfflineProblem {
        series: &series,
        shares: &FairShares::Capacity(1),
        guaranteed: None,
        measure: OfflineMeasure::Totals,
        whole_slices: false,
    };
    assert!(!verify_offline(&problem, OfflineClaim { allocated: &[], levels: nothing, exact: None }).holds());
}
