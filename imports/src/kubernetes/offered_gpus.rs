//! GPUs that pods ask for in annotations, where nodes offer thousandths of them.

use super::gpu_sharing::{MILLI, MODEL};
use super::nodes::Node;
use super::placement::Term;
use super::pods::Pod;
use super::requirements::{Operator, Requirement};
use crate::report::ImportReport;

/// Makes requests and conditions of what annotations say, where nodes have such GPUs.
pub(super) fn apply(nodes: &[Node], pods: &mut [Pod], report: &mut ImportReport) {
    let offered = nodes.iter().any(|node| node.allocatable.contains_key(MILLI));
    let labelled = nodes.iter().any(|node| node.labels.contains_key(MODEL));
    for pod in pods {
        let Some(shared) = pod.shared_gpus.take() else { continue };
        if !offered {
            report.one(format!("pods ask for GPUs in annotations, which are not read: no node has {MILLI}"));
            continue;
        }
        report.one(format!("pods ask for {MILLI} in annotations"));
        pod.requests.entry(MILLI.into()).or_insert(shared.milli);
        if labelled && !shared.models.is_empty() {
            let wanted = Requirement { key: MODEL.into(), operator: Operator::In, values: shared.models };
            for term in pod.conditions.terms.get_or_insert_with(|| vec![Term::default()]) {
                term.expressions.push(wanted.clone());
            }
        }
    }
}
