//! No command writes over what it reads: an output that is one of its inputs is refused before anything is read.
//!
//! Files are the same where their canonical paths are, however they were named; `-` is standard input.

use crate::file_arguments::{is_input, is_output, typed_values};
use clap::{Arg, ArgMatches, Command};
use fairplan::Error;
use fairplan::instances::wording::printable;
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

/// What was typed for an argument, with the files that there are under these names.
fn files(arg: &Arg, typed: &ArgMatches) -> Vec<(String, PathBuf)> {
    let file = |value: OsString| {
        let path = if value == "-" { Path::new("/dev/stdin") } else { Path::new(&value) };
        Some((value.to_string_lossy().into_owned(), canonicalize(path).ok()?))
    };
    typed_values(arg, typed).into_iter().filter_map(file).collect()
}
