//! Nothing counts as published that is not quoted: every statement has the paper's words beside it, and where the papers are
//! at hand (in `../shared/papers`, or where `FAIRPLAN_PAPERS` says) they have these words and numbers.

use fairplan::Control;
use fairplan_studies::{ReproduceOptions, reproduce};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The text of each paper, by how names of its exhibits begin.
const PAPERS: [(&str, &str); 5] = [
    ("drfh", "drfh.txt"),
    ("mrf", "multi-resource-fairness.txt"),
    ("karma", "karma.txt"),
    ("kdn", "karma-dynamic-needs.txt"),
    ("fs", "fair-shares.txt"),
];

fn beside(variable: &str, folder: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(folder);
    std::env::var_os(variable).map_or(beside, Into::into)
}

/// The letters of a text, each with where it stands; commands of formulas and the words that describe them are left out.
fn letters(text: &str) -> Vec<(usize, char)> {
    const OF_FORMULAS: [&str; 6] = ["subscript", "superscript", "similar-to", "absent", "percent", "𝛼"];
    let mut letters = Vec::new();
    let mut at = 0;
    'text: while let Some(letter) = text[at..].chars().next() {
        if letter == '\\' {
            at += 1 + text[at + 1..].chars().take_while(char::is_ascii_alphabetic).count();
            continue;
        }
        for word in OF_FORMULAS {
            if text[at..].starts_with(word) {
                at += word.len();
                continue 'text;
            }
        }
        if letter.is_ascii_alphabetic() {
            letters.push((at, letter.to_ascii_lowercase()));
        }
        at += letter.len_utf8();
    }
    letters
}

/// What of a quotation is not in the paper: a part of it between `…`, or a number in that.
fn missing(quotation: &str, paper: &str) -> Option<String> {
    let all = letters(paper);
    let text: String = all.iter().map(|(_, letter)| *letter).collect();
    let mut from = 0;
    for part in quotation.split('…') {
        let wanted: String = letters(part).into_iter().map(|(_, letter)| letter).collect();
        let numbers =
            part.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.'));
        let numbers: Vec<&str> = numbers.filter(|word| !word.is_empty()).collect();
        // The letters may stand there several times, as in the rows of a table.
        let mut problem = Some(part.to_owned());
        for (at, _) in text[from..].match_indices(&wanted) {
            let (first, last) = (from + at, from + at + wanted.len());
            let position = |letter: usize| all.get(letter).map_or(paper.len(), |(position, _)| *position);
            let (begin, end) =
                if wanted.is_empty() { (0, paper.len()) } else { (position(first), position(last)) };
            // Up to the next letter, and as much before: formulas are printed several ways beside each other.
            let around = &paper[paper.floor_char_boundary(begin.saturating_sub(60))..end];
            problem =
                numbers.iter().find(|word| !around.contains(**word)).map(|word| format!("{word} in {part}"));
            if problem.is_none() {
                from = last;
                break;
            }
        }
        if problem.is_some() {
            return problem;
        }
    }
    None
}

/// Queries of 230 warehouses in some minutes of a day, instead of demands drawn for whole days: what a paper says of a figure does not
/// depend on them.
fn few_queries(folder: &Path) -> PathBuf {
    let file = folder.join("snowset-main.csv");
    let mut text =
        "queryId,warehouseId,createdTime,endTime,serverCount,warehouseSize,perServerCores,memoryUsed\n"
            .to_owned();
    for query in 0..690 {
        let (warehouse, from) = (1000 + query / 3, query * 47 % 600);
        let clock = |second: i32| format!("2018-03-01 12:{:02}:{:02}.000", second / 60, second % 60);
        let until = from + 1 + query * 31 % 100;
        writeln!(text, "{query},{warehouse},{},{},2,2,8,734003200", clock(from), clock(until)).unwrap();
    }
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
#[ignore = "half a minute: all studies that need no trace"]
fn everything_that_counts_as_published_is_quoted_word_for_word() {
    let folder = tempfile::tempdir().unwrap();
    let mut options =
        ReproduceOptions { snowset: Some(few_queries(folder.path())), ..ReproduceOptions::default() };
    let trace = beside("FAIRPLAN_DATA", "data").join("google2011");
    if trace.join("task_events").is_dir() {
        (options.google2011, options.servers) = (Some(trace), 500);
    }
    let document = reproduce(&options, &Control::none()).unwrap();
    assert!(document.numbers.len() > 150);
    for number in &document.numbers {
        let places = ["Fig. ", "Table", "Sec. ", "Lemma "];
        assert!(
            places.iter().any(|place| number.source.contains(place)),
            "where is it in {}?",
            number.source
        );
    }
    let said: BTreeSet<(&str, &str)> =
        document.numbers.iter().map(|number| (&*number.exhibit, &*number.quotation)).collect();
    let papers = beside("FAIRPLAN_PAPERS", "papers");
    for (exhibit, quotation) in said {
        assert!(!quotation.is_empty(), "{exhibit} says nothing");
        let (_, file) = PAPERS.iter().find(|(begin, _)| exhibit.starts_with(begin)).unwrap();
        let totals = quotation.split_once(".tsv: ");
        let file = match totals {
            Some((name, _)) => beside("FAIRPLAN_DATA", "data/karma-results").join(format!("{name}.tsv")),
            None => papers.join(file),
        };
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let quotation = totals.map_or(quotation, |(_, rest)| rest);
                let missing = missing(quotation, &text);
                assert_eq!(missing, None, "{exhibit}: {quotation}");
            }
            Err(_) => println!("skipped: {} is not here", file.display()),
        }
    }
}

#[test]
fn what_a_paper_does_not_say_is_found_missing() {
    let paper = "whereas the ratio is 7.8×7.8\\times with strict partitioning and 4.3×4.3\\times with max-min fairness";
    assert_eq!(missing("the ratio is 7.8× with strict partitioning and 4.3×", paper), None);
    assert_eq!(missing("the ratio … 4.3× with max-min fairness", paper), None);
    assert_eq!(
        missing("the ratio is 9× with strict", paper).as_deref(),
        Some("9 in the ratio is 9× with strict")
    );
    assert_eq!(missing("the ratio is large", paper).as_deref(), Some("the ratio is large"));
}

#[test]
fn every_figure_and_table_of_the_papers_has_a_verdict() {
    // One study is enough: what was not run is said to be so.
    let options =
        ReproduceOptions { ids: vec!["drfh-fig3".into()], summary: true, ..ReproduceOptions::default() };
    let exhibits = reproduce(&options, &Control::none()).unwrap().body.exhibits;
    let names = [("drfh", "DRFH"), ("mrf", "MRF"), ("karma", "Karma"), ("kdn", "KDN"), ("fs", "Fair Shares")];
    for ((_, file), (_, name)) in PAPERS.iter().zip(names) {
        let path = beside("FAIRPLAN_PAPERS", "papers").join(file);
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("skipped: {} is not here", path.display());
            continue;
        };
        let captions = text.lines().filter_map(|line| {
            let (head, _) = line.split_once(':')?;
            let (kind, number) = head.rsplit_once(' ')?;
            let is_number = number.chars().all(|c| c.is_ascii_digit() || "IVX".contains(c));
            let kind = match kind {
                "Figure" | "Fig." => "Fig.",
                "TABLE" | "Table" => "Table",
                _ => return None,
            };
            (is_number && !number.is_empty()).then(|| format!("{kind} {number}"))
        });
        let missing: Vec<String> = captions
            .filter(|caption| !exhibits.iter().any(|row| row.paper == name && row.exhibit == *caption))
            .collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
    let run: Vec<&str> = exhibits.iter().filter(|row| row.statements > 0).map(|row| &*row.exhibit).collect();
    assert_eq!(run, ["Fig. 3"]);
}
