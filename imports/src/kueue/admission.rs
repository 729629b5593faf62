//! What Kueue admits of a workload: pods whose queue covers all that they ask for, on flavors that their node selector, their required
//! node affinity and their tolerations allow.
//!
//! Source: Kueue's documentation, "Workload" (admission) and "Resource Flavor" (labels and taints): of what a pod asks of labels, those
//! count that some flavor of the resource group has, and of taints those of the flavor.

use super::found::ClusterQueue;
use super::objects::{Condition, FlavorSpec, PodSet, Pods, WorkloadSpec, WorkloadStatus};
use crate::kubernetes::{Conditions, PodAmounts, Site};
use crate::manifests::Manifest;
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::{Quantity, Written};
use std::collections::{BTreeMap, BTreeSet};

/// What a pod counts as of the resource `pods`.
const PODS: &str = "pods";

/// How many pods of a pod set hold quota or wait for it.
pub(super) struct Held {
    pub(super) count: u64,
    /// How many were not admitted with the others.
    pub(super) not_admitted: u64,
    /// How many have given their quota back.
    pub(super) given_back: u64,
}

impl WorkloadStatus {
    /// Why it neither runs nor waits, if so.
    pub(super) fn left_out(&self, spec: &WorkloadSpec) -> Option<&'static str> {
        let finished = |condition: &Condition| condition.kind == "Finished" && condition.status == "True";
        if self.conditions.iter().any(finished) {
            return Some("workloads left out: finished");
        }
        (spec.active == Some(false)).then_some("workloads left out: not active")
    }

    /// Whether it holds quota now.
    pub(super) fn is_admitted(&self) -> bool {
        let holds = |condition: &Condition| {
            ["Admitted", "QuotaReserved"].contains(&condition.kind.as_str()) && condition.status == "True"
        };
        self.conditions.iter().any(holds)
    }

    /// What was admitted of a pod set.
    fn assigned(&self, pods: &PodSet) -> Option<&Pods> {
        self.admission.sets.iter().find(|set| set.name == pods.name && self.is_admitted())
    }

    /// What each pod of an admitted set holds of the quota, where that is stated: what Kueue counts, which may be made of what the pod
    /// requests and otherwise be called.
    pub(super) fn usage(
        &self,
        pods: &PodSet,
        manifest: &Manifest,
    ) -> Result<Option<PodAmounts>, InstanceError> {
        let Some(set) = self.assigned(pods).filter(|set| !set.usage.is_empty()) else { return Ok(None) };
        let count = set.count.unwrap_or(pods.count);
        let mut usage = PodAmounts::new();
        for (name, Written(text)) in &set.usage {
            let place = format!("status.admission.podSetAssignments, {}: resourceUsage.{name}", set.name);
            let all = Quantity::parse(text).map_err(|problem| manifest.refused(&place, text, problem))?;
            usage.insert(name.clone(), all.among(count));
        }
        Ok(Some(usage).filter(|_| count > 0))
    }

    /// The pods of a pod set that count: those that were admitted, where some were, less those that have given their quota back.
    pub(super) fn held(&self, pods: &PodSet) -> Held {
        let admitted =
            self.assigned(pods).and_then(|set| set.count).map_or(pods.count, |count| count.min(pods.count));
        let back = self.reclaimable.iter().find(|set| set.name == pods.name).and_then(|set| set.count);
        let given_back = back.unwrap_or_default().min(admitted);
        Held { count: admitted - given_back, not_admitted: pods.count - admitted, given_back }
    }
}

impl ClusterQueue {
    /// Counts a pod itself where the queue has a quota of pods.
    pub(super) fn with_pod(&self, mut requests: PodAmounts) -> PodAmounts {
        if self.covers(PODS) {
            requests.insert(PODS.to_owned(), Quantity::ONE);
        }
        requests
    }

    /// What pods ask for that no resource group of the queue covers.
    pub(super) fn uncovered<'a>(&self, requests: &'a PodAmounts) -> Option<&'a str> {
        let mut asked = requests.iter().filter(|(_, amount)| !amount.is_zero());
        asked.find(|(name, _)| !self.covers(name)).map(|(name, _)| name.as_str())
    }

    fn covers(&self, resource: &str) -> bool {
        self.amounts.iter().any(|amount| amount.resource == resource)
    }

    /// The flavors that pods with these conditions may take; all of which nothing is known.
    pub(super) fn flavors_for(
        &self,
        conditions: &Conditions,
        rules: &BTreeMap<String, FlavorSpec>,
    ) -> BTreeSet<String> {
        let may_take = |group: usize, flavor: &str| {
            let Some(own) = rules.get(flavor) else { return true };
            let keys = self.label_keys(rules, |other| other == group);
            let asked = conditions.of_labels(&keys);
            let site = Site { name: "", labels: &own.labels, taints: &own.taints };
            let with = Conditions {
                tolerations: asked.tolerations.iter().chain(&own.tolerations).cloned().collect(),
                ..asked
            };
            with.allow(&site)
        };
        let amounts = self.amounts.iter().filter(|amount| may_take(amount.group, &amount.flavor));
        amounts.map(|amount| amount.flavor.clone()).collect()
    }

    /// Whether conditions ask for a label that no flavor of the queue has.
    pub(super) fn knows_all_labels(
        &self,
        conditions: &Conditions,
        rules: &BTreeMap<String, FlavorSpec>,
    ) -> bool {
        let keys = self.label_keys(rules, |_| true);
        conditions.labels().all(|label| keys.contains(label))
    }

    /// The labels that flavors of some resource groups have.
    fn label_keys<'a>(
        &self,
        rules: &'a BTreeMap<String, FlavorSpec>,
        is_of: impl Fn(usize) -> bool,
    ) -> BTreeSet<&'a str> {
        let flavors = self.amounts.iter().filter(|amount| is_of(amount.group));
        let labels =
            flavors.filter_map(|amount| rules.get(&amount.flavor)).flat_map(|rules| rules.labels.keys());
        labels.map(String::as_str).collect()
    }

    /// Whether of every one of these resource groups one of these flavors is among others.
    pub(super) fn has_one_of_each(
        &self,
        groups: &super::found::Groups,
        may_take: &BTreeSet<String>,
        there: &BTreeSet<String>,
    ) -> bool {
        groups.iter().all(|group| {
            let own =
                self.amounts.iter().filter(|amount| amount.group == *group).map(|amount| &amount.flavor);
            own.into_iter().any(|flavor| may_take.contains(flavor) && there.contains(flavor))
        })
    }
}
