//! Figures as data: panels of curves, and bars. How they are drawn is the business of [`plot`](crate::plot).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Panels side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The figure that it recomputes, by its name in fairplan.
    pub exhibit: String,
    /// What it shows.
    pub title: String,
    /// What the first number of every point is.
    pub horizontal: String,
    /// What 0, 1, 2 and so on along the horizontal axis are called. Absent where they are plain numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// What the second number of every point is.
    pub vertical: String,
    /// From left to right; at least one.
    pub panels: Vec<Panel>,
}

/// Curves in one pair of axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// Its curves.
    pub curves: Vec<Curve>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// How it was found: the objective, and `packets` for a simulation.
    pub kind: String,
    /// What it is about, the same in all kinds: the class.
    pub subject: String,
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
