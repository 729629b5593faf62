//! Objectives that treat all servers as one, or each apart: against exact oracles on random instances.

use crate::conformance::{backends, conforms};
use crate::solving::{close, shares_of, value_of};
use fairplan_instances::generate::drfh_fig1;
use fairplan_instances::{ClassId, Instance, InstanceError, Objective, Solution, Status};
use fairplan_solver::backend;
use fairplan_tests::{
    Draft, Fraction, decimal, draft, exact_max_min, random_draft, water_filling, with_bundles_as_tasks,
    with_random_kinds,
};
use fairplan_verify::{SolutionClaim, verify_solution};

/// The proved solution of the default backend.
fn proved(instance: &Instance, objective: Objective) -> Solution {
    let solution = backend("auto").unwrap().solve(instance, objective).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    let proof = verify_solution(instance, &SolutionClaim::from(&solution));
    assert!(proof.holds(), "{:?}", proof.failures().next());
    solution
}

/// A random draft in which anybody may run anywhere, at rate 1.
fn random_open_draft(seed: u64) -> Draft {
    let mut draft = random_draft(seed);
    for user in &mut draft.users {
        user.eligible = None;
        user.rates.clear();
    }
    draft
}

/// The same users on one server of the whole capacity.
fn pooled(draft: &Draft) -> Draft {
    let mut pooled = draft.clone();
    pooled.classes.truncate(1);
    pooled.classes[0].count = 1;
    for (r, capacity) in pooled.classes[0].capacity.iter_mut().enumerate() {
        let whole = |class: &fairplan_instances::ServerClass| {
            class.capacity[r].scaled(0).unwrap() as u64 * class.count
        };
        *capacity = decimal(&draft.classes.iter().map(whole).sum::<u64>().to_string());
    }
    pooled
}

#[test]
fn every_backend_finds_the_exact_drf_of_the_pool() {
    let mut failures = Vec::new();
    for seed in 3_000..3_500 {
        let draft = random_open_draft(seed);
        let exact = exact_max_min(&pooled(&draft).build().unwrap());
        let instance = draft.build().unwrap();
        for solver in backends() {
            if let Err(problem) = conforms(&instance, Objective::DrfPooled, &exact, solver.as_ref()) {
                failures.push(format!("seed {seed}, {}: {problem}\n{draft}", solver.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_pool_ignores_that_servers_are_apart() {
    // DRFH Fig. 1 has 14 of either resource: shares of 5/7 over servers, 5/6 over the pool.
    let instance = drfh_fig1().unwrap();
    let solution = proved(&instance, Objective::DrfPooled);
    assert!(close(&shares_of(&instance, &solution), &[5.0 / 6.0, 5.0 / 6.0], 1e-9));
    assert!(solution.allocation.is_pooled());
    assert!(solution.allocation.placement(fairplan_instances::UserId(0)).next().is_none());
}

/// Dominant shares, of the whole cluster, when each server is filled apart, exactly.
fn exact_per_server(instance: &Instance) -> Vec<Fraction> {
    let draft = with_bundles_as_tasks(instance);
    let mut shares = vec![Fraction::zero(); draft.users.len()];
    for (l, class) in draft.classes.iter().enumerate() {
        let here: Vec<usize> = (0..draft.users.len())
            .filter(|&i| {
                instance.user(fairplan_instances::UserId(i)).kinds().all(|kind| kind.can_use(ClassId(l)))
            })
            .collect();
        let mut server = draft.clone();
        server.classes = vec![class.clone()];
        server.classes[0].count = 1;
        server.users = here.iter().map(|&i| draft.users[i].clone()).collect();
        server.users.iter_mut().for_each(|user| {
            user.eligible = None;
            user.rates.clear();
        });
        let Ok(server) = server.build() else { continue };
        for ((&i, user), weighted) in here.iter().zip(server.users()).zip(water_filling(&server)) {
            // Tasks on the class, from the weighted dominant share of one server.
            let share = |instance: &Instance, user: fairplan_instances::User<'_>| {
                (0..instance.resources().len())
                    .map(fairplan_instances::ResourceId)
                    .filter(|&r| user.demand_units(r) > 0)
                    .map(|r| Fraction::new(user.demand_units(r), instance.total_units(r)))
                    .max()
                    .unwrap()
            };
            let tasks = &(&weighted * &Fraction::from(user.weight())) / &share(&server, user);
            let owner = instance.user(fairplan_instances::UserId(i));
            let work =
                &(&tasks * &Fraction::from(class.count)) * &Fraction::from(owner.rule().rate(ClassId(l)));
            shares[i] = &shares[i] + &(&work * &share(instance, owner));
        }
    }
    shares
}

#[test]
fn drf_inside_each_server_is_the_exact_one() {
    for seed in 4_000..4_500 {
        for mut draft in [random_draft(seed), with_random_kinds(random_draft(seed), seed)] {
            draft.users.iter_mut().for_each(|user| user.tasks = None);
            let instance = draft.build().unwrap();
            let shares = shares_of(&instance, &proved(&instance, Objective::DrfPerServer));
            let exact: Vec<f64> = exact_per_server(&instance).iter().map(Fraction::to_f64).collect();
            assert!(close(&shares, &exact, 1e-12), "seed {seed}: {shares:?}, exactly {exact:?}\n{draft}");
        }
    }
}

#[test]
fn users_that_need_other_resources_go_on_when_the_first_is_used_up() {
    let mut draft = draft(&[(2, "9 18")], &["1 4", "3 1", "1 0", "0 1"]);
    draft.users[3].weight = decimal("2");
    let instance = draft.build().unwrap();
    // Per server: tasks 4.5 t, 3 t, 9 t, 36 t. CPU 4.5 t + 9 t + 9 t = 9 at t = 0.4, but memory
    // 18 t + 3 t + 36 t = 18 already at t = 6/19; then the third alone takes what CPU is left.
    let t = 6.0 / 19.0;
    let expected = [9.0 * t, 6.0 * t, 18.0 - 9.0 * t - 18.0 * t, 72.0 * t];
    let solution = proved(&instance, Objective::DrfPerServer);
    let tasks: Vec<f64> = instance.users().map(|user| solution.allocation.tasks(user.index())).collect();
    assert!(close(&tasks, &expected, 1e-12), "{tasks:?}");
}

#[test]
fn one_server_is_a_pool_and_a_cluster() {
    for seed in 5_000..5_100 {
        let mut draft = random_open_draft(seed);
        draft.classes.truncate(1);
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        let Ok(instance) = draft.build() else { continue };
        let drfh = shares_of(&instance, &proved(&instance, Objective::Drfh));
        for objective in [Objective::DrfPooled, Objective::DrfPerServer] {
            let shares = shares_of(&instance, &proved(&instance, objective));
            assert!(close(&drfh, &shares, 1e-9), "seed {seed}, {objective}: {shares:?}, not {drfh:?}");
        }
    }
}

#[test]
fn what_a_pool_or_a_server_apart_cannot_mean_is_refused_by_its_place() {
    let mut draft = draft(&[(1, "1"), (1, "1")], &["1", "1"]);
    draft.users[1].eligible = Some(vec![0]);
    let told = |draft: &Draft, objective: Objective| {
        let instance = draft.build().unwrap();
        match backend("auto").unwrap().solve(&instance, objective) {
            Err(InstanceError::Inapplicable(violation)) => violation.to_string(),
            other => panic!("{objective}: {other:?}"),
        }
    };
    assert!(
        told(&draft, Objective::DrfPooled).starts_with("users[1].eligible: drf treats all servers as one")
    );
    // All classes are no restriction.
    draft.users[1].eligible = Some(vec![0, 1]);
    let instance = draft.build().unwrap();
    assert!(value_of(&instance, &proved(&instance, Objective::DrfPooled)) > 0.499);
    draft.users[0].rates = vec![(1, decimal("2"))];
    assert!(told(&draft, Objective::DrfPooled).starts_with("users[0].rates: drf treats all servers as one"));
    draft.users[0].tasks = Some(3);
    assert!(told(&draft, Objective::DrfPerServer).starts_with("users[0].tasks: each server"));
}
