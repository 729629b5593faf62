//! What pages show is what comes out.

use super::page::{Example, Input, Page};
use super::{pages, python};
use crate::command_line::{binary, root};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What tells, in a shell's output, where that of a command ends.
const END_OF_OUTPUT: &str = "@end-of-output@";

#[test]
fn every_example_gives_what_it_shows() {
    check(&[]);
}

#[test]
#[ignore = "a minute or more"]
fn every_slow_example_gives_what_it_shows() {
    check(&["slow"]);
}

#[test]
#[ignore = "needs the trace of Google's cluster"]
fn every_example_on_the_google_trace_gives_what_it_shows() {
    if google_trace().is_none() {
        println!("skipped: set FAIRPLAN_DATA to the folder that holds google2011/task_events");
        return;
    }
    check(&["google2011"]);
}

#[test]
#[ignore = "needs the tables of Alibaba's cluster, and minutes"]
fn every_example_on_alibabas_tables_gives_what_it_shows() {
    if alibaba_tables().is_none() {
        println!("skipped: set FAIRPLAN_DATA to the folder that holds alibaba-gpu2023");
        return;
    }
    check(&["alibaba-gpu2023"]);
}

/// Runs the examples with just these marks, and in front of them the unmarked ones of their pages.
fn check(marks: &[&str]) {
    let complaints: Vec<String> = pages().into_par_iter().filter_map(|page| complaint(page, marks)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What differs on a page.
fn complaint(mut page: Page, marks: &[&str]) -> Option<String> {
    let mut examples = page.examples();
    examples.retain(|example| example.marks.is_empty() || example.marks == marks);
    if !examples.iter().any(|example| example.marks == marks) {
        return None;
    }
    if python::interpreter().is_err() {
        // The test of the interpreter says why.
        examples.retain(|example| matches!(example.input, Input::Shell(_)));
    }
    let outputs = outputs(&page, &examples);
    let mut complaint = String::new();
    for (place, (example, output)) in examples.iter().zip(&outputs).enumerate().rev() {
        let next = examples.get(place + 1).map(|example| &example.input);
        let told = matches!(next, Some(Input::Shell(words)) if words.starts_with("echo $?"));
        if output.status != 0 && !told {
            let lines = output.lines.join("\n");
            writeln!(
                complaint,
                "{}:{}: exit status {}\n{lines}",
                page.name(),
                example.output.start,
                output.status
            )
            .unwrap();
        } else if !agree(&page.lines[example.output.clone()], &output.lines) {
            if std::env::var_os("FAIRPLAN_UPDATE_GUIDE").is_some() {
                page.lines.splice(example.output.clone(), output.lines.iter().cloned());
            } else {
                let shown = &page.lines[example.output.clone()];
                writeln!(
                    complaint,
                    "{}:{}: shows\n{}\nbut gives\n{}",
                    page.name(),
                    example.output.start,
                    only_in(shown, &output.lines),
                    only_in(&output.lines, shown)
                )
                .unwrap();
            }
        }
    }
    if std::env::var_os("FAIRPLAN_UPDATE_GUIDE").is_some() {
        std::fs::write(&page.path, page.lines.join("\n") + "\n").unwrap();
    }
    (!complaint.is_empty()).then_some(complaint)
}

struct Given {
    lines: Vec<String>,
    status: i32,
}

/// The page for those who have nothing but the command.
const TUTORIAL: &str = "tutorial.md";

/// Runs a page's examples in one shell, in a folder beside which the shipped data and policies are: `out/` of the repository. Those of the
/// tutorial run in an empty folder.
fn outputs(page: &Page, examples: &[Example]) -> Vec<Given> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    if page.name() != TUTORIAL {
        for room in ["instances", "imports", "guide"] {
            std::os::unix::fs::symlink(root().join(room), folder.path().join(room)).unwrap();
        }
    }
    let mut script = "exec 2>&1\n".to_owned();
    for example in examples {
        match &example.input {
            Input::Shell(words) => script.push_str(words),
            Input::Python(code) => write!(script, "\"$PYTHON\" - <<'END'\n{code}\nEND").unwrap(),
        }
        write!(script, "\nstatus=$?; printf '%s%s\\n' '{END_OF_OUTPUT}' $status; (exit $status)\n").unwrap();
    }
    let command = binary().parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash")
        .current_dir(&out)
        .env_remove("COLUMNS")
        .env("PATH", format!("{}:{path}", command.display()))
        .env("PYTHON", python::interpreter().unwrap_or_default())
        .env("GOOGLE2011", google_trace().unwrap_or_default())
        .env("ALIBABA_GPU2023", alibaba_tables().unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap();

    let mut given = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for line in output.lines() {
        let Some((last, status)) = line.split_once(END_OF_OUTPUT) else {
            lines.push(line.trim_end().to_owned());
            continue;
        };
        if !last.is_empty() {
            lines.push(last.to_owned());
        }
        // What is empty at the end separates from the next prompt only.
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        given.push(Given { lines: std::mem::take(&mut lines), status: status.parse().unwrap() });
    }
    assert_eq!(given.len(), examples.len(), "{}: the shell ended early:\n{output}", page.name());
    given
}

/// A folder of real data.
fn data(name: &str) -> std::path::PathBuf {
    let data = std::env::var_os("FAIRPLAN_DATA").map_or_else(|| root().join("../shared/data"), Into::into);
    Path::new(&data).join(name)
}

fn google_trace() -> Option<std::path::PathBuf> {
    Some(data("google2011")).filter(|trace| trace.join("task_events").is_dir())
}

fn alibaba_tables() -> Option<std::path::PathBuf> {
    Some(data("alibaba-gpu2023")).filter(|tables| tables.join("openb_node_list_all_node.csv").is_file())
}

/// Whether what is shown is what is given: `...` stands for anything in a line, or for any lines; times are not compared.
fn agree(shown: &[String], given: &[String]) -> bool {
    lines_agree(&comparable(shown), &comparable(given))
}

/// The lines of `these` that agree with none of `those`: a page is long, and what differs is often one number.
fn only_in(these: &[String], those: &[String]) -> String {
    let others = comparable(those);
    let found = these.iter().zip(comparable(these)).filter(|(_, line)| !others.contains(line));
    found.map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n")
}

fn lines_agree(shown: &[String], given: &[String]) -> bool {
    match shown.split_first() {
        None => given.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=given.len()).any(|skipped| lines_agree(rest, &given[skipped..]))
        }
        Some((line, rest)) => given
            .split_first()
            .is_some_and(|(first, left)| line_agrees(line, first) && lines_agree(rest, left)),
    }
}

fn line_agrees(shown: &str, given: &str) -> bool {
    let Some((head, tail)) = shown.split_once("...") else { return shown == given };
    let rest = given.strip_prefix(head);
    rest.is_some_and(|rest| {
        (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| line_agrees(tail, rest)))
    })
}

/// Lines without what changes from run to run: times, and the widths of the columns in which they are.
fn comparable(lines: &[String]) -> Vec<String> {
    let mut times_last = false;
    let mut comparable = Vec::new();
    for line in lines {
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        for word in &mut words {
            if word.chars().all(|letter| letter == '─') {
                *word = "─".to_owned();
            }
        }
        if words.is_empty() {
            times_last = false;
        } else if words.last().is_some_and(|word| word == "seconds") {
            times_last = true;
        } else if times_last && words.last().is_some_and(|word| word.parse::<f64>().is_ok()) {
            words.pop();
        }
        for place in 1..words.len() {
            let number = words[place].trim_end_matches(',').parse::<f64>().is_ok();
            let seconds =
                words.get(place + 1).is_some_and(|unit| unit.starts_with('s') || unit.starts_with("ms"));
            if number && (words[place - 1] == "in" && seconds || words[place - 1].ends_with("seconds\":")) {
                words[place] = "#".to_owned();
            }
        }
        comparable.push(words.iter().map(|word| rounded(word)).collect::<Vec<_>>().join(" "));
    }
    comparable
}

/// A word with its numbers to nine digits, and what is next to nothing as nothing: the rest is rounding, which another
/// processor may do otherwise.
fn rounded(word: &str) -> String {
    const BETWEEN: [char; 9] = [',', ':', ';', '(', ')', '[', ']', '{', '}'];
    let mut rounded = String::new();
    for part in word.split_inclusive(BETWEEN) {
        let number = part.trim_end_matches(BETWEEN);
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') && value.abs() < 1e-8 => rounded.push('0'),
            Ok(value) if number.contains('.') => write!(rounded, "{value:.8e}").unwrap(),
            _ => rounded.push_str(number),
        }
        rounded.push_str(&part[number.len()..]);
    }
    rounded
}

#[test]
fn what_differs_is_seen_and_times_are_not() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let agrees = |shown: &str, given: &str| agree(&lines(shown), &lines(given));
    assert!(agrees("a  b\n─── ──", "a b\n──── ─"));
    assert!(agrees("Solved in 0.1 s", "Solved in 12.5 s"));
    assert!(agrees("name seconds\nx 1 0.1", "name seconds\nx 1 7"));
    assert!(!agrees("name seconds\nx 1 0.1", "name seconds\nx 2 0.1"));
    assert!(agrees("a\n...\nz", "a\nb\nc\nz") && agrees("...", ""));
    assert!(!agrees("a\n...\nz", "a\nb"));
    assert!(agrees("sha ... end", "sha 12 34 end") && !agrees("sha ... end", "sha 12 34 END"));
    assert!(
        agrees("[0.7142857142857116, 1.8e-13]", "[0.71428571428571, 0]") && !agrees("0.714285", "0.714286")
    );
    assert_eq!(only_in(&lines("a  1\nb\nc"), &lines("c\na 1\nd")), "b");
    assert!(!agrees("share 0.5", "share 0.6") && !agrees("a", "a\nb") && !agrees("a\nb", "a"));
}
