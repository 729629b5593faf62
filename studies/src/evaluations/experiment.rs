//! What both evaluations do with demands: divide them while some users hoard.

use fairplan::instances::DynamicOutcome;
use fairplan::{
    AllocateOptions, Control, Decimal, DemandSeries, Error, FairShares, MechanismOptions, allocate,
};

/// An experiment: the demands, what is due, and the cache that slices are, if any.
pub struct Experiment {
    pub series: DemandSeries,
    pub fair_share: u64,
    pub cache_slowdown: Option<Decimal>,
}

impl Experiment {
    /// What `name` makes of it when so many tenths of the users, drawn by the seed of the settings, hoard; in an auction, where
    /// they pay for what they hoard, they only bid another price (Fair Shares Sec. 4).
    pub fn outcome(
        &self,
        name: &str,
        settings: &MechanismOptions,
        tenths: u32,
    ) -> Result<DynamicOutcome, Error> {
        let options = AllocateOptions {
            mechanism: name.into(),
            settings: settings.clone(),
            non_conformant: Some(Decimal::new(tenths.into(), -1).map_err(Error::input)?),
            cache_slowdown: self.cache_slowdown,
            per_quantum: false,
        };
        let shares = FairShares::PerUser(self.fair_share);
        Ok(allocate(&self.series, &shares, None, &options, &Control::none())?.outcome)
    }
}
