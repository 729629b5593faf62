//! The command that a policy is: its line, cut into words at blanks, with quotes, and nothing else of what shells do.

use std::time::Duration;

/// A policy that is a command of its own, which speaks `fairplan.policy.v1` on its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePolicy {
    pub(super) text: String,
    pub(super) words: Vec<String>,
    pub(super) timeout: Duration,
}

impl OutsidePolicy {
    /// The policy of a command line, cut at blanks as a shell does, with 'single' and "double" quotes. It is given up when it
    /// takes longer than `timeout` for an answer.
    ///
    /// # Errors
    /// A quote that does not end, or no word at all: what is wrong.
    pub fn new(command: &str, timeout: Duration) -> Result<Self, String> {
        Ok(Self { text: command.into(), words: words(command)?, timeout })
    }

    /// The same policy, which is given up at the latest when it takes longer than `limit` for an answer.
    pub fn within(&self, limit: Duration) -> Self {
        Self { timeout: self.timeout.min(limit), ..self.clone() }
    }

    /// The command line: its name in results.
    pub fn name(&self) -> String {
        self.text.clone()
    }
}

/// The words of a command line.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some(end) if end == letter => break,
                        Some(inside) => word.push(inside),
                        None => return Err(format!("a quote {letter} does not end")),
                    }
                }
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match words.first().map(String::as_str) {
        None | Some("") => Err("names no command".into()),
        Some(_) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_end_at_blanks_outside_of_quotes() {
        for (text, expected) in [
            ("python3  best_fit.py", &["python3", "best_fit.py"][..]),
            (" 'my policy' --name=\"a 'b'\" ''", &["my policy", "--name=a 'b'", ""]),
            ("a\\b $HOME", &["a\\b", "$HOME"]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_command_without_a_word_or_with_an_open_quote_is_refused() {
        for text in ["", "  ", "''", "'' x"] {
            assert_eq!(words(text).unwrap_err(), "names no command", "{text:?}");
        }
        assert_eq!(words("a 'b").unwrap_err(), "a quote ' does not end");
    }
}
