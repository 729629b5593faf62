//! How much each resource counts where room and tasks are measured by one size, so that a server holds as little as can be shown: mixes that
//! are tried, those that suit some tasks best, and the sizes by them in whole numbers.

use super::costs::least_costs;
use super::task::Task;
use fairplan_instances::compare_ratios;

/// The parts of a mix, those of the tightest in all, and what weights are counted in: a server measures less than 2^63, so that with values below 2^64 no
/// product passes 2^127.
const PARTS: u128 = 1 << 29;
const PARTS_IN_ALL: u128 = 4 * PARTS;
const UNIT: u128 = 1 << 31;

/// How much of each resource counts: evenly, more of one, one alone; in parts of [`PARTS`].
fn mixes(resources: usize) -> Vec<Vec<u128>> {
    if resources == 2 {
        return (0..=8).map(|part| vec![part * PARTS / 8, (8 - part) * PARTS / 8]).collect();
    }
    let mut mixes = vec![vec![1; resources]];
    for r in 0..resources {
        for (own, others) in [(1, 0), (2, 1), (4, 1), (1, 2)] {
            let mut mix = vec![others; resources];
            mix[r] = own;
            mixes.push(mix);
        }
    }
    // All parts of a mix are together less than 16 times the whole.
    let unit = PARTS / 4 * 16 / (resources.max(16) as u128);
    mixes.iter_mut().flatten().for_each(|part| *part *= unit);
    mixes
}

/// The same where devices make further resources: those of the instance alone, then others beside them.
pub(super) fn mixes_with_rows(resources: usize, rows: usize) -> Vec<Vec<u128>> {
    let mut all = mixes(resources);
    all.iter_mut().for_each(|mix| mix.resize(resources + rows, 0));
    if rows > 0 {
        let unit = PARTS / 4 * 16 / ((resources + rows).max(16) as u128);
        all.push(vec![unit; resources + rows]);
        for row in resources..resources + rows {
            for (own, others) in [(1, 0), (1, 1), (2, 1), (4, 1)] {
                let mut mix = vec![0; resources + rows];
                mix[..resources].fill(others * unit);
                mix[row] = own * unit;
                all.push(mix);
            }
        }
    }
    all
}

/// What tasks take in parts of a server, nearly, with what each is worth: worked out once, since it is asked hundreds of times.
pub(super) struct Nearly {
    values: Vec<f64>,
    /// Task by task, each resource in parts of what the server has.
    parts: Vec<f64>,
    resources: usize,
}

impl Nearly {
    pub fn new(capacity: &[u128], tasks: &[Task]) -> Self {
        let part = |(d, c): (&u128, &u128)| if *c > 0 { *d as f64 / *c as f64 } else { 0.0 };
        Self {
            values: tasks.iter().map(|task| task.value as f64).collect(),
            parts: tasks.iter().flat_map(|task| task.demand.iter().zip(capacity).map(part)).collect(),
            resources: capacity.len(),
        }
    }

    /// What each task is worth for its size.
    pub fn densities(&self, mix: &[u128]) -> impl Iterator<Item = f64> {
        let mix: Vec<f64> = mix.iter().map(|part| *part as f64).collect();
        self.values.iter().zip(self.parts.chunks_exact(self.resources.max(1))).map(move |(value, parts)| {
            let mut size = 0.0;
            for (part, weight) in parts.iter().zip(&mix) {
                size += part * weight;
            }
            value / size
        })
    }

    /// Whether the whole server holds less where `r` counts a little more and `s` less: the task that is worth most for its size takes
    /// a larger part of `r`.
    fn falls(&self, mix: &[u128], r: usize, s: usize) -> bool {
        let densest = self.densities(mix).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        densest.is_some_and(|(j, _)| self.parts[j * self.resources + r] > self.parts[j * self.resources + s])
    }

    /// What the whole server holds at most.
    fn bound(&self, mix: &[u128]) -> f64 {
        self.densities(mix).fold(0.0, f64::max) * mix.iter().sum::<u128>() as f64
    }
}

/// How much each resource must count for the whole server to hold the least: as much as it must cost for no task to be worth more than
/// it takes. Any answer is right, a good one makes the search short.
pub(super) fn tightest(tasks: &Nearly, mixes: &[Vec<u128>]) -> Vec<u128> {
    let costs = least_costs(&tasks.values, &tasks.parts, tasks.resources);
    let sum: f64 = costs.iter().sum();
    // Rounded up, a cost so small that nothing is left of it still counts.
    let counts = |cost: &f64| (cost / sum * PARTS_IN_ALL as f64).ceil() as u128;
    let of_costs = (sum > 0.0 && sum.is_finite()).then(|| costs.iter().map(counts).collect());
    let bounded = mixes.iter().cloned().chain(of_costs).map(|mix: Vec<u128>| (tasks.bound(&mix), mix));
    let least = bounded.min_by(|a, b| a.0.total_cmp(&b.0));
    least.map(|(_, mix)| mix).unwrap_or_default()
}

/// A mix that orders tasks: weight moves between two resources at a time while the whole server holds less. By the costs themselves the
/// tasks that they come from are all worth the same for their size, which orders nothing.
pub(super) fn balanced(tasks: &Nearly, mixes: &[Vec<u128>]) -> Vec<u128> {
    let least = |a: &(f64, &Vec<u128>), b: &(f64, &Vec<u128>)| a.0.total_cmp(&b.0);
    let first = mixes.iter().map(|mix| (tasks.bound(mix), mix)).min_by(least);
    let Some((mut lowest, mut mix)) = first.map(|(bound, mix)| (bound, mix.clone())) else {
        return Vec::new();
    };
    for r in 0..mix.len() {
        for s in r + 1..mix.len() {
            let both = mix[r] + mix[s];
            let mut with = mix.clone();
            let (mut low, mut high) = (0, both);
            while high - low > 1 {
                let middle = (low + high) / 2;
                (with[r], with[s]) = (middle, both - middle);
                if tasks.falls(&with, r, s) { low = middle } else { high = middle }
            }
            for part in [low, high] {
                (with[r], with[s]) = (part, both - part);
                let bound = tasks.bound(&with);
                if bound < lowest {
                    (lowest, mix[r], mix[s]) = (bound, part, both - part);
                }
            }
        }
    }
    mix
}

/// Weights of the resources, and the best tasks by worth per weighted size.
pub(super) struct Direction {
    pub weights: Vec<u128>,
    /// The size of each task.
    pub of_tasks: Vec<u64>,
    /// From each task on, `(worth, size)`; a size of 0 stands for no limit.
    pub best_from: Vec<(u64, u64)>,
}

impl Direction {
    pub fn new(capacity: &[u128], mix: &[u128], tasks: &[Task]) -> Self {
        let weight = |(c, part): (&u128, &u128)| (UNIT * part).checked_div(*c).unwrap_or(0);
        let mut direction = Self {
            weights: capacity.iter().zip(mix).map(weight).collect(),
            of_tasks: Vec::new(),
            best_from: vec![(0, 1); tasks.len() + 1],
        };
        direction.of_tasks = tasks.iter().map(|task| direction.size(&task.demand)).collect();
        for (j, task) in tasks.iter().enumerate().rev() {
            direction.best_from[j] = direction.better(task, direction.best_from[j + 1]);
        }
        direction
    }

    /// Of what is no larger than the server: below 2^63.
    pub fn size(&self, amounts: &[u128]) -> u64 {
        let size: u128 = self.weights.iter().zip(amounts).map(|(weight, amount)| weight * amount).sum();
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    pub fn better(&self, task: &Task, best: (u64, u64)) -> (u64, u64) {
        let own = (task.value, self.size(&task.demand));
        let wide = |(worth, size): (u64, u64)| (u128::from(worth), u128::from(size));
        if compare_ratios(wide(own), wide(best)).is_gt() { own } else { best }
    }
}
