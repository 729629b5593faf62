//! Matching a result with an instance by name: whatever does not match makes the result someone else's.

use fairplan_instances::InstanceStamp;
use fairplan_instances::ResourceMap;
use fairplan_instances::wording::printable;
use fairplan_instances::{Instance, Violation};
use std::fmt;

/// A valid document that cannot be held against this instance: where it departs from it, or what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    violation: Violation,
    is_incomplete: bool,
}

impl Foreign {
    pub(crate) fn new(place: impl Into<String>, value: &str, problem: impl Into<String>) -> Self {
        Self { violation: Violation::new(place, value, problem), is_incomplete: false }
    }

    /// It may well be a result of this instance, but was written without `place`, which is what is checked; `how` it is written
    /// with it.
    pub(crate) fn without(place: &str, how: &str) -> Self {
        let problem = format!("is missing, and nothing can be checked without it; {how}");
        Self { violation: Violation::new(place, "", problem), is_incomplete: true }
    }

    /// Whether it only lacks what is checked, which says nothing against it.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violation.fmt(f)
    }
}

impl std::error::Error for Foreign {}

/// The instance must be the one that the result names, to the last digit.
pub(crate) fn check_stamp(stamp: &InstanceStamp, instance: &Instance, sha256: &str) -> Result<(), Foreign> {
    if stamp.sha256 != sha256 {
        let problem = format!("is the hash of another instance; this one's is {sha256}");
        return Err(Foreign::new("instance.sha256", &stamp.sha256, problem));
    }
    if stamp.name != instance.name() {
        let problem = format!("the instance is named {}", printable(instance.name(), 200));
        return Err(Foreign::new("instance.name", &stamp.name, problem));
    }
    Ok(())
}

/// A bound says whether its instance has guarantees, limits or reserves, which it does not count.
pub(crate) fn check_quotas(stated: bool, instance: &Instance) -> Result<(), Foreign> {
    if stated == instance.quotas().is_empty() {
        let has = if stated { "no guarantees, limits or reserves" } else { "guarantees, limits or reserves" };
        return Err(Foreign::new("under_quotas", &stated.to_string(), format!("the instance has {has}")));
    }
    Ok(())
}

/// The ids at `place` must be exactly the `expected` ones in their order.
pub(crate) fn list<'a>(
    place: &str,
    stated: impl ExactSizeIterator<Item = &'a str>,
    expected: impl ExactSizeIterator<Item = &'a str>,
) -> Result<(), Foreign> {
    let counts = (stated.len(), expected.len());
    for (position, (stated, expected)) in stated.zip(expected).enumerate() {
        if stated != expected {
            let problem = format!("the instance has {} here", printable(expected, 200));
            return Err(Foreign::new(format!("{place}[{position}]"), stated, problem));
        }
    }
    if counts.0 != counts.1 {
        let problem = format!("the instance has {}", counts.1);
        return Err(Foreign::new(place, &format!("{} entries", counts.0), problem));
    }
    Ok(())
}

/// The numbers of a map in the instance's order of resources, each of which must be named once.
pub(crate) fn in_order(
    map: &ResourceMap,
    instance: &Instance,
    place: impl Fn() -> String,
) -> Result<Vec<f64>, Foreign> {
    map.in_order(instance).ok_or_else(|| {
        let names: Vec<&str> = map.0.iter().map(|(name, _)| &**name).collect();
        let problem = format!("the resources are {}", printable(&instance.resources().join(", "), 200));
        Foreign::new(place(), &names.join(", "), problem)
    })
}
