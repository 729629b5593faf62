//! Sums under limits, reserves and guarantees: proved, as Clarabel has them, cases worked by hand, and claims that are wrong.

use crate::conformance::backends;
use crate::solving::shares_of;
use fairplan_instances::{
    Allocation, Certificate, DraftQuota, InstanceError, LimitedBy, Objective, Owner, Quota, ResourceId,
    Solution, Status, guarantee_results,
};
use fairplan_report::solution::StatedNumbers;
use fairplan_tests::{
    Draft, bundles, by_clarabel, decimal, draft, random_kinds_under_quotas_of_classes,
    random_tree_with_quotas, random_tree_with_quotas_of_classes, sum_of_utilities,
};
use fairplan_verify::{SolutionClaim, verify_shortfall, verify_solution};
use std::ops::Range;

/// What became of random cases.
#[derive(Default)]
struct Seen {
    failures: Vec<String>,
    proved: u64,
    compared: u64,
    /// Proved ones with somebody held by a limit, and with somebody held up by a guarantee.
    limited: u64,
    held_up: u64,
    /// Refused because guarantees cannot be kept together, and because members of a group would have no fixed parts.
    too_much: u64,
    without_parts: u64,
    open: u64,
}

/// Solves what is drawn for sums of several α, and holds each against the checker, and against Clarabel where it knows all rules.
fn all_are_proved(seeds: Range<u64>, random: fn(u64) -> Draft) -> Seen {
    let (mut seen, solver) = (Seen::default(), &backends()[0]);
    for seed in seeds {
        let mut draft = random(seed);
        for user in draft.users.iter_mut().filter(|user| user.group.is_some()) {
            user.tasks = user.tasks.filter(|tasks| *tasks == 0);
        }
        for user in draft.users.iter_mut().filter(|user| user.tasks.is_some()) {
            user.rates.clear();
        }
        let Ok(instance) = draft.build() else { continue };
        let alpha = [0.0, 0.5, 1.0, 2.0, 4.0][(seed % 5) as usize];
        let objective = Objective::alpha_fair(alpha).unwrap();
        let mut fail = |problem: String| seen.failures.push(format!("seed {seed}, alpha {alpha}: {problem}"));
        let solution = match solver.solve(&instance, objective) {
            Ok(solution) => solution,
            Err(InstanceError::Guarantees(shortfall)) => {
                let verdict = verify_shortfall(&instance, objective, &shortfall);
                if !verdict.holds {
                    fail(format!("{verdict:?}"));
                }
                seen.too_much += 1;
                continue;
            }
            // What a group is guaranteed is not defined, as for any objective.
            Err(InstanceError::Inapplicable(_)) => continue,
            Err(error) => {
                let told = error.to_string();
                match told.contains("its part of its group") {
                    true => seen.without_parts += 1,
                    false => fail(told),
                }
                continue;
            }
        };
        if solution.status != Status::Optimal {
            seen.open += 1;
            continue;
        }
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        if !proof.holds() {
            fail(format!("{:?}", proof.failures().collect::<Vec<_>>()));
            continue;
        }
        seen.proved += 1;
        seen.limited += u64::from(solution.limited_by.contains(&LimitedBy::Limit));
        seen.held_up += u64::from(guarantee_results(&instance, &solution).iter().any(|one| one.held_up));
        let of_users_over_all = instance.quotas().iter().all(|(owner, quota)| {
            quota.guarantees.is_empty() && (quota.guarantee.is_empty() || matches!(owner, Owner::User(_)))
        });
        if instance.has_kinds() || !of_users_over_all {
            continue;
        }
        let Some(theirs) = by_clarabel(&instance, objective, 1e-10) else { continue };
        let value = sum_of_utilities(&instance, alpha, &shares_of(&instance, &solution));
        let weight: f64 = bundles(&instance).iter().map(|bundle| bundle.weight).sum();
        let scale = if alpha == 1.0 { weight } else { value.abs() * (1.0 - alpha).abs() };
        seen.compared += 1;
        // Ours is proved: Clarabel has seven digits of it, and where a member is tiny six.
        if (value - theirs.value).abs() > 1e-6 * scale {
            fail(format!("{value}, by Clarabel {}", theirs.value));
        }
    }
    seen
}

#[test]
fn sums_under_quotas_are_proved_and_agree_with_clarabel() {
    let mut told = Vec::new();
    for random in
        [random_tree_with_quotas, random_tree_with_quotas_of_classes, random_kinds_under_quotas_of_classes]
    {
        let seen = all_are_proved(0..250, random);
        let Seen { failures, proved, compared, limited, held_up, too_much, without_parts, open } = seen;
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
        told.push([proved, compared, limited, held_up, too_much, without_parts, open]);
    }
    let all = |which: usize| told.iter().map(|counts| counts[which]).sum::<u64>();
    assert!(all(0) > 100 && all(1) > 30 && all(2) > 25 && all(3) > 10 && all(4) > 40, "{told:?}");
    assert!(all(6) <= 3, "{told:?}");
}

/// Three users of twelve cores.
fn three(quotas: Vec<DraftQuota>) -> Draft {
    Draft { quotas, ..draft(&[(1, "12")], &["1", "1", "1"]) }
}

fn quota(owner: &str, quota: Quota) -> DraftQuota {
    DraftQuota { is_group: false, owner: owner.into(), quota }
}

fn guarantee(owner: &str, amount: &str) -> DraftQuota {
    quota(owner, Quota { guarantee: vec![(ResourceId(0), decimal(amount))], ..Quota::default() })
}

fn limit(owner: &str, amount: &str) -> DraftQuota {
    quota(owner, Quota { limit: vec![(ResourceId(0), decimal(amount))], ..Quota::default() })
}

fn solved(draft: &Draft) -> Solution {
    let solution = backends()[0].solve(&draft.build().unwrap(), Objective::ProportionalFairness).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    solution
}

#[test]
fn a_limit_leaves_the_others_more_and_a_guarantee_less() {
    for (quotas, expected) in [
        (vec![limit("user-0", "2")], [2.0, 5.0, 5.0]),
        (vec![guarantee("user-0", "8")], [8.0, 2.0, 2.0]),
        (vec![guarantee("user-0", "8"), limit("user-1", "1")], [8.0, 1.0, 3.0]),
        // What is guaranteed is all there is, and no other division is possible.
        (vec![guarantee("user-0", "2"), guarantee("user-1", "7"), guarantee("user-2", "3")], [2.0, 7.0, 3.0]),
        // Four are what it has anyway: then what it pays is known to the root of the tolerance only.
        (vec![guarantee("user-0", "4")], [4.0, 4.0, 4.0]),
    ] {
        let draft = three(quotas);
        let instance = draft.build().unwrap();
        let shares = shares_of(&instance, &solved(&draft));
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share * 12.0 - expected).abs() < 1e-5, "{shares:?} is not {expected}/12");
        }
    }
}

/// It was called uncertified, as if more steps would find what there is not.
#[test]
fn guarantees_that_leave_a_user_nothing_are_named_where_a_sum_has_no_optimum_then() {
    let draft = three(vec![guarantee("user-0", "8"), guarantee("user-1", "4")]);
    let instance = draft.build().unwrap();
    for (alpha, why) in
        [(1.0, "has no optimum"), (2.0, "has no optimum"), (0.5, "has no prices that prove it")]
    {
        let objective = Objective::alpha_fair(alpha).unwrap();
        let error = backends()[0].solve(&instance, objective).unwrap_err();
        let told = error.to_string();
        assert!(matches!(error, InstanceError::Inapplicable(_)), "{told}");
        assert!(["user-2", why, "user-0, user-1"].iter().all(|part| told.contains(part)), "{told}");
    }
    let solution = backends()[0].solve(&instance, Objective::Utilitarian).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    // A hair is enough.
    solved(&three(vec![guarantee("user-0", "8"), guarantee("user-1", "3.999")]));
}

#[test]
fn forged_prices_and_broken_guarantees_of_a_sum_are_refused() {
    let draft = three(vec![guarantee("user-0", "8"), limit("user-1", "1")]);
    let instance = draft.build().unwrap();
    let honest = solved(&draft);
    assert!(verify_solution(&instance, &SolutionClaim::from(&honest)).holds());
    let refused = |change: &dyn Fn(&mut Solution), verdict: &str| {
        let mut forged = honest.clone();
        change(&mut forged);
        let proof = verify_solution(&instance, &SolutionClaim::from(&forged));
        assert!(proof.failures().any(|failure| failure.property == verdict), "{:?}", proof.verdicts);
    };
    let limit_prices = |solution: &mut Solution, factor: f64| {
        let Certificate::Total(total) = &mut solution.certificate else {
            panic!("a sum has one set of prices")
        };
        total.limit_prices.iter_mut().for_each(|price| *price *= factor);
    };
    refused(&|solution| limit_prices(solution, 0.5), "optimality");
    refused(&|solution| limit_prices(solution, 2.0), "optimality");
    refused(&|solution| limit_prices(solution, -1.0), "well-formed");
    let tasks = |solution: &mut Solution, tasks: [f64; 3]| {
        solution.allocation = Allocation::new(1, tasks.to_vec(), vec![0; 3], vec![1.0]);
    };
    refused(&|solution| tasks(solution, [7.9, 1.0, 3.1]), "guarantees");
    refused(&|solution| tasks(solution, [8.0, 1.1, 2.9]), "limits");
    refused(&|solution| tasks(solution, [8.5, 1.0, 2.5]), "optimality");
}
