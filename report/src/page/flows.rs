//! What stochastic demand comes to: how fast each class is served, by load.

use super::{Block, Cell, Grid, Section, words};
use crate::answer;
use crate::figure::{Curve, Figure, Mark, Panel};
use crate::flows::FlowsDocument;

/// Flows as a section.
pub(super) fn flows(document: FlowsDocument<'_>) -> Section {
    let mut panels: Vec<Panel<'static>> = Vec::new();
    for result in &document.results {
        let title = format!("{}, {}", result.objective, result.demands);
        let position = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
            panels.push(Panel { title: title.into(), curves: Vec::new() });
            panels.len() - 1
        });
        let curves = &mut panels[position].curves;
        for class in &result.classes {
            let position = curves.iter().position(|curve| curve.subject == class.id).unwrap_or_else(|| {
                let subject = class.id.to_string().into();
                curves.push(Curve { kind: "class".into(), subject, mark: Mark::Line, points: Vec::new() });
                curves.len() - 1
            });
            curves[position].points.push([result.load, class.service_rate]);
        }
    }
    panels.iter_mut().flat_map(|panel| &mut panel.curves).for_each(|curve| {
        curve.points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        if curve.points.len() == 1 {
            curve.mark = Mark::Crosses;
        }
    });
    let header =
        words(["objective", "demands", "load", "class", "service rate", "± at most", "completion time"]);
    let rows: Vec<Vec<Cell>> = document
        .results
        .iter()
        .flat_map(|result| {
            result.classes.iter().map(|class| {
                vec![
                    Cell::text(&*result.objective),
                    Cell::text(&*result.demands),
                    Cell::number(result.load),
                    Cell::text(&*class.id),
                    Cell::number(class.service_rate),
                    Cell::number(class.service_rate_error),
                    Cell::number(class.completion_time),
                ]
            })
        })
        .collect();
    let figure = Figure {
        exhibit: "".into(),
        title: "Service rates".into(),
        horizontal: "load".into(),
        vertical: "service rate".into(),
        panels,
    };
    let section = Section::new("Stochastic demand")
        .answer(answer::flows(&document))
        .fact("Level", document.level.clone());
    let section = if document.results.is_empty() { section } else { section.block(Block::Curves(figure)) };
    section.block(Block::Grid(Grid::new("Classes", header, rows.into_iter())))
}
