//! Demands in tasks over server classes: the offline optimum against exact arithmetic, and claims that must not pass.

use fairplan_instances::{
    DemandSeries, DemandSeriesBuilder, Draft, Instance, OfflineMeasure, QuantumLabel, TaskDemands, TaskLevel,
    TaskOptimum,
};
use fairplan_solver::task_optimum;
#[cfg(feature = "highs")]
use fairplan_solver::{HighsAlgorithm, task_level_by_highs};
use fairplan_tests::{Dice, exact_over_time, random_draft};
use fairplan_verify::{TaskClaim, TaskProof, verify_task_optimum};

/// A small instance and so many quanta of up to `most` tasks.
pub(crate) fn random_case(seed: u64, quanta: u64, most: u64) -> (Instance, DemandSeries) {
    let mut draft: Draft = random_draft(seed);
    let mut dice = Dice::new(seed ^ 0x0007_1e5e);
    draft.users.truncate(4);
    draft.users.iter_mut().for_each(|user| user.tasks = None);
    let instance = draft.build().unwrap_or_else(|_| {
        draft.users.retain(|user| user.demand.iter().any(|demand| !demand.is_zero()));
        draft.build().unwrap()
    });
    let mut builder = DemandSeriesBuilder::default();
    instance.users().for_each(|user| {
        builder.user(user.id()).unwrap();
    });
    for quantum in 0..1 + dice.below(quanta) {
        builder.quantum(QuantumLabel::Number(quantum)).unwrap();
        for user in 0..instance.user_count() {
            let tasks = if dice.percent(30) { 0 } else { dice.below(most + 1) };
            builder.demand(user, tasks).unwrap();
        }
    }
    (instance, builder.build().unwrap())
}

fn proof(demands: &TaskDemands<'_>, optimum: &TaskOptimum) -> TaskProof {
    verify_task_optimum(demands, TaskClaim::from(optimum))
}

#[test]
fn shares_over_all_quanta_are_the_exact_ones_on_300_random_cases() {
    exact_on_random_cases(OfflineMeasure::Totals, 300);
}

#[test]
fn welfare_over_all_quanta_is_the_exact_one_on_300_random_cases() {
    exact_on_random_cases(OfflineMeasure::Welfare, 300);
}

fn exact_on_random_cases(measure: OfflineMeasure, count: u64) {
    let mut levels = 0;
    for seed in 0..count {
        let (instance, series) = random_case(seed, 4, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap().measured_by(measure);
        let exact = exact_over_time(&demands);
        let optimum = task_optimum(&demands);
        let standings = demands.standings(&optimum.tasks);
        for (user, exact) in exact.iter().enumerate() {
            let (exact, ours) = (exact.to_f64(), standings[user]);
            assert!(
                (ours - exact).abs() <= 1e-6 * exact,
                "seed {seed}, user {user}: {ours}, exactly {exact}"
            );
        }
        let proof = proof(&demands, &optimum);
        assert!(proof.holds(), "seed {seed}: {:?}", proof.verdicts);
        levels += optimum.levels.len();
    }
    assert!(levels > count as usize, "only {levels} levels: the cases are too easy");
}

#[cfg(feature = "highs")]
#[test]
fn the_first_level_is_that_of_the_linear_program() {
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 12, 9);
        for measure in [OfflineMeasure::Totals, OfflineMeasure::Welfare] {
            let demands = TaskDemands::new(&instance, &series).unwrap().measured_by(measure);
            let standings = demands.standings(&task_optimum(&demands).tasks);
            let counting = standings.into_iter().zip(demands.most()).filter(|(_, most)| *most > 0.0);
            let Some(ours) = counting.map(|(standing, _)| standing).reduce(f64::min) else { continue };
            let theirs = task_level_by_highs(&demands, HighsAlgorithm::Simplex).unwrap();
            assert!((ours - theirs).abs() <= 1e-6 * theirs, "seed {seed}, {measure:?}: {ours}, {theirs}");
        }
    }
}

/// The optimum of one measure is not that of the other, and its prices do not prove that it is.
#[test]
fn what_is_optimal_by_shares_is_no_optimum_of_welfare() {
    let mut refused = 0;
    for seed in 0..40 {
        let (instance, series) = random_case(seed, 4, 9);
        let shares = TaskDemands::new(&instance, &series).unwrap();
        let welfare = shares.clone().measured_by(OfflineMeasure::Welfare);
        let (by_shares, by_welfare) = (task_optimum(&shares), task_optimum(&welfare));
        let (ours, theirs) = (welfare.standings(&by_welfare.tasks), welfare.standings(&by_shares.tasks));
        if ours.iter().zip(&theirs).any(|(ours, theirs)| (ours - theirs).abs() > 1e-3) {
            assert!(!proof(&welfare, &by_shares).holds(), "seed {seed}");
            assert!(!proof(&shares, &by_welfare).holds(), "seed {seed}");
            refused += 1;
        }
    }
    assert!(refused > 10, "only {refused}");
}

/// A case with two levels at least, several users on the first, and its optimum.
fn solved() -> (Instance, DemandSeries, TaskOptimum) {
    (0..)
        .map(|seed| random_case(seed, 4, 9))
        .find_map(|(instance, series)| {
            let optimum = task_optimum(&TaskDemands::new(&instance, &series).unwrap());
            (optimum.levels.len() > 1 && optimum.levels[0].users.len() > 1)
                .then_some((instance, series, optimum))
        })
        .unwrap()
}

#[test]
fn claims_that_are_not_the_optimum_are_refused() {
    let (instance, series, honest) = solved();
    let demands = TaskDemands::new(&instance, &series).unwrap();
    let refused = |what: &str, forge: &dyn Fn(&mut TaskOptimum), property: &str| {
        let mut forged = honest.clone();
        forge(&mut forged);
        let proof = proof(&demands, &forged);
        let failed: Vec<&str> =
            proof.verdicts.iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property).collect();
        assert!(failed.contains(&property), "{what}: {failed:?}");
    };
    assert!(proof(&demands, &honest).holds());
    let used = honest.tasks.iter().position(|tasks| *tasks > 1e-3).unwrap();
    let first = |optimum: &mut TaskOptimum, change: &dyn Fn(&mut TaskLevel)| change(&mut optimum.levels[0]);
    let classes = instance.classes().len();
    let wanted: Vec<u64> = (0..series.quantum_count()).flat_map(|t| series.demands(t).1.to_vec()).collect();
    let short = honest.tasks.chunks(classes).zip(&wanted).position(|(row, wanted)| {
        row.iter().sum::<f64>() < *wanted as f64 - 0.5 && row.iter().any(|tasks| *tasks > 1e-3)
    });
    let short = short.unwrap() * classes;
    let fuller = short + honest.tasks[short..].iter().position(|tasks| *tasks > 1e-3).unwrap();
    refused("more tasks than there is room for", &|o| o.tasks[fuller] += 0.4, "capacity");
    refused("more tasks than are demanded", &|o| o.tasks[used] += 10.0, "allocation");
    refused("negative tasks", &|o| o.tasks[used] = -1.0, "allocation");
    refused("no number", &|o| o.tasks[used] = f64::NAN, "allocation");
    refused("a number missing", &|o| o.tasks.truncate(1), "allocation");
    refused("less for everybody", &|o| o.tasks.iter_mut().for_each(|x| *x *= 0.999), "levels");
    refused("a higher value", &|o| first(o, &|level| level.value *= 1.00001), "level-gaps");
    refused("no prices", &|o| first(o, &|level| level.prices.fill(0.0)), "level-gaps");
    refused(
        "half the prices",
        &|o| first(o, &|level| level.prices.iter_mut().for_each(|p| *p *= 0.5)),
        "level-gaps",
    );
    refused("prices missing", &|o| first(o, &|level| level.prices.truncate(1)), "level-gaps");
    refused("a negative price", &|o| first(o, &|level| level.prices[0] = -1.0), "level-gaps");
    refused("no multipliers", &|o| first(o, &|level| level.multipliers.fill(0.0)), "level-gaps");
    refused("a level left out", &|o| drop(o.levels.remove(0)), "levels");
    refused("a user twice", &|o| o.levels[1].users = o.levels[0].users.clone(), "levels");
    refused("a user that there is not", &|o| first(o, &|level| level.users.push(99)), "levels");
    refused(
        "a user frozen below what it could have",
        &|o| {
            let moved = o.levels[1].users[0];
            o.levels[0].users.push(moved);
            o.levels[0].users.sort();
            o.levels[1].users.retain(|user| *user != moved);
            if o.levels[1].users.is_empty() {
                o.levels.remove(1);
            }
        },
        "freezing",
    );
}

#[test]
fn the_same_tasks_on_any_number_of_threads() {
    let (instance, series) = random_case(7, 4, 9);
    let demands = TaskDemands::new(&instance, &series).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| task_optimum(&demands))
    };
    assert_eq!(on(1), on(3));
}
