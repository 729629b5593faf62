//! Everything has its page, and every link leads somewhere.

use super::page::Page;
use super::{pages, source};
use crate::command_line::{binary, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the command says to these words.
fn says(words: &[&str]) -> String {
    let output = Command::new(binary()).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

fn text(page: &Path) -> String {
    std::fs::read_to_string(source().join(page)).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

#[test]
fn every_command_has_its_page_with_an_example() {
    let all = commands(&says(&["--help"]));
    assert!(all.len() > 20, "{all:?}");
    for command in all {
        let page = text(Path::new(&format!("commands/{command}.md")));
        assert!(page.contains("```console\n$ "), "commands/{command}.md has no example");
        for inner in commands(&says(&[&command, "--help"])) {
            let told =
                page.contains(&format!("`{inner}`")) || page.contains(&format!("fairplan {command} {inner}"));
            assert!(told, "commands/{command}.md does not speak of {inner}");
        }
    }
}

#[test]
fn every_published_result_is_on_a_page_with_ours_beside_the_papers() {
    let help = says(&["reproduce", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, list) = help.split_once("Which ones: ").unwrap();
    let (list, _) = list.split_once(" (default").unwrap();
    assert!(list.split(", ").count() > 20, "{list}");
    let results: Vec<Page> = pages().into_iter().filter(|page| page.name().starts_with("results/")).collect();
    let lines = results.iter().flat_map(|page| &page.lines);
    let run: BTreeSet<&str> = lines
        .filter_map(|line| line.strip_prefix("$ fairplan reproduce "))
        .flat_map(str::split_whitespace)
        .collect();
    for id in list.split(", ") {
        assert!(run.contains(id), "no page of results runs {id}");
    }
}

#[test]
fn every_format_has_its_page_with_a_python_snippet() {
    let schemas: serde_json::Value = serde_json::from_str(&says(&["schema"])).unwrap();
    for format in schemas.as_object().unwrap().keys() {
        let name = format.strip_prefix("fairplan.").and_then(|name| name.strip_suffix(".v1")).unwrap();
        let page = text(Path::new(&format!("formats/{name}.md")));
        assert!(page.contains(format), "formats/{name}.md does not name {format}");
        assert!(page.contains("```python\n"), "formats/{name}.md has no snippet");
    }
}

#[test]
fn every_page_is_in_the_summary() {
    let summary: BTreeSet<_> = links(&text(Path::new("SUMMARY.md"))).into_iter().collect();
    for page in pages() {
        let name = page.name();
        assert!(name == "SUMMARY.md" || summary.contains(&name), "SUMMARY.md lacks {name}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut files: Vec<PathBuf> = pages().into_iter().map(|page| page.path).collect();
    files.extend(
        ["README.md", "ARCHITECTURE.md", "docs/methods.md", "notebooks/README.md"]
            .map(|name| root().join(name)),
    );
    for file in files {
        for link in links(&std::fs::read_to_string(&file).unwrap()) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            if path.contains("://") {
                continue;
            }
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link} leads nowhere", file.display());
            if !anchor.is_empty() {
                let headings = std::fs::read_to_string(&target).unwrap();
                let found = headings.lines().any(|line| line.starts_with('#') && anchor_of(line) == anchor);
                assert!(found, "{}: {link} has no such heading", file.display());
            }
        }
    }
}

/// Where the links of a text lead.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if !fenced {
            links
                .extend(line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        }
    }
    links
}

/// The anchor of a heading.
fn anchor_of(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Words that a sentence of the tutorial has at most.
const SENTENCE: usize = 29;

/// The sentences of a page: not its examples, tables and headings.
fn sentences(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fenced = false;
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        if is_fence || fenced || line.is_empty() || line.starts_with(['#', '|']) {
            paragraphs.push(String::new());
        } else {
            let item = line.strip_prefix("- ");
            if item.is_some() {
                paragraphs.push(String::new());
            }
            let paragraph = paragraphs.last_mut().unwrap();
            paragraph.push_str(item.unwrap_or(line));
            paragraph.push(' ');
        }
    }
    let ends = |word: &str| word.trim_end_matches([')', '*', '`', '"']).ends_with(['.', '!', '?', ':']);
    let mut sentences = Vec::new();
    for paragraph in paragraphs {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        sentences.extend(words.split_inclusive(|word| ends(word)).map(|words| words.join(" ")));
    }
    sentences
}

#[test]
fn the_tutorials_sentences_are_short_and_its_words_are_explained() {
    let page = text(Path::new("tutorial.md"));
    let all = sentences(&page);
    assert!(all.len() > 40, "{all:#?}");
    let long: Vec<&String> =
        all.iter().filter(|sentence| sentence.split_whitespace().count() > SENTENCE).collect();
    assert!(long.is_empty(), "{long:#?}");
    // Each is set in italics where it is explained, before it is used otherwise in the text.
    let prose = all.join(" ").to_lowercase();
    for word in ["server class", "user", "dominant share", "quantum", "branch and bound", "prices"] {
        let explained = prose.find(&format!("*{word}*")).unwrap_or_else(|| panic!("{word} is not explained"));
        let used = prose.find(&format!(" {word}")).unwrap_or(usize::MAX);
        assert!(explained < used, "{word} is used before it is explained");
    }
    assert_eq!(
        sentences("# A\n\nOne two. Three\nfour!\n- five\n```\nsix\n```\n"),
        ["One two.", "Three four!", "five"]
    );
}
