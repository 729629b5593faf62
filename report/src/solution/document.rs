//! The types of `fairplan.solution.v1`; their comments are the descriptions in its JSON Schema.

use super::alone::AloneResult;
use super::columns::UserColumns;
use super::levels::LevelResult;
use fairplan_instances::InstanceStamp;
use fairplan_instances::ResourceMap;
use fairplan_instances::stated;
use fairplan_instances::{Body, Document, GroupResult, GuaranteeResult, LimitResult, Objective, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A divisible allocation with its prices and the certificate that proves it. Every user and server class of
/// the instance appears, in the instance's order. The same instance and settings give the same bytes, except
/// for `stats.seconds`.
// `U` is the sequence of users: columns when read, computed line by line when written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "U: Deserialize<'de>"))]
#[schemars(rename = "Solution")]
pub struct SolutionBody<U = UserColumns> {
    /// The instance that was solved.
    pub instance: InstanceStamp,
    /// Which allocation was asked for.
    pub objective: Objective,
    /// Which backend was asked for.
    pub backend: String,
    /// What that backend did in the end: `aggregation`, `interior-point`, `price-discovery`, `simplex`, `highs-interior-point`; of `drf-per-server`
    /// always `progressive-filling`; of `bmf` `bottleneck-sort` with up to two resources, where there is only one such allocation,
    /// else `bottleneck-path`. That returns the first one met when nobody may have a larger weighted share of any resource
    /// than a cap that rises from nothing, used-up resources having lower caps of their own.
    pub method: String,
    /// Whether the certificate closes.
    pub status: Status,
    /// The value of the objective. Of `drfh` and `drf`: the smallest weighted dominant share (dominant share over weight)
    /// of all users. Of `tsf`: the smallest weighted task share (tasks, each counting its rate, over weight and over the
    /// most that the user could run alone if it were eligible everywhere). Of `bmf` and `drf-per-server`: the smallest
    /// dominant share. Of `pf`, `alpha=A` and `utilitarian`: the sum of weight times `ln(share)`, `share^(1-A)/(1-A)` or
    /// `share`, over the users that can have more than nothing.
    pub value: f64,
    /// The value, its bounds and the prices are in units of ten to this power. Absent when it is 0; only sums with a
    /// large `A` are ever beyond what a double holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_exponent: Option<i32>,
    /// The prices are in units of ten to this power instead. Absent when it is that of the value; only with a large `A` are prices ever too small
    /// for a double beside it.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub price_exponent: Option<i32>,
    /// The fractions of a solution that was asked for with `--exact`, or that nothing else could prove: then these are what is proved,
    /// without any tolerance, and all doubles are next to them. Absent without.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactResult>,
    /// The smallest weighted share of those that still want more: users without a group, and groups without a parent. Absent if
    /// all have all they ask for. (`value` counts these too: a user whose few tasks all run may decide it.)
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Tasks that wait, of users who have a number of them: what all have less what runs. Absent where nobody has.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub unplaced: Option<f64>,
    /// What groups get. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupResult>,
    /// What is used of the limits of groups and users, those of groups first. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitResult>,
    /// What groups and users are guaranteed, those of groups first. Absent where nobody is anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarantees: Vec<GuaranteeResult>,
    /// How the members of groups would divide what these are guaranteed, alone in the cluster: nobody has less. Of groups inside others
    /// of them it is said there. Absent where no group is guaranteed anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guaranteed_groups: Vec<AloneResult>,
    /// What each user gets.
    pub users: U,
    /// How full each server class is and what more of it would be worth.
    pub server_classes: Vec<ClassResult>,
    /// The server classes in groups that act as one pool: within a group the prices agree, those of every level of
    /// the certificate where it has levels, up to a millionth of the largest. Every class is in one group, or none where
    /// there are no prices.
    pub price_groups: Vec<Vec<String>>,
    /// The part of the whole cluster's capacity that is used, 0 to 1.
    pub utilization: ResourceMap,
    /// The proof.
    pub certificate: CertificateResult,
    /// How the result came about. Nothing here decides what the result is.
    pub stats: SolutionStats,
}

impl<U> Body for SolutionBody<U> {
    const FORMAT: &'static str = "fairplan.solution.v1";
}

/// The whole file.
pub type SolutionDocument<U = UserColumns> = Document<SolutionBody<U>>;

/// The value and the levels in fractions: texts such as `5/7` or `3`, in lowest terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Exact")]
pub struct ExactResult {
    /// The value of the objective.
    pub value: String,
    /// The levels of the certificate.
    pub levels: Vec<ExactLevelResult>,
}

/// One level in fractions. At its prices every user works only where that is cheapest and every priced row is used up; who is held
/// at it pays, and nobody who pays has a larger weighted share. So nobody at it can gain but from one who has no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExactLevel")]
pub struct ExactLevelResult {
    /// The weighted share of the users that are held at it.
    pub value: String,
    /// The prices of one unit of each resource, every class in order: whole numbers, of which only the proportions matter.
    pub prices: Vec<ExactClassPrice>,
    /// The prices of one unit of each limit, in the same proportion, in the order of `limits`. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_prices: Vec<String>,
    /// The prices of one task, in the same proportion, of users whose tasks are limited and do different work on different classes; of
    /// others tasks have no price. Absent where nobody's has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_prices: Vec<ExactTaskPrice>,
}

/// The prices of one class at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactClassPrice {
    /// The server class.
    pub class: String,
    /// The prices, in the order of the instance's resources.
    pub price: Vec<String>,
}

/// The price of one of a user's tasks at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactTaskPrice {
    /// The user.
    pub user: String,
    /// The price.
    pub price: String,
}

/// One server class in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassResult {
    /// The class's id.
    pub id: String,
    /// The part of the class's capacity that is used, 0 to 1 (0 where it has none). Absent where all servers are treated
    /// as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<ResourceMap>,
    /// The increase of `value` for one more unit of the resource in this class, shares still measured against
    /// today's totals; >= 0. Absent where the allocation is not the largest of anything (`bmf`, `drf-per-server`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<ResourceMap>,
}

/// The proof that no allocation does better: prices that bound every level, or the sum, from above. Where the
/// objective is a sum they are those of the server classes: for any `p >= 0` and `l_i >= 0`, with `y_i` the least of
/// `(sum_r d_ir p_lr + l_i) / rate` over the user's usable classes, no allocation has more than `sum C_lr p_lr +
/// sum_i l_i t_i + sum_i max_G (w_i U(G) - y_i G)`, where `d_ir` is a user's demand per unit of dominant share, `t_i`
/// the dominant share of all its tasks, `l_i = 0` for users with unlimited tasks, and `w_i U` what the sum adds up. Where
/// the allocation is defined by what holds each user (`bmf`, `drf-per-server`), the proof is the definition: every user
/// has the largest weighted share of a resource that is used up; `primal` and `dual` are the value, and the gap is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertificateResult {
    /// The value reached.
    pub primal: f64,
    /// An upper bound on the value.
    pub dual: f64,
    /// `1 - primal / dual`; 0 when both are 0. Where the objective is a sum: how far `dual` is above `primal`, in
    /// parts of the sum of `w_i G_i U'(G_i)` (of the weights, for `pf`).
    #[schemars(range(min = 0))]
    pub relative_gap: f64,
    /// The levels of the lexicographic maximum, none below the one before. Absent where the objective is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<LevelResult>>,
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
