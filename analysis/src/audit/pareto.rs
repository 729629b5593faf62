//! Pareto optimality: nobody can do more work unless somebody does less (DRFH Sec. III-C).
//!
//! The test asks for the lexicographic max-min of the users' gains: DRFH with each user's present share as its weight.
//! Everybody keeping what it has is feasible with all ratios at one, so a better allocation for some and a worse one for
//! none exists exactly when that max-min has a ratio above one. Limits of groups hold in any allocation: so where there are quotas groups
//! stay, each with the weight of what its members have, which gives all the same ratio as far as they rise together.

use super::case::{Case, name, work};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::work::{amount, shortfall};
use crate::tolerance::NEXT_TO_NOTHING;
use fairplan_instances::{Decimal, InstanceError, LimitedBy, QuotaPart, UserId};

pub(super) fn test(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let mut draft = case.draft.clone();
    // Who keeps what it has keeps what it is guaranteed.
    draft.leave_out(&[QuotaPart::Guarantees]);
    if draft.quotas.is_empty() {
        // Gains are compared user by user, whatever divides them.
        draft.groups.clear();
        draft.users.iter_mut().for_each(|user| user.group = None);
    }
    let shares: Vec<f64> = (0..case.work.len())
        .map(|i| case.solution.allocation.dominant_share(&case.instance, UserId(i)))
        .collect();
    let smallest = shares.iter().copied().filter(|share| *share > 0.0).fold(f64::INFINITY, f64::min);
    let (mut kept, mut weights) = (Vec::new(), vec![0.0; shares.len()]);
    for (i, share) in shares.iter().enumerate() {
        let can_have_more = case.solution.limited_by[i] == LimitedBy::Capacity;
        // What is kept for somebody who has nothing is still kept.
        if *share > 0.0 || can_have_more || !draft.quotas.is_empty() {
            let weight = if *share > 0.0 { *share } else { NEXT_TO_NOTHING * smallest.min(1.0) };
            let Ok(weight) = Decimal::from_f64(weight) else { continue };
            draft.users[i].weight = weight;
            weights[i] = weight.to_f64();
            kept.push(i);
        }
    }
    let of_groups = case.instance.of_groups(0.0, |i| weights[i], |a, b| a + b);
    for (group, weight) in draft.groups.iter_mut().zip(of_groups) {
        // A group of nobody who is left has no part in it.
        group.weight =
            Decimal::from_f64(weight).ok().filter(|weight| !weight.is_zero()).unwrap_or(group.weight);
    }
    draft.users = kept.iter().map(|&i| draft.users[i].clone()).collect();
    let Some((variant, better)) = case.solve_drfh(&draft)? else {
        return Ok(Searched::NotApplicable(
            "the search for a better allocation has no proved answer here".into(),
        ));
    };
    let most = case.work.iter().copied().fold(0.0, f64::max);
    for (user, &i) in variant.users().zip(&kept) {
        let (before, after) = (case.work[i], work(user, &better.allocation));
        // Next to nothing is judged against what others have, not against nothing.
        let gain = match (before > 0.0, after > 0.0) {
            (true, _) => shortfall(before, after),
            (false, true) => after / most.max(after),
            (false, false) => 0.0,
        };
        worst.see(gain, || {
            let (id, before, after) = (name(&case.instance, i), amount(before), amount(after));
            format!(
                "user {id} could do the work of {after} tasks instead of {before}, and nobody less than now"
            )
        });
    }
    Ok(Searched::All("all allocations".into()))
}
