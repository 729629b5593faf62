//! YARN's fair scheduler: a queue for each tenant, with what it is sure of, the most it may have and its weight, over all nodes.

use super::xml::{comment, escaped};
use super::yarn::unit;
use crate::amounts::Counted;
use crate::export::Export;
use std::fmt::Write;

pub(crate) fn text(export: &Export) -> String {
    let mut text = format!("<?xml version=\"1.0\"?>\n{}", comment(&export.comments()));
    text += "<allocations>\n  <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>\n  <queue name=\"root\">\n";
    if let Some(most) = export.root.and_then(|root| maximum(export, root)) {
        let _ = writeln!(text, "    <maxResources>{most}</maxResources>");
    }
    children(export, export.root, 4, &mut text);
    text + "  </queue>\n</allocations>\n"
}

fn children(export: &Export, parent: Option<usize>, indent: usize, text: &mut String) {
    let space = " ".repeat(indent);
    for (t, tenant) in export.tenants.iter().enumerate().filter(|(_, tenant)| tenant.parent == parent) {
        let _ = writeln!(text, "{space}<queue name=\"{}\">", escaped(&tenant.name));
        let gets = |r: usize| export.amount(tenant, None, r);
        let _ = writeln!(text, "{space}  <minResources>{}</minResources>", written(export, &gets));
        if let Some(most) = maximum(export, t) {
            let _ = writeln!(text, "{space}  <maxResources>{most}</maxResources>");
        }
        let _ = writeln!(text, "{space}  <weight>{}</weight>", tenant.weight);
        if !tenant.is_leaf {
            children(export, Some(t), indent + 2, text);
        }
        let _ = writeln!(text, "{space}</queue>");
    }
}

/// The most that a tenant may have; what is not limited has what the cluster has.
fn maximum(export: &Export, tenant: usize) -> Option<String> {
    let limits: Vec<Option<u128>> =
        (0..export.resources.len()).map(|r| export.limit(tenant, None, r)).collect();
    let is_limited = counted(export).any(|(r, _)| limits[r].is_some());
    is_limited.then(|| written(export, &|r| limits[r].unwrap_or_else(|| export.all_of(r))))
}

/// Amounts of what YARN counts.
fn written(export: &Export, of: &dyn Fn(usize) -> u128) -> String {
    let one = |(r, resource): (usize, &Counted)| {
        let name = if resource.is_memory { "mb" } else { "vcores" };
        format!("{} {name}", of(r) / unit(resource.is_memory))
    };
    counted(export).map(one).collect::<Vec<_>>().join(", ")
}

fn counted(export: &Export) -> impl Iterator<Item = (usize, &Counted)> {
    export.resources.iter().enumerate().filter(|(_, resource)| resource.called.is_some())
}
