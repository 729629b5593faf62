//! Tenants at the top that neither take from the others there what is idle, nor give them any.

use crate::export::Export;

/// Of each tenant, whether it is at the top and no unit can go from it to another there or back: of each resource on each class either
/// nobody else has any, or it and all below it have all that they may; and so it is the other way round.
pub(super) fn alone(export: &Export) -> Vec<bool> {
    let tenants = &export.tenants;
    let is_top: Vec<bool> = tenants.iter().map(|tenant| tenant.parent.is_none()).collect();
    let tops = || (0..tenants.len()).filter(|t| is_top[*t]);
    let mut alone = is_top.clone();
    for (r, _) in export.resources.iter().enumerate().filter(|(_, resource)| resource.called.is_some()) {
        for l in 0..export.classes.len() {
            let at = l * export.resources.len() + r;
            let rises = rises(export, l, r);
            let all: u128 = tops().map(|t| u128::from(tenants[t].units[at])).sum();
            let takers = tops().filter(|t| rises[*t]).count();
            for t in tops() {
                let own = u128::from(tenants[t].units[at]);
                let takes = rises[t] && all > own;
                let gives = own > 0 && takers > usize::from(rises[t]);
                alone[t] &= !takes && !gives;
            }
        }
    }
    alone
}

/// Of each tenant, whether somebody at or below it may have more of a resource on a class than it gets.
fn rises(export: &Export, class: usize, resource: usize) -> Vec<bool> {
    let tenants = &export.tenants;
    let mut rises = vec![false; tenants.len()];
    for t in (0..tenants.len()).rev() {
        let tenant = &tenants[t];
        rises[t] |= tenant.is_leaf && tenant.eligible[class];
        let gets = export.amount(tenant, Some(class), resource);
        rises[t] &= export.limit(t, Some(class), resource).is_none_or(|limit| limit > gets);
        if let (true, Some(parent)) = (rises[t], tenant.parent) {
            rises[parent] = true;
        }
    }
    rises
}
