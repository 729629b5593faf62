//! What differs between two clusters or two results, for people.

use super::sentences::{label, name, users, value_by_name};
use crate::names::beginning;
use crate::page::{Section, sizes_side_by_side};
use crate::summary::grid::{ROWS, grid, listed, paragraph, rest};
use crate::tolerance::NOTICED;
use crate::units::{counted, number, percent, thousands};
use fairplan_analysis::{Difference, DifferenceSide, GroupChange, PartChange};
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// What differs between two clusters.
pub(super) fn answer(document: &Difference) -> String {
    let parts = || document.users.iter().filter_map(|user| user.part);
    let (more, less) =
        (parts().filter(|part| *part > NOTICED).count(), parts().filter(|part| *part < -NOTICED).count());
    if more + less == 0 {
        return "No user that is in both has more or less.".into();
    }
    let groups = of_groups(&document.groups);
    let have = |n: usize, what: &str| match n {
        0 => format!("nobody has {what}"),
        1 => format!("1 user has {what}"),
        _ => format!("{} have {what}", users(n)),
    };
    let extreme = |sign: f64| {
        let of = |user: &&fairplan_analysis::UserChange| sign * user.part.unwrap_or(0.0);
        let most = document.users.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
        most.filter(|user| of(user) > NOTICED).map_or_else(String::new, |user| {
            format!(" (most: user {}, {} of its tasks)", name(&user.id), percent(of(&user)))
        })
    };
    let told = format!("{}{}; {}{}.", have(more, "more"), extreme(1.0), have(less, "less"), extreme(-1.0));
    groups + &told.replacen("nobody has more;", "Nobody has more;", 1)
}

/// How many groups have more or less, and which most.
fn of_groups(groups: &[GroupChange]) -> String {
    let part = |group: &&GroupChange| group.part.unwrap_or(0.0);
    let side = |sign: f64, what: &str| {
        let moved: Vec<&GroupChange> = groups.iter().filter(|group| sign * part(group) > NOTICED).collect();
        let most = moved.iter().max_by(|a, b| (sign * part(a)).total_cmp(&(sign * part(b))))?;
        let have = if moved.len() == 1 { "has" } else { "have" };
        let (count, id) = (counted(moved.len() as u64, "group", "groups"), name(&most.id));
        Some(format!("{count} {have} {what} (most: group {id}, {} of its share)", percent(sign * part(most))))
    };
    let sides: Vec<String> = [side(1.0, "more"), side(-1.0, "less")].into_iter().flatten().collect();
    if sides.is_empty() { String::new() } else { format!("{}. ", sides.join("; ")) }
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
    let mut section = Section::new("What differs, and for whom")
        .answer(answer(&document))
        .warning(other_instances(&document).as_deref())
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
