//! JSON that is refused, each with the place and value that its one line must name.

use super::*;

/// One valid file, from which each case changes one thing.
const VALID: &str = r#"{
"format": "fairplan.instance.v1",
"name": "n",
"resources": ["cpu", "memory"],
"server_classes": [
{"id": "a", "count": 3, "capacity": {"cpu": 2, "memory": 12}},
{"id": "b", "count": 1, "capacity": {"cpu": 8}}
],
"users": [
{"id": "u", "demand": {"cpu": 0.2, "memory": 1}},
{"id": "v", "demand": {"cpu": 1.0}, "weight": 5, "tasks": 40, "eligible": ["a", "b"], "rates": {"b": 1.5}}
]
}"#;

fn refusal(folder: &Folder, content: impl AsRef<[u8]>) -> String {
    message(folder, crate::files::read_instance(&folder.file("bad.json", content)))
}

#[test]
fn the_file_that_the_cases_change_is_valid() {
    let folder = Folder::new();
    crate::files::read_instance(&folder.file("valid.json", VALID)).unwrap();
}

/// Each place that holds a number: the text, its part that is the number, its path.
const NUMBERS: [(&str, &str, &str); 7] = [
    (r#""count": 3"#, "3", "server_classes[0].count"),
    (r#""cpu": 2,"#, "2", "server_classes[0].capacity.cpu"),
    (r#""cpu": 8"#, "8", "server_classes[1].capacity.cpu"),
    (r#""memory": 1}"#, "1", "users[0].demand.memory"),
    (r#""weight": 5"#, "5", "users[1].weight"),
    (r#""tasks": 40"#, "40", "users[1].tasks"),
    (r#""b": 1.5"#, "1.5", "users[1].rates.b"),
];

#[test]
fn each_bad_number_is_refused_at_each_place_with_its_path_and_value() {
    let folder = Folder::new();
    let mut cases = Vec::new();
    for (text, number, path) in NUMBERS {
        for (bad, problem) in [
            ("-1", "must be >= 0"),
            ("-0.5e-3", "must be >= 0"),
            ("1e999", "is outside the supported range"),
            ("1e-99", "is outside the supported range"),
            ("123456789012345678901", "has more than 19 significant digits"),
            ("0.92345678901234567891", "has more than 19 significant digits"),
            ("\"3\"", "must be a number, without quotes"),
            ("\"NaN\"", "must be a number, without quotes"),
            ("null", "must be a number"),
            ("true", "must be a number"),
            ("[1]", "must be a number"),
            ("{}", "must be a number"),
        ] {
            // Weights and rates are more than nothing.
            let is_positive = path.contains("weight") || path.contains("rates");
            let problem = if is_positive { problem.replace(">=", ">") } else { problem.to_owned() };
            let content = VALID.replacen(text, &text.replace(number, bad), 1);
            assert_eq!(content.matches(bad).count(), VALID.matches(bad).count() + 1);
            cases.push((refusal(&folder, content), format!("bad.json: {path} = {bad}: {problem}")));
        }
    }
    assert_fragments(cases);
}

#[test]
fn what_json_does_not_call_a_number_is_refused_with_line_and_column() {
    let folder = Folder::new();
    for (text, number, _) in NUMBERS {
        for bad in [
            "NaN",
            "nan",
            "Infinity",
            "-Infinity",
            "-inf",
            "0x10",
            ".5",
            "5.",
            "1e",
            "+1",
            "01",
            "1.2.3",
            "1,5",
        ] {
            let content = VALID.replacen(text, &text.replace(number, bad), 1);
            let line = content[..content.find(bad).unwrap()].matches('\n').count() + 1;
            let message = refusal(&folder, content);
            assert!(message.starts_with(&format!("bad.json: line {line}, column ")), "{bad}: {message}");
        }
    }
}

#[test]
fn fractions_and_absurd_counts_are_refused_where_things_are_counted() {
    let folder = Folder::new();
    for (from, to, expected) in [
        (r#""count": 3"#, r#""count": 1.5"#, "server_classes[0].count = 1.5: must be a whole number"),
        (r#""tasks": 40"#, r#""tasks": 0.1"#, "users[1].tasks = 0.1: must be a whole number"),
        (r#""count": 3"#, r#""count": 1e16"#, "server_classes[0].count = 10000000000000000: must be <= 1000"),
        (r#""tasks": 40"#, r#""tasks": 1e29"#, "users[1].tasks = 1e29: is too large"),
    ] {
        let message = refusal(&folder, VALID.replacen(from, to, 1));
        assert!(message.starts_with(&format!("bad.json: {expected}")), "{message}");
    }
}

#[test]
fn each_broken_form_names_its_place() {
    let folder = Folder::new();
    let long = "x".repeat(10 << 20);
    let deep = "[".repeat(10_000);
    let mut cases = Vec::new();
    let closed = format!("{deep}{}", "]".repeat(10_000));
    for (from, to, expected) in [
        // The version.
        (
            "instance.v1",
            "instance.v2",
            "format = fairplan.instance.v2: this is no instance; expected \"fairplan.instance.v1\"",
        ),
        (
            "\"fairplan.instance.v1\"",
            "\"\"",
            "format: this is no instance; expected \"fairplan.instance.v1\"",
        ),
        (
            "\"fairplan.instance.v1\"",
            "1",
            "line 2, column 11 (format): invalid type: integer `1`, expected a string",
        ),
        ("\"format\": \"fairplan.instance.v1\",", "", "format: this is no instance; expected"),
        (
            "instance.v1\",",
            "solution.v1\", \"value\": 1,",
            "format = fairplan.solution.v1: this is no instance",
        ),
        // Keys that are unknown, missing or there twice.
        (
            "\"name\": \"n\"",
            "\"names\": \"n\"",
            "line 3, column 7 (names): unknown field `names`, expected one of",
        ),
        ("\"name\": \"n\"", "\"\\u001b[31m\": 1", "unknown field `\\u{1b}[31m`"),
        (
            "\"name\": \"n\"",
            "\"format\": \"fairplan.instance.v1\"",
            "line 3, column 8: duplicate field `format`",
        ),
        ("\"name\": \"n\"", "\"name\": \"n\", \"name\": \"n\"", "line 3, column 19: duplicate field `name`"),
        ("\"name\": \"n\"", "\"resources\": [\"cpu\"]", "duplicate field `resources`"),
        ("\"name\": \"n\"", "\"server_classes\": []", "duplicate field `server_classes`"),
        ("\"name\": \"n\"", "\"users\": []", "duplicate field `users`"),
        ("\"resources\": [\"cpu\", \"memory\"],", "", "missing field `resources`"),
        ("\"name\": \"n\"", "\"name\": null", "(name): invalid type: null, expected a string"),
        ("\"name\": \"n\"", "\"name\": 7", "(name): invalid type: integer `7`, expected a string"),
        ("{\"id\": \"a\", ", "{", "server_classes[0]: missing field `id`"),
        ("\"count\": 3, ", "", "server_classes[0]: missing field `count`"),
        (", \"capacity\": {\"cpu\": 8}", "", "server_classes[1]: missing field `capacity`"),
        ("\"count\": 3", "\"count\": 3, \"count\": 3", "server_classes[0]: duplicate field `count`"),
        ("\"count\": 3", "\"count\": 3, \"id\": \"a\"", "server_classes[0]: duplicate field `id`"),
        (
            "\"count\": 3",
            "\"number\": 3",
            "server_classes[0].number: unknown field `number`, expected one of `id`, `count`, `names`, `domain`, `capacity`",
        ),
        ("{\"cpu\": 8}", "{\"cpu\": 8}, \"capacity\": {}", "server_classes[1]: duplicate field `capacity`"),
        ("{\"cpu\": 8}", "{\"cpu\": 8, \"cpu\": 8}", "server_classes[1].capacity.cpu: duplicate key"),
        ("{\"cpu\": 8}", "{\"cpu\": 8, \"c\\u0070u\": 8}", "server_classes[1].capacity.cpu: duplicate key"),
        ("{\"id\": \"u\", ", "{", "users[0]: missing field `id`"),
        (
            "{\"id\": \"v\", \"demand\": {\"cpu\": 1.0}, ",
            "{\"id\": \"v\", ",
            "users[1].demand: missing; state what one task needs, or the kinds of which it consists",
        ),
        ("\"weight\": 5", "\"weight\": 5, \"weight\": 5", "users[1]: duplicate field `weight`"),
        ("\"weight\": 5", "\"weight\": 5, \"id\": \"w\"", "users[1]: duplicate field `id`"),
        ("\"weight\": 5", "\"demand\": {}", "users[1]: duplicate field `demand`"),
        ("\"weight\": 5", "\"tasks\": 5", "users[1]: duplicate field `tasks`"),
        ("\"weight\": 5", "\"eligible\": []", "users[1]: duplicate field `eligible`"),
        ("\"weight\": 5", "\"rates\": {}", "users[1]: duplicate field `rates`"),
        (
            "\"weight\": 5",
            "\"weights\": 5",
            "users[1].weights: unknown field `weights`, expected one of `id`, `demand`, `profile`, `weight`",
        ),
        ("\"weight\": 5", "\"Weight\": 5", "users[1].Weight: unknown field `Weight`"),
        ("{\"b\": 1.5}", "{\"b\": 1.5, \"b\": 1.5}", "users[1].rates.b: duplicate key"),
        ("{\"cpu\": 1.0}", "{\"cpu\": 1.0, \"cpu\": 0}", "users[1].demand.cpu: duplicate key"),
        // The wrong kind of value.
        ("[\"cpu\", \"memory\"]", "{}", "resources: invalid type: map, expected an array"),
        ("[\"cpu\", \"memory\"]", "\"cpu\"", "resources: invalid type: string \"cpu\", expected an array"),
        (
            "[\"cpu\", \"memory\"]",
            "[\"cpu\", 7]",
            "resources[1]: invalid type: integer `7`, expected a string",
        ),
        ("[\"cpu\", \"memory\"]", "[]", "resources: name at least one resource"),
        ("[\"cpu\", \"memory\"]", "[\"cpu\", \"\"]", "resources[1]: a resource needs a name"),
        ("[\"cpu\", \"memory\"]", "[\"cpu\", \"memory\", \"cpu\"]", "resources[2] = cpu: duplicate resource"),
        (
            "[\"cpu\", \"memory\"]",
            "[\"cpu\", \"ram\"]",
            "server_classes[0].capacity.memory: unknown resource; there are cpu, ram",
        ),
        ("\"id\": \"a\"", "\"id\": 7", "server_classes[0].id: invalid type: integer `7`, expected a string"),
        ("\"id\": \"a\"", "\"id\": null", "server_classes[0].id: invalid type: null, expected a string"),
        ("\"id\": \"a\"", "\"id\": \"\"", "server_classes[0].id: a server class needs an id"),
        ("\"id\": \"b\"", "\"id\": \"a\"", "server_classes[1].id = a: duplicate id"),
        (
            "{\"cpu\": 8}",
            "[8]",
            "server_classes[1].capacity: invalid type: sequence, expected an object of names and numbers",
        ),
        ("{\"cpu\": 8}", "8", "server_classes[1].capacity: invalid type: integer `8`, expected an object"),
        (
            "{\"cpu\": 8}",
            "{\"gpu\": 8}",
            "server_classes[1].capacity.gpu: unknown resource; there are cpu, memory",
        ),
        (
            "{\"id\": \"b\", \"count\": 1, \"capacity\": {\"cpu\": 8}}",
            "[\"b\", 1, {\"cpu\": 8}]",
            "server_classes[1]: invalid type: sequence, expected an object",
        ),
        (
            "{\"id\": \"b\", \"count\": 1, \"capacity\": {\"cpu\": 8}}",
            "7",
            "server_classes[1]: invalid type: integer `7`, expected an object",
        ),
        (
            "{\"id\": \"u\", \"demand\": {\"cpu\": 0.2, \"memory\": 1}}",
            "[\"u\", {\"cpu\": 1}]",
            "users[0]: invalid type: sequence, expected an object",
        ),
        (
            "{\"id\": \"u\", \"demand\": {\"cpu\": 0.2, \"memory\": 1}}",
            "null",
            "users[0]: invalid type: null, expected an object",
        ),
        (
            "\"id\": \"v\"",
            "\"id\": 9007199254740993",
            "users[1].id: invalid type: integer `9007199254740993`, expected a string",
        ),
        ("\"id\": \"v\"", "\"id\": \"\"", "users[1].id: a user needs an id"),
        ("\"id\": \"v\"", "\"id\": \"u\"", "users[1].id = u: duplicate id"),
        ("\"id\": \"v\"", "\"id\": \"\\u0075\"", "users[1].id = u: duplicate id"),
        ("\"id\": \"v\"", "\"id\": \"\\ud800\"", "users[1].id: "),
        (
            "{\"cpu\": 1.0}",
            "[1.0]",
            "users[1].demand: invalid type: sequence, expected an object of names and numbers",
        ),
        ("{\"cpu\": 1.0}", "1.0", "users[1].demand: invalid type: floating point `1.0`, expected an object"),
        ("{\"cpu\": 1.0}", "{}", "users[1].demand: a task must need some resource"),
        ("{\"cpu\": 1.0}", "{\"cpu\": 0, \"memory\": -0}", "users[1].demand: a task must need some resource"),
        ("{\"cpu\": 1.0}", "{\"gpu\": 1}", "users[1].demand.gpu: unknown resource; there are cpu, memory"),
        ("{\"cpu\": 1.0}", "{\"\": 1}", "users[1].demand.: unknown resource"),
        ("\"weight\": 5", "\"weight\": 0", "users[1].weight = 0: must be > 0"),
        ("\"weight\": 5", "\"weight\": -5", "users[1].weight = -5: must be > 0"),
        ("{\"b\": 1.5}", "{\"b\": -1}", "users[1].rates.b = -1: must be > 0"),
        ("\"weight\": 5", "\"weight\": 0e999", "users[1].weight = 0: must be > 0"),
        ("[\"a\", \"b\"]", "\"a\"", "users[1].eligible: invalid type: string \"a\", expected a sequence"),
        ("[\"a\", \"b\"]", "null", "users[1].eligible: invalid type: null, expected a sequence"),
        ("[\"a\", \"b\"]", "[1]", "users[1].eligible[0]: invalid type: integer `1`, expected a string"),
        (
            "[\"a\", \"b\"]",
            "[\"a\", \"c\"]",
            "users[1].eligible[1] = c: there is no server class with this id",
        ),
        ("[\"a\", \"b\"]", "[\"a\", \"a\"]", "users[1].eligible = a: named twice"),
        ("{\"b\": 1.5}", "[1.5]", "users[1].rates: invalid type: sequence, expected an object"),
        ("{\"b\": 1.5}", "null", "users[1].rates: invalid type: null, expected an object"),
        ("{\"b\": 1.5}", "{\"c\": 1.5}", "users[1].rates.c = c: there is no server class with this id"),
        ("{\"b\": 1.5}", "{\"b\": 0}", "users[1].rates = 0: a rate must be > 0"),
        // The text itself.
        ("\"name\": \"n\"", "\"name\": \"\n\"", "line 4, column 0 (name): control character"),
        ("\"name\": \"n\"", "\"name\": \"\0\"", "line 3, column 10 (name): control character"),
        ("\"name\": \"n\"", "\"name\": \"\\x\"", "line 3, column 11 (name): invalid escape"),
        ("\"name\": \"n\"", "'name': \"n\"", "line 3, column 1: key must be a string"),
        ("\"name\": \"n\"", "\"name\" \"n\"", "line 3, column 8: expected `:`"),
        ("\"name\": \"n\",", "\"name\": \"n\"", "line 4, column 1: expected `,` or `}`"),
        ("\"name\": \"n\"", "// no comments\n\"name\": \"n\"", "line 3, column 1: key must be a string"),
        ("\"name\": \"n\"", "\0\"name\": \"n\"", "line 3, column 1: key must be a string"),
        ("{\"cpu\": 8}}\n]", "{\"cpu\": 8}},\n]", "line 8, column 1 (server_classes): expected value"),
        ("\n]\n}", "\n]\n}}", "line 13, column 2: trailing characters"),
        ("\n]\n}", "\n]\n} {}", "line 13, column 3: trailing characters"),
        ("\n]\n}", "\n]", "line 12, column 1: it ends inside a value: the file is truncated, or no instance"),
        ("\n]\n}", "\n}", "line 12, column 1 (users): expected `,` or `]`"),
        ("\"count\": 3", &format!("\"count\": {deep}"), "(server_classes): "),
        ("\"count\": 3", &format!("\"count\": {closed}"), "server_classes[0].count = [[[[[["),
        (
            "\"name\": \"n\"",
            &format!("\"name\": {closed}"),
            "(name): invalid type: sequence, expected a string",
        ),
        ("\"weight\": 5", &format!("\"{long}\": 5"), "users[1].xxxx"),
        ("\"id\": \"v\"", &format!("\"id\": \"v\", \"tasks\": \"{long}\""), "users[1]: duplicate field"),
        ("\"cpu\": 8", &format!("\"{long}\": 8"), "server_classes[1].capacity.xxx"),
        // What only the whole shows.
        ("\"count\": 3", "\"count\": 0", "users[0].demand.memory = 1: no server has any memory"),
    ] {
        assert!(VALID.contains(from), "{from}");
        let message = refusal(&folder, VALID.replacen(from, to, 1));
        assert!(message.starts_with("bad.json: "), "{message}");
        assert!(message.len() < 2_000, "a message of {} bytes for {expected}", message.len());
        cases.push((message, expected.to_owned()));
    }
    assert_fragments(cases);
}

#[test]
fn whole_files_that_are_no_instance_say_what_they_are() {
    let folder = Folder::new();
    let mut cases = Vec::new();
    for (content, expected) in [
        (&b""[..], "bad.json: the file is empty"),
        (b" \n\t ", "bad.json: the file is empty"),
        (b"\xef\xbb\xbf", "bad.json: the file is empty"),
        (b"[]", "bad.json: line 1: an instance is a JSON object"),
        (b"null", "bad.json: line 1: an instance is a JSON object"),
        (
            b"id,count,cpu\na,1,1\n",
            "an instance is a JSON object in UTF-8; give tables with --servers and --users",
        ),
        (b"PAR1....PAR1", "bad.json: line 1: an instance is a JSON object"),
        (b"{", "bad.json: line 1, column 1: it ends inside a value: the file is truncated, or no instance"),
        (b"{}", "bad.json: format: this is no instance; expected \"fairplan.instance.v1\""),
        (b"{\"users\": 5}", "bad.json: format: this is no instance"),
        (b"{\"format\": \"fairplan.instance.v1\"}", "missing field `resources`"),
        (b"{\"format\":\n \"\xff\"}", "bad.json: line 2, column 3: is not valid UTF-8"),
        // Text in UTF-16 is read as what it says.
        (
            b"\xff\xfe{\0",
            "bad.json: line 1, column 1: it ends inside a value: the file is truncated, or no instance",
        ),
        (b"\xff\xfe{", "bad.json: begins as text in UTF-16, but is not all of it"),
    ] {
        cases.push((refusal(&folder, content), expected.to_owned()));
    }
    assert_fragments(cases);
    let empty = |key: &str| {
        let (before, rest) = VALID.split_once(&format!("\"{key}\": [\n")).unwrap();
        format!("{before}\"{key}\": [{}", &rest[rest.find("\n]").unwrap()..])
    };
    assert!(refusal(&folder, empty("users")).contains("users: there are no users"));
    let classless =
        empty("server_classes").replace(r#""eligible": ["a", "b"], "rates": {"b": 1.5}"#, r#""tasks": 1"#);
    let classless = classless.replacen(r#""tasks": 40, "#, "", 1);
    assert!(refusal(&folder, classless).contains("server_classes: the cluster has no servers"));
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let folder = Folder::new();
    for end in 0..VALID.len() {
        let message = refusal(&folder, &VALID[..end]);
        assert!(message.starts_with("bad.json: "), "cut after {end} bytes: {message}");
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = Folder::new();
    let read = |name: &str| message(&folder, crate::files::read_instance(&folder.path(name)));
    assert_eq!(read("absent.json"), "absent.json: No such file or directory (os error 2)");
    std::fs::create_dir(folder.path("folder.json")).unwrap();
    assert_eq!(read("folder.json"), "folder.json: is a directory; name a file");
    assert_eq!(read("absent.json\0"), "absent.json\\u{0}: file name contained an unexpected NUL byte");
    let device = message(&folder, crate::files::read_instance("/dev/zero"));
    assert_eq!(device, "/dev/zero: is not a regular file; redirect it to standard input and name it -");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status();
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(read("pipe"), "pipe: is not a regular file; redirect it to standard input and name it -");
    }
}
