//! Rules for tasks over server classes that do not know the future: what they promise, tried on small random cases.

use crate::over_time::random_case;
use fairplan_instances::{DemandSeries, DemandSeriesBuilder, QuantumLabel, TaskAllocation, TaskDemands};
use fairplan_solver::{TaskSettings, divide_tasks};
use fairplan_tests::{Dice, exact_over_time};

/// Credits that nobody runs out of.
pub(crate) const PLENTY: f64 = 1e3;

pub(crate) fn run(name: &str, demands: &TaskDemands<'_>, alpha: f64) -> TaskAllocation {
    let allocation = divide_tasks(name, demands, TaskSettings { alpha, initial_credits: PLENTY }).unwrap();
    assert!(allocation.widest_gap() < 1e-6, "{name}: {}", allocation.widest_gap());
    allocation
}

/// One quantum of a series, and the tasks of an allocation in it.
pub(crate) fn quantum(
    series: &DemandSeries,
    tasks: &[f64],
    classes: usize,
    t: usize,
) -> (DemandSeries, Vec<f64>) {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..series.user_count() {
        builder.user(series.user_id(user)).unwrap();
    }
    builder.quantum(QuantumLabel::Number(0)).unwrap();
    let (users, wanted) = series.demands(t);
    users.iter().zip(wanted).for_each(|(user, wanted)| builder.demand(*user as usize, *wanted).unwrap());
    let before: usize = (0..t).map(|t| series.demands(t).0.len()).sum();
    let rows = before * classes..(before + users.len()) * classes;
    (builder.build().unwrap(), tasks[rows].to_vec())
}

#[test]
fn drfh_is_the_exact_max_min_of_every_quantum_alone() {
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 3, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let allocation = run("drfh", &demands, 0.5);
        for t in 0..series.quantum_count() {
            let (alone, tasks) = quantum(&series, &allocation.tasks, instance.classes().len(), t);
            let alone = TaskDemands::new(&instance, &alone).unwrap();
            let ours = alone.standings(&tasks);
            for (user, exact) in exact_over_time(&alone).iter().enumerate() {
                let exact = exact.to_f64();
                assert!(
                    (ours[user] - exact).abs() <= 1e-6 * exact,
                    "seed {seed}, quantum {t}, user {user}: {}, exactly {exact}",
                    ours[user]
                );
            }
        }
    }
}

#[test]
fn karma_without_a_guarantee_serves_who_has_least_so_far() {
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 5, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let karma = demands.standings(&run("karma", &demands, 0.0).tasks);
        let cumulative = demands.standings(&run("cumulative-max-min", &demands, 0.0).tasks);
        for (karma, cumulative) in karma.iter().zip(&cumulative) {
            assert!((karma - cumulative).abs() <= 1e-5 * cumulative, "seed {seed}: {karma} and {cumulative}");
        }
    }
}

#[test]
fn strict_partitioning_gives_every_user_its_part_of_every_class_or_what_it_demands() {
    let mut dice = Dice::new(5);
    for _ in 0..40 {
        let (instance, series) = random_case(dice.below(1000), 3, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let tasks = run("strict", &demands, 0.0).tasks;
        let weights: f64 = instance.users().map(|user| user.weight().to_f64()).sum();
        let classes = instance.classes().len();
        let mut rows = tasks.chunks(classes);
        for t in 0..series.quantum_count() {
            let (users, wanted) = series.demands(t);
            for ((position, wanted), row) in users.iter().zip(wanted).zip(&mut rows) {
                let user = instance.user(demands.users()[*position as usize]);
                let part = user.weight().to_f64() / weights;
                let mut all = 0.0;
                for (class, tasks) in instance.classes().iter().zip(row) {
                    let fits = user.demand_doubles().iter().zip(&class.capacity);
                    let fits = fits
                        .filter(|(need, _)| **need > 0.0)
                        .map(|(need, capacity)| part * class.count as f64 * capacity.to_f64() / need);
                    let fits = fits.fold(f64::INFINITY, f64::min);
                    assert!(*tasks <= fits * (1.0 + 1e-12), "{tasks} where {fits} fit");
                    let class = instance.class_named(&class.id).unwrap();
                    all += if user.can_use(class) { fits } else { 0.0 };
                }
                let expected = all.min(*wanted as f64);
                assert!((row.iter().sum::<f64>() - expected).abs() <= 1e-9 * expected.max(1e-300));
            }
        }
    }
}
