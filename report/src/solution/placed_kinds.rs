//! Placements read from a document: where those of each kind of a user's tasks begin among all.

use super::UserColumns;
use crate::foreign::Foreign;
use fairplan_instances::{Instance, User};
use std::ops::Range;

/// Where the placements of each kind start (of each user, where it has no kinds), and at last where all end.
pub(super) fn starts_of_kinds(
    users: &UserColumns,
    classes: &[u32],
    instance: &Instance,
) -> Result<Vec<usize>, Foreign> {
    let mut starts = Vec::with_capacity(instance.kind_count() + 1);
    let kind = |k: usize| users.kind(k).map(|kind| users.kinds.as_slice()[kind as usize].as_str());
    let part = |k: usize| (kind(k), classes[users.placements[k].0 as usize]);
    for (user, range) in instance.users().zip(users.starts.windows(2)) {
        let place = || format!("users[{}].placement", user.index().0);
        starts_of_user(user, range[0]..range[1], part, place, &mut starts)?;
    }
    starts.push(users.placements.len());
    Ok(starts)
}

/// Adds where the parts of each of a user's kinds start among all, given what they say: their kind, and their class by position. Each kind
/// names its classes in the instance's order, none twice, and kinds come one after the other: what solve writes, and nothing that adds up
/// to the same.
pub(super) fn starts_of_user<'a>(
    user: User<'_>,
    parts: Range<usize>,
    part: impl Fn(usize) -> (Option<&'a str>, u32),
    place: impl Fn() -> String,
    starts: &mut Vec<usize>,
) -> Result<(), Foreign> {
    let refused = |k: usize, field: &str, stated: &str, problem: &str| {
        Err(Foreign::new(format!("{}[{}].{field}", place(), k - parts.start), stated, problem))
    };
    let mut next = parts.start;
    for kind in user.kinds() {
        starts.push(next);
        let start = next;
        while next < parts.end && part(next).0 == kind.id() {
            if next > start && part(next - 1).1 >= part(next).1 {
                return refused(next, "class", "", "name each class once, in the instance's order");
            }
            next += 1;
        }
    }
    if next == parts.end {
        return Ok(());
    }
    match (part(next).0, user.has_kinds()) {
        (Some(kind), true) => {
            refused(next, "kind", kind, "name the user's kinds in the instance's order, one after the other")
        }
        (Some(kind), false) => refused(next, "kind", kind, "the user has no kinds"),
        (None, _) => refused(next, "kind", "", "name a kind: the user has kinds"),
    }
}
