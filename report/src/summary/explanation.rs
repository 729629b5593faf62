//! The summary of an explanation, in sentences a user can follow.

use super::grid::{Column, grid, paragraph};
use super::{label, number, percent};
use crate::answer;
use crate::explanation::ExplanationDocument;
use std::fmt::Write;

/// Classes and capacities listed before the rest is only counted.
const LISTED: usize = 6;

/// Why a user has its share.
pub fn explanation(document: &ExplanationDocument<'_>) -> String {
    let mut text = paragraph(&answer::explanation(document));
    if !document.held_by.is_empty() {
        let columns = [
            Column::id("server class"),
            Column::text("usable"),
            Column::number("tasks there"),
            Column::number("cost of a whole share"),
            Column::text(""),
        ];
        let rows = document.server_classes.iter().take(LISTED).map(|class| {
            vec![
                class.id.to_string(),
                if class.usable { "yes" } else { "no" }.into(),
                number(class.tasks),
                class.cost_of_share.map(number).unwrap_or_default(),
                if class.cheapest { "cheapest" } else { "" }.into(),
            ]
        });
        let _ = write!(text, "\n{}", grid(&columns, rows));
        if document.server_classes.len() > LISTED {
            let _ = writeln!(text, " … and {} more", document.server_classes.len() - LISTED);
        }
        text.push('\n');
    }
    for range in &document.price_ranges {
        let (least, most, now) = (number(range.least), number(range.most), number(range.capacity));
        let until = match least == most {
            true => format!("only at {now}: more is worth less, less costs more"),
            false => format!("from {least} to {most} (now {now})"),
        };
        let (price, resource, class) = (number(range.price), label(&range.resource), label(&range.class));
        text += &paragraph(&format!("The price {price} of {resource} in class {class} holds {until}."));
    }
    for change in &document.smaller_demands {
        let largest = change.largest_gain.as_ref().map_or(String::new(), |gain| {
            format!(", most user {} ({} more work)", label(&gain.user), percent(gain.part))
        });
        text += &paragraph(&format!(
            "If a task needed {} {} instead of {}: it would get {} tasks; {} gain{largest}, {} lose.",
            number(change.smaller),
            label(&change.resource),
            number(change.demand),
            number(change.own_tasks),
            others(change.gain),
            others(change.lose)
        ));
    }
    text
}

fn others(count: usize) -> String {
    match count {
        0 => "nobody else would".into(),
        1 => "1 other would".into(),
        _ => format!("{count} others would"),
    }
}
