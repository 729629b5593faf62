//! `fairplan.explanation.v1`: why one user has its share, and what would change it.

use crate::solution::LimitName;
use crate::stamp::InstanceStamp;
use fairplan_analysis::Explanation;
use fairplan_instances::{Body, ClassId, Document, Instance, ResourceId, Solution, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Why one user has its share, and what would change it. The same instance and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Explanation")]
pub struct ExplanationBody<'a> {
    /// The instance.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The user's id.
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    /// The resource of which one task takes the largest part of the whole cluster.
    #[serde(borrow)]
    pub dominant_resource: Cow<'a, str>,
    /// The part of the whole cluster's dominant resource that the user gets.
    pub dominant_share: f64,
    /// The same over its weight.
    pub weighted_share: f64,
    /// How many tasks it gets.
    pub tasks: f64,
    /// What limits it.
    pub limited_by: LimitName,
    /// The level at which it is frozen, counted from 0. Absent where the objective has no levels or none reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<LevelReached>,
    /// The full, priced capacities that keep it from more: it needs one of them on every class that it can use.
    #[serde(borrow)]
    pub held_by: Vec<HoldingResult<'a>>,
    /// Every server class, as this user sees it.
    #[serde(borrow)]
    pub server_classes: Vec<ClassViewResult<'a>>,
    /// What happens when one of its tasks needs less of one resource.
    #[serde(borrow)]
    pub smaller_demands: Vec<SmallerDemandResult<'a>>,
    /// How far the prices it pays hold. Empty where they change with every unit (objectives that are sums).
    #[serde(borrow)]
    pub price_ranges: Vec<PriceRangeResult<'a>>,
    /// The smallest set of facts that leaves the user without any share. Empty when it has one.
    pub why_nothing: Vec<String>,
}

impl Body for ExplanationBody<'_> {
    const FORMAT: &'static str = "fairplan.explanation.v1";
}

/// The whole file.
pub type ExplanationDocument<'a> = Document<ExplanationBody<'a>>;

/// A level of the lexicographic max-min.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelReached {
    /// Its position, from 0.
    pub position: usize,
    /// The weighted share of the users frozen there.
    pub value: f64,
}

/// A full capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldingResult<'a> {
    /// The server class.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// The resource.
    #[serde(borrow)]
    pub resource: Cow<'a, str>,
    /// Increase of the user's level (or of the sum) per unit.
    pub price: f64,
}

/// A server class as a user sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassViewResult<'a> {
    /// The server class.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Whether the user's tasks can run there.
    pub usable: bool,
    /// What a whole share would cost there at the prices of its level. Absent where it cannot run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_of_share: Option<f64>,
    /// Whether no class is cheaper for it.
    pub cheapest: bool,
    /// The tasks it has there.
    pub tasks: f64,
}

/// What a smaller demand would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallerDemandResult<'a> {
    /// The resource.
    #[serde(borrow)]
    pub resource: Cow<'a, str>,
    /// One task's demand now.
    pub demand: f64,
    /// One unit less; half, where that would leave nothing.
    pub smaller: f64,
    /// The user's own tasks then.
    pub own_tasks: f64,
    /// How many other users do more work then.
    pub gain: usize,
    /// How many other users do less.
    pub lose: usize,
    /// The other user that gains the largest part. Absent when nobody gains.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub largest_gain: Option<GainResult<'a>>,
}

/// A user that gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainResult<'a> {
    /// The user.
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    /// By which part of its work.
    pub part: f64,
}

/// How far a price holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceRangeResult<'a> {
    /// The server class.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// The resource.
    #[serde(borrow)]
    pub resource: Cow<'a, str>,
    /// Increase of the user's level per unit.
    pub price: f64,
    /// The capacity of the class now, all servers together.
    pub capacity: f64,
    /// Least capacity at which the price holds (searched down to a tenth).
    pub least: f64,
    /// Largest capacity at which the price holds (searched up to tenfold).
    pub most: f64,
}

/// The document of an explanation, ready to be written.
pub fn explanation_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    solution: &Solution,
    user: UserId,
    explanation: &Explanation,
) -> ExplanationDocument<'a> {
    let class = |class: ClassId| Cow::from(instance.classes()[class.0].id.as_str());
    let resource = |resource: ResourceId| Cow::from(instance.resources()[resource.0].as_str());
    Document::new(ExplanationBody {
        instance: InstanceStamp::new(instance, sha256),
        objective: solution.objective.to_string(),
        user: instance.user(user).id().into(),
        dominant_resource: resource(explanation.dominant_resource),
        dominant_share: explanation.dominant_share,
        weighted_share: explanation.weighted_share,
        tasks: explanation.tasks,
        limited_by: explanation.limited_by.into(),
        level: explanation.level.map(|(position, value)| LevelReached { position, value }),
        held_by: (explanation.held_by.iter())
            .map(|held| HoldingResult {
                class: class(held.class),
                resource: resource(held.resource),
                price: held.price,
            })
            .collect(),
        server_classes: (explanation.classes.iter())
            .map(|view| ClassViewResult {
                id: class(view.class),
                usable: view.usable,
                cost_of_share: view.usable.then_some(view.cost_of_share),
                cheapest: view.cheapest,
                tasks: view.tasks,
            })
            .collect(),
        smaller_demands: (explanation.smaller_demands.iter())
            .map(|change| SmallerDemandResult {
                resource: resource(change.resource),
                demand: change.demand.to_f64(),
                smaller: change.smaller.to_f64(),
                own_tasks: change.own_tasks,
                gain: change.gain,
                lose: change.lose,
                largest_gain: change
                    .largest_gain
                    .map(|(other, part)| GainResult { user: instance.user(other).id().into(), part }),
            })
            .collect(),
        price_ranges: (explanation.price_ranges.iter())
            .map(|range| PriceRangeResult {
                class: class(range.class),
                resource: resource(range.resource),
                price: range.price,
                capacity: range.capacity,
                least: range.least,
                most: range.most,
            })
            .collect(),
        why_nothing: explanation.why_nothing.clone(),
    })
}
