//! `place`: whole tasks onto servers by a policy, until nothing more fits.

use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan::report::output::Destination;
use fairplan::report::{summary, table};
use fairplan::{Error, PlaceOptions};

/// Place whole tasks on servers by a policy, until nothing more fits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The user with the smallest weighted dominant share is served next, one task at a time; the policy \
chooses the server. Everything is counted in whole numbers. A policy that is not done within --time-limit has no result: \
the exit status is 3. The result is a fairplan.placement.v1.

Example: fairplan generate drfh-fig4 | fairplan place - --policy best-fit")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    #[arg(long, alias = "policies", value_name = "NAME", default_value = "best-fit", help = policies())]
    policy: String,
    /// Seed of the policy `random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// List the tasks on each server too (needed to verify the result)
    #[arg(long)]
    servers_out: bool,
    /// Write the whole result (json), or the table of users
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

fn policies() -> String {
    let rules = fairplan::placement_policies().map(|(name, rule)| format!("{name}: {rule}"));
    format!("How the server of a task is chosen. {}", rules.collect::<Vec<_>>().join("; "))
}

struct Job {
    source: InstanceSource,
    options: PlaceOptions,
    time_limit: TimeLimit,
    servers: bool,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        let source = arguments.instance.try_into()?;
        let options = PlaceOptions { policy: arguments.policy, seed: arguments.seed };
        options.check()?;
        Ok(Self {
            source,
            options,
            time_limit: arguments.time_limit,
            servers: arguments.servers_out,
            format,
            destination,
        })
    }
}

/// Reads, places, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let deadline = job.time_limit.deadline();
    let placed =
        progress::under(common, deadline, |control| fairplan::place(&instance, &job.options, control))?;
    let document = placed.document(&instance, job.servers);
    job.destination.write(|out| table::write_result(out, job.format.table(), &document))?;
    tell(common, || summary::placement(&instance, &placed.placement, &placed.figures, &placed.policy));
    Ok(Answer::Yes)
}
