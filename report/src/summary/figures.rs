//! The table of a figure: a row for each place along the horizontal axis, a column for each curve.

use super::grid::{Column, grid};
use super::number;
use crate::figure::Figure;
use std::fmt::Write;

/// The tables of all panels of a figure.
pub(super) fn figure(figure: &Figure<'_>) -> String {
    let mut text =
        format!("{}: {}; {} against {}\n", figure.exhibit, figure.title, figure.vertical, figure.horizontal);
    for panel in &figure.panels {
        let _ = writeln!(text, "{}", panel.title);
        let names =
            panel.curves.iter().map(|curve| Column::number(format!("{}, {}", curve.kind, curve.subject)));
        let columns: Vec<Column> = std::iter::once(Column::number("")).chain(names).collect();
        let mut places: Vec<f64> = panel.curves.iter().flat_map(|c| &c.points).map(|[x, _]| *x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let rows = places.into_iter().map(|place| {
            let cells = panel.curves.iter().map(|curve| {
                let point = curve.points.iter().find(|[x, _]| *x == place);
                point.map(|[_, y]| format!("{y:.4}")).unwrap_or_default()
            });
            std::iter::once(number(place)).chain(cells).collect()
        });
        text += &grid(&columns, rows);
        text.push('\n');
    }
    text
}
