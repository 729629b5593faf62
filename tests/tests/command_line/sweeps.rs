//! `sweep`: whoever runs the tasks, and whatever happens to them on the way, the table is the same to the byte.

use super::{Folder, binary, one_line, text};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Demands, and a sweep of so many seeds over them.
fn planned(seeds: u32) -> Folder {
    let folder = Folder::new();
    folder.done(&["generate", "demands", "--users", "30", "--quanta", "200", "-o", "demands.json"]);
    folder.write(
        "sweep.yaml",
        format!(
            "command: allocate\narguments: [demands.json, --fair-share, 10]\nparameters:\n  alpha: [0, 0.5]\n  non-conformant: \
             {{from: 0, to: 0.4, step: 0.2}}\n  seed: {{seeds: {seeds}}}\n"
        ),
    );
    folder.done(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
    folder
}

/// The table of all results.
fn table(folder: &Folder, directory: &str) -> String {
    folder.done(&["sweep", "collect", "sweep.jsonl", directory])
}

/// Result files of a directory.
fn results(folder: &Folder, directory: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder.path(directory)).into_iter().flatten();
    let files = folders.flat_map(|inner| fs::read_dir(inner.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

fn background(folder: &Folder, words: &[&str]) -> Child {
    folder.command(words).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_specification_becomes_one_table_with_a_column_a_parameter() {
    let folder = planned(3);
    let list = folder.read("sweep.jsonl");
    let header: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    assert_eq!((&header["tasks"], list.lines().count()), (&18.into(), 19));
    assert_eq!(folder.done(&["sweep", "missing", "sweep.jsonl", "results"]), "0-17\n");
    folder.done(&["sweep", "run", "sweep.jsonl", "--index", "0-3,7", "-o", "results"]);
    assert_eq!(folder.done(&["sweep", "missing", "sweep.jsonl", "results"]), "4-6,8-17\n");
    assert_eq!(folder.done(&["sweep", "missing", "sweep.jsonl", "results", "--chunk", "10"]), "0-1\n");
    assert_eq!(
        folder.done(&["sweep", "missing", "sweep.jsonl", "results", "--chunk", "4", "--lines"]),
        "1\n2\n3\n4\n"
    );
    let refused = folder.refused(&["sweep", "collect", "sweep.jsonl", "results"]);
    assert!(refused.contains("13 of 18 tasks have no result") && refused.contains("4-6,8-17"), "{refused}");
    let run = folder.run(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    assert!(text(&run.stderr).contains("18 tasks: 13 run, 5 there before"), "{}", text(&run.stderr));
    let table = table(&folder, "results");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..6], ["index", "id", "alpha", "non-conformant", "seed", "exit_status"]);
    assert_eq!(rows[17][2..5], ["0.5", "0.4", "1"], "the last varies fastest");
    let fairness = rows[0].iter().position(|name| *name == "metrics.fairness").unwrap();
    // A task is a command: its result is what the command writes.
    let alone = [
        "allocate",
        "demands.json",
        "--fair-share",
        "10",
        "--alpha",
        "0.5",
        "--non-conformant",
        "0.4",
        "--seed",
        "1",
    ];
    let alone: Value = serde_json::from_str(&folder.done(&alone)).unwrap();
    assert_eq!(rows[17][fairness], alone["metrics"]["fairness"].to_string());
    // Parquet and Arrow have the same rows.
    for name in ["all.parquet", "all.arrow"] {
        folder.done(&["sweep", "collect", "sweep.jsonl", "results", "-o", name]);
        assert!(fs::metadata(folder.path(name)).unwrap().len() > 1000);
    }
}

#[test]
fn each_element_of_a_list_is_a_row() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "one.json"]);
    folder.done(&["generate", "drfh-fig4", "--users", "1,2", "-o", "two.json"]);
    for name in ["one.json", "two.json"] {
        // No cell of this table is quoted.
        let mut instance: Value = serde_json::from_str(&folder.read(name)).unwrap();
        instance["name"] = name.into();
        folder.write(name, instance.to_string());
    }
    folder.write(
        "sweep.yaml",
        "command: compare\narguments: [--policies, 'best-fit,first-fit']\nzip:\n  instance: {files: '*.json'}\n  seed: [4, 5]\n",
    );
    folder.done(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    let table = folder.done(&["sweep", "collect", "sweep.jsonl", "results", "--each", "policies"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5, "{table}");
    let of = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    let said: Vec<[&str; 3]> = rows[1..]
        .iter()
        .map(|row| [row[of("instance")], row[of("seed")], row[of("policies.name")]])
        .collect();
    assert_eq!(said[0], ["one.json", "4", "best-fit"]);
    assert_eq!(said[3], ["two.json", "5", "first-fit"]);
    assert!(!table.lines().next().unwrap().contains("seconds"), "times would differ from run to run");
    let refused = folder.refused(&["sweep", "collect", "sweep.jsonl", "results", "--each", "users"]);
    assert!(refused.contains("--each users: the result of task 0 has no such list"), "{refused}");
}

#[test]
fn what_stands_in_positions_stands_there_in_the_order_of_the_command() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "a.json"]);
    folder.done(&["generate", "drfh-fig4", "-o", "b.json"]);
    folder.write("sweep.yaml", "command: plan diff\nparameters: {after: [b.json], before: [a.json]}\n");
    let list = folder.done(&["sweep", "plan", "sweep.yaml"]);
    assert!(list.contains(r#""arguments":["plan","diff","a.json","b.json"]"#), "{list}");
}

#[test]
fn what_cannot_be_meant_is_named_before_anything_runs() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    let start = "command: solve\narguments: [fig1.json]\n";
    for (specification, told) in [
        (
            format!("{start}parameters: {{objectiv: [drfh]}}"),
            "parameter objectiv: solve has no such option (did you mean objective?)",
        ),
        (format!("{start}parameters: {{objective: [drfh, drhf]}}"), "parameter objective = drhf: "),
        (format!("{start}parameters: {{objective: []}}"), "parameter objective: the list is empty"),
        (
            format!("{start}parameters: {{time-limit: {{from: 0, to: 2}}}}"),
            "--time-limit=0 --no-timing: invalid value",
        ),
        (format!("{start}parameters: {{output: [a.json, b.json]}}"), "parameter output: is not for tasks"),
        (format!("{start}parameters: {{objective: [drfh, drfh]}}"), "tasks 0 and 1 are the same"),
        (start.to_owned(), "names no parameters"),
        (
            format!("{start}zip: {{objective: [drfh, pf], backend: [ipm]}}"),
            "objective has 2 values, and backend has 1",
        ),
        (
            "command: solve\nparameters: {instance: [fig1.json, none.json]}".into(),
            "instance none.json: no such file",
        ),
        (
            "command: solve\nparameters: {instance: {files: 'none/*'}}".into(),
            "parameter instance: no file matches none/*",
        ),
        (
            "command: solve\narguments: ['-']\nparameters: {objective: [drfh]}".into(),
            "a task has no standard input",
        ),
        (
            "command: plan diff\narguments: [fig1.json]\nparameters: {after: [fig1.json]}".into(),
            "parameter after: stands behind before, which is no parameter",
        ),
        ("command: report\nparameters: {title: [a]}".into(), "report cannot be swept"),
        ("command: plan\nparameters: {title: [a]}".into(), "plan is several commands"),
        ("command: [\n".into(), "sweep.yaml: line 1, column 10: "),
    ] {
        folder.write("sweep.yaml", &specification);
        let refused = folder.refused(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
        assert!(refused.contains("sweep.yaml: ") && refused.contains(told), "{specification}: {refused}");
    }
}

#[test]
fn lists_inputs_and_results_that_are_not_as_planned_are_refused() {
    let folder = planned(1);
    let refused = |told: &str, words: &[&str]| {
        let line = folder.refused(words);
        assert!(line.contains(told), "{words:?}: {line}");
    };
    let run = ["sweep", "run", "sweep.jsonl", "--all", "-o", "results"];
    refused(
        "index 6: sweep.jsonl has 6 tasks, 0 to 5",
        &["sweep", "run", "sweep.jsonl", "--index", "4-6", "-o", "results"],
    );
    refused(
        "names no task",
        &["sweep", "run", "sweep.jsonl", "--index", "2", "--chunk", "3", "-o", "results"],
    );
    refused("--index", &["sweep", "run", "sweep.jsonl", "-o", "results"]);
    refused("is a file; name a directory", &["sweep", "run", "sweep.jsonl", "--all", "-o", "demands.json"]);
    folder.done(&run);
    let same = table(&folder, "results");
    // A result of another version under the same name.
    let path = results(&folder, "results").remove(0);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("\"fairplan_version\":\"", "\"fairplan_version\":\"9.", 1)).unwrap();
    for words in [
        &run[..],
        &["sweep", "collect", "sweep.jsonl", "results"],
        &["sweep", "missing", "sweep.jsonl", "results"],
    ] {
        refused("is no result of this task by fairplan", words);
    }
    // One that a power failure cut short is computed again.
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    refused("1 of 6 tasks have no result", &["sweep", "collect", "sweep.jsonl", "results"]);
    folder.done(&run);
    assert_eq!(table(&folder, "results"), same);
    // A list that was changed, shortened, or made by another version.
    let list = folder.read("sweep.jsonl");
    folder.write("sweep.jsonl", list.replacen("--alpha=0.5", "--alpha=0.7", 1));
    refused("line 5: its id is not that of its arguments", &run);
    folder.write("sweep.jsonl", list.lines().take(4).map(|line| format!("{line}\n")).collect::<String>());
    refused("line 5: the file ends here", &run);
    folder.write("sweep.jsonl", list.replacen("\"fairplan_version\":\"", "\"fairplan_version\":\"9.", 1));
    refused("was planned by fairplan 9.", &run);
    folder.write("sweep.jsonl", "{}\n");
    refused("line 1: is not the header", &run);
    // An input that changed.
    folder.write("sweep.jsonl", &list);
    folder.done(&[
        "generate",
        "demands",
        "--users",
        "30",
        "--quanta",
        "200",
        "--seed",
        "9",
        "-o",
        "demands.json",
    ]);
    refused("demands.json: has changed since the sweep was planned", &run);
}

/// An id is that of words and inputs: whoever changes what a list calls them finds no table by it.
#[test]
fn labels_that_are_not_what_is_run_are_refused() {
    let folder = planned(2);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    let list = folder.read("sweep.jsonl");
    let forged = |list: &str, directory: &str, before: &str, after: &str| {
        let text = list.replace(before, after);
        assert_ne!(text, list, "{before}");
        folder.write("forged.jsonl", text);
        let refused = folder.refused(&["sweep", "collect", "forged.jsonl", directory, "--partial"]);
        assert!(refused.contains("forged.jsonl: line "), "{before}: {refused}");
    };
    let own = r#"{"alpha":0.5,"non-conformant":0.2,"seed":1}"#;
    for lie in [
        r#"{"alpha":0.7,"non-conformant":0.2,"seed":1}"#,
        r#"{"alpha":null,"non-conformant":0.2,"seed":1}"#,
        r#"{"alpha":0.2,"non-conformant":0.5,"seed":1}"#,
        r#"{"non-conformant":0.2,"alpha":0.5,"seed":1}"#,
        r#"{"alpha":0.5,"non-conformant":0.2,"seed":true}"#,
        r#"{"alpha":0.5,"non-conformant":0.2,"seed":"1 "}"#,
        r#"{"alpha":0.5,"non-conformant":0.2}"#,
        r#"{"alpha":0.5,"non-conformant":0.2,"users":1}"#,
    ] {
        forged(&list, "results", own, lie);
    }
    // Names that are changed in all places alike.
    for (before, after) in
        [("\"alpha\"", "\"beta\""), ("\"alpha\"", "\"guaranteed\""), ("\"alpha\"", "\"from.alpha\"")]
    {
        forged(&list, "results", before, after);
    }
    let exchanged =
        list.replace("\"alpha\"", "\"x\"").replace("\"seed\"", "\"alpha\"").replace("\"x\"", "\"seed\"");
    forged(&exchanged, "results", "{\"format\"", " {\"format\"");
    // What stands in positions, and what is said to the command before.
    folder.done(&["generate", "drfh-fig1", "-o", "a.json"]);
    folder.write(
        "diff.yaml",
        "from: {command: generate population, arguments: [--users, 3], parameters: {seed: [4, 5]}}\ncommand: plan diff\n\
         parameters: {after: ['-'], before: [a.json], backend: [null]}\n",
    );
    let list = folder.done(&["sweep", "plan", "diff.yaml"]);
    folder.write("true.jsonl", &list);
    folder.done(&["sweep", "collect", "true.jsonl", "none", "--partial"]);
    let own = r#"{"from.seed":4,"after":"-","before":"a.json","backend":null}"#;
    for lie in [
        r#"{"from.seed":4,"after":"a.json","before":"-","backend":null}"#,
        r#"{"from.seed":5,"after":"-","before":"a.json","backend":null}"#,
        r#"{"from.seed":4,"after":"-","before":"b.json","backend":null}"#,
        r#"{"from.seed":4,"after":"-","before":"a.json","backend":"ipm"}"#,
        r#"{"from.seed":4,"after":"-","before":null,"backend":null}"#,
    ] {
        forged(&list, "none", own, lie);
    }
}

/// A result goes with 0 or 1, and a failure with a message: anything else was written by nobody.
#[test]
fn an_exit_status_that_does_not_go_with_its_record_is_refused() {
    let folder = planned(1);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    let path = results(&folder, "results").remove(0);
    let whole = fs::read_to_string(&path).unwrap();
    for (before, after) in [
        ("\"exit_status\":0", "\"exit_status\":3"),
        ("\"exit_status\":0", "\"exit_status\":0,\"message\":\"failed\""),
        ("\"result\"", "\"message\""),
    ] {
        let text = whole.replacen(before, after, 1);
        assert_ne!(text, whole);
        fs::write(&path, text).unwrap();
        let refused = folder.refused(&["sweep", "collect", "sweep.jsonl", "results"]);
        assert!(refused.contains("is damaged"), "{after}: {refused}");
    }
}

#[test]
fn a_task_that_fails_is_told_keeps_no_other_from_running_and_is_tried_again() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "good.json"]);
    folder.write("bad.json", folder.read("good.json").replace("\"memory\"", "\"memori\""));
    folder.write(
        "sweep.yaml",
        "command: explain\narguments: [good.json]\nparameters: {user: [user-1, user-9, user-2]}\n",
    );
    folder.done(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
    for _ in 0..2 {
        let run = folder.run(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
        let told = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{told}");
        assert!(told.contains("1 failed") && told.contains("task 1: ") && told.contains("user-9"), "{told}");
    }
    assert_eq!(folder.done(&["sweep", "missing", "sweep.jsonl", "results"]), "1\n");
    let refused = folder.refused(&["sweep", "collect", "sweep.jsonl", "results"]);
    assert!(refused.contains("1 of 3 tasks have no result (1 of them failed)"), "{refused}");
    let table = folder.done(&["sweep", "collect", "sweep.jsonl", "results", "--partial"]);
    assert!(table.lines().nth(2).unwrap().contains(",user-9,2,") && table.contains("message"), "{table}");
}

#[test]
fn what_one_command_writes_another_reads_in_the_same_task() {
    let folder = Folder::new();
    folder.write(
        "sweep.yaml",
        "from:\n  command: generate population\n  arguments: [--users, 3, --cluster, random:2x2]\n  parameters: {seed: {seeds: 3}}\n\
         command: solve\narguments: ['-']\nparameters: {objective: [drfh, pf]}\n",
    );
    folder.done(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    let table = table(&folder, "results");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows.len(), &rows[0][2..5]), (7, &["from.seed", "objective", "exit_status"][..]));
    // The same as by a file.
    let words =
        ["generate", "population", "--users", "3", "--cluster", "random:2x2", "--seed", "2", "-o", "a.json"];
    folder.done(&words);
    let alone: Value = serde_json::from_str(&folder.done(&["solve", "a.json", "--objective", "pf"])).unwrap();
    assert_eq!(rows[6][2..4], ["2", "pf"]);
    let same = format!(",{},", alone["value"]);
    assert!(table.lines().nth(6).unwrap().contains(&same), "{same}\n{table}");
    // A task whose first command fails says so.
    let failing = "from: {command: generate population, parameters: {users: [2, 3]}, arguments: [--cluster, 'distinct:99999999']}\n\
                   command: solve\narguments: ['-']\n";
    folder.write("sweep.yaml", failing);
    folder.done(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
    let run = folder.run(&["sweep", "run", "sweep.jsonl", "--all", "-o", "others"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("task 0: generate: "), "{}", text(&run.stderr));
}

#[test]
fn commands_that_do_not_go_together_are_refused() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    let from = "from: {command: generate population, parameters: {seed: {seeds: 2}}}\ncommand: solve\n";
    for (specification, told) in [
        (from.to_owned(), "none of its inputs are -"),
        (format!("{from}arguments: [fig1.json]\n"), "none of its inputs are -"),
        (
            format!("{from}arguments: ['-']\nparameters: {{objectiv: [pf]}}\n"),
            "parameter objectiv: solve has no such option",
        ),
        (
            from.replace("seed:", "sead:") + "arguments: ['-']\n",
            "parameter from.sead: generate population has no such option (did you mean seed?)",
        ),
        (
            "command: solve\narguments: [fig1.json, '|', solve, '-']\nparameters: {objective: [pf]}\n".into(),
            "| is no argument",
        ),
        ("command: solve\nparameters: {instance: ['|']}\n".into(), "parameter instance: | is no argument"),
        ("from: {command: report}\ncommand: solve\n".into(), "from.command: report cannot be swept"),
    ] {
        folder.write("sweep.yaml", &specification);
        let refused = folder.refused(&["sweep", "plan", "sweep.yaml", "-o", "sweep.jsonl"]);
        assert!(refused.contains("sweep.yaml: ") && refused.contains(told), "{specification}: {refused}");
    }
}

/// Who lies gains under proportional fairness (multi-resource fairness paper, Sec. 2.3), and under DRFH does not.
#[test]
fn the_search_for_lies_is_a_sweep_over_seeds() {
    let folder = Folder::new();
    folder.write(
        "lies.yaml",
        "from:\n  command: generate population\n  arguments: [--users, 3, --kind, alike, --cluster, random:2x2]\n  parameters: {seed: {seeds: 6}}\n\
         command: audit\narguments: ['-', --users-searched, 3]\nparameters: {objective: [drfh, pf]}\n",
    );
    folder.done(&["sweep", "plan", "lies.yaml", "-o", "sweep.jsonl"]);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    let table = folder.done(&["sweep", "collect", "sweep.jsonl", "results", "--each", "properties"]);
    let of = |objective: &str| {
        let lines = table
            .lines()
            .filter(|line| line.contains(&format!(",{objective},")) && line.contains(",truthfulness,"));
        let failed = lines.clone().filter(|line| line.contains(",truthfulness,false,")).count();
        (lines.count(), failed)
    };
    assert_eq!(of("drfh"), (6, 0), "{table}");
    let (count, failed) = of("pf");
    assert!(count == 6 && failed > 0, "{table}");
}

#[test]
fn exhibits_recomputed_as_a_sweep_are_the_same_document_and_are_not_computed_twice() {
    let folder = Folder::new();
    let ids = ["karma-fig2", "drfh-fig1", "kdn-tables", "karma-fig4"];
    let with = |more: &[&str]| folder.done(&[&["reproduce"], &ids[..], more].concat());
    let alone = with(&["--summary"]);
    assert_eq!(with(&["--summary", "--sweep", "study"]), alone);
    let before = results(&folder, "study/results");
    let when = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    let times: Vec<_> = before.iter().map(when).collect();
    assert_eq!(with(&["--summary", "--sweep", "study"]), alone);
    assert_eq!((before.len(), before.iter().map(when).collect::<Vec<_>>()), (4, times));
    let refused = folder.refused(&["reproduce", "karma-fig9", "--sweep", "study"]);
    assert!(refused.contains("karma-fig9"), "{refused}");
    folder.write("file", "");
    let refused = folder.refused(&["reproduce", "karma-fig2", "--sweep", "file"]);
    assert!(refused.contains("--sweep file: is a file; name a directory"), "{refused}");
}

#[test]
fn lists_of_tasks_and_results_are_as_their_schemas_say() {
    let folder = planned(1);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    let validator = |name: &str| {
        let schema: Value = serde_json::from_str(&folder.done(&["schema", name])).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    };
    let (line, record) = (validator("sweep"), validator("fairplan.run.v1"));
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for text in folder.read("sweep.jsonl").lines() {
        assert!(line.is_valid(&read(text)), "{text}");
        assert!(
            !line.is_valid(&read(&text.replacen("\"id\"", "\"is\"", 1).replacen("\"tasks\"", "\"task\"", 1))),
            "{text}"
        );
    }
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    folder.write("failing.yaml", "command: explain\narguments: [fig1.json]\nparameters: {user: [user-9]}\n");
    folder.done(&["sweep", "plan", "failing.yaml", "-o", "failing.jsonl"]);
    folder.run(&["sweep", "run", "failing.jsonl", "--all", "-o", "results"]);
    let there = results(&folder, "results");
    assert_eq!(there.len(), 7, "six results and a failure");
    for path in there {
        let text = fs::read_to_string(path).unwrap();
        assert!(record.is_valid(&read(&text)), "{text}");
        assert!(!record.is_valid(&read(&text.replacen("\"exit_status\":", "\"status\":", 1))));
    }
}

#[test]
fn two_coordinators_at_once_make_the_same_table() {
    let folder = planned(20);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "alone"]);
    let words = ["--quiet", "sweep", "run", "sweep.jsonl", "--all", "-o", "results"];
    let mut children: Vec<Child> = (0..2).map(|_| background(&folder, &words)).collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    assert_eq!(table(&folder, "results"), table(&folder, "alone"));
}

/// Running the whole sweep, killed as often as `kills` says at times that are not known beforehand; then the table.
fn killed(kills: u32) {
    let folder = planned(25);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "undisturbed"]);
    let begun = Instant::now();
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "again"]);
    let whole = begun.elapsed();
    let same = table(&folder, "undisturbed");
    assert_eq!(table(&folder, "again"), same);
    let mut state = 12_345_u64;
    let (mut directory, mut pairs) = (0, 0);
    for kill in 0..kills {
        // A third of them with two coordinators at once.
        let name = format!("killed-{directory}");
        let words = ["--quiet", "sweep", "run", "sweep.jsonl", "--all", "-o", &name];
        let mut children: Vec<Child> =
            (0..=u32::from(kill % 3 == 0)).map(|_| background(&folder, &words)).collect();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (state >> 33) as f64 / f64::from(1_u32 << 31);
        sleep(whole.mul_f64(part));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let others: Vec<PathBuf> = results(&folder, &name)
            .into_iter()
            .filter(|path| path.extension().is_none_or(|end| end != "json"))
            .collect();
        // Who replaces what another coordinator has just written may be killed while its result has a hidden name, which nobody reads.
        let is_hidden =
            |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".fairplan-");
        pairs += usize::from(kill % 3 == 0);
        assert!(
            others.len() <= 2 * pairs && others.iter().all(is_hidden),
            "a killed run leaves other files than results: {others:?}"
        );
        if kill % 4 == 3 {
            folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", &name]);
            assert_eq!(table(&folder, &name), same, "after kill {kill}");
            (directory, pairs) = (directory + 1, 0);
        }
    }
    let name = format!("killed-{directory}");
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", &name]);
    assert_eq!(table(&folder, &name), same);
}

#[test]
fn a_sweep_that_is_killed_twenty_times_has_the_same_table() {
    killed(20);
}

#[test]
#[ignore = "half a minute"]
fn a_sweep_that_is_killed_fifty_times_has_the_same_table() {
    killed(50);
}

#[test]
fn who_interrupts_a_sweep_gets_whole_results_and_the_rest_later() {
    let folder = planned(100);
    let child = folder
        .command(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while results(&folder, "results").len() < 5 && begun.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let line = one_line(&output);
    assert_eq!(output.status.code(), Some(3), "{line}");
    assert!(line.contains("of 600 tasks are not run; the same command goes on"), "{line}");
    let there = results(&folder, "results").len();
    let run = folder.run(&["sweep", "run", "sweep.jsonl", "--all", "-o", "results"]);
    assert!(text(&run.stderr).contains(&format!("{there} there before")), "{there}: {}", text(&run.stderr));
    assert_eq!(table(&folder, "results").lines().count(), 601);
}

/// A file may grow to no byte here, which is how a full disk looks.
#[cfg(unix)]
#[test]
fn results_that_cannot_be_written_end_the_run_with_their_file_and_the_reason() {
    let folder = planned(1);
    fs::create_dir(folder.path("results")).unwrap();
    let line = "trap '' XFSZ; ulimit -f 0; exec \"$0\" sweep run sweep.jsonl --all -o results";
    let full =
        Command::new("sh").args(["-c", line]).arg(binary()).current_dir(folder.0.path()).output().unwrap();
    let told = one_line(&full);
    assert_eq!(full.status.code(), Some(2), "{told}");
    assert!(told.contains("results/") && told.contains("File too large"), "{told}");
    assert!(results(&folder, "results").is_empty());
}

/// A job array as Slurm runs it, by a stand-in that runs the script once for each index that the script names.
#[test]
fn the_script_for_slurm_runs_all_that_is_missing() {
    let folder = planned(3);
    folder.done(&["sweep", "run", "sweep.jsonl", "--index", "0-4", "-o", "results"]);
    let program = binary().to_str().unwrap();
    let words =
        ["sweep", "slurm", "sweep.jsonl", "results", "--chunk", "4", "--throttle", "2", "--program", program];
    folder.done(&[&words[..], &["--option=--mem=1G", "-o", "job.sh"]].concat());
    let script = folder.read("job.sh");
    assert!(script.contains("#SBATCH --array=1-4%2\n") && script.contains("#SBATCH --mem=1G\n"), "{script}");
    for index in 1..=4 {
        let mut job = Command::new("sh");
        job.arg("job.sh").env("SLURM_ARRAY_TASK_ID", index.to_string()).current_dir(folder.0.path());
        let job = job.output().unwrap();
        assert!(job.status.success(), "{}", text(&job.stderr));
    }
    assert_eq!(table(&folder, "results").lines().count(), 19);
    let refused = folder.refused(&words);
    assert!(refused.contains("there is nothing to run"), "{refused}");
    let refused = folder.refused(&["sweep", "slurm", "sweep.jsonl", "others", "--option=--array=0-9"]);
    assert!(refused.contains("--option \"--array=0-9\": the array is of the chunks"), "{refused}");
}

#[test]
fn the_manifest_for_kubernetes_is_an_indexed_job_whose_words_run() {
    let folder = planned(3);
    let words =
        ["sweep", "kubernetes", "sweep.jsonl", "results", "--chunk", "5", "--image", "i", "--claim", "c"];
    let job: Value =
        serde_json::from_str(&folder.done(&[&words[..], &["--memory", "2Gi"]].concat())).unwrap();
    let spec = &job["spec"];
    assert_eq!((&spec["completionMode"], &spec["completions"]), (&"Indexed".into(), &4.into()));
    assert_eq!(
        (&spec["backoffLimitPerIndex"], &spec["template"]["spec"]["restartPolicy"]),
        (&3.into(), &"Never".into())
    );
    let command = spec["template"]["spec"]["containers"][0]["command"].as_array().unwrap();
    for index in 0..4 {
        let words = command.iter().skip(1).map(|word| word.as_str().unwrap());
        let words: Vec<String> =
            words.map(|word| word.replace("$(JOB_COMPLETION_INDEX)", &index.to_string())).collect();
        folder.done(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert_eq!(table(&folder, "results").lines().count(), 19);
    let nameless = ["sweep", "kubernetes", "sweep.jsonl", "results", "--image", "", "--claim", "c"];
    let refused = folder.refused(&nameless);
    assert!(refused.contains("--image \"\": names no image"), "{refused}");
}

/// The rule that the guide gives for Snakemake, where that is installed.
#[test]
fn snakemake_runs_every_chunk() {
    let is_there = |output: std::process::Output| output.status.success();
    if !Command::new("snakemake").arg("--version").output().is_ok_and(is_there) {
        println!("Snakemake is not installed; its rule is not tried");
        return;
    }
    let folder = planned(2);
    let guide = fs::read_to_string(super::root().join("guide/src/sweeps.md")).unwrap();
    let rule = guide.split("## Snakemake").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap();
    let rule = rule.trim_start_matches("text\n").replace("range(18)", "range(2)");
    assert!(rule.contains("fairplan -q sweep run") && rule.contains("range(2)"), "{rule}");
    folder.write("Snakefile", rule.replace("fairplan -q", &format!("{} -q", binary().display())));
    let run = Command::new("snakemake")
        .args(["--cores", "2", "--quiet"])
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(table(&folder, "results").lines().count(), 13);
}

/// The line that the guide gives for GNU parallel, where that is installed.
#[test]
fn gnu_parallel_runs_what_is_missing() {
    if !Command::new("parallel")
        .arg("--version")
        .output()
        .is_ok_and(|output| text(&output.stdout).contains("GNU"))
    {
        println!("GNU parallel is not installed; its line is not tried");
        return;
    }
    let folder = planned(2);
    let line = "\"$0\" -q sweep missing sweep.jsonl results --chunk 3 --lines | parallel \"$0\" -q sweep run sweep.jsonl --chunk 3 --index {} -o results";
    let run =
        Command::new("sh").args(["-c", line]).arg(binary()).current_dir(folder.0.path()).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(table(&folder, "results").lines().count(), 13);
}

/// Slurm itself on the loopback: its controller and two nodes, one of which is killed in the middle with all that runs on it.
#[test]
#[ignore = "three minutes, most of which Slurm waits before a job whose node died runs again; needs Slurm and root"]
fn slurm_runs_the_array_and_what_a_dead_node_had_comes_again() {
    let installed = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"];
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root || !installed.iter().all(|program| std::path::Path::new(program).exists()) {
        println!(
            "Slurm is not installed (Debian: slurmctld slurmd slurm-client), or this is not root; it is not tried"
        );
        return;
    }
    /// Ends what was started, however the test ends.
    struct Slurm<'a>(&'a Folder);
    impl Slurm<'_> {
        fn script(&self, words: &[&str]) {
            let script = super::root().join("tests/tests/command_line/slurm.sh");
            let state = self.0.path("slurm");
            let done = Command::new(script).arg(words[0]).arg(state).args(&words[1..]).output().unwrap();
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
        fn asked(&self, words: &[&str]) -> String {
            let mut command = Command::new(words[0]);
            command
                .args(&words[1..])
                .env("SLURM_CONF", self.0.path("slurm/slurm.conf"))
                .current_dir(self.0.0.path());
            let output = command.output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
            text(&output.stdout)
        }
    }
    impl Drop for Slurm<'_> {
        fn drop(&mut self) {
            self.script(&["stop"]);
        }
    }
    let folder = planned(200);
    folder.done(&["sweep", "run", "sweep.jsonl", "--all", "-o", "here"]);
    let slurm = Slurm(&folder);
    slurm.script(&["start", "2", "27917"]);
    let program = binary().to_str().unwrap();
    folder.done(&[
        "sweep",
        "slurm",
        "sweep.jsonl",
        "results",
        "--chunk",
        "100",
        "--program",
        program,
        "-o",
        "job.sh",
    ]);
    slurm.asked(&["sbatch", "job.sh"]);
    let begun = Instant::now();
    let late = || {
        assert!(
            begun.elapsed() < Duration::from_secs(500),
            "Slurm takes too long: {}",
            slurm.asked(&["squeue"])
        )
    };
    while results(&folder, "results").len() < 50 {
        late();
        sleep(Duration::from_millis(2));
    }
    slurm.script(&["kill", "n1"]);
    while !slurm.asked(&["squeue", "-h"]).trim().is_empty() {
        late();
        sleep(Duration::from_millis(200));
    }
    assert_eq!(folder.done(&["sweep", "missing", "sweep.jsonl", "results"]), "");
    assert_eq!(table(&folder, "results"), table(&folder, "here"));
}
