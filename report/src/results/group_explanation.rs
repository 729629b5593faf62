//! Why a group has what it has, for people.

use super::explanation::{left_out, limit, sure};
use super::sentences::{listed, name};
use crate::page::{Section, sizes_side_by_side};
use crate::summary::grid::{listed as rows, paragraph};
use crate::tolerance::NOTICED;
use crate::units::{counted, percent, share};
use fairplan_analysis::{GroupExplanation, Sibling};
use fairplan_instances::table::Tabular;
use fairplan_instances::{LimitedBy, groups_table};
use std::fmt::Write;

/// Why a group has what it has.
pub(super) fn answer(document: &GroupExplanation) -> String {
    let group = &document.group;
    let members = counted(document.members.len() as u64, "member", "members");
    let inside =
        group.parent.as_ref().map_or(String::new(), |parent| format!(", in group {},", name(parent)));
    let has = format!(
        "Group {}{inside} has {} with its {members}: {} by its weight {}.",
        name(&group.id),
        share(group.share),
        share(group.level),
        group.weight
    );
    let held: Vec<String> = (document.held_by.iter())
        .map(|held| {
            format!("{} in class {} ({} of it)", name(&held.resource), name(&held.class), percent(held.part))
        })
        .collect();
    let why = match group.limited_by {
        _ if document.members.is_empty() => "It has no members.".to_owned(),
        LimitedBy::Tasks => "Its members have no more tasks: nothing else holds it.".to_owned(),
        LimitedBy::Limit => {
            let used_up: Vec<String> =
                document.limits.iter().filter(|limit| limit.reserve.is_none()).map(limit).collect();
            match &used_up[..] {
                [] => "It is held by limits.".to_owned(),
                _ => format!("It is held by {}.", listed(&used_up)),
            }
        }
        LimitedBy::NoUsableClass => "No member has a class that it can use.".to_owned(),
        LimitedBy::Capacity if held.is_empty() => "It is held by what the others have.".to_owned(),
        LimitedBy::Capacity => format!("It is held by {}.", listed(&held)),
    };
    format!("{has} {why}{}{}", sure(&document.guarantees), gains(document))
}

/// Who gains if it asks for less.
fn gains(document: &GroupExplanation) -> String {
    let gaining: Vec<&Sibling> =
        document.siblings.iter().filter(|sibling| sibling.gain() > NOTICED).collect();
    let was_asked = document.siblings.iter().any(|sibling| sibling.then.is_some());
    match &gaining[..] {
        _ if !was_asked => String::new(),
        [] => " None of its siblings would have more if it asked for a tenth less.".into(),
        [first, ..] => format!(
            " If it asked for a tenth less, {} of its siblings would have more, most {} {} ({} instead of {}).",
            gaining.len(),
            first.kind,
            name(&first.id),
            share(first.then.unwrap_or(first.share)),
            share(first.share)
        ),
    }
}

/// Why a group has what it has.
pub fn summary(document: &GroupExplanation) -> String {
    let mut text = paragraph(&answer(document));
    let siblings = document.siblings();
    if siblings.rows() > 0 {
        let _ = write!(text, "\nBeside its siblings:\n\n{}", rows(&siblings, "siblings"));
    }
    if !document.groups.is_empty() {
        let _ = write!(text, "\nGroups inside it:\n\n{}", rows(&groups_table(&document.groups), "groups"));
    }
    if !document.members.is_empty() {
        let members = document.table();
        let members = if document.groups.is_empty() { members.without(&["group"]) } else { members };
        let _ = write!(text, "\nIts members:\n\n{}", rows(&members, "members"));
    }
    text + &left_out(&document.not_asked)
}

/// The same as a section.
pub(crate) fn section(document: GroupExplanation) -> Section {
    let group = &document.group;
    let mut section = Section::new(format!("Why group {} has its share: {}", group.id, document.objective))
        .answer(answer(&document))
        .instance(&document.instance)
        .fact("Share of its members together", share(group.share))
        .fact("By its weight", share(group.level))
        .fact("Limited by", group.limited_by.in_words().to_owned())
        .fact("Siblings", document.siblings_in_all.to_string());
    let bars: Vec<_> = (document.siblings.iter())
        .filter_map(|sibling| Some((sibling.id.clone(), vec![sibling.share, sibling.then?])))
        .collect();
    if !bars.is_empty() {
        let caption = "What its siblings have, and would have if it asked for a tenth less";
        section = section.block(sizes_side_by_side(caption, &["now", "then"], bars, share));
    }
    section
        .table("Beside its siblings", &document.siblings())
        .table("Full capacities that keep its members from more", &document.holding())
        .table("Groups inside it", &groups_table(&document.groups))
        .table("Its members", &document.table())
}
