//! Workloads that run or wait: of each pod set so many pods with what they request.

use super::found::{LocalQueue, Workload};
use super::objects::{self, WorkloadSpec, WorkloadStatus};
use crate::kubernetes::requests;
use crate::manifests::{Manifest, nullable};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use hashbrown::HashMap;
use serde::Deserialize;

/// The pod sets of all workloads that are not finished.
pub(super) fn read<'a>(
    manifests: impl Iterator<Item = &'a Manifest>,
    locals: &[LocalQueue],
    report: &mut ImportReport,
) -> Result<Vec<Workload>, InstanceError> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Status {
        #[serde(deserialize_with = "nullable")]
        status: WorkloadStatus,
    }
    let by_name: HashMap<&str, usize> =
        locals.iter().enumerate().map(|(at, local)| (local.name.as_str(), at)).collect();
    let mut found = Vec::new();
    for manifest in manifests {
        let (_, spec) = objects::spec::<WorkloadSpec>(manifest)?;
        let Status { status } = manifest.read()?;
        let finished =
            |condition: &objects::Condition| condition.kind == "Finished" && condition.status == "True";
        if status.conditions.iter().any(finished) {
            report.one("workloads left out: finished");
            continue;
        }
        if spec.active == Some(false) {
            report.one("workloads left out: not active");
            continue;
        }
        let queue = match manifest.name.split_once('/') {
            Some((namespace, _)) => format!("{namespace}/{}", spec.queue),
            None => spec.queue.clone(),
        };
        let Some(local) = by_name.get(queue.as_str()).copied() else {
            report.one("workloads left out: their local queue is not here");
            continue;
        };
        report.one("workloads running or waiting");
        for pods in &spec.pods {
            pods.template.spec.unread().into_iter().for_each(|what| report.add(pods.count, what));
            let requests = requests(&pods.template.spec, manifest)?;
            found.push(Workload { local, requests, count: pods.count });
        }
    }
    Ok(found)
}
