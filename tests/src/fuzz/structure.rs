//! Damage to structure: parts of a document dropped, repeated, exchanged, nested, emptied, made something else.

use crate::Dice;
use serde_json::{Map, Value, json};

/// One change to a JSON document, to one JSON line, or to the lines and columns of any other text.
pub(super) fn damage(dice: &mut Dice, content: Vec<u8>) -> Vec<u8> {
    if let Ok(document) = serde_json::from_slice::<Value>(&content) {
        let text = changed(dice, document);
        return if dice.percent(10) { doubled_key(dice, &text) } else { text }.into_bytes();
    }
    let Ok(text) = String::from_utf8(content.clone()) else { return content };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if lines.is_empty() {
        return content;
    }
    let at = dice.below(lines.len() as u64) as usize;
    if let Ok(document) = serde_json::from_str::<Value>(&lines[at])
        && document.is_object()
    {
        lines[at] = changed(dice, document) + "\n";
        return lines.concat().into_bytes();
    }
    let other = dice.below(lines.len() as u64) as usize;
    match dice.below(11) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 => lines.swap(at, other),
        3 => lines.truncate(at),
        4 => drop(lines.drain(..at)),
        5 => lines.truncate(1),
        6 if dice.percent(5) => {
            // Many like one of them, each with a number of its own.
            let line = lines[at].clone();
            lines.extend((0..20_000).map(|number| numbered(&line, number)));
        }
        7 => {
            lines[at] = format!("{}{}", " ".repeat(dice.below(5) as usize), lines[at].trim_start_matches(' '))
        }
        8 => lines = columns(dice, &lines, |cells, at, other| cells.swap(at, other)),
        9 => lines = columns(dice, &lines, |cells, at, _| drop(cells.remove(at))),
        10 => lines = columns(dice, &lines, |cells, at, other| cells[at] = cells[other].clone()),
        _ => lines.insert(at, "\n".into()),
    }
    lines.concat().into_bytes()
}

/// The line with `number` behind its first word.
fn numbered(line: &str, number: usize) -> String {
    let start = line.find(char::is_alphanumeric).unwrap_or(0);
    let end =
        line[start..].find(|letter: char| !letter.is_alphanumeric()).map_or(line.len(), |end| start + end);
    format!("{}{number}{}", &line[..end], &line[end..])
}

/// Does the same to the comma-separated cells of every line.
fn columns(dice: &mut Dice, lines: &[String], change: fn(&mut Vec<String>, usize, usize)) -> Vec<String> {
    let count = lines[0].split(',').count() as u64;
    let (at, other) = (dice.below(count) as usize, dice.below(count) as usize);
    let line = |line: &String| {
        let (cells, end) = line.strip_suffix('\n').map_or((line.as_str(), ""), |cells| (cells, "\n"));
        let mut cells: Vec<String> = cells.split(',').map(str::to_owned).collect();
        if at.max(other) < cells.len() {
            change(&mut cells, at, other);
        }
        cells.join(",") + end
    };
    lines.iter().map(line).collect()
}

/// The document with one of its values changed.
fn changed(dice: &mut Dice, mut document: Value) -> String {
    let mut pointers = Vec::new();
    list(&document, String::new(), &mut pointers);
    let at = pointers[dice.below(pointers.len() as u64) as usize].clone();
    let other = document.pointer(&pointers[dice.below(pointers.len() as u64) as usize]).cloned();
    if let Some(value) = document.pointer_mut(&at) {
        let old = value.take();
        *value = one(dice, old, other.unwrap_or_default());
    }
    document.to_string()
}

fn list(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| list(item, format!("{pointer}/{at}"), found))
        }
        Value::Object(fields) => fields.iter().for_each(|(key, item)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            list(item, format!("{pointer}/{key}"), found);
        }),
        _ => {}
    }
    found.push(pointer);
}

/// What becomes of one value.
fn one(dice: &mut Dice, old: Value, other: Value) -> Value {
    const ODD: [&str; 14] = [
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "0",
        "-1",
        "1e300",
        "0.1",
        "18446744073709551615",
        "\"x\"",
        "[[]]",
        "1e-300",
        "\"\\u0000\"",
    ];
    match (dice.below(9), old) {
        (0, _) => other,
        (1, _) => serde_json::from_str(ODD[dice.below(ODD.len() as u64) as usize]).unwrap_or_default(),
        (2, old) => json!([old]),
        (3, old) => json!({"x": old}),
        (4, Value::Array(mut items)) if !items.is_empty() => {
            let at = dice.below(items.len() as u64) as usize;
            if dice.percent(50) {
                drop(items.remove(at))
            } else {
                items.push(items[at].clone())
            }
            Value::Array(items)
        }
        (5, Value::Array(mut items)) if !items.is_empty() => {
            let count = items.len() as u64;
            items.swap(dice.below(count) as usize, dice.below(count) as usize);
            Value::Array(items)
        }
        (6, Value::Array(items)) if dice.percent(3) && !items.is_empty() => {
            (0..10_000).map(|number| renamed(&items[number % items.len()], number)).collect()
        }
        (4 | 5, Value::Object(fields)) if !fields.is_empty() => {
            let key =
                fields.keys().nth(dice.below(fields.len() as u64) as usize).cloned().unwrap_or_default();
            let fields = fields.into_iter().filter_map(|(name, value)| match name == key {
                true if value.is_null() => None,
                true => Some((format!("{name}x"), value)),
                false => Some((name, value)),
            });
            Value::Object(fields.collect())
        }
        (6, Value::Object(mut fields)) => {
            let key = fields.keys().next().cloned().unwrap_or_default();
            fields.remove(&key);
            Value::Object(fields)
        }
        (7, Value::Object(fields)) => Value::Array(fields.into_iter().map(|(_, value)| value).collect()),
        (7, Value::Array(items)) => {
            let keyed = items.into_iter().enumerate().map(|(at, item)| (at.to_string(), item));
            Value::Object(keyed.collect::<Map<_, _>>())
        }
        (7, Value::String(text)) => text.parse::<f64>().map_or(Value::Null, |number| json!(number)),
        (7, Value::Number(number)) => Value::String(number.to_string()),
        (8, Value::Object(fields)) if dice.percent(5) => {
            let more = (0..10_000).map(|number| (format!("key-{number}"), json!(number)));
            Value::Object(fields.into_iter().chain(more).collect())
        }
        (_, Value::Number(number)) => {
            let number = number.as_f64().unwrap_or_default();
            match dice.below(4) {
                0 => json!(-number),
                1 => json!(number * 1e15),
                2 => json!(number * 1e-15),
                _ => json!(number + 1.0),
            }
        }
        (_, old) => old,
    }
}

/// A copy whose texts end in a number.
fn renamed(value: &Value, number: usize) -> Value {
    match value {
        Value::String(text) => Value::String(format!("{text}{number}")),
        Value::Object(fields) => {
            let name = |(key, value): (&String, &Value)| match key.as_str() {
                "id" | "name" | "metadata" => (key.clone(), renamed(value, number)),
                _ => (key.clone(), value.clone()),
            };
            Value::Object(fields.iter().map(name).collect())
        }
        other => other.clone(),
    }
}

/// The document with one key written twice.
fn doubled_key(dice: &mut Dice, text: &str) -> String {
    let keys: Vec<usize> = text.match_indices("\":").map(|(at, _)| at).collect();
    if keys.is_empty() {
        return text.to_owned();
    }
    let colon = keys[dice.below(keys.len() as u64) as usize];
    let start = text[..colon].rfind('"').unwrap_or(0);
    format!("{}{}\":1,{}", &text[..start], &text[start..colon], &text[start..])
}
