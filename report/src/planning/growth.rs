//! `fairplan.growth.v1`: when a cluster first misses what is asked of it as demands follow a series.

use crate::planning::TargetResult;
use crate::stamp::{DemandsStamp, InstanceStamp, Label};
use fairplan_analysis::{Growth, Shortfall};
use fairplan_instances::{Body, DemandSeries, Document, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// When a cluster first misses what is asked of it. The same files and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Growth")]
pub struct GrowthBody<'a> {
    /// The cluster and its users.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// The series.
    #[serde(borrow)]
    pub series: DemandsStamp<'a>,
    /// What scales whom: `total`, `user` (each by its own column), or the column that scales all.
    #[serde(borrow)]
    pub scaled_by: Cow<'a, str>,
    /// How many of the first quanta are, on average, a scale of 1.
    pub base: u64,
    /// What every user shall reach at a scale of 1.
    pub target: TargetResult,
    /// The part of that which every user reaches.
    pub part_at_one: f64,
    /// How many quanta are missed: somebody does not reach what is asked for.
    pub missed: u64,
    /// The first of them. Absent if there is none.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub first_missed: Option<ShortfallResult<'a>>,
    /// The quantum of which the smallest part can be reached. Absent where nothing is ever asked for.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub tightest: Option<ShortfallResult<'a>>,
    /// Every quantum, with `--per-quantum` or where there are at most 400.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<GrowthQuantum<'a>>>,
}

impl Body for GrowthBody<'_> {
    const FORMAT: &'static str = "fairplan.growth.v1";
}

/// The whole file.
pub type GrowthDocument<'a> = Document<GrowthBody<'a>>;

/// What a quantum asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowthQuantum<'a> {
    /// The quantum, as its file calls it.
    #[serde(borrow)]
    pub quantum: Label<'a>,
    /// How many times the target is asked for: the mean over the users.
    pub scale: f64,
    /// Whether somebody does not reach what is asked for.
    pub missed: bool,
}

/// How much of what a quantum asks for can be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortfallResult<'a> {
    /// The quantum, as its file calls it.
    #[serde(borrow)]
    pub quantum: Label<'a>,
    /// The part of what is asked for that every user reaches.
    pub part: f64,
    /// The user whose work pays the most for what is short.
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    /// How much of that user's target is asked for.
    pub scale: f64,
    /// The resource that is worth the most.
    #[serde(borrow)]
    pub resource: Cow<'a, str>,
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
) -> GrowthDocument<'a> {
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
