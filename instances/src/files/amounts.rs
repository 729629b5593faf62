//! Amounts of resources in JSON, by their names.

use super::strict_json::{Entries, number};
use crate::{Decimal, Violation};
use std::collections::HashMap;

/// Reads capacities and demands: one number a resource, zero where the map has none.
pub(super) struct Amounts {
    resources: Vec<String>,
    positions: HashMap<String, usize>,
    /// What was read last.
    pub(super) values: Vec<Decimal>,
    /// Which of them the map has.
    pub(super) named: Vec<bool>,
}

impl Amounts {
    pub(super) fn new(resources: Vec<String>) -> Self {
        // Names that are there twice are refused elsewhere; here the last one counts.
        let positions =
            resources.iter().cloned().enumerate().map(|(position, name)| (name, position)).collect();
        Self { resources, positions, values: Vec::new(), named: Vec::new() }
    }

    pub(super) fn read(&mut self, entries: &Entries, place: impl Fn() -> String) -> Result<(), Violation> {
        self.values.clear();
        self.values.resize(self.resources.len(), Decimal::ZERO);
        self.named.clear();
        self.named.resize(self.resources.len(), false);
        for (position, (name, raw)) in entries.0.iter().enumerate() {
            let name = name.0.as_ref();
            // Files mostly keep the order of `resources`.
            let resource = match self.resources.get(position) {
                Some(expected) if expected == name => position,
                _ => self.positions.get(name).copied().ok_or_else(|| {
                    let known = self.resources.join(", ");
                    Violation::new(
                        format!("{}.{name}", place()),
                        "",
                        format!("unknown resource; there are {known}"),
                    )
                })?,
            };
            if std::mem::replace(&mut self.named[resource], true) {
                return Err(Violation::new(format!("{}.{name}", place()), "", "duplicate key"));
            }
            self.values[resource] = number(raw, || format!("{}.{name}", place()))?;
        }
        Ok(())
    }
}
