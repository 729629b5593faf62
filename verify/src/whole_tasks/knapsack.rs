//! Whether one server can hold tasks worth more than is claimed: all contents that might be are tried, in whole numbers.
//!
//! What fits in some room is worth at most what a table says, in which room and tasks are measured in coarse steps, both
//! rounded down: contents that fit in truth fit there too. Tasks smaller than a step of every resource count apart. It is
//! also worth at most the size of the room times the best worth per size of a task, whatever weights measure the size.

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

/// Entries of a table, nodes of a search, tasks on one server.
const CELLS: f64 = 65_536.0;
const NODES: u64 = 100_000_000;
const DEPTH: usize = 4_000;

/// Weights are whole parts of this; with amounts below 2^62 and values below 2^64 no product passes 2^128.
const UNIT: u128 = 1 << 56;

/// Whether no tasks that fit on `server` are together worth more than `claimed`. Amounts are below 2^62.
pub(super) fn prove(server: &Server<'_>, claimed: u64) -> Outcome {
    let tasks = useful(server);
    let steps = CELLS.powf(1.0 / server.capacity.len().max(1) as f64) as u128;
    let mut tree = Tree {
        capacity: server.capacity,
        steps: steps.max(2),
        columns: Vec::new(),
        table: Vec::new(),
        directions: mixes(server.capacity.len())
            .iter()
            .map(|mix| Direction::new(server.capacity, mix, &tasks))
            .collect(),
        tasks,
        claimed: u128::from(claimed),
        nodes: 0,
    };
    tree.tabulate();
    let mut room = server.capacity.to_vec();
    tree.search(0, &mut room, 0, 0)
}

/// How much of each resource counts: evenly, more of one, one alone.
fn mixes(resources: usize) -> Vec<Vec<u128>> {
    if resources == 2 {
        return (0..=8).map(|part| vec![part, 8 - part]).collect();
    }
    let mut mixes = vec![vec![1; resources]];
    for r in 0..resources {
        for (own, others) in [(1, 0), (2, 1), (4, 1), (1, 2)] {
            let mut mix = vec![others; resources];
            mix[r] = own;
            mixes.push(mix);
        }
    }
    mixes
}

/// Weights of the resources, and the best tasks by worth per weighted size.
struct Direction {
    weights: Vec<u128>,
    /// From each task on; a size of 0 stands for no limit.
    best_from: Vec<(u128, u128)>,
    /// Among the tasks that the table leaves out.
    best_left_out: (u128, u128),
}

impl Direction {
    fn new(capacity: &[u128], mix: &[u128], tasks: &[Task]) -> Self {
        let weight = |(c, part): (&u128, &u128)| UNIT.checked_div(*c).unwrap_or(0) * part;
        let mut direction = Self {
            weights: capacity.iter().zip(mix).map(weight).collect(),
            best_from: vec![(0, 1); tasks.len() + 1],
            best_left_out: (0, 1),
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

/// The tasks that fit, without those that copies of another can replace at no less worth; the most worth for their
/// size first.
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
    let density = |task: &Task| {
        let part = |(d, c): (&u128, &u128)| if *c > 0 { *d as f64 / *c as f64 } else { 0.0 };
        task.value as f64 / task.demand.iter().zip(server.capacity).map(part).sum::<f64>()
    };
    // The order decides only how long the search takes.
    kept.sort_by(|a, b| density(b).total_cmp(&density(a)));
    kept
}

struct Tree<'a> {
    capacity: &'a [u128],
    /// Steps along each resource.
    steps: u128,
    /// How far apart neighbours along each resource are in the table.
    columns: Vec<usize>,
    table: Vec<u128>,
    directions: Vec<Direction>,
    tasks: Vec<Task>,
    claimed: u128,
    nodes: u64,
}

impl Tree<'_> {
    fn in_steps(&self, r: usize, amount: u128) -> usize {
        (amount * (self.steps - 1)).checked_div(self.capacity[r]).unwrap_or(0) as usize
    }

    fn tabulate(&mut self) {
        let (m, steps) = (self.capacity.len(), self.steps as usize);
        self.columns = (0..m).map(|r| steps.pow(r as u32)).collect();
        let mut table = vec![0u128; steps.pow(m as u32)];
        for task in &self.tasks {
            let sizes: Vec<usize> = (0..m).map(|r| self.in_steps(r, task.demand[r])).collect();
            if sizes.iter().all(|size| *size == 0) {
                for direction in &mut self.directions {
                    direction.best_left_out = direction.better(task, direction.best_left_out);
                }
                continue;
            }
            let offset: usize = sizes.iter().zip(&self.columns).map(|(size, column)| size * column).sum();
            // Cells are visited in rising order, so a task may be used again and again.
            let mut at = sizes.clone();
            'cells: loop {
                let first: usize = at.iter().zip(&self.columns).map(|(at, column)| at * column).sum();
                // A run along the first resource.
                for cell in first..first + steps - sizes[0] {
                    table[cell] = table[cell].max(table[cell - offset] + u128::from(task.value));
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
        self.table = table;
    }

    /// Whether nothing that fits in `room` is worth more than `slack`, by the table.
    fn is_enough(&self, room: &[u128], slack: u128) -> bool {
        let cell: usize = (0..room.len()).map(|r| self.in_steps(r, room[r]) * self.columns[r]).sum();
        let Some(slack) = slack.checked_sub(self.table[cell]) else { return false };
        let left_out = |direction: &Direction| (direction.size(room), direction.best_left_out);
        self.directions.iter().map(left_out).any(|(size, best)| is_at_most(size, best, slack))
    }

    /// Adds tasks from `start` on to `depth` tasks worth `worth` that leave `room`.
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
            let task = &self.tasks[j];
            if !task.demand.iter().zip(room.iter()).all(|(d, c)| d <= c) {
                continue;
            }
            let with = worth + u128::from(task.value);
            if with > self.claimed {
                return Outcome::Exceeded;
            }
            room.iter_mut().zip(&task.demand).for_each(|(room, d)| *room -= d);
            let outcome = if self.is_enough(room, self.claimed - with) {
                Outcome::Proved
            } else if self.nodes >= NODES || depth >= DEPTH {
                Outcome::TooLong
            } else {
                self.search(j, room, with, depth + 1)
            };
            let demand = &self.tasks[j].demand;
            room.iter_mut().zip(demand).for_each(|(room, d)| *room += d);
            if outcome != Outcome::Proved {
                return outcome;
            }
        }
        Outcome::Proved
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
