//! What others leave of a cluster to a tenant, in the worst case of where they run.
//!
//! On each server one resource is the scarcest for the tenant: what is left there is what others leave of that one. In a class of several servers
//! it may be one here and another there: each takes a part of the servers, as large as what others take of the resource is of all of it. The others
//! take no more in all than they are promised, wherever each may run. So whatever resource is the scarcest on which class, and for every set of
//! classes, on these is left at least what they have less what those others are promised that may run on any of them: each counts once.
//! The best set is looked for under the worst choice of resources. What is found is proved either way; it is all there is to be had where
//! all tasks ask for the same proportions. Where there are many classes or resources, the largest part that any resource makes of
//! what an other takes counts at once.

/// The cluster as a tenant needs it, all in parts of its answer.
pub(crate) struct Case {
    /// Of each class where it may run, what can be the scarcest there.
    pub choices: Vec<Vec<Choice>>,
    pub others: Vec<Other>,
}

/// How much of the answer a class has room for, and by what.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub scarce: Scarce,
    pub most: f64,
}

/// What is the scarcest on a class.
#[derive(Clone, Copy)]
pub(crate) enum Scarce {
    Nothing,
    One(usize),
    /// Of several servers: one resource here and another there.
    Any,
}

/// Somebody else.
pub(crate) struct Other {
    /// By class and resource, what all that it is promised takes of the room there; nothing where it may not run. Of a class of several servers: of the
    /// room that it has by whatever is the scarcest of all.
    pub takes: Vec<Vec<f64>>,
    /// Whether its tasks are all alike, so that what it takes of one resource it takes of the others in proportion.
    pub is_alike: bool,
}

/// So many times what an other takes is looked at for one set of classes, whichever resources are the scarcest.
const COMBINATIONS: usize = 1 << 10;

/// So many times an other is looked at for all sets together.
const SETS: usize = 1 << 14;

/// So many classes are told apart; what is left on others is left besides.
const CLASSES: usize = 64;

impl Case {
    /// A part of the answer that is left whatever the others do, at most all of it.
    pub(crate) fn left(&self) -> f64 {
        let sets = self.sets();
        let apart = |set: &u64| self.at_least(*set);
        // What is left on each class by itself is left together.
        let single: f64 = (0..self.classes()).map(|l| self.at_least(1 << l)).sum();
        sets.iter().map(apart).fold(single, f64::max).clamp(0.0, 1.0)
    }

    fn classes(&self) -> usize {
        self.choices.len().min(CLASSES)
    }

    /// The sets of classes that are looked at: all, where they are few; else the whole, and what each of the others may use or not.
    fn sets(&self) -> Vec<u64> {
        let (classes, others) = (self.classes(), self.others.len().max(1));
        if classes == 0 {
            return Vec::new();
        }
        let (all, most) = (u64::MAX >> (CLASSES - classes), SETS / others);
        if all < most as u64 {
            return (1..=all).collect();
        }
        let mut sets = vec![all];
        for other in &self.others {
            let used = self.used(other, all);
            for set in [used, all & !used] {
                if set != 0 && sets.len() < most && !sets.contains(&set) {
                    sets.push(set);
                }
            }
        }
        sets
    }

    /// The classes of a set that somebody may use.
    fn used(&self, other: &Other, set: u64) -> u64 {
        let uses = |l: &usize| set >> l & 1 == 1 && other.takes[*l].iter().any(|takes| *takes > 0.0);
        (0..self.classes()).filter(uses).fold(0, |used, l| used | 1 << l)
    }

    /// What is left on a set of classes at least.
    fn at_least(&self, set: u64) -> f64 {
        let classes: Vec<usize> = (0..self.classes()).filter(|l| set >> l & 1 == 1).collect();
        let others: Vec<&Other> = self.others.iter().filter(|other| self.used(other, set) != 0).collect();
        let mut combinations = 1usize;
        for l in &classes {
            combinations = combinations.saturating_mul(self.choices[*l].len());
        }
        if combinations.saturating_mul(others.len().max(1)) > COMBINATIONS {
            return self.by_largest(&classes, &others).max(0.0);
        }
        let mut scarcest = vec![0; classes.len()];
        let mut least = f64::INFINITY;
        loop {
            let chosen: Vec<(usize, Choice)> =
                classes.iter().zip(&scarcest).map(|(l, at)| (*l, self.choices[*l][*at])).collect();
            let room: f64 = chosen.iter().map(|(_, choice)| choice.most).sum();
            least = least.min(room - others.iter().map(|other| other.taken(&chosen)).sum::<f64>());
            // The next combination.
            let Some(at) = (0..classes.len()).find(|at| scarcest[*at] + 1 < self.choices[classes[*at]].len())
            else {
                return least.max(0.0);
            };
            scarcest[..at].fill(0);
            scarcest[at] += 1;
        }
    }

    /// The same with the least that any resource leaves room for on a class, and the most that it makes of what others take.
    fn by_largest(&self, classes: &[usize], others: &[&Other]) -> f64 {
        let room =
            |l: &usize| self.choices[*l].iter().map(|choice| choice.most).fold(f64::INFINITY, f64::min);
        let taken = |other: &&Other| {
            let by = |r: usize| classes.iter().map(|l| other.takes[*l][r]).fold(0.0, f64::max);
            let each = (0..other.takes[classes[0]].len()).map(by);
            if other.is_alike { each.fold(0.0, f64::max) } else { each.sum() }
        };
        classes.iter().map(room).sum::<f64>() - others.iter().map(taken).sum::<f64>()
    }
}

impl Other {
    /// The most that it takes of the room that classes have by these choices.
    fn taken(&self, chosen: &[(usize, Choice)]) -> f64 {
        let mut by_resource: Vec<f64> = vec![0.0; self.takes.first().map_or(0, Vec::len)];
        for (l, choice) in chosen {
            let scarce = match choice.scarce {
                Scarce::Nothing => 0..0,
                Scarce::One(r) => r..r + 1,
                Scarce::Any => 0..by_resource.len(),
            };
            for r in scarce {
                by_resource[r] = by_resource[r].max(self.takes[*l][r]);
            }
        }
        match self.is_alike {
            true => by_resource.into_iter().fold(0.0, f64::max),
            false => by_resource.into_iter().sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Classes with so much of each resource, of which a task of the tenant takes 1 each of `answer` tasks; others that may use all.
    fn case(rooms: &[Vec<f64>], answer: f64, others: &[(Vec<f64>, bool)]) -> Case {
        let choice = |(r, room): (usize, &f64)| Choice { scarce: Scarce::One(r), most: room / answer };
        let choices = rooms.iter().map(|rooms| rooms.iter().enumerate().map(choice).collect()).collect();
        let other = |(promised, is_alike): &(Vec<f64>, bool)| Other {
            takes: vec![promised.iter().map(|amount| amount / answer).collect(); rooms.len()],
            is_alike: *is_alike,
        };
        Case { choices, others: others.iter().map(other).collect() }
    }

    #[test]
    fn what_others_take_on_one_class_they_leave_on_another() {
        let rooms = [vec![10.0, 10.0], vec![10.0, 10.0]];
        assert_eq!(case(&rooms, 10.0, &[(vec![10.0, 10.0], true)]).left(), 1.0);
        // Tasks that differ may take the one resource here and the other there.
        assert_eq!(case(&rooms, 10.0, &[(vec![10.0, 10.0], false)]).left(), 0.0);
        let apart = [(vec![10.0, 1.0], true), (vec![1.0, 10.0], true)];
        assert!(case(&rooms, 9.0, &apart).left() < 1e-12);
        // On one class both leave of each resource what they do not take.
        assert_eq!(case(&rooms[..1], 5.0, &[(vec![5.0, 1.0], true), (vec![0.0, 4.0], true)]).left(), 1.0);
    }

    #[test]
    fn in_a_class_of_several_servers_the_one_resource_may_be_taken_here_and_the_other_there() {
        // Three servers of 8 cpu and 32 GiB; one task of 1 cpu and 4 GiB; others are promised 16 cpu, and 32 GiB.
        let of_others = |cpu: f64, memory: f64| {
            let parts = [vec![cpu / 24.0 * 24.0, 0.0], vec![0.0, memory / 96.0 * 24.0]];
            let others = parts.map(|takes| Other { takes: vec![takes], is_alike: true });
            Case { choices: vec![vec![Choice { scarce: Scarce::Any, most: 24.0 }]], others: others.into() }
        };
        assert_eq!(of_others(16.0, 32.0).left(), 0.0);
        // One cpu is left: a part of the servers on which there is memory, too.
        assert_eq!(of_others(15.0, 32.0).left(), 1.0);
    }

    #[test]
    fn who_may_not_run_somewhere_takes_nothing_there() {
        let mut one = case(&[vec![10.0], vec![10.0]], 10.0, &[(vec![15.0], true)]);
        assert_eq!(one.left(), 0.5);
        one.others[0].takes[1] = vec![0.0];
        assert_eq!(one.left(), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Whatever part of what they are promised others take wherever they find room, at least so much is left.
        #[test]
        fn nobody_takes_more_than_that(
            rooms in vec(vec(1.0f64..20.0, 2..=2), 1..=3),
            others in vec((vec(0.5f64..12.0, 2..=2), any::<bool>()), 0..=3),
            spread in vec(vec((0.0f64..1.0, 0.0f64..1.0), 3..=3), 3..=3),
            may in vec(vec(any::<bool>(), 3..=3), 3..=3),
        ) {
            let mut case = case(&rooms, 8.0, &others);
            let mut left = rooms.clone();
            for (k, (promised, is_alike)) in others.iter().enumerate() {
                for l in (0..rooms.len()).filter(|l| !may[k][*l]) {
                    case.others[k].takes[l] = vec![0.0; 2];
                }
                let (mut rest, there) = (promised.clone(), (0..rooms.len()).filter(|l| may[k][*l]));
                for l in there {
                    let (a, b) = spread[k][l];
                    let wanted = [rest[0] * a, if *is_alike { rest[1] * a } else { rest[1] * b }];
                    let fits = |r: usize| (left[l][r] / wanted[r].max(1e-12)).min(1.0);
                    let parts = if *is_alike { [fits(0).min(fits(1)); 2] } else { [fits(0), fits(1)] };
                    for (r, part) in parts.into_iter().enumerate() {
                        left[l][r] -= wanted[r] * part;
                        rest[r] -= wanted[r] * part;
                    }
                }
            }
            let runs: f64 = left.iter().map(|left| left[0].min(left[1]) / 8.0).sum();
            prop_assert!(case.left() <= runs.min(1.0) + 1e-9, "{} of {runs}", case.left());
        }
    }
}
