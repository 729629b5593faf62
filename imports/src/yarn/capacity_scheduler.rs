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
    // Of each queue the part of the cluster that it is due.
    let mut parts = vec![1.0];
    let mut position = 0;
    while position < queues.len() {
        let path = queues[position].name.clone();
        let (first, mut stated) = (queues.len(), Vec::new());
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
            stated.push(capacity(place, &name, value("capacity"), report)?);
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
            queues.push(Queue { name, parent: Some(position), weight: 0.0, limit, given: Vec::new() });
        }
        let weights = weights(&stated, parts[position]);
        let all: f64 = weights.iter().sum();
        for (queue, weight) in queues[first..].iter_mut().zip(weights) {
            queue.weight = weight;
            parts.push(if all > 0.0 { parts[position] * weight / all } else { 0.0 });
        }
        position += 1;
    }
    if queues.len() == 1 {
        let problem = "there are no queues here: the property yarn.scheduler.capacity.root.queues is missing";
        return Err(place.refused("", "", problem));
    }
    Ok(queues)
}

/// What a queue is due, as its `capacity` states it.
#[derive(Clone, Copy)]
enum Capacity {
    /// The larger part of the cluster that its amounts are.
    Absolute(f64),
    /// A percentage of what the queue above has.
    Percent(f64),
    /// A weight against the others.
    Weight(f64),
}

/// The weights of the children of a queue that is due this part of the cluster. Where they are stated in several ways, amounts
/// come first, then percentages of what is left, and weights share the rest.
fn weights(stated: &[Capacity], part: f64) -> Vec<f64> {
    let (mut amounts, mut percentages, mut shares) = (0.0, 0.0, 0.0);
    for capacity in stated {
        match capacity {
            Capacity::Absolute(amount) => amounts += amount,
            Capacity::Percent(percent) => percentages += percent,
            Capacity::Weight(weight) => shares += weight,
        }
    }
    let is_mixed = [amounts, percentages, shares].iter().filter(|sum| **sum > 0.0).count() > 1;
    let after_amounts = (part - amounts).max(0.0);
    // Percentages that nothing comes after share all that is left, whatever they add up to.
    let of_percentages = if shares > 0.0 { 100.0 } else { percentages };
    let rest = (1.0 - percentages / of_percentages).max(0.0) * after_amounts;
    let weight = |capacity: &Capacity| match *capacity {
        Capacity::Absolute(amount) => amount,
        Capacity::Percent(percent) if is_mixed => percent / of_percentages * after_amounts,
        Capacity::Weight(weight) if is_mixed => weight / shares * rest,
        Capacity::Percent(number) | Capacity::Weight(number) => number,
    };
    stated.iter().map(weight).collect()
}

/// A percentage, a weight (`3w`) or amounts (`[memory=1024,vcores=2]`), of which the larger part of the cluster counts.
fn capacity(
    place: &Place,
    name: &str,
    text: Option<&str>,
    report: &mut ImportReport,
) -> Result<Capacity, InstanceError> {
    let Some(text) = text else { return Ok(Capacity::Weight(1.0)) };
    if text.starts_with('[') {
        let absolute = amounts(place, name, "capacity", text, report)?;
        let parts = absolute
            .iter()
            .zip(&place.totals)
            .filter(|(_, total)| **total > 0.0)
            .filter_map(|(amount, total)| Some(amount.as_ref()?.to_f64() / total));
        return Ok(Capacity::Absolute(parts.fold(0.0, f64::max)));
    }
    let problem = "must be a percentage, a weight such as 3w, or [memory=…,vcores=…]";
    if let Some(number) = text.strip_suffix('w') {
        return place.weight(name, "capacity", number, problem).map(Capacity::Weight);
    }
    let number = text.strip_suffix('%').unwrap_or(text);
    place.weight(name, "capacity", number, problem).map(Capacity::Percent)
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

#[cfg(test)]
mod tests {
    use super::Capacity::{Absolute, Percent, Weight};
    use super::*;

    #[test]
    fn amounts_come_before_percentages_and_weights_share_the_rest() {
        assert_eq!(weights(&[Absolute(0.5), Weight(3.0), Weight(1.0)], 1.0), [0.5, 0.375, 0.125]);
        assert_eq!(weights(&[Percent(25.0), Percent(25.0), Weight(2.0)], 1.0), [0.25, 0.25, 0.5]);
        assert_eq!(weights(&[Percent(50.0), Percent(50.0), Weight(2.0)], 1.0), [0.5, 0.5, 0.0]);
        assert_eq!(weights(&[Absolute(0.25), Percent(40.0), Percent(40.0)], 0.75), [0.25, 0.25, 0.25]);
        assert_eq!(weights(&[Absolute(0.6), Weight(1.0)], 0.5), [0.6, 0.0]);
        // In one way only, numbers are as they stand.
        assert_eq!(weights(&[Percent(30.0), Percent(20.0)], 1.0), [30.0, 20.0]);
        assert_eq!(weights(&[Weight(3.0), Weight(1.0)], 0.2), [3.0, 1.0]);
    }
}
