//! The offline optimum in fractions: equal to the rational oracles, proved without tolerance, and refused when any fraction is forged.

use crate::exact::{forged, fractions};
use crate::offline::{levels_by_all_sets, random_rows, series};
use crate::over_time::random_case;
use fairplan_instances::files::{demands_sha256_hex, sha256_hex};
use fairplan_instances::{
    Deadline, DemandSeries, FairShares, GuaranteedFraction, InstanceError, OfflineMeasure, OfflineProblem,
    Random, TaskDemands,
};
use fairplan_report::allocation::AllocationSettings;
use fairplan_report::offline::{
    Held, OfflineDocument, StatedOffline, StatedTaskOffline, TaskOfflineDocument, offline_document,
    task_offline_document,
};
use fairplan_report::{read_json, write_json};
use fairplan_solver::{exact_offline_optimum_within, exact_task_optimum_within, task_optimum};
use fairplan_tests::{Dice, Fraction, exact_over_time, read_fraction};
use fairplan_verify::{OfflineClaim, TaskClaim, verify_offline, verify_task_optimum};
use serde_json::Value;

const MEASURES: [OfflineMeasure; 2] = [OfflineMeasure::Totals, OfflineMeasure::Welfare];

/// Random shares and what the users of some rows are then due: their levels from the definition, as fractions.
fn of_all_sets(random: &mut Random, case: u64) {
    let rows = random_rows(random, 6, 7, 9);
    let shares: Vec<u64> =
        rows.iter().map(|_| if case.is_multiple_of(2) { 1 } else { random.between(1, 5) }).collect();
    let capacity: u64 = shares.iter().sum();
    let series = series(&rows);
    let shares = FairShares::Each(shares);
    let measure = MEASURES[case as usize % 3 / 2];
    let problem =
        OfflineProblem { series: &series, shares: &shares, guaranteed: None, measure, whole_slices: false };
    let weights = problem.weights();
    let expected = levels_by_all_sets(&rows, capacity, &weights);
    let optimum = exact_offline_optimum_within(&problem, &Deadline::never()).unwrap();
    let exact = optimum.exact.as_ref().unwrap();
    for (user, level) in expected.iter().enumerate() {
        let total = read_fraction(&exact.totals[user]).unwrap();
        let truth =
            level.as_ref().map_or_else(Fraction::zero, |level| level * &Fraction::new(weights[user], 1));
        assert_eq!(total, truth, "case {case}, user {user}");
    }
    for (level, stated) in optimum.levels.iter().zip(&exact.levels) {
        let stated = read_fraction(stated);
        assert!(level.users.iter().all(|user| expected[*user as usize] == stated), "case {case}");
    }
    let proof = verify_offline(&problem, OfflineClaim::from(&optimum));
    assert!(proof.holds() && proof.relative_gap == 0.0, "case {case}: {:?}", proof.verdicts);
}

#[test]
fn fractions_of_slices_are_those_of_all_sets_on_2000_random_series() {
    let mut random = Random::new(11, 0);
    (0..2_000).for_each(|case| of_all_sets(&mut random, case));
}

/// A series of some size whose users come at different times, with what is due in it.
fn larger(random: &mut Random, case: u64) -> (DemandSeries, FairShares) {
    let (users, quanta) = (random.between(20, 120) as usize, random.between(20, 200) as usize);
    let rows: Vec<Vec<u64>> = (0..users)
        .map(|user| {
            let first = if user > 0 && random.below(5) == 0 { quanta / 2 } else { 0 };
            let mut demand =
                |quantum| if quantum >= first && random.below(4) == 0 { random.below(30) } else { 0 };
            (0..quanta).map(&mut demand).collect()
        })
        .collect();
    let shares = match case % 3 {
        0 => FairShares::PerUser(random.between(1, 5)),
        1 => FairShares::Capacity(random.between(users as u64, 4 * users as u64)),
        _ => FairShares::Each((0..users).map(|_| random.between(1, 7)).collect()),
    };
    (series(&rows), shares)
}

#[test]
fn larger_series_are_proved_without_tolerance_with_weights_guarantees_and_welfare() {
    let mut random = Random::new(12, 0);
    let half = GuaranteedFraction::new("0.5".parse().unwrap()).unwrap();
    let mut levels = 0;
    for case in 0..24 {
        let (series, shares) = larger(&mut random, case);
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: (case % 2 == 0).then_some(half),
            measure: MEASURES[case as usize / 2 % 2],
            whole_slices: false,
        };
        let optimum = exact_offline_optimum_within(&problem, &Deadline::never()).unwrap();
        let proof = verify_offline(&problem, OfflineClaim::from(&optimum));
        assert!(proof.holds() && proof.relative_gap == 0.0, "case {case}: {:?}", proof.verdicts);
        levels += optimum.levels.len();
    }
    assert!(levels > 100, "only {levels} levels");
}

fn problem<'a>(series: &'a DemandSeries, shares: &'a FairShares) -> OfflineProblem<'a> {
    let measure = OfflineMeasure::Totals;
    OfflineProblem { series, shares, guaranteed: None, measure, whole_slices: false }
}

#[test]
fn what_is_whole_and_what_takes_too_long_is_refused_by_name() {
    let (series, shares) = (series(&[vec![3, 1], vec![2, 2]]), FairShares::Capacity(2));
    let whole = OfflineProblem { whole_slices: true, ..problem(&series, &shares) };
    let refused = exact_offline_optimum_within(&whole, &Deadline::never()).unwrap_err();
    assert!(refused.to_string().contains("whole slices are counted"), "{refused}");
    let over = Deadline::after(std::time::Duration::ZERO);
    let refused = exact_offline_optimum_within(&problem(&series, &shares), &over);
    assert!(matches!(refused, Err(InstanceError::OutOfTime)), "{refused:?}");
}

#[test]
fn a_thousand_forged_fractions_of_slices_are_refused() {
    let mut random = Random::new(13, 0);
    let mut dice = Dice::new(14);
    let mut tried = 0;
    while tried < 1_000 {
        let series = series(&random_rows(&mut random, 6, 6, 9));
        if series.entry_count() == 0 {
            continue;
        }
        let capacity = random.between(1, 8);
        let shares = FairShares::Capacity(capacity);
        let problem = problem(&series, &shares);
        let optimum = exact_offline_optimum_within(&problem, &Deadline::never()).unwrap();
        let proof = verify_offline(&problem, OfflineClaim::from(&optimum));
        let settings = AllocationSettings { capacity: Some(capacity), ..AllocationSettings::default() };
        let sha256 = demands_sha256_hex(&series);
        let document = offline_document(&problem, &sha256, settings, &optimum, &proof, Held::default(), true);
        let mut bytes = Vec::new();
        write_json(&mut bytes, &document).unwrap();
        let refusal = |bytes: &[u8]| {
            let document = match read_json::<OfflineDocument>("offline.json", bytes) {
                Ok(document) => document,
                Err(error) => return Some(error.to_string()),
            };
            match StatedOffline::new(&document, &series, &sha256) {
                Err(foreign) => Some(foreign.to_string()),
                Ok(stated) => {
                    let verdicts = stated.verdicts(&document, &series, &sha256);
                    verdicts.into_iter().find(|verdict| !verdict.holds).map(|verdict| verdict.witness)
                }
            }
        };
        assert_eq!(refusal(&bytes), None);
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let paths = fractions(&document);
        for _ in 0..20 {
            let (path, forgery) = forged(&mut dice, &document, &paths);
            let Some(forgery) = forgery else { continue };
            let bytes = serde_json::to_vec(&forgery).unwrap();
            assert!(refusal(&bytes).is_some(), "{path} of {document}");
            tried += 1;
        }
    }
}

/// Whether the standings of all users are those of the oracle over all quanta, and all is proved without tolerance.
fn tasks_agree(seed: u64, measure: OfflineMeasure) -> usize {
    let (instance, series) = random_case(seed, 4, 9);
    let demands = TaskDemands::new(&instance, &series).unwrap().measured_by(measure);
    let truth = exact_over_time(&demands);
    let optimum = exact_task_optimum_within(&demands, &Deadline::never()).unwrap();
    let exact = optimum.exact.as_ref().unwrap();
    for (level, stated) in optimum.levels.iter().zip(&exact.levels) {
        let stated = read_fraction(&stated.value).unwrap();
        assert!(level.users.iter().all(|user| truth[*user as usize] == stated), "seed {seed}: {exact:?}");
    }
    let counting = truth.iter().zip(demands.most()).filter(|(_, most)| *most > 0.0);
    let least = counting.map(|(standing, _)| standing).min().cloned().unwrap_or_else(Fraction::zero);
    assert_eq!(read_fraction(&exact.value).unwrap(), least, "seed {seed}");
    if measure == OfflineMeasure::Totals {
        for (user, share) in exact.shares.iter().enumerate() {
            let weight = Fraction::from(instance.user(demands.users()[user]).weight());
            assert_eq!(read_fraction(share).unwrap(), &truth[user] * &weight, "seed {seed}, user {user}");
        }
    }
    let proof = verify_task_optimum(&demands, TaskClaim::from(&optimum));
    assert!(proof.holds() && proof.relative_gap == 0.0, "seed {seed}: {:?}", proof.verdicts);
    optimum.levels.len()
}

#[test]
fn fractions_of_tasks_are_those_of_the_oracle_on_300_random_cases() {
    // At 622 a user ends with nothing at the place that was its key.
    let levels: usize = (0..150)
        .chain([622])
        .map(|seed| MEASURES.map(|measure| tasks_agree(seed, measure)).iter().sum::<usize>())
        .sum();
    assert!(levels > 300, "only {levels} levels: the cases are too easy");
}

#[test]
#[ignore = "2,000 cases take a minute"]
fn fractions_of_tasks_are_those_of_the_oracle_on_2000_random_cases() {
    for seed in 0..1_000 {
        let levels = MEASURES.map(|measure| tasks_agree(seed, measure));
        assert!(levels.iter().all(|levels| *levels < 5), "four users have more than four levels");
    }
}

/// Beyond some two hundred pairs of a demand and a class the levels begin where doubles point to.
#[test]
fn a_guided_start_over_quanta_ends_at_what_is_proved() {
    for seed in 0..6 {
        let (instance, series) = random_case(seed, 30, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let optimum = exact_task_optimum_within(&demands, &Deadline::never()).unwrap();
        let proof = verify_task_optimum(&demands, TaskClaim::from(&optimum));
        assert!(proof.holds() && proof.relative_gap == 0.0, "seed {seed}: {:?}", proof.verdicts);
        let near = demands.standings(&task_optimum(&demands).tasks);
        for (user, (ours, near)) in demands.standings(&optimum.tasks).iter().zip(near).enumerate() {
            assert!((ours - near).abs() <= 1e-5 * near.max(1e-3), "seed {seed}, user {user}: {ours}, {near}");
        }
    }
}

#[test]
fn a_thousand_forged_fractions_of_tasks_are_refused() {
    let mut dice = Dice::new(15);
    let mut tried = 0;
    for seed in 0.. {
        if tried >= 1_000 {
            break;
        }
        let (instance, series) = random_case(seed, 3, 6);
        let measure = MEASURES[seed as usize % 2];
        let demands = TaskDemands::new(&instance, &series).unwrap().measured_by(measure);
        let optimum = exact_task_optimum_within(&demands, &Deadline::never()).unwrap();
        let proof = verify_task_optimum(&demands, TaskClaim::from(&optimum));
        let hashes = [demands_sha256_hex(&series), sha256_hex(&instance)];
        let hashes = hashes.each_ref().map(String::as_str);
        let document = task_offline_document(&demands, hashes, &optimum, &proof, Held::default(), true);
        let mut bytes = Vec::new();
        write_json(&mut bytes, &document).unwrap();
        let refusal = |bytes: &[u8]| {
            let document = match read_json::<TaskOfflineDocument>("offline.json", bytes) {
                Ok(document) => document,
                Err(error) => return Some(error.to_string()),
            };
            match StatedTaskOffline::new(&document, &demands, hashes) {
                Err(foreign) => Some(foreign.to_string()),
                Ok(stated) => {
                    let verdicts = stated.verdicts(&document, &demands, hashes);
                    verdicts.into_iter().find(|verdict| !verdict.holds).map(|verdict| verdict.witness)
                }
            }
        };
        assert_eq!(refusal(&bytes), None, "seed {seed}");
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let paths = fractions(&document);
        for _ in 0..if paths.is_empty() { 0 } else { 20 } {
            let (path, forgery) = forged(&mut dice, &document, &paths);
            // Whole numbers of a level count in their proportions only.
            let Some(forgery) = forgery.filter(|_| !path.contains("multipliers")) else { continue };
            let bytes = serde_json::to_vec(&forgery).unwrap();
            assert!(refusal(&bytes).is_some(), "seed {seed}: {path} of {document}");
            tried += 1;
        }
    }
}
