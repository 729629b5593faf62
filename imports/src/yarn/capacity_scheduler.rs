//! `capacity-scheduler.xml`: properties `yarn.scheduler.capacity.PATH.{queues,capacity,maximum-capacity,state}`.

use super::{Place, RESOURCES};
use crate::queues::{Queue, rounded};
use crate::report::ImportReport;
use crate::xml::Element;
use fairplan_instances::{Decimal, InstanceError};
use std::collections::{BTreeMap, HashSet};

/// What the names of all properties that concern queues begin with.
const PREFIX: &str = "yarn.scheduler.capacity.";

/// The queues, parents before their children.
pub(super) fn read(
    place: &Place,
    root: &Element,
    report: &mut ImportReport,
) -> Result<Vec<Queue>, InstanceError> {
    let mut properties = BTreeMap::new();
    for property in root.children("property") {
        if let Some(name) = property.text_of("name").and_then(|name| name.strip_prefix(PREFIX)) {
            properties.insert(name, property.text_of("value").unwrap_or_default());
        }
    }
    let mut queues = vec![Queue {
        name: "root".into(),
        parent: None,
        weight: 1.0,
        limit: vec![None; RESOURCES.len()],
        given: Vec::new(),
    }];
    let mut names = HashSet::new();
    let mut position = 0;
    while position < queues.len() {
        let path = queues[position].name.clone();
        let children = properties.get(format!("{path}.queues").as_str()).copied().unwrap_or_default();
        for child in children.split(',').map(str::trim).filter(|child| !child.is_empty()) {
            let name = format!("{path}.{child}");
            let value = |field: &str| properties.get(format!("{name}.{field}").as_str()).copied();
            if value("state").is_some_and(|state| state.eq_ignore_ascii_case("STOPPED")) {
                report.one("queues left out: stopped");
                continue;
            }
            if !names.insert(name.clone()) {
                return Err(place.refused(&format!("queue {path}: queues"), child, "is named twice"));
            }
            let weight = weight(place, &name, value("capacity"), report)?;
            let mut limit = vec![None; RESOURCES.len()];
            if let Some(text) = value("maximum-capacity") {
                limit = amounts(place, &name, "maximum-capacity", text, report)?;
                // A percentage is of what the queue above may have.
                let above = queues[position].limit.iter().zip(&place.totals);
                for (limit, (above, total)) in limit.iter_mut().zip(above).filter(|_| !text.starts_with('['))
                {
                    // Of what the cluster does not have, no part is missed.
                    let part = above.filter(|_| *total > 0.0).map_or(1.0, |above| above.to_f64() / total);
                    *limit = limit.and_then(|limit| rounded(limit.to_f64() * part));
                }
            }
            queues.push(Queue { name, parent: Some(position), weight, limit, given: Vec::new() });
        }
        position += 1;
    }
    if queues.len() == 1 {
        let problem = "there are no queues here: the property yarn.scheduler.capacity.root.queues is missing";
        return Err(place.refused("", "", problem));
    }
    Ok(queues)
}

/// A percentage, a weight (`3w`) or amounts (`[memory=1024,vcores=2]`), of which the larger part of the cluster counts.
fn weight(
    place: &Place,
    name: &str,
    text: Option<&str>,
    report: &mut ImportReport,
) -> Result<f64, InstanceError> {
    let Some(text) = text else { return Ok(1.0) };
    if text.starts_with('[') {
        let absolute = amounts(place, name, "capacity", text, report)?;
        let parts = absolute
            .iter()
            .zip(&place.totals)
            .filter(|(_, total)| **total > 0.0)
            .filter_map(|(amount, total)| Some(amount.as_ref()?.to_f64() / total));
        return Ok(parts.fold(0.0, f64::max));
    }
    let number = text.strip_suffix('w').or_else(|| text.strip_suffix('%')).unwrap_or(text);
    let problem = "must be a percentage, a weight such as 3w, or [memory=…,vcores=…]";
    place.weight(name, "capacity", number, problem)
}

fn amounts(
    place: &Place,
    name: &str,
    field: &str,
    text: &str,
    report: &mut ImportReport,
) -> Result<Vec<Option<Decimal>>, InstanceError> {
    match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => place.amounts(name, field, inner, report),
        None => {
            let percent = if text.ends_with('%') { text.to_owned() } else { format!("{text}%") };
            place.amounts(name, field, &percent, report)
        }
    }
}
