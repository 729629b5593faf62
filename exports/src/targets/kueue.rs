//! Kueue: a ResourceFlavor for each class, a Cohort for each group, a ClusterQueue for each tenant at the leaves.
//!
//! A Cohort above all lets tenants at the top lend each other what is idle. Those that can neither borrow nor lend anything there are in
//! none: Kueue treats them the same, and that is how they came from queues that were in none.

use super::alone::alone;
use super::yaml::{comments, object, quoted};
use crate::export::Export;
use crate::tolerance::LEAST_TOTAL;
use fairplan_instances::wording::counted;
use std::fmt::Write;

const API: &str = "kueue.x-k8s.io/v1beta1";

/// The Cohort above all, in which tenants lend each other what is idle.
const ROOT: &str = "cluster";

/// The label by which nodes belong to a flavor.
const LABEL: &str = "fairplan/class";

/// So many flavors a queue may have, at most.
pub(crate) const FLAVORS: usize = 64;

/// Nodes whose names are written into one line.
const NAMES: usize = 50;

pub(crate) fn text(export: &Export) -> String {
    let mut text = comments(export);
    let one = export.classes.len() == 1;
    for class in &export.classes {
        text += &object(export, API, "ResourceFlavor", &class.name);
        if one {
            text += "spec: {}\n";
            continue;
        }
        let _ = writeln!(text, "spec:\n  nodeLabels:\n    {LABEL}: {}", quoted(&class.name));
        for names in class.servers.chunks(NAMES) {
            let _ = writeln!(
                text,
                "# kubectl label --overwrite nodes {} {LABEL}={}",
                names.join(" "),
                class.name
            );
        }
        if class.servers.is_empty() {
            let nodes = counted(class.count, "node", "nodes");
            let _ = writeln!(text, "# Of this class, to be labelled {LABEL}={}: {nodes}", class.name);
        }
    }
    let alone = alone(export);
    let root = root(export);
    if !alone.iter().zip(&export.tenants).all(|(alone, tenant)| *alone || tenant.parent.is_some()) {
        text += &object(export, API, "Cohort", &root);
        text += "spec: {}\n";
    }
    for (t, tenant) in export.tenants.iter().enumerate() {
        let parent = match tenant.parent {
            Some(parent) => Some(&export.tenants[parent].name),
            None => Some(&root).filter(|_| !alone[t]),
        };
        let (kind, above) =
            if tenant.is_leaf { ("ClusterQueue", "cohort") } else { ("Cohort", "parentName") };
        text += &object(export, API, kind, &tenant.name);
        text += "spec:\n";
        if let Some(parent) = parent {
            let _ = writeln!(text, "  {above}: {}", quoted(parent));
        }
        if tenant.is_leaf {
            text += "  namespaceSelector: {}\n";
        }
        let _ = writeln!(text, "  fairSharing:\n    weight: {}", quoted(&tenant.weight.to_string()));
        // Who is in no cohort can neither borrow nor lend, and Kueue refuses limits of it.
        let is_inside = parent.is_some();
        text += &if tenant.is_leaf { queue(export, t, is_inside) } else { cohort(export, t, is_inside) };
    }
    text
}

/// The name of the Cohort above all, which none below it has.
fn root(export: &Export) -> String {
    let mut root = ROOT.to_owned();
    while export.tenants.iter().any(|tenant| tenant.name == root) {
        root.push_str("-all");
    }
    root
}

/// What a queue has on each flavor where its tasks may run; that of which it has most comes first, as Kueue tries them in this order.
fn queue(export: &Export, t: usize, is_inside: bool) -> String {
    let tenant = &export.tenants[t];
    let share = |l: &usize| {
        let n = export.resources.len();
        let part = |r: usize| tenant.exact[l * n + r] / export.totals[r].max(LEAST_TOTAL);
        (0..n).map(part).fold(0.0, f64::max)
    };
    let mut flavors: Vec<usize> = (0..export.classes.len()).filter(|l| tenant.eligible[*l]).collect();
    flavors.sort_by(|a, b| share(b).total_cmp(&share(a)));
    flavors.truncate(FLAVORS);
    let quota = |l: usize, r: usize| {
        let gets = export.amount(tenant, Some(l), r);
        let borrows = export.limit(t, Some(l), r).map(|limit| limit - gets);
        let lends = export.reserve(tenant, Some(l), r).map(|reserve| gets - reserve);
        (gets, borrows.filter(|_| is_inside), lends.filter(|_| is_inside))
    };
    group(export, &flavors, &quota)
}

/// What a cohort may have beyond what those in it have: only that is said, where it is limited.
fn cohort(export: &Export, position: usize, is_inside: bool) -> String {
    let n = export.resources.len();
    let limited = |l: usize| is_inside && (0..n).any(|r| export.limit(position, Some(l), r).is_some());
    let flavors: Vec<usize> = (0..export.classes.len()).filter(|l| limited(*l)).collect();
    let quota = |l: usize, r: usize| {
        let below = export.tenants.iter().filter(|child| child.parent == Some(position));
        let has: u128 = below.map(|child| export.amount(child, Some(l), r)).sum();
        let limit = export.limit(position, Some(l), r);
        let borrows = limit.map(|limit| limit.saturating_sub(has));
        (0, borrows, None)
    };
    group(export, &flavors, &quota)
}

type Quota = (u128, Option<u128>, Option<u128>);

fn group(export: &Export, flavors: &[usize], quota: &dyn Fn(usize, usize) -> Quota) -> String {
    if flavors.is_empty() {
        return String::new();
    }
    // Kueue counts every workload as pods where these are covered: who has none of them and no limit is not to be held by them.
    let is_covered =
        |r: usize, name: &str| name != "pods" || flavors.iter().any(|l| quota(*l, r) != (0, None, None));
    let named = export.resources.iter().enumerate().filter_map(|(r, resource)| {
        Some((r, resource.called.as_ref()?)).filter(|(r, name)| is_covered(*r, name))
    });
    let covered: Vec<String> = named.clone().map(|(_, name)| quoted(name)).collect();
    let mut text =
        format!("  resourceGroups:\n  - coveredResources: [{}]\n    flavors:\n", covered.join(", "));
    for &l in flavors {
        let _ = writeln!(text, "    - name: {}\n      resources:", quoted(&export.classes[l].name));
        for (r, name) in named.clone() {
            let (gets, borrows, lends) = quota(l, r);
            let write = |amount: u128| quoted(&export.resources[r].quantity(amount));
            let _ = writeln!(text, "      - name: {}\n        nominalQuota: {}", quoted(name), write(gets));
            for (field, amount) in [("borrowingLimit", borrows), ("lendingLimit", lends)] {
                if let Some(amount) = amount {
                    let _ = writeln!(text, "        {field}: {}", write(amount));
                }
            }
        }
    }
    text
}
