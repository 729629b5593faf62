//! Which of Karma's guarantees (Sec. 3.3) are left for tasks over several resources and servers: those that are, tried on
//! random cases; those that are not, by the smallest example known; and lies searched for. The guide's page `guarantees`
//! has the table.

use crate::online::{PLENTY, quantum, run};
use crate::over_time::random_case;
use fairplan_instances::{
    ClassId, DemandSeries, DemandSeriesBuilder, Draft, Instance, QuantumLabel, TaskDemands, User,
};
use fairplan_solver::{TaskSettings, divide_tasks};
use fairplan_tests::{Dice, decimal, demanded, draft, exact_gains};
use rayon::prelude::*;

/// Shares that differ by less than this part of the largest one are the same: what levels are frozen to.
const SAME: f64 = 1e-3;

/// A series of these demands, a row a quantum.
fn series(instance: &Instance, demands: &[&[u64]]) -> DemandSeries {
    let mut builder = DemandSeriesBuilder::default();
    for user in instance.users() {
        builder.user(user.id()).unwrap();
    }
    for (quantum, row) in demands.iter().enumerate() {
        builder.quantum(QuantumLabel::Number(quantum as u64)).unwrap();
        for (user, tasks) in row.iter().enumerate() {
            builder.demand(user, *tasks).unwrap();
        }
    }
    builder.build().unwrap()
}

/// Everybody's useful weighted share when `reported` is told instead of `truth`; `None` when a quantum stays open.
fn useful(
    instance: &Instance,
    truth: &DemandSeries,
    reported: &DemandSeries,
    alpha: f64,
) -> Option<Vec<f64>> {
    let truth = TaskDemands::new(instance, truth).unwrap();
    let told = TaskDemands::new(instance, reported).unwrap();
    let allocation = divide_tasks("karma", &told, TaskSettings { alpha, initial_credits: PLENTY }).unwrap();
    let closed = allocation.widest_gap() < 1e-6;
    closed.then(|| truth.standings(&truth.useful(&told, &allocation.tasks)))
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-5 * expected, "{found}, not {expected}");
}

#[test]
fn pareto_efficiency_survives() {
    for seed in 0..40 {
        let (instance, series) = random_case(seed, 3, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        for (name, alpha) in [("cumulative-max-min", 0.0), ("drfh", 0.0), ("karma", 0.5), ("karma", 1.0)] {
            let allocation = run(name, &demands, alpha);
            for t in 0..series.quantum_count() {
                let (alone, tasks) = quantum(&series, &allocation.tasks, instance.classes().len(), t);
                let alone = TaskDemands::new(&instance, &alone).unwrap();
                let standings = alone.standings(&tasks);
                let scale = standings.iter().sum::<f64>();
                for (user, gain) in exact_gains(&alone, &standings).into_iter().enumerate() {
                    assert!(
                        gain <= 1e-4 * scale,
                        "{name} {alpha}, seed {seed}, quantum {t}, user {user}: {gain} beyond {standings:?}"
                    );
                }
            }
        }
    }
}

/// What a user is guaranteed: the share of up to `limit` tasks on `part` of every class, where they give most.
fn guaranteed(instance: &Instance, user: User<'_>, part: f64, limit: f64) -> f64 {
    let mut classes: Vec<(f64, f64)> = (0..instance.classes().len())
        .filter(|class| user.can_use(ClassId(*class)))
        .map(|class| {
            let servers = &instance.classes()[class];
            let fits = user.demand_doubles().iter().zip(&servers.capacity).filter(|(need, _)| **need > 0.0);
            let fits = fits.map(|(need, capacity)| servers.count as f64 * capacity.to_f64() / need);
            (user.rule().rate(ClassId(class)).to_f64(), part * fits.fold(f64::INFINITY, f64::min))
        })
        .collect();
    classes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut left, mut work) = (limit, 0.0);
    for (rate, fits) in classes {
        work += rate * fits.min(left);
        left -= fits.min(left);
    }
    work * user.task_share() / user.weight().to_f64()
}

#[test]
fn the_guaranteed_share_survives() {
    let mut met = 0;
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 3, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let weights: f64 = instance.users().map(|user| user.weight().to_f64()).sum();
        for alpha in [0.3, 0.5, 1.0] {
            let allocation = run("karma", &demands, alpha);
            for t in 0..series.quantum_count() {
                let (alone, tasks) = quantum(&series, &allocation.tasks, instance.classes().len(), t);
                let standings = TaskDemands::new(&instance, &alone).unwrap().standings(&tasks);
                let (users, wanted) = series.demands(t);
                for (position, wanted) in users.iter().zip(wanted) {
                    let user = instance.user(demands.users()[*position as usize]);
                    let part = alpha * user.weight().to_f64() / weights;
                    let own = guaranteed(&instance, user, part, *wanted as f64);
                    let has = standings[*position as usize];
                    assert!(has >= own * (1.0 - 1e-5), "seed {seed}, quantum {t}: {has} of its own {own}");
                    met += usize::from(own > 0.0);
                }
            }
        }
    }
    assert!(met > 500, "only {met}");
}

/// Theorem 4: with the past as it is, nobody could have more whom it would not cost somebody who has no more in total.
#[test]
fn the_smallest_total_is_as_large_as_the_past_allows() {
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 4, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let allocation = run("karma", &demands, 0.0);
        let mut totals = vec![0.0; series.user_count()];
        for t in 0..series.quantum_count() {
            let (alone, tasks) = quantum(&series, &allocation.tasks, instance.classes().len(), t);
            let alone = TaskDemands::new(&instance, &alone).unwrap();
            let gained = alone.standings(&tasks);
            let before = totals.clone();
            totals.iter_mut().zip(&gained).for_each(|(total, gained)| *total += gained);
            let scale = gained.iter().copied().fold(0.0, f64::max);
            for user in 0..totals.len() {
                let floor = |other: usize| (totals[other].min(totals[user]) - before[other]).max(0.0);
                let floors: Vec<f64> = (0..totals.len()).map(floor).collect();
                let gain = exact_gains(&alone, &floors)[user] - (gained[user] - floors[user]);
                assert!(gain <= SAME * scale, "seed {seed}, quantum {t}, user {user}: {gain} more");
            }
        }
    }
}

/// Each quantum mints `1 − α` weighted shares; what is borrowed is paid by the borrowers, and as much of it as others
/// donated goes to them.
#[test]
fn credits_are_minted_and_change_hands_and_nothing_else() {
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 4, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        let weights: Vec<f64> = instance.users().map(|user| user.weight().to_f64()).collect();
        let all: f64 = weights.iter().sum();
        for alpha in [0.0, 0.5, 1.0] {
            let allocation = run("karma", &demands, alpha);
            let credits = allocation.credits.as_ref().unwrap();
            let worth = |t: usize| -> f64 {
                let credits = &credits[t * weights.len()..][..weights.len()];
                credits.iter().zip(&weights).map(|(credits, weight)| (credits - PLENTY) * weight).sum()
            };
            for t in 0..series.quantum_count() {
                let (alone, tasks) = quantum(&series, &allocation.tasks, instance.classes().len(), t);
                let standings = TaskDemands::new(&instance, &alone).unwrap().standings(&tasks);
                let (mut borrowed, mut donated) = (0.0, 0.0);
                for (position, weight) in weights.iter().enumerate() {
                    let user = instance.user(demands.users()[position]);
                    let wanted = demanded(&series, position, t);
                    let own = |limit: f64| guaranteed(&instance, user, alpha * weight / all, limit);
                    borrowed += weight * (standings[position] - own(wanted as f64)).max(0.0);
                    donated += weight * (own(f64::INFINITY) - own(wanted as f64));
                }
                let before = if t == 0 { 0.0 } else { worth(t - 1) };
                let expected = before + (1.0 - alpha) - (borrowed - donated).max(0.0);
                let found = worth(t);
                assert!(
                    (found - expected).abs() <= 1e-4 * (borrowed + 1.0),
                    "seed {seed}, alpha {alpha}, quantum {t}: {found}, not {expected}"
                );
            }
        }
    }
}

/// Where credits run out, Pareto efficiency goes (Karma Sec. 3.4), but not the guarantee, and nobody has what it cannot pay.
#[test]
fn nobody_spends_credits_that_it_does_not_have() {
    let mut out_of_credits = 0;
    for seed in 0..60 {
        let (instance, series) = random_case(seed, 4, 9);
        let demands = TaskDemands::new(&instance, &series).unwrap();
        for alpha in [0.0, 0.5, 1.0] {
            let settings = TaskSettings { alpha, initial_credits: 0.0 };
            let allocation = divide_tasks("karma", &demands, settings).unwrap();
            assert!(allocation.widest_gap() < 1e-6, "seed {seed}, alpha {alpha}: {:?}", allocation.gaps);
            for credits in allocation.credits.as_ref().unwrap() {
                assert!(*credits >= -1e-5, "seed {seed}, alpha {alpha}: {credits}");
                out_of_credits += usize::from(*credits < 1e-5);
            }
        }
    }
    assert!(out_of_credits > 20, "only {out_of_credits}");
}

/// Three users on one server, and what user 0 gains over two quanta when it claims tasks that it does not have. In the
/// first quantum it takes CPU from user 1, which frees memory that user 2 turns into three times as much disk: user 2 is
/// charged more for that than the liar for its idle tasks, and comes behind it in the second quantum.
#[test]
fn over_reporting_can_pay_without_a_guarantee() {
    let instance = {
        let mut draft = draft(&[(1, "100 400 100")], &["1 0 1", "1 4 0", "0 1 1"]);
        draft.users[1].weight = decimal("3");
        draft.build().unwrap()
    };
    let truth = series(&instance, &[&[0, 100, 100], &[100, 0, 100]]);
    let told = series(&instance, &[&[100, 100, 100], &[100, 0, 100]]);
    let honest = useful(&instance, &truth, &truth, 0.0).unwrap();
    let lying = useful(&instance, &truth, &told, 0.0).unwrap();
    near(honest[0], 17.0 / 26.0);
    near(lying[0], 3.0 / 4.0);
}

/// User 0 claims nothing for so many quanta. What it leaves in memory, others turn into a hundred times as much disk, and
/// they come behind it when all want disk: with `n` of them, `n` such quanta before the last gain up to `n + 1` times.
#[test]
fn under_reporting_gains_more_than_half_and_more_with_every_user() {
    let gain = |disk: &str, left: u64, rivals: usize| {
        let rival = format!("1 {disk}");
        let mut users = vec!["1 1", "1 0"];
        users.extend(std::iter::repeat_n(rival.as_str(), rivals));
        let mut draft = draft(&[(1, "100 100")], &users);
        // So little of a share that whoever fills most of the memory is served first.
        draft.users[1].weight = decimal("10000");
        let instance = draft.build().unwrap();
        let row = |first: u64, others: u64| [vec![first, others], vec![100; rivals]].concat();
        let told = |first: u64| {
            let mut rows = vec![row(first, 100 - left); rivals];
            rows.push(row(100, 0));
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            series(&instance, &rows)
        };
        let (truth, lie) = (told(100), told(0));
        let honest = useful(&instance, &truth, &truth, 0.0).unwrap();
        let lying = useful(&instance, &truth, &lie, 0.0).unwrap();
        (honest[0], lying[0])
    };
    let (honest, lying) = gain("10", 10, 1);
    near(honest, 13.0 / 22.0);
    near(lying, 1.0);
    let (honest, lying) = gain("100", 1, 3);
    near(honest, 3.0 / 103.0 + 1.0 / 4.0);
    near(lying, 1.0);
}

/// Theorem 2, where tasks do more work on some servers than on others: the guarantee is counted in tasks on the user's own
/// part of every class, slow ones included, so that who claims more tasks than it has is guaranteed more work.
#[test]
fn a_lie_can_pay_in_its_own_quantum_when_tasks_do_different_work() {
    let mut draft = draft(&[(20, "1"), (20, "1")], &["1", "1"]);
    draft.users[0].rates = vec![(0, decimal("3")), (1, decimal("1"))];
    let instance = draft.build().unwrap();
    let truth = series(&instance, &[&[15, 100]]);
    let told = series(&instance, &[&[20, 100]]);
    let honest = useful(&instance, &truth, &truth, 1.0).unwrap();
    let lying = useful(&instance, &truth, &told, 1.0).unwrap();
    near(honest[0], 33.0 / 32.0);
    near(lying[0], 9.0 / 8.0);
}

/// The same series with the demand of a user in a quantum replaced.
fn misreport(series: &DemandSeries, at: (usize, usize), tasks: u64) -> DemandSeries {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..series.user_count() {
        builder.user(series.user_id(user)).unwrap();
    }
    for t in 0..series.quantum_count() {
        builder.quantum(series.label(t)).unwrap();
        for user in 0..series.user_count() {
            builder.demand(user, if (t, user) == at { tasks } else { demanded(series, user, t) }).unwrap();
        }
    }
    builder.build().unwrap()
}

/// Where lies are searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cases {
    /// One resource of one class, which tasks take a unit of; equal weights: the paper's setting, but for whole slices.
    Slices,
    /// One resource, several classes; equal weights.
    OneResource,
    /// Several resources; equal weights.
    Several,
    /// Several resources and tasks that do the same work everywhere; weights that differ.
    Weights,
}

impl Cases {
    fn case(self, seed: u64) -> Option<(Instance, DemandSeries)> {
        if self == Self::Slices {
            let mut dice = Dice::new(seed ^ 0x51_1ce5);
            let users = 2 + dice.below(3) as usize;
            let instance: Draft = draft(&[(1, "20")], &vec!["1"; users]);
            let demand = |dice: &mut Dice| if dice.percent(30) { 0 } else { dice.below(31) };
            let mut row = || (0..users).map(|_| demand(&mut dice)).collect::<Vec<u64>>();
            let rows: Vec<Vec<u64>> = (0..4).map(|_| row()).collect();
            let instance = instance.build().unwrap();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let series = series(&instance, &rows);
            return Some((instance, series));
        }
        let (instance, series) = random_case(seed, 4, 9);
        let equal = instance
            .users()
            .all(|user| user.weight() == instance.user(fairplan_instances::UserId(0)).weight());
        let fits = match self {
            Self::Slices => false,
            Self::OneResource => equal && instance.resources().len() == 1 && instance.classes().len() > 1,
            Self::Several => equal && instance.resources().len() > 1,
            Self::Weights => !equal && instance.resources().len() > 1 && same_work(&instance),
        };
        fits.then_some((instance, series))
    }
}

/// Whether every user's tasks do as much work on any class that it can use.
fn same_work(instance: &Instance) -> bool {
    instance.users().all(|user| {
        let classes = (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class));
        let rates: Vec<_> = classes.map(|class| user.rule().rate(class)).collect();
        rates.windows(2).all(|pair| pair[0] == pair[1])
    })
}

/// What somebody gains over all quanta, as a factor of its useful share; by a lie in one quantum.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    cases: usize,
    /// Lies that were tried, and those after which a quantum stayed open.
    lies: usize,
    open: usize,
    over: Gain,
    under: Gain,
    /// By any lie in the last quantum, where tasks do the same work everywhere.
    at_once: Gain,
}

#[derive(Clone, Copy, Debug, Default)]
struct Gain {
    most: f64,
    cases: usize,
    seed: u64,
}

impl Gain {
    fn see(&mut self, factor: f64, seed: u64) {
        if factor > 1.0 {
            self.cases = 1;
        }
        if factor > self.most {
            (self.most, self.seed) = (factor, seed);
        }
    }

    fn and(self, other: Self) -> Self {
        let larger = if other.most > self.most { other } else { self };
        Self { cases: self.cases + other.cases, ..larger }
    }
}

impl Found {
    fn and(self, other: Self) -> Self {
        Self {
            cases: self.cases + other.cases,
            lies: self.lies + other.lies,
            open: self.open + other.open,
            over: self.over.and(other.over),
            under: self.under.and(other.under),
            at_once: self.at_once.and(other.at_once),
        }
    }
}

/// Tries six lies of every user in every quantum of the cases of these seeds.
fn search(cases: Cases, alpha: f64, seeds: std::ops::Range<u64>) -> Found {
    let of_case = |seed: u64| -> Option<Found> {
        let (instance, series) = cases.case(seed)?;
        let honest = useful(&instance, &series, &series, alpha)?;
        let scale = honest.iter().copied().fold(0.0, f64::max);
        let mut found = Found { cases: 1, ..Found::default() };
        for t in 0..series.quantum_count() {
            for (user, has) in honest.iter().enumerate().filter(|(_, has)| **has > 0.0) {
                let truth = demanded(&series, user, t);
                let mut lies =
                    vec![0, truth / 2, truth.saturating_sub(1), truth + 1, truth + 3, 2 * truth + 9];
                lies.retain(|lie| *lie != truth);
                lies.dedup();
                for lie in lies {
                    found.lies += 1;
                    let Some(lying) = useful(&instance, &series, &misreport(&series, (t, user), lie), alpha)
                    else {
                        found.open += 1;
                        continue;
                    };
                    let gains = lying[user] - has > SAME * scale;
                    let factor = if gains { lying[user] / has } else { 1.0 };
                    if lie > truth { &mut found.over } else { &mut found.under }.see(factor, seed);
                    if t + 1 == series.quantum_count() && same_work(&instance) {
                        found.at_once.see(factor, seed);
                    }
                }
            }
        }
        Some(found)
    };
    let found: Vec<Found> = seeds.into_par_iter().filter_map(of_case).collect();
    let found = found.into_iter().fold(Found::default(), Found::and);
    println!("{cases:?}, alpha {alpha}: {found:?}");
    found
}

#[test]
#[ignore = "half a minute"]
fn with_slices_over_reporting_never_pays_and_under_reporting_gains_at_most_half() {
    for alpha in [0.0, 0.5, 1.0] {
        let found = search(Cases::Slices, alpha, 0..100);
        assert_eq!((found.over.cases, found.at_once.cases, found.open), (0, 0, 0));
        assert!(found.under.most <= 1.5);
    }
}

#[test]
#[ignore = "half a minute"]
fn lies_over_several_resources_gain_what_the_guide_says() {
    searched(0..100);
}

/// The guide counts 10,000 seeds.
#[test]
#[ignore = "half a minute; with FAIRPLAN_SEEDS=10000 all that the guide counts, in ten"]
fn lies_over_several_resources_gain_what_the_guide_says_in_more_cases() {
    let stated = std::env::var("FAIRPLAN_SEEDS");
    searched(100..stated.map_or(600, |seeds| seeds.parse().expect("FAIRPLAN_SEEDS: a whole number")));
}

/// The largest factors that the guide's page states, by claiming too much and too little, for `α` 0, 1/2 and 1.
const STATED: [(Cases, [[f64; 2]; 3]); 4] = [
    (Cases::Slices, [[1.0, 1.190], [1.0, 1.132], [1.0, 1.106]]),
    (Cases::OneResource, [[1.0, 1.167], [1.007, 1.113], [1.016, 1.072]]),
    (Cases::Several, [[1.014, 1.200], [1.019, 1.143], [1.129, 1.143]]),
    (Cases::Weights, [[1.0, 1.161], [1.028, 1.136], [1.065, 1.041]]),
];

fn searched(seeds: std::ops::Range<u64>) {
    for (cases, stated) in STATED {
        for (alpha, [over, under]) in [0.0, 0.5, 1.0].into_iter().zip(stated) {
            let found = search(cases, alpha, seeds.clone());
            let told = || format!("{cases:?}, alpha {alpha}: {found:?}");
            assert_eq!(found.at_once.cases, 0, "in its own quantum a lie pays: {}", told());
            assert!(found.over.most < over + 1e-3 && found.under.most < under + 1e-3, "{}", told());
            assert!(found.open * 1000 < found.lies, "too many quanta stay open: {}", told());
        }
    }
}
