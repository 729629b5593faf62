//! One file a command: what is typed, what it means, what is done.

pub mod compare;
pub mod convert;
pub mod generate;
pub mod import;
pub mod place;
pub mod reproduce;
pub mod schema;
pub mod solve;
mod solved;
pub mod verify;

use crate::arguments::{Cli, Command, Session};
use crate::failure::{Answer, Failure};
use std::io::Write;

/// Does what was asked for.
pub fn run(cli: Cli) -> Result<Answer, Failure> {
    let session = cli.session;
    if let Some(threads) = session.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .map_err(|error| Failure::internal(format!("cannot start {threads} threads: {error}")))?;
    }
    match cli.command {
        Command::Solve(arguments) => solve::run(arguments, session),
        Command::Place(arguments) => place::run(arguments, session),
        Command::Compare(arguments) => compare::run(arguments, session),
        Command::Verify(arguments) => verify::run(arguments, session),
        Command::Generate(arguments) => generate::run(arguments, session),
        Command::Import(arguments) => import::run(arguments, session),
        Command::Convert(arguments) => convert::run(arguments, session),
        Command::Reproduce(arguments) => reproduce::run(arguments, session),
        Command::Schema(arguments) => schema::run(arguments),
    }
}

/// Shows a summary on standard error, unless it shall be quiet.
fn tell(session: Session, summary: impl FnOnce() -> String) {
    if !session.quiet {
        // Nobody may be listening, and that is no reason to fail.
        let _ = std::io::stderr().write_all(summary().as_bytes());
    }
}
