//! Whoever is held at a level could take nothing of what is idle and of what users above the level have beyond it.
//!
//! Prices prove a level but for a small part of all there is, and that may be much of what a tiny user has. Here it is seen what such a user
//! could take at once: everybody who has clearly more than the level gives it gives back the part of its tasks that is beyond, alike on all its
//! classes. Who could have more of that, within the limits above it, is not held there.

use crate::claim::Tasks;
use crate::feasibility::Capacities;
use crate::parts::in_parts;
use crate::tolerance::{ABOVE, IDLE, MEASURED, TAKEN};
use crate::used::Used;
use crate::users::{Subject, usual_share};
use fairplan_instances::{ClassId, ResourceId, User, UserId};
use std::ops::Range;

/// What is there to take at a level, in whole smallest units.
pub(crate) struct Beyond<'a> {
    subject: Subject<'a>,
    tasks: &'a Tasks<'a>,
    room: Room,
    /// The share by which gains are measured of who has nothing: what half of the users have.
    usual: f64,
}

/// What there is room for.
struct Room {
    /// Row-major `classes × resources`; where all servers are one, they are the one class.
    capacity: Vec<f64>,
    limits: Vec<f64>,
}

/// What is said of a user who could.
pub(crate) fn taken_at_once(user: &str, level: usize, taken: f64) -> String {
    format!(
        "user {user} is frozen on level {level}, but could take {taken:e} of what such users have: it is idle, or beyond the level"
    )
}

/// The part that somebody has beyond what a level gives, where that is clearly more.
pub(crate) fn part_beyond(has: f64, given: f64) -> f64 {
    if has > given * (1.0 + ABOVE.1) { 1.0 - given / has } else { 0.0 }
}

impl<'a> Beyond<'a> {
    /// Where so much is used, and of each user this part is beyond the level.
    pub fn level(
        subject: Subject<'a>,
        tasks: &'a Tasks<'a>,
        used: &Used<'_>,
        part_beyond: impl Fn(usize) -> f64 + Sync,
    ) -> Self {
        let Subject { instance, usable_classes, shares } = subject;
        let (m, rows) = (instance.resources().len(), instance.limit_rows());
        let given_back = |users: Range<usize>| {
            let mut given = Room { capacity: vec![0.0; used.loads.len()], limits: vec![0.0; rows.len()] };
            for (i, part) in users.map(|i| (i, part_beyond(i))).filter(|(_, part)| *part > 0.0) {
                let user = instance.user(UserId(i));
                let above = instance.limits_above(user);
                for kind in usable_classes.kinds(user) {
                    let needs = |r: ResourceId| usable_classes.demand_units(user, kind, r) as f64;
                    tasks.visit(i, kind, |class, here| {
                        for r in 0..m {
                            given.capacity[class * m + r] += part * here * needs(ResourceId(r));
                        }
                        for j in above.iter().filter(|j| rows[**j].covers(ClassId(class))) {
                            given.limits[*j] += part * here * needs(rows[*j].resource);
                        }
                    });
                }
            }
            given
        };
        let capacities = Capacities { instance, pooled: tasks.is_pooled() };
        let idle = |all: f64, taken: f64| if all - taken > IDLE * all { all - taken } else { 0.0 };
        let of_capacity = |(at, load): (usize, &f64)| idle(capacities.units(at / m, at % m) as f64, *load);
        let of_limit = |j: usize| idle(instance.limit_units(&rows[j]) as f64, used.of_limit(j));
        let mut room = Room {
            capacity: used.loads.iter().enumerate().map(of_capacity).collect(),
            limits: (0..rows.len()).map(of_limit).collect(),
        };
        for given in in_parts(instance.user_count(), given_back) {
            room.capacity.iter_mut().zip(given.capacity).for_each(|(room, given)| *room += given);
            room.limits.iter_mut().zip(given.limits).for_each(|(room, given)| *room += given);
        }
        Self { subject, tasks, room, usual: usual_share(shares) }
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
        let kinds = usable_classes.kinds(user);
        let parts = kinds.len() as f64;
        let work = kinds.map(|kind| self.work(user, kind) / parts).fold(f64::INFINITY, f64::min);
        let slowest = || {
            let usable = usable_classes.of_user(i);
            let rates = usable.classes.iter().map(|class| usable.rate(*class).to_f64());
            rates.fold(f64::INFINITY, f64::min)
        };
        let left = match user.tasks() {
            Some(tasks) => (tasks as f64 - self.tasks.running(user)).max(0.0) * slowest(),
            None => f64::INFINITY,
        };
        let measure = match shares[i].measure() {
            0.0 => self.usual.min(MEASURED) / user.task_share(),
            measure => measure,
        };
        work.min(left) / measure
    }

    /// The work that one kind could do if all room were its own: on one class after the other, while the limits above it last.
    fn work(&self, user: User<'_>, kind: usize) -> f64 {
        let Subject { instance, usable_classes, .. } = self.subject;
        let m = instance.resources().len();
        let rows = instance.limit_rows();
        let needs = |r: usize| usable_classes.demand_units(user, kind, ResourceId(r)) as f64;
        let needed: Vec<usize> = (0..m).filter(|r| needs(*r) > 0.0).collect();
        let mut limits: Vec<(usize, f64)> =
            instance.limits_above(user).into_iter().map(|j| (j, self.room.limits[j])).collect();
        let mut tasks_on = |class: usize| {
            let capacity = needed.iter().map(|r| self.room.capacity[class * m + r] / needs(*r));
            let covering = limits.iter_mut().filter(|(j, _)| rows[*j].covers(ClassId(class)));
            let mut covering: Vec<(&mut f64, f64)> =
                covering.map(|(j, left)| (left, needs(rows[*j].resource.0))).collect();
            covering.retain(|(_, needs)| *needs > 0.0);
            let limited = covering.iter().map(|(left, needs)| **left / needs);
            let tasks = capacity.chain(limited).fold(f64::INFINITY, f64::min);
            covering.into_iter().for_each(|(left, needs)| *left = (*left - tasks * needs).max(0.0));
            tasks
        };
        if self.tasks.is_pooled() {
            return tasks_on(0);
        }
        let usable = usable_classes.of_kind(kind);
        usable.classes.iter().map(|class| usable.rate(*class).to_f64() * tasks_on(*class)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit_rows::LimitUse;
    use crate::users::{UsableClasses, UserShares};
    use fairplan_instances::{
        Allocation, ClassId, Decimal, InstanceBuilder, NewUser, Objective, Owner, PlacementRule, Quota,
        ServerClass,
    };

    /// What the first user, alone on a server of 50, could take where a larger one has `lent` of that and `idle` is nobody's.
    fn taken(lent: f64, idle: f64) -> Option<f64> {
        taken_within(None, lent, idle)
    }

    /// The same where the user is limited to so many cores.
    fn taken_within(limit: Option<&str>, lent: f64, idle: f64) -> Option<f64> {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        for (id, cores) in [("small", 50), ("large", 999_950)] {
            builder.class(ServerClass::new(id, 1, vec![Decimal::from(cores)])).unwrap();
        }
        for (id, classes) in [("tiny", &[0][..]), ("large", &[0, 1])] {
            let eligible = classes.iter().map(|l| ClassId(*l)).collect();
            let rule = builder.rule(PlacementRule::new(Some(eligible), Vec::new()));
            builder.user(NewUser { rule, ..NewUser::new(id, &[Decimal::ONE]) }).unwrap();
        }
        if let Some(limit) = limit {
            let quota = Quota { limit: vec![(ResourceId(0), limit.parse().unwrap())], ..Quota::default() };
            builder.quota(Owner::User(UserId(0)), quota).unwrap();
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
        let (limits, _) = LimitUse::judge(&instance, &usable_classes, &tasks);
        let used = Used { loads: &[own + lent, 999_950.0], limits: Some(&limits) };
        let beyond =
            Beyond::level(subject, &tasks, &used, |i| part_beyond(shares[i].weighted, shares[0].weighted));
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
    fn who_is_within_a_hair_of_its_limit_takes_no_more_than_the_limit_leaves() {
        assert!(taken(0.4, 0.0).is_some());
        assert_eq!(taken_within(Some("49.6"), 0.4, 0.0), None);
        let some_left = taken_within(Some("49.8"), 0.4, 0.0).unwrap();
        assert!((some_left - 0.2 / 49.6).abs() < 1e-9, "{some_left}");
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
            Beyond::level(subject, &tasks, &Used { loads: &loads, limits: None }, |_| 0.0).room.capacity
        };
        assert!(room(0.5 * IDLE).iter().all(|room| *room == 0.0));
        assert!(room(2.0 * IDLE).iter().all(|room| *room > 0.0));
    }
}
