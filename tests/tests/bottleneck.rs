//! Bottleneck max fairness: against every such allocation of small instances, the published ones, and at size.

use crate::solving::close;
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Instance, InstanceError, Objective, Solution, Status};
use fairplan_solver::backend;
use fairplan_tests::{Draft, Fraction, decimal, draft, exact_bottlenecks, random_draft};
use fairplan_verify::{SolutionClaim, verify_solution};

/// The proved solution of the default backend.
fn proved(instance: &Instance) -> Solution {
    let solution = backend("auto").unwrap().solve(instance, Objective::BottleneckMaxFairness).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{instance:?}");
    let proof = verify_solution(instance, &SolutionClaim::from(&solution));
    assert!(proof.holds(), "{instance:?}: {:?}", proof.failures().next());
    solution
}

fn tasks(instance: &Instance) -> Vec<f64> {
    let solution = proved(instance);
    instance.users().map(|user| solution.allocation.tasks(user.index())).collect()
}

/// A random draft that bottleneck max fairness is defined for.
fn random(seed: u64) -> Draft {
    let mut draft = random_draft(seed);
    for user in &mut draft.users {
        user.eligible = None;
        user.rates.clear();
        user.tasks = None;
    }
    draft
}

#[test]
fn the_only_one_is_found_and_one_of_several() {
    let (mut several, mut open) = (0, 0);
    for seed in 0..1_500 {
        let draft = random(seed);
        let instance = draft.build().unwrap();
        let exact = exact_bottlenecks(&instance);
        let found = tasks(&instance);
        assert!(exact.may_be_more || !exact.allocations.is_empty(), "seed {seed}: none exists\n{draft}");
        let same = |tasks: &Vec<Fraction>| {
            close(&found, &tasks.iter().map(Fraction::to_f64).collect::<Vec<_>>(), 1e-9)
        };
        if instance.resources().len() <= 2 {
            assert!(exact.allocations.len() == 1, "seed {seed}: two resources have one\n{draft}");
        }
        several += u32::from(exact.allocations.len() > 1);
        open += u32::from(exact.may_be_more);
        // In a continuum any point may be found, as long as the checker says that it is one.
        assert!(
            exact.may_be_more || exact.allocations.iter().any(same),
            "seed {seed}: {found:?} is none of {exact:?}\n{draft}"
        );
    }
    println!("{several} with several, {open} with singular assignments");
}

#[test]
fn the_published_allocations_of_two_resources() {
    // MRF Sec. 2.3 and 2.4: BMF is PF there.
    for (claim, expected) in
        [("0.5", [2.0 / 3.0; 2]), ("0.6666666666666666667", [0.75, 0.5]), ("1", [0.5; 2])]
    {
        let instance = draft(&[(1, "1 1")], &[&format!("{claim} 1"), "1 0.5"]).build().unwrap();
        assert!(close(&tasks(&instance), &expected, 1e-12), "claiming {claim}: {:?}", tasks(&instance));
    }
}

#[test]
fn of_the_published_continuum_the_first_that_the_path_meets() {
    // MRF Sec. 2.4: (2/5 - x/15, 2/5 + 2x/45, 2/5 + 2x/45) for 0 <= x <= 1; all three resources are used up at once.
    let instance = draft(&[(1, "1 1 1")], &["1 1 1", "1 0.5 0.75", "0.5 1 0.75"]).build().unwrap();
    assert!(close(&tasks(&instance), &[0.4; 3], 1e-12), "{:?}", tasks(&instance));
    for x in [0.0, 0.5, 1.0] {
        let published = [0.4 - x / 15.0, 0.4 + 2.0 * x / 45.0, 0.4 + 2.0 * x / 45.0];
        let mut solution = proved(&instance);
        let scaled = published.iter().map(|tasks| tasks * (1.0 - 1e-15)).collect();
        solution.allocation = fairplan_instances::Allocation::pooled(scaled);
        assert!(verify_solution(&instance, &SolutionClaim::from(&solution)).holds(), "{x}");
    }
    let mut solution = proved(&instance);
    solution.allocation = fairplan_instances::Allocation::pooled(vec![0.41, 0.39, 0.39]);
    assert!(!verify_solution(&instance, &SolutionClaim::from(&solution)).holds());
}

#[test]
fn many_users_of_many_resources() {
    for resources in [2, 3, 4, 6] {
        for kind in
            [PopulationKind::Spread, PopulationKind::Alike, PopulationKind::Zeros, PopulationKind::Weighted]
        {
            let cluster = Cluster::Random { classes: 6, resources };
            for users in [300, 6_000] {
                proved(&population(&PopulationOptions { kind, users, cluster, seed: 3 }).unwrap());
            }
        }
    }
}

#[test]
fn limits_are_refused_by_their_place() {
    let mut draft = draft(&[(1, "1 1")], &["1 1", "1 0.5"]);
    let told = |draft: &Draft| {
        let instance = draft.build().unwrap();
        match backend("auto").unwrap().solve(&instance, Objective::BottleneckMaxFairness) {
            Err(InstanceError::Inapplicable(violation)) => violation.to_string(),
            other => panic!("{other:?}"),
        }
    };
    draft.users[1].tasks = Some(1);
    assert!(told(&draft).starts_with("users[1].tasks: bottleneck max fairness is defined for"));
    draft.users[0].rates = vec![(0, decimal("2"))];
    assert!(told(&draft).starts_with("users[0].rates: bmf treats all servers as one"));
}
