//! `plan lose`: what the failure of servers of each class costs whom.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::commands::solve::{backend_name, in_time, solver_within};
use crate::commands::solved::{Solved, hashed};
use crate::commands::{tell, warn};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan_analysis::losses;
use fairplan_instances::{Document, Objective};
use fairplan_report::{summary, table};

/// Say who loses how much when a class of servers fails, or some of its servers are drained, the worst first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each class in turn is taken away, or --servers-lost of its servers; the rest is divided anew by DRFH. The result is a \
fairplan.loss.v1.

Example: fairplan generate drfh-fig1 | fairplan plan lose -")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// Take away so many servers of each class instead of all
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    servers_lost: Option<u64>,
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

/// Reads, solves, asks about variants, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let source: InstanceSource = arguments.instance.try_into()?;
    let deadline = arguments.time_limit.deadline();
    let solver = solver_within(&arguments.backend, &deadline)?;
    let (format, destination) = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    warn(common, &instance);
    let (solved, sha256) = hashed(&instance, || Solved::new(&instance, &*solver, Objective::Drfh, common))?;
    solved.certified().map_err(|failure| in_time(&deadline, failure))?;
    let found = progress::during(common.quiet, "taking servers away", || {
        losses(&instance, &sha256, &solved.solution, &*solver, arguments.servers_lost)
    })
    .map_err(|error| in_time(&deadline, error.into()))?;
    let document = Document::new(found);
    destination.write(|out| table::write_result(out, format.table(), &document))?;
    tell(common, || summary::losses(&document));
    Ok(Answer::Yes)
}
