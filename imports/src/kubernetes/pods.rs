//! A pod: what the scheduler reserves for it, whose it is, and where it may run.

use super::gpu_sharing::{self, SharedGpus};
use super::nodes::quantities;
use super::placement::{Affinity, Conditions, PodTerm, Spread, Toleration};
use crate::manifests::{Manifest, Metadata, nullable};
use crate::report::ImportReport;
use crate::tasks::Rules;
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::{Quantity, Written};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};

/// Amounts by resource; what is not there is zero.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Fields {
    metadata: Metadata,
    #[serde(deserialize_with = "nullable")]
    spec: Spec,
    #[serde(deserialize_with = "nullable")]
    status: State,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Spec {
    #[serde(deserialize_with = "nullable")]
    containers: Vec<Container>,
    #[serde(rename = "initContainers", deserialize_with = "nullable")]
    init_containers: Vec<Container>,
    #[serde(deserialize_with = "nullable")]
    overhead: BTreeMap<String, Written>,
    /// Of the pod as a whole, which goes before the sum of its containers.
    #[serde(deserialize_with = "nullable")]
    resources: Resources,
    #[serde(rename = "nodeName", deserialize_with = "nullable")]
    node_name: String,
    #[serde(rename = "nodeSelector", deserialize_with = "nullable")]
    node_selector: BTreeMap<String, String>,
    #[serde(deserialize_with = "nullable")]
    affinity: Affinity,
    #[serde(deserialize_with = "nullable")]
    tolerations: Vec<Toleration>,
    /// Devices that are claimed by objects of their own (dynamic resource allocation).
    #[serde(rename = "resourceClaims", deserialize_with = "nullable")]
    resource_claims: Vec<IgnoredAny>,
    #[serde(rename = "topologySpreadConstraints", deserialize_with = "nullable")]
    spread: Vec<Spread>,
    /// Who else has to let it in before a scheduler looks at it.
    #[serde(rename = "schedulingGates", deserialize_with = "nullable")]
    gates: Vec<Gate>,
    #[serde(deserialize_with = "nullable")]
    priority: i64,
    #[serde(rename = "schedulerName", deserialize_with = "nullable")]
    scheduler: String,
    #[serde(deserialize_with = "nullable")]
    volumes: Vec<Volume>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Volume {
    /// Of a claim: the volume that it is bound to may be of one node or one zone.
    #[serde(rename = "persistentVolumeClaim")]
    claim: Option<IgnoredAny>,
    /// A claim that is made for this pod.
    ephemeral: Option<IgnoredAny>,
}

impl Volume {
    fn is_claimed(&self) -> bool {
        self.claim.is_some() || self.ephemeral.is_some()
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Gate {
    #[serde(deserialize_with = "nullable")]
    name: String,
}

/// What the gates of Kueue begin with: it opens them where there is room in a quota.
const OF_KUEUE: &str = "kueue.x-k8s.io/";
/// The scheduler of pods that name none.
const USUAL_SCHEDULER: &str = "default-scheduler";

/// What is counted where pods keep away from others, and where they are spread.
pub(super) const APART: &str =
    "pods have a required podAntiAffinity, which is not kept: they may run together";
pub(super) const SPREAD: &str =
    "pods have a topologySpreadConstraint with DoNotSchedule, which is not kept: they may run unevenly";
pub(super) const PORTS: &str =
    "pods have ports of their node (hostPort), which is not kept: those with the same port may run together";

impl Spec {
    /// What pods ask for that is not read, as it is counted.
    pub(crate) fn unread(&self) -> Vec<&'static str> {
        let rules = [
            (
                !self.resource_claims.is_empty(),
                "pods ask for devices by resourceClaims (DRA), which are not read: their devices do not count",
            ),
            (!self.affinity.apart.required.is_empty(), APART),
            (
                !self.affinity.beside.required.is_empty(),
                "pods have a required podAffinity, which is not kept: they may run apart",
            ),
            (self.spread.iter().any(Spread::is_required), SPREAD),
            (!self.host_ports().is_empty(), PORTS),
            (
                self.volumes.iter().any(Volume::is_claimed),
                "pods have volumes that are claimed (persistentVolumeClaim), which may be of one node or zone and are not looked at: they may run on the others too",
            ),
        ];
        rules.into_iter().filter(|(applies, _)| *applies).map(|(_, what)| what).collect()
    }

    /// What it asks of its node.
    pub(crate) fn conditions(&self) -> Conditions {
        let terms = self.affinity.node.required.as_ref().map(|required| required.terms.clone());
        Conditions { selector: self.node_selector.clone(), terms, tolerations: self.tolerations.clone() }
    }

    /// The ports of its node that a pod takes, of which each is there once: `80/TCP`, with the address where one is named.
    fn host_ports(&self) -> BTreeSet<String> {
        let containers = self.containers.iter().chain(&self.init_containers);
        let taken = containers.flat_map(|container| &container.ports).filter(|port| port.host_port > 0);
        taken.map(HostPort::shown).collect()
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HostPort {
    #[serde(rename = "hostPort", deserialize_with = "nullable")]
    host_port: u64,
    #[serde(rename = "hostIP", deserialize_with = "nullable")]
    address: String,
    #[serde(deserialize_with = "nullable")]
    protocol: String,
}

impl HostPort {
    fn shown(&self) -> String {
        let protocol = if self.protocol.is_empty() { "TCP" } else { &self.protocol };
        let address = if self.address == "0.0.0.0" { "" } else { &self.address };
        let at = if address.is_empty() { String::new() } else { format!("{address}:") };
        format!("{at}{}/{protocol}", self.host_port)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Container {
    #[serde(deserialize_with = "nullable")]
    name: String,
    #[serde(deserialize_with = "nullable")]
    resources: Resources,
    /// What its node has given it, which its status says.
    #[serde(skip)]
    allocated: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    ports: Vec<HostPort>,
    #[serde(rename = "restartPolicy", deserialize_with = "nullable")]
    restart_policy: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resources {
    #[serde(deserialize_with = "nullable")]
    requests: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    limits: BTreeMap<String, Written>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    #[serde(deserialize_with = "nullable")]
    phase: String,
    #[serde(rename = "containerStatuses", deserialize_with = "nullable")]
    containers: Vec<ContainerState>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerState {
    #[serde(deserialize_with = "nullable")]
    name: String,
    #[serde(rename = "allocatedResources", deserialize_with = "nullable")]
    allocated: BTreeMap<String, Written>,
}

/// A pod as far as it concerns an instance.
pub(super) struct Pod {
    pub(super) metadata: Metadata,
    /// `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`, or nothing.
    pub(super) phase: String,
    /// The node it runs on; empty while there is none.
    pub(super) node: String,
    pub(super) requests: Amounts,
    pub(super) conditions: Conditions,
    /// How many containers request nothing and limit nothing, init containers aside.
    pub(super) silent: u64,
    /// What it asks for that is not read.
    pub(super) unread: Vec<&'static str>,
    /// From which pods it must keep away, and how they must be spread.
    pub(super) apart: Vec<PodTerm>,
    pub(super) spread: Vec<Spread>,
    /// The ports of its node that it takes.
    pub(super) ports: BTreeSet<String>,
    /// What of that is kept.
    pub(super) rules: Rules,
    /// A daemon or a static pod, which is part of its node.
    pub(super) bound: bool,
    /// Whether somebody else has to let it in before it waits for room.
    pub(super) is_gated: bool,
    /// Before which others it comes.
    pub(super) priority: i64,
    /// What annotations say of GPUs.
    pub(super) shared_gpus: Option<SharedGpus>,
}

impl Pod {
    pub(super) fn read(manifest: &Manifest, report: &mut ImportReport) -> Result<Self, InstanceError> {
        let Fields { metadata, mut spec, status } = manifest.read()?;
        let asked = requests(&spec, manifest)?;
        for ContainerState { name, allocated } in status.containers {
            let own = spec.containers.iter_mut().find(|container| container.name == name);
            own.into_iter().for_each(|container| container.allocated.clone_from(&allocated));
        }
        let requests = requests(&spec, manifest)?;
        let mut unread = spec.unread();
        let of_others = !["", USUAL_SCHEDULER].contains(&spec.scheduler.as_str());
        for (applies, what) in [
            (
                of_others,
                "pods of another scheduler than Kubernetes' own (schedulerName), counted like the others",
            ),
            (
                !metadata.deleted.is_null(),
                "pods that are being deleted (deletionTimestamp), counted like the others",
            ),
            (
                requests != asked,
                "pods that were resized and hold more than they ask for: what they hold counts",
            ),
            (
                spec.containers.is_empty(),
                "pods state no containers (spec.containers), so they ask for nothing",
            ),
        ] {
            unread.extend(applies.then_some(what));
        }
        let is_gated = spec.gates.iter().any(|gate| !gate.name.starts_with(OF_KUEUE));
        let (ports, priority) = (spec.host_ports(), spec.priority);
        let apart = spec.affinity.apart.required;
        let spread = spec.spread.into_iter().filter(Spread::is_required).collect();
        let silent = |container: &&Container| {
            container.resources.requests.is_empty() && container.resources.limits.is_empty()
        };
        let silent = spec.containers.iter().filter(silent).count() as u64;
        let bound = metadata.owners.iter().any(|owner| owner.kind == "DaemonSet" || owner.kind == "Node");
        // Where it runs is settled.
        unread.retain(|what| !(bound && *what == PORTS));
        let mut terms = spec.affinity.node.required.map(|required| required.terms);
        if bound && let Some(terms) = &mut terms {
            // The daemon controller ties each of its pods to its node by this, one term for all of them.
            terms.iter_mut().for_each(|term| term.fields.clear());
            terms.retain(|term| !term.expressions.is_empty());
        }
        let terms = if bound { terms.filter(|terms| !terms.is_empty()) } else { terms };
        let conditions = Conditions { selector: spec.node_selector, terms, tolerations: spec.tolerations };
        let shared_gpus = gpu_sharing::read(manifest, &metadata, report)?;
        let (phase, node) = (status.phase, spec.node_name);
        Ok(Self {
            metadata,
            phase,
            node,
            requests,
            conditions,
            silent,
            unread,
            apart,
            spread,
            ports,
            rules: Rules::default(),
            bound,
            is_gated,
            priority,
            shared_gpus,
        })
    }
}

/// What the scheduler reserves: the sum over the containers, or what an init container needs beside the sidecars that
/// started before it, whichever is more, and the overhead on top. A container that its node still gives more than it asks for counts with that.
///
/// Source: the Kubernetes documentation, "Init Containers" (effective requests), "Sidecar Containers", "Pod Overhead", "Resize CPU and
/// Memory Resources assigned to Containers".
pub(crate) fn requests(spec: &Spec, manifest: &Manifest) -> Result<Amounts, InstanceError> {
    let mut together = Amounts::new();
    for (position, container) in spec.containers.iter().enumerate() {
        let place = || format!("spec.containers[{position}].resources");
        let mut own = container.resources.amounts(manifest, place)?;
        let field = "status.containerStatuses.allocatedResources";
        at_least(&mut own, &quantities(&container.allocated, manifest, field)?);
        add(&mut together, &own);
    }
    let (mut sidecars, mut starting) = (Amounts::new(), Amounts::new());
    for (position, container) in spec.init_containers.iter().enumerate() {
        let place = || format!("spec.initContainers[{position}].resources");
        let own = container.resources.amounts(manifest, place)?;
        if container.restart_policy == "Always" {
            add(&mut sidecars, &own);
            add(&mut together, &own);
            at_least(&mut starting, &sidecars);
        } else {
            let mut beside = sidecars.clone();
            add(&mut beside, &own);
            at_least(&mut starting, &beside);
        }
    }
    at_least(&mut together, &starting);
    for (resource, amount) in spec.resources.amounts(manifest, || "spec.resources".into())? {
        together.insert(resource, amount);
    }
    add(&mut together, &quantities(&spec.overhead, manifest, "spec.overhead")?);
    Ok(together)
}

impl Resources {
    /// The requests; where only a limit is stated, that is the request too.
    fn amounts(&self, manifest: &Manifest, place: impl Fn() -> String) -> Result<Amounts, InstanceError> {
        if self.requests.is_empty() && self.limits.is_empty() {
            return Ok(Amounts::new());
        }
        let mut amounts = quantities(&self.limits, manifest, &format!("{}.limits", place()))?;
        amounts.extend(quantities(&self.requests, manifest, &format!("{}.requests", place()))?);
        Ok(amounts)
    }
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (resource, amount) in more {
        let total = sum.entry(resource.clone()).or_default();
        *total = total.plus(*amount);
    }
}

fn at_least(most: &mut Amounts, other: &Amounts) {
    for (resource, amount) in other {
        let value = most.entry(resource.clone()).or_default();
        *value = (*value).max(*amount);
    }
}
