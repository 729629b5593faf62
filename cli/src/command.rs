//! The command as it is typed, and which of its commands does what.

use crate::arguments::CommonOptions;
use crate::commands;
use crate::failure::Answer;
use crate::input::InstanceArguments;
use clap::{CommandFactory, Parser, Subcommand};
use fairplan::{Error, highs_version};
use fairplan_sweeps::Commands;
use std::sync::LazyLock;

/// Fair allocation of clusters with different servers: exact shares with prices and a proof, whole-task
/// placement and how far each policy is from the best, and demands that change over time.
#[derive(Debug, Parser)]
#[command(name = "fairplan", version, long_version = VERSION.as_str(), max_term_width = 100, after_help = EXIT_STATUS)]
pub struct Cli {
    #[command(flatten)]
    pub common: CommonOptions,
    #[command(subcommand)]
    pub command: Command,
}

/// The version with that of HiGHS, or with what is refused without it.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let of_highs = match highs_version() {
        Some(version) => format!("with HiGHS {version}"),
        None => "without HiGHS: refuses --backend highs".into(),
    };
    format!("{} ({of_highs})", env!("CARGO_PKG_VERSION"))
});

const EXIT_STATUS: &str = "\
Results go to standard output (or -o FILE), a short summary to standard error.
Exit status: 0 done; 1 the answer is no (a check failed); 2 bad input or usage; 3 internal failure.

Example: fairplan generate drfh-fig1 | fairplan solve -";

#[derive(Debug, Subcommand)]
pub enum Command {
    Solve(commands::solve::Arguments),
    Place(commands::place::Arguments),
    Bound(commands::bound::Arguments),
    Compare(commands::compare::Arguments),
    Audit(commands::audit::Arguments),
    Entitlements(commands::entitlements::Arguments),
    Explain(commands::explain::Arguments),
    Plan(Box<commands::plan::Arguments>),
    Allocate(commands::allocate::Arguments),
    Offline(commands::offline::Arguments),
    Flows(commands::flows::Arguments),
    Simulate(commands::simulate::Arguments),
    Verify(commands::verify::Arguments),
    Generate(commands::generate::Arguments),
    Import(commands::import::Arguments),
    Export(commands::export::Arguments),
    Convert(commands::convert::Arguments),
    Sweep(Box<commands::sweep::Arguments>),
    Reproduce(commands::reproduce::Arguments),
    Report(commands::report::Arguments),
    Schema(commands::schema::Arguments),
    Completions(commands::completions::CompletionArguments),
    Manual(commands::completions::ManualArguments),
}

/// Does what was asked for.
pub fn run(cli: Cli, swept: &dyn Commands) -> Result<Answer, Error> {
    let common = cli.common;
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| Error::input(format!("--threads {threads}: {error}; state fewer")))?;
    }
    dispatch(cli.command, common, swept)
}

impl Command {
    /// The instance that it is about, where it names one.
    fn instance(&self) -> Option<InstanceArguments> {
        let instance = match self {
            Self::Solve(arguments) => &arguments.instance,
            Self::Place(arguments) => &arguments.instance,
            Self::Bound(arguments) => &arguments.instance,
            Self::Compare(arguments) => &arguments.instance,
            Self::Audit(arguments) => &arguments.instance,
            Self::Entitlements(arguments) => &arguments.instance,
            Self::Explain(arguments) => &arguments.instance,
            Self::Convert(arguments) => &arguments.instance,
            Self::Plan(arguments) => arguments.instance()?,
            Self::Allocate(arguments) => return arguments.demands.instance(),
            Self::Offline(arguments) => return arguments.demands.instance(),
            Self::Export(arguments) => return Some(InstanceArguments::file(&arguments.instance)),
            _ => return None,
        };
        Some(instance.clone())
    }
}

/// Does what a command says, on the threads that are there, and tells of which file what cannot be used is. `swept` is what sweeps run.
pub fn dispatch(command: Command, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    let instance = command.instance();
    run_alone(command, common, swept).map_err(|error| match instance {
        Some(instance) => instance.told(error),
        None => error,
    })
}

fn run_alone(command: Command, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    match command {
        Command::Solve(arguments) => commands::solve::run(arguments, common),
        Command::Place(arguments) => commands::place::run(arguments, common),
        Command::Bound(arguments) => commands::bound::run(arguments, common),
        Command::Audit(arguments) => commands::audit::run(arguments, common),
        Command::Compare(arguments) => commands::compare::run(arguments, common),
        Command::Entitlements(arguments) => commands::entitlements::run(arguments, common),
        Command::Explain(arguments) => commands::explain::run(arguments, common),
        Command::Plan(arguments) => commands::plan::run(*arguments, common),
        Command::Allocate(arguments) => commands::allocate::run(arguments, common),
        Command::Offline(arguments) => commands::offline::run(arguments, common),
        Command::Flows(arguments) => commands::flows::run(arguments, common),
        Command::Simulate(arguments) => commands::simulate::run(arguments, common),
        Command::Verify(arguments) => commands::verify::run(arguments, common),
        Command::Generate(arguments) => commands::generate::run(arguments, common),
        Command::Export(arguments) => commands::export::run(arguments, common),
        Command::Import(arguments) => commands::import::run(arguments, common),
        Command::Convert(arguments) => commands::convert::run(arguments, common),
        Command::Sweep(arguments) => commands::sweep::run(*arguments, common, swept),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments, common, swept),
        Command::Report(arguments) => commands::report::run(arguments, common),
        Command::Schema(arguments) => commands::schema::run(arguments),
        Command::Completions(arguments) => commands::completions::completions(arguments, Cli::command()),
        Command::Manual(arguments) => commands::completions::manual(arguments, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swept::InProcess;

    #[test]
    fn the_commands_are_put_together_soundly_and_each_shows_an_example() {
        let mut cli = Cli::command();
        cli.clone().debug_assert();
        for command in cli.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{}: {help}", command.get_name());
        }
    }

    /// The terminal would break them where nobody can copy them.
    #[test]
    fn examples_are_lines_that_fit() {
        fn check(command: &mut clap::Command) {
            let help = command.render_long_help().to_string();
            let (_, examples) = help.split_once("Example").unwrap_or_default();
            for line in format!("Example{examples}").lines() {
                assert!(line.len() <= 100, "{}: {line}", command.get_name());
                // A line that was broken goes on at its beginning.
                let begins = line.starts_with("Example") || line.starts_with("  ") || line.is_empty();
                assert!(begins, "{}: {line}", command.get_name());
            }
            command.get_subcommands_mut().for_each(check);
        }
        check(&mut Cli::command());
    }

    /// What becomes of a line that cannot be meant.
    fn refused(line: &str) -> String {
        let words = ["fairplan", "-q"].into_iter().chain(line.split(' '));
        match Cli::try_parse_from(words) {
            Ok(cli) => crate::failure::line(&run(cli, &InProcess).unwrap_err()),
            Err(error) => crate::failure::usage(&error).to_string(),
        }
    }

    #[test]
    fn lines_that_cannot_be_meant_are_refused_in_one_line_that_says_what_would_do() {
        for (line, told) in [
            ("solve", "name an INSTANCE file (or - for standard input), or --servers and --users"),
            ("solve a --objective x", "unknown objective x: use drfh, pf, alpha=A, utilitarian"),
            ("solve a --objective alpha=-1", "the A of alpha=A must be >= 0"),
            (
                "solve a --backend hihgs",
                "unknown backend hihgs (did you mean highs?): use auto, ipm, highs; see --help",
            ),
            ("solve a --threads 0", "0 is not in 1..=1024"),
            ("solve a --threads 1000000", "1000000 is not in 1..=1024"),
            ("solve a --servers s", "--users <FILE>"),
            ("solve a -o /", "is a directory"),
            (
                "audit a -o a.csv",
                "a.csv: this is not written as .csv; name a file that ends in .json or .json.gz",
            ),
            ("solve a -o a.parquet.gz", "leave out .gz"),
            ("convert a -o a.csv", "--to-servers and --to-users"),
            ("generate trace-random -o a.csv", "ends in .jsonl, .jsonl.gz or .parquet"),
            ("solve /missing.json", "/missing.json: No such file"),
            ("place a --policy x", "unknown policy x: use best-fit"),
            ("place a --policies patern", "unknown policy patern (did you mean pattern?): use best-fit"),
            ("compare a --policy x", "slots=N, hadoop-slots=N, pattern"),
            ("compare a --policies best-fit,best-fit", "--policies names best-fit twice"),
            ("bound a --time-limit -1", "--time-limit"),
            ("allocate /missing --capacity 1", "/missing: No such file"),
            ("allocate a --instance - --capacity 1", "--instance"),
            (
                "simulate a --policy x",
                "unknown policy x: use best-fit, first-fit, worst-fit, dot-product, random, slots=N, hadoop-slots=N, fgd",
            ),
            ("simulate a --policy pf,pf", "--policy names pf twice"),
            ("simulate a --horizon -1", "--horizon"),
            ("simulate a --sample 1", "--series"),
            ("verify a", "name the INSTANCE and the RESULT to check"),
            ("verify - -", "only one of INSTANCE and RESULT can be standard input"),
            (
                "report a --plot a.gif",
                "a.gif: has no ending that says the format; name a file that ends in .svg",
            ),
            ("report - -", "only one RESULT can be standard input"),
            ("manual /missing", "/missing: no such directory"),
            ("schema x", "unknown format x: use instance, demands"),
            ("reproduce drfh-fig9", "unknown exhibit drfh-fig9 (did you mean drfh-fig1?): use drfh-fig1"),
            ("reproduce mrf-fig1 --plots /missing", "--plots /missing: no such directory"),
            ("convert a --to-servers t --to-users t", "must be different files"),
            ("generate google --servers 0", "servers = 0: draw at least 1"),
            ("frobnicate", "unrecognized subcommand 'frobnicate'"),
        ] {
            let refusal = refused(line);
            assert!(refusal.contains(told), "{line}: {refusal}");
            assert_eq!(refusal.lines().count(), 1, "{line}: {refusal}");
        }
    }
}
