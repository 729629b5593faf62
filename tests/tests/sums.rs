//! Scratch.
use crate::solving::shares_of;
use fairplan_instances::{Certificate, Objective, Status};
use fairplan_solver::backend;
use fairplan_tests::random_draft;

#[test]
fn scratch() {
    let name = std::env::var("BACKEND").unwrap_or("ipm".into());
    for alpha in [0.0, 0.05, 0.5, 1.0, 2.0, 8.0, 64.0] {
        let objective = Objective::alpha_fair(alpha).unwrap();
        let (mut bad, mut steps, mut rounds) = (0, 0, 0);
        for seed in 0..500 {
            let draft = random_draft(seed);
            let instance = draft.build().unwrap();
            let solution = backend(&name).unwrap().solve(&instance, objective).unwrap();
            let Certificate::Total(total) = &solution.certificate else { panic!() };
            steps += solution.statistics.iterations;
            rounds += solution.statistics.rounds;
            if solution.status != Status::Optimal {
                bad += 1;
                if bad <= 3 {
                    println!(
                        "alpha {alpha} seed {seed}: gap {:e} value {} {:?}",
                        total.relative_gap,
                        total.value,
                        shares_of(&instance, &solution)
                    );
                }
            }
        }
        println!(
            "alpha {alpha}: {bad} bad, {} steps, {} rounds",
            steps as f64 / 500.0,
            rounds as f64 / 500.0
        );
    }
}

#[test]
fn one() {
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let alpha: f64 = std::env::var("ALPHA").unwrap().parse().unwrap();
    let draft = random_draft(seed);
    println!("{draft}");
    let instance = draft.build().unwrap();
    let solution = backend(&std::env::var("BACKEND").unwrap_or("ipm".into()))
        .unwrap()
        .solve(&instance, Objective::alpha_fair(alpha).unwrap())
        .unwrap();
    println!("{:?} {:?} {:?}", solution.certificate, shares_of(&instance, &solution), solution.limited_by);
}
