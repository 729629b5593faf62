//! YuniKorn's partitions, of which `default` is the only one whose nodes the exporter knows.

use super::fields::{amounts, list};
use super::queue::{DeployedQueue, Reading, Spec, without};
use crate::kubernetes_queues::yunikorn_partitions;
use fairplan_instances::InstanceError;
use serde_json::{Map, Value};

/// The partitions in documents.
fn partitions(file: &str, documents: &[Value]) -> Result<Vec<Value>, InstanceError> {
    let mut found = Vec::new();
    for document in documents {
        found.extend(yunikorn_partitions(file, document)?);
    }
    Ok(found)
}

fn name_of(object: &Value) -> &str {
    object.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn is_default(partition: &Value) -> bool {
    let name = name_of(partition);
    name.is_empty() || name.eq_ignore_ascii_case("default")
}

/// What all queues are below: root, whether the file says so or not.
fn top(partition: &Value) -> &'static str {
    let is_root = |queue: &Value| name_of(queue).eq_ignore_ascii_case("root");
    if matches!(list(partition, "queues"), [one] if is_root(one)) { "" } else { "root" }
}

/// Reads the queues of the partition `default`.
pub(super) fn read(reading: &mut Reading<'_>, documents: &[Value]) -> Result<(), InstanceError> {
    let partitions = partitions(reading.file, documents)?;
    let mut own = partitions.iter().filter(|partition| is_default(partition));
    match (own.next(), own.next(), partitions.first()) {
        (Some(own), None, _) => queues(reading, own, top(own)),
        (Some(_), Some(twice), _) => Err(reading.refused("partition", name_of(twice), "is there twice")),
        (None, _, Some(other)) => {
            let problem = "is not `default`, the partition that is exported";
            Err(reading.refused("partition", name_of(other), problem))
        }
        (None, _, None) => Ok(()),
    }
}

fn queues(reading: &mut Reading<'_>, above: &Value, parent: &str) -> Result<(), InstanceError> {
    for queue in list(above, "queues") {
        let name = path(parent, queue);
        let mut found = DeployedQueue { parent: parent.to_owned(), ..DeployedQueue::default() };
        let resources = |field: &str| queue.get("resources").and_then(|resources| resources.get(field));
        amounts(reading, &name, resources("guaranteed"), &mut found.amounts)?;
        amounts(reading, &name, resources("max"), &mut found.limits)?;
        reading.add(&name, found)?;
        queues(reading, queue, &name)?;
    }
    Ok(())
}

fn path(parent: &str, queue: &Value) -> String {
    let own = name_of(queue);
    if parent.is_empty() { own.to_owned() } else { format!("{parent}.{own}") }
}

/// What partitions and queues state beside names and amounts; of other partitions their queues too.
pub(super) fn specs(file: &str, documents: &[Value], found: &mut Vec<Spec>) -> Result<(), InstanceError> {
    for partition in partitions(file, documents)? {
        let is_default = is_default(&partition);
        let name = if is_default { "default" } else { name_of(&partition) };
        let read = if is_default { &["name", "queues"][..] } else { &["name"] };
        found.push(without("partition", name.to_owned(), &partition, read));
        if is_default {
            let above = top(&partition);
            if !above.is_empty() {
                found.push(root(Value::Object(Map::new())));
            }
            specs_of_queues(&partition, above, found);
        }
    }
    Ok(())
}

fn specs_of_queues(above: &Value, parent: &str, found: &mut Vec<Spec>) {
    for queue in list(above, "queues") {
        let name = path(parent, queue);
        let own = without("queue", name.clone(), queue, &["name", "parent", "queues", "resources"]);
        found.push(if name.eq_ignore_ascii_case("root") { root(own.spec) } else { own });
        specs_of_queues(queue, &name, found);
    }
}

/// The queue above all: nobody may submit to all queues where it does not say who, and what is exported says that everybody may.
fn root(mut spec: Value) -> Spec {
    if let Value::Object(fields) = &mut spec {
        fields.entry("submitacl").or_insert_with(|| Value::String(String::new()));
    }
    Spec { kind: "queue".to_owned(), name: "root".to_owned(), spec }
}
