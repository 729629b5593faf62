//! Series as they come in files: every form gives the same series, and what is broken names its place.

use super::*;
use crate::QuantumLabel;
use crate::files::tests::{Folder, assert_fragments, message};

const LONG: &str = "quantum,user,demand\n10,A,3\n10,B,2\n10,C,1\n11,A,3\n12,B,3\n13,A,2\n13,C,4\n";
const WIDE: &str = "A,quantum,B,C\n3,10,2,1\n3,11,,0\n,12,3,\n2,13,0,4\n";
const JSON: &str = r#"{
  "format": "fairplan.demands.v1",
  "users": ["A", "B", "C"],
  "quanta": [10, 11, 12, 13],
  "demands": [
    [3, 2, 1],
    [3, 0, 0],
    [0, 3, 0],
    [2, 0, 4]
  ]
}
"#;

fn read(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> Result<DemandSeries, InstanceError> {
    read_demands(&folder.file(name, content), Rounding::Refused)
}

fn written(series: &DemandSeries) -> String {
    let mut bytes = Vec::new();
    write_demands(series, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn long_and_wide_tables_and_json_give_one_series_and_one_hash() {
    let folder = Folder::new();
    let crlf = LONG.replace('\n', "\r\n");
    for (name, content) in [
        ("a.json", JSON),
        ("a.csv", LONG),
        ("a.csv", WIDE),
        ("a.csv", &crlf),
        ("b.json", &format!("\u{feff}{JSON}")),
    ] {
        let series = read(&folder, name, content).unwrap();
        assert_eq!(written(&series), JSON, "{content}");
        // What `sha256sum` says of the file.
        let digest = "7a0e55a94fff3380cf1b756ba170d15ac60b01d84f90b593cb18b6de263c7e3a";
        assert_eq!(demands_sha256_hex(&series), digest);
    }
}

#[test]
fn gzip_is_undone_and_texts_name_quanta() {
    let folder = Folder::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let table = "quantum,\"a,b\",c\n2020-05-01 00:00:00,1,2\n2020-05-01 00:05:00,0,5\n";
    std::io::Write::write_all(&mut gzip, table.as_bytes()).unwrap();
    let series = read(&folder, "a.csv.gz", gzip.finish().unwrap()).unwrap();
    assert_eq!((series.user_id(0), series.label(1)), ("a,b", QuantumLabel::Text("2020-05-01 00:05:00")));
    let back = read(&folder, "a.json", written(&series)).unwrap();
    assert_eq!(written(&back), written(&series));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_tables_are_read_long_and_wide() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let folder = Folder::new();
    let numbers = |cells: Vec<Option<i64>>| Arc::new(Int64Array::from(cells)) as ArrayRef;
    let write = |name: &str, columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .unwrap();
        let file = std::fs::File::create(folder.path(name)).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        read_demands(&folder.path(name), Rounding::Refused)
    };
    let some = |cells: &[i64]| numbers(cells.iter().copied().map(Some).collect());
    let users: ArrayRef = Arc::new(StringArray::from(vec!["A", "B", "C", "A", "B", "A", "C"]));
    let long = vec![
        ("quantum", some(&[10, 10, 10, 11, 12, 13, 13])),
        ("user", users),
        ("demand", some(&[3, 2, 1, 3, 3, 2, 4])),
    ];
    assert_eq!(written(&write("long.parquet", long).unwrap()), JSON);
    let wide = |last: i64| {
        vec![
            ("quantum", some(&[10, 11, 12, 13])),
            ("A", numbers(vec![Some(3), Some(3), None, Some(2)])),
            ("B", some(&[2, 0, 3, 0])),
            ("C", some(&[1, 0, 0, last])),
        ]
    };
    assert_eq!(written(&write("wide.parquet", wide(4)).unwrap()), JSON);
    let refused = message(&folder, write("bad.parquet", wide(-4)));
    assert_eq!(refused, "bad.parquet: row 4, column C = -4: must be >= 0");
}

#[test]
fn broken_tables_name_line_and_column() {
    let folder = Folder::new();
    let long = [
        ("11,A,3", "11,A,-3", "line 5, column demand = -3: must be >= 0"),
        ("11,A,3", "11,A,2.5", "line 5, column demand = 2.5: must be a whole number of slices"),
        ("11,A,3", "11,A,", "line 5, column demand: is missing; write 0, or leave the row out"),
        ("11,A,3", "11,A,nan", "line 5, column demand = nan: must be a finite number"),
        ("11,A,3", "11,A,1e13", "line 5, column demand = 10000000000000: at most"),
        ("11,A,3", "11,,3", "line 5, column user: a user needs an id"),
        ("11,A,3", "9,A,3", "line 5, column quantum = 9: follows 10: sort the rows by quantum"),
        ("12,B,3", "10,B,3", "line 6, column quantum = 10: follows 11: sort the rows by quantum"),
        ("10,B,2", "10,A,2", "line 3, column user = A: has two demands in this quantum"),
        ("12,B", "x,B", "line 6, column quantum = x: follows 11: number the quanta"),
        ("11,A,3", "11,A", "line 5: the row has 2 fields, the header has 3"),
        (
            "quantum,user",
            "time,user",
            "line 1, column quantum: is missing; the table needs quantum, user, demand",
        ),
        ("quantum,user", "quantum,quantum", "line 1, column quantum: duplicate column"),
    ];
    let wide = [
        ("3,11,,0", "3,11,-1,0", "line 3, column B = -1: must be >= 0"),
        ("3,11,,0", "3,11,1e-3,0", "line 3, column B = 0.001: must be a whole number"),
        ("3,11,,0", "3,10,,0", "line 3, column quantum = 10: occurs twice"),
        ("3,11,,0", "3,,,0", "line 3, column quantum: follows 10: number the quanta"),
        (",12,", ",14,", "line 5, column quantum = 13: follows 14: sort"),
        (",13,", ",13.5,", "line 5, column quantum = 13.5: follows 12: number the quanta"),
        ("A,quantum", "B,quantum", "line 1, column B: duplicate column"),
        ("A,quantum", ",quantum", "line 1, column 1: has no name"),
    ];
    let cases = long.iter().map(|case| (LONG, case)).chain(wide.iter().map(|case| (WIDE, case)));
    assert_fragments(cases.map(|(table, (from, to, told))| {
        assert!(table.contains(from), "{from}");
        let text = message(&folder, read(&folder, "a.csv", table.replacen(from, to, 1)));
        (text, format!("a.csv: {told}"))
    }));
    for (table, told) in [
        ("quantum,user,demand\n", "a.csv: users: there are no users"),
        ("quantum\n1\n", "a.csv: users: there are no users"),
        ("quantum,A\n", "a.csv: demands: there are no quanta"),
        ("", "a.csv: the file is empty"),
        ("quantum,A\n0,1\n1,1\n3,1\n6,1\n8,1", "read without an error"),
        ("quantum,A\n0,1\n2,1\n5,1\n", "a.csv: quantum = 5: follows 2, but others are 2 apart"),
    ] {
        assert_fragments([(message(&folder, read(&folder, "a.csv", table)), told.to_owned())]);
    }
}

#[test]
fn broken_documents_name_their_path() {
    let folder = Folder::new();
    assert_fragments(
        [
            ("[3, 2, 1]", "[3, 2]", "demands[0] = 2 entries: there are 3 users"),
            ("[3, 2, 1]", "[3, 2, 1, 0]", "demands[0] = 4 entries: there are 3 users"),
            ("[3, 2, 1]", "[3, -2, 1]", "demands[0][1] = -2: must be >= 0"),
            ("[3, 2, 1]", "[3, 2.5, 1]", "demands[0][1] = 2.5: must be a whole number"),
            ("[3, 2, 1]", "[3, null, 1]", "demands[0][1] = null: must be a number"),
            ("[3, 2, 1]", "[3, \"2\", 1]", "demands[0][1] = \"2\": must be a number, without quotes"),
            ("[3, 2, 1]", "7", "demands[0]"),
            ("\"B\", \"C\"", "\"A\", \"C\"", "users[1] = A: duplicate id"),
            ("\"B\", \"C\"", "\"\", \"C\"", "users[1]: a user needs an id"),
            ("\"B\", \"C\"", "7, \"C\"", "users[1]"),
            ("[10, 11, 12, 13]", "[10, 11, 11, 13]", "quanta[2] = 11: occurs twice"),
            ("[10, 11, 12, 13]", "[10, 11, 12]", "quanta = 3 entries: there are demands of 4 quanta"),
            ("[10, 11, 12, 13]", "[10, 11, 12, 13, 14]", "quanta = 5 entries: there are demands of 4 quanta"),
            ("[10, 11, 12, 13]", "[10, 11, 12, 1.5]", "quanta[3] = 1.5: must be a whole number"),
            ("demands.v1", "demands.v2", "format = fairplan.demands.v2: this is no series of demands"),
            ("\"users\"", "\"people\"", "unknown field `people`"),
        ]
        .map(|(from, to, told)| {
            assert!(JSON.contains(from), "{from}");
            let text = message(&folder, read(&folder, "a.json", JSON.replacen(from, to, 1)));
            (text, format!("a.json: {told}").replace("a.json: unknown", "unknown"))
        }),
    );
    for length in 0..JSON.trim_end().len() {
        let text = message(&folder, read(&folder, "cut.json", &JSON[..length]));
        assert!(text.starts_with("cut.json: "), "{length}: {text}");
    }
}

#[test]
fn fractions_are_rounded_only_when_asked() {
    let folder = Folder::new();
    let path = folder.file("a.csv", "quantum,a,b,c,d,e\n0,2.4,2.5,2.000,1e-30,0\n");
    let rounded = |rounding| read_demands(&path, rounding).map(|series| series.totals());
    assert!(rounded(Rounding::Refused).is_err());
    assert_eq!(rounded(Rounding::Down).unwrap(), [2, 2, 2, 0, 0]);
    assert_eq!(rounded(Rounding::Nearest).unwrap(), [2, 3, 2, 0, 0]);
    assert_eq!(rounded(Rounding::Up).unwrap(), [3, 3, 2, 1, 0]);
}

#[test]
fn fair_shares_name_every_user_of_the_series_once() {
    let folder = Folder::new();
    let series = read(&folder, "a.csv", LONG).unwrap();
    let shares = |table: &str| read_fair_shares(&folder.file("f.csv", table), &series);
    assert_eq!(shares("fair_share,user\n5,C\n2,A\n3.0,B\n").unwrap(), [2, 3, 5]);
    assert_fragments(
        [
            ("user,fair_share\nA,2\nB,3\n", "f.csv: user = C: has demands but no fair share"),
            (
                "user,fair_share\nA,2\nX,3\n",
                "f.csv: line 3, column user = X: the series has no user with this id",
            ),
            ("user,fair_share\nA,2\nA,3\n", "f.csv: line 3, column user = A: has two rows"),
            ("user,fair_share\nA,0\n", "f.csv: line 2, column fair_share = 0: must be at least 1"),
            ("user,fair_share\nA,-1\n", "f.csv: line 2, column fair_share = -1: must be >= 0"),
            ("user,fair_share\nA,1.5\n", "f.csv: line 2, column fair_share = 1.5: must be a whole number"),
            (
                "user,weight\nA,1\n",
                "f.csv: line 1, column weight: unknown column; the table has user, fair_share",
            ),
            ("user\nA\n", "f.csv: line 1, column fair_share: is missing"),
            ("user,user,fair_share\nA,A,1\n", "f.csv: line 1, column user: duplicate column"),
        ]
        .map(|(table, told)| (message(&folder, shares(table)), told.to_owned())),
    );
}

#[test]
fn rows_of_a_series_that_is_sorted_may_stand_in_any_order() {
    let folder = Folder::new();
    let sorted = |name: &str, table: &str| read_proportions(&folder.file(name, table), "month");
    let wide = sorted("w.csv", "month,all\n2026-03,13\n2026-01,10\n2026-02,11\n").unwrap();
    let numbered = sorted("n.csv", "month,all\n10,13\n8,10\n9,11\n").unwrap();
    let long = sorted("l.csv", "month,user,demand\n10,all,13\n8,all,10\n9,all,11\n").unwrap();
    for series in [&wide, &numbered, &long] {
        let demands: Vec<u64> = (0..3).map(|quantum| series.demands(quantum).1[0]).collect();
        assert_eq!(demands, [10, 11, 13]);
    }
    assert_eq!(wide.label(0).to_string(), "2026-01");
    let weeks = sorted("weeks.csv", "month,all\nW10,13\nW08,10\nW09,11\n").unwrap();
    assert_eq!(weeks.label(0).to_string(), "W08");
    assert_fragments([
        (message(&folder, sorted("t.csv", "month,all\n2,1\n1,1\n2,3\n")), "t.csv: line 4".to_owned()),
        (message(&folder, sorted("m.csv", "time,all\n2,1\n")), "column month: is missing".to_owned()),
    ]);
}

/// Sorted as texts they would be in another order than that of time.
#[test]
fn names_that_do_not_tell_their_order_are_refused_and_not_sorted() {
    let folder = Folder::new();
    for [first, second] in [
        ["Jan", "Feb"],
        ["W9", "W10"],
        ["2026-9", "2026-10"],
        ["Q4-2025", "Q1-2026"],
        ["31.12.2026", "01.01.2027"],
        ["12/31/26", "1/1/27"],
    ] {
        let table = format!("quantum,all\n{first},1\n{second},2\n");
        let refused = message(&folder, read_proportions(&folder.file("names.csv", table), QUANTUM));
        let told = format!("{second}: follows {first}: names must rise as text does, letter by letter");
        assert!(refused.contains(&told), "{refused}");
    }
    let rising = folder.file("rising.csv", "quantum,all\na,1\nb,2\n");
    assert_eq!(read_proportions(&rising, QUANTUM).unwrap().label(1).to_string(), "b");
}

#[test]
fn members_are_named_with_their_first_and_last_quantum() {
    let folder = Folder::new();
    let table = "quantum,a,b\n5,1,0\n6,1,1\n7,0,1\n";
    let members = |rows: &str| {
        let series = read(&folder, "a.csv", table).unwrap();
        read_members(&folder.file("m.csv", format!("user,first,last\n{rows}")), series)
    };
    let joined = members("b,6,\na,,6\n").unwrap();
    assert_eq!([joined.membership(0), joined.membership(1)], [0..2, 1..3]);
    assert_fragments(
        [
            ("b,8,\n", "m.csv: line 2, column first = 8: is no quantum of the series, which has 5 to 7"),
            ("b,7,\n", "m.csv: user = b: demands 1 in quantum 6, when it is no member"),
            ("b,7,6\n", "m.csv: user = b: its first quantum must not come after its last"),
            ("c,,\n", "m.csv: line 2, column user = c: the series has no user with this id"),
        ]
        .map(|(rows, told)| (message(&folder, members(rows)), told.to_owned())),
    );
}

#[test]
fn a_series_of_which_only_proportions_matter_need_not_be_whole() {
    let folder = Folder::new();
    let read = |content: &str| read_proportions(&folder.file("a.csv", content), QUANTUM).unwrap();
    let of = |series: &DemandSeries| -> Vec<u64> {
        (0..series.quantum_count()).flat_map(|quantum| series.demands(quantum).1.to_vec()).collect()
    };
    assert_eq!(of(&read("quantum,all\n1,10\n2,25\n")), [10, 25], "whole numbers stay as they are");
    assert_eq!(of(&read("quantum,all\n1,1\n2,2.5\n3,0.0000004\n")), [1_000_000, 2_500_000]);
}
