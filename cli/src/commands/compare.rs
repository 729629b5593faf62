//! `compare`: placement policies side by side, each with its gap to the best divisible allocation and to the best that
//! whole tasks can do.

use crate::arguments::{CommonOptions, OutputArguments, PolicyTimeout, ResultFormat, backend_name, seconds};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::output;
use crate::progress::{self, tell, warn};
use fairplan::instances::table::Tabular;
use fairplan::report::comparison::users_of_policies;
use fairplan::report::output::commit;
use fairplan::report::{summary, write_json};
use fairplan::{CompareOptions, ComparedBound, Control, Deadline, Document, Error, WholeTaskObjective, read};
use std::path::PathBuf;
use std::time::Duration;

/// Compare placement policies with each other and with the best that any placement can do
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A gap is 1 - value / bound, the value being the smallest weighted dominant share. One bound is that of \
divisible tasks (drfh), which whole tasks often cannot reach; the other is that of whole tasks, as `fairplan bound` \
proves it. A policy that reaches it is proved optimal. Placements made elsewhere, as `fairplan import kubernetes \
--placement-out` writes them, are judged by --placement. The result is a fairplan.comparison.v1.

Example: fairplan generate drfh-fig4 | fairplan compare - --policies best-fit,first-fit,slots=10")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// The policies, separated by commas; `fairplan place --help` explains each
    #[arg(long, alias = "policy", value_name = "LIST", value_delimiter = ',', default_value = ALL)]
    policies: Vec<String>,
    /// Compare a policy of your own too: a command, run without a shell, that answers on its standard output where each task goes
    /// (fairplan.policy.v1); may be given several times
    #[arg(long, value_name = "COMMAND")]
    policy_command: Vec<String>,
    #[command(flatten)]
    timeout: PolicyTimeout,
    /// Judge placements made elsewhere beside them: files with a fairplan.placement.v1, of which only `servers` is read
    #[arg(long, value_name = "FILE", num_args = 1.., allow_hyphen_values = false)]
    placement: Vec<String>,
    /// Seed of the policy `random`, and of those that look at devices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// By what placements are held against the best that whole tasks can do: drfh, the smallest weighted dominant share, or
    /// allocated=RESOURCE, how much of a resource they take
    #[arg(long, value_name = "O", default_value = "drfh")]
    objective: WholeTaskObjective,
    /// How to compute the divisible bound: auto, ipm or highs
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Take no longer than this: policies that are not done in four fifths of it are left out, and bounds have the rest. Without
    /// a limit the bound of whole tasks is left out where users times classes are more than 5000, or more than 1000 and a server holds
    /// more than 64 tasks of a user
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    time_limit: Option<Duration>,
    /// Say what each user has under each policy too
    #[arg(long)]
    per_user: bool,
    /// Write the bound of whole tasks here too, with its placement and the certificate that `verify` proves again: a fairplan.bound.v1,
    /// or with allocated=RESOURCE a fairplan.allocated-bound.v1
    #[arg(long, value_name = "FILE")]
    bound_out: Option<PathBuf>,
    /// Write the whole result (json), or the table of policies (of policies and users, with --per-user)
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    /// Leave out the seconds, so that the same input gives the same bytes
    #[arg(long)]
    no_timing: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// The policies that are compared by default.
const ALL: &str = "best-fit,first-fit,slots=14,worst-fit,dot-product,random";

/// Reads, compares, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let bound_out = arguments.bound_out.as_deref().map(output::document).transpose()?;
    let output = arguments.output.result(arguments.format)?;
    let Arguments { policies, seed, objective, backend, .. } = arguments;
    let source = InstanceSource::try_from(arguments.instance)?;
    let from_input = arguments.placement.iter().filter(|path| *path == "-").count();
    if from_input + usize::from(source.takes_standard_input()) > 1 {
        return Err(Error::input("only one of INSTANCE and --placement can be standard input"));
    }
    let commands = arguments.policy_command.iter().map(|command| arguments.timeout.policy(command));
    let commands = commands.collect::<Result<_, Error>>()?;
    let (timing, per_user) = (!arguments.no_timing, arguments.per_user);
    let options = CompareOptions {
        policies,
        commands,
        seed,
        objective,
        backend,
        timing,
        per_user,
        ..CompareOptions::default()
    };
    options.check()?;
    let instance = source.read()?;
    let placements = arguments.placement.iter().map(|path| read::result(path));
    let options = CompareOptions { placements: placements.collect::<Result<_, Error>>()?, ..options };
    warn(common, &instance);
    let deadline = arguments.time_limit.map_or_else(Deadline::never, Deadline::after);
    let mut prepared = Vec::new();
    let comparison = match bound_out {
        None => {
            let compare = |control: &Control<'_>| fairplan::compare(&instance, &options, control);
            progress::under(common, deadline, compare)?
        }
        Some(file) => {
            let compare = |control: &Control<'_>| fairplan::compare_with_bound(&instance, &options, control);
            let (comparison, bound) = progress::under(common, deadline, compare)?;
            prepared.push(match bound {
                Some(ComparedBound::SmallestShare(bound)) => {
                    file.prepare(|out| write_json(out, &bound.document(&instance)))?
                }
                Some(ComparedBound::Allocated(bound)) => {
                    file.prepare(|out| write_json(out, &bound.document(&instance)))?
                }
                None => {
                    return Err(Error::Setting(
                        "bound-out: whole tasks were not bounded; allow a --time-limit, or leave it out"
                            .into(),
                    ));
                }
            });
            comparison
        }
    };
    let document = Document::new(comparison);
    prepared.push(output.prepare(&document, || match per_user {
        false => document.table(),
        true => users_of_policies(&document.body),
    })?);
    commit(prepared)?;
    tell(common, || summary::comparison(&instance, &document));
    Ok(Answer::Yes)
}
