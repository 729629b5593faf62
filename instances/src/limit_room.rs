//! What whole tasks on servers leave of limits, and whom a limit holds: no more of its tasks would be within its limits wherever it can
//! run.

use crate::{ClassId, Gang, Instance, Kind, KindId, Placement, User};

/// What is taken of each limit, and beside each reserve, in whole units.
#[derive(Clone, Debug)]
pub struct LimitRoom {
    taken: Vec<u128>,
}

impl LimitRoom {
    /// What a placement takes.
    pub fn of(instance: &Instance, placement: &Placement) -> Self {
        let rows = instance.limit_rows();
        let mut taken = vec![0u128; rows.len()];
        if taken.is_empty() {
            return Self { taken };
        }
        let above: Vec<Vec<usize>> = instance.users().map(|user| instance.limits_above(user)).collect();
        for (class, tasks) in instance.classes_of_servers().zip(&placement.servers) {
            for (kind, count) in tasks {
                let kind = instance.kind(KindId(*kind as usize));
                for j in above[kind.user().index().0].iter().filter(|j| rows[**j].covers(class)) {
                    let more = kind.piece_units(rows[*j].resource).saturating_mul(u128::from(*count));
                    taken[*j] = taken[*j].saturating_add(more);
                }
            }
        }
        Self { taken }
    }

    /// The limits and reserves that are not kept, as positions among [`Instance::limit_rows`], each with what is taken.
    pub fn broken<'a>(&'a self, instance: &'a Instance) -> impl Iterator<Item = (usize, u128)> + 'a {
        let rows = instance.limit_rows().iter().zip(&self.taken).enumerate();
        rows.filter(|(_, (row, taken))| **taken > instance.limit_units(row))
            .map(|(j, (_, taken))| (j, *taken))
    }

    /// What nothing takes.
    pub fn empty(instance: &Instance) -> Self {
        Self { taken: vec![0; instance.limit_rows().len()] }
    }

    /// Whether limits, its own or of groups that it is in, hold a user wherever it can run; what others reserve does not count. A user
    /// with kinds is held where one kind is, and where a limit has no room for all that a task, or a gang of them, needs of kinds that run
    /// inside it only. Any other user with gangs is held where one limit leaves less than a gang, over all that it can use or all of each domain where a gang may be.
    pub fn holds(&self, user: User<'_>) -> bool {
        let instance = user.instance();
        if self.taken.is_empty() {
            return false;
        }
        let rows = instance.limit_rows();
        let mut above = instance.limits_above(user);
        above.retain(|j| !rows[*j].is_reserve());
        let has_no_room =
            |j: usize, more: u128| self.taken[j].saturating_add(more) > instance.limit_units(&rows[j]);
        let is_held = |kind: Kind<'_>| {
            let full = |j: &usize| has_no_room(*j, kind.piece_units(rows[*j].resource));
            let full: Vec<usize> = above.iter().copied().filter(full).collect();
            !full.is_empty()
                && usable(instance, kind).all(|class| full.iter().any(|j| rows[*j].covers(class)))
        };
        let is_inside = |j: usize, kind: Kind<'_>| usable(instance, kind).all(|class| rows[j].covers(class));
        let needed = |j: usize| {
            let inside = user.kinds().filter(|kind| is_inside(j, *kind));
            let of_one = inside.map(|kind| kind.demand_units(rows[j].resource)).fold(0, u128::saturating_add);
            of_one.saturating_mul(user.at_once().into())
        };
        user.kinds().any(is_held)
            || user.has_kinds() && above.iter().any(|j| has_no_room(*j, needed(*j)))
            || user.gang().is_some_and(|gang| !user.has_kinds() && self.holds_gang(user, gang, &above))
    }

    /// Whether these limits have no room for a gang wherever all of it may be: every class there is closed by one, or one over all of
    /// them has less.
    fn holds_gang(&self, user: User<'_>, gang: Gang, above: &[usize]) -> bool {
        let instance = user.instance();
        let rows = instance.limit_rows();
        let all: Vec<ClassId> = user.kinds().flat_map(|kind| usable(instance, kind)).collect();
        let mut places: Vec<Vec<ClassId>> = match gang.in_one_domain {
            false => vec![all],
            true => {
                let of = |domain| all.iter().copied().filter(move |l| instance.domain_of(*l) == Some(domain));
                user.domains().into_iter().map(|domain| of(domain).collect()).collect()
            }
        };
        places.retain(|place| !place.is_empty());
        let leaves_less = |j: usize, tasks: u64| {
            let units = user.demand_units(rows[j].resource).saturating_mul(u128::from(tasks));
            self.taken[j].saturating_add(units) > instance.limit_units(&rows[j])
        };
        let is_closed = |class: &ClassId| above.iter().any(|j| rows[*j].covers(*class) && leaves_less(*j, 1));
        let is_full = |place: &Vec<ClassId>| {
            let over_all = |j: &&usize| place.iter().all(|class| rows[**j].covers(*class));
            place.iter().all(is_closed) || above.iter().filter(over_all).any(|j| leaves_less(*j, gang.tasks))
        };
        !places.is_empty() && places.iter().all(is_full)
    }
}

/// The classes that a kind can use.
fn usable<'a>(instance: &'a Instance, kind: Kind<'a>) -> impl Iterator<Item = ClassId> + 'a {
    (0..instance.classes().len()).map(ClassId).filter(move |class| kind.can_use(*class))
}
