//! The types of `fairplan.solution.v1`; their comments are the descriptions in its JSON Schema.

use super::columns::UserColumns;
use crate::resource_map::ResourceMap;
use crate::stamp::InstanceStamp;
use fairplan_instances::{LimitedBy, Objective, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The format and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SolutionFormat {
    /// Version 1.
    #[serde(rename = "fairplan.solution.v1")]
    V1,
}

/// A divisible allocation with its prices and the certificate that proves it. Every user and server class of
/// the instance appears, in the instance's order. The same instance and settings give the same bytes, except
/// for `stats.seconds`.
// `U` is the sequence of users: columns when read, computed line by line when written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "U: Deserialize<'de>"))]
#[schemars(rename = "Solution")]
pub struct SolutionDocument<'a, U = UserColumns> {
    /// The format and its version.
    pub format: SolutionFormat,
    /// The version of fairplan that wrote this.
    #[serde(borrow)]
    pub fairplan_version: Cow<'a, str>,
    /// The instance that was solved.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// Which allocation was asked for.
    pub objective: ObjectiveName,
    /// Which backend was asked for.
    #[serde(borrow)]
    pub backend: Cow<'a, str>,
    /// What that backend did in the end: `aggregation`, `interior-point`, `simplex`.
    #[serde(borrow)]
    pub method: Cow<'a, str>,
    /// Whether the certificate closes.
    pub status: StatusName,
    /// The smallest weighted dominant share (dominant share over weight) of all users.
    pub value: f64,
    /// What each user gets.
    pub users: U,
    /// How full each server class is and what more of it would be worth.
    #[serde(borrow)]
    pub server_classes: Vec<ClassResult<'a>>,
    /// The server classes in groups that act as one pool: within a group the prices agree at every level of the
    /// certificate, up to a millionth of the level's largest price. Every class is in one group.
    pub price_groups: Vec<Vec<Cow<'a, str>>>,
    /// The part of the whole cluster's capacity that is used, 0 to 1.
    pub utilization: ResourceMap<'a>,
    /// The proof.
    #[serde(borrow)]
    pub certificate: Certificate<'a>,
    /// How the result came about. Nothing here decides what the result is.
    pub stats: SolutionStats,
}

/// Which allocation was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveName {
    /// Dominant resource fairness over heterogeneous servers: the lexicographic maximum of the smallest
    /// weighted dominant shares.
    Drfh,
}

impl From<Objective> for ObjectiveName {
    fn from(objective: Objective) -> Self {
        match objective {
            Objective::Drfh => Self::Drfh,
        }
    }
}

impl From<ObjectiveName> for Objective {
    fn from(objective: ObjectiveName) -> Self {
        match objective {
            ObjectiveName::Drfh => Self::Drfh,
        }
    }
}

/// Why the solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusName {
    /// The certificate closes: no level can be raised by more than 1e-9 of its value.
    Optimal,
    /// A valid allocation and a valid bound, but the gap between them is wider.
    Uncertified,
}

impl From<Status> for StatusName {
    fn from(status: Status) -> Self {
        match status {
            Status::Optimal => Self::Optimal,
            Status::Uncertified => Self::Uncertified,
        }
    }
}

/// What keeps a user from more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitName {
    /// Capacity: more for this user would mean less for one that has no larger weighted share.
    Capacity,
    /// The user has no more tasks.
    Tasks,
    /// No class that the user may run on has every resource that its tasks need.
    NoUsableClass,
}

impl From<LimitedBy> for LimitName {
    fn from(limit: LimitedBy) -> Self {
        match limit {
            LimitedBy::Capacity => Self::Capacity,
            LimitedBy::Tasks => Self::Tasks,
            LimitedBy::NoUsableClass => Self::NoUsableClass,
        }
    }
}

impl From<LimitName> for LimitedBy {
    fn from(limit: LimitName) -> Self {
        match limit {
            LimitName::Capacity => Self::Capacity,
            LimitName::Tasks => Self::Tasks,
            LimitName::NoUsableClass => Self::NoUsableClass,
        }
    }
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
    /// What keeps the user from more.
    pub limited_by: LimitName,
    /// The position in `certificate.levels` of the level at which the user's share is frozen; the number of
    /// levels for a user that none freezes.
    pub level: u32,
    /// The server classes on which the user runs.
    #[serde(borrow)]
    pub placement: Vec<ClassTasks<'a>>,
}

/// Tasks of one user on the servers of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassTasks<'a> {
    /// The server class.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// Tasks running there, fractions included.
    #[schemars(range(min = 0))]
    pub tasks: f64,
}

/// One server class in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassResult<'a> {
    /// The class's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The part of the class's capacity that is used, 0 to 1 (0 where it has none).
    pub utilization: ResourceMap<'a>,
    /// The increase of `value` for one more unit of the resource in this class, shares still measured against
    /// today's totals; >= 0.
    pub price: ResourceMap<'a>,
}

/// The proof that no allocation does better: at every level, prices that bound it from above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Certificate<'a> {
    /// The value reached.
    pub primal: f64,
    /// An upper bound on the value.
    pub dual: f64,
    /// `1 - primal / dual`; 0 when both are 0.
    pub relative_gap: f64,
    /// The levels of the lexicographic maximum, rising.
    #[serde(borrow)]
    pub levels: Vec<LevelResult<'a>>,
}

/// One level of the lexicographic maximum with its proof. With `d_ir` a user's demand per unit of dominant
/// share, `p_lr` the prices, `y_i` the least of `sum_r d_ir p_lr` over the user's usable classes (over its rate
/// there), `C_lr` the capacity of a whole class, `G_i` dominant shares and `w_i` weights: no allocation that
/// leaves the finished users F their shares gives all active users A a weighted share above
/// `(sum C_lr p_lr - sum_F y_i G_i) / sum_A w_i y_i`. F are the users of earlier levels and those of this level
/// that are limited by tasks; A are all others with a usable class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelResult<'a> {
    /// The weighted dominant share of the users that capacity limits at this level.
    pub value: f64,
    /// The upper bound that the prices prove.
    pub bound: f64,
    /// The prices, every class in order.
    #[serde(borrow)]
    pub prices: Vec<ClassPrice<'a>>,
}

/// The prices of one class at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassPrice<'a> {
    /// The server class.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// The increase of the level's value for one more unit of the resource in this class; >= 0.
    pub price: ResourceMap<'a>,
}

/// How a solution came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolutionStats {
    /// Wall-clock seconds from instance to certified solution, to the microsecond: the only number that
    /// differs from run to run. Absent with `--no-timing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Iterations of the innermost method, over all levels and rounds.
    pub iterations: u64,
    /// Rounds of adaptive aggregation, over all levels.
    pub rounds: u64,
    /// Users in the last problem solved, after merging those that can share a split.
    pub users_merged: usize,
    /// Server classes in the last problem solved, after merging those with proportional capacities.
    pub classes_merged: usize,
}
