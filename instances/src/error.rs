//! What can be wrong with an input: always the file, the place in it, the value and what to do.

use crate::violation::Violation;

/// An input that cannot be used. Its text is one line: `cluster.json: users[3].demand.cpu = -2: must be >= 0`.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The file cannot be read or written.
    #[error("{}: {source}", printable(file, 400))]
    Io {
        /// The path as the user gave it.
        file: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file's form is wrong at `place` (a line, a column, a byte).
    #[error("{}: {}: {}", printable(file, 400), printable(place, 200), printable(problem, 400))]
    Malformed {
        /// The path as the user gave it.
        file: String,
        /// Where in the file.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The file can be read, but a value in it breaks a rule of the model.
    #[error("{}: {violation}", printable(file, 400))]
    Invalid {
        /// The path as the user gave it.
        file: String,
        /// Place, value and rule.
        violation: Violation,
    },
}

/// `text` for one line of a terminal: texts come from files, so what would steer the terminal is escaped, and more than
/// `limit` letters are cut off. Every reader shows what it read through this.
pub fn printable(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == limit {
            shown.push('…');
            break;
        }
        match letter {
            _ if letter.is_control() => shown.extend(letter.escape_debug()),
            _ if turns_text_round(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// Letters that are not seen and change the direction in which others are read.
fn turns_text_round(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_what_is_long_is_cut() {
        assert_eq!(printable("a\tb\u{1b}[0m\u{202e}c", 99), "a\\tb\\u{1b}[0m\\u{202e}c");
        assert_eq!(printable("ü".repeat(10_000_000).as_str(), 3), "üüü…");
        assert_eq!(printable("äöü", 3), "äöü");
    }
}
