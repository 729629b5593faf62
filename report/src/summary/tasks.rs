//! The summaries of tasks over server classes.

use super::allocation::{demands, regrets};
use super::grid::{Column, grid};
use super::{ROWS, cut, number, percent, thousands};
use crate::answer;
use crate::offline::{OfflineMetrics, TaskOfflineDocument};
use crate::task_allocation::TaskAllocationDocument;
use fairplan_instances::DemandSeries;
use std::fmt::Write;

/// The summary of an allocation of tasks.
pub fn task_allocation(series: &DemandSeries, document: &TaskAllocationDocument<'_>) -> String {
    let mut text = demands(series);
    let used = percent(document.metrics.utilization);
    let (name, gap) = (&document.mechanism, document.widest_gap);
    let _ =
        writeln!(text, "Divided by {name}: {used} of the resource used most; every quantum within {gap:.1e}");
    welfare(&mut text, &document.metrics);
    let rows = document.users.iter().map(|user| {
        let welfare = user.welfare.map(percent).unwrap_or_default();
        let credits = user.credits.map(number).unwrap_or_default();
        [
            user.id.to_string(),
            thousands(user.demand),
            number(user.useful),
            welfare,
            number(user.dominant_share),
            credits,
        ]
    });
    users(&mut text, "credits", rows, document.users.len());
    text
}

/// The summary of the optimum over all quanta.
pub fn task_offline(series: &DemandSeries, document: &TaskOfflineDocument<'_>) -> String {
    let mut text = demands(series);
    let gap = document.certificate.relative_gap;
    let proof = match &*document.status {
        "optimal" => format!("optimal, proved to within {gap:.1e}"),
        _ => format!("NOT PROVED: up to {gap:.1e} may be missing"),
    };
    let measure = document.measure_in_words();
    let _ = writeln!(
        text,
        "Smallest {measure} over all quanta: {} ({proof})",
        answer::measured(&document.measure, document.value)
    );
    let levels = thousands(document.levels.len() as u64);
    let used = percent(document.metrics.utilization);
    let _ = writeln!(text, "Levels set by capacity: {levels}; used of the resource used most: {used}");
    welfare(&mut text, &document.metrics);
    regrets(&mut text, &document.measure, &document.against, document.online_bound.as_ref());
    let rows = document.users.iter().map(|user| {
        let welfare = user.welfare.map(percent).unwrap_or_default();
        let level = user.level.map(|level| thousands(u64::from(level) + 1)).unwrap_or_default();
        [
            user.id.to_string(),
            thousands(user.demand),
            number(user.useful),
            welfare,
            number(user.dominant_share),
            level,
        ]
    });
    users(&mut text, "level", rows, document.users.len());
    text
}

fn welfare(text: &mut String, metrics: &OfflineMetrics) {
    let (least, mean) = (percent(metrics.welfare_min), percent(metrics.welfare_mean));
    let _ = writeln!(text, "Smallest and mean welfare: {least}, {mean}\n");
}

fn users(text: &mut String, last: &'static str, rows: impl Iterator<Item = [String; 6]>, count: usize) {
    let columns = [
        Column::id("user"),
        Column::number("demand"),
        Column::number("useful"),
        Column::number("welfare"),
        Column::number("dominant share"),
        Column::number(last),
    ];
    *text += &grid(&columns, rows.take(ROWS).map(Vec::from));
    cut(text, count, "users");
}
