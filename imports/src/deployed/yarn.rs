//! Queues of YARN's capacity scheduler, by their paths.

use super::{DeployedQueue, Reading};
use crate::xml::Element;
use fairplan_instances::InstanceError;

const PREFIX: &str = "yarn.scheduler.capacity.";

pub(super) fn read(reading: Reading<'_>, root: &Element) -> Result<(), InstanceError> {
    if root.name != "configuration" {
        let problem = "expected <configuration>: a capacity-scheduler.xml";
        return Err(reading.refused("", &root.name, problem));
    }
    for property in root.children("property") {
        let (Some(name), Some(value)) = (property.text_of("name"), property.text_of("value")) else {
            continue;
        };
        let Some((path, field)) = name.strip_prefix(PREFIX).and_then(parts) else { continue };
        if path == "root" {
            continue;
        }
        let (class, field) =
            match field.strip_prefix("accessible-node-labels.").and_then(|it| it.rsplit_once('.')) {
                Some((label, field)) => (label, field),
                None => ("", field),
            };
        if !["capacity", "maximum-capacity"].contains(&field) {
            continue;
        }
        let amounts = amounts(value);
        let amounts = amounts.ok_or_else(|| {
            reading.refused(name, value, "must be a percentage, a weight such as 3w, or [memory=…,vcores=…]")
        })?;
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let queue = reading
            .found
            .entry(path.to_owned())
            .or_insert_with(|| DeployedQueue { parent: parent.to_owned(), ..DeployedQueue::default() });
        let list = if field == "capacity" { &mut queue.amounts } else { &mut queue.limits };
        // A maximum below zero is none.
        let amounts = amounts.into_iter().filter(|(_, amount)| field == "capacity" || *amount >= 0.0);
        list.extend(amounts.map(|(resource, amount)| ((class.to_owned(), resource), amount)));
    }
    Ok(())
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
