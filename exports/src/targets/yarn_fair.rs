//! YARN's fair scheduler: a queue for each tenant, with what it is sure of, the most it may have and its weight, over all nodes.

use super::xml::{comment, escaped};
use super::yarn::unit;
use crate::export::Export;
use std::fmt::Write;

pub(crate) fn text(export: &Export) -> String {
    let mut text = format!("<?xml version=\"1.0\"?>\n{}", comment(&export.comments()));
    text += "<allocations>\n  <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>\n  <queue name=\"root\">\n";
    children(export, None, 4, &mut text);
    text + "  </queue>\n</allocations>\n"
}

fn children(export: &Export, parent: Option<usize>, indent: usize, text: &mut String) {
    let space = " ".repeat(indent);
    for (t, tenant) in export.tenants.iter().enumerate().filter(|(_, tenant)| tenant.parent == parent) {
        let _ = writeln!(text, "{space}<queue name=\"{}\">", escaped(&tenant.name));
        let counted =
            || export.resources.iter().enumerate().filter(|(_, resource)| resource.called.is_some());
        let written = |of: &dyn Fn(usize) -> u128| -> String {
            let one = |(r, resource): (usize, &crate::amounts::Counted)| {
                let name = if resource.is_memory { "mb" } else { "vcores" };
                format!("{} {name}", of(r) / unit(resource.is_memory))
            };
            counted().map(one).collect::<Vec<_>>().join(", ")
        };
        let gets = |r: usize| export.amount(tenant, None, r);
        let limits: Vec<Option<u128>> =
            (0..export.resources.len()).map(|r| export.limit(t, None, r)).collect();
        let _ = writeln!(text, "{space}  <minResources>{}</minResources>", written(&gets));
        if counted().any(|(r, _)| limits[r].is_some()) {
            // What is not limited has what the cluster has.
            let all = |r: usize| limits[r].unwrap_or_else(|| export.all_of(r));
            let _ = writeln!(text, "{space}  <maxResources>{}</maxResources>", written(&all));
        }
        let _ = writeln!(text, "{space}  <weight>{}</weight>", tenant.weight);
        if !tenant.is_leaf {
            children(export, Some(t), indent + 2, text);
        }
        let _ = writeln!(text, "{space}</queue>");
    }
}
