//! What is bought by when as demands follow a series: stage by stage, each the cheapest that is enough until its end, beside what was
//! bought before.

use super::buy::reached;
use super::growth::{GrowthOptions, Scaling};
use super::target::Asked;
use crate::solve::solver;
use crate::{Control, Error};
use fairplan_analysis::{BoughtBy, BoughtServers, Growth};
use fairplan_instances::{Catalog, DemandSeries, Instance, Label, Offer};
use fairplan_solver::Planner;

/// Says what to buy by when, so that all of a series is reached that can be: from the first quantum that is missed on, in at most so many
/// stages of equal length. Every purchase is checked by an allocation that fits. What cannot be reached ends the list, as a stage
/// without servers.
///
/// # Errors
/// A series that scales each user by its own column; targets and catalogs that are refused as those of [`buy`](crate::buy()).
pub fn growth_purchases(
    (instance, series): (&Instance, &DemandSeries),
    catalog: &Catalog,
    stages: u32,
    growth: &Growth,
    options: &GrowthOptions,
    control: &Control<'_>,
) -> Result<Vec<BoughtBy>, Error> {
    instance.plain("plan growth")?;
    let planning = &*solver(&options.backend, &control.deadline)?;
    let Asked { extended, required, .. } = options.target.asked(instance, planning, control)?;
    let scaling = Scaling::new(series, &extended, options.by.as_deref(), options.base)
        .map_err(|problem| Error::input(format!("{}: {problem}", options.series)))?;
    if scaling.by == "user" {
        return Err(Error::Setting(
            "catalog: what to buy by when needs one scale for all; choose by total, or by a column".into(),
        ));
    }
    let quanta = series.quantum_count();
    let scale = |quantum: usize| scaling.at(quantum, 0);
    let next = |have: f64| (0..quanta).find(|quantum| scale(*quantum) > have * (1.0 + 1e-9));
    let mut have = growth.part_at_one;
    let Some(first) = next(have) else { return Ok(Vec::new()) };
    let span = (quanta - first).div_ceil(stages as usize).max(1);
    let zeros = vec![0; catalog.types.len()];
    let mut cluster = catalog.added_to(&extended, &zeros, true).build()?;
    let mut bought = zeros;
    let mut found: Vec<BoughtBy> = Vec::new();
    control.stage("planning stage by stage");
    while let Some(quantum) = next(have) {
        let end = (quantum + span).min(quanta);
        let needed = (0..end).map(scale).fold(0.0, f64::max);
        let required: Vec<f64> = required.iter().map(|work| work * needed).collect();
        let left = left(catalog, &cluster, &bought)?;
        let mut planner =
            Planner::new(&cluster, &left, required.clone(), false, None, planning)?.within(&control.deadline);
        let purchase = planner.cheapest(1.0)?;
        drop(planner);
        let by = Label::from(series.label(quantum));
        let before = found.last().map_or(0.0, |stage: &BoughtBy| stage.total);
        let Some(purchase) = purchase else {
            found.push(BoughtBy { by, scale: needed, cost: 0.0, total: before, servers: Vec::new() });
            break;
        };
        cluster = left.added_to(&cluster, &purchase.counts, true).build()?;
        reached(&cluster, &required, planning, control).map_err(|error| error.by(&control.deadline))?;
        let counts = catalog.types.iter().zip(&purchase.counts).filter(|(_, count)| **count > 0);
        let servers =
            counts.map(|(kind, count)| BoughtServers { id: kind.id.clone(), count: *count }).collect();
        bought.iter_mut().zip(&purchase.counts).for_each(|(all, count)| *all += count);
        found.push(BoughtBy {
            by,
            scale: needed,
            cost: purchase.cost,
            total: before + purchase.cost,
            servers,
        });
        have = needed;
    }
    Ok(found)
}

/// What can still be bought for a cluster of which all types are classes.
fn left(catalog: &Catalog, cluster: &Instance, bought: &[u64]) -> Result<Catalog, Error> {
    let offer = |(kind, bought): (&fairplan_instances::ServerType, &u64)| Offer {
        id: kind.id.clone(),
        capacity: None,
        price: kind.price,
        limit: kind.limit.map(|limit| limit.saturating_sub(*bought)),
        like: None,
    };
    let offers = catalog.types.iter().zip(bought).map(offer).collect();
    Ok(Catalog::new(cluster, catalog.name.clone(), catalog.currency.clone(), offers)?)
}
