//! Limits that hold nobody back: a sum is first solved without them, and where none of them is used up that is its optimum.
//!
//! Without limits users share bins and few prices tell all. With them each user is solved for by itself, which takes a thousand times as long
//! for some hundred users.

use crate::question::Question;
use crate::tolerance::level::LIMIT_USED_UP;
use crate::ways::{self, Way};
use fairplan_instances::{Certificate, QuotaPart, Solution, Status, taken_of_limits};

/// What is tried without limits: where that is not enough, all is tried with them.
const QUICK: &[Way] = &[
    Way::PriceDiscovery { first: true },
    Way::Aggregation { patient: false },
    Way::InteriorPoint { first: false },
];

/// The optimum of a sum under limits and reserves, if it is that without them too and is accepted.
pub(crate) fn solve(question: &Question<'_>, accept: &mut dyn FnMut(&Solution) -> bool) -> Option<Solution> {
    let Question { instance, objective, backend, deadline, .. } = *question;
    objective.alpha()?;
    if instance.limit_rows().is_empty() || instance.has_guarantees() {
        return None;
    }
    let without = instance.without_parts(&[QuotaPart::Limits, QuotaPart::Reserves]).ok()?;
    let relaxed = Question::new(&without, objective, backend, deadline);
    let mut solution = ways::solve(&relaxed, QUICK, &mut |_| true).ok()?;
    let Certificate::Total(total) = &mut solution.certificate else { return None };
    total.limit_prices = vec![0.0; instance.limit_rows().len()];
    let taken = taken_of_limits(instance, &solution.allocation);
    let is_idle = |(row, taken): (&fairplan_instances::LimitRow, &f64)| {
        *taken < row.amount.to_f64() * (1.0 - LIMIT_USED_UP)
    };
    let are_idle = instance.limit_rows().iter().zip(&taken).all(is_idle);
    (are_idle && solution.status == Status::Optimal && accept(&solution)).then_some(solution)
}

#[cfg(test)]
mod tests {
    use crate::backend;
    use fairplan_instances::{
        Certificate, Draft, DraftQuota, LimitedBy, Objective, Quota, ResourceId, Solution, Status, UserId,
        generate,
    };

    /// The optimum of α = 8 where the first user is limited to so much of the first resource, if to any.
    fn limited_to(most: Option<u32>) -> Solution {
        let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
        if let Some(most) = most {
            let quota = Quota { limit: vec![(ResourceId(0), most.into())], ..Quota::default() };
            draft.quotas = vec![DraftQuota { is_group: false, owner: draft.users[0].id.clone(), quota }];
        }
        let instance = draft.build().unwrap();
        let solution =
            backend("auto").unwrap().solve(&instance, Objective::alpha_fair(8.0).unwrap()).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        solution
    }

    #[test]
    fn a_limit_that_holds_nobody_changes_nothing_and_one_that_does_holds() {
        let (without, idle, holding) = (limited_to(None), limited_to(Some(9)), limited_to(Some(1)));
        let tasks = |solution: &Solution| [0, 1].map(|user| solution.allocation.tasks(UserId(user)));
        assert_eq!((idle.method, tasks(&idle)), (without.method, tasks(&without)));
        let Certificate::Total(total) = &idle.certificate else { panic!("it is a sum") };
        assert_eq!(total.limit_prices, [0.0]);
        assert_eq!((idle.limited_by[0], holding.limited_by[0]), (LimitedBy::Capacity, LimitedBy::Limit));
        assert!(tasks(&holding)[0] < tasks(&without)[0]);
    }
}
