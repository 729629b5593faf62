//! Audits under limits, guarantees and reserves, and of users with kinds of tasks: what DRFH keeps on random cases, and mechanisms that
//! waste what a limit leaves are found out.

use crate::groups::in_groups;
use fairplan_analysis::{AuditSettings, Finding, Holds, NotTested, audit};
use fairplan_instances::{
    Allocation, DraftQuota, Instance, InstanceError, Objective, Quota, ResourceId, Solution, Solver, UserId,
};
use fairplan_solver::backend;
use fairplan_tests::{Draft, decimal, draft, kind, random_draft, random_tree_with_quotas, with_random_kinds};

const SETTINGS: AuditSettings = AuditSettings { users: 2, seed: 1 };

fn audited(instance: &Instance, mechanism: &dyn Solver) -> Result<Vec<Finding>, InstanceError> {
    let reference = backend("auto").unwrap();
    Ok(audit(instance, "", Objective::Drfh, mechanism, &*reference, SETTINGS)?.properties)
}

fn of<'a>(findings: &'a [Finding], property: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.name == property).unwrap()
}

fn quota(is_group: bool, owner: &str, quota: Quota) -> DraftQuota {
    DraftQuota { is_group, owner: owner.into(), quota }
}

fn limit(amount: &str) -> Quota {
    Quota { limit: vec![(ResourceId(0), decimal(amount))], ..Quota::default() }
}

/// Everybody gets a part of what DRFH gives.
struct Part(f64);

impl Solver for Part {
    fn name(&self) -> &'static str {
        "part"
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
        let solution = backend("auto").unwrap().solve(instance, objective)?;
        let tasks: Vec<f64> =
            (0..instance.user_count()).map(|i| self.0 * solution.allocation.tasks(UserId(i))).collect();
        assert!(instance.classes().len() == 1 && !instance.has_kinds());
        Ok(Solution { allocation: Allocation::from_matrix(1, &tasks), ..solution })
    }
}

/// One class of 12 cores: `search` and `web` in a group of 4 at most, `batch` beside it.
fn limited() -> Draft {
    let users = draft(&[(12, "1")], &["1", "1", "1"]);
    let mut draft = in_groups(users, &[("company", None)], &[Some(0), Some(0), None]);
    draft.quotas = vec![quota(true, "company", limit("4"))];
    draft
}

#[test]
fn what_limits_leave_no_one_can_have_and_what_they_do_not_is_wasted() {
    let instance = limited().build().unwrap();
    let findings = audited(&instance, &*backend("auto").unwrap()).unwrap();
    // `batch` has 8 of 12 cores; the group could have no more.
    for property in ["envy-freeness", "pareto-optimality", "truthfulness"] {
        assert_eq!(of(&findings, property).holds, Holds::Tested(true), "{:?}", of(&findings, property));
    }
    let sharing = of(&findings, "sharing-incentive");
    assert!(sharing.witness.contains("1 of 3 users, whom no limit of a group holds"), "{sharing:?}");
    let splitting = of(&findings, "group-splitting");
    assert_eq!(splitting.holds, Holds::NotTested(NotTested::NotApplicable), "{splitting:?}");
    let wasted = audited(&instance, &Part(0.5)).unwrap();
    let pareto = of(&wasted, "pareto-optimality");
    assert_eq!(pareto.holds, Holds::Tested(false), "{pareto:?}");
    // Each could have twice what it has, within the limit.
    assert!((pareto.residual.unwrap() - 0.5).abs() < 1e-6, "{pareto:?}");
}

#[test]
fn who_is_guaranteed_something_is_not_envied_and_its_own_limit_is_no_envy() {
    let users = draft(&[(12, "1")], &["1", "1", "1"]);
    let mut draft = in_groups(users, &[], &[None, None, None]);
    let sure = Quota { guarantee: vec![(ResourceId(0), decimal("8"))], ..Quota::default() };
    draft.quotas = vec![quota(false, "user-0", sure), quota(false, "user-1", limit("1"))];
    let findings = audited(&draft.build().unwrap(), &*backend("auto").unwrap()).unwrap();
    let envy = of(&findings, "envy-freeness");
    assert_eq!(envy.holds, Holds::Tested(true), "{envy:?}");
    assert!(envy.witness.contains("but for those with guarantees or reserves"), "{envy:?}");
    assert_eq!(of(&findings, "pareto-optimality").holds, Holds::Tested(true));
    assert_eq!(of(&findings, "sharing-incentive").holds, Holds::NotTested(NotTested::NotApplicable));
}

#[test]
fn a_bundle_of_kinds_is_worth_what_all_its_kinds_make_of_it() {
    // The trainer needs a worker on the second class and a driver anywhere; the other is envied by nobody for what it cannot use.
    let mut draft = draft(&[(1, "10 0"), (1, "10 4")], &["1 1", "1 0"]);
    draft.users[0].kinds = vec![kind("worker", 2, "1 1", None), kind("driver", 1, "4 0", None)];
    let findings = audited(&draft.build().unwrap(), &*backend("auto").unwrap()).unwrap();
    for property in ["envy-freeness", "pareto-optimality", "sharing-incentive"] {
        assert_eq!(of(&findings, property).holds, Holds::Tested(true), "{:?}", of(&findings, property));
    }
    let truth = of(&findings, "truthfulness");
    assert!(
        truth.witness.contains("what users with kinds of tasks could claim is not searched"),
        "{truth:?}"
    );
}

#[test]
fn drfh_is_free_of_envy_and_waste_on_random_quotas_and_kinds() {
    let mut tested = [0; 2];
    for seed in 0..60 {
        for (with_kinds, draft) in
            [(false, random_tree_with_quotas(seed)), (true, with_random_kinds(random_draft(seed), seed))]
        {
            // Many resources are many misreports, which take long.
            let Ok(instance) = draft.build() else { continue };
            if draft.resources.len() > 2 || draft.users.iter().any(|user| !user.rates.is_empty()) {
                continue;
            }
            let findings = match audited(&instance, &*backend("auto").unwrap()) {
                // Guarantees that the servers do not hold.
                Err(InstanceError::Guarantees(_)) => continue,
                findings => findings.unwrap(),
            };
            for property in ["envy-freeness", "pareto-optimality"] {
                let finding = of(&findings, property);
                assert_ne!(finding.holds, Holds::Tested(false), "{seed}: {finding:?}\n{draft}");
                tested[usize::from(with_kinds)] += usize::from(finding.holds == Holds::Tested(true));
            }
        }
    }
    assert!(tested.iter().all(|tested| *tested > 20), "{tested:?}");
}
