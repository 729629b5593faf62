//! What reproductions say: published numbers beside ours, and the curves of figures.

use super::{Block, Cell, Grid, Section, words};
use crate::answer;
use crate::figure::{Curve, Figure, Panel};
use crate::reproduction::ReproductionDocument;

/// A reproduction as a section.
pub(super) fn reproduction(document: ReproductionDocument<'_>) -> Section {
    let agree = document.numbers.iter().filter(|number| number.agrees).count();
    let header = words(["exhibit", "quantity", "published", "ours", "verdict"]);
    let rows = document.numbers.iter().map(|number| {
        vec![
            Cell::text(&*number.exhibit),
            Cell::text(&*number.quantity),
            Cell::number(number.published),
            Cell::number(number.ours),
            Cell::text(if number.agrees { "agrees" } else { "DIFFERS" }),
        ]
    });
    let mut section = Section::new("Published results, recomputed")
        .answer(answer::reproduction(&document))
        .fact("Numbers that agree", format!("{agree} of {}", document.numbers.len()));
    for reason in &document.reasons {
        section = section.fact(&format!("Why numbers of {} differ", reason.exhibit), &*reason.why);
    }
    for figure in document.figures.iter().cloned() {
        section = section.block(Block::Curves(owned(figure)));
    }
    section.block(Block::Grid(Grid::new("Published and ours", header, rows)))
}

fn owned(figure: Figure<'_>) -> Figure<'static> {
    let curve = |curve: Curve<'_>| Curve {
        kind: curve.kind.into_owned().into(),
        subject: curve.subject.into_owned().into(),
        ..Curve { kind: "".into(), subject: "".into(), mark: curve.mark, points: curve.points }
    };
    let panel = |panel: Panel<'_>| Panel {
        title: panel.title.into_owned().into(),
        curves: panel.curves.into_iter().map(curve).collect(),
    };
    Figure {
        exhibit: figure.exhibit.into_owned().into(),
        title: figure.title.into_owned().into(),
        horizontal: figure.horizontal.into_owned().into(),
        vertical: figure.vertical.into_owned().into(),
        panels: figure.panels.into_iter().map(panel).collect(),
    }
}
