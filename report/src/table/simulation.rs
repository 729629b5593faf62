//! What a simulation tells event by event: samples and completed jobs, as JSON Lines, Parquet or Arrow.

use super::columns::{self, BATCH, Columns, counts, numbers, optional_numbers, words};
use crate::output::Sink;
use crate::resource_map::ResourceMap;
use crate::simulation::seconds;
use fairplan_instances::files::Columnar;
use fairplan_instances::trace::TraceHeader;
use fairplan_instances::{ClusterOutcome, ClusterSample, JobRun, UserSample};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
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
pub(crate) struct SampleLine<'a> {
    #[serde(borrow)]
    pub policy: Cow<'a, str>,
    pub time: f64,
    #[serde(borrow)]
    pub utilization: ResourceMap<'a>,
    pub running: u64,
    pub waiting: u64,
    #[serde(borrow)]
    pub users: Vec<UserLine<'a>>,
}

/// One user then.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserLine<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    pub running: u64,
    pub waiting: u64,
    pub dominant_share: f64,
    #[serde(borrow)]
    pub shares: ResourceMap<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_share: Option<f64>,
}

#[derive(Serialize)]
struct JobLine<'a> {
    policy: &'a str,
    job: &'a str,
    user: &'a str,
    tasks: u64,
    submitted: f64,
    completed: f64,
    completion_time: f64,
}

/// Writes the samples of all runs: a line each. In Parquet and Arrow a row for each user with tasks, after a row without a user for the
/// whole cluster, whose shares are the utilization.
pub fn write_series(
    out: &mut Sink,
    format: LongFormat,
    header: &TraceHeader,
    outcomes: &[NamedOutcome<'_>],
) -> io::Result<()> {
    let samples = outcomes
        .iter()
        .flat_map(|(policy, run)| run.samples.iter().map(move |sample| (*policy, *run, sample)));
    let names = |amounts: &[f64]| -> ResourceMap<'_> {
        let names = header.resources.iter().map(|resource| Cow::from(resource.name.as_str()));
        ResourceMap(names.zip(amounts.iter().copied()).collect())
    };
    match format {
        LongFormat::JsonLines => samples.into_iter().try_for_each(|(policy, run, sample)| {
            let user = |user: &UserSample| UserLine {
                id: run.users[user.user as usize].id.as_str().into(),
                running: user.running,
                waiting: user.waiting,
                dominant_share: user.dominant_share,
                shares: names(&user.shares),
                optimal_share: sample.has_optimum.then_some(user.optimal_share),
            };
            let line = SampleLine {
                policy: policy.into(),
                time: seconds(sample.time),
                utilization: names(&sample.utilization),
                running: sample.running,
                waiting: sample.waiting,
                users: sample.users.iter().map(user).collect(),
            };
            write_line(out, &line)
        }),
        LongFormat::Columns(format) => {
            let samples: Vec<_> = samples.collect();
            let shares: Vec<String> =
                header.resources.iter().map(|resource| format!("share_{}", resource.name)).collect();
            let batches = samples.chunks(BATCH / 64 + 1).map(|chunk| Ok(series_columns(chunk, &shares)));
            let none = samples.is_empty().then(|| Ok(series_columns(&[], &shares)));
            columns::write(out, format, batches.chain(none))
        }
    }
}

fn series_columns<'a>(
    samples: &[(&'a str, &'a ClusterOutcome, &'a ClusterSample)],
    shares: &'a [String],
) -> Columns<'a> {
    let rows: Vec<(&str, &ClusterOutcome, &ClusterSample, Option<&UserSample>)> = samples
        .iter()
        .flat_map(|(policy, run, sample)| {
            let users = std::iter::once(None).chain(sample.users.iter().map(Some));
            users.map(|user| (*policy, *run, *sample, user))
        })
        .collect();
    let id = |(_, run, _, user): &(&str, &'a ClusterOutcome, &ClusterSample, Option<&UserSample>)| {
        user.map_or("", |user| run.users[user.user as usize].id.as_str())
    };
    let mut columns: Columns<'a> = vec![
        ("policy", words(rows.iter().map(|row| row.0))),
        ("time", numbers(rows.iter().map(|row| seconds(row.2.time)))),
        ("user", words(rows.iter().map(id))),
        ("running", counts(rows.iter().map(|row| row.3.map_or(row.2.running, |user| user.running)))),
        ("waiting", counts(rows.iter().map(|row| row.3.map_or(row.2.waiting, |user| user.waiting)))),
        ("dominant_share", optional_numbers(rows.iter().map(|row| row.3.map(|user| user.dominant_share)))),
        (
            "optimal_share",
            optional_numbers(
                rows.iter().map(|row| row.3.filter(|_| row.2.has_optimum).map(|user| user.optimal_share)),
            ),
        ),
    ];
    for (r, name) in shares.iter().enumerate() {
        let share = rows.iter().map(|row| row.3.map_or(row.2.utilization[r], |user| user.shares[r]));
        columns.push((name, numbers(share)));
    }
    columns
}

/// Writes the completed jobs of all runs, in the order in which they were completed: a line or a row each.
pub fn write_jobs(out: &mut Sink, format: LongFormat, outcomes: &[NamedOutcome<'_>]) -> io::Result<()> {
    let jobs = outcomes.iter().flat_map(|(policy, run)| run.jobs.iter().map(move |job| (*policy, *run, job)));
    let times = |job: &JobRun| [job.submitted, job.completed, job.completed - job.submitted].map(seconds);
    match format {
        LongFormat::JsonLines => jobs.into_iter().try_for_each(|(policy, run, job)| {
            let [submitted, completed, completion_time] = times(job);
            let user = &run.users[job.user as usize].id;
            let line = JobLine {
                policy,
                job: &job.id,
                user,
                tasks: job.tasks,
                submitted,
                completed,
                completion_time,
            };
            write_line(out, &line)
        }),
        LongFormat::Columns(format) => {
            let rows: Vec<_> = jobs.collect();
            let columns = |rows: &[(&'_ str, &'_ ClusterOutcome, &'_ JobRun)]| -> Columns<'static> {
                let time = |place: usize| numbers(rows.iter().map(|row| times(row.2)[place]));
                vec![
                    ("policy", words(rows.iter().map(|row| row.0))),
                    ("job", words(rows.iter().map(|row| row.2.id.as_str()))),
                    ("user", words(rows.iter().map(|row| row.1.users[row.2.user as usize].id.as_str()))),
                    ("tasks", counts(rows.iter().map(|row| row.2.tasks))),
                    ("submitted", time(0)),
                    ("completed", time(1)),
                    ("completion_time", time(2)),
                ]
            };
            let batches = rows.chunks(BATCH).map(|chunk| Ok(columns(chunk)));
            let none = rows.is_empty().then(|| Ok(columns(&[])));
            columns::write(out, format, batches.chain(none))
        }
    }
}

fn write_line(out: &mut Sink, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
