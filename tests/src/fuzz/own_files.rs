//! The formats of fairplan itself: instances, demands, catalogs, traces, traffic.

use super::Target;
use super::made::Made;
use fairplan_instances::files::{self, Rounding};
use fairplan_instances::{DemandSeries, Draft, Instance, TaskDemands, lint};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;

const INSTANCE: &str = include_str!("../../samples/instance.json");
pub(super) const KINDS: &str = include_str!("../../samples/kinds.json");
const SERVERS: &str = include_str!("../../samples/servers.csv");
const USERS: &str = include_str!("../../samples/users.csv");
const LONG: &str = "quantum,user,demand\n10,A,3\n10,B,2\n11,A,3\n11,\"C, D\",1\n13,B,7\n";
const WIDE: &str =
    "A,quantum,B,C\n3,2020-05-01 00:00:00,,0\n1,2020-05-01 00:05:00,2,5\n0,2020-05-01 00:10:00,1,1\n";
const DEMANDS: &str = r#"{"format": "fairplan.demands.v1", "users": ["A", "B", "C"], "quanta": [10, 11, 12],
  "demands": [
    [3, 2, 1],
    [3, 0, 1],
    [0, 0, 9]
  ]}
"#;
const TASKS: &str = r#"{"format": "fairplan.demands.v1", "instance": "i.json", "users": ["u", "v"], "demands": [[3, 0.5], [0, 2]]}
"#;
const CATALOG: &str = r#"{"format": "fairplan.catalog.v1", "name": "prices", "currency": "EUR", "server_types": [
    {"id": "small", "price": 80, "commitment": {"price": 55.5, "periods": 12}}, {"id": "big", "price": 95.5, "limit": 10, "capacity": {"cpu": 64, "memory": 512}},
    {"id": "odd", "price": 1, "like": "small", "capacity": {"cpu": 2}}]}
"#;
const PRICES: &str = "id,price,commitment_price,commitment_periods,limit,like,cpu,memory\nsmall,80,55.5,12,,,,\n\
    big,95.5,,,10,,64,512\nodd,1,,,,small,2,\n";
const TRACE: &str = include_str!("../../samples/trace.jsonl");
const TRAFFIC: &str = include_str!("../../samples/traffic.json");

/// What every reader of an own format is given.
pub(super) fn targets(binary: &Path) -> Vec<Target> {
    let made = Made::new(binary);
    made.write("instance.json", INSTANCE);
    made.write("trace.jsonl", TRACE);
    made.run("convert instance.json --to-servers servers.parquet --to-users users.parquet");
    made.run("convert --trace trace.jsonl -o trace.parquet");
    let (servers, users) = (made.read("servers.parquet"), made.read("users.parquet"));
    let (series, base) = (series(), base());
    let limitless = INSTANCE.replace(", \"tasks\": 40", "");
    vec![
        Target::new("instance JSON", [("i.json", INSTANCE.into())], |paths| {
            instance(files::read_instance(&paths[0]).map_err(text)?, paths)
        }),
        Target::new("instance JSON with kinds", [("i.json", KINDS.into())], |paths| {
            instance(files::read_instance(&paths[0]).map_err(text)?, paths)
        }),
        Target::new("instance gzip", [("i.json.gz", gzip(INSTANCE.as_bytes()))], |paths| {
            instance(files::read_instance(&paths[0]).map_err(text)?, paths)
        }),
        Target::new("instance tables", [("s.csv", SERVERS.into()), ("u.csv", USERS.into())], |paths| {
            instance(files::read_tables(&paths[0], &paths[1], None).map_err(text)?, paths)
        }),
        Target::new("instance Parquet", [("s.parquet", servers), ("u.parquet", users)], |paths| {
            instance(files::read_tables(&paths[0], &paths[1], None).map_err(text)?, paths)
        }),
        Target::new("demands long", [("d.csv", LONG.into())], demands),
        Target::new("demands wide", [("d.csv", WIDE.into())], demands),
        Target::new("demands JSON", [("d.json", DEMANDS.into())], demands),
        Target::new("demands in tasks", [("d.json", TASKS.into())], |paths| {
            let (series, _) = files::read_demands_and_instance(&paths[0], Rounding::Up).map_err(text)?;
            let instance = files::read_instance(&paths[1]).map_err(text)?;
            let tasks = TaskDemands::new(&instance, &series);
            tasks.map(drop).map_err(|violation| text(violation.in_file(&paths[0])))
        })
        .beside("i.json", limitless.into()),
        Target::new("fair shares", [("f.csv", "user,fair_share\nC,5\nA,2\nB,3.0\n".into())], {
            let series = series.clone();
            move |paths| files::read_fair_shares(&paths[0], &series).map(drop).map_err(text)
        }),
        Target::new("members", [("m.csv", "user,first,last\nB,,12\nC,,12\n".into())], move |paths| {
            files::read_members(&paths[0], series.clone()).map(drop).map_err(text)
        }),
        Target::new("catalog JSON", [("c.json", CATALOG.into())], {
            let base = base.clone();
            move |paths| files::read_catalog(&paths[0], &base).map(drop).map_err(text)
        }),
        Target::new("catalog table", [("c.csv", PRICES.into())], move |paths| {
            files::read_catalog(&paths[0], &base).map(drop).map_err(text)
        }),
        Target::new("trace JSON Lines", [("t.jsonl", TRACE.into())], trace),
        Target::new("trace Parquet", [("t.parquet", made.read("trace.parquet"))], trace),
        Target::new("traffic", [("t.json", TRAFFIC.into())], |paths| {
            let traffic = files::read_traffic(&paths[0]).map_err(text)?;
            let _ = (traffic.loads(), traffic.check_stable(), traffic.as_claimed().check_fluid());
            let mut written = Vec::new();
            files::write_traffic(&traffic, &mut written).expect("memory takes it");
            let again = files::read_traffic(&beside(paths, "json", &written)).expect("what was written");
            assert!(again == traffic, "traffic is not what was written");
            Ok(())
        }),
    ]
}

pub(super) fn text(error: impl ToString) -> String {
    error.to_string()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = GzEncoder::new(Vec::new(), Compression::default());
    compressor.write_all(bytes).expect("memory takes it");
    compressor.finish().expect("memory takes it")
}

/// Writes a file beside the input.
fn beside(paths: &[String], ending: &str, content: &[u8]) -> String {
    let path = format!("{}.again.{ending}", paths[0]);
    std::fs::write(&path, content).expect("a file is written");
    path
}

/// An accepted instance is looked at, and comes back when it is written and read.
pub(super) fn instance(instance: Instance, paths: &[String]) -> Result<(), String> {
    lint(&instance);
    let written = |instance: &Instance| {
        let mut written = Vec::new();
        files::write_json(instance, &mut written).expect("memory takes it");
        written
    };
    let json = written(&instance);
    let again = files::read_instance(&beside(paths, "json", &json)).expect("what was written");
    assert!(written(&again) == json, "the instance is not what was written");
    assert!(Draft::from(&instance).build().is_ok_and(|built| written(&built) == json), "it cannot be built");
    Ok(())
}

fn demands(paths: &[String]) -> Result<(), String> {
    let series = files::read_demands(&paths[0], Rounding::Nearest).map_err(text)?;
    used(&series, paths);
    Ok(())
}

/// An accepted series comes back when it is written and read, unless the table of all users and quanta would be large.
pub(super) fn used(series: &DemandSeries, paths: &[String]) {
    series.totals();
    if series.quantum_count().saturating_mul(series.user_count()) > 1 << 20 {
        return;
    }
    let mut written = Vec::new();
    files::write_demands(series, &mut written).expect("memory takes it");
    let path = beside(paths, "json", &written);
    let again = files::read_demands(&path, Rounding::Refused).expect("what was written");
    let rows = |series: &DemandSeries| -> Vec<(String, Vec<u32>, Vec<u64>)> {
        let row = |quantum| {
            let (users, slices) = series.demands(quantum);
            (series.label(quantum).to_string(), users.to_vec(), slices.to_vec())
        };
        (0..series.quantum_count()).map(row).collect()
    };
    assert!(rows(&again) == rows(series), "the series is not what was written");
}

fn trace(paths: &[String]) -> Result<(), String> {
    let written = lines(&paths[0])?;
    let again = lines(&beside(paths, "jsonl", &written)).expect("what was written");
    assert!(again == written, "the trace is not what was written");
    Ok(())
}

/// The trace at this path as JSON Lines.
fn lines(path: &str) -> Result<Vec<u8>, String> {
    let mut source = files::read_trace(path).map_err(text)?;
    let mut written = Vec::new();
    files::write_trace(source.as_mut(), "trace.jsonl", &mut written).map_err(text)?;
    Ok(written)
}

fn series() -> DemandSeries {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), DEMANDS).expect("a file is written");
    files::read_demands(&file.path().to_string_lossy(), Rounding::Refused).expect("valid demands")
}

/// The instance that catalogs are for.
fn base() -> Instance {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), INSTANCE).expect("a file is written");
    files::read_instance(&file.path().to_string_lossy()).expect("a valid instance")
}
