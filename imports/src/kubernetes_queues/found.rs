//! Queues as files have them, whichever scheduler they are for.

use crate::amounts::Stated;
use crate::counted_in_bytes;
use crate::manifests::{Metadata, in_field, nullable, plain};
use crate::report::ImportReport;
use fairplan_instances::quantity::{Quantity, Written};
use fairplan_instances::{InstanceError, Violation};
use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// A queue as a file has it.
#[derive(Default)]
pub(super) struct Found {
    pub name: String,
    pub parent: Option<String>,
    pub weight: Weight,
    /// What it is sure of.
    pub guarantee: Amounts,
    /// The most it may have.
    pub limit: Amounts,
    /// What stays its own when it is idle.
    pub reserve: Amounts,
    /// Whether nothing new is let in.
    pub is_stopped: bool,
    /// Whether it stands above others, of which perhaps none is left.
    pub is_above: bool,
}

impl Found {
    /// What the queue above it is called: all that state none are below `root`, which files need not list, where the scheduler has one.
    pub fn above(&self, has_root: bool) -> Option<&str> {
        self.parent.as_deref().or((has_root && self.name != "root").then_some("root"))
    }
}

pub(super) type Amounts = BTreeMap<String, Quantity>;

/// The amount of each resource, where one is stated that decimals can hold.
pub(super) fn stated(amounts: &Amounts, resources: &[&str]) -> Stated {
    resources.iter().map(|name| amounts.get(*name).and_then(|amount| amount.decimal())).collect()
}

pub(super) enum Weight {
    Stated(f64),
    /// The part of the cluster that it is measured against.
    Measured,
}

impl Default for Weight {
    fn default() -> Self {
        Self::Stated(1.0)
    }
}

/// What was read so far.
pub(super) struct Reading {
    pub found: Vec<Found>,
    /// Volcano's queues, and those that stand above some in their annotations, each with its weight.
    pub volcano: HashMap<String, f64>,
    /// The name under which these nodes have GPUs.
    pub gpu: String,
    /// Whose the queues are, once there is one.
    pub scheduler: Option<Scheduler>,
}

/// What is told of queues that come before others whatever these have.
pub(super) const PRIORITY_LEFT_OUT: &str = "priorities of queues left out: here shares alone decide";

/// Whose queues they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheduler {
    Volcano,
    Kai,
    YuniKorn,
}

impl Reading {
    /// Whether all queues are below `root`, which files need not list: KAI has none.
    pub(super) fn has_root(&self) -> bool {
        self.scheduler != Some(Scheduler::Kai)
    }

    /// Notes whose queue this is; each scheduler gives out the whole cluster, so that there is one.
    pub(super) fn is_of(
        &mut self,
        scheduler: Scheduler,
        file: &str,
        place: &str,
    ) -> Result<(), InstanceError> {
        match self.scheduler.replace(scheduler).filter(|other| *other != scheduler) {
            None => Ok(()),
            Some(other) => {
                let (own, other) = (scheduler.name(), other.name());
                let problem =
                    format!("is of {own}, but others are of {other}; import those of one scheduler");
                Err(refused(file, place, "", &problem))
            }
        }
    }
}

impl Scheduler {
    fn name(self) -> &'static str {
        match self {
            Self::Volcano => "Volcano",
            Self::Kai => "KAI",
            Self::YuniKorn => "YuniKorn",
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Object<S> {
    pub metadata: Metadata,
    pub spec: S,
    #[serde(default, deserialize_with = "nullable")]
    pub status: Status,
}

/// What a queue is in, of which only Volcano's state concerns an instance.
#[derive(Deserialize, Default)]
pub(super) struct Status {
    #[serde(default, deserialize_with = "nullable")]
    pub state: String,
}

pub(super) fn read<T: DeserializeOwned>(file: &str, place: &str, value: &Value) -> Result<T, InstanceError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        refused(file, &in_field(place, &error.path().to_string()), "", &plain(&error.inner().to_string()))
    })
}

pub(super) fn quantities(
    file: &str,
    place: &str,
    field: &str,
    written: &BTreeMap<String, Written>,
    report: &mut ImportReport,
) -> Result<Amounts, InstanceError> {
    let mut read = |(name, Written(text)): (&String, &Written)| {
        counted_in_bytes::tell(name, text, report);
        let amount = Quantity::parse(text)
            .map_err(|problem| refused(file, &format!("{place}: {field}.{name}"), text, problem))?;
        Ok((name.clone(), amount))
    };
    written.iter().map(&mut read).collect()
}

/// Amounts under the name of their field.
pub(super) type Field<'a> = (&'a str, &'a Amounts);

/// Refuses an amount that is more than another field lets the queue have, as the scheduler does. A limit of 0 bars the queue, and is told.
pub(super) fn within(
    file: &str,
    place: &str,
    (field, amounts): Field<'_>,
    (above, limits): Field<'_>,
) -> Result<(), InstanceError> {
    let more = amounts.iter().find_map(|(name, amount)| {
        let limit = limits.get(name).filter(|limit| !limit.is_zero() && *limit < amount)?;
        Some((name, amount, limit))
    });
    let Some((name, amount, limit)) = more else { return Ok(()) };
    let shown = |amount: &Quantity| amount.decimal().map_or_else(String::new, |amount| amount.to_string());
    let problem = format!(
        "is more than the {} in {above}.{name}, which the scheduler refuses; lower it or raise {above}.{name}",
        shown(limit)
    );
    Err(refused(file, &format!("{place}: {field}.{name}"), &shown(amount), &problem))
}

/// Refuses a weight below 0, of which no scheduler knows a meaning.
pub(super) fn weight(file: &str, place: &str, field: &str, weight: f64) -> Result<f64, InstanceError> {
    if (0.0..f64::INFINITY).contains(&weight) {
        return Ok(weight);
    }
    let problem = "must be a number of 0 or more; state the part of the queue against its siblings";
    Err(refused(file, &format!("{place}: {field}"), &weight.to_string(), problem))
}

pub(super) fn refused(file: &str, place: &str, value: &str, problem: &str) -> InstanceError {
    InstanceError::Invalid { file: file.into(), violation: Violation::new(place, value, problem) }
}
