//! Where the demands of the two evaluations come from: drawn to be like those that the papers show in figures only, or from the
//! public data set behind them (Snowset), when a user has it, counted as the papers count them.

use super::experiment::Experiment;
use super::fair_shares::{self, Day};
use super::quarters;
use fairplan::imports::{SnowsetDemand, SnowsetOptions, WarehouseSample, snowset};
use fairplan::instances::Random;
use fairplan::report::reproduction::Reproduced;
use fairplan::{Control, DemandSeries, DemandSeriesBuilder, Error};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The stream of the seed that users of Karma's evaluation are drawn from.
const STREAM: u64 = 21;

/// The day of Fair Shares, and a quarter of an hour of it for Karma, which says of its own only that it was drawn.
const DAY: [&str; 2] = ["2018-03-01 00:00:00", "2018-03-02 00:00:00"];
const QUARTER: [&str; 2] = ["2018-03-01 12:00:00", "2018-03-01 12:15:00"];

/// What exhibits say of their demands, and what they say of those of a file.
const DRAWN: &str = "demands drawn to be like theirs";
const READ: &str = "demands of the queries in a file";

/// The demands, each drawn or read when it is first asked for.
pub(crate) struct Source {
    /// The table `snowset-main`.
    snowset: Option<PathBuf>,
    quarters: OnceCell<Vec<Experiment>>,
    days: OnceCell<Vec<Day>>,
}

impl Source {
    /// The demands of a file, or drawn ones.
    pub fn new(snowset: Option<PathBuf>) -> Self {
        Self { snowset, quarters: OnceCell::new(), days: OnceCell::new() }
    }

    /// Quarters of an hour of 100 users, who demand their fair share on the mean.
    pub fn quarters(&self, control: &Control<'_>) -> Result<&[Experiment], Error> {
        if let Some(known) = self.quarters.get() {
            return Ok(known);
        }
        let quarters: Vec<Experiment> = match &self.snowset {
            None => (0..quarters::DRAWS).map(quarters::experiment).collect::<Result<_, _>>()?,
            Some(file) => {
                control.stage("reading a quarter of an hour of queries");
                quarters_of(file)?.into_iter().map(quarters::experiment_of).collect()
            }
        };
        Ok(self.quarters.get_or_init(|| quarters))
    }

    /// Days of 200 users under every mechanism.
    pub fn days(&self, control: &Control<'_>) -> Result<&[Day], Error> {
        if let Some(known) = self.days.get() {
            return Ok(known);
        }
        let mut days = Vec::new();
        match &self.snowset {
            None => {
                control.stage("days of 200 users");
                for seed in 0..fair_shares::DRAWS {
                    days.push(Day::new(&fair_shares::experiment(seed)?, seed)?);
                }
            }
            Some(file) => {
                control.stage("reading a day of queries");
                for (seed, series) in (0..).zip(days_of(file)?) {
                    days.push(Day::new(&fair_shares::experiment_of(series), seed)?);
                }
            }
        }
        Ok(self.days.get_or_init(|| days))
    }

    /// Says where the demands of these numbers come from.
    ///
    /// # Errors
    /// The file has too few warehouses for one of them.
    pub fn named(&self, mut numbers: Vec<Reproduced>) -> Result<Vec<Reproduced>, Error> {
        let Some(file) = &self.snowset else { return Ok(numbers) };
        numbers.iter_mut().for_each(|number| number.source = number.source.replace(DRAWN, READ));
        match numbers.iter().find(|number| !number.ours.is_finite()) {
            None => Ok(numbers),
            Some(number) => Err(Error::input(format!(
                "--snowset {}: {}, {}: too few warehouses demand anything; use the whole table",
                file.display(),
                number.exhibit,
                number.quantity
            ))),
        }
    }
}

fn options(file: &Path, [from, until]: [&str; 2], demand: SnowsetDemand) -> SnowsetOptions {
    let (from, until) = (Some(from.into()), Some(until.into()));
    SnowsetOptions { queries: file.display().to_string(), demand, quantum: 1, from, until, sample: None }
}

/// Karma: a user demands the memory that its queries hold, second by second, in parts of its own mean: 10 of them are its mean, as
/// the totals published with the paper have it. A hundred users are drawn again and again.
fn quarters_of(file: &Path) -> Result<Vec<DemandSeries>, Error> {
    let (read, _) = snowset(&options(file, QUARTER, SnowsetDemand::Memory { slice: 1 << 20 }))?;
    let totals = read.totals();
    (0..quarters::DRAWS)
        .map(|seed| {
            let mut random = Random::new(seed, STREAM);
            let mut order: Vec<usize> = (0..read.user_count()).collect();
            let count = order.len().min(quarters::USERS as usize);
            for position in 0..count {
                let other = position + random.below((order.len() - position) as u64) as usize;
                order.swap(position, other);
            }
            let mean_is_due = |user: usize, held: u64| {
                let whole =
                    u128::from(held) * u128::from(quarters::FAIR_SHARE) * read.quantum_count() as u128;
                whole.div_ceil(u128::from(totals[user].max(1))) as u64
            };
            part(&read, &order[..count], mean_is_due)
        })
        .collect()
}

/// Fair Shares: every query demands two blocks in every second that it touches; as many times 200 users of the whole data set as
/// there are, up to so many days.
fn days_of(file: &Path) -> Result<Vec<DemandSeries>, Error> {
    let users = fair_shares::USERS as usize;
    let sample = WarehouseSample { warehouses: users * fair_shares::DRAWS as usize, seed: 0 };
    let demand = SnowsetDemand::Queries { slices: 2 };
    let (read, _) = snowset(&SnowsetOptions { sample: Some(sample), ..options(file, DAY, demand) })?;
    let all: Vec<usize> = (0..read.user_count()).collect();
    let whole = all.chunks(users).filter(|chosen| chosen.len() == users || all.len() < users);
    // The warehouses of a sample are in the order of their ids, which says nothing of them.
    whole.map(|chosen| part(&read, chosen, |_, slices| slices)).collect()
}

/// Some users of a series, in their order, with what they demand in other slices.
fn part(
    series: &DemandSeries,
    chosen: &[usize],
    slices: impl Fn(usize, u64) -> u64,
) -> Result<DemandSeries, Error> {
    let mut builder = DemandSeriesBuilder::default();
    let mut at = vec![None; series.user_count()];
    for user in chosen {
        at[*user] = Some(builder.user(series.user_id(*user))?);
    }
    for quantum in 0..series.quantum_count() {
        builder.quantum(series.label(quantum))?;
        let (users, held) = series.demands(quantum);
        for (user, held) in users.iter().map(|user| *user as usize).zip(held) {
            if let Some(position) = at[user] {
                builder.demand(position, slices(user, *held))?;
            }
        }
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/snowset-main.csv")
    }

    #[test]
    fn karmas_users_demand_their_fair_share_on_the_mean_of_a_quarter_of_an_hour() {
        let path = file();
        let quarters = quarters_of(&path).unwrap();
        assert_eq!(quarters.len(), quarters::DRAWS as usize);
        for series in &quarters {
            for total in series.totals() {
                let mean = total as f64 / series.quantum_count() as f64;
                // Rounding up adds less than one slice a quantum.
                assert!((10.0..11.0).contains(&mean), "{mean}");
            }
        }
    }

    #[test]
    fn a_query_of_fair_shares_demands_two_blocks_in_every_second_that_it_touches() {
        let path = file();
        let days = days_of(&path).unwrap();
        assert_eq!(days.len(), 1);
        let series = &days[0];
        let at = |user: &str, label: &str| {
            let user = series.user_named(user).unwrap() as u32;
            let quantum =
                (0..series.quantum_count()).find(|t| series.label(*t).to_string() == label).unwrap();
            let (users, slices) = series.demands(quantum);
            users.iter().zip(slices).find(|(other, _)| **other == user).map_or(0, |(_, slices)| *slices)
        };
        // From 12:00:00.250 to 12:00:02.100, and a second one from 12:00:01.900.
        let of = ["00", "01", "02", "03"].map(|second| at("1049", &format!("2018-03-01 12:00:{second}")));
        assert_eq!(of, [2, 4, 4, 2]);
        // A warehouse without queries on that day is a user.
        assert!(series.user_named("77").is_some());
    }

    #[test]
    fn exhibits_of_a_file_say_so_and_give_no_reason_of_drawn_demands() {
        let path = file();
        let options = crate::ReproduceOptions {
            ids: vec!["fs-fig3".into(), "karma-fig8".into()],
            snowset: Some(path),
            ..crate::ReproduceOptions::default()
        };
        let document = crate::reproduce(&options, &Control::none()).unwrap();
        assert!(document.numbers.iter().all(|number| number.source.contains(READ)));
        assert!(document.reasons.is_empty() && !document.agrees);
    }
}
