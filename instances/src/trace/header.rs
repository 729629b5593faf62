//! What a trace says before its first event.

use super::RulesNumber;
use crate::{Decimal, DeviceProfiles, ServerClass, TaskRules, Violation};

/// Decimal places of a resource whose header does not state them.
pub const DECIMAL_PLACES: u8 = 9;

/// Most decimal places a header can state.
pub const MOST_DECIMAL_PLACES: u8 = 18;

/// Amounts stay below this many units, so that two can be added and told apart in 64 bits.
const MOST_UNITS: u64 = 1 << 62;

/// A resource and how finely its amounts are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceResource {
    /// Unique name.
    pub name: String,
    /// Its amounts are whole multiples of `10^-decimal_places`, the unit in which a simulation counts.
    pub decimal_places: u8,
    /// Every server has it as whole devices of this size, of which a task takes a part of one or whole ones; `None` where it is an amount
    /// like any other.
    pub device: Option<Decimal>,
}

/// What a trace says before its first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceHeader {
    /// The trace's name (may be empty).
    pub name: String,
    /// Where it comes from, for people (may be empty).
    pub source: String,
    /// The resources, in the order of every capacity and demand.
    pub resources: Vec<TraceResource>,
    /// Into what devices can be cut, rising by resource.
    pub device_profiles: Vec<DeviceProfiles>,
    /// Rules that tasks can meet, by name; tasks name theirs.
    pub rules: Vec<(String, TaskRules)>,
    /// The servers that are there from the beginning: those of a class called `c` are `c/1`, `c/2` and so on.
    pub server_classes: Vec<ServerClass>,
    /// All users with their weights. `None`: users are those who submit tasks, and each has weight 1.
    pub users: Option<Vec<(String, Decimal)>>,
    /// What was counted when the trace was made, such as what was left out and why: a phrase and a number.
    pub counts: Vec<(String, u64)>,
}

impl TraceResource {
    /// A resource with the usual decimal places.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), decimal_places: DECIMAL_PLACES, device: None }
    }

    /// `amount` in units of this resource.
    ///
    /// # Errors
    /// More decimal places than the resource has, or too large to count in.
    pub fn units(&self, amount: Decimal) -> Result<u64, String> {
        let places = self.decimal_places;
        let units = amount.scaled(-(places as i8)).ok_or_else(|| {
            format!(
                "has more than {places} decimal places; round it or state more in the header's decimal_places"
            )
        })?;
        u64::try_from(units).ok().filter(|&units| units < MOST_UNITS).ok_or_else(|| {
            format!("is too large to count with {places} decimal places; state fewer in the header")
        })
    }

    /// So many units as an amount.
    pub fn amount(&self, units: u64) -> Decimal {
        // In range: 2^62 units of 1e-18 at the least.
        Decimal::new(units, -i32::from(self.decimal_places)).unwrap_or(Decimal::ZERO)
    }
}

impl TraceHeader {
    /// A header with resources and nothing else.
    pub fn new(name: &str, resources: &[&str]) -> Self {
        let resources = resources.iter().map(|name| TraceResource::new(name)).collect();
        Self { name: name.into(), resources, ..Self::default() }
    }

    /// The rules of a number, or none.
    pub fn task_rules(&self, rules: Option<RulesNumber>) -> TaskRules {
        rules.and_then(|rules| self.rules.get(rules.index())).map_or_else(TaskRules::default, |(_, of)| *of)
    }

    /// What the profile of some rules is called, if they name one.
    pub fn profile_name(&self, rules: &TaskRules) -> Option<&str> {
        let of = rules.profile?;
        let cut = self.device_profiles.iter().find(|cut| cut.resource == of.resource)?;
        cut.profiles.get(of.number).map(|profile| profile.name.as_str())
    }

    /// `amounts`, one a resource, in units; what is wrong is named with the resource, as in `demand.cpu`.
    pub(super) fn units(
        &self,
        field: &str,
        amounts: &[Decimal],
        units: &mut Vec<u64>,
    ) -> Result<(), Violation> {
        units.clear();
        if amounts.len() != self.resources.len() {
            return Err(Violation::new(field, format!("{} numbers", amounts.len()), "one number a resource"));
        }
        for (resource, &amount) in self.resources.iter().zip(amounts) {
            units.push(
                resource.units(amount).map_err(|problem| {
                    Violation::new(format!("{field}.{}", resource.name), amount, problem)
                })?,
            );
        }
        Ok(())
    }
}
