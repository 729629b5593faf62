//! How long a cluster lasts, for people.

use super::plan::target;
use super::sentences::{label, name};
use crate::figure::{Bars, Curve, Mark};
use crate::page::{Block, Section, curves, line, time};
use crate::summary::grid::{listed, paragraph};
use crate::units::{counted, number, percent, thousands};
use fairplan_analysis::{Growth, Shortfall};
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// How long a cluster lasts.
pub(super) fn answer(document: &Growth) -> String {
    let times = number((document.part_at_one * 100.0).round() / 100.0);
    let quanta = counted(document.series.quanta, "quantum", "quanta");
    match &document.first_missed {
        None => format!("The cluster lasts through all {quanta}: it has room for {times} times the target."),
        Some(first) => format!(
            "The cluster has room for {times} times the target; that is first not enough in {}, where {} is short and only {} \
             of what is asked for can be had.",
            name(&first.quantum.to_string()),
            name(&first.resource),
            percent(first.part)
        ),
    }
}

/// How long a cluster lasts.
pub fn summary(document: &Growth) -> String {
    let mut text = paragraph(&answer(document));
    let _ = writeln!(text, "Target, at a scale of 1: {}.", target(&document.target));
    let needs = |short: &Shortfall| {
        let (user, times) = (label(&short.user), number(short.scale));
        format!("user {user} needs the most of what is short, at {times} times its target")
    };
    if let Some(first) = &document.first_missed {
        let quanta = counted(document.series.quanta, "quantum", "quanta");
        let missed = thousands(document.missed);
        text += &paragraph(&format!("Missed in {missed} of {quanta}; {}.", needs(first)));
    }
    let is_first = |tightest: &Shortfall| {
        document.first_missed.as_ref().is_some_and(|first| first.quantum == tightest.quantum)
    };
    if let Some(tightest) = document.tightest.as_ref().filter(|tightest| !is_first(tightest)) {
        let quantum = label(&tightest.quantum.to_string());
        let (part, resource) = (percent(tightest.part), label(&tightest.resource));
        let needs = needs(tightest);
        let room = format!("room for {part} of what is asked for, by {resource}; {needs}.");
        text += &paragraph(&format!("Tightest in {quantum}: {room}"));
    }
    if !document.purchases.is_empty() {
        text += "\nWhat to buy by when:\n\n";
        text += &listed(&document.purchases_table(), "stages");
    }
    text
}

/// Growth as a section.
pub(crate) fn section(document: Growth) -> Section {
    let short = |short: &Shortfall| {
        let (quantum, part, resource) = (&short.quantum, percent(short.part), &short.resource);
        format!("{quantum}: {part} can be reached; {resource} is short")
    };
    let first = document.first_missed.as_ref();
    let mut section = Section::new("How long the cluster lasts")
        .answer(answer(&document))
        .instance(&document.instance)
        .fact("Target at a scale of 1", target(&document.target))
        .fact("The cluster reaches of it", percent(document.part_at_one))
        .fact("First missed", first.map_or_else(|| "never".into(), short))
        .fact(
            "Missed",
            format!("{} of {} quanta", thousands(document.missed), thousands(document.series.quanta)),
        );
    if let Some(tightest) = &document.tightest {
        section = section.fact("Tightest", short(tightest));
    }
    if !document.purchases.is_empty() {
        section = section.table("What to buy by when", &document.purchases_table());
    }
    let Some(quanta) = &document.quanta else { return section.block(asked_and_had(&document)) };
    let scales: Vec<f64> = quanta.iter().map(|quantum| quantum.scale).collect();
    let end = scales.len() as f64;
    let reached = Curve {
        mark: Mark::Dashes,
        ..line("reached", vec![[0.0, document.part_at_one], [end, document.part_at_one]])
    };
    let asked = line("asked for", time::thinned(&scales, time::Keep::Largest));
    let horizontal = time::axis(quanta.first().map(|one| &one.quantum));
    section = section.block(Block::Curves(curves(
        "How many times the target is asked for",
        &horizontal,
        "times the target",
        vec![asked, reached],
    )));
    let missed = document.table().without(&["missed"]).only_rows(|row| quanta[row].missed);
    section.table("Quanta that are missed", &missed)
}

/// What there is room for beside what is asked for, of a result without its quanta.
fn asked_and_had(document: &Growth) -> Block {
    let asked = |short: &Shortfall, what: &str| {
        (format!("{what}: {}", short.quantum), vec![document.part_at_one / short.part])
    };
    let mut groups = vec![("at a scale of 1".to_owned(), vec![1.0])];
    groups.extend(document.first_missed.as_ref().map(|first| asked(first, "first missed")));
    groups.extend(document.tightest.as_ref().map(|tightest| asked(tightest, "tightest")));
    groups.retain(|(_, times)| times[0].is_finite());
    Block::Bars(Bars {
        caption: "How many times the target is asked for".into(),
        series: Vec::new(),
        groups,
        mark: Some((document.part_at_one, "there is room for".into())),
        format: |times| number((times * 1000.0).round() / 1000.0),
    })
}
