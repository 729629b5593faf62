//! Queues of YARN's capacity scheduler, by their paths.

use super::queue::{DeployedQueue, Reading, Spec, spec_of};
use crate::xml::{Element, INCLUDED};
use crate::yarn::capacity_scheduler::{CALCULATOR, counts_memory_alone};
use fairplan_instances::InstanceError;
use std::collections::BTreeMap;

const PREFIX: &str = "yarn.scheduler.capacity.";

/// The field that says which labels a queue may use, and what the names of those of a label begin with.
const LABELS: &str = "accessible-node-labels";

pub(super) fn read(mut reading: Reading<'_>, root: &Element) -> Result<(), InstanceError> {
    if root.name != "configuration" {
        let problem = "expected <configuration>: a capacity-scheduler.xml";
        return Err(reading.refused("root element", &root.name, problem));
    }
    if let Some(href) = root.included() {
        return Err(reading.refused("xi:include", href, INCLUDED));
    }
    let properties = root.properties();
    // What is stated of each queue: the field, the whole name and the value.
    let mut of_queue: BTreeMap<&str, Vec<(&str, &str, &str)>> = BTreeMap::new();
    for (name, value) in &properties {
        if let Some((path, field)) = name.strip_prefix(PREFIX).and_then(parts) {
            of_queue.entry(path).or_default().push((field, name, value));
        }
    }
    let stated = |path: &str, field: &str| -> Option<&str> {
        let all = of_queue.get(path)?;
        all.iter().find(|(known, _, _)| *known == field).map(|(_, _, value)| *value)
    };
    let of_root = of_queue.get("root").map_or(&[][..], Vec::as_slice);
    let limits = queue(&reading, "", of_root, None)?.limits;
    let calculator = properties.iter().find(|(name, _)| name.strip_prefix(PREFIX) == Some(CALCULATOR));
    let by_memory = counts_memory_alone(calculator.map(|(_, class)| *class));
    reading.add_root(limits, by_memory)?;
    // Only queues that the one above lists are there. Who says nothing of labels may use those that the one above may.
    let mut open = vec![("root".to_owned(), stated("root", LABELS).map(str::to_owned))];
    while let Some((parent, above)) = open.pop() {
        let children = stated(&parent, "queues").unwrap_or_default();
        for child in children.split(',').map(str::trim).filter(|child| !child.is_empty()) {
            let path = format!("{parent}.{child}");
            if stated(&path, "state").is_some_and(|state| state.eq_ignore_ascii_case("STOPPED")) {
                continue;
            }
            let labels = stated(&path, LABELS).map(str::to_owned).or_else(|| above.clone());
            let fields = of_queue.get(path.as_str()).map_or(&[][..], Vec::as_slice);
            let queue = DeployedQueue { by_memory, ..queue(&reading, &parent, fields, labels.as_deref())? };
            reading.add(&path, queue)?;
            open.push((path, labels));
        }
    }
    Ok(())
}

/// What counts as the size of a task where nothing is said.
const DEFAULT_CALCULATOR: &str = "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator";

/// What properties say beside the tree and its amounts, queue by queue, and of the whole.
pub(super) fn specs(root: &Element, found: &mut Vec<Spec>) {
    let mut of_queue: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    let mut whole = BTreeMap::from([(CALCULATOR.to_owned(), DEFAULT_CALCULATOR.to_owned())]);
    for (name, value) in root.properties() {
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        match parts(rest) {
            Some((path, field)) => {
                let own = of_queue.entry(path).or_default();
                // What of a label all queues together have is read of none of them.
                let of_all = path == "root" && field.starts_with(LABELS) && field.ends_with(".capacity");
                let is_read = ["queues", LABELS].contains(&field) || (field.ends_with("capacity") && !of_all);
                if !is_read {
                    own.insert(field.to_owned(), value.to_owned());
                }
            }
            None => drop(whole.insert(rest.to_owned(), value.to_owned())),
        }
    }
    found.push(spec_of("configuration", "", whole));
    found.extend(of_queue.into_iter().map(|(path, fields)| spec_of("queue", path, fields)));
}

/// A queue of which these fields are stated, and which may use these labels (`None`: all).
fn queue(
    reading: &Reading<'_>,
    parent: &str,
    fields: &[(&str, &str, &str)],
    labels: Option<&str>,
) -> Result<DeployedQueue, InstanceError> {
    let mut queue = DeployedQueue { parent: parent.to_owned(), ..DeployedQueue::default() };
    for (field, name, value) in fields {
        let of_label = field.strip_prefix(LABELS).and_then(|rest| rest.strip_prefix('.'));
        let (class, field) = match of_label.and_then(|it| it.rsplit_once('.')) {
            Some((label, field)) => (label, field),
            None => ("", *field),
        };
        let may_use = |labels: &str| labels.split(',').any(|one| [class, "*"].contains(&one.trim()));
        let is_told = class.is_empty() || labels.is_none_or(may_use);
        if !is_told || !["capacity", "maximum-capacity"].contains(&field) {
            continue;
        }
        let amounts = amounts(value);
        let amounts = amounts.ok_or_else(|| {
            reading.refused(name, value, "must be a percentage, a weight such as 3w, or [memory=…,vcores=…]")
        })?;
        let list = if field == "capacity" { &mut queue.amounts } else { &mut queue.limits };
        // A maximum below zero is none.
        let amounts = amounts.into_iter().filter(|(_, amount)| field == "capacity" || *amount >= 0.0);
        for (resource, amount) in amounts {
            if list.insert((class.to_owned(), resource.clone()), amount).is_some() {
                return Err(reading.refused(name, value, &format!("states {resource} twice")));
            }
        }
    }
    Ok(queue)
}

/// The path of the queue that a property is of, and its field.
fn parts(name: &str) -> Option<(&str, &str)> {
    let label = name.find(".accessible-node-labels.");
    let end = label.or_else(|| name.rfind('.'))?;
    Some((&name[..end], &name[end + 1..])).filter(|(path, _)| path.starts_with("root"))
}

/// What is stated of which resource.
fn amounts(text: &str) -> Option<Vec<(String, f64)>> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('[') {
        let amount = |part: &str| {
            let (name, amount) = part.split_once('=')?;
            if let Some(number) = amount.trim().strip_suffix('%') {
                return Some((format!("percent {}", name.trim()), number.trim().parse().ok()?));
            }
            let (number, suffix) = amount.trim().split_at(
                amount.trim().find(|c: char| c.is_ascii_alphabetic()).unwrap_or(amount.trim().len()),
            );
            // In MiB.
            let factor = match suffix {
                "" | "Mi" => 1.0,
                "Gi" => 1024.0,
                "Ti" => 1_048_576.0,
                _ => return None,
            };
            Some((name.trim().to_owned(), number.parse::<f64>().ok()? * factor))
        };
        return inner.strip_suffix(']')?.split(',').map(amount).collect();
    }
    let (number, what) = match text.strip_suffix('w') {
        Some(number) => (number, "weight"),
        None => (text.trim_end_matches('%'), "percent"),
    };
    Some(vec![(what.to_owned(), number.trim().parse().ok()?)])
}
