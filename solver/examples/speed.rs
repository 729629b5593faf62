//! Scratch.
use fairplan_instances::Objective;
use fairplan_instances::generate::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let backend = fairplan_solver::backend(&args[1]).unwrap();
    let users: u64 = args[2].parse().unwrap();
    for case in &args[3..] {
        let (kind, cluster) = case.split_once('/').unwrap();
        let kind = match kind {
            "spread" => PopulationKind::Spread,
            "alike" => PopulationKind::Alike,
            "zeros" => PopulationKind::Zeros,
            _ => PopulationKind::Weighted,
        };
        let mut parts = cluster.split(':');
        let cluster = match parts.next().unwrap() {
            "google" => Cluster::Google,
            "random" => Cluster::Random {
                classes: parts.next().unwrap().parse().unwrap(),
                resources: parts.next().unwrap().parse().unwrap(),
            },
            _ => Cluster::Distinct { servers: parts.next().unwrap().parse().unwrap() },
        };
        let instance = population(&PopulationOptions { kind, users, cluster, seed: 1 }).unwrap();
        let start = Instant::now();
        let solution = backend.solve(&instance, Objective::Drfh).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let proof = fairplan_verify::verify_solution(&instance, &(&solution).into());
        eprintln!(
            "{case}: {seconds:.3} s, {:?} {} levels {:?} gap {:?} {:?} verify {:.3}s {}",
            solution.status,
            solution.method,
            solution.levels.iter().map(|l| (l.value, 1.0 - l.value / l.bound)).collect::<Vec<_>>(),
            proof.level_gaps,
            solution.statistics,
            start.elapsed().as_secs_f64(),
            proof.holds()
        );
        for v in proof.failures() {
            eprintln!("   {v:?}");
        }
    }
}
