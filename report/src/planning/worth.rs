//! `fairplan.worth.v1`: what one more server of each class is worth.

use fairplan_analysis::ServerWorth;
use fairplan_instances::InstanceStamp;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one more server of each class is worth under DRFH, shares measured against today's totals throughout. The same
/// instance gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Worth")]
pub struct WorthBody {
    /// The instance.
    pub instance: InstanceStamp,
    /// The smallest weighted dominant share now, as in a solution.
    pub value: f64,
    /// The smallest that capacity limits, which is what gains add to, where tasks run out before so that it is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by_capacity: Option<f64>,
    /// Every server class, the most valuable first.
    pub server_classes: Vec<WorthResult>,
}

impl Body for WorthBody {
    const FORMAT: &'static str = "fairplan.worth.v1";
}

/// The whole file.
pub type WorthDocument = Document<WorthBody>;

impl WorthBody {
    /// The smallest share that capacity limits.
    pub fn raised(&self) -> f64 {
        self.limited_by_capacity.unwrap_or(self.value)
    }
}

/// One more server of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorthResult {
    /// The class.
    pub id: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gain: Option<GainingUser>,
    /// One server's amount more of each resource alone, spread over the servers of the class.
    pub resources: Vec<ResourceWorthResult>,
}

/// A user that gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainingUser {
    /// The user's id.
    pub id: String,
    /// By which part its work grows.
    pub part: f64,
}

/// More of one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceWorthResult {
    /// The resource.
    pub resource: String,
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
) -> WorthDocument {
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

impl Tabular for WorthBody {
    /// A row a class for a whole server (no resource), then one a resource.
    fn table(&self) -> Table<'_> {
        type Row<'a> = (&'a WorthResult, Option<&'a ResourceWorthResult>);
        let rows: Vec<Row<'_>> = (self.server_classes.iter())
            .flat_map(|class| {
                let resources = class.resources.iter().map(move |resource| (class, Some(resource)));
                std::iter::once((class, None)).chain(resources)
            })
            .collect();
        let gain = |row: Row<'_>| row.1.map_or(row.0.gain, |more| more.gain);
        Table::over(rows.len(), move |row| rows[row])
            .column("class", "server class", Kind::Id, |row| &row.0.id)
            .column("resource", "resource", Kind::Name, |row| row.1.map_or("", |more| &more.resource))
            .column("gain", "that much more adds", Kind::Share, gain)
            .said(move |row| self.is_nothing(gain(row)).then_some(NOTHING))
            .column("by_price", "by the prices", Kind::Share, |row| {
                row.1.map_or(row.0.by_price, |more| more.price * more.amount)
            })
            .column("amount", "a server has", Kind::Number, |row| row.1.map(|more| more.amount))
            .column("price", "price a unit", Kind::Number, |row| row.1.map(|more| more.price))
            .column("capacity", "capacity", Kind::Number, |row| row.1.and_then(|more| more.capacity))
            .column("least", "price holds from", Kind::Number, |row| row.1.and_then(|more| more.least))
            .column("most", "to", Kind::Number, |row| row.1.and_then(|more| more.most))
            .done()
    }
}

/// How people read a gain that is none.
const NOTHING: &str = "0.00%";

impl WorthBody {
    /// Whether a gain is below what solutions are exact to.
    pub fn is_nothing(&self, gain: f64) -> bool {
        gain < 1e-8 * self.raised()
    }

    /// A row a class.
    pub fn classes(&self) -> Table<'_> {
        Table::of(&self.server_classes)
            .column("class", "server class", Kind::Id, |class| &class.id)
            .column("count", "servers", Kind::Count, |class| class.count)
            .column("gain", "solved again", Kind::Share, |class| class.gain)
            .said(|class| self.is_nothing(class.gain).then_some(NOTHING))
            .column("by_price", "by the prices", Kind::Share, |class| class.by_price)
            .column("gaining", "users that gain", Kind::Count, |class| class.gaining)
            .column("losing", "users that lose", Kind::Count, |class| class.losing)
            .column("largest_gain", "gains the most", Kind::Id, |class| {
                class.largest_gain.as_ref().map(|gain| &gain.id)
            })
            .column("part", "by", Kind::Part, |class| class.largest_gain.as_ref().map(|gain| gain.part))
            .done()
    }
}
