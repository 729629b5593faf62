//! What is typed: the commands and the options they share.

use crate::commands;
pub use crate::output::{OutputArguments, ResultFormat, ResultOutput};
use clap::{Parser, Subcommand};
use fairplan::instances::Deadline;
use fairplan::{Error, OutsidePolicy, highs_version};
use std::sync::LazyLock;
use std::time::Duration;

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
        None => {
            "without HiGHS: refuses --backend highs, bound, place --policy pattern, plan buy and plan move"
                .into()
        }
    };
    format!("{} ({of_highs})", env!("CARGO_PKG_VERSION"))
});

const EXIT_STATUS: &str = "\
Results go to standard output (or -o FILE), a short summary to standard error.
Exit status: 0 done; 1 the answer is no (a check failed); 2 bad input or usage; 3 internal failure.

Example: fairplan generate drfh-fig1 | fairplan solve -";

/// Options of every command.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct CommonOptions {
    /// Print no summary and no progress
    #[arg(long, short, global = true, display_order = 900)]
    pub quiet: bool,
    /// Use at most this many threads, 1 to 1024 (default: one per core); the result does not depend on it
    #[arg(long, global = true, value_name = "N", display_order = 900, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// How long a command may take.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct TimeLimit {
    /// End after this time, reading not counted, with the best answer so far or with exit status 3 if there is none; without
    /// a limit the same input gives the same bytes
    #[arg(long = "time-limit", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    limit: Option<Duration>,
}

impl TimeLimit {
    /// The deadline of work that begins now.
    pub fn deadline(self) -> Deadline {
        self.limit.map_or_else(Deadline::never, Deadline::after)
    }
}

/// A time in seconds, above 0.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "state seconds, more than 0".into())
}

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

/// How long a policy in another process may take for an answer.
#[derive(Clone, Debug, clap::Args)]
pub struct PolicyTimeout {
    /// Give a policy of --policy-command up when it takes longer than this for an answer
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60", allow_negative_numbers = true)]
    policy_timeout: Duration,
}

impl PolicyTimeout {
    /// The policy of a command line.
    pub fn policy(&self, command: &str) -> Result<OutsidePolicy, Error> {
        OutsidePolicy::new(command, self.policy_timeout)
            .map_err(|problem| Error::Setting(format!("policy-command {command:?}: {problem}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

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
            Ok(cli) => crate::failure::line(&commands::run(cli).unwrap_err()),
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
                "bound a -o a.csv",
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
                "unknown policy x: use best-fit, first-fit, worst-fit, dot-product, random, slots=N, hadoop-slots=N, exact",
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
