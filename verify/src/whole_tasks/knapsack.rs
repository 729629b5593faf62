//! Whether one server can hold tasks worth more than is claimed: all contents that might be are tried, in whole numbers.
//!
//! What fits in some room is worth at most what a table says, in which room and tasks are measured in coarse steps, both
//! rounded down: contents that fit in truth fit there too. Tasks smaller than a step of every resource count there as if
//! they could be divided. It is also worth at most the size of the room times the best worth per size of a task, whatever
//! weights measure the size. Where a server has devices, they make further resources, which the table does not know, and
//! contents that do not fit them count for nothing; what they hold at most if nothing else counts often tells before anything is searched.

use super::inside::Inside;
use super::mixes::{Direction, Nearly, balanced, mixes_with_rows, tightest};
use super::task::Task;
use fairplan_instances::Deadline;

/// A server and the tasks that may run on it.
pub(super) struct Server<'a> {
    /// What it has of each resource; last of those that its devices make.
    pub capacity: &'a [u128],
    /// Its devices.
    pub inside: Inside,
    /// What may be put on it.
    pub tasks: Vec<Task>,
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

/// Resources up to which there is a table, entries of a table, tasks on one server; nodes of a search, at first and in the end;
/// nodes between two looks at the clock.
const TABULATED: usize = 16;
const CELLS: f64 = 65_536.0;
const FIRST_NODES: u64 = 100_000;
const NODES: u64 = 100_000_000;
const DEPTH: usize = 4_000;
const BETWEEN_LOOKS: u64 = 4_096;

/// Orders in which the tasks are tried.
const ORDERS: usize = 2;

/// Whether no tasks that fit on `server` are together worth more than `claimed`. Amounts are below 2^62.
pub(super) fn prove(server: &Server<'_>, claimed: u64, stop: &Deadline) -> Outcome {
    if stop.is_over() {
        return Outcome::TooLong;
    }
    let claimed = u128::from(claimed);
    // Of most servers one measure of size tells, before anything else is worked out.
    let tasks = fitting(server);
    let nearly = Nearly::new(server.capacity, &tasks);
    let tabulated = server.capacity.len() - server.inside.rows;
    let mix = tightest(&nearly, &mixes_with_rows(tabulated, server.inside.rows));
    let direction = Direction::new(server.capacity, &mix, &tasks);
    if is_at_most(direction.size(server.capacity), direction.best_from[0], claimed) {
        return Outcome::Proved;
    }
    if server.inside.most_on_devices(&tasks).is_some_and(|most| most <= claimed) {
        return Outcome::Proved;
    }
    Contents::new(server).are_worth_at_most(server.capacity, claimed, stop)
}

/// What fits in any room of a server: asked again and again, the table is made once.
pub(super) struct Contents<'a>(Tree<'a>);

impl<'a> Contents<'a> {
    pub fn new(server: &Server<'a>) -> Self {
        let tasks = useful(server);
        let tabulated = server.capacity.len() - server.inside.rows;
        let steps = CELLS.powf(1.0 / tabulated.max(1) as f64).round().max(2.0) as u128;
        let mut mixes = mixes_with_rows(tabulated, server.inside.rows);
        let nearly = Nearly::new(server.capacity, &tasks);
        // Asked first, since they mostly tell.
        let orders = [balanced(&nearly, &mixes), tightest(&nearly, &mixes)];
        mixes.splice(0..0, orders);
        let mut tree = Tree {
            capacity: server.capacity,
            inside: server.inside.clone(),
            chosen: Vec::new(),
            tabulated,
            steps,
            columns: Vec::new(),
            table: Vec::new(),
            margin: 0,
            mixes,
            order: 0,
            directions: Vec::new(),
            changing: Vec::new(),
            tasks,
            claimed: 0,
            nodes: 0,
            most_nodes: 0,
        };
        tree.arrange(0);
        Self(tree)
    }

    /// Whether no tasks that fit in `room`, which is no larger than the server, are together worth more than `claimed`.
    pub fn are_worth_at_most(&mut self, room: &[u128], claimed: u128, stop: &Deadline) -> Outcome {
        let tree = &mut self.0;
        tree.claimed = claimed;
        tree.chosen.clear();
        if tree.is_bounded(room) {
            return Outcome::Proved;
        }
        if tree.table.is_empty() {
            tree.tabulate();
        }
        if tree.is_enough(room, claimed) {
            return Outcome::Proved;
        }
        tree.most_nodes = FIRST_NODES;
        loop {
            // The order decides only how long the search takes, and by which it is short nobody knows before.
            for _ in 0..ORDERS {
                tree.nodes = 0;
                let mut sizes: Vec<u64> =
                    tree.directions.iter().map(|direction| direction.size(room)).collect();
                let outcome = tree.search(0, &mut room.to_vec(), &mut sizes, 0, stop);
                if outcome != Outcome::TooLong || stop.is_over() {
                    return outcome;
                }
                tree.chosen.clear();
                tree.arrange((tree.order + 1) % ORDERS);
            }
            if tree.most_nodes >= NODES {
                return Outcome::TooLong;
            }
            tree.most_nodes *= 10;
        }
    }

    /// Of each direction: the weight of every resource, and the most that a task is worth for its size, `(worth, size)`.
    pub fn directions(&self) -> impl Iterator<Item = (&[u128], (u128, u128))> {
        self.0.directions.iter().map(|direction| {
            let (worth, size) = direction.best_from[0];
            (&direction.weights[..], (worth.into(), size.into()))
        })
    }
}

/// The tasks that fit.
fn fitting(server: &Server<'_>) -> Vec<Task> {
    let fits = |task: &&Task| task.demand.iter().zip(server.capacity).all(|(d, c)| d <= c);
    server.tasks.iter().filter(fits).cloned().collect()
}

/// The tasks that fit, without those that copies of another can replace at no less worth. Whatever measures size, the other is worth
/// no less for it: so it comes first by one measure.
fn useful(server: &Server<'_>) -> Vec<Task> {
    let all = fitting(server);
    let resources = server.capacity.len() - server.inside.rows;
    let on_devices = |one: &Task, other: &Task| server.inside.in_place(other, one);
    let replaces = |one: &Task, other: &Task| {
        // Mostly not one copy fits, which is seen without dividing.
        let parts = || one.demand[..resources].iter().zip(&other.demand);
        let fits_once = parts().all(|(d, room)| d <= room);
        let copies = || {
            let copies = parts().filter(|(d, _)| **d > 0).map(|(d, room)| room / d).min().unwrap_or(0);
            copies.min(on_devices(one, other))
        };
        // What a server takes only so many of may be all there already.
        fits_once
            && one.most.is_none()
            && copies().saturating_mul(u128::from(one.value)) >= u128::from(other.value)
    };
    let even = vec![1; server.capacity.len()];
    let mut kept: Vec<Task> = Vec::new();
    for task in by_density(&Nearly::new(server.capacity, &all), &even, all) {
        if !kept.iter().any(|other| replaces(other, &task)) {
            kept.push(task);
        }
    }
    kept
}

/// Tasks in the order of what they are worth for their size, the most first.
fn by_density(nearly: &Nearly, mix: &[u128], tasks: Vec<Task>) -> Vec<Task> {
    let mut by_density: Vec<(f64, Task)> = nearly.densities(mix).zip(tasks).collect();
    by_density.sort_by(|a, b| b.0.total_cmp(&a.0));
    by_density.into_iter().map(|(_, task)| task).collect()
}

struct Tree<'a> {
    capacity: &'a [u128],
    inside: Inside,
    /// Which tasks are on the server, and how many of each.
    chosen: Vec<(usize, u64)>,
    /// The resources that the table knows.
    tabulated: usize,
    /// Steps along each resource.
    steps: u128,
    /// How far apart neighbours along each resource are in the table.
    columns: Vec<usize>,
    table: Vec<u128>,
    /// What tasks smaller than a step can be worth beside the table.
    margin: u128,
    /// How the directions weigh resources; tasks are in the order of one of the first [`ORDERS`].
    mixes: Vec<Vec<u128>>,
    order: usize,
    directions: Vec<Direction>,
    /// From each task on, the directions that have another best task than from the one before on.
    changing: Vec<Vec<usize>>,
    tasks: Vec<Task>,
    claimed: u128,
    nodes: u64,
    most_nodes: u64,
}

impl Tree<'_> {
    /// Puts the tasks into the order of one of the mixes.
    fn arrange(&mut self, order: usize) {
        let tasks = std::mem::take(&mut self.tasks);
        let nearly = Nearly::new(self.capacity, &tasks);
        let tasks = by_density(&nearly, &self.mixes[order], tasks);
        let direction = |mix: &Vec<u128>| Direction::new(self.capacity, mix, &tasks);
        let directions: Vec<Direction> = self.mixes.iter().map(direction).collect();
        let changes =
            |d: &usize, j: usize| j > 0 && directions[*d].best_from[j] != directions[*d].best_from[j - 1];
        let changing =
            (0..tasks.len()).map(|j| (0..directions.len()).filter(|d| changes(d, j)).collect()).collect();
        (self.order, self.directions, self.changing, self.tasks) = (order, directions, changing, tasks);
    }

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
        if self.tabulated > TABULATED {
            self.margin = u128::MAX >> 1;
            return;
        }
        let (m, steps) = (self.tabulated, self.steps as usize);
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
            let [worth, size] = [worth, size].map(u128::from);
            let of_step = |(weight, c): (&u128, &u128)| {
                let step = (weight * c).div_ceil(self.steps - 1);
                (size > 0).then(|| (worth * step).div_ceil(size))
            };
            direction.weights.iter().zip(self.capacity).map(of_step).collect::<Option<Vec<u128>>>()
        };
        let is_known = |direction: &&Direction| direction.weights[m..].iter().all(|weight| *weight == 0);
        let candidates = self.directions.iter().filter(is_known).filter_map(of_steps);
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
        let cell: usize = (0..self.tabulated).map(|r| self.in_steps(r, room[r]) * self.columns[r]).sum();
        self.table[cell] + self.margin <= slack
    }

    /// Adds tasks from `start` on to those chosen, which are worth `worth` and leave `room`, of these sizes in all directions.
    fn search(
        &mut self,
        start: usize,
        room: &mut [u128],
        sizes: &mut [u64],
        worth: u128,
        stop: &Deadline,
    ) -> Outcome {
        self.nodes += 1;
        if self.nodes.is_multiple_of(BETWEEN_LOOKS) && stop.is_over() {
            return Outcome::TooLong;
        }
        let slack = self.claimed - worth;
        for j in start..self.tasks.len() {
            // Whoever comes here has seen that no direction bounds all from the first on.
            let bounds = |d: &usize| is_at_most(sizes[*d], self.directions[*d].best_from[j], slack);
            if j > start && self.changing[j].iter().any(bounds) {
                return Outcome::Proved;
            }
            let parts = self.tasks[j].demand.iter().zip(room.iter()).filter(|(d, _)| **d > 0);
            let mut count = parts.map(|(d, room)| room / d).min().unwrap_or(0);
            count = count.min(self.tasks[j].most.map_or(u128::MAX, u128::from));
            let value = u128::from(self.tasks[j].value);
            while count > 0 {
                if count.saturating_mul(value) > slack {
                    if self.may_hold(j, count) {
                        return Outcome::Exceeded;
                    }
                    count -= 1;
                    continue;
                }
                let fewer = self.fewest_proved(j, sizes, slack, count);
                if fewer < count {
                    count = fewer;
                    continue;
                }
                let take = |(room, d): (&mut u128, &u128)| *room -= d * count;
                room.iter_mut().zip(&self.tasks[j].demand).for_each(take);
                let outcome = if self.is_enough(room, slack - count * value) {
                    Outcome::Proved
                } else if self.nodes >= self.most_nodes || self.chosen.len() >= DEPTH {
                    Outcome::TooLong
                } else if !self.may_hold(j, count) {
                    Outcome::Proved
                } else {
                    // So many fit, so they are no larger than the room.
                    let so_many = count as u64;
                    self.chosen.push((j, so_many));
                    let taken = |(size, direction): (&mut u64, &Direction)| {
                        *size -= direction.of_tasks[j] * so_many;
                    };
                    sizes.iter_mut().zip(&self.directions).for_each(taken);
                    let outcome = self.search(j + 1, room, sizes, worth + count * value, stop);
                    let given = |(size, direction): (&mut u64, &Direction)| {
                        *size += direction.of_tasks[j] * so_many;
                    };
                    sizes.iter_mut().zip(&self.directions).for_each(given);
                    self.chosen.pop();
                    outcome
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

    /// Whether so many of task `j` may fit on the devices beside what is there.
    fn may_hold(&self, j: usize, count: u128) -> bool {
        if !self.inside.concerns(&self.tasks[j].demand) {
            return true;
        }
        let chosen = self.chosen.iter().copied().chain([(j, count as u64)]);
        self.inside.may_hold(chosen.map(|(j, count)| (&self.tasks[j], count)))
    }

    /// How many of task `j` are left to look into, of at most `count` in room of these sizes: where a direction bounds
    /// what later tasks add to so many, it does so down to fewer.
    fn fewest_proved(&self, j: usize, sizes: &[u64], slack: u128, count: u128) -> u128 {
        let value = u128::from(self.tasks[j].value);
        let besides = slack - count * value;
        let mut left = count;
        for (direction, size) in self.directions.iter().zip(sizes) {
            let best = direction.best_from[j + 1];
            let own = direction.of_tasks[j];
            // So many fit, so they are no larger than the room.
            let rest = size - own * count as u64;
            if !is_at_most(rest, best, besides) {
                continue;
            }
            let [worth, of_size] = [best.0, best.1].map(u128::from);
            // With each one fewer the bound grows by this much, in parts of `of_size`.
            let (grows, falls) = (worth * u128::from(own), value * of_size);
            if grows <= falls {
                return 0;
            }
            // What is left to the first value that is too much.
            let spare = (besides + 1) * of_size - worth * u128::from(rest);
            left = left.min(count.saturating_sub(spare.div_ceil(grows - falls)));
        }
        left
    }
}

/// Whether room of some size holds no more than `slack`, at best a task's `(worth, size)` each.
fn is_at_most(size: u64, (worth, of_size): (u64, u64), slack: u128) -> bool {
    let most = u128::from(worth) * u128::from(size);
    // worth · size / of_size < slack + 1
    let is_below = || match u64::try_from(slack) {
        Ok(slack) => most < u128::from(slack) * u128::from(of_size) + u128::from(of_size),
        Err(_) => most < (slack + 1).saturating_mul(u128::from(of_size)),
    };
    of_size > 0 && is_below()
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
                    Task { value, demand, most: None, profile: None }
                })
                .collect();
            let largest = best(&tasks, capacity);
            let server = Server { capacity, inside: Inside::default(), tasks };
            prop_assert_eq!(prove(&server, largest, &Deadline::never()), Outcome::Proved);
            if largest > 0 {
                prop_assert_eq!(prove(&server, largest - 1, &Deadline::never()), Outcome::Exceeded);
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
                    Task { value, demand: demand.collect(), most: None, profile: None }
                })
                .collect();
            let largest = best(&tasks, capacity);
            let server = Server { capacity, inside: Inside::default(), tasks };
            prop_assert_eq!(prove(&server, largest, &Deadline::never()), Outcome::Proved);
            if largest > 0 {
                prop_assert_eq!(prove(&server, largest - 1, &Deadline::never()), Outcome::Exceeded);
            }
        }
    }

    fn task(value: u64, demand: [u128; 2]) -> Task {
        Task { value, demand: demand.to_vec(), most: None, profile: None }
    }

    #[test]
    fn what_there_is_no_time_for_is_not_proved() {
        let tasks = vec![task(5, [6, 5]), task(4, [5, 6])];
        let server = Server { capacity: &[16, 16], inside: Inside::default(), tasks };
        let late = Deadline::after(std::time::Duration::ZERO);
        assert_eq!(prove(&server, 10, &Deadline::never()), Outcome::Proved);
        assert_eq!(prove(&server, 10, &late), Outcome::TooLong);
    }

    #[test]
    fn small_tasks_of_different_resources_do_not_crowd_each_other_out() {
        let tasks = vec![task(1, [1, 0]), task(1, [0, 1])];
        let server = Server { capacity: &[1_000, 1_000], inside: Inside::default(), tasks };
        assert_eq!(prove(&server, 2_000, &Deadline::never()), Outcome::Proved);
        assert_eq!(prove(&server, 1_999, &Deadline::never()), Outcome::Exceeded);
    }

    #[test]
    fn tasks_smaller_than_every_step_are_counted() {
        let tasks = vec![task(1, [1, 0]), task(2_000, [700, 700])];
        let server = Server { capacity: &[1_000, 1_000], inside: Inside::default(), tasks };
        assert_eq!(prove(&server, 2_300, &Deadline::never()), Outcome::Proved);
        assert_eq!(prove(&server, 2_299, &Deadline::never()), Outcome::Exceeded);
    }
}
