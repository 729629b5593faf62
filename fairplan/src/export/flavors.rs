//! Several flavors of a deployed Kueue that are one class of the instance: of queues with several resource groups a task takes a flavor of
//! each, so that importers make one class `A+B` of them, and export one flavor.

use super::change::ExportChange;
use fairplan_exports::{Export, Target};
use fairplan_imports::{Deployed, DeployedQueue};
use std::collections::{BTreeMap, BTreeSet};

/// Why it cannot be told what the scheduler's rule gives under the deployed configuration: nodes that one of its labels or flavors covers are
/// several classes of the instance, or the other way about, and what it gives of such nodes is not known class by class.
pub(super) fn not_told(export: &Export, deployed: &Deployed) -> Option<String> {
    if !export.target.knows_classes() {
        return None;
    }
    let exported: BTreeSet<String> = export.keys().into_iter().map(|key| key.class).collect();
    let stated: BTreeSet<&str> = deployed
        .values()
        .flat_map(|queue| [&queue.amounts, &queue.limits, &queue.lends])
        .flat_map(|list| list.keys())
        .map(|(class, _)| class.as_str())
        .collect();
    let unknown: Vec<&str> = stated.iter().copied().filter(|class| !exported.contains(*class)).collect();
    let new: Vec<&str> =
        exported.iter().map(String::as_str).filter(|class| !stated.contains(class)).collect();
    // One that goes with several others is of several classes.
    let parts: BTreeSet<&str> = export.classes.iter().flat_map(|class| class.id.split('+')).collect();
    let of_several =
        unknown.iter().copied().find(|flavor| export.target == Target::Kueue && parts.contains(flavor));
    let (first, what) = match (of_several, export.target, &unknown[..], &new[..]) {
        (Some(flavor), ..) => (flavor, "is a flavor of several classes here"),
        // Nodes of which the deployed file says nothing have no label there, as others.
        (_, Target::Yarn, [], [new, ..]) if !stated.is_empty() => (*new, "is no label there"),
        (_, _, [unknown, ..], [_, ..]) => {
            (*unknown, "is no class here, but covers nodes of several or of others")
        }
        _ => return None,
    };
    let first = if first.is_empty() { "no label" } else { first };
    Some(format!("{first} {what}, so what is deployed is not known class by class"))
}

type Amounts = BTreeMap<(String, String), f64>;

/// Puts what queues have of such flavors under the name that the export writes; says of which queues.
pub(super) fn of_classes(export: &Export, deployed: &mut Deployed) -> Vec<ExportChange> {
    if export.target != Target::Kueue {
        return Vec::new();
    }
    // Of each flavor the class that it is of, where that is but one.
    let mut classes: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for class in &export.classes {
        for flavor in class.id.split('+') {
            let one = classes.entry(flavor).or_insert(Some(&class.name));
            one.take_if(|name| *name != class.name);
        }
    }
    let mut changes = Vec::new();
    for (name, queue) in deployed.iter_mut() {
        let flavors: BTreeSet<&str> = [&queue.amounts, &queue.limits, &queue.lends]
            .into_iter()
            .flat_map(|list| list.keys())
            .map(|(flavor, _)| flavor.as_str())
            .collect();
        let mut of_class: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for flavor in flavors {
            let class = classes.get(flavor).copied().flatten();
            if let Some(class) = class.filter(|class| *class != flavor) {
                of_class.entry(class).or_default().push(flavor);
            }
        }
        changes.extend(of_class.iter().map(|(class, flavors)| ExportChange {
            queue: name.clone(),
            what: "flavors".into(),
            before: Some(flavors.join(", ")),
            after: Some((*class).to_owned()),
            more: None,
        }));
        let class_of = |flavor: &str| {
            let found = of_class.iter().find(|(_, flavors)| flavors.contains(&flavor));
            found.map_or(flavor, |(class, _)| *class).to_owned()
        };
        *queue = together(queue, &class_of);
    }
    changes
}

/// The queue with what it has of several flavors of a class as one.
fn together(queue: &DeployedQueue, class_of: &dyn Fn(&str) -> String) -> DeployedQueue {
    let key = |(flavor, resource): &(String, String)| (class_of(flavor), resource.clone());
    let (mut amounts, mut limits, mut lends) = (Amounts::new(), Amounts::new(), Amounts::new());
    let mut unlimited: BTreeSet<(String, String)> = BTreeSet::new();
    for (of, amount) in &queue.amounts {
        *amounts.entry(key(of)).or_default() += amount;
        if !queue.limits.contains_key(of) {
            unlimited.insert(key(of));
        }
    }
    for (of, limit) in &queue.limits {
        *limits.entry(key(of)).or_default() += limit;
    }
    // Without a limit on one of them there is none, and who lends all of one lends that beside.
    limits.retain(|key, _| !unlimited.contains(key));
    let limited: BTreeSet<(String, String)> = queue.lends.keys().map(key).collect();
    for (of, amount) in queue.amounts.iter().filter(|(of, _)| limited.contains(&key(of))) {
        *lends.entry(key(of)).or_default() += queue.lends.get(of).unwrap_or(amount);
    }
    // Cohorts limit what they lend of what is not their own.
    for (of, lent) in queue.lends.iter().filter(|(of, _)| !queue.amounts.contains_key(*of)) {
        *lends.entry(key(of)).or_default() += lent;
    }
    // A class is tried where the first of its flavors is.
    let mut order: Vec<String> = Vec::new();
    for class in queue.order.iter().map(|flavor| class_of(flavor)) {
        if !order.contains(&class) {
            order.push(class);
        }
    }
    DeployedQueue { amounts, limits, lends, order, ..queue.clone() }
}
