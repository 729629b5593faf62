//! `sweep collect`: results become one table.

use super::failed::failed;
use crate::arguments::CommonOptions;
use crate::failure::Answer;
use crate::progress::tell;
use crate::{output, progress};
use fairplan::instances::wording::{counted, thousands};
use fairplan::{Control, Deadline, Error, Progress};
use fairplan_sweeps::{CollectOptions, Collected, Commands, TaskFile, collect};
use std::path::PathBuf;

/// Put all results into one table: a row a task, a column a parameter, then what the results say
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A result contributes the texts, numbers and answers of its document; those inside objects are named with a dot \
(metrics.fairness). What is in lists is left out, but for the list of --each, every element of which is a row. \
The format, the version and seconds are left out too, so that the table is the same to the byte whoever ran the tasks.

The parameters are held against the arguments of each task. Not checked are exit statuses, messages and what results say: \
fairplan verify holds a result against its instance, and a task that is run again in another directory says the same to the byte.

Example: fairplan sweep collect sweep.jsonl results -o all.parquet")]
pub struct Arguments {
    /// The list of tasks, as sweep plan writes it
    tasks: String,
    /// The directory of results
    directory: PathBuf,
    /// A row for each element of this list of the results, such as policies
    #[arg(long, value_name = "LIST")]
    each: Option<String>,
    /// Leave the cells of tasks without a result empty, instead of refusing them
    #[arg(long)]
    partial: bool,
    /// Write the table here: .csv, .parquet or .arrow (- and other names: CSV)
    #[arg(long, short, value_name = "FILE", default_value = "-", display_order = 800)]
    output: PathBuf,
}

/// Reads, writes.
pub fn run(arguments: Arguments, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    let Arguments { tasks, directory, each, partial, output } = arguments;
    let (format, destination) = output::table(&output)?;
    let tasks = TaskFile::open(&tasks).map_err(failed)?;
    let options = CollectOptions { each, partial };
    let work = |control: &Control<'_>| {
        (control.progress)(Progress::Stage("collecting"));
        collect(&tasks, &directory, &options, swept, (&destination, format))
    };
    let collected = progress::under(common, Deadline::never(), work).map_err(failed)?;
    tell(common, || summary(&collected));
    Ok(Answer::Yes)
}

fn summary(collected: &Collected) -> String {
    let Collected { tasks, rows, columns, failed, missing } = *collected;
    let tasks = counted(tasks, "task", "tasks");
    let mut text = format!(
        "{tasks}: {} in {}",
        counted(rows, "row", "rows"),
        counted(columns as u64, "column", "columns")
    );
    for (count, what) in [(failed, "failed"), (missing, "not run")] {
        if count > 0 {
            text.push_str(&format!(", {} {what}", thousands(count)));
        }
    }
    text.push_str("\nNot checked: exit statuses, messages and what results say; fairplan verify holds a result against its instance.\n");
    text
}
