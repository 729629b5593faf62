//! The evaluations of two papers on Snowflake's demands, which are not shipped: on demands drawn to be like them, or on the public
//! data set, when a user has it.

mod fair_shares;
mod karma;
mod source;

pub(crate) use fair_shares::{fig2, fig3, fig4, fig5, fig6};
pub(crate) use karma::{karma_fig6, karma_fig7, karma_fig8};
pub(crate) use source::Source;

use fairplan::instances::DynamicOutcome;
use fairplan::report::reproduction::{Interval, KnownReason, Passage, Reproduced};
use fairplan::{
    AllocateOptions, Control, Decimal, DemandSeries, Error, FairShares, MechanismOptions, allocate,
};

type Numbers = Result<Vec<Reproduced>, Error>;

/// Why numbers differ, as far as it was tested or the papers allow to say.
pub(crate) fn reasons() -> Vec<KnownReason> {
    [&[karma::FIG_6][..], &fair_shares::REASONS].concat()
}

/// A quantity over demands drawn from several seeds.
#[derive(Clone, Copy)]
struct Drawn {
    /// The middle one.
    ours: f64,
    /// How far from it the farthest is: a number agrees if it is no farther.
    reach: f64,
}

impl Drawn {
    fn of(draws: impl Iterator<Item = f64> + Clone) -> Self {
        let ours = median(draws.clone());
        let reach = draws.map(|draw| (draw - ours).abs()).fold(0.0, f64::max);
        Self { ours, reach }
    }

    fn beside(&self, passage: &Passage, quantity: &str, published: f64, half_a_digit: f64) -> Reproduced {
        passage.number(quantity, published, self.ours, self.reach + half_a_digit)
    }

    fn within(&self, passage: &Passage, quantity: &str, range: Interval) -> Reproduced {
        passage.range(quantity, range, self.ours, self.reach)
    }

    fn as_said(&self, passage: &Passage, quantity: &str, reading: Interval) -> Reproduced {
        passage.words_of_draws(quantity, reading, self.ours, self.reach)
    }
}

/// An experiment: the demands, what is due, and the cache that slices are, if any.
pub struct Experiment {
    series: DemandSeries,
    fair_share: u64,
    cache_slowdown: Option<Decimal>,
}

impl Experiment {
    /// What `name` makes of it when so many tenths of the users, drawn by the seed of the settings, hoard; in an auction, where
    /// they pay for what they hoard, they only bid another price (Fair Shares Sec. 4).
    fn outcome(&self, name: &str, settings: &MechanismOptions, tenths: u32) -> Result<DynamicOutcome, Error> {
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

/// The middle one of some numbers.
fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match (numbers.get(half), numbers.len() % 2) {
        (Some(middle), 1) => *middle,
        (Some(upper), _) => (numbers[half - 1] + upper) / 2.0,
        (None, _) => f64::NAN,
    }
}
