//! One self-contained HTML page from any results. What a page shows is data: sections of facts, tables and charts. What of a
//! format people want to see is the business of one file each here, how it looks that of `html`.

mod allocations;
mod audits;
mod flows;
mod html;
mod placements;
mod plans;
mod reproductions;
mod simulations;
mod solutions;

pub use html::write_page;

use crate::figure::{Bars, Curve, Figure, Mark, Panel};
use crate::json::{MalformedResult, format_of, read_json};
use crate::plot::{self, Ground};
use crate::summary::{number, percent, thousands};
use crate::{InstanceStamp, ResourceMap};

/// What one result says, in the words of people.
#[derive(Clone, Debug)]
pub struct Section {
    /// What the result is.
    pub title: String,
    /// Where it was read from.
    pub source: String,
    /// The few numbers to read first, with what they are.
    facts: Vec<(String, String)>,
    blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug)]
enum Block {
    Bars(Bars),
    Curves(Figure<'static>),
    Grid(Grid),
    /// What deserves a look, one line each.
    Warnings(Vec<String>),
}

/// A table that can be sorted by any column.
#[derive(Clone, Debug)]
struct Grid {
    caption: String,
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
    /// How many rows there are in the result: all but the first ones are left out of the page.
    total: usize,
}

/// A cell of a table: what is read, and the number that it is sorted by.
#[derive(Clone, Debug)]
struct Cell {
    text: String,
    number: Option<f64>,
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: None }
    }

    fn number(value: f64) -> Self {
        Self { text: number(value), number: Some(value) }
    }

    fn percent(part: f64) -> Self {
        Self { text: percent(part), number: Some(part) }
    }

    fn count(count: u64) -> Self {
        Self { text: thousands(count), number: Some(count as f64) }
    }

    /// Empty where there is no value.
    fn maybe(value: Option<f64>, cell: fn(f64) -> Self) -> Self {
        value.map_or_else(|| Self::text(""), cell)
    }
}

/// Rows of a table on a page: more are for a file, not for eyes.
const ROWS: usize = 500;

/// Groups of bars: more are shown as a curve.
const GROUPS: usize = 40;

impl Grid {
    fn new(caption: &str, header: Vec<String>, rows: impl ExactSizeIterator<Item = Vec<Cell>>) -> Self {
        let total = rows.len();
        Self { caption: caption.into(), header, rows: rows.take(ROWS).collect(), total }
    }
}

/// The part of each resource that is used.
fn used(utilization: &ResourceMap<'_>) -> String {
    let parts = utilization.0.iter().map(|(name, part)| format!("{name} {}", percent(*part)));
    parts.collect::<Vec<_>>().join(", ")
}

fn words<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}

impl Section {
    /// What the result in `bytes`, read from `file`, says.
    ///
    /// # Errors
    /// It is no result of fairplan, or one that has no page.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, MalformedResult> {
        let format = format_of(file, bytes)?;
        let section = match format.as_str() {
            "fairplan.solution.v1" => solutions::solution(read_json(file, bytes)?),
            "fairplan.placement.v1" => placements::placement(read_json(file, bytes)?),
            "fairplan.comparison.v1" => placements::comparison(read_json(file, bytes)?),
            "fairplan.bound.v1" => placements::bound(read_json(file, bytes)?),
            "fairplan.proportional-bound.v1" => placements::proportional_bound(read_json(file, bytes)?),
            "fairplan.audit.v1" => audits::audit(read_json(file, bytes)?),
            "fairplan.verification.v1" => audits::verification(read_json(file, bytes)?),
            "fairplan.allocation.v1" => allocations::allocation(read_json(file, bytes)?),
            "fairplan.offline.v1" => allocations::offline(read_json(file, bytes)?),
            "fairplan.flows.v1" => flows::flows(read_json(file, bytes)?),
            "fairplan.simulation.v1" => simulations::simulation(read_json(file, bytes)?),
            "fairplan.plan.v1" => plans::plan(read_json(file, bytes)?),
            "fairplan.reproduction.v1" => reproductions::reproduction(read_json(file, bytes)?),
            other => {
                return Err(MalformedResult {
                    file: file.into(),
                    place: "format".into(),
                    problem: format!("a page cannot show {other}; give a result of {SHOWN}"),
                });
            }
        };
        Ok(Self { source: file.into(), ..section })
    }

    fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), source: String::new(), facts: Vec::new(), blocks: Vec::new() }
    }

    fn fact(mut self, what: &str, value: impl Into<String>) -> Self {
        self.facts.push((what.into(), value.into()));
        self
    }

    fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// The instance's name, and what its author may want to look at.
    fn instance(self, stamp: &InstanceStamp<'_>) -> Self {
        let named = if stamp.name.is_empty() { self } else { self.fact("Instance", stamp.name.clone()) };
        let warnings: Vec<String> = stamp.warnings.iter().map(|warning| warning.message.clone()).collect();
        if warnings.is_empty() { named } else { named.block(Block::Warnings(warnings)) }
    }

    /// The first chart, drawn by itself.
    ///
    /// # Errors
    /// Says that this result has none.
    pub fn chart(&self) -> Result<String, String> {
        let charts = self.blocks.iter().find_map(|block| match block {
            Block::Bars(bars) => Some(plot::bars(bars, Ground::Paper)),
            Block::Curves(figure) => Some(plot::curves(figure, Ground::Paper)),
            Block::Grid(_) | Block::Warnings(_) => None,
        });
        charts.ok_or_else(|| format!("{}: there is nothing in this result to draw", self.source))
    }
}

/// The commands whose results have a page.
const SHOWN: &str =
    "solve, place, compare, bound, audit, verify, allocate, offline, flows, simulate, plan or reproduce";

/// The sizes of many users, the largest first, as one curve: users from left to right.
fn ranked(title: &str, vertical: &str, mut sizes: Vec<f64>) -> Figure<'static> {
    const POINTS: usize = 400;
    sizes.sort_by(|a, b| b.total_cmp(a));
    let step = sizes.len().div_ceil(POINTS).max(1);
    let point = |(position, size): (usize, &f64)| [position as f64 + 1.0, *size];
    let points = sizes.iter().enumerate().filter(|(position, _)| position % step == 0).map(point).collect();
    curve(title, "users, the largest first", vertical, points)
}

/// One curve in one panel.
fn curve(title: &str, horizontal: &str, vertical: &str, points: Vec<[f64; 2]>) -> Figure<'static> {
    let curve = Curve { kind: vertical.to_owned().into(), subject: "".into(), mark: Mark::Line, points };
    Figure {
        exhibit: "".into(),
        title: title.to_owned().into(),
        horizontal: horizontal.to_owned().into(),
        vertical: vertical.to_owned().into(),
        panels: vec![Panel { title: "".into(), curves: vec![curve] }],
    }
}

/// The sizes of users: bars where they can be told apart, else a curve.
fn sizes(caption: &str, vertical: &str, users: Vec<(String, f64)>, format: fn(f64) -> String) -> Block {
    if users.len() > GROUPS {
        return Block::Curves(ranked(caption, vertical, users.into_iter().map(|(_, size)| size).collect()));
    }
    let groups = users.into_iter().map(|(id, size)| (id, vec![size])).collect();
    Block::Bars(Bars { caption: caption.into(), series: Vec::new(), groups, mark: None, format })
}

#[cfg(test)]
mod tests;
