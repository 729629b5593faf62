//! `bound`: the best that any placement of whole tasks can do, from both sides.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit, backend_name};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{BoundOptions, Control, Error, WholeTaskObjective};

/// Bracket the best that any placement of whole tasks can do, with a proof
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The value of a placement is its smallest weighted dominant share, with --objective pf the sum of w ln(dominant \
share), or with --objective allocated=RESOURCE how much of a resource its tasks take, any of which may be refused. The upper bound is proved from what one task of each \
user is worth and what one server can hold; the lower bound is a placement, server by server. `fairplan verify` proves \
both again. The result is a fairplan.bound.v1, with pf a fairplan.proportional-bound.v1, with \
allocated=RESOURCE a fairplan.allocated-bound.v1.

Example: fairplan generate drfh-fig4 | fairplan bound -")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// What is bounded: drfh, the smallest weighted dominant share; pf, the sum of w ln(dominant share); or allocated=RESOURCE, how much
    /// of a resource is taken
    #[arg(long, value_name = "O", default_value = "drfh")]
    objective: WholeTaskObjective,
    /// How to compute the divisible bound: auto, ipm or highs
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of the tasks of each user under the placement found
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads, bounds, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source = InstanceSource::try_from(arguments.instance)?;
    let output = arguments.output.result(arguments.format)?;
    let options = BoundOptions { backend: arguments.backend };
    let instance = source.read()?;
    warn(common, &instance);
    let deadline = arguments.time_limit.deadline();
    match arguments.objective {
        WholeTaskObjective::SmallestShare => {
            let bound = |control: &Control<'_>| fairplan::bound(&instance, &options, control);
            let bound = progress::under(common, deadline, bound)?;
            let document = bound.document(&instance);
            output.write(&document, || document.table())?;
            tell(common, || summary::bound(&instance, &bound.divisible, &bound.bracket));
        }
        WholeTaskObjective::ProportionalFairness => {
            let bound = |control: &Control<'_>| fairplan::bound_proportional(&instance, &options, control);
            let bound = progress::under(common, deadline, bound)?;
            let document = bound.document(&instance);
            output.write(&document, || document.table())?;
            let divisible = bound.divisible.as_ref().map(|divisible| divisible.bound);
            tell(common, || summary::proportional_bound(&instance, divisible, &bound.bracket));
        }
        WholeTaskObjective::Allocated(resource) => {
            let bound = |control: &Control<'_>| fairplan::bound_allocated(&instance, &resource, control);
            let bound = progress::under(common, deadline, bound)?;
            let document = bound.document(&instance);
            output.write(&document, || document.table())?;
            tell(common, || summary::allocated_bound(&instance, &bound.bracket));
        }
    }
    Ok(Answer::Yes)
}
