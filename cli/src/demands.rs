//! Where demands over time come from, and what is due to whom.

use crate::failure::Failure;
use clap::ValueEnum;
use fairplan_instances::{DemandSeries, FairShares, Instance, files};

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

/// Where a series and the fair shares of its users are read from.
#[derive(Clone, Debug)]
pub struct DemandsSource {
    demands: String,
    shares: Shares,
    capacity: Option<u64>,
    members: Option<String>,
    rounding: files::Rounding,
}

#[derive(Clone, Debug)]
enum Shares {
    PerUser(u64),
    Capacity(u64),
    Each(String),
    /// Tasks over the servers of an instance, which the file of the demands names unless it is named here.
    Instance(Option<String>),
}

/// What was read.
pub enum Demanded {
    /// Slices of one resource, and what is due to whom.
    Slices(DemandSeries, FairShares),
    /// Tasks over the servers of an instance.
    Tasks(DemandSeries, Box<Instance>),
}

impl TryFrom<DemandsArguments> for DemandsSource {
    type Error = Failure;
    fn try_from(arguments: DemandsArguments) -> Result<Self, Failure> {
        let DemandsArguments { demands, instance, fair_share, capacity, fair_shares, members, round } =
            arguments;
        let shares = match (fair_share, fair_shares, capacity) {
            (Some(share), _, _) => Shares::PerUser(share),
            (None, Some(path), _) => Shares::Each(path),
            (None, None, Some(capacity)) => Shares::Capacity(capacity),
            (None, None, None) => Shares::Instance(instance),
        };
        let each = match &shares {
            Shares::Each(path) | Shares::Instance(Some(path)) => Some(path.as_str()),
            _ => None,
        };
        let inputs = [Some(demands.as_str()), each, members.as_deref()];
        if inputs.into_iter().flatten().filter(|path| *path == "-").count() > 1 {
            return Err(Failure::refused("only one input can be standard input"));
        }
        let rounding = match round {
            None => files::Rounding::Refused,
            Some(Round::Down) => files::Rounding::Down,
            Some(Round::Nearest) => files::Rounding::Nearest,
            Some(Round::Up) => files::Rounding::Up,
        };
        Ok(Self { demands, shares, capacity, members, rounding })
    }
}

/// Reads a series with, where there is a file of them, the users who join or leave; and the file of the instance that
/// the series names, if its demands are tasks.
pub fn read_series(
    demands: &str,
    members: Option<&str>,
    rounding: files::Rounding,
) -> Result<(DemandSeries, Option<String>), Failure> {
    let (series, instance) = files::read_demands_and_instance(demands, rounding)?;
    let series = match members {
        Some(path) => files::read_members(path, series)?,
        None => series,
    };
    Ok((series, instance))
}

impl DemandsSource {
    /// The file of the demands, for messages.
    pub fn file(&self) -> &str {
        &self.demands
    }

    /// The same, but for the file of the demands.
    pub fn beside(&self, demands: String) -> Result<Self, Failure> {
        if demands == "-" {
            return Err(Failure::refused("--reported cannot be standard input; name a file"));
        }
        Ok(Self { demands, ..self.clone() })
    }

    /// Reads the series, and what is due to its users or the servers that their tasks need.
    pub fn read(&self) -> Result<Demanded, Failure> {
        let (series, named) = self.read_series()?;
        if let Shares::Instance(stated) = &self.shares {
            let Some(path) = stated.as_ref().or(named.as_ref()) else {
                let problem = "say how many slices there are (--fair-share, --capacity or --fair-shares), or name an --instance";
                return Err(Failure::refused(problem));
            };
            return Ok(Demanded::Tasks(series, Box::new(files::read_instance(path)?)));
        }
        if named.is_some() {
            let problem = "names an instance, so that its demands are tasks: state no slices";
            return Err(Failure::refused(format!("{}: {problem}", self.demands)));
        }
        let shares = match &self.shares {
            Shares::PerUser(share) => FairShares::PerUser(*share),
            Shares::Capacity(capacity) => FairShares::Capacity(*capacity),
            Shares::Each(path) => FairShares::Each(files::read_fair_shares(path, &series)?),
            Shares::Instance(_) => return Err(Failure::internal("an instance has no slices")),
        };
        shares.check(&series, self.capacity).map_err(|violation| match &self.shares {
            Shares::Each(path) => Failure::from(violation.in_file(path)),
            _ => violation.into(),
        })?;
        Ok(Demanded::Slices(series, shares))
    }

    /// Reads a series that has the same users and quanta as another.
    pub fn read_like(&self, other: &DemandSeries) -> Result<DemandSeries, Failure> {
        let (series, _) = self.read_series()?;
        let differs = |what: &str| {
            Err(Failure::refused(format!("{}: the {what} are not those of DEMANDS", self.demands)))
        };
        let users = |series: &DemandSeries| {
            (0..series.user_count()).map(|user| series.user_id(user).to_owned()).collect::<Vec<_>>()
        };
        if users(&series) != users(other) {
            return differs("users");
        }
        let quanta = series.quantum_count();
        if quanta != other.quantum_count()
            || (0..quanta).any(|quantum| series.label(quantum) != other.label(quantum))
        {
            return differs("quanta");
        }
        Ok(series)
    }

    fn read_series(&self) -> Result<(DemandSeries, Option<String>), Failure> {
        read_series(&self.demands, self.members.as_deref(), self.rounding)
    }
}
