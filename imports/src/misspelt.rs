//! Fields that are not known: an amount under a misspelt name, or in the wrong place, is an amount lost, and nobody would see it.

use super::report::ImportReport;
use fairplan_instances::wording::misspelt;
use serde_json::Value;

/// The fields that objects of a kind have.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// All of them, at whatever depth.
    pub(super) fields: &'a [&'a str],
    /// Those of them in which names are the user's, or which are told of as a whole.
    pub(super) own: &'a [&'a str],
}

/// Counts those of an object, and of all that is in it, that it does not have. `of` is what the object is called, or a part of it.
pub(super) fn fields(of: &str, value: &Value, known: Known<'_>, report: &mut ImportReport) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(of, item, known, report)),
        Value::Object(members) => {
            for (name, value) in members {
                let place = format!("{of}.{name}");
                if !known.fields.contains(&name.as_str()) {
                    if !field(name, known.fields, report) {
                        report.named(UNKNOWN, &place);
                    }
                } else if !known.own.contains(&name.as_str()) {
                    fields(&place, value, known, report);
                }
            }
        }
        _ => {}
    }
}

/// What is told of a field that is like none.
const UNKNOWN: &str = "fields left out because they are not known here";

/// Counts a field if its name is nearly a known one; whether it is.
pub(super) fn field(name: &str, known: &[&str], report: &mut ImportReport) -> bool {
    let meant = misspelt(name, known);
    if let Some(meant) = meant {
        report.one(format!("fields left out because nothing is called so: {name} (did you mean {meant}?)"));
    }
    meant.is_some()
}

/// Counts a field that is none of the known ones, where these are all that there are.
pub(super) fn or_unknown(name: &str, known: &[&str], report: &mut ImportReport) {
    if !known.contains(&name) && !field(name, known, report) {
        report.named(UNKNOWN, name);
    }
}

/// The resource that is meant by a name that no node has: one that is nearly called so, begins so, or is called so behind its vendor.
pub(super) fn resource<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_short = |known: &&&str| {
        let own = known.rsplit('/').next().unwrap_or_default();
        name.len() > 2 && **known != name && (own == name || known.starts_with(name))
    };
    let mut short = known.iter().filter(is_short);
    misspelt(name, known).or_else(|| short.next().filter(|_| short.next().is_none()).copied())
}

#[cfg(test)]
mod tests {
    use super::super::{kubernetes_queues, kueue, yarn};
    use crate::{KubernetesQueuesOptions, KueueOptions, YarnOptions};
    use std::path::{Path, PathBuf};

    fn shipped(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
    }

    #[test]
    fn a_resource_is_known_by_its_beginning_and_without_its_vendor() {
        let known = ["vcore", "memory", "nvidia.com/gpu", "pods"];
        for (name, meant) in [
            ("vcores", Some("vcore")),
            ("mem", Some("memory")),
            ("memroy", Some("memory")),
            ("gpu", Some("nvidia.com/gpu")),
            ("memory", None),
            ("ephemeral-storage", None),
            ("m", None),
        ] {
            assert_eq!(super::resource(name, &known), meant, "{name}");
        }
    }

    #[test]
    fn fields_that_queues_of_yarn_do_not_have_are_told_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for (file, before, field) in [
            ("yarn/fair-scheduler.xml", "<weight>", "<gpuQuota>2</gpuQuota><weight>"),
            (
                "yarn/capacity-scheduler.xml",
                "</configuration>",
                "<property><name>yarn.scheduler.capacity.root.gpuQuota</name><value>2</value></property></configuration>",
            ),
        ] {
            let content = std::fs::read_to_string(shipped(file)).unwrap();
            let path = folder.path().join("queues").to_str().unwrap().to_owned();
            std::fs::write(&path, content.replacen(before, field, 1)).unwrap();
            let nodes = vec![shipped("yarn/nodes.json").to_str().unwrap().to_owned()];
            let report = yarn(&YarnOptions { nodes, queues: path }).unwrap().1.to_string();
            assert!(report.contains("left out because it is not known here: gpuQuota"), "{file}: {report}");
        }
    }

    #[test]
    fn amounts_under_nearly_the_right_name_are_told_whichever_scheduler_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        for (file, field, misspelt) in [
            ("kueue/queues.yaml", "borrowingLimit", "borowingLimit"),
            ("kubernetes/volcano.yaml", "guarantee", "guarantied"),
            ("kubernetes/kai.yaml", "overQuotaWeight", "overquotaweight"),
            ("kubernetes/yunikorn.yaml", "guaranteed", "guarantied"),
            ("yarn/fair-scheduler.xml", "minResources", "minResource"),
            ("yarn/capacity-scheduler.xml", "maximum-capacity", "maximum-capcity"),
        ] {
            let content = std::fs::read_to_string(shipped(file)).unwrap();
            let path = folder.path().join("queues").to_str().unwrap().to_owned();
            let told = |content: &str| {
                std::fs::write(&path, content).unwrap();
                let nodes = |name: &str| vec![shipped(name).to_str().unwrap().to_owned()];
                let (nodes, queues) = match file.split('/').next() {
                    Some("kueue") => {
                        return kueue(&KueueOptions { files: vec![path.clone()], ..Default::default() })
                            .unwrap()
                            .1;
                    }
                    Some("yarn") => {
                        let options = YarnOptions { nodes: nodes("yarn/nodes.json"), queues: path.clone() };
                        return yarn(&options).unwrap().1;
                    }
                    _ => (nodes("kubernetes/nodes.json"), vec![path.clone()]),
                };
                kubernetes_queues(&KubernetesQueuesOptions { nodes, queues }).unwrap().1
            };
            let problem = "fields left out because nothing is called so";
            assert!(!told(&content).to_string().contains(problem), "{file}");
            let report = told(&content.replace(field, misspelt));
            let expected = format!("{problem}: {misspelt} (did you mean {field}?)");
            assert!(report.count(&expected) > 0, "{file}: {report}");
        }
    }
}
