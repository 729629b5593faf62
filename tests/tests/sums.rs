//! Sums over the users: proportional fairness, alpha-fairness, utilitarian.

use crate::solving::shares_of;
use fairplan_instances::{Certificate, Instance, Objective, Solution, Solver, Status, Total};
use fairplan_solver::backend;
use fairplan_tests::{
    Draft, by_clarabel, random_crowd, random_draft, random_draft_with_task_rows, sum_of_utilities, takes_part,
};
use fairplan_verify::{SolutionClaim, verify_solution};

/// From one end of what is accepted to the other.
const ALPHAS: [f64; 7] = [0.0, 0.05, 0.5, 1.0, 2.0, 8.0, 64.0];

fn total(solution: &Solution) -> &Total {
    match &solution.certificate {
        Certificate::Total(total) => total,
        Certificate::Levels { .. } | Certificate::Bottlenecks => panic!("a sum is proved by one set of prices"),
    }
}

/// Solves, and says what is wrong if the checker does not accept it.
fn proved(instance: &Instance, objective: Objective, solver: &dyn Solver) -> Result<Solution, String> {
    let solution = solver.solve(instance, objective).map_err(|error| error.to_string())?;
    let proof = verify_solution(instance, &SolutionClaim::from(&solution));
    if let Some(verdict) = proof.failures().next() {
        return Err(format!("{:?}, refused: {verdict:?}", solution.status));
    }
    match solution.status {
        Status::Optimal => Ok(solution),
        _ => Err(format!("not certified, gap {:e}", total(&solution).relative_gap)),
    }
}

fn all_are_proved(drafts: impl Iterator<Item = (u64, Draft)>, alphas: &[f64], backends: &[&str]) {
    let (mut failures, mut cases) = (Vec::new(), 0);
    for (seed, draft) in drafts {
        let instance = draft.build().unwrap();
        for &alpha in alphas {
            for name in backends {
                cases += 1;
                let solver = backend(name).unwrap();
                if let Err(problem) = proved(&instance, Objective::alpha_fair(alpha).unwrap(), &*solver) {
                    failures.push(format!("seed {seed}, alpha {alpha}, {name}: {problem}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_sum_of_random_instances_is_proved() {
    all_are_proved((0..500).map(|seed| (seed, random_draft(seed))), &ALPHAS, &["auto", "ipm"]);
}

#[test]
fn every_sum_is_proved_where_tasks_are_few_and_faster_on_some_classes() {
    all_are_proved((0..500).map(|seed| (seed, random_draft_with_task_rows(seed))), &ALPHAS, &["auto"]);
}

#[test]
fn every_sum_over_crowds_that_share_bins_is_proved() {
    all_are_proved((0..40).map(|seed| (seed, random_crowd(seed, 600))), &ALPHAS, &["auto"]);
}

/// How far values may differ, in parts of the whole sum, and what shares may miss of it.
const VALUES: f64 = 1e-8;
const SHARES: f64 = 1e-9;

fn agrees_with_clarabel(alpha: f64) {
    let objective = Objective::alpha_fair(alpha).unwrap();
    let (mut failures, mut compared) = (Vec::new(), 0);
    for seed in 3_000_000..3_000_500 {
        let draft = random_draft(seed);
        let instance = draft.build().unwrap();
        let Some(theirs) = by_clarabel(&instance, objective, 1e-10) else { continue };
        compared += 1;
        let solution = backend("auto").unwrap().solve(&instance, objective).unwrap();
        let shares = shares_of(&instance, &solution);
        let value = sum_of_utilities(&instance, alpha, &shares);
        let weight: f64 = instance
            .users()
            .filter(|user| takes_part(&instance, *user))
            .map(|user| user.weight().to_f64())
            .sum();
        // `Σ w G^(1−α)`, of which values are a fixed part.
        let scale = if alpha == 1.0 { weight } else { value.abs() * (1.0 - alpha).abs() };
        if !((value - theirs.value).abs() <= VALUES * scale) {
            failures.push(format!("seed {seed}: value {value}, by Clarabel {}", theirs.value));
        }
        for (user, (ours, theirs)) in instance.users().zip(shares.iter().zip(&theirs.shares)) {
            // A share that is off by a part `x` costs the sum `α/2 x² w G^(1−α)`: so values tell only that much.
            let own = user.weight().to_f64() * ours.powf(1.0 - alpha);
            let uncertain = (2.0 * SHARES * scale / (alpha * own)).sqrt();
            if alpha > 0.0 && *ours > 0.0 && !((theirs / ours).ln().abs() <= uncertain) {
                failures.push(format!("seed {seed}: {} has {ours}, by Clarabel {theirs}", user.id()));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {compared} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(compared >= 450, "Clarabel solved only {compared} of 500");
}

#[test]
fn proportional_fairness_agrees_with_clarabel() {
    agrees_with_clarabel(1.0);
}

#[test]
fn alpha_fairness_agrees_with_clarabel() {
    agrees_with_clarabel(0.5);
    agrees_with_clarabel(2.0);
    agrees_with_clarabel(4.0);
}

#[test]
fn the_utilitarian_optimum_agrees_with_clarabel() {
    agrees_with_clarabel(0.0);
}

#[test]
fn dump() {
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let draft = match std::env::var("KIND").as_deref() {
        Ok("rows") => random_draft_with_task_rows(seed),
        Ok("crowd") => random_crowd(seed, 600),
        _ => random_draft(seed),
    };
    std::fs::write(std::env::var("OUT").unwrap(), fairplan_tests::printed(&draft.build().unwrap())).unwrap();
}
