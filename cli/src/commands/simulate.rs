//! `simulate`: a trace of jobs run on its cluster, policies side by side.

use super::simulated::{ClusterPolicy, TraceInput};
use super::solve::solver;
use super::tell;
use crate::arguments::{CommonOptions, OutputArguments, seconds};
use crate::failure::{Answer, Failure};
use crate::{interrupt, output, progress};
use fairplan_instances::trace::{LATEST, MICROSECONDS};
use fairplan_instances::{ClusterOutcome, Decimal, Solver, TaskCounts, files};
use fairplan_report::output::{Destination, commit};
use fairplan_report::simulation::{PolicyRun, SimulationBody, SimulationSettings, TraceStamp};
use fairplan_report::table::{LongFormat, NamedOutcome, write_jobs, write_series};
use fairplan_report::{summary, write_json};
use fairplan_simulation::{ClusterSettings, Watch};
use rayon::prelude::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Run the jobs of a trace on its cluster, to see what policies do to utilization, completion times and shares
#[derive(Debug, clap::Args)]
#[command(after_help = "\
TRACE is a fairplan.trace.v1, as `fairplan generate trace-...` and `fairplan import google-2011-trace` make it. Whenever \
tasks end or come, the user with the lowest weighted dominant share starts the oldest of its tasks that fits somewhere, and so \
on until nothing fits. Users take part while they have tasks and depart when these are done. The result is a fairplan.simulation.v1. Ctrl-C ends a run early; its result is then marked partial and \
the exit status is 3.

Examples:
  fairplan generate trace-drfh-fig4 | fairplan simulate - --policy best-fit,first-fit,slots=14
  fairplan generate trace-drfh-fig4 -o fig4.jsonl
  fairplan simulate fig4.jsonl --policy best-fit --series shares.jsonl --sample 10 --optimum 100 -o fig4.json")]
pub struct Arguments {
    /// The trace: JSON Lines, gzipped or not, or Parquet; - for standard input
    trace: String,
    #[arg(
        long,
        alias = "policies",
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "best-fit,first-fit,slots=14",
        help = ClusterPolicy::help()
    )]
    policy: Vec<String>,
    /// Servers give so many times their capacity to tasks
    #[arg(long, value_name = "FACTOR", default_value = "1", allow_negative_numbers = true)]
    over_commit: Decimal,
    /// Tasks that lose their server are lost, instead of submitted again
    #[arg(long)]
    lose_evicted: bool,
    /// Simulate nothing later than this, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = microseconds, allow_negative_numbers = true)]
    horizon: Option<u64>,
    /// Also run every user alone on its part of the servers (one in n of n users'), to see who loses by sharing
    #[arg(long)]
    dedicated: bool,
    /// Write how things stand over time: JSON Lines, or Parquet or Arrow if the name ends so
    #[arg(long, value_name = "FILE")]
    series: Option<PathBuf>,
    /// How often the series tells how things stand, in seconds (default: 300, or as often as the optimum)
    #[arg(long, value_name = "SECONDS", value_parser = microseconds, requires = "series", allow_negative_numbers = true)]
    sample: Option<u64>,
    /// How often the series tells the exact DRFH optimum, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = microseconds, requires = "series", allow_negative_numbers = true)]
    optimum: Option<u64>,
    /// Write the completed jobs: JSON Lines, or Parquet or Arrow if the name ends so
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,
    /// exact, pf: follow an ideal allocation for so many seconds before it is computed anew
    #[arg(long, value_name = "SECONDS", value_parser = microseconds, default_value = "0", allow_negative_numbers = true)]
    resolve_every: u64,
    /// Seed of the policy `random` and of the dealing of dedicated clouds
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Stop after so many seconds of computing; the result is then partial and the exit status 3
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    time_limit: Option<Duration>,
    #[command(flatten)]
    output: OutputArguments,
}

/// How often a series has a sample if nothing is said, in microseconds.
const SAMPLE: u64 = 300 * MICROSECONDS;

/// Seconds as microseconds.
fn microseconds(text: &str) -> Result<u64, String> {
    let seconds: Decimal = text.parse().map_err(|problem| format!("{problem}"))?;
    let whole =
        seconds.scaled(-6).and_then(|whole| u64::try_from(whole).ok()).filter(|whole| *whole <= LATEST);
    whole.ok_or_else(|| "state seconds with at most 6 decimal places, below 4e12".into())
}

struct Job {
    trace: String,
    policies: Vec<ClusterPolicy>,
    solver: Box<dyn Solver>,
    settings: ClusterSettings,
    dedicated: bool,
    seed: u64,
    time_limit: Option<Duration>,
    series: Option<(LongFormat, Destination)>,
    jobs: Option<(LongFormat, Destination)>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let policies: Vec<ClusterPolicy> = arguments
            .policy
            .iter()
            .map(|name| ClusterPolicy::named(name, arguments.seed))
            .collect::<Result<_, _>>()?;
        for (position, policy) in policies.iter().enumerate() {
            if policies[..position].iter().any(|other| other.name == policy.name) {
                return Err(Failure::refused(format!("--policy names {} twice", policy.name)));
            }
        }
        let long = |path: Option<PathBuf>| path.as_deref().map(output::long).transpose();
        let series = long(arguments.series)?;
        let default = (series.is_some() && arguments.optimum.is_none()).then_some(SAMPLE);
        let settings = ClusterSettings {
            over_commit: arguments.over_commit,
            resubmit: !arguments.lose_evicted,
            horizon: arguments.horizon,
            sample_every: arguments.sample.or(default),
            optimum_every: arguments.optimum,
            resolve_every: arguments.resolve_every,
        };
        Ok(Self {
            trace: arguments.trace,
            policies,
            solver: solver("auto")?,
            settings,
            dedicated: arguments.dedicated,
            seed: arguments.seed,
            time_limit: arguments.time_limit,
            series,
            jobs: long(arguments.jobs)?,
            destination: arguments.output.destination()?,
        })
    }
}

/// Stops a run when the user or the time limit says so, and tells how far it is; both now and then.
struct Patience<'a> {
    policy: &'a str,
    is_over: &'a (dyn Fn() -> bool + Sync),
    tell: &'a (dyn Fn(String) + Sync),
    instants: u32,
}

impl Watch for Patience<'_> {
    fn instant(&mut self, time: u64, tasks: &TaskCounts) -> bool {
        self.instants = self.instants.wrapping_add(1);
        if self.instants.is_multiple_of(4096) {
            let (seconds, TaskCounts { completed, waiting, .. }) = (time / MICROSECONDS, tasks);
            let policy = self.policy;
            (self.tell)(format!("simulating {policy}: {seconds} s, {completed} tasks done, {waiting} wait"));
        }
        self.instants.is_multiple_of(64) && (self.is_over)()
    }
}

impl Job {
    fn settings(&self) -> SimulationSettings {
        let seconds = fairplan_report::simulation::seconds;
        SimulationSettings {
            over_commit: self.settings.over_commit.to_f64(),
            resubmit: self.settings.resubmit,
            horizon: self.settings.horizon.map(seconds),
            sample_every: self.settings.sample_every.map(seconds),
            optimum_every: self.settings.optimum_every.map(seconds),
            resolve_every: seconds(self.settings.resolve_every),
            seed: self.seed,
        }
    }

    /// What came of a policy, shared and on dedicated clouds.
    fn outcome(
        &self,
        policy: &ClusterPolicy,
        input: &TraceInput,
        is_over: &(dyn Fn() -> bool + Sync),
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<(ClusterOutcome, Option<ClusterOutcome>), Failure> {
        let mut patience = Patience { policy: &policy.name, is_over, tell, instants: 0 };
        let shared = policy.run(input, &*self.solver, self.settings, &mut patience)?;
        let alone = || policy.run_dedicated(input, &*self.solver, self.settings, self.seed, is_over);
        let alone = self.dedicated.then(alone).transpose()?;
        Ok((shared, alone))
    }
}

/// Reads, runs every policy, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let start = Instant::now();
    let asked = interrupt::ask();
    let is_over = || asked() || job.time_limit.is_some_and(|limit| start.elapsed() >= limit);
    let input = TraceInput::new(job.trace.clone(), job.dedicated)?;
    let (outcomes, sha256) = progress::telling(common.quiet, "simulating", |tell| {
        let run = |policy: &ClusterPolicy| job.outcome(policy, &input, &is_over, tell);
        rayon::join(
            || job.policies.par_iter().map(run).collect::<Vec<_>>(),
            || files::trace_sha256_hex(&mut *input.open()?),
        )
    });
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, Failure>>()?;
    let (sha256, header) = (sha256?, input.open()?.register().header().clone());
    let named = || job.policies.iter().map(|policy| policy.name.as_str()).zip(&outcomes);
    let runs = named().map(|(name, (shared, alone))| PolicyRun::new(name, &header, shared, alone.as_ref()));
    let document = SimulationBody::new(TraceStamp::new(&header, &sha256), job.settings(), runs.collect());
    let shared: Vec<NamedOutcome<'_>> = named().map(|(name, (shared, _))| (name, shared)).collect();
    let mut prepared = Vec::new();
    if let Some((format, destination)) = &job.series {
        prepared.push(destination.prepare(|out| write_series(out, *format, &header, &shared))?);
    }
    if let Some((format, destination)) = &job.jobs {
        prepared.push(destination.prepare(|out| write_jobs(out, *format, &shared))?);
    }
    prepared.push(job.destination.prepare(|out| write_json(out, &document))?);
    commit(prepared)?;
    tell(common, || summary::simulation(&document));
    if document.partial {
        return Err(Failure::internal("stopped before the end: the result is partial"));
    }
    Ok(Answer::Yes)
}
