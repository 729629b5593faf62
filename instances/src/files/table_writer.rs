//! Writing an instance as two tables, the same columns that `tables` reads: CSV, Parquet or Arrow by name.

use crate::{Decimal, Instance, InstanceError, Violation};
use std::io::{self, Write};

#[cfg(feature = "parquet")]
use super::columnar::Columnar;
use super::csv::push_field;
use super::optional_columns::{FIXED, OptionalColumns};
use super::source::has_ending;

/// Bytes gathered before they are passed on.
const BUFFER: usize = 1 << 16;

/// Writes the table of servers to `out`, in the format that the ending of `path` names: `.parquet`, `.arrow` or any other
/// (CSV). `path` is only looked at and named in errors; who opened `out` compresses what shall be.
///
/// Refused: a resource named like another column of the tables, names of servers, devices, domains, quotas and, but for CSV, a number that no double
/// equals. The instance's name is not written.
pub fn write_servers(
    instance: &Instance,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    let invalid = |violation| InstanceError::Invalid { file: path.to_owned(), violation };
    check_resources(instance).map_err(invalid)?;
    if let Some(named) = instance.classes().iter().position(|class| !class.names.is_empty()) {
        let problem = "a table of classes has no room for the names of servers; write JSON, or import again without --placement-out";
        return Err(invalid(Violation::new(format!("server_classes[{named}].names"), "", problem)));
    }
    if let Some(class) = instance.classes().iter().position(|class| !class.devices.is_empty()) {
        let problem = "tables have no room for devices; write JSON";
        return Err(invalid(Violation::new(format!("server_classes[{class}].devices"), "", problem)));
    }
    if let Some(class) = instance.classes().iter().position(|class| class.domain.is_some()) {
        let problem = "tables have no room for domains; write JSON";
        return Err(invalid(Violation::new(format!("server_classes[{class}].domain"), "", problem)));
    }
    if let Some((owner, _)) = instance.quotas().first() {
        let problem = "tables have no room for guarantees, limits and reserves; write JSON";
        return Err(invalid(Violation::new(instance.name_of(*owner), "", problem)));
    }
    #[cfg(feature = "parquet")]
    if let Some(format) = Columnar::of(path) {
        return super::parquet::write_servers(instance, format, path, out);
    }
    refuse_parquet(path)?;
    lines(path, out, |out| {
        let mut line = Vec::with_capacity(2 * BUFFER);
        header(&mut line, &["id", "count"], instance, &[]);
        for class in instance.classes() {
            push_field(&mut line, &class.id);
            write!(line, ",{}", class.count)?;
            class.capacity.iter().for_each(|capacity| push_number(&mut line, *capacity));
            end_line(&mut line, out)?;
        }
        out.write_all(&line)
    })
}

/// Writes the table of users, as [`write_servers`] does that of the servers.
///
/// Refused besides: a list of classes with an id that contains `;`, kinds of tasks, profiles of devices, limits a server, gangs and spread.
pub fn write_users(
    instance: &Instance,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    let invalid = |violation| InstanceError::Invalid { file: path.to_owned(), violation };
    check_resources(instance).map_err(invalid)?;
    if let Some(user) = instance.users().position(|user| user.has_kinds()) {
        let problem = "a table of users has no room for kinds of tasks; write JSON";
        return Err(invalid(Violation::new(format!("users[{user}].kinds"), "", problem)));
    }
    if let Some((user, most)) =
        instance.users().find_map(|user| user.per_server().map(|most| (user.index().0, most)))
    {
        let problem = "tables have no room for limits a server; write JSON";
        return Err(invalid(Violation::new(format!("users[{user}].per_server"), most, problem)));
    }
    if let Some((user, name)) =
        instance.users().find_map(|user| user.profile_name().map(|name| (user.index().0, name)))
    {
        let problem = "tables have no room for profiles of devices; write JSON";
        return Err(invalid(Violation::new(format!("users[{user}].profile"), name, problem)));
    }
    instance.without_rules_between_servers("a table of users").map_err(invalid)?;
    let optional = OptionalColumns::new(instance).map_err(invalid)?;
    #[cfg(feature = "parquet")]
    if let Some(format) = Columnar::of(path) {
        return super::parquet::write_users(instance, &optional, format, path, out);
    }
    refuse_parquet(path)?;
    lines(path, out, |out| {
        let mut line = Vec::with_capacity(2 * BUFFER);
        header(&mut line, &["id"], instance, &optional.names());
        for user in instance.users() {
            push_field(&mut line, user.id());
            user.demand().iter().for_each(|demand| push_number(&mut line, *demand));
            if optional.weight {
                push_number(&mut line, user.weight());
            }
            if optional.tasks {
                line.push(b',');
                if let Some(tasks) = user.tasks() {
                    write!(line, "{tasks}")?;
                }
            }
            for cells in [&optional.eligible, &optional.rates].into_iter().flatten() {
                line.push(b',');
                push_field(&mut line, &cells[user.rule_id().0]);
            }
            if optional.group {
                line.push(b',');
                push_field(&mut line, parent_of(instance, user.group()));
            }
            end_line(&mut line, out)?;
        }
        out.write_all(&line)
    })
}

fn check_resources(instance: &Instance) -> Result<(), Violation> {
    match instance.resources().iter().position(|name| FIXED.contains(&name.as_str())) {
        None => Ok(()),
        Some(resource) => {
            let problem = "is another column of the tables; write JSON or rename the resource";
            let name = &instance.resources()[resource];
            Err(Violation::new(format!("resources[{resource}]"), name, problem))
        }
    }
}

/// For builds without Parquet and Arrow: text under such a name would only confuse.
pub(super) fn refuse_parquet(path: &str) -> Result<(), InstanceError> {
    if has_ending(path, "parquet") || has_ending(path, "arrow") {
        let reason = "is not written by this build in the format that its name means; name another ending";
        return Err(InstanceError::Io { file: path.to_owned(), source: io::Error::other(reason) });
    }
    Ok(())
}

/// Runs `write` on `out`; an error names `path`.
pub(super) fn lines(
    path: &str,
    out: &mut impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), InstanceError> {
    write(out).map_err(|source| InstanceError::Io { file: path.to_owned(), source })
}

fn header(line: &mut Vec<u8>, first: &[&str], instance: &Instance, last: &[&str]) {
    let resources = instance.resources().iter().map(String::as_str);
    for (position, name) in first.iter().copied().chain(resources).chain(last.iter().copied()).enumerate() {
        if position > 0 {
            line.push(b',');
        }
        push_field(line, name);
    }
    line.push(b'\n');
}

pub(super) fn push_number(line: &mut Vec<u8>, number: Decimal) {
    line.push(b',');
    line.extend_from_slice(number.text(&mut [0; Decimal::TEXT]));
}

pub(super) fn end_line(line: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    line.push(b'\n');
    if line.len() >= BUFFER {
        out.write_all(line)?;
        line.clear();
    }
    Ok(())
}

/// The id of a parent; empty for the root.
pub(super) fn parent_of(instance: &Instance, parent: Option<crate::GroupId>) -> &str {
    parent.map_or("", |parent| &instance.groups()[parent.0].id)
}
