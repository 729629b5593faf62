//! Days of 200 users, drawn from several seeds, through every mechanism with every part of the users greedy.

use super::super::drawn::Drawn;
use super::super::experiment::Experiment;
use crate::karma::settings;
use fairplan::instances::generate::{Workload, WorkloadOptions, demands};
use fairplan::instances::{DemandSeries, Disparity, DynamicOutcome, UserTotals};
use fairplan::{Decimal, Error, MechanismOptions, Ties};
use rayon::prelude::*;

/// Users, as many as there are slices, and the seconds of a day.
pub const USERS: u64 = 200;
pub(super) const SECONDS: u64 = 86_400;

/// The users who are greedy, in tenths of all.
pub(super) const TENTHS: [u32; 6] = [0, 2, 4, 6, 8, 10];

/// The mechanisms, in the order of the paper.
pub(super) const COMPARED: [&str; 5] = ["strict", "max-min", "karma", "mpsp", "sharp"];

/// How many days are drawn.
pub const DRAWS: u64 = 5;

/// What comes of a day under a mechanism with a part of the users greedy.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub utilization: f64,
    /// Of all users.
    pub welfare: f64,
    /// By how much honest users are better off than greedy ones.
    pub incentive: f64,
    /// What greedy users have over what honest ones have, less 1.
    pub advantage: f64,
    /// The least welfare over the largest among honest users, or among all where all are greedy.
    pub fairness: f64,
    /// The mean of the same within a quantum, among users with demand.
    pub short_term: f64,
    /// What greedy users hold, or pay, over what honest ones do.
    pub account_ratio: f64,
    /// What honest users hold, or pay, less what greedy ones do.
    pub account_difference: f64,
}

impl Cell {
    pub fn new(mechanism: &str, outcome: &DynamicOutcome) -> Self {
        let welfare = |user: &UserTotals| welfare(mechanism, user);
        let of = |conformant| {
            let kind = outcome.users.iter().filter(|user| user.conformant == conformant);
            mean(kind.map(welfare)).unwrap_or(f64::NAN)
        };
        let anybody = outcome.users.iter().all(|user| !user.conformant);
        let among = outcome.users.iter().filter(|user| anybody || user.conformant);
        let (least, most) =
            among.map(welfare).fold((f64::INFINITY, 0.0f64), |(least, most), x| (least.min(x), most.max(x)));
        let (honest, greedy) = (of(true), of(false));
        let account = outcome.metrics.disparity.as_ref();
        let (kept, taken) =
            account.map_or((f64::NAN, f64::NAN), |both| (both.conformant, both.non_conformant));
        Self {
            utilization: outcome.metrics.utilization,
            welfare: mean(outcome.users.iter().map(welfare)).unwrap_or(f64::NAN),
            incentive: honest - greedy,
            advantage: greedy / honest - 1.0,
            fairness: least / most,
            short_term: outcome.metrics.short_term_fairness,
            account_ratio: taken / kept,
            account_difference: kept - taken,
        }
    }
}

/// What part of all it demands a user gets; who demands nothing all day has all of it, or in the auction nothing.
fn welfare(mechanism: &str, user: &UserTotals) -> f64 {
    user.welfare.unwrap_or(if mechanism == "mpsp" { 0.0 } else { 1.0 })
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0u32), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// What a day's demands are like.
#[derive(Clone, Copy, Debug)]
pub struct Demanded {
    /// The mean of the sum.
    pub mean: f64,
    /// The part of the seconds in which it is less than a standard deviation away.
    pub within: f64,
    /// The part of the seconds in which it is no more than there is.
    #[cfg(test)]
    pub enough: f64,
    /// The part that the ten users have who demand most.
    pub of_ten: f64,
    /// The part of the users who demand nothing.
    pub idle: f64,
}

impl Demanded {
    fn new(series: &DemandSeries) -> Self {
        let sums: Vec<f64> =
            (0..series.quantum_count()).map(|t| series.demands(t).1.iter().sum::<u64>() as f64).collect();
        let centre = mean(sums.iter().copied()).unwrap_or(f64::NAN);
        let deviation = mean(sums.iter().map(|sum| (sum - centre).powi(2))).unwrap_or(f64::NAN).sqrt();
        let near = sums.iter().filter(|sum| (*sum - centre).abs() < deviation).count();
        #[cfg(test)]
        let enough = sums.iter().filter(|sum| **sum <= USERS as f64).count();
        let mut totals = series.totals();
        totals.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = totals.iter().sum();
        Self {
            mean: centre,
            within: near as f64 / sums.len() as f64,
            #[cfg(test)]
            enough: enough as f64 / sums.len() as f64,
            of_ten: totals.iter().take(10).sum::<u64>() as f64 / all as f64,
            idle: totals.iter().filter(|total| **total == 0).count() as f64 / totals.len() as f64,
        }
    }
}

/// What all mechanisms make of one day.
pub struct Day {
    pub demanded: Demanded,
    rows: Vec<Vec<Cell>>,
}

impl Day {
    pub fn of(&self, mechanism: &str, at: usize) -> &Cell {
        &self.rows[COMPARED.iter().position(|other| *other == mechanism).unwrap_or_default()][at]
    }

    /// Who is greedy is drawn from the seed.
    pub fn new(experiment: &Experiment, seed: u64) -> Result<Self, Error> {
        let settings = of_seed(seed)?;
        let row = |name: &&str| row(name, experiment, &settings);
        let rows = COMPARED.par_iter().map(row).collect::<Result<_, _>>()?;
        Ok(Self { demanded: Demanded::new(&experiment.series), rows })
    }
}

/// A quantity of all days.
pub(super) fn drawn(days: &[Day], of: impl Fn(&Day) -> f64) -> Drawn {
    Drawn::of(days.iter().map(of).collect::<Vec<f64>>().into_iter())
}

/// A day of demands with 193 slices on the mean, drawn from a seed.
pub fn experiment(seed: u64) -> Result<Experiment, Error> {
    let mean = "0.965".parse().map_err(Error::input)?;
    let (users, quanta, together) = (USERS, SECONDS, Decimal::ZERO);
    let options = WorkloadOptions { workload: Workload::Queries, users, quanta, mean, together, seed };
    Ok(experiment_of(demands(&options)?))
}

/// The same with other demands.
pub fn experiment_of(series: DemandSeries) -> Experiment {
    Experiment { series, fair_share: 1, cache_slowdown: None }
}

/// What the paper sets; who is greedy is drawn from the seed. What the paper calls alpha is what others share: nothing is
/// guaranteed.
pub(super) fn of_seed(seed: u64) -> Result<MechanismOptions, Error> {
    Ok(MechanismOptions { seed, ..settings("0", USERS * SECONDS, Ties::Lowest)? })
}

/// One mechanism over the day with every part of the users greedy.
fn row(name: &str, experiment: &Experiment, settings: &MechanismOptions) -> Result<Vec<Cell>, Error> {
    // With nothing guaranteed, whoever claims the larger of what is guaranteed and what it demands claims what it demands.
    if name != "karma" {
        let cell = |tenths: &u32| -> Result<Cell, Error> {
            Ok(Cell::new(name, &experiment.outcome(name, settings, *tenths)?))
        };
        return TENTHS.par_iter().map(cell).collect();
    }
    let honest = experiment.outcome(name, settings, 0)?;
    let labelled = |tenths: &u32| -> Result<Cell, Error> {
        let (mut outcome, labels) = (honest.clone(), experiment.outcome("strict", settings, *tenths)?);
        outcome.users.iter_mut().zip(labels.users).for_each(|(user, as_labelled)| {
            user.conformant = as_labelled.conformant;
        });
        outcome.metrics.disparity = credits(&outcome.users);
        Ok(Cell::new(name, &outcome))
    };
    TENTHS.par_iter().map(labelled).collect()
}

/// Mean credits of honest and of greedy users.
fn credits(users: &[UserTotals]) -> Option<Disparity> {
    let of = |conformant| {
        mean(users.iter().filter(|user| user.conformant == conformant).filter_map(|user| user.credits))
    };
    Some(Disparity { quantity: "credits".into(), conformant: of(true)?, non_conformant: of(false)? })
}
