//! YuniKorn: the queues of its partition `default`, with what is guaranteed and the most there may be, over all classes.

use super::yaml::{comments, map, quoted};
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
            named().map(|(r, it, name)| (name, it.quantity(export.amount(tenant, None, r)))).collect();
        let most = named().filter_map(|(r, it, name)| {
            Some((name, it.quantity(export.limit(tenant, None, r).filter(|limit| *limit > 0)?)))
        });
        let most: Vec<(String, String)> = most.collect();
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
