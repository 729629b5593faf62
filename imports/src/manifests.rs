//! Kubernetes objects from JSON or YAML: single ones, several in a file, and lists of them.

use super::misspelt::{self, Known};
use super::report::ImportReport;
use fairplan_instances::files::source;
use fairplan_instances::wording::{TRUNCATED, printable, thousands};
use fairplan_instances::{InstanceError, Violation};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// One object, its fields not yet understood.
pub(super) struct Manifest {
    file: String,
    /// `Node`, `Pod`, `ClusterQueue`; empty where the file names none.
    pub(super) kind: String,
    /// `NAMESPACE/NAME`, or the name alone; of an object without one its place in the file.
    pub(super) name: String,
    content: Value,
}

impl Manifest {
    /// The object as what it should be; unknown fields are no concern of an importer.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, InstanceError> {
        serde_path_to_error::deserialize(&self.content).map_err(|error| {
            let (path, mut problem) = (error.path().to_string(), plain(&error.inner().to_string()));
            let is_scalar =
                ["integer", "floating point", "boolean"].iter().any(|kind| problem.contains(kind));
            // YAML takes 08 and yes for a number and an answer; of its digits nothing is left here.
            if is_scalar && problem.ends_with("expected a string") {
                problem += "; write it in quotes";
            }
            self.refused(&path, "", &problem)
        })
    }

    /// Counts fields of its `spec` that are none of the known ones ([`misspelt::fields`]).
    pub(super) fn misspelt(&self, known: &[&str], own: &[&str], report: &mut ImportReport) {
        if let Some(spec) = self.content.get("spec") {
            let of = format!("{} {}", self.kind, self.name);
            misspelt::fields(&of, spec, Known { fields: known, own }, report);
        }
    }

    /// Refuses what is no object of its kind at all, such as what other commands print, of which `command` prints none.
    pub(super) fn is_of_kubernetes(&self, command: &str) -> Result<(), InstanceError> {
        let has = |key: &str| self.content.get(key).is_some();
        if has("metadata") || has("spec") || has("status") {
            return Ok(());
        }
        let is_slurms = ["jobs", "nodes", "sinfo", "partitions"].into_iter().any(has);
        let looks =
            if is_slurms { "this looks like what a command of Slurm prints with --json; " } else { "" };
        let problem = format!(
            "has no metadata and no spec, so it is no {}; {looks}write what `{command}` prints",
            self.kind
        );
        Err(self.refused("", "", &problem))
    }

    /// The error that names this object, one of its fields, the value there and what is wrong with it.
    pub(super) fn refused(&self, field: &str, value: &str, problem: &str) -> InstanceError {
        let place = in_field(&format!("{} {}", self.kind, self.name), field);
        InstanceError::Invalid { file: self.file.clone(), violation: Violation::new(place, value, problem) }
    }
}

/// The objects of all `files`, in order; `-` is standard input, gzip is recognised. `command` makes such files.
pub(super) fn read(files: &[String], command: &str) -> Result<Vec<Manifest>, InstanceError> {
    read_as(files, None, command)
}

/// The same where objects that do not say their kind are of `kind`, as in answers of the API that were cut out.
pub(super) fn read_as(
    files: &[String],
    kind: Option<&str>,
    command: &str,
) -> Result<Vec<Manifest>, InstanceError> {
    let mut found = Vec::new();
    for path in files {
        for document in documents(path, command)? {
            collect(path, document, kind, &mut found)?;
        }
    }
    Ok(found)
}

/// Those of `manifests` that are of one of `kinds`; counts the others.
pub(super) fn of_kinds(manifests: Vec<Manifest>, kinds: &[&str], report: &mut ImportReport) -> Vec<Manifest> {
    let (wanted, others): (Vec<_>, Vec<_>) =
        manifests.into_iter().partition(|manifest| kinds.contains(&manifest.kind.as_str()));
    for other in others {
        report.one(format!("objects of kind {} left out", other.kind));
    }
    wanted
}

/// The place of a field of an object; of the object itself where the path of a deserializer names none.
pub(super) fn in_field(object: &str, field: &str) -> String {
    if field.is_empty() || field == "." { object.to_owned() } else { format!("{object}: {field}") }
}

/// What a deserializer says of a value, without words of the program.
pub(super) fn plain(message: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("expected u64", "expected a whole number >= 0"),
        ("expected u32", "expected a whole number >= 0"),
        ("expected i64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected an object"),
        ("invalid type: map", "invalid type: an object"),
        ("invalid type: sequence", "invalid type: a list"),
    ];
    let mut text = message.to_owned();
    for (word, plain) in WORDS {
        text = text.replace(word, plain);
    }
    match text.split_once("expected struct ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
            format!("{before}expected an object{rest}")
        }
        None => text,
    }
}

/// What was left out for its kind, behind what is not there: `, but 6 objects of kind Node`. The report must be of these files alone.
pub(super) fn instead(report: &ImportReport) -> String {
    let others: Vec<String> = report
        .counts()
        .filter_map(|(count, what)| {
            let what = what.strip_prefix("objects of kind ")?.strip_suffix(" left out")?;
            Some(format!("{count} {} of kind {what}", if count == 1 { "object" } else { "objects" }))
        })
        .collect();
    if others.is_empty() { String::new() } else { format!(", but {}", others.join(", ")) }
}

/// The JSON values or YAML documents of a file, such as `command` prints.
pub(super) fn documents(path: &str, command: &str) -> Result<Vec<Value>, InstanceError> {
    documents_of(source::open(path)?, command)
}

/// The same of what is open.
pub(super) fn documents_of(source: source::Source, command: &str) -> Result<Vec<Value>, InstanceError> {
    let file = source.name().to_owned();
    documents_in(file, &source.read_all()?, command)
}

/// The same of the content of a file, or of a text that stands in it.
pub(super) fn documents_in(file: String, content: &[u8], command: &str) -> Result<Vec<Value>, InstanceError> {
    let first = first_line(content);
    let message = |file: String, (line, text): (usize, String)| {
        let text = printable(&text, 200);
        let problem = format!("\"{text}\" is no object of JSON or YAML; write only what `{command}` prints");
        InstanceError::Malformed { file, place: format!("line {line}"), problem }
    };
    if let Some(first) = first.clone().filter(|(_, text)| is_message(text)) {
        return Err(message(file, first));
    }
    let is_json =
        content.trim_ascii_start().starts_with(b"{") || content.trim_ascii_start().starts_with(b"[");
    let read = if is_json { json(content) } else { yaml(content) };
    // Of YAML too the first document may begin like that.
    let read = read.or_else(|fault| if is_json { yaml(content).map_err(|_| fault) } else { Err(fault) });
    let documents = match read {
        Ok(documents) => documents,
        Err((place, problem)) => {
            // Where not even the first line can be read it is of something else.
            let is_there =
                |(line, _): &(usize, String)| !is_json && place.starts_with(&format!("line {line},"));
            return Err(match first.filter(is_there) {
                Some(first) => message(file, first),
                None => {
                    let problem = problem + meant(content).unwrap_or_default();
                    InstanceError::Malformed { file, place, problem }
                }
            });
        }
    };
    if let Some(status) = documents.iter().find(|document| is_failure(document)) {
        let message = status.get("message").and_then(Value::as_str).unwrap_or("a failure without a message");
        let problem = format!(
            "the API server answered: {}; ask again with `{command}`",
            printable(message.trim_end_matches('.'), 200)
        );
        return Err(InstanceError::Malformed { file, place: "kind = Status".into(), problem });
    }
    if let Some(list) = documents.iter().flat_map(lists).find(|list| is_continued(list)) {
        let left =
            list.get("metadata").and_then(|data| data.get("remainingItemCount")).and_then(Value::as_u64);
        let more = left.map_or_else(|| "more".into(), |left| format!("{} more", thousands(left)));
        let problem = format!(
            "the list is cut off: {more} objects come behind these; ask for all of them at once, as `{command}` does, without a limit"
        );
        return Err(InstanceError::Malformed { file, place: "metadata.continue".into(), problem });
    }
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}

/// A document, or those that a JSON array has together.
fn lists(document: &Value) -> impl Iterator<Item = &Value> {
    let together = document.as_array();
    together.into_iter().flatten().chain(together.is_none().then_some(document))
}

/// Whether it is one page of a list: where the API is asked for so many objects at most, it says where the others begin.
fn is_continued(list: &Value) -> bool {
    let more = list.get("metadata").and_then(|data| data.get("continue")).and_then(Value::as_str);
    list.get("items").is_some() && more.is_some_and(|more| !more.is_empty())
}

/// What the API answers with where it does not do what it is asked for.
fn is_failure(document: &Value) -> bool {
    document.get("kind").and_then(Value::as_str) == Some("Status") && document.get("items").is_none()
}

/// The first line that is not empty, with its number.
fn first_line(content: &[u8]) -> Option<(usize, String)> {
    let mut lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let (number, first) = lines.find(|(_, line)| !line.is_empty())?;
    Some((number + 1, String::from_utf8_lossy(first).into_owned()))
}

/// What a file is, where it is known, that is neither JSON nor YAML.
fn meant(content: &[u8]) -> Option<&'static str> {
    let has = |mark: &[u8]| content.windows(mark.len()).any(|part| part == mark);
    if has(b"{{") || has(b"{%") {
        return Some("; this looks like a template: render it first, as `helm template` does");
    }
    let mut lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    let name = first.split(|byte| *byte == b'=').next().filter(|name| name.len() < first.len())?;
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    is_name
        .then_some("; this looks like a file of NAME=VALUE, such as slurm.conf, where JSON or YAML is read")
}

/// Whether no JSON and no YAML that anybody exports begins with a line: commands write their errors and warnings so.
fn is_message(first: &str) -> bool {
    let lower = first.to_lowercase();
    let is_prefixed = ["error: ", "warning: ", "fatal: "].iter().any(|prefix| lower.starts_with(prefix));
    let key = first.trim_start_matches(['"', '\'']);
    let behind = key.trim_start_matches(|letter: char| letter.is_alphanumeric() || "_-./".contains(letter));
    let behind = behind.trim_start_matches(['"', '\'']).trim_start();
    // What is no mapping, list or comment is a single value, which is no document of anybody's.
    let is_begun = first.starts_with(['{', '[', '#', '%', '-', '&', '!', '?']);
    let is_mapping = behind.len() < first.len() && behind.starts_with(':');
    is_prefixed || !(is_begun || is_mapping)
}

/// JSON values one after another; else where it is malformed, and how.
fn json(content: &[u8]) -> Result<Vec<Value>, (String, String)> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(content).into_iter().collect();
    values.map_err(|error| {
        let told = without_place(&error.to_string());
        let told = if error.is_eof() { TRUNCATED.into() } else { told };
        (format!("line {}, column {}", error.line(), error.column()), told)
    })
}

/// A message of a parser without the place at its end.
fn without_place(text: &str) -> String {
    text.rsplit_once(" at line").map_or(text, |(told, _)| told).to_owned()
}

/// What is said of documents that stand for more than anybody writes, as aliases of aliases do.
const TOO_MUCH: &str = "stands for more values than are read: aliases of aliases grow beyond all bounds; write out what they stand for, or \
                        divide the file";

/// What is said of documents in which values stand in more others than anybody writes.
const TOO_DEEP: &str = "is nested deeper than is read; no object of a cluster is nested so deep";

/// YAML documents; else where they are malformed, and how.
fn yaml(content: &[u8]) -> Result<Vec<Value>, (String, String)> {
    let limits = serde_saphyr::budget! {
        max_events: 100_000_000,
        max_nodes: 100_000_000,
        max_documents: 1_000_000,
        max_total_scalar_bytes: 1 << 30,
    };
    let options = serde_saphyr::options! { budget: limits, with_snippet: false };
    let read: Result<Vec<Value>, _> = serde_saphyr::from_slice_multiple_with_options(content, options);
    let documents = read.map_err(|error| {
        let place = error
            .location()
            .map_or_else(|| "YAML".into(), |at| format!("line {}, column {}", at.line(), at.column()));
        // What follows advises whoever calls the parser.
        let told = error.to_string();
        if told.contains("Depth {") {
            return (place, TOO_DEEP.into());
        }
        if ["budget breached", "alias replay limit"].iter().any(|limit| told.contains(limit)) {
            return (place, TOO_MUCH.into());
        }
        let told = told.split("; set ").next().unwrap_or_default();
        (place, without_place(told.split(", set ").next().unwrap_or_default()))
    })?;
    // In YAML a list that was cut off is a list still, but kubectl writes its kind behind its items.
    let is_cut = |document: &Value| document.get("items").is_some() && document.get("kind").is_none();
    match documents.iter().position(is_cut) {
        None => Ok(documents),
        Some(at) => {
            let problem = "has items but no kind, which kubectl writes behind them: the file is truncated, write it again (a list of one's \
                           own says `kind: List`)";
            Err((format!("document {}", at + 1), problem.into()))
        }
    }
}

/// An object, or those of a list, of which `kind` is known where they do not say it themselves.
fn collect(
    file: &str,
    content: Value,
    kind: Option<&str>,
    found: &mut Vec<Manifest>,
) -> Result<(), InstanceError> {
    let position = found.len();
    let refused = |problem: &str| InstanceError::Malformed {
        file: file.to_owned(),
        place: format!("object {}", position + 1),
        problem: problem.to_owned(),
    };
    let mut fields = match content {
        Value::Object(fields) => fields,
        Value::Array(items) => {
            return items.into_iter().try_for_each(|item| collect(file, item, kind, found));
        }
        _ => {
            return Err(refused(
                "is no Kubernetes object; write what `kubectl get … -o json` (or yaml) prints",
            ));
        }
    };
    let stated = fields.get("kind").and_then(Value::as_str).map(str::to_owned);
    let expected = kind;
    let kind = stated.clone().or_else(|| kind.map(str::to_owned)).unwrap_or_default();
    // A list that does not say its own kind is one of what is expected.
    let listed = if stated.is_none() { Some("") } else { kind.strip_suffix("List") };
    if let Some(of) = listed
        && let Some(items) = fields.remove("items")
    {
        return match items {
            Value::Array(items) => {
                let of = Some(of).filter(|of| !of.is_empty()).or(expected);
                items.into_iter().try_for_each(|item| collect(file, item, of, found))
            }
            Value::Null => Ok(()),
            _ => Err(refused("items must be a list")),
        };
    }
    if kind.is_empty() {
        return Err(refused("has no kind; write what `kubectl get … -o json` (or yaml) prints"));
    }
    let metadata = |key: &str| fields.get("metadata").and_then(|data| data.get(key)).and_then(Value::as_str);
    let name = match (metadata("namespace"), metadata("name")) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
        (None, Some(name)) => name.to_owned(),
        _ => format!("number {}", position + 1),
    };
    found.push(Manifest { file: file.to_owned(), kind, name, content: Value::Object(fields) });
    Ok(())
}

/// What every object says of itself.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) name: String,
    #[serde(deserialize_with = "nullable")]
    pub(super) namespace: String,
    #[serde(deserialize_with = "nullable")]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "nullable")]
    pub(super) annotations: BTreeMap<String, String>,
    #[serde(rename = "ownerReferences", deserialize_with = "nullable")]
    pub(super) owners: Vec<Owner>,
    /// When it is to be gone, of what is being deleted.
    #[serde(rename = "deletionTimestamp")]
    pub(super) deleted: Value,
}

/// Who made an object.
#[derive(Deserialize)]
pub(super) struct Owner {
    pub(super) kind: String,
}

/// `null` is what Go writes for an empty list or map.
pub(super) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Result<Vec<String>, String> {
        let documents = documents_in("it".into(), text.as_bytes(), "kubectl get nodes -o json")
            .map_err(|error| error.to_string())?;
        Ok(documents
            .iter()
            .map(|document| document["kind"].as_str().unwrap_or_default().to_owned())
            .collect())
    }

    #[test]
    fn a_page_of_a_list_is_refused_and_a_whole_list_is_read() {
        let page = |metadata: &str| {
            format!("{{\"kind\": \"NodeList\", \"metadata\": {{{metadata}}}, \"items\": []}}")
        };
        let all = "it: metadata.continue: the list is cut off: more objects come behind these; ask for all of them at once, as `kubectl get \
                   nodes -o json` does, without a limit";
        assert_eq!(kinds(&page("\"continue\": \"abc\"")).unwrap_err(), all);
        let counted = page("\"continue\": \"abc\", \"remainingItemCount\": 1037");
        let refused = kinds(&format!("[{counted}]")).unwrap_err();
        assert!(refused.contains("the list is cut off: 1,037 more objects"), "{refused}");
        assert_eq!(kinds(&page("\"continue\": \"\", \"resourceVersion\": \"1\"")).unwrap(), ["NodeList"]);
    }

    #[test]
    fn what_begins_with_a_brace_may_be_json_or_yaml() {
        assert_eq!(kinds("{\"kind\": \"Node\"} {\"kind\": \"Pod\"}").unwrap(), ["Node", "Pod"]);
        assert_eq!(kinds("{kind: Node}\n---\nkind: Pod\n").unwrap(), ["Node", "Pod"]);
        assert_eq!(kinds("{\"kind\": \"Node\"}\n---\n{\"kind\": \"Pod\"}\n").unwrap(), ["Node", "Pod"]);
        // What is neither is told as the JSON that it begins like.
        assert_eq!(
            kinds("{\"kind\": \"Node\",").unwrap_err(),
            "it: line 1, column 16: the file is truncated: it ends inside a value"
        );
    }

    #[test]
    fn aliases_of_aliases_are_refused_in_words() {
        let ten = |of: &str| [of; 10].join(", ");
        let aliases =
            (1..9).map(|level| format!("a{level}: &a{level} [{}]\n", ten(&format!("*a{}", level - 1))));
        let text = format!("a0: &a0 [{}]\n{}", ten("x"), aliases.collect::<String>());
        let told = kinds(&text).unwrap_err();
        assert!(told.contains("stands for more values than are read: aliases of aliases"), "{told}");
    }

    #[test]
    fn a_yaml_list_without_a_kind_was_cut_off_and_of_json_that_cannot_be() {
        let list = "apiVersion: v1\nitems:\n- kind: Node\n  metadata: {name: a}\n";
        let told = kinds(list).unwrap_err();
        assert!(
            told.starts_with("it: document 1: has items but no kind") && told.contains("truncated"),
            "{told}"
        );
        assert_eq!(kinds(&format!("{list}kind: List\n")).unwrap(), ["List"]);
        assert_eq!(
            kinds("[{\"kind\": \"Node\"}, {").unwrap_err(),
            "it: line 1, column 20: the file is truncated: it ends inside a value"
        );
        assert_eq!(kinds(r#"{"items": []}"#).unwrap(), [""]);
    }

    #[test]
    fn messages_of_commands_are_quoted_and_the_command_that_makes_the_file_is_named() {
        for (text, line, quoted) in [
            (
                "Error from server (Forbidden): nodes is forbidden: no",
                1,
                "Error from server (Forbidden): nodes is forbidden: no",
            ),
            (
                "Unable to connect to the server: dial tcp: i/o timeout\n",
                1,
                "Unable to connect to the server: dial tcp: i/o timeout",
            ),
            ("error: You must be logged in to the server", 1, "error: You must be logged in to the server"),
            ("\nW0101 warning: old\n{\"kind\": \"Node\"}", 2, "W0101 warning: old"),
            ("No resources found", 1, "No resources found"),
            ("|root||||\n", 1, "|root||||"),
            ("<html>", 1, "<html>"),
            ("bash: kubectl: command not found", 1, "bash: kubectl: command not found"),
            ("\0\0", 1, "\\u{0}\\u{0}"),
        ] {
            let told = format!(
                "it: line {line}: \"{quoted}\" is no object of JSON or YAML; write only what `kubectl get nodes -o json` prints"
            );
            assert_eq!(kinds(text).unwrap_err(), told);
        }
        for text in [
            "kind: Node",
            "\"kind\" : Node",
            "# by hand\nkind: Node",
            "--- \nkind: Node",
            "{kind: Node}",
            "a.b/c-d: 1",
        ] {
            assert!(kinds(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_a_failure_is_told_with_its_message() {
        let status =
            r#"{"kind": "Status", "status": "Failure", "message": "nodes is forbidden", "code": 403}"#;
        assert_eq!(
            kinds(status).unwrap_err(),
            "it: kind = Status: the API server answered: nodes is forbidden; ask again with `kubectl get nodes -o json`"
        );
    }

    #[test]
    fn a_place_is_told_once() {
        let told = kinds("kind: [\nNode: x: y").unwrap_err();
        assert_eq!(told.matches("line ").count(), 1, "{told}");
    }

    #[test]
    fn deep_nesting_is_not_taken_for_aliases() {
        let deep: String = (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let told = kinds(&deep).unwrap_err();
        assert!(told.contains("is nested deeper than is read") && !told.contains("aliases"), "{told}");
    }

    #[test]
    fn templates_and_files_of_other_programs_are_told_as_what_they_look_like() {
        let told = kinds("kind: Queue\nmetadata:\n  name: {{ .Values.name }}-queue\n").unwrap_err();
        assert!(told.contains("this looks like a template: render it first"), "{told}");
        let told = kinds("# by hand\nClusterName=c\nEpilog=/a: b\n").unwrap_err();
        assert!(told.contains("such as slurm.conf"), "{told}");
    }
}
