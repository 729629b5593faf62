//! Fractions instead of doubles: what they take, how long they get, and nearly everybody on one class.

use super::{Outcome, fastest};
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Deadline, Instance, InstanceBuilder, NewUser, Objective, Solution};
use fairplan_solver::{backend, exact_within, sparse};
use fairplan_tests::{Dice, decimal};
use fairplan_verify::verify_solution;

/// Users whose demands have three digits, as requests of cpu and memory mostly do.
fn requests(users: u64, cluster: Cluster) -> Result<Instance, Box<dyn std::error::Error>> {
    let servers =
        population(&PopulationOptions { kind: PopulationKind::Spread, users: 1, cluster, seed: 1 })?;
    let mut builder = InstanceBuilder::new("", servers.resources().to_vec())?;
    for class in servers.classes() {
        builder.class(class.clone())?;
    }
    let mut dice = Dice::new(1);
    for number in 0..users {
        let digits = |_| decimal(&format!("{}e-4", 1 + dice.below(999)));
        let demand: Vec<_> = (0..servers.resources().len()).map(digits).collect();
        builder.user(NewUser::new(&format!("u{number}"), &demand))?;
    }
    Ok(builder.build()?)
}

/// Solved and checked.
pub fn fractions(scale: u64) -> Outcome {
    println!("## Fractions\n");
    println!("Demands of three digits.\n");
    println!(
        "| users × classes | way | seconds | checked in | digits | users on several classes | certificate |"
    );
    println!("|---|---|---|---|---|---|---|");
    let random = Cluster::Random { classes: 10, resources: 2 };
    for (users, cluster) in [
        (10_000, Cluster::Google),
        (100_000, Cluster::Google),
        (100_000, random),
        (1_000_000, Cluster::Google),
    ] {
        let instance = requests(users / scale, cluster)?;
        let size = format!("{} × {}", instance.user_count(), instance.classes().len());
        for way in ["doubles", "--sparse", "--exact"] {
            let solver = match way {
                "doubles" => backend("auto").ok_or("no backend")?,
                "--sparse" => sparse(backend("auto").ok_or("no backend")?, &Deadline::never()),
                _ => exact_within(&Deadline::never()),
            };
            let (seconds, solution) = fastest(1, || solver.solve(&instance, Objective::Drfh));
            let solution: Solution = solution?;
            let (checked, proof) = fastest(1, || verify_solution(&instance, &(&solution).into()));
            let digits = solution.exact.as_ref().map_or(0, |exact| exact.value.len());
            let several = instance
                .users()
                .filter(|user| solution.allocation.placement(user.index()).count() > 1)
                .count();
            let proved = if proof.holds() { "proved" } else { "NOT PROVED" };
            println!("| {size} | {way} | {seconds:.2} | {checked:.2} | {digits} | {several} | {proved} |");
        }
    }
    println!();
    Ok(())
}
