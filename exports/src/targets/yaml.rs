//! The little of YAML that is written: comments, and texts that are read back as texts.

use crate::export::{Export, MARK};

/// The key under which objects state which solution they come from.
pub(super) const ANNOTATION: &str = "fairplan/solution-sha256";

/// Comments, a line each.
pub(super) fn comments(export: &Export) -> String {
    export.comments().iter().map(|line| format!("# {line}\n")).collect()
}

/// A text in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => written.extend(['\\', letter]),
            letter if letter.is_control() => written.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => written.push(letter),
        }
    }
    written.push('"');
    written
}

/// The beginning of an object of Kubernetes, up to its `spec`.
pub(super) fn object(export: &Export, api: &str, kind: &str, name: &str) -> String {
    format!(
        "---\napiVersion: {api}\nkind: {kind}\nmetadata:\n  name: {}\n  annotations:\n    {ANNOTATION}: {}\n    {MARK}: {}\n",
        quoted(name),
        quoted(&export.source.solution),
        quoted(&export.stated)
    )
}

/// Amounts as a map below a key, indented by `indent`; nothing if there are none.
pub(super) fn map(indent: usize, key: &str, amounts: &[(String, String)]) -> String {
    let space = " ".repeat(indent);
    match amounts {
        [] => String::new(),
        amounts => {
            let lines = amounts
                .iter()
                .map(|(name, amount)| format!("{space}  {}: {}\n", quoted(name), quoted(amount)));
            format!("{space}{key}:\n{}", lines.collect::<String>())
        }
    }
}
