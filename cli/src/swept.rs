//! What a sweep knows of the commands: from their own definitions, so that a new option can be swept at once.

use crate::file_arguments::{is_input, typed_values};
use crate::within::{called, matches, with_command};
use clap::{Arg, ArgAction};
use fairplan_sweeps::{Argument, Commands, Given, Outcome, Role, Shape};
use std::path::Path;

/// Commands whose result is one JSON document.
const SWEPT: [&str; 15] = [
    "solve",
    "place",
    "bound",
    "compare",
    "audit",
    "entitlements",
    "explain",
    "plan",
    "allocate",
    "offline",
    "flows",
    "simulate",
    "verify",
    "generate",
    "reproduce",
];

/// Options that write files beside the result, by command (none: of every command).
const BESIDE: [(&str, &str); 10] = [
    ("", "output"),
    ("", "format"),
    ("", "cluster-out"),
    ("", "placement-out"),
    ("", "bound-out"),
    ("", "plots"),
    ("reproduce", "bounds"),
    ("", "plot"),
    ("simulate", "series"),
    ("simulate", "jobs"),
];

const ELSEWHERE: &str = "is not for tasks: their results are JSON, kept where sweep run says";

/// The commands of this process.
pub struct InProcess;

impl Commands for InProcess {
    fn arguments(&self, command: &[String]) -> Result<Vec<Argument>, String> {
        let typed = command.join(" ");
        if !command.first().is_some_and(|first| SWEPT.contains(&first.as_str())) {
            return Err(format!("command: {typed} cannot be swept; use one of {}", SWEPT.join(", ")));
        }
        with_command(|cli| {
            cli.build();
            let mut found = &*cli;
            for word in command {
                let inner = found.find_subcommand(word);
                found = inner
                    .ok_or_else(|| format!("command: there is no fairplan {typed}; see fairplan --help"))?;
            }
            if found.has_subcommands() {
                let inner: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
                return Err(format!("command: {typed} is several commands; add one of {}", inner.join(", ")));
            }
            let of_task =
                found.get_arguments().filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()));
            Ok(of_task.map(|arg| argument(command, arg)).collect())
        })
    }

    fn check(&self, words: &[String], is_fed: bool) -> Result<Vec<Given>, String> {
        let matches = matches(words).map_err(|error| crate::failure::usage(&error).to_string())?;
        with_command(|cli| {
            let (mut command, mut said, mut typed) = (&*cli, &matches, Vec::new());
            while let Some((name, inner)) = said.subcommand() {
                let Some(found) = command.find_subcommand(name) else { break };
                (command, said) = (found, inner);
                typed.push(name.to_owned());
            }
            let (mut given, mut readers) = (Vec::new(), 0);
            for arg in command.get_arguments() {
                let argument = argument(&typed, arg);
                for value in typed_values(arg, said) {
                    let value = value.to_string_lossy().into_owned();
                    if let Role::Refused(why) = argument.role {
                        return Err(format!("--{}: {why}", argument.name));
                    }
                    if is_fed && argument.role == Role::Input && value == "-" {
                        readers += 1;
                    } else if let Some(path) = input(&argument, value)? {
                        given.push(Given { argument: argument.name.clone(), path });
                    }
                }
            }
            if is_fed && readers != 1 {
                return Err(format!(
                    "{} of its inputs are -, which is what the command under from writes; name one so",
                    if readers == 0 { "none".into() } else { readers.to_string() }
                ));
            }
            Ok(given)
        })
    }

    fn run(&self, words: &[String], input: Option<Vec<u8>>) -> Outcome {
        let crate::Called { status, message, output } = called(words, input, self);
        Outcome { status, message, result: output }
    }
}

/// The path of a file that a value names, if it names one.
fn input(argument: &Argument, value: String) -> Result<Option<String>, String> {
    let name = &argument.name;
    if argument.role != Role::Input {
        return Ok(None);
    }
    if value == "-" {
        return Err(format!(
            "{name}: a task has no standard input; name a file, or what makes it under from"
        ));
    }
    match Path::new(&value).is_file() {
        true => Ok(Some(value)),
        false => Err(format!("{name} {value}: no such file")),
    }
}

fn argument(command: &[String], arg: &Arg) -> Argument {
    let shape = match arg {
        arg if arg.is_positional() => Shape::Position,
        arg if matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count) => {
            Shape::Flag
        }
        _ => Shape::Option,
    };
    let name = arg.get_long().map_or_else(|| arg.get_id().to_string(), str::to_owned);
    let beside = |(of, option): &(&str, &str)| {
        *option == name && (of.is_empty() || command.first().is_some_and(|first| first == of))
    };
    let role = match shape {
        _ if BESIDE.iter().any(beside) => Role::Refused(ELSEWHERE),
        _ if ["quiet", "threads"].contains(&name.as_str()) => {
            Role::Refused("is said to sweep run, not to tasks")
        }
        _ if arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIRECTORY")) => {
            Role::Refused(
                "a directory is no input of a task, since nothing tells when it changes; name files",
            )
        }
        Shape::Position | Shape::Option if is_input(command, arg) => Role::Input,
        _ => Role::Setting,
    };
    Argument { name, shape, role }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn arguments_come_from_the_definitions_with_what_they_are() {
        let of = |command: &str, name: &str| {
            let arguments = InProcess.arguments(&words(command)).unwrap();
            arguments
                .into_iter()
                .find(|argument| argument.name == name)
                .map(|found| (found.shape, found.role))
        };
        assert_eq!(of("solve", "instance"), Some((Shape::Position, Role::Input)));
        assert_eq!(of("solve", "users"), Some((Shape::Option, Role::Input)));
        assert_eq!(of("solve", "objective"), Some((Shape::Option, Role::Setting)));
        assert_eq!(of("solve", "no-timing"), Some((Shape::Flag, Role::Setting)));
        assert_eq!(of("reproduce", "ids"), Some((Shape::Position, Role::Setting)));
        assert_eq!(of("plan buy", "catalog"), Some((Shape::Option, Role::Input)));
        assert_eq!(of("plan growth", "series"), Some((Shape::Option, Role::Input)));
        for (command, name) in
            [("solve", "output"), ("simulate", "series"), ("solve", "quiet"), ("reproduce", "google2011")]
        {
            assert!(matches!(of(command, name), Some((_, Role::Refused(_)))), "{command} {name}");
        }
        assert_eq!(of("solve", "help"), None);
        for (command, told) in [
            ("sweep run", "cannot be swept"),
            ("plan", "several commands"),
            ("plan x", "no fairplan plan x"),
            ("report", "cannot"),
        ] {
            let refused = InProcess.arguments(&words(command)).unwrap_err();
            assert!(refused.contains(told), "{command}: {refused}");
        }
    }

    /// An option that writes a file would have all tasks write the same file.
    #[test]
    fn every_option_that_writes_a_file_is_refused() {
        fn check(command: &clap::Command, typed: &mut Vec<String>) {
            for arg in command.get_arguments() {
                let argument = argument(typed, arg);
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let writes = ["Write ", "Also write ", "With --whole: write ", "Draw the figures"]
                    .iter()
                    .any(|said| help.starts_with(said));
                let is_refused = matches!(argument.role, Role::Refused(_));
                assert!(
                    !writes || is_refused || argument.shape == Shape::Flag,
                    "{typed:?} --{}: {help}",
                    argument.name
                );
            }
            for inner in command.get_subcommands() {
                typed.push(inner.get_name().to_owned());
                check(inner, typed);
                typed.pop();
            }
        }
        with_command(|cli| {
            cli.build();
            let swept = cli.get_subcommands().filter(|command| SWEPT.contains(&command.get_name()));
            swept.for_each(|command| check(command, &mut vec![command.get_name().to_owned()]));
        });
    }

    #[test]
    fn words_that_cannot_be_meant_are_refused_and_files_are_told() {
        for (line, told) in [
            ("solve Cargo.toml --objectiv=drfh", "--objectiv"),
            ("solve - --objective=drfh", "no standard input"),
            ("solve missing.json", "missing.json: no such file"),
            ("solve Cargo.toml -o x", "not for tasks"),
            ("solve Cargo.toml --quiet", "said to sweep run"),
        ] {
            let refused = InProcess.check(&words(line), false).unwrap_err();
            assert!(refused.contains(told), "{line}: {refused}");
        }
        let given = InProcess.check(&words("solve Cargo.toml --objective=pf"), false).unwrap();
        assert_eq!(given, [Given { argument: "instance".into(), path: "Cargo.toml".into() }]);
        assert_eq!(InProcess.check(&words("solve - --objective=pf"), true).unwrap(), []);
        for line in ["solve Cargo.toml", "plan diff - -"] {
            let refused = InProcess.check(&words(line), true).unwrap_err();
            assert!(refused.contains("of its inputs are -"), "{line}: {refused}");
        }
    }

    #[test]
    fn a_command_runs_in_this_process_and_says_how_it_ended() {
        let done = called(&words("generate drfh-fig1"), None, &InProcess);
        assert!(done.status == 0 && done.output.starts_with(b"{\n"), "{done:?}");
        let refused = called(&words("solve missing.json"), None, &InProcess);
        assert_eq!((refused.status, refused.output.len()), (2, 0));
        assert!(refused.message.starts_with("missing.json: No such file"), "{}", refused.message);
        let solved = called(&words("solve -"), Some(done.output), &InProcess);
        assert!(solved.status == 0 && solved.output.starts_with(b"{\n"), "{}", solved.message);
    }
}
