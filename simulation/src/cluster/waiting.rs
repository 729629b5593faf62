//! Tasks that wait: of each user a queue for every shape, the oldest tasks first.
//!
//! A shape that was found to fit nowhere is closed. It is opened again only when room has come free on a server where it
//! fits, and then fits on no others, so that a round does not ask again what it knows. Gangs and tasks that are spread ask of several
//! servers at once: once opened they may fit anywhere, and what is spread is opened whenever room comes free.

use super::servers::{Servers, fits};
use fairplan_instances::trace::JobNumber;
use fairplan_instances::{Gang, TaskRules};
use hashbrown::HashMap;
use std::collections::VecDeque;

/// Identical tasks of one job that wait together.
#[derive(Clone, Copy)]
pub(super) struct Batch {
    pub job: JobNumber,
    pub duration: u64,
    pub count: u32,
    /// Older batches have lower numbers.
    pub order: u64,
}

/// One user's waiting tasks of one shape.
struct Queue {
    user: u32,
    shape: u32,
    /// Where its shape lists it.
    place: usize,
    batches: VecDeque<Batch>,
}

/// The queues of a shape.
#[derive(Default)]
struct Kind {
    queues: Vec<u32>,
    /// Where it is among the shapes that wait.
    place: usize,
    /// Where it is among the open ones.
    open: Option<usize>,
    /// Whether it has not been closed since tasks of it began to wait: then it may fit anywhere.
    fresh: bool,
    /// So many tasks start at once.
    gang: Option<Gang>,
    is_spread: bool,
}

impl Kind {
    /// Whether it may fit on servers on which no room has come free.
    fn may_fit_anywhere(&self) -> bool {
        self.fresh || self.gang.is_some() || self.is_spread
    }
}

/// All queues.
pub(super) struct Waiting {
    width: usize,
    queues: Vec<Queue>,
    vacant: Vec<u32>,
    numbers: HashMap<(u32, u32), u32>,
    kinds: Vec<Kind>,
    /// The shapes of which tasks wait, and what these need; row-major.
    present: Vec<u32>,
    demands: Vec<u64>,
    /// What all tasks that wait need together.
    needed: Vec<u128>,
    /// The shapes that may fit somewhere.
    open: Vec<u32>,
    orders: u64,
}

impl Waiting {
    /// Nothing waits.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            queues: Vec::new(),
            vacant: Vec::new(),
            numbers: HashMap::new(),
            kinds: Vec::new(),
            present: Vec::new(),
            demands: Vec::new(),
            needed: vec![0; width],
            open: Vec::new(),
            orders: 0,
        }
    }

    /// Adds the next shape.
    pub fn add_shape(&mut self, rules: TaskRules) {
        self.kinds.push(Kind { gang: rules.gang, is_spread: rules.spread.is_some(), ..Kind::default() });
    }

    /// How many tasks of a shape start at once; `None`: each starts for itself.
    pub fn gang(&self, shape: u32) -> Option<Gang> {
        self.kinds[shape as usize].gang
    }

    /// Tasks of a user begin to wait.
    pub fn push(&mut self, user: u32, shape: u32, demand: &[u64], job: JobNumber, duration: u64, count: u32) {
        let batch = Batch { job, duration, count, order: self.orders };
        self.orders += 1;
        let needed = self.needed.iter_mut().zip(demand);
        needed.for_each(|(needed, demand)| *needed += u128::from(count) * u128::from(*demand));
        let number = match self.numbers.get(&(user, shape)) {
            Some(number) => *number,
            None => self.add_queue(user, shape, demand),
        };
        self.queues[number as usize].batches.push_back(batch);
    }

    fn add_queue(&mut self, user: u32, shape: u32, demand: &[u64]) -> u32 {
        let kind = &mut self.kinds[shape as usize];
        if kind.queues.is_empty() {
            kind.place = self.present.len();
            (kind.open, kind.fresh) = (Some(self.open.len()), true);
            self.present.push(shape);
            self.demands.extend_from_slice(demand);
            self.open.push(shape);
        }
        let place = kind.queues.len();
        let number = match self.vacant.pop() {
            Some(number) => {
                let queue = &mut self.queues[number as usize];
                (queue.user, queue.shape, queue.place) = (user, shape, place);
                number
            }
            None => {
                self.queues.push(Queue { user, shape, place, batches: VecDeque::new() });
                (self.queues.len() - 1) as u32
            }
        };
        kind.queues.push(number);
        self.numbers.insert((user, shape), number);
        number
    }

    /// Takes the oldest task out of a queue; the batch it came from.
    pub fn pop(&mut self, queue: u32) -> Option<Batch> {
        let Queue { user, shape, place, batches } = &mut self.queues[queue as usize];
        let batch = batches.front_mut()?;
        let popped = *batch;
        batch.count -= 1;
        let kind = self.kinds[*shape as usize].place;
        let needed = self.needed.iter_mut().zip(&self.demands[kind * self.width..]);
        needed.for_each(|(needed, demand)| *needed -= u128::from(*demand));
        if batch.count == 0 {
            batches.pop_front();
            if batches.is_empty() {
                let (user, shape, place) = (*user, *shape, *place);
                self.remove_queue(queue, user, shape, place);
            }
        }
        Some(popped)
    }

    fn remove_queue(&mut self, number: u32, user: u32, shape: u32, place: usize) {
        self.numbers.remove(&(user, shape));
        self.vacant.push(number);
        let kind = &mut self.kinds[shape as usize];
        kind.queues.swap_remove(place);
        if let Some(moved) = kind.queues.get(place) {
            self.queues[*moved as usize].place = place;
        }
        if kind.queues.is_empty() {
            let place = kind.place;
            self.close(shape);
            self.present.swap_remove(place);
            let last = self.demands.len() - self.width;
            self.demands.copy_within(last.., place * self.width);
            self.demands.truncate(last);
            if let Some(moved) = self.present.get(place) {
                self.kinds[*moved as usize].place = place;
            }
        }
    }

    /// Room has come free on a server that now has `free`: shapes that fit there are opened.
    pub fn open_fitting(&mut self, free: &[u64]) {
        for (shape, demand) in self.present.iter().zip(self.demands.chunks_exact(self.width)) {
            let kind = &mut self.kinds[*shape as usize];
            if kind.open.is_none() && (kind.is_spread || fits(demand, free)) {
                kind.open = Some(self.open.len());
                self.open.push(*shape);
            }
        }
    }

    /// A shape fits nowhere.
    pub fn close(&mut self, shape: u32) {
        let kind = &mut self.kinds[shape as usize];
        if let Some(place) = kind.open.take() {
            kind.fresh = false;
            self.open.swap_remove(place);
            if let Some(moved) = self.open.get(place) {
                self.kinds[*moved as usize].open = Some(place);
            }
        }
    }

    /// Closes shapes that are not fresh and fit on none of these servers.
    pub fn close_unfit(&mut self, servers: &Servers, among: &[u32]) {
        let mut place = 0;
        while let Some(shape) = self.open.get(place).copied() {
            let kind = &self.kinds[shape as usize];
            let demand = &self.demands[kind.place * self.width..(kind.place + 1) * self.width];
            if kind.may_fit_anywhere() || among.iter().any(|server| fits(demand, servers.free(*server))) {
                place += 1;
            } else {
                self.close(shape);
            }
        }
    }

    /// Whether a shape may fit anywhere, not only where room has come free.
    pub fn is_fresh(&self, shape: u32) -> bool {
        self.kinds[shape as usize].may_fit_anywhere()
    }

    /// Whether any shape may fit somewhere.
    pub fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The queues of open shapes with their users.
    pub fn offers(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let queues = self.open.iter().flat_map(|shape| &self.kinds[*shape as usize].queues);
        queues.map(|queue| (self.queues[*queue as usize].user, *queue))
    }

    /// How old the oldest task of a queue is, unless it is empty or its shape is closed.
    pub fn age(&self, queue: u32) -> Option<u64> {
        let Queue { shape, batches, .. } = &self.queues[queue as usize];
        let head = batches.front()?;
        self.kinds[*shape as usize].open.map(|_| head.order)
    }

    /// The shape of a queue.
    pub fn shape(&self, queue: u32) -> u32 {
        self.queues[queue as usize].shape
    }

    /// What all tasks that wait need together.
    pub fn needed(&self) -> &[u128] {
        &self.needed
    }

    /// Of each shape of which tasks wait: the tasks of all users.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.present.iter().map(|shape| {
            let queues = &self.kinds[*shape as usize].queues;
            let batches = queues.iter().flat_map(|queue| &self.queues[*queue as usize].batches);
            (*shape, batches.map(|batch| u64::from(batch.count)).sum())
        })
    }
}
