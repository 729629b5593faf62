//! What failures cost, for people.

use super::sentences::{left_out, listed as sentences_listed, name, smallest, users};
use crate::figure::Bars;
use crate::page::{Block, GROUPS, Section};
use crate::summary::grid::{listed, paragraph};
use crate::units::{counted, percent, share};
use fairplan_analysis::{Loss, Losses, ShortGuarantee};
use fairplan_instances::table::Tabular;
use fairplan_instances::wording::printable;
use std::fmt::Write;

/// Failures of which it is told what cannot be kept then.
const TOLD: usize = 3;

/// What failures cost.
pub(super) fn answer(document: &Losses) -> String {
    match &document.placed_by {
        Some(placed_by) => worst(document) + &in_whole_tasks(document, &placed_by.policy),
        None => worst(document) + &left_out(&document.instance),
    }
}

/// Of which whole tasks is told, and how many have no room after the first failure.
fn in_whole_tasks(document: &Losses, policy: &str) -> String {
    let policy = format!("Whole tasks, placed by {} today and anew", printable(policy, 60));
    let Some((worst, tasks)) = document.losses.first().zip(document.tasks) else {
        return format!(" {policy}.");
    };
    let lost = worst.tasks_lost.unwrap_or(0);
    let what = if document.level.or(worst.level).is_some() { "level" } else { "smallest weighted share" };
    let level = |level: Option<f64>, value: f64| share(level.unwrap_or(value));
    let (before, after) = (level(document.level, document.value), level(worst.level, worst.value));
    let level = match before == after {
        true => format!("the {what} stays at {before}"),
        false => format!("the {what} goes from {before} to {after}"),
    };
    format!(" {policy}: {lost} of {} have no room then; {level}.", counted(tasks, "task", "tasks"))
}

fn worst(document: &Losses) -> String {
    let by_group = document.losses.iter().find_map(|loss| Some((loss, loss.worst_group()?)));
    let Some((worst, loser)) = document.losses.iter().find_map(|loss| Some((loss, loss.losers.first()?)))
    else {
        let is_said = document.placed_by.is_some() || left_out(&document.instance).is_empty();
        let divided = if is_said { "" } else { " if tasks can be divided" };
        return format!("Whichever of these servers fail, no user has less{divided}.{}", broken(document));
    };
    let servers = counted(worst.servers, "server", "servers");
    let which = match worst.classes.is_empty() {
        true => format!("of class {}", name(&worst.class)),
        false => format!("like {}", name(&worst.class)),
    };
    let nothing = match worst.stranded {
        0 => String::new(),
        n => format!(", and leaves {} with nothing", users(n)),
    };
    let harmless = || document.losses.iter().filter(|loss| loss.losing == 0);
    // A class with fewer servers loses all of them.
    let as_many = harmless().filter(|loss| loss.servers >= worst.servers).count() as u64;
    let fewer = harmless().count() as u64 - as_many;
    let rest = match worst.classes.is_empty() {
        true => harmless_classes(as_many, fewer),
        false if as_many + fewer == 0 => String::new(),
        false => format!(
            " {} nobody.",
            counted(as_many + fewer, "of these failures harms", "of these failures harm")
        ),
    };
    let rest = format!("{}{rest}", broken(document));
    match by_group.filter(|(loss, _)| loss.class == worst.class) {
        Some((_, group)) => format!(
            "The worst is to lose {servers} {which}: it takes {} of what it has from group {}, {} of its tasks from user {}{nothing}.{rest}",
            percent(-group.part.unwrap_or(0.0)),
            name(&group.id),
            percent(loser.part),
            name(&loser.id)
        ),
        None => format!(
            "The worst is to lose {servers} {which}: it takes {} of its tasks from user {}{nothing}.{rest}",
            percent(loser.part),
            name(&loser.id)
        ),
    }
}

/// Of how many failures break guarantees, and who is short by the most.
fn broken(document: &Losses) -> String {
    let breaking: Vec<&Loss> = document.losses.iter().filter(|loss| !loss.short.is_empty()).collect();
    let first = |loss: &&Loss| loss.short.first().map_or(1.0, |short| short.kept);
    let Some(worst) = breaking.iter().copied().min_by(|a, b| first(a).total_cmp(&first(b))) else {
        return String::new();
    };
    let failures = counted(breaking.len() as u64, "of these failures breaks", "of these failures break");
    let told = short_in_words(worst);
    format!(" {failures} guarantees: without {}, {told}.", name(&worst.class))
}

/// Who is short of what it is guaranteed.
fn short_in_words(loss: &Loss) -> String {
    let told = |short: &ShortGuarantee| {
        let (owner, sure) = (name(&short.owner), name(&short.guarantee));
        format!("{owner} is then sure of {} of what it is sure of today by its {sure}", percent(short.kept))
    };
    let mut all: Vec<String> = loss.short.iter().take(TOLD).map(told).collect();
    if loss.short.len() > TOLD {
        all.push(format!("{} more are short", loss.short.len() - TOLD));
    }
    sentences_listed(&all)
}

/// How many classes can lose as many servers as the class whose loss is the worst, and how many all of theirs, which are fewer.
fn harmless_classes(as_many: u64, fewer: u64) -> String {
    let classes = |count| counted(count, "class", "classes");
    match (as_many, fewer) {
        (0, 0) => String::new(),
        (_, 0) => format!(" {} can lose as many without harm to anybody.", classes(as_many)),
        (0, _) => {
            let all = counted(fewer, "class can lose all its", "classes can lose all their");
            format!(" {all} servers, which are fewer, without harm to anybody.")
        }
        _ => {
            let (all, theirs) = (classes(fewer), if fewer == 1 { "its" } else { "their" });
            let can = classes(as_many);
            format!(
                " {can} can lose as many without harm to anybody, and {all} all {theirs} servers, which are fewer."
            )
        }
    }
}

/// Why what is guaranteed or reserved cannot all be kept without the servers.
fn why_not_kept(loss: &Loss) -> Option<String> {
    Some(format!("Without {}: {}", name(&loss.class), loss.not_kept.as_ref()?))
}

/// The failures, the worst first.
pub fn summary(document: &Losses) -> String {
    let mut text = paragraph(&answer(document));
    text += "\nThe worst first:\n\n";
    text += &listed(
        &document.table().without(&["value", "level", "gaining", "worst_before", "worst_after"]),
        "server classes",
    );
    for loss in document.losses.iter().take(TOLD) {
        text += &why_not_kept(loss).map_or_else(String::new, |why| paragraph(&why));
        if !loss.short.is_empty() {
            let told = short_in_words(loss);
            text +=
                &paragraph(&format!("Without {}: {told}; no other guarantee is broken.", name(&loss.class)));
        }
    }
    text += &paragraph("Lost in all: dominant shares of the whole cluster, summed over the users that lose.");
    if document.has_groups() {
        let told = "What groups have then, all members together, in shares of the whole cluster:";
        let _ = writeln!(text, "\n{}", paragraph(told));
        text += &listed(&document.groups(), "changes");
    }
    text
}

/// The same as a section.
pub(crate) fn section(document: Losses) -> Section {
    let worst = document.losses.iter().take(GROUPS);
    let worst =
        worst.map(|loss| (loss.class.clone(), vec![loss.losers.first().map_or(0.0, |loser| loser.part)]));
    let bars = Bars {
        caption: "The largest part of its work that a user loses with servers of each class".into(),
        series: Vec::new(),
        groups: worst.collect(),
        mark: Some((1.0, "all".into())),
        format: percent,
    };
    let why: Vec<String> = document.losses.iter().take(TOLD).filter_map(why_not_kept).collect();
    Section::new("What failures cost")
        .answer(answer(&document))
        .warning((!why.is_empty()).then(|| why.join(". ")).as_deref())
        .instance(&document.instance)
        .fact(&smallest("Smallest weighted dominant share now", document.has_groups()), share(document.value))
        .block(Block::Bars(bars))
        .grid("Failures, the worst first", &document.table().without(&["worst_before", "worst_after"]))
        .table("What groups have then", &document.groups())
        .table("Who loses the most", &document.losers())
}

#[cfg(test)]
mod tests {
    use super::harmless_classes;

    #[test]
    fn no_class_can_lose_more_servers_than_it_has() {
        for (as_many, fewer, told) in [
            (0, 0, ""),
            (1, 0, " 1 class can lose as many without harm to anybody."),
            (0, 1, " 1 class can lose all its servers, which are fewer, without harm to anybody."),
            (
                2,
                3,
                " 2 classes can lose as many without harm to anybody, and 3 classes all their servers, which are fewer.",
            ),
        ] {
            assert_eq!(harmless_classes(as_many, fewer), told);
        }
    }
}
