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

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Draft, Quota, ResourceId};

    #[test]
    fn a_limit_holds_who_leaves_just_less_of_it_than_the_tolerance_and_not_who_leaves_just_more() {
        let mut draft = Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap());
        let owner = draft.users[0].id.clone();
        // A task takes 0.2 of it.
        let quota = Quota { limit: vec![(ResourceId(0), "1".parse().unwrap())], ..Quota::default() };
        draft.quotas.push(fairplan_instances::DraftQuota { is_group: false, owner, quota });
        let instance = draft.build().unwrap();
        let held = |left: f64| {
            let allocation = Allocation::from_matrix(2, &[5.0 * (1.0 - left), 0.0, 0.0, 5.0]);
            let mut limited_by = [LimitedBy::Capacity; 2];
            held_by_limits(&instance, &allocation, &mut limited_by);
            limited_by
        };
        assert_eq!(held(0.9 * LIMIT_USED_UP), [LimitedBy::Limit, LimitedBy::Capacity]);
        assert_eq!(held(1.1 * LIMIT_USED_UP), [LimitedBy::Capacity; 2]);
    }
}
