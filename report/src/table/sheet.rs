//! A table of named columns, the same as CSV, Parquet and Arrow.

use super::columns::{self, answers, counts, numbers, optional_numbers, words};
use super::{TableFormat, csv, finite};
use crate::output::Sink;
use fairplan_instances::files::guarded;
use std::io;

/// One column.
pub(super) enum Cells<'a> {
    /// Words; spreadsheets run none of them.
    Words(Vec<&'a str>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Numbers, some of which may be missing.
    Optional(Vec<Option<f64>>),
    /// Counts.
    Counts(Vec<u64>),
    /// Answers, some of which may be missing.
    Answers(Vec<Option<bool>>),
}

/// Columns of equal length.
pub(super) struct Sheet<'a>(pub Vec<(&'a str, Cells<'a>)>);

impl Sheet<'_> {
    pub fn write(&self, out: &mut Sink, format: TableFormat) -> io::Result<()> {
        for (_, cells) in &self.0 {
            match cells {
                Cells::Numbers(all) => all.iter().try_for_each(|x| finite(*x).map(drop))?,
                Cells::Optional(all) => all.iter().flatten().try_for_each(|x| finite(*x).map(drop))?,
                Cells::Words(_) | Cells::Counts(_) | Cells::Answers(_) => {}
            }
        }
        match format {
            TableFormat::Csv => {
                let header = self.0.iter().map(|(name, _)| *name);
                let row = |at: usize| self.0.iter().map(|(_, cells)| cells.text(at)).collect();
                let rows = self.0.first().map_or(0, |(_, cells)| cells.len());
                csv::write_records(out, header, (0..rows).map(row))
            }
            TableFormat::Columns(format) => {
                let column = |(name, cells): &(_, Cells<'_>)| {
                    let cells = match cells {
                        Cells::Words(all) => words(all.iter().copied()),
                        Cells::Numbers(all) => numbers(all.iter().copied()),
                        Cells::Optional(all) => optional_numbers(all.iter().copied()),
                        Cells::Counts(all) => counts(all.iter().copied()),
                        Cells::Answers(all) => answers(all.iter().copied()),
                    };
                    (*name, cells)
                };
                columns::write(out, format, std::iter::once(Ok(self.0.iter().map(column).collect())))
            }
        }
    }
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Words(all) => all.len(),
            Self::Numbers(all) => all.len(),
            Self::Optional(all) => all.len(),
            Self::Counts(all) => all.len(),
            Self::Answers(all) => all.len(),
        }
    }

    fn text(&self, at: usize) -> String {
        // A number in the shortest form that reads back as the same double, as in JSON.
        let number = |number: f64| serde_json::to_string(&number).unwrap_or_default();
        match self {
            Self::Words(all) => guarded(all[at].into()).into_owned(),
            Self::Numbers(all) => number(all[at]),
            Self::Optional(all) => all[at].map(number).unwrap_or_default(),
            Self::Counts(all) => all[at].to_string(),
            Self::Answers(all) => all[at].map(|yes| yes.to_string()).unwrap_or_default(),
        }
    }
}
