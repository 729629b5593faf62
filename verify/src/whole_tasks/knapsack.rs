//! Whether one server can hold tasks worth more than is claimed: all contents that might be are tried, in whole numbers.
//!
//! What fits in some room is worth at most what a table says, in which room and tasks are measured in coarse steps, both
//! rounded down: contents that fit in truth fit there too. Tasks smaller than a step of every resource count there as if
//! they could be divided. It is also worth at most the size of the room times the best worth per size of a task, whatever
//! weights measure the size.

use fairplan_instances::compare_ratios;

/// A server and the tasks that may run on it.
pub(super) struct Server<'a> {
    /// What it has of each resource.
    pub capacity: &'a [u128],
    /// What may be put on it.
    pub tasks: Vec<Task>,
}

/// One kind of task.
#[derive(Clone)]
pub(super) struct Task {
    /// What it is claimed to be worth, above 0.
    pub value: u64,
    /// What it takes of each resource; more than nothing of one.
    pub demand: Vec<u128>,
}

/// What came of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No content is worth more.
    Proved,
    /// Some content is.
    Exceeded,
    /// The search was given up.
    TooLong,
}

/// Resources up to which there is a table, entries of a table, nodes of a search, tasks on one server.
const TABULATED: usize = 16;
const CELLS: f64 = 65_536.0;
const NODES: u64 = 100_000_000;
const DEPTH: usize = 4_000;

/// The parts of a mix, and what weights are counted in: a server measures less than 2^63, so that with values below 2^64 no
/// product passes 2^127.
const PARTS: u128 = 1 << 29;
const UNIT: u128 = 1 << 31;

/// Whether no tasks that fit on `server` are together worth more than `claimed`. Amounts are below 2^62.
pub(super) fn prove(server: &Server<'_>, claimed: u64) -> Outcome {
    Contents::new(server).are_worth_at_most(server.capacity, u128::from(claimed))
}

/// What fits in any room of a server: asked again and again, the table is made once.
pub(super) struct Contents<'a>(Tree<'a>);

impl<'a> Contents<'a> {
    pub fn new(server: &Server<'a>) -> Self {
        let mut tasks = useful(server);
        let steps = CELLS.powf(1.0 / server.capacity.len().max(1) as f64).round().max(2.0) as u128;
        let mut mixes = mixes(server.capacity.len());
        let tightest = tightest(server.capacity, &tasks, &mixes);
        // The order decides only how long the search takes.
        tasks.sort_by(|a, b| {
            density(server.capacity, b, &tightest).total_cmp(&density(server.capacity, a, &tightest))
        });
        mixes.push(tightest);
        Self(Tree {
            capacity: server.capacity,
            steps,
            columns: Vec::new(),
            table: Vec::new(),
            margin: 0,
            directions: mixes.iter().map(|mix| Direction::new(server.capacity, mix, &tasks)).collect(),
            tasks,
            claimed: 0,
            nodes: 0,
        })
    }

    /// Whether no tasks that fit in `room`, which is no larger than the server, are together worth more than `claimed`.
    pub fn are_worth_at_most(&mut self, room: &[u128], claimed: u128) -> Outcome {
        let tree = &mut self.0;
        (tree.claimed, tree.nodes) = (claimed, 0);
        if tree.is_bounded(room) {
            return Outcome::Proved;
        }
        if tree.table.is_empty() {
            tree.tabulate();
        }
        if tree.is_enough(room, claimed) {
            return Outcome::Proved;
        }
        tree.search(0, &mut room.to_vec(), 0, 0)
    }

    /// Of each direction: the weight of every resource, and the most that a task is worth for its size, `(worth, size)`.
    pub fn directions(&self) -> impl Iterator<Item = (&[u128], (u128, u128))> {
        self.0.directions.iter().map(|direction| (&direction.weights[..], direction.best_from[0]))
    }
}

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

/// What a task is worth for its size, nearly.
fn density(capacity: &[u128], task: &Task, mix: &[u128]) -> f64 {
    let part = |((d, c), part): ((&u128, &u128), &u128)| {
        if *c > 0 { *d as f64 / *c as f64 * *part as f64 } else { 0.0 }
    };
    task.value as f64 / task.demand.iter().zip(capacity).zip(mix).map(part).sum::<f64>()
}

/// How much each resource must count for the whole server to hold the least: weight moves between two resources at a time
/// while that lowers it. Any answer is right, a good one makes the search short.
fn tightest(capacity: &[u128], tasks: &[Task], mixes: &[Vec<u128>]) -> Vec<u128> {
    let bound = |mix: &Vec<u128>| {
        let best = tasks.iter().map(|task| density(capacity, task, mix)).fold(0.0, f64::max);
        best * mix.iter().sum::<u128>() as f64
    };
    let least = |a: &&Vec<u128>, b: &&Vec<u128>| bound(a).total_cmp(&bound(b));
    let mut mix = mixes.iter().min_by(least).cloned().unwrap_or_default();
    for r in 0..mix.len() {
        for s in r + 1..mix.len() {
            let both = mix[r] + mix[s];
            let with = |part: u128| {
                let mut mix = mix.clone();
                (mix[r], mix[s]) = (part, both - part);
                mix
            };
            let (mut low, mut high) = (0, both);
            while high - low > 2 {
                let third = (high - low) / 3;
                let is_lower = bound(&with(low + third)) < bound(&with(high - third));
                if is_lower { high -= third } else { low += third }
            }
            let between = with((low + high) / 2);
            if bound(&between) < bound(&mix) {
                mix = between;
            }
        }
    }
    mix
}

/// Weights of the resources, and the best tasks by worth per weighted size.
struct Direction {
    weights: Vec<u128>,
    /// From each task on; a size of 0 stands for no limit.
    best_from: Vec<(u128, u128)>,
}

impl Direction {
    fn new(capacity: &[u128], mix: &[u128], tasks: &[Task]) -> Self {
        let weight = |(c, part): (&u128, &u128)| (UNIT * part).checked_div(*c).unwrap_or(0);
        let mut direction = Self {
            weights: capacity.iter().zip(mix).map(weight).collect(),
            best_from: vec![(0, 1); tasks.len() + 1],
        };
        for (j, task) in tasks.iter().enumerate().rev() {
            direction.best_from[j] = direction.better(task, direction.best_from[j + 1]);
        }
        direction
    }

    fn size(&self, amounts: &[u128]) -> u128 {
        self.weights.iter().zip(amounts).map(|(weight, amount)| weight * amount).sum()
    }

    fn better(&self, task: &Task, best: (u128, u128)) -> (u128, u128) {
        let own = (u128::from(task.value), self.size(&task.demand));
        if compare_ratios(own, best).is_gt() { own } else { best }
    }
}

/// The tasks that fit, without those that copies of another can replace at no less worth.
fn useful(server: &Server<'_>) -> Vec<Task> {
    let fits = |task: &&Task| task.demand.iter().zip(server.capacity).all(|(d, c)| d <= c);
    let all: Vec<&Task> = server.tasks.iter().filter(fits).collect();
    let replaces = |one: &Task, other: &Task| {
        let parts = one.demand.iter().zip(&other.demand).filter(|(d, _)| **d > 0);
        let copies = parts.map(|(d, room)| room / d).min().unwrap_or(0);
        copies > 0 && copies * u128::from(one.value) >= u128::from(other.value)
    };
    let mut kept: Vec<Task> = Vec::new();
    for (at, task) in all.iter().enumerate() {
        let is_replaced = all.iter().enumerate().any(|(other_at, other)| {
            other_at != at && replaces(other, task) && (other_at < at || !replaces(task, other))
        });
        if !is_replaced {
            kept.push((*task).clone());
        }
    }
    kept
}

struct Tree<'a> {
    capacity: &'a [u128],
    /// Steps along each resource.
    steps: u128,
    /// How far apart neighbours along each resource are in the table.
    columns: Vec<usize>,
    table: Vec<u128>,
    /// What tasks smaller than a step can be worth beside the table.
    margin: u128,
    directions: Vec<Direction>,
    tasks: Vec<Task>,
    claimed: u128,
    nodes: u64,
}

impl Tree<'_> {
    fn in_steps(&self, r: usize, amount: u128) -> usize {
        (amount * (self.steps - 1)).checked_div(self.capacity[r]).unwrap_or(0) as usize
    }

    /// Whether a direction alone says that room holds no more than is claimed.
    fn is_bounded(&self, room: &[u128]) -> bool {
        let bounds =
            |direction: &Direction| is_at_most(direction.size(room), direction.best_from[0], self.claimed);
        self.directions.iter().any(bounds)
    }

    fn tabulate(&mut self) {
        if self.capacity.len() > TABULATED {
            self.margin = u128::MAX >> 1;
            return;
        }
        let (m, steps) = (self.capacity.len(), self.steps as usize);
        self.columns = (0..m).map(|r| steps.pow(r as u32)).collect();
        self.table = vec![0; steps.pow(m as u32)];
        let (mut large, mut small) = (Vec::new(), Vec::new());
        for task in &self.tasks {
            let sizes: Vec<usize> = (0..m).map(|r| self.in_steps(r, task.demand[r])).collect();
            if sizes.iter().all(|size| *size == 0) {
                small.push(task);
            } else {
                large.push((sizes, u128::from(task.value)));
            }
        }
        // What the small ones fill as if they could be divided is short of the steps that others leave by less than one
        // step of each resource.
        let of_steps = |direction: &Direction| {
            let (worth, size) = small.iter().fold((0, 1), |best, task| direction.better(task, best));
            let of_step = |(weight, c): (&u128, &u128)| {
                let step = (weight * c).div_ceil(self.steps - 1);
                (size > 0).then(|| (worth * step).div_ceil(size))
            };
            direction.weights.iter().zip(self.capacity).map(of_step).collect::<Option<Vec<u128>>>()
        };
        let candidates = self.directions.iter().filter_map(of_steps);
        let of_steps = candidates.min_by_key(|of_steps| of_steps.iter().sum::<u128>());
        // No direction measures a task that takes nothing that counts: then the table says nothing.
        self.margin = of_steps.as_ref().map_or(u128::MAX >> 1, |of_steps| of_steps.iter().sum());
        for (r, value) in of_steps.unwrap_or_default().into_iter().enumerate().filter(|(_, value)| *value > 0)
        {
            let mut sizes = vec![0; m];
            sizes[r] = 1;
            large.push((sizes, value));
        }
        large.iter().for_each(|(sizes, value)| self.allow(sizes, *value));
    }

    /// Lets the table use tasks of these sizes, in steps, again and again.
    fn allow(&mut self, sizes: &[usize], value: u128) {
        let (m, steps) = (sizes.len(), self.steps as usize);
        let offset: usize = sizes.iter().zip(&self.columns).map(|(size, column)| size * column).sum();
        // Cells are visited in rising order.
        let mut at = sizes.to_vec();
        'cells: loop {
            let first: usize = at.iter().zip(&self.columns).map(|(at, column)| at * column).sum();
            // A run along the first resource.
            for cell in first..first + steps - sizes[0] {
                self.table[cell] = self.table[cell].max(self.table[cell - offset] + value);
            }
            for r in 1..m {
                at[r] += 1;
                if at[r] < steps {
                    continue 'cells;
                }
                at[r] = sizes[r];
            }
            break;
        }
    }

    /// Whether nothing that fits in `room` is worth more than `slack`, by the table.
    fn is_enough(&self, room: &[u128], slack: u128) -> bool {
        if self.table.is_empty() {
            return false;
        }
        let cell: usize = (0..room.len()).map(|r| self.in_steps(r, room[r]) * self.columns[r]).sum();
        self.table[cell] + self.margin <= slack
    }

    /// Adds tasks from `start` on to `depth` kinds of them worth `worth` that leave `room`.
    fn search(&mut self, start: usize, room: &mut [u128], worth: u128, depth: usize) -> Outcome {
        self.nodes += 1;
        let slack = self.claimed - worth;
        let sizes: Vec<u128> = self.directions.iter().map(|direction| direction.size(room)).collect();
        for j in start..self.tasks.len() {
            let bounds =
                |(direction, size): (&Direction, &u128)| is_at_most(*size, direction.best_from[j], slack);
            if self.directions.iter().zip(&sizes).any(bounds) {
                return Outcome::Proved;
            }
            let parts = self.tasks[j].demand.iter().zip(room.iter()).filter(|(d, _)| **d > 0);
            let mut count = parts.map(|(d, room)| room / d).min().unwrap_or(0);
            let value = u128::from(self.tasks[j].value);
            while count > 0 {
                if count.saturating_mul(value) > slack {
                    return Outcome::Exceeded;
                }
                let fewer = self.fewest_proved(j, &sizes, slack, count);
                if fewer < count {
                    count = fewer;
                    continue;
                }
                let take = |(room, d): (&mut u128, &u128)| *room -= d * count;
                room.iter_mut().zip(&self.tasks[j].demand).for_each(take);
                let outcome = if self.is_enough(room, slack - count * value) {
                    Outcome::Proved
                } else if self.nodes >= NODES || depth >= DEPTH {
                    Outcome::TooLong
                } else {
                    self.search(j + 1, room, worth + count * value, depth + 1)
                };
                let give = |(room, d): (&mut u128, &u128)| *room += d * count;
                room.iter_mut().zip(&self.tasks[j].demand).for_each(give);
                if outcome != Outcome::Proved {
                    return outcome;
                }
                count -= 1;
            }
        }
        Outcome::Proved
    }

    /// How many of task `j` are left to look into, of at most `count` in room of these sizes: where a direction bounds
    /// what later tasks add to so many, it does so down to fewer.
    fn fewest_proved(&self, j: usize, sizes: &[u128], slack: u128, count: u128) -> u128 {
        let value = u128::from(self.tasks[j].value);
        let mut left = count;
        for (direction, size) in self.directions.iter().zip(sizes) {
            let (worth, of_size) = direction.best_from[j + 1];
            let own = direction.size(&self.tasks[j].demand);
            let rest = size - own * count;
            if of_size == 0 || !is_at_most(rest, (worth, of_size), slack - count * value) {
                continue;
            }
            // With each one fewer the bound grows by this much, in parts of `of_size`.
            let (grows, falls) = (worth * own, value * of_size);
            if grows <= falls {
                return 0;
            }
            // What is left to the first value that is too much.
            let spare = (slack - count * value + 1) * of_size - worth * rest;
            left = left.min(count.saturating_sub(spare.div_ceil(grows - falls)));
        }
        left
    }
}

/// Whether room of some size holds no more than `slack`, at best a task's `(worth, size)` each.
fn is_at_most(size: u128, (worth, of_size): (u128, u128), slack: u128) -> bool {
    // worth · size / of_size < slack + 1
    of_size > 0 && worth * size < (slack + 1).saturating_mul(of_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The largest worth, by trying everything.
    fn best(tasks: &[Task], room: &[u128]) -> u64 {
        let Some((first, rest)) = tasks.split_first() else { return 0 };
        let mut room = room.to_vec();
        let (mut largest, mut worth) = (0, 0);
        loop {
            largest = largest.max(worth + best(rest, &room));
            if !first.demand.iter().zip(&room).all(|(d, c)| d <= c) {
                return largest;
            }
            room.iter_mut().zip(&first.demand).for_each(|(room, d)| *room -= d);
            worth += first.value;
        }
    }

    proptest! {
        #[test]
        fn the_best_content_is_accepted_and_one_less_is_not(
            resources in 1usize..5,
            capacity in prop::collection::vec(0u128..1_000_000, 4),
            tasks in prop::collection::vec((1u64..50, prop::collection::vec(0u128..1_000_000, 4)), 1..5),
        ) {
            let capacity = &capacity[..resources];
            let tasks: Vec<Task> = tasks
                .into_iter()
                .map(|(value, demand)| {
                    let demand = demand[..resources].iter().zip(capacity).map(|(d, c)| c / 6 + d / 2);
                    let mut demand: Vec<u128> = demand.collect();
                    demand[0] = demand[0].max(1);
                    Task { value, demand }
                })
                .collect();
            let largest = best(&tasks, capacity);
            let server = Server { capacity, tasks };
            prop_assert_eq!(prove(&server, largest), Outcome::Proved);
            if largest > 0 {
                prop_assert_eq!(prove(&server, largest - 1), Outcome::Exceeded);
            }
        }
    }

    proptest! {
        #[test]
        fn the_best_content_of_tiny_beside_large_tasks_is_accepted_and_one_less_is_not(
            resources in 1usize..4,
            capacity in prop::collection::vec(1_000u128..1_000_000, 3),
            large in prop::collection::vec((1u64..5_000, prop::collection::vec(0u128..1_000_000, 3)), 0..3),
            tiny in prop::collection::vec((1u64..20, prop::collection::vec(1u128..1_000, 3)), 1..3),
        ) {
            let capacity = &capacity[..resources];
            let kinds = large.into_iter().map(|kind| (kind, 5)).chain(tiny.into_iter().map(|kind| (kind, 150)));
            let tasks: Vec<Task> = kinds
                .map(|((value, demand), copies)| {
                    let demand = demand[..resources].iter().zip(capacity).map(|(d, c)| c / copies + d / copies);
                    Task { value, demand: demand.collect() }
                })
                .collect();
            let largest = best(&tasks, capacity);
            let server = Server { capacity, tasks };
            prop_assert_eq!(prove(&server, largest), Outcome::Proved);
            if largest > 0 {
                prop_assert_eq!(prove(&server, largest - 1), Outcome::Exceeded);
            }
        }
    }

    #[test]
    fn small_tasks_of_different_resources_do_not_crowd_each_other_out() {
        let tasks = vec![Task { value: 1, demand: vec![1, 0] }, Task { value: 1, demand: vec![0, 1] }];
        let server = Server { capacity: &[1_000, 1_000], tasks };
        assert_eq!(prove(&server, 2_000), Outcome::Proved);
        assert_eq!(prove(&server, 1_999), Outcome::Exceeded);
    }

    #[test]
    fn tasks_smaller_than_every_step_are_counted() {
        let tasks =
            vec![Task { value: 1, demand: vec![1, 0] }, Task { value: 2_000, demand: vec![700, 700] }];
        let server = Server { capacity: &[1_000, 1_000], tasks };
        assert_eq!(prove(&server, 2_300), Outcome::Proved);
        assert_eq!(prove(&server, 2_299), Outcome::Exceeded);
    }
}
