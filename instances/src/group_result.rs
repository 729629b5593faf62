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

/// What members of a group have together.
#[derive(Clone, Copy)]
struct Together {
    share: f64,
    limited_by: Option<LimitedBy>,
    waiting: Option<f64>,
}

impl Together {
    const NOBODY: Self = Self { share: 0.0, limited_by: None, waiting: None };

    fn of(instance: &Instance, solution: &Solution, id: UserId) -> Self {
        let share = objective_share(instance, solution, id);
        let limited_by = Some(solution.limited_by[id.0]);
        Self { share, limited_by, waiting: waiting(instance, solution, id) }
    }

    fn and(self, other: Self) -> Self {
        let waiting = match (self.waiting, other.waiting) {
            (Some(some), Some(more)) => Some(some + more),
            (some, more) => some.or(more),
        };
        let limited_by = LimitedBy::hardest(self.limited_by, other.limited_by);
        Self { share: self.share + other.share, limited_by, waiting }
    }
}

/// What all groups get, in the instance's order.
pub fn group_results(instance: &Instance, solution: &Solution) -> Vec<GroupResult> {
    let of_user = |i: usize| Together::of(instance, solution, UserId(i));
    let all = instance.of_groups(Together::NOBODY, of_user, Together::and);
    let exact = |g: usize| solution.exact.as_deref()?.groups.get(g)?.as_deref().map(str::to_owned);
    let result = |(g, (group, all)): (usize, (&crate::Group, Together))| GroupResult {
        id: group.id.clone(),
        parent: group.parent.map(|parent| instance.groups()[parent.0].id.clone()),
        weight: group.weight.to_f64(),
        share: all.share,
        exact: exact(g),
        level: all.share / group.weight.to_f64(),
        // A group without members has all it asks for.
        limited_by: all.limited_by.unwrap_or(LimitedBy::Tasks),
        waiting: all.waiting,
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
