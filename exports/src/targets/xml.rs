//! The little of XML that is written: a comment, and texts between tags.

/// Lines as one comment. XML allows no two dashes inside of one, so there is a space between any two.
pub(super) fn comment<S: AsRef<str>>(lines: &[S]) -> String {
    let mut text = String::from("<!--\n");
    for line in lines {
        let start = text.len();
        for letter in line.as_ref().chars() {
            if letter == '-' && text.ends_with('-') {
                text.push(' ');
            }
            text.push(if allowed(letter) { letter } else { '\u{fffd}' });
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text + "-->\n"
}

/// A text between tags, or of an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '"' => written.push_str("&quot;"),
            letter => written.push(if allowed(letter) { letter } else { '\u{fffd}' }),
        }
    }
    written
}

/// Whether XML 1.0 may contain a letter; no file here needs a line's end inside a text.
fn allowed(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_dashes_stand_together_in_a_comment_and_nothing_ends_it() {
        let lines = ["a---b", "--> <x>", "-", "- ", "\u{1}\n--", "-\u{0}-"];
        let text = comment(&lines);
        let inner = text.strip_prefix("<!--\n").and_then(|text| text.strip_suffix("-->\n")).unwrap();
        assert!(!inner.contains("--"), "{text}");
        assert!(inner.contains("a- - -b\n"), "{text}");
        assert_eq!(inner.lines().count(), lines.len(), "{text}");
        assert!(inner.chars().all(|letter| letter == '\n' || allowed(letter)), "{text}");
        assert_eq!(escaped("<a b=\"&\">\u{2}"), "&lt;a b=&quot;&amp;&quot;&gt;\u{fffd}");
    }
}
