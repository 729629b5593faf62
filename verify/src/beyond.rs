//! Whoever is held at a level could take nothing of what is idle and of what users above the level have beyond it.
//!
//! Prices prove a level but for a small part of all there is, and that may be much of what a tiny user has. Here it is seen what such a user
//! could take at once: everybody clearly above the level gives back the part of its tasks that is beyond it, alike on all its classes. Who
//! could have more of that is not held there.

use crate::claim::Tasks;
use crate::feasibility::Capacities;
use crate::parts::in_parts;
use crate::tolerance::{ABOVE, IDLE, TAKEN};
use crate::users::Subject;
use fairplan_instances::{ResourceId, UserId};
use std::ops::Range;

/// What is there to take at a level, in whole smallest units, row-major `classes × resources`; where all servers are one, they are the one
/// class.
pub(crate) struct Beyond<'a> {
    subject: Subject<'a>,
    tasks: &'a Tasks<'a>,
    room: Vec<f64>,
}

impl<'a> Beyond<'a> {
    /// Above a level of this value, where classes have these loads.
    pub fn level(subject: Subject<'a>, tasks: &'a Tasks<'a>, loads: &[f64], value: f64) -> Self {
        let Subject { instance, usable_classes, shares } = subject;
        let m = instance.resources().len();
        let part = |users: Range<usize>| {
            let mut given = vec![0.0; loads.len()];
            for i in users.filter(|i| shares[*i].weighted > value * (1.0 + ABOVE.1)) {
                let user = instance.user(UserId(i));
                let part = 1.0 - value / shares[i].weighted;
                for kind in usable_classes.kinds(user) {
                    tasks.visit(i, kind, |class, here| {
                        for r in 0..m {
                            let needs = usable_classes.demand_units(user, kind, ResourceId(r)) as f64;
                            given[class * m + r] += part * here * needs;
                        }
                    });
                }
            }
            given
        };
        let capacities = Capacities { instance, pooled: tasks.is_pooled() };
        let idle = |(at, load): (usize, &f64)| {
            let capacity = capacities.units(at / m, at % m) as f64;
            let idle = capacity - load;
            if idle > IDLE * capacity { idle } else { 0.0 }
        };
        let mut room: Vec<f64> = loads.iter().enumerate().map(idle).collect();
        for given in in_parts(instance.user_count(), part) {
            room.iter_mut().zip(given).for_each(|(room, given)| *room += given);
        }
        Self { subject, tasks, room }
    }

    /// The user, of those said to be held at the level, that could take the most, in parts of what its gains are measured by; and how much
    /// that is, where it is more than [`TAKEN`].
    pub fn taken_by(&self, is_held: impl Fn(usize) -> bool + Sync) -> Option<(f64, usize)> {
        let part = |users: Range<usize>| {
            let gains = users.filter(|i| is_held(*i)).map(|i| (self.gain(i), i));
            gains.filter(|(gain, _)| *gain > TAKEN).max_by(|one, other| one.0.total_cmp(&other.0))
        };
        let largest = in_parts(self.subject.instance.user_count(), part).into_iter().flatten();
        largest.max_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// What a user could take, no more than its tasks allow wherever they run.
    fn gain(&self, i: usize) -> f64 {
        let Subject { instance, usable_classes, shares } = self.subject;
        let user = instance.user(UserId(i));
        let m = instance.resources().len();
        let kinds = usable_classes.kinds(user);
        let parts = kinds.len() as f64;
        let of_kind = |kind: usize| {
            let usable = usable_classes.of_kind(kind);
            let on = |class: usize| {
                let needs = |r: usize| usable_classes.demand_units(user, kind, ResourceId(r));
                let room = |r: usize| self.room[class * m + r] / parts / needs(r) as f64;
                (0..m).filter(|r| needs(*r) > 0).map(room).fold(f64::INFINITY, f64::min)
            };
            match self.tasks.is_pooled() {
                true => on(0),
                false => usable.classes.iter().map(|class| usable.rate(*class).to_f64() * on(*class)).sum(),
            }
        };
        let work = kinds.map(of_kind).fold(f64::INFINITY, f64::min);
        let slowest = || {
            let usable = usable_classes.of_user(i);
            let rates = usable.classes.iter().map(|class| usable.rate(*class).to_f64());
            rates.fold(f64::INFINITY, f64::min)
        };
        let left = match user.tasks() {
            Some(tasks) => (tasks as f64 - self.tasks.running(user)).max(0.0) * slowest(),
            None => f64::INFINITY,
        };
        work.min(left) / shares[i].measure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::users::{UsableClasses, UserShares};
    use fairplan_instances::{
        Allocation, ClassId, Decimal, InstanceBuilder, NewUser, Objective, PlacementRule, ServerClass,
    };

    /// What the first user, alone on a server of 50, could take where a larger one has `lent` of that and `idle` is nobody's.
    fn taken(lent: f64, idle: f64) -> Option<f64> {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        for (id, cores) in [("small", 50), ("large", 999_950)] {
            builder.class(ServerClass::new(id, 1, vec![Decimal::from(cores)])).unwrap();
        }
        for (id, classes) in [("tiny", &[0][..]), ("large", &[0, 1])] {
            let eligible = classes.iter().map(|l| ClassId(*l)).collect();
            let rule = builder.rule(PlacementRule::new(Some(eligible), Vec::new()));
            builder.user(NewUser { rule, ..NewUser::new(id, &[Decimal::ONE]) }).unwrap();
        }
        let instance = builder.build().unwrap();
        let own = 50.0 - lent - idle;
        let all = 999_950.0 + lent;
        let rows = vec![1.0, 0.0, lent / all, 1.0 - lent / all];
        let allocation = Allocation::new(2, vec![own, all], vec![0, 1], rows);
        let tasks = Tasks::Allocation(&allocation);
        let usable_classes = UsableClasses::of(&instance);
        let shares = UserShares::of_all(&instance, Objective::Drfh, &usable_classes, &tasks);
        let subject = Subject { instance: &instance, usable_classes: &usable_classes, shares: &shares };
        let beyond = Beyond::level(subject, &tasks, &[own + lent, 999_950.0], shares[0].weighted);
        beyond.taken_by(|user| user == 0).map(|(gain, _)| gain)
    }

    #[test]
    fn what_is_idle_or_beyond_the_level_is_not_taken_just_inside_the_tolerance_and_is_just_outside() {
        for part in [0.99 * TAKEN, 1.01 * TAKEN] {
            let amount = 50.0 * part / (1.0 + part);
            let is_taken = part > TAKEN;
            assert_eq!(taken(amount, 0.0).is_some(), is_taken);
            assert_eq!(taken(0.0, amount).is_some(), is_taken);
        }
        assert_eq!(taken(0.0, 0.0), None);
    }

    #[test]
    fn what_rounding_leaves_idle_is_nothing_to_take() {
        let instance = fairplan_instances::generate::drfh_fig1().unwrap();
        let usable_classes = UsableClasses::of(&instance);
        let nobody = Allocation::new(2, vec![0.0; 2], vec![0; 2], vec![0.0; 2]);
        let tasks = Tasks::Allocation(&nobody);
        let shares = UserShares::of_all(&instance, Objective::Drfh, &usable_classes, &tasks);
        let subject = Subject { instance: &instance, usable_classes: &usable_classes, shares: &shares };
        let room = |part: f64| {
            let capacities = Capacities { instance: &instance, pooled: false };
            let loads: Vec<f64> =
                (0..4).map(|at| (1.0 - part) * capacities.units(at / 2, at % 2) as f64).collect();
            Beyond::level(subject, &tasks, &loads, 1.0).room
        };
        assert!(room(0.5 * IDLE).iter().all(|room| *room == 0.0));
        assert!(room(2.0 * IDLE).iter().all(|room| *room > 0.0));
    }
}
