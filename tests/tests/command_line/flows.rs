//! Stochastic demand on the command line: what comes out, and what is refused.

use super::Folder;
use serde_json::Value;

const TRAFFIC: &str = r#"{"format": "fairplan.traffic.v1", "resources": ["cpu", "disk"], "capacity": {"cpu": 4},
 "classes": [{"id": "a", "demand": {"cpu": 2, "disk": 0.5}, "arrival_rate": 0.5, "work": {"mean": 1.5}},
  {"id": "b", "demand": {"disk": 1}, "arrival_rate": 0.3}]}"#;

fn result(folder: &Folder, words: &str) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    serde_json::from_str(&folder.done(&words)).unwrap()
}

fn fits_schema(folder: &Folder, name: &str, document: &Value) {
    let schema: Value = serde_json::from_str(&folder.done(&["schema", name])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn generated_traffic_is_served_at_every_load_by_every_objective() {
    let folder = Folder::new();
    folder.done(&["generate", "mrf-fig2", "--load", "0.7", "-o", "t.json", "--quiet"]);
    fits_schema(&folder, "traffic", &serde_json::from_str(&folder.read("t.json")).unwrap());
    let found = result(&folder, "flows t.json --loads 0.3,0.7 --quiet");
    fits_schema(&folder, "flows", &found);
    let results = found["results"].as_array().unwrap();
    assert_eq!(results.len(), 6);
    assert_eq!((&results[4]["objective"], &results[4]["load"]), (&Value::from("pf"), &Value::from(0.7)));
    let rate = results[4]["classes"][1]["service_rate"].as_f64().unwrap();
    assert!((rate - 0.672461).abs() < 1e-5, "{rate}");
    let alone = result(&folder, "flows t.json --objective pf --quiet");
    let again = alone["results"][0]["classes"][1]["service_rate"].as_f64().unwrap();
    assert!((rate - again).abs() < 1e-9);
    let once = folder.done(&["flows", "t.json", "--quiet"]);
    assert_eq!(once, folder.done(&["flows", "t.json", "--quiet", "--threads", "1"]));
}

#[test]
fn tables_have_a_row_a_class_and_claims_are_served_beside_the_truth() {
    let folder = Folder::new();
    folder.write(
        "t.json",
        TRAFFIC.replace(r#""arrival_rate": 0.5"#, r#""arrival_rate": 0.5, "claim": {"cpu": 2, "disk": 0.6}"#),
    );
    let table = folder.done(&["flows", "t.json", "--format", "csv", "--objective", "drf", "--quiet"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("objective,demands,load,class,arrival_rate,service_rate,"), "{table}");
    assert!(
        lines[1].starts_with("drf,truthful,0.675,a,0.5,") && lines[4].starts_with("drf,claimed,0.675,b,0.3,"),
        "{table}"
    );
    assert_eq!(lines.len(), 5);
    folder.done(&["flows", "t.json", "--format", "parquet", "-o", "t.parquet", "--quiet"]);
    assert!(std::fs::read(folder.path("t.parquet")).unwrap().starts_with(b"PAR1"));
    fits_schema(&folder, "flows", &result(&folder, "flows t.json --quiet"));
}

#[test]
fn every_level_gives_rates_close_to_the_chain_and_the_same_on_any_number_of_threads() {
    let folder = Folder::new();
    folder.write("t.json", TRAFFIC);
    let rates = |words: &str| {
        let found = result(&folder, words);
        fits_schema(&folder, "flows", &found);
        let results = found["results"].as_array().unwrap().clone();
        let classes = results.iter().flat_map(|result| result["classes"].as_array().unwrap());
        classes.map(|class| class["service_rate"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let known = rates("flows t.json --quiet");
    for level in [
        "flow --arrivals 4000",
        "task --arrivals 1000 --tasks-per-job 200",
        "packet --arrivals 1000 --packets-per-flow 200",
    ] {
        let words = format!("flows t.json --quiet --replications 4 --seed 5 --level {level}");
        for (found, known) in rates(&words).iter().zip(&known) {
            assert!((found / known - 1.0).abs() < 0.2, "{level}: {found}, chain {known}");
        }
        let words: Vec<&str> = words.split(' ').collect();
        let one = folder.done(&[&words[..], &["--threads", "1"]].concat());
        assert_eq!(folder.done(&words), one, "{level}");
        let other: Vec<&str> = words.iter().map(|word| if *word == "5" { "6" } else { word }).collect();
        assert_ne!(folder.done(&other), one, "{level}");
    }
}

#[test]
fn claims_that_overload_a_resource_are_marked_and_the_truth_is_served() {
    let folder = Folder::new();
    let claim = r#""arrival_rate": 0.5, "claim": {"cpu": 2, "disk": 0.75}"#;
    folder.write("t.json", TRAFFIC.replace(r#""arrival_rate": 0.5"#, claim));
    let found = result(&folder, "flows t.json --objective drf --loads 0.5,0.9 --quiet");
    fits_schema(&folder, "flows", &found);
    let kinds = |field: &str| -> Vec<(String, f64)> {
        let entries = found[field].as_array().unwrap().iter();
        entries.map(|e| (e["demands"].as_str().unwrap().to_owned(), e["load"].as_f64().unwrap())).collect()
    };
    let known = [("truthful", 0.5), ("claimed", 0.5), ("truthful", 0.9)];
    assert_eq!(kinds("results"), known.map(|(demands, load)| (demands.to_owned(), load)));
    assert_eq!(kinds("unstable"), [("claimed".to_owned(), 0.9)]);
    let overloaded = found["unstable"][0]["utilization"]["disk"].as_f64().unwrap();
    assert!((overloaded - 0.9 * (0.5 * 1.5 * 0.75 + 0.3) / 0.675).abs() < 1e-12, "{overloaded}");
}

#[test]
fn a_published_figure_is_recomputed_drawn_and_written_as_numbers() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("plots")).unwrap();
    let plots = folder.path("plots");
    let text = folder.done(&["reproduce", "mrf-fig2", "--plots", plots.to_str().unwrap(), "--quiet"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    fits_schema(&folder, "reproduction", &found);
    let curves = found["figures"][0]["panels"][0]["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 6);
    // Class 2 under BMF and DRF at a load of 0.7.
    for (curve, known) in [(1, 0.657231), (4, 0.375177)] {
        let points = curves[curve]["points"].as_array().unwrap();
        let at = points.iter().find(|point| point[0] == 0.7).unwrap();
        assert!((at[1].as_f64().unwrap() - known).abs() < 1e-4, "{curve}: {at}");
    }
    let svg = folder.read("plots/mrf-fig2.svg");
    // Two panels of six curves, each with a sample in the legend.
    assert_eq!(svg.matches("stroke-width").count(), 24, "{svg}");
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line() {
    let folder = Folder::new();
    for (from, to, told) in [
        (
            r#""arrival_rate": 0.3"#,
            r#""arrival_rate": 0"#,
            "t.json: classes[1].arrival_rate = 0: must be > 0",
        ),
        (
            r#""arrival_rate": 0.3"#,
            r#""arrival_rate": -1"#,
            "t.json: classes[1].arrival_rate = -1: must be >= 0",
        ),
        (r#""arrival_rate": 0.3"#, r#""arrival_rate": 1e999"#, "t.json: classes[1].arrival_rate = 1e999: "),
        (r#""arrival_rate": 0.3"#, r#""arrival_rate": "1""#, "must be a number, without quotes"),
        (r#"{"disk": 1}"#, "{}", "t.json: classes[1].demand: must need some resource"),
        (r#"{"disk": 1}"#, r#"{"disk": 0}"#, "t.json: classes[1].demand: must need some resource"),
        (
            r#"{"disk": 1}"#,
            r#"{"gpu": 1}"#,
            "t.json: classes[1].demand.gpu: unknown resource; there are cpu, disk",
        ),
        (r#"{"disk": 1}"#, r#"{"disk": 1, "disk": 1}"#, "classes[1].demand.disk: duplicate key"),
        (r#"{"cpu": 4}"#, r#"{"cpu": 0}"#, "t.json: capacity.cpu = 0: must be > 0"),
        (
            r#""mean": 1.5"#,
            r#""distribution": "uniform""#,
            "classes[0].work.distribution = uniform: use exponential",
        ),
        (
            r#""mean": 1.5"#,
            r#""distribution": "pareto""#,
            "classes[0].work.shape: must be given for pareto work",
        ),
        (r#""mean": 1.5"#, r#""shape": 2"#, "classes[0].work.shape: means nothing for exponential work"),
        (r#""mean": 1.5"#, r#""distribution": "deterministic""#, "a Markov chain needs exponential work"),
        (
            r#""id": "b""#,
            r#""propagation_time": 1, "id": "b""#,
            "classes[1].propagation_time = 1: means something at the level of packets only",
        ),
        (
            r#""id": "b""#,
            r#""packet_demands": [{"disk": 0.5}, {"disk": 1.5}], "id": "b""#,
            "classes[1].packet_demands = 2: means something at the level of packets only",
        ),
        (
            r#""id": "b""#,
            r#""packet_demands": [{"disk": 1}], "claim": {"disk": 1}, "id": "b""#,
            "classes[1].packet_demands = 1: a class whose packets differ cannot also claim",
        ),
        (r#""id": "b""#, r#""id": "a""#, "t.json: classes[1].id = a: duplicate id"),
        (r#""arrival_rate": 0.5"#, r#""arrival_rate": 2"#, "load of disk = 1.8: the load must be < 1"),
        ("traffic.v1", "instance.v1", "this is no description of traffic; expected"),
        ("{\"format\"", "", "line 1"),
    ] {
        let bad = TRAFFIC.replacen(from, to, 1);
        assert_ne!(bad, TRAFFIC, "{from}");
        folder.write("t.json", bad);
        let line = folder.refused(&["flows", "t.json", "-o", "out.json"]);
        assert!(line.contains(told), "{to}: {line}");
    }
    folder.write("t.json", TRAFFIC);
    for (words, told) in [
        ("--objective drfh", "--objective drfh: transactions share by drf, pf, bmf"),
        ("--objective drf,drf", "--objective names drf twice"),
        ("--loads 0.5,1", "--loads = 1: must be > 0 and < 1"),
        ("--loads 0", "--loads = 0: must be > 0 and < 1"),
        ("--border-mass 0", "border_mass = 0: must be > 0 and < 1"),
        ("--border-mass 1e-25 --loads 0.999 --memory 0.1", "memory = 0.1 GiB: a border mass of 1e-25 takes"),
        ("--level queue", "--level"),
        ("--window 5", "--window means nothing at --level markov; it is for packet"),
        ("--level flow --border-mass 1e-3", "--border-mass means nothing at --level flow; it is for markov"),
        (
            "--level packet --tasks-per-job 5",
            "--tasks-per-job means nothing at --level packet; it is for task",
        ),
        ("--level flow --replications 1", "replications = 1: must be at least 2"),
        ("--level flow --arrivals 19", "arrivals = 19: must be at least 20"),
        ("--level task --task-share 2", "task_share = 2: must be at least 0.000001 and at most 1"),
        ("--level task --tasks-per-job 0.5", "tasks_per_job = 0.5: must be at least 1"),
        ("--level packet --window 0", "window = 0: must be at least 1"),
        ("--level packet --packets-per-flow 0", "packets_per_flow = 0: must be at least 1"),
    ] {
        let words: Vec<&str> =
            ["flows", "t.json", "-o", "o.json"].into_iter().chain(words.split(' ')).collect();
        let line = folder.refused(&words);
        assert!(line.contains(told), "{words:?}: {line}");
    }
}
