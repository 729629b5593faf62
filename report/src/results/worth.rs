//! What servers are worth, for people.

use super::sentences::{left_out, listed as sentences_listed, name, smallest, words};
use crate::figure::Bars;
use crate::page::{Block, GROUPS, Section};
use crate::summary::grid::{listed, paragraph};
use crate::units::{percent, share};
use fairplan_analysis::{ServerWorth, Worth};
use fairplan_instances::table::{Cell, Tabular};
use std::fmt::Write;

/// What servers are worth.
pub(super) fn answer(document: &Worth) -> String {
    helpful(document) + &left_out(&document.instance)
}

fn helpful(document: &Worth) -> String {
    let most = document.server_classes.iter().map(|class| class.gain).fold(0.0, f64::max);
    // Gains are differences of shares: they are told apart as far as these are exact.
    let alike: Vec<&ServerWorth> =
        document.server_classes.iter().filter(|class| document.is_nothing(most - class.gain)).collect();
    let best = alike.first();
    match best.filter(|best| best.gain > 0.0 && !document.is_nothing(best.gain)) {
        Some(best) => {
            let alike: Vec<String> = alike.iter().map(|class| name(&class.id)).collect();
            let group = best.largest_gain_of_groups().map_or(String::new(), |group| {
                let (had, has) = (group.before.unwrap_or(0.0), group.after.unwrap_or(0.0));
                let by = if alike.len() > 1 { format!("one of {}", name(&best.id)) } else { "it".into() };
                format!(
                    " Group {} gains the most by {by}: {} instead of {}.",
                    name(&group.id),
                    share(has),
                    share(had)
                )
            });
            let which = match alike.len() {
                0 | 1 => format!("class {} helps the most", name(&best.id)),
                2 => {
                    format!("class {} or of class {} helps the most, as much either way", alike[0], alike[1])
                }
                n => format!("any of {n} classes helps the most, all as much: {}", sentences_listed(&alike)),
            };
            let level = document.raised();
            let rises = match document.is_nothing(level) {
                true => format!("from {} to {}", share(level), share(level + best.gain)),
                false => format!("from {} by {} of itself", share(level), percent(best.gain / level)),
            };
            format!(
                "One more server of {which}: the smallest weighted share of those that still want more rises {rises}.{group}"
            )
        }
        _ if document.wanting == Some(0) => {
            "No server would give anybody more: nobody, in whatever group, is held by full servers.".into()
        }
        None if document.server_classes.iter().any(|class| !document.is_nothing(class.by_price)) => format!(
            "No single server would raise the smallest weighted share, {}: several have it, and a server that helps some of them does not help \
             the others.",
            share(document.raised())
        ),
        None => format!(
            "No single server would raise the smallest weighted share, {}: whoever has it has all that it asks for, or is held by something else than \
             capacity.",
            share(document.raised())
        ),
    }
}

/// What the table of classes says.
const ADDED: &str = "What one more server of a class adds to the smallest weighted dominant share of those that still want more:";

/// By which servers shares are measured, and what follows from that for who wants to know what users have with one more.
const TODAYS_SHARES: &str = "All of this is in shares of today's servers. Once a server is there, `solve` measures shares by all servers with it, which may \
     divide them otherwise, so that users lose who gain here: `plan diff` of the two clusters tells what each has then.";

/// What one more server of each class adds, and how far prices hold.
pub fn summary(document: &Worth) -> String {
    let mut text = paragraph(&answer(document));
    if let Some(level) = document.level {
        text.push('\n');
        text += &paragraph(&format!(
            "Level of those who still want more: {}. The smallest weighted share of all is of one that {}.",
            share(level),
            if document.value > 0.0 { "asks for no more" } else { "can run on no server, or has no tasks" }
        ));
    }
    let _ = writeln!(text, "\n{}", paragraph(ADDED));
    text += &listed(&document.classes().without(&["largest_gain", "part"]), "server classes");
    text.push('\n');
    text += &paragraph(TODAYS_SHARES);
    if document.has_groups() {
        let told = "What groups have with it, all members together, in shares of today's servers:";
        let _ = writeln!(text, "\n{}", paragraph(told));
        text += &listed(&document.groups(), "changes");
    }
    let prices = document.table().only(&["class", "resource", "price", "capacity", "least", "most"]);
    let columns = prices.columns().to_vec();
    let is_priced = |row: usize| matches!(columns[2].cell(row), Cell::Number(price) if price > 0.0);
    let prices = prices.only_rows(|row| is_priced(row) && columns[3].cell(row) != Cell::Missing);
    if prices.rows() > 0 {
        text.push('\n');
        text += &listed(&prices, "prices");
    }
    text
}

/// The same as a section.
pub(crate) fn section(document: Worth) -> Section {
    let gain = |gain: f64| if document.is_nothing(gain) { 0.0 } else { gain };
    let bars = Bars {
        caption: "What one more server adds to the smallest weighted share".into(),
        series: words(["solved again", "by the prices"]),
        groups: (document.server_classes.iter().take(GROUPS / 2))
            .map(|class| (class.id.clone(), vec![gain(class.gain), class.by_price]))
            .collect(),
        mark: None,
        format: share,
    };
    let table = document.table();
    let resources = table.columns()[1].clone();
    let prices = document.table().only(&["price"]).columns()[0].clone();
    // Of what is worth nothing there is nothing to tell.
    let is_worth_something = |row: usize| matches!(prices.cell(row), Cell::Number(price) if price > 0.0);
    let is_told = |row: usize| resources.cell(row) != Cell::from("") && is_worth_something(row);
    let of_resources = table.without(&["by_price"]).only_rows(is_told);
    Section::new("What one more server is worth")
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .fact(&smallest("Smallest weighted dominant share now", document.has_groups()), share(document.value))
        .fact("Smallest of those that still want more", share(document.raised()))
        .fact("Measured by", TODAYS_SHARES)
        .block(Block::Bars(bars))
        .grid("One more server of each class", &document.classes())
        .table("What groups have with one more", &document.groups())
        .table("More of one resource alone, where it has a price, and how far that holds", &of_resources)
}
