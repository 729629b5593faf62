//! One file a command: what is typed, what it means, what is done.

pub mod allocate;
pub mod audit;
pub mod bound;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod entitlements;
pub mod explain;
pub mod export;
pub mod flows;
pub mod generate;
pub mod import;
pub mod offline;
pub mod place;
pub mod plan;
pub mod report;
pub mod reproduce;
pub mod schema;
pub mod simulate;
pub mod solve;
pub mod sweep;
mod traces;
pub mod verify;

use crate::arguments::{Cli, Command, CommonOptions};
use crate::failure::Answer;
use crate::progress::{tell, warn};
use fairplan::Error;

/// Does what was asked for.
pub fn run(cli: Cli) -> Result<Answer, Error> {
    let common = cli.common;
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| Error::input(format!("--threads {threads}: {error}; state fewer")))?;
    }
    dispatch(cli.command, common)
}

/// Does what a command says, on the threads that are there.
pub fn dispatch(command: Command, common: CommonOptions) -> Result<Answer, Error> {
    match command {
        Command::Solve(arguments) => solve::run(arguments, common),
        Command::Place(arguments) => place::run(arguments, common),
        Command::Bound(arguments) => bound::run(arguments, common),
        Command::Audit(arguments) => audit::run(arguments, common),
        Command::Compare(arguments) => compare::run(arguments, common),
        Command::Entitlements(arguments) => entitlements::run(arguments, common),
        Command::Explain(arguments) => explain::run(arguments, common),
        Command::Plan(arguments) => plan::run(*arguments, common),
        Command::Allocate(arguments) => allocate::run(arguments, common),
        Command::Offline(arguments) => offline::run(arguments, common),
        Command::Flows(arguments) => flows::run(arguments, common),
        Command::Simulate(arguments) => simulate::run(arguments, common),
        Command::Verify(arguments) => verify::run(arguments, common),
        Command::Generate(arguments) => generate::run(arguments, common),
        Command::Export(arguments) => export::run(arguments, common),
        Command::Import(arguments) => import::run(arguments, common),
        Command::Convert(arguments) => convert::run(arguments, common),
        Command::Sweep(arguments) => sweep::run(*arguments, common),
        Command::Reproduce(arguments) => reproduce::run(arguments, common),
        Command::Report(arguments) => report::run(arguments, common),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Completions(arguments) => completions::completions(arguments),
        Command::Manual(arguments) => completions::manual(arguments),
    }
}
