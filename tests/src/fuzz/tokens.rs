//! Damage to words: numbers, keys, units and separators become others, odd ones among them.

use crate::Dice;

/// Words that some reader takes, or nearly.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "-0",
    "+1",
    "0.1",
    ".5",
    "5.",
    "1e3",
    "1e30",
    "1e-30",
    "1e308",
    "1e999",
    "1e-999",
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    "null",
    "true",
    "false",
    "",
    " ",
    "0x10",
    "1_000",
    "1,5",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "4294967295",
    "4294967296",
    "1000000000000000",
    "9999999999999999999",
    "340282366920938463463374607431768211456",
    "0.0000000000000000001",
    "2147483648",
    "16777216",
    "99999999",
    "100000",
    "1e15",
    "4e12",
    "4611686018427387904",
    "12345678901234567890123",
    "9999-12-31 23:59:59",
    "1970-01-01 00:00:00",
    "2020-02-30 00:00:00",
    "0000-00-00 00:00:00",
    "1Ki",
    "1Ei",
    "3w",
    "50%",
    "1e18Gi",
    "20 gb",
    "1024 mb, 1 vcores",
    "m",
    "Gi",
    "-",
    "~",
    "*a",
    "&a",
    "😀",
    "\u{202e}x",
    "a.b",
];

/// What stands between words.
const SEPARATORS: &[&str] =
    &[",", ";", ":", "=", "\"", "'", " ", "\t", "\n", "\r\n", "|", "/", "{", "}", "[", "]"];

/// One word changed: replaced, exchanged with another, repeated, left out, made long; or one separator.
pub(super) fn damage(dice: &mut Dice, content: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(content.clone()) else { return content };
    let tokens = split(&text);
    if tokens.is_empty() {
        return content;
    }
    let words: Vec<usize> = (0..tokens.len()).filter(|at| is_word(tokens[*at])).collect();
    let others: Vec<usize> = (0..tokens.len()).filter(|at| !is_word(tokens[*at])).collect();
    let mut changed: Vec<String> = tokens.iter().map(|token| (*token).to_owned()).collect();
    let kind = dice.below(12);
    if words.is_empty() || kind < 2 && !others.is_empty() {
        let at = if others.is_empty() { 0 } else { dice.pick(&others) };
        changed[at] = match kind {
            0 => String::new(),
            _ => dice.pick(SEPARATORS).to_owned(),
        };
        return changed.concat().into_bytes();
    }
    let (at, other) = (dice.pick(&words), dice.pick(&words));
    match kind {
        2..=6 => changed[at] = dice.pick(WORDS).to_owned(),
        7 => changed[at] = tokens[other].to_owned(),
        8 => changed.swap(at, other),
        9 => changed[at] = format!("{0}{0}", tokens[at]),
        10 => changed[at] += dice.pick(WORDS),
        _ if dice.percent(5) => changed[at] = tokens[at].repeat(1 + 100_000 / tokens[at].len()),
        _ => changed[at] = String::new(),
    }
    changed.concat().into_bytes()
}

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(belongs)
}

/// Whether a letter is part of a word.
fn belongs(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '.' | '-' | '+' | '_' | '%')
}

/// Words, and single letters between them.
fn split(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match rest.find(|letter| !belongs(letter)) {
            _ if !belongs(first) => first.len_utf8(),
            Some(end) => end,
            None => rest.len(),
        };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}
