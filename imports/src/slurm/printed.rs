//! Documents that Slurm printed.

use fairplan_instances::InstanceError;
use fairplan_instances::wording::printable;
use serde_json::Value;

/// An error that Slurm reports: `Zero Bytes were transmitted or received (slurm_load_jobs: Failure to query jobs)`.
fn said(error: &Value) -> String {
    let text = |key: &str| error.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let behind: Vec<&str> = ["source", "description"].into_iter().filter_map(text).collect();
    match (text("error").or(error.as_str()), behind.is_empty()) {
        (Some(error), true) => error.to_owned(),
        (Some(error), false) => format!("{error} ({})", behind.join(": ")),
        (None, false) => behind.join(": "),
        (None, true) => error.to_string(),
    }
}

/// The array `key` of a document that Slurm printed, or what the document has instead.
pub(super) fn array<'a>(
    file: &str,
    document: &'a Value,
    keys: &[&str],
    command: &str,
) -> Result<(usize, &'a [Value]), InstanceError> {
    if let Some(Value::Array(errors)) = document.get("errors")
        && let Some(first) = errors.first()
    {
        let problem = format!("Slurm could not answer: {}; ask again with `{command}`", said(first));
        return Err(InstanceError::Malformed { file: file.into(), place: "errors".into(), problem });
    }
    for (position, key) in keys.iter().enumerate() {
        if let Some(Value::Array(elements)) = document.get(key) {
            return Ok((position, elements));
        }
    }
    let place = match document.as_object() {
        Some(object) if object.is_empty() => "is an empty object".into(),
        Some(object) => {
            // Of an empty name nothing would be seen without quotes.
            let named = |key: &String| if key.is_empty() { "\"\"".to_owned() } else { printable(key, 60) };
            let members = object.keys().map(|key| match keys.contains(&key.as_str()) {
                true => format!("{key} that is no list"),
                false => named(key),
            });
            format!("has {}", members.collect::<Vec<_>>().join(", "))
        }
        None => "is no JSON object".into(),
    };
    let problem = format!("expected a list {}; `{command}` prints it", keys.join(" or "));
    Err(InstanceError::Malformed { file: file.into(), place, problem })
}
