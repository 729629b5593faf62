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
            let gains = gains.inspect(|(g, _)| if std::env::var("SHOW").is_ok() && *g > 1e-12 { eprintln!("TAKEN {g:e}") });
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
