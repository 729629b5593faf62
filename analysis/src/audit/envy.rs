//! Envy-freeness: no user could do more work with what another holds, in proportion to their weights (DRFH Sec. III-C). In groups
//! only those of one group are compared, whose weights divide the same part. What somebody is guaranteed or reserves comes before weights, so
//! those with such quotas of their own are not envied; and nobody could do more than its own limits allow.

use super::case::{Case, bundles, name};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::work::{amount, shortfall};
use fairplan_instances::{InstanceError, Owner, User, UserId};

pub(super) fn test(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    if case.instance.user_count() == 1 {
        return Ok(Searched::NotApplicable("there is only one user".into()));
    }
    let is_sure = |user: User<'_>| {
        let quota = case.instance.quota_of(Owner::User(user.index()));
        quota.is_some_and(|quota| quota.has_guarantee() || quota.reserved().next().is_some())
    };
    let mut compared = false;
    for i in case.sample() {
        let user = case.instance.user(UserId(i));
        let is_beside =
            |other: &User<'_>| other.index().0 != i && other.group() == user.group() && !is_sure(*other);
        for other in case.instance.users().filter(is_beside) {
            compared = true;
            let scale = user.weight().to_f64() / other.weight().to_f64();
            let held = bundles(other, &case.solution.allocation).into_iter();
            let scaled =
                held.map(|(class, held)| (class, held.into_iter().map(|amount| scale * amount).collect()));
            let envied = case.work_in(user, scaled)?;
            worst.see(shortfall(case.work[i], envied), || {
                let (own, could) = (amount(case.work[i]), amount(envied));
                let (id, of) = (user.id(), name(&case.instance, other.index().0));
                let times = match scale {
                    1.0 => String::new(),
                    scale => format!(", times {}, by their weights", amount(scale)),
                };
                format!("user {id} does the work of {own} tasks, but could do that of {could} with what user {of} holds{times}")
            });
        }
    }
    let but = match case.instance.users().any(is_sure) {
        true => ", but for those with guarantees or reserves",
        false => "",
    };
    Ok(match case.instance.has_groups() {
        false => Searched::All(format!("{} against every other{but}", case.searched())),
        true if compared => {
            Searched::All(format!("{} against every other of its group{but}", case.searched()))
        }
        true => Searched::NotApplicable(
            "no group has two users, and weights of different groups divide different parts".into(),
        ),
    })
}
