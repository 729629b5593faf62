//! What is bought by when as demands follow a series: stage by stage, each the cheapest that is enough until its end, beside what was
//! bought before.

use super::buy::{pieces, reached};
use super::growth::{GrowthOptions, Question};
use super::work_in_turn::Work;
use crate::solve::solver;
use crate::{Control, Error, Progress};
use fairplan_analysis::{BoughtBy, BoughtServers, CostsOverTime, Growth, OutOfReach};
use fairplan_instances::{Catalog, DemandSeries, Instance, KindId, Obstacle, Offer, lint_catalog};
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
/// Targets and catalogs that are refused as those of [`buy`](crate::buy()).
pub fn growth_with_purchases(
    instance: &Instance,
    series: &DemandSeries,
    catalog: &Catalog,
    stages: &StagesOptions,
    options: &GrowthOptions,
    control: &Control<'_>,
) -> Result<Growth, Error> {
    // Quotas give way to what is asked for, as in `buy`.
    for warning in lint_catalog(&*instance.divided()?, catalog) {
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
    let question = Question::new(instance, series, options, planning, control)?;
    let mut growth = question.answer(planning, control)?;
    let Question { asked, scaling, .. } = &question;
    // Kinds run where each of them may, so that what is bought is bought for them one by one, as in `buy`.
    let (apart, pieces) = pieces(asked)?;
    let extended = &asked.extended;
    let times: Vec<f64> = growth.quanta.iter().flatten().map(|quantum| quantum.scale).collect();
    let quanta = times.len();
    let mut work = Work::new(scaling, extended, &pieces, quanta);
    work.reach(vec![growth.part_at_one; scaling.of_columns(0).len()]);
    for (quantum, _) in growth.quanta.iter().flatten().enumerate().filter(|(_, of)| !of.missed) {
        work.reach(scaling.of_columns(quantum).to_vec());
    }
    let zeros = vec![0; catalog.types.len()];
    let mut cluster = catalog.added_to(apart.as_ref().unwrap_or(extended), &zeros, true).build()?;
    let mut bought = zeros.clone();
    let (mut found, mut firsts): (Vec<BoughtBy>, Vec<usize>) = Default::default();
    let mut span = None;
    control.stage("planning stage by stage");
    loop {
        let left = left(catalog, &cluster, &bought)?;
        let planner = |required: Vec<f64>| -> Result<Planner<'_>, Error> {
            Ok(Planner::new(&cluster, &left, required, false, None, planning)?.within(&control.deadline))
        };
        let Some(quantum) = work.first_missed() else { break };
        // Whole servers do more than they were bought for: what is there may be enough for this quantum too.
        let part = planner(work.required(quantum))?.part_with(&zeros)?;
        work.reach(scaling.of_columns(quantum).iter().map(|scale| scale * part).collect());
        if work.is_reached(quantum) {
            continue;
        }
        let length = *span.get_or_insert_with(|| (quanta - quantum).div_ceil(stages.stages as usize).max(1));
        let missed = work.missed(quantum..quanta.min(quantum + length));
        let of_stage = work.largest(&missed);
        let mut required = of_stage.iter().map(|quantum| work.required(*quantum));
        let mut enough = planner(required.next().unwrap_or_default())?.and_in_turn(required.collect());
        let Some(purchase) = enough.cheapest(1.0)? else {
            work.sort_out(missed, |required| Ok(planner(required)?.cheapest(1.0)?.is_none()))?;
            continue;
        };
        drop(enough);
        if purchase.counts.iter().any(|count| *count > 0) {
            cluster = left.added_to(&cluster, &purchase.counts, true).build()?;
            for quantum in &of_stage {
                reached(&cluster, &work.required(*quantum), planning, control)
                    .map_err(|error| error.by(&control.deadline))?;
            }
            let counts = catalog.types.iter().zip(&purchase.counts).filter(|(_, count)| **count > 0);
            let servers = counts
                .map(|(kind, count)| BoughtServers { id: kind.id.clone(), count: *count, costs: None })
                .collect();
            bought.iter_mut().zip(&purchase.counts).for_each(|(all, count)| *all += count);
            firsts.push(quantum);
            let before = found.last().map_or(0.0, |stage: &BoughtBy| stage.total);
            found.push(BoughtBy {
                by: series.label(quantum).into(),
                scale: of_stage.iter().map(|quantum| times[*quantum]).fold(0.0, f64::max),
                cost: purchase.cost,
                total: before + purchase.cost,
                servers,
                out_of_reach: None,
            });
        }
        of_stage.iter().for_each(|quantum| work.reach(scaling.of_columns(*quantum).to_vec()));
    }
    if let Some(quantum) = work.first_beyond() {
        let left = left(catalog, &cluster, &bought)?;
        let planner = Planner::new(&cluster, &left, work.required(quantum), false, None, planning)?;
        let mut planner = planner.within(&control.deadline);
        let part = planner.part_with(&zeros)?;
        let obstacle = planner.obstacle()?;
        // What is bought already was on offer, too.
        let all = self::left(catalog, &cluster, &zeros)?;
        let offered = Planner::new(&cluster, &all, work.required(quantum), false, None, planning)?;
        let is_offered = offered.is_offered_to(obstacle.user.0);
        let out_of_reach = Some(out_of_reach(extended, &obstacle, is_offered));
        let total = found.last().map_or(0.0, |stage: &BoughtBy| stage.total);
        firsts.push(quantum);
        let by = series.label(quantum).into();
        let scale = if part > 0.0 { part * times[quantum] } else { 0.0 };
        found.push(BoughtBy { by, scale, cost: 0.0, total, servers: Vec::new(), out_of_reach });
    }
    growth.costs = CostsOverTime::of(&mut found, &firsts, catalog, series, stages.periods_per_quantum);
    growth.purchases = found;
    Ok(growth)
}

/// Who asks for more than can be bought; the users of an obstacle are kinds of those here.
fn out_of_reach(users: &Instance, obstacle: &Obstacle, is_offered: bool) -> OutOfReach {
    let user = users.kind(KindId(obstacle.user.0)).user();
    OutOfReach {
        user: user.id().into(),
        group: user.group().map(|group| users.groups()[group.0].id.clone()),
        resource: users.resources()[obstacle.resource.0].clone(),
        is_offered,
    }
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

    /// What is bought for 10 cores that are all in use by one user, as `loads` follow: servers of 4 cores, three at most. Of each stage the
    /// quantum, the scale and how many servers.
    fn bought(loads: &[&str], stages: u32) -> Vec<(String, f64, u64)> {
        let rows: Vec<String> = loads.iter().enumerate().map(|(q, load)| format!("{q},{load}\n")).collect();
        bought_for(&["a"], &format!("quantum,load\n{}", rows.concat()), stages)
    }

    /// The same of several users, who run as many tasks each today.
    fn bought_for(users: &[&str], series: &str, stages: u32) -> Vec<(String, f64, u64)> {
        let tasks = 10 / users.len();
        let users: Vec<String> = users
            .iter()
            .map(|id| format!(r#"{{"id": "{id}", "demand": {{"cpu": 1}}, "tasks": {tasks}}}"#))
            .collect();
        let text = format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{{"id": "n", "count": 1, "capacity": {{"cpu": 10}}}}], "users": [{}]}}"#,
            users.join(",")
        );
        let source = files::source::in_memory("it", text.into_bytes()).unwrap();
        let instance = files::read_json(source).unwrap();
        let file = |text: &str| {
            let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file
        };
        let offered = file("id,price,cpu,limit\nx,5,4,3\n");
        let catalog = read::catalog(offered.path().to_str().unwrap(), &instance).unwrap();
        let demands = file(series);
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

    fn stage(by: &str, scale: f64, count: u64) -> (String, f64, u64) {
        (by.to_owned(), scale, count)
    }

    #[test]
    fn users_who_grow_at_other_times_have_servers_for_each_time_and_not_for_all_at_once() {
        // 11 cores are asked for in each, 20 would be for the most that each of them asks for.
        let series = "quantum,a,b\n0,5,5\n1,10,1\n2,1,10\n";
        assert_eq!(bought_for(&["a", "b"], series, 1), [stage("1", 1.1, 1)]);
        // The server that is bought for the second quantum is enough for the third, too.
        assert_eq!(bought_for(&["a", "b"], series, 4), [stage("1", 1.1, 1)]);
        let series = "quantum,a,b\n0,5,5\n1,11,1\n2,1,16\n3,20,20\n4,4,18\n";
        let expected = [stage("1", 1.2, 1), stage("2", 1.7, 1), stage("4", 2.2, 1), stage("3", 2.2, 0)];
        assert_eq!(bought_for(&["a", "b"], series, 4), expected);
        assert_eq!(bought_for(&["a", "b"], series, 1), [stage("1", 2.2, 3), stage("3", 2.2, 0)]);
    }

    #[test]
    fn what_is_bought_is_needed_when_that_before_is_no_longer_enough() {
        // One server of 4 cores is bought for the first stage and is enough for 14, so that the next is needed by the last quantum.
        let loads = ["10", "12", "14", "14", "15"];
        assert_eq!(bought(&loads, 4), [stage("1", 1.2, 1), stage("4", 1.5, 1)]);
    }

    #[test]
    fn a_quantum_out_of_reach_keeps_no_other_from_being_bought_for() {
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
