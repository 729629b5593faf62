//! `fairplan.difference.v1`: what differs between two instances or two results, and what it did to whom.

use crate::solution::{SolutionDocument, UserResult};
use fairplan_analysis::{Difference, PartChange};
use fairplan_instances::InstanceStamp;
use fairplan_instances::LimitedBy;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What differs between two instances or two results. The same files give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Difference")]
pub struct DifferenceBody {
    /// The first.
    pub before: DifferenceSide,
    /// The second.
    pub after: DifferenceSide,
    /// Server classes that are in one only, or not the same in both. Of instances only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_classes: Vec<ChangeResult>,
    /// Users that are in one only, or not the same in both. Of instances only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_users: Vec<ChangeResult>,
    /// From the first instance to the second, kind of change by kind of change, DRFH solved anew after each. Of instances
    /// only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepResult>,
    /// Every user of either, the largest part lost first.
    pub users: Vec<UserDifference>,
}

impl Body for DifferenceBody {
    const FORMAT: &'static str = "fairplan.difference.v1";
}

/// The whole file.
pub type DifferenceDocument = Document<DifferenceBody>;

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DifferenceSide {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The value of the objective. Absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// A class or a user that is not the same in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeResult {
    /// Its id.
    pub id: String,
    /// `added`, `removed` or `changed`.
    pub kind: String,
    /// What changed, such as `count 3 -> 5`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// The cluster after one more kind of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepResult {
    /// `before`, `servers`, `users removed`, `users changed` or `users added`.
    pub change: String,
    /// The smallest weighted dominant share then. Absent where the change alone leaves no cluster that its users can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How many users do more work than before this step.
    pub gaining: usize,
    /// How many do less.
    pub losing: usize,
}

/// A user in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserDifference {
    /// The user's id.
    pub id: String,
    /// Its tasks in the first (of instances: its work under DRFH). Absent if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// Its tasks in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
    /// By which part of itself that changed. Absent where it is in one only, or had nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<f64>,
    /// What limited it in the first. Of results only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_before: Option<LimitedBy>,
    /// What limits it in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_after: Option<LimitedBy>,
}

impl<'a> UserDifference {
    fn new(id: String, before: Option<f64>, after: Option<f64>) -> Self {
        let part = match (before, after) {
            (Some(before), Some(after)) if before > 0.0 => Some(after / before - 1.0),
            _ => None,
        };
        Self { id, before, after, part, limited_before: None, limited_after: None }
    }
}

/// The document of what differs between two instances, ready to be written.
pub fn difference_document<'a>(
    [before, after]: [(&'a Instance, &'a str); 2],
    difference: &'a Difference,
) -> DifferenceDocument {
    let side = |(instance, sha256): (&'a Instance, &'a str), value| DifferenceSide {
        instance: InstanceStamp::new(instance, sha256),
        objective: "drfh".into(),
        value,
    };
    let change = |change: &'a PartChange| ChangeResult {
        id: change.id.as_str().into(),
        kind: change.kind.into(),
        changes: change.changes.clone(),
    };
    Document::new(DifferenceBody {
        before: side(before, difference.steps.first().and_then(|step| step.value)),
        after: side(after, difference.steps.last().and_then(|step| step.value)),
        server_classes: difference.classes.iter().map(change).collect(),
        changed_users: difference.users.iter().map(change).collect(),
        steps: (difference.steps.iter())
            .map(|step| StepResult {
                change: step.change.into(),
                value: step.value,
                gaining: step.gaining,
                losing: step.losing,
            })
            .collect(),
        users: (difference.works.iter())
            .map(|user| UserDifference::new(user.id.as_str().into(), user.before, user.after))
            .collect(),
    })
}

/// The document of what differs between two results of `solve`, ready to be written.
pub fn results_document<'a>(
    [before, after]: [&'a SolutionDocument<Vec<UserResult<'a>>>; 2],
) -> DifferenceDocument {
    let side = |result: &'a SolutionDocument<Vec<UserResult<'a>>>| DifferenceSide {
        instance: result.instance.clone(),
        objective: result.objective.to_string().into(),
        value: Some(result.value),
    };
    let by_id: HashMap<&str, &UserResult<'a>> = after.users.iter().map(|user| (&*user.id, user)).collect();
    let known: HashMap<&str, ()> = before.users.iter().map(|user| (&*user.id, ())).collect();
    let mut users: Vec<UserDifference> = Vec::new();
    for user in &before.users {
        let other = by_id.get(&*user.id);
        let mut found = UserDifference::new(
            user.id.clone().into_owned(),
            Some(user.tasks),
            other.map(|other| other.tasks),
        );
        found.limited_before = Some(user.limited_by);
        found.limited_after = other.map(|other| other.limited_by);
        users.push(found);
    }
    for user in after.users.iter().filter(|user| !known.contains_key(&*user.id)) {
        let found = UserDifference::new(user.id.clone().into_owned(), None, Some(user.tasks));
        users.push(UserDifference { limited_after: Some(user.limited_by), ..found });
    }
    let rank = |user: &UserDifference| (user.part.unwrap_or(f64::INFINITY) * 1e6).round();
    users.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    Document::new(DifferenceBody {
        before: side(before),
        after: side(after),
        server_classes: Vec::new(),
        changed_users: Vec::new(),
        steps: Vec::new(),
        users,
    })
}

impl Tabular for DifferenceBody {
    /// A row a user.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("user", "user", Kind::Id, |user| &user.id)
            .column("before", "tasks before", Kind::Number, |user| user.before)
            .said(|user| user.before.is_none().then_some("not there"))
            .column("after", "tasks after", Kind::Number, |user| user.after)
            .said(|user| user.after.is_none().then_some("not there"))
            .column("part", "change", Kind::Change, |user| user.part)
            .column("limited_before", "limited by, before", Kind::Words, |user| {
                user.limited_before.map(LimitedBy::in_words)
            })
            .column("limited_after", "limited by, after", Kind::Words, |user| {
                user.limited_after.map(LimitedBy::in_words)
            })
            .done()
    }
}

impl UserDifference {
    /// Whether it has more or less, by more than solutions are exact to.
    pub fn has_moved(&self) -> bool {
        self.part.is_none_or(|part| part.abs() > 1e-6)
    }
}

impl DifferenceBody {
    /// What changed of server classes or of users, which `what` says.
    pub fn changes<'a>(&self, what: &'a str, changes: &'a [ChangeResult]) -> Table<'a> {
        Table::of(changes)
            .column("id", what, Kind::Id, |change| &change.id)
            .column("kind", "is", Kind::Words, |change| &change.kind)
            .column("changes", "what changed", Kind::Words, |change| change.changes.join(", "))
            .done()
    }

    /// From the first instance to the second, kind of change by kind of change.
    pub fn steps(&self) -> Table<'_> {
        Table::of(&self.steps)
            .column("change", "after the change of", Kind::Words, |step| &step.change)
            .column("value", "smallest share", Kind::Share, |step| step.value)
            .said(|step| step.value.is_none().then_some("no cluster"))
            .column("gaining", "users that gain", Kind::Count, |step| step.gaining)
            .column("losing", "users that lose", Kind::Count, |step| step.losing)
            .done()
    }
}
