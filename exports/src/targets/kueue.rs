//! Kueue: a ResourceFlavor for each class, a Cohort for each group, a ClusterQueue for each tenant at the leaves.

use super::yaml::{comments, object, quoted};
use crate::export::Export;
use crate::tree::Tenant;
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
    text += &object(export, API, "Cohort", &root(export));
    text += "spec: {}\n";
    for (t, tenant) in export.tenants.iter().enumerate() {
        let parent = tenant.parent.map_or_else(|| root(export), |parent| export.tenants[parent].name.clone());
        let (kind, above) =
            if tenant.is_leaf { ("ClusterQueue", "cohort") } else { ("Cohort", "parentName") };
        text += &object(export, API, kind, &tenant.name);
        let _ = writeln!(text, "spec:\n  {above}: {}", quoted(&parent));
        if tenant.is_leaf {
            text += "  namespaceSelector: {}\n";
        }
        let _ = writeln!(text, "  fairSharing:\n    weight: {}", quoted(&tenant.weight.to_string()));
        text += &if tenant.is_leaf { queue(export, t, tenant) } else { cohort(export, t) };
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
fn queue(export: &Export, t: usize, tenant: &Tenant) -> String {
    let share = |l: &usize| {
        let n = export.resources.len();
        let part = |r: usize| tenant.exact[l * n + r] / export.totals[r].max(1e-300);
        (0..n).map(part).fold(0.0, f64::max)
    };
    let mut flavors: Vec<usize> = (0..export.classes.len()).filter(|l| tenant.eligible[*l]).collect();
    flavors.sort_by(|a, b| share(b).total_cmp(&share(a)));
    flavors.truncate(FLAVORS);
    let quota = |l: usize, r: usize| {
        let gets = export.amount(tenant, Some(l), r);
        let borrows = export.limit(t, Some(l), r).map(|limit| limit - gets);
        let lends = export.reserve(tenant, Some(l), r).map(|reserve| gets - reserve);
        (gets, borrows, lends)
    };
    group(export, &flavors, &quota)
}

/// What a cohort may have beyond what those in it have: only that is said, where it is limited.
fn cohort(export: &Export, position: usize) -> String {
    let n = export.resources.len();
    let limited = |l: usize| (0..n).any(|r| export.limit(position, Some(l), r).is_some());
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
    let named =
        export.resources.iter().enumerate().filter_map(|(r, resource)| Some((r, resource.called.as_ref()?)));
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
