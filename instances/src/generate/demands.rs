//! Demands over time that need no file: the Karma paper's example, and workloads like those the papers measured.

use super::name_user;
use crate::{DemandSeries, DemandSeriesBuilder, QuantumLabel, Random, Violation};
use std::fmt;
use std::str::FromStr;

/// The streams of the seed: what users are like, and what they do.
const USER_STREAM: u64 = 11;
const DEMAND_STREAM: u64 = 12;

/// Probabilities are counted in parts of this.
const ONE: u64 = 1 << 32;

/// The running example of the Karma paper (Fig. 2 and 3): three users of fair share 2, five quanta.
pub fn karma_fig2() -> Result<DemandSeries, Violation> {
    let rows: [[u64; 3]; 5] = [[3, 2, 1], [3, 0, 0], [0, 3, 0], [2, 2, 4], [2, 3, 5]];
    let mut builder = DemandSeriesBuilder::default();
    for id in ["A", "B", "C"] {
        builder.user(id)?;
    }
    for (quantum, row) in rows.iter().enumerate() {
        builder.quantum(QuantumLabel::Number(quantum as u64))?;
        for (user, slices) in row.iter().enumerate() {
            builder.demand(user, *slices)?;
        }
    }
    builder.build()
}

/// What a workload is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Everybody demands its fair share on the mean, in bursts: the users are active 9% to 100% of the time, spread
    /// evenly, as their published totals under strict partitioning say of the 100 Snowflake users of Karma Sec. 5.
    Bursts,
    /// Users start queries that run for a while, a few users most of them, as Fair Shares Sec. 5 has it of a
    /// Snowflake day: every query demands two slices in each of its quanta, and the sum is nearly normal.
    Queries,
}

impl Workload {
    const ALL: [Self; 2] = [Self::Bursts, Self::Queries];

    fn name(self) -> &'static str {
        match self {
            Self::Bursts => "bursts",
            Self::Queries => "queries",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Workload {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| "use bursts or queries".into())
    }
}

/// How much of a workload, and from which seed.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadOptions {
    /// What it is like.
    pub workload: Workload,
    /// How many users.
    pub users: u64,
    /// How many quanta.
    pub quanta: u64,
    /// What a user demands on the mean of a quantum, in slices.
    pub mean: u64,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// Most users, quanta and mean demands.
const LIMITS: [(&str, u64); 3] = [("users", 1_000_000), ("quanta", 10_000_000), ("mean", 1_000_000)];

/// Draws a workload. The same options give the same series on every machine.
pub fn demands(options: &WorkloadOptions) -> Result<DemandSeries, Violation> {
    let WorkloadOptions { workload, users, quanta, mean, seed } = *options;
    for ((what, most), value) in LIMITS.into_iter().zip([users, quanta, mean]) {
        if !(1..=most).contains(&value) {
            return Err(Violation::new(what, value, format!("draw at least 1 and at most {most}")));
        }
    }
    let mut builder = DemandSeriesBuilder::default();
    let mut id = String::new();
    for user in 0..users {
        name_user(&mut id, user + 1);
        builder.user(&id)?;
    }
    let mut characters = Random::new(seed, USER_STREAM);
    let mut random = Random::new(seed, DEMAND_STREAM);
    let mut sources: Vec<Box<dyn Source>> = match workload {
        Workload::Bursts => (0..users).map(|_| Burst::boxed(mean, &mut characters, &mut random)).collect(),
        Workload::Queries => Queries::population(users, mean, &mut characters),
    };
    for quantum in 0..quanta {
        builder.quantum(QuantumLabel::Number(quantum))?;
        for (user, source) in sources.iter_mut().enumerate() {
            builder.demand(user, source.next(&mut random))?;
        }
    }
    builder.build()
}

/// One user's demands.
trait Source {
    /// The demand in the next quantum.
    fn next(&mut self, random: &mut Random) -> u64;
}

/// A user that is active or idle for a while.
struct Burst {
    active: bool,
    /// What it demands while it is active, in parts of [`ONE`]: whole slices, and the chance of one more.
    demand: u128,
    /// Chances of beginning and of ending a burst in a quantum.
    begin: u64,
    end: u64,
}

impl Burst {
    /// Mean length of a burst in quanta, of users who are mostly idle.
    const LENGTH: u64 = 15;

    fn boxed(mean: u64, characters: &mut Random, random: &mut Random) -> Box<dyn Source> {
        // The part of the time in which the user is active: begin / (begin + end).
        let active = characters.between(ONE / 100 * 9, ONE);
        let idle = ONE - active;
        let (begin, end) = if active < idle * Self::LENGTH {
            let end = ONE / Self::LENGTH;
            ((u128::from(end) * u128::from(active) / u128::from(idle)) as u64, end)
        } else {
            (ONE, (u128::from(ONE) * u128::from(idle) / u128::from(active)) as u64)
        };
        let demand = u128::from(mean) * u128::from(ONE) * u128::from(ONE) / u128::from(active);
        Box::new(Self { active: random.below(ONE) < active, demand, begin, end })
    }
}

impl Source for Burst {
    fn next(&mut self, random: &mut Random) -> u64 {
        let chance = if self.active { self.end } else { self.begin };
        self.active ^= random.below(ONE) < chance;
        if !self.active {
            return 0;
        }
        let (whole, part) = (self.demand / u128::from(ONE), self.demand % u128::from(ONE));
        whole as u64 + u64::from(u128::from(random.below(ONE)) < part)
    }
}

/// A user whose queries come and go.
struct Queries {
    running: u64,
    /// The chance that a query starts in a quantum, whole starts aside.
    whole: u64,
    start: u64,
}

impl Queries {
    /// Slices that a query demands, and for how many quanta on the mean it runs.
    const SLICES: u64 = 2;
    const LENGTH: u64 = 10;

    /// Users of whom the `k`-th, in random order, starts a `k^-1.5`-th of the queries of the first.
    fn population(users: u64, mean: u64, characters: &mut Random) -> Vec<Box<dyn Source>> {
        let mut ranks: Vec<u64> = (1..=users).collect();
        for position in (1..ranks.len()).rev() {
            ranks.swap(position, characters.below(position as u64 + 1) as usize);
        }
        // k^-1.5 in parts of 2^32, by integers, so that it is the same everywhere.
        let part = |rank: u64| {
            let root = (u128::from(rank).pow(3) * u128::from(ONE)).isqrt();
            u128::from(ONE) * u128::from(ONE.isqrt()) / root
        };
        let all: u128 = (1..=users).map(part).sum();
        let starts = u128::from(users * mean) * u128::from(ONE) / u128::from(Self::SLICES * Self::LENGTH);
        let user = |rank: u64| -> Box<dyn Source> {
            let start = (starts * part(rank) / all) as u64;
            Box::new(Self { running: 0, whole: start / ONE, start: start % ONE })
        };
        let mut sources: Vec<_> = ranks.into_iter().map(user).collect();
        // The day does not begin with an idle system.
        for source in &mut sources {
            for _ in 0..8 * Self::LENGTH {
                source.next(characters);
            }
        }
        sources
    }
}

impl Source for Queries {
    fn next(&mut self, random: &mut Random) -> u64 {
        let ended = (0..self.running).filter(|_| random.below(Self::LENGTH) == 0).count() as u64;
        self.running = self.running + self.whole + u64::from(random.below(ONE) < self.start) - ended;
        self.running * Self::SLICES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::demands_sha256_hex;

    fn drawn(workload: Workload, users: u64, quanta: u64, mean: u64) -> DemandSeries {
        demands(&WorkloadOptions { workload, users, quanta, mean, seed: 1 }).unwrap()
    }

    /// Should a digest change, so did what users were given.
    #[test]
    fn the_same_settings_give_the_same_series_as_ever() {
        let digests = [
            demands_sha256_hex(&karma_fig2().unwrap()),
            demands_sha256_hex(&drawn(Workload::Bursts, 20, 50, 10)),
            demands_sha256_hex(&drawn(Workload::Queries, 20, 50, 3)),
        ];
        assert_eq!(
            digests,
            [
                "67bde190bcd9cc0ab92d652c62ee519577784f3b41a1448fd03f56590b1d9202",
                "617aaab7c21a543ca4e16e9cd12ee4b1d3be0c4d4fbb5950b3b7286ccba63b11",
                "d91c95be4bed0f54769aa34dd46e2e65c5b71164ff157e6bb8c641a66c6fda8b",
            ]
        );
    }

    #[test]
    fn bursts_have_the_published_mean_and_spread_of_activity() {
        let series = drawn(Workload::Bursts, 200, 20_000, 10);
        let totals = series.totals();
        let mean = totals.iter().sum::<u64>() as f64 / (200.0 * 20_000.0);
        assert!((9.8..10.2).contains(&mean), "{mean}");
        // Half of the users are active less than 55% of the time: what a partition of 10 slices serves.
        let mut served = vec![0; 200];
        for quantum in 0..20_000 {
            let (users, slices) = series.demands(quantum);
            users.iter().zip(slices).for_each(|(user, slices)| served[*user as usize] += slices.min(&10));
        }
        served.sort_unstable();
        let parts = [0, 20, 100, 180, 199].map(|rank| served[rank] as f64 / 200_000.0);
        for (part, published) in parts.into_iter().zip([0.087, 0.19, 0.554, 0.95, 0.997]) {
            assert!((part - published).abs() < 0.07, "{parts:?}");
        }
    }

    #[test]
    fn queries_are_skewed_by_user_and_nearly_normal_in_sum() {
        let series = drawn(Workload::Queries, 200, 20_000, 1);
        let mut totals = series.totals();
        totals.sort_unstable();
        let all: u64 = totals.iter().sum();
        assert!((3_800_000..4_200_000).contains(&all), "{all}");
        let largest: u64 = totals[190..].iter().sum();
        assert!(
            largest * 2 > all && totals[100] * 200 < all / 4,
            "{largest} of {all}, median {}",
            totals[100]
        );
        let sums: Vec<u64> = (0..20_000).map(|quantum| series.demands(quantum).1.iter().sum()).collect();
        let mean = all as f64 / 20_000.0;
        let moment =
            |power: i32| sums.iter().map(|sum| (*sum as f64 - mean).powi(power)).sum::<f64>() / 20_000.0;
        let deviation = moment(2).sqrt();
        let within = sums.iter().filter(|sum| (**sum as f64 - mean).abs() < deviation).count();
        assert!((0.63..0.74).contains(&(within as f64 / 20_000.0)), "{within}");
        assert!((moment(3) / deviation.powi(3)).abs() < 0.4, "skewness {}", moment(3) / deviation.powi(3));
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (users, quanta, mean, told) in
            [(0, 1, 1, "users = 0"), (1, 0, 1, "quanta = 0"), (1, 1, 1 << 40, "mean")]
        {
            let options = WorkloadOptions { workload: Workload::Bursts, users, quanta, mean, seed: 0 };
            let text = demands(&options).err().unwrap().to_string();
            assert!(text.starts_with(told), "{text}");
        }
    }
}
