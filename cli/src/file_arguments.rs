//! Which arguments of a command are files that it reads or writes: what the definitions of the commands say, where an output is a path
//! and an input a name.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the values of inputs are called.
const READ: [&str; 5] = ["FILE", "INSTANCE", "CATALOG", "PLACEMENT", "RESULT"];

/// Whether an argument of a command names a file that is read.
pub fn is_input(command: &[String], arg: &Arg) -> bool {
    let is_name = arg.get_value_parser().type_id() == TypeId::of::<String>();
    // Names of exhibits.
    let is_position_of_names =
        arg.is_positional() && command.first().is_some_and(|first| first == "reproduce");
    let reads = |names: &[clap::builder::Str]| names.iter().any(|name| READ.contains(&name.as_str()));
    is_name && !is_position_of_names && (arg.is_positional() || arg.get_value_names().is_some_and(reads))
}

/// Whether a file is written where an argument says.
pub fn is_output(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
        && !arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIRECTORY"))
}

/// What was typed for an argument, not what it is by default.
pub fn typed_values(arg: &Arg, said: &ArgMatches) -> Vec<OsString> {
    let id = arg.get_id().as_str();
    let is_typed = matches!(said.try_contains_id(id), Ok(true))
        && said.value_source(id) == Some(ValueSource::CommandLine);
    let values = is_typed.then(|| said.get_raw(id)).flatten();
    values.map(|values| values.map(OsString::from).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Cli;
    use clap::{Command, CommandFactory};

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
