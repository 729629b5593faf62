//! Placements side by side by how much of a resource they take, for people.

use super::sentences::{all_of, listed, name};
use crate::comparison::{AllocatedBounds, Comparison};
use crate::figure::Bars;
use crate::tolerance::{SAME, same};
use crate::units::{Rounded, number, percent};

/// What is shown first on the left, and the gaps to other bounds, which are left out.
pub(super) const FIRST: [&str; 5] = ["name", "allocated", "gap_to_allocated", "tasks", "unplaced"];
pub(super) const LEFT_OUT: [&str; 4] =
    ["gap_to_divisible", "gap_to_integral", "gap_to_divisible_level", "gap_to_integral_level"];

/// Each row's name and what it takes.
fn rows(document: &Comparison) -> Vec<(&str, f64)> {
    let taken = document.policies.iter().filter_map(|policy| Some((&*policy.name, policy.allocated?.amount)));
    taken.collect()
}

/// Which policy takes most, whether any placement could take more, and how bad a bad choice is.
pub(super) fn answer(document: &Comparison, bounds: &AllocatedBounds) -> String {
    let rows = rows(document);
    let amounts = || rows.iter().map(|(_, amount)| *amount);
    let (most, least) = (amounts().fold(0.0, f64::max), amounts().fold(f64::INFINITY, f64::min));
    let of_all = |amount: f64| part_of_all(bounds, amount);
    let part = |amount: f64| percent(of_all(amount));
    let resource = name(&bounds.resource);
    let winners: Vec<String> =
        rows.iter().filter(|(_, amount)| same(*amount, most)).map(|(policy, _)| name(policy)).collect();
    let all = winners.len() == rows.len() && rows.len() > 1;
    let first = match (all, winners.len()) {
        (true, n) => format!(
            "{} policies take as much: {} of the {resource}",
            all_of(n, document.policies.len()),
            part(most)
        ),
        (false, 1) => format!("{} takes most: {} of the {resource}", listed(&winners), part(most)),
        (false, _) => format!("{} take most: {} of the {resource}", listed(&winners), part(most)),
    };
    let more = match same(most, bounds.integral_upper) {
        true => ", and no placement takes more (proved).".into(),
        false => {
            format!("; no placement takes more than {}.", Rounded::Up.percent(of_all(bounds.integral_upper)))
        }
    };
    let worst = rows.iter().find(|(_, amount)| same(*amount, least)).filter(|_| !all && rows.len() > 1);
    let worst = worst.map_or_else(String::new, |(policy, amount)| {
        format!(" {}, the worst, takes {}.", name(policy), part(*amount))
    });
    format!("{first}{more}{worst}")
}

/// An amount as a part of all that there is.
fn part_of_all(bounds: &AllocatedBounds, amount: f64) -> f64 {
    if bounds.total > 0.0 { amount / bounds.total } else { 0.0 }
}

/// Between what the most is known.
pub(super) fn known(bounds: &AllocatedBounds) -> (String, String) {
    let told = |side: Rounded, amount: f64| {
        format!("{} ({})", side.number(amount), side.percent(part_of_all(bounds, amount)))
    };
    let what = format!("Most {} that whole tasks can take", name(&bounds.resource));
    let (lower, upper) = (bounds.integral_lower, bounds.integral_upper);
    let between = match (upper - lower).abs() <= SAME * upper {
        true => format!("{} (placed, and proved optimal)", told(Rounded::Nearest, lower)),
        false => {
            format!("at most {}, proved; {} placed", told(Rounded::Up, upper), told(Rounded::Nearest, lower))
        }
    };
    (what, between)
}

/// What each takes under the most that can be taken.
pub(super) fn bars(document: &Comparison, bounds: &AllocatedBounds) -> Bars {
    Bars {
        caption: format!("{} that each policy takes", name(&bounds.resource)),
        series: Vec::new(),
        groups: rows(document)
            .into_iter()
            .map(|(policy, amount)| (policy.to_owned(), vec![amount]))
            .collect(),
        mark: Some((bounds.integral_upper, "the most that whole tasks can take".into())),
        format: number,
    }
}
