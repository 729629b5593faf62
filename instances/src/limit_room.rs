//! What whole tasks on servers leave of limits, and whom a limit holds: no more of its tasks would be within its limits wherever it can
//! run.

use crate::{ClassId, Instance, Placement, User};

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
        let counts = instance.classes().iter().map(|class| class.count as usize).enumerate();
        let classes = counts.flat_map(|(l, count)| std::iter::repeat_n(ClassId(l), count));
        for (class, tasks) in classes.zip(&placement.servers) {
            for (user, count) in tasks {
                let user = instance.user(crate::UserId(*user as usize));
                for j in above[user.index().0].iter().filter(|j| rows[**j].covers(class)) {
                    let more = user.demand_units(rows[*j].resource).saturating_mul(u128::from(*count));
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

    /// Whether limits, its own or of groups that it is in, hold a user wherever it can run; what others reserve does not count.
    pub fn holds(&self, user: User<'_>) -> bool {
        let instance = user.instance();
        if self.taken.is_empty() {
            return false;
        }
        let rows = instance.limit_rows();
        let mut above = instance.limits_above(user);
        above.retain(|j| {
            let with_one_more = self.taken[*j].saturating_add(user.demand_units(rows[*j].resource));
            !rows[*j].is_reserve() && with_one_more > instance.limit_units(&rows[*j])
        });
        let is_held = |class: ClassId| above.iter().any(|j| rows[*j].covers(class));
        let mut usable = (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class));
        !above.is_empty() && usable.all(is_held)
    }
}
