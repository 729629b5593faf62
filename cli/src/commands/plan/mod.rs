//! `plan`: what to buy, what servers are worth, what failures cost, what made a difference, how long a cluster lasts, what to move.

mod buy;
mod diff;
mod growth;
mod lose;
mod moves;
mod target;
mod worth;

use crate::arguments::CommonOptions;
use crate::failure::Answer;
use crate::input::InstanceArguments;
use fairplan::Error;

/// Plan capacity: what to buy, what a server is worth, what a failure costs
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "fairplan plan [buy] [OPTIONS] <INSTANCE> --catalog <CATALOG>\n       \
                      fairplan plan worth|lose [OPTIONS] <INSTANCE>\n       \
                      fairplan plan diff [OPTIONS] <BEFORE> <AFTER>\n       \
                      fairplan plan growth [OPTIONS] <INSTANCE> --series <FILE>\n       \
                      fairplan plan move [OPTIONS] <INSTANCE> --from <PLACEMENT>",
    after_help = "\
Without another word, the options are those of `plan buy`; see `fairplan plan buy --help`.

Example: fairplan generate drfh-fig1 -o fig1.json
         printf 'id,price\\nhigh-cpu,3\\nhigh-memory,2\\n' > catalog.csv
         fairplan plan fig1.json --catalog catalog.csv --share 0.9"
)]
pub struct Arguments {
    #[command(subcommand)]
    kind: Option<Kind>,
    #[command(flatten)]
    buy: buy::Arguments,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    Buy(buy::Arguments),
    Worth(worth::Arguments),
    Lose(lose::Arguments),
    Diff(diff::Arguments),
    Growth(growth::Arguments),
    Move(moves::Arguments),
}

impl Arguments {
    /// The instance that is asked about; two that are compared say themselves which is which.
    pub fn instance(&self) -> Option<&InstanceArguments> {
        match &self.kind {
            None => Some(&self.buy.instance),
            Some(Kind::Buy(arguments)) => Some(&arguments.instance),
            Some(Kind::Worth(arguments)) => Some(&arguments.instance),
            Some(Kind::Lose(arguments)) => Some(&arguments.instance),
            Some(Kind::Growth(arguments)) => Some(&arguments.instance),
            Some(Kind::Move(arguments)) => Some(&arguments.instance),
            Some(Kind::Diff(_)) => None,
        }
    }
}

/// Does what was asked for.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    match arguments.kind {
        None => buy::run(arguments.buy, common),
        Some(Kind::Buy(arguments)) => buy::run(arguments, common),
        Some(Kind::Worth(arguments)) => worth::run(arguments, common),
        Some(Kind::Lose(arguments)) => lose::run(arguments, common),
        Some(Kind::Diff(arguments)) => diff::run(arguments, common),
        Some(Kind::Growth(arguments)) => growth::run(arguments, common),
        Some(Kind::Move(arguments)) => moves::run(arguments, common),
    }
}
