//! Where the instance comes from: one JSON file, or a table of servers and a table of users.

use fairplan::{Error, Instance, read};

/// An instance as it is named on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct InstanceArguments {
    /// The instance: a fairplan.instance.v1 JSON file, gzipped or not, or - for standard input
    instance: Option<String>,
    #[command(flatten)]
    tables: TableArguments,
}

/// The instance as two tables.
#[derive(Clone, Debug, clap::Args)]
pub struct TableArguments {
    /// Instead of INSTANCE: a table of server classes (CSV, gzipped or not, or Parquet)
    #[arg(long, value_name = "FILE", requires = "users")]
    servers: Option<String>,
    /// With --servers: a table of users
    #[arg(long, value_name = "FILE", requires = "servers")]
    users: Option<String>,
}

impl TableArguments {
    /// Whether the instance is given as tables.
    pub fn are_named(&self) -> bool {
        self.servers.is_some() || self.users.is_some()
    }
}

/// Where an instance is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceSource {
    /// One JSON file.
    Json(String),
    /// Two tables.
    Tables {
        /// The server classes.
        servers: String,
        /// The users.
        users: String,
    },
}

impl TryFrom<InstanceArguments> for InstanceSource {
    type Error = Error;
    fn try_from(arguments: InstanceArguments) -> Result<Self, Error> {
        Self::new(arguments.instance, arguments.tables)
    }
}

impl InstanceSource {
    /// From a file or two tables; exactly one of the two must be named.
    pub fn new(instance: Option<String>, tables: TableArguments) -> Result<Self, Error> {
        match (instance, tables.servers, tables.users) {
            (Some(path), None, None) => Ok(Self::Json(path)),
            (None, Some(servers), Some(users)) if servers == "-" && users == "-" => {
                Err(Error::input("only one of --servers and --users can be standard input"))
            }
            (None, Some(servers), Some(users)) => Ok(Self::Tables { servers, users }),
            (Some(_), ..) => Err(Error::input("name an INSTANCE or --servers and --users, not both")),
            _ => {
                Err(Error::input("name an INSTANCE file (or - for standard input), or --servers and --users"))
            }
        }
    }

    /// Reads the instance.
    pub fn read(&self) -> Result<Instance, Error> {
        match self {
            Self::Json(path) => read::instance(path),
            Self::Tables { servers, users } => read::tables(servers, users),
        }
    }

    /// Whether reading takes standard input.
    pub fn takes_standard_input(&self) -> bool {
        match self {
            Self::Json(path) => path == "-",
            Self::Tables { servers, users } => servers == "-" || users == "-",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(
        instance: Option<&str>,
        servers: Option<&str>,
        users: Option<&str>,
    ) -> Result<InstanceSource, Error> {
        let tables = TableArguments { servers: servers.map(Into::into), users: users.map(Into::into) };
        InstanceSource::new(instance.map(Into::into), tables)
    }

    #[test]
    fn an_instance_is_one_file_or_two_tables() {
        assert_eq!(source(Some("a.json"), None, None).unwrap(), InstanceSource::Json("a.json".into()));
        let tables = InstanceSource::Tables { servers: "s.csv".into(), users: "-".into() };
        assert_eq!(source(None, Some("s.csv"), Some("-")).unwrap(), tables);
        assert!(tables.takes_standard_input());
        for (instance, servers, users) in [
            (None, None, None),
            (Some("a"), Some("s"), Some("u")),
            (None, Some("-"), Some("-")),
            (None, Some("s"), None),
        ] {
            assert_eq!(source(instance, servers, users).unwrap_err().to_string().lines().count(), 1);
        }
    }
}
