//! `fairplan.worth.v1`: what one more server of each class is worth.

use crate::stamp::InstanceStamp;
use fairplan_analysis::ServerWorth;
use fairplan_instances::{Body, Document, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What one more server of each class is worth under DRFH, shares measured against today's totals throughout. The same
/// instance gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Worth")]
pub struct WorthBody<'a> {
    /// The instance.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// The smallest weighted dominant share now, as in a solution.
    pub value: f64,
    /// The smallest that capacity limits, which is what gains add to, where tasks run out before so that it is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by_capacity: Option<f64>,
    /// Every server class, the most valuable first.
    #[serde(borrow)]
    pub server_classes: Vec<WorthResult<'a>>,
}

impl Body for WorthBody<'_> {
    const FORMAT: &'static str = "fairplan.worth.v1";
}

/// The whole file.
pub type WorthDocument<'a> = Document<WorthBody<'a>>;

impl WorthBody<'_> {
    /// The smallest share that capacity limits.
    pub fn raised(&self) -> f64 {
        self.limited_by_capacity.unwrap_or(self.value)
    }
}

/// One more server of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorthResult<'a> {
    /// The class.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// How many servers it has.
    pub count: u64,
    /// By how much the smallest weighted share rises with one more, solved again.
    pub gain: f64,
    /// By how much it rises by the prices: never less, unless tasks run out.
    pub by_price: f64,
    /// How many users do more work then.
    pub gaining: usize,
    /// How many do less.
    pub losing: usize,
    /// The user whose work grows by the largest part. Absent where nobody gains.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub largest_gain: Option<GainingUser<'a>>,
    /// One server's amount more of each resource alone, spread over the servers of the class.
    #[serde(borrow)]
    pub resources: Vec<ResourceWorthResult<'a>>,
}

/// A user that gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainingUser<'a> {
    /// The user's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// By which part its work grows.
    pub part: f64,
}

/// More of one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceWorthResult<'a> {
    /// The resource.
    #[serde(borrow)]
    pub resource: Cow<'a, str>,
    /// How much of it one server has.
    pub amount: f64,
    /// By how much the smallest weighted share rises with that much more, solved again.
    pub gain: f64,
    /// Its rise per unit, by the prices.
    pub price: f64,
    /// The capacity of the class, all servers together. Absent where ranges were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<f64>,
    /// The least capacity at which the price holds (searched down to a tenth).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// The largest capacity at which it holds (searched up to tenfold).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

/// The document of what servers are worth, ready to be written.
pub fn worth_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    (value, limited_by_capacity): (f64, f64),
    worths: &[ServerWorth],
) -> WorthDocument<'a> {
    let class = |worth: &ServerWorth| {
        let class = &instance.classes()[worth.class.0];
        let resources = worth.resources.iter().map(|more| ResourceWorthResult {
            resource: instance.resources()[more.resource.0].as_str().into(),
            amount: more.amount,
            gain: more.gain,
            price: more.price,
            capacity: more.range.map(|range| range.capacity),
            least: more.range.map(|range| range.least),
            most: more.range.map(|range| range.most),
        });
        WorthResult {
            id: class.id.as_str().into(),
            count: class.count,
            gain: worth.gain,
            by_price: worth.by_price,
            gaining: worth.gaining,
            losing: worth.losing,
            largest_gain: worth
                .largest_gain
                .map(|(user, part)| GainingUser { id: instance.user(user).id().into(), part }),
            resources: resources.collect(),
        }
    };
    Document::new(WorthBody {
        instance: InstanceStamp::new(instance, sha256),
        value,
        limited_by_capacity: (limited_by_capacity != value).then_some(limited_by_capacity),
        server_classes: worths.iter().map(class).collect(),
    })
}
