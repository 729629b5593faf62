//! Where demands over time come from, and what is due to whom.

use crate::input::InstanceArguments;
use clap::ValueEnum;
use fairplan::Error;
use fairplan::files::Rounding;
use fairplan::read::{DemandsSource, Due};

/// A series of demands as it is named on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct DemandsArguments {
    /// The demands: a table (CSV, gzipped or not, or Parquet) or fairplan.demands.v1 JSON, or - for standard input
    demands: String,
    /// Demands are tasks over the servers of this instance (a fairplan.instance.v1, which a fairplan.demands.v1 can also
    /// name itself), whose users have the same ids
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fair_share", "capacity", "fair_shares"])]
    instance: Option<String>,
    /// Slices that every user is due in a quantum; the capacity is this times the users
    #[arg(long, value_name = "F", conflicts_with = "fair_shares")]
    fair_share: Option<u64>,
    /// Slices in a quantum, shared equally (or, with one of the others: their sum, which is checked)
    #[arg(long, value_name = "B")]
    capacity: Option<u64>,
    /// A table with the columns user, fair_share: slices that each user is due in a quantum
    #[arg(long, value_name = "FILE")]
    fair_shares: Option<String>,
    /// A table with the columns user, first, last: the quanta in which users who join or leave are members
    #[arg(long, value_name = "FILE")]
    members: Option<String>,
    /// Round demands that are no whole number of slices, instead of refusing them
    #[arg(long, value_enum, value_name = "HOW")]
    round: Option<Round>,
}

/// How fractions of a slice are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Round {
    Down,
    Nearest,
    Up,
}

impl DemandsArguments {
    /// The instance that is named here.
    pub fn instance(&self) -> Option<InstanceArguments> {
        self.instance.as_deref().map(InstanceArguments::file)
    }

    /// Where they are read from.
    pub fn source(self) -> Result<DemandsSource, Error> {
        let Self { demands, instance, fair_share, capacity, fair_shares, members, round } = self;
        let due = match (fair_share, fair_shares, capacity) {
            (Some(share), _, _) => Due::PerUser(share),
            (None, Some(path), _) => Due::Each(path),
            (None, None, Some(capacity)) => Due::Capacity(capacity),
            (None, None, None) => Due::Instance(instance),
        };
        let each = match &due {
            Due::Each(path) | Due::Instance(Some(path)) => Some(path.as_str()),
            _ => None,
        };
        let inputs = [Some(demands.as_str()), each, members.as_deref()];
        if inputs.into_iter().flatten().filter(|path| *path == "-").count() > 1 {
            return Err(Error::input("only one input can be standard input"));
        }
        let rounding = match round {
            None => Rounding::Refused,
            Some(Round::Down) => Rounding::Down,
            Some(Round::Nearest) => Rounding::Nearest,
            Some(Round::Up) => Rounding::Up,
        };
        Ok(DemandsSource { demands, due, capacity, members, rounding })
    }
}
