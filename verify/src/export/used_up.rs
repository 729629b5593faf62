//! Whether an export gives away what there is: a tenant that could have more of what is free has not what a solution gives it.

use super::ExportClaim;
use super::tree::{Tree, exact, has_of};
use crate::tolerance::LEFT;
use crate::verdict::Worst;
use fairplan_instances::{ClassId, Instance, Owner, ResourceId, User};

/// What nobody has of each class and resource, less the headroom: `free[class][resource]`.
fn free(instance: &Instance, claim: &ExportClaim, part: f64) -> Vec<Vec<f64>> {
    let all = |class: &fairplan_instances::ServerClass| -> Vec<f64> {
        class.capacity.iter().map(|amount| amount.to_f64() * class.count as f64 * part).collect()
    };
    let mut free: Vec<Vec<f64>> = instance.classes().iter().map(all).collect();
    for amount in claim.tenants.iter().filter(|tenant| tenant.parent.is_none()).flat_map(|top| &top.amounts) {
        free[amount.class.0][amount.resource.0] -= exact(amount);
    }
    free
}

/// That no tenant with nobody below it could run more of its tasks in what is free, within its limits (`used-up`). Where there are
/// reserves or rules inside servers, what is free may be nobody's: there nothing is said.
pub(super) fn seen(tree: &Tree<'_>, claim: &ExportClaim) -> Worst {
    let instance = tree.instance;
    let mut seen = Worst::of("used-up", LEFT);
    let owners = (0..instance.groups().len()).map(|g| Owner::Group(fairplan_instances::GroupId(g)));
    let mut owners = owners.chain(instance.users().map(|user| Owner::User(user.index())));
    let has_reserve =
        |owner: Owner| instance.quota_of(owner).is_some_and(|quota| quota.reserved().next().is_some());
    if instance.has_server_rules() || owners.any(has_reserve) {
        return seen;
    }
    // What the headroom takes of the answer may leave tenants that much below their tasks and limits.
    let part = 1.0 - claim.headroom.to_f64();
    let free = free(instance, claim, part);
    for t in (0..claim.tenants.len()).filter(|t| tree.is_leaf(*t)) {
        let owner = claim.tenants[t].owner;
        let (members, is_one) = (tree.members(owner), matches!(owner, Owner::User(_)));
        for user in members.into_iter().filter(|user| !user.has_kinds()) {
            // What those inside a tenant have of its amounts is not told, and so not whether they are at their limits.
            if !is_one && (user.tasks().is_some() || is_limited_inside(instance, owner, user)) {
                continue;
            }
            let of_tasks =
                user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64 * part - tasks_of(claim, t, user));
            for class in (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class)) {
                let demand = user.demand_doubles();
                let asked = (0..demand.len()).filter(|r| demand[*r] > 0.0);
                let fits = asked.map(|r| free[class.0][r] / demand[r]).fold(f64::INFINITY, f64::min);
                let more = fits.min(of_tasks).min(within_limits(instance, claim, t, user, class, part));
                let share = (0..demand.len())
                    .map(|r| demand[r] / instance.total(ResourceId(r)).max(f64::MIN_POSITIVE))
                    .fold(0.0, f64::max);
                if more.is_finite() {
                    seen.see(more * share, || {
                        let id = &instance.classes()[class.0].id;
                        format!("{}: {more} tasks more of {} fit on {id}", claim.tenants[t].id, user.id())
                    });
                }
            }
        }
    }
    seen
}

/// So many tasks of a user are what a tenant has.
fn tasks_of(claim: &ExportClaim, tenant: usize, user: User<'_>) -> f64 {
    let demand = user.demand_doubles();
    let of = |r: usize| {
        let amounts = claim.tenants[tenant].amounts.iter().filter(|amount| amount.resource.0 == r);
        amounts.map(exact).sum::<f64>() / demand[r]
    };
    (0..demand.len()).filter(|r| demand[*r] > 0.0).map(of).fold(0.0, f64::max)
}

/// Whether the user itself, or a group between it and the tenant, has a limit.
fn is_limited_inside(instance: &Instance, tenant: Owner, user: User<'_>) -> bool {
    let above = std::iter::successors(user.group(), |group| instance.groups()[group.0].parent);
    let groups = above.map(Owner::Group).take_while(|owner| *owner != tenant);
    std::iter::once(Owner::User(user.index()))
        .chain(groups)
        .any(|owner| instance.quota_of(owner).is_some_and(|quota| quota.limited().next().is_some()))
}

/// So many tasks more of a user its tenant, and those above that, may have on a class.
fn within_limits(
    instance: &Instance,
    claim: &ExportClaim,
    tenant: usize,
    user: User<'_>,
    class: ClassId,
    part: f64,
) -> f64 {
    let demand = user.demand_doubles();
    let above = std::iter::successors(Some(tenant), |t| claim.tenants[*t].parent);
    let mut least = f64::INFINITY;
    for tenant in above.map(|t| &claim.tenants[t]) {
        let Some(quota) = instance.quota_of(tenant.owner) else { continue };
        for limit in quota.limited() {
            if demand[limit.resource.0] > 0.0 && limit.covers(class) {
                let has = has_of(tenant, limit.resource, |class| limit.covers(class));
                let room = limit.amount.to_f64() * part - has;
                least = least.min(room / demand[limit.resource.0]);
            }
        }
    }
    least
}
