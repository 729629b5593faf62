//! The largest sum of logarithms that whole tasks can have, for people.

use super::bound::{
    WITHOUT_QUOTAS, all_without_tasks, placed, sides, truncated, without_quotas, without_tasks,
};
use super::sentences::heading;
use crate::page::Section;
use crate::proportional_bound::ProportionalBoundDocument;
use crate::units::{Rounded, number};
use fairplan_instances::{Instance, ProportionalBracket};
use fairplan_verify::is_best_sum;
use std::fmt::Write;

/// A bracket of the sum of logarithms.
pub(super) fn answer<S>(document: &ProportionalBoundDocument<S>) -> String {
    match (document.proved_optimal, document.integral_lower, document.gap_per_weight) {
        (true, ..) => {
            "The placement found has the largest sum of logarithms of shares there is (proved).".into()
        }
        (false, Some(_), Some(gap)) => format!(
            "No placement of whole tasks is better than the one found by more than {} for each unit of weight: about so \
             large a part of every user's share.",
            apart(gap)
        ),
        _ => "No placement was found that gives every user a task.".into(),
    }
}

/// How far apart the two sides are: of what is small only the size matters.
fn apart(gap: f64) -> String {
    if gap < 0.1 { format!("{gap:.1e}") } else { number(gap) }
}

/// The summary of a bracket of the sum of logarithms.
pub fn summary(instance: &Instance, divisible: Option<f64>, bracket: &ProportionalBracket) -> String {
    let mut text = heading(instance);
    if let Some(divisible) = divisible {
        let _ = writeln!(
            text,
            "Best sum of w ln(share) if tasks could be divided at will: {}",
            number(divisible)
        );
    }
    text += &without_quotas(instance);
    text += &without_tasks(instance, &bracket.without_tasks, "They are left out of the sums.");
    let upper = bracket.upper.unwrap_or_default();
    let _ = match (bracket.lower, bracket.gap_per_weight(instance)) {
        (Some(lower), Some(_)) if is_best_sum(instance, bracket) => {
            writeln!(text, "Best sum of whole tasks: {} (placed, and proved optimal)", number(lower))
        }
        (Some(lower), Some(gap)) => writeln!(
            text,
            "Best sum of whole tasks: at most {}, proved; {} placed (less by {} for each unit of weight)",
            Rounded::Up.number(upper),
            number(lower),
            apart(gap)
        ),
        _ => writeln!(
            text,
            "Best sum of whole tasks: at most {}, proved; no placement was found that gives every user a task",
            Rounded::Up.number(upper)
        ),
    };
    if !is_best_sum(instance, bracket) {
        text += &truncated(bracket.truncated_searches);
    }
    text
}

/// A bracket of the sum of logarithms as a section.
pub(crate) fn section(document: ProportionalBoundDocument) -> Section {
    let sum = |side: Rounded, sum: Option<f64>| sum.map_or_else(|| "none".into(), |sum| side.number(sum));
    let section = Section::new("The best that whole tasks can do: Σ w ln(dominant share)")
        .answer(answer(&document))
        .instance(&document.instance)
        .warning(document.under_quotas.then_some(WITHOUT_QUOTAS));
    let both = [sum(Rounded::Nearest, document.integral_lower), sum(Rounded::Up, document.integral_upper)];
    let mut section = sides(section, both, document.proved_optimal);
    if let Some(gap) = document.gap_per_weight {
        section = section.fact("Apart for each unit of weight", number(gap));
    }
    placed(all_without_tasks(section, &document.users_without_tasks), &document.placement.users)
}
