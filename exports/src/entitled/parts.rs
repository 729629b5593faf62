//! What tenants are sure of, what their fair parts are, and how large their steps.

use super::{Shared, Told};

/// The part of what it has that a step is.
const STEP: f64 = 1e-3;
/// The largest part of what it has on a class that a step there is, of those of which it has little.
const LARGEST_STEP: f64 = 0.01;

/// Of what a tenant has on each class by the answer, the part that is a thousandth of all that it has: of the resource of which the class
/// has the largest part.
pub(super) fn steps(tenant: &Told, resources: usize) -> Vec<f64> {
    let all: Vec<f64> = (0..resources).map(|r| tenant.uses.iter().skip(r).step_by(resources).sum()).collect();
    let part = |uses: &[f64]| {
        let parts = uses.iter().zip(&all).filter(|(_, all)| **all > 0.0);
        parts.map(|(uses, all)| uses / all).fold(0.0, f64::max)
    };
    tenant.uses.chunks(resources.max(1)).map(|uses| (STEP / part(uses)).clamp(STEP, LARGEST_STEP)).collect()
}

/// What each tenant is sure of: what it is given, or its part of what there is where siblings are given more than that together.
pub(super) fn sure_parts(shared: &Shared) -> Vec<Vec<f64>> {
    let tenants = &shared.tenants;
    let mut sums = vec![vec![0.0; shared.room.len()]; tenants.len() + 1];
    let queue = |tenant: &Told| tenant.parent.map_or(0, |parent| parent + 1);
    for tenant in tenants {
        sums[queue(tenant)].iter_mut().zip(&tenant.given).for_each(|(sum, given)| *sum += given);
    }
    let mut sure: Vec<Vec<f64>> = Vec::with_capacity(tenants.len());
    for tenant in tenants {
        let above = tenant.parent.map_or(&shared.room, |parent| &sure[parent]);
        let part = |(at, given): (usize, &f64)| {
            let all: f64 = sums[queue(tenant)][at];
            if all > above[at] { given * above[at] / all } else { *given }
        };
        let own = tenant.given.iter().enumerate().map(part).collect();
        sure.push(own);
    }
    sure
}

/// What each tenant is given and, by weight, its part of what is given to none of its siblings: of those who use some and may have
/// more, so that what one cannot take goes to the others.
pub(super) fn fair(shared: &Shared) -> Vec<Vec<f64>> {
    let tenants = &shared.tenants;
    let size = shared.room.len();
    let mut used: Vec<Vec<f64>> = tenants.iter().map(|tenant| tenant.uses.clone()).collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); tenants.len() + 1];
    for t in (0..tenants.len()).rev() {
        let parent = tenants[t].parent;
        below[parent.map_or(0, |parent| parent + 1)].push(t);
        if let Some(parent) = parent {
            let own = used[t].clone();
            used[parent].iter_mut().zip(own).for_each(|(sum, amount)| *sum += amount);
        }
    }
    let mut fair: Vec<Vec<f64>> = tenants.iter().map(|tenant| tenant.given.clone()).collect();
    // Parents come before those below them.
    for (queue, siblings) in below.iter().enumerate() {
        for at in 0..size {
            let all = queue.checked_sub(1).map_or(shared.room[at], |parent| fair[parent][at]);
            let mut left = (all - siblings.iter().map(|t| tenants[*t].given[at]).sum::<f64>()).max(0.0);
            // How much of the rest each can take for its weight; the least first.
            let weight_of = |t: usize| tenants[t].weights.get(at).copied().unwrap_or(tenants[t].weight);
            let room = |t: usize| match tenants[t].limit[at] {
                _ if used[t][at] == 0.0 => 0.0,
                Some(limit) => (limit - tenants[t].given[at]).max(0.0) / weight_of(t),
                None => f64::INFINITY,
            };
            let mut order: Vec<(f64, usize)> = siblings.iter().map(|t| (room(*t), *t)).collect();
            let priority = |t: usize| tenants[t].priority;
            order.sort_by(|a, b| {
                let first = priority(b.1).total_cmp(&priority(a.1));
                first.then(a.0.total_cmp(&b.0)).then(a.1.cmp(&b.1))
            });
            let (mut weights, mut of) = (0.0f64, f64::NAN);
            for (room, t) in order {
                // Those of the next priority divide what is left.
                if priority(t) != of {
                    of = priority(t);
                    weights = siblings.iter().filter(|t| priority(**t) == of).map(|t| weight_of(*t)).sum();
                }
                let weight = weight_of(t);
                let part = (left * weight / weights.max(f64::MIN_POSITIVE)).min(room * weight).min(left);
                fair[t][at] += part;
                left -= part;
                weights -= weight;
            }
        }
    }
    fair
}
