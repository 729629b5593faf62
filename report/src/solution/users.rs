//! What one user gets, as documents state it.

use fairplan_instances::{LimitedBy, stated};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What one user gets, in fractions. One of more than about a hundred digits is left out: it follows from the user's level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExactUser")]
pub struct ExactUserResult<'a> {
    /// The dominant share.
    #[serde(borrow, default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub dominant_share: Option<Cow<'a, str>>,
    /// The tasks over all classes.
    #[serde(borrow, default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Cow<'a, str>>,
}

/// What one user gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserResult<'a> {
    /// The user's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The resource of which one task takes the largest part of the whole cluster.
    #[serde(borrow)]
    pub dominant_resource: Cow<'a, str>,
    /// The part of the whole cluster's dominant resource that the user's tasks take (with rates: the work they
    /// do, counted in that resource).
    #[schemars(range(min = 0))]
    pub dominant_share: f64,
    /// Tasks running, fractions included.
    #[schemars(range(min = 0))]
    pub tasks: f64,
    /// The same in fractions, where the solution has them.
    #[serde(borrow, default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactUserResult<'a>>,
    /// What keeps the user from more.
    pub limited_by: LimitedBy,
    /// The position in `certificate.levels` of the level at which the user's share is frozen; the number of
    /// levels for a user that none freezes. Absent where the certificate has no levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// The server classes on which the user runs. Absent where all servers are treated as one (`drf`, `bmf`): such tasks
    /// are on no class, and may not even fit the servers.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Vec<ClassTasks<'a>>>,
}

/// Tasks of one user on the servers of one class; of a user with kinds those of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassTasks<'a> {
    /// The kind, where the user has kinds: they come one after the other, in the instance's order.
    #[serde(borrow, default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'a, str>>,
    /// The server class.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// Tasks running there, fractions included. Of a kind: the tasks whose pieces of this kind run there, each as many as the
    /// kind's `each`; over all classes they are all tasks of the user.
    #[schemars(range(min = 0))]
    pub tasks: f64,
    /// The same as a fraction, where the solution has them. Left out where it has more than about a hundred digits and the user, or
    /// this kind of it, is on no other class.
    #[serde(borrow, default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub exact: Option<Cow<'a, str>>,
}
