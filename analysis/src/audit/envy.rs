//! Envy-freeness: no user could do more work with what another holds, in proportion to their weights (DRFH Sec. III-C).

use super::case::{Case, name, work_with};
use super::largest::LargestViolation;
use super::{Searched, amount, shortfall};
use fairplan_instances::{SolverError, UserId};

pub(super) fn test(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, SolverError> {
    if case.instance.user_count() == 1 {
        return Ok(Searched::NotApplicable("there is only one user".into()));
    }
    for i in case.sample() {
        let user = case.instance.user(UserId(i));
        for other in case.instance.users().filter(|other| other.index().0 != i) {
            let scale = user.weight().to_f64() / other.weight().to_f64();
            let envied = work_with(user, other, &case.solution.allocation, scale);
            worst.see(shortfall(case.work[i], envied), || {
                let (own, could) = (amount(case.work[i]), amount(envied));
                let (id, of) = (user.id(), name(&case.instance, other.index().0));
                format!("user {id} does the work of {own} tasks, but could do that of {could} with what user {of} holds")
            });
        }
    }
    Ok(Searched::All(format!("{} against every other", case.searched())))
}
