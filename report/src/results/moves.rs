//! Steps to a better placement, for people.

use super::sentences::words;
use crate::figure::Bars;
use crate::moves::{MovesBody, MovesTarget, TargetKind};
use crate::page::{Block, GROUPS, Section};
use crate::summary::grid::{listed, paragraph};
use crate::units::{counted, percent, share, thousands};
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// What the steps lead to, and how few they are.
pub(super) fn answer(document: &MovesBody) -> String {
    let mut done = Vec::new();
    for (count, one, many) in [
        (document.moves, "move", "moves"),
        (document.stops, "stop", "stops"),
        (document.starts, "start", "starts"),
    ] {
        if count > 0 {
            done.push(counted(count, one, many));
        }
    }
    let done = match &done[..] {
        [] if document.target.reached => "No step is needed:".to_owned(),
        [] => "No steps were found that help:".to_owned(),
        [one] => format!("By {one},"),
        [first @ .., last] => format!("By {} and {last},", first.join(", ")),
    };
    let to = match document.target.kind {
        TargetKind::Placement => "the given placement is reached".to_owned(),
        TargetKind::Level => level_reached(&document.target, document.level_before, document.level_after),
        TargetKind::Unplaced => placed(document.unplaced_before, document.unplaced_after),
    };
    let bound = match document.is_proved_fewest() {
        true if document.cost == 0 => "no task has to leave its server".to_owned(),
        true => "no fewer lead as far (proved)".to_owned(),
        false => format!(
            "they cost {}, and any that lead as far cost at least {}",
            thousands(document.cost),
            thousands(document.lower_bound)
        ),
    };
    format!("{done} {to}; {bound}.")
}

/// What becomes of the tasks that wait.
fn placed(waiting: u64, left: u64) -> String {
    match (waiting, left) {
        (0, _) => "nothing waits".to_owned(),
        (1, 0) => "the task that waits is placed".to_owned(),
        (waiting, 0) => format!("all {} that wait are placed", counted(waiting, "task", "tasks")),
        (waiting, left) => {
            let placed = waiting.saturating_sub(left);
            format!(
                "{} of {} {} placed, and {}",
                thousands(placed),
                counted(waiting, "task that waits", "tasks that wait"),
                if placed == 1 { "is" } else { "are" },
                counted(left, "stays", "stay")
            )
        }
    }
}

/// How high the level is after the steps, and of the highest that there can be.
fn level_reached(target: &MovesTarget, before: Option<f64>, after: Option<f64>) -> String {
    if before.is_none() && after.is_none() {
        return "everybody has all tasks".into();
    }
    let before = share(before.unwrap_or(0.0));
    let of_most =
        target.bound.filter(|bound| *bound > 0.0).zip(after).map(|(bound, after)| percent(after / bound));
    let after = after.map_or_else(|| "all tasks of everybody".to_owned(), share);
    let rises = if target.reached { "rises" } else { "comes" };
    let changes = if before == after { "stays at".into() } else { format!("{rises} from {before} to") };
    let of_most =
        of_most.map_or_else(String::new, |part| format!(", {part} of what whole tasks can have at most"));
    let short = match (target.reached, target.part) {
        (false, Some(part)) => format!(", where {} were to be reached", percent(part)),
        _ => String::new(),
    };
    format!("the smallest share of those that want more {changes} {after}{of_most}{short}")
}

/// The steps for a terminal.
pub fn summary(document: &MovesBody) -> String {
    let mut text = paragraph(&answer(document));
    if document.interrupted > 0 {
        let interrupted = counted(document.interrupted, "task is", "tasks are");
        let _ = writeln!(text, "\n{interrupted} stopped and started again to make room.");
    }
    let users = document.changed_users();
    if users.rows() > 0 {
        text.push('\n');
        text += &listed(&users, "users");
    }
    if !document.steps.is_empty() {
        text.push('\n');
        text += &listed(&document.table(), "steps");
    }
    text
}

/// The same as a section.
pub(crate) fn section(document: MovesBody) -> Section {
    let mut changed: Vec<_> =
        document.users.iter().filter(|user| user.moved + user.started + user.stopped > 0).collect();
    changed.sort_by_key(|user| std::cmp::Reverse(user.moved + user.started + user.stopped));
    let bars = Bars {
        caption: "Tasks that move, start and stop, by user".into(),
        series: words(["moved", "started", "stopped"]),
        groups: (changed.iter().take(GROUPS / 3))
            .map(|user| {
                (user.id.clone(), [user.moved, user.started, user.stopped].map(|count| count as f64).to_vec())
            })
            .collect(),
        mark: None,
        format: |count| thousands(count as u64),
    };
    let level = |level: Option<f64>| level.map_or_else(|| "everybody has all tasks".into(), share);
    let section = Section::new("Steps to a better placement")
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .fact("Cost of the steps", thousands(document.cost))
        .fact("Any steps that lead as far cost at least", thousands(document.lower_bound))
        .fact("Smallest share of those that want more, before", level(document.level_before))
        .fact("The same after", level(document.level_after));
    let section = if document.unplaced_before == 0 {
        section
    } else {
        let waiting =
            format!("{}, after {}", thousands(document.unplaced_before), thousands(document.unplaced_after));
        section.fact("Tasks that wait before", waiting)
    };
    let section = if bars.groups.is_empty() { section } else { section.block(Block::Bars(bars)) };
    section.table("Users", &document.changed_users()).table("Steps", &document.table())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reached_is_told_as_a_part_of_the_most_not_what_was_asked_for() {
        let target = |part: f64, reached: bool| MovesTarget {
            kind: TargetKind::Level,
            part: Some(part),
            bound: Some(0.5),
            level: None,
            reached,
        };
        assert_eq!(
            level_reached(&target(0.5, true), Some(0.45), Some(0.45)),
            "the smallest share of those that want more stays at 45.00%, 90.00% of what whole tasks can have at most"
        );
        assert_eq!(
            level_reached(&target(1.0, false), Some(0.25), Some(0.4)),
            "the smallest share of those that want more comes from 25.00% to 40.00%, 80.00% of what whole tasks can have at \
             most, where 100.00% were to be reached"
        );
    }

    #[test]
    fn tasks_that_wait_are_told_of_in_the_number_that_they_are() {
        for (waiting, left, told) in [
            (0, 0, "nothing waits"),
            (1, 0, "the task that waits is placed"),
            (7, 0, "all 7 tasks that wait are placed"),
            (7, 6, "1 of 7 tasks that wait is placed, and 6 stay"),
            (7, 1, "6 of 7 tasks that wait are placed, and 1 stays"),
        ] {
            assert_eq!(placed(waiting, left), told);
        }
    }
}
