//! Envy-freeness: no user could do more work with what another holds, in proportion to their weights (DRFH Sec. III-C). In groups
//! only those of one group are compared, whose weights divide the same part.

use super::case::{Case, name, work_with};
use super::largest::LargestViolation;
use super::{Searched, amount, shortfall};
use fairplan_instances::{SolverError, User, UserId};

pub(super) fn test(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, SolverError> {
    if case.instance.user_count() == 1 {
        return Ok(Searched::NotApplicable("there is only one user".into()));
    }
    let mut compared = false;
    for i in case.sample() {
        let user = case.instance.user(UserId(i));
        let is_beside = |other: &User<'_>| other.index().0 != i && other.group() == user.group();
        for other in case.instance.users().filter(is_beside) {
            compared = true;
            let scale = user.weight().to_f64() / other.weight().to_f64();
            let envied = work_with(user, other, &case.solution.allocation, scale);
            worst.see(shortfall(case.work[i], envied), || {
                let (own, could) = (amount(case.work[i]), amount(envied));
                let (id, of) = (user.id(), name(&case.instance, other.index().0));
                format!("user {id} does the work of {own} tasks, but could do that of {could} with what user {of} holds")
            });
        }
    }
    Ok(match case.instance.has_groups() {
        false => Searched::All(format!("{} against every other", case.searched())),
        true if compared => Searched::All(format!("{} against every other of its group", case.searched())),
        true => Searched::NotApplicable(
            "no group has two users, and weights of different groups divide different parts".into(),
        ),
    })
}
