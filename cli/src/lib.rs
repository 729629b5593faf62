//! The `fairplan` command: arguments in, one call of the library, exit code out. What runs many commands in one process calls
//! them by [`called`].

mod arguments;
mod command;
mod commands;
mod demands;
mod failure;
mod file_arguments;
mod input;
mod interrupt;
mod output;
mod overwritten;
mod progress;
mod swept;
mod within;

pub use swept::InProcess;
pub use within::Called;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use command::Cli;
use failure::{Answer, usage};
use fairplan::Error;
use fairplan::instances::wording::printable;
use fairplan::report::output::to_standard_output;
use std::ffi::OsString;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// What the last defect was.
static DEFECT: Mutex<String> = Mutex::new(String::new());

/// What the process does.
pub fn main() -> ExitCode {
    ExitCode::from(process(std::env::args_os()))
}

/// What a process does that is the command, whatever program it runs: `words` are its arguments, the command's name first. Returns
/// its exit status. From the call on signals and defects are the command's.
pub fn process(words: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::watch();
    if let Some(width) = terminal_width() {
        fairplan::report::summary::fit_terminal(width);
    }
    note_defects();
    let status = match std::panic::catch_unwind(AssertUnwindSafe(|| run(words))) {
        Ok(Ok(Answer::Yes)) => 0,
        Ok(Ok(Answer::No)) => 1,
        Ok(Ok(Answer::Help)) => 2,
        Ok(Err(error)) => {
            let _ = writeln!(std::io::stderr(), "error: {}", failure::line(&error));
            failure::exit_status(&error)
        }
        Err(_) => {
            let _ = writeln!(std::io::stderr(), "error: {}", last_defect());
            3
        }
    };
    // Not every program does it in its end.
    let _ = std::io::stdout().flush();
    status
}

/// Runs a command on the threads of the pool from which it is called, inside the process. `words` are those after `fairplan`; `input`
/// is its standard input, if it is not to read that of the process.
pub fn called(words: &[String], input: Option<Vec<u8>>) -> Called {
    within::called(words, input, &InProcess)
}

/// From now on a defect is not printed where it happens, but kept for who tells it.
fn note_defects() {
    // A defect is one line and an exit code like any other failure. One that is caught, as those of a backend are, is told
    // by whoever caught it.
    std::panic::set_hook(Box::new(|defect| {
        let place =
            defect.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let reason = printable(defect.payload_as_str().unwrap_or("no reason given"), 400);
        let mut last = DEFECT.lock().unwrap_or_else(PoisonError::into_inner);
        *last = format!("defect in fairplan{place}: {reason}; please report it");
    }));
}

/// What the last defect was.
fn last_defect() -> String {
    DEFECT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// How wide summaries may be: as `COLUMNS` says, else as the terminal is that shows them; nothing in a pipe.
fn terminal_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    said.filter(|columns| *columns > 0).or_else(|| {
        let (width, _) = terminal_size::terminal_size_of(std::io::stderr())?;
        Some(usize::from(width.0))
    })
}

fn run(words: impl IntoIterator<Item = OsString>) -> Result<Answer, Error> {
    let mut command = Cli::command();
    let understood = |command: &mut clap::Command| {
        let typed = command.try_get_matches_from_mut(words)?;
        let cli = Cli::from_arg_matches(&typed).map_err(|error| error.format(command))?;
        Ok::<_, clap::Error>((typed, cli))
    };
    match understood(&mut command) {
        Ok((typed, cli)) => {
            overwritten::refuse(&command, &typed)?;
            command::run(cli, &InProcess)
        }
        Err(asked) if !asked.use_stderr() => {
            // --help and --version
            to_standard_output(asked.print().and_then(|()| std::io::stdout().flush()))?;
            Ok(Answer::Yes)
        }
        Err(nothing) if nothing.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = nothing.print();
            Ok(Answer::Help)
        }
        Err(error) => Err(usage(&error)),
    }
}
