//! Published results beside ours, for people.

use crate::figure::Figure;
use crate::page::{Block, Section, sizes};
use crate::reproduction::{
    PublishedExhibit, Reason, ReproductionDocument, Standing, exhibits_of, numbers_of,
};
use crate::summary::grid::{grid, paragraph};
use crate::units::{counted, percent, thousands};
use fairplan_instances::table::{Kind, Table, Tabular};
use std::fmt::Write;

/// A reproduction.
pub(super) fn answer(document: &ReproductionDocument) -> String {
    let agree = document.numbers.iter().filter(|number| number.agrees).count();
    let all = counted(document.numbers.len() as u64, "published statement", "published statements");
    match document.numbers.len() - agree {
        0 => format!("All {all} come out as published."),
        n => format!("{n} of {all} {} out otherwise.", if n == 1 { "comes" } else { "come" }),
    }
}

/// The summary of a reproduction.
pub fn summary(document: &ReproductionDocument) -> String {
    if !document.exhibits.is_empty() {
        return standings(&document.exhibits);
    }
    let mut text = String::new();
    for numbers in document.numbers.chunk_by(|a, b| a.exhibit == b.exhibit) {
        let _ = writeln!(text, "{}: {}", numbers[0].exhibit, numbers[0].source);
        text += &grid(&numbers_of(numbers).without(&[
            "exhibit",
            "published_least",
            "published_most",
            "quotation",
        ]));
        if numbers.iter().any(|number| number.reading.is_some()) {
            text += &paragraph("In brackets: what we take the paper's words to mean; it prints no number.");
        }
        for reason in document.reasons.iter().filter(|reason| reason.exhibit == numbers[0].exhibit) {
            text += &paragraph(&format!("{}: {}", about(reason), reason.why));
        }
        text.push('\n');
    }
    document.figures.iter().for_each(|figure| text += &curves(figure));
    text
}

/// What a reason is about: `differs (sharp): …`.
fn about(reason: &Reason) -> String {
    let standing = match reason.standing {
        Standing::Explained => "differs, tested",
        Standing::Refuted => "refuted",
        _ => "differs, not explained",
    };
    match reason.of.join("; ") {
        all if all.is_empty() => standing.into(),
        some => format!("{standing} ({some})"),
    }
}

/// What stands of every table and figure, then why where there is something to say.
fn standings(exhibits: &[PublishedExhibit]) -> String {
    let mut text = grid(&exhibits_of(exhibits).without(&["why"]));
    for said in exhibits.chunk_by(|a, b| a.study == b.study && a.why == b.why) {
        let names: Vec<&str> = said.iter().map(|row| row.exhibit.as_str()).collect();
        if let Some(why) = &said[0].why {
            text += &paragraph(&format!("{}, {}: {why}", said[0].paper, names.join(", ")));
        }
    }
    text
}

/// The tables of all panels of a figure.
fn curves(figure: &Figure) -> String {
    let mut text =
        format!("{}: {}; {} against {}\n", figure.exhibit, figure.title, figure.vertical, figure.horizontal);
    for panel in &figure.panels {
        let _ = writeln!(text, "{}", panel.title);
        let mut places: Vec<f64> = panel.curves.iter().flat_map(|c| &c.points).map(|[x, _]| *x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mut columns = Table::of(&places).column("place", "", Kind::Number, |place| *place);
        for curve in &panel.curves {
            let title = format!("{}, {}", curve.kind, curve.subject);
            let value = |place: &f64| curve.points.iter().find(|[x, _]| x == place).map(|[_, y]| *y);
            columns = columns
                .column(title.clone(), title, Kind::Number, value)
                .said(move |place| value(place).map(|value| format!("{value:.4}")));
        }
        text += &grid(&columns.done());
        text.push('\n');
    }
    text
}

/// A reproduction as a section.
pub(crate) fn section(document: ReproductionDocument) -> Section {
    let agree = document.numbers.iter().filter(|number| number.agrees).count();
    let mut section = Section::new("Published results, recomputed")
        .answer(answer(&document))
        .fact("Statements that agree", format!("{agree} of {}", document.numbers.len()));
    for reason in &document.reasons {
        section = section.fact(&format!("{}, {}", reason.exhibit, about(reason)), &*reason.why);
    }
    if !document.exhibits.is_empty() {
        section = with_exhibits(section, &document.exhibits);
    }
    for figure in document.figures.iter().cloned() {
        section = section.block(Block::Curves(figure));
    }
    let parts: Vec<_> = (document.numbers.iter())
        .filter_map(|number| Some((number.quantity.clone(), number.part_of_published()?)))
        .collect();
    if !parts.is_empty() {
        section = section.block(sizes("Ours, as a part of what is published", parts, percent));
    }
    section.grid("Published and ours", &document.table().without(&["published_least", "published_most"]))
}

/// Adds what stands of every table and figure.
fn with_exhibits(section: Section, exhibits: &[PublishedExhibit]) -> Section {
    let mut counts: Vec<(String, f64)> = Vec::new();
    for standing in exhibits.iter().map(|exhibit| exhibit.standing.words()) {
        match counts.iter_mut().find(|(words, _)| words == standing) {
            Some((_, count)) => *count += 1.0,
            None => counts.push((standing.to_owned(), 1.0)),
        }
    }
    section
        .block(sizes("Published tables and figures, by verdict", counts, |count| thousands(count as u64)))
        .grid("Published tables and figures", &exhibits_of(exhibits))
}
