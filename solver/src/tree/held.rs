//! Whom limits hold back, where users are in groups.

use crate::tolerance::level::LIMIT_USED_UP;
use fairplan_instances::{Allocation, ClassId, Instance, LimitedBy, taken_of_limits};

/// Who is held by a limit rather than by capacity: where some limit above it is used up wherever it can run.
pub(super) fn held_by_limits(instance: &Instance, allocation: &Allocation, limited_by: &mut [LimitedBy]) {
    let rows = instance.limit_rows();
    if rows.is_empty() {
        return;
    }
    let taken = taken_of_limits(instance, allocation);
    let is_used_up = |j: usize| taken[j] >= rows[j].amount.to_f64() * (1.0 - LIMIT_USED_UP);
    let classes = || (0..instance.classes().len()).map(ClassId);
    for user in instance.users() {
        let above = instance.limits_above(user);
        let holds = |j: &usize, class: ClassId| {
            !rows[*j].is_reserve()
                && rows[*j].covers(class)
                && !user.demand()[rows[*j].resource.0].is_zero()
                && is_used_up(*j)
        };
        // A pool is one class, which every limit covers.
        let can_use = |class: &ClassId| allocation.is_pooled() || user.can_use(*class);
        let is_held = || classes().filter(can_use).all(|class| above.iter().any(|j| holds(j, class)));
        let reason = &mut limited_by[user.index().0];
        if *reason == LimitedBy::Capacity && !above.is_empty() && is_held() {
            *reason = LimitedBy::Limit;
        }
    }
}
