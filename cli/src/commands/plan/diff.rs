//! `plan diff`: what differs between two instances or two results, and whom it moved.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::commands::solve::{backend_name, in_time, solver_within};
use crate::commands::tell;
use crate::failure::{Answer, Failure};
use crate::progress;
use fairplan_analysis::differences;
use fairplan_instances::files;
use fairplan_report::planning::{DifferenceDocument, difference_document, results_document};
use fairplan_report::solution::{SolutionDocument, UserResult};
use fairplan_report::{format_of, output::Destination, read_json, summary, table, write_json};

/// Say what differs between two instances or two results of solve, and who has more or less for it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Two instances: what was added, removed or changed, and DRFH solved anew after each kind of change, the servers first. Two \
fairplan.solution.v1: every user's tasks in both, and what limited it. The result is a fairplan.difference.v1.

Example: fairplan generate drfh-fig4 -o a.json && fairplan generate drfh-fig4 --users 1,2 -o b.json
         fairplan plan diff a.json b.json")]
pub struct Arguments {
    /// The first instance or result, a JSON file
    before: String,
    /// The second, of the same kind
    after: String,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of users
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

const INSTANCE: &str = "fairplan.instance.v1";
const SOLUTION: &str = "fairplan.solution.v1";

/// Reads both, compares, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let (format, destination) = arguments.output.result(arguments.format)?;
    let paths = [&arguments.before, &arguments.after];
    if paths.iter().any(|path| *path == "-") {
        return Err(Failure::refused("plan diff reads two files; standard input is none"));
    }
    let contents = paths.map(|path| files::source::open(path).and_then(files::source::Source::read_all));
    let [before, after] = contents;
    let contents = [before?, after?];
    let formats = [0, 1].map(|k| format_of(paths[k], &contents[k]));
    let [first, second] = formats;
    match (first?.as_str(), second?.as_str()) {
        (INSTANCE, INSTANCE) => {
            let instances = [files::read_instance(paths[0])?, files::read_instance(paths[1])?];
            let hashes = [0, 1].map(|k| files::sha256_hex(&instances[k]));
            let deadline = arguments.time_limit.deadline();
            let solver = solver_within(&arguments.backend, &deadline)?;
            let found = progress::during(common.quiet, "comparing", || {
                differences(&instances[0], &instances[1], &*solver)
            })
            .map_err(|error| in_time(&deadline, error.into()))?;
            let document = difference_document([0, 1].map(|k| (&instances[k], hashes[k].as_str())), &found);
            write(&document, &destination, format, common)
        }
        (SOLUTION, SOLUTION) => {
            let before: SolutionDocument<'_, Vec<UserResult<'_>>> = read_json(paths[0], &contents[0])?;
            let after: SolutionDocument<'_, Vec<UserResult<'_>>> = read_json(paths[1], &contents[1])?;
            write(&results_document([&before, &after]), &destination, format, common)
        }
        (first, second) => {
            let problem = format!("{first} and {second}: give two {INSTANCE} or two {SOLUTION}");
            Err(Failure::refused(problem))
        }
    }
}

fn write(
    document: &DifferenceDocument<'_>,
    destination: &Destination,
    format: ResultFormat,
    common: CommonOptions,
) -> Result<Answer, Failure> {
    destination.write(|out| match format.table() {
        None => write_json(out, document),
        Some(format) => table::write_difference(out, format, document),
    })?;
    tell(common, || summary::difference(document));
    Ok(Answer::Yes)
}
