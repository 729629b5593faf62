//! Rules for tasks over server classes that do not know the future: what they promise, tried on small random cases.

use crate::over_time::random_case;
use fairplan_instances::{
    DemandSeries, DemandSeriesBuilder, FairShares, GuaranteedFraction, QuantumLabel, TaskAllocation,
    TaskDemands,
};
use fairplan_mechanisms::{Conduct, Reports, Run, Settings, Ties};
use fairplan_solver::{TaskSettings, divide_tasks};
use fairplan_tests::{Dice, draft, exact_over_time};

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

/// The same users and quanta, the first user always there and the others for some of the quanta, in which alone they demand
/// anything.
fn with_random_members(series: &DemandSeries, seed: u64) -> DemandSeries {
    let mut dice = Dice::new(seed ^ 0x000c_4a12);
    let quanta = series.quantum_count();
    let mut range = || {
        let first = dice.below(quanta as u64) as usize;
        first..first + 1 + dice.below((quanta - first) as u64) as usize
    };
    let members: Vec<_> =
        (0..series.user_count()).map(|user| if user == 0 { 0..quanta } else { range() }).collect();
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..series.user_count() {
        builder.user(series.user_id(user)).unwrap();
    }
    for t in 0..quanta {
        builder.quantum(series.label(t)).unwrap();
        let (users, wanted) = series.demands(t);
        for (user, wanted) in
            users.iter().zip(wanted).filter(|(user, _)| members[**user as usize].contains(&t))
        {
            builder.demand(*user as usize, *wanted).unwrap();
        }
    }
    builder.build().unwrap().with_members(members).unwrap()
}

/// Karma of whole slices is run by other code, with exact credits: in so many slices the two differ by rounding alone.
#[test]
fn members_come_and_go_as_among_slices() {
    const SLICES: u64 = 12_000;
    let mut churned = 0;
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let users = 2 + dice.below(3) as usize;
        let server = SLICES.to_string();
        let instance = draft(&[(1, &server)], &vec!["1"; users]).build().unwrap();
        let mut builder = DemandSeriesBuilder::default();
        for user in instance.users() {
            builder.user(user.id()).unwrap();
        }
        for quantum in 0..6 {
            builder.quantum(QuantumLabel::Number(quantum)).unwrap();
            for user in 0..users {
                builder.demand(user, if dice.percent(30) { 0 } else { 1_000 * dice.below(13) }).unwrap();
            }
        }
        let series = with_random_members(&builder.build().unwrap(), seed);
        churned += usize::from(series.has_churn());
        let demands = TaskDemands::new(&instance, &series).unwrap();
        for alpha in ["0", "0.5", "1"] {
            let allocation = run("karma", &demands, alpha.parse().unwrap());
            let settings = Settings {
                alpha: GuaranteedFraction::new(alpha.parse().unwrap()).unwrap(),
                initial_credits: PLENTY as u64 * SLICES,
                ties: Ties::Lowest,
                oversubscription: 1,
                term: 1,
                seed: 0,
            };
            let honest = vec![false; users];
            let conduct = Conduct { non_conformant: &honest, reports: Reports::Truthful };
            let shares = FairShares::Capacity(SLICES);
            let slices = Run { shares: &shares, conduct, cache: None, per_quantum: true };
            let slices = slices.named("karma", &settings, &series).unwrap();
            let credits = allocation.credits.as_ref().unwrap();
            let standings = demands.standings(&allocation.tasks);
            let near = |ours: f64, theirs: f64, what: &str| {
                let ours = ours * SLICES as f64;
                assert!(
                    (ours - theirs).abs() <= 30.0,
                    "seed {seed}, alpha {alpha}, {what}: {ours}, slices {theirs}"
                );
            };
            for (user, totals) in slices.users.iter().enumerate() {
                near(standings[user], totals.useful as f64, "share");
            }
            for (t, quantum) in slices.quanta.iter().flatten().enumerate() {
                for (user, theirs) in quantum.credits.iter().enumerate() {
                    near(credits[t * users + user], *theirs, "credits");
                }
            }
        }
    }
    assert!(churned > 50);
}

#[test]
fn members_come_and_go_alike_under_both_rules_that_serve_who_has_least() {
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 5, 9);
        let series = with_random_members(&series, seed);
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
