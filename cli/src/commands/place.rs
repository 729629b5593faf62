//! `place`: whole tasks onto servers by a policy, until nothing more fits.

use crate::arguments::{CommonOptions, OutputArguments, PolicyTimeout, ResultFormat, TimeLimit};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn_of_whole_tasks};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, DEVICE_POLICIES, Error, PATTERNS, POLICIES, PlaceOptions};

/// Place whole tasks on servers by a policy, until nothing more fits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The user with the smallest weighted dominant share is served next, one task at a time; the policy \
chooses the server. Everything is counted in whole numbers. A policy that is not done within --time-limit has no result: \
the exit status is 3. The result is a fairplan.placement.v1.

Example: fairplan generate drfh-fig4 | fairplan place - --policy best-fit")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    #[arg(long, alias = "policies", value_name = "NAME", default_value = "best-fit", help = policies())]
    policy: String,
    /// Ask a policy of your own instead: a command, run without a shell, that answers on its standard output where each task goes
    /// (fairplan.policy.v1)
    #[arg(long, value_name = "COMMAND", conflicts_with = "policy")]
    policy_command: Option<String>,
    #[command(flatten)]
    timeout: PolicyTimeout,
    /// Seed of the policy `random`, and of those that look at devices
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
    let all = [POLICIES.listed(), PATTERNS.listed(), DEVICE_POLICIES.listed()];
    let [known, patterns, of_devices] = all;
    format!(
        "How the server of a task is chosen. {known}; {patterns}. Where servers have devices of one resource also {of_devices}"
    )
}

/// Reads, places, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let output = arguments.output.result(arguments.format)?;
    let source = InstanceSource::try_from(arguments.instance)?;
    let command = arguments.policy_command.iter().map(|command| arguments.timeout.policy(command)).next();
    let options =
        PlaceOptions { policy: arguments.policy, seed: arguments.seed, command: command.transpose()? };
    options.check()?;
    let instance = source.read()?;
    warn_of_whole_tasks(common, &instance);
    let place = |control: &Control<'_>| fairplan::place(&instance, &options, control);
    let placed = progress::under(common, arguments.time_limit.deadline(), place)?;
    let document = placed.document(&instance, arguments.servers_out);
    output.write(&document, || document.table())?;
    tell(common, || summary::placement(&instance, &placed.placement, &placed.figures, &placed.policy));
    Ok(Answer::Yes)
}
