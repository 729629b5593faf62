//! Demands over time that need no file: the Karma paper's example, and workloads like those the papers measured.

use super::drawn::name_user;
use crate::{Decimal, DemandSeries, DemandSeriesBuilder, QuantumLabel, Random, Violation};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The streams of the seed: what users are like, and what they do.
const USER_STREAM: u64 = 11;
const DEMAND_STREAM: u64 = 12;
const BUSY_STREAM: u64 = 13;

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
    /// Users start queries that run for a while, as Fair Shares Sec. 5 has it of a Snowflake day: every query demands two
    /// slices in each of its quanta, three users in four start none, a few of the others start most, and the sum is nearly
    /// normal.
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
    /// What a user demands on the mean of a quantum, in slices: more than 0, at most a million.
    pub mean: Decimal,
    /// How much bursts begin together, 0 to 10: the chance that one begins in a quantum grows by `e^(together · z)`, where `z` is
    /// how busy all are then, nearly a standard normal number. 0: whenever each likes.
    pub together: Decimal,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// Most users and quanta.
const LIMITS: [(&str, u64); 2] = [("users", 1_000_000), ("quanta", 10_000_000)];

/// The largest mean demand.
const MOST_ON_THE_MEAN: f64 = 1e6;

/// Bursts that begin together more than this all begin in one quantum.
const MOST_TOGETHER: f64 = 10.0;

/// Draws a workload. The same options give the same series on every machine.
pub fn demands(options: &WorkloadOptions) -> Result<DemandSeries, Violation> {
    let WorkloadOptions { workload, users, quanta, mean, together, seed } = *options;
    for ((what, most), value) in LIMITS.into_iter().zip([users, quanta]) {
        if !(1..=most).contains(&value) {
            return Err(Violation::new(what, value, format!("draw at least 1 and at most {most}")));
        }
    }
    let parts = (mean.to_f64() * ONE as f64) as u128;
    if parts == 0 || mean.to_f64() > MOST_ON_THE_MEAN {
        return Err(Violation::new(
            "mean",
            mean,
            "draw more than 0 and at most a million slices on the mean",
        ));
    }
    if together.to_f64() > MOST_TOGETHER {
        return Err(Violation::new("together", together, format!("draw at most {MOST_TOGETHER}")));
    }
    if workload == Workload::Queries && !together.is_zero() {
        return Err(Violation::new(
            "together",
            together,
            "is for bursts; queries begin together as they were measured",
        ));
    }
    let mut builder = DemandSeriesBuilder::default();
    let mut id = String::new();
    for user in 0..users {
        name_user(&mut id, user + 1);
        builder.user(&id)?;
    }
    let mut characters = Random::new(seed, USER_STREAM);
    let mut random = Random::new(seed, DEMAND_STREAM);
    let mut busy = (!together.is_zero()).then(|| Busy::new(together.to_f64(), seed));
    let mut bursts = Vec::new();
    let mut queries = Vec::new();
    let mut load = None;
    match workload {
        Workload::Bursts => {
            bursts.extend((0..users).map(|_| Burst::new(parts, &mut characters, &mut random, busy.as_mut())))
        }
        Workload::Queries => {
            queries = Queries::population(users, parts, &mut characters);
            load = Some(Load::new(&mut random));
        }
    }
    for quantum in 0..quanta {
        builder.quantum(QuantumLabel::Number(quantum))?;
        for (user, burst) in bursts.iter_mut().enumerate() {
            builder.demand(user, burst.next(quantum, &mut random, busy.as_mut()))?;
        }
        let Some(load) = load.as_mut().map(|load| load.next(&mut random)) else { continue };
        for (user, queries) in queries.iter_mut().enumerate() {
            builder.demand(user, queries.next(load, &mut random))?;
        }
    }
    builder.build()
}

/// A user whose time is cut into cycles with one burst in each, somewhere. A burst takes the same part of every cycle, so
/// that all users demand nearly the same in total, as the published totals have it.
struct Burst {
    /// The part of the time in which the user is active, in parts of [`ONE`].
    active: u64,
    /// What it demands while it is active, in parts of [`ONE`]: whole slices, and the chance of one more.
    demand: u128,
    /// The quanta of this cycle: how many, which of them are the burst, and how many are over.
    length: u64,
    burst: Range<u64>,
    over: u64,
    /// What bursts have been too short by through rounding, in parts of [`ONE`] of a quantum.
    owed: u64,
}

impl Burst {
    /// Mean length in quanta of a burst of users who are mostly idle, and of a pause of users who are mostly active.
    const LENGTH: u64 = 20;

    /// `mean` in parts of [`ONE`].
    fn new(mean: u128, characters: &mut Random, random: &mut Random, busy: Option<&mut Busy>) -> Self {
        let active = characters.between(ONE / 100 * 9, ONE);
        let demand = mean * u128::from(ONE) / u128::from(active);
        let mut user = Self { active, demand, length: 0, burst: 0..0, over: 0, owed: 0 };
        user.begin_cycle(0, random, None);
        // Somewhere in its first cycle.
        let over = random.below(user.length);
        if let Some(busy) = busy {
            let last = user.length - (user.burst.end - user.burst.start);
            user.place_burst(busy.start(Busy::BEFORE.saturating_sub(over), last, random));
        }
        user.over = over;
        user
    }

    /// Begins a cycle in this quantum.
    fn begin_cycle(&mut self, quantum: u64, random: &mut Random, busy: Option<&mut Busy>) {
        // A user that hardly ever pauses has a cycle of some twenty thousand quanta.
        let rarer = self.active.min(ONE - self.active).max(ONE / 1000);
        let mean = Self::LENGTH * ONE / rarer;
        self.length = mean / 2 + random.below(mean + 1);
        let active = self.length * self.active + self.owed;
        let burst = active / ONE;
        self.owed = active % ONE;
        let last = self.length - burst;
        let start = match busy {
            None => random.below(last + 1),
            Some(busy) => busy.start(Busy::BEFORE + quantum, last, random),
        };
        (self.burst, self.over) = (start..start + burst, 0);
    }

    fn place_burst(&mut self, start: u64) {
        self.burst = start..start + (self.burst.end - self.burst.start);
    }

    fn next(&mut self, quantum: u64, random: &mut Random, busy: Option<&mut Busy>) -> u64 {
        if self.over == self.length {
            self.begin_cycle(quantum, random, busy);
        }
        self.over += 1;
        if !self.burst.contains(&(self.over - 1)) {
            return 0;
        }
        let (whole, part) = (self.demand / u128::from(ONE), self.demand % u128::from(ONE));
        whole as u64 + u64::from(u128::from(random.below(ONE)) < part)
    }
}

/// When bursts like to begin: the mean of some uniform draws, one of which is left out and one drawn in every quantum, scaled to a
/// variance of 1.
struct Busy {
    together: f64,
    random: Random,
    /// Sums of the draws so far, each about 0.
    sums: Vec<f64>,
    /// Weights `e^(together · z)` of the quanta.
    weights: Vec<f64>,
}

impl Busy {
    /// Quanta before the first in which cycles may begin.
    const BEFORE: u64 = 1 << 15;
    /// Draws whose mean is taken: bursts and pauses are as long.
    const DRAWS: usize = Burst::LENGTH as usize;

    fn new(together: f64, seed: u64) -> Self {
        Self { together, random: Random::new(seed, BUSY_STREAM), sums: vec![0.0], weights: Vec::new() }
    }

    /// Where a burst begins in a cycle that begins at a time, at 0 to `last` quanta in it.
    fn start(&mut self, time: u64, last: u64, random: &mut Random) -> u64 {
        let (first, end) = (time as usize, (time + last) as usize + 1);
        self.draw(end);
        let weights = &self.weights[first..end];
        let all: f64 = weights.iter().sum();
        let mut left = all * (random.below(ONE) as f64 / ONE as f64);
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        chosen.map_or(last, |chosen| chosen as u64)
    }

    fn draw(&mut self, end: usize) {
        // The sum of n uniform numbers about 0 has the variance n / 12.
        let scale = (12.0 / Self::DRAWS as f64).sqrt();
        while self.weights.len() < end {
            let quantum = self.weights.len();
            while self.sums.len() <= quantum + Self::DRAWS {
                let last = self.sums[self.sums.len() - 1];
                self.sums.push(last + self.random.below(ONE) as f64 / ONE as f64 - 0.5);
            }
            let z = scale * (self.sums[quantum + Self::DRAWS] - self.sums[quantum]);
            // The exponential by products only, which are the same everywhere to the last bit.
            let nearly = (0..20).fold(1.0 + self.together * z / f64::from(1 << 20), |power, _| power * power);
            self.weights.push(nearly);
        }
    }
}

/// How busy everybody is, in parts of [`ONE`]: the mean of a few draws between nothing and twice the usual, one of
/// which is drawn anew from time to time. So the sum of all demands wanders, nearly normally: by a third of its mean, with
/// which 84.7% of 200 slices can be used, as Fair Shares has it.
struct Load {
    draws: [u64; 3],
    age: u64,
}

impl Load {
    /// Quanta between new draws: a day has so many that its mean hardly depends on them.
    const PERIOD: u64 = 60;

    fn new(random: &mut Random) -> Self {
        Self { draws: [(); 3].map(|()| random.below(2 * ONE)), age: 0 }
    }

    fn next(&mut self, random: &mut Random) -> u64 {
        self.age += 1;
        if self.age.is_multiple_of(Self::PERIOD) {
            let oldest = (self.age / Self::PERIOD) as usize % self.draws.len();
            self.draws[oldest] = random.below(2 * ONE);
        }
        self.draws.iter().sum::<u64>() / self.draws.len() as u64
    }
}

/// A user whose queries come and go.
struct Queries {
    running: u64,
    /// Queries started in a quantum on the mean, in parts of [`ONE`].
    starts: u64,
}

impl Queries {
    /// Slices that a query demands, and for how many quanta on the mean it runs, as a fraction: 7.25, since 1,150,000
    /// queries of two slices make 193 slices on the mean of the 86,400 seconds.
    const SLICES: u64 = 2;
    const LENGTH: (u64, u64) = (29, 4);

    /// Users who start queries at all: 24%. Where a fair share is one slice, strict partitioning gives at most half of what
    /// somebody demands whose queries take two; the mean welfare that Fair Shares states for it, 0.82, is only possible if
    /// more than 64% of its users demand nothing all day.
    const PRESENT: (u64, u64) = (6, 25);

    /// Of the users who start queries the `k`-th, in random order, starts a `k^-0.625`-th of the queries of the first. So
    /// strict partitioning uses nearly what Fair Shares states (19.6%), and users have nearly the stated part of what they
    /// demand. `mean` in parts of [`ONE`].
    fn population(users: u64, mean: u128, characters: &mut Random) -> Vec<Self> {
        let mut ranks: Vec<u64> = (1..=users).collect();
        for position in (1..ranks.len()).rev() {
            ranks.swap(position, characters.below(position as u64 + 1) as usize);
        }
        let present = (users * Self::PRESENT.0).div_ceil(Self::PRESENT.1);
        // By roots, which are the same everywhere to the last bit.
        let part = |rank: u64| {
            let root = (rank as f64).sqrt();
            if rank > present { 0 } else { (ONE as f64 / (root * root.sqrt().sqrt())) as u128 }
        };
        let all: u128 = (1..=users).map(part).sum();
        let (over, under) = Self::LENGTH;
        let starts = u128::from(users) * mean * u128::from(under) / u128::from(Self::SLICES * over);
        let user = |rank: u64| {
            let starts = (starts * part(rank) / all) as u64;
            // The day does not begin with an idle system.
            let running = u128::from(starts) * u128::from(over) / u128::from(under * ONE);
            Self { running: running as u64, starts }
        };
        ranks.into_iter().map(user).collect()
    }

    fn next(&mut self, load: u64, random: &mut Random) -> u64 {
        let ended =
            (0..self.running).filter(|_| random.below(Self::LENGTH.0) < Self::LENGTH.1).count() as u64;
        let starts = (u128::from(self.starts) * u128::from(load) / u128::from(ONE)) as u64;
        let started = starts / ONE + u64::from(random.below(ONE) < starts % ONE);
        self.running = self.running + started - ended;
        self.running * Self::SLICES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::demands_sha256_hex;

    fn drawn(workload: Workload, users: u64, quanta: u64, mean: u32) -> DemandSeries {
        demands(&WorkloadOptions {
            workload,
            users,
            quanta,
            mean: Decimal::from(mean),
            together: Decimal::ZERO,
            seed: 1,
        })
        .unwrap()
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
                "9666e8e85d6c464ff7f5affa895bdd6289ae8868163eab0159cecbe5855c236a",
                "f6e700faddb199f6997854a609900671b60d15d132152010111818a012929ac4",
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
        assert!(totals.iter().all(|total| (*total as f64 / 200_000.0 - 1.0).abs() < 0.02), "{totals:?}");
        let parts = [0, 20, 100, 180, 199].map(|rank| served[rank] as f64 / 200_000.0);
        for (part, published) in parts.into_iter().zip([0.087, 0.19, 0.554, 0.95, 0.997]) {
            assert!((part - published).abs() < 0.07, "{parts:?}");
        }
    }

    #[test]
    fn queries_are_skewed_by_user_and_nearly_normal_in_sum() {
        let series = drawn(Workload::Queries, 200, 86_400, 1);
        let mut totals = series.totals();
        totals.sort_unstable();
        let all: u64 = totals.iter().sum();
        let quanta = 86_400.0;
        let mean = all as f64 / quanta;
        assert!((185.0..215.0).contains(&mean), "{mean}");
        let largest: u64 = totals[190..].iter().sum();
        assert!(largest * 20 > all * 8 && largest * 20 < all * 11, "{largest} of {all}");
        assert!(totals[151] == 0 && totals[152] > 0, "{} and {}", totals[151], totals[152]);
        let sums: Vec<u64> = (0..86_400).map(|quantum| series.demands(quantum).1.iter().sum()).collect();
        let moment =
            |power: i32| sums.iter().map(|sum| (*sum as f64 - mean).powi(power)).sum::<f64>() / quanta;
        let deviation = moment(2).sqrt();
        let within = sums.iter().filter(|sum| (**sum as f64 - mean).abs() < deviation).count();
        assert!((0.63..0.74).contains(&(within as f64 / quanta)), "{within}");
        assert!((moment(3) / deviation.powi(3)).abs() < 0.4, "skewness {}", moment(3) / deviation.powi(3));
        let active = series.entry_count() as f64 / (200.0 * quanta);
        assert!((0.16..0.24).contains(&active), "{active} of the users are active");
        let served: u64 = sums.iter().map(|sum| sum.min(&200)).sum();
        let used = served as f64 / (200.0 * quanta);
        assert!((0.84..0.88).contains(&used), "{used} of 200 slices can be used");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (users, quanta, mean, told) in
            [(0, 1, "1", "users = 0"), (1, 0, "1", "quanta = 0"), (1, 1, "1e7", "mean"), (1, 1, "0", "mean")]
        {
            let (mean, together) = (mean.parse().unwrap(), Decimal::ZERO);
            let options =
                WorkloadOptions { workload: Workload::Bursts, users, quanta, mean, together, seed: 0 };
            let text = demands(&options).err().unwrap().to_string();
            assert!(text.starts_with(told), "{text}");
        }
        for (workload, together) in [(Workload::Bursts, 11u32), (Workload::Queries, 1)] {
            let (mean, together) = (Decimal::ONE, together.into());
            let options = WorkloadOptions { workload, users: 1, quanta: 1, mean, together, seed: 0 };
            let text = demands(&options).err().unwrap().to_string();
            assert!(text.starts_with("together = "), "{text}");
        }
    }

    #[test]
    fn bursts_that_begin_together_have_the_same_mean_and_sums_that_vary_more() {
        let sums = |together: u32| {
            let (mean, together) = (Decimal::from(10u32), together.into());
            let options = WorkloadOptions {
                workload: Workload::Bursts,
                users: 200,
                quanta: 2000,
                mean,
                together,
                seed: 3,
            };
            let series = demands(&options).unwrap();
            let sums: Vec<f64> = (0..series.quantum_count())
                .map(|quantum| series.demands(quantum).1.iter().sum::<u64>() as f64)
                .collect();
            let mean = sums.iter().sum::<f64>() / sums.len() as f64;
            let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / sums.len() as f64;
            (mean, variance)
        };
        let (alone, together) = (sums(0), sums(1));
        assert!((alone.0 - together.0).abs() < 0.05 * alone.0, "{alone:?} {together:?}");
        assert!(together.1 > 2.0 * alone.1, "{alone:?} {together:?}");
    }
}
