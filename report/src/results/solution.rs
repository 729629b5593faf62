//! A solution, for people: who gets what, where it is used, what capacity is worth.

use super::sentences::{
    Fates, few_used, heading, listed as listed_names, name, of_whom, proof, smallest, used, value_of,
    worst_off,
};
use crate::figure::Bars;
use crate::page::{Block, GROUPS, Section, sizes};
use crate::solution::{ClassResult, SolutionDocument, classes_of, users_of};
use crate::summary::grid::{listed, paragraph};
use crate::tolerance::SAME;
use crate::units::{number, percent, share};
use fairplan_instances::table::Tabular;
use fairplan_instances::{
    Certificate, Headline, Instance, Objective, Solution, Status, groups_table, guarantees_table,
    limits_table, stated_level, waiting,
};
use std::fmt::Write;

/// A solution.
pub(super) fn answer(document: &SolutionDocument) -> String {
    let users = &document.users;
    let fates = Fates::of(users.limited_by.iter().copied()).told();
    let least = worst_off(users.ids.iter().zip(users.dominant_shares.iter().copied()));
    format!("{fates} Of the whole cluster, {least}.")
}

/// The summary of a solution.
pub fn summary(instance: &Instance, solution: &Solution, headline: &Headline) -> String {
    let mut text = heading(instance);
    let proof = proof(solution.status == Status::Optimal, headline.relative_gap);
    let method = solution.method;
    let seconds = solution.statistics.seconds;
    let limits = solution.limited_by.iter().copied();
    text += &paragraph(&Fates::of(limits).told());
    let (value, unit) = (value_of(solution.objective, headline.value), unit(&solution.certificate));
    let what = value_name(solution.objective, !headline.groups.is_empty());
    let _ = writeln!(text, "{what}: {value}{unit} ({proof})");
    let certificate = &solution.certificate;
    let levels = certificate.levels().iter().map(|level| level.value);
    let ids = instance.users().map(|user| user.id()).zip(certificate.level_of().unwrap_or_default());
    let held = held_at_the_smallest(headline.value, !headline.groups.is_empty(), levels, ids);
    if let Some(held) = held {
        let _ = writeln!(text, "{HELD_THERE}: {held}");
    }
    text += &level(solution.objective, headline.value, headline.level);
    if let Some(tasks) = headline.unplaced.filter(|tasks| *tasks > 0.0) {
        let whom = of_whom(instance, |user| waiting(instance, solution, user));
        let _ = writeln!(text, "Waiting: {}{whom}", tasks_of(tasks));
    }
    if !headline.groups.is_empty() {
        let shares = instance
            .users()
            .map(|user| (user.id(), solution.allocation.dominant_share(instance, user.index())));
        let _ = writeln!(text, "Of the users, {}", worst_off(shares));
    }
    let _ = writeln!(text, "Used: {}", few_used(instance, &headline.utilization(instance)));
    let _ = writeln!(text, "Solved by {method} in {seconds:.3} s\n");

    if !headline.groups.is_empty() {
        text += &listed(&groups_table(&headline.groups), "groups");
        text.push('\n');
    }
    if !headline.limits.is_empty() {
        text += &listed(&limits_table(&headline.limits), "limits");
        text.push('\n');
    }
    if !headline.guarantees.is_empty() {
        text += &listed(&guarantees_table(&headline.guarantees), "guarantees");
        text.push('\n');
    }
    text += &listed(&users_of(instance, solution).without(&["level"]), "users");
    text.push('\n');
    text += &listed(&classes_of(instance, headline), "server classes");
    text
}

/// What the value is, and of whom where there are groups.
fn value_name(objective: Objective, has_groups: bool) -> String {
    smallest(objective.value_name(), has_groups && objective.alpha().is_none())
}

/// The level, where those who have all they asked for decide the value.
fn level(objective: Objective, value: f64, level: Option<f64>) -> String {
    match stated_level(value, level).filter(|_| objective.alpha().is_none()) {
        Some(level) => format!("Level of those who still want more: {}\n", value_of(objective, level)),
        None => String::new(),
    }
}

/// What those are called whom the smallest share holds.
const HELD_THERE: &str = "Held at that";

/// Whom the first level holds where it is the value and others have more, and there are groups: of these, tables show what all members
/// have together.
fn held_at_the_smallest<'a>(
    value: f64,
    has_groups: bool,
    mut levels: impl Iterator<Item = f64>,
    level_of: impl Iterator<Item = (&'a str, &'a u32)>,
) -> Option<String> {
    let first = levels.next().filter(|_| has_groups)?;
    levels.next().filter(|_| (first - value).abs() <= SAME * first)?;
    let held = level_of.filter(|(_, level)| **level == 0);
    let held: Vec<String> = held.map(|(id, _)| name(id)).collect();
    Some(listed_names(&held)).filter(|held| !held.is_empty())
}

/// A number of tasks, divided or not.
fn tasks_of(tasks: f64) -> String {
    let tasks = number(tasks);
    if tasks == "1" { "1 task".into() } else { format!("{tasks} tasks") }
}

/// What is said of capacity that is all used and worth nothing more, where there is some.
fn full_and_free(document: &SolutionDocument) -> &'static str {
    let is_both = |class: &ClassResult| {
        let (Some(used), Some(price)) = (&class.utilization, &class.price) else { return false };
        used.0.iter().zip(&price.0).any(|((_, used), (_, price))| *used >= 1.0 - SAME && *price == 0.0)
    };
    match document.server_classes.iter().any(is_both) {
        true => " (0 of what is all used: those whose shares are the value are held by something else)",
        false => "",
    }
}

/// What follows a value in the summary: its power of ten, if it has one.
fn unit(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Total(total) if total.exponent != 0 => format!(" × 10^{}", total.exponent),
        _ => String::new(),
    }
}

/// A solution as a section.
pub(crate) fn section(document: SolutionDocument) -> Section {
    let proof = proof(document.status == Status::Optimal, document.certificate.relative_gap);
    let exponent = document.value_exponent.map_or_else(String::new, |exponent| format!(" × 10^{exponent}"));
    let mut section = Section::new(format!("Fair shares: {}", document.objective))
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .fact(
            &value_name(document.objective, !document.groups.is_empty()),
            format!("{}{exponent}", value_of(document.objective, document.value)),
        )
        .fact("Proof", proof)
        .fact("Used", used(&document.utilization));

    let levels = document.certificate.levels.iter().flatten().map(|level| level.value);
    let ids = document.users.ids.iter().zip(&document.users.levels);
    let held = held_at_the_smallest(document.value, !document.groups.is_empty(), levels, ids);
    if let Some(held) = held {
        section = section.fact(HELD_THERE, held);
    }
    if let Some(level) = document.level.filter(|_| document.objective.alpha().is_none()) {
        section = section.fact("Level of those who still want more", value_of(document.objective, level));
    }
    if let Some(tasks) = document.unplaced.filter(|tasks| *tasks > 0.0) {
        section = section.fact("Waiting", tasks_of(tasks));
    }
    if !document.groups.is_empty() {
        section = section.grid("Groups", &groups_table(&document.groups));
    }
    if !document.limits.is_empty() {
        section = section.grid(
            "Limits: use, and by how much one more unit raises the smallest share",
            &limits_table(&document.limits),
        );
    }
    if !document.guarantees.is_empty() {
        section = section.grid("Guarantees", &guarantees_table(&document.guarantees));
    }
    let users = &document.users;
    let shares = users.ids.iter().zip(&users.dominant_shares).map(|(id, part)| (id.to_owned(), *part));
    section = section.block(sizes("Dominant shares by user", shares.collect(), share));

    let classes: Vec<_> = document
        .server_classes
        .iter()
        .filter_map(|class| Some((class.id.to_string(), class.utilization.as_ref()?)))
        .collect();
    if let Some((_, resources)) = classes.first() {
        let bars = Bars {
            caption: "Utilization by server class".into(),
            series: resources.0.iter().map(|(name, _)| name.to_string()).collect(),
            groups: classes
                .iter()
                .take(GROUPS)
                .map(|(id, used)| (id.clone(), used.0.iter().map(|(_, part)| *part).collect()))
                .collect(),
            mark: Some((1.0, "all of it".into())),
            format: percent,
        };
        section = section.block(Block::Bars(bars));
    }

    for (position, (resource, _)) in document.utilization.0.iter().enumerate() {
        let prices: Vec<(String, Vec<f64>)> = (document.server_classes.iter())
            .filter_map(|class| Some((class.id.to_string(), vec![class.price.as_ref()?.0.get(position)?.1])))
            .collect();
        if prices.iter().any(|(_, price)| price[0] > 0.0) {
            let caption = format!("What one more unit of {resource} is worth, by server class");
            let groups = prices.into_iter().take(GROUPS).collect();
            let bars = Bars { caption, series: Vec::new(), groups, mark: None, format: number };
            section = section.block(Block::Bars(bars));
        }
    }

    section
        .grid(
            &format!("Server classes: use, and what one more unit is worth{}", full_and_free(&document)),
            &document.classes(),
        )
        .grid("Users", &document.table().without(&["level"]))
}
