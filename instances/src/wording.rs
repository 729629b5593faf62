//! Words that all messages form alike: text from files on a terminal, names that nobody knows, nouns that agree with their number.

use crate::ResourceKind;

/// `text` as one line of a terminal: nothing in it that the terminal obeys, that turns other text round or that cannot be
/// seen, and no more than `limit` characters. Applied twice it is the same as once, if the limit is the same.
pub fn printable(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == limit {
            shown.push('…');
            break;
        }
        push(&mut shown, letter);
    }
    shown
}

/// The same for text of several lines, which are kept.
pub fn printable_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\n' { shown.push(letter) } else { push(&mut shown, letter) }
    }
    shown
}

fn push(shown: &mut String, letter: char) {
    if is_hidden(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
}

/// Control characters, marks of bidirectional text, ends of lines and paragraphs, and letters without a width, by which two
/// ids can look the same (Unicode's `Cc`, `Zl` and `Zp`, and those of `Cf` that no script needs to be seen).
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(letter, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Characters of a name that are shown.
const NAME: usize = 60;

/// How alike two names must be for one to be meant by the other (Jaro and Winkler's measure; 1 is the same name).
const ALIKE: f64 = 0.8;

/// What is said to a name that nobody knows:
/// `unknown policy bestfit (did you mean best-fit?): use best-fit, first-fit, slots=N`.
///
/// ```
/// let told = fairplan_instances::wording::unknown("backend", "high", ["auto", "ipm", "highs"]);
/// assert_eq!(told, "unknown backend high (did you mean highs?): use auto, ipm, highs");
/// ```
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let meant = did_you_mean(name, known.iter().copied());
    format!("unknown {kind} {}{meant}: use {}", printable(name, NAME), known.join(", "))
}

/// What is said of a word that is none of the few that can be chosen.
///
/// ```
/// let told = fairplan_instances::wording::choose("acount", &["user", "account", "partition"]);
/// assert_eq!(told, "choose user, account or partition (did you mean account?)");
/// ```
pub fn choose(word: &str, known: &[&str]) -> String {
    let listed = match known {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        all => all.concat(),
    };
    format!("choose {listed}{}", did_you_mean(word, known.iter().copied()))
}

/// What is said of an id that nothing of its kind has.
///
/// ```
/// let told = fairplan_instances::wording::no_such("server class", "bigg", ["small", "big"]);
/// assert_eq!(told, "there is no server class with this id (did you mean big?)");
/// ```
pub fn no_such<'a>(kind: &str, id: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    format!("there is no {kind} with this id{}", did_you_mean(id, known))
}

/// ` (did you mean best-fit?)`, or nothing where no name is like it. What follows `=` in a known name stands for a number.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let name: String = name.to_lowercase().chars().take(NAME).collect();
    let fixed = |known: &'a str| known.split_once('=').map_or(known, |(fixed, _)| fixed);
    let likeness = |known: &'a str| (strsim::jaro_winkler(&name, &fixed(known).to_lowercase()), known);
    // Of equals the first.
    let best = known.into_iter().map(likeness).reduce(|best, next| if next.0 > best.0 { next } else { best });
    match best {
        Some((likeness, known)) if likeness >= ALIKE => {
            format!(" (did you mean {}?)", printable(known, NAME))
        }
        _ => String::new(),
    }
}

/// The known name that `name` was meant to be, where it is none of them and a letter or two away from one (of names below six letters one).
///
/// ```
/// use fairplan_instances::wording::misspelt;
///
/// let known = ["nominalQuota", "borrowingLimit", "max"];
/// assert_eq!(misspelt("borowingLimit", &known), Some("borrowingLimit"));
/// assert_eq!(misspelt("nominalquota", &known), Some("nominalQuota"));
/// assert_eq!(misspelt("max", &known), None);
/// assert_eq!(misspelt("min", &known), None);
/// ```
pub fn misspelt<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if known.contains(&name) {
        return None;
    }
    let letters = name.chars().take(NAME).count();
    let most = match letters {
        0..4 => 0,
        4..6 => 1,
        _ => 2,
    };
    let distance = |known: &&&str| strsim::osa_distance(name, known);
    let nearest = known.iter().filter(|known| known.chars().count() > 3).min_by_key(distance)?;
    let is_meant = distance(&nearest) <= most || name.eq_ignore_ascii_case(nearest);
    (letters < NAME && is_meant).then_some(*nearest)
}

/// What is said of a file that ends too early.
pub const TRUNCATED: &str = "the file is truncated: it ends inside a value";

/// Which of several something is, the first being 1.
///
/// ```
/// use fairplan_instances::wording::ordinal;
///
/// assert_eq!([1, 3, 4, 11, 21, 112].map(ordinal), ["first", "third", "4th", "11th", "21st", "112th"]);
/// ```
pub fn ordinal(position: u64) -> String {
    match (position, position % 10) {
        (1, _) => "first".into(),
        (2, _) => "second".into(),
        (3, _) => "third".into(),
        _ if (11..=13).contains(&(position % 100)) => format!("{position}th"),
        (_, 1) => format!("{position}st"),
        (_, 2) => format!("{position}nd"),
        (_, 3) => format!("{position}rd"),
        _ => format!("{position}th"),
    }
}

/// A number with a comma between thousands.
pub fn thousands(count: u64) -> String {
    grouped(&count.to_string())
}

/// A number that is written in digits, with a comma between thousands.
///
/// ```
/// use fairplan_instances::wording::grouped;
///
/// assert_eq!(["-12583.0625", "999", "1000"].map(grouped), ["-12,583.0625", "999", "1,000"]);
/// ```
pub fn grouped(number: &str) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with('-')));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// An amount of a resource, for people.
///
/// ```
/// use fairplan_instances::wording::amount;
///
/// assert_eq!(amount("memory", 17179869184.0), "16Gi");
/// assert_eq!(amount("memory", 131072.0), "131,072");
/// assert_eq!(amount("cpu", 2e9), "2,000,000,000");
/// ```
pub fn amount(resource: &str, amount: f64) -> String {
    large_amount(resource, amount).unwrap_or_else(|| grouped(&amount.to_string()))
}

/// An amount of memory or the like of 2^30 or more, in the largest binary unit that it reaches, to three decimals.
pub fn large_amount(resource: &str, amount: f64) -> Option<String> {
    let (count, unit) = in_binary_units(amount).filter(|(_, unit)| {
        ["Pi", "Ti", "Gi"].contains(unit) && ResourceKind::of(resource) == ResourceKind::Amount
    })?;
    Some(format!("{}{unit}", grouped(&((count * 1e3).round() / 1e3).to_string())))
}

/// An amount in the largest binary unit that it reaches, and what that is called; `None` of less than 1024.
pub fn in_binary_units(amount: f64) -> Option<(f64, &'static str)> {
    let units = [("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];
    let mut counted = units.into_iter().map(|(unit, power)| (amount / (1u64 << power) as f64, unit));
    counted.find(|(count, _)| *count >= 1.0)
}

/// So many of what: `1 server`, `12,583 servers`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// What was counted, in words that are in the plural, as they are said of `count`: `nodes left out: they are down` becomes
/// `node left out: it is down` for one.
pub fn agreeing(count: u64, what: &str) -> String {
    if count != 1 {
        return what.to_owned();
    }
    let mut expected = Expected::Noun;
    let words = what.split(' ').enumerate().map(|(position, word)| {
        let (said, next) = match (expected, word) {
            (_, "they") => ("it".into(), Expected::VerbOfIt),
            (_, "their") => ("its".into(), Expected::Rest),
            (_, "them" | "them,") => (word.replacen("them", "it", 1), Expected::Rest),
            (Expected::Verb, "that") => (word.into(), Expected::Verb),
            (Expected::Noun, _) => match one_of(word) {
                Some(noun) => (noun, Expected::Verb),
                // As in `cluster queues`.
                None if position == 0 => (word.into(), Expected::Noun),
                None => (word.into(), Expected::Rest),
            },
            (Expected::Verb, _) if !VERBS.contains(&word) => (word.into(), Expected::Rest),
            (Expected::Verb | Expected::VerbOfIt, _) => (third_person(word), Expected::Rest),
            (Expected::Rest, "and" | "or") => (word.into(), Expected::Verb),
            (Expected::Rest, _) => (word.into(), Expected::Rest),
        };
        expected = next;
        said
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Which word of a sentence comes next.
#[derive(Clone, Copy)]
enum Expected {
    /// The first in the plural.
    Noun,
    /// Perhaps its verb, or another behind `and`.
    Verb,
    /// A verb, behind `they`.
    VerbOfIt,
    Rest,
}

/// Verbs that stand right behind what is counted.
const VERBS: [&str; 14] = [
    "are",
    "ask",
    "belong",
    "count",
    "deserve",
    "guarantee",
    "have",
    "hold",
    "request",
    "run",
    "state",
    "wait",
    "weigh",
    "were",
];

fn third_person(verb: &str) -> String {
    match verb {
        "are" => "is".into(),
        "were" => "was".into(),
        "have" => "has".into(),
        "may" | "can" => verb.into(),
        // The end of a clause stays behind the verb.
        _ => match verb.strip_suffix(',') {
            Some(verb) => format!("{},", third_person(verb)),
            None => format!("{verb}s"),
        },
    }
}

/// The noun of which `many` is the plural.
fn one_of(many: &str) -> Option<String> {
    let stem = many.strip_suffix('s').filter(|stem| !stem.ends_with('s'))?;
    if let Some(stem) = stem.strip_suffix("ie").filter(|stem| *stem != "ser") {
        return Some(format!("{stem}y"));
    }
    let is_hissed = stem.ends_with("che") || stem.ends_with("sse");
    let one = if is_hissed { stem.strip_suffix('e') } else { Some(stem) };
    one.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_hides_or_turns_round_is_spelled_out_and_nothing_else() {
        let hostile = "a\u{1b}[31m\u{9b}1m\r\n\t\u{202e}b\u{2066}\u{200b}\u{7f}\u{feff}\u{e0041}";
        let shown = printable(hostile, 100);
        assert!(!shown.chars().any(is_hidden), "{shown:?}");
        assert!(shown.starts_with("a\\u{1b}[31m\\u{9b}1m\\r\\n\\t\\u{202e}b"), "{shown}");
        assert_eq!(printable(&shown, 1000), shown, "twice is once");
        for plain in ["O'Brien \"x\" C:\\d", "日本 é e\u{301} हिन्दी 🚀", "a=b"] {
            assert_eq!(printable(plain, 100), plain);
        }
        assert_eq!(printable("abcd", 3), "abc…");
        assert_eq!(printable_lines("a\nb\u{1b}\n"), "a\nb\\u{1b}\n");
    }

    #[test]
    fn every_bidirectional_or_control_character_of_unicode_is_spelled_out() {
        // Bidi_Control by Unicode's PropList.txt.
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}'].into_iter().chain('\u{202a}'..='\u{202e}');
        for letter in marks.chain('\u{2066}'..='\u{2069}').chain('\0'..' ').chain('\u{7f}'..='\u{9f}') {
            assert!(printable(&letter.to_string(), 9).is_ascii(), "{letter:?}");
        }
    }

    #[test]
    fn unknown_names_are_told_the_nearest_and_all() {
        let known = ["best-fit", "first-fit", "slots=N", "pattern"];
        let told = |name| unknown("policy", name, known);
        assert_eq!(
            told("bestfit"),
            "unknown policy bestfit (did you mean best-fit?): use best-fit, first-fit, slots=N, pattern"
        );
        for (name, meant) in
            [("Best-Fit", "best-fit"), ("slot=4", "slots=N"), ("patern", "pattern"), ("first", "first-fit")]
        {
            assert!(told(name).contains(&format!("(did you mean {meant}?)")), "{}", told(name));
        }
        assert_eq!(told("x"), "unknown policy x: use best-fit, first-fit, slots=N, pattern");
        assert!(told("a\u{1b}").starts_with("unknown policy a\\u{1b}"), "{}", told("a\u{1b}"));
        assert_eq!(did_you_mean("x", []), "");
    }

    #[test]
    fn amounts_are_counted_in_the_largest_binary_unit_that_they_reach() {
        assert_eq!(in_binary_units(1023.0), None);
        assert_eq!(in_binary_units(1536.0), Some((1.5, "Ki")));
        assert_eq!(in_binary_units((1u64 << 40) as f64), Some((1.0, "Ti")));
        // Below a gibibyte an amount is told as the number that it is.
        assert_eq!(large_amount("memory", 1023.0 * (1u64 << 20) as f64), None);
        assert_eq!(large_amount("memory", 1.5 * (1u64 << 50) as f64).as_deref(), Some("1.5Pi"));
    }

    #[test]
    fn nouns_and_verbs_agree_with_their_number() {
        assert_eq!(counted(1, "server", "servers"), "1 server");
        assert_eq!(counted(0, "server", "servers"), "0 servers");
        assert_eq!(counted(12_583, "server", "servers"), "12,583 servers");
        for (many, one) in [
            ("nodes left out: cordoned (unschedulable)", "node left out: cordoned (unschedulable)"),
            (
                "tasks left out: they ask for none of the resources",
                "task left out: it asks for none of the resources",
            ),
            (
                "tasks left out: no server meets their conditions",
                "task left out: no server meets its conditions",
            ),
            (
                "queues have a minimum, which an instance cannot state",
                "queue has a minimum, which an instance cannot state",
            ),
            ("jobs state no memory (only cpus count)", "job states no memory (only cpus count)"),
            ("rows of machine events", "row of machine events"),
            (
                "cluster queues left out: they have no quota of their own",
                "cluster queue left out: it has no quota of its own",
            ),
            (
                "virtual machines left out: they arrive at other times",
                "virtual machine left out: it arrives at other times",
            ),
            ("batches of a tenant", "batch of a tenant"),
            ("classes of several flavors", "class of several flavors"),
            (
                "pods belong to their node (DaemonSet or static) and count",
                "pod belongs to its node (DaemonSet or static) and counts",
            ),
            (
                "queues guarantee or deserve something, which is not stated",
                "queue guarantees or deserves something, which is not stated",
            ),
            (
                "jobs run on nodes left out: they count, and may run on the others",
                "job runs on nodes left out: it counts, and may run on the others",
            ),
            (
                "jobs that wait for another: here they come when they were submitted",
                "job that waits for another: here it comes when it was submitted",
            ),
            (
                "cluster queues left out: no local queue names them",
                "cluster queue left out: no local queue names it",
            ),
            ("queue whose minima are above its maxima", "queue whose minima are above its maxima"),
            (
                "pods run on nodes that are not among those that count: they have no place here yet",
                "pod runs on nodes that are not among those that count: it has no place here yet",
            ),
            (
                "jobs of partition x, which no node names: they may run everywhere",
                "job of partition x, which no node names: it may run everywhere",
            ),
            (
                "accounts are not in it: no line deletes them, and they keep what is set now",
                "account is not in it: no line deletes it, and it keeps what is set now",
            ),
        ] {
            assert_eq!(agreeing(2, many), many);
            assert_eq!(agreeing(1, many), one);
        }
    }
}
