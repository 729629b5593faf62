//! Gupta, Gilani, "Fair Shares: Strategy-Proofness in Single-Resource Allocation for Dynamic Demands", Sec. 5.
//!
//! Its welfare is computed as Sec. 3.1 writes it, a user's satisfied demand over all its demand, with 1 for users without any
//! demand all day, or 0 in the auction: strict partitioning, which gives one block where each query takes two, can only have the
//! published mean welfare of 0.82 if most users are such, and the auction its fairness of zero. Alpha is the part of the fair
//! share that Karma *shares*, as in its authors' code: greedy users change nothing there.

mod days;
#[cfg(test)]
mod tests;

use super::Source;
use super::drawn::Drawn;
use crate::outcome::Numbers;
use days::{Cell, TENTHS, drawn};
pub(super) use days::{DRAWS, Day, USERS, experiment, experiment_of};
use fairplan::report::reproduction::{Exhibit, Interval, KnownReason, Passage, Reproduced, Standing};
use fairplan::{Control, Error};

/// Why numbers differ. What is called explained or refuted was tested: see the tests.
pub(super) const REASONS: [KnownReason; 10] = [
    KnownReason {
        exhibit: "fs-fig3",
        of: &["sharp, 100%"],
        standing: Standing::Explained,
        why: "What a greedy user asks is not determined: the fair share of the tickets, as here, or its maximum, two. Asking for \
              two blocks and two tickets makes tickets as wasteful as strict partitioning.",
    },
    KnownReason {
        exhibit: "fs-fig4",
        of: &["sharp, 100% greedy: mean welfare", "less that of max-min"],
        standing: Standing::Explained,
        why: "The same: when greedy users ask for two tickets and two blocks, welfare falls as utilization does, to that of strict \
              partitioning.",
    },
    KnownReason {
        exhibit: "fs-fig4",
        of: &["sharp"],
        standing: Standing::Refuted,
        why: "A user with demand asks for two blocks at least, which is the most that a fair share of the tickets comes to: greedy \
              and honest users with demand ask for the same. Greed can only pay by tickets kept from idle seconds; no draw, and \
              neither reading of what greedy users ask, gives them a twentieth more. They are better off by who they are, not by what \
              they ask, where those who demand most, and wait most, stay honest.",
    },
    KnownReason {
        exhibit: "fs-fig5",
        of: &["karma, 0% greedy: long-term"],
        standing: Standing::Explained,
        why: "Karma evens out slices, not the part of their demand that users get: the user who demands most waits most. When all \
              who demand anything take turns at being that user, second by second the same demands, Karma is ahead.",
    },
    KnownReason {
        exhibit: "fs-fig5",
        of: &["sharp, 100%"],
        standing: Standing::Refuted,
        why: "Nobody is honest then, and equal allocations are no equal welfare: demands differ. Strict partitioning, which always \
              allocates alike, has a fairness of less than 0.1.",
    },
    KnownReason {
        exhibit: "fs-fig5",
        of: &["mpsp, 0% greedy: short-term", "karma, 0% greedy: short-term"],
        standing: Standing::Refuted,
        why: "Where more is demanded than there is, an auction serves one bidder after the other, so that somebody gets nothing and \
              the quantum has a fairness of 0; Karma lets those wait who have had most. Max-min gives everybody something.",
    },
    KnownReason {
        exhibit: "fs-fig5",
        of: &["sharp, 0%"],
        standing: Standing::Explained,
        why: "The worst off is then whoever has few queries, all in seconds in which blocks are short. The paper takes it that some of \
              its users have extremely low demand; all of ours who demand anything demand much. With twenty users more who run one \
              query of three seconds in the day it falls to 0.5, or 0.33 where these have less luck.",
    },
    KnownReason {
        exhibit: "fs-fig5",
        of: &["sharp, 20%"],
        standing: Standing::Explained,
        why: "What a greedy user asks is not determined: when it asks for two tickets and two blocks, it is about 0.4.",
    },
    KnownReason {
        exhibit: "fs-fig6",
        of: &["sharp"],
        standing: Standing::Explained,
        why: "Which users are greedy is drawn, and ten have nearly half of the demand: honest users hold tickets only while they \
              demand something. Where the twenty who demand most stay honest, the factor is 1.9 to 2 and falls to 1.5. Asking for two tickets \
              and two blocks makes it larger (3 to 8). The difference, which the paper says it looks at, is 1.2 to 2.4 tickets in \
              every draw.",
    },
    KnownReason {
        exhibit: "fs-fig6",
        of: &["mpsp"],
        standing: Standing::Unexplained,
        why: "The demands are drawn, and what greedy users save depends on how often more is demanded than there is.",
    },
];

/// How near another choice of 200 users comes to a utilization or a mean welfare: see the test.
const ALIKE: f64 = 0.02;

const ALL: std::ops::Range<usize> = 0..TENTHS.len();
/// Of these some are greedy and some are not.
const MIXED: std::ops::Range<usize> = 1..5;
const EVERYBODY: std::ops::Range<usize> = TENTHS.len() - 1..TENTHS.len();
const NOBODY: std::ops::Range<usize> = 0..1;

/// What is said of a mechanism at some parts of greedy users.
struct Said<'a> {
    days: &'a [Day],
    passage: Passage,
    mechanism: &'a str,
    what: &'a str,
}

impl Said<'_> {
    /// Of some parts: how a quantity over all days, which may look at other mechanisms, is compared.
    fn of(
        &self,
        parts: impl Iterator<Item = usize>,
        quantity: impl Fn(&dyn Fn(&str) -> Cell) -> f64,
        compare: impl Fn(&Passage, &str, Drawn) -> Reproduced,
    ) -> Vec<Reproduced> {
        let one = |at: usize| {
            let name = format!("{}, {}% greedy: {}", self.mechanism, 10 * TENTHS[at], self.what);
            compare(&self.passage, &name, drawn(self.days, |day| quantity(&|of| *day.of(of, at))))
        };
        parts.map(one).collect()
    }
}

/// A printed number, within another choice of users.
fn printed(published: f64) -> impl Fn(&Passage, &str, Drawn) -> Reproduced {
    move |passage, quantity, ours| passage.number(quantity, published, ours.ours, ours.reach.max(ALIKE))
}

/// A printed range, within another choice of users.
fn ranged(range: Interval) -> impl Fn(&Passage, &str, Drawn) -> Reproduced {
    move |passage, quantity, ours| passage.range(quantity, range, ours.ours, ours.reach.max(ALIKE))
}

/// A printed range, within what other draws change.
fn drawn_range(range: Interval) -> impl Fn(&Passage, &str, Drawn) -> Reproduced {
    move |passage, quantity, ours| ours.within(passage, quantity, range)
}

/// Words, within what other draws change.
fn words(reading: Interval) -> impl Fn(&Passage, &str, Drawn) -> Reproduced {
    move |passage, quantity, ours| ours.as_said(passage, quantity, reading)
}

/// Fig. 2: the demands.
pub(crate) fn fig2(source: &Source, control: &Control<'_>) -> Result<Numbers, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig2", source: "Fair Shares, Fig. 2, Sec. 5; demands drawn to be like theirs" };
    let days = source.days(control)?;
    let around = EXHIBIT.says("the total demand at any quantum is normally distributed around ∼193");
    let skewed = EXHIBIT.says("User demand is heavily skewed (extreme power-law distribution)");
    let static_welfare = EXHIBIT.says("reduces to static allocation (∼0.82) more quickly");
    Ok(vec![
        drawn(days, |day| day.demanded.mean).beside(&around, "mean of the total demand", 193.0, 0.5),
        drawn(days, |day| day.demanded.within).as_said(
            &around,
            "part of the quanta within one standard deviation (normal: 0.683)",
            Interval::between(0.63, 0.74),
        ),
        drawn(days, |day| day.demanded.of_ten).as_said(
            &skewed,
            "part of all demand that is of the ten users who demand most",
            Interval::at_least(0.4),
        ),
        drawn(days, |day| day.demanded.idle).as_said(
            &static_welfare,
            "part of the users who demand nothing all day (others have half of what they demand, at most)",
            Interval::at_least(0.64),
        ),
    ])
}

/// Fig. 3: utilization over the share of greedy users.
pub(crate) fn fig3(source: &Source, control: &Control<'_>) -> Result<Numbers, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig3", source: "Fair Shares, Fig. 3, Sec. 5; demands drawn to be like theirs" };
    let days = source.days(control)?;
    let steady = "Karma and MPSP maintain consistently high (∼84.7%) levels of utilization regardless of";
    let reduces = "reduces to static allocation (∼19.6%) as";
    let mut numbers = Vec::new();
    for (mechanism, quotation, published, parts) in [
        ("karma", steady, 0.847, ALL),
        ("mpsp", steady, 0.847, ALL),
        ("strict", reduces, 0.196, ALL),
        ("max-min", reduces, 0.196, EVERYBODY),
        ("sharp", reduces, 0.196, EVERYBODY),
    ] {
        let said = Said { days, passage: EXHIBIT.says(quotation), mechanism, what: "utilization" };
        numbers.extend(said.of(parts, |of| of(mechanism).utilization, printed(published)));
    }
    Ok(numbers)
}

/// Fig. 4: welfare and incentive over the share of greedy users.
pub(crate) fn fig4(source: &Source, control: &Control<'_>) -> Result<Numbers, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig4", source: "Fair Shares, Fig. 4, Sec. 5; demands drawn to be like theirs" };
    let days = source.days(control)?;
    let mut numbers = Vec::new();
    let consistently = "maintains consistently high welfare (> 0.99) regardless of";
    let low = "MPSP demonstrates significantly poor performance (∼0.20−0.22) regardless of";
    let what = "mean welfare";
    for (mechanism, quotation, range) in
        [("karma", consistently, Interval::at_least(0.99)), ("mpsp", low, Interval::between(0.2, 0.22))]
    {
        let said = Said { days, passage: EXHIBIT.says(quotation), mechanism, what };
        numbers.extend(said.of(ALL, |of| of(mechanism).welfare, ranged(range)));
    }
    for (mechanism, parts) in [("strict", ALL), ("max-min", EVERYBODY), ("sharp", EVERYBODY)] {
        let passage = EXHIBIT.says("reduces to static allocation (∼0.82) more quickly");
        let said = Said { days, passage, mechanism, what };
        numbers.extend(said.of(parts, |of| of(mechanism).welfare, printed(0.82)));
    }
    let what = "mean welfare less that of max-min";
    for (mechanism, quotation, reading, parts) in [
        ("karma", "Karma outperforms max-min fairness", Interval::at_least(0.0), ALL),
        ("sharp", "Sharp underperforms max-min fairness", Interval::at_most(0.0), ALL),
    ] {
        let said = Said { days, passage: EXHIBIT.says(quotation), mechanism, what };
        numbers.extend(said.of(parts, |of| of(mechanism).welfare - of("max-min").welfare, words(reading)));
    }
    for (mechanism, quotation, reading) in [
        (
            "karma",
            "we observe no such incentive similar to both baselines regardless of",
            Interval::between(-0.02, 0.02),
        ),
        (
            "max-min",
            "we observe no such incentive similar to both baselines regardless of",
            Interval::between(-0.02, 0.02),
        ),
        (
            "strict",
            "we observe no such incentive similar to both baselines regardless of",
            Interval::between(-0.02, 0.02),
        ),
        ("mpsp", "MPSP offers a slight incentive for users to be greedy", Interval::between(-0.05, 0.0)),
    ] {
        let said = Said { days, passage: EXHIBIT.says(quotation), mechanism, what: "incentive" };
        numbers.extend(said.of(MIXED, |of| of(mechanism).incentive, words(reading)));
    }
    let passage = EXHIBIT.says(
        "a relatively significant incentive for users to be greedy with a welfare difference of 0.10−0.12",
    );
    let said = Said { days, passage, mechanism: "sharp", what: "incentive" };
    let difference = drawn_range(Interval::between(-0.12, -0.1));
    numbers.extend(said.of(MIXED, |of| of("sharp").incentive, difference));
    let passage =
        EXHIBIT.says("corresponds to a difference of ∼12−14% … between greedy and non-greedy users");
    let said =
        Said { days, passage, mechanism: "sharp", what: "welfare of greedy over honest users, less 1" };
    let advantage = drawn_range(Interval::between(0.12, 0.14));
    numbers.extend(said.of(MIXED, |of| of("sharp").advantage, advantage));
    Ok(numbers)
}

/// Fig. 5: long-term and short-term fairness over the share of greedy users.
pub(crate) fn fig5(source: &Source, control: &Control<'_>) -> Result<Numbers, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig5", source: "Fair Shares, Fig. 5, Sec. 5; demands drawn to be like theirs" };
    let days = source.days(control)?;
    let what = "long-term fairness";
    let mut numbers = Vec::new();
    let high =
        "Karma outperforms max-min fairness and achieves consistently high long-term fairness regardless of";
    // Higher than max-min's, which is higher than that of tickets, 0.4.
    let said = Said { days, passage: EXHIBIT.says(high), mechanism: "karma", what };
    numbers.extend(said.of(ALL, |of| of("karma").fairness, words(Interval::at_least(0.4))));
    let more = "long-term fairness less that of max-min";
    let said = Said { days, passage: EXHIBIT.says(high), mechanism: "karma", what: more };
    let difference = |of: &dyn Fn(&str) -> Cell| of("karma").fairness - of("max-min").fairness;
    numbers.extend(said.of(ALL, difference, words(Interval::at_least(0.0))));
    let zero = EXHIBIT.says("MPSP consistently maintains zero fairness");
    let said = Said { days, passage: zero, mechanism: "mpsp", what };
    numbers.extend(said.of(
        0..5,
        |of| of("mpsp").fairness,
        |passage, quantity, ours| passage.number(quantity, 0.0, ours.ours, 0.0),
    ));
    let converging = EXHIBIT.says("fluctuating at ∼0.4 before converging to 1");
    let said = Said { days, passage: converging, mechanism: "sharp", what };
    numbers.extend(said.of(
        0..5,
        |of| of("sharp").fairness,
        |passage, quantity, ours| ours.beside(passage, quantity, 0.4, 0.1),
    ));
    numbers.extend(said.of(
        EVERYBODY,
        |of| of("sharp").fairness,
        |passage, quantity, ours| ours.beside(passage, quantity, 1.0, 0.0),
    ));
    for mechanism in ["karma", "mpsp"] {
        let passage =
            EXHIBIT.says("Karma and MPSP demonstrate similar short-term fairness to max-min fairness");
        let what = "short-term fairness less that of max-min";
        let said = Said { days, passage, mechanism, what };
        let difference = |of: &dyn Fn(&str) -> Cell| of(mechanism).short_term - of("max-min").short_term;
        numbers.extend(said.of(NOBODY, difference, words(Interval::between(-0.05, 0.05))));
    }
    let passage = EXHIBIT.says("short-term fairness decreases as");
    let said =
        Said { days, passage, mechanism: "sharp", what: "short-term fairness less that of nobody greedy" };
    let falls = |at: usize| drawn(days, |day| day.of("sharp", at).short_term - day.of("sharp", 0).short_term);
    numbers.extend((1..4).map(|at| {
        let quantity = format!("{}, {}% greedy: {}", said.mechanism, 10 * TENTHS[at], said.what);
        said.passage.words(quantity, Interval::at_most(0.0), falls(at).ours)
    }));
    let passage = EXHIBIT.says("reduces to static allocation at");
    let what = "short-term fairness less that of strict";
    let said = Said { days, passage, mechanism: "sharp", what };
    let difference = |of: &dyn Fn(&str) -> Cell| of("sharp").short_term - of("strict").short_term;
    numbers.extend(said.of(3..4, difference, words(Interval::at_most(0.05))));
    Ok(numbers)
}

/// Fig. 6: what greedy users hold more of.
pub(crate) fn fig6(source: &Source, control: &Control<'_>) -> Result<Numbers, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fs-fig6", source: "Fair Shares, Fig. 6, Sec. 5; demands drawn to be like theirs" };
    let days = source.days(control)?;
    let mut numbers = Vec::new();
    let passage =
        EXHIBIT.says("Greedy users hold approximately 1.6−2.4× … more tickets than non-greedy users");
    let said =
        Said { days, passage, mechanism: "sharp", what: "tickets of greedy over those of honest users" };
    let times = drawn_range(Interval::between(1.6, 2.4));
    let ratio = |at: usize| drawn(days, |day| day.of("sharp", at).account_ratio).ours;
    let falls = MIXED.zip(MIXED.skip(1)).filter(|(less, more)| ratio(*more) < ratio(*less)).count();
    numbers.extend(said.of(MIXED, |of| of("sharp").account_ratio, times));
    numbers.push(EXHIBIT.says("… more tickets than non-greedy users, decreasing as").words(
        "sharp, from 20% to 80% greedy: times that this falls, of 3",
        Interval::exactly(3.0),
        falls as f64,
    ));
    // The paper looks "at the difference in average payments".
    let passage = EXHIBIT.says("payments that are at most 4% more favorable than non-greedy users");
    let what = "price of honest less that of greedy users, over what a block is worth";
    let said = Said { days, passage, mechanism: "mpsp", what };
    let favorable = drawn_range(Interval::between(0.0, 0.04));
    numbers.extend(said.of(MIXED, |of| of("mpsp").account_difference, favorable));
    let passage = EXHIBIT.says("the disparity remains zero across all");
    let said =
        Said { days, passage, mechanism: "karma", what: "credits of greedy over those of honest users" };
    numbers.extend(said.of(MIXED, |of| of("karma").account_ratio, words(Interval::between(0.99, 1.01))));
    Ok(numbers)
}
