//! How a command ends: an answer, or an error with the exit status that scripts rely on.

use fairplan::Error;
use fairplan::instances::wording::printable;
use std::any::Any;
use std::io::ErrorKind;

/// What a command that did its work has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done (exit status 0).
    Yes,
    /// The answer is no: a check failed (exit status 1).
    No,
    /// Nothing was asked for, so help was shown (exit status 2).
    Help,
}

impl Answer {
    /// Yes if `holds`.
    pub fn yes_if(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// What a command has to write, with how it ends: its answer, or with the error what there is all the same.
pub fn what_there_is<T: Any>(outcome: Result<T, Error>) -> Result<(T, Result<Answer, Error>), Error> {
    let (found, failure) = fairplan::what_there_is(outcome)?;
    Ok((found, failure.map_or(Ok(Answer::Yes), Err)))
}

/// Letters of a message, at most.
const LONGEST: usize = 2000;

/// 1: what is guaranteed cannot be kept. 2: bad input or usage, or an output that cannot be written. 3: a backend that broke, a result without proof, time that was
/// over.
pub fn exit_status(error: &Error) -> u8 {
    match error {
        Error::Input(_) | Error::Setting(_) => 2,
        // That is proved, too: the answer is no.
        Error::Guarantees(_) => 1,
        // A number that is not finite is our fault, a full disk is not.
        Error::Output(error) if error.source.kind() != ErrorKind::InvalidData => 2,
        _ => 3,
    }
}

/// What is said of an error. Whatever a library puts into its message, it is one line and no terminal obeys it.
pub fn line(error: &Error) -> String {
    let dashes = if matches!(error, Error::Setting(_)) { "--" } else { "" };
    let message = error.to_string();
    let words: Vec<&str> = message.split_whitespace().collect();
    printable(&format!("{dashes}{}", words.join(" ")), LONGEST)
}

/// A usage error on one line, with where to read on.
pub fn usage(error: &clap::Error) -> Error {
    let text = error.to_string();
    let told = text.split("\n\nUsage").next().unwrap_or(&text);
    let told = told.split("\n\nFor more information").next().unwrap_or(told);
    let mut sentence = String::new();
    for word in told.trim_start_matches("error: ").split_whitespace() {
        // Tips stand in lines of their own.
        if !sentence.is_empty() {
            sentence.push_str(if word == "tip:" { "; " } else { " " });
        }
        sentence.push_str(word);
    }
    Error::input(format!("{sentence}; see --help"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan::instances::Violation;
    use fairplan::report::output::OutputError;

    #[test]
    fn a_tip_is_a_sentence_of_its_own_behind_a_usage_error() {
        let command = clap::Command::new("fairplan").arg(clap::Arg::new("objective").long("objective"));
        let told =
            usage(&command.try_get_matches_from(["fairplan", "--objectve", "pf"]).unwrap_err()).to_string();
        assert!(told.starts_with("unexpected argument '--objectve' found; tip: "), "{told}");
        assert!(told.ends_with("'--objective'; see --help"), "{told}");
    }

    #[test]
    fn every_error_is_one_line_with_its_exit_status() {
        let failure = Error::backend("several\n  lines\u{1b}[0m\n");
        assert_eq!((line(&failure).as_str(), exit_status(&failure)), ("several lines\\u{1b}[0m", 3));
        assert_eq!(exit_status(&Violation::new("users", "", "there are no users").into()), 2);
        let setting = Error::Setting("loads = 2: must be < 1".into());
        assert_eq!((line(&setting).as_str(), exit_status(&setting)), ("--loads = 2: must be < 1", 2));
        let broken = |kind: ErrorKind| OutputError { file: "o".into(), source: kind.into() };
        assert_eq!(exit_status(&broken(ErrorKind::InvalidData).into()), 3);
        assert_eq!(exit_status(&broken(ErrorKind::StorageFull).into()), 2);
    }
}
