//! `convert`: an instance or a trace from one file format to another.

use super::traces;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::output;
use crate::progress::tell;
use fairplan::instances::{QuotaPart, files};
use fairplan::report::output::Destination;
use fairplan::report::summary;
use fairplan::{Error, write};
use std::path::PathBuf;

/// Rewrite an instance as JSON, or as tables of servers, of users and of groups; or a trace
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The ending of a table's name is its format: .parquet, .arrow (which other programs read), .csv or .csv.gz. JSON is written \
in one canonical form, whose SHA-256 identifies the instance in every result. A trace is Parquet where -o FILE ends in \
.parquet, and else JSON Lines. Of several tables all are replaced or none.

Example: fairplan generate drfh-fig1 | fairplan convert - --to-servers servers.csv \\
           --to-users users.csv")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// Instead of an instance: a trace, as JSON Lines, gzipped or not, or Parquet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["instance", "servers", "users", "to_servers", "to_users"])]
    trace: Option<String>,
    /// Leave out what users and groups are given: guarantees, limits, reserves, or several of these
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "trace")]
    without: Vec<QuotaPart>,
    /// Write a table of server classes here instead of JSON
    #[arg(long, value_name = "FILE", requires = "to_users", conflicts_with = "output")]
    to_servers: Option<PathBuf>,
    /// With --to-servers: write a table of users here
    #[arg(long, value_name = "FILE", requires = "to_servers", conflicts_with = "output")]
    to_users: Option<PathBuf>,
    /// With --to-servers: write a table of groups here, where users are in groups
    #[arg(long, value_name = "FILE", requires = "to_users", conflicts_with = "output")]
    to_groups: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

enum Target {
    Json(Destination),
    Tables { servers: Destination, users: Destination, groups: Option<Destination> },
}

struct Job {
    source: InstanceSource,
    target: Target,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let table = |path: PathBuf| output::table(&path).map(|(_, destination)| destination);
        let target = match (arguments.to_servers, arguments.to_users) {
            (Some(servers), Some(users)) => {
                let groups = arguments.to_groups;
                if servers == users
                    || [&servers, &users].into_iter().any(|path| Some(path) == groups.as_ref())
                {
                    return Err(Error::input(
                        "--to-servers, --to-users and --to-groups must be different files",
                    ));
                }
                let groups = groups.map(table).transpose()?;
                Target::Tables { servers: table(servers)?, users: table(users)?, groups }
            }
            _ => Target::Json(arguments.output.destination().map_err(|refused| {
                Error::input(format!(
                    "{refused}; tables are written by --to-servers and --to-users, and a trace is read by --trace"
                ))
            })?),
        };
        Ok(Self { source: arguments.instance.try_into()?, target })
    }
}

/// Reads and writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    if let Some(trace) = &arguments.trace {
        let destination = arguments.output.trace()?;
        return traces::write(files::read_trace(trace)?.as_mut(), &destination, common);
    }
    let without = arguments.without.clone();
    let job = Job::try_from(arguments)?;
    let mut instance = job.source.read()?;
    if !without.is_empty() {
        let refused = |violation| Error::input(format!("without these: {violation}"));
        instance = instance.without_parts(&without).map_err(refused)?;
    }
    match &job.target {
        Target::Json(destination) => destination.write(|out| files::write_json(&instance, out))?,
        Target::Tables { servers, users, groups } => {
            write::tables(&instance, servers, users, groups.as_ref())?;
        }
    }
    tell(common, || summary::heading(&instance));
    Ok(Answer::Yes)
}
