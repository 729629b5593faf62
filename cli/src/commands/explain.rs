//! `explain`: why a user has its share, and what would change it.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit, backend_name};
use crate::failure::{Answer, what_there_is};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, Document, Error, Objective, SolveOptions, group_named, user_named};

/// Say why a user or a group has its share, and what would change it
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("who").required(true).args(["user", "group"]), after_help = "\
Shows what limits the user, the level at which it is frozen, the full capacities that hold it, what each class costs it, \
who gains if its tasks need less, and how far the prices hold. The result is fairplan.explanation.v1; of a group it is \
fairplan.group-explanation.v1: what its members have and what holds them, how it stands among its siblings, and who of these \
would gain if it asked for less.

Example: fairplan generate drfh-fig1 | fairplan explain - --user user-1")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// The user to explain
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// The group to explain
    #[arg(long, value_name = "ID")]
    group: Option<String>,
    /// What is fair: drfh, pf, alpha=A, utilitarian, tsf, bmf, drf or drf-per-server
    #[arg(long, value_name = "NAME", default_value = "drfh")]
    objective: Objective,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// Write the whole result (json), or the table of server classes (of a group: of members)
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads, explains, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source = InstanceSource::try_from(arguments.instance)?;
    let output = arguments.output.result(arguments.format)?;
    let Arguments { objective, backend, .. } = arguments;
    let options = SolveOptions { objective, backend, ..SolveOptions::default() };
    let instance = source.read()?;
    let deadline = arguments.time_limit.deadline();
    if let Some(id) = &arguments.group {
        let group = group_named(&instance, "group", id)?;
        warn(common, &instance);
        let explain = |control: &Control<'_>| fairplan::explain_group(&instance, group, &options, control);
        let outcome = progress::under(common, deadline, explain);
        let (explanation, end) = what_there_is(outcome)?;
        let document = Document::new(explanation);
        output.write(&document, || document.table())?;
        tell(common, || summary::group_explanation(&document));
        return end;
    }
    let user = user_named(&instance, "user", arguments.user.as_deref().unwrap_or_default())?;
    warn(common, &instance);
    let explain = |control: &Control<'_>| fairplan::explain(&instance, user, &options, control);
    let outcome = progress::under(common, deadline, explain);
    let (explanation, end) = what_there_is(outcome)?;
    let document = Document::new(explanation);
    output.write(&document, || document.table())?;
    tell(common, || summary::explanation(&document));
    end
}
