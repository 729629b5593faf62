//! What groups gain or lose: what their members have together, before and after.

use super::work::{change, part_changed, rank};
use crate::tolerance::NOTICED;
use fairplan_instances::Instance;
use fairplan_instances::table::{Kind, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What the members of a group have together, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupChange {
    /// The group's id.
    pub id: String,
    /// The sum of its members' dominant shares before, those of groups inside it included; after it in shares of the same
    /// servers. Absent if the group is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// The same after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
    /// By which part of itself that changed: less than 0 if it lost. Absent where the group is in one only, or had nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<f64>,
}

impl GroupChange {
    /// A group before and after.
    pub fn new(id: String, before: Option<f64>, after: Option<f64>) -> Self {
        let part = part_changed(before, after);
        Self { id, before, after, part }
    }

    /// What the groups of two results have in both; those that lose the largest part first, those that are in one only last.
    pub fn of_both([before, after]: [impl Iterator<Item = (String, f64)>; 2]) -> Vec<Self> {
        let after: Vec<(String, f64)> = after.collect();
        let mut later: HashMap<&str, f64> = after.iter().map(|(id, has)| (id.as_str(), *has)).collect();
        let of_old = |(id, had): (String, f64)| {
            let has = later.remove(id.as_str());
            Self::new(id, Some(had), has)
        };
        let mut all: Vec<Self> = before.map(of_old).collect();
        // Those that are left are new.
        let new = after.iter().filter(|(id, _)| later.contains_key(id.as_str()));
        all.extend(new.map(|(id, has)| Self::new(id.clone(), None, Some(*has))));
        all.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
        all
    }

    /// Whether the group has more or less, by more than solutions are exact to.
    pub fn has_moved(&self) -> bool {
        self.change().is_none_or(|part| part.abs() > NOTICED)
    }

    /// By which part of itself it has more: an infinite one if it had nothing. `None` where it is in one only.
    pub fn change(&self) -> Option<f64> {
        Some(change(self.before?, self.after?))
    }

    /// Its place among others: those that lose the largest part first, those that are in one only last.
    fn rank(&self) -> f64 {
        rank(self.before, self.after)
    }
}

/// Groups that are listed where only those that change the most are.
const LISTED: usize = 20;

/// The groups of an instance that change, at most 20: those that gain the largest part first, or those that lose it.
pub(super) fn most_changed(
    instance: &Instance,
    before: &[f64],
    after: &[f64],
    gains_first: bool,
) -> Vec<GroupChange> {
    let change = |((group, before), after): ((&fairplan_instances::Group, &f64), &f64)| {
        GroupChange::new(group.id.clone(), Some(*before), Some(*after))
    };
    let all = instance.groups().iter().zip(before).zip(after).map(change);
    let mut moved: Vec<GroupChange> = all.filter(GroupChange::has_moved).collect();
    let sign = if gains_first { -1.0 } else { 1.0 };
    moved.sort_by(|a, b| (sign * a.rank()).total_cmp(&(sign * b.rank())));
    moved.truncate(LISTED);
    moved
}

/// What groups gain or lose.
pub(super) fn table<'a>(rows: &'a [GroupChange]) -> Table<'a> {
    Table::of(rows)
        .column("group", "group", Kind::Id, |group| &group.id)
        .column("before", "share before", Kind::Share, |group| group.before)
        .said(|group| group.before.is_none().then_some("not there"))
        .column("after", "share after", Kind::Share, |group| group.after)
        .said(|group| group.after.is_none().then_some("not there"))
        .column("part", "change", Kind::Change, |group| group.part)
        .done()
}

/// The same of several questions; a row's question is told first, in a column of this name and title.
pub(super) fn table_by<'a>(
    name: &'static str,
    title: &'static str,
    rows: Vec<(&'a str, &'a GroupChange)>,
) -> Table<'a> {
    Table::over(rows.len(), move |row| rows[row])
        .column(name, title, Kind::Id, |row| row.0)
        .column("group", "group", Kind::Id, |row| &row.1.id)
        .column("before", "share before", Kind::Share, |row| row.1.before)
        .column("after", "share after", Kind::Share, |row| row.1.after)
        .column("part", "change", Kind::Change, |row| row.1.part)
        .done()
}
