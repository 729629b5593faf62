//! Why a user has its share, for people.

use super::sentences::{label, listed, name};
use crate::figure::Bars;
use crate::page::{Block, GROUPS, Section};
use crate::summary::grid::{first, grid, paragraph};
use crate::units::{number, percent, share};
use fairplan_analysis::{ClassView, Explanation};
use fairplan_instances::wording::{ordinal, printable};
use fairplan_instances::{
    GuaranteeResult, LimitResult, LimitedBy, groups_table, guarantees_table, limits_table,
};
use std::fmt::Write;

/// Why a user has its share.
pub(super) fn answer(document: &Explanation) -> String {
    let (tasks, part, resource) =
        (number(document.tasks), share(document.dominant_share), name(&document.dominant_resource));
    let tasks = if tasks == "1" { "1 task".to_owned() } else { format!("{tasks} tasks") };
    let waiting = document.waiting.filter(|tasks| *tasks > 0.0);
    let waiting = waiting.map_or(String::new(), |tasks| match number(tasks).as_str() {
        "1" => "; 1 more waits".to_owned(),
        tasks => format!("; {tasks} more wait"),
    });
    let has = format!("User {} gets {tasks}, {part} of all {resource}{waiting}.", name(&document.user));
    let why = match document.limited_by {
        LimitedBy::Tasks => "It has no more tasks: nothing else holds it.".to_owned(),
        LimitedBy::Limit => {
            let of = |limit: &&LimitResult| limit.reserve.is_none();
            let used_up: Vec<String> = document.limits.iter().filter(of).map(limit).collect();
            match &used_up[..] {
                [] => "It is held by a limit of its own or of a group that it is in.".to_owned(),
                _ => format!("It is held by {}.", listed(&used_up)),
            }
        }
        LimitedBy::NoUsableClass => format!("It has nothing: {}.", document.why_nothing.join("; ")),
        LimitedBy::Capacity => {
            let level = document
                .level
                .map_or(String::new(), |level| format!(" {}", at_level(level.position, level.value)));
            let held: Vec<String> = (document.held_by.iter())
                .map(|held| format!("{} in class {}", name(&held.resource), name(&held.class)))
                .collect();
            let by = if held.is_empty() { "what the others have".into() } else { listed(&held) };
            format!("It is held{level} by {by}.")
        }
    };
    format!("{has} {why}{}", sure(&document.guarantees))
}

/// Which of the levels, from the first on, and how high it is.
fn at_level(position: usize, value: f64) -> String {
    format!("at the {} level (weighted share {})", ordinal(position as u64 + 1), share(value))
}

/// A limit in words.
pub(super) fn limit(limit: &LimitResult) -> String {
    let owner = [("group", &limit.group), ("user", &limit.user)];
    let owner = owner.into_iter().find_map(|(kind, id)| Some(format!("{kind} {}", name(id.as_ref()?))));
    let amounts: Vec<String> = limit
        .limit
        .0
        .iter()
        .map(|(resource, amount)| format!("{} {}", number(*amount), name(resource)))
        .collect();
    let on = limit.classes.as_ref().map_or(String::new(), |classes| format!(" on {}", classes.join(", ")));
    format!("the limit of {} of {}{on}", owner.unwrap_or_default(), amounts.join(", "))
}

/// Who is held up by what it is guaranteed.
pub(super) fn sure(guarantees: &[GuaranteeResult]) -> String {
    let held_up = guarantees.iter().filter(|one| one.held_up).map(|one| {
        let owner = [("Group", &one.group), ("User", &one.user)];
        let owner = owner.into_iter().find_map(|(kind, id)| Some(format!("{kind} {}", name(id.as_ref()?))));
        format!(" {} is held up by its guarantee of {}.", owner.unwrap_or_default(), one.in_words())
    });
    held_up.collect()
}

/// Classes and capacities listed before the rest is only counted.
const LISTED: usize = 6;

/// Why a user has its share.
pub fn summary(document: &Explanation) -> String {
    let mut text = paragraph(&answer(document));
    if !document.groups.is_empty() {
        let _ = write!(text, "\nIt is in groups:\n\n{}", grid(&groups_table(&document.groups)));
    }
    if !document.held_by.is_empty() {
        let _ = write!(text, "\n{}", first(&document.classes(), LISTED));
        if document.server_classes.len() > LISTED {
            let _ = writeln!(text, " … and {} more", document.server_classes.len() - LISTED);
        }
        text.push('\n');
    }
    for range in &document.price_ranges {
        let (least, most, now) = (number(range.least), number(range.most), number(range.capacity));
        let until = match least == most {
            true => format!("only at {now}: more is worth less, less costs more"),
            false => format!("from {least} to {most} (now {now})"),
        };
        let (price, resource, class) = (number(range.price), label(&range.resource), label(&range.class));
        text += &paragraph(&format!("The price {price} of {resource} in class {class} holds {until}."));
    }
    for change in &document.smaller_demands {
        let largest = change.largest_gain.as_ref().map_or(String::new(), |gain| {
            format!(", most user {} ({} more work)", label(&gain.user), percent(gain.part))
        });
        let needing =
            change.kind.as_ref().map_or("a task".into(), |kind| format!("a piece of {}", label(kind)));
        text += &paragraph(&format!(
            "If {needing} needed {} {} instead of {}: it would get {} {}; {} gain{largest}, {} lose.",
            number(change.smaller),
            label(&change.resource),
            number(change.demand),
            number(change.own_tasks),
            if number(change.own_tasks) == "1" { "task" } else { "tasks" },
            others(change.gain),
            others(change.lose)
        ));
    }
    text + &left_out(&document.not_asked)
}

/// The questions that were not asked, a line each.
pub(super) fn left_out(questions: &[String]) -> String {
    questions.iter().map(|question| paragraph(&format!("Not asked: {}.", printable(question, 300)))).collect()
}

fn others(count: usize) -> String {
    match count {
        0 => "nobody else would".into(),
        1 => "1 other would".into(),
        _ => format!("{count} others would"),
    }
}

/// An explanation as a section.
pub(crate) fn section(document: Explanation) -> Section {
    let level = document
        .level
        .map_or_else(String::new, |level| format!(", {}", at_level(level.position, level.value)));
    let mut section =
        Section::new(format!("Why user {} has its share: {}", document.user, document.objective))
            .answer(answer(&document))
            .instance(&document.instance)
            .fact(
                "Dominant share",
                format!("{} of all {}", share(document.dominant_share), document.dominant_resource),
            )
            .fact("Tasks", number(document.tasks))
            .fact("Limited by", format!("{}{level}", document.limited_by.in_words()));
    if !document.why_nothing.is_empty() {
        section = section.fact("Has nothing because", document.why_nothing.join("; "));
    }
    let bars = |caption: &str, of: &dyn Fn(&ClassView) -> Option<f64>, mark, format| {
        let classes = document.server_classes.iter();
        let named = |class: &ClassView| match &class.kind {
            Some(kind) => format!("{} ({kind})", class.id),
            None => class.id.clone(),
        };
        let groups = classes.filter_map(|class| Some((named(class), vec![of(class)?])));
        let groups = groups.take(GROUPS).collect();
        Block::Bars(Bars { caption: caption.into(), series: Vec::new(), groups, mark, format })
    };
    // Each kind has its own cheapest class.
    let cheapest = document.server_classes.iter().find(|class| class.cheapest && class.kind.is_none());
    let mark = cheapest.and_then(|class| Some((class.cost_of_share?, "the cheapest".to_owned())));
    section = section.block(bars("Tasks by server class", &|class| Some(class.tasks), None, number));
    if !document.held_by.is_empty() {
        let caption = "What a whole share costs on each class where it can run";
        section = section.block(bars(caption, &|class| class.cost_of_share, mark, number));
    }

    section
        .table("The groups it is in", &groups_table(&document.groups))
        .grid("Server classes, as this user sees them", &document.classes())
        .table("Full capacities that keep it from more", &document.holding())
        .table("Limits and reserves that are used up or priced", &limits_table(&document.limits))
        .table("What is guaranteed", &guarantees_table(&document.guarantees))
        .table("How far the prices it pays hold", &document.ranges())
        .table("If its tasks needed less", &document.smaller())
}
