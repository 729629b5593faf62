//! The tables of an allocation: its users or, with every quantum kept, one row a quantum and user.

use super::columns::{Columns, counts, optional_numbers, words};
use super::users::{Row, write};
use super::{TableFormat, finite};
use crate::output::Sink;
use fairplan_instances::files::guarded;
use fairplan_instances::{DemandSeries, DynamicOutcome};
use serde::Serialize;
use std::borrow::Cow;
use std::io;

#[derive(Serialize)]
struct UserRow<'a> {
    id: Cow<'a, str>,
    demand: u64,
    allocated: u64,
    useful: u64,
    welfare: Option<f64>,
    credits: Option<f64>,
    throughput: Option<f64>,
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
            ("allocated", counts(rows.iter().map(|row| row.allocated))),
            ("useful", counts(rows.iter().map(|row| row.useful))),
            ("welfare", optional_numbers(rows.iter().map(|row| row.welfare))),
            ("credits", optional_numbers(rows.iter().map(|row| row.credits))),
            ("throughput", optional_numbers(rows.iter().map(|row| row.throughput))),
        ]
    }
}

/// Writes the users of an allocation, in the series' order. What a mechanism or a user does not have is left empty.
pub fn write_allocation(
    out: &mut Sink,
    format: TableFormat,
    series: &DemandSeries,
    outcome: &DynamicOutcome,
) -> io::Result<()> {
    write(out, format, series.user_count(), |user| {
        let totals = &outcome.users[user];
        Ok(UserRow {
            id: series.user_id(user).into(),
            demand: totals.demand,
            allocated: totals.allocated,
            useful: totals.useful,
            welfare: totals.welfare.map(finite).transpose()?,
            credits: totals.credits.map(finite).transpose()?,
            throughput: totals.throughput.map(finite).transpose()?,
        })
    })
}

#[derive(Serialize)]
struct QuantumRow<'a> {
    quantum: Cow<'a, str>,
    user: Cow<'a, str>,
    demand: u64,
    allocated: u64,
    credits: Option<f64>,
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
            ("allocated", counts(rows.iter().map(|row| row.allocated))),
            ("credits", optional_numbers(rows.iter().map(|row| row.credits))),
        ]
    }
}

/// Writes one row for every user in every quantum that was kept: what it demanded, what it was allocated, and its
/// credits afterwards.
pub fn write_allocation_quanta(
    out: &mut Sink,
    format: TableFormat,
    series: &DemandSeries,
    outcome: &DynamicOutcome,
) -> io::Result<()> {
    let quanta = outcome.quanta.as_deref().unwrap_or_default();
    let users = series.user_count();
    write(out, format, quanta.len() * users, |position| {
        let (quantum, user) = (position / users, position % users);
        let (demanders, slices) = series.demands(quantum);
        let demand = demanders.binary_search(&(user as u32)).map_or(0, |entry| slices[entry]);
        Ok(QuantumRow {
            quantum: series.label(quantum).to_string().into(),
            user: series.user_id(user).into(),
            demand,
            allocated: quanta[quantum].allocated[user],
            credits: quanta[quantum].credits.get(user).copied().map(finite).transpose()?,
        })
    })
}
