//! Volcano: a Queue for each tenant, with what it deserves, what is kept for it and the most it may have, over all classes.

use super::weights;
use super::yaml::{comments, map, object, quoted};
use crate::export::Export;
use std::fmt::Write;

const API: &str = "scheduling.volcano.sh/v1beta1";

pub(crate) fn text(export: &Export) -> String {
    let mut text = comments(export);
    let weights = weights::whole(&export.tenants, |tenant| tenant.weight.to_f64());
    for (tenant, weight) in export.tenants.iter().zip(weights) {
        text += &object(export, API, "Queue", &tenant.name);
        let _ = writeln!(text, "spec:\n  weight: {weight}\n  reclaimable: true");
        if let Some(parent) = tenant.parent {
            let _ = writeln!(text, "  parent: {}", quoted(&export.tenants[parent].name));
        }
        let amounts = |of: &dyn Fn(usize) -> Option<u128>| -> Vec<(String, String)> {
            let named =
                export.resources.iter().enumerate().filter_map(|(r, it)| Some((r, it, it.called.clone()?)));
            named.filter_map(|(r, it, name)| Some((name, it.quantity(of(r)?)))).collect()
        };
        text += &map(2, "deserved", &amounts(&|r| Some(export.amount(tenant, None, r))));
        text +=
            &map(2, "capability", &amounts(&|r| export.limit(tenant, None, r).filter(|limit| *limit > 0)));
        let reserve = amounts(&|r| export.reserve(tenant, None, r));
        if !reserve.is_empty() {
            text += "  guarantee:\n";
            text += &map(4, "resource", &reserve);
        }
    }
    text
}
