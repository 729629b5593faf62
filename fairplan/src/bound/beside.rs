//! Placements beside those that patterns find: what the policies place, and what all rules leave of a placement that knows too few.

use crate::{Control, Error};
use fairplan_heuristics::{PlacementError, device_policy, place_along, policy};
use fairplan_instances::{Instance, InstanceError, Placement};
use std::cell::RefCell;

/// Whether what patterns place keeps all rules: neither quotas nor rules between servers are among them.
pub(super) fn patterns_know_all_rules(instance: &Instance) -> bool {
    instance.quotas().is_empty() && !instance.has_rules_between_servers()
}

/// The part of the time for the policies.
const PLACING: f64 = 0.4;

/// Placements beside those by patterns: what the policies place, once for all searches.
pub(super) struct Beside<'a> {
    instance: &'a Instance,
    control: &'a Control<'a>,
    by_policies: RefCell<Option<Vec<Placement>>>,
}

impl<'a> Beside<'a> {
    pub fn new(instance: &'a Instance, control: &'a Control<'a>) -> Self {
        Self { instance, control, by_policies: RefCell::new(None) }
    }

    /// Those that may be better than what a search by patterns found: where these do not know all rules, those that do; unless it is the
    /// best, what was found and what the policies place. Nothing else, nor where the policies have no time.
    pub fn what_was_found(
        &self,
        found: &Placement,
        is_best: bool,
        control: &Control<'_>,
    ) -> Result<Vec<Placement>, Error> {
        if !patterns_know_all_rules(self.instance) {
            return self.under_all_rules(found, control);
        }
        if is_best {
            return Ok(Vec::new());
        }
        let placements = self.by_policies()?;
        Ok(if placements.is_empty() { placements } else { [vec![found.clone()], placements].concat() })
    }

    /// Placements that keep all rules: what these leave of a placement that knows too few, filled up, and the policies'. Who is guaranteed
    /// something comes before whatever a placement has, so that then only the policies' are left. There is at least one.
    pub fn under_all_rules(&self, along: &Placement, control: &Control<'_>) -> Result<Vec<Placement>, Error> {
        let mut placements = self.by_policies()?;
        if !self.instance.has_guarantees() {
            match place_along(self.instance, along, None, &control.deadline) {
                // The policies' stand without it.
                Err(PlacementError::OutOfTime { .. }) => {}
                along => placements.insert(0, along?),
            }
        }
        match placements.is_empty() {
            true => Err(InstanceError::OutOfTime.into()),
            false => Ok(placements),
        }
    }

    /// What the policies place, which know all rules, as far as they are done in time.
    fn by_policies(&self) -> Result<Vec<Placement>, Error> {
        if let Some(known) = &*self.by_policies.borrow() {
            return Ok(known.clone());
        }
        let until = self.control.deadline.after_part(PLACING);
        let all = PLACING_POLICIES.map(|name| policy(name, 0)).into_iter().chain([device_policy("fgd", 0)]);
        let (mut placements, mut failure) = (Vec::new(), None);
        for policy in all {
            match policy?.place_within(self.instance, &until) {
                Ok(placement) => placements.push(placement),
                // Who looks at the devices of one resource has none to look at.
                Err(PlacementError::DevicesNeeded { .. } | PlacementError::OutOfTime { .. }) => {}
                Err(other) => failure = Some(other),
            }
        }
        if let (Some(failure), true) = (failure, placements.is_empty()) {
            return Err(failure.into());
        }
        *self.by_policies.borrow_mut() = Some(placements.clone());
        Ok(placements)
    }
}

/// Policies of which the best placement is taken where patterns know too little, or are not proved to be the best.
const PLACING_POLICIES: [&str; 4] = ["best-fit", "first-fit", "worst-fit", "dot-product"];
