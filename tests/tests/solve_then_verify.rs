//! What `solve` calls proved, `verify` calls proved: over all objectives, plain, odd and larger instances, from the file.

use fairplan_instances::{Instance, Objective, Status, files::sha256_hex};
use fairplan_report::solution::{SolutionDocument, StatedNumbers, StatedSolution, solution_document};
use fairplan_report::{read_json, write_json};
use fairplan_solver::backend;
use fairplan_tests::{
    odd_draft, random_crowd, random_crowd_with_own_rates, random_draft, random_draft_with_task_rows,
};
use fairplan_verify::{SolutionClaim, verify_solution};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

const OBJECTIVES: [&str; 11] = [
    "drfh",
    "tsf",
    "drf",
    "drf-per-server",
    "bmf",
    "pf",
    "utilitarian",
    "alpha=0.3",
    "alpha=2",
    "alpha=7",
    "alpha=64",
];

/// How many results of these instances exit 0, of all that have a result.
fn verified(instances: impl Iterator<Item = (String, Instance)>) -> (u64, u64) {
    let instances: Vec<_> = instances.collect();
    let (proved, tried) = (AtomicU64::new(0), AtomicU64::new(0));
    instances.par_iter().for_each(|(name, instance)| {
        for objective in OBJECTIVES.map(|name| name.parse::<Objective>().unwrap()) {
            if objective.applies_to(instance).is_err() {
                continue;
            }
            let Ok(solution) = backend("auto").unwrap().solve(instance, objective) else { continue };
            tried.fetch_add(1, Ordering::Relaxed);
            let numbers = StatedNumbers::new(instance, &solution);
            let in_memory = verify_solution(instance, &SolutionClaim::from(&solution));
            let as_stated = verify_solution(instance, &numbers.claim(&solution));
            // What proves a solution proves what is stated of it: nothing is lost in rounding or told otherwise.
            assert!(
                as_stated.holds() || !in_memory.holds(),
                "{objective} of {name}: {:?}",
                as_stated.failures().collect::<Vec<_>>()
            );
            if solution.status != Status::Optimal || !as_stated.holds() {
                continue;
            }
            proved.fetch_add(1, Ordering::Relaxed);
            let (mut file, sha256) = (Vec::new(), sha256_hex(instance));
            let document = solution_document(instance, &solution, numbers.headline(), &sha256, false);
            write_json(&mut file, &document).unwrap();
            let document: SolutionDocument = read_json("solution.json", &file).unwrap();
            let stated = StatedSolution::new(&document, instance, &sha256).unwrap();
            let proof = stated.proof(instance);
            assert!(proof.holds(), "{objective} of {name}: {:?}", proof.failures().collect::<Vec<_>>());
        }
    });
    let counts = (proved.into_inner(), tried.into_inner());
    println!("{} of {} results proved, and every one of them verified", counts.0, counts.1);
    counts
}

#[test]
fn what_is_proved_of_plain_instances_is_verified() {
    let plain = (0..400).filter_map(|seed| Some((format!("seed {seed}"), random_draft(seed).build().ok()?)));
    let rows = (0..100)
        .filter_map(|seed| Some((format!("rows {seed}"), random_draft_with_task_rows(seed).build().ok()?)));
    let (proved, tried) = verified(plain.chain(rows));
    assert!(tried > 2_000 && proved * 100 > tried * 95, "{proved} of {tried}");
}

#[test]
fn what_is_proved_of_odd_instances_is_verified() {
    let odd = (0..600).filter_map(|seed| Some((format!("seed {seed}"), odd_draft(seed).build().ok()?)));
    let (proved, tried) = verified(odd);
    assert!(tried > 2_000 && proved * 100 > tried * 60, "{proved} of {tried}");
}

#[test]
fn what_is_proved_of_crowds_is_verified() {
    let crowds = (0..12).filter_map(|seed| {
        let draft =
            if seed % 3 == 0 { random_crowd_with_own_rates(seed, 40) } else { random_crowd(seed, 300) };
        Some((format!("crowd {seed}"), draft.build().ok()?))
    });
    let (proved, tried) = verified(crowds);
    assert!(tried > 50 && proved * 100 > tried * 80, "{proved} of {tried}");
}
