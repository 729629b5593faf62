//! `completions` and `manual`: what a shell and a system want to know of the command, generated from its own definitions.

use crate::arguments::OutputArguments;
use crate::failure::Answer;
use clap_complete::Shell;
use fairplan::Error;
use fairplan::report::output::Destination;
use std::io::Write;
use std::path::PathBuf;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: fairplan completions bash -o fairplan.bash && . ./fairplan.bash")]
pub struct CompletionArguments {
    /// For which shell
    shell: Shell,
    #[command(flatten)]
    output: OutputArguments,
}

/// Write the manual, one page a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: mkdir -p man && fairplan manual man && man -l man/fairplan-solve.1")]
pub struct ManualArguments {
    /// A directory that is there
    directory: PathBuf,
}

/// Writes the completions.
pub fn completions(arguments: CompletionArguments, mut command: clap::Command) -> Result<Answer, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "fairplan", &mut script);
    arguments.output.text()?.write(|out| out.write_all(&script))?;
    Ok(Answer::Yes)
}

/// Writes a page for the command and for each of its subcommands.
pub fn manual(arguments: ManualArguments, command: clap::Command) -> Result<Answer, Error> {
    if !arguments.directory.is_dir() {
        return Err(Error::input(format!("{}: no such directory", arguments.directory.display())));
    }
    let mut command = command.disable_help_subcommand(true);
    command.build();
    for command in std::iter::once(&command).chain(command.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page).map_err(Error::backend)?;
        let file = arguments.directory.join(format!("{name}.1"));
        Destination::new(Some(&file))?.write(|out| out.write_all(&page))?;
    }
    Ok(Answer::Yes)
}
