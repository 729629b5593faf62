//! Groups: the same users flat, and in a tree of two depths.

use super::{Outcome, fastest, instance, proof};
use fairplan_instances::generate::{Cluster, PopulationKind};
use fairplan_instances::{Decimal, Draft, NewGroup, Objective, Random};
use fairplan_solver::backend;

/// A hundredth of the groups are organisations, the others teams of theirs.
const GROUPS: u64 = 10_000;

/// Weights that groups have, one after the other.
const WEIGHTS: [u32; 3] = [1, 2, 5];

pub(super) fn groups(scale: u64) -> Outcome {
    let (users, count) = (1_000_000 / scale, GROUPS / scale);
    println!("\n## {users} users in {count} groups of two depths, Google classes\n");
    println!("| users | seconds | ratio to flat | method | levels | gap | certificate |");
    println!("|---|---|---|---|---|---|---|");
    let auto = backend("auto").ok_or("no backend auto")?;
    for (name, limited) in [("weighted", false), ("weighted, half of them with 1 to 50 tasks", true)] {
        let mut draft = Draft::from(&instance(PopulationKind::Weighted, users, Cluster::Google)?);
        let mut random = Random::new(1, 0);
        for user in draft.users.iter_mut().filter(|_| limited) {
            user.tasks = (random.below(2) == 0).then(|| 1 + random.below(50));
        }
        let mut flat = 0.0;
        for (shape, grouped) in [("flat", false), ("tree", true)] {
            if grouped {
                let organisations = (count / 100).max(1);
                draft.groups = (0..count)
                    .map(|g| NewGroup {
                        id: format!("group-{g}"),
                        weight: Decimal::from(WEIGHTS[(g % 3) as usize]),
                        parent: (g >= organisations).then(|| format!("group-{}", g % organisations)),
                    })
                    .collect();
                let teams = count - organisations;
                for user in &mut draft.users {
                    user.group = Some((organisations + random.below(teams)) as usize);
                }
            }
            let instance = draft.build()?;
            let (seconds, solution) = fastest(3, || auto.solve(&instance, Objective::Drfh));
            if !grouped {
                flat = seconds;
            }
            let ratio = seconds / flat;
            println!("| {name}, {shape} | {seconds:.3} | {ratio:.1} | {} |", proof(&instance, &solution?));
        }
    }
    Ok(())
}
