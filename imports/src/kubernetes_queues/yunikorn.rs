//! YuniKorn's partitions: trees of queues, weighed by what is guaranteed, with limits of `max`.

use super::super::manifests::nullable;
use super::super::report::ImportReport;
use super::{Found, Reading, Weight, quantities, read};
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::{Quantity, Written};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Partition {
    #[serde(default)]
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    queues: Vec<YuniKornQueue>,
}

#[derive(Deserialize)]
struct YuniKornQueue {
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    resources: YuniKornResources,
    #[serde(default, deserialize_with = "nullable")]
    queues: Vec<YuniKornQueue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct YuniKornResources {
    #[serde(deserialize_with = "nullable")]
    guaranteed: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    max: BTreeMap<String, Written>,
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
            let Partition { name, queues } = read(file, &format!("partitions[{position}]"), partition)?;
            if position > 0 {
                report.one("partitions left out: they have nodes of their own");
                continue;
            }
            queues.iter().try_for_each(|queue| self.yunikorn(file, &name, None, queue))?;
        }
        Ok(())
    }

    fn yunikorn(
        &mut self,
        file: &str,
        partition: &str,
        parent: Option<&str>,
        queue: &YuniKornQueue,
    ) -> Result<(), InstanceError> {
        let name = parent.map_or_else(|| queue.name.clone(), |parent| format!("{parent}.{}", queue.name));
        let place = format!("partition {partition}, queue {name}");
        let renamed = |amounts: BTreeMap<String, Quantity>| -> BTreeMap<String, Quantity> {
            amounts
                .into_iter()
                .map(|(name, amount)| (if name == "vcore" { "cpu".into() } else { name }, amount))
                .collect()
        };
        let guaranteed =
            renamed(quantities(file, &place, "resources.guaranteed", &queue.resources.guaranteed)?);
        let limit = renamed(quantities(file, &place, "resources.max", &queue.resources.max)?);
        let given = guaranteed.clone();
        let weight = if guaranteed.is_empty() { Weight::Stated(1.0) } else { Weight::Guaranteed(guaranteed) };
        self.found.push(Found {
            name: name.clone(),
            parent: parent.map(str::to_owned),
            weight,
            limit,
            given,
        });
        queue.queues.iter().try_for_each(|child| self.yunikorn(file, partition, Some(&name), child))
    }
}
