//! Monotonicity: nobody does less work because somebody leaves (DRFH Prop. 7), or because there is more to share.

use super::case::{Case, name, work};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::work::{amount, shortfall};
use fairplan_instances::{Decimal, Draft, InstanceError};

/// How much is added of one resource.
const MORE: f64 = 1.1;

pub(super) fn population(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    if case.instance.user_count() == 1 {
        return Ok(Searched::NotApplicable("there is only one user".into()));
    }
    for leaver in case.sample() {
        let mut draft = case.draft.clone();
        draft.users.remove(leaver);
        let before = |i: usize| case.work[i + usize::from(i >= leaver)];
        compare(case, &draft, before, worst, &|| format!("user {} leaves", name(&case.instance, leaver)))?;
    }
    Ok(Searched::All(format!("{} leaving one by one", case.searched())))
}

pub(super) fn resources(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let before = |i: usize| case.work[i];
    for (l, class) in case.servers.classes.iter().enumerate() {
        let more = |draft: &mut Draft| draft.classes[l].set_count(class.count + 1);
        let Some(draft) = case.with_other_servers(more) else { continue };
        compare(case, &draft, before, worst, &|| format!("class {} has one more server", class.id))?;
    }
    for (r, resource) in case.draft.resources.iter().enumerate() {
        let more = |draft: &mut Draft| {
            for class in &mut draft.classes {
                let more = format!("{:.8e}", class.capacity[r].to_f64() * MORE);
                class.capacity[r] = Decimal::parse(more.as_bytes()).unwrap_or(class.capacity[r]);
            }
        };
        let Some(draft) = case.with_other_servers(more) else { continue };
        compare(case, &draft, before, worst, &|| format!("every server has a tenth more {resource}"))?;
    }
    Ok(Searched::All("one more server of each class, a tenth more of each resource".into()))
}

/// Notes by how much users of a variant do less work than before.
fn compare(
    case: &Case<'_>,
    draft: &Draft,
    before: impl Fn(usize) -> f64,
    worst: &mut LargestViolation,
    change: &dyn Fn() -> String,
) -> Result<(), InstanceError> {
    let Some((variant, solution)) = case.solve(draft)? else { return Ok(()) };
    for user in variant.users() {
        let (before, after) = (before(user.index().0), work(user, &solution.allocation));
        worst.see(shortfall(after, before), || {
            let (after, before) = (amount(after), amount(before));
            format!(
                "when {}, user {} does the work of {after} tasks instead of {before}",
                change(),
                user.id()
            )
        });
    }
    Ok(())
}
