//! Instances as tables, and traces, into files: whole, or not at all.

use crate::Error;
use fairplan_instances::trace::EventSource;
use fairplan_instances::{Instance, InstanceError, files};
use fairplan_report::output::{Destination, Prepared, Sink, commit};
use std::io;

/// Writes an instance as tables of its servers, its users and, where users are in groups, these, each in the format that its
/// destination's name asks for: all are replaced, or none.
///
/// # Errors
/// What tables have no room for, users in groups without a table for these, and what cannot be written.
pub fn tables(
    instance: &Instance,
    servers: &Destination,
    users: &Destination,
    groups: Option<&Destination>,
) -> Result<(), Error> {
    if groups.is_none() && instance.has_groups() {
        let problem = "to-groups: the users are in groups; name a table for these too";
        return Err(Error::Setting(problem.into()));
    }
    let [servers_name, users_name] = [servers, users].map(Destination::name);
    let mut all = vec![
        prepared(servers, |out| files::write_servers(instance, &servers_name, out))?,
        prepared(users, |out| files::write_users(instance, &users_name, out))?,
    ];
    if let Some(groups) = groups {
        let name = groups.name();
        all.push(prepared(groups, |out| files::write_groups(instance, &name, out))?);
    }
    Ok(commit(all)?)
}

/// Writes a trace in the format that the destination's name asks for.
///
/// # Errors
/// What the source refuses, what the format cannot express, and what cannot be written.
pub fn trace(source: &mut dyn EventSource, destination: &Destination) -> Result<(), Error> {
    let name = destination.name();
    Ok(commit([prepared(destination, |out| files::write_trace(source, &name, out))?])?)
}

/// Prepares what `body` writes. What the format cannot express is told as it is, not as a failure to write.
fn prepared(
    destination: &Destination,
    body: impl FnOnce(&mut Sink) -> Result<(), InstanceError>,
) -> Result<Prepared, Error> {
    let mut refused = None;
    let outcome = destination.prepare(|out| {
        body(out).map_err(|error| match error {
            InstanceError::Io { source, .. } => source,
            other => {
                let unwritten = io::Error::other(other.to_string());
                refused = Some(other);
                unwritten
            }
        })
    });
    match refused {
        Some(error) => Err(error.into()),
        None => Ok(outcome?),
    }
}
