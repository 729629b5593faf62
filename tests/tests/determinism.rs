//! The same instance gives the same bytes: run after run, on one thread or two.

use crate::conformance::backends;
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Instance, Objective, Solution, Statistics};

/// Every number of a solution as text that reads back exactly, without the seconds it took.
fn text(solver: &dyn fairplan_instances::Solver, instance: &Instance) -> String {
    let solution = solver.solve(instance, Objective::Drfh).unwrap();
    let statistics = Statistics { seconds: 0.0, ..solution.statistics };
    format!("{:?}", Solution { statistics, ..solution })
}

fn instances() -> Vec<Instance> {
    [
        (PopulationKind::Spread, Cluster::Google),
        (PopulationKind::Alike, Cluster::Google),
        (PopulationKind::Zeros, Cluster::Random { classes: 6, resources: 3 }),
        (PopulationKind::Weighted, Cluster::Distinct { servers: 20 }),
    ]
    .map(|(kind, cluster)| population(&PopulationOptions { kind, users: 200, cluster, seed: 4 }).unwrap())
    .into()
}

fn threads(count: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap()
}

#[test]
fn ten_runs_give_the_same_bytes() {
    for instance in instances() {
        for solver in backends() {
            let first = text(solver.as_ref(), &instance);
            for run in 1..10 {
                assert_eq!(first, text(solver.as_ref(), &instance), "run {run} of {}", solver.name());
            }
        }
    }
}

#[test]
fn one_thread_two_and_seven_give_the_same_bytes() {
    // Enough users that the work is spread over threads.
    let options =
        PopulationOptions { kind: PopulationKind::Alike, users: 50_000, cluster: Cluster::Google, seed: 4 };
    let mut instances = instances();
    instances.push(population(&options).unwrap());
    for instance in &instances {
        let on = |count| {
            threads(count).install(|| text(fairplan_solver::backend("auto").unwrap().as_ref(), instance))
        };
        let one = on(1);
        assert!(one == on(2) && one == on(7), "{instance:?} depends on the threads");
    }
}
