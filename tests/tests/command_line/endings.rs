//! The ending of `-o` decides what is written, in every command; what a result cannot be is refused before any work.

use super::{Folder, text};
use std::io::Read;

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A folder with an input of each kind.
fn inputs() -> Folder {
    let folder = Folder::new();
    for line in
        ["drfh-fig1 -o i.json", "karma-fig2 -o d.json", "mrf-fig1 -o f.json", "trace-drfh-fig4 -o t.jsonl"]
    {
        folder.done(&words(&format!("generate {line} --quiet")));
    }
    folder.write("catalog.csv", "id,price\nhigh-cpu,3\nhigh-memory,2\n");
    folder.write("load.csv", "quantum,all\n1,10\n2,12\n");
    folder.done(&words("solve i.json --no-timing -o s.json --quiet"));
    folder
}

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content).unwrap();
    content
}

/// Commands whose result has a table.
const TABLES: [&str; 13] = [
    "solve i.json --no-timing",
    "place i.json",
    "compare i.json --no-timing",
    "bound i.json",
    "explain i.json --user user-1",
    "entitlements i.json",
    "allocate d.json --fair-share 2",
    "offline d.json --fair-share 2",
    "flows f.json --objective drf",
    "plan i.json --catalog catalog.csv --share 0.9",
    "plan worth i.json --no-ranges",
    "plan lose i.json",
    "plan diff i.json i.json",
];

/// Commands whose result is one JSON document.
const DOCUMENTS: [&str; 7] = [
    "verify i.json s.json",
    "audit i.json",
    "simulate t.jsonl --policy best-fit",
    "reproduce drfh-fig1",
    "schema solution",
    "generate drfh-fig1",
    "convert i.json",
];

#[test]
fn every_table_is_written_as_the_ending_says_and_no_other_format_can_be_stated() {
    let folder = inputs();
    for line in TABLES.into_iter().chain(["plan growth i.json --series load.csv --share 0.1 --by total"]) {
        let write = |more: &str| {
            folder.done(&words(&format!("{line} --quiet {more}")));
            let file = more.rsplit(' ').next().unwrap();
            std::fs::read(folder.path(file)).unwrap()
        };
        let json = write("-o r.json");
        assert!(json.starts_with(b"{") && unzipped(&write("-o r.json.gz")) == json, "{line}");
        assert_eq!(write("-o r"), json, "{line}");
        let csv = write("-o r.csv");
        assert!(csv.contains(&b',') && !csv.starts_with(b"{"), "{line}: {}", text(&csv));
        assert_eq!(unzipped(&write("-o r.csv.gz")), csv, "{line}");
        assert!(write("-o r.parquet").starts_with(b"PAR1"), "{line}");
        assert!(write("-o r.arrow").starts_with(b"ARROW1"), "{line}");
        assert_eq!(write("--format csv -o r"), csv, "{line}");
        for (stated, file) in [("csv", "contradicted.json"), ("json", "contradicted.csv")] {
            let refusal = folder.refused(&words(&format!("{line} --format {stated} -o {file}")));
            assert!(refusal.contains(&format!("name a file that ends in .{stated}")), "{refusal}");
        }
        let refusal = folder.refused(&words(&format!("{line} -o r.parquet.gz")));
        assert!(refusal.contains("leave out .gz"), "{refusal}");
    }
}

#[test]
fn a_document_is_gzipped_and_is_no_table() {
    let folder = inputs();
    for line in DOCUMENTS {
        let _ = std::fs::remove_file(folder.path("r.json.gz"));
        // An audit says no here.
        folder.run(&words(&format!("{line} --quiet -o r.json.gz")));
        let bytes = std::fs::read(folder.path("r.json.gz")).unwrap();
        assert!(unzipped(&bytes).starts_with(b"{"), "{line}");
        for ending in ["csv", "csv.gz", "parquet", "arrow", "html", "jsonl"] {
            // Refused before it is read: the input need not be there.
            let absent = line.replace("i.json", "missing.json").replace("t.jsonl", "missing.jsonl");
            let refusal = folder.refused(&words(&format!("{absent} -o r.{ending}")));
            assert!(refusal.contains("name a file that ends in .json or .json.gz"), "{line}: {refusal}");
        }
    }
}

#[test]
fn a_compressed_result_is_read_by_verify_and_report() {
    let folder = inputs();
    folder.done(&words("solve i.json -o s.json.gz --quiet"));
    folder.done(&words("verify i.json s.json.gz --quiet -o v.json"));
    folder.done(&words("report s.json.gz -o page.html.gz --quiet"));
    let page = unzipped(&std::fs::read(folder.path("page.html.gz")).unwrap());
    assert!(page.starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn traces_pages_lines_and_what_stands_beside_a_result_go_by_their_endings_too() {
    let folder = inputs();
    for name in ["t.jsonl.gz", "t.parquet"] {
        folder.done(&words(&format!("convert --trace t.jsonl -o {name} --quiet")));
        folder.done(&words(&format!("convert --trace {name} -o again.jsonl --quiet")));
        assert_eq!(folder.read("again.jsonl"), folder.read("t.jsonl"), "{name}");
    }
    folder.run(&words("audit i.json --all -o a.jsonl.gz --quiet"));
    assert!(unzipped(&std::fs::read(folder.path("a.jsonl.gz")).unwrap()).starts_with(b"{"));
    let long = "simulate t.jsonl --policy best-fit --sample 500 --quiet -o sim.json --series";
    for (name, start) in [("s.jsonl", &b"{"[..]), ("s.parquet", b"PAR1"), ("s.arrow", b"ARROW1")] {
        folder.done(&words(&format!("{long} {name}")));
        assert!(std::fs::read(folder.path(name)).unwrap().starts_with(start), "{name}");
    }
    for (line, endings) in [
        ("convert --trace t.jsonl -o t.json", ".jsonl, .jsonl.gz or .parquet"),
        ("generate trace-random -o t.csv", ".jsonl, .jsonl.gz or .parquet"),
        ("audit i.json --all -o a.json", ".jsonl or .jsonl.gz"),
        ("solve --servers s.arrow --users u.csv", "Arrow files are not read"),
        ("report s.json -o page.json", ".html or .html.gz"),
        ("report s.json --plot c.gif -o page.html", ".svg, .svg.gz or .png"),
        ("simulate t.jsonl --series s.csv -o sim2.json", ".jsonl, .jsonl.gz, .parquet or .arrow"),
        ("convert i.json --to-servers s.json --to-users u.csv", ".csv, .csv.gz, .parquet or .arrow"),
        ("convert i.json -o i.csv", "tables are written by --to-servers and --to-users"),
        ("plan i.json --catalog catalog.csv --share 0.9 --cluster-out c.csv", ".json or .json.gz"),
    ] {
        let refusal = folder.refused(&words(line));
        assert!(refusal.contains(endings), "{line}: {refusal}");
    }
}

#[test]
fn tables_that_a_spreadsheet_may_open_give_the_instance_back() {
    let folder = Folder::new();
    let instance = r#"{"format": "fairplan.instance.v1", "name": "", "resources": ["=cpu", "-memory"],
        "server_classes": [{"id": "+a", "count": 2, "capacity": {"=cpu": 1, "-memory": 2}},
                           {"id": "'=b", "count": 1, "capacity": {"=cpu": 3, "-memory": 4}}],
        "users": [{"id": "=HYPERLINK(1)", "demand": {"=cpu": 1}, "eligible": ["+a"]},
                  {"id": "@u", "demand": {"=cpu": 1}, "rates": {"'=b": 2}},
                  {"id": "\tv", "demand": {"-memory": 0.5}}, {"id": "-1", "demand": {"-memory": 0.5}, "eligible": []}]}"#;
    folder.write("i.json", instance);
    folder.done(&words("convert i.json -o canonical.json --quiet"));
    for (servers, users) in [("s.csv", "u.csv"), ("s.csv.gz", "u.csv.gz"), ("s.parquet", "u.parquet")] {
        folder.done(&words(&format!("convert i.json --to-servers {servers} --to-users {users} --quiet")));
        folder.done(&words(&format!("convert --servers {servers} --users {users} -o back.json --quiet")));
        assert_eq!(folder.read("back.json"), folder.read("canonical.json"), "{servers}");
    }
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    for name in ["s.csv", "u.csv"] {
        for cell in folder.read(name).lines().flat_map(cells) {
            assert!(!cell.trim_matches('"').starts_with(['=', '+', '-', '@', '\t']), "{name}: {cell}");
        }
    }
    folder.done(&words("solve i.json -o shares.csv --quiet"));
    assert!(folder.read("shares.csv").contains("'=HYPERLINK(1)"));
}
