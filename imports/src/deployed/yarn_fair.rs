//! Queues of YARN's fair scheduler, by their paths.

use super::{DeployedQueue, Reading};
use crate::xml::Element;
use fairplan_instances::InstanceError;
use std::collections::BTreeMap;

pub(super) fn read(mut reading: Reading<'_>, root: &Element) -> Result<(), InstanceError> {
    if root.name != "allocations" {
        let problem = "expected <allocations>: a fair-scheduler.xml";
        return Err(reading.refused("", &root.name, problem));
    }
    below(&mut reading, root, "")
}

fn below(reading: &mut Reading<'_>, element: &Element, parent: &str) -> Result<(), InstanceError> {
    let queues = element.children.iter().filter(|child| child.name == "queue" || child.name == "pool");
    for queue in queues {
        let own = queue.attribute("name").unwrap_or_default();
        let is_root = parent.is_empty() && own == "root";
        // All queues are below root, whether the file says so or not.
        let above = if parent.is_empty() { "root" } else { parent };
        let name = if is_root { own.to_owned() } else { format!("{above}.{own}") };
        if !is_root {
            let amounts = |field: &str| {
                let text = queue.text_of(field).unwrap_or_default();
                let amounts = amounts(text).ok_or_else(|| {
                    let problem =
                        "must be amounts such as `1024 mb, 1 vcores`, or `memory-mb=1024, vcores=1`";
                    reading.refused(&format!("queue {name}: {field}"), text, problem)
                })?;
                let mut found = BTreeMap::new();
                for (name, amount) in amounts {
                    if found.insert((String::new(), name.clone()), amount).is_some() {
                        let place = format!("queue {name}: {field}");
                        return Err(reading.refused(&place, text, &format!("states {name} twice")));
                    }
                }
                Ok(found)
            };
            let weight = queue.text_of("weight").map(|text| {
                let problem = "must be a number";
                text.parse().map_err(|_| reading.refused(&format!("queue {name}: weight"), text, problem))
            });
            let found = DeployedQueue {
                parent: above.to_owned(),
                weight: weight.transpose()?,
                amounts: amounts("minResources")?,
                limits: amounts("maxResources")?,
                ..DeployedQueue::default()
            };
            reading.add(&name, found)?;
        }
        below(reading, queue, &name)?;
    }
    Ok(())
}

/// `1024 mb, 1 vcores`, or `memory-mb=1024, vcores=1`; nothing of an empty text. A percentage is one of the cluster, of the resource that
/// is named or of all.
fn amounts(text: &str) -> Option<Vec<(String, f64)>> {
    let amount = |part: &str| {
        let part = part.trim();
        let (name, number) = match part.split_once('=') {
            Some((name, number)) => (name.trim(), number.trim()),
            None => {
                let (number, name) =
                    part.split_at(part.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(part.len()));
                (name, number.trim())
            }
        };
        let name = if ["mb", "memory-mb", "memory"].contains(&name) { "memory" } else { name };
        let (name, number) = match number.strip_suffix('%') {
            Some(number) => (format!("percent {name}").trim_end().to_owned(), number),
            None if name.is_empty() => return None,
            None => (name.to_owned(), number),
        };
        Some((name, number.trim().parse().ok()?))
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(amount).collect()
}
