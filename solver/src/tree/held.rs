//! Whom limits hold back.

use crate::tolerance::level::LIMIT_USED_UP;
use fairplan_instances::{Allocation, ClassId, Instance, LimitedBy, taken_of_limits};

/// Who is held by a limit rather than by capacity: where some limit above it is used up wherever it, or one of its kinds, can run.
pub(crate) fn held_by_limits(instance: &Instance, allocation: &Allocation, limited_by: &mut [LimitedBy]) {
    let rows = instance.limit_rows();
    if rows.is_empty() {
        return;
    }
    let taken = taken_of_limits(instance, allocation);
    let is_used_up = |j: usize| taken[j] >= rows[j].amount.to_f64() * (1.0 - LIMIT_USED_UP);
    let classes = || (0..instance.classes().len()).map(ClassId);
    for user in instance.users() {
        let above = instance.limits_above(user);
        let is_full_for = |demand: &[f64], can_use: &dyn Fn(ClassId) -> bool| {
            let holds = |j: &usize, class: ClassId| {
                let row = &rows[*j];
                !row.is_reserve() && row.covers(class) && demand[row.resource.0] > 0.0 && is_used_up(*j)
            };
            classes().filter(|class| can_use(*class)).all(|class| above.iter().any(|j| holds(j, class)))
        };
        // A pool is one class, which every limit covers, and where all kinds run together.
        let is_held = || match allocation.is_pooled() {
            true => is_full_for(user.demand_doubles(), &|_| true),
            false => {
                user.kinds().any(|kind| is_full_for(kind.demand_doubles(), &|class| kind.can_use(class)))
            }
        };
        let reason = &mut limited_by[user.index().0];
        if *reason == LimitedBy::Capacity && !above.is_empty() && is_held() {
            *reason = LimitedBy::Limit;
        }
    }
}
