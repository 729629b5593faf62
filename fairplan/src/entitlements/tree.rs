//! What the rules of YARN and Kueue entitle users in groups, and with guarantees and limits, to: the servers as one pool, which is
//! filled from the top of the tree down, always for whoever is next by the rule ([`Shared`]).

use fairplan_exports::{Measure, Shared, Told};
use fairplan_instances::{GroupId, Instance, Owner, ResourceId, User};
use fairplan_solver::PooledQuota;

/// Tasks of each user, right to about a thousandth. `near` is what each has by another rule, of which steps are parts; `quotas` are
/// nominal quotas for Kueue instead of the instance's guarantees.
pub(super) fn entitled(
    instance: &Instance,
    measure: Measure,
    near: &[f64],
    quotas: Option<&[Vec<f64>]>,
) -> Vec<f64> {
    let resources = instance.resources().len();
    let totals: Vec<f64> = (0..resources).map(|r| instance.total(ResourceId(r))).collect();
    let order: Vec<GroupId> = instance.groups_upwards().into_iter().rev().collect();
    let place =
        |group: Option<GroupId>| group.and_then(|group| order.iter().position(|other| *other == group));
    let alone = |user: User<'_>| {
        let parts = user.demand_doubles().iter().zip(&totals).filter(|(demand, _)| **demand > 0.0);
        parts.map(|(demand, total)| total / demand).fold(f64::INFINITY, f64::min)
    };
    // So many tasks are what its amounts say.
    let base: Vec<f64> = instance
        .users()
        .zip(near)
        .map(|(user, near)| if *near > 0.0 { *near } else { alone(user) / instance.user_count() as f64 })
        .collect();
    let mut tenants: Vec<Told> = Vec::with_capacity(order.len() + instance.user_count());
    for GroupId(group) in &order {
        let stated = &instance.groups()[*group];
        let quota = PooledQuota::of(instance, Owner::Group(GroupId(*group)));
        tenants.push(Told {
            parent: place(stated.parent),
            weight: stated.weight.to_f64(),
            weights: Vec::new(),
            priority: 0.0,
            compares: None,
            given: quota.guarantee,
            limit: quota.limit,
            kept: Vec::new(),
            pool: Vec::new(),
            uses: vec![0.0; resources],
            billed: 0.0,
            most: vec![f64::INFINITY],
        });
    }
    for (user, base) in instance.users().zip(&base) {
        let quota = PooledQuota::of(instance, Owner::User(user.index()));
        let runs = *base > 0.0 && user.tasks() != Some(0);
        let uses: Vec<f64> = user.demand_doubles().iter().map(|demand| demand * base).collect();
        tenants.push(Told {
            parent: place(user.group()),
            weight: user.weight().to_f64(),
            weights: Vec::new(),
            priority: 0.0,
            compares: None,
            given: quotas.map_or(quota.guarantee, |quotas| quotas[user.index().0].clone()),
            limit: quota.limit,
            kept: Vec::new(),
            pool: Vec::new(),
            uses: if runs { uses } else { vec![0.0; resources] },
            billed: 0.0,
            most: vec![user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64 / base)],
        });
    }
    let is_nothing_given = tenants.iter().all(|tenant| tenant.given.iter().all(|given| *given == 0.0));
    let by_weight = measure == Measure::Borrowed && is_nothing_given;
    if by_weight {
        by_weights(&mut tenants, &totals);
    }
    at_least_those_below(&mut tenants);
    let room = match measure {
        Measure::Borrowed if !by_weight => given_at_the_top(&mut tenants, &totals),
        _ => totals,
    };
    let shared = Shared { measure, resources, compares: None, room, tenants };
    let times = shared.entitled();
    let of_users = times[order.len()..].iter().zip(&base);
    of_users.map(|(times, base)| times.iter().sum::<f64>() * base).collect()
}

/// Without quotas each has the part of every resource that weights from the root down make of the whole.
fn by_weights(tenants: &mut [Told], totals: &[f64]) {
    let mut sums = vec![0.0; tenants.len() + 1];
    let above = |parent: Option<usize>| parent.map_or(0, |parent| parent + 1);
    tenants.iter().for_each(|tenant| sums[above(tenant.parent)] += tenant.weight);
    for t in 0..tenants.len() {
        let parent = tenants[t].parent;
        let of = parent.map_or_else(|| totals.to_vec(), |parent| tenants[parent].given.clone());
        let part = tenants[t].weight / sums[above(parent)];
        tenants[t].given = of.iter().map(|of| of * part).collect();
    }
}

/// Whoever has others below it is given at least what they are together.
fn at_least_those_below(tenants: &mut [Told]) {
    let mut below: Vec<Vec<f64>> = tenants.iter().map(|tenant| vec![0.0; tenant.given.len()]).collect();
    for t in (0..tenants.len()).rev() {
        let of_those = below[t].clone();
        tenants[t].given.iter_mut().zip(of_those).for_each(|(given, below)| *given = given.max(below));
        if let Some(parent) = tenants[t].parent {
            let own = tenants[t].given.clone();
            below[parent].iter_mut().zip(own).for_each(|(sum, given)| *sum += given);
        }
    }
}

/// All that Kueue knows: what is given at the top, and all of a resource of which nothing is. A group there has what it may have at most, since a root
/// can borrow of nobody, and a group above all has all there is: what it has beside those below it is theirs to borrow. That a limit is such a quota is
/// no more than likely: it makes no more of them than there is, unless more is given.
fn given_at_the_top(tenants: &mut [Told], totals: &[f64]) -> Vec<f64> {
    let mut has_others = vec![false; tenants.len()];
    tenants.iter().filter_map(|tenant| tenant.parent).for_each(|parent| has_others[parent] = true);
    let tops: Vec<usize> = (0..tenants.len()).filter(|t| tenants[*t].parent.is_none()).collect();
    let sums: Vec<f64> = (0..totals.len()).map(|r| tops.iter().map(|t| tenants[*t].given[r]).sum()).collect();
    let most: Vec<f64> = totals.iter().zip(&sums).map(|(total, sum)| total.max(*sum)).collect();
    let mut given = vec![0.0; totals.len()];
    for &t in &tops {
        let (tenant, is_alone) = (&tenants[t], tops.len() == 1);
        let limited = |r: usize| tenant.limit[r].map(|most| most.min(totals[r])).filter(|_| has_others[t]);
        let beside = |r: usize, others: f64| if is_alone && has_others[t] { totals[r] } else { others };
        for (r, sum) in given.iter_mut().enumerate() {
            *sum += limited(r).unwrap_or_else(|| beside(r, tenant.given[r]));
        }
        let pool = (0..totals.len()).map(|r| limited(r).unwrap_or_else(|| beside(r, sums[r]))).collect();
        tenants[t].pool = pool;
    }
    given.iter().zip(most).map(|(given, most)| if *given > 0.0 { given.min(most) } else { most }).collect()
}
