//! Fields of the objects that queues are in: lists, quantities, and amounts of resources.

use super::queue::Reading;
use fairplan_instances::InstanceError;
use serde_json::Value;
use std::collections::BTreeMap;

/// A list in a field, empty where there is none.
pub(super) fn list<'a>(of: &'a Value, field: &str) -> &'a [Value] {
    of.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Amounts of resources, of no class.
pub(super) fn amounts(
    reading: &Reading<'_>,
    place: &str,
    of: Option<&Value>,
    found: &mut BTreeMap<(String, String), f64>,
) -> Result<(), InstanceError> {
    for (resource, amount) in of.and_then(Value::as_object).into_iter().flatten() {
        let amount = number(reading, &format!("{place}: {resource}"), Some(amount))?;
        found.extend(amount.map(|amount| ((String::new(), resource.clone()), amount)));
    }
    Ok(())
}

/// A quantity, as a text or as a number.
pub(super) fn number(
    reading: &Reading<'_>,
    place: &str,
    value: Option<&Value>,
) -> Result<Option<f64>, InstanceError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => reading.quantity(place, text).map(Some),
        Some(value) => reading.quantity(place, &value.to_string()).map(Some),
    }
}
