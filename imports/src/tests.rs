//! Importers of traces: what the rows of a small file become, what is left out, what is refused; and the real files, of
//! which every job is counted once.

use super::real_files::real_file as real;
use super::*;
use fairplan_instances::files::write_trace;
use fairplan_instances::trace::{EventSource, SortedTrace, Tallied, Tally};
use fairplan_instances::{Decimal, InstanceError};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The lines of the trace without their event's name, or the error without the folder's own path.
    fn shown(&self, trace: Result<SortedTrace, InstanceError>) -> Result<Vec<String>, String> {
        let mut bytes = Vec::new();
        trace
            .and_then(|mut trace| write_trace(&mut trace, "", &mut bytes))
            .map_err(|error| error.to_string().replace(&format!("{}/", self.0.path().display()), ""))?;
        let text = String::from_utf8(bytes).unwrap();
        Ok(text.lines().map(|line| line.replace(r#""event": "tasks_submitted", "#, "")).collect())
    }
}

/// What is in a trace, and what it counts under a phrase.
fn read(mut trace: SortedTrace) -> (Tally, impl Fn(&str) -> u64) {
    let mut passed = Tallied::new(&mut trace);
    while passed.next_event().unwrap().is_some() {}
    let tally = passed.tally();
    let counts = trace.register().header().counts.clone();
    (tally, move |what: &str| counts.iter().find(|(other, _)| other == what).map_or(0, |(_, count)| *count))
}

const NODES: &str = "\
sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,393216,8,G2\nn2,96000,393216,8,G2\n";
const PODS: &str = "\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
p0,12500,16384,1,460,,LS,Running,5,107,7\np1,1000,1024,2,1000,G2|T4,BE,Failed,0,3600,0\n\
p2,1000,1024,0,0,,BE,Pending,3,99,\np3,1000,1024,1,1000,,LS,Failed,4,9,9\np4,1000,1024,9,1000,,LS,Failed,4,9,8\n";

#[test]
fn alibabas_pods_run_on_parts_of_gpus_from_their_scheduling_to_their_deletion() {
    let folder = Folder::new();
    let nodes = folder.file("nodes", NODES);
    let lines = folder.shown(alibaba_gpu2023(&nodes, &folder.file("pods", PODS), false)).unwrap();
    let expected = [
        r#"{"time": 0, "user": "BE", "job": "p1", "demand": {"cpu": 1, "memory": 1024, "gpu": 2}, "duration": 3600}"#,
        r#"{"time": 5, "user": "LS", "job": "p0", "demand": {"cpu": 12.5, "memory": 16384, "gpu": 0.46}, "duration": 100}"#,
    ];
    assert_eq!(lines[1..], expected);
    let pods = folder.file("pods", &PODS.replace("p1,1000,1024,2,1000", "p1,1000,1024,2,700"));
    let of_devices = folder.shown(alibaba_gpu2023(&nodes, &pods, true)).unwrap();
    assert!(of_devices[0].contains(r#""devices": {"gpu": 1}"#), "{}", of_devices[0]);
    assert!(
        of_devices[0]
            .contains(r#""pods left out: they ask for more than one GPU, but not for whole ones": 1"#),
        "{}",
        of_devices[0]
    );
    assert_eq!(of_devices[1..], expected[1..]);
    for part in [
        r#""decimal_places": {"cpu": 1, "memory": 0, "gpu": 2}"#,
        r#"{"id": "cpu32-mem262144-gpu0", "count": 1, "capacity": {"cpu": 32, "memory": 262144}}"#,
        r#"{"id": "G2-cpu96-mem393216-gpu8", "count": 2, "capacity": {"cpu": 96, "memory": 393216, "gpu": 8}}"#,
        r#""pods": 5, "pods left out: never scheduled": 1, "pods left out: deleted when they were scheduled, or before": 1"#,
        r#""pods that allow certain models of GPU only: here any will do": 1"#,
        r#""tasks left out: larger than every server": 1"#,
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    for (from, to, part) in [
        ("12500", "-1", "pods: line 2, column cpu_milli = -1: must be >= 0"),
        ("12500", "x", "pods: line 2, column cpu_milli = x: is not a decimal number"),
        ("12500", "0.5", "pods: line 2, column cpu_milli = 0.5: must be a whole number"),
        ("12500", "", "pods: line 2, column cpu_milli: is empty; a number is needed"),
        ("Running,5", "Running,nan", "pods: line 2, column creation_time = nan: must be a finite number"),
        ("p1,", "p0,", "pods: line 3 = p0: duplicate id"),
        ("num_gpu", "gpus", "pods: line 1, column num_gpu: is missing; needed are name, cpu_milli"),
        ("gpu_spec", "qos", "column gpu_spec: is missing"),
        ("pod_phase", "qos", "pods: line 1, column qos: duplicate column"),
        ("p0,12500,", "p0,12500,1,", "pods: line 2: the row has 12 fields, the header has 11"),
    ] {
        let text = folder
            .shown(alibaba_gpu2023(&nodes, &folder.file("pods", &PODS.replacen(from, to, 1)), false))
            .unwrap_err();
        assert!(text.contains(part), "{text}\n lacks {part}");
    }
}

#[test]
fn every_real_pod_of_alibaba_is_imported_or_counted_as_left_out() {
    let Some(nodes) = real("alibaba-gpu2023/openb_node_list_all_node.csv") else { return };
    let Some(pods) = real("alibaba-gpu2023/openb_pod_list_default.csv") else { return };
    let trace = alibaba_gpu2023(&nodes, &pods, true).unwrap();
    let classes = &trace.register().header().server_classes;
    assert_eq!((classes.len(), classes.iter().map(|class| class.count).sum::<u64>()), (27, 1523));
    let (tally, count) = read(trace);
    assert_eq!((count("pods"), count("pods left out: never scheduled")), (8152, 897));
    assert_eq!((tally.tasks, tally.jobs), (8152 - 897, 8152 - 897));
}

const JOBS: &str = "\
timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-10 00:00:01,66.5,1,66.5,b\n2017-10-09 23:59:51,2,20,40,a\n\
2017-10-09 23:59:00,0,1,0,a\n2017-10-09 23:58:00,9,0,0,a\n\n";

#[test]
fn phillys_jobs_are_sorted_and_split_over_servers() {
    let folder = Folder::new();
    let lines = folder.shown(philly(&folder.file("jobs", JOBS), 5, 8, false)).unwrap();
    let expected = [
        r#"{"time": 0, "user": "a", "job": "line-3", "demand": {"gpu": 4}, "duration": 2, "more": true}"#,
        r#"{"time": 0, "user": "a", "job": "line-3", "demand": {"gpu": 8}, "duration": 2, "count": 2}"#,
        r#"{"time": 10, "user": "b", "job": "line-2", "demand": {"gpu": 1}, "duration": 66.5}"#,
    ];
    let mut events = lines[1..].to_vec();
    events[..2].sort_by_key(|line| line.contains("\"gpu\": 8"));
    let events: Vec<String> = events.iter().map(|line| line.replace(", \"more\": true", "")).collect();
    assert_eq!(events, expected.map(|line| line.replace(", \"more\": true", "")));
    for part in [
        r#""jobs in the rows": 4, "jobs left out: they ask for no GPU": 1, "jobs left out: they ran for no time": 1"#,
        r#"one task for each server full and one for the rest": 1"#,
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    for (from, to, part) in [
        (
            "2017-10-10 00:00:01",
            "2017-10-10",
            "jobs: line 2, column timestamp = 2017-10-10: must be a date and time",
        ),
        ("2017-10-10 00:00:01", "2017-02-30 00:00:01", "must be a date and time as in"),
        ("66.5,1", "-66.5,1", "jobs: line 2, column duration = -66.5: must be >= 0"),
        ("66.5,1", "inf,1", "jobs: line 2, column duration = inf: must be a finite number"),
        ("66.5,1", "66.5,1.5", "jobs: line 2, column num_gpus = 1.5: must be a whole number"),
        (",b\n", ",b\0\n", "read"),
        ("cluster", "vc", "jobs: line 1, column cluster: is missing"),
    ] {
        let text = folder.shown(philly(&folder.file("jobs", &JOBS.replacen(from, to, 1)), 5, 8, false));
        let text = text.map_or_else(|error| error, |_| "read".into());
        assert!(text.contains(part), "{text}\n lacks {part}");
    }
    let none = folder.file("jobs", "timestamp,duration,num_gpus,gpu_time,cluster\n");
    assert_eq!(folder.shown(philly(&none, 5, 8, false)).unwrap_err(), "jobs: there are no jobs");
}

#[test]
fn a_job_of_philly_on_several_servers_is_a_gang_of_equal_tasks_if_asked() {
    let folder = Folder::new();
    let lines = folder.shown(philly(&folder.file("jobs", JOBS), 5, 8, true)).unwrap();
    let expected = [
        r#"{"time": 0, "user": "a", "job": "line-3", "demand": {"gpu": 5}, "duration": 2, "count": 4, "rules": "gang-4"}"#,
        r#"{"time": 10, "user": "b", "job": "line-2", "demand": {"gpu": 1}, "duration": 66.5}"#,
    ];
    assert_eq!(lines[1..], expected);
    assert!(lines[0].contains(r#""rules": {"gang-4": {"gang": 4}}"#), "{}", lines[0]);
    assert!(lines[0].contains(r#"the fewest equal tasks, which start together": 1"#), "{}", lines[0]);
}

#[test]
fn every_real_job_of_philly_is_imported_with_all_its_gpus() {
    let Some(jobs) = real("philly/philly_jobs.csv.gz") else { return };
    for gangs in [false, true] {
        let mut trace = philly(&jobs, 352, 8, gangs).unwrap();
        let mut gpus = 0;
        while let Some(event) = trace.next_event().unwrap() {
            if let fairplan_instances::trace::EventKind::Submitted(tasks) = event.kind {
                gpus += trace.register().shapes().units(tasks.demand)[0] * u64::from(tasks.count);
            }
        }
        // The sum of num_gpus by awk.
        assert_eq!(gpus, 107_235);
        let (tally, count) = read(philly(&jobs, 352, 8, gangs).unwrap());
        assert_eq!((tally.jobs, count("jobs in the rows")), (82_247, 82_247));
        assert_eq!(trace.register().users().len(), 15);
    }
}

const LOG: &str = "\
; Computer: Toy\n; MaxNodes: 4\n;MaxProcs: 8\n\n\
1 0 -1 10 2 -1 -1 2 -1 -1 1 7 1 1 1 1 -1 -1\n2 5.5 3 20 -1 -1 -1 3 -1 -1 1 -1 1 1 1 1 -1 -1\n\
3 6 0 -1 2 -1 -1 2 -1 -1 5 7 1 1 1 1 -1 -1\n4 6 0 9 0 -1 -1 -1 -1 -1 1 7 1 1 1 1 -1 -1\n\
1 0 -1 4 2 -1 -1 2 -1 -1 2 7 1 1 1 1 -1 -1\n5 4 0 1 1 -1 -1 -1 -1 -1 0 7 1 1 1 1 -1 -1\n";

#[test]
fn jobs_of_a_workload_log_become_tasks_of_one_processor() {
    let folder = Folder::new();
    let lines = folder.shown(swf(&folder.file("log", LOG), None, false)).unwrap();
    let expected = [
        r#"{"time": 0, "user": "user-7", "job": "1", "demand": {"processors": 1}, "duration": 10, "count": 2}"#,
        r#"{"time": 4, "user": "user-7", "job": "5", "demand": {"processors": 1}, "duration": 1}"#,
        r#"{"time": 5.5, "user": "unknown", "job": "2", "demand": {"processors": 1}, "duration": 20, "count": 3}"#,
    ];
    assert_eq!(lines[1..], expected);
    for part in [
        r#""name": "Toy""#,
        r#"{"id": "server", "count": 4, "capacity": {"processors": 2}}"#,
        r#""jobs in the log": 5, "jobs left out: their run time is unknown or zero": 1"#,
        r#""jobs left out: their processors are unknown or zero": 1, "lines left out: parts of a job that has a line of its own": 1"#,
        r#""jobs without a known user: of the user unknown": 1, "jobs whose line comes after that of a later one": 1"#,
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    let gangs = folder.shown(swf(&folder.file("log", LOG), None, true)).unwrap();
    assert!(gangs[0].contains(r#""rules": {"gang-2": {"gang": 2}, "gang-3": {"gang": 3}}"#), "{}", gangs[0]);
    let named =
        |line: &str, rules: &str| format!("{}, \"rules\": \"{rules}\"}}", line.strip_suffix('}').unwrap());
    assert_eq!(
        gangs[1..],
        [named(expected[0], "gang-2"), expected[1].to_owned(), named(expected[2], "gang-3")]
    );
    for (from, to, part) in [
        (
            "1 0 -1 10",
            "1 0 -1 10 10",
            "log: line 6: has just the 18 fields of the Standard Workload Format, and lines before it have more than",
        ),
        ("1 0 -1 10", "1 0 -1", "log: line 5: has 17 of the 18 fields that a job"),
        ("1 0 -1 10", "1 -2 -1 10", "log: line 5, field 2 (submit time) = -2: must be >= 0"),
        ("1 0 -1 10", "1 -1 -1 10", "log: line 5, field 2 (submit time) = -1: must be known"),
        ("1 0 -1 10", "1 0 -1 nan", "log: line 5, field 4 (run time) = nan: must be a finite number"),
        ("1 0 -1 10", "x 0 -1 10", "log: line 5, field 1 (job number) = x: is not a decimal number"),
        (
            "1 0 -1 10 2",
            "1 0 -1 10 2.5",
            "field 5 (allocated processors) = 2.5: must be a whole number, or -1",
        ),
        ("1 0 -1 10 2", "1 0 -1 10 9999999999", "field 5 (allocated processors) = 9999999999: is too large"),
        ("2 5.5", "1 5.5", "log: line 6, field 1 (job number) = 1: duplicate id"),
        (
            "; MaxNodes: 4\n;MaxProcs: 8",
            "",
            "log: no comment states MaxProcs or MaxNodes; say with --servers and --processors",
        ),
    ] {
        let text =
            folder.shown(swf(&folder.file("log", &LOG.replacen(from, to, 1)), None, false)).unwrap_err();
        assert!(text.contains(part), "{text}\n lacks {part}");
    }
    // Logs with fields of their own behind those of the format.
    let more = |first: &str| {
        let jobs = LOG.lines().filter(|line| !line.starts_with(';') && !line.is_empty());
        let jobs: String = jobs.map(|line| format!("{line} {first} 3\n")).collect();
        folder.shown(swf(&folder.file("log", &format!("; MaxNodes: 4\n;MaxProcs: 8\n{jobs}")), None, false))
    };
    let wide = more("q_1d").unwrap();
    assert_eq!(wide[1..], expected);
    assert!(
        wide[0].contains(r#""lines with more than eighteen fields: those behind are left out": 6"#),
        "{}",
        wide[0]
    );
    let grid = LOG.replace(" 1 -1 -1\n", " 1 G0/site0 -1 -1 3\n");
    let other = folder.shown(swf(&folder.file("log", &grid), None, false)).unwrap_err();
    assert!(
        other.contains("log: line 5, field 17 (preceding job) = G0/site0: is no number, and the line has 20"),
        "{other}"
    );
    // What a trace does not carry is counted; a run time below zero is not known.
    let more = LOG.replace(
        "2 5.5 3 20 -1 -1 -1 3 -1 -1 1 -1 1 1 1 1 -1 -1",
        "2 5.5 3 20 -1 -1 900 3 -1 -1 1 -1 1 1 1 1 1 10",
    );
    let lines = folder
        .shown(swf(&folder.file("log", &more.replace("5 4 0 1 1", "5 4 0 -7 1")), None, false))
        .unwrap();
    for part in [
        r#""jobs left out: their run time is unknown or zero": 2"#,
        r#""jobs that wait for another: here they come when they were submitted": 1"#,
        r#""jobs whose memory is left out: servers have processors alone": 1"#,
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    // Times of the clock count from the beginning that is stated, or from the first job.
    let by_the_clock = LOG
        .replace("1 0 -1 10", "1 1700000000 -1 10")
        .replace("2 5.5", "2 1700000005.5")
        .replace(" 6 0", " 1700000006 0")
        .replace("1 0 -1 4", "1 1700000000 -1 4")
        .replace("5 4 0", "5 1700000004 0");
    let lines = folder.shown(swf(&folder.file("log", &by_the_clock), None, false)).unwrap();
    assert_eq!(lines[1..], expected);
    assert!(lines[0].contains(r#"here they come so long after the log begins": 5"#), "{}", lines[0]);
    let earlier = format!("; UnixStartTime: 1699999990\n{by_the_clock}");
    let lines = folder.shown(swf(&folder.file("log", &earlier), None, false)).unwrap();
    assert!(lines[1].starts_with(r#"{"time": 10, "user": "user-7", "job": "1""#), "{}", lines[1]);
    let given = || Some(EqualServers { count: 3, capacity: vec![Decimal::from(16)] });
    let lines = folder.shown(swf(&folder.file("log", LOG), given(), false)).unwrap();
    assert!(lines[0].contains(r#""count": 3, "capacity": {"processors": 16}"#), "{}", lines[0]);
    assert_eq!(
        folder.shown(swf(&folder.file("log", "; nothing\n"), given(), false)).unwrap_err(),
        "log: there are no jobs"
    );
}

#[test]
fn every_job_of_the_real_logs_is_imported_or_counted_as_left_out() {
    // Jobs and those without a run time by awk.
    for (file, servers, jobs, no_time, processors) in [
        ("swf/NASA-iPSC-1993-3.1-cln.swf.gz", 128, 18_239, 173, None),
        ("swf/lublin_256.synthetic.swf.gz", 256, 10_000, 0, None),
        ("swf/LCG.swf.gz", 24_515, 188_041, 521, Some(188_041 - 521)),
    ] {
        let Some(path) = real(file) else { return };
        let trace = swf(&path, None, false).unwrap();
        assert_eq!(trace.register().header().server_classes[0].count, servers, "{file}");
        let (tally, count) = read(trace);
        assert_eq!(count("jobs in the log"), jobs, "{file}");
        assert_eq!(count("jobs left out: their run time is unknown or zero"), no_time, "{file}");
        assert_eq!(tally.jobs, jobs - no_time, "{file}");
        assert!(processors.is_none_or(|processors| tally.tasks == processors), "{file}: {}", tally.tasks);
    }
}

const SIZES: &str = "1,1.75 b\n2,3.5 g\n";
const INTERVALS: &str = "0 0\n300 1\n600 2\n900 2\n1200 3\n";

fn azure(
    folder: &Folder,
    arrivals: &str,
    durations: &str,
    users: Option<u64>,
) -> Result<Vec<String>, String> {
    let options = AzureV1Options {
        arrivals: folder.file("arrivals", arrivals),
        durations: folder.file("durations", durations),
        sizes: folder.file("sizes", SIZES),
        intervals: folder.file("intervals", INTERVALS),
        users,
        servers: EqualServers { count: 4, capacity: vec![Decimal::from(16), Decimal::from(64)] },
    };
    folder.shown(azure_v1(&options))
}

#[test]
fn azures_machines_stay_for_the_middle_of_their_bin() {
    let folder = Folder::new();
    let (arrivals, durations) =
        ("300 b,b,|,g,|,\n900 b,g,|,|,b,\n", "300 U0,U0,|,C2,|,\n900 U3,U1,|,|,U1,\n");
    let lines = azure(&folder, arrivals, durations, None).unwrap();
    let (b, g) = (r#""demand": {"cpu": 1, "memory": 1.75}"#, r#""demand": {"cpu": 2, "memory": 3.5}"#);
    let expected = [
        format!(r#"{{"time": 0, "user": "user-1", "job": "batch-1", {b}, "duration": 150, "count": 2}}"#),
        format!(r#"{{"time": 0, "user": "user-2", "job": "batch-2", {g}, "duration": 900}}"#),
        format!(
            r#"{{"time": 600, "user": "user-3", "job": "batch-3", {b}, "duration": 1350, "more": true}}"#
        ),
        format!(r#"{{"time": 600, "user": "user-3", "job": "batch-3", {g}, "duration": 450}}"#),
        format!(r#"{{"time": 600, "user": "user-4", "job": "batch-4", {b}, "duration": 450}}"#),
    ];
    assert_eq!(lines[1..], expected);
    let counts = r#""counts": {"virtual machines that arrive": 6, "batches of a tenant": 4, "batches without a machine: left out": 1, "machines still there at the end: the time until then counts": 1}"#;
    assert!(lines[0].contains(counts), "{}", lines[0]);
    let dealt = azure(&folder, arrivals, durations, Some(3)).unwrap();
    assert!(dealt[5].contains(r#""user": "user-1", "job": "batch-4""#), "{}", dealt[5]);
    for (arrivals, durations, part) in [
        ("300 b,\n", "600 U0,\n", "durations: line 1: must be of time 300, as the line of the arrivals"),
        ("300 b,\n", "300 |,\n", "durations: line 1 = item 1: does not match the arrivals"),
        ("300 b,b,\n", "300 U0,\n", "durations: line 1 = item 2: is missing; there are more arrivals"),
        ("300 b,\n", "300 U0,U0,\n", "durations: line 1: has more items"),
        ("300 b,\n", "300 U0,\n600 U0,\n", "durations: line 2: has no line of arrivals"),
        ("300 z,\n", "300 U0,\n", "arrivals: line 1 = item 1 = z: is no letter of the sizes"),
        ("300 b,\n", "300 U9,\n", "durations: line 1 = item 1: is in none of the bins"),
        ("300 b,\n", "300 X1,\n", "durations: line 1 = item 1: must be U or C and a bin"),
        (
            "300 b,\n200 b,\n",
            "300 U0,\n200 U0,\n",
            "arrivals: line 2 = 200: comes after time 300; time goes backwards",
        ),
        ("x b,\n", "x U0,\n", "arrivals: line 1 = x: must be a whole number of seconds"),
        ("300 |,\n", "300 |,\n", "arrivals: there are no arrivals"),
    ] {
        let text = azure(&folder, arrivals, durations, None).unwrap_err();
        assert!(text.contains(part), "{text}\n lacks {part}");
    }
}

#[test]
fn every_machine_of_azures_real_arrivals_is_a_task() {
    for (name, durations, machines, batches, censored) in
        [("v1.dev", "c2100000", 259_159, 53_109, 14_317), ("v1.test", "c2591400", 410_276, 82_946, 23_311)]
    {
        let file = |name: &str| real(&format!("azure-v1/{name}"));
        let Some(arrivals) = file(&format!("{name}.txt.gz")) else { return };
        let Some(durations) = file(&format!("{name}.{durations}.txt.gz")) else { return };
        let (Some(sizes), Some(intervals)) = (file("flav_map.txt"), file("v1.interval_map.txt")) else {
            return;
        };
        let servers = EqualServers { count: 1000, capacity: vec![Decimal::from(64), Decimal::from(512)] };
        let options = AzureV1Options { arrivals, durations, sizes, intervals, users: Some(100), servers };
        let (tally, count) = read(azure_v1(&options).unwrap());
        assert_eq!((tally.tasks, tally.jobs), (machines, batches), "{name}");
        assert_eq!(count("machines still there at the end: the time until then counts"), censored, "{name}");
    }
}

/// Queues are found by name: were each sought among all, these would take minutes.
#[test]
fn a_hundred_thousand_queues_take_seconds() {
    let folder = Folder::new();
    let began = std::time::Instant::now();
    let shipped = |name: &str| format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let queues: String = (0..100_000).map(|i| format!("<queue name='q{i}'/>")).collect();
    let queues = folder.file("fair.xml", &format!("<allocations>{queues}</allocations>"));
    let read = yarn(&YarnOptions { nodes: vec![shipped("yarn/nodes.json")], queues });
    assert_eq!(read.unwrap().0.users().count(), 100_000);
    let volcano = |i: u32| {
        format!(
            r#"{{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {{"name": "q{i}", "annotations": {{
            "volcano.sh/hierarchy": "root/g{}/q{i}", "volcano.sh/hierarchy-weights": "1/1/1"}}}}, "spec": {{}}}}"#,
            i / 2
        )
    };
    let queues: Vec<String> = (0..20_000).map(volcano).collect();
    let queues = vec![folder.file("volcano.json", &format!(r#"{{"items": [{}]}}"#, queues.join(",")))];
    let read =
        kubernetes_queues(&KubernetesQueuesOptions { nodes: vec![shipped("kubernetes/nodes.json")], queues });
    assert_eq!(read.unwrap().0.users().count(), 20_000);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}
