//! `fairplan.growth.v1`: when a cluster first misses what is asked of it as demands follow a series.

use crate::planning::TargetResult;
use fairplan_analysis::{Growth, Shortfall};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, DemandSeries, Document, Instance};
use fairplan_instances::{DemandsStamp, InstanceStamp, Label};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a cluster first misses what is asked of it. The same files and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Growth")]
pub struct GrowthBody {
    /// The cluster and its users.
    pub instance: InstanceStamp,
    /// The series.
    pub series: DemandsStamp,
    /// What scales whom: `total`, `user` (each by its own column), or the column that scales all.
    pub scaled_by: String,
    /// How many of the first quanta are, on average, a scale of 1.
    pub base: u64,
    /// What every user shall reach at a scale of 1.
    pub target: TargetResult,
    /// The part of that which every user reaches.
    pub part_at_one: f64,
    /// How many quanta are missed: somebody does not reach what is asked for.
    pub missed: u64,
    /// The first of them. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_missed: Option<ShortfallResult>,
    /// The quantum of which the smallest part can be reached. Absent where nothing is ever asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tightest: Option<ShortfallResult>,
    /// Every quantum, with `--per-quantum` or where there are at most 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<GrowthQuantum>>,
}

impl Body for GrowthBody {
    const FORMAT: &'static str = "fairplan.growth.v1";
}

/// The whole file.
pub type GrowthDocument = Document<GrowthBody>;

/// What a quantum asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowthQuantum {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// How many times the target is asked for: the mean over the users.
    pub scale: f64,
    /// Whether somebody does not reach what is asked for.
    pub missed: bool,
}

/// How much of what a quantum asks for can be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortfallResult {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// The part of what is asked for that every user reaches.
    pub part: f64,
    /// The user whose work pays the most for what is short.
    pub user: String,
    /// How much of that user's target is asked for.
    pub scale: f64,
    /// The resource that is worth the most.
    pub resource: String,
}

/// The document of growth, ready to be written.
pub fn growth_document<'a>(
    (instance, sha256): (&'a Instance, &'a str),
    (series, series_sha256): (&'a DemandSeries, &'a str),
    scaled_by: &'a str,
    base: u64,
    target: TargetResult,
    scale: &dyn Fn(usize, usize) -> f64,
    (growth, per_quantum): (&Growth, bool),
) -> GrowthDocument {
    let users = instance.user_count();
    let quantum = |(quantum, missed): (usize, &bool)| GrowthQuantum {
        quantum: series.label(quantum).into(),
        scale: (0..users).map(|user| scale(quantum, user)).sum::<f64>() / users as f64,
        missed: *missed,
    };
    let shortfall = |short: &Shortfall| ShortfallResult {
        quantum: series.label(short.quantum).into(),
        part: short.part,
        user: instance.user(short.user).id().into(),
        scale: scale(short.quantum, short.user.0),
        resource: instance.resources()[short.resource.0].as_str().into(),
    };
    Document::new(GrowthBody {
        instance: InstanceStamp::new(instance, sha256),
        series: DemandsStamp::new(series, series_sha256),
        scaled_by: scaled_by.into(),
        base,
        target,
        part_at_one: growth.part_at_one,
        missed: growth.missed.iter().filter(|missed| **missed).count() as u64,
        first_missed: growth.first_missed.as_ref().map(shortfall),
        tightest: growth.tightest.as_ref().map(shortfall),
        quanta: per_quantum.then(|| growth.missed.iter().enumerate().map(quantum).collect()),
    })
}

impl Tabular for GrowthBody {
    /// A row a quantum, where all are kept: by how much what is asked for is scaled (the mean over the users), and whether it
    /// is missed.
    fn table(&self) -> Table<'_> {
        Table::of(self.quanta.as_deref().unwrap_or_default())
            .column("quantum", "quantum", Kind::Id, |row| row.quantum.to_string())
            .column("scale", "times the target", Kind::Number, |row| row.scale)
            .column("missed", "missed", Kind::Answer, |row| row.missed)
            .done()
    }
}
