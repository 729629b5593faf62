//! `sweep run`: tasks become results.

use super::failed::failed;
use crate::arguments::CommonOptions;
use crate::failure::Answer;
use crate::progress::tell;
use crate::{interrupt, progress};
use fairplan::instances::wording::{counted, printable, thousands};
use fairplan::{Control, Deadline, Error, Progress};
use fairplan_sweeps::{Commands, Indices, Ran, RunOptions, Standing, TaskFile, run as run_tasks};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run tasks and keep their results, each whole or not at all
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Results that are there are not computed again, and a task that failed is tried again. Ctrl-C lets the tasks that run come to \
their ends and begins no others; the same command goes on later. The exit status is 1 if tasks failed, and 3 if \
it was stopped.

Example: fairplan sweep run sweep.jsonl --all -o results
         fairplan sweep run sweep.jsonl --index 0-99,200 -o results
         fairplan sweep run sweep.jsonl --index 7 --chunk 100 -o results")]
pub struct Arguments {
    /// The list of tasks, as sweep plan writes it
    tasks: String,
    /// Run these tasks, counted from 0: 7, 0-99 or 0-3,7
    #[arg(long, value_name = "RANGES", required_unless_present = "all")]
    index: Option<Indices>,
    /// Run all tasks
    #[arg(long, conflicts_with = "index")]
    all: bool,
    /// An index is so many tasks: 0 the first N, 1 the next
    #[arg(long, value_name = "N", default_value_t = 1, requires = "index", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    chunk: u64,
    /// Keep results in this directory, which is made where it is not there
    #[arg(long, short, value_name = "DIRECTORY", display_order = 800)]
    output: PathBuf,
}

/// Runs, tells how it went.
pub fn run(arguments: Arguments, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    let tasks = TaskFile::open(&arguments.tasks).map_err(failed)?;
    let count = tasks.header().tasks;
    let indices = match &arguments.index {
        None => Indices::below(count),
        Some(indices) if arguments.chunk == 1 => indices.clone(),
        Some(chunks) => chunks.of_chunks(arguments.chunk, count),
    };
    if indices.is_empty() {
        let reason = format!("names no task; {} has {count}", arguments.tasks);
        return Err(Error::input(format!("--index {}: {reason}", arguments.index.unwrap_or_default())));
    }
    let ran = run_all(&tasks, &indices, &arguments.output, common, swept)?;
    tell(common, || summary(&ran));
    Ok(Answer::yes_if(ran.failed == 0))
}

/// Runs tasks on all threads, telling how far it is.
pub fn run_all(
    tasks: &TaskFile,
    indices: &Indices,
    directory: &Path,
    common: CommonOptions,
    swept: &dyn Commands,
) -> Result<Ran, Error> {
    let threads = match common.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let stop = interrupt::ask();
    let options = RunOptions { indices, threads, stop: &stop };
    let work = |control: &Control<'_>| {
        (control.progress)(Progress::Stage("beginning"));
        let told = |standing: &Standing| (control.progress)(Progress::Step(&so_far(standing)));
        run_tasks(tasks, directory, swept, &options, &told)
    };
    progress::under(common, Deadline::never(), work).map_err(failed)
}

/// `1,200 of 10,000 tasks, 3 failed, about 2 min left`.
fn so_far(standing: &Standing) -> String {
    let Standing { asked, there, done, failed, left, .. } = *standing;
    let failed = if failed == 0 { String::new() } else { format!(", {} failed", thousands(failed)) };
    let left = left.map(|left| format!(", about {} left", roughly(left))).unwrap_or_default();
    let ended = there + done + standing.failed;
    format!("{} of {} tasks{failed}{left};", thousands(ended), thousands(asked))
}

fn roughly(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3600)),
    }
}

fn summary(ran: &Ran) -> String {
    let Ran { asked, there, done, failed, first_failure } = ran;
    let mut text = counted(*asked, "task", "tasks");
    text.push_str(&format!(": {} run", thousands(*done)));
    if *there > 0 {
        text.push_str(&format!(", {} there before", thousands(*there)));
    }
    if *failed > 0 {
        text.push_str(&format!(", {} failed", thousands(*failed)));
    }
    text.push('\n');
    if let Some((index, message)) = first_failure {
        text.push_str(&format!("task {index}: {}\n", printable(message, 400)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_how_far_it_is_and_how_long_the_rest_takes() {
        let standing = Standing {
            asked: 10_000,
            there: 200,
            done: 997,
            failed: 3,
            elapsed: Duration::from_secs(10),
            left: Some(Duration::from_secs(130)),
        };
        assert_eq!(so_far(&standing), "1,200 of 10,000 tasks, 3 failed, about 3 min left;");
        assert_eq!(roughly(Duration::from_secs(7201)), "3 h");
    }
}
