//! What every backend must do, on 2,000 random instances and judged by the exact oracle: the same shares, a
//! proof that closes, and an optimum inside the proved bracket.

use crate::solving::{close, shares_of};
use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, drfh_fig1, drfh_fig4, google, population,
};
use fairplan_instances::{Instance, LimitedBy, Objective, Solver, Status};
use fairplan_solver::backend;
use fairplan_tests::backend_names;
use fairplan_tests::{
    Draft, ExactMaxMin, Fraction, exact_max_min_of, random_draft, random_draft_with_task_rows,
};
use fairplan_verify::{SolutionClaim, verify_solution};

/// Relative difference from the exact share that is still the same share.
const SAME: f64 = 1e-8;

pub fn backends() -> Vec<Box<dyn Solver>> {
    backend_names().map(|name| backend(name).expect("every listed backend exists")).collect()
}

fn same(claimed: f64, exact: &Fraction) -> bool {
    claimed.is_finite() && (&Fraction::from_f64(claimed) - exact).abs() <= &Fraction::from_f64(SAME) * exact
}

/// Solves, and compares everything about the solution with the exact optimum.
pub fn conforms(
    instance: &Instance,
    objective: Objective,
    exact: &ExactMaxMin,
    solver: &dyn Solver,
) -> Result<(), String> {
    let solution = solver.solve(instance, objective).map_err(|error| error.to_string())?;
    if solution.status != Status::Optimal {
        return Err("not certified".into());
    }
    let proof = verify_solution(instance, &SolutionClaim::from(&solution));
    if let Some(verdict) = proof.failures().next() {
        return Err(format!("the checker refuses it: {verdict:?}"));
    }
    if !(Fraction::from_f64(proof.primal) <= *exact.value()
        && *exact.value() <= Fraction::from_f64(proof.dual))
    {
        return Err(format!("{:?} is outside {} .. {}", exact.value(), proof.primal, proof.dual));
    }
    for (i, (claimed, exact)) in shares_of(instance, &solution).iter().zip(&exact.shares).enumerate() {
        if !same(*claimed, exact) {
            return Err(format!("user {i} has share {claimed}, exactly {exact:?}"));
        }
    }
    for (i, exact) in exact.weighted.iter().enumerate() {
        if solution.limited_by[i] == LimitedBy::Capacity {
            let level_of = solution.certificate.level_of().expect("a max-min has levels");
            let level = solution.certificate.levels()[level_of[i] as usize].value;
            if !same(level, exact) {
                return Err(format!("user {i} is said to be on level {level}, exactly {exact:?}"));
            }
        }
    }
    Ok(())
}

fn every_backend_finds_the_exact_optimum(
    seeds: std::ops::Range<u64>,
    draw: fn(u64) -> Draft,
    objective: Objective,
) {
    let backends = backends();
    let mut failures = Vec::new();
    for seed in seeds {
        let draft = draw(seed);
        let instance = draft.build().unwrap();
        let exact = exact_max_min_of(&instance, objective);
        for solver in &backends {
            if let Err(problem) = conforms(&instance, objective, &exact, solver.as_ref()) {
                failures.push(format!("seed {seed}, {}: {problem}\n{draft}", solver.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_backend_finds_the_exact_optimum_of_a_thousand_instances() {
    every_backend_finds_the_exact_optimum(0..1_000, random_draft, Objective::Drfh);
}

#[test]
fn every_backend_finds_the_exact_optimum_of_a_second_thousand() {
    every_backend_finds_the_exact_optimum(1_000..2_000, random_draft, Objective::Drfh);
}

#[test]
fn every_backend_finds_the_exact_optimum_where_tasks_are_few_and_faster_on_some_classes() {
    every_backend_finds_the_exact_optimum(0..1_000, random_draft_with_task_rows, Objective::Drfh);
}

#[test]
fn every_backend_finds_the_exact_task_shares() {
    every_backend_finds_the_exact_optimum(2_000..2_700, random_draft, Objective::TaskShareFairness);
    every_backend_finds_the_exact_optimum(0..300, random_draft_with_task_rows, Objective::TaskShareFairness);
}

#[test]
fn the_backends_agree_on_clusters() {
    let mut instances = vec![drfh_fig1(), drfh_fig4(&[1, 2, 3]), google(&GoogleOptions::default())];
    instances.push(google(&GoogleOptions { finite: true, rounded: true, ..GoogleOptions::default() }));
    for kind in
        [PopulationKind::Spread, PopulationKind::Alike, PopulationKind::Zeros, PopulationKind::Weighted]
    {
        let cluster = Cluster::Random { classes: 6, resources: 3 };
        instances.push(population(&PopulationOptions { kind, users: 150, cluster, seed: 3 }));
    }
    for instance in instances.into_iter().map(Result::unwrap) {
        let shares: Vec<Vec<f64>> = backends()
            .iter()
            .map(|solver| {
                let solution = solver.solve(&instance, Objective::Drfh).unwrap();
                assert_eq!(solution.status, Status::Optimal, "{} on {instance:?}", solver.name());
                let proof = verify_solution(&instance, &SolutionClaim::from(&solution));
                assert!(proof.holds(), "{} on {instance:?}: {:?}", solver.name(), proof.failures().next());
                shares_of(&instance, &solution)
            })
            .collect();
        for (name, other) in backend_names().zip(&shares) {
            assert!(close(&shares[0], other, SAME), "{name} differs on {instance:?}");
        }
    }
}
