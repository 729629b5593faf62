//! The warnings about an instance: a line for each kind, the first in words, the others counted.

use crate::names::beginning;
use fairplan_instances::{Warning, WarningKind};

/// Characters of a warning that are shown.
const LENGTH: usize = 240;

/// What the author of an instance may want to look at.
pub fn warnings(warnings: &[Warning]) -> String {
    let mut kinds: Vec<(WarningKind, &str, usize)> = Vec::new();
    for Warning { kind, message } in warnings {
        match kinds.iter_mut().find(|(known, ..)| known == kind) {
            Some((.., more)) => *more += 1,
            None => kinds.push((*kind, message, 0)),
        }
    }
    let line = |(_, message, more): (WarningKind, &str, usize)| {
        let others = match more {
            0 => String::new(),
            more => format!(" (and {more} more like it: see instance.warnings in the JSON result)"),
        };
        format!("warning: {}{others}\n", beginning(message, LENGTH))
    };
    kinds.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_said_once_and_counted() {
        let warning = |kind, message: &str| Warning { kind, message: message.into() };
        let text = warnings(&[
            warning(WarningKind::UnusableServers, "no user can use class a\u{1b}"),
            warning(WarningKind::MixedUnits, "cpu"),
            warning(WarningKind::UnusableServers, "no user can use class b"),
            warning(WarningKind::UnusableServers, "no user can use class c"),
        ]);
        let expected = "warning: no user can use class a\\u{1b} (and 2 more like it: see instance.warnings in the JSON \
                        result)\nwarning: cpu\n";
        assert_eq!(text, expected);
        assert_eq!(warnings(&[]), "");
    }
}
