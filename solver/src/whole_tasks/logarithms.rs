//! Sums of logarithms of whole tasks: what each next task adds, how many tasks users want at a price, and what is wanted
//! of tasks of the same pieces as columns of a program.
//!
//! Weights are counted as parts of their sum, so that with the best values of tasks all tasks together are worth about 1.

use super::fill::Priority;
use super::master::Want;
use super::packing::Packing;
use fairplan_instances::{Instance, LimitedTasks, UserId};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The users that can have tasks, by the pieces that theirs have.
pub(super) struct Logarithms {
    pub bundles: Vec<Bundle>,
    /// Weight and limit of each user; none for those that can have no tasks.
    of_user: Vec<Option<Demand>>,
    /// What the others weigh together, and their sum of weighted logarithms with one task each.
    weights: f64,
    of_one_task: f64,
}

/// Users whose tasks have the same pieces; a task without kinds is one.
pub(super) struct Bundle {
    /// `(shape, pieces of it in one task)`.
    pub pieces: Vec<(u32, u64)>,
    demands: Vec<Demand>,
}

/// A user's demand for tasks, as its utility is logarithmic.
#[derive(Clone, Copy)]
struct Demand {
    weight: f64,
    /// Tasks that it has, that limits let it have, and that servers have room for if it is alone; at least 1.
    limit: u64,
}

impl Demand {
    /// The tasks for which `w ln k - price k` is largest: a next one adds `w ln(k / (k - 1))`.
    fn at(&self, price: f64) -> u64 {
        let most = 1.0 / -(-price / self.weight).exp_m1();
        (most as u64).clamp(1, self.limit)
    }
}

/// What the first task of a user counts for, as a logarithm: more than all others of it, so that nobody goes without while
/// somebody could give way.
const FIRST: f64 = 50.0;

/// How far from where the last program ended tasks are wanted one by one; beyond, in steps that grow fourfold.
const EXACTLY: u64 = 3;

impl Logarithms {
    pub fn new(instance: &Instance, packing: &Packing) -> Self {
        let users = || instance.users().filter(|user| !packing.pieces(user.index()).is_empty());
        let weights: f64 = users().map(|user| user.weight().to_f64()).sum();
        let of_one_task = users().map(|user| user.weight().to_f64() * user.task_share().ln()).sum();
        let limited = LimitedTasks::of(instance);
        let demand = |user: fairplan_instances::User<'_>| {
            packing.alone(user.index())?;
            let limit = packing.most_within(&limited, user).max(1);
            Some(Demand { weight: user.weight().to_f64() / weights, limit })
        };
        let of_user: Vec<Option<Demand>> = instance.users().map(demand).collect();
        let mut bundles: BTreeMap<&[(u32, u64)], Vec<Demand>> = BTreeMap::new();
        for user in users() {
            let demands = bundles.entry(packing.pieces(user.index())).or_default();
            demands.extend(of_user[user.index().0]);
        }
        let bundle = |(pieces, demands): (&[(u32, u64)], _)| Bundle { pieces: pieces.to_vec(), demands };
        Self { bundles: bundles.into_iter().map(bundle).collect(), of_user, weights, of_one_task }
    }

    /// The weighted mean of the logarithms of users' tasks; none if a user that can have tasks has none.
    pub fn mean(&self, tasks: &[u64]) -> Option<f64> {
        let mut demands =
            self.of_user.iter().zip(tasks).filter_map(|(demand, tasks)| Some((demand.as_ref()?, *tasks)));
        let of = |(demand, tasks): (&Demand, u64)| (tasks > 0).then(|| demand.weight * (tasks as f64).ln());
        demands.try_fold(0.0, |sum, of_user| Some(sum + of(of_user)?))
    }

    /// The sum `Σ w ln(dominant share)` of a mean of logarithms of tasks.
    pub fn sum_of(&self, mean: f64) -> f64 {
        self.weights * mean + self.of_one_task
    }

    /// What one more task adds; the first ones of users the most.
    pub fn gain(&self, user: UserId, tasks: u64) -> f64 {
        let demand = self.of_user[user.0].filter(|demand| tasks < demand.limit);
        let weight = demand.map_or(0.0, |demand| demand.weight);
        weight * if tasks == 0 { FIRST } else { (1.0 / tasks as f64).ln_1p() }
    }

    /// What the wants of all first tasks are worth in a program, beside the logarithms.
    pub fn of_first(&self) -> f64 {
        self.bundles.iter().map(Bundle::of_first).sum()
    }

    /// No whole tasks have a larger mean of logarithms if servers hold no more than `held` of these values of shapes, all in the
    /// same units; and the units that count for one in the mean, where that bound is least.
    pub fn bound(&self, values: &[f64], held: f64) -> (f64, f64) {
        let priced: Vec<(&Bundle, f64)> =
            self.bundles.iter().map(|bundle| (bundle, bundle.worth(values))).collect();
        let demands =
            || priced.iter().flat_map(|(bundle, value)| bundle.demands.iter().map(|demand| (demand, *value)));
        // The bound is convex in the part of the mean that a unit is worth, and falls while users want more than is held.
        let excess = |unit: f64| -> f64 {
            let worth = |(demand, value): (&Demand, f64)| value * demand.at(value * unit) as f64;
            demands().map(worth).sum::<f64>() - held
        };
        let (mut low, mut high) = (0.5 / held.max(1.0), 2.0 / held.max(1.0));
        // No further than doubles count units: where there is room for all tasks values of nothing prove the bound.
        while excess(low) < 0.0 && low > f64::EPSILON {
            low *= 0.5;
        }
        // Where not even first tasks have room for all, no bound is the least.
        for _ in 0..6 {
            if excess(high) > 0.0 { high *= 2.0 } else { break }
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        let units = (1.0 / high).round().max(1.0);
        let most = |(demand, value): (&Demand, f64)| {
            let price = value / units;
            let tasks = demand.at(price) as f64;
            demand.weight * tasks.ln() - price * tasks
        };
        (demands().map(most).sum::<f64>() + held / units, units)
    }
}

impl Bundle {
    /// Its users, each of which needs a first task.
    pub fn users(&self) -> u64 {
        self.demands.len() as u64
    }

    /// What a task is worth, of values of shapes.
    fn worth(&self, values: &[f64]) -> f64 {
        self.pieces.iter().map(|(shape, each)| *each as f64 * values[*shape as usize]).sum()
    }

    /// The weight of its users, as a part of everybody's.
    pub fn weight(&self) -> f64 {
        self.demands.iter().map(|demand| demand.weight).sum()
    }

    /// Most tasks of it that count.
    pub fn most(&self) -> u64 {
        self.demands.iter().fold(0, |sum, demand| sum.saturating_add(demand.limit))
    }

    /// The tasks that its users want at a price.
    fn demand(&self, price: f64) -> u64 {
        self.demands.iter().fold(0, |sum, demand| sum.saturating_add(demand.at(price)))
    }

    /// What the wants of its first tasks are worth.
    fn of_first(&self) -> f64 {
        self.demands.iter().map(|demand| demand.weight).fold(0.0, f64::max) * FIRST * self.users() as f64
    }

    /// The largest sum of the users' logarithms with so many tasks, at least one each.
    pub fn sum(&self, tasks: u64) -> f64 {
        if let [demand] = &self.demands[..] {
            return demand.weight * (tasks as f64).ln();
        }
        let (mut low, mut high) = (f64::MIN_POSITIVE, 1.0);
        for _ in 0..100 {
            let middle = if high > 4.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
            if self.demand(middle) >= tasks { low = middle } else { high = middle }
        }
        let of = |demand: &Demand| demand.weight * (demand.at(low) as f64).ln();
        // At a price where several users' next tasks are worth just as much, some of them do without.
        self.demands.iter().map(of).sum::<f64>() - (self.demand(low).saturating_sub(tasks)) as f64 * low
    }

    /// The tasks from `from` to `to` as wants: one by one near `centre`, in larger steps away from it.
    pub fn wants(&self, from: u64, to: u64, centre: u64) -> Vec<Want> {
        let mut wants = Vec::new();
        let first = self.users();
        let pieces: Vec<(u32, f64)> = self.pieces.iter().map(|(s, each)| (*s, *each as f64)).collect();
        let mut want = |from: u64, to: u64, worth: f64| {
            let tasks = (to - from) as f64;
            wants.push(Want { worth: worth / tasks, most: tasks, tasks: pieces.clone() });
        };
        if from < first.min(to) {
            let weights = self.demands.iter().map(|demand| demand.weight).fold(0.0, f64::max);
            let to = first.min(to);
            want(from, to, FIRST * weights * (to - from) as f64);
        }
        let mut points: Vec<u64> = (0..=EXACTLY).chain((0..30).map(|power| 6 << (2 * power))).collect();
        points =
            points.iter().flat_map(|by| [centre.saturating_sub(*by), centre.saturating_add(*by)]).collect();
        points.extend([from.max(first), to]);
        points.retain(|point| *point >= from.max(first) && *point <= to);
        points.sort_unstable();
        points.dedup();
        let sums: Vec<f64> = points.iter().map(|point| self.sum(*point)).collect();
        for (points, sums) in points.windows(2).zip(sums.windows(2)) {
            want(points[0], points[1], sums[1] - sums[0]);
        }
        wants
    }
}

/// The largest gain is served first.
impl Priority for Logarithms {
    fn compare(&self, (a, of_a): (UserId, u64), (b, of_b): (UserId, u64)) -> Ordering {
        (of_a > 0).cmp(&(of_b > 0)).then(self.gain(b, of_b).total_cmp(&self.gain(a, of_a)))
    }

    /// The level is one over what the last task adds.
    fn tasks_at(&self, user: UserId, level: f64) -> u64 {
        self.of_user[user.0].map_or(0, |demand| if level > 0.0 { demand.at(1.0 / level) } else { 0 })
    }
}
