//! The tables of an offline optimum: its users or, with every quantum kept, one row a quantum and user.

use super::columns::{Columns, counts, numbers, optional_numbers, positions, words};
use super::users::{Row, write};
use super::{TableFormat, finite};
use crate::offline::{OfflineDocument, TaskOfflineDocument};
use crate::output::Sink;
use fairplan_instances::files::guarded;
use fairplan_instances::{DemandSeries, OfflineOptimum};
use serde::Serialize;
use std::borrow::Cow;
use std::io;

#[derive(Serialize)]
struct UserRow<'a> {
    id: Cow<'a, str>,
    demand: u64,
    allocated: f64,
    welfare: Option<f64>,
    level: Option<u32>,
}

impl Row for UserRow<'_> {
    fn guarded(mut self) -> Self {
        self.id = guarded(self.id);
        self
    }

    fn columns(rows: &[Self]) -> Columns<'static> {
        vec![
            ("id", words(rows.iter().map(|row| &*row.id))),
            ("demand", counts(rows.iter().map(|row| row.demand))),
            ("allocated", numbers(rows.iter().map(|row| row.allocated))),
            ("welfare", optional_numbers(rows.iter().map(|row| row.welfare))),
            ("level", positions(rows.iter().map(|row| row.level))),
        ]
    }
}

/// Writes the users of an optimum, in the order of the series.
pub fn write_offline(out: &mut Sink, format: TableFormat, document: &OfflineDocument<'_>) -> io::Result<()> {
    write(out, format, document.users.len(), |position| {
        let user = &document.users[position];
        Ok(UserRow {
            id: user.id.clone(),
            demand: user.demand,
            allocated: finite(user.allocated)?,
            welfare: user.welfare.map(finite).transpose()?,
            level: user.level,
        })
    })
}

#[derive(Serialize)]
struct QuantumRow<'a> {
    quantum: Cow<'a, str>,
    user: Cow<'a, str>,
    demand: u64,
    allocated: f64,
}

impl Row for QuantumRow<'_> {
    fn guarded(mut self) -> Self {
        self.quantum = guarded(self.quantum);
        self.user = guarded(self.user);
        self
    }

    fn columns(rows: &[Self]) -> Columns<'static> {
        vec![
            ("quantum", words(rows.iter().map(|row| &*row.quantum))),
            ("user", words(rows.iter().map(|row| &*row.user))),
            ("demand", counts(rows.iter().map(|row| row.demand))),
            ("allocated", numbers(rows.iter().map(|row| row.allocated))),
        ]
    }
}

/// Writes one row for every demand above zero: what it is, and what it is allocated.
pub fn write_offline_quanta(
    out: &mut Sink,
    format: TableFormat,
    series: &DemandSeries,
    optimum: &OfflineOptimum,
) -> io::Result<()> {
    let entries: Vec<(usize, u32, u64)> = (0..series.quantum_count())
        .flat_map(|quantum| {
            let (users, slices) = series.demands(quantum);
            users.iter().zip(slices).map(move |(user, slices)| (quantum, *user, *slices))
        })
        .collect();
    write(out, format, entries.len(), |position| {
        let (quantum, user, demand) = entries[position];
        Ok(QuantumRow {
            quantum: series.label(quantum).to_string().into(),
            user: series.user_id(user as usize).into(),
            demand,
            allocated: finite(optimum.allocated[position])?,
        })
    })
}

#[derive(Serialize)]
struct TaskUserRow<'a> {
    id: Cow<'a, str>,
    demand: u64,
    allocated: f64,
    welfare: Option<f64>,
    dominant_share: f64,
    level: Option<u32>,
}

impl Row for TaskUserRow<'_> {
    fn guarded(mut self) -> Self {
        self.id = guarded(self.id);
        self
    }

    fn columns(rows: &[Self]) -> Columns<'static> {
        vec![
            ("id", words(rows.iter().map(|row| &*row.id))),
            ("demand", counts(rows.iter().map(|row| row.demand))),
            ("allocated", numbers(rows.iter().map(|row| row.allocated))),
            ("welfare", optional_numbers(rows.iter().map(|row| row.welfare))),
            ("dominant_share", numbers(rows.iter().map(|row| row.dominant_share))),
            ("level", positions(rows.iter().map(|row| row.level))),
        ]
    }
}

/// Writes the users of an optimum over the servers of an instance.
pub fn write_task_offline(
    out: &mut Sink,
    format: TableFormat,
    document: &TaskOfflineDocument<'_>,
) -> io::Result<()> {
    write(out, format, document.users.len(), |position| {
        let user = &document.users[position];
        Ok(TaskUserRow {
            id: user.id.clone(),
            demand: user.demand,
            allocated: finite(user.allocated)?,
            welfare: user.welfare.map(finite).transpose()?,
            dominant_share: finite(user.dominant_share)?,
            level: user.level,
        })
    })
}
