//! Whose turn it is where users are in groups: from the root down the child that has the least over its weight, among those below whom
//! somebody has tasks that may fit. Ties go to groups, then to the lowest index.
//!
//! What a group has is by one rule the sum of what its members have, as filling the tree counts it. By the other, that of hierarchical
//! DRF (Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads, 2013), it is the dominant share of what its
//! children hold together, once those that can have more are scaled down to the one of them that has least.

use super::groups::Child;
use super::shares::Shares;
use std::cmp::Ordering;

/// The place of the user whose turn it is from the root down; `order` compares siblings.
pub(super) fn first_in_tree(
    shares: &Shares,
    users: &[u32],
    order: impl Fn(Child, Child) -> Ordering,
) -> Option<usize> {
    let compare = |a: usize, b: usize| {
        let (one, other) = (shares.groups_above(a), shares.groups_above(b));
        let depth = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        let child =
            |groups: &[usize], user: usize| groups.get(depth).map_or(Child::User(user), |g| Child::Group(*g));
        let (one, other) = (child(one, a), child(other, b));
        order(one, other).then_with(|| match (one, other) {
            (Child::Group(_), Child::User(_)) => Ordering::Less,
            (Child::User(_), Child::Group(_)) => Ordering::Greater,
            (Child::Group(a), Child::Group(b)) | (Child::User(a), Child::User(b)) => a.cmp(&b),
        })
    };
    let places = users.iter().enumerate();
    places.min_by(|(_, a), (_, b)| compare(**a as usize, **b as usize)).map(|(place, _)| place)
}

/// What every group has by hierarchical DRF over its weight, where these users may have more: nothing of groups of which nobody does.
pub(super) fn hierarchical(shares: &Shares, users: &[u32]) -> Vec<f64> {
    let groups = shares.group_count();
    let width = shares.width();
    let mut may_rise = vec![false; groups];
    for user in users {
        shares.groups_above(*user as usize).iter().for_each(|group| may_rise[*group] = true);
    }
    // What the children of each group hold that can have more, with their dominant shares over their weights; and what the others do.
    let mut rising: Vec<Vec<(f64, Vec<f64>)>> = vec![Vec::new(); groups];
    let mut held = vec![vec![0.0; width]; groups];
    let mut is_rising = vec![false; shares.user_count()];
    users.iter().for_each(|user| is_rising[*user as usize] = true);
    for user in 0..shares.user_count() {
        let Some(group) = shares.groups_above(user).last() else { continue };
        let parts = shares.parts(user);
        if is_rising[user] {
            rising[*group].push((dominant(&parts) / shares.weight(Child::User(user)), parts));
        } else {
            held[*group].iter_mut().zip(&parts).for_each(|(sum, part)| *sum += part);
        }
    }
    let mut of_groups = vec![0.0; groups];
    for group in shares.groups_upwards() {
        let least = rising[group].iter().map(|(share, _)| *share).filter(|share| *share > 0.0);
        let least = least.fold(f64::INFINITY, f64::min);
        let mut has = std::mem::take(&mut held[group]);
        for (share, parts) in rising[group].drain(..).filter(|(share, _)| *share > 0.0) {
            has.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part * (least / share));
        }
        of_groups[group] = dominant(&has) / shares.weight(Child::Group(group));
        if let Some(parent) = shares.parent(group) {
            match may_rise[group] {
                true => rising[parent].push((of_groups[group], has)),
                false => held[parent].iter_mut().zip(has).for_each(|(sum, part)| *sum += part),
            }
        }
    }
    of_groups
}

fn dominant(parts: &[f64]) -> f64 {
    parts.iter().copied().fold(0.0, f64::max)
}
