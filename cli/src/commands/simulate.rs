//! `simulate`: a trace of jobs run on its cluster, policies side by side.

use crate::arguments::{CommonOptions, OutputArguments, PolicyTimeout, seconds};
use crate::failure::{Answer, what_there_is};
use crate::progress::tell;
use crate::{interrupt, output, progress};
use fairplan::instances::trace::LATEST;
use fairplan::report::output::commit;
use fairplan::report::table::{write_jobs, write_series};
use fairplan::report::{summary, write_json};
use fairplan::{
    ClusterSettings, Control, DEVICE_POLICIES, Deadline, Decimal, Error, MOST_DEPRIVED, POLICIES,
    SimulateOptions, SimulationStart, TraceInput, USUAL_POLICIES, read, with_series,
};
use std::path::PathBuf;
use std::time::Duration;

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
  fairplan simulate fig4.jsonl --policy best-fit --series shares.jsonl --sample 10 \\
    --optimum 100 -o fig4.json")]
pub struct Arguments {
    /// The trace: JSON Lines, gzipped or not, or Parquet; - for standard input
    trace: String,
    #[arg(
        long,
        alias = "policies",
        value_name = "LIST",
        value_delimiter = ',',
        help = policies()
    )]
    policy: Vec<String>,
    /// Run a policy of your own too: a command, run without a shell, that answers on its standard output where each task goes
    /// (fairplan.policy.v1); may be given several times
    #[arg(long, value_name = "COMMAND")]
    policy_command: Vec<String>,
    #[command(flatten)]
    timeout: PolicyTimeout,
    /// Begin with this placement: its tasks run on their servers from the trace's first instant on, before any other is placed
    #[arg(long, value_name = "FILE", requires = "instance")]
    placement: Option<String>,
    /// The instance of the placement, which says what its tasks hold
    #[arg(long, value_name = "FILE", requires = "placement")]
    instance: Option<String>,
    /// The tasks of the placement go on for so many seconds (default: to the end of the run)
    #[arg(long, value_name = "SECONDS", value_parser = microseconds, requires = "placement", allow_negative_numbers = true)]
    remaining: Option<u64>,
    /// Users are in the groups of this instance, with its weights: the group furthest below its part is served first, then inside it
    #[arg(long, value_name = "INSTANCE")]
    tenants: Option<String>,
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

/// Seconds as microseconds.
fn microseconds(text: &str) -> Result<u64, String> {
    let seconds: Decimal = text.parse().map_err(|problem| format!("{problem}"))?;
    let whole =
        seconds.scaled(-6).and_then(|whole| u64::try_from(whole).ok()).filter(|whole| *whole <= LATEST);
    whole.ok_or_else(|| "state seconds with at most 6 decimal places, below 4e12".into())
}

/// Every policy with its rule.
fn policies() -> String {
    format!(
        "The policies to compare, separated by commas. The user with the lowest weighted dominant share is served first; \
         the policy chooses the server (default: those of {} that know the devices and rules of the trace). {}; {}; where one resource \
         has devices {}",
        USUAL_POLICIES.join(", "),
        POLICIES.listed(),
        MOST_DEPRIVED.listed(),
        DEVICE_POLICIES.listed()
    )
}

/// Reads, runs every policy, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let long = |path: Option<PathBuf>| path.as_deref().map(output::long).transpose();
    let settings = ClusterSettings {
        over_commit: arguments.over_commit,
        resubmit: !arguments.lose_evicted,
        horizon: arguments.horizon,
        resolve_every: arguments.resolve_every,
        ..ClusterSettings::default()
    };
    let settings = match arguments.series {
        Some(_) => with_series(settings, arguments.sample, arguments.optimum),
        None => settings,
    };
    let Arguments { policy: policies, dedicated, seed, .. } = arguments;
    let commands = arguments.policy_command.iter().map(|command| arguments.timeout.policy(command));
    let commands = commands.collect::<Result<_, Error>>()?;
    let start = arguments.instance.zip(arguments.placement);
    let start = start.map(|(instance, placement)| -> Result<_, Error> {
        let tenants = arguments.tenants.clone().unwrap_or_default();
        let inputs = [&arguments.trace, &instance, &placement, &tenants];
        if inputs.iter().filter(|path| **path == "-").count() > 1 {
            return Err(Error::input(
                "only one of TRACE, --placement, --instance and --tenants can be standard input",
            ));
        }
        let (instance, placement) = (read::instance(&instance)?, read::result(&placement)?);
        Ok(Box::new(SimulationStart { instance, placement, remaining: arguments.remaining }))
    });
    let start = start.transpose()?;
    let tenants = arguments.tenants.as_deref().map(read::instance).transpose()?.map(Box::new);
    let options = SimulateOptions { policies, commands, settings, dedicated, seed, start, tenants };
    options.check()?;
    let (series, jobs) = (long(arguments.series)?, long(arguments.jobs)?);
    let destination = arguments.output.destination()?;
    let limit = arguments.time_limit.map_or_else(Deadline::never, Deadline::after);
    let deadline = limit.or_when(interrupt::ask());
    let trace = TraceInput::new(arguments.trace, dedicated)?;
    let simulate = |control: &Control<'_>| fairplan::simulate(&trace, &options, control);
    let (simulated, end) = what_there_is(progress::under(common, deadline, simulate))?;
    let (document, outcomes) = (simulated.document(), simulated.outcomes());
    let mut prepared = Vec::new();
    if let Some((format, destination)) = &series {
        let header = &simulated.header;
        prepared.push(destination.prepare(|out| write_series(out, *format, header, &outcomes))?);
    }
    if let Some((format, destination)) = &jobs {
        prepared.push(destination.prepare(|out| write_jobs(out, *format, &outcomes))?);
    }
    prepared.push(destination.prepare(|out| write_json(out, &document))?);
    commit(prepared)?;
    tell(common, || summary::simulation(&document));
    end
}
