//! What is left to decide: the quanta in which not everybody can have everything, and who gets what in them.

use fairplan_instances::OfflineProblem;

/// The congested quanta, and how they are served. What users get whatever is decided here is in `base`: their
/// guaranteed shares, and all they demand in the other quanta.
pub(super) struct Flow {
    /// By user; 0 for who demands nothing and does not count.
    pub whole_weights: Vec<u64>,
    pub weights: Vec<f64>,
    pub base: Vec<u64>,
    /// `base` and what is given here, by user.
    pub totals: Vec<f64>,
    pub quanta: Vec<Congested>,
    /// By entry, the demands of the congested quanta one after the other: who, at most how much, and how much.
    pub users: Vec<u32>,
    pub room: Vec<f64>,
    pub given: Vec<f64>,
}

/// A quantum in which more is demanded than there is.
pub(super) struct Congested {
    /// Its position in the series.
    quantum: u32,
    /// Where its entries end.
    pub end: usize,
    /// Slices to be divided, less than all its room.
    pub free: f64,
    /// The level to which its users were raised last.
    pub level: f64,
}

/// The entries of each user.
pub(super) struct ByUser {
    ends: Vec<usize>,
    /// How many congested quanta there are.
    pub congested: usize,
    /// The congested quantum of each, and the entry in it.
    pub quanta: Vec<u32>,
    pub entries: Vec<usize>,
}

impl Flow {
    /// The congested quanta of a problem, each filled in proportion to the room of its entries.
    pub fn new(problem: &OfflineProblem<'_>) -> Self {
        let series = problem.series;
        let whole_weights = problem.weights();
        let mut flow = Self {
            weights: whole_weights.iter().map(|weight| *weight as f64).collect(),
            whole_weights,
            base: vec![0; series.user_count()],
            totals: Vec::new(),
            quanta: Vec::new(),
            users: Vec::new(),
            room: Vec::new(),
            given: Vec::new(),
        };
        problem.for_each_quantum(|quantum, due, guaranteed| {
            let (users, slices) = series.demands(quantum);
            let demanded: u128 = slices.iter().map(|slices| u128::from(*slices)).sum();
            let congested = demanded > u128::from(due.capacity());
            let sure = if congested { guaranteed } else { slices };
            for (user, sure) in users.iter().zip(sure) {
                flow.base[*user as usize] += sure;
            }
            if congested {
                let free = (due.capacity() - guaranteed.iter().sum::<u64>()) as f64;
                flow.users.extend(users);
                flow.room.extend(slices.iter().zip(guaranteed).map(|(slices, sure)| (slices - sure) as f64));
                let start = flow.given.len();
                let all: f64 = flow.room[start..].iter().sum();
                flow.given.extend(flow.room[start..].iter().map(|room| room * (free / all)));
                let end = flow.users.len();
                flow.quanta.push(Congested { quantum: quantum as u32, end, free, level: 0.0 });
            }
        });
        flow.totals = flow.base.iter().map(|base| *base as f64).collect();
        flow.sum();
        flow
    }

    /// The entries of a congested quantum.
    pub fn entries(&self, position: usize) -> std::ops::Range<usize> {
        let start = if position == 0 { 0 } else { self.quanta[position - 1].end };
        start..self.quanta[position].end
    }

    /// Sums the totals anew.
    pub fn sum(&mut self) {
        for (total, base) in self.totals.iter_mut().zip(&self.base) {
            *total = *base as f64;
        }
        for (user, given) in self.users.iter().zip(&self.given) {
            self.totals[*user as usize] += given;
        }
    }

    /// The entries of each user.
    pub fn by_user(&self) -> ByUser {
        let mut ends = vec![0; self.base.len()];
        for user in &self.users {
            ends[*user as usize] += 1;
        }
        let mut next = 0;
        for end in &mut ends {
            (*end, next) = (next, next + *end);
        }
        // Each end starts where the entries begin and moves on as they are put down.
        let mut quanta = vec![0; self.users.len()];
        let mut entries = vec![0; self.users.len()];
        for position in 0..self.quanta.len() {
            for entry in self.entries(position) {
                let at = &mut ends[self.users[entry] as usize];
                quanta[*at] = position as u32;
                entries[*at] = entry;
                *at += 1;
            }
        }
        ByUser { ends, congested: self.quanta.len(), quanta, entries }
    }

    /// Shrinks what is given by a hair where sums of doubles may exceed the slices that there are.
    pub fn fit(&mut self) {
        for position in 0..self.quanta.len() {
            let entries = self.entries(position);
            let free = self.quanta[position].free;
            let slack = 1.0 - 4.0 * f64::EPSILON * entries.len() as f64;
            let sum: f64 = self.given[entries.clone()].iter().sum();
            let part = (free / sum).min(1.0) * slack;
            self.given[entries].iter_mut().for_each(|given| *given *= part);
        }
        self.sum();
    }

    /// What each demand of the series is allocated.
    pub fn allocated(&self, problem: &OfflineProblem<'_>) -> Vec<f64> {
        let mut allocated = Vec::with_capacity(problem.series.entry_count());
        let mut next = 0;
        problem.for_each_quantum(|quantum, _, guaranteed| match self.quanta.get(next) {
            Some(congested) if congested.quantum as usize == quantum => {
                let given = &self.given[self.entries(next)];
                allocated.extend(guaranteed.iter().zip(given).map(|(sure, given)| *sure as f64 + given));
                next += 1;
            }
            _ => allocated.extend(problem.series.demands(quantum).1.iter().map(|slices| *slices as f64)),
        });
        allocated
    }
}

impl ByUser {
    /// The entries of a user, as positions in `quanta` and `entries`.
    pub fn of(&self, user: usize) -> std::ops::Range<usize> {
        let start = if user == 0 { 0 } else { self.ends[user - 1] };
        start..self.ends[user]
    }
}
