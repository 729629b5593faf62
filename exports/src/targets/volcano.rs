//! Volcano: a Queue for each tenant, with what it deserves, what is kept for it and the most it may have, over all classes.

use super::weights;
use super::yaml::{comments, map, object, quoted};
use crate::export::Export;
use std::fmt::Write;

/// The largest weight of a queue.
const HEAVIEST: f64 = 65_535.0;

const API: &str = "scheduling.volcano.sh/v1beta1";

pub(crate) fn text(export: &Export) -> String {
    let mut text = comments(export);
    let weights = weights::whole(&export.tenants, HEAVIEST, |tenant| tenant.weight.to_f64());
    for (t, (tenant, weight)) in export.tenants.iter().zip(weights).enumerate() {
        text += &object(export, API, "Queue", &tenant.name);
        let _ = writeln!(text, "spec:\n  weight: {weight}\n  reclaimable: true");
        // Below its own root is everybody.
        let is_root = export.root == Some(t);
        if let Some(parent) = tenant.parent.filter(|parent| export.root != Some(*parent)) {
            let _ = writeln!(text, "  parent: {}", quoted(&export.tenants[parent].name));
        }
        let amounts = |of: &dyn Fn(usize) -> Option<u128>| -> Vec<(String, String)> {
            let named =
                export.resources.iter().enumerate().filter_map(|(r, it)| Some((r, it, it.called.clone()?)));
            named.filter_map(|(r, it, name)| Some((name, it.quantity(of(r)?)))).collect()
        };
        text += &map(2, "deserved", &amounts(&|r| (!is_root).then(|| export.amount(tenant, None, r))));
        // A limit of no cpu or memory would be none at all.
        let is_limit = |r: usize, limit: &u128| {
            *limit > 0 || !["cpu", "memory"].map(Some).contains(&export.resources[r].called.as_deref())
        };
        let limit = |r: usize| export.limit(t, None, r).filter(|limit| is_limit(r, limit));
        text += &map(2, "capability", &amounts(&limit));
        let reserve = amounts(&|r| export.reserve(tenant, None, r).filter(|_| !is_root));
        if !reserve.is_empty() {
            text += "  guarantee:\n";
            text += &map(4, "resource", &reserve);
        }
    }
    text
}
