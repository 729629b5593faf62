//! The evaluations of two papers on Snowflake's demands, which may not be shipped: on demands drawn to be like them.
//! What differs by more than another draw of the same kind would is said to differ.
//!
//! Vuppalapati et al., "Karma: Resource Allocation for Dynamic Demands", Sec. 5, with the per-user totals published
//! beside it; Gupta, Gilani, "Fair Shares: Strategy-Proofness in Single-Resource Allocation for Dynamic Demands", Sec. 5.

use super::karma::settings;
use fairplan::instances::DynamicOutcome;
use fairplan::instances::generate::{Workload, WorkloadOptions, demands};
use fairplan::report::reproduction::{Exhibit, Reproduced};
use fairplan::{
    AllocateOptions, Control, Decimal, DemandSeries, Error, FairShares, MechanismOptions, Ties, allocate,
};
use rayon::prelude::*;
use std::sync::OnceLock;

type Numbers = Result<Vec<Reproduced>, Error>;

/// Initial credits of Karma Sec. 5: nobody runs out of them.
const KARMA_CREDITS: u64 = 900_000;

/// The users who are not conformant, in tenths of all.
const TENTHS: [u32; 6] = [0, 2, 4, 6, 8, 10];

/// Why numbers differ, as far as the papers allow to say.
pub(crate) const REASONS: [(&str, &str); 6] = [
    (
        "karma-fig6",
        "The demands are drawn: what the paper's users demand when others do is not published, only their sorted totals. \
         Ours compete less at the same moments, so max-min treats them less unevenly (smallest over largest total 0.46, \
         published 0.27), and throughput follows the totals.",
    ),
    (
        "karma-fig7",
        "The demands are drawn. All together gain 0.9246 / 0.5676 = 1.63 by the published totals when everybody becomes \
         conformant, ours a little more; how much hoarders lacked when others conform is not published.",
    ),
    (
        "fs-fig3",
        "With alpha = 1 and everybody reporting at least its fair share nobody donates a slice, so Karma is strict \
         partitioning, as Karma Fig. 7 has it (and its Sec. 5.2 says). A utilization of Karma that is the same for any share \
         of greedy users contradicts both; ours falls to that of strict partitioning.",
    ),
    (
        "fs-fig4",
        "Every query demands two slices and the fair share is one, so strict partitioning serves nobody more than half: a \
         mean welfare of 0.82 is only possible if users without demand count as wholly served. If those of the auction \
         count as not served at all, its 0.21 and the fairness of 0 in Fig. 5 follow too. Here users without demand do not \
         count. Karma's welfare falls with its utilization (see fs-fig3).",
    ),
    (
        "fs-fig5",
        "Fairness is the least welfare over the largest: one user decides it, and the demands are drawn. The auction's 0 \
         is that of a user without demand (see fs-fig4); Karma's 1 for any share of greedy users needs a utilization that \
         contradicts its definition (see fs-fig3).",
    ),
    (
        "fs-fig6",
        "Prices and tickets depend on how uneven the drawn demands are. Credits are compared as a ratio here; the paper \
         plots a difference that it calls zero, and ours are within 1% of each other.",
    ),
];

/// An experiment: the demands, what is due, and how mechanisms are set.
struct Experiment {
    series: DemandSeries,
    fair_share: u64,
    settings: MechanismOptions,
    cache_slowdown: Option<Decimal>,
}

impl Experiment {
    /// Karma Sec. 5: 100 users of fair share 10 over 900 quanta.
    fn karma() -> Result<Self, Error> {
        let options =
            WorkloadOptions { workload: Workload::Bursts, users: 100, quanta: 900, mean: 10, seed: 0 };
        let settings = settings("0.5", KARMA_CREDITS, Ties::Lowest)?;
        let cache_slowdown = Some(Decimal::from(50u32));
        Ok(Self { series: demands(&options)?, fair_share: 10, settings, cache_slowdown })
    }

    /// Fair Shares Sec. 5: 200 users of fair share 1 over the 86,400 seconds of a day.
    fn fair_shares() -> Result<Self, Error> {
        let options =
            WorkloadOptions { workload: Workload::Queries, users: 200, quanta: 86_400, mean: 1, seed: 0 };
        let settings = settings("1", 200 * 86_400, Ties::Lowest)?;
        Ok(Self { series: demands(&options)?, fair_share: 1, settings, cache_slowdown: None })
    }

    /// What `name` makes of it when so many tenths of the users hoard; in an auction, where they pay for what they hoard, they
    /// only bid another price (Fair Shares Sec. 4).
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

/// The largest of some numbers over the smallest.
fn spread(numbers: impl Iterator<Item = f64>) -> f64 {
    let (low, high) = numbers.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    high / low
}

/// Fig. 6: what the three schemes do to utilization, allocations and the throughput of a cache.
pub(crate) fn karma_fig6(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "karma-fig6",
        source: "Karma paper, Fig. 6 and its text; demands drawn to be like theirs",
    };
    let experiment = Experiment::karma()?;
    let of = |name| experiment.outcome(name, &experiment.settings, 0);
    let outcomes = [of("strict")?, of("max-min")?, of("karma")?];
    let throughputs = |outcome: &DynamicOutcome| -> Vec<f64> {
        outcome.users.iter().filter_map(|user| user.throughput).collect()
    };
    let mut numbers = Vec::new();
    for ((name, published), outcome) in
        [("strict", 7.8), ("max-min", 4.3), ("karma", 1.8)].into_iter().zip(&outcomes)
    {
        numbers.push(EXHIBIT.number(
            format!("{name}: largest over smallest throughput (a)"),
            published,
            spread(throughputs(outcome).into_iter()),
            published / 2.0,
        ));
    }
    for ((name, published), outcome) in [("max-min", 4.0), ("karma", 1.5)].into_iter().zip(&outcomes[1..]) {
        numbers.push(EXHIBIT.number(
            format!("{name}: largest over smallest total of slices (e)"),
            published,
            spread(outcome.users.iter().map(|user| user.useful as f64)),
            published / 2.0,
        ));
    }
    let sum = |outcome: &DynamicOutcome| throughputs(outcome).iter().sum::<f64>();
    numbers.push(EXHIBIT.number(
        "system-wide throughput of max-min over strict (f)",
        1.4,
        sum(&outcomes[1]) / sum(&outcomes[0]),
        0.7,
    ));
    numbers.push(EXHIBIT.number(
        "system-wide throughput of karma over max-min (f)",
        1.0,
        sum(&outcomes[2]) / sum(&outcomes[1]),
        0.1,
    ));
    Ok(numbers)
}

/// Fig. 7: utilization while fewer and fewer users hoard, and what hoarders gain by ceasing to.
pub(crate) fn karma_fig7(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "karma-fig7",
        source: "Karma paper, Fig. 7 and its text; demands drawn to be like theirs",
    };
    let experiment = Experiment::karma()?;
    let outcome = |tenths| experiment.outcome("karma", &experiment.settings, tenths);
    let strict = experiment.outcome("strict", &experiment.settings, 0)?.metrics.utilization;
    let [none, all] = [outcome(10)?, outcome(0)?];
    let mut numbers = vec![
        EXHIBIT.number(
            "utilization, nobody conformant: as strict partitioning",
            strict,
            none.metrics.utilization,
            1e-9,
        ),
        EXHIBIT.number("utilization, everybody conformant", 0.95, all.metrics.utilization, 0.03),
    ];
    for tenths in [8, 5, 2] {
        let before = outcome(tenths)?;
        // The welfare of the hoarders when all of them have become conformant, over that before. A gain of averages: by
        // the published totals all together gain 1.63, while single users gain up to ten times.
        let hoarding = before.users.iter().zip(&all.users).filter(|(before, _)| !before.conformant);
        let welfares = hoarding.filter_map(|(before, after)| Some((before.welfare?, after.welfare?)));
        let (had, has) = welfares.fold((0.0, 0.0), |sum, (had, has)| (sum.0 + had, sum.1 + has));
        numbers.push(EXHIBIT.number(
            format!("welfare gained by becoming conformant, {}% conformant (1.17 to 1.6)", 100 - 10 * tenths),
            1.385,
            has / had,
            0.215,
        ));
    }
    Ok(numbers)
}

/// Fig. 8: utilization and evenness for guaranteed fractions from 0 to 1, against the published per-user totals.
pub(crate) fn karma_fig8(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "karma-fig8",
        source: "Karma paper, Fig. 8, per-user totals; demands drawn to be like theirs",
    };
    let experiment = Experiment::karma()?;
    let mut numbers = Vec::new();
    let mut push = |name: String, outcome: DynamicOutcome, utilization: f64, evenness: f64| {
        let ours = outcome.metrics;
        numbers.push(EXHIBIT.number(format!("{name}: utilization"), utilization, ours.utilization, 0.04));
        numbers.push(EXHIBIT.number(
            format!("{name}: smallest over largest total"),
            evenness,
            ours.allocation_min_over_max,
            0.25,
        ));
    };
    push("strict".into(), experiment.outcome("strict", &experiment.settings, 0)?, 0.5676, 0.087);
    push("max-min".into(), experiment.outcome("max-min", &experiment.settings, 0)?, 0.9246, 0.269);
    for (alpha, evenness) in [("1", 0.501), ("0.8", 0.645), ("0.5", 0.708), ("0.2", 0.720), ("0", 0.720)] {
        let settings = settings(alpha, KARMA_CREDITS, Ties::Lowest)?;
        push(format!("karma, alpha {alpha}"), experiment.outcome("karma", &settings, 0)?, 0.9246, evenness);
    }
    Ok(numbers)
}

/// The mechanisms of Fair Shares, in its order.
const COMPARED: [&str; 5] = ["strict", "max-min", "karma", "mpsp", "sharp"];

/// Every mechanism of Fair Shares with every part of the users hoarding, row by row; computed once.
fn compared(
    control: &Control<'_>,
) -> Result<&'static [[DynamicOutcome; TENTHS.len()]; COMPARED.len()], Error> {
    static OUTCOMES: OnceLock<[[DynamicOutcome; TENTHS.len()]; COMPARED.len()]> = OnceLock::new();
    if let Some(known) = OUTCOMES.get() {
        return Ok(known);
    }
    control.stage("a day of 200 users");
    let experiment = Experiment::fair_shares()?;
    let row = |name: &&str| {
        let cells: Vec<DynamicOutcome> = TENTHS
            .par_iter()
            .map(|tenths| experiment.outcome(name, &experiment.settings, *tenths))
            .collect::<Result<_, _>>()?;
        cells.try_into().map_err(|_| Error::backend("as many outcomes as settings"))
    };
    let rows: Vec<[DynamicOutcome; TENTHS.len()]> = COMPARED.iter().map(row).collect::<Result<_, Error>>()?;
    let outcomes = rows.try_into().map_err(|_| Error::backend("as many rows as mechanisms"))?;
    Ok(OUTCOMES.get_or_init(|| outcomes))
}

/// A metric of every mechanism that the paper gives a figure for, with that figure and how far ours may be from it;
/// one row for each part of the users hoarding.
fn metric(
    exhibit: Exhibit,
    what: &str,
    published: &[(&str, f64, f64)],
    tenths: &[u32],
    control: &Control<'_>,
    metric: impl Fn(&DynamicOutcome) -> Option<f64>,
) -> Numbers {
    let outcomes = compared(control)?;
    let mut numbers = Vec::new();
    for (name, figure, tolerance) in published {
        let row = COMPARED.iter().position(|other| other == name).unwrap_or_default();
        for (column, part) in TENTHS.iter().enumerate().filter(|(_, part)| tenths.contains(part)) {
            if let Some(ours) = metric(&outcomes[row][column]) {
                let quantity = format!("{name}, {}% greedy: {what}", 10 * part);
                numbers.push(exhibit.number(quantity, *figure, ours, *tolerance));
            }
        }
    }
    Ok(numbers)
}

/// Fig. 3: utilization over the share of greedy users.
pub(crate) fn fair_shares_fig3(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "fs-fig3",
        source: "Fair Shares, Fig. 3 and its text; demands drawn to be like theirs",
    };
    let steady = [("karma", 0.847, 0.06), ("mpsp", 0.847, 0.06), ("strict", 0.196, 0.03)];
    let mut numbers = metric(EXHIBIT, "utilization", &steady, &TENTHS, control, |outcome| {
        Some(outcome.metrics.utilization)
    })?;
    let reduced = [("max-min", 0.196, 0.03), ("sharp", 0.196, 0.03)];
    numbers.extend(metric(EXHIBIT, "utilization", &reduced, &[10], control, |outcome| {
        Some(outcome.metrics.utilization)
    })?);
    Ok(numbers)
}

/// Fig. 4: welfare and incentive over the share of greedy users.
pub(crate) fn fair_shares_fig4(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "fs-fig4",
        source: "Fair Shares, Fig. 4 and its text; demands drawn to be like theirs",
    };
    let figures = [("karma", 1.0, 0.02), ("strict", 0.82, 0.05), ("mpsp", 0.21, 0.05)];
    let mut numbers = metric(EXHIBIT, "mean welfare", &figures, &TENTHS, control, |outcome| {
        Some(outcome.metrics.welfare_mean)
    })?;
    let honesty =
        [("karma", 0.0, 0.02), ("max-min", 0.0, 0.02), ("strict", 0.0, 0.02), ("sharp", -0.11, 0.05)];
    numbers.extend(metric(EXHIBIT, "incentive", &honesty, &[2, 4, 6, 8], control, |outcome| {
        outcome.metrics.incentive
    })?);
    Ok(numbers)
}

/// Fig. 5: long-term and short-term fairness over the share of greedy users.
pub(crate) fn fair_shares_fig5(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "fs-fig5",
        source: "Fair Shares, Fig. 5 and its text; demands drawn to be like theirs",
    };
    let long = [("karma", 1.0, 0.05), ("mpsp", 0.0, 0.05)];
    let mut numbers = metric(EXHIBIT, "long-term fairness", &long, &TENTHS, control, |outcome| {
        Some(outcome.metrics.fairness)
    })?;
    let sharp = [("sharp", 0.4, 0.2)];
    numbers.extend(metric(EXHIBIT, "long-term fairness", &sharp, &[0, 2, 4, 6, 8], control, |outcome| {
        Some(outcome.metrics.fairness)
    })?);
    Ok(numbers)
}

/// Fig. 6: what greedy users hold more of.
pub(crate) fn fair_shares_fig6(control: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit {
        id: "fs-fig6",
        source: "Fair Shares, Fig. 6 and its text; demands drawn to be like theirs",
    };
    let ratio = |outcome: &DynamicOutcome| {
        let disparity = outcome.metrics.disparity.as_ref()?;
        Some(disparity.non_conformant / disparity.conformant)
    };
    // 1.6 to 2.4 times the tickets; prices at most 4% better; credits the same.
    let figures = [("sharp", 2.0, 0.4), ("mpsp", 0.98, 0.02), ("karma", 1.0, 1e-3)];
    metric(EXHIBIT, "greedy over honest users' account", &figures, &[2, 4, 6, 8], control, ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The day of Fair Shares takes half a minute, so only the quick ones.
    #[test]
    fn the_papers_order_of_schemes_is_kept() {
        let control = Control::none();
        let numbers = karma_fig8(&control).unwrap();
        let evenness: Vec<f64> =
            numbers.iter().filter(|n| n.quantity.ends_with("total")).map(|n| n.ours).collect();
        // Strict, max-min, then Karma with alpha falling from 1 to 0.
        assert!(evenness.windows(2).all(|pair| pair[0] <= pair[1] + 0.005), "{evenness:?}");
        let utilization = karma_fig7(&control).unwrap();
        assert!(utilization[..2].iter().all(|number| number.agrees), "{utilization:?}");
    }
}
