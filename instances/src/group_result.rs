//! What groups get of a solution.

use crate::table::{Kind, Table};
use crate::{Instance, LimitedBy, Solution, UserId, stated, waiting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one group gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupResult {
    /// The group's id.
    pub id: String,
    /// The group it belongs to. Absent for a child of the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Its weight among its siblings.
    pub weight: f64,
    /// What its members have together: the sum of their dominant shares (of `tsf`: of their parts of the tasks that each could
    /// run alone), those of groups inside it included.
    #[schemars(range(min = 0))]
    pub share: f64,
    /// The share in fractions, where the solution has them and this one is no longer than about a hundred digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// `share / weight`, which siblings that still want more have alike as far as servers allow.
    #[schemars(range(min = 0))]
    pub level: f64,
    /// What keeps its members from more: `capacity` if it holds any of them.
    pub limited_by: LimitedBy,
    /// Tasks that wait, of members who have a number of them. Absent where no member has.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub waiting: Option<f64>,
}

/// The share of a user as its group counts it: its dominant share, of `tsf` its part of the tasks that it could run alone.
pub fn objective_share(instance: &Instance, solution: &Solution, id: UserId) -> f64 {
    let user = instance.user(id);
    let per_share = solution.objective.share_per_level(user) / user.weight().to_f64();
    let share = solution.allocation.dominant_share(instance, id);
    if share == 0.0 { 0.0 } else { share / per_share }
}

/// What all groups get, in the instance's order.
pub fn group_results(instance: &Instance, solution: &Solution) -> Vec<GroupResult> {
    let of_user = |i: usize| {
        let waiting = waiting(instance, solution, UserId(i));
        (objective_share(instance, solution, UserId(i)), Some(solution.limited_by[i]), waiting)
    };
    let add = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
    let all = instance.of_groups((0.0, None, None), of_user, |a, b| {
        (a.0 + b.0, LimitedBy::hardest(a.1, b.1), add(a.2, b.2))
    });
    let exact = |g: usize| solution.exact.as_deref()?.groups.get(g)?.as_deref().map(str::to_owned);
    let result = |(g, (group, (share, limited_by, waiting))): (
        usize,
        (&crate::Group, (f64, Option<LimitedBy>, Option<f64>)),
    )| GroupResult {
        id: group.id.clone(),
        parent: group.parent.map(|parent| instance.groups()[parent.0].id.clone()),
        weight: group.weight.to_f64(),
        share,
        exact: exact(g),
        level: share / group.weight.to_f64(),
        // A group without members has all it asks for.
        limited_by: limited_by.unwrap_or(LimitedBy::Tasks),
        waiting,
    };
    instance.groups().iter().zip(all).enumerate().map(result).collect()
}

/// The table of groups.
pub fn groups_table(groups: &[GroupResult]) -> Table<'_> {
    Table::of(groups)
        .column("id", "group", Kind::Id, |group| &group.id)
        .column("parent", "inside", Kind::Name, |group| group.parent.as_ref())
        .column("weight", "weight", Kind::Number, |group| group.weight)
        .column("share", "share", Kind::Share, |group| group.share)
        .column("level", "share by weight", Kind::Share, |group| group.level)
        .column("limited_by", "limited by", Kind::Words, |group| group.limited_by.name())
        .said(|group| Some(group.limited_by.in_words()))
        .column("waiting", "tasks waiting", Kind::Number, |group| group.waiting)
        .done()
}
