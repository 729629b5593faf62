//! Demands over time: how many slices of one resource each user asks for in each quantum (Karma Sec. 3.1).

mod quanta;

pub use quanta::QuantumLabel;

use crate::{IdTable, Violation};
use quanta::{MetLabels, Quanta};
use std::ops::Range;

/// Most slices that one user can demand in a quantum, and most that all users can share: totals over all quanta
/// then stay below 2^62.
pub const MAX_SLICES: u64 = 100_000_000_000;

/// Users and their demand in every quantum, in whole slices. Immutable; every series has passed
/// [`DemandSeriesBuilder::build`]. Only demands above zero take room (12 bytes each).
#[derive(Clone)]
pub struct DemandSeries {
    users: IdTable,
    quanta: Quanta,
    /// Where the entries of each quantum end.
    ends: Vec<usize>,
    /// The user of each entry, ascending within a quantum.
    demanders: Vec<u32>,
    /// The demand of each entry, above zero.
    slices: Vec<u64>,
    /// The quanta in which each user is a member; `None`: everyone always.
    members: Option<Vec<Range<usize>>>,
}

impl DemandSeries {
    /// The same series with so many slices as one, where that leaves whole numbers; else as it is.
    pub(crate) fn in_units_of(mut self, unit: u64) -> Self {
        if self.slices.iter().all(|slices| slices.is_multiple_of(unit)) {
            self.slices.iter_mut().for_each(|slices| *slices /= unit);
        }
        self
    }

    /// How many users there are, members or not.
    pub fn user_count(&self) -> usize {
        self.users.len()
    }

    /// How many quanta there are.
    pub fn quantum_count(&self) -> usize {
        self.quanta.len()
    }

    /// How many demands are above zero.
    pub fn entry_count(&self) -> usize {
        self.slices.len()
    }

    /// The id of a user, by position.
    pub fn user_id(&self, user: usize) -> &str {
        self.users.get(user)
    }

    /// The user with this id.
    pub fn user_named(&self, id: &str) -> Option<usize> {
        self.users.position(id)
    }

    /// What the file calls a quantum, by position.
    pub fn label(&self, quantum: usize) -> QuantumLabel<'_> {
        self.quanta.label(quantum)
    }

    /// The quantum with this label.
    pub fn quantum_labelled(&self, label: QuantumLabel<'_>) -> Option<usize> {
        self.quanta.position(label)
    }

    /// The demands above zero of a quantum: users in ascending order, and the slices of each.
    pub fn demands(&self, quantum: usize) -> (&[u32], &[u64]) {
        let start = if quantum == 0 { 0 } else { self.ends[quantum - 1] };
        let entries = start..self.ends[quantum];
        (&self.demanders[entries.clone()], &self.slices[entries])
    }

    /// Each user's demand over all quanta.
    pub fn totals(&self) -> Vec<u64> {
        let mut totals = vec![0; self.user_count()];
        for (user, slices) in self.demanders.iter().zip(&self.slices) {
            totals[*user as usize] += slices;
        }
        totals
    }

    /// The quanta in which a user is a member.
    pub fn membership(&self, user: usize) -> Range<usize> {
        self.members.as_ref().map_or(0..self.quantum_count(), |members| members[user].clone())
    }

    /// Whether users join or leave on the way.
    pub fn has_churn(&self) -> bool {
        self.members.is_some()
    }

    /// The quanta from which on other users are members than before, the first one included.
    pub fn member_changes(&self) -> Vec<usize> {
        let mut changes = vec![0];
        if let Some(members) = &self.members {
            changes.extend(members.iter().flat_map(|range| [range.start, range.end]));
            changes.sort_unstable();
            changes.dedup();
            changes.retain(|quantum| *quantum < self.quantum_count());
        }
        changes
    }

    /// The same demands of users who join and leave (Karma Sec. 3.4): one range of quanta a user. Refused: a
    /// demand outside of it, and a quantum without any member.
    pub fn with_members(self, members: Vec<Range<usize>>) -> Result<Self, Violation> {
        let count = self.quantum_count();
        let mut changes = vec![0i64; count + 1];
        for (user, range) in members.iter().enumerate() {
            if range.is_empty() || range.end > count {
                let problem = "its first quantum must not come after its last";
                return Err(Violation::new("user", self.user_id(user), problem));
            }
            changes[range.start] += 1;
            changes[range.end] -= 1;
        }
        let mut present = 0;
        for quantum in 0..count {
            present += changes[quantum];
            if present == 0 {
                return Err(Violation::new("quantum", self.label(quantum), "has no member"));
            }
            for (user, slices) in std::iter::zip(self.demands(quantum).0, self.demands(quantum).1) {
                if !members[*user as usize].contains(&quantum) {
                    let (id, label) = (self.user_id(*user as usize), self.label(quantum));
                    let problem = format!("demands {slices} in quantum {label}, when it is no member");
                    return Err(Violation::new("user", id, problem));
                }
            }
        }
        let everyone_always = members.iter().all(|range| *range == (0..count));
        Ok(Self { members: (!everyone_always).then_some(members), ..self })
    }
}

/// Collects users and their demands, quantum after quantum, and checks each rule as they come. A violation's place
/// is the field it is about: `quantum`, `user` or `demand`.
#[derive(Default)]
pub struct DemandSeriesBuilder {
    users: IdTable,
    labels: MetLabels,
    ends: Vec<usize>,
    demanders: Vec<u32>,
    slices: Vec<u64>,
    /// Each user's last quantum with a stated demand, counted from 1.
    stated_in: Vec<usize>,
}

impl DemandSeriesBuilder {
    /// Adds a user and returns its position.
    pub fn user(&mut self, id: &str) -> Result<usize, Violation> {
        if id.is_empty() {
            return Err(Violation::new("user", "", "a user needs an id"));
        }
        self.stated_in.push(0);
        self.users.insert(id).ok_or_else(|| Violation::new("user", id, "duplicate id"))
    }

    /// The user with this id, among those added so far.
    pub fn user_named(&self, id: &str) -> Option<usize> {
        self.users.position(id)
    }

    /// The quantum whose demands are being stated.
    pub fn current(&self) -> Option<QuantumLabel<'_>> {
        self.labels.last()
    }

    /// Begins the next quantum.
    pub fn quantum(&mut self, label: QuantumLabel<'_>) -> Result<(), Violation> {
        self.labels.push(label)?;
        if self.labels.len() > 1 {
            self.end_quantum();
        }
        Ok(())
    }

    /// States what a user demands in the current quantum; who is not stated demands nothing.
    pub fn demand(&mut self, user: usize, slices: u64) -> Result<(), Violation> {
        if slices > MAX_SLICES {
            let problem = format!("at most {MAX_SLICES} are supported; choose larger slices");
            return Err(Violation::new("demand", slices, problem));
        }
        if std::mem::replace(&mut self.stated_in[user], self.labels.len()) == self.labels.len() {
            return Err(Violation::new("user", self.users.get(user), "has two demands in this quantum"));
        }
        if slices > 0 {
            // Positions of users fit 32 bits: `IdTable` takes no more.
            self.demanders.push(user as u32);
            self.slices.push(slices);
        }
        Ok(())
    }

    /// The series; there must be users and quanta.
    pub fn build(mut self) -> Result<DemandSeries, Violation> {
        if self.users.is_empty() {
            return Err(Violation::new("users", "", "there are no users"));
        }
        if self.labels.len() == 0 {
            return Err(Violation::new("demands", "", "there are no quanta"));
        }
        self.end_quantum();
        let (quanta, met) = self.labels.finish()?;
        let mut end = 0;
        let ends = met.into_iter().map(|position| {
            end = position.map_or(end, |position| self.ends[position]);
            end
        });
        Ok(DemandSeries {
            ends: ends.collect(),
            users: self.users,
            quanta,
            demanders: self.demanders,
            slices: self.slices,
            members: None,
        })
    }

    fn end_quantum(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        if !self.demanders[start..].is_sorted() {
            let entries = self.demanders[start..].iter().copied().zip(self.slices[start..].iter().copied());
            let mut entries: Vec<(u32, u64)> = entries.collect();
            entries.sort_unstable();
            for (offset, (user, slices)) in entries.into_iter().enumerate() {
                self.demanders[start + offset] = user;
                self.slices[start + offset] = slices;
            }
        }
        self.ends.push(self.demanders.len());
    }
}

#[cfg(test)]
mod tests;
