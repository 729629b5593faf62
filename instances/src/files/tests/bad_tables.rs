//! Tables that are refused, each with the file, line, column and value that its one line must name.

use super::*;

const SERVERS: &str = "id,count,cpu,memory\na,3,2,12\nb,1,8,\n";
const USERS: &str =
    "id,cpu,memory,weight,tasks,eligible,rates\nu,0.2,1,,,,\nv,1.0,,5,40,a;b,b=1.5\n\"w, x\",3,4,,,,\n";

fn refusal(folder: &Folder, servers: impl AsRef<[u8]>, users: impl AsRef<[u8]>) -> String {
    let (servers, users) = (folder.file("servers.csv", servers), folder.file("users.csv", users));
    message(folder, crate::files::read_tables(&servers, &users, None))
}

/// A case: a part of the valid table, what it becomes, and what the message must contain.
type Case<'a> = (&'a str, &'a str, &'a str);

fn check(cases: &[Case], refuse: impl Fn(&str, &str) -> String) {
    assert_fragments(cases.iter().map(|(from, to, expected)| {
        let text = refuse(from, to);
        assert!(text.len() < 2_000, "a message of {} bytes for {expected}", text.len());
        (text, (*expected).to_owned())
    }));
}

#[test]
fn the_tables_that_the_cases_change_are_valid() {
    assert_eq!(refusal(&Folder::new(), SERVERS, USERS), "read without an error");
}

#[test]
fn each_bad_number_is_refused_in_each_column_with_its_line_and_value() {
    let folder = Folder::new();
    let mut cases = Vec::new();
    for (cell, number, place) in [
        ("a,3,", "3", "servers.csv: line 2, column count"),
        ("a,3,2", "2", "servers.csv: line 2, column cpu"),
        ("b,1,8,", "8", "servers.csv: line 3, column cpu"),
        ("u,0.2", "0.2", "users.csv: line 2, column cpu"),
        ("0.2,1,", "1", "users.csv: line 2, column memory"),
        (",5,", "5", "users.csv: line 3, column weight"),
        (",40,", "40", "users.csv: line 3, column tasks"),
        ("b=1.5", "1.5", "users.csv: line 3, column rates"),
    ] {
        for (bad, problem) in [
            ("-1", "must be >= 0"),
            ("-0.5e-3", "must be >= 0"),
            ("NaN", "must be a finite number"),
            ("nan", "must be a finite number"),
            ("inf", "must be a finite number"),
            ("-Infinity", "must be a finite number"),
            ("1e999", "is outside the supported range"),
            ("1e-99", "is outside the supported range"),
            ("123456789012345678901", "has more than 19 significant digits"),
            ("0.92345678901234567891", "has more than 19 significant digits"),
            ("1.2.3", "is not a decimal number"),
            ("0x10", "is not a decimal number"),
            ("1e", "is not a decimal number"),
            (" 1", "is not a decimal number"),
            ("1_000", "is not a decimal number"),
            ("none", "is not a decimal number"),
            ("1\0", "is not a decimal number"),
            ("1/2", "is not a decimal number"),
        ] {
            // Weights and rates are more than nothing.
            let is_positive = place.contains("weight") || place.contains("rates");
            let problem = if is_positive { problem.replace(">=", ">") } else { problem.to_owned() };
            let changed = |table: &str| table.replacen(cell, &cell.replace(number, bad), 1);
            let (servers, users) = (changed(SERVERS), changed(USERS));
            assert!((servers == SERVERS) != (users == USERS), "{cell} stands in exactly one table");
            let quote = if bad.trim() == bad { "" } else { "\"" };
            let shown = format!("{quote}{}{quote}", bad.replace('\0', "\\u{0}"));
            cases.push((refusal(&folder, servers, users), format!("{place} = {shown}: {problem}")));
        }
    }
    assert_fragments(cases);
}

#[test]
fn each_broken_table_of_servers_names_its_place() {
    let folder = Folder::new();
    let wide: String = (0..1_000_000).map(|column| format!(",c{column}")).collect();
    let alike = ",cpu".repeat(1_000_000);
    let long = "9".repeat(10 << 20);
    let cases: &[Case] = &[
        ("id,count", "name,count", "servers.csv: line 1, column id: is missing; the table needs id, count"),
        ("id,count", "id,number", "servers.csv: line 1, column count: is missing"),
        ("id,count", "ID,count", "line 1, column id: is missing"),
        ("cpu,memory", "cpu,cpu", "servers.csv: line 1, column cpu: duplicate column"),
        ("id,count", "id,id", "servers.csv: line 1, column id: duplicate column"),
        ("cpu,memory", "cpu,", "servers.csv: line 1, column 4: has no name"),
        ("cpu,memory", "cpu,weight", "servers.csv: line 1, column weight: is a column of the users table"),
        ("cpu,memory", "cpu,tasks", "servers.csv: line 1, column tasks: is a column of the users table"),
        (
            "cpu,memory",
            "cpu,ram",
            "users.csv: line 1, column memory: unknown column; the servers' resources are cpu, ram",
        ),
        (
            "id,count,cpu,memory",
            "\"id,count,cpu,memory",
            "servers.csv: line 1: a quote that opens in this row is never closed",
        ),
        ("id,count,cpu,memory\na,3,2,12\nb,1,8,\n", "", "servers.csv: the file is empty"),
        ("id,count,cpu,memory\na,3,2,12\nb,1,8,\n", "\n\r\n\n", "servers.csv: the file is empty"),
        ("id,count,cpu,memory\n", "", "servers.csv: line 1, column id: is missing"),
        ("\na,3,2,12\nb,1,8,", "", "servers.csv: there are no servers"),
        (",cpu,memory\na,3,2,12\nb,1,8,", "\na,3\nb,1", "servers.csv: resources: name at least one resource"),
        ("a,3,2,12", "a,3,2,12,7", "servers.csv: line 2: the row has 5 fields, the header has 4"),
        ("b,1,8,", "b,1,8", "servers.csv: line 3: the row has 3 fields, the header has 4"),
        ("b,1,8,", ";", "servers.csv: line 3: the row has 1 fields, the header has 4"),
        ("a,3,2,12", ",3,2,12", "servers.csv: line 2, column id: a server class needs an id"),
        ("b,1,8", "a,1,8", "servers.csv: line 3, column id = a: duplicate id"),
        ("b,1,8", "\"a\",1,8", "servers.csv: line 3, column id = a: duplicate id"),
        ("a,3,2", "a,,2", "servers.csv: line 2, column count: is missing"),
        ("a,3,2", "a,1.5,2", "servers.csv: line 2, column count = 1.5: must be a whole number"),
        ("a,3,2", "a,1e16,2", "servers.csv: line 2, column count = 10000000000000000: must be <= "),
        ("a,3,2", "a,0,2", "users.csv: line 2, column memory = 1: no server has any memory"),
        ("a,3,2", "\"a\"x,3,2", "servers.csv: line 2: text after a closing quote"),
        ("a,3,2", "a\"x,3,2", "servers.csv: line 2: a quote that opens in this row is never closed"),
        ("a,3,2", "a\"x\",3,2", "servers.csv: line 2: a quote inside a field"),
        ("b,1,8,", "\"b,1,8,", "servers.csv: line 3: a quote that opens in this row is never closed"),
        ("a,3,2", &format!("a,{long},2"), "servers.csv: line 2, column count = 9999999999"),
        (
            "a,3,2",
            &format!("a,3,2{alike}"),
            "servers.csv: line 2: the row has 1000004 fields, the header has 4",
        ),
        ("cpu,memory", &format!("cpu{alike}"), "servers.csv: line 1, column cpu: duplicate column"),
        (
            "cpu,memory\na,3,2,12\nb,1,8,",
            &format!("cpu,memory{wide}"),
            "servers.csv: resources = 1000002 names: at most 1000",
        ),
    ];
    check(cases, |from, to| {
        assert!(SERVERS.contains(from), "{from}");
        refusal(&folder, SERVERS.replacen(from, to, 1), USERS)
    });
}

#[test]
fn each_broken_table_of_users_names_its_place() {
    let folder = Folder::new();
    let long = "x".repeat(10 << 20);
    let wide: String = (0..1_000_000).map(|column| format!(",c{column}")).collect();
    let cases: &[Case] = &[
        ("id,", "name,", "users.csv: line 1, column id: is missing"),
        (
            "weight",
            "weights",
            "users.csv: line 1, column weights: unknown column; the servers' resources are cpu, memory",
        ),
        ("weight", "count", "users.csv: line 1, column count: unknown column"),
        ("weight", "gpu", "users.csv: line 1, column gpu: unknown column"),
        ("weight", "\x1b[31m", "users.csv: line 1, column \\u{1b}[31m: unknown column"),
        ("weight", "tasks", "users.csv: line 1, column tasks: duplicate column"),
        ("weight", "cpu", "users.csv: line 1, column cpu: duplicate column"),
        ("weight", "", "users.csv: line 1, column 4: has no name"),
        ("weight", "Weight", "users.csv: line 1, column Weight: unknown column"),
        (USERS, "", "users.csv: the file is empty"),
        (USERS, "\u{feff}", "users.csv: the file is empty"),
        (USERS, "\0", "users.csv: line 1, column id: is missing"),
        (USERS, "{\"format\": 1}", "users.csv: line 1: a quote inside a field"),
        (USERS, "id,cpu\n", "users.csv: users: there are no users"),
        (USERS, "id,cpu\nu,1\nv,0\n", "users.csv: line 3: a task must need some resource"),
        (USERS, "id,cpu\r\nu,1\r\n\r\nv,x\r\n", "users.csv: line 4, column cpu = x: is not a decimal number"),
        (USERS, "id,cpu\n\n\nu,1\n\nv,x", "users.csv: line 6, column cpu = x: is not a decimal number"),
        (USERS, "id,cpu\n\"u\n\n\",1\nv,x", "users.csv: line 5, column cpu = x: is not a decimal number"),
        (USERS, "id,cpu\nu,1\n\"v\nw\",x", "users.csv: line 3, column cpu = x: is not a decimal number"),
        (USERS, "id\nu\n", "users.csv: line 2: a task must need some resource"),
        ("u,0.2,1", "u,,", "users.csv: line 2: a task must need some resource"),
        ("u,0.2,1", "u,0,-0.0", "users.csv: line 2: a task must need some resource"),
        ("u,0.2,1,,,,", "u,0.2,1,,,", "users.csv: line 2: the row has 6 fields, the header has 7"),
        ("u,0.2,1,,,,", "u,0.2,1,,,,,", "users.csv: line 2: the row has 8 fields, the header has 7"),
        ("u,0.2,1,,,,", "u;0.2;1;;;;", "users.csv: line 2: the row has 1 fields, the header has 7"),
        ("u,0.2", ",0.2", "users.csv: line 2, column id: a user needs an id"),
        ("u,0.2", "\"\",0.2", "users.csv: line 2, column id: a user needs an id"),
        ("v,1.0", "u,1.0", "users.csv: line 3, column id = u: duplicate id"),
        ("\"w, x\"", "\"u\"", "users.csv: line 4, column id = u: duplicate id"),
        ("\"w, x\"", "w, x", "users.csv: line 4: the row has 8 fields, the header has 7"),
        ("\"w, x\"", "\"w, x", "users.csv: line 4: a quote that opens in this row is never closed"),
        ("\"w, x\"", "w, x\"", "users.csv: line 4: a quote that opens in this row is never closed"),
        ("\"w, x\"", "\"w\" x", "users.csv: line 4: text after a closing quote"),
        ("u,0.2", "\"u,0.2", "users.csv: line 2: a quote that opens in this row is never closed"),
        ("u,0.2", "u\"\",0.2", "users.csv: line 2: a quote inside a field"),
        (",5,", ",0,", "users.csv: line 3, column weight = 0: must be > 0"),
        (",5,", ",-5,", "users.csv: line 3, column weight = -5: must be > 0"),
        (",40,", ",1.5,", "users.csv: line 3, column tasks = 1.5: must be a whole number"),
        (",40,", ",1e16,", "users.csv: line 3, column tasks = 10000000000000000: must be <= "),
        (
            ",40,",
            ",9007199254740993e9,",
            "users.csv: line 3, column tasks = 9.007199254740993e24: is too large",
        ),
        ("a;b", "a;c", "users.csv: line 3, column eligible = c: there is no server class with this id"),
        ("a;b", "a;a", "users.csv: line 3, column eligible = a: named twice"),
        ("a;b", "a;", "users.csv: line 3, column eligible: there is no server class with this id"),
        ("a;b", ";a", "users.csv: line 3, column eligible: there is no server class with this id"),
        ("a;b", "a; b", "users.csv: line 3, column eligible = \" b\": there is no server class"),
        ("a;b", "a|b", "users.csv: line 3, column eligible = a|b: there is no server class"),
        ("b=1.5", "b", "users.csv: line 3, column rates = b: is not class=rate; separate several by ;"),
        ("b=1.5", "b=", "users.csv: line 3, column rates: is not a decimal number"),
        ("b=1.5", "=1.5", "users.csv: line 3, column rates: there is no server class"),
        ("b=1.5", "c=1.5", "users.csv: line 3, column rates = c: there is no server class"),
        ("b=1.5", "b=1;b=2", "users.csv: line 3, column rates = b: named twice"),
        ("b=1.5", "b=1;b=1", "users.csv: line 3, column rates = b: named twice"),
        ("b=1.5", "b=0", "users.csv: line 3, column rates = 0: a rate must be > 0"),
        ("b=1.5", "b:1.5", "users.csv: line 3, column rates = b:1.5: is not class=rate"),
        ("u,0.2", &format!("u,{long}"), "users.csv: line 2, column cpu = xxxx"),
        ("u,0.2", &format!("u,{}", ",".repeat(10 << 20)), "users.csv: line 2: the row has 1048"),
        ("u,0.2", &format!("\"{long}"), "users.csv: line 2: a quote that opens in this row is never closed"),
        ("weight", &long, "users.csv: line 1, column xxxxx"),
        ("weight", &format!("weight{wide}"), "users.csv: line 1, column c0: unknown column"),
    ];
    check(cases, |from, to| {
        assert!(USERS.contains(from), "{from}");
        refusal(&folder, SERVERS, USERS.replacen(from, to, 1))
    });
}

#[test]
fn texts_that_are_not_utf8_are_refused_where_they_stand() {
    let folder = Folder::new();
    let bad = |table: &str, from: &str| {
        let at = table.find(from).unwrap();
        [&table.as_bytes()[..at], b"\xff", &table.as_bytes()[at + 1..]].concat()
    };
    assert_fragments(
        [
            (
                refusal(&folder, bad(SERVERS, "cpu"), USERS),
                "servers.csv: line 1: the name of column 3 is not valid UTF-8",
            ),
            (
                refusal(&folder, bad(SERVERS, "b,1"), USERS),
                "servers.csv: line 3, column id = \u{fffd}: is not valid UTF-8",
            ),
            (
                refusal(&folder, SERVERS, bad(USERS, "u,0.2")),
                "users.csv: line 2, column id = \u{fffd}: is not valid",
            ),
            (
                refusal(&folder, SERVERS, bad(USERS, "a;b")),
                "users.csv: line 3, column eligible = \u{fffd};b: is not valid",
            ),
            (
                refusal(&folder, SERVERS, bad(USERS, "b=1")),
                "users.csv: line 3, column rates = \u{fffd}=1.5: is not valid",
            ),
            (
                refusal(&folder, SERVERS, bad(USERS, "0.2")),
                "users.csv: line 2, column cpu = \u{fffd}.2: is not a decimal",
            ),
        ]
        .map(|(text, expected)| (text, expected.to_owned())),
    );
}

#[test]
fn byte_order_marks_crlf_blank_lines_and_a_missing_last_newline_change_nothing() {
    let folder = Folder::new();
    let read = |servers: String, users: String| {
        let (servers, users) = (folder.file("servers.csv", servers), folder.file("users.csv", users));
        json(&crate::files::read_tables(&servers, &users, None).unwrap())
    };
    let plain = read(SERVERS.into(), USERS.into());
    for (from, to) in [("\n", "\r\n"), ("\n", "\n\n"), ("\n", "\r\n\r\n")] {
        let changed = |table: &str| format!("\u{feff}{}", table.replace(from, to));
        assert_eq!(read(changed(SERVERS), changed(USERS)), plain, "{to:?}");
        let cut = |table: &str| table.replace(from, to).trim_end().to_owned();
        assert_eq!(read(cut(SERVERS), cut(USERS)), plain, "{to:?}");
    }
}

#[test]
fn two_tables_cannot_share_standard_input_or_be_absent() {
    let folder = Folder::new();
    let text = message(&folder, crate::files::read_tables("-", "-", None));
    assert_eq!(text, "-: --users: standard input can hold only one of the tables");
    let servers = folder.file("servers.csv", SERVERS);
    let text = message(&folder, crate::files::read_tables(&servers, &folder.path("users.csv"), None));
    assert_eq!(text, "users.csv: No such file or directory (os error 2)");
}

#[test]
fn spaces_behind_commas_and_lines_that_end_in_carriage_returns_alone_are_called_so() {
    let folder = Folder::new();
    let refused = refusal(&folder, SERVERS.replacen(',', ", ", 1), USERS);
    assert_eq!(
        refused,
        "servers.csv: line 1, column count: is missing; the table needs id, count; there are spaces around it: write the commas without any"
    );
    let refused = refusal(&folder, SERVERS, USERS.replacen(',', ", ", 1));
    let told = "there are spaces around it: write the commas without any";
    assert!(
        refused.starts_with("users.csv: line 1, column  cpu: unknown column") && refused.ends_with(told),
        "{refused}"
    );
    let refused = refusal(&folder, SERVERS.replacen("id,count", "ID,Count", 1), USERS);
    assert_eq!(
        refused,
        "servers.csv: line 1, column id: is missing; the table needs id, count; columns are named in small letters"
    );
    let refused = refusal(&folder, SERVERS.replace('\n', "\r"), USERS);
    assert_eq!(refused, "servers.csv: line 1: lines end in carriage returns alone: write line feeds");
    assert_eq!(refusal(&folder, SERVERS.replace('\n', "\r\n"), USERS), "read without an error");
}
