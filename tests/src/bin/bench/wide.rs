//! Wide clusters: as many unlike classes as there are kinds of machines in a cloud, with four resources.

use super::{Outcome, fastest, memory, proof};
use fairplan_instances::{Deadline, Objective};
use fairplan_solver::backend_within;
use fairplan_tests::unlike_classes;
use std::time::Duration;

/// Most seconds for a row.
const LIMIT: Duration = Duration::from_secs(200);

/// Users with uniform demands on classes with uniform capacities, no two alike.
pub fn unlike(scale: u64) -> Outcome {
    println!("## Wide clusters: classes of which no two are alike, four resources\n");
    println!(
        "Demands are uniform from 0.001 to 1, capacities from 1 to 64; at most {} s a row.\n",
        LIMIT.as_secs()
    );
    println!("| users × classes | objective | seconds | peak memory | method | levels | gap | certificate |");
    println!("|---|---|---|---|---|---|---|---|");
    for (users, classes, objective) in [
        (500, 100, Objective::Drfh),
        (1_000, 300, Objective::Drfh),
        (500, 100, Objective::ProportionalFairness),
        (1_000, 300, Objective::ProportionalFairness),
    ] {
        let (users, classes) = (users / scale, classes / scale);
        let instance = unlike_classes(users, classes, 4, 1);
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let (seconds, solution) = fastest(1, || {
            backend_within("auto", &Deadline::after(LIMIT))
                .map_err(|error| error.to_string())?
                .solve(&instance, objective)
                .map_err(|error| error.to_string())
        });
        let peak = memory("VmHWM") / 1024.0;
        let proof = proof(&instance, &solution?);
        println!("| {users} × {classes} | {objective} | {seconds:.1} | {peak:.0} MiB | {proof} |");
    }
    println!();
    Ok(())
}
