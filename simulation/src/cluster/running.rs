//! Tasks that run, and when they end.

use fairplan_instances::trace::JobNumber;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How long a task runs that goes on to the end of the run.
pub(super) const FOREVER: u64 = u64::MAX;

/// A task on a server.
#[derive(Clone, Copy)]
pub(super) struct Task {
    pub user: u32,
    pub shape: u32,
    pub job: JobNumber,
    pub duration: u64,
    pub server: u32,
    /// Which devices it has there, by the number of who placed it.
    pub devices: u32,
    /// The gang that it is of, by how many began before; its tasks run together or not at all.
    pub gang: Option<u64>,
    /// How many tasks began before it.
    pub number: u64,
}

/// All tasks that run.
#[derive(Default)]
pub(super) struct Running {
    /// Those of servers that left are out of `tasks` but still in `ends`.
    tasks: Vec<Option<Task>>,
    vacant: Vec<u32>,
    /// End, number and position of each task.
    ends: BinaryHeap<Reverse<(u64, u64, u32)>>,
    begun: u64,
}

impl Running {
    /// A task begins.
    pub fn begin(&mut self, now: u64, mut task: Task) {
        task.number = self.begun;
        self.begun += 1;
        let position = match self.vacant.pop() {
            Some(position) => {
                self.tasks[position as usize] = Some(task);
                position
            }
            None => {
                self.tasks.push(Some(task));
                (self.tasks.len() - 1) as u32
            }
        };
        if task.duration < FOREVER {
            self.ends.push(Reverse((now.saturating_add(task.duration), task.number, position)));
        }
    }

    /// Whether any task runs.
    pub fn are_any(&self) -> bool {
        self.tasks.iter().any(Option::is_some)
    }

    /// When the next task ends.
    pub fn next_end(&mut self) -> Option<u64> {
        while let Some(Reverse((end, number, position))) = self.ends.peek() {
            if self.is_there(*number, *position) {
                return Some(*end);
            }
            self.ends.pop();
        }
        None
    }

    fn is_there(&self, number: u64, position: u32) -> bool {
        self.tasks[position as usize].is_some_and(|task| task.number == number)
    }

    /// The next task that ends no later than `now`; tasks that end together do so in the order in which they began.
    pub fn end(&mut self, now: u64) -> Option<Task> {
        if self.next_end()? > now {
            return None;
        }
        let Reverse((_, _, position)) = self.ends.pop()?;
        self.remove(position)
    }

    fn remove(&mut self, position: u32) -> Option<Task> {
        let task = self.tasks[position as usize].take();
        self.vacant.push(position);
        task
    }

    /// Takes the task off a server that began last.
    pub fn evict_last(&mut self, server: u32) -> Option<Task> {
        let here = |task: &Option<Task>| task.filter(|task| task.server == server).map(|task| task.number);
        let numbers =
            self.tasks.iter().enumerate().filter_map(|(position, task)| Some((here(task)?, position)));
        let (_, position) = numbers.max()?;
        self.remove(position as u32)
    }

    /// Takes the tasks of a gang off their servers, in the order in which they began.
    pub fn evict_gang(&mut self, gang: u64) -> Vec<Task> {
        self.evict(|task| task.gang == Some(gang))
    }

    /// Takes all tasks off a server, in the order in which they began.
    pub fn evict_all(&mut self, server: u32) -> Vec<Task> {
        self.evict(|task| task.server == server)
    }

    fn evict(&mut self, is_one: impl Fn(&Task) -> bool) -> Vec<Task> {
        let here = |position: &usize| self.tasks[*position].as_ref().is_some_and(&is_one);
        let positions: Vec<usize> = (0..self.tasks.len()).filter(here).collect();
        let mut evicted: Vec<Task> =
            positions.into_iter().filter_map(|position| self.remove(position as u32)).collect();
        evicted.sort_unstable_by_key(|task| task.number);
        evicted
    }
}
