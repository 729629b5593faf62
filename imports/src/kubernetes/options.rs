//! What is read of a Kubernetes cluster and how.

use crate::census::TaskGrouping;
use fairplan_instances::Violation;
use fairplan_instances::wording::choose;
use std::str::FromStr;

/// What [`kubernetes`](super::kubernetes()) reads and how.
#[derive(Clone, Debug)]
pub struct KubernetesOptions {
    /// Files of nodes: JSON or YAML, gzipped or not; `-` is standard input.
    pub nodes: Vec<String>,
    /// Files of pods.
    pub pods: Vec<String>,
    /// Files of ResourceQuotas, which limit namespaces.
    pub quotas: Vec<String>,
    /// Whose a pod is.
    pub owner: PodOwner,
    /// Whether a user is an owner, or each different request of one.
    pub grouping: TaskGrouping,
    /// The resources that count; `None`: all that a pod requests. `pods` is a resource too: each pod takes one.
    pub resources: Option<Vec<String>>,
    /// What becomes of pods that belong to their node: daemons and static pods.
    pub daemons: Daemons,
    /// Count nodes that are cordoned or not ready as well, as if they were not.
    pub all_nodes: bool,
    /// Keep the rules that only whole tasks meet: GPUs as devices, at most one pod on a node, spread over zones, gangs.
    pub rules: bool,
    /// Files of PodGroups and Jobs, whose pods start together.
    pub gangs: Vec<String>,
    /// The label of nodes whose value is their domain.
    pub domain: String,
}

impl Default for KubernetesOptions {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            pods: Vec::new(),
            quotas: Vec::new(),
            owner: PodOwner::default(),
            grouping: TaskGrouping::default(),
            resources: None,
            daemons: Daemons::default(),
            all_nodes: false,
            rules: false,
            gangs: Vec::new(),
            domain: ZONE.into(),
        }
    }
}

/// Whose a pod is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PodOwner {
    /// Its namespace's.
    #[default]
    Namespace,
    /// The value's of the label with this key; a pod without it is its namespace's, as `namespace/NAME`.
    Label(String),
}

impl FromStr for PodOwner {
    type Err = Violation;
    /// `namespace`, or `label:KEY` (also `label=KEY`).
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text.strip_prefix("label").and_then(|rest| rest.strip_prefix([':', '='])) {
            None if text == "namespace" => Ok(Self::Namespace),
            Some(key) if !key.is_empty() => Ok(Self::Label(key.to_owned())),
            _ => Err(Violation::new("group-by", text, choose(text, &["namespace", "label:KEY"]))),
        }
    }
}

/// What becomes of pods that belong to their node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Daemons {
    /// They are tasks like others, that may run wherever their selector and tolerations allow.
    #[default]
    Count,
    /// What they request is taken off their node, and they are no tasks.
    Reserve,
}

impl FromStr for Daemons {
    type Err = Violation;
    /// `count` or `reserve`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "count" => Ok(Self::Count),
            "reserve" => Ok(Self::Reserve),
            _ => Err(Violation::new("daemons", text, choose(text, &["count", "reserve"]))),
        }
    }
}

/// The label of nodes that zones are taken from where nothing else is said.
pub const ZONE: &str = "topology.kubernetes.io/zone";

/// The resource of which each pod takes one.
pub(super) const PODS: &str = "pods";
