//! JSON as fairplan writes and reads it: one user or class a line, finite numbers only, failures with their place.

use fairplan_instances::files::stated_format;
use fairplan_instances::wording::{TRUNCATED, printable};
use serde::de::Deserialize;
use serde::ser::Serialize;
use serde_json::ser::Formatter;
use std::fmt;
use std::io::{self, Write};

/// Members of objects that are arrays, down to this depth, put each element on a line of its own; anything deeper
/// stays on that line.
const DEEPEST_BROKEN_ARRAY: usize = 3;

/// Lines of one array that people may read along. Those after them are for programs and have no spaces between what they say, a
/// twelfth of a million users.
const LINES_WITH_SPACES: usize = 1_000;

/// Writes `document` with one member of the outermost object, one user, one class, one level a line, and a
/// newline at the end. Lines after the first thousand of an array have no spaces. A number that is not finite is an error of kind
/// `InvalidData`.
pub fn write_json<W: Write, T: Serialize + ?Sized>(mut out: W, document: &T) -> io::Result<()> {
    let layout = LineItems { depth: 0, in_array: 0, lines: 0, empty: true };
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut out, layout))?;
    out.write_all(b"\n")
}

struct LineItems {
    depth: usize,
    /// One bit a level of nesting, the lowest for the innermost: whether it is an array.
    in_array: u64,
    /// Elements so far of the array that puts each on a line of its own.
    lines: usize,
    empty: bool,
}

impl LineItems {
    fn line<W: ?Sized + Write>(&self, out: &mut W, first: bool) -> io::Result<()> {
        const SPACES: &[u8] = &[b' '; 2 * DEEPEST_BROKEN_ARRAY];
        out.write_all(if first { b"\n" } else { b",\n" })?;
        let indentation = if self.is_dense() { 0 } else { 2 * self.depth };
        out.write_all(&SPACES[..indentation.min(SPACES.len())])
    }

    /// Whether lines have no spaces any more.
    fn is_dense(&self) -> bool {
        self.lines > LINES_WITH_SPACES
    }

    /// Between two things on one line.
    fn separator(&self) -> &'static [u8] {
        if self.is_dense() { b"," } else { b", " }
    }

    fn open(&mut self, array: bool) {
        self.depth += 1;
        self.in_array = self.in_array << 1 | u64::from(array);
        self.empty = true;
    }

    /// Whether the array that is open puts each element on a line of its own.
    fn breaks_array(&self) -> bool {
        self.depth <= DEEPEST_BROKEN_ARRAY && self.in_array & 0b10 == 0
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, broken: bool, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        self.in_array >>= 1;
        if broken {
            self.lines = 0;
            if !self.empty {
                self.line(out, true)?;
            }
        }
        self.empty = false;
        out.write_all(bracket)
    }
}

impl Formatter for LineItems {
    // serde_json turns NaN and infinity into null; fairplan's formats have no null.
    fn write_null<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number of the result is not finite"))
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(true);
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if self.breaks_array() {
            self.lines = if first { 1 } else { self.lines + 1 };
            self.line(out, first)
        } else if first {
            Ok(())
        } else {
            out.write_all(self.separator())
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, self.breaks_array(), b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(false);
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if self.depth == 1 {
            self.line(out, first)
        } else if first {
            Ok(())
        } else {
            out.write_all(self.separator())
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.is_dense() { b":" } else { b": " })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, self.depth == 1, b"}")
    }
}

/// A result file that is not a valid document of its format. One line:
/// `result.json: users[3].tasks: invalid type: string "x", expected f64 at line 12 column 30`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedResult {
    /// The path as the user gave it.
    pub file: String,
    /// Where in the document (`users[3].tasks`); empty for the whole.
    pub place: String,
    /// What is wrong, with line and column.
    pub problem: String,
}

impl fmt::Display for MalformedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", printable(&self.file, 400))?;
        if !self.place.is_empty() {
            write!(f, "{}: ", printable(&self.place, 200))?;
        }
        f.write_str(&printable(&self.problem, 600))
    }
}

impl std::error::Error for MalformedResult {}

/// What serde_json says, a long value in it cut so that the line and column behind it are told.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(_) if error.is_eof() => format!("{TRUNCATED}{place}"),
        Some(told) => printable(told, 400) + &place,
        None => text,
    }
}

/// What is wrong with a file that holds no JSON at all, if it does not.
fn no_json(bytes: &[u8]) -> Option<&'static str> {
    match bytes.trim_ascii_start().first() {
        None => Some("the file is empty"),
        Some(b'{' | b'[') => None,
        Some(_) => Some("is no JSON, which begins with {; give a result that fairplan wrote as JSON"),
    }
}

/// The lines of a file of several documents, counted from 1, without empty ones.
pub(crate) fn numbered_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Reads a whole document. `file` is the name used in the message.
pub fn read_json<'a, T: Deserialize<'a>>(file: &str, bytes: &'a [u8]) -> Result<T, MalformedResult> {
    // Keeping track of the place costs time, so only a document that failed is read again with it.
    if let Ok(document) = serde_json::from_slice(bytes) {
        return Ok(document);
    }
    let malformed = |place: String, problem: String| MalformedResult { file: file.into(), place, problem };
    if let Some(problem) = no_json(bytes) {
        return Err(malformed(String::new(), problem.into()));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let document = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = error.path().to_string();
        malformed(if place == "." { String::new() } else { place }, problem(error.inner()))
    })?;
    deserializer.end().map_err(|error| malformed(String::new(), problem(&error)))?;
    Ok(document)
}

/// The `format` member of a document, found without reading what follows it.
pub fn format_of(file: &str, bytes: &[u8]) -> Result<String, MalformedResult> {
    let (format, outcome) = stated_format(bytes);
    format.ok_or_else(|| MalformedResult {
        file: file.into(),
        place: String::new(),
        problem: match (no_json(bytes), outcome) {
            (Some(problem), _) => problem.into(),
            (None, Err(error)) => self::problem(&error),
            (None, Ok(())) => "has no `format`; give a result that fairplan wrote".into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn written(document: &Value) -> String {
        let mut bytes = Vec::new();
        write_json(&mut bytes, document).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_user_and_every_level_has_a_line_of_its_own() {
        let document = json!({
            "certificate": {"levels": [{"prices": [1, 2]}, {"prices": []}]},
            "empty": [],
            "groups": [["a", "b"], ["c"]],
            "users": [{"id": "a", "placement": [{"x": 1}, {"x": 2}]}, {"id": "b", "placement": []}],
        });
        let expected = r#"{
  "certificate": {"levels": [
      {"prices": [1, 2]},
      {"prices": []}
    ]},
  "empty": [],
  "groups": [
    ["a", "b"],
    ["c"]
  ],
  "users": [
    {"id": "a", "placement": [{"x": 1}, {"x": 2}]},
    {"id": "b", "placement": []}
  ]
}
"#;
        assert_eq!(written(&document), expected);
    }

    #[test]
    fn what_nobody_reads_along_has_no_spaces() {
        let item = json!({"id": "a b", "at": [{"x": 1}, {"x": 2}]});
        let many = vec![item.clone(); LINES_WITH_SPACES + 2];
        let document = json!({"users": many, "with": [item]});
        let text = written(&document);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[LINES_WITH_SPACES + 1], r#"    {"at": [{"x": 1}, {"x": 2}], "id": "a b"},"#);
        assert_eq!(lines[LINES_WITH_SPACES + 2], r#"{"at":[{"x":1},{"x":2}],"id":"a b"},"#);
        assert_eq!(lines[LINES_WITH_SPACES + 4..][..2], ["  ],", r#"  "with": ["#]);
        assert_eq!(lines[LINES_WITH_SPACES + 6], r#"    {"at": [{"x": 1}, {"x": 2}], "id": "a b"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_value() {
        let document =
            json!({"a": {"b": [[1.5, [], {}], {"c": {}}]}, "t": "line\nbreak \" quote", "n": -0.1});
        assert_eq!(serde_json::from_str::<Value>(&written(&document)).unwrap(), document);
    }

    #[test]
    fn a_number_that_is_not_finite_is_not_written() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = write_json(Vec::new(), &[number]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn the_format_is_found_wherever_it_stands_and_its_absence_is_named() {
        assert_eq!(format_of("f", br#"{"format": "x", broken"#).unwrap(), "x");
        assert_eq!(format_of("f", br#"{"a": [1, {"format": "no"}], "format": "y"}"#).unwrap(), "y");
        assert_eq!(
            format_of("f", b"{}").unwrap_err().to_string(),
            "f: has no `format`; give a result that fairplan wrote"
        );
        assert_eq!(format_of("f", b" \n").unwrap_err().to_string(), "f: the file is empty");
        let told = "f: is no JSON, which begins with {; give a result that fairplan wrote as JSON";
        assert_eq!(format_of("f", b"hello there").unwrap_err().to_string(), told);
        assert_eq!(read_json::<Value>("f", b"hello there").unwrap_err().to_string(), told);
        assert!(format_of("f", b"[1]").unwrap_err().to_string().contains("expected an object"));
    }

    #[test]
    fn a_malformed_document_is_reported_with_its_place() {
        #[derive(serde::Deserialize, Debug)]
        #[allow(dead_code)]
        struct Row {
            tasks: f64,
        }
        #[derive(serde::Deserialize, Debug)]
        #[allow(dead_code)]
        struct Doc {
            users: Vec<Row>,
        }
        let message = |text: &str| read_json::<Doc>("r.json", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            message(r#"{"users": [{"tasks": 1}, {"tasks": "\u001b[0m"}]}"#),
            r#"r.json: users[1].tasks: invalid type: string "\u{1b}[0m", expected f64 at line 1 column 46"#
        );
        assert!(!message("{\"users\": {\"\u{9b}\": 1}}").contains('\u{9b}'));
        assert!(
            message(r#"{"users": [{"tasks": 1}, {"tas"#)
                .contains("the file is truncated: it ends inside a value")
        );
        assert!(message(r#"{"users": [{"tasks": 1e999}]}"#).contains("number out of range"));
        let long = message(&format!("{{\"users\": \"{}\"}}", "x".repeat(10_000_000)));
        assert!(long.len() < 600 && long.contains("… at line 1 column 100000"), "{}", &long[..300]);
        assert!(message(r#"{"users": []} trailing"#).contains("trailing characters at line 1 column 15"));
    }
}
