//! What to buy: how long it takes until nothing cheaper is left.

use super::Outcome;
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Catalog, Decimal, Offer, Random, ResourceId, Target};
use fairplan_solver::{Planner, backend};
use std::time::Instant;

/// Ten types whose prices are near what they hold, for users that shall all have more than now.
pub fn purchases(scale: u64) -> Outcome {
    println!("## What to buy\n");
    println!(
        "| users × types | cluster | share, of what is reached now | cost | gap | allocations | seconds |"
    );
    println!("|---|---|---|---|---|---|---|");
    let random = |resources| Cluster::Random { classes: 10, resources };
    let (spread, alike) = (PopulationKind::Spread, PopulationKind::Alike);
    for (cluster, words) in
        [(Cluster::Google, "Google, 10 × 2"), (random(3), "random, 10 × 3"), (random(4), "random, 10 × 4")]
    {
        for (kind, users, factor) in [
            (spread, 500, 1.1),
            (spread, 500, 2.0),
            (alike, 500, 1.1),
            (alike, 500, 2.0),
            (alike, 100_000, 1.1),
        ] {
            let users = users / scale;
            let options = PopulationOptions { kind, users, cluster, seed: 1 };
            let instance = population(&options)?;
            let mut dice = Random::new(7, 7);
            let mut offers = Vec::new();
            for t in 0..10 {
                let class = &instance.classes()[t % instance.classes().len()];
                let mut worth = 0.0;
                let mut capacity = Vec::new();
                for (r, amount) in class.capacity.iter().enumerate() {
                    let amount = amount.to_f64() * dice.between(50, 200) as f64 / 100.0;
                    worth += amount / instance.total(ResourceId(r));
                    capacity.push(format!("{amount:.4}").parse()?);
                }
                let price = worth * 1e6 * dice.between(90, 110) as f64 / 100.0;
                offers.push(Offer {
                    id: format!("type-{t}"),
                    capacity: Some(capacity),
                    price: Decimal::new(1 + price.round() as u64, 0)?,
                    ..Offer::default()
                });
            }
            let catalog = Catalog::new(&instance, String::new(), String::new(), offers)?;
            let solver = backend("auto").ok_or("no backend auto")?;
            let one = Target { share: Some(Decimal::ONE), ..Target::default() };
            let whole_pool = one.required(&instance)?;
            let mut today = Planner::new(&instance, &catalog, whole_pool.clone(), false, None, &*solver)?;
            let share = today.part_with(&[0; 10])? * factor;
            let required = whole_pool.iter().map(|work| work * share).collect();
            let start = Instant::now();
            let mut planner = Planner::new(&instance, &catalog, required, false, None, &*solver)?;
            let purchase = planner.cheapest(1.0)?.ok_or("nothing is enough")?;
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "| {users} × 10 | {words}, {kind} | {factor} | {:.0} | {:.1e} | {} | {seconds:.2} |",
                purchase.cost,
                purchase.gap(),
                purchase.rounds
            );
        }
    }
    println!();
    Ok(())
}
