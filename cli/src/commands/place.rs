//! `place`: whole tasks onto servers by a policy, until nothing more fits.

use super::placer::Placer;
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use fairplan_instances::files;
use fairplan_report::output::Destination;
use fairplan_report::placement::{PlacementFigures, PlacementSettings, placement_document};
use fairplan_report::{summary, table};

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
    #[arg(long, alias = "policies", value_name = "NAME", default_value = "best-fit", help = Placer::help())]
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

struct Job {
    source: InstanceSource,
    placer: Placer,
    seed: u64,
    time_limit: TimeLimit,
    servers: bool,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        Ok(Self {
            source: arguments.instance.try_into()?,
            placer: Placer::named(&arguments.policy, arguments.seed)?,
            seed: arguments.seed,
            time_limit: arguments.time_limit,
            servers: arguments.servers_out,
            format,
            destination,
        })
    }
}

/// Reads, places, checks, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let placement = job.placer.place(&instance, &job.time_limit.deadline(), common)?;
    let figures = PlacementFigures::new(&instance, &placement);
    let sha256 = files::sha256_hex(&instance);
    let name = job.placer.name();
    let settings = PlacementSettings { policy: &name, seed: job.seed, servers: job.servers };
    let document = placement_document(&instance, &placement, &figures, &sha256, settings);
    job.destination.write(|out| table::write_result(out, job.format.table(), &document))?;
    tell(common, || summary::placement(&instance, &placement, &figures, &name));
    Ok(Answer::Yes)
}
