//! What a simulation tells event by event: samples and completed jobs, as JSON Lines, Parquet or Arrow.

use super::{TableFormat, write_table};
use crate::output::Sink;
use fairplan_instances::ResourceMap;
use fairplan_instances::files::Columnar;
use fairplan_instances::table::{Cell, Kind, Table};
use fairplan_instances::trace::{TraceHeader, seconds};
use fairplan_instances::{ClusterOutcome, ClusterSample, JobRun, UserSample};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// Long output: one record a line, or a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongFormat {
    /// One JSON object a line.
    JsonLines,
    /// Parquet or Arrow.
    Columns(Columnar),
}

/// A policy and what came of it.
pub type NamedOutcome<'a> = (&'a str, &'a ClusterOutcome);

/// How things stand at one time under one policy: a line of a series.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleLine {
    pub policy: String,
    pub time: f64,
    pub utilization: ResourceMap,
    pub running: u64,
    pub waiting: u64,
    pub users: Vec<UserLine>,
}

/// One user then.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserLine {
    pub id: String,
    pub running: u64,
    pub waiting: u64,
    pub dominant_share: f64,
    pub shares: ResourceMap,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_share: Option<f64>,
}

/// Writes the samples of all runs: a line each, or in Parquet and Arrow the rows of [`series_of`].
pub fn write_series(
    out: &mut Sink,
    format: LongFormat,
    header: &TraceHeader,
    outcomes: &[NamedOutcome<'_>],
) -> io::Result<()> {
    let names = |amounts: &[f64]| -> ResourceMap {
        let names = header.resources.iter().map(|resource| resource.name.clone());
        ResourceMap(names.zip(amounts.iter().copied()).collect())
    };
    let line = |policy: &str, run: &ClusterOutcome, sample: &ClusterSample| {
        let user = |user: &UserSample| UserLine {
            id: run.users[user.user as usize].id.as_str().into(),
            running: user.running,
            waiting: user.waiting,
            dominant_share: user.dominant_share,
            shares: names(&user.shares),
            optimal_share: sample.has_optimum.then_some(user.optimal_share),
        };
        SampleLine {
            policy: policy.into(),
            time: seconds(sample.time),
            utilization: names(&sample.utilization),
            running: sample.running,
            waiting: sample.waiting,
            users: sample.users.iter().map(user).collect(),
        }
    };
    match format {
        LongFormat::JsonLines => outcomes.iter().try_for_each(|(policy, run)| {
            run.samples.iter().try_for_each(|sample| write_line(out, &line(policy, run, sample)))
        }),
        LongFormat::Columns(format) => {
            write_table(out, TableFormat::Columns(format), &series_of(header, outcomes))
        }
    }
}

/// What a row of a series is about: a user at a time under a policy, or the whole cluster.
type SeriesRow<'a> = (&'a str, &'a ClusterOutcome, &'a ClusterSample, Option<&'a UserSample>);

/// The samples of all runs: a row for the whole cluster, which names no user and has the columns `cluster_running`,
/// `cluster_waiting` and `utilization_…`, and one for each user with tasks, which has the others.
pub fn series_of<'a>(header: &TraceHeader, outcomes: &[NamedOutcome<'a>]) -> Table<'a> {
    let samples = outcomes
        .iter()
        .flat_map(|(policy, run)| run.samples.iter().map(move |sample| (*policy, *run, sample)));
    let rows = samples.flat_map(|(policy, run, sample)| {
        let users = std::iter::once(None).chain(sample.users.iter().map(Some));
        users.map(move |user| (policy, run, sample, user))
    });
    let rows: Vec<SeriesRow<'a>> = rows.collect();
    let id = |(_, run, _, user): SeriesRow<'a>| user.map(|user| run.users[user.user as usize].id.as_str());
    let optimum = |(.., sample, user): SeriesRow<'a>| {
        user.filter(|_| sample.has_optimum).map(|user| user.optimal_share)
    };
    let of_cluster = |(.., sample, user): SeriesRow<'a>| user.is_none().then_some(sample);
    let mut columns = Table::over(rows.len(), move |row| rows[row])
        .column("policy", "policy", Kind::Id, |row| row.0)
        .column("time", "seconds", Kind::Seconds, |row| seconds(row.2.time))
        .column("user", "user", Kind::Id, id)
        .column("running", "running", Kind::Count, |row| row.3.map(|user| user.running))
        .column("waiting", "waiting", Kind::Count, |row| row.3.map(|user| user.waiting))
        .column("dominant_share", "dominant share", Kind::Share, |row| row.3.map(|user| user.dominant_share))
        .column("optimal_share", "optimal share", Kind::Share, optimum);
    for (r, resource) in header.resources.iter().enumerate() {
        let (name, title) = (format!("share_{}", resource.name), format!("share of {}", resource.name));
        let share = move |row: SeriesRow<'a>| row.3.map(|user| user.shares[r]);
        columns = columns.column(name, title, Kind::Share, share);
    }
    let count = |of: fn(&ClusterSample) -> u64| move |row| of_cluster(row).map(of);
    columns = columns
        .column("cluster_running", "all running", Kind::Count, count(|sample| sample.running))
        .column("cluster_waiting", "all waiting", Kind::Count, count(|sample| sample.waiting));
    for (r, resource) in header.resources.iter().enumerate() {
        let (name, title) = (format!("utilization_{}", resource.name), format!("{} used", resource.name));
        let used = move |row: SeriesRow<'a>| of_cluster(row).map(|sample| sample.utilization[r]);
        columns = columns.column(name, title, Kind::Part, used);
    }
    columns.done()
}

/// The completed jobs of all runs, in the order in which they were completed: a row each.
pub fn jobs_of<'a>(outcomes: &[NamedOutcome<'a>]) -> Table<'a> {
    let jobs = outcomes.iter().flat_map(|(policy, run)| run.jobs.iter().map(move |job| (*policy, *run, job)));
    let jobs: Vec<(&'a str, &'a ClusterOutcome, &'a JobRun)> = jobs.collect();
    Table::over(jobs.len(), move |row| jobs[row])
        .column("policy", "policy", Kind::Id, |job| job.0)
        .column("job", "job", Kind::Id, |job| job.2.id.as_str())
        .column("user", "user", Kind::Id, |job| job.1.users[job.2.user as usize].id.as_str())
        .column("tasks", "tasks", Kind::Count, |job| job.2.tasks)
        .column("submitted", "submitted", Kind::Seconds, |job| seconds(job.2.submitted))
        .column("completed", "completed", Kind::Seconds, |job| seconds(job.2.completed))
        .column("completion_time", "completion time", Kind::Seconds, |job| {
            seconds(job.2.completed - job.2.submitted)
        })
        .done()
}

/// Writes the rows of [`jobs_of`]: a line each, or a table.
pub fn write_jobs(out: &mut Sink, format: LongFormat, outcomes: &[NamedOutcome<'_>]) -> io::Result<()> {
    let table = jobs_of(outcomes);
    match format {
        LongFormat::JsonLines => (0..table.rows()).try_for_each(|row| write_line(out, &Line(&table, row))),
        LongFormat::Columns(format) => write_table(out, TableFormat::Columns(format), &table),
    }
}

/// A row of a table as an object.
struct Line<'a, 't>(&'a Table<'t>, usize);

impl Serialize for Line<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        for column in self.0.columns() {
            match column.cell(self.1) {
                Cell::Missing => Ok(()),
                Cell::Text(text) => line.serialize_entry(&column.name, &text),
                Cell::Count(count) => line.serialize_entry(&column.name, &count),
                Cell::Number(number) => line.serialize_entry(&column.name, &number),
                Cell::Answer(answer) => line.serialize_entry(&column.name, &answer),
            }?;
        }
        line.end()
    }
}

fn write_line(out: &mut Sink, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
