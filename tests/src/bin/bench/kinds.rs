//! Kinds of tasks: users of three kinds each, and the same users with the sum of their kinds as one demand.

use super::{Outcome, fastest, instance, proof};
use fairplan_instances::generate::{Cluster, PopulationKind};
use fairplan_instances::{Decimal, Draft, DraftKind, Objective};
use fairplan_solver::backend;

/// Users of three kinds each.
const USERS: u64 = 100_000;

pub(super) fn kinds(scale: u64) -> Outcome {
    let users = USERS / scale;
    println!("\n## {users} users of three kinds each, Google classes\n");
    println!("| objective | users | seconds | ratio to the sum | method | levels | gap | certificate |");
    println!("|---|---|---|---|---|---|---|---|");
    let auto = backend("auto").ok_or("no backend auto")?;
    // Three users of the population are one here, each of them a kind: so kinds differ as users do.
    let mut draft = Draft::from(&instance(PopulationKind::Spread, 3 * users, Cluster::Google)?);
    let all = std::mem::take(&mut draft.users);
    for three in all.chunks_exact(3) {
        let mut user = three[0].clone();
        let each = |k: usize| 1 + k as u64;
        let kind = |(k, part): (usize, &fairplan_instances::DraftUser)| DraftKind {
            profile: None,
            id: format!("kind-{k}"),
            each: each(k),
            demand: part.demand.clone(),
            eligible: None,
        };
        user.kinds = three.iter().enumerate().map(kind).collect();
        draft.users.push(user);
    }
    let with_kinds = draft.build()?;
    for (user, view) in draft.users.iter_mut().zip(with_kinds.users()) {
        let demand: Vec<Decimal> = view.demand().to_vec();
        (user.demand, user.kinds) = (demand, Vec::new());
    }
    let sums = draft.build()?;
    for objective in [Objective::Drfh, Objective::TaskShareFairness, Objective::ProportionalFairness] {
        let mut sum = 0.0;
        for (name, instance) in [("the sum of their kinds", &sums), ("three kinds", &with_kinds)] {
            let (seconds, solution) = fastest(3, || auto.solve(instance, objective));
            if !instance.has_kinds() {
                sum = seconds;
            }
            let proof = proof(instance, &solution?);
            println!("| {objective} | {name} | {seconds:.3} | {:.1} | {proof} |", seconds / sum);
        }
    }
    Ok(())
}
