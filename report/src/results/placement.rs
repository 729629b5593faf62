//! A placement of whole tasks, for people.

use super::comparison::short_of;
use super::sentences::{but_for_oversized, few_used, heading, name, used, worst_off};
use crate::page::{Section, sizes};
use crate::placement::{PlacementDocument, placed_users};
use crate::summary::grid::listed;
use crate::units::{Rounded, counted, share, thousands};
use fairplan_instances::table::Tabular;
use fairplan_instances::{Instance, Placement, PlacementFigures, User, placed_groups_table, stated_level};
use std::fmt::Write;

/// A placement.
pub(super) fn answer(document: &PlacementDocument) -> String {
    let tasks = document.users.iter().map(|user| user.tasks).fold(0, u64::saturating_add);
    let least = worst_off(document.users.iter().map(|user| (&*user.id, user.dominant_share)));
    let placed = counted(tasks, "whole task", "whole tasks");
    format!("{} places {placed}; {least}.", name(&document.policy))
}

/// What the value is.
const VALUE: &str = "Smallest weighted dominant share";

/// The summary of a placement.
pub fn summary(
    instance: &Instance,
    placement: &Placement,
    figures: &PlacementFigures,
    policy: &str,
) -> String {
    let mut text = heading(instance);
    let _ = writeln!(text, "Placed by {policy}: {}", counted(figures.tasks, "task", "tasks"));
    let _ = writeln!(text, "{VALUE}: {}", share(figures.value));
    if let Some(level) = stated_level(figures.value, figures.level).filter(|_| figures.unplaced == 0) {
        let _ = writeln!(text, "Level of those who still want more: {}", share(level));
    }
    if figures.unplaced > 0 {
        let level = match (figures.level, instance.has_groups()) {
            (Some(level), false) => {
                let is_oversized = |user: User<'_>| !user.fits_somewhere() && user.tasks() != Some(0);
                let but_for = but_for_oversized(instance.users().any(is_oversized));
                format!(", of users who have at least {}{but_for}", Rounded::Down.share(level))
            }
            (Some(level), true) => {
                format!(" (level of those who still want more, divided among groups first: {})", share(level))
            }
            (None, _) => String::new(),
        };
        let _ = writeln!(text, "Waiting: {}{level}", counted(figures.unplaced, "task", "tasks"));
    }
    if let Some(kept) = &figures.guarantees {
        let _ = writeln!(text, "Guarantees: {}", short_of(kept));
    }
    let _ = writeln!(text, "Used: {}\n", few_used(instance, &figures.utilization));
    if instance.has_groups() {
        text += &listed(&placed_groups_table(&figures.groups).without_empty(), "groups");
        text.push('\n');
    }
    text += &listed(&placed_users(instance, placement, figures), "users");
    text
}

/// A placement as a section.
pub(crate) fn section(document: PlacementDocument) -> Section {
    let tasks = document.users.iter().fold(0u64, |sum, user| sum.saturating_add(user.tasks));
    let shares = document.users.iter().map(|user| (user.id.to_string(), user.dominant_share)).collect();
    let section = Section::new(format!("Whole tasks placed by {}", document.policy))
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .fact(VALUE, share(document.value))
        .fact("Tasks placed", thousands(tasks))
        .fact("Used", used(&document.utilization))
        .block(sizes("Dominant shares by user", shares, share))
        .grid("Users", &document.table());
    let section = match document.groups.is_empty() {
        true => section,
        false => section.grid("Groups", &placed_groups_table(&document.groups).without_empty()),
    };
    let section = match &document.guarantees {
        None => section,
        Some(kept) => section.fact("Guarantees", short_of(kept)),
    };
    match document.unplaced.filter(|unplaced| *unplaced > 0) {
        Some(unplaced) => section.fact("Tasks waiting", thousands(unplaced)),
        None => section,
    }
}
