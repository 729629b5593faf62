//! No command writes over what it reads: an output that is one of its inputs is refused before anything is read.
//!
//! What is what the definitions of the commands say: an output is a path, an input a name, of which `-` is standard input. Files are
//! the same where their canonical paths are, however they were named.

use crate::swept::is_input;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use fairplan::Error;
use fairplan::instances::wording::printable;
use std::any::TypeId;
use std::ffi::OsString;
use std::fs::canonicalize;
use std::path::{Path, PathBuf};

/// Refuses what was typed for a command if one of its outputs is one of its inputs.
pub fn refuse(command: &Command, typed: &ArgMatches) -> Result<(), Error> {
    let (mut command, mut typed, mut names) = (command, typed, Vec::new());
    while let Some((name, inner)) = typed.subcommand() {
        let Some(found) = command.find_subcommand(name) else { return Ok(()) };
        (command, typed) = (found, inner);
        names.push(name.to_owned());
    }
    let (outputs, others): (Vec<&Arg>, Vec<&Arg>) = command.get_arguments().partition(|arg| is_output(arg));
    let outputs = outputs.into_iter().flat_map(|arg| files(arg, typed));
    let outputs: Vec<(String, PathBuf)> = outputs.filter(|(said, _)| said != "-").collect();
    if outputs.is_empty() {
        return Ok(());
    }
    for (said, input) in
        others.into_iter().filter(|arg| is_input(&names, arg)).flat_map(|arg| files(arg, typed))
    {
        if let Some((output, _)) = outputs.iter().find(|(_, output)| *output == input) {
            let read = match said.as_str() {
                "-" => "as standard input".to_owned(),
                _ if said == *output => "too".to_owned(),
                _ => format!("as {}", printable(&said, 200)),
            };
            let output = printable(output, 200);
            let problem =
                format!("{output}: is read {read}, and would be overwritten; name another file to write");
            return Err(Error::input(problem));
        }
    }
    Ok(())
}

/// Whether a file is written where an argument says.
fn is_output(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
        && !arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIRECTORY"))
}

/// What was typed for an argument, with the files that there are under these names.
fn files(arg: &Arg, typed: &ArgMatches) -> Vec<(String, PathBuf)> {
    let id = arg.get_id().as_str();
    let is_typed = matches!(typed.try_contains_id(id), Ok(true))
        && typed.value_source(id) == Some(ValueSource::CommandLine);
    let values: Vec<OsString> = match is_typed.then(|| typed.get_raw(id)).flatten() {
        Some(values) => values.map(OsString::from).collect(),
        None => return Vec::new(),
    };
    let file = |value: OsString| {
        let path = if value == "-" { Path::new("/dev/stdin") } else { Path::new(&value) };
        Some((value.to_string_lossy().into_owned(), canonicalize(path).ok()?))
    };
    values.into_iter().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Cli;
    use clap::CommandFactory;

    /// Else a command would write where nobody looks whether it reads it.
    #[test]
    fn what_is_written_is_defined_as_a_path() {
        fn check(command: &Command) {
            for arg in command.get_arguments().filter(|arg| arg.get_value_names().is_some()) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default().to_lowercase();
                let is_file = arg.get_value_names().unwrap_or_default().iter().any(|name| name == "FILE");
                if is_file {
                    assert_eq!(
                        is_output(arg),
                        help.contains("write "),
                        "{} {}: {help}",
                        command.get_name(),
                        arg.get_id()
                    );
                }
            }
            command.get_subcommands().for_each(check);
        }
        let mut command = Cli::command();
        command.build();
        check(&command);
    }
}
