//! `fairplan.explanation.v1`: why one user has its share, and what would change it.

use fairplan_analysis::Explanation;
use fairplan_instances::InstanceStamp;
use fairplan_instances::LimitedBy;
use fairplan_instances::table::{Kind, Table};
use fairplan_instances::{Body, ClassId, Document, Instance, ResourceId, Solution, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why one user has its share, and what would change it. The same instance and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Explanation")]
pub struct ExplanationBody {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The user's id.
    pub user: String,
    /// The resource of which one task takes the largest part of the whole cluster.
    pub dominant_resource: String,
    /// The part of the whole cluster's dominant resource that the user gets.
    pub dominant_share: f64,
    /// The same over its weight.
    pub weighted_share: f64,
    /// How many tasks it gets.
    pub tasks: f64,
    /// What limits it.
    pub limited_by: LimitedBy,
    /// The level at which it is frozen, counted from 0. Absent where the objective has no levels or none reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<LevelReached>,
    /// The full, priced capacities that keep it from more: it needs one of them on every class that it can use.
    pub held_by: Vec<HoldingResult>,
    /// Every server class, as this user sees it.
    pub server_classes: Vec<ClassViewResult>,
    /// What happens when one of its tasks needs less of one resource.
    pub smaller_demands: Vec<SmallerDemandResult>,
    /// How far the prices it pays hold. Empty where they change with every unit (objectives that are sums).
    pub price_ranges: Vec<PriceRangeResult>,
    /// The smallest set of facts that leaves the user without any share. Empty when it has one.
    pub why_nothing: Vec<String>,
}

impl Body for ExplanationBody {
    const FORMAT: &'static str = "fairplan.explanation.v1";
}

/// The whole file.
pub type ExplanationDocument = Document<ExplanationBody>;

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
pub struct HoldingResult {
    /// The server class.
    pub class: String,
    /// The resource.
    pub resource: String,
    /// Increase of the user's level (or of the sum) per unit.
    pub price: f64,
}

/// A server class as a user sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassViewResult {
    /// The server class.
    pub id: String,
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
pub struct SmallerDemandResult {
    /// The resource.
    pub resource: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gain: Option<GainResult>,
}

/// A user that gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainResult {
    /// The user.
    pub user: String,
    /// By which part of its work.
    pub part: f64,
}

/// How far a price holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceRangeResult {
    /// The server class.
    pub class: String,
    /// The resource.
    pub resource: String,
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
) -> ExplanationDocument {
    let class = |class: ClassId| instance.classes()[class.0].id.clone();
    let resource = |resource: ResourceId| instance.resources()[resource.0].clone();
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

impl ExplanationBody {
    /// The server classes as this user sees them.
    pub fn classes(&self) -> Table<'_> {
        let yes = |is: bool| if is { "yes" } else { "" };
        Table::of(&self.server_classes)
            .column("class", "server class", Kind::Id, |class| &class.id)
            .column("usable", "can run there", Kind::Words, move |class| yes(class.usable))
            .column("tasks", "tasks there", Kind::Number, |class| class.tasks)
            .column("cost_of_share", "cost of a whole share", Kind::Number, |class| class.cost_of_share)
            .column("cheapest", "cheapest", Kind::Words, move |class| yes(class.cheapest))
            .done()
    }

    /// The full capacities that keep it from more.
    pub fn holding(&self) -> Table<'_> {
        Table::of(&self.held_by)
            .column("class", "server class", Kind::Id, |held| &held.class)
            .column("resource", "resource", Kind::Name, |held| &held.resource)
            .column("price", "price", Kind::Number, |held| held.price)
            .done()
    }

    /// How far prices hold.
    pub fn ranges(&self) -> Table<'_> {
        Table::of(&self.price_ranges)
            .column("class", "server class", Kind::Id, |range| &range.class)
            .column("resource", "resource", Kind::Name, |range| &range.resource)
            .column("price", "price", Kind::Number, |range| range.price)
            .column("capacity", "capacity", Kind::Number, |range| range.capacity)
            .column("least", "holds from", Kind::Number, |range| range.least)
            .column("most", "to", Kind::Number, |range| range.most)
            .done()
    }

    /// What smaller demands would change.
    pub fn smaller(&self) -> Table<'_> {
        let most = |change: &SmallerDemandResult| change.largest_gain.as_ref().map(|gain| gain.user.clone());
        Table::of(&self.smaller_demands)
            .column("resource", "resource", Kind::Name, |change| &change.resource)
            .column("demand", "a task needs", Kind::Number, |change| change.demand)
            .column("smaller", "if it needed", Kind::Number, |change| change.smaller)
            .column("own_tasks", "its tasks then", Kind::Number, |change| change.own_tasks)
            .column("gain", "others that gain", Kind::Count, |change| change.gain)
            .column("lose", "others that lose", Kind::Count, |change| change.lose)
            .column("largest_gain", "gains the most", Kind::Id, most)
            .column("part", "by", Kind::Part, |change| change.largest_gain.as_ref().map(|gain| gain.part))
            .done()
    }
}
