//! A pod: what the scheduler reserves for it, whose it is, and where it may run.

use super::gpu_sharing::{self, SharedGpus};
use super::nodes::quantities;
use super::placement::{Affinity, Conditions, PodTerm, Spread, Toleration};
use crate::manifests::{Manifest, Metadata, nullable};
use crate::report::ImportReport;
use crate::tasks::Rules;
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::{Quantity, Written};
use hashbrown::HashMap;
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
    /// Whether it has its node's network, and so its ports.
    #[serde(rename = "hostNetwork", deserialize_with = "nullable")]
    host_network: bool,
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

    /// The ports of its node that a pod takes, of which each is there once: `80/TCP`, with the address where one is named. In its node's
    /// network these are all its ports.
    fn host_ports(&self) -> BTreeSet<String> {
        let containers = self.containers.iter().chain(&self.init_containers);
        let ports = containers.flat_map(|container| &container.ports);
        let of_node = |port: &HostPort| match port.host_port {
            0 if self.host_network => port.container_port,
            own => own,
        };
        ports
            .map(|port| (port, of_node(port)))
            .filter(|(_, own)| *own > 0)
            .map(|(port, own)| port.shown(own))
            .collect()
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HostPort {
    #[serde(rename = "hostPort", deserialize_with = "nullable")]
    host_port: u64,
    #[serde(rename = "containerPort", deserialize_with = "nullable")]
    container_port: u64,
    #[serde(rename = "hostIP", deserialize_with = "nullable")]
    address: String,
    #[serde(deserialize_with = "nullable")]
    protocol: String,
}

impl HostPort {
    fn shown(&self, of_node: u64) -> String {
        let protocol = if self.protocol.is_empty() { "TCP" } else { &self.protocol };
        let address = if self.address == "0.0.0.0" { "" } else { &self.address };
        let at = if address.is_empty() { String::new() } else { format!("{address}:") };
        format!("{at}{of_node}/{protocol}")
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
    given: Given,
    #[serde(deserialize_with = "nullable")]
    ports: Vec<HostPort>,
    #[serde(rename = "restartPolicy", deserialize_with = "nullable")]
    restart_policy: String,
}

/// What a container has of its node.
#[derive(Default)]
struct Given {
    /// What its node has set aside for it, and what it runs with.
    allocated: BTreeMap<String, Written>,
    running: BTreeMap<String, Written>,
    /// Whether its node can never give it what it asks for since it was resized.
    is_all: bool,
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
    #[serde(rename = "initContainerStatuses", deserialize_with = "nullable")]
    init_containers: Vec<ContainerState>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl State {
    /// Whether its node can never give it what it asks for since it was resized.
    fn is_infeasible(&self) -> bool {
        let pending = self.conditions.iter().find(|condition| condition.kind == "PodResizePending");
        pending.is_some_and(|condition| condition.reason == "Infeasible")
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: String,
    #[serde(deserialize_with = "nullable")]
    reason: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerState {
    #[serde(deserialize_with = "nullable")]
    name: String,
    #[serde(rename = "allocatedResources", deserialize_with = "nullable")]
    allocated: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    resources: Resources,
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
        let is_infeasible = status.is_infeasible();
        let mut given: HashMap<String, Given> = HashMap::new();
        for ContainerState { name, allocated, resources } in
            status.containers.into_iter().chain(status.init_containers)
        {
            given.insert(name, Given { allocated, running: resources.requests, is_all: is_infeasible });
        }
        for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
            let own = given.remove(&container.name);
            container.given = own.unwrap_or(Given { is_all: is_infeasible, ..Given::default() });
        }
        let requests = requests(&spec, manifest)?;
        let memory = requests.get("memory").and_then(|memory| memory.decimal());
        let has_part_of_a_byte = memory.is_some_and(|bytes| bytes.to_f64().fract() != 0.0);
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
                requests != asked && is_infeasible,
                "pods whose node can never resize them as they ask (Infeasible): what they hold counts",
            ),
            (
                requests != asked && !is_infeasible,
                "pods that were resized and hold more than they ask for: what they hold counts",
            ),
            (
                has_part_of_a_byte,
                "pods that ask for a part of a byte of memory, read as Kubernetes does (512m is half a byte, 512M are 512,000,000)",
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
/// started before it, whichever is more, and the overhead on top. A container that its node still gives more than it asks for counts with that;
/// one that its node can never give what it asks for with what it has.
///
/// Source: the Kubernetes documentation, "Init Containers" (effective requests), "Sidecar Containers", "Pod Overhead", "Resize CPU and
/// Memory Resources assigned to Containers".
pub(crate) fn requests(spec: &Spec, manifest: &Manifest) -> Result<Amounts, InstanceError> {
    let mut together = Amounts::new();
    for (position, container) in spec.containers.iter().enumerate() {
        let place = || format!("spec.containers[{position}].resources");
        add(&mut together, &container.amounts(manifest, place)?);
    }
    let (mut sidecars, mut starting) = (Amounts::new(), Amounts::new());
    for (position, container) in spec.init_containers.iter().enumerate() {
        let place = || format!("spec.initContainers[{position}].resources");
        let own = container.amounts(manifest, place)?;
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
    for (resource, amount) in spec.resources.of_pod(&together, manifest)? {
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

    /// The requests of a pod as a whole, which has these of cpu, memory and huge pages alone. Where it states a limit only, that is the
    /// request too, unless its containers request some: then it is what they do, but for huge pages, of which nobody has more than asked for.
    fn of_pod(&self, of_containers: &Amounts, manifest: &Manifest) -> Result<Amounts, InstanceError> {
        let is_huge = |resource: &str| resource.starts_with("hugepages-");
        let counts = |resource: &str| ["cpu", "memory"].contains(&resource) || is_huge(resource);
        let is_taken = |resource: &str| {
            self.requests.contains_key(resource) || is_huge(resource) || !of_containers.contains_key(resource)
        };
        let mut amounts = self.amounts(manifest, || "spec.resources".into())?;
        amounts.retain(|resource, _| counts(resource) && is_taken(resource));
        Ok(amounts)
    }
}

impl Container {
    fn amounts(&self, manifest: &Manifest, place: impl Fn() -> String) -> Result<Amounts, InstanceError> {
        let Given { allocated, running, is_all } = &self.given;
        let mut own = if *is_all { Amounts::new() } else { self.resources.amounts(manifest, place)? };
        for (given, field) in [(allocated, "allocatedResources"), (running, "resources.requests")] {
            at_least(&mut own, &quantities(given, manifest, &format!("status.containerStatuses.{field}"))?);
        }
        Ok(own)
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
