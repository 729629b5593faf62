//! What is bought by when as demands follow a series: stage by stage, each the cheapest that is enough until its end, beside what was
//! bought before.

use super::buy::{pieces, reached};
use super::growth::{GrowthOptions, Scaling, growth};
use super::target::Asked;
use crate::solve::solver;
use crate::tolerance::REACHED;
use crate::{Control, Error, Progress};
use fairplan_analysis::{BoughtBy, BoughtServers, CostsOverTime, Growth};
use fairplan_instances::{Catalog, DemandSeries, Instance, Label, Offer, lint_catalog};
use fairplan_solver::Planner;

/// How to buy as demands grow.
#[derive(Clone, Copy, Debug)]
pub struct StagesOptions {
    /// In how many stages of equal length at most. Default: 4.
    pub stages: u32,
    /// How many periods of the catalog's prices a quantum of the series lasts (> 0), where it has commitments. Default: 1.
    pub periods_per_quantum: f64,
}

impl Default for StagesOptions {
    fn default() -> Self {
        Self { stages: 4, periods_per_quantum: 1.0 }
    }
}

/// What [`growth`](crate::growth()) says, and what to buy by when, so that all of a series is reached that can be: from the first quantum
/// that is missed on, in at most so many stages of equal length. Every purchase is checked by an allocation that fits. What cannot be
/// reached ends the list, as a stage without servers. Where the catalog has commitments, it also says what all that costs until the end
/// of the series, on demand and reserved.
///
/// ```
/// use fairplan::{Control, GrowthOptions, StagesOptions, TargetOptions, generate, growth_with_purchases, read};
/// use std::io::Write;
///
/// let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
/// file.write_all(b"id,price\nhigh-cpu,3\nhigh-memory,2\n").unwrap();
/// let (instance, series) = (generate::drfh_fig1()?, generate::karma_fig2()?);
/// let catalog = read::catalog(file.path().to_str().unwrap(), &instance)?;
/// let target = TargetOptions { share: Some("0.9".parse().unwrap()), ..TargetOptions::default() };
/// let options = GrowthOptions { target, by: Some("total".into()), ..GrowthOptions::default() };
/// let stages = StagesOptions::default();
/// let growth = growth_with_purchases(&instance, &series, &catalog, &stages, &options, &Control::none())?;
/// assert!(!growth.purchases.is_empty());
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// A series that scales each user by its own column; targets and catalogs that are refused as those of [`buy`](crate::buy()).
pub fn growth_with_purchases(
    instance: &Instance,
    series: &DemandSeries,
    catalog: &Catalog,
    stages: &StagesOptions,
    options: &GrowthOptions,
    control: &Control<'_>,
) -> Result<Growth, Error> {
    let mut growth = growth(instance, series, options, control)?;
    // Quotas give way to what is asked for, as in `buy`.
    let instance = &*instance.divided()?;
    for warning in lint_catalog(instance, catalog) {
        (control.progress)(Progress::Note(&warning.to_string()));
    }
    if stages.stages == 0 {
        return Err(Error::Setting("stages = 0: must be at least 1".into()));
    }
    if !(stages.periods_per_quantum > 0.0 && stages.periods_per_quantum.is_finite()) {
        return Err(Error::Setting(format!(
            "periods_per_quantum = {}: must be > 0",
            stages.periods_per_quantum
        )));
    }
    let planning = &*solver(&options.backend, &control.deadline)?;
    let asked = options.target.asked(instance, planning, control)?;
    // Kinds run where each of them may, so that what is bought is bought for them one by one, as in `buy`.
    let (apart, pieces) = pieces(&asked)?;
    let Asked { extended, .. } = &asked;
    let scaling = Scaling::new(series, extended, options.by.as_deref(), options.base)
        .map_err(|problem| Error::input(format!("{}: {problem}", options.series)))?;
    if scaling.by == "user" {
        return Err(Error::Setting(
            "catalog: what to buy by when needs one scale for all; choose by total, or by a column".into(),
        ));
    }
    let quanta = series.quantum_count();
    let scale = |quantum: usize| scaling.at(quantum, 0);
    let next = |have: f64| (0..quanta).find(|quantum| scale(*quantum) > have * (1.0 + REACHED));
    let mut have = growth.part_at_one;
    let Some(first) = next(have) else { return Ok(growth) };
    let span = (quanta - first).div_ceil(stages.stages as usize).max(1);
    let zeros = vec![0; catalog.types.len()];
    let mut cluster = catalog.added_to(apart.as_ref().unwrap_or(extended), &zeros, true).build()?;
    let mut bought = zeros;
    let (mut found, mut firsts): (Vec<BoughtBy>, Vec<usize>) = Default::default();
    control.stage("planning stage by stage");
    while let Some(quantum) = next(have) {
        let end = (quantum + span).min(quanta);
        let needed = (0..end).map(scale).fold(0.0, f64::max);
        let required: Vec<f64> = pieces.iter().map(|work| work * needed).collect();
        let left = left(catalog, &cluster, &bought)?;
        let mut planner =
            Planner::new(&cluster, &left, required.clone(), false, None, planning)?.within(&control.deadline);
        let purchase = planner.cheapest(1.0)?;
        drop(planner);
        let by = Label::from(series.label(quantum));
        let before = found.last().map_or(0.0, |stage: &BoughtBy| stage.total);
        // Whole servers do more than they were bought for: what is there may be enough for the next stage.
        if purchase.as_ref().is_some_and(|purchase| purchase.counts.iter().all(|count| *count == 0)) {
            have = needed;
            continue;
        }
        firsts.push(quantum);
        let Some(purchase) = purchase else {
            found.push(BoughtBy { by, scale: have, cost: 0.0, total: before, servers: Vec::new() });
            break;
        };
        cluster = left.added_to(&cluster, &purchase.counts, true).build()?;
        reached(&cluster, &required, planning, control).map_err(|error| error.by(&control.deadline))?;
        let counts = catalog.types.iter().zip(&purchase.counts).filter(|(_, count)| **count > 0);
        let servers = counts
            .map(|(kind, count)| BoughtServers { id: kind.id.clone(), count: *count, costs: None })
            .collect();
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
    growth.costs = CostsOverTime::of(&mut found, &firsts, catalog, series, stages.periods_per_quantum);
    growth.purchases = found;
    Ok(growth)
}

/// What can still be bought for a cluster of which all types are classes.
fn left(catalog: &Catalog, cluster: &Instance, bought: &[u64]) -> Result<Catalog, Error> {
    let offer = |(kind, bought): (&fairplan_instances::ServerType, &u64)| Offer {
        id: kind.id.clone(),
        price: kind.price,
        limit: kind.limit.map(|limit| limit.saturating_sub(*bought)),
        ..Offer::default()
    };
    let offers = catalog.types.iter().zip(bought).map(offer).collect();
    Ok(Catalog::new(cluster, catalog.name.clone(), catalog.currency.clone(), offers)?)
}
