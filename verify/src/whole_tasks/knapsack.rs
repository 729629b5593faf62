//! Whether one server can hold tasks worth more than is claimed: all contents that might be are tried, in whole numbers.
//!
//! What fits in some room is worth at most what a table says, in which room and tasks are measured in coarse steps, both
//! rounded down: contents that fit in truth fit there too. Tasks smaller than a step of every resource count apart, each
//! resource bounding them by the best value per unit.

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

/// Entries of a table, nodes of a search.
const CELLS: f64 = 65_536.0;
const NODES: u64 = 100_000_000;

/// Whether no tasks that fit on `server` are together worth more than `claimed`.
pub(super) fn prove(server: &Server<'_>, claimed: u64) -> Outcome {
    let tasks = Tree::useful(server);
    // More tasks than this fit nowhere, so no sum below can pass 2^128.
    let steps = CELLS.powf(1.0 / server.capacity.len().max(1) as f64) as u128;
    let mut tree = Tree {
        capacity: server.capacity,
        steps: steps.max(2),
        columns: Vec::new(),
        table: Vec::new(),
        small: Vec::new(),
        tasks,
        claimed: u128::from(claimed),
        nodes: 0,
    };
    tree.tabulate();
    let mut room = server.capacity.to_vec();
    tree.search(0, &mut room, 0)
}

struct Tree<'a> {
    capacity: &'a [u128],
    /// Steps along each resource.
    steps: u128,
    /// How far apart neighbours along each resource are in the table.
    columns: Vec<usize>,
    table: Vec<u128>,
    /// Of each resource the best `value / demand` of the small tasks; none if one of them takes nothing of it.
    small: Vec<Option<(u128, u128)>>,
    tasks: Vec<Task>,
    claimed: u128,
    nodes: u64,
}

impl Tree<'_> {
    /// The tasks that fit, without those that copies of another can replace at no less worth; the most worth for their
    /// size first.
    fn useful(server: &Server<'_>) -> Vec<Task> {
        let fits = |task: &&Task| task.demand.iter().zip(server.capacity).all(|(d, c)| d <= c);
        let all: Vec<&Task> = server.tasks.iter().filter(fits).collect();
        let replaces = |one: &Task, other: &Task| {
            let parts = one.demand.iter().zip(&other.demand).filter(|(d, _)| **d > 0);
            let copies = parts.map(|(d, room)| room / d).min().unwrap_or(0);
            copies > 0 && copies.saturating_mul(u128::from(one.value)) >= u128::from(other.value)
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

    fn in_steps(&self, r: usize, amount: u128) -> usize {
        let capacity = self.capacity[r];
        // Amounts are below 2^96 where they are checked, and steps few.
        if capacity == 0 { 0 } else { (amount * (self.steps - 1) / capacity) as usize }
    }

    fn tabulate(&mut self) {
        let (m, steps) = (self.capacity.len(), self.steps as usize);
        self.columns = (0..m).map(|r| steps.pow(r as u32)).collect();
        let mut table = vec![0u128; steps.pow(m as u32)];
        let mut small: Vec<Option<(u128, u128)>> = vec![Some((0, 1)); m];
        for task in &self.tasks {
            let sizes: Vec<usize> = (0..m).map(|r| self.in_steps(r, task.demand[r])).collect();
            let value = u128::from(task.value);
            if sizes.iter().all(|size| *size == 0) {
                for (best, demand) in small.iter_mut().zip(&task.demand) {
                    *best = match *best {
                        Some((over, under)) if *demand > 0 => {
                            let is_better = fairplan_instances::compare_ratios((value, *demand), (over, under));
                            Some(if is_better.is_gt() { (value, *demand) } else { (over, under) })
                        }
                        _ => None,
                    };
                }
                continue;
            }
            let offset: usize = sizes.iter().zip(&self.columns).map(|(size, column)| size * column).sum();
            // Cells are visited in rising order, so a task may be used again and again.
            let mut at = sizes.clone();
            'cells: loop {
                let cell: usize = at.iter().zip(&self.columns).map(|(at, column)| at * column).sum();
                // A run along the first resource.
                for cell in cell..cell + steps - sizes[0] {
                    let with = table[cell - offset] + value;
                    if with > table[cell] {
                        table[cell] = with;
                    }
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
        (self.table, self.small) = (table, small);
    }

    /// Nothing that fits in `room` is worth more.
    fn bound(&self, room: &[u128]) -> u128 {
        let cell: usize = (0..room.len()).map(|r| self.in_steps(r, room[r]) * self.columns[r]).sum();
        let small = room.iter().zip(&self.small).filter_map(|(room, best)| {
            let (value, demand) = (*best)?;
            Some(room.saturating_mul(value) / demand)
        });
        self.table[cell].saturating_add(small.min().unwrap_or(0))
    }

    /// Adds tasks from `start` on to contents worth `worth` that leave `room`.
    fn search(&mut self, start: usize, room: &mut [u128], worth: u128) -> Outcome {
        self.nodes += 1;
        for j in start..self.tasks.len() {
            let task = &self.tasks[j];
            if !task.demand.iter().zip(room.iter()).all(|(d, c)| d <= c) {
                continue;
            }
            let with = worth + u128::from(task.value);
            if with > self.claimed {
                return Outcome::Exceeded;
            }
            room.iter_mut().zip(&task.demand).for_each(|(room, d)| *room -= d);
            let outcome = if with.saturating_add(self.bound(room)) <= self.claimed {
                Outcome::Proved
            } else if self.nodes >= NODES {
                Outcome::TooLong
            } else {
                self.search(j, room, with)
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
    fn tasks_smaller_than_every_step_are_counted() {
        let tasks = vec![
            Task { value: 1, demand: vec![1, 0] },
            Task { value: 2_000_000, demand: vec![700_000, 700_000] },
        ];
        let server = Server { capacity: &[1_000_000, 1_000_000], tasks };
        assert_eq!(prove(&server, 2_300_000), Outcome::Proved);
        assert_eq!(prove(&server, 2_299_999), Outcome::Exceeded);
    }
}
