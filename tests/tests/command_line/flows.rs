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
    ] {
        let words: Vec<&str> =
            ["flows", "t.json", "-o", "o.json"].into_iter().chain(words.split(' ')).collect();
        let line = folder.refused(&words);
        assert!(line.contains(told), "{words:?}: {line}");
    }
}
