//! A trace reads back as it was written, in every form, and what is broken is refused with file, place and value.

use super::*;
use crate::files::tests::{Folder, assert_fragments, message};
use crate::generate::{RandomTraceOptions, random_trace};
use crate::trace::{Event, EventKind, EventSource, LATEST, NewTasks, Trace, TraceHeader};
use crate::{Decimal, ServerClass};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;

/// Everything a source says, in words.
fn told(source: &mut dyn EventSource) -> Result<Vec<String>, InstanceError> {
    let mut lines = vec![format!("{:?}", source.register().header())];
    let servers: Vec<_> = source.register().initial_servers().collect();
    lines.push(format!("{servers:?}"));
    while let Some(event) = source.next_event()? {
        let register = source.register();
        let Event { time, kind } = event;
        lines.push(match kind {
            EventKind::ServerRemoved(server) => {
                format!("{time} - {}", register.servers().get(server.index()))
            }
            EventKind::ServerAdded(server, shape) => {
                let units = register.shapes().units(shape);
                format!("{time} + {} {units:?}", register.servers().get(server.index()))
            }
            EventKind::ServerChanged(server, shape) => {
                let units = register.shapes().units(shape);
                format!("{time} ~ {} {units:?}", register.servers().get(server.index()))
            }
            EventKind::Submitted(tasks) => format!(
                "{time} {} {} {:?} {} {} {} {} {}",
                register.users().get(tasks.user.index()),
                source.job_id(),
                register.shapes().units(tasks.demand),
                tasks.job.0,
                tasks.count,
                tasks.duration,
                tasks.first,
                tasks.last
            ),
        });
    }
    assert_eq!(source.next_event().unwrap(), None, "nothing comes after the end");
    Ok(lines)
}

fn decimals(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Every kind of event and every field, with letters that need escapes.
fn example() -> Trace {
    let mut header = TraceHeader::new("a \"name\"\n", &["cpu", "µ"]);
    header.source = "by hand".into();
    header.resources[1].decimal_places = 18;
    let capacity = decimals(&["4", "2.000000000000000001"]);
    header.server_classes.push(ServerClass::new("c", 2, capacity.clone()));
    header.users = Some(vec![("u".into(), Decimal::ONE), ("v,\"\u{1}".into(), "2.5".parse().unwrap())]);
    header.counts = vec![("rows, all of them".into(), 7)];
    let mut trace = Trace::new(header).unwrap();
    trace.server_removed(0, "c/2").unwrap();
    trace.server_added(0, "s", &capacity).unwrap();
    trace.server_changed(0, "s", &decimals(&["0.000000001", "0"])).unwrap();
    let (demand, other) = (decimals(&["0.1", "0"]), decimals(&["1", "0.3"]));
    let tasks =
        NewTasks { user: "u", job: "j", demand: &demand, count: 3, duration: 1, rules: None, more: true };
    trace.submitted(1, tasks).unwrap();
    trace.submitted(1, NewTasks { user: "v,\"\u{1}", job: "k", more: false, ..tasks }).unwrap();
    trace.server_added(1_500_000, "c/2", &capacity).unwrap();
    let last = NewTasks { demand: &other, count: 1, duration: LATEST, more: false, ..tasks };
    trace.submitted(LATEST, last).unwrap();
    trace.submitted(LATEST, NewTasks { user: "v,\"\u{1}", ..last }).unwrap();
    trace
}

/// A file of each form that this build reads.
const FORMS: &[&str] = if cfg!(feature = "parquet") {
    &["t.jsonl", "t.jsonl.gz", "t.parquet"]
} else {
    &["t.jsonl", "t.jsonl.gz"]
};

fn written(source: &mut dyn EventSource, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_trace(source, name, &mut bytes).unwrap();
    if !name.ends_with("gz") {
        return bytes;
    }
    let mut compressor = GzEncoder::new(Vec::new(), Compression::default());
    compressor.write_all(&bytes).unwrap();
    compressor.finish().unwrap()
}

#[test]
fn every_form_reads_back_as_the_same_events_and_the_same_digest() {
    let trace = example();
    let folder = Folder::new();
    let expected = told(&mut trace.replay().unwrap()).unwrap();
    let digest = trace_sha256_hex(&mut trace.replay().unwrap()).unwrap();
    for name in FORMS {
        let path = folder.file(name, written(&mut trace.replay().unwrap(), name));
        assert_eq!(told(read_trace(&path).unwrap().as_mut()).unwrap(), expected, "{name}");
        assert_eq!(trace_sha256_hex(read_trace(&path).unwrap().as_mut()).unwrap(), digest, "{name}");
    }
}

#[test]
fn the_canonical_lines_are_these() {
    let text = String::from_utf8(written(&mut example().replay().unwrap(), "t.jsonl")).unwrap();
    let expected = r#"{"format": "fairplan.trace.v1", "name": "a \"name\"\n", "source": "by hand", "resources": ["cpu", "µ"], "decimal_places": {"µ": 18}, "server_classes": [{"id": "c", "count": 2, "capacity": {"cpu": 4, "µ": 2.000000000000000001}}], "users": [{"id": "u"}, {"id": "v,\"\u0001", "weight": 2.5}], "counts": {"rows, all of them": 7}}
{"time": 0, "event": "server_removed", "server": "c/2"}
{"time": 0, "event": "server_added", "server": "s", "capacity": {"cpu": 4, "µ": 2.000000000000000001}}
{"time": 0, "event": "server_changed", "server": "s", "capacity": {"cpu": 0.000000001}}
{"time": 0.000001, "event": "tasks_submitted", "user": "u", "job": "j", "demand": {"cpu": 0.1}, "duration": 0.000001, "count": 3, "more": true}
{"time": 0.000001, "event": "tasks_submitted", "user": "v,\"\u0001", "job": "k", "demand": {"cpu": 0.1}, "duration": 0.000001, "count": 3}
{"time": 1.5, "event": "server_added", "server": "c/2", "capacity": {"cpu": 4, "µ": 2.000000000000000001}}
{"time": 4611686018427.387904, "event": "tasks_submitted", "user": "u", "job": "j", "demand": {"cpu": 1, "µ": 0.3}, "duration": 4611686018427.387904}
{"time": 4611686018427.387904, "event": "tasks_submitted", "user": "v,\"\u0001", "job": "j", "demand": {"cpu": 1, "µ": 0.3}, "duration": 4611686018427.387904}
"#;
    assert_eq!(text, expected);
}

#[test]
fn a_job_is_open_while_more_tasks_are_announced_and_its_name_is_free_afterwards() {
    let trace = example();
    let submissions = trace.events().iter().filter_map(|event| match event.kind {
        EventKind::Submitted(tasks) => Some((tasks.job.0, tasks.first, tasks.last)),
        _ => None,
    });
    let expected = [(0, true, false), (1, true, true), (0, false, true), (2, true, true)];
    assert_eq!(submissions.collect::<Vec<_>>(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn json_lines_and_parquet_of_random_traces_agree(seed: u64, servers in 1u64..30, users in 1u64..9, jobs in 1u64..200, outages in 0u64..30) {
        let options = RandomTraceOptions { servers, users, jobs, outages, seconds: 600, seed };
        let source = || random_trace(&options).unwrap();
        let expected = told(&mut source()).unwrap();
        let folder = Folder::new();
        for name in FORMS {
            let path = folder.file(name, written(&mut source(), name));
            prop_assert_eq!(&told(read_trace(&path).unwrap().as_mut()).unwrap(), &expected);
        }
    }
}

const HEADER: &str = r#"{"format": "fairplan.trace.v1", "resources": ["cpu", "memory"], "server_classes": [{"id": "c", "count": 2, "capacity": {"cpu": 1}}]}"#;
const TASKS: &str = r#"{"time": 1, "event": "tasks_submitted", "user": "u", "job": "j", "demand": {"cpu": 0.5}, "duration": 2}"#;

/// What reading a file of these lines ends with.
fn refusal(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Folder::new();
    let path = folder.file(name, content);
    message(&folder, read_trace(&path).and_then(|mut source| told(source.as_mut())))
}

#[test]
fn lines_that_are_wrong_are_refused_with_line_place_and_value() {
    let with = |field: &str, value: &str| {
        let before = TASKS.replace('{', "{ ");
        let start = before.find(&format!("\"{field}\"")).unwrap();
        let rest = &before[start..];
        let end =
            if field == "demand" { rest.find("},").unwrap() + 1 } else { rest.find([',', '}']).unwrap() };
        format!("{}\"{field}\": {value}{}", &before[..start], &rest[end..])
    };
    let line = |event: &str| format!("{HEADER}\n{TASKS}\n{event}\n");
    let cases = [
        (with("time", "0.5"), "t.jsonl: line 3, time = 0.5: comes after 1; events must be sorted by time"),
        (with("time", "-1"), "t.jsonl: line 3, time = -1: must be >= 0"),
        (
            r#"{"time": 1, "ev"#.to_owned(),
            "column 15: it ends inside a value; where it is the last line, the file is truncated",
        ),
        (
            r#"{"time": 1."#.to_owned(),
            "it ends inside a value; where it is the last line, the file is truncated",
        ),
        (with("time", "NaN"), "t.jsonl: line 3, column 11 (time): expected value"),
        (with("time", "\"1\""), "t.jsonl: line 3, time = \"1\": must be a number, without quotes"),
        (with("time", "1e999"), "line 3, time = 1e999: is outside the supported range"),
        (with("time", "1.0000001"), "line 3, time = 1.0000001: has more than 6 decimal places"),
        (with("time", "5e12"), "line 3, time = 5000000000000: must be less than 4e12 seconds"),
        (with("time", "null"), "line 3, time = null: must be a number"),
        (with("duration", "0"), "line 3, duration: must be > 0"),
        (with("duration", "-0.5"), "line 3, duration = -0.5: must be > 0"),
        (with("duration", "0.0000001"), "line 3, duration = 0.0000001: has more than 6 decimal places"),
        (with("demand", "{}"), "line 3, demand: a task must need some resource"),
        (with("demand", r#"{"cpu": 0}"#), "line 3, demand: a task must need some resource"),
        (with("demand", r#"{"gpu": 1}"#), "line 3, demand.gpu: unknown resource; there are cpu, memory"),
        (with("demand", r#"{"cpu": 1, "cpu": 1}"#), "line 3, demand.cpu: duplicate key"),
        (with("demand", r#"{"cpu": -1}"#), "line 3, demand.cpu = -1: must be >= 0"),
        (
            with("demand", r#"{"cpu": 0.0000000001}"#),
            "line 3, demand.cpu = 1e-10: has more than 9 decimal places; round it or state more",
        ),
        (with("demand", r#"{"cpu": 5000000000}"#), "line 3, demand.cpu = 5000000000: is too large to count"),
        (with("user", "\"\""), "line 3, user: a user needs an id"),
        (with("user", "7"), "line 3, column 50 (user): invalid type: integer `7`, expected a string"),
        (with("job", "\"\""), "line 3, job: a job needs an id"),
        (with("job", "\"j\", \"count\": 0"), "line 3, count = 0: must be at least 1"),
        (with("job", "\"j\", \"count\": 1.5"), "line 3, count = 1.5: must be a whole number"),
        (with("job", "\"j\", \"count\": 4294967296"), "line 3, count = 4294967296: must be <= 4294967295"),
        (with("job", "\"j\", \"more\": 1"), "(more): invalid type: integer `1`, expected a boolean"),
        (with("job", "\"j\", \"more\": true"), "t.jsonl: job = j: its last tasks announce more"),
        (with("job", "\"j\", \"server\": \"s\""), "line 3, server: means nothing for tasks_submitted"),
        (with("job", "\"j\", \"user\": \"v\""), "line 3, column 72: duplicate field `user`"),
        (with("job", "\"j\", \"extra\": 1"), "(extra): unknown field `extra`"),
        (with("event", "\"finish\""), "line 3, event = finish: there are server_removed, server_added"),
        (TASKS.replace(", \"duration\": 2", ""), "line 3, duration: is missing from tasks_submitted"),
        (TASKS.replace("\"time\": 1, ", ""), "line 3, column 92: missing field `time`"),
        (TASKS[..60].to_owned(), "line 3, column 60"),
        ("[]".to_owned(), "line 3, column 0: invalid type: sequence, expected an object"),
        (format!("{TASKS}{TASKS}"), "line 3, column 104: trailing characters"),
        (HEADER.to_owned(), "line 3, column 9 (format): unknown field `format`"),
        (
            r#"{"time": 1, "event": "server_removed", "server": "c/1"}"#.to_owned(),
            "line 3, event: at one time, servers are removed, then added, then changed, then tasks submitted",
        ),
        (
            r#"{"time": 2, "event": "server_removed", "server": "c/3"}"#.to_owned(),
            "line 3, server = c/3: there is no such server at this time",
        ),
        (
            r#"{"time": 2, "event": "server_changed", "server": "x", "capacity": {"cpu": 1}}"#.to_owned(),
            "line 3, server = x: there is no such server at this time",
        ),
        (
            r#"{"time": 2, "event": "server_added", "server": "c/1", "capacity": {"cpu": 1}}"#.to_owned(),
            "line 3, server = c/1: is there already",
        ),
        (
            r#"{"time": 2, "event": "server_added", "server": "x"}"#.to_owned(),
            "line 3, capacity: is missing from server_added",
        ),
        (
            r#"{"time": 2, "event": "server_removed", "server": "c/1", "capacity": {}}"#.to_owned(),
            "line 3, capacity: means nothing for server_removed",
        ),
        (
            r#"{"time": 2, "event": "server_removed", "server": "c/1", "job": "j"}"#.to_owned(),
            "line 3, job: means nothing for server_removed",
        ),
        (format!("{TASKS}{}", " ".repeat(1 << 20)), "line 3: is longer than 1048576 bytes"),
    ];
    assert_fragments(cases.map(|(event, part)| (refusal("t.jsonl", line(&event)), part.to_owned())));
    assert!(
        refusal("t.jsonl", [HEADER.as_bytes(), b"\n\xff\n"].concat())
            .contains("line 2, column 1: is not valid UTF-8")
    );
    assert_eq!(refusal("t.jsonl", format!("{HEADER}\n\n \r\n{TASKS}\r\n\n")), "read without an error");
}

#[test]
fn headers_that_are_wrong_are_refused() {
    let header = |more: &str| format!(r#"{{"format": "fairplan.trace.v1", "resources": ["cpu"]{more}}}"#);
    let cases = [
        (String::new(), "t.jsonl: the file is empty"),
        ("cpu,memory\n".into(), "a trace is a JSON object in UTF-8"),
        ("{\"format\": \"fairplan.trace.v2\"}".into(), "format = fairplan.trace.v2: this is no trace"),
        ("{\"format\": \"fairplan.instance.v1\", \"users\": 3}".into(), "this is no trace"),
        (header(", \"extra\": 1"), "unknown field `extra`"),
        (header(", \"name\": \"a\", \"name\": \"b\""), "duplicate field `name`"),
        (header(", \"decimal_places\": {\"cpu\": 19}"), "decimal_places.cpu = 19: at most 18 are supported"),
        (header(", \"decimal_places\": {\"cpu\": 0.5}"), "decimal_places.cpu = 0.5: must be a whole number"),
        (header(", \"decimal_places\": {\"gpu\": 1}"), "decimal_places.gpu: unknown resource"),
        (header(", \"users\": [{\"id\": \"u\"}, {\"id\": \"u\"}]"), "users[1].id = u: duplicate id"),
        (header(", \"users\": [{\"id\": \"u\", \"weight\": 0}]"), "users[0].weight = 0: must be > 0"),
        (header(", \"users\": [{\"id\": \"\"}]"), "users[0].id: a user needs an id"),
        (
            header(", \"server_classes\": [{\"id\": \"c\", \"count\": 20000000, \"capacity\": {}}]"),
            "server_classes[0].count = 20000000: at most 10000000 servers",
        ),
        (
            header(", \"server_classes\": [{\"id\": \"c\", \"count\": 1, \"capacity\": {\"cpu\": 1e-10}}]"),
            "server_classes[0].capacity.cpu = 1e-10: has more than 9 decimal places",
        ),
        (header(", \"counts\": {\"a\": 1, \"a\": 2}"), "counts.a: duplicate key"),
        (header(", \"counts\": {\"a\": -1}"), "counts.a = -1: must be >= 0"),
        (header("").replace("[\"cpu\"]", "[]"), "resources: name at least one resource"),
        (header("").replace("[\"cpu\"]", "[\"cpu\", \"cpu\"]"), "resources[1] = cpu: duplicate resource"),
    ];
    assert_fragments(cases.map(|(text, part)| (refusal("t.jsonl", text), part.to_owned())));
    let stranger = format!("{}\n{}", header(", \"users\": [{\"id\": \"v\"}]"), TASKS);
    assert!(refusal("t.jsonl", stranger).contains("line 2, user = u: the header's users have no such id"));
}

#[test]
fn devices_read_back_and_what_is_no_whole_device_is_refused_by_name() {
    let trace = |size: &str, gpus: &str, event: &str| {
        let header = format!(
            r#"{{"format": "fairplan.trace.v1", "resources": ["cpu", "gpu"], "devices": {{"gpu": {size}}}, "server_classes": [{{"id": "c", "count": 1, "capacity": {{"cpu": 8, "gpu": {gpus}}}}}]}}"#
        );
        format!("{header}\n{event}\n")
    };
    let tasks = |gpu: &str| {
        format!(
            r#"{{"time": 1, "event": "tasks_submitted", "user": "u", "job": "j", "demand": {{"gpu": {gpu}}}, "duration": 2}}"#
        )
    };
    let folder = Folder::new();
    let text = trace("0.5", "2", &tasks("0.3"));
    let path = folder.file("t.jsonl", &text);
    let mut source = read_trace(&path).unwrap();
    assert_eq!(source.register().devices(), [0, 500_000_000]);
    assert_eq!(String::from_utf8(written(source.as_mut(), "t.jsonl")).unwrap(), text);
    let server = |event: &str, gpus: &str| {
        format!(r#"{{"time": 1, "event": "{event}", "server": "c/1", "capacity": {{"gpu": {gpus}}}}}"#)
    };
    let cases = [
        (trace("0", "2", ""), "devices.gpu = 0: a device has more than nothing"),
        (
            trace("0.5", "1.7", ""),
            "server_classes[0].capacity.gpu = 1.7: a server has whole devices, of 0.5 each and at most 1024",
        ),
        (trace("0.001", "2", ""), "server_classes[0].capacity.gpu = 2: a server has whole devices"),
        (
            trace("0.5", "2", &tasks("0.7")),
            "line 2, demand.gpu = 0.7: a task takes a part of one device or whole ones, and a device has 0.5",
        ),
        (
            trace("0.5", "2", &server("server_changed", "1.5")),
            "line 2, capacity.gpu = 1.5: the server had 4 devices, and tasks keep those that they are on",
        ),
    ];
    assert_fragments(cases.map(|(text, part)| (refusal("t.jsonl", text), part.to_owned())));
    let kept = trace("0.5", "2", &format!("{}\n{}", server("server_changed", "2"), tasks("1.5")));
    assert_eq!(refusal("t.jsonl", kept), "read without an error");
}

#[test]
fn a_job_of_two_users_is_refused() {
    let first = TASKS.replace("2}", "2, \"more\": true}");
    let second = TASKS.replace("\"u\"", "\"v\"");
    let text = refusal("t.jsonl", format!("{HEADER}\n{first}\n{second}\n"));
    assert_eq!(text, "t.jsonl: line 3, user = v: the job j is of user u");
}

#[test]
fn gzip_that_is_cut_anywhere_is_refused_after_the_events_before() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&written(&mut example().replay().unwrap(), "t.jsonl")).unwrap();
    let whole = encoder.finish().unwrap();
    for length in 1..whole.len() {
        let text = refusal("t.jsonl.gz", &whole[..length]);
        assert!(text.contains("truncated gzip") || text.contains("not gzip"), "{length}: {text}");
    }
    assert_eq!(refusal("t.jsonl.gz", &whole), "read without an error");
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::*;
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use std::sync::Arc;

    /// Parquet of these columns, with or without a header.
    fn table(header: Option<&str>, columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        use ::parquet::{arrow::ArrowWriter, file::metadata::KeyValue, file::properties::WriterProperties};
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let metadata =
            header.map(|header| vec![KeyValue::new("fairplan.trace.v1".into(), header.to_owned())]);
        let properties = WriterProperties::builder().set_key_value_metadata(metadata).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn texts(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from_iter(values.iter().map(|text| (!text.is_empty()).then_some(*text))))
    }

    fn numbers(values: &[f64]) -> ArrayRef {
        Arc::new(Float64Array::from(values.to_vec()))
    }

    /// Two submissions; `change` may spoil a column.
    fn submissions(change: (&str, ArrayRef)) -> Vec<u8> {
        let mut columns = vec![
            ("time", numbers(&[1.0, 2.0])),
            ("event", texts(&["tasks_submitted", "tasks_submitted"])),
            ("user", texts(&["u", "v"])),
            ("job", texts(&["i", "j"])),
            ("cpu", numbers(&[0.5, 0.25])),
            ("duration", numbers(&[10.0, 0.5])),
        ];
        match columns.iter_mut().find(|(name, _)| *name == change.0) {
            Some(column) => column.1 = change.1,
            None => columns.push(change),
        }
        table(Some(HEADER), columns)
    }

    #[test]
    fn a_table_of_ones_own_is_read_and_a_wrong_one_refused_with_row_and_column() {
        let cases = [
            (("count", numbers(&[1.0, 7.0])), "read without an error"),
            (("time", numbers(&[1.0, 0.5])), "t.parquet: row 2, column time = 0.5: comes after 1"),
            (("time", numbers(&[1.0, f64::NAN])), "row 2, column time = NaN: must be a finite number"),
            (("event", texts(&["tasks_submitted", ""])), "row 2, column event: there are server_removed"),
            (("cpu", numbers(&[0.5, -1.0])), "row 2, column cpu = -1: must be >= 0"),
            (("cpu", numbers(&[0.5, 0.1 + 0.2])), "row 2, column cpu = 0.30000000000000004: has more than 9"),
            (("cpu", numbers(&[0.5, 0.0])), "row 2, column demand: a task must need some resource"),
            (("user", texts(&["u", ""])), "row 2, column user: is missing from tasks_submitted"),
            (("more", texts(&["false", "yes"])), "row 2, column more = yes: must be true or false"),
            (("more", texts(&["true", "false"])), "t.parquet: job = i: its last tasks announce more"),
            (("server", texts(&["", "s"])), "row 2, column server: means nothing for tasks_submitted"),
            (("gpu", numbers(&[1.0, 1.0])), "schema, column gpu: unknown column"),
        ];
        assert_fragments(
            cases.map(|(change, part)| (refusal("t.parquet", submissions(change)), part.to_owned())),
        );
        let columns = || vec![("time", numbers(&[1.0])), ("event", texts(&["server_removed"]))];
        assert!(refusal("t.parquet", table(None, columns())).contains("metadata: has no fairplan.trace.v1"));
        let named = HEADER.replace("memory", "time");
        let text = refusal("t.parquet", table(Some(&named), columns()));
        assert!(text.contains("column time: is a column of its own"), "{text}");
        assert!(refusal("t.parquet", table(Some("{"), columns())).contains("t.parquet: line 1"));
    }

    #[test]
    fn a_resource_named_like_a_column_is_refused_when_written() {
        let trace = Trace::new(TraceHeader::new("", &["time"])).unwrap();
        let error = write_trace(&mut trace.replay().unwrap(), "t.parquet", &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("resources[0] = time: is another column"), "{error}");
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_refused() {
        let whole = written(&mut example().replay().unwrap(), "t.parquet");
        for length in (1..whole.len()).step_by(7) {
            let text = refusal("t.parquet", &whole[..length]);
            assert!(text.starts_with("t.parquet: "), "{length}: {text}");
        }
    }
}
