//! YARN's capacity scheduler: a queue for each tenant, with amounts of the nodes without a label, which are those of the largest
//! class, and of each label, which are those of the others.

use super::xml::{comment, escaped};
use crate::amounts::{BILLION, MEBI};
use crate::export::Export;
use crate::tree::Tenant;
use fairplan_instances::wording::counted;

const PREFIX: &str = "yarn.scheduler.capacity";
const CALCULATOR: &str = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator";

pub(crate) fn text(export: &Export) -> String {
    let largest = export.unlabelled();
    let mut properties: Vec<(String, String)> = Vec::new();
    let labels: Vec<usize> = (0..export.classes.len()).filter(|l| *l != largest).collect();
    let children = |parent: Option<usize>| {
        let below = export.tenants.iter().filter(|tenant| tenant.parent == parent);
        below.map(|tenant| tenant.name.as_str()).collect::<Vec<_>>().join(",")
    };
    let property = |path: &str, field: &str| format!("{PREFIX}.{path}.{field}");
    // A field of the nodes of a class.
    let of = |class: usize, field: &str| match class == largest {
        true => field.to_owned(),
        false => format!("accessible-node-labels.{}.{field}", export.classes[class].name),
    };
    // Without it the scheduler counts memory alone, and vcores would be nobody's.
    properties.push((format!("{PREFIX}.resource-calculator"), CALCULATOR.into()));
    properties.push((property("root", "queues"), children(export.root)));
    if !labels.is_empty() {
        let names: Vec<&str> = labels.iter().map(|l| export.classes[*l].name.as_str()).collect();
        properties.push((property("root", "accessible-node-labels"), names.join(",")));
        for name in names {
            properties
                .push((property("root", &format!("accessible-node-labels.{name}.capacity")), "100".into()));
        }
    }
    let mut paths: Vec<String> = Vec::new();
    for (t, tenant) in export.tenants.iter().enumerate() {
        if export.root == Some(t) {
            paths.push("root".to_owned());
            for l in std::iter::once(largest).chain(labels.iter().copied()) {
                let most = maximum(export, t, l);
                properties.extend(most.map(|most| (property("root", &of(l, "maximum-capacity")), most)));
            }
            continue;
        }
        let above = tenant.parent.map_or("root", |parent| paths[parent].as_str());
        let path = format!("{above}.{}", tenant.name);
        if !tenant.is_leaf {
            properties.push((property(&path, "queues"), children(Some(t))));
        }
        if !labels.is_empty() {
            let own: Vec<&str> = labels
                .iter()
                .filter(|l| tenant.eligible[**l])
                .map(|l| export.classes[*l].name.as_str())
                .collect();
            // A space is how a queue says that it may use no label.
            let own = if own.is_empty() { " ".to_owned() } else { own.join(",") };
            properties.push((property(&path, "accessible-node-labels"), own));
        }
        for l in std::iter::once(largest).chain(labels.iter().copied().filter(|l| tenant.eligible[*l])) {
            properties.push((property(&path, &of(l, "capacity")), capacity(export, tenant, l)));
            if let Some(most) = maximum(export, t, l) {
                properties.push((property(&path, &of(l, "maximum-capacity")), most));
            }
        }
        paths.push(path);
    }
    let mut lines = export.comments();
    lines.push(
        "The nodes of each class but the first here have its label, and those of the first have none, whatever they have now (yarn \
         rmadmin -replaceLabelsOnNode):"
            .into(),
    );
    for l in std::iter::once(largest).chain(labels) {
        let class = &export.classes[l];
        let label = if l == largest { &format!("no label, class {}", class.name) } else { &class.name };
        lines.push(format!(
            "  {label}: {} {}",
            counted(class.count, "node", "nodes"),
            class.servers.join(" ")
        ));
    }
    let mut text = format!("<?xml version=\"1.0\"?>\n{}<configuration>\n", comment(&lines));
    for (name, value) in properties {
        text += &format!(
            "  <property>\n    <name>{}</name>\n    <value>{}</value>\n  </property>\n",
            escaped(&name),
            escaped(&value)
        );
    }
    text + "</configuration>\n"
}

fn written(amounts: impl Iterator<Item = (String, u128)>) -> String {
    let amounts: Vec<String> = amounts.map(|(name, amount)| format!("{name}={amount}")).collect();
    format!("[{}]", amounts.join(","))
}

/// Whole MiB and vcores.
fn capacity(export: &Export, tenant: &Tenant, class: usize) -> String {
    let amount = |(r, resource): (usize, &crate::amounts::Counted)| {
        let amount = export.amount(tenant, Some(class), r) / unit(resource.is_memory);
        Some((resource.called.clone()?, amount))
    };
    written(export.resources.iter().enumerate().filter_map(amount))
}

/// The same of the limits; what is not limited has what the class has, since amounts of one resource alone would leave none of the
/// others.
fn maximum(export: &Export, tenant: usize, class: usize) -> Option<String> {
    let limits: Vec<Option<u128>> =
        (0..export.resources.len()).map(|r| export.limit(tenant, Some(class), r)).collect();
    let is_limited = export
        .resources
        .iter()
        .zip(&limits)
        .any(|(resource, limit)| resource.called.is_some() && limit.is_some());
    let n = export.resources.len();
    let amount = |(r, resource): (usize, &crate::amounts::Counted)| {
        let all = u128::from(export.room[class * n + r]) * resource.unit;
        Some((resource.called.clone()?, limits[r].unwrap_or(all) / unit(resource.is_memory)))
    };
    is_limited.then(|| written(export.resources.iter().enumerate().filter_map(amount)))
}

pub(super) fn unit(is_memory: bool) -> u128 {
    if is_memory { MEBI * BILLION } else { BILLION }
}
