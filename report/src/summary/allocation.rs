//! The summary of demands over time and of what a mechanism made of them.

use super::grid::{Column, grid};
use super::{ROWS, counted, cut, label, number, percent, proof, thousands};
use crate::allocation::AllocationDocument;
use crate::answer;
use crate::offline::{Against, OfflineDocument};
use fairplan_instances::DemandSeries;
use std::fmt::Write;

/// One line on a series: its size.
pub fn demands(series: &DemandSeries) -> String {
    let users = counted(series.user_count() as u64, "user", "users");
    let quanta = counted(series.quantum_count() as u64, "quantum", "quanta");
    let demands = counted(series.entry_count() as u64, "demand", "demands");
    format!("{users}, {quanta} from {} to {}, {demands} above zero\n", first(series), last(series))
}

fn first(series: &DemandSeries) -> String {
    label(&series.label(0).to_string())
}

fn last(series: &DemandSeries) -> String {
    label(&series.label(series.quantum_count() - 1).to_string())
}

/// The summary of an allocation.
pub fn allocation(series: &DemandSeries, document: &AllocationDocument<'_>) -> String {
    let mut text = demands(series);
    let metrics = &document.metrics;
    let useful = document.users.iter().fold(0u64, |sum, user| sum.saturating_add(user.useful));
    let _ = writeln!(
        text,
        "Divided by {}: {} useful slices, {} of all there were",
        document.mechanism,
        thousands(useful),
        percent(metrics.utilization)
    );
    let figures = [
        ("Smallest over largest welfare", Some(number(metrics.fairness))),
        ("within a quantum, on the mean", Some(number(metrics.short_term_fairness))),
        (
            "Smallest and mean welfare",
            Some(format!("{}, {}", percent(metrics.welfare_min), percent(metrics.welfare_mean))),
        ),
        ("Smallest over largest allocation", Some(number(metrics.allocation_min_over_max))),
        ("Slices that change hands a quantum", Some(number(metrics.handoffs_per_quantum))),
        ("Welfare that honesty gains", metrics.incentive.map(number)),
        (
            "Throughput of a cache, mean and median over smallest",
            document.cache.map(|cache| {
                format!("{}, {}", number(cache.throughput_mean), number(cache.throughput_disparity))
            }),
        ),
    ];
    for (what, value) in figures {
        if let Some(value) = value {
            let _ = writeln!(text, "{what}: {value}");
        }
    }
    text.push('\n');
    let has_credits = document.users.iter().any(|user| user.credits.is_some());
    let mut columns = vec![
        Column::id("user"),
        Column::number("demand"),
        Column::number("allocated"),
        Column::number("useful"),
        Column::number("welfare"),
    ];
    columns.extend(has_credits.then(|| Column::number("credits")));
    let rows = document.users.iter().take(ROWS).map(|user| {
        let mut row = vec![
            user.id.to_string(),
            thousands(user.demand),
            thousands(user.allocated),
            thousands(user.useful),
            user.welfare.map(percent).unwrap_or_default(),
        ];
        row.extend(user.credits.map(number));
        row
    });
    text += &grid(&columns, rows);
    cut(&mut text, document.users.len(), "users");
    text
}

/// What mechanisms lose against an optimum.
pub(super) fn regrets(
    text: &mut String,
    measure: &str,
    against: &[Against<'_>],
    bound: Option<&Against<'_>>,
) {
    if against.is_empty() {
        return;
    }
    let columns = [Column::text("mechanism"), Column::number("smallest"), Column::number("regret")];
    let row = |name: String, against: &Against<'_>| {
        vec![name, answer::measured(measure, against.value), percent(against.regret)]
    };
    let rows = against.iter().map(|against| row(against.mechanism.clone().into_owned(), against));
    let rows = rows.chain(bound.map(|bound| row("(best without foresight)".into(), bound)));
    *text += &grid(&columns, rows);
    text.push('\n');
}

/// The summary of an offline optimum.
pub fn offline(series: &DemandSeries, document: &OfflineDocument<'_>) -> String {
    let mut text = demands(series);
    let proof = proof(document.status == "optimal", document.certificate.relative_gap);
    let value = answer::measured(&document.measure, document.value);
    let _ = writeln!(text, "Smallest {}: {value} ({proof})", document.measure);
    let metrics = document.metrics;
    let levels = document.levels.len();
    let _ = writeln!(text, "Levels: {}; used: {}\n", thousands(levels as u64), percent(metrics.utilization));
    regrets(&mut text, &document.measure, &document.against, document.online_bound.as_ref());
    let columns = [
        Column::id("user"),
        Column::number("demand"),
        Column::number("allocated"),
        Column::number("welfare"),
        Column::number("level"),
    ];
    let rows = document.users.iter().take(ROWS).map(|user| {
        vec![
            user.id.to_string(),
            thousands(user.demand),
            number(user.allocated),
            user.welfare.map(percent).unwrap_or_default(),
            user.level.map(|level| thousands(u64::from(level) + 1)).unwrap_or_default(),
        ]
    });
    text += &grid(&columns, rows);
    cut(&mut text, document.users.len(), "users");
    text
}
