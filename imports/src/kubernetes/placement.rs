//! Which nodes a pod may run on: its node selector, the required terms of its node affinity, the nodes' taints.
//!
//! Source: the Kubernetes documentation, "Assigning Pods to Nodes" and "Taints and Tolerations". What a scheduler
//! merely prefers, and what pods want of each other, restricts nothing here.

use super::requirements::{Requirement, required};
use crate::manifests::{Metadata, nullable};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a node offers and keeps away, by its name, labels and taints.
pub(crate) struct Site<'a> {
    pub(crate) name: &'a str,
    pub(crate) labels: &'a BTreeMap<String, String>,
    pub(crate) taints: &'a [Taint],
}

impl<'a> Site<'a> {
    /// The taints that pods must tolerate.
    pub(crate) fn repelling(&self) -> impl Iterator<Item = &'a Taint> + use<'a> {
        self.taints.iter().filter(|taint| taint.repels())
    }
}

/// What keeps pods away that do not tolerate it.
#[derive(Deserialize, Clone, Default)]
#[serde(default)]
pub(crate) struct Taint {
    pub(crate) key: String,
    #[serde(deserialize_with = "nullable")]
    value: String,
    #[serde(deserialize_with = "nullable")]
    effect: Effect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Effect {
    /// Nothing is said: a toleration is of all effects, a taint has none.
    #[default]
    #[serde(rename = "")]
    Unsaid,
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

/// What is asked of a taint's value; `Equal` where nothing is said.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    #[default]
    #[serde(alias = "")]
    Equal,
    Exists,
    /// The taint's is a whole number and greater.
    Gt,
    /// The taint's is a whole number and less.
    Lt,
}

/// The conditions that a pod puts on its node. Two pods that state the same are told apart by nothing here.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Conditions {
    pub(crate) selector: BTreeMap<String, String>,
    /// Any of these; `None` when there is no affinity.
    pub(crate) terms: Option<Vec<Term>>,
    pub(crate) tolerations: Vec<Toleration>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub(crate) struct Affinity {
    #[serde(rename = "nodeAffinity", deserialize_with = "nullable")]
    pub(crate) node: NodeAffinity,
    #[serde(rename = "podAffinity", deserialize_with = "nullable")]
    pub(crate) beside: PodAffinity,
    #[serde(rename = "podAntiAffinity", deserialize_with = "nullable")]
    pub(crate) apart: PodAffinity,
}

/// Near or far from which other pods a pod must be.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub(crate) struct PodAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", deserialize_with = "nullable")]
    pub(crate) required: Vec<PodTerm>,
}

/// Pods of these labels in one topology.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct PodTerm {
    #[serde(rename = "labelSelector")]
    selector: Option<Selector>,
    #[serde(deserialize_with = "nullable")]
    namespaces: Vec<String>,
    #[serde(rename = "namespaceSelector")]
    namespace_selector: Option<serde_json::Value>,
    #[serde(rename = "topologyKey", deserialize_with = "nullable")]
    topology: String,
    #[serde(rename = "matchLabelKeys", deserialize_with = "nullable")]
    match_label_keys: Vec<String>,
    #[serde(rename = "mismatchLabelKeys", deserialize_with = "nullable")]
    mismatch_label_keys: Vec<String>,
}

impl PodTerm {
    /// The selector, if it selects a pod of these metadata itself, in its own namespace, in this topology.
    pub(crate) fn of_itself(&self, metadata: &Metadata, topology: &str) -> Option<Selector> {
        let is_own = |namespace: &String| *namespace == metadata.namespace;
        let is_near = self.topology == topology
            && self.namespaces.iter().all(is_own)
            && self.namespace_selector.is_none()
            && self.mismatch_label_keys.is_empty();
        let selector = self.selector.as_ref().filter(|_| is_near)?;
        let selector = selector.with_labels_of(&self.match_label_keys, &metadata.labels);
        selector.selects(&metadata.labels).then_some(selector)
    }
}

/// A rule that pods of a topology differ in number by at most so many from those of any other.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Spread {
    #[serde(rename = "whenUnsatisfiable", deserialize_with = "nullable")]
    otherwise: String,
    #[serde(rename = "topologyKey", deserialize_with = "nullable")]
    topology: String,
    #[serde(rename = "maxSkew", deserialize_with = "nullable")]
    skew: u64,
    #[serde(rename = "labelSelector")]
    selector: Option<Selector>,
    #[serde(rename = "minDomains")]
    least_domains: Option<u64>,
    #[serde(rename = "matchLabelKeys", deserialize_with = "nullable")]
    match_label_keys: Vec<String>,
}

impl Spread {
    /// Whether it must be kept, rather than being a preference.
    pub(crate) fn is_required(&self) -> bool {
        self.otherwise == "DoNotSchedule"
    }

    /// The selector and the largest difference, if it selects a pod of these metadata itself, in this topology.
    pub(crate) fn over(&self, metadata: &Metadata, topology: &str) -> Option<(Selector, u64)> {
        let is_plain =
            self.topology == topology && self.skew > 0 && self.least_domains.is_none_or(|least| least <= 1);
        let selector = self.selector.as_ref().filter(|_| is_plain)?;
        let selector = selector.with_labels_of(&self.match_label_keys, &metadata.labels);
        selector.selects(&metadata.labels).then_some((selector, self.skew))
    }
}

/// Labels that pods have: all of these, and all of the requirements.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(default)]
pub(crate) struct Selector {
    #[serde(rename = "matchLabels", deserialize_with = "nullable")]
    labels: BTreeMap<String, String>,
    #[serde(rename = "matchExpressions", deserialize_with = "nullable")]
    expressions: Vec<Requirement>,
}

impl Selector {
    pub(crate) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let label = |key: &str| labels.get(key).map(String::as_str);
        self.labels.iter().all(|(key, value)| label(key) == Some(value))
            && self.expressions.iter().all(|requirement| requirement.met(label(&requirement.key)))
    }

    /// The same, and the labels of these keys are as here.
    fn with_labels_of(&self, keys: &[String], labels: &BTreeMap<String, String>) -> Self {
        let mut selector = self.clone();
        let own = keys.iter().filter_map(|key| Some((key.clone(), labels.get(key)?.clone())));
        selector.labels.extend(own);
        selector
    }

    /// `app=web`.
    pub(crate) fn text(&self) -> String {
        let labels = self.labels.iter().map(|(key, value)| format!("{key}={value}"));
        let expressions = self.expressions.iter().map(required);
        labels.chain(expressions).collect::<Vec<_>>().join("&")
    }
}

#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(default)]
pub(crate) struct NodeAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub(crate) required: Option<NodeSelector>,
}

#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(default)]
pub(crate) struct NodeSelector {
    #[serde(rename = "nodeSelectorTerms", deserialize_with = "nullable")]
    pub(crate) terms: Vec<Term>,
}

/// All of its requirements together; without any it matches no node.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(default)]
pub(crate) struct Term {
    #[serde(rename = "matchExpressions", deserialize_with = "nullable")]
    pub(crate) expressions: Vec<Requirement>,
    #[serde(rename = "matchFields", deserialize_with = "nullable")]
    pub(crate) fields: Vec<Requirement>,
}

#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(default)]
pub(crate) struct Toleration {
    #[serde(deserialize_with = "nullable")]
    key: String,
    #[serde(deserialize_with = "nullable")]
    operator: Comparison,
    #[serde(deserialize_with = "nullable")]
    value: String,
    #[serde(deserialize_with = "nullable")]
    effect: Effect,
}

impl Conditions {
    /// Whether a pod with these conditions may be put on the node.
    pub(crate) fn allow(&self, site: &Site<'_>) -> bool {
        self.select(site) && site.repelling().all(|taint| self.tolerate(taint))
    }

    /// Whether labels let such a pod onto the node, whatever its taints.
    pub(crate) fn select(&self, site: &Site<'_>) -> bool {
        let selected = self.selector.iter().all(|(key, value)| site.labels.get(key) == Some(value));
        let near = self.terms.as_ref().is_none_or(|terms| terms.iter().any(|term| term.matches(site)));
        selected && near
    }

    /// The labels that something is asked of.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        let of_terms = self.terms.iter().flatten().flat_map(|term| &term.expressions);
        self.selector.keys().chain(of_terms.map(|requirement| &requirement.key)).map(String::as_str)
    }

    /// The same without what is asked of other labels. A term that asks for nothing else is met by all.
    pub(crate) fn of_labels(&self, keys: &BTreeSet<&str>) -> Self {
        let mut rest = self.clone();
        rest.selector.retain(|key, _| keys.contains(key.as_str()));
        let terms = rest.terms.iter_mut().flatten();
        terms.for_each(|term| term.expressions.retain(|requirement| keys.contains(requirement.key.as_str())));
        let asks_for_nothing = |terms: &Vec<Term>| terms.iter().any(|term| term.expressions.is_empty());
        rest.terms = rest.terms.filter(|terms| !asks_for_nothing(terms));
        rest
    }

    /// Whether a taint keeps such a pod not away.
    pub(crate) fn tolerate(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| toleration.covers(taint))
    }
}

impl Taint {
    /// What tolerates it.
    pub(crate) fn tolerated(&self) -> Toleration {
        let (key, value) = (self.key.clone(), self.value.clone());
        Toleration { key, operator: Comparison::Equal, value, effect: self.effect }
    }

    /// Whether it says that the node is closed for now, rather than meant for certain pods: cordoned, not ready,
    /// unreachable, short of something, shut down, not yet set up.
    ///
    /// Source: the Kubernetes documentation, "Taints and Tolerations", "Taint based Evictions".
    pub(crate) fn is_state(&self) -> bool {
        const STATES: [&str; 11] = [
            "node.kubernetes.io/unschedulable",
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
            "node.kubernetes.io/memory-pressure",
            "node.kubernetes.io/disk-pressure",
            "node.kubernetes.io/pid-pressure",
            "node.kubernetes.io/network-unavailable",
            "node.kubernetes.io/out-of-service",
            "node.cloudprovider.kubernetes.io/uninitialized",
            "node.cloudprovider.kubernetes.io/shutdown",
            "ToBeDeletedByClusterAutoscaler",
        ];
        STATES.contains(&self.key.as_str())
    }

    /// Whether it keeps pods away, rather than being a preference.
    pub(crate) fn repels(&self) -> bool {
        matches!(self.effect, Effect::NoSchedule | Effect::NoExecute)
    }
}

impl Toleration {
    fn covers(&self, taint: &Taint) -> bool {
        let exists = self.operator == Comparison::Exists;
        (self.effect == Effect::Unsaid || self.effect == taint.effect)
            && (exists && self.key.is_empty() || self.key == taint.key)
            && match self.operator {
                Comparison::Exists => true,
                Comparison::Equal => self.value == taint.value,
                Comparison::Gt => self.numbers(taint).is_some_and(|(own, there)| there > own),
                Comparison::Lt => self.numbers(taint).is_some_and(|(own, there)| there < own),
            }
    }

    /// Its own value and that of a taint, where both are whole numbers written as Kubernetes writes them: `0950` is none.
    fn numbers(&self, taint: &Taint) -> Option<(i64, i64)> {
        let number = |text: &str| text.parse().ok().filter(|number: &i64| number.to_string() == text);
        Some((number(&self.value)?, number(&taint.value)?))
    }
}

impl Term {
    fn matches(&self, site: &Site<'_>) -> bool {
        let label = |key: &str| site.labels.get(key).map(String::as_str);
        let field = |key: &str| (key == "metadata.name").then_some(site.name);
        !(self.expressions.is_empty() && self.fields.is_empty())
            && self.expressions.iter().all(|requirement| requirement.met(label(&requirement.key)))
            && self.fields.iter().all(|requirement| requirement.met(field(&requirement.key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json};

    /// Whether a pod with this specification may run on node `n` with label `disk=ssd`, `cores=8`, tainted `gpu=yes`.
    fn allowed(selector: Value, terms: Value, tolerations: Value) -> bool {
        let labels = from_value(json!({"disk": "ssd", "cores": "8"})).unwrap();
        let taints: Vec<Taint> = from_value(json!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"},
                              {"key": "old", "effect": "PreferNoSchedule"}]))
        .unwrap();
        let conditions: Conditions =
            from_value(json!({"selector": selector, "terms": terms, "tolerations": tolerations})).unwrap();
        conditions.allow(&Site { name: "n", labels: &labels, taints: &taints })
    }

    #[test]
    fn a_taint_needs_a_toleration_of_its_key_value_and_effect() {
        for (toleration, expected) in [
            (json!([]), false),
            (json!([{"operator": "Exists"}]), true),
            (json!([{"key": "gpu", "operator": "Exists"}]), true),
            (json!([{"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}]), true),
            (json!([{"key": "gpu", "value": "yes"}]), true),
            (json!([{"key": "gpu", "value": "no"}]), false),
            (json!([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}]), false),
            (json!([{"key": "old", "operator": "Exists"}]), false),
        ] {
            assert_eq!(allowed(json!({}), Value::Null, toleration.clone()), expected, "{toleration}");
        }
    }

    #[test]
    fn tolerations_may_compare_whole_numbers() {
        let tolerates = |operator: &str, own: &str, there: &str| {
            let taints: Vec<Taint> =
                from_value(json!([{"key": "sla", "value": there, "effect": "NoSchedule"}])).unwrap();
            let tolerations =
                json!([{"key": "sla", "operator": operator, "value": own, "effect": "NoSchedule"}]);
            let conditions: Conditions =
                from_value(json!({"selector": {}, "terms": null, "tolerations": tolerations})).unwrap();
            conditions.allow(&Site { name: "n", labels: &BTreeMap::new(), taints: &taints })
        };
        for (operator, own, there, expected) in [
            ("Gt", "900", "950", true),
            ("Gt", "900", "900", false),
            ("Lt", "900", "-5", true),
            ("Lt", "900", "950", false),
            ("Gt", "900", "95.5", false),
            ("Gt", "900", "0950", false),
            ("Lt", "high", "950", false),
        ] {
            assert_eq!(tolerates(operator, own, there), expected, "{there} {operator} {own}");
        }
    }

    #[test]
    fn selectors_need_every_label_and_affinity_any_of_its_terms() {
        let all = json!([{"operator": "Exists"}]);
        assert!(allowed(json!({"disk": "ssd"}), Value::Null, all.clone()));
        assert!(!allowed(json!({"disk": "ssd", "zone": "a"}), Value::Null, all.clone()));
        for (requirement, expected) in [
            (json!({"key": "disk", "operator": "In", "values": ["hdd", "ssd"]}), true),
            (json!({"key": "disk", "operator": "NotIn", "values": ["ssd"]}), false),
            (json!({"key": "zone", "operator": "NotIn", "values": ["a"]}), true),
            (json!({"key": "disk", "operator": "Exists"}), true),
            (json!({"key": "disk", "operator": "DoesNotExist"}), false),
            (json!({"key": "cores", "operator": "Gt", "values": ["7"]}), true),
            (json!({"key": "cores", "operator": "Lt", "values": ["8"]}), false),
            (json!({"key": "disk", "operator": "Gt", "values": ["7"]}), false),
        ] {
            let terms = json!([{"matchExpressions": [requirement.clone()]}]);
            assert_eq!(allowed(json!({}), terms, all.clone()), expected, "{requirement}");
        }
        let terms = |name: &str| json!([{}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]);
        assert!(allowed(json!({}), terms("n"), all.clone()));
        assert!(!allowed(json!({}), terms("m"), all.clone()));
        assert!(!allowed(json!({}), json!([]), all), "an affinity without terms matches nothing");
    }
}
