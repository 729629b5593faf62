//! `plan diff`: what differs between two instances or two results, and whom it moved.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, ResultOutput, TimeLimit, backend_name};
use crate::failure::Answer;
use crate::progress::{self, tell};
use fairplan::instances::Body;
use fairplan::instances::files::InstanceFile;
use fairplan::instances::table::Tabular;
use fairplan::instances::wording::printable;
use fairplan::report::solution::{SolutionBody, SolutionDocument, UserResult, difference_of_results};
use fairplan::report::{read_json, summary};
use fairplan::{Control, Difference, Document, Error, compare_instances, read};

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

const INSTANCE: &str = InstanceFile::FORMAT;
const SOLUTION: &str = <SolutionBody as Body>::FORMAT;

/// Reads both, compares, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let output = arguments.output.result(arguments.format)?;
    let paths = [&arguments.before, &arguments.after];
    if paths.iter().any(|path| *path == "-") {
        return Err(Error::input("plan diff reads two files; standard input is none"));
    }
    let [before, after] = paths.map(|path| read::result(path));
    let (before, after) = (before?, after?);
    match (before.format.as_str(), after.format.as_str()) {
        (INSTANCE, INSTANCE) => {
            let [before, after] = paths.map(|path| read::instance(path));
            let (before, after) = (before?, after?);
            // Once: both mostly have the same rules.
            if let Some(instance) = [&before, &after].into_iter().find(|instance| instance.has_server_rules())
            {
                progress::warn(common, instance);
            }
            let compared =
                |control: &Control<'_>| compare_instances(&before, &after, &arguments.backend, control);
            let difference = progress::under(common, arguments.time_limit.deadline(), compared)?;
            write(difference, &output, common)
        }
        (SOLUTION, SOLUTION) => {
            let before: SolutionDocument<Vec<UserResult<'_>>> = read_json(paths[0], &before.bytes)?;
            let after: SolutionDocument<Vec<UserResult<'_>>> = read_json(paths[1], &after.bytes)?;
            write(difference_of_results([&before, &after]), &output, common)
        }
        (first, second) => {
            let named =
                |path: &str, format: &str| format!("{} ({})", printable(path, 400), printable(format, 60));
            let [first, second] = [named(paths[0], first), named(paths[1], second)];
            Err(Error::input(format!("{first} and {second}: give two {INSTANCE} or two {SOLUTION}")))
        }
    }
}

fn write(difference: Difference, output: &ResultOutput, common: CommonOptions) -> Result<Answer, Error> {
    let document = Document::new(difference);
    output.write(&document, || document.table())?;
    tell(common, || summary::difference(&document));
    Ok(Answer::Yes)
}
