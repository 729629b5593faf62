//! Tasks of the trace with the times they ran: by hand for each rule, whole against a count of our own, and refused.

use super::*;
use fairplan_instances::files::write_trace;
use fairplan_instances::trace::{EventKind, EventSource};
use std::collections::{BTreeMap, BTreeSet};

/// One row of task events: `time,job,index,event`, the rest as in the real trace.
fn row(text: &str) -> String {
    let cells: Vec<&str> = text.split(',').collect();
    let [time, job, index, event] = cells[..] else { panic!("{text}") };
    format!("{time},,{job},{index},,{event},user-of-{job},0,0,0.25,0.125,0.001,0\n")
}

/// The lines that the rows become, with a server of 1 cpu and 0.5 memory, each without what is the same in all.
fn lines(rows: &str, machines: &str) -> Vec<String> {
    let rows: String = rows.split_whitespace().map(row).collect();
    let files = Files::new(machines, &[rows.as_bytes()]);
    let options = Google2011TraceOptions {
        task_events: files.options.task_events.clone(),
        machine_events: files.options.machine_events.clone(),
        ..Default::default()
    };
    shown(&options).unwrap()
}

fn shown(options: &Google2011TraceOptions) -> Result<Vec<String>, InstanceError> {
    let mut bytes = Vec::new();
    write_trace(&mut google_2011_trace(options)?, "", &mut bytes)?;
    let text = String::from_utf8(bytes).unwrap();
    let same = [r#", "event": "tasks_submitted""#, r#", "demand": {"cpu": 0.25, "memory": 0.125}"#];
    let short = |line: &str| same.iter().fold(line.to_owned(), |line, part| line.replace(part, ""));
    let mut lines: Vec<String> = text.lines().map(short).collect();
    // Of the header only the counts.
    lines[0] = lines[0].split("\"counts\": ").nth(1).unwrap_or_default().to_owned();
    Ok(lines)
}

const MACHINE: &str = "0,1,0,x,1,0.5\n";
const ADDED: &str =
    r#"{"time": 0, "event": "server_added", "server": "1", "capacity": {"cpu": 1, "memory": 0.5}}"#;

#[test]
fn each_rule_for_a_tasks_time_is_kept() {
    let task = |time: &str, job: u32, duration: &str| {
        format!(r#"{{"time": {time}, "user": "user-of-{job}", "job": "{job}", "duration": {duration}}}"#)
    };
    let begin = 1_000_000_000;
    // The last row at 1100 s ends the window, whatever it says.
    let end = "1100000000,9,0,0";
    for (what, rows, expected, counted) in [
        (
            "SUBMIT, SCHEDULE, FINISH",
            "1000000000,1,0,0 1005000000,1,0,1 1012500000,1,0,4",
            task("0", 1, "7.5"),
            "",
        ),
        (
            "runs that end in EVICT and FAIL are added up",
            "1000000000,1,0,0 1001000000,1,0,1 1003000000,1,0,2 1003000000,1,0,0 1010000000,1,0,1 1011000000,1,0,3 \
             1011000000,1,0,0 1020000000,1,0,1 1024000000,1,0,5",
            task("0", 1, "7"),
            r#""times a task was submitted again: its runs are added up": 2"#,
        ),
        (
            "what runs at the last row ran until then",
            "1000000000,1,0,0 1002000000,1,0,1",
            task("0", 1, "98"),
            r#""tasks that run after the last row: their time until then counts": 1"#,
        ),
        (
            "a task first met by its end ran from the first row on",
            "1000000000,2,0,0 1004000000,1,0,4",
            task("0", 1, "4"),
            r#""tasks that ran before the first row: submitted at time 0, from when on their time counts": 1"#,
        ),
        (
            "a task first met by SCHEDULE waited before the first row",
            "1000000000,2,0,0 1004000000,1,0,1 1005000000,1,0,6",
            task("0", 1, "1"),
            r#""tasks that waited before the first row: submitted at time 0": 1"#,
        ),
        (
            "a task that never ran is left out",
            "1000000000,1,0,0 1004000000,1,0,5",
            String::new(),
            r#""tasks left out: they did not run in these rows": 2"#,
        ),
        (
            "a task that ran for no time is left out",
            "1000000000,1,0,0 1004000000,1,0,1 1004000000,1,0,4",
            String::new(),
            r#""tasks left out: they ran for no time": 1"#,
        ),
        (
            "the next SUBMIT ends a run whose end is missing",
            "1000000000,1,0,0 1001000000,1,0,1 1003000000,1,0,0 1005000000,1,0,5",
            task("0", 1, "2"),
            r#""runs without an end: the next row of the task ends them": 1"#,
        ),
        (
            "an end after the end is not used",
            "1000000000,1,0,0 1001000000,1,0,1 1003000000,1,0,3 1005000000,1,0,5",
            task("0", 1, "2"),
            r#""ends of tasks that had ended: not used": 1"#,
        ),
        (
            "rows of time 0 happened when the trace begins, at 600 s",
            "0,1,0,0 0,1,0,1 601000000,2,0,0 603000000,1,0,4",
            task("0", 1, "3"),
            "",
        ),
        (
            "where the rows of time 0 are there, an end of a task that is not in them is left out",
            "0,2,0,0 603000000,1,0,4",
            String::new(),
            r#""ends of tasks that were never there: not used": 1"#,
        ),
        (
            "equal tasks become one event, and the last of a job says so",
            "1000000000,1,0,0 1000000000,1,1,0 1001000000,1,0,1 1001000000,1,1,1 1002000000,1,0,4 1002000000,1,1,4",
            task("0", 1, "1").replace('}', ", \"count\": 2}"),
            "",
        ),
    ] {
        let from_zero = rows.starts_with("0,");
        let found = lines(&format!("{rows} {end}"), MACHINE);
        let tasks = found[2..].join("\n");
        assert_eq!((found[1].as_str(), tasks), (ADDED, expected), "{what}");
        assert!(found[0].contains(counted), "{what}: {}", found[0]);
        assert!(from_zero || rows.starts_with(&begin.to_string()), "{what}");
    }
}

#[test]
fn machines_come_change_and_go_within_the_window_only() {
    let machines = "\
0,1,0,x,1,0.5\n0,2,0,x,0.5,0.5\n0,3,0,x,,\n900000000,2,1,x,0.5,0.5\n1001000000,2,0,x,0.5,0.5\n\
1002000000,1,2,x,0.75,0.5\n1003000000,3,2,x,0.25,0.25\n1003000000,2,1,x,0.5,0.5\n1200000000,1,1,x,1,0.5\n";
    let found = lines("1000000000,1,0,0 1001000000,1,0,1 1100000000,1,0,4", machines);
    let capacity = |cpu: &str, memory: &str| format!(r#""capacity": {{"cpu": {cpu}, "memory": {memory}}}}}"#);
    let expected = [
        ADDED.to_owned(),
        r#"{"time": 0, "user": "user-of-1", "job": "1", "duration": 99}"#.to_owned(),
        format!(r#"{{"time": 1, "event": "server_added", "server": "2", {}"#, capacity("0.5", "0.5")),
        format!(r#"{{"time": 2, "event": "server_changed", "server": "1", {}"#, capacity("0.75", "0.5")),
        r#"{"time": 3, "event": "server_removed", "server": "2"}"#.to_owned(),
        format!(r#"{{"time": 3, "event": "server_added", "server": "3", {}"#, capacity("0.25", "0.25")),
    ];
    assert_eq!(found[1..], expected);
    assert!(found[0].contains(r#""rows of machine events": 8"#), "{}", found[0]);
    assert!(found[0].contains(r#"without a capacity: the machine is taken for absent": 1"#), "{}", found[0]);
}

#[test]
fn machines_that_tasks_ran_on_and_no_machine_event_names_are_counted() {
    let rows = "1000000000,1,0,0 1001000000,1,0,1 1002000000,1,0,4";
    let rows: String =
        rows.split_whitespace().map(|text| row(text).replace("0,,1,user", "0,7,1,user")).collect();
    let found = |machines: &str| {
        let files = Files::new(machines, &[rows.as_bytes()]);
        let (task_events, machine_events) =
            (files.options.task_events.clone(), files.options.machine_events.clone());
        shown(&Google2011TraceOptions { task_events, machine_events, ..Default::default() })
            .unwrap()
            .remove(0)
    };
    let counted = r#""machines that tasks ran on and no row of machine events names": 1"#;
    assert!(found(MACHINE).contains(counted), "{}", found(MACHINE));
    let with_it = found("0,1,0,x,1,0.5\n0,7,0,x,1,0.5\n");
    assert!(!with_it.contains("no row of machine events names"), "{with_it}");
}

#[test]
fn requests_and_users_are_taken_from_the_first_row_that_has_them() {
    let rows = "\
1000000000,2,1,0,,0,,0,0,,,,\n1000000000,,1,0,,1,u,0,0,0.5,0.25,0,0\n1001000000,,1,0,,8,u,0,0,0.75,0.25,0,0\n\
1002000000,,1,0,,4,u,0,0,0.5,0.25,0,0\n1000000000,,2,0,,0,,0,0,0.5,0.25,0,0\n1000000000,,3,0,,0,u,0,0,,,,\n\
1000000000,,4,0,,0,u,0,0,0,0,0,0\n1000000000,,5,0,,0,u,0,0,0.5,0.75,0,0\n1000000000,,5,0,,1,u,0,0,0.5,0.75,0,0\n";
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_by_key(|row| row.split(',').next().map(str::to_owned));
    let files = Files::new(MACHINE, &[rows.join("\n").as_bytes()]);
    let found = shown(&Google2011TraceOptions {
        task_events: files.options.task_events.clone(),
        machine_events: files.options.machine_events.clone(),
        ..Default::default()
    })
    .unwrap();
    let task =
        r#"{"time": 0, "user": "u", "job": "1", "demand": {"cpu": 0.5, "memory": 0.25}, "duration": 2}"#;
    assert_eq!(found[1..], [ADDED, task]);
    for count in [
        r#""tasks in the rows read": 5"#,
        r#""tasks left out: no row names their user": 1"#,
        r#""tasks left out: no row states a request": 1"#,
        r#""tasks left out: they ask for neither CPU nor memory": 1"#,
        r#""tasks left out: larger than every server": 1"#,
        r#""rows with another request than the first of their task: not used": 1"#,
        r#""rows made up by the makers of the trace for lost ones": 1"#,
    ] {
        assert!(found[0].contains(count), "{count}: {}", found[0]);
    }
}

#[test]
fn a_part_that_is_cut_or_out_of_order_and_a_machine_that_contradicts_itself_are_refused() {
    let rows = |rows: &str| rows.split_whitespace().map(row).collect::<String>();
    let (first, middle, last) =
        (rows("1000000000,1,0,0 1001000000,1,0,1"), rows("1002000000,1,0,4"), rows("1003000000,2,0,0"));
    let refusal = |parts: &[&[u8]], machines: &str| {
        let files = Files::new(machines, parts);
        let options = Google2011TraceOptions {
            task_events: files.options.task_events.clone(),
            machine_events: files.options.machine_events.clone(),
            ..Default::default()
        };
        let text =
            shown(&options).map(|lines| format!("accepted: {lines:?}")).unwrap_or_else(|e| e.to_string());
        text.replace(&format!("{}/", files.folder.path().display()), "")
    };
    let cut = &gzip(middle.as_bytes())[..20];
    let parts = |middle: &[u8]| refusal(&[first.as_bytes(), middle, last.as_bytes()], MACHINE);
    assert_eq!(parts(cut), "part-1: truncated gzip: the data ends early, or what follows it is not gzip");
    assert!(
        parts(&middle.as_bytes()[..30]).starts_with("part-1: line 1: 8 columns instead of 13"),
        "{}",
        parts(&middle.as_bytes()[..30])
    );
    assert!(
        parts(rows("1000500000,1,0,4").as_bytes())
            .contains("part-1: line 1, column 1 (time) = 1000500000: comes after")
    );
    assert!(parts(b"").contains("part-1: the file is empty"));
    assert!(
        parts(rows("1002000000,1,0,9").as_bytes())
            .contains("column 6 (event type) = 9: must be a whole number from 0 to 8")
    );
    let machines = refusal(&[first.as_bytes()], "0,1,0,x,1,0.5\n5,1,0,x,1,0.5\n");
    assert!(
        machines.contains("machines: line 2, column 2 (machine ID) = 1: is added but is already there"),
        "{machines}"
    );
    let two = refusal(&[format!("{first}1001000000,,1,1,,1,another,0,0,0.25,0.1,0,0\n1002000000,,1,1,,4,another,0,0,0.25,0.1,0,0\n").as_bytes()], MACHINE);
    assert!(two.contains("part-0: line 3, column 7 (user) = another: the job 1 is of another user"), "{two}");
    let missing = Google2011TraceOptions { task_events: vec!["no-such-file".into()], ..Default::default() };
    assert!(google_2011_trace(&missing).err().unwrap().to_string().starts_with("no-such-file: "));
}

/// What our importer should find, followed in the plainest way.
#[derive(Default)]
struct Plain {
    submitted: u64,
    first_is_end: bool,
    running_since: Option<u64>,
    ran: u64,
}

/// By (job, index) of a task: when it was submitted and for how long it ran, in microseconds.
fn plain(paths: &[String]) -> BTreeMap<(u64, u64), (u64, u64)> {
    use std::io::{BufRead, BufReader};
    let mut tasks: BTreeMap<(u64, u64), Plain> = BTreeMap::new();
    let (mut begins, mut ends) = (None, 0);
    for path in paths {
        let file = BufReader::new(flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()));
        for line in file.lines() {
            let line = line.unwrap();
            let cells: Vec<&str> = line.split(',').collect();
            let time: u64 = cells[0].parse::<u64>().unwrap().max(600_000_000);
            let begins = *begins.get_or_insert(time);
            ends = time;
            let key = (cells[2].parse().unwrap(), cells[3].parse().unwrap());
            let event = cells[5];
            let new = Plain {
                submitted: if event == "0" { time } else { begins },
                first_is_end: matches!(event, "2" | "3" | "4" | "5" | "6"),
                ..Default::default()
            };
            let known = tasks.contains_key(&key);
            let task = tasks.entry(key).or_insert(new);
            let since = task.running_since.or((!known && task.first_is_end).then_some(begins));
            match event {
                "1" => task.running_since = Some(since.unwrap_or(time)),
                "0" | "2" | "3" | "4" | "5" | "6" => {
                    task.ran += since.map_or(0, |since| time - since);
                    task.running_since = None;
                }
                _ => {}
            }
        }
    }
    let begins = begins.unwrap();
    let times = tasks.into_iter().map(|(key, task)| {
        let ran = task.ran + task.running_since.map_or(0, |since| ends - since);
        (key, (task.submitted - begins, ran))
    });
    times.collect()
}

#[test]
fn every_task_of_the_real_hours_is_imported_with_its_time_or_counted_as_left_out() {
    for parts in [&[0][..], &[235, 236, 237]] {
        let paths =
            parts.iter().map(|part| whole_trace(&format!("task_events/part-{part:05}-of-00500.csv.gz")));
        let Some(task_events) = paths.collect::<Option<Vec<_>>>() else { return };
        let Some(machines) = whole_trace("machine_events/part-00000-of-00001.csv.gz") else { return };
        let expected = plain(&task_events);
        let tasks = expected.len() as u64;
        let options =
            Google2011TraceOptions { task_events, machine_events: vec![machines], ..Default::default() };
        let mut trace = google_2011_trace(&options).unwrap();
        let counts: BTreeMap<String, u64> = trace.register().header().counts.iter().cloned().collect();
        let left_out: u64 =
            counts.iter().filter(|(what, _)| what.starts_with("tasks left out")).map(|(_, n)| n).sum();
        let mut found: BTreeMap<(String, u64, u64), u64> = BTreeMap::new();
        let mut imported = 0;
        let mut jobs = BTreeSet::new();
        while let Some(event) = trace.next_event().unwrap() {
            if let EventKind::Submitted(tasks) = event.kind {
                let job = trace.job_id().to_owned();
                assert_eq!(tasks.first, jobs.insert(job.clone()), "{job}");
                *found.entry((job, event.time, tasks.duration)).or_default() += u64::from(tasks.count);
                imported += u64::from(tasks.count);
            }
        }
        assert_eq!(counts["tasks in the rows read"], tasks);
        assert_eq!(imported + left_out, tasks, "{counts:?}");
        let mut plain: BTreeMap<(String, u64, u64), u64> = BTreeMap::new();
        for ((job, _), (submitted, ran)) in expected.into_iter().filter(|(_, (_, ran))| *ran > 0) {
            *plain.entry((job.to_string(), submitted, ran)).or_default() += 1;
        }
        // Two tasks of part 0 and one of the others ask for nothing: they ran, but are not in the trace.
        let lacking: u64 =
            plain.iter().map(|(key, n)| n - found.get(key).copied().unwrap_or(0).min(*n)).sum();
        let nothing = counts["tasks left out: they ask for neither CPU nor memory"];
        assert_eq!((lacking, found.keys().all(|key| plain.contains_key(key))), (nothing, true));
    }
}

#[test]
fn drawn_servers_are_those_that_generate_draws() {
    let files = Files::slice();
    let options = Google2011TraceOptions {
        task_events: files.options.task_events.clone(),
        servers: Some(DrawnServers { count: 1000, seed: 42 }),
        ..Default::default()
    };
    let trace = google_2011_trace(&options).unwrap();
    let drawn = google(&GoogleOptions { servers: Some(1000), seed: 42, ..Default::default() }).unwrap();
    assert_eq!(trace.register().header().server_classes, drawn.classes());
}

/// One row of job events: `time,job,event,user`, the rest as in the real trace.
fn job_row(text: &str) -> String {
    let cells: Vec<&str> = text.split(',').collect();
    let [time, job, event, user] = cells[..] else { panic!("{text}") };
    format!("{time},,{job},{event},{user},0,name,logical-name\n")
}

/// What rows of tasks and of jobs become together, or why not; rows of tasks as given, with one machine.
fn with_jobs(tasks: &str, job_rows: &str) -> Result<Vec<String>, String> {
    let tasks: String = tasks.split_whitespace().map(|row| row.to_owned() + "\n").collect();
    let files = Files::new(MACHINE, &[tasks.as_bytes()]);
    let job_rows: String = job_rows.split_whitespace().map(job_row).collect();
    let options = Google2011TraceOptions {
        job_events: vec![files.file("jobs", job_rows.as_bytes())],
        task_events: files.options.task_events.clone(),
        machine_events: files.options.machine_events.clone(),
        ..Default::default()
    };
    let shown = shown(&options);
    shown.map_err(|error| error.to_string().replace(&format!("{}/", files.folder.path().display()), ""))
}

#[test]
fn job_events_say_what_rows_of_tasks_leave_open() {
    let task = |time: &str, user: &str, job: u32, duration: &str| {
        format!(r#"{{"time": {time}, "user": "{user}", "job": "{job}", "duration": {duration}}}"#)
    };
    let rows = |rows: &str, user: &str| -> String {
        let row = |text: &str| row(text).replace("user-of-1,", &format!("{user},")).replace('\n', " ");
        rows.split_whitespace().map(row).collect()
    };
    // A row at 1000 s of another job begins the window, and one at 1100 s ends it.
    let (begin, end) = ("1000000000,9,0,0", "1100000000,9,0,0");
    for (what, tasks, jobs, expected, counted) in [
        (
            "the user is the job's where rows of tasks name none",
            rows("1001000000,1,0,0 1002000000,1,0,1 1004000000,1,0,4", ""),
            "1001000000,1,0,u 1004000000,1,4,u",
            task("1", "u", 1, "2"),
            r#""tasks whose user only job events name": 1"#,
        ),
        (
            "a task that still runs when its job is killed ends then",
            rows("1001000000,1,0,0 1002000000,1,0,1", "u"),
            "1001000000,1,0,u 1005500000,1,5,u",
            task("1", "u", 1, "3.5"),
            r#""tasks without the row that ends them: ended when their job did": 1"#,
        ),
        (
            "a task without its SUBMIT row was submitted when its job was",
            rows("1003000000,1,0,1 1004000000,1,0,4", "u"),
            "1002000000,1,0,u",
            task("2", "u", 1, "1"),
            r#""tasks without the row that submits them: submitted when their job was": 1"#,
        ),
        (
            "an end without a start in a job that was submitted after the first row is not used",
            rows("1003000000,1,0,4", "u"),
            "1002000000,1,0,u",
            String::new(),
            r#""ends of tasks that were never there: not used": 1"#,
        ),
        (
            "rows of tasks that come soon after the end of their job count as they are",
            rows("1001000000,1,0,0 1002000000,1,0,1 1004000235,1,0,5", "u"),
            "1001000000,1,0,u 1004000000,1,5,u",
            task("1", "u", 1, "2.000235"),
            "",
        ),
        (
            "rows of tasks that come long after the end of their job are not used",
            rows("1001000000,1,0,0 1002000000,1,0,1 1004000000,1,0,5 1008000000,1,0,1", "u"),
            "1001000000,1,0,u 1004000000,1,5,u",
            task("1", "u", 1, "2"),
            r#""rows of tasks more than a second after the end of their job: not used": 1"#,
        ),
        (
            "a job that is submitted again soon after it failed has not ended",
            rows(
                "1001000000,1,0,0 1002000000,1,0,1 1004000000,1,0,3 1005000000,1,0,0 1006000000,1,0,1 1009000000,1,0,4",
                "u",
            ),
            "1001000000,1,0,u 1004000000,1,3,u 1004500000,1,0,u 1009000000,1,4,u",
            task("1", "u", 1, "5"),
            r#""times a task was submitted again: its runs are added up": 2"#,
        ),
        (
            "jobs without tasks and tasks without job events are counted",
            rows("1001000000,1,0,0 1002000000,1,0,1 1004000000,1,0,4", "u"),
            "1001000000,7,0,u",
            task("1", "u", 1, "2"),
            // The job of the first and the last row, and that of the task.
            r#""jobs of which job events say nothing": 2, "jobs of which there are no rows of tasks": 1"#,
        ),
    ] {
        let all = format!("{} {tasks} {}", row(begin).trim_end(), row(end).trim_end());
        let found = with_jobs(&all, jobs).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found[2..].join("\n"), expected, "{what}");
        assert!(found[0].contains(counted), "{what}: {}", found[0]);
    }
}

#[test]
fn job_events_that_contradict_tasks_or_are_not_of_the_format_are_refused() {
    let tasks = row("1001000000,1,0,0");
    for (jobs, problem) in [
        ("1000000000,1,0,other", "part-0: line 1, column 7 (user) = user-of-1: the job 1 is of another user"),
        (
            "1001000000,1,0,user-of-1 1001000000,1,4,other",
            "jobs: line 2, column 5 (user) = other: the job 1 is of another user",
        ),
        ("1001000000,1,9,u", "jobs: line 1, column 4 (event type) = 9: must be a whole number from 0 to 8"),
        (
            "1001000000,2,0,u 1000000000,2,4,u",
            "jobs: line 2, column 1 (time) = 1000000000: comes after time 1001000000; rows must be sorted by time and \
             parts named in order",
        ),
        ("1001000000,1,0,", ""),
    ] {
        let found = with_jobs(&tasks, jobs);
        assert_eq!(found.err().unwrap_or_default(), problem, "{jobs}");
    }
    let files = Files::new(MACHINE, &[tasks.as_bytes(), b""]);
    let options = Google2011TraceOptions {
        job_events: vec![files.options.task_events[0].clone()],
        task_events: files.options.task_events[..1].to_vec(),
        ..Default::default()
    };
    let text = google_2011_trace(&options).err().unwrap().to_string();
    assert!(
        text.contains("line 1: 13 columns instead of 8 (time, missing info, job ID, event type, user"),
        "{text}"
    );
}

#[test]
fn job_events_of_the_real_hours_change_no_task_and_are_counted() {
    for (parts, rows, untold, without_tasks) in
        [(&[0][..], 10_704, None, Some(5)), (&[235, 236, 237], 8_346, Some(272), None)]
    {
        let real = |table: &str| {
            let paths =
                parts.iter().map(|part| whole_trace(&format!("{table}/part-{part:05}-of-00500.csv.gz")));
            paths.collect::<Option<Vec<_>>>()
        };
        let (Some(task_events), Some(job_events)) = (real("task_events"), real("job_events")) else { return };
        let alone = Google2011TraceOptions { task_events, ..Default::default() };
        let together = Google2011TraceOptions { job_events, ..alone.clone() };
        let (expected, found) = (shown(&alone).unwrap(), shown(&together).unwrap());
        assert_eq!(expected[1..], found[1..]);
        for (what, count) in [
            ("rows of job events", Some(rows)),
            ("jobs of which job events say nothing", untold),
            ("jobs of which there are no rows of tasks", without_tasks),
        ] {
            let told = format!("\"{what}\": {}", count.unwrap_or_default());
            assert_eq!(found[0].contains(&told), count.is_some(), "{what}: {}", found[0]);
        }
    }
}
