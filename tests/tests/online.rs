//! Rules for tasks over server classes that do not know the future: what they promise, and which of Karma's guarantees
//! (Sec. 3.3) are left over several resources, tried on small random cases.

use crate::over_time::random_case;
use fairplan_instances::{
    DemandSeries, DemandSeriesBuilder, Instance, QuantumLabel, TaskAllocation, TaskDemands,
};
use fairplan_report::task_allocation::useful_tasks;
use fairplan_solver::{TaskSettings, divide_tasks};
use fairplan_tests::{Dice, exact_gains, exact_over_time};

/// Credits that nobody runs out of.
const PLENTY: f64 = 1e3;

fn run(name: &str, demands: &TaskDemands<'_>, alpha: f64) -> TaskAllocation {
    let allocation = divide_tasks(name, demands, TaskSettings { alpha, initial_credits: PLENTY }).unwrap();
    assert!(allocation.widest_gap() < 1e-6, "{name}: {}", allocation.widest_gap());
    allocation
}

/// One quantum of a series, and the tasks of an allocation in it.
fn quantum(series: &DemandSeries, tasks: &[f64], classes: usize, t: usize) -> (DemandSeries, Vec<f64>) {
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

/// Pareto efficiency in every quantum survives, and nobody has less than its guaranteed part of the servers.
#[test]
fn no_quantum_leaves_anybody_what_costs_nobody_anything() {
    for seed in 0..40 {
        let (instance, series) = random_case(seed, 3, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        for (name, alpha) in [("cumulative-max-min", 0.0), ("drfh", 0.0), ("karma", 0.5), ("karma", 1.0)] {
            let allocation = run(name, &demands, alpha);
            let strict = run("strict", &demands, 0.0);
            for t in 0..series.quantum_count() {
                let (alone, tasks) = quantum(&series, &allocation.tasks, instance.classes().len(), t);
                let (_, own) = quantum(&series, &strict.tasks, instance.classes().len(), t);
                let alone = TaskDemands::new(&instance, &alone).unwrap();
                let standings = alone.standings(&tasks);
                let gains = exact_gains(&alone, &standings);
                let scale = standings.iter().sum::<f64>();
                for (user, gain) in gains.into_iter().enumerate() {
                    assert!(
                        gain <= 1e-4 * scale,
                        "{name} {alpha}, seed {seed}, quantum {t}, user {user}: {gain} beyond {standings:?}"
                    );
                }
                if alpha == 1.0 {
                    for (has, own) in standings.iter().zip(alone.standings(&own)) {
                        assert!(
                            *has >= own * (1.0 - 1e-5),
                            "seed {seed}, quantum {t}: {has} of its own {own}"
                        );
                    }
                }
            }
        }
    }
}

/// The same series with the demand of a user in a quantum replaced.
fn misreport(series: &DemandSeries, at: (usize, usize), tasks: u64) -> DemandSeries {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..series.user_count() {
        builder.user(series.user_id(user)).unwrap();
    }
    for t in 0..series.quantum_count() {
        builder.quantum(series.label(t)).unwrap();
        let (users, wanted) = series.demands(t);
        for user in 0..series.user_count() {
            let wanted = users.binary_search(&(user as u32)).map_or(0, |entry| wanted[entry]);
            builder.demand(user, if (t, user) == at { tasks } else { wanted }).unwrap();
        }
    }
    builder.build().unwrap()
}

/// The most that anybody gains, as a factor of its useful share over all quanta, by reporting another demand in one
/// quantum (`lies` of the true one), and how.
fn best_lie(
    instance: &Instance,
    series: &DemandSeries,
    alpha: f64,
    lies: &dyn Fn(u64) -> Vec<u64>,
) -> (f64, String) {
    let truth = TaskDemands::new(instance, series).unwrap();
    let honest = truth.standings(&run("karma", &truth, alpha).tasks);
    let mut best = (1.0, String::new());
    for t in 0..series.quantum_count() {
        for (user, has) in honest.iter().enumerate().filter(|(_, has)| **has > 0.0) {
            let (users, wanted) = series.demands(t);
            let wanted = users.binary_search(&(user as u32)).map_or(0, |entry| wanted[entry]);
            for lie in lies(wanted) {
                let reported = misreport(series, (t, user), lie);
                let told = TaskDemands::new(instance, &reported).unwrap();
                let tasks = run("karma", &told, alpha).tasks;
                let lying = truth.standings(&useful_tasks(&truth, &told, &tasks));
                if lying[user] / has > best.0 {
                    let how = format!("user {user} says {lie} for {wanted} in quantum {t}");
                    best = (lying[user] / has, how);
                }
            }
        }
    }
    best
}

/// Cases of one resource and one class, where tasks are slices; and of several.
fn cases(one: bool, count: usize) -> impl Iterator<Item = (u64, Instance, DemandSeries)> {
    let of = move |seed: u64| {
        let (instance, series) = random_case(seed, 4, 9);
        let fits = one == (instance.classes().len() == 1 && instance.resources().len() == 1);
        fits.then_some((seed, instance, series))
    };
    (0..).filter_map(of).take(count)
}

fn search(one: bool, alpha: f64, count: usize, lies: &dyn Fn(u64) -> Vec<u64>) -> (f64, usize, String) {
    let (mut most, mut gainful, mut how) = (1.0, 0, String::new());
    for (seed, instance, series) in cases(one, count) {
        let (factor, by) = best_lie(&instance, &series, alpha, lies);
        gainful += usize::from(factor > 1.0 + 1e-4);
        if factor > most {
            (most, how) = (factor, format!("seed {seed}: {by}"));
        }
    }
    println!(
        "one resource and class: {one}, alpha {alpha}; gains {most:.4} in {gainful} of {count} cases; {how}"
    );
    (most, gainful, how)
}

fn over(truth: u64) -> Vec<u64> {
    vec![truth + 1, truth + 3, 2 * truth + 9]
}

fn under(truth: u64) -> Vec<u64> {
    let mut lies = vec![0, truth / 2, truth.saturating_sub(1)];
    lies.retain(|lie| *lie < truth);
    lies.dedup();
    lies
}

#[test]
fn with_one_resource_no_exaggeration_pays_and_understating_gains_at_most_half() {
    assert!(search(true, 0.0, 25, &over).0 <= 1.0 + 1e-4);
    assert!(search(true, 0.0, 25, &under).0 <= 1.5);
}

#[test]
fn with_several_resources_lies_are_searched_for() {
    for alpha in [0.0, 0.5] {
        let exaggerating = search(false, alpha, 100, &over);
        let understating = search(false, alpha, 100, &under);
        assert!(exaggerating.0 <= 1.0 + 1e-4, "alpha {alpha}: {}", exaggerating.2);
        assert!(understating.0 <= 1.5, "alpha {alpha}: {}", understating.2);
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
