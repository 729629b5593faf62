//! Parquet as other programs write it, and as they should not.

use super::*;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, GzipLevel, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::*;
use std::sync::Arc;

type Column = (&'static str, ArrayRef);

/// Writes a Parquet file of one batch.
fn parquet(folder: &Folder, name: &str, columns: Vec<Column>) -> String {
    repeated(folder, name, columns, 1, Compression::UNCOMPRESSED)
}

/// Writes a Parquet file of one batch, so many times, compressed so.
fn repeated(folder: &Folder, name: &str, columns: Vec<Column>, times: usize, codec: Compression) -> String {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(None);
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    (0..times).for_each(|_| writer.write(&batch).unwrap());
    writer.close().unwrap();
    folder.file(name, bytes)
}

#[test]
fn every_usual_codec_is_read() {
    let folder = Folder::new();
    let columns = || -> Vec<Column> {
        let ids = StringArray::from_iter_values((0..3000).map(|user| format!("user-{user}")));
        vec![("id", Arc::new(ids)), ("cpu", Arc::new(Float64Array::from(vec![0.5; 3000])))]
    };
    let read = |codec| {
        let users = repeated(&folder, "users.parquet", columns(), 1, codec);
        json(&crate::files::read_tables(&servers(&folder), &users, None).unwrap())
    };
    let plain = read(Compression::UNCOMPRESSED);
    assert!(plain.contains(r#"{"id": "user-2999", "demand": {"cpu": 0.5}}"#));
    for codec in [
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ] {
        assert_eq!(read(codec), plain, "{codec:?}");
    }
}

#[test]
fn a_few_bytes_do_not_become_endless_rows_or_texts() {
    let folder = Folder::new();
    let told = "expands more than 100 times, beyond 64 MiB; write it as CSV if it is meant so";
    let nobody: Column = ("id", Arc::new(Int64Array::new_null(1 << 20)));
    let rows = repeated(&folder, "rows.parquet", vec![nobody], 65, Compression::UNCOMPRESSED);
    assert!(std::fs::metadata(&rows).unwrap().len() < 640_000);
    let text = message(&folder, crate::files::read_tables(&servers(&folder), &rows, None));
    assert_eq!(text, format!("rows.parquet: metadata: {told}"));
    // Every row is the same text, which the file has once.
    let long = "x".repeat(1 << 18);
    let texts: Column = ("id", Arc::new(StringArray::from(vec![long.as_str(); 100])));
    let times = repeated(&folder, "texts.parquet", vec![texts], 10, Compression::GZIP(GzipLevel::default()));
    assert!(std::fs::metadata(&times).unwrap().len() < 640_000);
    let mut rows = crate::files::open_table(&times).unwrap();
    let read = crate::files::rows::for_each_row(rows.as_mut(), &[], |_| Ok(()));
    let text = message(&folder, read);
    assert!(text.starts_with("texts.parquet: ") && text.ends_with(told), "{text}");
}

#[test]
fn what_ends_too_early_is_told_so() {
    let folder = Folder::new();
    let users: Vec<Column> = vec![("id", Arc::new(StringArray::from(vec!["u"])))];
    let whole = parquet(&folder, "whole.parquet", users);
    let bytes = std::fs::read(whole).unwrap();
    for end in [5, bytes.len() / 2, bytes.len() - 1] {
        let path = folder.file("cut.parquet", "");
        std::fs::write(&path, &bytes[..end]).unwrap();
        let text = message(&folder, crate::files::open_table(&path));
        assert_eq!(text, "cut.parquet: its end: is not that of a Parquet file: the file is truncated");
    }
}

fn servers(folder: &Folder) -> String {
    folder.file("servers.csv", "id,count,cpu,memory\na,3,2,12\nb,1,8,\n")
}

fn read(folder: &Folder, users: Vec<Column>) -> Result<Instance, crate::InstanceError> {
    let users = parquet(folder, "users.parquet", users);
    crate::files::read_tables(&servers(folder), &users, None)
}

#[test]
fn columns_of_any_number_or_text_type_are_read_and_nulls_are_defaults() {
    let folder = Folder::new();
    let decimals = Decimal128Array::from(vec![150, 2]).with_precision_and_scale(10, 2).unwrap();
    let users: Vec<Column> = vec![
        ("id", Arc::new(LargeStringArray::from(vec!["u", "v"]))),
        ("cpu", Arc::new(Float64Array::from(vec![0.1 + 0.2, 1e-7]))),
        ("memory", Arc::new(decimals)),
        ("weight", Arc::new(Float32Array::from(vec![None, Some(0.1)]))),
        ("tasks", Arc::new(Float64Array::from(vec![Some(40.0), None]))),
        ("eligible", Arc::new(StringArray::from(vec![None, Some("b")]))),
        ("rates", Arc::new(StringArray::from(vec![Some("a=2"), Some("")]))),
    ];
    let instance = read(&folder, users).unwrap();
    let text = json(&instance);
    let users: Vec<_> = text.lines().filter(|line| line.contains("demand")).collect();
    assert_eq!(
        users,
        [
            r#"    {"id": "u", "demand": {"cpu": 0.30000000000000004, "memory": 1.5}, "tasks": 40, "rates": {"a": 2}},"#,
            r#"    {"id": "v", "demand": {"cpu": 0.0000001, "memory": 0.02}, "weight": 0.1, "eligible": ["b"]}"#,
        ]
    );
}

#[test]
fn every_integer_type_is_read_and_dictionaries_are_texts() {
    let folder = Folder::new();
    let ids: DictionaryArray<types::Int32Type> = ["u"].into_iter().collect();
    let numbers: [ArrayRef; 8] = [
        Arc::new(Int8Array::from(vec![7])),
        Arc::new(Int16Array::from(vec![7])),
        Arc::new(Int32Array::from(vec![7])),
        Arc::new(Int64Array::from(vec![7])),
        Arc::new(UInt8Array::from(vec![7])),
        Arc::new(UInt16Array::from(vec![7])),
        Arc::new(UInt32Array::from(vec![7])),
        Arc::new(UInt64Array::from(vec![7])),
    ];
    for number in numbers {
        let kind = number.data_type().clone();
        let instance = read(&folder, vec![("id", Arc::new(ids.clone())), ("cpu", number.clone())]).unwrap();
        assert!(json(&instance).contains(r#"{"id": "u", "demand": {"cpu": 7}}"#), "{kind}");
        let instance =
            read(&folder, vec![("id", number), ("cpu", Arc::new(Int8Array::from(vec![1])))]).unwrap();
        assert!(json(&instance).contains(r#"{"id": "7", "demand": {"cpu": 1}}"#), "{kind}");
    }
}

#[test]
fn what_no_decimal_is_names_row_and_column() {
    let folder = Folder::new();
    let with = |number: f64| -> Vec<Column> {
        let ids = StringArray::from_iter_values((0..20_000).map(|user| format!("u{user}")));
        let mut numbers = vec![1.0; 20_000];
        numbers[17_000] = number;
        vec![("id", Arc::new(ids)), ("cpu", Arc::new(Float64Array::from(numbers)))]
    };
    let cases = [
        (f64::NAN, "users.parquet: row 17001, column cpu = NaN: must be a finite number"),
        (f64::INFINITY, "users.parquet: row 17001, column cpu = inf: must be a finite number"),
        (-2.0, "users.parquet: row 17001, column cpu = -2: must be >= 0"),
        (1e300, "is outside the supported range"),
        (0.0, "users.parquet: row 17001: a task must need some resource"),
    ];
    assert_fragments(
        cases.map(|(number, text)| (message(&folder, read(&folder, with(number))), text.to_owned())),
    );
}

#[test]
fn unusable_columns_and_files_are_refused() {
    let folder = Folder::new();
    let id: Column = ("id", Arc::new(StringArray::from(vec!["u"])));
    let one = |name| -> Column { (name, Arc::new(Int64Array::from(vec![1]))) };
    let boolean: Column = ("cpu", Arc::new(BooleanArray::from(vec![true])));
    let wide: Column = ("cpu", Arc::new(Decimal128Array::from(vec![i128::from(u64::MAX) * 7])));
    let whole = std::fs::read(parquet(&folder, "whole.parquet", vec![id.clone(), one("cpu")])).unwrap();
    let bytes = |content: &[u8]| {
        crate::files::read_tables(&servers(&folder), &folder.file("users.parquet", content), None)
    };
    let cases = [
        (
            message(&folder, read(&folder, vec![id.clone(), boolean])),
            "users.parquet: column cpu: has type Boolean",
        ),
        (message(&folder, read(&folder, vec![id.clone(), one("gpu")])), "column gpu: unknown column"),
        (
            message(&folder, read(&folder, vec![id.clone(), one("cpu"), one("cpu")])),
            "column cpu: duplicate column",
        ),
        (message(&folder, read(&folder, vec![one("cpu")])), "users.parquet: schema, column id: is missing"),
        (
            message(&folder, read(&folder, vec![id.clone(), wide])),
            "row 1, column cpu = 129127208515966861305e-10: has more",
        ),
        (message(&folder, bytes(b"id,cpu\nu,1\n")), "users.parquet: is named .parquet but is not Parquet"),
        (message(&folder, bytes(b"PAR1")), "users.parquet: "),
        (message(&folder, bytes(&whole[..whole.len() / 2])), "users.parquet: "),
        (
            message(&folder, crate::files::read_instance(&folder.path("whole.parquet"))),
            "give tables with --servers",
        ),
    ];
    assert_fragments(cases.map(|(text, fragment)| (text, fragment.to_owned())));
}

#[test]
fn damaged_files_never_panic() {
    let folder = Folder::new();
    let ids: Column =
        ("id", Arc::new(StringArray::from_iter_values((0..50).map(|user| format!("user-{user}")))));
    let numbers: Column = ("cpu", Arc::new(Float64Array::from_iter_values((1..51).map(f64::from))));
    let whole = std::fs::read(parquet(&folder, "whole.parquet", vec![ids, numbers])).unwrap();
    let read = |content: &[u8]| {
        crate::files::read_tables(&servers(&folder), &folder.file("users.parquet", content), None)
    };
    for end in 0..whole.len() {
        assert!(read(&whole[..end]).is_err(), "cut after {end} of {} bytes", whole.len());
    }
    let mut refused = 0;
    for position in 0..whole.len() {
        for flip in [0xff, 1 << (position % 8)] {
            let mut bytes = whole.clone();
            bytes[position] ^= flip;
            refused += usize::from(read(&bytes).is_err());
        }
    }
    assert!(refused > 100, "{refused} refused");
}

#[test]
fn numbers_that_no_double_equals_are_not_written() {
    let folder = Folder::new();
    let text = FULL.replace("\"cpu\": 0.2,", "\"cpu\": 0.20000000000000000001,");
    let instance = crate::files::read_instance(&folder.file("a.json", FULL)).unwrap();
    crate::files::write_users(&instance, "users.parquet", &mut Vec::new()).unwrap();
    let text = text.replace("0.20000000000000000001", "0.2000000000000000001");
    let instance = crate::files::read_instance(&folder.file("a.json", text)).unwrap();
    let error =
        crate::files::write_users(&instance, "users.parquet", &mut Vec::new()).unwrap_err().to_string();
    let expected =
        "users.parquet: users[0].demand.cpu = 0.2000000000000000001: has more digits than a double";
    assert!(error.starts_with(expected), "{error}");
}
