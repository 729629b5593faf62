//! The most of a resource that whole tasks can take, for people.

use super::bound::{WITHOUT_QUOTAS, placed, sides, truncated, without_quotas};
use super::sentences::{heading, name};
use crate::allocated_bound::{AllocatedBoundDocument, allocated_claim};
use crate::page::Section;
use crate::units::{Rounded, number, share};
use fairplan_instances::{AllocatedBracket, Instance};
use std::fmt::Write;

/// A bracket of what can be allocated.
pub(super) fn answer<S>(document: &AllocatedBoundDocument<S>) -> String {
    let resource = name(&document.resource);
    let [lower, upper] = sides_of(document);
    match document.proved_optimal {
        true => {
            format!("Whole tasks can take {lower} of the {resource}, and no placement takes more (proved).")
        }
        false => format!(
            "A placement of whole tasks takes {lower} of the {resource}; none takes more than {upper}."
        ),
    }
}

/// What is placed and what nothing exceeds, as parts of all that there is.
fn sides_of<S>(document: &AllocatedBoundDocument<S>) -> [String; 2] {
    let part = |side: Rounded, amount: f64| side.percent(part_of(amount, document.total));
    [part(Rounded::Nearest, document.integral_lower), part(Rounded::Up, document.integral_upper)]
}

fn part_of(amount: f64, total: f64) -> f64 {
    if total > 0.0 { amount / total } else { 0.0 }
}

/// The summary of a bracket of what can be allocated.
pub fn summary(instance: &Instance, bracket: &AllocatedBracket) -> String {
    let mut text = heading(instance);
    let claim = allocated_claim(instance, bracket);
    let (resource, total) =
        (name(&instance.resources()[bracket.resource.0]), instance.total(bracket.resource));
    let told = |side: Rounded, amount: f64| {
        format!("{} ({})", side.number(amount), side.percent(part_of(amount, total)))
    };
    let of_all = format!("Most {resource} that whole tasks can take, of {}", number(total));
    let (lower, upper) = (told(Rounded::Nearest, claim.lower), told(Rounded::Up, claim.upper));
    text += &without_quotas(instance);
    if claim.proved_optimal {
        let _ = writeln!(text, "{of_all}: {lower} (placed, and proved optimal)");
    } else {
        let below = 1.0 - claim.lower / claim.upper;
        let _ = writeln!(text, "{of_all}: at most {upper}, proved; {lower} placed ({} below)", share(below));
        text += &truncated(bracket.truncated_searches);
    }
    text
}

/// A bracket of what can be allocated as a section.
pub(crate) fn section(document: AllocatedBoundDocument) -> Section {
    let both = sides_of(&document);
    let section = Section::new("The most that whole tasks can take of a resource")
        .answer(answer(&document))
        .instance(&document.instance)
        .warning(document.under_quotas.then_some(WITHOUT_QUOTAS))
        .fact("Resource", document.resource.clone());
    placed(sides(section, both, document.proved_optimal), &document.placement.users)
}
