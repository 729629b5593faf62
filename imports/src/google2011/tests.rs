//! The slice of the trace gives what its rows say by hand, the whole trace gives the published figures, and a
//! row that is not of the format is refused with file, line, column and value.

mod bad_files;
mod traces;

use super::*;
use crate::real_files::real_file;
use crate::report::ImportReport;
use fairplan_instances::generate::{GoogleOptions, google};
use fairplan_instances::{ClassId, UserId};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use tempfile::TempDir;

const MACHINES: &str = include_str!("../../data/google2011_slice/machine_events.csv");
const TASKS_0: &str = include_str!("../../data/google2011_slice/task_events-00000.csv");
const TASKS_235: &str = include_str!("../../data/google2011_slice/task_events-00235.csv");

/// A folder with a machine file and task files `part-0`, `part-1`, ….
struct Files {
    folder: TempDir,
    options: Google2011Options,
}

impl Files {
    fn new(machines: impl AsRef<[u8]>, tasks: &[&[u8]]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Google2011Options::default();
        let mut files = Self { folder, options };
        files.options.machine_events = vec![files.file("machines", machines.as_ref())];
        for (part, content) in tasks.iter().enumerate() {
            let path = files.file(&format!("part-{part}"), content);
            files.options.task_events.push(path);
        }
        files
    }

    fn slice() -> Self {
        Self::new(MACHINES, &[TASKS_0.as_bytes(), TASKS_235.as_bytes()])
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().into()
    }

    fn import(&self) -> Result<(Instance, Google2011Report), InstanceError> {
        google_2011(&self.options).map_err(|failure| failure.error)
    }

    fn at(&mut self, at: u64) -> (Instance, Google2011Report) {
        self.options.at = at;
        self.import().unwrap()
    }

    /// The error's text with the folder's own path cut off.
    fn refusal(&self) -> String {
        let text = self.import().map(|(instance, _)| format!("accepted: {instance:?}"));
        let text = text.unwrap_or_else(|error| error.to_string());
        assert!(!text.contains('\n'), "an error is one line: {text}");
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn users(instance: &Instance) -> Vec<String> {
    let line = |user: fairplan_instances::User<'_>| {
        let id: String = user.id().chars().take(6).chain(user.id().chars().skip(44)).collect();
        format!("{id} {:?} {}", user.demand(), user.tasks().unwrap())
    };
    instance.users().map(line).collect()
}

fn classes(instance: &Instance) -> Vec<String> {
    instance.classes().iter().map(|class| format!("{} x {}", class.count, class.id)).collect()
}

#[test]
fn the_slice_at_time_0_is_what_its_rows_say() {
    let (instance, report) = Files::slice().import().unwrap();
    assert_eq!(
        classes(&instance),
        ["12 x cpu0.5-mem0.2493", "10 x cpu0.5-mem0.4995", "1 x cpu0.5-mem0.749", "1 x cpu1-mem1"]
    );
    assert_eq!(
        users(&instance),
        [
            // Two tasks of (0.125, 0.07446), two of (0.0625, 0.09277); three of the four SUBMIT rows are empty.
            "70s3v5 [0.09375, 0.083615] 4",
            "5vPHh8 [0.006248, 0.002548] 1",
            "anXVp+ [0.03125, 0.006218] 3",
            "5OFNgf [0.1594, 0.00795] 1",
            "wCn+gh [0.1125, 0.06384] 1",
            "nH2o2g [0.04688, 0.03571] 1",
            "nHinWY [0.0125, 0.0318] 2",
        ]
    );
    let expected = Google2011Report {
        machine_rows: 24,
        machines: 24,
        task_rows: 27,
        running: 13,
        waiting: 1,
        tasks_asking_nothing: 1,
        users: 7,
        shapes: 8,
        deviating_requests: 2,
        ..Default::default()
    };
    assert_eq!(report, expected);
    assert_eq!(
        report.to_string(),
        "24 rows of machine events read\n\
         27 rows of task events read\n\
         13 tasks running\n \
         1 task waiting\n \
         1 task left out: it asks for neither CPU nor memory\n \
         2 SCHEDULE rows with another request than their task's (its own is kept)\n"
    );
    let left_out: Vec<String> = ImportReport::from(&report).left_out().collect();
    assert_eq!(left_out, ["1 task left out: it asks for neither CPU nor memory"]);
}

#[test]
fn each_shape_of_a_user_can_be_a_user_of_its_own() {
    let mut files = Files::slice();
    files.options.grouping = "shape".parse().unwrap();
    let (instance, _) = files.import().unwrap();
    assert_eq!(
        users(&instance)[..3],
        [
            "70s3v5:cpu0.0625-mem0.09277 [0.0625, 0.09277] 2",
            "70s3v5:cpu0.125-mem0.07446 [0.125, 0.07446] 2",
            "5vPHh8:cpu0.006248-mem0.002548 [0.006248, 0.002548] 1",
        ]
    );
    assert_eq!(instance.user_count(), 8);
    assert_eq!("job".parse::<Grouping>().unwrap_err().to_string(), "group = job: choose user or shape");
}

#[test]
fn the_moment_is_included_and_evicted_tasks_wait_again() {
    let mut files = Files::slice();
    let mut state = |at| {
        let (instance, report) = files.at(at);
        let evicted = users(&instance).into_iter().find(|user| user.starts_with("anXVp+")).unwrap();
        (evicted, report.running, report.waiting)
    };
    let tasks = |count| format!("anXVp+ [0.03125, 0.006218] {count}");
    assert_eq!(state(779_239_471), (tasks(3), 14, 1));
    assert_eq!(state(779_239_472), (tasks(2), 13, 1), "EVICT");
    assert_eq!(state(779_239_480), (tasks(3), 13, 2), "SUBMIT again");
    assert_eq!(state(780_895_811), (tasks(3), 14, 1), "SCHEDULE again");
}

#[test]
fn finished_failed_and_killed_tasks_are_gone() {
    let mut files = Files::slice();
    let mut has = |at, user: &str| users(&files.at(at).0).iter().any(|line| line.starts_with(user));
    assert!(has(675_251_704, "0yO12L") && !has(675_251_705, "0yO12L"), "FINISH");
    assert!(has(922_770_370, "QhKaMU") && !has(922_770_371, "QhKaMU"), "FAIL");
    assert!(has(4_192_771_250, "nHinWY") && !has(4_192_771_251, "nHinWY"), "KILL");
}

#[test]
fn a_task_submitted_again_asks_for_what_it_says_then() {
    let mut files = Files::slice();
    let mut demand = |at| {
        let (instance, _) = files.at(at);
        users(&instance).into_iter().find(|user| user.starts_with("nH2o2g"))
    };
    assert_eq!(demand(2_741_331_557).unwrap(), "nH2o2g [0.04688, 0.03571] 1");
    assert_eq!(demand(2_741_331_558), None);
    assert_eq!(demand(2_741_331_561).unwrap(), "nH2o2g [0.07495, 0.02176] 1");
}

#[test]
fn updates_change_the_request_and_the_state() {
    let mut rows = String::new();
    for (time, event, cpu) in
        [(1, 0, "0.1"), (2, 7, "0.2"), (3, 1, "0.3"), (4, 8, "0.4"), (5, 7, ""), (6, 8, "")]
    {
        let memory = if cpu.is_empty() { "" } else { "0.5" };
        rows += &format!("{time},,7,0,,{event},u,1,1,{cpu},{memory},,\n");
    }
    let mut files = Files::new(MACHINES, &[rows.as_bytes()]);
    for (at, cpu, running) in [(1, 0.1, 0), (2, 0.2, 0), (3, 0.2, 1), (4, 0.4, 1), (5, 0.4, 0), (6, 0.4, 1)] {
        let (instance, report) = files.at(at);
        assert_eq!(instance.user(UserId(0)).demand_doubles(), [cpu, 0.5], "time {at}");
        assert_eq!((report.running, report.waiting), (running, 1 - running), "time {at}");
    }
}

#[test]
fn rows_whose_beginning_is_missing_are_counted() {
    let later = "5,,7,0,9,4,u,1,1,0.1,0.1,,\n6,,8,0,9,1,u,1,1,0.1,0.1,,\n7,,9,0,,0,u,1,1,,,,\n8,,9,1,,0,,1,1,0.1,0.1,,\n";
    let (instance, report) = Files::new(MACHINES, &[later.as_bytes()]).at(8);
    assert_eq!(users(&instance), ["u [0.1, 0.1] 1"]);
    let counts =
        (report.ends_unseen, report.starts_unseen, report.tasks_without_request, report.tasks_without_user);
    assert_eq!((counts, report.running, report.waiting), ((1, 1, 1, 1), 1, 2));
}

#[test]
fn a_machine_without_a_capacity_is_left_out_until_a_row_states_one() {
    let mut files = Files::slice();
    let (before, _) = files.at(113_019_603_441);
    let (instance, report) = files.at(113_019_603_442);
    assert_eq!((report.machines_without_capacity, report.machines), (1, before.server_count()));
    assert_eq!(classes(&instance), classes(&before));
    let (after, report) = files.at(113_019_605_712);
    assert_eq!((report.machines_without_capacity, after.server_count()), (0, before.server_count() + 1));
    let (removed, _) = files.at(212_450_451_729);
    assert_eq!(removed.server_count(), 25, "one more was added, one removed");
}

#[test]
fn last_shapes_take_every_machine_once_with_its_last_capacity() {
    let mut files = Files::slice();
    files.options.last_shapes = true;
    let (instance, report) = files.import().unwrap();
    assert_eq!((report.machine_rows, report.machines), (128, 26));
    // 1841541 grows from 0.2493 to 0.4995 and 3349480405 from 0.749 to 0.9678 at the end of the trace.
    let memory = |id: &str| instance.class_named(id).map(|ClassId(class)| instance.classes()[class].count);
    assert_eq!(memory("cpu0.5-mem0.9678"), Some(1));
    assert_eq!(memory("cpu0.5-mem0.749"), None);
    assert_eq!(memory("cpu0.5-mem0.4995"), Some(12));
}

#[test]
fn gzip_of_several_members_and_several_parts_are_read_whole() {
    let (head, tail) = TASKS_0.split_at(TASKS_0.match_indices('\n').nth(20).unwrap().0 + 1);
    let members = [gzip(head.as_bytes()), gzip(tail.as_bytes())].concat();
    let mut one = Files::new(gzip(MACHINES.as_bytes()), &[&members, TASKS_235.as_bytes()]);
    let mut parts = Files::new(MACHINES, &[head.as_bytes(), tail.as_bytes(), TASKS_235.as_bytes()]);
    for at in [0, 800_000_000, 1_182_648_333_890] {
        let (expected, got) = (Files::slice().at(at), [one.at(at), parts.at(at)]);
        for (instance, report) in got {
            assert_eq!((users(&instance), report), (users(&expected.0), expected.1.clone()));
        }
    }
}

#[test]
fn nothing_after_the_moment_is_read() {
    let broken = format!("{TASKS_0}this is no row\n");
    let mut files = Files::new(MACHINES, &[broken.as_bytes(), b"nor this"]);
    assert_eq!(users(&files.at(5_000_000_000).0), users(&Files::slice().at(5_000_000_000).0));
    files.options.at = u64::MAX;
    assert!(files.refusal().starts_with("part-0: line 51: 1 columns instead of 13"), "{}", files.refusal());
}

/// A file of the whole trace, or a printed reason why there is none.
fn whole_trace(path: &str) -> Option<String> {
    real_file(&format!("google2011/{path}"))
}

fn whole_options() -> Option<Google2011Options> {
    Some(Google2011Options {
        machine_events: vec![whole_trace("machine_events/part-00000-of-00001.csv.gz")?],
        task_events: vec![whole_trace("task_events/part-00000-of-00500.csv.gz")?],
        ..Default::default()
    })
}

#[test]
fn the_whole_trace_at_time_0_has_the_published_tasks_and_users() {
    let Some(options) = whole_options() else { return };
    let (instance, report) = google_2011(&options).unwrap();
    let expected = Google2011Report {
        machine_rows: 12_477,
        machines: 12_477,
        task_rows: 277_321,
        running: 132_982,
        waiting: 11_357,
        tasks_asking_nothing: 2,
        users: 507,
        shapes: 1_369,
        deviating_requests: 37_313,
        ..Default::default()
    };
    assert_eq!(report, expected);
    // The users that `generate google` ships are these, in the same order.
    let shipped = google(&GoogleOptions { finite: true, ..Default::default() }).unwrap();
    for (imported, shipped) in instance.users().zip(shipped.users()) {
        assert_eq!(
            (imported.demand(), imported.tasks()),
            (shipped.demand(), shipped.tasks()),
            "{}",
            shipped.id()
        );
    }
    assert_eq!(instance.user_count(), shipped.user_count());
    let by_shape = google_2011(&Google2011Options { grouping: Grouping::Shape, ..options }).unwrap().0;
    assert_eq!(by_shape.user_count(), 2_937);
}

#[test]
fn the_last_shapes_of_the_whole_trace_are_the_published_classes() {
    let Some(options) = whole_options() else { return };
    let (instance, report) = google_2011(&Google2011Options { last_shapes: true, ..options }).unwrap();
    assert_eq!((report.machine_rows, report.machines, report.machines_without_capacity), (37_780, 12_583, 0));
    assert_eq!(instance.classes(), google(&GoogleOptions::default()).unwrap().classes());
}
