//! What differs between two clusters or two results, for people.

use super::sentences::{label, name, value_by_name};
use crate::names::beginning;
use crate::page::{Section, sizes_side_by_side};
use crate::summary::grid::{ROWS, grid, listed, paragraph, rest};
use crate::tolerance::NOTICED;
use crate::units::{counted, number, percent, thousands};
use fairplan_analysis::{Difference, DifferenceSide, GroupChange, PartChange, Step, UserChange};
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// What differs between two clusters.
pub(super) fn answer(document: &Difference) -> String {
    of_users(document) + kept(document).map_or("", |(sentence, _)| sentence)
}

/// How many users and groups have more or less, and which most.
fn of_users(document: &Difference) -> String {
    let users = |sign| Side::of(&document.users, UserChange::change, sign);
    let (more, less) = (users(1.0), users(-1.0));
    if more.is_none() && less.is_none() {
        return "No user that is in both has more or less.".into();
    }
    let told = |side: Option<Side<'_, UserChange>>, what: &str| match side {
        None => format!("nobody has {what}"),
        Some(side) => side.told(["user", "users"], what, |user| &user.id, "tasks"),
    };
    let told = format!("{}; {}.", told(more, "more"), told(less, "less"));
    of_groups(&document.groups) + &told.replacen("nobody has more;", "Nobody has more;", 1)
}

/// How many groups have more or less, and which most.
fn of_groups(groups: &[GroupChange]) -> String {
    let side = |sign: f64, what: &str| {
        let side = Side::of(groups, GroupChange::change, sign)?;
        Some(side.told(["group", "groups"], what, |group| &group.id, "share"))
    };
    let sides: Vec<String> = [side(1.0, "more"), side(-1.0, "less")].into_iter().flatten().collect();
    if sides.is_empty() { String::new() } else { format!("{}. ", sides.join("; ")) }
}

/// Those that have more, or those that have less.
struct Side<'a, T> {
    count: usize,
    most: &'a T,
    /// By which part of itself that changed.
    part: f64,
}

impl<'a, T> Side<'a, T> {
    /// Who has more (`sign` 1) or less (-1), by more than solutions are exact to; `None` if nobody does.
    fn of(all: &'a [T], change: impl Fn(&T) -> Option<f64>, sign: f64) -> Option<Self> {
        let parts = all.iter().filter_map(|one| Some((one, sign * change(one)?)));
        let moved: Vec<(&T, f64)> = parts.filter(|(_, part)| *part > NOTICED).collect();
        let (most, part) = moved.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Self { count: moved.len(), most, part: *part })
    }

    fn told(&self, [one, many]: [&str; 2], what: &str, id: fn(&T) -> &str, whole: &str) -> String {
        let have = if self.count == 1 { "has" } else { "have" };
        let by = match self.part.is_finite() {
            true => format!("{} of its {whole}", percent(self.part)),
            false => "which had nothing".into(),
        };
        let count = counted(self.count as u64, one, many);
        format!("{count} {have} {what} (most: {one} {}, {by})", name(id(self.most)))
    }
}

/// Whether what is guaranteed or reserved can be kept, as a sentence behind others, and why not: before, after, or in between. `None`
/// where all is kept all along.
fn kept(document: &Difference) -> Option<(&'static str, Vec<String>)> {
    let why = |step: &Step| step.not_kept.clone();
    let (before, after) = (document.steps.first().and_then(why), document.steps.last().and_then(why));
    let sentence = match (&before, &after) {
        (None, None) => {
            document.steps.iter().find_map(why)?;
            " Not all that is guaranteed or reserved can be kept on the way; before and after all can."
        }
        (None, Some(_)) => " All that is guaranteed or reserved can be kept before, and not after.",
        (Some(_), None) => " Not all that is guaranteed or reserved can be kept before; after, all can.",
        (Some(_), Some(_)) => {
            " Not all that is guaranteed or reserved can be kept, neither before nor after."
        }
    };
    let mut reasons = Vec::new();
    for step in &document.steps {
        // A reason that stays is told once.
        let told = why(step).map(|why| (why, &step.change));
        reasons.extend(told.filter(|(why, _)| !reasons.iter().any(|(told, _)| told == why)));
    }
    let when = |change: &str| match change {
        "before" => "Before".to_owned(),
        change => format!("After the change of {change}"),
    };
    Some((sentence, reasons.into_iter().map(|(why, change)| format!("{}: {why}.", when(change))).collect()))
}

/// Says of results of two instances that they are, since nothing else tells what changed between them.
fn other_instances(document: &Difference) -> Option<String> {
    let (before, after) = (&document.before.instance, &document.after.instance);
    let is_of_results = document.steps.is_empty();
    (is_of_results && before.sha256 != after.sha256).then(|| {
        let called = |id: &str| if id.is_empty() { "one without a name".to_owned() } else { name(id) };
        format!(
            "These are results of two instances, {} and {}: what differs here may come of other servers or other users. `fairplan plan diff` of \
             the instances says what differs in them.",
            called(&before.name),
            called(&after.name)
        )
    })
}

/// What changed, and for whom.
pub fn summary(document: &Difference) -> String {
    let mut text = paragraph(&answer(document));
    for why in kept(document).iter().flat_map(|(_, reasons)| reasons) {
        text += &paragraph(why);
    }
    text.push('\n');
    let changes = |text: &mut String, changes: &[PartChange], what: &str| {
        for change in changes.iter().take(ROWS) {
            let detail = change.changes.join(", ");
            let colon = if detail.is_empty() { "" } else { ": " };
            let (id, kind, detail) = (label(&change.id), &change.kind, beginning(&detail, 60));
            let _ = writeln!(text, "{what} {id} {kind}{colon}{detail}");
        }
        *text += &rest(changes.len(), ROWS, &format!("changes of a {}", what.to_lowercase()));
    };
    changes(&mut text, &document.server_classes, "Class");
    changes(&mut text, &document.changed_groups, "Group");
    changes(&mut text, &document.changed_users, "User");
    if !document.steps.is_empty() {
        let _ = write!(text, "\n{}", grid(&document.steps()));
    } else {
        let value = |side: &DifferenceSide| {
            side.value.map_or("unknown".into(), |value| value_by_name(&side.objective, value))
        };
        let (before, after) = (&document.before, &document.after);
        text += &other_instances(document).map_or_else(String::new, |told| paragraph(&told));
        let _ = writeln!(
            text,
            "Value: {} ({}) before, {} ({}) after",
            value(before),
            before.objective,
            value(after),
            after.objective
        );
    }
    let groups = document.groups().only_rows(|row| document.groups[row].has_moved());
    if groups.rows() > 0 {
        let _ = write!(text, "\n{}", listed(&groups, "groups"));
    }
    let moved = document.table().without(&["limited_before", "limited_after"]);
    let moved = moved.only_rows(|row| document.users[row].has_moved());
    if moved.rows() == 0 {
        text += "\nNobody has more or less.\n";
        return text;
    }
    let _ = write!(text, "\n{}", listed(&moved, "users"));
    text
}

/// The same as a section.
pub(crate) fn section(document: Difference) -> Section {
    let side = |side: &DifferenceSide| {
        let value =
            side.value.map_or_else(|| "value unknown".into(), |value| value_by_name(&side.objective, value));
        let words =
            [&side.instance.name, &side.objective, &value].into_iter().filter(|word| !word.is_empty());
        words.cloned().collect::<Vec<_>>().join(", ")
    };
    let moved = document.users.iter().filter(|user| user.has_moved()).count();
    // Where nobody has more or less, what all have.
    let shown = document.users.iter().filter(|user| moved == 0 || user.has_moved());
    let users: Vec<_> = shown
        .map(|user| (user.id.clone(), [user.before, user.after].map(|tasks| tasks.unwrap_or(0.0)).to_vec()))
        .collect();
    let why = kept(&document).map(|(_, reasons)| reasons.join(" "));
    let mut section = Section::new("What differs, and for whom")
        .answer(answer(&document))
        .warning(other_instances(&document).as_deref())
        .warning(why.as_deref())
        .fact("Before", side(&document.before))
        .fact("After", side(&document.after))
        .fact("Users with more or less", thousands(moved as u64));
    if !users.is_empty() {
        let caption = match moved {
            0 => "Tasks of the users, of whom nobody has more or less",
            _ => "Tasks of the users that have more or less",
        };
        section = section.block(sizes_side_by_side(caption, &["before", "after"], users, number));
    }
    section
        .table("Groups", &document.groups())
        .table("Server classes", &document.changes("server class", &document.server_classes))
        .table("Changed groups", &document.changes("group", &document.changed_groups))
        .table("Changed users", &document.changes("user", &document.changed_users))
        .table("From the first to the second, kind of change by kind of change", &document.steps())
        .table("Users", &document.table())
}
