//! Exhibits of Vuppalapati et al., "Karma: Resource Allocation for Dynamic Demands", and of Bhan, Soni, Rao, "Karma:
//! Resource Allocation for Dynamic Needs" (KDN). All are small whole numbers, to be met exactly.

use fairplan::instances::DynamicOutcome;
use fairplan::instances::generate::karma_fig2;
use fairplan::report::reproduction::{Exhibit, Interval, Reproduced};
use fairplan::{
    AllocateOptions, Control, DemandSeries, DemandSeriesBuilder, Error, FairShares, GuaranteedFraction,
    MechanismOptions, QuantumLabel, Ties, allocate,
};

type Numbers = Result<Vec<Reproduced>, Error>;

/// Fig. 2: with max-min once and for all C lies with profit, with periodic max-min fairness A gets twice as much as C, though
/// all demand the same in total.
pub(crate) fn fig2(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit { id: "karma-fig2", source: "Karma paper, Fig. 2, Sec. 2" };
    let series = karma_fig2()?;
    let mut numbers = Vec::new();
    // What C is given for all quanta by its demand in the first.
    let once = |claim: u64| -> Result<f64, Error> {
        let outcome =
            run("max-min", &settings("0", 0, Ties::Lowest)?, 2, &self::series(&[[3], [2], [claim]])?)?;
        let held = outcome.users[2].allocated;
        let useful = |quantum: usize| {
            let (users, slices) = series.demands(quantum);
            let demand =
                users.iter().zip(slices).find(|(user, _)| **user == 2).map_or(0, |(_, slices)| *slices);
            demand.min(held)
        };
        Ok((0..series.quantum_count()).map(useful).sum::<u64>() as f64)
    };
    for (quotation, claim, quantity, published) in [
        ("leading to a total useful allocation of 3 units over the entire duration", 1, "is honest", 3.0),
        (
            "they can achieve a more desirable total useful allocation of 5 units",
            2,
            "reports 2 at first",
            5.0,
        ),
    ] {
        let quantity = format!("max-min at t = 0: useful slices of C when it {quantity}");
        numbers.push(EXHIBIT.says(quotation).number(quantity, published, once(claim)?, 0.0));
    }
    let outcome = run("max-min", &settings("0", 0, Ties::Lowest)?, 2, &series)?;
    let periodic = EXHIBIT.says(
        "user A receives a total allocation of 10 slices, while user C receives a total allocation of only 5 slices",
    );
    for (user, name, published) in [(0, "A", 10.0), (2, "C", 5.0)] {
        let ours = outcome.users[user].useful as f64;
        numbers.push(periodic.number(format!("periodic max-min: slices of {name}"), published, ours, 0.0));
    }
    Ok(numbers)
}

/// Fig. 3: Karma gives all three users 8 slices, and leaves them with equally many credits.
pub(crate) fn fig3(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit { id: "karma-fig3", source: "Karma paper, Fig. 3, Sec. 3.2.2" };
    /// What the text says of the slices of A, B and C, quantum by quantum.
    const SLICES: [(&str, &[(usize, u64)]); 6] = [
        ("a final allocation of 3 slices for A … 2 slices for B … 1 slice for C", &[(0, 3), (1, 2), (2, 1)]),
        ("A is allocated 3 slices and it loses", &[(0, 3)]),
        ("B receives the 3 slices it asked for", &[(1, 3)]),
        ("C will be able to get 3 extra slices … and achieve an allocation of 4", &[(2, 4)]),
        ("A and B will get their guaranteed allocation of 1", &[(0, 1), (1, 1)]),
        (
            "The final resulting allocation is 1 slice for A, 2 slices for B, and 3 slices for C",
            &[(0, 1), (1, 2), (2, 3)],
        ),
    ];
    /// The quantum, from 0 on, of each of these.
    const QUANTA: [usize; SLICES.len()] = [0, 1, 2, 3, 3, 4];
    const NAMES: [&str; 3] = ["A", "B", "C"];
    let outcome = run("karma", &settings("0.5", 6, Ties::Lowest)?, 2, &karma_fig2()?)?;
    let mut numbers = Vec::new();
    for ((quotation, slices), quantum) in SLICES.into_iter().zip(QUANTA) {
        for (user, published) in slices {
            let quantity = format!("slices of {} in quantum {}", NAMES[*user], quantum + 1);
            let ours = outcome.quanta.iter().flatten().nth(quantum);
            let ours = ours.map_or(f64::NAN, |quantum| quantum.allocated[*user] as f64);
            numbers.push(EXHIBIT.says(quotation).number(quantity, *published as f64, ours, 0.0));
        }
    }
    let end = EXHIBIT
        .says("A, B, and C end up with the exact same total allocation (8 slices) and number of credits");
    for (user, name) in outcome.users.iter().zip(NAMES) {
        numbers.push(end.number(format!("slices of {name}"), 8.0, user.useful as f64, 0.0));
    }
    let credits = || outcome.users.iter().filter_map(|user| user.credits);
    let apart = credits().fold(f64::NEG_INFINITY, f64::max) - credits().fold(f64::INFINITY, f64::min);
    numbers.push(end.words(
        "what the credits of A, B and C differ by at the end",
        Interval::exactly(0.0),
        apart,
    ));
    Ok(numbers)
}

/// Fig. 4: 8 slices, 4 users. Reporting nothing at first gains A a slice if the others demand as on the left, and
/// costs it two thirds if they demand as on the right.
pub(crate) fn fig4(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit = Exhibit { id: "karma-fig4", source: "Karma paper, Fig. 4, Sec. 3.3" };
    let left = [[8, 8, 8], [8, 0, 8], [0, 8, 0], [0, 0, 0]];
    let right = [[8, 8, 8], [0, 2, 2], [0, 2, 2], [0, 2, 2]];
    let [honest, lying] = honest_and_lying(2, &left)?;
    let [generous, sorry] = honest_and_lying(2, &right)?;
    let gains = EXHIBIT
        .says("user A is able to gain 1 extra slice in its overall allocation by under-reporting its demand");
    let loses = EXHIBIT.says("then user A sees a 3× degradation in overall allocation");
    Ok(vec![
        gains.number("slices that A gains by reporting 0 (left)", 1.0, lying - honest, 0.0),
        loses.number("factor that A loses by reporting 0 (right)", 3.0, generous / sorry, 0.0),
    ])
}

/// Lemma 2, Tables 1 and 2, with 8 users of fair share 1.
pub(crate) fn lemma2(_: &Control<'_>) -> Numbers {
    const EXHIBIT: Exhibit =
        Exhibit { id: "karma-lemma2", source: "Karma paper, Lemma 2, Tables 1 and 2 (n = 8), A.5" };
    let mut table_1 = vec![[0, 0, 0]; 8];
    (table_1[0], table_1[1], table_1[2]) = ([8, 8, 8], [8, 0, 8], [0, 8, 0]);
    let mut table_2 = vec![[0, 1, 1]; 8];
    table_2[0] = [8, 8, 8];
    let [honest, lying] = honest_and_lying(1, &table_1)?;
    let [generous, sorry] = honest_and_lying(1, &table_2)?;
    let first =
        EXHIBIT.says("This leads to A getting 5n/4 … resources, compared to 9n/8 … had A been truthful");
    let second = EXHIBIT.says("misreporting leads to A getting only 2 … resources, compared to n+2");
    let factor = EXHIBIT.says("it can lose its useful allocation by a factor of (n+2)/2");
    Ok(vec![
        first.number("Table 1, A honest: 9n/8", 9.0, honest, 0.0),
        first.number("Table 1, A reports 0 at first: 5n/4", 10.0, lying, 0.0),
        second.number("Table 2, A honest: n + 2", 10.0, generous, 0.0),
        second.number("Table 2, A reports 0 at first", 2.0, sorry, 0.0),
        factor.number("Table 2, the factor lost: (n + 2) / 2", 5.0, generous / sorry, 0.0),
    ])
}

/// KDN Tables II and III from Table I, cell by cell: fair share 2, α = 1, 10 initial credits, ties to the last user,
/// and of max-min's leftover slices the larger demand is served first.
pub(crate) fn kdn(_: &Control<'_>) -> Numbers {
    const TABLE_2: Exhibit = Exhibit { id: "kdn-tables", source: "KDN Tables I and II (max-min)" };
    const TABLE_3: Exhibit = Exhibit { id: "kdn-tables", source: "KDN Tables I and III (Karma)" };
    let demands =
        [[1, 3, 2, 1, 1, 1, 4, 2, 1, 5], [4, 5, 1, 5, 5, 2, 1, 5, 3, 1], [3, 1, 4, 4, 2, 4, 5, 1, 2, 1]];
    let max_min =
        [[1, 2, 2, 1, 1, 1, 2, 2, 1, 4], [3, 3, 1, 3, 3, 2, 1, 3, 3, 1], [2, 1, 3, 2, 2, 3, 3, 1, 2, 1]];
    let karma =
        [[1, 3, 2, 1, 1, 1, 3, 2, 1, 4], [2, 2, 1, 3, 3, 2, 1, 3, 3, 1], [3, 1, 3, 2, 2, 3, 2, 1, 2, 1]];
    let series = series(&demands)?;
    let ours = run("max-min", &settings("0", 0, Ties::Demand)?, 2, &series)?;
    let mut numbers = cells(TABLE_2, "max-min", &max_min, &ours);
    let ours = run("karma", &settings("1", 10, Ties::Highest)?, 2, &series)?;
    numbers.extend(cells(TABLE_3, "Karma", &karma, &ours));
    Ok(numbers)
}

/// What the first user gets in total with `α = 0` when it is honest, and when it reports 0 in the first quantum.
fn honest_and_lying<const T: usize>(fair_share: u64, demands: &[[u64; T]]) -> Result<[f64; 2], Error> {
    let settings = settings("0", 1_000_000, Ties::Lowest)?;
    let mut reported = demands.to_vec();
    reported[0][0] = 0;
    let useful = |rows: &[[u64; T]]| -> Result<f64, Error> {
        Ok(run("karma", &settings, fair_share, &series(rows)?)?.users[0].useful as f64)
    };
    Ok([useful(demands)?, useful(&reported)?])
}

/// Every cell of a published table of allocations, one row a user.
fn cells<const T: usize>(
    exhibit: Exhibit,
    what: &str,
    published: &[[u64; T]],
    ours: &DynamicOutcome,
) -> Vec<Reproduced> {
    let mut numbers = Vec::new();
    for (user, row) in published.iter().enumerate() {
        let name = format!("user{}", user + 1);
        let printed = row.map(|cell| cell.to_string()).join(" ");
        let passage = exhibit.says(format!("{name} {printed}"));
        for ((quantum, published), ours) in row.iter().enumerate().zip(ours.quanta.iter().flatten()) {
            let quantity = format!("{what} of {name} in quantum {}", quantum + 1);
            numbers.push(passage.number(quantity, *published as f64, ours.allocated[user] as f64, 0.0));
        }
    }
    numbers
}

fn series<const T: usize>(rows: &[[u64; T]]) -> Result<DemandSeries, Error> {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..rows.len() {
        builder.user(&format!("user{}", user + 1))?;
    }
    for quantum in 0..T {
        builder.quantum(QuantumLabel::Number(quantum as u64))?;
        for (user, row) in rows.iter().enumerate() {
            builder.demand(user, row[quantum])?;
        }
    }
    Ok(builder.build()?)
}

/// How Karma is set, and the other mechanisms as the papers have them.
pub(crate) fn settings(alpha: &str, initial_credits: u64, ties: Ties) -> Result<MechanismOptions, Error> {
    let alpha = GuaranteedFraction::new(alpha.parse().map_err(Error::input)?)?;
    let initial_credits = Some(initial_credits);
    Ok(MechanismOptions { alpha, initial_credits, ties, ..MechanismOptions::default() })
}

/// Everybody honest, every quantum kept.
fn run(
    name: &str,
    settings: &MechanismOptions,
    fair_share: u64,
    series: &DemandSeries,
) -> Result<DynamicOutcome, Error> {
    let options = AllocateOptions {
        mechanism: name.into(),
        settings: settings.clone(),
        per_quantum: true,
        ..AllocateOptions::default()
    };
    let shares = FairShares::PerUser(fair_share);
    Ok(allocate(series, &shares, None, &options, &Control::none())?.outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_agrees_with_the_papers() {
        let control = Control::none();
        for numbers in [fig2, fig3, fig4, lemma2, kdn].map(|exhibit| exhibit(&control).unwrap()) {
            let different: Vec<_> = numbers.iter().filter(|number| !number.agrees).collect();
            assert!(different.is_empty() && !numbers.is_empty(), "{different:?}");
        }
    }
}
