//! YuniKorn's partitions.
//!
//! What they carry: the tree; `resources.guaranteed` as guarantee; `resources.max` as limit; and what of both a queue is measured
//! against as weight.

use super::super::manifests::{documents_in, nullable};
use super::super::misspelt::{self, Known};
use super::super::report::ImportReport;
use super::found::{Amounts, Found, PRIORITY_LEFT_OUT, Reading, Weight, quantities, read, refused, within};
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::Written;
use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields that queues of YuniKorn have.
const FIELDS: [&str; 19] = [
    "adminacl",
    "childtemplate",
    "groups",
    "guaranteed",
    "limit",
    "limits",
    "max",
    "maxapplications",
    "maxresources",
    "name",
    "nodesortpolicy",
    "parent",
    "placementrules",
    "preemption",
    "properties",
    "queues",
    "resources",
    "submitacl",
    "users",
];
/// Those whose own fields are called as users like, or told of as a whole.
const OWN: [&str; 7] =
    ["guaranteed", "max", "maxresources", "nodesortpolicy", "placementrules", "preemption", "properties"];

#[derive(Deserialize)]
struct Partition {
    #[serde(default)]
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    queues: Vec<YuniKornQueue>,
    /// Of users and their groups, in all queues together.
    #[serde(default, deserialize_with = "nullable")]
    limits: Vec<UserLimit>,
    #[serde(default)]
    preemption: Value,
    /// Which of several nodes a task goes to.
    #[serde(default)]
    nodesortpolicy: Value,
    /// Into which queue an application goes that does not say so.
    #[serde(default, deserialize_with = "nullable")]
    placementrules: Vec<Value>,
}

#[derive(Deserialize)]
struct YuniKornQueue {
    name: String,
    /// Whether it is for others below it, which may be made later.
    #[serde(default, deserialize_with = "nullable")]
    parent: bool,
    #[serde(default, deserialize_with = "nullable")]
    resources: YuniKornResources,
    #[serde(default, deserialize_with = "nullable")]
    queues: Vec<YuniKornQueue>,
    /// Of users and their groups.
    #[serde(default, deserialize_with = "nullable")]
    limits: Vec<UserLimit>,
    /// What queues that are made for users get.
    #[serde(default)]
    childtemplate: Value,
    /// How many applications run at once.
    #[serde(default)]
    maxapplications: Value,
    #[serde(default, deserialize_with = "nullable")]
    properties: BTreeMap<String, Value>,
}

/// The most that single users may have in a queue and below it, or the users of a group together; `*` is whoever no other limit names.
#[derive(Deserialize, Default)]
#[serde(default)]
struct UserLimit {
    #[serde(deserialize_with = "nullable")]
    users: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    groups: Vec<String>,
    maxapplications: Value,
    #[serde(deserialize_with = "nullable")]
    maxresources: BTreeMap<String, Value>,
}

impl UserLimit {
    /// Counts what is left out: here a queue is a tenant, and whose its tasks are is not known.
    fn tell(&self, of: &str, report: &mut ImportReport) {
        if is_stated(&self.maxapplications) {
            report.named("limits of applications of users or groups left out (limits, maxapplications)", of);
        }
        if !self.maxresources.is_empty() {
            report.named_times(
                self.users.len() as u64,
                "limits of what single users have in a queue left out: whose its tasks are is not known",
                of,
            );
            report.named_times(
                self.groups.len() as u64,
                "limits of what groups of users have in a queue left out: whose its tasks are is not known",
                of,
            );
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct YuniKornResources {
    #[serde(deserialize_with = "nullable")]
    guaranteed: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    max: BTreeMap<String, Written>,
}

/// The partitions in a document: YuniKorn's own file, the ConfigMap or the chart's values in which that stands as a text, or a list of such.
pub(crate) fn partitions(file: &str, document: &Value) -> Result<Vec<Value>, InstanceError> {
    if let Some(Value::Array(partitions)) = document.get("partitions") {
        return Ok(partitions.clone());
    }
    let mut found = Vec::new();
    if let Some(Value::Array(items)) = document.get("items") {
        for item in items {
            found.extend(partitions(file, item)?);
        }
    }
    if document.get("binaryData").and_then(|data| data.get("queues.yaml.gz")).is_some() {
        let problem = "is compressed; `kubectl get configmap yunikorn-configs -o jsonpath='{.binaryData.queues\\.yaml\\.gz}' | \
                       base64 -d | gunzip > queues.yaml` writes what is read";
        return Err(refused(file, "binaryData.queues.yaml.gz", "", problem));
    }
    // In the values of its chart they stand below `yunikornDefaults`.
    for holder in ["data", "yunikornDefaults"] {
        let text = document.get(holder).and_then(|data| data.get("queues.yaml")).and_then(Value::as_str);
        let Some(text) = text else { continue };
        for document in documents_in(
            format!("{file}: {holder}.queues.yaml"),
            text.as_bytes(),
            "kubectl get configmap yunikorn-configs -o yaml",
        )? {
            found.extend(partitions(file, &document)?);
        }
    }
    Ok(found)
}

/// Properties of queues that no instance carries, the value with which each says nothing, and what is told of others.
const PROPERTIES: [(&str, &str, &str); 7] = [
    ("application.sort.policy", "fifo", ORDERS),
    ("application.sort.priority", "enabled", ORDERS),
    ("preemption.policy", "default", PREEMPTION),
    ("preemption.delay", "30s", PREEMPTION),
    ("quota.preemption.delay", "0s", PREEMPTION),
    ("priority.offset", "0", PRIORITY_LEFT_OUT),
    ("priority.policy", "default", PRIORITY_LEFT_OUT),
];
const ORDERS: &str =
    "queues whose order of applications is left out (application.sort): here a queue is one tenant";

const PREEMPTION: &str = "queues with a policy or a delay of preemption, which is left out: here each has at once what it is guaranteed";

/// Counts what properties of a queue state that is left out, once of each kind.
fn tell_of_properties(queue: &str, properties: &BTreeMap<String, Value>, report: &mut ImportReport) {
    let mut told: Vec<&str> = Vec::new();
    for (property, usual, what) in PROPERTIES {
        let value =
            properties.get(property).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        if value.is_some_and(|value| !value.eq_ignore_ascii_case(usual)) && !told.contains(&what) {
            told.push(what);
            report.named(what, queue);
        }
    }
}

/// Whether a number is set: 0 is none.
fn is_stated(value: &Value) -> bool {
    !value.is_null() && value.as_u64() != Some(0)
}

impl Reading {
    /// The queues of the first partition.
    pub(super) fn partitions(
        &mut self,
        file: &str,
        partitions: &[Value],
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        for (position, partition) in partitions.iter().enumerate() {
            let Partition { name, queues, limits, preemption, nodesortpolicy, placementrules } =
                read(file, &format!("partitions[{position}]"), partition)?;
            if position == 0 && name != "default" {
                report.named(
                    "partitions of another name than default: on Kubernetes YuniKorn uses that one alone",
                    &name,
                );
            }
            if position > 0 {
                report.named("partitions left out: they have nodes of their own", &name);
                continue;
            }
            let known = Known { fields: &FIELDS, own: &OWN };
            misspelt::fields(&format!("partition {name}"), partition, known, report);
            limits.iter().for_each(|limit| limit.tell(&name, report));
            if preemption.get("enabled") == Some(&Value::Bool(false)) {
                report.one("partitions without preemption, which is left out: here each queue has at once what it is guaranteed");
            }
            if is_stated(&nodesortpolicy) {
                report.named("partitions whose order of nodes is left out (nodesortpolicy)", &name);
            }
            if !placementrules.is_empty() {
                report.one("partitions whose placement rules are left out: there are the queues of the file, and no others");
            }
            queues.iter().try_for_each(|queue| self.yunikorn(file, &name, None, queue, report))?;
            self.differ_in_more_than_case(file, &name)?;
        }
        Ok(())
    }

    /// Refuses queues whose names differ only in the size of letters, which YuniKorn takes for one, as it does.
    fn differ_in_more_than_case(&self, file: &str, partition: &str) -> Result<(), InstanceError> {
        let mut met: HashMap<String, &str> = HashMap::new();
        for queue in &self.found {
            if let Some(other) =
                met.insert(queue.name.to_lowercase(), &queue.name).filter(|other| *other != queue.name)
            {
                let problem = format!(
                    "is the queue {other} too, since YuniKorn reads names in small letters; rename one of them"
                );
                return Err(refused(file, &format!("partition {partition}: queue"), &queue.name, &problem));
            }
        }
        Ok(())
    }

    fn yunikorn(
        &mut self,
        file: &str,
        partition: &str,
        parent: Option<&str>,
        queue: &YuniKornQueue,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        let name = parent.map_or_else(|| queue.name.clone(), |parent| format!("{parent}.{}", queue.name));
        let place = format!("partition {partition}, queue {name}");
        let guaranteed =
            quantities(file, &place, "resources.guaranteed", &queue.resources.guaranteed, report)?;
        let limit = quantities(file, &place, "resources.max", &queue.resources.max, report)?;
        within(file, &place, ("resources.guaranteed", &guaranteed), ("resources.max", &limit))?;
        // What it calls vcore is cpu here. Its own `cpu` would be another resource, of which no node and no pod has any.
        let mut renamed = |amounts: Amounts| -> Amounts {
            let own = amounts.into_iter().filter(|(resource, _)| {
                if resource == "cpu" {
                    report.named("amounts of cpu left out, which YuniKorn counts as vcore", &name);
                }
                resource != "cpu"
            });
            own.map(|(resource, amount)| (if resource == "vcore" { "cpu".into() } else { resource }, amount))
                .collect()
        };
        let (guaranteed, limit) = (renamed(guaranteed), renamed(limit));
        queue.limits.iter().for_each(|limit| limit.tell(&name, report));
        if is_stated(&queue.maxapplications) {
            report.named("limits of the number of applications left out (maxapplications)", &name);
        }
        if queue.parent && queue.queues.is_empty() && parent.is_some() {
            report.named(
                "queues for others to be made below (parent: true), of which there are none: they count with tasks of their own",
                &name,
            );
        }
        if is_stated(&queue.childtemplate) {
            report.named("templates of queues to come left out (childtemplate)", &name);
        }
        tell_of_properties(&name, &queue.properties, report);
        self.found.push(Found {
            name: name.clone(),
            parent: parent.map(str::to_owned),
            weight: Weight::Measured,
            guarantee: guaranteed,
            limit,
            ..Found::default()
        });
        queue.queues.iter().try_for_each(|child| self.yunikorn(file, partition, Some(&name), child, report))
    }
}
