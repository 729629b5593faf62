//! Results, as `verify`, `report` and `plan diff` read them.

use super::Target;
use super::made::Made;
use super::own_files::{KINDS, text};
use fairplan::{Control, ResultFile, Verification};
use fairplan_instances::files::{self, Rounding};
use fairplan_instances::{DemandSeries, Instance, TaskDemands};
use fairplan_report::page::{Section, write_page};
use fairplan_report::plot::Ground;
use fairplan_report::solution::{SolutionDocument, UserResult, difference_of_results};
use fairplan_report::{read_json, summary, write_json};
use std::path::Path;
use std::sync::Arc;

const INSTANCE: &str = include_str!("../../samples/instance.json");
/// Users of two groups, one inside another, and one alone.
const GROUPS: &str = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
    "server_classes": [{"id": "core", "count": 12, "capacity": {"cpu": 1}}],
    "groups": [{"id": "company", "weight": 2}, {"id": "web", "parent": "company"}],
    "users": [{"id": "shop", "group": "web", "demand": {"cpu": 1}}, {"id": "mail", "group": "company", "demand": {"cpu": 1}},
              {"id": "alone", "demand": {"cpu": 1}}]}"#;
const DEMANDS: &str = "quantum,user,demand\n1,a,3\n1,b,2\n2,a,1\n2,b,5\n3,a,4\n3,b,4\n";
const TASKS: &str = "quantum,user-1,user-2\n1,3,4\n2,30,40\n3,0,9\n";

/// Commands whose results have a page, by what the target is called.
const SHOWN: [(&str, &str); 26] = [
    ("solution", "solve instance.json"),
    ("placement", "place instance.json"),
    ("comparison", "compare instance.json --no-timing"),
    ("bound", "bound fig1.json"),
    ("explanation", "explain fig1.json --user user-1"),
    ("explanation of a group", "explain groups.json --group web"),
    ("entitlements", "entitlements fig1.json"),
    ("audit", "audit fig1.json --objective drfh"),
    ("verification", "verify instance.json solution.json"),
    ("allocation", "allocate demands.csv --fair-share 2 --per-quantum"),
    ("allocation of tasks", "allocate tasks.csv --instance fig1.json --mechanism karma --per-quantum"),
    ("offline", "offline demands.csv --fair-share 2 --per-quantum --against karma"),
    ("offline of tasks", "offline tasks.csv --instance fig1.json --per-quantum --against drfh"),
    ("flows", "flows traffic.json --loads 0.3,0.5"),
    ("simulation", "simulate trace.jsonl --policy best-fit,first-fit"),
    ("plan", "plan fig1.json --catalog servers.csv --share 0.9 --frontier 3"),
    ("plan out of reach", "plan fig1.json --catalog servers.csv --share 0.9 --budget 1"),
    ("worth", "plan worth fig1.json"),
    ("moves", "plan move fig1.json --from now.json --level 1"),
    ("loss", "plan lose fig1.json"),
    ("difference", "plan diff instance.json fig1.json"),
    ("difference of results", "plan diff solution.json solution.json"),
    ("growth", "plan growth fig1.json --series series.csv --quantum hour --share 0.6 --per-quantum"),
    ("reproduction", "reproduce drfh-fig1"),
    ("weighted solution", "solve instance.json --objective pf"),
    ("pooled solution", "solve fig1.json --objective drf"),
];

/// Every reader of results.
pub(super) fn targets(binary: &Path) -> Vec<Target> {
    let made = Made::new(binary);
    made.write("instance.json", INSTANCE);
    made.write("groups.json", GROUPS);
    made.write("kinds.json", KINDS);
    made.write("demands.csv", DEMANDS);
    made.write("tasks.csv", TASKS);
    made.write("series.csv", "hour,all\n1,10\n2,12\n3,30\n");
    made.write("servers.csv", "id,price\nhigh-cpu,3\nhigh-memory,2\n");
    made.write("trace.jsonl", include_str!("../../samples/trace.jsonl"));
    made.run("generate drfh-fig1 -o fig1.json");
    made.run("generate mrf-fig2 -o traffic.json");
    made.run("place fig1.json --policy first-fit --servers-out -o now.json");
    made.run("solve instance.json -o solution.json");
    let mut targets: Vec<Target> = Vec::new();
    for (name, words) in SHOWN {
        made.run(&format!("{words} -o result.json"));
        targets.push(Target::new(&format!("report {name}"), [("r.json", made.read("result.json"))], shown));
    }
    made.run("simulate trace.jsonl --policy best-fit --series series.jsonl --sample 1 -o result.json");
    targets.push(Target::new("report series", [("r.jsonl", made.read("series.jsonl"))], shown));

    let (base, fig1) = (Arc::new(instance(&made, "instance.json")), Arc::new(instance(&made, "fig1.json")));
    let kinds = Arc::new(instance(&made, "kinds.json"));
    for (name, words, of) in [
        ("solution", "solve instance.json", &base),
        ("solution with kinds", "solve kinds.json", &kinds),
        ("solution of pf", "solve instance.json --objective pf", &base),
        ("solution of utilitarian", "solve instance.json --objective utilitarian", &base),
        ("solution of bmf", "solve fig1.json --objective bmf", &fig1),
        ("placement", "place instance.json --servers-out", &base),
        ("bound", "bound fig1.json", &fig1),
        ("moves", "plan move fig1.json --from now.json --level 1", &fig1),
        ("proportional bound", "bound fig1.json --objective pf", &fig1),
        ("allocated bound", "bound fig1.json --objective allocated=memory", &fig1),
    ] {
        made.run(&format!("{words} -o result.json"));
        let of = Arc::clone(of);
        targets.push(Target::new(
            &format!("verify {name}"),
            [("r.json", made.read("result.json"))],
            move |paths| verified(&paths[0], &of),
        ));
    }
    let series = Arc::new(series(&made, "demands.csv"));
    made.run("offline demands.csv --fair-share 2 --per-quantum -o result.json");
    targets.push(Target::new("verify offline", [("r.json", made.read("result.json"))], move |paths| {
        told(fairplan::verify_offline(&series, &result(&paths[0])?, &Control::none()))
    }));
    let tasks = Arc::new(self::series(&made, "tasks.csv"));
    made.run("offline tasks.csv --instance fig1.json --per-quantum -o result.json");
    targets.push(Target::new(
        "verify offline of tasks",
        [("r.json", made.read("result.json"))],
        move |paths| {
            let demands = TaskDemands::new(&fig1, &tasks).map_err(text)?;
            told(fairplan::verify_offline_tasks(&demands, &result(&paths[0])?, &Control::none()))
        },
    ));
    made.run("solve instance.json --objective pf -o other.json");
    let solutions = [("a.json", made.read("solution.json")), ("b.json", made.read("other.json"))];
    targets.push(Target::new("plan diff", solutions, |paths| {
        let contents = [read(&paths[0])?, read(&paths[1])?];
        let before: SolutionDocument<Vec<UserResult<'_>>> =
            read_json(&paths[0], &contents[0]).map_err(text)?;
        let after: SolutionDocument<Vec<UserResult<'_>>> =
            read_json(&paths[1], &contents[1]).map_err(text)?;
        let document = difference_of_results([&before, &after]);
        summary::difference(&document);
        // Numbers of both may be so large that their difference is no number: that is told when it is written.
        let _ = write_json(Vec::new(), &document);
        Ok(())
    }));
    targets
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    files::source::open(path).and_then(files::source::Source::read_all).map_err(text)
}

fn instance(made: &Made, name: &str) -> Instance {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), made.read(name)).expect("a file is written");
    files::read_instance(&file.path().to_string_lossy()).expect("a valid instance")
}

fn series(made: &Made, name: &str) -> DemandSeries {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), made.read(name)).expect("a file is written");
    files::read_demands(&file.path().to_string_lossy(), Rounding::Refused).expect("valid demands")
}

/// A page and every chart of the result.
fn shown(paths: &[String]) -> Result<(), String> {
    let section = Section::read(&paths[0], &read(&paths[0])?).map_err(text)?;
    let mut page = Vec::new();
    write_page(&mut page, "fuzz", std::slice::from_ref(&section)).expect("memory takes it");
    for number in 1.. {
        match section.chart(number) {
            Ok(drawing) => drop((drawing.svg(Ground::Paper), drawing.png())),
            Err(_) => break,
        }
    }
    Ok(())
}

/// What `verify` does with a result of this instance.
fn verified(path: &str, instance: &Instance) -> Result<(), String> {
    told(fairplan::verify(instance, result(path)?, &Control::none()))
}

fn result(path: &str) -> Result<ResultFile, String> {
    ResultFile::new(path.into(), read(path)?).map_err(text)
}

fn told(verified: Result<Verification, fairplan::Error>) -> Result<(), String> {
    verified.map(|found| drop(summary::verification(&found))).map_err(text)
}
