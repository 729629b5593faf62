//! The tables of tasks over server classes: users, or one row a quantum, user and class.

use super::columns::{Columns, counts, numbers, optional_numbers, words};
use super::users::{Row, write};
use super::{TableFormat, finite};
use crate::offline::for_each_entry;
use crate::output::Sink;
use crate::task_allocation::TaskAllocationDocument;
use fairplan_instances::TaskDemands;
use fairplan_instances::files::guarded;
use serde::Serialize;
use std::borrow::Cow;
use std::io;

#[derive(Serialize)]
struct UserRow<'a> {
    id: Cow<'a, str>,
    demand: u64,
    allocated: f64,
    useful: f64,
    welfare: Option<f64>,
    dominant_share: f64,
    credits: Option<f64>,
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
            ("useful", numbers(rows.iter().map(|row| row.useful))),
            ("welfare", optional_numbers(rows.iter().map(|row| row.welfare))),
            ("dominant_share", numbers(rows.iter().map(|row| row.dominant_share))),
            ("credits", optional_numbers(rows.iter().map(|row| row.credits))),
        ]
    }
}

/// Writes the users of an allocation of tasks.
pub fn write_task_allocation(
    out: &mut Sink,
    format: TableFormat,
    document: &TaskAllocationDocument<'_>,
) -> io::Result<()> {
    write(out, format, document.users.len(), |position| {
        let user = &document.users[position];
        Ok(UserRow {
            id: user.id.clone(),
            demand: user.demand,
            allocated: finite(user.allocated)?,
            useful: finite(user.useful)?,
            welfare: user.welfare.map(finite).transpose()?,
            dominant_share: finite(user.dominant_share)?,
            credits: user.credits.map(finite).transpose()?,
        })
    })
}

#[derive(Serialize)]
struct TaskRow<'a> {
    quantum: Cow<'a, str>,
    user: Cow<'a, str>,
    class: Cow<'a, str>,
    tasks: f64,
}

impl Row for TaskRow<'_> {
    fn guarded(mut self) -> Self {
        self.quantum = guarded(self.quantum);
        self.user = guarded(self.user);
        self.class = guarded(self.class);
        self
    }

    fn columns(rows: &[Self]) -> Columns<'static> {
        vec![
            ("quantum", words(rows.iter().map(|row| &*row.quantum))),
            ("user", words(rows.iter().map(|row| &*row.user))),
            ("class", words(rows.iter().map(|row| &*row.class))),
            ("tasks", numbers(rows.iter().map(|row| row.tasks))),
        ]
    }
}

/// Writes where tasks run: one row for every quantum, user and class with some.
pub fn write_task_quanta(
    out: &mut Sink,
    format: TableFormat,
    demands: &TaskDemands<'_>,
    tasks: &[f64],
) -> io::Result<()> {
    let mut placed = Vec::new();
    for_each_entry(demands, tasks, |quantum, user, _, row| {
        let some = row.iter().enumerate().filter(|(_, tasks)| **tasks > 0.0);
        placed.extend(some.map(|(class, tasks)| (quantum, user, class, *tasks)));
    });
    let (series, instance) = (demands.series(), demands.instance());
    write(out, format, placed.len(), |position| {
        let (quantum, user, class, tasks) = placed[position];
        Ok(TaskRow {
            quantum: series.label(quantum).to_string().into(),
            user: series.user_id(user).into(),
            class: instance.classes()[class].id.as_str().into(),
            tasks: finite(tasks)?,
        })
    })
}
