//! `sweep missing`: which tasks have no result yet.

use super::failed::failed;
use crate::arguments::CommonOptions;
use crate::failure::Answer;
use crate::progress::tell;
use fairplan::Error;
use fairplan::instances::wording::{counted, thousands};
use fairplan::report::output::Destination;
use fairplan_sweeps::{Chunks, TaskFile, missing};
use std::io::Write;
use std::path::PathBuf;

/// Print which tasks have no result yet, as ranges that job arrays understand
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tasks that failed have none. Nothing is printed when all have one.

Example: fairplan sweep missing sweep.jsonl results
         fairplan sweep missing sweep.jsonl results --chunk 100 --lines")]
pub struct Arguments {
    /// The list of tasks, as sweep plan writes it
    tasks: String,
    /// The directory of results
    directory: PathBuf,
    /// An index is so many tasks: 0 the first N, 1 the next
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    chunk: u64,
    /// Print an index a line
    #[arg(long)]
    lines: bool,
}

/// Looks, prints.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { tasks, directory, chunk, lines } = arguments;
    let tasks = TaskFile::open(&tasks).map_err(failed)?;
    let found = missing(&tasks, &directory).map_err(failed)?;
    let indices = found.chunks(Chunks(chunk));
    Destination::StandardOutput.write(|out| match lines {
        _ if indices.is_empty() => Ok(()),
        true => indices.iter().try_for_each(|index| writeln!(out, "{index}")),
        false => writeln!(out, "{indices}"),
    })?;
    tell(common, || {
        let (count, failed) = (found.indices.count(), thousands(found.failed));
        let failed = if found.failed == 0 { String::new() } else { format!("; {failed} of them failed") };
        format!(
            "{} of {} without a result{failed}\n",
            thousands(count),
            counted(tasks.header().tasks, "task", "tasks")
        )
    });
    Ok(Answer::Yes)
}
