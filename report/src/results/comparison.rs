//! Placement policies side by side, for people.

use super::allocated_comparison;
use super::bound::{OF_THOSE, in_whole_tasks, not_all_counted, smallest_share};
use super::comparison_bars::{bars, tells_by_level};
use super::sentences::{all_of, bracket, but_for_oversized, heading, listed, name, smallest, users};
use crate::comparison::{ComparedPolicy, Comparison, groups_of_policies};
use crate::json::MalformedResult;
use crate::page::{Block, Section};
use crate::summary::grid::{grid, listed as listed_table, paragraph};
use crate::tolerance::{SAME, same};
use crate::units::{Rounded, counted, number, percent, share, thousands};
use fairplan_analysis::Judgement;
use fairplan_instances::table::{Table, Tabular};
use fairplan_instances::wording::printable;
use fairplan_instances::{Instance, KeptGuarantees};
use std::fmt::Write;

/// A comparison: how good each placement made elsewhere is, and which of all does best.
pub(super) fn answer(document: &Comparison) -> String {
    let given = document.policies.iter().filter(|policy| policy.file.is_some());
    let mut sentences: Vec<String> = given.map(|policy| verdict(document, policy)).collect();
    // Of one alone nothing is left to say.
    if let Some(bounds) = &document.allocated {
        sentences.push(allocated_comparison::answer(document, bounds));
    } else if document.policies.len() > sentences.len() || sentences.len() > 1 {
        sentences.push(best_of_all(document));
    }
    sentences.extend(broken_guarantees(document));
    sentences.join(" ")
}

/// Which policies break guarantees, and who is short by the most.
fn broken_guarantees(document: &Comparison) -> Option<String> {
    let breaking: Vec<&ComparedPolicy> =
        document.policies.iter().filter(|policy| policy.short().is_some()).collect();
    let part = |policy: &ComparedPolicy| policy.short().map_or(1.0, |short| short.part);
    let worst = breaking.iter().min_by(|a, b| part(a).total_cmp(&part(b)))?;
    let names: Vec<String> = breaking.iter().map(|policy| name(&policy.name)).collect();
    let (all, of) = (breaking.len() == document.policies.len() && breaking.len() > 1, breaking.len());
    let who = if all { all_of(of, of) } else { listed(&names) };
    let does = if of == 1 { "does" } else { "do" };
    let told = worst.guarantees.as_ref().map(short_of)?;
    Some(format!("{who} {does} not keep all guarantees: with {}, {told}.", name(&worst.name)))
}

/// Who is short by the most of what it is guaranteed, and how many guarantees are kept.
pub(super) fn short_of(kept: &KeptGuarantees) -> String {
    let all = counted(kept.guarantees, "guarantee", "guarantees");
    let are = if kept.kept == 1 || kept.guarantees == 1 { "is" } else { "are" };
    match &kept.short {
        None => {
            format!("{} of {all} {are} kept", thousands(kept.kept))
        }
        Some(short) => format!(
            "{} of {all} {are} kept, and {} has {} of its {}",
            thousands(kept.kept),
            name(&short.owner),
            percent(short.part),
            name(&short.guarantee)
        ),
    }
}

/// How good a placement made elsewhere is, in a sentence, and what rules it breaks.
fn verdict(document: &Comparison, policy: &ComparedPolicy) -> String {
    let bounds = document.bounds;
    let mut text = name(&policy.name);
    let limit = match (tells_by_level(document), policy.level) {
        (true, None) => {
            text += ": ";
            text += all_served(document, policy);
            String::new()
        }
        (true, Some(level)) => {
            text += &format!(": {}", those_who_want_more(document, level));
            let most = bounds.divisible_level.or(bounds.drfh_level).map(share);
            most.map_or_else(String::new, |most| {
                format!("; if tasks could be divided at will, it would be {most}")
            })
        }
        (false, _) => {
            text += &format!(": {}", worst_off(document, policy.value));
            better(document, policy)
        }
    };
    let Some(judged) = &policy.judgement else { return format!("{text}{limit}.") };
    // Bounds say nothing of a placement that breaks rules.
    text += if judged.is_valid() { &limit } else { "" };
    let waiting = judged.waiting.iter().fold(0u64, |sum, user| sum.saturating_add(user.tasks));
    if waiting > 0 {
        let whose = users(judged.waiting.len());
        let waits = if waiting == 1 { "waits" } else { "wait" };
        text += &format!("; {} of {whose} {waits}", counted(waiting, "task", "tasks"));
    }
    let stranded =
        policy.utilization.0.iter().map(|(resource, _)| (resource, judged.stranded_part(resource)));
    if let Some((resource, part)) =
        stranded.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, part)| *part >= NOTICED)
    {
        let at_least = if judged.stranded_at_least { "at least " } else { "" };
        let side = if judged.stranded_at_least { Rounded::Down } else { Rounded::Nearest };
        let (part, resource) = (side.percent(part), name(resource));
        text += &format!("; {at_least}{part} of the {resource} is free where nothing that waits fits");
    }
    text.push('.');
    text += &emptied(judged);
    if let Some(first) = judged.over_committed.first() {
        let servers = counted(judged.over_committed_servers(), "server holds", "servers hold");
        let (server, resource) = (name(&first.server), name(&first.resource));
        let (used, capacity) = (number(first.used), number(first.capacity));
        text += &format!(" {servers} more than there is: {server} {used} of {capacity} {resource}, for one.");
    }
    if let Some(first) = judged.over_limits.first() {
        let (broken, resource) = (judged.over_limits.len() as u64, name(&first.resource));
        let (used, most) = (number(first.used), number(first.most));
        let broken = counted(broken, "limit or reserve is not kept", "limits or reserves are not kept");
        let what = match first.reserve {
            None => format!("{} has {used} {resource} of at most {most}", first.owner),
            Some(_) => format!(
                "others have {used} {resource}, and beside what {} reserves there are {most}",
                first.owner
            ),
        };
        text += &format!(" {broken}: {what}, for one.");
    }
    if let [first, more @ ..] = &judged.broken_rules[..] {
        let others = more.iter().map(|broken| broken.rule.as_str()).collect::<Vec<_>>().join(", ");
        let others = if others.is_empty() { others } else { format!(" (and {others})") };
        text += &format!(" It breaks the rule {}{others}: {}.", first.rule, printable(&first.first, 200));
    }
    if let Some(first) = judged.misplaced.first() {
        let tasks = judged.misplaced.iter().fold(0u64, |sum, tasks| sum.saturating_add(tasks.tasks));
        let (user, server) = (name(&first.user), name(&first.server));
        let run = counted(tasks, "task runs where it may not", "tasks run where they may not");
        text += &format!(" {run}: {user}'s on {server}, for one.");
    }
    if let Some(first) = judged.loose.first() {
        let pieces = judged.loose.iter().fold(0u64, |sum, loose| sum.saturating_add(loose.pieces));
        let (user, kind) = (name(&first.user), name(&first.kind));
        let make = counted(pieces, "piece makes", "pieces make");
        text += &format!(" {make} no whole task: {user}'s {kind}, for one.");
    }
    text
}

/// How many servers can be emptied, if any.
fn emptied(judged: &Judgement) -> String {
    let (Some(servers @ 1..), Some(tasks)) = (judged.emptied_servers, judged.emptied_by_moving) else {
        return String::new();
    };
    let (servers_told, tasks) = (counted(servers, "server", "servers"), counted(tasks, "task", "tasks"));
    let most = match judged.emptied_servers_at_most {
        Some(most) if most > servers => format!(", and no steps empty more than {}", number(most as f64)),
        Some(_) => ", and no steps empty more".into(),
        None => String::new(),
    };
    format!(" Moving {tasks} empties {servers_told}{most}.")
}

/// A smaller part of a resource is not worth a word.
const NOTICED: f64 = 0.001;

/// The placements that break no rule; those that keep all guarantees alone, if any does.
fn lawful(document: &Comparison) -> Vec<&ComparedPolicy> {
    let lawful = document.policies.iter().filter(|policy| !policy.breaks_rules());
    let keeping: Vec<&ComparedPolicy> = lawful.clone().filter(|policy| policy.short().is_none()).collect();
    if keeping.is_empty() { lawful.collect() } else { keeping }
}

/// Which policy does best, whether anything could do better, and how bad a bad choice is.
fn best_of_all(document: &Comparison) -> String {
    let policies = lawful(document);
    if tells_by_level(document) {
        return answer_by_level(document);
    }
    let Some(best) = policies.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else {
        return "No policy was compared.".into();
    };
    if best.value == 0.0 && document.bounds.integral_upper == Some(0.0) {
        return "Under every policy the smallest share is 0, and no placement gives everybody a task.".into();
    }
    // What sums of doubles leave over does not tell policies apart.
    let winners: Vec<String> = (policies.iter())
        .filter(|policy| same(policy.value, best.value))
        .map(|policy| name(&policy.name))
        .collect();
    let least = worst_off(document, best.value);
    let all = winners.len() == policies.len() && policies.len() > 1;
    if all && best.value == 0.0 {
        return format!("Under every policy somebody has no task: {least}{}.", better(document, best));
    }
    let first = match (all, winners.len()) {
        (true, n) => format!("{} policies do equally well: {least}", all_of(n, document.policies.len())),
        (false, 1) => format!("{} does best: {least}", listed(&winners)),
        (false, _) => format!("{} do best: {least}", listed(&winners)),
    };
    let better = better(document, best);
    let worst =
        policies.iter().min_by(|a, b| a.value.total_cmp(&b.value)).filter(|_| !all && policies.len() > 1);
    // What was placed elsewhere has its own sentence.
    let worst = worst.filter(|worst| worst.file.is_none());
    let worst = worst.map_or_else(String::new, |worst| {
        let verb = if document.in_groups { "is" } else { "has" };
        format!(" With {}, the worst, it {verb} {}.", name(&worst.name), share(worst.value))
    });
    format!("{first}{better}.{worst}")
}

/// The smallest share in words: of a user; where there are groups, which may have more together than they count for, as `smallest` has it.
fn worst_off(document: &Comparison, value: f64) -> String {
    match document.in_groups {
        true => {
            let for_weight = if document.weighted { " for its weight" } else { "" };
            format!(
                "{} is {}",
                smallest(&format!("the smallest share{for_weight}"), true) + ",",
                share(value)
            )
        }
        false if document.weighted => {
            format!("for its weight, the worst-off user has a share of {}", share(value))
        }
        false => format!("the worst-off user has a share of {}", share(value)),
    }
}

/// The same of those who still want more.
fn those_who_want_more(document: &Comparison, level: f64) -> String {
    let by_weight = if document.weighted { " for its weight" } else { "" };
    match document.in_groups {
        true => {
            format!("the level of those who still want more, divided among groups first, is {}", share(level))
        }
        false => {
            let is_any = document.instance.warnings.iter().any(|warning| warning.kind == "oversized-task");
            format!(
                "whoever wants more has{by_weight} at least {}{}",
                Rounded::Down.share(level),
                but_for_oversized(is_any)
            )
        }
    }
}

/// The same of those who still want more, and of what waits.
fn answer_by_level(document: &Comparison) -> String {
    let level = |policy: &ComparedPolicy| policy.level.unwrap_or(f64::INFINITY);
    let ordered = |a: &&ComparedPolicy, b: &&ComparedPolicy| {
        level(a).total_cmp(&level(b)).then(b.unplaced.cmp(&a.unplaced))
    };
    let policies = lawful(document);
    let (Some(best), Some(worst)) =
        (policies.iter().copied().max_by(ordered), policies.iter().copied().min_by(ordered))
    else {
        return "No policy was compared.".into();
    };
    let told = |policy: &ComparedPolicy| {
        let waiting = match policy.unplaced {
            Some(tasks) if tasks > 0 => format!(", and {}", counted(tasks, "task waits", "tasks wait")),
            _ => String::new(),
        };
        match policy.level {
            Some(level) => format!("{}{waiting}", those_who_want_more(document, level)),
            None => format!("{}{waiting}", all_served(document, policy)),
        }
    };
    let alike =
        |policy: &ComparedPolicy| policy.unplaced == best.unplaced && same(level(policy), level(best));
    let winners: Vec<String> =
        policies.iter().filter(|policy| alike(policy)).map(|policy| name(&policy.name)).collect();
    let bounds = document.bounds;
    let better = match (best.level, bounds.integral_level_upper, bounds.divisible_level) {
        (Some(_), ..) if bounds.all_can_be_placed() => {
            "; there is a placement of all that everybody asks for (`place --policy pattern`)".into()
        }
        (Some(_), ..) if best.proved_optimal == Some(true) => {
            ", and no placement of whole tasks can give more (proved)".into()
        }
        (Some(_), Some(most), _) => {
            format!("; no placement of whole tasks can give more than {}", Rounded::Up.share(most))
        }
        (Some(_), None, most) => match most.or(bounds.drfh_level) {
            Some(most) => format!("; if tasks could be divided at will, it would be {}", share(most)),
            None => String::new(),
        },
        _ => String::new(),
    };
    if winners.len() == policies.len() && policies.len() > 1 {
        if best.level == Some(0.0) {
            return format!(
                "Under every policy somebody who wants more has no task: {}{better}.",
                told(best)
            );
        }
        return format!(
            "{} policies do equally well: {}{better}.",
            all_of(winners.len(), document.policies.len()),
            told(best)
        );
    }
    let does = if winners.len() == 1 { "does" } else { "do" };
    // What was placed elsewhere has its own sentence.
    let worst = if policies.len() > 1 && worst.file.is_none() {
        format!(" With {}, the worst, {}.", name(&worst.name), told(worst))
    } else {
        String::new()
    };
    // Of one with nothing, who waits tells policies apart.
    let fewest = policies.iter().copied().filter(|policy| policy.unplaced < best.unplaced);
    let fewest = fewest.min_by_key(|policy| policy.unplaced).map_or_else(String::new, |fewest| {
        let waiting = counted(fewest.unplaced.unwrap_or(0), "task waits", "tasks wait");
        format!(" Fewest wait with {}: {waiting}.", name(&fewest.name))
    });
    format!("{} {does} best: {}{better}.{worst}{fewest}", listed(&winners), told(best))
}

/// Whether anything could do better than the best policy.
fn better(document: &Comparison, best: &ComparedPolicy) -> String {
    let bounds = document.bounds;
    match (best.proved_optimal, bounds.integral_upper, bounds.integral_lower) {
        (Some(true), ..) => ", and no placement of whole tasks can give it more (proved)".into(),
        (_, Some(upper), Some(lower)) if lower > best.value && lower >= upper * (1.0 - SAME) => {
            format!("; the best placement there is (proved) has {}", share(lower))
        }
        (_, Some(upper), lower) => {
            let had = lower.filter(|lower| *lower > best.value);
            let had =
                had.map_or_else(String::new, |lower| format!(" a better placement has {},", share(lower)));
            format!(";{had} no placement of whole tasks can give it more than {}", Rounded::Up.share(upper))
        }
        _ => format!("; if tasks could be divided at will, it would have {}", share(bounds.divisible)),
    }
}

/// The columns that say the level and what follows from it.
const OF_LEVEL: [&str; 4] = ["level", "gap_to_divisible_level", "gap_to_integral_level", "unplaced"];

/// The columns that hold the smallest share of all against its bounds.
const OF_VALUE: [&str; 2] = ["gap_to_divisible", "gap_to_integral"];

/// The table for people, what they read first on the left: by the level only where it tells more than the smallest share.
fn table(document: &Comparison) -> Table<'_> {
    let by_level = tells_by_level(document);
    let hidden: &[&str] = if by_level { &OF_VALUE } else { &OF_LEVEL };
    let no_rule_broken = !document.policies.iter().any(ComparedPolicy::breaks_rules);
    let unbroken: &[&str] = if no_rule_broken { &["over_committed_servers"] } else { &[] };
    let table =
        document.table().without(&["proved_optimal"]).without(hidden).without(unbroken).without_empty();
    let names = table.columns().iter().map(|column| column.name.to_string());
    let used: Vec<String> = names.filter(|name| name.starts_with("utilization_")).collect();
    let first: &[&str] = match by_level {
        true => &[
            "name",
            "level",
            "gap_to_divisible_level",
            "gap_to_integral_level",
            "unplaced",
            "tasks",
            "guarantees_kept",
            "short_most",
            "short_part",
            "value",
        ],
        false => &[
            "name",
            "value",
            "gap_to_divisible",
            "gap_to_integral",
            "guarantees_kept",
            "short_most",
            "short_part",
            "tasks",
        ],
    };
    if document.allocated.is_some() {
        let left_out = document.table().without(&["proved_optimal"]).without(unbroken);
        let table = left_out.without(&allocated_comparison::LEFT_OUT).without_empty();
        return table.in_order(&allocated_comparison::FIRST);
    }
    let order: Vec<&str> = first.iter().copied().chain(used.iter().map(String::as_str)).collect();
    table.in_order(&order)
}

/// What is said of a placement under which nobody waits for a task that fits anywhere.
fn all_served(document: &Comparison, policy: &ComparedPolicy) -> &'static str {
    let waits = policy.unplaced.is_some_and(|tasks| tasks > 0);
    match (document.under_quotas, policy.value == 0.0) {
        // Of a group's limit others may have taken all.
        (true, true) => "whoever wants more is held by a limit or fits on no server",
        (true, false) if waits => "whoever wants more is held by a limit or fits on no server",
        (true, false) => "whoever wants more is held by a limit",
        // Whoever has nothing asks for a task that no server holds.
        (false, true) => "all whose tasks fit on a server have all that they ask for",
        (false, false) => "all have all that they ask for",
    }
}

/// What the best of whole tasks is called here, and between which bounds it is known.
fn of_whole_tasks(document: &Comparison) -> Option<(String, String)> {
    let bounds = document.bounds;
    if bounds.all_can_be_placed() && tells_by_level(document) {
        let placed = match bounds.integral_upper {
            Some(0.0) => "all that fits on any server can be placed",
            _ => "all that is asked for can be placed",
        };
        return Some(("Whole tasks".into(), placed.into()));
    }
    let levels = bounds.integral_level_upper.zip(bounds.integral_level_lower);
    if let Some((upper, lower)) = levels.filter(|_| tells_by_level(document)) {
        return Some((OF_THOSE.into(), bracket(lower, upper)));
    }
    let (upper, lower) = bounds.integral_upper.zip(bounds.integral_lower)?;
    Some((format!("Best {} of whole tasks", smallest_share(document.weighted)), bracket(lower, upper)))
}

/// What the best of divisible tasks is called here, and what it is: of those whom the policies are told apart by.
fn of_divisible_tasks(document: &Comparison) -> (String, f64) {
    let (what, most) = best_of_divisible_tasks(document);
    (format!("{what}{}", in_whole_tasks(document.counted_guarantees)), most)
}

fn best_of_divisible_tasks(document: &Comparison) -> (String, f64) {
    let bounds = document.bounds;
    let by_level = |level: &f64| tells_by_level(document) && level.is_finite();
    match (bounds.divisible_level.filter(by_level), bounds.drfh_level.filter(by_level)) {
        (Some(level), _) => {
            ("Best level of those who still want more, if tasks could be divided at will".into(), level)
        }
        (None, Some(level)) => {
            ("Level by DRFH of those who still want more, if tasks could be divided at will".into(), level)
        }
        (None, None) => {
            let what = smallest_share(document.weighted);
            (format!("Best {what} if tasks could be divided at will"), bounds.divisible)
        }
    }
}

/// The summary of a comparison.
pub fn summary(instance: &Instance, document: &Comparison) -> String {
    let mut text = heading(instance);
    text += &paragraph(&answer(document));
    if let Some(bounds) = &document.allocated {
        let (what, between) = allocated_comparison::known(bounds);
        let _ = writeln!(text, "{what}: {between}");
    } else {
        let (what, divisible) = of_divisible_tasks(document);
        let _ = writeln!(text, "{what}: {}", share(divisible));
    }
    if let Some((what, bounds)) = of_whole_tasks(document) {
        let _ = writeln!(text, "{what}: {bounds}");
    }
    if let Some(told) = not_all_counted(document.counted_guarantees) {
        text += &paragraph(told);
    }
    text.push('\n');
    text += &grid(&table(document));
    if instance.has_groups() {
        let _ = writeln!(text, "\n{OF_GROUPS}:\n");
        text += &listed_table(&groups_of_policies(document).without_empty(), "groups");
    }
    text
}

/// What the table of groups is about.
const OF_GROUPS: &str = "What each group has under each policy, and how many of its tasks wait";

/// A comparison as a section.
///
/// # Errors
/// Policies that use other resources than the first.
pub(crate) fn section(file: &str, document: Comparison) -> Result<Section, MalformedResult> {
    let names = |policy: usize| document.policies[policy].utilization.0.iter().map(|(name, _)| name);
    if let Some(odd) = (1..document.policies.len()).find(|policy| !names(*policy).eq(names(0))) {
        return Err(MalformedResult {
            file: file.into(),
            place: format!("policies[{odd}].utilization"),
            problem: "names other resources than the first policy's; give a result as compare wrote it"
                .into(),
        });
    }
    let (what, divisible) = of_divisible_tasks(&document);
    let mut section = Section::new("Placement policies compared")
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .warning(not_all_counted(document.counted_guarantees))
        .fact(&what, share(divisible));
    if let Some((what, bounds)) = of_whole_tasks(&document) {
        section = section.fact(&what, bounds);
    }
    if let Some(taken) = &document.allocated {
        let (what, between) = allocated_comparison::known(taken);
        let bars = Block::Bars(allocated_comparison::bars(&document, taken));
        return Ok(section
            .fact(&what, between)
            .block(bars)
            .grid("Policies", &table(&document).without(&["seconds"])));
    }
    let section =
        section.block(Block::Bars(bars(&document))).grid("Policies", &table(&document).without(&["seconds"]));
    Ok(match document.policies.iter().any(|policy| !policy.groups.is_empty()) {
        true => section.grid(OF_GROUPS, &groups_of_policies(&document).without_empty()),
        false => section,
    })
}
