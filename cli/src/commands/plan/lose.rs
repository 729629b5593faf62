//! `plan lose`: what the failure of servers of each class costs whom.

use crate::arguments::{
    CommonOptions, OutputArguments, PolicyTimeout, ResultFormat, TimeLimit, backend_name,
};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn, warn_of_whole_tasks};
use fairplan::instances::table::Tabular;
use fairplan::instances::wording::{counted, printable};
use fairplan::report::summary;
use fairplan::{Control, Document, Error, LoseOptions, PlaceOptions, read};

/// Say who loses how much when a class of servers fails, or some of its servers are drained, the worst first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each class in turn is taken away, or --servers-lost of its servers, or what --together or --label name; the rest is divided anew by DRFH, as a cluster of its own: \
dominant shares are measured by what is left (`plan worth` measures by today's servers). What is lost is told in tasks, and in shares of the whole cluster. With --whole \
a policy places whole tasks today, and anew on what is left, under all rules: devices, gangs, domains, spread and quotas; it serves users by \
their shares of the whole cluster both times. The result is a fairplan.loss.v1.

Example: fairplan generate drfh-fig1 | fairplan plan lose -")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// Take away so many servers of each class instead of all
    #[arg(long, value_name = "K", value_parser = servers)]
    servers_lost: Option<u64>,
    /// Let all servers fail together whose name, or whose class, is like this: 'zone-b-*', node-17, '*A100*'. Given several
    /// times, each is a failure of its own
    #[arg(long, value_name = "PATTERN", conflicts_with = "servers_lost")]
    together: Vec<String>,
    /// Let all nodes fail together that have this label: KEY=VALUE, or KEY for each of its values in turn, such as
    /// topology.kubernetes.io/zone or nvidia.com/gpu.product; --nodes has the labels
    #[arg(long, value_name = "KEY[=VALUE]", requires = "nodes", conflicts_with = "servers_lost")]
    label: Vec<String>,
    /// With --label: the nodes, as kubectl get nodes -o json prints them; the instance has their names if it was imported with
    /// --placement-out
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "label")]
    nodes: Vec<String>,
    /// Count whole tasks: those that --policy places today, and places anew on what is left
    #[arg(long, conflicts_with = "backend")]
    whole: bool,
    /// With --whole: what places, one of the policies of `place`
    #[arg(long, value_name = "NAME", default_value = "best-fit", requires = "whole")]
    policy: String,
    /// With --whole: ask a policy of your own instead, a command that answers where each task goes (fairplan.policy.v1)
    #[arg(long, value_name = "COMMAND", requires = "whole", conflicts_with = "policy")]
    policy_command: Option<String>,
    #[command(flatten)]
    timeout: PolicyTimeout,
    /// With --whole: seed of the policy `random`, and of those that look at devices
    #[arg(long, value_name = "N", default_value_t = 0, requires = "whole")]
    seed: u64,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of classes
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// A number of servers.
fn servers(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "must be a number of servers above 0, such as 2".into())
}

/// Reads, asks about variants, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source: InstanceSource = arguments.instance.try_into()?;
    let deadline = arguments.time_limit.deadline();
    let (servers, together) = (arguments.servers_lost, arguments.together);
    let labelled = read::nodes_with_labels(&arguments.label, &arguments.nodes)?;
    for (key, without) in &labelled.without {
        let nodes = counted(*without, "node has", "nodes have");
        tell(common, || {
            format!("{nodes} no label {}: what fails with them is not told.\n", printable(key, 200))
        });
    }
    let named = labelled.together;
    let command = arguments.policy_command.iter().map(|command| arguments.timeout.policy(command)).next();
    let placing =
        PlaceOptions { policy: arguments.policy, seed: arguments.seed, command: command.transpose()? };
    placing.check()?;
    let whole = arguments.whole.then_some(placing);
    let options = LoseOptions { servers, together, named, whole, backend: arguments.backend };
    let output = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    match options.whole {
        Some(_) => warn_of_whole_tasks(common, &instance),
        None => warn(common, &instance),
    }
    let asked = |control: &Control<'_>| fairplan::losses(&instance, &options, control);
    let document = Document::new(progress::under(common, deadline, asked)?);
    output.write(&document, || document.table())?;
    tell(common, || summary::losses(&document));
    Ok(Answer::Yes)
}
