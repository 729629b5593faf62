//! Where the instance comes from: one JSON file, or tables of servers, of users and perhaps of groups.

use fairplan::{Error, Instance, read};

/// An instance as it is named on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct InstanceArguments {
    /// The instance: a fairplan.instance.v1 JSON file, gzipped or not, or - for standard input
    instance: Option<String>,
    #[command(flatten)]
    tables: TableArguments,
}

/// The instance as tables.
#[derive(Clone, Debug, clap::Args)]
pub struct TableArguments {
    /// Instead of INSTANCE: a table of server classes (CSV, gzipped or not, or Parquet)
    #[arg(long, value_name = "FILE", requires = "users")]
    servers: Option<String>,
    /// With --servers: a table of users
    #[arg(long, value_name = "FILE", requires = "servers")]
    users: Option<String>,
    /// With --servers: a table of groups, where users are in groups
    #[arg(long, value_name = "FILE", requires = "users")]
    groups: Option<String>,
}

impl TableArguments {
    /// Whether the instance is given as tables.
    pub fn are_named(&self) -> bool {
        self.servers.is_some() || self.users.is_some()
    }
}

impl InstanceArguments {
    /// The error with the file whose value it is about, if it is one of this instance.
    pub fn told(&self, error: Error) -> Error {
        error.in_file(|place| {
            let TableArguments { servers, users, groups } = &self.tables;
            let table = match place.split(['[', '.']).next() {
                Some("users") => users,
                Some("groups") => groups,
                Some("server_classes" | "resources" | "device_profiles") => servers,
                _ => return None,
            };
            let file = self.instance.as_ref().or(table.as_ref())?;
            Some(if file == "-" { "standard input".into() } else { file.clone() })
        })
    }

    /// One file.
    pub fn file(path: &str) -> Self {
        let tables = TableArguments { servers: None, users: None, groups: None };
        Self { instance: Some(path.to_owned()), tables }
    }
}

/// Where an instance is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceSource {
    /// One JSON file.
    Json(String),
    /// Tables.
    Tables {
        /// The server classes.
        servers: String,
        /// The users.
        users: String,
        /// The groups.
        groups: Option<String>,
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
            (None, Some(servers), Some(users)) => {
                let groups = tables.groups;
                let paths = [Some(&servers), Some(&users), groups.as_ref()];
                if paths.into_iter().flatten().filter(|path| *path == "-").count() > 1 {
                    return Err(Error::input(
                        "only one of --servers, --users and --groups can be standard input",
                    ));
                }
                Ok(Self::Tables { servers, users, groups })
            }
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
            Self::Tables { servers, users, groups } => read::tables(servers, users, groups.as_deref()),
        }
    }

    /// Whether reading takes standard input.
    pub fn takes_standard_input(&self) -> bool {
        match self {
            Self::Json(path) => path == "-",
            Self::Tables { servers, users, groups } => {
                servers == "-" || users == "-" || groups.as_deref() == Some("-")
            }
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
        let tables =
            TableArguments { servers: servers.map(Into::into), users: users.map(Into::into), groups: None };
        InstanceSource::new(instance.map(Into::into), tables)
    }

    #[test]
    fn an_instance_is_one_file_or_two_tables() {
        assert_eq!(source(Some("a.json"), None, None).unwrap(), InstanceSource::Json("a.json".into()));
        let tables = InstanceSource::Tables { servers: "s.csv".into(), users: "-".into(), groups: None };
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
