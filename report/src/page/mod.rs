//! One self-contained HTML page from any results. What a page shows is data: sections of facts, tables and charts. What of a
//! format people want to see is the business of one file each here, how it looks that of `html`.

mod allocations;
mod audits;
mod entitlements;
mod explanations;
mod flows;
mod html;
mod placements;
mod plans;
mod reproductions;
mod series;
mod simulations;
mod solutions;
mod tasks;
mod time;
mod what_if;

pub use html::write_page;

use crate::answer;
use crate::figure::{Bars, Curve, Figure, Mark, Panel};
use crate::json::{MalformedResult, format_of, read_json};
use crate::plot::{self, Drawing};
use crate::solution::LimitName;
use crate::units::{money, number, percent, share, thousands};
use crate::{InstanceStamp, ResourceMap};

/// What one result says, in the words of people.
#[derive(Clone, Debug)]
pub struct Section {
    /// What the result is.
    pub title: String,
    /// Where it was read from.
    pub source: String,
    /// What it comes to, in one or two sentences.
    answer: String,
    /// What a word of the answer means, in smaller letters.
    note: &'static str,
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
    /// Rows of which every number is zero, where they are many: folded away below the others.
    zeros: Vec<Vec<Cell>>,
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

    fn share(part: f64) -> Self {
        Self { text: share(part), number: Some(part) }
    }

    fn money(amount: f64) -> Self {
        Self { text: money(amount), number: Some(amount) }
    }

    /// Whether it is a number, and that zero.
    fn is_zero(&self) -> bool {
        self.number.is_some_and(|number| number == 0.0)
    }

    fn count(count: u64) -> Self {
        Self { text: thousands(count), number: Some(count as f64) }
    }

    /// By how much something is more (or less) than something else.
    fn change(part: f64) -> Self {
        // What sums of doubles leave over is none.
        let part = if part.abs() < 1e-9 { 0.0 } else { part };
        Self { text: format!("{}{}", if part > 0.0 { "+" } else { "" }, percent(part)), number: Some(part) }
    }

    /// Empty where there is no value.
    fn maybe(value: Option<f64>, cell: fn(f64) -> Self) -> Self {
        value.map_or_else(|| Self::text(""), cell)
    }
}

/// Rows of a table on a page: more are for a file, not for eyes.
const ROWS: usize = 500;

/// Groups of bars: of more, only the longest are shown.
const GROUPS: usize = 40;

/// Of many groups, so many are shown, ranked.
const RANKED: usize = 20;

/// Bars of all groups together, where a group has several.
const BARS: usize = 60;

/// Rows of nothing but zeros: more are folded away.
const ZEROS: usize = 5;

impl Grid {
    fn new(caption: &str, header: Vec<String>, rows: impl ExactSizeIterator<Item = Vec<Cell>>) -> Self {
        let total = rows.len();
        // Every row has a cell in every column, whatever the result says.
        let whole = |mut row: Vec<Cell>| {
            row.resize_with(header.len(), || Cell::text(""));
            row
        };
        let mut rows: Vec<Vec<Cell>> = rows.take(ROWS).map(whole).collect();
        let is_zero = |row: &Vec<Cell>| {
            let mut numbers = row.iter().filter(|cell| cell.number.is_some()).peekable();
            numbers.peek().is_some() && numbers.all(Cell::is_zero)
        };
        let mut zeros = Vec::new();
        if rows.iter().filter(|row| is_zero(row)).count() > ZEROS {
            (zeros, rows) = rows.into_iter().partition(is_zero);
        }
        Self { caption: caption.into(), header, rows, zeros, total }
    }
}

/// The part of each resource that is used.
fn used(utilization: &ResourceMap<'_>) -> String {
    let parts = utilization.0.iter().map(|(name, part)| format!("{name} {}", percent(*part)));
    parts.collect::<Vec<_>>().join(", ")
}

/// What limits a user, in words.
fn limit(limit: LimitName) -> &'static str {
    match limit {
        LimitName::Capacity => "capacity",
        LimitName::Tasks => "its tasks",
        LimitName::NoUsableClass => "no usable class",
    }
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
        if let Some(section) = series::series(file, bytes)? {
            return Ok(Self { source: file.into(), ..section });
        }
        let format = format_of(file, bytes)?;
        let section = match format.as_str() {
            "fairplan.solution.v1" => solutions::solution(read_json(file, bytes)?),
            "fairplan.placement.v1" => placements::placement(read_json(file, bytes)?),
            "fairplan.comparison.v1" => placements::comparison(file, read_json(file, bytes)?)?,
            "fairplan.bound.v1" => placements::bound(read_json(file, bytes)?),
            "fairplan.proportional-bound.v1" => placements::proportional_bound(read_json(file, bytes)?),
            "fairplan.audit.v1" => audits::audit(read_json(file, bytes)?),
            "fairplan.verification.v1" => audits::verification(read_json(file, bytes)?),
            "fairplan.entitlements.v1" => entitlements::entitlements(read_json(file, bytes)?),
            "fairplan.explanation.v1" => explanations::explanation(read_json(file, bytes)?),
            "fairplan.allocation.v1" if is_over_instance(bytes) => tasks::allocation(read_json(file, bytes)?),
            "fairplan.allocation.v1" => allocations::allocation(read_json(file, bytes)?),
            "fairplan.offline.v1" if is_over_instance(bytes) => tasks::offline(read_json(file, bytes)?),
            "fairplan.offline.v1" => allocations::offline(read_json(file, bytes)?),
            "fairplan.flows.v1" => flows::flows(read_json(file, bytes)?),
            "fairplan.simulation.v1" => simulations::simulation(read_json(file, bytes)?),
            "fairplan.plan.v1" => plans::plan(read_json(file, bytes)?),
            "fairplan.worth.v1" => what_if::worth(read_json(file, bytes)?),
            "fairplan.loss.v1" => what_if::losses(read_json(file, bytes)?),
            "fairplan.difference.v1" => what_if::difference(read_json(file, bytes)?),
            "fairplan.growth.v1" => what_if::growth(read_json(file, bytes)?),
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
        Self {
            title: title.into(),
            source: String::new(),
            answer: String::new(),
            note: "",
            facts: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// What the result comes to, before anything else.
    fn answer(self, answer: impl Into<String>) -> Self {
        Self { answer: answer.into(), ..self }
    }

    /// The same of a result in shares, with what those are.
    fn answer_in_shares(self, answer: impl Into<String>) -> Self {
        Self { note: answer::OF_SHARES, ..self.answer(answer) }
    }

    fn fact(mut self, what: &str, value: impl Into<String>) -> Self {
        self.facts.push((what.into(), value.into()));
        self
    }

    fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// A table, unless it has no rows.
    fn table(
        self,
        caption: &str,
        header: Vec<String>,
        rows: impl ExactSizeIterator<Item = Vec<Cell>>,
    ) -> Self {
        if rows.len() == 0 { self } else { self.block(Block::Grid(Grid::new(caption, header, rows))) }
    }

    /// The instance's name, and what its author may want to look at.
    fn instance(self, stamp: &InstanceStamp<'_>) -> Self {
        let named = if stamp.name.is_empty() { self } else { self.fact("Instance", stamp.name.clone()) };
        let warnings: Vec<String> = stamp.warnings.iter().map(|warning| warning.message.clone()).collect();
        if warnings.is_empty() { named } else { named.block(Block::Warnings(warnings)) }
    }

    /// The chart of this number (from 1).
    ///
    /// # Errors
    /// Says which charts this result has, if any.
    pub fn chart(&self, number: usize) -> Result<Drawing, String> {
        let charts: Vec<&Block> = self.blocks.iter().filter(|block| block.caption().is_some()).collect();
        let chart = number.checked_sub(1).and_then(|position| charts.get(position));
        match chart {
            Some(Block::Bars(bars)) => Ok(plot::bars(bars, plot::Room::Wide)),
            Some(Block::Curves(figure)) => Ok(plot::curves(figure)),
            _ if charts.is_empty() => {
                Err(format!("{}: there is nothing in this result to draw", self.source))
            }
            _ => {
                let captions = charts.iter().filter_map(|block| block.caption()).enumerate();
                let captions: Vec<String> =
                    captions.map(|(position, caption)| format!("{} {caption}", position + 1)).collect();
                Err(format!("{}: has no chart {number}; there are: {}", self.source, captions.join("; ")))
            }
        }
    }
}

impl Block {
    /// What a chart shows; `None` of anything else.
    fn caption(&self) -> Option<&str> {
        match self {
            Self::Bars(bars) => Some(&bars.caption),
            Self::Curves(figure) => Some(&figure.title),
            Self::Grid(_) | Self::Warnings(_) => None,
        }
    }
}

/// The commands whose results have a page.
const SHOWN: &str = "solve, place, compare, bound, explain, entitlements, audit, verify, allocate, offline, flows, simulate, \
                     plan or reproduce";

/// Whether a result of `allocate` or `offline` is one of tasks over the servers of an instance.
fn is_over_instance(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Stamped {
        instance: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice(bytes).is_ok_and(|Stamped { instance }| instance.is_some())
}

/// Points of a curve: more than there are pixels are of no use.
const POINTS: usize = 400;

/// A line with a name.
fn line(name: &str, points: Vec<[f64; 2]>) -> Curve<'static> {
    Curve { kind: "".into(), subject: name.to_owned().into(), mark: Mark::Line, points }
}

/// Curves in one pair of axes.
fn curves(title: &str, horizontal: &str, vertical: &str, curves: Vec<Curve<'static>>) -> Figure<'static> {
    figure(title, horizontal, vertical, vec![Panel { title: "".into(), curves }])
}

/// Panels of curves.
fn figure(title: &str, horizontal: &str, vertical: &str, panels: Vec<Panel<'static>>) -> Figure<'static> {
    Figure {
        exhibit: "".into(),
        title: title.to_owned().into(),
        horizontal: horizontal.to_owned().into(),
        vertical: vertical.to_owned().into(),
        panels,
    }
}

/// The sizes of users as bars, in their order; of many users, the largest.
fn sizes(caption: &str, users: Vec<(String, f64)>, format: fn(f64) -> String) -> Block {
    let users = users.into_iter().map(|(id, size)| (id, vec![size])).collect();
    sizes_side_by_side(caption, &[], users, format)
}

/// Several sizes of each user, by the names of `series` (one without a name, if there are none), as bars; of many users,
/// those with the largest ones, and what the others have in the caption.
fn sizes_side_by_side(
    caption: &str,
    series: &[&str],
    mut users: Vec<(String, Vec<f64>)>,
    format: fn(f64) -> String,
) -> Block {
    let mut caption = caption.to_owned();
    if users.len() * series.len().max(1) > GROUPS {
        let shown = (BARS / series.len().max(1)).clamp(1, RANKED).min(users.len());
        let largest = |sizes: &[f64]| sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        users.sort_by(|a, b| largest(&b.1).total_cmp(&largest(&a.1)));
        let rest = users.split_off(shown);
        if !rest.is_empty() {
            let sizes = || rest.iter().flat_map(|(_, sizes)| sizes).copied();
            let range = [sizes().fold(f64::INFINITY, f64::min), sizes().fold(f64::NEG_INFINITY, f64::max)];
            let others = crate::units::counted(rest.len() as u64, "other has", "others have");
            caption += &match range.map(format) {
                [least, most] if least == most => format!(": the largest {shown}; {others} {most}"),
                [least, most] => format!(": the largest {shown}; {others} {least} to {most}"),
            };
        }
    }
    let series = series.iter().map(|name| (*name).to_owned()).collect();
    Block::Bars(Bars { caption, series, groups: users, mark: None, format })
}

#[cfg(test)]
mod tests;
