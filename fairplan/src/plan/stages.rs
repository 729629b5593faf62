//! What is bought by when as demands follow a series: stage by stage, each the cheapest that is enough until its end, beside what was
//! bought before.

use super::buy::{pieces, reached};
use super::growth::{GrowthOptions, Scaling, growth};
use super::target::Asked;
use crate::solve::solver;
use crate::tolerance::REACHED;
use crate::{Control, Error, Progress};
use fairplan_analysis::{BoughtBy, BoughtServers, CostsOverTime, Growth};
use fairplan_instances::{Catalog, DemandSeries, Instance, Offer, lint_catalog};
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
/// that is missed on, in at most so many stages of equal length. Every purchase is checked by an allocation that fits. The first quantum
/// that asks for more than can be bought ends the list, as a stage without servers; what the others ask for is bought. Where the catalog has commitments, it also says what all that costs until the end
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
    if !scaling.is_one() {
        return Err(Error::Setting(
            "catalog: what to buy by when is known for one scale of all users alone: say which by --by total, or by --by and a column; or leave the catalog out, and \
             ask `plan buy --scale` for the quantum that asks for the most".into(),
        ));
    }
    let quanta = series.quantum_count();
    let scale = |quantum: usize| scaling.at(quantum, 0);
    let mut have = growth.part_at_one;
    // From this scale on nothing that may be bought is enough.
    let mut beyond = f64::INFINITY;
    let is_next = |quantum: &usize, have: f64| scale(*quantum) > have * (1.0 + REACHED);
    let next = |have, beyond| (0..quanta).find(|quantum| is_next(quantum, have) && scale(*quantum) < beyond);
    let Some(first) = next(have, beyond) else { return Ok(growth) };
    let span = (quanta - first).div_ceil(stages.stages as usize).max(1);
    let zeros = vec![0; catalog.types.len()];
    let mut cluster = catalog.added_to(apart.as_ref().unwrap_or(extended), &zeros, true).build()?;
    let mut bought = zeros;
    let (mut found, mut firsts): (Vec<BoughtBy>, Vec<usize>) = Default::default();
    control.stage("planning stage by stage");
    while let Some(quantum) = next(have, beyond) {
        let end = (quantum + span).min(quanta);
        let of_stage = (0..end).filter(|quantum| is_next(quantum, have)).map(scale);
        let mut scales: Vec<f64> = of_stage.filter(|scale| *scale < beyond).collect();
        scales.sort_by(f64::total_cmp);
        let needed = scales.last().copied().unwrap_or(have);
        let required: Vec<f64> = pieces.iter().map(|work| work * needed).collect();
        let left = left(catalog, &cluster, &bought)?;
        let mut planner =
            Planner::new(&cluster, &left, required.clone(), false, None, planning)?.within(&control.deadline);
        let Some(purchase) = planner.cheapest(1.0)? else {
            beyond = first_beyond(&mut planner, &scales)?;
            continue;
        };
        drop(planner);
        // Whole servers do more than they were bought for: what is there may be enough for the next stage.
        if purchase.counts.iter().all(|count| *count == 0) {
            have = needed;
            continue;
        }
        cluster = left.added_to(&cluster, &purchase.counts, true).build()?;
        reached(&cluster, &required, planning, control).map_err(|error| error.by(&control.deadline))?;
        let counts = catalog.types.iter().zip(&purchase.counts).filter(|(_, count)| **count > 0);
        let servers = counts
            .map(|(kind, count)| BoughtServers { id: kind.id.clone(), count: *count, costs: None })
            .collect();
        bought.iter_mut().zip(&purchase.counts).for_each(|(all, count)| *all += count);
        firsts.push(quantum);
        let before = found.last().map_or(0.0, |stage: &BoughtBy| stage.total);
        found.push(BoughtBy {
            by: series.label(quantum).into(),
            scale: needed,
            cost: purchase.cost,
            total: before + purchase.cost,
            servers,
        });
        have = needed;
    }
    if let Some(quantum) = (0..quanta).find(|quantum| scale(*quantum) >= beyond) {
        let left = left(catalog, &cluster, &bought)?;
        let planner = Planner::new(&cluster, &left, pieces, false, None, planning)?;
        let scale = planner.within(&control.deadline).part_with(&vec![0; catalog.types.len()])?;
        let total = found.last().map_or(0.0, |stage: &BoughtBy| stage.total);
        firsts.push(quantum);
        let by = series.label(quantum).into();
        found.push(BoughtBy { by, scale, cost: 0.0, total, servers: Vec::new() });
    }
    growth.costs = CostsOverTime::of(&mut found, &firsts, catalog, series, stages.periods_per_quantum);
    growth.purchases = found;
    Ok(growth)
}

/// The least of these scales, which ascend, for which nothing that may be bought is enough, as nothing is for the last: a planner for that one
/// looks for it by halves.
fn first_beyond(planner: &mut Planner<'_>, scales: &[f64]) -> Result<f64, Error> {
    let (mut low, mut high) = (0, scales.len().saturating_sub(1));
    while low < high {
        let middle = (low + high) / 2;
        match planner.cheapest(scales[middle] / scales[scales.len() - 1])? {
            Some(_) => low = middle + 1,
            None => high = middle,
        }
    }
    Ok(scales.get(high).copied().unwrap_or(0.0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TargetOptions, read};
    use fairplan_instances::files;
    use std::io::Write;

    /// What is bought for 10 cores that are all in use, as `loads` follow: servers of 4 cores, three at most. Of each stage the quantum, the scale
    /// and how many servers.
    fn bought(loads: &[&str], stages: u32) -> Vec<(String, f64, u64)> {
        let text = br#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "n", "count": 1, "capacity": {"cpu": 10}}],
            "users": [{"id": "a", "demand": {"cpu": 1}, "tasks": 10}]}"#;
        let instance = files::read_json(files::source::in_memory("it", text.to_vec()).unwrap()).unwrap();
        let file = |text: &str| {
            let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file
        };
        let offered = file("id,price,cpu,limit\nx,5,4,3\n");
        let catalog = read::catalog(offered.path().to_str().unwrap(), &instance).unwrap();
        let rows: Vec<String> = loads.iter().enumerate().map(|(q, load)| format!("{q},{load}\n")).collect();
        let demands = file(&format!("quantum,load\n{}", rows.concat()));
        let path = demands.path().to_str().unwrap();
        let (series, _) = read::series(path, None, files::Rounding::Refused).unwrap();
        let target = TargetOptions { scale: Some("1".parse().unwrap()), ..TargetOptions::default() };
        let options = GrowthOptions { target, ..GrowthOptions::default() };
        let stages = StagesOptions { stages, ..StagesOptions::default() };
        let growth =
            growth_with_purchases(&instance, &series, &catalog, &stages, &options, &Control::none()).unwrap();
        let stage = |stage: BoughtBy| {
            let count = stage.servers.iter().map(|servers| servers.count).sum();
            (stage.by.to_string(), (stage.scale * 1e6).round() / 1e6, count)
        };
        growth.purchases.into_iter().map(stage).collect()
    }

    #[test]
    fn a_quantum_out_of_reach_keeps_no_other_from_being_bought_for() {
        let stage = |by: &str, scale, count| (by.to_owned(), scale, count);
        for stages in [1, 2, 4] {
            // What is bought reaches 1.8 times the target; 3 times is beyond all that can be bought.
            let expected = [stage("1", 1.5, 2), stage("2", 1.8, 0)];
            assert_eq!(bought(&["2", "3", "6"], stages), expected, "{stages}");
            assert_eq!(bought(&["2", "3", "6", "2"], stages), expected, "{stages}");
        }
        // What is asked for later and can be had is bought too; whoever is out of reach first is named.
        assert_eq!(bought(&["2", "6", "3", "8"], 1), [stage("2", 1.5, 2), stage("1", 1.8, 0)]);
        // With all that may be bought there are 22 cores: 2.2 times is reached.
        let expected = [stage("1", 2.2, 3), stage("3", 2.2, 0)];
        assert_eq!(bought(&["10", "21", "22", "23", "24"], 1), expected);
        assert_eq!(bought(&["10", "30"], 1), [stage("1", 1.0, 0)]);
    }
}
