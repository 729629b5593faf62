//! The documents against real outputs: written, read back, validated by their schemas, verified.

use crate::comparison::{Bounds, ComparedPolicy, Comparison};
use crate::formats::Format;
use crate::output::{Destination, Sink};
use crate::placement::{PlacementDocument, PlacementSettings, StatedPlacement, placement_document};
use crate::reproduction::{Exhibit, Interval, KnownReason, ReproductionBody, ReproductionDocument, Standing};
use crate::solution::{SolutionDocument, StatedSolution, UserResult, solution_document};
use crate::solution::{StatedNumbers, stated_users_of, users_of};
use crate::table::{TableFormat, TextForm, batches, write_table};
use crate::verification::Verification;
use crate::{read_json, write_json};
use arrow_array::{Array, Float64Array, StringArray, StringViewArray};
use fairplan_instances::Headline;
use fairplan_instances::InstanceStamp;
use fairplan_instances::files::Columnar;
use fairplan_instances::generate::{drfh_fig1, drfh_fig4};
use fairplan_instances::table::{Chosen, Kept, Kind, Table, Tabular};
use fairplan_instances::{
    Allocation, Certificate, Document, Draft, IdTable, Instance, Level, LimitedBy, Objective, Placement,
    PlacementFigures, Solution, Statistics, Status, UserId, files,
};
use fairplan_verify::{verify_placement, verify_solution};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::io::Write;

/// Fig. 1 of the DRFH paper with its optimum: 10 tasks each on the server it likes best, 5/7 of the pool each.
/// The tasks stay a hair below, so that nothing is overloaded.
fn fig1() -> (Instance, Solution, String) {
    let instance = drfh_fig1().unwrap();
    let tasks = 10.0 * (1.0 - 1e-15);
    let value = tasks / 14.0;
    let solution = Solution {
        objective: Objective::Drfh,
        backend: "auto",
        method: "aggregation",
        status: Status::Optimal,
        allocation: Allocation::from_matrix(2, &[tasks, 0.0, 0.0, tasks]),
        exact: None,
        certificate: Certificate::Levels {
            levels: vec![Level {
                value,
                bound: 5.0 / 7.0,
                limit_prices: Vec::new(),
                prices: vec![5.0 / 28.0, 0.0, 0.0, 5.0 / 28.0],
            }],
            level_of: vec![0, 0],
        },
        limited_by: vec![LimitedBy::Capacity; 2],
        statistics: Statistics { seconds: 0.25, iterations: 9, ..Statistics::default() },
        guaranteed: Vec::new(),
    };
    let sha256 = files::sha256_hex(&instance);
    (instance, solution, sha256)
}

fn written(document: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_json(&mut bytes, document).unwrap();
    bytes
}

fn fig1_bytes() -> (Instance, Vec<u8>, String) {
    let (instance, solution, sha256) = fig1();
    let headline = Headline::new(&instance, &solution);
    let bytes = written(&solution_document(&instance, &solution, &headline, &sha256, true));
    (instance, bytes, sha256)
}

fn placed() -> (Instance, Placement) {
    let instance = drfh_fig1().unwrap();
    (instance, Placement { tasks: vec![10, 10], servers: vec![vec![(0, 10)], vec![(1, 10)]] })
}

fn placement_bytes(servers: bool) -> (Instance, Vec<u8>, String) {
    let (instance, placement) = placed();
    let figures = PlacementFigures::new(&instance, &placement);
    let sha256 = files::sha256_hex(&instance);
    let settings = PlacementSettings { policy: "best-fit", seed: 7, servers, divisions: &[] };
    let bytes = written(&placement_document(&instance, &placement, &figures, &sha256, settings));
    (instance, bytes, sha256)
}

fn compared(instance: &Instance, figures: &PlacementFigures) -> Document<Comparison> {
    const SHA256: &str = "0000000000000000000000000000000000000000000000000000000000000000";
    let bounds = Bounds {
        divisible: 0.75,
        divisible_level: Some(0.75),
        drfh_level: None,
        integral_upper: None,
        integral_lower: None,
        integral_level_upper: None,
        integral_level_lower: None,
        integral_unplaced: None,
    };
    let policy = ComparedPolicy::new("best-fit", instance, figures, bounds, None, Some(0.001));
    let instance = InstanceStamp::new(instance, SHA256);
    Document::new(Comparison {
        instance,
        backend: "auto".into(),
        seed: 0,
        in_groups: false,
        under_quotas: false,
        weighted: false,
        counted_guarantees: None,
        bounds,
        allocated: None,
        policies: vec![policy],
    })
}

fn fits_schema(name: &str, bytes: &[u8]) {
    let schema = Format::named(name).unwrap().schema().to_value();
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    // A schema that accepts anything would pass too: every member at the top must be required or described.
    let mut extra = document;
    extra["unknown"] = Value::Bool(true);
    assert!(!validator.is_valid(&extra), "{name}: accepts unknown members");
}

#[test]
fn what_is_written_line_by_line_is_what_the_document_type_holds() {
    let (instance, bytes, _) = fig1_bytes();
    let read: SolutionDocument<Vec<UserResult>> = read_json("r", &bytes).unwrap();
    assert_eq!(written(&read), bytes);
    assert_eq!(read.value, 10.0 * (1.0 - 1e-15) / 14.0);
    assert_eq!(read.users.len(), instance.user_count());
    assert_eq!(read.server_classes[0].price.as_ref().unwrap().get("cpu"), Some(5.0 / 28.0));
    assert_eq!(read.price_groups, [["high-memory"], ["high-cpu"]]);
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("\"limited_by\"")).collect();
    assert_eq!(lines.len(), 2, "one user a line");
}

#[test]
fn real_outputs_fit_their_schemas() {
    fits_schema("solution", &fig1_bytes().1);
    for servers in [true, false] {
        fits_schema("placement", &placement_bytes(servers).1);
    }
    let (instance, placement) = placed();
    let figures = PlacementFigures::new(&instance, &placement);
    let comparison = written(&compared(&instance, &figures));
    fits_schema("comparison", &comparison);
    let read: Document<Comparison> = read_json("r", &comparison).unwrap();
    assert!((read.policies[0].gap_to_divisible.unwrap() - (1.0 - 20.0 / 21.0)).abs() < 1e-15);
    assert_eq!(written(&read), comparison);

    let verdicts = verify_placement(&instance, &(&placement).into());
    let stamp = InstanceStamp::new(&instance, &"0".repeat(64));
    let verification = written(&Document::new(Verification::of_instance(stamp, "x", &verdicts)));
    fits_schema("verification", &verification);
    assert!(read_json::<Document<Verification>>("r", &verification).unwrap().holds);

    let exhibit = Exhibit { id: "e", source: "s" };
    let reproduction = written(&ReproductionBody::new(
        vec![exhibit.says("one").number("q", 1.0, 1.5, 0.1)],
        Vec::new(),
        &[
            KnownReason { exhibit: "e", of: &["other"], standing: Standing::Refuted, why: "not of q" },
            KnownReason { exhibit: "e", of: &["q"], standing: Standing::Explained, why: "why" },
            KnownReason { exhibit: "f", of: &[], standing: Standing::Unexplained, why: "" },
        ],
    ));
    fits_schema("reproduction", &reproduction);
    let read = read_json::<ReproductionDocument>("r", &reproduction).unwrap();
    assert_eq!((read.agrees, read.reasons.len(), &*read.reasons[0].why), (false, 1, "why"));
    assert_eq!(read.numbers[0].standing, Standing::Explained);
    assert!(
        crate::summary::reproduction(&read).contains("e: s\n")
            && crate::summary::reproduction(&read).contains("why")
    );
    let agreeing = vec![
        exhibit.says("one").number("q", 1.0, 1.05, 0.1),
        exhibit.says("one to two").range("q", Interval::between(1.0, 2.0), 2.05, 0.1),
        exhibit.says("more").words("q", Interval::at_least(1.0), 1.0),
    ];
    let why = KnownReason { exhibit: "e", of: &[], standing: Standing::Explained, why: "why" };
    assert!(ReproductionBody::new(agreeing, Vec::new(), &[why]).reasons.is_empty());
}

#[test]
fn written_instances_fit_their_schema_and_what_is_refused_does_not() {
    let mut bytes = Vec::new();
    files::write_json(&drfh_fig4(&[1, 2, 3]).unwrap(), &mut bytes).unwrap();
    fits_schema("instance", &bytes);
    let validator =
        jsonschema::validator_for(&Format::named("instance").unwrap().schema().to_value()).unwrap();
    let good: Value = serde_json::from_slice(&bytes).unwrap();
    let optional = serde_json::json!({"weight": 2.5, "tasks": 3, "eligible": [], "rates": {"a": 0.5}});
    for (name, value) in optional.as_object().unwrap() {
        let mut more = good.clone();
        more["users"][0][name] = value.clone();
        assert!(validator.is_valid(&more), "{name}");
    }
    for (place, value) in [
        ("/format", "fairplan.instance.v2".into()),
        ("/users/0/demand/cpu", (-1).into()),
        ("/users/0/demand/cpu", "1".into()),
        ("/users/0/id", "".into()),
        ("/users", Value::Array(Vec::new())),
        ("/server_classes/0/count", 1.5.into()),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        assert!(!validator.is_valid(&bad), "{place}");
    }
}

#[test]
fn a_solution_read_back_verifies() {
    let (instance, bytes, sha256) = fig1_bytes();
    let document: SolutionDocument = read_json("r", &bytes).unwrap();
    let stated = StatedSolution::new(&document, &instance, &sha256).unwrap();
    let proof = verify_solution(&instance, &stated.claim());
    assert!(proof.holds(), "{:?}", proof.failures().collect::<Vec<_>>());
}

#[test]
fn a_result_of_another_instance_is_named_as_such() {
    let (instance, bytes, sha256) = fig1_bytes();
    let text = String::from_utf8(bytes).unwrap();
    let foreign = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let document: SolutionDocument = read_json("r", changed.as_bytes()).unwrap();
        StatedSolution::new(&document, &instance, &sha256).unwrap_err().to_string()
    };
    assert!(foreign(&sha256, &"0".repeat(64)).contains("is the hash of another instance"));
    assert!(foreign("DRFH paper", "DRF paper").starts_with("instance.name = DRF paper"));
    assert_eq!(foreign("user-1", "user-2"), "users[0] = user-2: the instance has user-1 here");
    assert_eq!(foreign(r#"{"class": "high-memory""#, r#"{"class": "x""#), "users = x: no such server class");
    assert!(foreign(r#""memory": 0.0"#, r#""gpu": 0.0"#).contains("the resources are cpu, memory"));
    assert!(foreign(r#"["high-memory"],"#, "").contains("the prices of the certificate make 2 groups"));
    let last_user = text.lines().find(|line| line.contains("\"id\": \"user-2\"")).unwrap();
    let before = text.lines().find(|line| line.contains("\"id\": \"user-1\"")).unwrap();
    let missing = foreign(&format!("{before}\n{last_user}"), before.trim_end_matches(','));
    assert_eq!(missing, "users = 1 entries: the instance has 2");
}

#[test]
fn duplicate_and_unknown_keys_and_other_versions_are_refused() {
    let (_, bytes, _) = fig1_bytes();
    let text = String::from_utf8(bytes).unwrap();
    let refused = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        read_json::<SolutionDocument>("r", changed.as_bytes()).unwrap_err().to_string()
    };
    assert!(refused("solution.v1", "solution.v2").contains("expected fairplan.solution.v1"));
    assert!(refused("\"value\":", "\"value\": 1, \"value\":").contains("duplicate field `value`"));
    assert!(refused("\"level\": 0,", "\"level\": 0, \"level\": 0,").starts_with("r: users[0]"));
    assert!(refused("\"method\":", "\"extra\": 1, \"method\":").contains("unknown field `extra`"));
    assert!(refused("\"cpu\":", "\"cpu\": 0, \"cpu\":").contains("duplicate resource `cpu`"));
    assert!(refused("\"tasks\":", "\"tasks\": NaN, \"x\":").contains("line"));
    assert!(refused("\"value\": 0", "\"value\": 1e999, \"x\": 0").contains("number out of range"));
    assert!(refused("\"value\": 0", "\"value\": null, \"x\": 0").contains("invalid type: null"));
}

#[test]
fn every_truncation_is_refused() {
    let (_, bytes, _) = fig1_bytes();
    for length in 0..bytes.len() - 1 {
        if let Ok(document) = read_json::<SolutionDocument<Vec<UserResult>>>("r", &bytes[..length]) {
            assert_eq!(written(&document), bytes, "only the last newline may be missing");
        }
    }
}

#[test]
fn without_timing_nothing_depends_on_the_clock() {
    let (instance, solution, sha256) = fig1();
    let slower = Solution {
        statistics: Statistics { seconds: 9.0, ..solution.statistics.clone() },
        ..solution.clone()
    };
    let bytes = |solution: &Solution| {
        let headline = Headline::new(&instance, solution);
        written(&solution_document(&instance, solution, &headline, &sha256, false))
    };
    assert_eq!(bytes(&solution), bytes(&slower));
}

#[test]
fn a_user_held_by_its_tasks_below_the_first_level_takes_the_price_away() {
    let (instance, mut solution, _) = fig1();
    assert!(Headline::new(&instance, &solution).has_prices());
    let mut five_tasks = Draft::from(&instance);
    five_tasks.users[0].tasks = Some(5);
    let instance = five_tasks.build().unwrap();
    solution.allocation = Allocation::from_matrix(2, &[5.0, 0.0, 0.0, 9.0]);
    solution.limited_by[0] = LimitedBy::Tasks;
    let headline = Headline::new(&instance, &solution);
    assert!(!headline.has_prices());
    assert!((headline.value - 5.0 / 14.0).abs() < 1e-15);
    assert_eq!((headline.bound, headline.relative_gap), (headline.value, 0.0));
}

#[test]
fn a_placement_read_back_verifies_and_needs_its_servers() {
    let (instance, bytes, sha256) = placement_bytes(true);
    let document: PlacementDocument = read_json("r", &bytes).unwrap();
    assert_eq!(written(&document), bytes);
    let stated = StatedPlacement::new(&document, &instance, &sha256).unwrap();
    let verdicts = verify_placement(&instance, &stated.claim());
    assert!(verdicts.iter().all(|verdict| verdict.holds), "{verdicts:?}");

    let (_, bytes, _) = placement_bytes(false);
    let document: PlacementDocument = read_json("r", &bytes).unwrap();
    let error = StatedPlacement::new(&document, &instance, &sha256).unwrap_err().to_string();
    assert_eq!(error, "servers: is missing, and nothing can be checked without it; place with --servers-out");
}

fn file_of(body: impl FnOnce(&mut Sink) -> std::io::Result<()>) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    Destination::new(Some(&path)).unwrap().write(body).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn the_csv_table_of_a_solution_has_a_row_a_user() {
    let (instance, solution, _) = fig1();
    let bytes = file_of(|out| write_table(out, TableFormat::Csv, &users_of(&instance, &solution)));
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        text.starts_with("id,dominant_resource,dominant_share,tasks,limited_by,level\nuser-1,memory,0.714")
    );
    assert!(text.ends_with(",capacity,0\n"));
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn the_parquet_table_of_a_solution_holds_what_the_csv_table_holds() {
    let (instance, solution, _) = fig1();
    let bytes = file_of(|out| {
        write_table(out, TableFormat::Columns(Columnar::Parquet), &users_of(&instance, &solution))
    });
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let batches: Vec<_> = builder.build().unwrap().map(|batch| batch.unwrap()).collect();
    assert_eq!((batches.len(), batches[0].num_rows()), (1, 2));
    let names: Vec<String> = batches[0].schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names.join(","), "id,dominant_resource,dominant_share,tasks,limited_by,level");
    let tasks = batches[0]["tasks"].as_any().downcast_ref::<Float64Array>().unwrap();
    assert_eq!(tasks.value(1), solution.allocation.tasks(UserId(1)));
}

#[test]
fn the_other_tables_are_written_in_all_formats() {
    let (instance, placement) = placed();
    let figures = PlacementFigures::new(&instance, &placement);
    let settings = PlacementSettings { policy: "best-fit", seed: 0, servers: false, divisions: &[] };
    let document = placement_document(&instance, &placement, &figures, "", settings);
    let text = file_of(|out| write_table(out, TableFormat::Csv, &document.table()));
    assert!(text.ends_with(b",10\n"), "{}", String::from_utf8_lossy(&text));
    assert!(
        file_of(|out| write_table(out, TableFormat::Columns(Columnar::Parquet), &document.table()))
            .starts_with(b"PAR1")
    );

    let comparison = compared(&instance, &figures);
    let text = file_of(|out| write_table(out, TableFormat::Csv, &comparison.table()));
    let header = "name,value,level,tasks,unplaced,gap_to_divisible,gap_to_divisible_level,gap_to_integral_level,\
                  gap_to_integral,proved_optimal,seconds,\
                  utilization_cpu,utilization_memory\n";
    assert!(text.starts_with(header.as_bytes()), "{}", String::from_utf8_lossy(&text));
    assert!(
        file_of(|out| write_table(out, TableFormat::Columns(Columnar::Parquet), &comparison.table()))
            .starts_with(b"PAR1")
    );
}

#[test]
fn an_arrow_file_and_parquet_hold_the_same_columns_and_answers_are_answers() {
    let (instance, placement) = placed();
    let figures = PlacementFigures::new(&instance, &placement);
    let comparison = compared(&instance, &figures);
    let of = |format| file_of(|out| write_table(out, TableFormat::Columns(format), &comparison.table()));
    let arrow =
        arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(of(Columnar::Arrow)), None).unwrap();
    let arrow: Vec<_> = arrow.map(|batch| batch.unwrap()).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&of(Columnar::Parquet)).unwrap();
    let parquet = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let parquet: Vec<_> = parquet.map(|batch| batch.unwrap()).collect();
    assert_eq!(arrow[0].columns(), parquet[0].columns());
    assert_eq!(arrow[0]["proved_optimal"].data_type(), &arrow_schema::DataType::Boolean);
}

#[test]
fn columns_that_are_kept_say_what_their_single_cells_say() {
    const ROWS: usize = 70_000;
    let mut names = IdTable::default();
    (0..ROWS).for_each(|row| _ = names.push(&format!("user {row} {}", "é".repeat(row % 5))));
    let numbers: Vec<f64> = (0..ROWS).map(|row| row as f64 / 3.0).collect();
    let positions: Vec<u32> = (0..ROWS as u32).rev().collect();
    let words = ["capacity", "more than twelve letters", ""];
    let plain = Table::over(ROWS, |row| row)
        .column("id", "", Kind::Id, |row| names.get(row))
        .column("word", "", Kind::Words, |row| words[row % 3])
        .column("number", "", Kind::Number, |row| numbers[row])
        .column("position", "", Kind::Position, |row| positions[row])
        .done();
    let kept = plain
        .clone()
        .kept("id", Kept::Texts(&names))
        .kept(
            "word",
            Kept::Chosen(Chosen::new(words.to_vec(), &positions, |at| (ROWS - 1 - *at as usize) % 3)),
        )
        .kept("number", Kept::Numbers(&numbers))
        .kept("position", Kept::Positions(&positions));
    assert!(kept.columns().iter().all(|column| column.kept().is_some()));
    assert!(plain.clone().kept("number", Kept::Numbers(&numbers[1..])).columns()[2].kept().is_none());
    assert!(kept.clone().only_rows(|row| row != 1).columns().iter().all(|column| column.kept().is_none()));
    let expected = batches(&plain, TextForm::Plain).unwrap();
    assert_eq!(batches(&kept, TextForm::Plain).unwrap(), expected);
    let views = batches(&kept, TextForm::Views).unwrap();
    for (views, expected) in views.iter().zip(&expected) {
        for name in ["id", "word"] {
            let views = views[name].as_any().downcast_ref::<StringViewArray>().unwrap();
            let expected = expected[name].as_any().downcast_ref::<StringArray>().unwrap();
            assert!(views.iter().eq(expected.iter()));
        }
        assert_eq!(views.columns()[2..], expected.columns()[2..]);
    }
    let infinite = Table::over(1, |row| row).column("n", "", Kind::Number, |_| 1.0).done();
    let infinite = infinite.kept("n", Kept::Numbers(&[f64::INFINITY]));
    assert!(batches(&infinite, TextForm::Plain).unwrap_err().to_string().contains("not finite"));
}

#[test]
fn the_users_of_a_checked_solution_are_those_of_any() {
    let (instance, solution, _) = fig1();
    let numbers = StatedNumbers::new(&instance, &solution);
    let stated = stated_users_of(&instance, &solution, &numbers);
    assert!(stated.columns().iter().all(|column| column.kept().is_some()));
    let plain = batches(&users_of(&instance, &solution), TextForm::Plain).unwrap();
    assert_eq!(batches(&stated, TextForm::Plain).unwrap(), plain);
    for (at, reason) in LimitedBy::ALL.iter().enumerate() {
        assert_eq!(*reason as usize, at);
    }
}
