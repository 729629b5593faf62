//! KAI: a Queue for each tenant, with its quota and limit of cpu (thousandths of a core), memory (millions of bytes) and GPUs, over
//! all classes.

use super::yaml::{comments, object, quoted};
use crate::amounts::{Counted, plain};
use crate::export::Export;
use std::fmt::Write;

const API: &str = "scheduling.run.ai/v2";

pub(crate) fn text(export: &Export) -> String {
    let mut text = comments(export);
    for (t, tenant) in export.tenants.iter().enumerate() {
        text += &object(export, API, "Queue", &tenant.name);
        text += "spec:\n";
        if let Some(parent) = tenant.parent {
            let _ = writeln!(text, "  parentQueue: {}", quoted(&export.tenants[parent].name));
        }
        text += "  resources:\n";
        for name in ["cpu", "gpu", "memory"] {
            let is_it = |resource: &Counted| resource.called.as_deref() == Some(name);
            let Some(r) = export.resources.iter().position(is_it) else {
                // What the cluster has none of needs no more than that.
                let _ =
                    writeln!(text, "    {name}: {{quota: 0, limit: -1, overQuotaWeight: {}}}", tenant.weight);
                continue;
            };
            let quota = number(name, export.amount(tenant, None, r));
            let limit = export.limit(t, None, r).map_or_else(|| "-1".into(), |limit| number(name, limit));
            let _ = writeln!(
                text,
                "    {name}: {{quota: {quota}, limit: {limit}, overQuotaWeight: {}}}",
                tenant.weight
            );
        }
    }
    text
}

/// Billionths of a core, a byte or a GPU in what KAI counts.
fn number(name: &str, billionths: u128) -> String {
    match name {
        "cpu" => plain(billionths * 1000),
        "memory" => plain(billionths / 1_000_000),
        _ => plain(billionths),
    }
}
