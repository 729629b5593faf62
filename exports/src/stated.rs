//! The options of an export as its file states them, so that it can be made again from its solution.

use crate::export::{ExportOptions, MARK};
use crate::{MemoryIn, Target, Unit};
use fairplan_instances::Violation;
use std::fmt::Write;

impl ExportOptions {
    /// One word, such as `target=kueue;memory-in=bytes;headroom=0.05;unit:cpu=100m;levels=1;hard`, in letters that comments and texts of
    /// all targets take as they are.
    pub(crate) fn word(&self, target: Target, memory_in: MemoryIn) -> String {
        let mut word = format!("target={};memory-in={}", letters(target.name()), memory_in.name());
        if !self.headroom.is_zero() {
            let _ = write!(word, ";headroom={}", letters(&self.headroom.to_string()));
        }
        for unit in &self.units {
            let _ = write!(word, ";unit:{}={}", letters(&unit.resource), letters(&unit.amount));
        }
        if let Some(levels) = self.levels {
            let _ = write!(word, ";levels={levels}");
        }
        if self.hard {
            word += ";hard";
        }
        word
    }

    /// The target and the options that the text of a configuration states; `None` where it states none.
    ///
    /// # Errors
    /// Options that are no options of an export, and two that are not the same.
    pub fn stated_in(text: &str) -> Result<Option<(Target, Self)>, Violation> {
        let word = |(at, mark): (usize, &'_ str)| {
            let rest = text[at + mark.len()..].trim_start_matches(['"', '\'', '\\', ':', ' ']);
            let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "%./=;:-".contains(letter);
            rest.split(|letter| !is_of_word(letter)).next().unwrap_or_default().to_owned()
        };
        let mut words: Vec<String> = text.match_indices(MARK).map(word).collect();
        words.dedup();
        match &words[..] {
            [] => Ok(None),
            [word] => read(word).map(Some),
            [_, other, ..] => Err(Violation::new(MARK, other, "is not what the file states before")),
        }
    }
}

fn read(word: &str) -> Result<(Target, ExportOptions), Violation> {
    let refused = |part: &str| Violation::new(MARK, part, "is no option of an export");
    let mut target = None;
    let mut options = ExportOptions::default();
    for part in word.split(';') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = plain(value).ok_or_else(|| refused(part))?;
        match key {
            "target" => target = Some(value.parse()?),
            "memory-in" => options.memory_in = Some(value.parse()?),
            "headroom" => options.headroom = value.parse().map_err(|_| refused(part))?,
            "levels" => options.levels = Some(value.parse().map_err(|_| refused(part))?),
            "hard" => options.hard = true,
            _ => {
                let resource = key.strip_prefix("unit:").and_then(plain).ok_or_else(|| refused(part))?;
                options.units.push(Unit { resource, amount: value });
            }
        }
    }
    Ok((target.ok_or_else(|| refused(word))?, options))
}

/// A text in letters, digits, `.` and `/`; others as `%` and two digits a byte.
fn letters(text: &str) -> String {
    let mut word = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"./".contains(&byte) {
            word.push(char::from(byte));
        } else {
            let _ = write!(word, "%{byte:02x}");
        }
    }
    word
}

/// The text that was written so.
fn plain(word: &str) -> Option<String> {
    let mut parts = word.split('%');
    let mut text = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        text.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        text.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_from_comments_and_annotations() {
        let options = ExportOptions {
            headroom: "0.05".parse().unwrap(),
            units: vec![
                Unit { resource: "a--> \"b\";=é".into(), amount: "64Mi".into() },
                Unit { resource: "nvidia.com/gpu".into(), amount: "1".into() },
            ],
            memory_in: Some(MemoryIn::Gibibytes),
            levels: Some(2),
            hard: true,
        };
        let word = options.word(Target::YarnFair, MemoryIn::Gibibytes);
        assert!(!word.contains("--"), "{word}");
        for text in [
            format!("# {MARK}: {word}\n# more"),
            format!("    {MARK}: \"{word}\"\n    {MARK}: \"{word}\"\n"),
            format!("{{\"{MARK}\":\"{word}\",\"x\":1,\"last\":\"{{\\\"{MARK}\\\":\\\"{word}\\\"}}\"}}"),
        ] {
            assert_eq!(
                ExportOptions::stated_in(&text).unwrap(),
                Some((Target::YarnFair, options.clone())),
                "{text}"
            );
        }
        assert_eq!(ExportOptions::stated_in("# nothing").unwrap(), None);
        for text in ["target=kueue;levels=x", "target=none", "hard", "target=kueue;colour=red"] {
            assert!(ExportOptions::stated_in(&format!("{MARK}: {text}")).is_err(), "{text}");
        }
        let two = format!("{MARK}: target=kueue\n{MARK}: target=kueue;hard\n");
        assert!(ExportOptions::stated_in(&two).is_err());
    }
}
