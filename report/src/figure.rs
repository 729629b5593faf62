//! Figures as data: panels of curves, and bars. How they are drawn is the business of [`plot`](crate::plot).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Panels side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure<'a> {
    /// The figure that it recomputes, by its name in fairplan.
    #[serde(borrow)]
    pub exhibit: Cow<'a, str>,
    /// What it shows.
    #[serde(borrow)]
    pub title: Cow<'a, str>,
    /// What the first number of every point is.
    #[serde(borrow)]
    pub horizontal: Cow<'a, str>,
    /// What the second number of every point is.
    #[serde(borrow)]
    pub vertical: Cow<'a, str>,
    /// From left to right; at least one.
    #[serde(borrow)]
    pub panels: Vec<Panel<'a>>,
}

/// Curves in one pair of axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Panel<'a> {
    /// What stands above it.
    #[serde(borrow)]
    pub title: Cow<'a, str>,
    /// Its curves.
    #[serde(borrow)]
    pub curves: Vec<Curve<'a>>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curve<'a> {
    /// How it was found: the objective, and `packets` for a simulation.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    /// What it is about, the same in all kinds: the class.
    #[serde(borrow)]
    pub subject: Cow<'a, str>,
    /// How it is drawn.
    pub mark: Mark,
    /// The points, from left to right.
    pub points: Vec<[f64; 2]>,
}

/// Horizontal bars, all from zero on one scale; those of a group belong to one name.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What they show.
    pub caption: String,
    /// What the bars of a group are, in their order; empty where each group is one bar.
    pub series: Vec<String>,
    /// Names and values (>= 0).
    pub groups: Vec<(String, Vec<f64>)>,
    /// A value to compare all bars with, and what it is.
    pub mark: Option<(f64, String)>,
    /// How a value is written.
    pub format: fn(f64) -> String,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A line through the points.
    Line,
    /// A dashed line through the points.
    Dashes,
    /// A cross at each point.
    Crosses,
}
