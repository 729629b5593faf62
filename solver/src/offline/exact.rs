//! The levels and the slices of an offline optimum as fractions.
//!
//! What the users of a level and of those below it can get at most, they get: so of every quantum the users of a level have so many
//! whole slices, `min(S_t, Σ d_it)` with them less the same without them. In parts of a slice as small as the level's denominator
//! their totals are whole numbers too, and a flow from the quanta to the users finds whole parts for all, or a cut: users who
//! cannot have the level together. They become a level of their own, below the rest; levels that do not rise are put together.
//! Every cut is a point below the hull of [`super::levels`], and there are so many only, so this ends, and wherever it began it ends
//! at the optimum. (The decomposition of Fujishige 1980 for the lexicographically optimal base of a polymatroid.)

use super::flow::{ByUser, Flow};
use super::transport::{Parts, Transport};
use crate::exact::Rational;
use fairplan_instances::{
    Deadline, ExactOffline, InstanceError, OfflineLevel, OfflineOptimum, OfflineProblem, compare_ratios,
};

/// Users at one level: their weight, and the whole slices that they have together.
struct Group {
    users: Vec<u32>,
    weight: u128,
    slices: u128,
}

impl Group {
    /// What all have, over what all weigh.
    fn level(&self) -> (u128, u128) {
        (self.slices, self.weight)
    }
}

/// A flow whose levels are to be exact. Slices are at most 10^11 each and entries fewer than 10^8, so that all that is counted in
/// parts of a slice has less than 128 bits.
pub(super) struct ExactFlow<'f> {
    flow: &'f Flow,
    by_user: &'f ByUser,
    groups: Vec<Group>,
    /// By quantum, what the users of the groups that are done have room for.
    wanted: Vec<u128>,
    /// By user, the position of the group whose turn it is, if it is one of them.
    is_member: Vec<bool>,
    /// By entry, what is given in parts of a slice, and how many parts a slice has.
    given: Vec<(u128, u128)>,
}

impl<'f> ExactFlow<'f> {
    /// To begin with the levels that the doubles have.
    pub fn new(flow: &'f Flow, by_user: &'f ByUser, levels: &[OfflineLevel]) -> Self {
        let given = vec![(0, 1); flow.users.len()];
        let mut exact = Self {
            by_user,
            groups: Vec::new(),
            wanted: vec![0; flow.quanta.len()],
            is_member: vec![false; flow.base.len()],
            given,
            flow,
        };
        for level in levels {
            let group = exact.group(level.users.clone());
            exact.add(&group.users, 1);
            exact.groups.push(group);
        }
        exact.wanted.fill(0);
        exact
    }

    /// The optimum.
    ///
    /// # Errors
    /// When the deadline is over.
    pub fn optimum(
        mut self,
        problem: &OfflineProblem<'_>,
        rounds: usize,
        deadline: &Deadline,
    ) -> Result<OfflineOptimum, InstanceError> {
        let mut at = 0;
        while at < self.groups.len() {
            if deadline.is_over() {
                return Err(InstanceError::OutOfTime);
            }
            if at > 0 && !compare_ratios(self.groups[at - 1].level(), self.groups[at].level()).is_lt() {
                self.put_together(at);
                at -= 1;
                continue;
            }
            match self.divided(at, deadline)? {
                None => {
                    let users = std::mem::take(&mut self.groups[at].users);
                    self.add(&users, 1);
                    self.groups[at].users = users;
                    at += 1;
                }
                Some(cut) => self.split(at, cut),
            }
        }
        Ok(self.told(problem, rounds))
    }

    /// Takes what users have room for into account, or out of it.
    fn add(&mut self, users: &[u32], sign: i128) {
        for user in users {
            for at in self.by_user.of(*user as usize) {
                let wanted = &mut self.wanted[self.by_user.quanta[at] as usize];
                *wanted = wanted.wrapping_add_signed(sign * self.flow.room[self.by_user.entries[at]] as i128);
            }
        }
    }

    /// These users once those who are done have theirs.
    fn group(&mut self, mut users: Vec<u32>) -> Group {
        users.sort_unstable();
        let own = |user: &u32| u128::from(self.flow.base[*user as usize]);
        let mut slices: u128 = users.iter().map(own).sum();
        let weight = users.iter().map(|user| u128::from(self.flow.whole_weights[*user as usize])).sum();
        slices += self.supplies(&users).iter().map(|(_, supply)| supply).sum::<u128>();
        Group { users, weight, slices }
    }

    /// The quanta in which these users have room, and how many slices there are for them.
    fn supplies(&self, users: &[u32]) -> Vec<(u32, u128)> {
        let entries = users.iter().flat_map(|user| self.by_user.of(*user as usize));
        let mut rooms: Vec<(u32, u128)> = entries
            .map(|at| (self.by_user.quanta[at], self.flow.room[self.by_user.entries[at]] as u128))
            .collect();
        rooms.sort_unstable_by_key(|(quantum, _)| *quantum);
        let supply = |rooms: &[(u32, u128)]| {
            let quantum = rooms[0].0;
            let (free, before) =
                (self.flow.quanta[quantum as usize].free as u128, self.wanted[quantum as usize]);
            let all = before + rooms.iter().map(|(_, room)| room).sum::<u128>();
            (quantum, free.min(all) - free.min(before))
        };
        rooms.chunk_by(|a, b| a.0 == b.0).map(supply).collect()
    }

    /// Makes a group one with the one before it, which is not done any more.
    fn put_together(&mut self, at: usize) {
        let later = self.groups.remove(at);
        let before = &mut self.groups[at - 1];
        let users = before.users.clone();
        before.users.extend(later.users);
        before.users.sort_unstable();
        before.weight += later.weight;
        before.slices += later.slices;
        self.add(&users, -1);
    }

    /// Makes some users of a group one before the rest of it.
    fn split(&mut self, at: usize, cut: Vec<u32>) {
        let whole = self.groups.remove(at);
        let lower = self.group(cut);
        let is_higher = |user: &u32| lower.users.binary_search(user).is_err();
        let higher = Group {
            users: whole.users.into_iter().filter(is_higher).collect(),
            weight: whole.weight - lower.weight,
            slices: whole.slices - lower.slices,
        };
        self.groups.splice(at..at, [lower, higher]);
    }

    /// Gives everybody of a group its level, or finds users of it who cannot have that together.
    fn divided(&mut self, at: usize, deadline: &Deadline) -> Result<Option<Vec<u32>>, InstanceError> {
        let group = &self.groups[at];
        let divisor = greatest_common_divisor(group.slices, group.weight);
        let (level, parts) = (group.slices / divisor, group.weight / divisor);
        group.users.iter().for_each(|user| self.is_member[*user as usize] = true);
        let due = |user: &u32| {
            let user = *user as usize;
            let all = level * u128::from(self.flow.whole_weights[user]);
            // Who has more than that whatever is decided leaves too little for the others.
            (user, all.saturating_sub(parts * u128::from(self.flow.base[user])))
        };
        let due: Vec<(usize, u128)> = group.users.iter().map(due).collect();
        let supplies = self.supplies(&group.users);
        let parts = Parts { of_slice: parts, is_member: &self.is_member };
        let mut transport = Transport::new(self.flow, self.by_user, parts, &supplies, &due);
        let cut = transport.fill(deadline)?;
        for (entry, given) in transport.given() {
            self.given[entry] = (given, parts.of_slice);
        }
        group.users.iter().for_each(|user| self.is_member[*user as usize] = false);
        Ok(cut)
    }

    /// The optimum in fractions, and in doubles that are no larger.
    fn told(self, problem: &OfflineProblem<'_>, rounds: usize) -> OfflineOptimum {
        let Self { flow, groups, given, .. } = self;
        let ratio = |(above, below): (u128, u128)| Rational::new(above.into(), below.into());
        let amounts = flow.amounts(problem, |sure, entry| {
            let (parts, of_slice) = given[entry];
            ratio((u128::from(sure) * of_slice + parts, of_slice))
        });
        let mut totals = vec![Rational::zero(); flow.base.len()];
        let mut levels = Vec::with_capacity(groups.len());
        for group in &groups {
            let level = ratio(group.level());
            for user in group.users.iter().map(|user| *user as usize) {
                totals[user] = &level * &Rational::whole(flow.whole_weights[user]);
            }
            levels.push(level);
        }
        let texts = |numbers: &[Rational]| numbers.iter().map(Rational::to_string).collect();
        let exact = ExactOffline {
            value: levels.first().map_or_else(|| "0".into(), Rational::to_string),
            levels: texts(&levels),
            totals: texts(&totals),
            allocated: texts(&amounts),
        };
        let levels = groups.into_iter().zip(&levels);
        OfflineOptimum {
            allocated: amounts.iter().map(Rational::to_f64_below).collect(),
            levels: levels
                .map(|(group, level)| OfflineLevel { value: level.to_f64(), users: group.users })
                .collect(),
            rounds,
            exact: Some(exact),
        }
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::random_series::random_series;
    use crate::offline::{Divided, exact_offline_optimum_within};
    use fairplan_instances::{FairShares, OfflineMeasure, Random};

    #[test]
    fn wherever_it_begins_it_ends_at_the_same_levels() {
        let mut random = Random::new(7, 0);
        let (mut several, mut ways) = (0, 0);
        for case in 0..300 {
            let series = random_series(&mut random, 7, 8);
            let users = series.user_count();
            let shares = FairShares::Each((0..users).map(|_| random.between(1, 4)).collect());
            let measure = [OfflineMeasure::Totals, OfflineMeasure::Welfare][case % 2];
            let problem = OfflineProblem {
                series: &series,
                shares: &shares,
                guaranteed: None,
                measure,
                whole_slices: false,
            };
            let deadline = Deadline::never();
            let truth = exact_offline_optimum_within(&problem, &deadline).unwrap();
            several += usize::from(truth.levels.len() > 1);
            let Divided { flow, by_user, rounds, .. } = Divided::new(&problem, &deadline);
            let counting: Vec<u32> =
                (0..users as u32).filter(|user| flow.whole_weights[*user as usize] > 0).collect();
            let level = |users: &[u32]| OfflineLevel { value: 0.0, users: users.to_vec() };
            let together = vec![level(&counting)];
            let each: Vec<OfflineLevel> = counting.iter().rev().map(|user| level(&[*user])).collect();
            for start in [together, each] {
                if counting.is_empty() {
                    continue;
                }
                let found = ExactFlow::new(&flow, &by_user, &start).optimum(&problem, rounds, &deadline);
                let found = found.unwrap();
                assert_eq!(found.levels, truth.levels, "case {case}");
                assert_eq!(found.exact.unwrap().totals, truth.exact.as_ref().unwrap().totals, "case {case}");
                ways += usize::from(start.len() != truth.levels.len());
            }
        }
        assert!(several > 100 && ways > 200, "{several} of several levels, {ways} wrong starts");
    }
}
