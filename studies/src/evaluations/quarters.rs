//! The demands of Karma's evaluation: users over a quarter of an hour, second by second.

use super::experiment::Experiment;
use fairplan::instances::generate::{Workload, WorkloadOptions, demands};
use fairplan::{Decimal, DemandSeries, Error};

/// How many times demands are drawn.
pub(super) const DRAWS: u64 = 11;

/// Storage is so many times slower than the cache: the paper has 50 to 100.
pub(super) const SLOWDOWN: u32 = 50;

/// How much bursts begin together: the one number that is fitted, so that max-min uses what the published totals say
/// (0.9246). 0.65 gives 0.9247, 0.8 gives 0.914, and bursts that begin whenever they like 0.948: see the test.
pub(super) const TOGETHER: &str = "0.65";

/// The users, and the slices due to each.
pub(super) const USERS: u64 = 100;
pub(super) const FAIR_SHARE: u64 = 10;

/// The users over 900 quanta, drawn from a seed.
pub(super) fn experiment(seed: u64) -> Result<Experiment, Error> {
    drawn(seed, TOGETHER)
}

pub(super) fn drawn(seed: u64, together: &str) -> Result<Experiment, Error> {
    let mean = Decimal::from(FAIR_SHARE as u32);
    let together = together.parse().map_err(Error::input)?;
    let options =
        WorkloadOptions { workload: Workload::Bursts, users: USERS, quanta: 900, mean, together, seed };
    Ok(experiment_of(demands(&options)?))
}

/// The same with other demands.
pub(super) fn experiment_of(series: DemandSeries) -> Experiment {
    Experiment { series, fair_share: FAIR_SHARE, cache_slowdown: Some(Decimal::from(SLOWDOWN)) }
}
