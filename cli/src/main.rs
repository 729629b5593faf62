//! The `fairplan` command: arguments in, the libraries put together, exit codes out.

mod arguments;
mod commands;
mod demands;
mod failure;
mod input;
mod interrupt;
mod progress;

use arguments::Cli;
use clap::Parser;
use failure::{Answer, Failure, usage};
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Keeps the memory that large results were computed in: giving it back and getting it again page by page cost a
/// million users a tenth of their time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the last defect was.
static DEFECT: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    interrupt::watch();
    // A defect is one line and an exit code like any other failure. One that is caught, as those of a backend are, is told
    // by whoever caught it.
    std::panic::set_hook(Box::new(|defect| {
        let place =
            defect.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let reason = defect.payload_as_str().unwrap_or("no reason given").replace('\n', " ");
        let mut last = DEFECT.lock().unwrap_or_else(PoisonError::into_inner);
        *last = format!("defect in fairplan{place}: {reason}; please report it");
    }));
    let status = match std::panic::catch_unwind(run) {
        Ok(Ok(Answer::Yes)) => 0,
        Ok(Ok(Answer::No)) => 1,
        Ok(Err(failure)) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.exit_status()
        }
        Err(_) => {
            let defect = DEFECT.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writeln!(std::io::stderr(), "error: {defect}");
            3
        }
    };
    ExitCode::from(status)
}

fn run() -> Result<Answer, Failure> {
    match Cli::try_parse() {
        Ok(cli) => commands::run(cli),
        Err(asked) if !asked.use_stderr() => {
            let _ = asked.print(); // --help and --version
            Ok(Answer::Yes)
        }
        Err(error) => Err(usage(&error)),
    }
}
