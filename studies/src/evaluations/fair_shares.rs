//! Gupta, Gilani, "Fair Shares: Strategy-Proofness in Single-Resource Allocation for Dynamic Demands", Sec. 5.
//!
//! Two of its numbers are only possible if it was run otherwise than it is written, and are computed so here: users without
//! demand in a quantum count as wholly served in it (in the auction as not served), and alpha is the part of the fair share
//! that Karma *shares*, so that with alpha = 1 nothing is guaranteed and a greedy user claims what it demands.

use super::{Experiment, Numbers};
use crate::karma::settings;
use fairplan::instances::generate::{Workload, WorkloadOptions, demands};
use fairplan::instances::{Disparity, DynamicOutcome, UserTotals};
use fairplan::report::reproduction::{Exhibit, Interval, Passage, Reproduced, Standing};
use fairplan::{Control, Error, MechanismOptions, Ties};
use rayon::prelude::*;
use std::sync::OnceLock;

pub(super) const FIG_2: (&str, Standing, &str) = ("fs-fig2", Standing::Unexplained, "The demands are drawn.");

pub(super) const FIG_3: (&str, Standing, &str) = (
    "fs-fig3",
    Standing::Unexplained,
    "The demands are drawn: ours leave fewer quanta with less demand than slices. What tickets lose by greed depends on how many \
     users are idle at a time.",
);

pub(super) const FIG_4: (&str, Standing, &str) = (
    "fs-fig4",
    Standing::Unexplained,
    "The demands are drawn. The paper's users must demand more at once than ours when they demand anything: users without demand \
     count as wholly served, so that a welfare of 0.82 beside a utilization of 0.196 leaves little for those with demand.",
);

pub(super) const FIG_5: (&str, Standing, &str) = (
    "fs-fig5",
    Standing::Unexplained,
    "Fairness is the least welfare over the largest: one user decides it, and the demands are drawn.",
);

pub(super) const FIG_6: (&str, Standing, &str) =
    ("fs-fig6", Standing::Unexplained, "Prices and tickets depend on how uneven the drawn demands are.");

/// Users, and the seconds of a day.
const USERS: u64 = 200;
const SECONDS: u64 = 86_400;

/// The users who are greedy, in tenths of all.
const TENTHS: [u32; 6] = [0, 2, 4, 6, 8, 10];

/// Of these some are greedy and some are not.
const MIXED: std::ops::Range<usize> = 1..5;

/// The mechanisms, in the order of the paper.
const COMPARED: [&str; 5] = ["strict", "max-min", "karma", "mpsp", "sharp"];

/// How near another draw of the demands comes to a utilization, a mean welfare or an incentive: see the test.
const ALIKE: f64 = 0.02;

/// A mechanism with every part of the users greedy.
type Row = [DynamicOutcome; TENTHS.len()];

/// What all mechanisms make of one day.
struct Day {
    experiment: Experiment,
    rows: [Row; COMPARED.len()],
}

impl Day {
    /// A day of demands with 193 slices on the mean, drawn from a seed.
    fn new(seed: u64) -> Result<Self, Error> {
        let mean = "0.965".parse().map_err(Error::input)?;
        let options = WorkloadOptions {
            workload: Workload::Queries,
            users: USERS,
            quanta: SECONDS,
            mean,
            together: fairplan::Decimal::ZERO,
            seed,
        };
        let experiment = Experiment { series: demands(&options)?, fair_share: 1, cache_slowdown: None };
        // What the paper calls alpha is what others share: nothing is guaranteed.
        let settings = settings("0", USERS * SECONDS, Ties::Lowest)?;
        let rows = COMPARED.map(|name| row(name, &experiment, &settings));
        let mut all = Vec::new();
        for row in rows {
            all.push(row?);
        }
        let rows = all.try_into().map_err(|_| Error::backend("as many rows as mechanisms"))?;
        Ok(Self { experiment, rows })
    }

    /// The day of seed 0; computed once.
    fn known(control: &Control<'_>) -> Result<&'static Self, Error> {
        static DAY: OnceLock<Day> = OnceLock::new();
        if let Some(known) = DAY.get() {
            return Ok(known);
        }
        control.stage("a day of 200 users");
        let day = Self::new(0)?;
        Ok(DAY.get_or_init(|| day))
    }

    fn of(&self, name: &str) -> &Row {
        &self.rows[COMPARED.iter().position(|other| *other == name).unwrap_or_default()]
    }
}

/// One mechanism over the day with every part of the users greedy.
fn row(name: &str, experiment: &Experiment, settings: &MechanismOptions) -> Result<Row, Error> {
    // With nothing guaranteed, whoever claims the larger of what is guaranteed and what it demands claims what it demands.
    let greed_is_honest = name == "karma";
    let cells: Vec<DynamicOutcome> = if greed_is_honest {
        let honest = experiment.outcome(name, settings, 0)?;
        let labels = |tenths: &u32| -> Result<DynamicOutcome, Error> {
            let mut outcome = honest.clone();
            let greedy = experiment.outcome("strict", settings, *tenths)?;
            outcome.users.iter_mut().zip(greedy.users).for_each(|(user, as_labelled)| {
                user.conformant = as_labelled.conformant;
            });
            outcome.metrics.disparity = credits(&outcome.users);
            Ok(outcome)
        };
        TENTHS.iter().map(labels).collect::<Result<_, _>>()?
    } else {
        TENTHS
            .par_iter()
            .map(|tenths| experiment.outcome(name, settings, *tenths))
            .collect::<Result<_, _>>()?
    };
    cells.try_into().map_err(|_| Error::backend("as many outcomes as settings"))
}

/// Mean credits of honest and of greedy users.
fn credits(users: &[UserTotals]) -> Option<Disparity> {
    let of = |conformant| {
        mean(users.iter().filter(|user| user.conformant == conformant).filter_map(|user| user.credits))
    };
    Some(Disparity { quantity: "credits".into(), conformant: of(true)?, non_conformant: of(false)? })
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0u32), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// What part of its demand a user gets on the mean of all quanta, those without demand counted as wholly served, or in the
/// auction as not served.
fn welfare(mechanism: &str, user: &UserTotals) -> f64 {
    let idle = if mechanism == "mpsp" { 0 } else { SECONDS - user.busy };
    (user.satisfied + idle as f64) / SECONDS as f64
}

fn mean_welfare(mechanism: &str, outcome: &DynamicOutcome) -> f64 {
    mean(outcome.users.iter().map(|user| welfare(mechanism, user))).unwrap_or(f64::NAN)
}

/// By how much honest users are better off than greedy ones.
fn incentive(mechanism: &str, outcome: &DynamicOutcome) -> f64 {
    let of = |conformant| {
        let kind = outcome.users.iter().filter(|user| user.conformant == conformant);
        mean(kind.map(|user| welfare(mechanism, user))).unwrap_or(f64::NAN)
    };
    of(true) - of(false)
}

/// The least welfare over the largest among honest users, or among all where all are greedy.
fn fairness(mechanism: &str, outcome: &DynamicOutcome) -> f64 {
    let anybody = outcome.users.iter().all(|user| !user.conformant);
    let among = outcome.users.iter().filter(|user| anybody || user.conformant);
    let (least, most) = among
        .map(|user| welfare(mechanism, user))
        .fold((f64::INFINITY, 0.0f64), |(least, most), x| (least.min(x), most.max(x)));
    least / most
}

/// What is said of a mechanism at some parts of greedy users.
struct Said<'a> {
    passage: Passage,
    mechanism: &'a str,
    what: &'a str,
}

impl Said<'_> {
    fn at(
        &self,
        tenths: impl Iterator<Item = usize>,
        compare: impl Fn(&Passage, String, usize) -> Reproduced,
    ) -> Vec<Reproduced> {
        let one = |at: usize| {
            let quantity = format!("{}, {}% greedy: {}", self.mechanism, 10 * TENTHS[at], self.what);
            compare(&self.passage, quantity, at)
        };
        tenths.map(one).collect()
    }
}

const ALL: std::ops::Range<usize> = 0..TENTHS.len();
const EVERYBODY: std::ops::Range<usize> = TENTHS.len() - 1..TENTHS.len();

/// Fig. 2: the demands.
pub(crate) fn fig2(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig2", source: "Fair Shares, Fig. 2, Sec. 5; demands drawn to be like theirs" };
    let series = &Day::known(control)?.experiment.series;
    let sums: Vec<f64> =
        (0..series.quantum_count()).map(|t| series.demands(t).1.iter().sum::<u64>() as f64).collect();
    let centre = mean(sums.iter().copied()).unwrap_or(f64::NAN);
    let deviation = mean(sums.iter().map(|sum| (sum - centre).powi(2))).unwrap_or(f64::NAN).sqrt();
    let within =
        sums.iter().filter(|sum| (*sum - centre).abs() < deviation).count() as f64 / sums.len() as f64;
    let mut totals = series.totals();
    totals.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = totals.iter().sum();
    let largest = totals[..10].iter().sum::<u64>() as f64 / all as f64;
    let around = EXHIBIT.says("the total demand at any quantum is normally distributed around ∼193");
    let skewed = EXHIBIT.says("User demand is heavily skewed (extreme power-law distribution)");
    Ok(vec![
        around.number("mean of the total demand", 193.0, centre, 5.0),
        around.words(
            "part of the quanta within one standard deviation (normal: 0.683)",
            Interval::between(0.63, 0.74),
            within,
        ),
        skewed.words(
            "part of all demand that is of the ten users who demand most",
            Interval::at_least(0.5),
            largest,
        ),
    ])
}

/// Fig. 3: utilization over the share of greedy users.
pub(crate) fn fig3(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig3", source: "Fair Shares, Fig. 3, Sec. 5; demands drawn to be like theirs" };
    let day = Day::known(control)?;
    let steady = "Karma and MPSP maintain consistently high (∼84.7%) levels of utilization regardless of";
    let reduces = "reduces to static allocation (∼19.6%) as";
    let mut numbers = Vec::new();
    for (mechanism, quotation, published, tenths) in [
        ("karma", steady, 0.847, ALL),
        ("mpsp", steady, 0.847, ALL),
        ("strict", reduces, 0.196, ALL),
        ("max-min", reduces, 0.196, EVERYBODY),
        ("sharp", reduces, 0.196, EVERYBODY),
    ] {
        let said = Said { passage: EXHIBIT.says(quotation), mechanism, what: "utilization" };
        numbers.extend(said.at(tenths, |passage, quantity, at| {
            passage.number(quantity, published, day.of(mechanism)[at].metrics.utilization, ALIKE)
        }));
    }
    Ok(numbers)
}

/// Fig. 4: welfare and incentive over the share of greedy users.
pub(crate) fn fig4(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig4", source: "Fair Shares, Fig. 4, Sec. 5; demands drawn to be like theirs" };
    let day = Day::known(control)?;
    let mut numbers = Vec::new();
    let consistently = "maintains consistently high welfare (> 0.99) regardless of";
    let low = "MPSP demonstrates significantly poor performance (∼0.20−0.22) regardless of";
    for (mechanism, quotation, range) in
        [("karma", consistently, Interval::at_least(0.99)), ("mpsp", low, Interval::between(0.2, 0.22))]
    {
        let said = Said { passage: EXHIBIT.says(quotation), mechanism, what: "mean welfare" };
        numbers.extend(said.at(ALL, |passage, quantity, at| {
            passage.range(quantity, range, mean_welfare(mechanism, &day.of(mechanism)[at]), ALIKE)
        }));
    }
    let passage = EXHIBIT.says("reduces to static allocation (∼0.82) more quickly");
    let said = Said { passage, mechanism: "strict", what: "mean welfare" };
    numbers.extend(said.at(ALL, |passage, quantity, at| {
        passage.number(quantity, 0.82, mean_welfare("strict", &day.of("strict")[at]), ALIKE)
    }));
    for mechanism in ["karma", "max-min", "strict"] {
        let passage = EXHIBIT.says("we observe no such incentive similar to both baselines regardless of");
        let said = Said { passage, mechanism, what: "incentive" };
        numbers.extend(said.at(MIXED, |passage, quantity, at| {
            let none = Interval::between(-ALIKE, ALIKE);
            passage.words(quantity, none, incentive(mechanism, &day.of(mechanism)[at]))
        }));
    }
    let passage = EXHIBIT.says("MPSP offers a slight incentive for users to be greedy");
    let said = Said { passage, mechanism: "mpsp", what: "incentive" };
    numbers.extend(said.at(MIXED, |passage, quantity, at| {
        passage.words(quantity, Interval::between(-0.05, 0.0), incentive("mpsp", &day.of("mpsp")[at]))
    }));
    let passage = EXHIBIT.says(
        "a relatively significant incentive for users to be greedy with a welfare difference of 0.10−0.12",
    );
    let said = Said { passage, mechanism: "sharp", what: "incentive" };
    numbers.extend(said.at(MIXED, |passage, quantity, at| {
        let ours = incentive("sharp", &day.of("sharp")[at]);
        passage.range(quantity, Interval::between(-0.12, -0.1), ours, ALIKE)
    }));
    Ok(numbers)
}

/// Fig. 5: long-term and short-term fairness over the share of greedy users.
pub(crate) fn fig5(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig5", source: "Fair Shares, Fig. 5, Sec. 5; demands drawn to be like theirs" };
    let day = Day::known(control)?;
    let what = "long-term fairness";
    let mut numbers = Vec::new();
    let high =
        "Karma outperforms max-min fairness and achieves consistently high long-term fairness regardless of";
    let zero = "MPSP consistently maintains zero fairness";
    for (mechanism, quotation, reading) in
        [("karma", high, Interval::at_least(0.9)), ("mpsp", zero, Interval::at_most(0.05))]
    {
        let said = Said { passage: EXHIBIT.says(quotation), mechanism, what };
        numbers.extend(said.at(ALL, |passage, quantity, at| {
            passage.words(quantity, reading, fairness(mechanism, &day.of(mechanism)[at]))
        }));
    }
    let passage = EXHIBIT.says("fluctuating at ∼0.4 before converging to 1");
    let said = Said { passage, mechanism: "sharp", what };
    numbers.extend(said.at(0..5, |passage, quantity, at| {
        passage.number(quantity, 0.4, fairness("sharp", &day.of("sharp")[at]), 0.1)
    }));
    for mechanism in ["karma", "mpsp"] {
        let passage =
            EXHIBIT.says("Karma and MPSP demonstrate similar short-term fairness to max-min fairness");
        let what = "short-term fairness less that of max-min";
        let said = Said { passage, mechanism, what };
        numbers.extend(said.at(0..1, |passage, quantity, at| {
            let of = |name| day.of(name)[at].metrics.short_term_fairness;
            passage.words(quantity, Interval::between(-0.05, 0.05), of(mechanism) - of("max-min"))
        }));
    }
    Ok(numbers)
}

/// Fig. 6: what greedy users hold more of.
pub(crate) fn fig6(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig6", source: "Fair Shares, Fig. 6, Sec. 5; demands drawn to be like theirs" };
    let day = Day::known(control)?;
    let ratio = |mechanism, at: usize| {
        let disparity = day.of(mechanism)[at].metrics.disparity.as_ref();
        disparity.map_or(f64::NAN, |disparity| disparity.non_conformant / disparity.conformant)
    };
    let what = "greedy over honest users' account";
    let mut numbers = Vec::new();
    let more = "Greedy users hold approximately 1.6−2.4× … more tickets than non-greedy users";
    let payments = "payments that are at most 4% more favorable than non-greedy users";
    for (mechanism, quotation, range, tolerance) in [
        ("sharp", more, Interval::between(1.6, 2.4), 0.05),
        ("mpsp", payments, Interval::between(0.96, 1.0), 0.005),
    ] {
        let said = Said { passage: EXHIBIT.says(quotation), mechanism, what };
        numbers.extend(said.at(MIXED, |passage, quantity, at| {
            passage.range(quantity, range, ratio(mechanism, at), tolerance)
        }));
    }
    let said =
        Said { passage: EXHIBIT.says("the disparity remains zero across all"), mechanism: "karma", what };
    numbers.extend(said.at(MIXED, |passage, quantity, at| {
        passage.words(quantity, Interval::between(0.99, 1.01), ratio("karma", at))
    }));
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "a minute: three days of 200 users"]
    fn another_draw_of_the_demands_changes_little() {
        let days = [0, 1, 2].map(|seed| Day::new(seed).unwrap());
        for name in COMPARED {
            for at in ALL {
                for what in [|_: &str, outcome: &DynamicOutcome| outcome.metrics.utilization, mean_welfare] {
                    let of = |day: &Day| what(name, &day.of(name)[at]);
                    let apart = days.iter().map(|day| (of(day) - of(&days[0])).abs()).fold(0.0, f64::max);
                    assert!(apart <= ALIKE, "{name}, {}% greedy: {apart}", 10 * TENTHS[at]);
                }
            }
        }
    }
}
