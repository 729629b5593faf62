//! Queues of YARN's fair scheduler, by their paths.

use super::queue::{DeployedQueue, Reading, Spec, spec_of};
use crate::xml::Element;
use crate::yarn::fair_scheduler::{DEFAULT_POLICY, POLICY, queue_elements};
use fairplan_instances::InstanceError;
use std::collections::BTreeMap;

type Amounts = BTreeMap<(String, String), f64>;

pub(super) fn read(mut reading: Reading<'_>, root: &Element) -> Result<(), InstanceError> {
    if root.name != "allocations" {
        let problem = "expected <allocations>: a fair-scheduler.xml";
        return Err(reading.refused("root element", &root.name, problem));
    }
    let field = "queueMaxResourcesDefault";
    let most = root.text_of(field).map(|text| stated(&reading, field, text)).transpose()?.unwrap_or_default();
    let policy = root.text_of_any(&DEFAULT_POLICY).unwrap_or("fair");
    below(&mut reading, root, "", &Defaults { most, policy })?;
    // A file need not name the queue above all.
    let names_root = queue_elements(root).any(|queue| queue.attribute("name") == Some("root"));
    if policy == "drf" || names_root { Ok(()) } else { reading.add_root(Amounts::new(), true) }
}

/// What queues have that do not say it themselves.
struct Defaults<'a> {
    most: Amounts,
    policy: &'a str,
}

fn below(
    reading: &mut Reading<'_>,
    element: &Element,
    parent: &str,
    defaults: &Defaults<'_>,
) -> Result<(), InstanceError> {
    for queue in queue_elements(element) {
        let own = queue.attribute("name").unwrap_or_default();
        let is_root = parent.is_empty() && own == "root";
        let above = if parent.is_empty() { "root" } else { parent };
        let name = path(parent, own);
        let amounts = |field: &str| {
            let text = queue.text_of(field);
            text.map(|text| stated(reading, &format!("queue {name}: {field}"), text)).transpose()
        };
        let policy = queue.text_of_any(&POLICY).unwrap_or(defaults.policy);
        let within = |most: Amounts| if policy == "drf" { most } else { without_nothings(most) };
        if is_root {
            let most = amounts("maxResources")?.unwrap_or_default();
            reading.add_root(within(most), policy != "drf")?;
        } else {
            let weight = queue.text_of("weight").map(|text| {
                let problem = "must be a number";
                text.parse().map_err(|_| reading.refused(&format!("queue {name}: weight"), text, problem))
            });
            let most = amounts("maxResources")?.unwrap_or_else(|| defaults.most.clone());
            let found = DeployedQueue {
                parent: above.to_owned(),
                weight: weight.transpose()?,
                amounts: amounts("minResources")?.unwrap_or_default(),
                limits: within(most),
                by_memory: policy != "drf",
                ..DeployedQueue::default()
            };
            reading.add(&name, found)?;
        }
        below(reading, queue, &name, defaults)?;
    }
    Ok(())
}

/// What is read of a file and its queues.
const READ: [&str; 6] =
    ["queue", "pool", "minResources", "maxResources", "weight", "queueMaxResourcesDefault"];

/// What elements say beside the tree and its amounts, queue by queue, and of the whole.
pub(super) fn specs(root: &Element, found: &mut Vec<Spec>) {
    let mut whole = others(root);
    let policy = root.text_of_any(&DEFAULT_POLICY).unwrap_or("fair").to_owned();
    whole.retain(|name, _| !DEFAULT_POLICY.contains(&name.as_str()));
    whole.insert(DEFAULT_POLICY[0].to_owned(), policy);
    found.push(spec_of("configuration", "", whole));
    specs_below(root, "", found);
}

fn specs_below(element: &Element, parent: &str, found: &mut Vec<Spec>) {
    for queue in queue_elements(element) {
        let name = path(parent, queue.attribute("name").unwrap_or_default());
        found.push(spec_of("queue", &name, others(queue)));
        specs_below(queue, &name, found);
    }
}

fn others(element: &Element) -> BTreeMap<String, String> {
    let others = element.children.iter().filter(|child| !READ.contains(&child.name.as_str()));
    // What has no text has elements of its own, such as the rules of a placement policy.
    let said = |child: &Element| match child.text.trim() {
        "" => format!("({} elements)", child.children.len()),
        text => text.to_owned(),
    };
    others.map(|child| (child.name.clone(), said(child))).collect()
}

/// All queues are below root, whether the file says so or not.
fn path(parent: &str, own: &str) -> String {
    match (parent, own) {
        ("", "root") => own.to_owned(),
        ("", _) => format!("root.{own}"),
        _ => format!("{parent}.{own}"),
    }
}

/// Where memory alone is compared, as all policies but `drf` do, a maximum of nothing beside one of more is of the other resource alone.
fn without_nothings(mut limits: Amounts) -> Amounts {
    if limits.values().any(|limit| *limit > 0.0) {
        limits.retain(|_, limit| *limit > 0.0);
    }
    limits
}

/// The amounts that a field states, each resource once.
fn stated(reading: &Reading<'_>, place: &str, text: &str) -> Result<Amounts, InstanceError> {
    let problem = "must be amounts such as `1024 mb, 1 vcores`, or `memory-mb=1024, vcores=1`";
    let mut found = Amounts::new();
    for (name, amount) in amounts(text).ok_or_else(|| reading.refused(place, text, problem))? {
        if found.insert((String::new(), name.clone()), amount).is_some() {
            return Err(reading.refused(place, text, &format!("states {name} twice")));
        }
    }
    Ok(found)
}

/// `1024 mb, 1 vcores`, or `memory-mb=1024, vcores=1`; of an empty text, which YARN refuses, none. A percentage is one of the cluster, of the resource that
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
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    Some(parts.map(amount).collect::<Option<Vec<_>>>()?).filter(|amounts| !amounts.is_empty())
}
