//! YuniKorn: the queues of its partition `default`, with what is guaranteed and the most there may be, over all classes.

use super::yaml::{comments, map, quoted};
use crate::amounts::{BILLION, Counted};
use crate::export::Export;
use std::fmt::Write;

pub(crate) fn text(export: &Export) -> String {
    let mut text = comments(export);
    text += "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n";
    if let Some(root) = export.root {
        resources(4, &[], &most(export, root), &mut text);
    }
    text += "    queues:\n";
    children(export, export.root, 4, &mut text);
    text
}

fn children(export: &Export, parent: Option<usize>, indent: usize, text: &mut String) {
    let space = " ".repeat(indent);
    for (t, tenant) in export.tenants.iter().enumerate().filter(|(_, tenant)| tenant.parent == parent) {
        let _ = writeln!(text, "{space}- name: {}", quoted(&tenant.name));
        let guaranteed: Amounts =
            named(export).map(|(r, it, name)| (name, whole(it, export.amount(tenant, None, r)))).collect();
        resources(indent + 2, &guaranteed, &most(export, t), text);
        if !tenant.is_leaf {
            let _ = writeln!(text, "{space}  parent: true\n{space}  queues:");
            children(export, Some(t), indent + 2, text);
        }
    }
}

/// Amounts by what they are called.
type Amounts = Vec<(String, String)>;

fn named(export: &Export) -> impl Iterator<Item = (usize, &Counted, String)> {
    export.resources.iter().enumerate().filter_map(|(r, it)| Some((r, it, it.called.clone()?)))
}

/// The most that a tenant may have; a maximum of nothing at all is refused.
fn most(export: &Export, tenant: usize) -> Amounts {
    let limit =
        |(r, it, name): (usize, &Counted, String)| Some((name, whole(it, export.limit(tenant, None, r)?)));
    let most: Amounts = named(export).filter_map(limit).collect();
    if most.iter().all(|(_, amount)| amount == "0") { Amounts::new() } else { most }
}

fn resources(indent: usize, guaranteed: &[(String, String)], most: &[(String, String)], text: &mut String) {
    if !guaranteed.is_empty() || !most.is_empty() {
        let _ = writeln!(text, "{}resources:", " ".repeat(indent));
        *text += &map(indent + 2, "guaranteed", guaranteed);
        *text += &map(indent + 2, "max", most);
    }
}

/// An amount without decimals, which YuniKorn does not read: parts of cores in thousandths.
fn whole(resource: &Counted, billionths: u128) -> String {
    match billionths.is_multiple_of(BILLION) {
        true => resource.quantity(billionths),
        false => format!("{}m", billionths / (BILLION / 1000)),
    }
}
