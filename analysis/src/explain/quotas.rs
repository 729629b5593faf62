//! What limits, reserves and guarantees have to do with somebody's share.

use crate::tolerance::USED_UP;
use fairplan_instances::{
    ClassId, GroupId, GuaranteeResult, Instance, LimitResult, Owner, Solution, User, UserId,
    guarantee_results, limit_results,
};

/// The prices of the classes as a user sees them: with those of the limits above it that cover them.
pub(super) fn prices_seen(user: User<'_>, prices: &[f64], of_limits: &[f64]) -> Vec<f64> {
    let instance = user.instance();
    let (m, rows) = (instance.resources().len(), instance.limit_rows());
    let mut seen = prices.to_vec();
    for j in instance.limits_above(user) {
        let price = of_limits.get(j).copied().unwrap_or(0.0);
        for class in (0..instance.classes().len()).filter(|class| rows[j].covers(ClassId(*class))) {
            seen[class * m + rows[j].resource.0] += price;
        }
    }
    seen
}

/// The limits above a user, and what others reserve, that are used up or have a price.
pub(super) fn limits_above(user: User<'_>, solution: &Solution, prices: &[f64]) -> Vec<LimitResult> {
    let instance = user.instance();
    if instance.limit_rows().is_empty() {
        return Vec::new();
    }
    let all = limit_results(instance, &solution.allocation, Some(prices));
    let above = instance.limits_above(user).into_iter().map(|j| all[j].clone());
    above.filter(|limit| limit.price > 0.0 || limit.used >= USED_UP).collect()
}

/// What a group, those that it is in, and a user are guaranteed.
pub(super) fn guarantees_of(
    instance: &Instance,
    solution: &Solution,
    group: Option<GroupId>,
    user: Option<UserId>,
) -> Vec<GuaranteeResult> {
    let mut owners: Vec<Owner> = user.map(Owner::User).into_iter().collect();
    let groups = std::iter::successors(group, |group| instance.groups()[group.0].parent);
    owners.extend(groups.map(Owner::Group));
    let guaranteed = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
    let all = guaranteed.zip(guarantee_results(instance, solution));
    all.filter(|((owner, _), _)| owners.contains(owner)).map(|(_, result)| result).collect()
}
