//! Workloads that run or wait: of each pod set so many pods with what they request.

use super::admission::Held;
use super::found::{ClusterQueue, LocalQueue, Workload};
use super::objects::{self, FlavorSpec, WorkloadSpec, WorkloadStatus};
use super::stopped::{Stop, Stops};
use super::unkept;
use crate::kubernetes::{PodAmounts, requests};
use crate::manifests::{Manifest, nullable};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use hashbrown::HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Who admits workloads, and by what.
pub(super) struct Admitting<'a> {
    pub(super) queues: &'a [ClusterQueue],
    pub(super) locals: &'a [LocalQueue],
    pub(super) rules: &'a BTreeMap<String, FlavorSpec>,
    pub(super) stops: &'a Stops,
}

/// What is told of workloads that are counted though not all that they state is kept.
const WHOLE: &str = "workloads of several pods, which Kueue admits whole or not at all: here some of their pods may run without the others";
const FEWER: &str = "workloads that may be admitted with fewer pods (minCount), which is left out";
const NEAR: &str = "workloads with pods on nodes near each other (topologyRequest), which is left out: here any nodes will do";
const PRIORITY: &str = "workloads with a priority, which is left out: here shares alone decide";
const LABELS: &str = "workloads whose pods ask for labels of nodes that no flavor of their queue has, which is left out: they may run on all nodes of a flavor";

/// What is told of workloads that are left out with their queue.
const HELD: &str = "workloads left out: they wait in a queue that admits nothing (stopPolicy: Hold)";
const DRAINED: &str =
    "workloads left out: their queue admits nothing, and ends what runs there (stopPolicy: HoldAndDrain)";
const NO_CLUSTER_QUEUE: &str =
    "workloads left out: their local queue is here, but its cluster queue is not or has no quota";

/// Which local queue a workload is in: of its own namespace.
pub(super) fn queue_of(manifest: &Manifest, spec: &WorkloadSpec) -> String {
    match manifest.name.split_once('/') {
        Some((namespace, _)) => format!("{namespace}/{}", spec.queue),
        None => spec.queue.clone(),
    }
}

/// How it is with a workload.
pub(super) fn status(manifest: &Manifest) -> Result<WorkloadStatus, InstanceError> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Status {
        #[serde(deserialize_with = "nullable")]
        status: WorkloadStatus,
    }
    Ok(manifest.read::<Status>()?.status)
}

/// The pod sets of all workloads that are not finished, and whether there are such workloads at all.
pub(super) fn read<'a>(
    manifests: impl Iterator<Item = &'a Manifest>,
    admitting: &Admitting<'_>,
    report: &mut ImportReport,
) -> Result<(Vec<Workload>, bool), InstanceError> {
    let locals = admitting.locals;
    let by_name: HashMap<&str, usize> =
        locals.iter().enumerate().map(|(at, local)| (local.name.as_str(), at)).collect();
    let (mut found, mut are_stated) = (Vec::new(), false);
    for manifest in manifests {
        let (_, spec) = objects::spec::<WorkloadSpec>(manifest)?;
        let status = status(manifest)?;
        if let Some(told) = status.left_out(&spec) {
            report.one(told);
            continue;
        }
        let queue = queue_of(manifest, &spec);
        let stopped = match admitting.stops.of(&queue) {
            Stop::Drain => Some(DRAINED),
            Stop::Hold if !status.is_admitted() => Some(HELD),
            Stop::Hold | Stop::No => None,
        };
        if let Some(told) = stopped {
            are_stated = true;
            report.named(told, &manifest.name);
            continue;
        }
        let Some(local) = by_name.get(queue.as_str()).copied() else {
            let is_known = admitting.stops.knows(&queue);
            are_stated |= is_known;
            let told =
                if is_known { NO_CLUSTER_QUEUE } else { "workloads left out: their local queue is not here" };
            report.named(told, &manifest.name);
            continue;
        };
        are_stated = true;
        let queue = &admitting.queues[locals[local].of];
        let of_pods = |pods| match status.usage(pods, manifest)? {
            Some(usage) => Ok(usage),
            None => Ok(queue.with_pod(requests(&pods.template.spec, manifest)?)),
        };
        let asked = spec.pods.iter().map(of_pods).collect::<Result<Vec<_>, InstanceError>>()?;
        if let Some(resource) = asked.iter().find_map(|requests| queue.uncovered(requests)) {
            let resource = format!("{} ({resource})", manifest.name);
            if !status.is_admitted() {
                report.named(
                    "workloads left out: they ask for something that their queue does not cover, so Kueue does not admit them",
                    &resource,
                );
                continue;
            }
            report.named(
                "admitted workloads ask for something that their queue does not cover, which is left out",
                &resource,
            );
        }
        let own = pod_sets(&spec, asked, local, queue, admitting.rules);
        if own.iter().any(|(work, _)| !work.may_take_some(queue)) {
            report.named(
                "workloads left out: no flavor of their queue meets their node selector, affinity and tolerations, so Kueue does not admit them",
                &manifest.name,
            );
            continue;
        }
        report.one("workloads running or waiting");
        let mut all = 0;
        for ((work, knows_all_labels), pods) in own.into_iter().zip(&spec.pods) {
            let Held { count, not_admitted, given_back } = status.held(pods);
            for what in pods.template.spec.unread() {
                report.add(count, what);
            }
            report.named_times(
                not_admitted,
                "pods left out: their workload was admitted with fewer",
                &manifest.name,
            );
            report.named_times(
                given_back,
                "pods left out: they have given their quota back (reclaimablePods)",
                &manifest.name,
            );
            if pods.least.is_some_and(|least| least < pods.count) {
                report.named(FEWER, &manifest.name);
            }
            if unkept::must_be_near(&pods.topology) {
                report.named(NEAR, &manifest.name);
            }
            if !knows_all_labels {
                report.named(LABELS, &manifest.name);
            }
            all += count;
            found.push(Workload { count, ..work });
        }
        if all > 1 {
            report.named(WHOLE, &manifest.name);
        }
        if spec.priority.is_some_and(|priority| priority != 0) {
            report.named(PRIORITY, &manifest.name);
        }
    }
    Ok((found, are_stated))
}

/// The pod sets of a workload with what they ask for and the flavors that they may take, and whether flavors have all the labels that
/// they ask for.
fn pod_sets(
    spec: &WorkloadSpec,
    asked: Vec<PodAmounts>,
    local: usize,
    queue: &ClusterQueue,
    rules: &BTreeMap<String, FlavorSpec>,
) -> Vec<(Workload, bool)> {
    let pod_set = |(pods, requests): (&objects::PodSet, PodAmounts)| {
        let conditions = pods.template.spec.conditions();
        let flavors = queue.flavors_for(&conditions, rules);
        let work = Workload { local, requests, count: pods.count, flavors };
        (work, queue.knows_all_labels(&conditions, rules))
    };
    spec.pods.iter().zip(asked).map(pod_set).collect()
}
