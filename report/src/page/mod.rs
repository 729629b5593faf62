//! One self-contained HTML page from any results. What a page shows is data: sections of facts, tables and charts. What of a
//! format people want to see is the business of one file each here, how it looks that of `html`.

mod html;
pub(crate) mod time;

pub use html::{fragment, write_page};

use crate::figure::{Bars, Curve, Figure, Mark, Panel};
use crate::plot::{self, Drawing};
use crate::results::sentences::OF_SHARES;
use crate::summary::grid::broken;
use crate::units::shown;
use fairplan_instances::InstanceStamp;
use fairplan_instances::table::{self, Column, Table};

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
pub(crate) enum Block {
    Bars(Bars),
    Curves(Figure),
    Grid(Grid),
    /// What deserves a look, one line each.
    Warnings(Vec<String>),
}

/// A table that can be sorted by any column.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
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
pub(crate) struct Cell {
    text: String,
    number: Option<f64>,
}

impl Cell {
    /// The cell of a row.
    fn new(column: &Column<'_>, row: usize) -> Self {
        let number = match column.cell(row) {
            table::Cell::Number(number) => Some(number),
            table::Cell::Count(count) => Some(count as f64),
            _ => None,
        };
        let text = match column.cell(row) {
            // Where text stands, HTML is safe, and names are whole.
            table::Cell::Text(text) if column.words(row).is_none() => text.into_owned(),
            _ => shown(column, row),
        };
        Self { text, number }
    }

    /// Whether it is a number, and that zero.
    fn is_zero(&self) -> bool {
        self.number.is_some_and(|number| number == 0.0)
    }
}

/// Rows of a table on a page: more are for a file, not for eyes.
const ROWS: usize = 500;

/// Groups of bars: of more, only the longest are shown.
pub(crate) const GROUPS: usize = 40;

/// Of many groups, so many are shown, ranked.
const RANKED: usize = 20;

/// Bars of all groups together, where a group has several.
const BARS: usize = 60;

/// Rows of nothing but zeros: more are folded away.
const ZEROS: usize = 5;

impl Grid {
    pub(crate) fn new(caption: &str, table: &Table<'_>) -> Self {
        let row = |row: usize| table.columns().iter().map(|column| Cell::new(column, row)).collect();
        let mut rows: Vec<Vec<Cell>> = (0..table.rows().min(ROWS)).map(row).collect();
        let is_zero = |row: &Vec<Cell>| {
            let mut numbers = row.iter().filter(|cell| cell.number.is_some()).peekable();
            numbers.peek().is_some() && numbers.all(Cell::is_zero)
        };
        let mut zeros = Vec::new();
        if rows.iter().filter(|row| is_zero(row)).count() > ZEROS {
            (zeros, rows) = rows.into_iter().partition(is_zero);
        }
        let header = table.columns().iter().map(|column| column.title.clone().into_owned()).collect();
        Self { caption: caption.into(), header, rows, zeros, total: table.rows() }
    }
}

impl Section {
    pub(crate) fn new(title: impl Into<String>) -> Self {
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
    pub(crate) fn answer(self, answer: impl Into<String>) -> Self {
        Self { answer: answer.into(), ..self }
    }

    /// The same of a result in shares, with what those are.
    pub(crate) fn answer_in_shares(self, answer: impl Into<String>) -> Self {
        Self { note: OF_SHARES, ..self.answer(answer) }
    }

    pub(crate) fn fact(mut self, what: &str, value: impl Into<String>) -> Self {
        self.facts.push((what.into(), value.into()));
        self
    }

    pub(crate) fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// A table.
    pub(crate) fn grid(self, caption: &str, table: &Table<'_>) -> Self {
        self.block(Block::Grid(Grid::new(caption, table)))
    }

    /// A table, unless it has no rows.
    pub(crate) fn table(self, caption: &str, table: &Table<'_>) -> Self {
        if table.rows() == 0 { self } else { self.grid(caption, table) }
    }

    /// The instance's name, and what its author may want to look at.
    pub(crate) fn instance(self, stamp: &InstanceStamp) -> Self {
        let named = if stamp.name.is_empty() { self } else { self.fact("Instance", stamp.name.clone()) };
        let warnings: Vec<String> = stamp.warnings.iter().map(|warning| warning.message.clone()).collect();
        if warnings.is_empty() { named } else { named.block(Block::Warnings(warnings)) }
    }

    /// What the reader must know of all that follows, if anything.
    pub(crate) fn warning(self, warning: Option<&str>) -> Self {
        match warning {
            None => self,
            Some(warning) => self.block(Block::Warnings(vec![warning.into()])),
        }
    }

    /// The chart of this number (from 1). A result without sizes to compare has one of its sentences.
    ///
    /// # Errors
    /// Says which charts this result has.
    pub fn chart(&self, number: usize) -> Result<Drawing, String> {
        let charts: Vec<&Block> = self.blocks.iter().filter(|block| block.caption().is_some()).collect();
        let chart = number.checked_sub(1).and_then(|position| charts.get(position));
        match chart {
            Some(Block::Bars(bars)) => Ok(plot::bars(bars, plot::Room::Wide)),
            Some(Block::Curves(figure)) => Ok(plot::curves(figure)),
            _ if charts.is_empty() && number == 1 => Ok(self.in_words()),
            _ => {
                let captions = charts.iter().filter_map(|block| block.caption());
                let captions = if charts.is_empty() { vec![&*self.title] } else { captions.collect() };
                let told = captions.iter().enumerate();
                let told: Vec<String> =
                    told.map(|(position, caption)| format!("{} {caption}", position + 1)).collect();
                Err(format!("{}: has no chart {number}; there are: {}", self.source, told.join("; ")))
            }
        }
    }

    /// What the result comes to, and its facts, as a drawing.
    fn in_words(&self) -> Drawing {
        let facts = self.facts.iter().map(|(what, value)| format!("{what}: {value}"));
        let lines = std::iter::once(self.answer.clone()).chain(facts);
        let lines: Vec<String> = lines.flat_map(|line| broken(&line, plot::LETTERS)).collect();
        plot::words(&self.title, &lines)
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

/// Whether a result of `allocate` or `offline` is one of tasks over the servers of an instance.
pub(crate) fn is_over_instance(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Stamped {
        instance: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice(bytes).is_ok_and(|Stamped { instance }| instance.is_some())
}

/// Points of a curve: more than there are pixels are of no use.
const POINTS: usize = 400;

/// A line with a name.
pub(crate) fn line(name: &str, points: Vec<[f64; 2]>) -> Curve {
    Curve { kind: "".into(), subject: name.to_owned(), mark: Mark::Line, points }
}

/// Curves in one pair of axes.
pub(crate) fn curves(title: &str, horizontal: &str, vertical: &str, curves: Vec<Curve>) -> Figure {
    figure(title, horizontal, vertical, vec![Panel { title: "".into(), curves }])
}

/// Panels of curves.
pub(crate) fn figure(title: &str, horizontal: &str, vertical: &str, panels: Vec<Panel>) -> Figure {
    Figure {
        exhibit: "".into(),
        title: title.to_owned(),
        horizontal: horizontal.to_owned(),
        names: Vec::new(),
        vertical: vertical.to_owned(),
        panels,
    }
}

/// The sizes of users as bars, in their order; of many users, the largest.
pub(crate) fn sizes(caption: &str, users: Vec<(String, f64)>, format: fn(f64) -> String) -> Block {
    let users = users.into_iter().map(|(id, size)| (id, vec![size])).collect();
    sizes_side_by_side(caption, &[], users, format)
}

/// Several sizes of each user, by the names of `series` (one without a name, if there are none), as bars; of many users,
/// those with the largest ones, and what the others have in the caption.
pub(crate) fn sizes_side_by_side(
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
