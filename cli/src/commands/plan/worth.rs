//! `plan worth`: what one more server of each class is worth.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit, backend_name};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, Document, Error, WorthOptions};

/// Say what one more server of each class is worth, solved again beside what the prices say
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The gain is that of the smallest weighted dominant share of those that still want more under DRFH, measured by today's servers \
throughout. Unless tasks run out or limits hold somebody, prices never say less than a server is worth; how far each holds is searched from a tenth \
to ten times the capacity, and some hold at no other capacity than today's. The result is a fairplan.worth.v1.

Example: fairplan generate drfh-fig1 | fairplan plan worth -")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// Leave out how far prices hold, which takes some ten solutions for each class and resource
    #[arg(long)]
    no_ranges: bool,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or its table
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads, asks about variants, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source: InstanceSource = arguments.instance.try_into()?;
    let deadline = arguments.time_limit.deadline();
    let options = WorthOptions { ranges: !arguments.no_ranges, backend: arguments.backend };
    let output = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    warn(common, &instance);
    let asked = |control: &Control<'_>| fairplan::worth_of_servers(&instance, &options, control);
    let document = Document::new(progress::under(common, deadline, asked)?);
    output.write(&document, || document.table())?;
    tell(common, || summary::worth(&document));
    Ok(Answer::Yes)
}
