//! The congested quanta, in which not everybody can have everything, and who gets what in them.

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

    /// Sums the totals anew: rounding errors of many rounds go.
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

    /// What each demand of the series is allocated: all of it, or in a congested quantum what `given` makes of its guaranteed
    /// share and its entry.
    pub fn amounts<T: From<u64>>(
        &self,
        problem: &OfflineProblem<'_>,
        given: impl Fn(u64, usize) -> T,
    ) -> Vec<T> {
        let mut amounts = Vec::with_capacity(problem.series.entry_count());
        let mut next = 0;
        problem.for_each_quantum(|quantum, _, guaranteed| match self.quanta.get(next) {
            Some(congested) if congested.quantum as usize == quantum => {
                let entries = guaranteed.iter().zip(self.entries(next));
                amounts.extend(entries.map(|(sure, entry)| given(*sure, entry)));
                next += 1;
            }
            _ => amounts.extend(problem.series.demands(quantum).1.iter().map(|slices| T::from(*slices))),
        });
        amounts
    }

    /// The same in doubles that add up to no more than there is.
    pub fn allocated(&self, problem: &OfflineProblem<'_>) -> Vec<f64> {
        let mut allocated = Vec::with_capacity(problem.series.entry_count());
        let mut next = 0;
        problem.for_each_quantum(|quantum, due, guaranteed| match self.quanta.get(next) {
            Some(congested) if congested.quantum as usize == quantum => {
                let given = &self.given[self.entries(next)];
                let start = allocated.len();
                allocated.extend(guaranteed.iter().zip(given).map(|(sure, given)| *sure as f64 + given));
                let demands = problem.series.demands(quantum).1;
                fit(&mut allocated[start..], demands, guaranteed, due.capacity());
                next += 1;
            }
            _ => allocated.extend(problem.series.demands(quantum).1.iter().map(|slices| *slices as f64)),
        });
        allocated
    }
}

/// Gives exactly the slices that there are, where sums of doubles are a hair off: what is missing goes to whoever has
/// most room, what is too much comes from whoever has most beyond what is guaranteed.
fn fit(amounts: &mut [f64], demands: &[u64], guaranteed: &[u64], capacity: u64) {
    // Exact: parts of 2^60, rounded up, of at most 10^11 slices each.
    const PARTS: f64 = (1u64 << 60) as f64;
    let used = |amounts: &[f64]| amounts.iter().map(|amount| (amount * PARTS).ceil() as u128).sum::<u128>();
    let capacity = u128::from(capacity) << 60;
    let largest = |amounts: &[f64], of: &dyn Fn(usize) -> f64| {
        (0..amounts.len()).max_by(|a, b| of(*a).total_cmp(&of(*b))).filter(|entry| of(*entry) > 0.0)
    };
    // Only who is served in part is at the level of the quantum.
    let room = |amounts: &[f64], entry: usize| match amounts[entry] - guaranteed[entry] as f64 {
        beyond if beyond > 0.0 => demands[entry] as f64 - amounts[entry],
        _ => 0.0,
    };
    if let Some(entry) = largest(amounts, &|entry| room(amounts, entry)) {
        let missing = capacity.saturating_sub(used(amounts)) as f64 / PARTS;
        amounts[entry] = (amounts[entry] + missing).min(demands[entry] as f64);
    }
    while let Some(excess) = used(amounts).checked_sub(capacity).filter(|excess| *excess > 0) {
        let Some(entry) = largest(amounts, &|entry| amounts[entry] - guaranteed[entry] as f64) else { break };
        let less = (amounts[entry] - excess as f64 / PARTS).min(amounts[entry].next_down());
        amounts[entry] = less.max(guaranteed[entry] as f64);
    }
}

impl ByUser {
    /// The entries of a user, as positions in `quanta` and `entries`.
    pub fn of(&self, user: usize) -> std::ops::Range<usize> {
        let start = if user == 0 { 0 } else { self.ends[user - 1] };
        start..self.ends[user]
    }
}
