//! Files that are not of the format: each refused in one line, none a panic.

use super::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The third row of the slice, whole.
const MACHINE_ROW: [&str; 6] =
    ["0", "1841541", "0", "HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=", "0.5", "0.2493"];
const TASK_ROW: [&str; 13] =
    ["0", "2", "3418375", "0", "6570572", "0", "70s3v5qRyCO", "3", "9", "0.0625", "0.09277", "0.000494", "0"];

/// The slice's first two machines, then this row.
fn with_machine_row(row: &[u8]) -> Files {
    let content: Vec<u8> = [first_rows(MACHINES).as_bytes(), row, b"\n"].concat();
    Files::new(content, &[TASKS_0.as_bytes()])
}

/// The slice's first two task rows, then this one.
fn with_task_row(row: &[u8]) -> Files {
    Files::new(MACHINES, &[&[first_rows(TASKS_0).as_bytes(), row, b"\n"].concat()])
}

fn first_rows(table: &str) -> &str {
    &table[..table.match_indices('\n').nth(1).unwrap().0 + 1]
}

fn replaced<const N: usize>(row: [&str; N], column: usize, value: &[u8]) -> Vec<u8> {
    let mut cells = row.map(str::as_bytes);
    cells[column] = value;
    cells.join(&b',')
}

const TOO_LARGE: &str = "9223372036854775808";
const WHOLE: [&str; 13] =
    ["-1", "1.5", "1e3", "nan", "inf", "0x1", " 1", "1 ", "+1", "\"1\"", "\u{feff}1", "1\r", TOO_LARGE];
const AMOUNT: [(&str, &str); 14] = [
    ("-0.5", "must be >= 0"),
    ("nan", "must be a finite number"),
    ("-inf", "must be a finite number"),
    ("1e999", "is outside the supported range"),
    ("1e-999", "is outside the supported range"),
    ("1.5", "must be <= 1"),
    ("1.0000001", "must be <= 1"),
    ("0.1234567890123456789", "has more than 18 decimals"),
    ("0.92345678901234567891", "has more than 19 significant digits"),
    ("0.5.5", "is not a decimal number"),
    ("half", "is not a decimal number"),
    (" 0.5", "is not a decimal number"),
    ("0.5\0", "is not a decimal number"),
    ("\"0.5\"", "is not a decimal number"),
];
const HASH: [&[u8]; 4] = [b"a\xffb", b"two words", "zwölf".as_bytes(), b"a\x1b[31m"];

/// Column, bad value, what the message says of it.
fn bad_cells(whole: &[(usize, u64, bool)], amounts: &[usize], hash: usize) -> Vec<(usize, Vec<u8>, String)> {
    let mut cells = Vec::new();
    for &(column, most, may_be_empty) in whole {
        let problem = format!("must be a whole number from 0 to {most}");
        cells.extend(WHOLE.map(|value| (column, value.into(), problem.clone())));
        if most < 100 {
            cells.push((column, (most + 1).to_string().into(), problem));
        }
        if !may_be_empty {
            cells.push((column, Vec::new(), "is empty; a whole number is needed".into()));
        }
    }
    for &column in amounts {
        cells.extend(AMOUNT.map(|(value, problem)| (column, value.into(), problem.into())));
    }
    cells.extend(HASH.map(|value| (hash, value.into(), "must be a hash in printable ASCII letters".into())));
    cells
}

fn refused_at(files: &Files, file: &str, column: usize, value: &[u8], problem: &str) {
    let message = files.refusal();
    let shown: String = String::from_utf8_lossy(value).escape_debug().collect();
    let quote = if shown.trim() == shown { "" } else { "\"" };
    let value = if value.is_empty() { String::new() } else { format!(" = {quote}{shown}{quote}") };
    let place = format!("{file}: line 3, column {} (", column + 1);
    assert!(message.starts_with(&place), "{message} does not start with {place}");
    let ending = format!("){value}: {problem}");
    assert!(message.contains(&ending), "{message} lacks {ending}");
}

#[test]
fn every_bad_cell_is_named_with_line_column_and_value() {
    const ID: u64 = i64::MAX as u64;
    let machine_cells = bad_cells(&[(0, ID, false), (1, ID, false), (2, 2, false)], &[4, 5], 3);
    let task_whole = [
        (0, ID, false),
        (1, 2, true),
        (2, ID, false),
        (3, ID, false),
        (4, ID, true),
        (5, 8, false),
        (7, 3, true),
        (8, 11, false),
        (12, 1, true),
    ];
    let task_cells = bad_cells(&task_whole, &[9, 10, 11], 6);
    assert!(machine_cells.len() + task_cells.len() > 240);
    for (column, value, problem) in machine_cells {
        let row = replaced(MACHINE_ROW, column, &value);
        refused_at(&with_machine_row(&row), "machines", column, &value, &problem);
    }
    for (column, value, problem) in task_cells {
        refused_at(&with_task_row(&replaced(TASK_ROW, column, &value)), "part-0", column, &value, &problem);
    }
}

#[test]
fn the_rows_that_the_bad_cells_are_put_into_are_good() {
    assert!(with_machine_row(&replaced(MACHINE_ROW, 0, b"0")).import().is_ok());
    assert!(with_task_row(&replaced(TASK_ROW, 0, b"0")).import().is_ok());
    for column in [1, 4, 7, 11, 12] {
        assert!(
            with_task_row(&replaced(TASK_ROW, column, b"")).import().is_ok(),
            "column {column} may be empty"
        );
    }
}

#[test]
fn rows_of_another_form_are_named_by_their_line() {
    let cases: [(Vec<u8>, &str); 8] = [
        (b"".into(), "line 3: 1 columns instead of 13"),
        (TASK_ROW[..12].join(",").into(), "line 3: 12 columns instead of 13 (time, missing info, job ID"),
        ((TASK_ROW.join(",") + ",").into(), "line 3: 14 columns instead of 13"),
        (TASK_ROW.join(";").into(), "line 3: 1 columns instead of 13"),
        (vec![b','; 4000], "line 3: 4001 columns instead of 13"),
        (vec![b','; 1_000_000], "line 3: is longer than 4096 bytes"),
        (vec![b'7'; 10_000_000], "line 3: is longer than 4096 bytes"),
        (vec![0; 100], "line 3: 1 columns instead of 13"),
    ];
    for (row, problem) in cases {
        let message = with_task_row(&row).refusal();
        assert!(message.starts_with(&format!("part-0: {problem}")), "{message} lacks {problem}");
    }
    let message = with_machine_row(TASK_ROW.join(",").as_bytes()).refusal();
    assert!(message.starts_with("machines: line 3: 13 columns instead of 6 (time, machine ID"), "{message}");
    let header = Files::new(format!("time,id,event,platform,cpu,memory\n{MACHINES}"), &[TASKS_0.as_bytes()]);
    assert_eq!(
        header.refusal(),
        "machines: line 1, column 1 (time) = time: must be a whole number from 0 to 9223372036854775807"
    );
}

#[test]
fn a_long_value_is_shown_by_its_beginning() {
    let message = with_task_row(&replaced(TASK_ROW, 9, &[b'x'; 500])).refusal();
    let shown =
        format!("part-0: line 3, column 10 (CPU request) = {}…: is not a decimal number", "x".repeat(40));
    assert_eq!(message, shown);
}

#[test]
fn half_a_request_or_capacity_is_refused() {
    for (column, problem) in
        [(9, "is empty while the next column is not"), (10, "is empty while the column before is not")]
    {
        refused_at(&with_task_row(&replaced(TASK_ROW, column, b"")), "part-0", column, b"", problem);
    }
    for (column, problem) in
        [(4, "is empty while the next column is not"), (5, "is empty while the column before is not")]
    {
        refused_at(&with_machine_row(&replaced(MACHINE_ROW, column, b"")), "machines", column, b"", problem);
    }
}

#[test]
fn time_that_goes_backwards_is_refused_within_and_across_parts() {
    let backwards = |first: u64, second: u64| {
        let row = |time| format!("{time},,1,{time},,0,u,1,1,0.1,0.1,,\n");
        (row(first), row(second))
    };
    let (first, second) = backwards(9, 8);
    let problem =
        "column 1 (time) = 8: comes after time 9; rows must be sorted by time and parts named in order";
    let mut within = Files::new(MACHINES, &[[first.as_bytes(), second.as_bytes()].concat().as_slice()]);
    within.options.at = 100;
    assert_eq!(within.refusal(), format!("part-0: line 2, {problem}"));
    let mut across = Files::new(MACHINES, &[first.as_bytes(), second.as_bytes()]);
    across.options.at = 100;
    assert_eq!(across.refusal(), format!("part-1: line 1, {problem}"));
    let mut machines = Files::new("5,1,0,p,1,1\n4,2,0,p,1,1\n", &[TASKS_0.as_bytes()]);
    machines.options.at = 100;
    assert!(machines.refusal().starts_with("machines: line 2, column 1 (time) = 4: comes after time 5"));
}

#[test]
fn machine_events_that_contradict_each_other_are_refused() {
    for (rows, problem) in [
        ("0,1,0,p,1,1\n0,1,0,p,1,1\n", "line 2, column 2 (machine ID) = 1: is added but is already there"),
        ("0,1,1,p,1,1\n", "line 1, column 2 (machine ID) = 1: is removed but is not there"),
        ("0,1,2,p,1,1\n", "line 1, column 2 (machine ID) = 1: is updated but is not there"),
        (
            "0,1,0,p,1,1\n0,1,1,p,1,1\n0,1,1,p,1,1\n",
            "line 3, column 2 (machine ID) = 1: is removed but is not there",
        ),
    ] {
        assert_eq!(Files::new(rows, &[TASKS_0.as_bytes()]).refusal(), format!("machines: {problem}"));
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let with_part = |path: &str| {
        let mut files = Files::slice();
        files.options.task_events = vec![
            files.options.task_events[0].clone(),
            files.folder.path().join(path).to_str().unwrap().into(),
        ];
        files.options.at = u64::MAX;
        files
    };
    let files = with_part("missing.csv.gz");
    assert!(files.refusal().starts_with("missing.csv.gz: No such file"), "{}", files.refusal());
    let mut early = with_part("missing.csv.gz");
    early.options.at = 0;
    assert!(early.refusal().starts_with("missing.csv.gz"), "a missing part is named even if not needed");
    let files = with_part("folder");
    std::fs::create_dir(files.folder.path().join("folder")).unwrap();
    assert!(files.refusal().starts_with("folder: is a directory"), "{}", files.refusal());
    let files = with_part("empty.csv");
    files.file("empty.csv", b"");
    assert!(files.refusal().starts_with("empty.csv: the file is empty"), "{}", files.refusal());
    let files = with_part("plain.csv.gz");
    files.file("plain.csv.gz", TASKS_235.as_bytes());
    assert!(files.refusal().starts_with("plain.csv.gz: is named .gz but is not gzip"), "{}", files.refusal());
}

#[test]
fn gzip_truncated_or_flipped_anywhere_is_refused() {
    let whole = gzip(TASKS_0.as_bytes());
    let import = |content: &[u8]| {
        let mut files = Files::new(MACHINES, &[content]);
        files.options.at = u64::MAX;
        files.refusal()
    };
    for length in 0..whole.len() {
        let message = import(&whole[..length]);
        assert!(message.starts_with("part-0: "), "cut to {length} bytes: {message}");
    }
    for position in 10..whole.len() {
        let mut flipped = whole.clone();
        flipped[position] ^= 0x10;
        assert!(import(&flipped).starts_with("part-0: "), "byte {position} flipped");
    }
}

#[test]
fn a_moment_without_machines_or_tasks_is_refused() {
    let mut late = Files::new("5,1,0,p,1,1\n", &[TASKS_0.as_bytes()]);
    assert_eq!(late.refusal(), "machines: no machine of known capacity at time 0");
    late.options.last_shapes = true;
    assert!(late.import().is_ok());
    let mut early = Files::new(MACHINES, &[TASKS_235.as_bytes()]);
    assert_eq!(early.refusal(), "part-0: no task with a request runs or waits at time 0");
    early.options.task_events.clear();
    assert_eq!(early.refusal(), "task events: no task with a request runs or waits at time 0");
    let no_memory = Files::new("0,1,0,p,1,0\n", &[TASKS_0.as_bytes()]);
    assert_eq!(
        no_memory.refusal(),
        "machines, part-0: users[0].demand.memory = 0.083615: no server has any memory; \
         add servers with memory or drop the demand"
    );
}

/// Changes a few bytes: overwritten, removed, doubled, or a stretch copied elsewhere.
fn mutate(content: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    const LIKELY: &[u8] = b"0123456789,,,\n\n.-+eE\r\0\"\xff nai";
    let mut bytes = content.to_vec();
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    for _ in 0..=below(4) {
        let at = below(bytes.len());
        match below(5) {
            0 => bytes[at] = LIKELY[below(LIKELY.len())],
            1 => bytes[at] ^= 1 << below(8),
            2 => drop(bytes.drain(at..(at + 1 + below(80)).min(bytes.len()))),
            3 => bytes.insert(at, LIKELY[below(LIKELY.len())]),
            _ => {
                let stretch = bytes[at..(at + 1 + below(80)).min(bytes.len())].to_vec();
                let to = below(bytes.len());
                bytes.splice(to..to, stretch);
            }
        }
        if bytes.is_empty() {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[test]
fn mutated_files_are_imported_or_refused_in_one_line() {
    let mut random = ChaCha8Rng::from_seed([3; 32]);
    let mut files = Files::slice();
    files.options.at = u64::MAX - 1;
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..3_000 {
        let (machines, tasks) = match round % 2 {
            0 => (mutate(MACHINES.as_bytes(), &mut random), TASKS_0.as_bytes().to_vec()),
            _ => (MACHINES.as_bytes().to_vec(), mutate(TASKS_0.as_bytes(), &mut random)),
        };
        files.file("machines", &machines);
        files.file("part-0", &tasks);
        match files.import() {
            Err(error) => {
                let text = error.to_string();
                assert!(
                    !text.contains('\n') && text.starts_with(files.folder.path().to_str().unwrap()),
                    "{text}"
                );
                refused += 1;
            }
            Ok((instance, report)) => {
                assert_eq!(instance.server_count(), report.machines);
                let tasks: u64 = instance.users().map(|user| user.tasks().unwrap()).sum();
                let left_out =
                    report.tasks_without_request + report.tasks_without_user + report.tasks_asking_nothing;
                assert_eq!(tasks + left_out, report.running + report.waiting);
                accepted += 1;
            }
        }
    }
    assert!(accepted > 150 && refused > 1_500, "{accepted} accepted, {refused} refused");
}
