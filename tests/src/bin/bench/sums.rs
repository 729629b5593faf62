//! Sums over the users: proportional fairness against Clarabel's exponential cone, a million users, and jobs that are
//! faster on some resources.

use super::{Outcome, fastest, instance, proof};
use fairplan_instances::generate::{Cluster, PopulationKind};
use fairplan_instances::{
    ClassId, Decimal, Instance, InstanceBuilder, NewUser, Objective, PlacementRule, Random, ServerClass,
};
use fairplan_solver::{PricePass, backend};
use fairplan_tests::by_clarabel;

/// What is asked of Clarabel: the gap that our results promise.
const CLARABEL_TOLERANCE: f64 = 1e-9;

/// The same instance by both, in one run.
pub fn against_clarabel(scale: u64) -> Outcome {
    let users = 3_000 / scale;
    println!(
        "## Proportional fairness against Clarabel's exponential cone, the same instance in the same run\n"
    );
    println!("| users × classes | by | seconds | ratio to `auto` | method | levels | gap | certificate |");
    println!("|---|---|---|---|---|---|---|---|");
    let random = Cluster::Random { classes: 10, resources: 2 };
    for (kind, cluster, shape) in [
        (PopulationKind::Spread, Cluster::Google, "Google"),
        (PopulationKind::Alike, Cluster::Google, "Google, alike"),
        (PopulationKind::Weighted, random, "random, weighted"),
    ] {
        let instance = instance(kind, users, cluster)?;
        let objective = Objective::ProportionalFairness;
        let mut baseline = 0.0;
        for name in ["auto", "ipm"] {
            let solver = backend(name).ok_or("no such backend")?;
            let (seconds, solution) = fastest(9, || solver.solve(&instance, objective));
            let solution = solution?;
            baseline = if name == "auto" { seconds } else { baseline };
            let proof = proof(&instance, &solution);
            let ratio = seconds / baseline;
            println!("| {users} × 10, {shape} | {name} | {seconds:.4} | {ratio:.1} | {proof} |");
        }
        let (seconds, theirs) = fastest(1, || by_clarabel(&instance, objective, CLARABEL_TOLERANCE));
        let gap =
            theirs.map_or("not solved".into(), |theirs| format!("{:.1e} | its own account", theirs.gap));
        let ratio = seconds / baseline;
        println!(
            "| {users} × 10, {shape} | Clarabel | {seconds:.3} | {ratio:.0} | interior point | | {gap} |"
        );
    }
    println!();
    Ok(())
}

/// Every population of the benchmark of max-min fairness, for two sums.
pub fn a_million_users(scale: u64) -> Outcome {
    use PopulationKind::{Alike, Spread, Weighted, Zeros};
    let users = 1_000_000 / scale;
    println!("## Sums over {users} different users\n");
    println!(
        "| objective | population | classes × resources | seconds | passes | method | levels | gap | certificate |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let random = |resources| Cluster::Random { classes: 10, resources };
    for (kind, cluster, shape) in [
        (Spread, Cluster::Google, "Google, 10 × 2"),
        (Alike, Cluster::Google, "Google, 10 × 2"),
        (Zeros, Cluster::Google, "Google, 10 × 2"),
        (Weighted, Cluster::Google, "Google, 10 × 2"),
        (Spread, random(3), "random, 10 × 3"),
        (Alike, random(3), "random, 10 × 3"),
        (Spread, random(4), "random, 10 × 4"),
        (Alike, random(4), "random, 10 × 4"),
    ] {
        let instance = instance(kind, users, cluster)?;
        let mut pass = PricePass::new(&instance);
        let (one_pass, _) = fastest(20, || pass.run()[0]);
        drop(pass);
        for alpha in [1.0, 2.0] {
            let objective = Objective::alpha_fair(alpha)?;
            let auto = backend("auto").ok_or("no backend auto")?;
            let (seconds, solution) = fastest(3, || auto.solve(&instance, objective));
            println!(
                "| {objective} | {kind} | {shape} | {seconds:.3} | {:.0} | {} |",
                seconds / one_pass,
                proof(&instance, &solution?)
            );
        }
    }
    println!();
    Ok(())
}

/// Jobs over resource types that can stand in for each other, as in Agrawal et al., "Allocation of Fungible Resources via
/// a Fast, Scalable Price Discovery Method": a job's rate on each type is its own, its fractions of time sum to at most 1,
/// and the sum of the logarithms of what jobs achieve is to be largest.
pub fn fungible_resources(scale: u64) -> Outcome {
    let jobs = 1_000_000 / scale;
    println!("## Fungible resources: {jobs} jobs on 4 resource types, each at its own rates\n");
    println!("| seconds | method | levels | gap | certificate |");
    println!("|---|---|---|---|---|");
    let instance = fungible(jobs)?;
    let auto = backend("auto").ok_or("no backend auto")?;
    let (seconds, solution) = fastest(3, || auto.solve(&instance, Objective::ProportionalFairness));
    println!("| {seconds:.2} | {} |\n", proof(&instance, &solution?));
    Ok(())
}

/// Rates between 0.1 and 1 in thousandths of a thousandth; of each resource type there is enough for between a tenth and
/// three tenths of the jobs.
fn fungible(jobs: u64) -> Result<Instance, Box<dyn std::error::Error>> {
    let mut random = Random::new(1, 0);
    let mut builder = InstanceBuilder::new("fungible resources", vec!["time".into()])?;
    for number in 1..=4 {
        let count = random.between(jobs / 10, 3 * jobs / 10);
        let id = format!("type-{number}");
        builder.class(ServerClass::new(id, count, vec![Decimal::ONE]))?;
    }
    for number in 1..=jobs {
        let rates = (0..4).map(|l| Ok((ClassId(l), Decimal::new(random.between(100_000, 1_000_000), -6)?)));
        let rates: Result<Vec<_>, Box<dyn std::error::Error>> = rates.collect();
        let rule = builder.rule(PlacementRule::new(None, rates?));
        let demand = [Decimal::ONE];
        builder.user(NewUser { tasks: Some(1), rule, ..NewUser::new(&format!("job-{number}"), &demand) })?;
    }
    Ok(builder.build()?)
}
