//! A command run inside the process: words in, what it writes and its exit status out. Nothing goes to standard output or standard
//! error, and nothing ends the process.

use crate::arguments::CommonOptions;
use crate::command::{Cli, dispatch};
use crate::failure::{self, Answer};
use crate::overwritten;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use fairplan::Error;
use fairplan::instances::files::source::fed;
use fairplan::report::output::captured;
use fairplan_sweeps::Commands;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its exit status.
    pub status: u8,
    /// Why it is above 1, in one line; else empty.
    pub message: String,
    /// What it wrote to standard output.
    pub output: Vec<u8>,
}

/// Runs a command on the threads of the pool from which it is called. `words` are those after `fairplan`; `input` is its standard
/// input, if it is not to read that of the process; `swept` is what sweeps among the commands run.
pub fn called(words: &[String], input: Option<Vec<u8>>, swept: &dyn Commands) -> Called {
    let run = || match input {
        Some(input) => fed(input, || run(words, swept)),
        None => run(words, swept),
    };
    let (outcome, output) = captured(|| catch_unwind(AssertUnwindSafe(run)));
    let (status, message) = match outcome {
        Ok(Ok(Answer::Yes)) => (0, String::new()),
        Ok(Ok(Answer::No)) => (1, String::new()),
        Ok(Ok(Answer::Help)) => (2, "nothing was asked for; see --help".into()),
        Ok(Err(error)) => (failure::exit_status(&error), failure::line(&error)),
        Err(_) => (3, crate::last_defect()),
    };
    Called { status, message, output }
}

fn run(words: &[String], swept: &dyn Commands) -> Result<Answer, Error> {
    let matches = matches(words).map_err(|error| failure::usage(&error))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| failure::usage(&error))?;
    with_command(|command| overwritten::refuse(command, &matches))?;
    // Threads are those of who calls.
    dispatch(cli.command, CommonOptions { quiet: true, threads: None }, swept)
}

thread_local! {
    /// Putting the command together takes longer than a small task.
    static COMMAND: RefCell<Option<clap::Command>> = const { RefCell::new(None) };
}

/// Does `work` with the command as it is typed.
pub fn with_command<T>(work: impl FnOnce(&mut clap::Command) -> T) -> T {
    COMMAND.with_borrow_mut(|command| work(command.get_or_insert_with(Cli::command)))
}

/// What the words after `fairplan` say, not yet understood by the command.
pub fn matches(words: &[String]) -> Result<ArgMatches, clap::Error> {
    with_command(|command| {
        let name = std::iter::once("fairplan");
        command.try_get_matches_from_mut(name.chain(words.iter().map(String::as_str)))
    })
}
