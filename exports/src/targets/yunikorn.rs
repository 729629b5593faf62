//! YuniKorn: the queues of its partition `default`, with what is guaranteed and the most there may be, over all classes.

use super::yaml::{comments, map, quoted};
use crate::amounts::{BILLION, Counted};
use crate::export::Export;
use std::fmt::Write;

pub(crate) fn text(export: &Export) -> String {
    let mut text = comments(export);
    text += "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n    queues:\n";
    children(export, None, 4, &mut text);
    text
}

fn children(export: &Export, parent: Option<usize>, indent: usize, text: &mut String) {
    let space = " ".repeat(indent);
    for (t, tenant) in export.tenants.iter().enumerate().filter(|(_, tenant)| tenant.parent == parent) {
        let _ = writeln!(text, "{space}- name: {}", quoted(&tenant.name));
        let named =
            || export.resources.iter().enumerate().filter_map(|(r, it)| Some((r, it, it.called.clone()?)));
        let guaranteed: Vec<(String, String)> =
            named().map(|(r, it, name)| (name, whole(it, export.amount(tenant, None, r)))).collect();
        let most = named().filter_map(|(r, it, name)| Some((name, whole(it, export.limit(t, None, r)?))));
        let mut most: Vec<(String, String)> = most.collect();
        // A maximum of nothing at all is refused.
        if most.iter().all(|(_, amount)| amount == "0") {
            most.clear();
        }
        if !guaranteed.is_empty() || !most.is_empty() {
            let _ = writeln!(text, "{space}  resources:");
            *text += &map(indent + 4, "guaranteed", &guaranteed);
            *text += &map(indent + 4, "max", &most);
        }
        if !tenant.is_leaf {
            let _ = writeln!(text, "{space}  parent: true\n{space}  queues:");
            children(export, Some(t), indent + 2, text);
        }
    }
}

/// An amount without decimals, which YuniKorn does not read: parts of cores in thousandths.
fn whole(resource: &Counted, billionths: u128) -> String {
    match billionths.is_multiple_of(BILLION) {
        true => resource.quantity(billionths),
        false => format!("{}m", billionths / (BILLION / 1000)),
    }
}
