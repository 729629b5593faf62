//! `solve`: the exact divisible allocation, with prices and a certificate.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit, backend_name};
use crate::failure::{Answer, what_there_is};
use crate::input::{InstanceArguments, InstanceSource};
use crate::output;
use crate::progress::{self, tell, warn};
use fairplan::report::output::commit;
use fairplan::report::solution::{placements_of, users_of};
use fairplan::report::summary;
use fairplan::report::table::write_table;
use fairplan::{Control, Error, Objective, SolveOptions};
use std::path::PathBuf;

/// Find the exact fair allocation of divisible tasks, with prices and a proof
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With drfh the smallest weighted dominant share is made as large as possible, then the next smallest, and so on; with \
pf the sum of weighted logarithms of dominant shares; with alpha=A that of share^(1-A)/(1-A). With tsf it is the tasks \
over the most that the user could run alone if it were eligible everywhere that are compared, instead of dominant \
shares. drf and bmf treat all servers as one: their tasks are on no class, and may not fit the servers. \
The result (fairplan.solution.v1) is checked in exact arithmetic before it is written; one that is not \
proved optimal says `uncertified`, and the exit status is 3.

Example: fairplan generate drfh-fig1 | fairplan solve - -o solution.json")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// What is fair: drfh (equal weighted dominant shares over all servers together), pf (proportional fairness),
    /// alpha=A (alpha-fair, A from 0 to 64), utilitarian (the largest sum), tsf (task share fairness), drf (dominant
    /// resource fairness, all servers as one), drf-per-server (the same inside each server apart) or bmf (bottleneck max
    /// fairness, all servers as one)
    #[arg(long, value_name = "NAME", default_value = "drfh", value_parser = str::parse::<Objective>)]
    objective: Objective,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// State fractions such as 5/7 beside the doubles, proved without any tolerance (drfh, tsf and drf, with limits, kinds and groups;
    /// drf-per-server)
    #[arg(long, conflicts_with = "backend")]
    exact: bool,
    /// Put nearly everybody on one server class: as fair, with at most as many users on several as there are rows of capacity and limits
    #[arg(long)]
    sparse: bool,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// Write the whole result (json), or the table of users
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    /// Leave out the seconds, so that the same input gives the same bytes
    #[arg(long)]
    no_timing: bool,
    /// Also write where everybody's tasks run, as a table (.csv, .parquet or .arrow): user, kind, class, tasks
    #[arg(long, value_name = "FILE")]
    placement_out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads, solves, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let output = arguments.output.result(arguments.format)?;
    let placement_out = arguments.placement_out.as_deref().map(output::table).transpose()?;
    if placement_out.is_some() && arguments.objective.is_pooled() {
        let problem = "treats all servers as one, so its tasks are on no class; leave --placement-out out";
        return Err(Error::Setting(format!("--placement-out: {} {problem}", arguments.objective)));
    }
    let source = InstanceSource::try_from(arguments.instance)?;
    let Arguments { objective, backend, exact, sparse, .. } = arguments;
    // A table does not say of which instance it is.
    let options = SolveOptions { objective, backend, exact, sparse, hash: output.table.is_none() };
    let instance = source.read()?;
    warn(common, &instance);
    let solve = |control: &Control<'_>| fairplan::solve(&instance, &options, control);
    let outcome = progress::under(common, arguments.time_limit.deadline(), solve);
    let (solved, end) = what_there_is(outcome)?;
    let document = solved.document(&instance, !arguments.no_timing);
    let mut prepared = vec![output.prepare(&document, || users_of(&instance, &solved.solution))?];
    if let Some((format, destination)) = placement_out {
        let table = placements_of(&instance, &solved.solution);
        prepared.push(destination.prepare(|out| write_table(out, format, &table))?);
    }
    commit(prepared)?;
    tell(common, || summary::solution(&instance, &solved.solution, solved.numbers.headline()));
    end
}
