//! A number in a sentence about published results is one that the page's own examples print, or stands where it is said to.

use super::page::Page;
use crate::command_line::root;
use std::fmt::Write;

/// Numbers that no example on their page prints, with the file that has them and the words beside them: a setting of the study, or
/// the test that computes them.
const ELSEWHERE: &[(&str, &str, &str, &str)] = &[
    ("drfh-fig4.md", "0.275", "studies/src/traces.rs", "least > 0.275"),
    ("fair-shares.md", "0.82", "studies/src/evaluations/fair_shares/mod.rs", "static allocation (∼0.82)"),
    (
        "fair-shares.md",
        "7.25",
        "instances/src/generate/demands.rs",
        "how many quanta on the mean it runs, as a fraction: 7.25",
    ),
    (
        "fair-shares.md",
        "64%",
        "instances/src/generate/demands.rs",
        "more than 64% of its users demand nothing",
    ),
    ("fair-shares.md", "76%", "instances/src/generate/demands.rs", "Users who start queries at all: 24%"),
    ("fair-shares.md", "1,150,000", "instances/src/generate/demands.rs", "1,150,000"),
    ("karma-fig6.md", "900", "studies/src/evaluations/quarters.rs", "quanta: 900"),
    ("karma-fig8.md", "100", "studies/src/evaluations/quarters.rs", "USERS: u64 = 100"),
    (
        "karma-fig7.md",
        "94.8%",
        "studies/src/evaluations/quarters.rs",
        "bursts that begin whenever they like 0.948: see the test",
    ),
    ("karma-fig7.md", "20%", "studies/src/evaluations/karma.rs", ".zip([20, 50, 80])"),
    ("kdn-tables.md", "60", "studies/src/karma.rs", "fn kdn"),
];

/// Pages whose examples run on tables that are published apart: how much these hold is said once, and checked where they are read.
const OF_TABLES: &[(&str, &[&str])] = &[
    ("drfh-google-trace.md", &["179,675", "83", "2,000"]),
    (
        "fgd.md",
        &[
            "2023", "1,213", "130%", "6,212", "100%", "93.1%", "95.2%", "78", "0.24", "0.5", "0", "100", "3",
            "4.7%", "3.1%", "1.5%", "0.1%",
        ],
    ),
    (
        "fgd-gpuspec33.md",
        &["2023", "6,212", "130%", "100%", "78", "0.48", "0.5", "11.9%", "3.5%", "8.2%", "0.2%"],
    ),
];

/// A number as a sentence has it.
struct Stated {
    words: String,
    value: f64,
    /// Digits behind the point.
    digits: usize,
    is_percent: bool,
}

impl Stated {
    /// Whether it is this number, as far as its digits go.
    fn is(&self, printed: f64) -> bool {
        let printed = if self.is_percent { 100.0 * printed } else { printed };
        let half = 0.5 * 0.1f64.powi(self.digits as i32) * (1.0 + 1e-9);
        let rounded = self.digits > 0 || self.is_percent;
        if rounded { (self.value - printed).abs() <= half } else { self.value == printed }
    }
}

/// The numbers of a text: digits that no letter, point or minus stands before, with commas between thousands.
fn numbers(text: &str) -> Vec<Stated> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let first = at;
        let before = || text[..at].chars().next_back();
        if !bytes[at].is_ascii_digit() || before().is_some_and(|c| c.is_alphanumeric() || "._".contains(c)) {
            at += 1;
            continue;
        }
        let is_part = |at: usize| match bytes.get(at) {
            Some(b'.' | b',') => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
            Some(byte) => byte.is_ascii_digit(),
            None => false,
        };
        while is_part(at) {
            at += 1;
        }
        let plain = text[first..at].replace(',', "");
        let is_percent = bytes.get(at) == Some(&b'%');
        let words = text[first..at + usize::from(is_percent)].to_owned();
        let digits = plain.split_once('.').map_or(0, |(_, behind)| behind.len());
        if let Ok(value) = plain.parse() {
            found.push(Stated { words, value, digits, is_percent });
        }
    }
    found
}

/// Sentences without what only looks like a number in them: code, links, numbers of figures, sections and users.
fn sentences(page: &Page) -> String {
    const NUMBERED: [&str; 15] = [
        "Fig.", "Sec.", "Alg.", "Lemma", "Table", "Tables", "part", "Part", "user", "users", "User", "class",
        "classes", "alpha", "arXiv",
    ];
    let mut text = String::new();
    let mut in_fence = false;
    for line in &page.lines {
        if line.starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence && !line.starts_with(['#', '|']) {
            let _ = writeln!(text, "{line}");
        }
    }
    let mut plain = String::new();
    for (at, piece) in text.split('`').enumerate() {
        if at % 2 == 0 {
            plain += piece;
        }
    }
    let mut without_links = String::new();
    let mut rest = plain.as_str();
    while let Some((before, behind)) = rest.split_once("](") {
        without_links += before;
        rest = behind.split_once(')').map_or("", |(_, behind)| behind);
    }
    without_links += rest;
    let mut kept = Vec::new();
    let mut is_numbered = false;
    for word in without_links.split_whitespace() {
        let bare = word.trim_start_matches(['(', '[']);
        let goes_on =
            is_numbered && (word.starts_with(|c: char| c.is_ascii_digit()) || matches!(word, "and" | "to"));
        if !goes_on {
            kept.push(word);
        }
        is_numbered = NUMBERED.contains(&bare) || goes_on;
    }
    kept.join(" ")
}

/// What the examples of a page show.
fn shown(page: &Page) -> Vec<f64> {
    let mut in_fence = false;
    let mut shown = Vec::new();
    for line in &page.lines {
        if line.starts_with("```") {
            in_fence = !in_fence;
        } else if in_fence {
            shown.extend(numbers(line).into_iter().map(|number| number.value));
        }
    }
    shown
}

#[test]
fn a_number_in_a_sentence_about_published_results_is_one_that_the_page_shows() {
    let mut unknown = String::new();
    for page in super::pages() {
        let name = page.name();
        let Some(name) = name.strip_prefix("results/") else { continue };
        let shown = shown(&page);
        let of_tables =
            OF_TABLES.iter().find(|(page, _)| *page == name).map_or(&[][..], |(_, numbers)| numbers);
        for stated in numbers(&sentences(&page)) {
            let elsewhere =
                ELSEWHERE.iter().any(|(page, words, ..)| (*page, *words) == (name, &*stated.words));
            if !elsewhere && !of_tables.contains(&&*stated.words) && !shown.iter().any(|n| stated.is(*n)) {
                let _ = writeln!(unknown, "{name}: {}", stated.words);
            }
        }
    }
    assert!(unknown.is_empty(), "no example on the page prints:\n{unknown}");
}

#[test]
fn a_number_that_stands_elsewhere_stands_there() {
    for (page, number, file, words) in ELSEWHERE {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let plain = text.replace("///", "").replace("//", "");
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(words), "{page}: {number} is said to stand in {file} beside {words}");
    }
}

#[test]
fn numbers_are_told_from_names_and_rounded_as_they_are_stated() {
    let words = |text: &str| numbers(text).into_iter().map(|n| n.words).collect::<Vec<_>>();
    assert_eq!(words("of 1,213 servers 93.1% and 0.5, or x2; karma-fig7."), ["1,213", "93.1%", "0.5"]);
    let [stated] = &numbers("0.29")[..] else { panic!("one number") };
    assert!(stated.is(0.2864) && stated.is(0.285) && !stated.is(0.284) && !stated.is(0.296));
    let [part] = &numbers("93%")[..] else { panic!("one number") };
    assert!(part.is(0.926749) && !part.is(0.92));
    let page = Page {
        path: std::path::PathBuf::new(),
        lines: ["# Fig. 7", "Of Fig. 4 and 5 only `--together 0.6` [counts](x-2.md): 3.", "```", "9", "```"]
            .map(String::from)
            .into(),
    };
    assert_eq!((words(&sentences(&page)), shown(&page)), (vec!["3".to_owned()], vec![9.0]));
}

/// Pages that are read from the beginning by who knows nothing yet.
const FIRST: [&str; 2] = ["tutorial.md", "from-kubectl-to-quotas.md"];

/// Words of a sentence there, at most.
const LONGEST: usize = 29;

#[test]
fn sentences_of_the_first_pages_are_short() {
    let pages: Vec<Page> =
        super::pages().into_iter().filter(|page| FIRST.contains(&page.name().as_str())).collect();
    assert_eq!(pages.len(), FIRST.len());
    let mut long = String::new();
    for page in pages {
        let mut in_fence = false;
        let mut text = String::new();
        for line in &page.lines {
            let is_fence = line.starts_with("```");
            in_fence ^= is_fence;
            let is_shown = in_fence || is_fence || line.starts_with(['#', '|']);
            // What stands apart ends a sentence: what is shown, an entry of a list, an empty line.
            let apart = is_shown || line.is_empty() || line.starts_with('-');
            text += if apart { ".\n" } else { " " };
            text += if is_shown { "" } else { line };
        }
        let ends = [". ", ".\n", "! ", "? ", ".) "];
        let marked = ends.iter().fold(text, |text, end| text.replace(end, "\0"));
        for sentence in marked.split('\0').filter(|sentence| sentence.split_whitespace().count() > LONGEST) {
            let _ = writeln!(long, "{}: {}", page.name(), sentence.trim());
        }
    }
    assert!(long.is_empty(), "{long}");
}
