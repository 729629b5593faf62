//! What each node of a job has to give it: as the job states it node by node while it runs, else an equal part.

use super::hostlist;
use super::values::{Amounts, Number, Record, gres};
use crate::report::ImportReport;
use fairplan_instances::{Decimal, InstanceError, ResourceKind};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Tasks of a job that ask for the same, one a node.
#[derive(Clone)]
pub(super) struct Share {
    pub(super) demand: Amounts,
    pub(super) count: u64,
    /// The nodes where they run, as far as they do.
    pub(super) on: Vec<String>,
}

/// What a running job holds on one node.
#[derive(Clone, Default)]
pub(super) struct Held {
    node: String,
    amounts: Amounts,
}

/// What a job holds, node by node; what is not stated so is not there.
pub(super) fn held(
    place: &Record,
    nodes: &str,
    resources: &Value,
    gres_detail: &[String],
) -> Result<Vec<Held>, InstanceError> {
    let mut held = allocation(resources);
    if held.is_empty() {
        let names = hostlist::names(nodes).into_iter();
        held = names.map(|node| Held { node, amounts: Amounts::new() }).collect();
    }
    // One text a node, in the order of the list of nodes.
    if gres_detail.len() == held.len() {
        for (held, text) in held.iter_mut().zip(gres_detail) {
            let stated =
                gres(text).map_err(|(value, problem)| place.refused("gres_detail", value, problem))?;
            held.amounts.extend(stated.amounts);
        }
    }
    Ok(held)
}

/// All that a job holds of what its nodes have beside cores and memory.
pub(super) fn generic(held: &[Held]) -> Amounts {
    let mut all = Amounts::new();
    for (name, amount) in held.iter().flat_map(|held| &held.amounts) {
        if !["cpu", "memory"].contains(&name.as_str()) {
            let sum = all.get(name).copied().unwrap_or(Decimal::ZERO);
            all.insert(name.clone(), crate::amounts::added(sum, *amount).unwrap_or(sum));
        }
    }
    all
}

/// The cpus and the memory (in MiB) of each node in `job_resources`: a list since data parser v0.0.40, before that an object whose
/// keys count the nodes, without their names.
fn allocation(resources: &Value) -> Vec<Held> {
    let stated = |element: &Value, key: &str, inner: &str| -> Option<Decimal> {
        let value = element.get(key)?;
        let number = Number::deserialize(value.get(inner).unwrap_or(value)).ok()?.value()?;
        Decimal::new(Some(number).filter(|number| *number >= 0.0 && number.fract() == 0.0)? as u64, 0).ok()
    };
    let held = |(node, element): (String, &Value)| {
        let own =
            [("cpu", stated(element, "cpus", "count")), ("memory", stated(element, "memory", "allocated"))];
        let amounts = own.into_iter().filter_map(|(name, amount)| Some((name.to_owned(), amount?)));
        Held { node, amounts: amounts.collect() }
    };
    let nodes = resources.get("nodes");
    if let Some(Value::Array(list)) = nodes.and_then(|nodes| nodes.get("allocation")) {
        let name =
            |element: &Value| element.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        return list.iter().map(|element| held((name(element), element))).collect();
    }
    match (resources.get("allocated_nodes"), nodes.and_then(Value::as_str)) {
        (Some(Value::Object(by_position)), Some(nodes)) => {
            let names = hostlist::names(nodes);
            let at = |position: usize| by_position.get(&position.to_string());
            let elements: Vec<&Value> = (0..names.len()).map_while(at).collect();
            let complete = elements.len() == names.len() && names.len() == by_position.len();
            names.into_iter().zip(elements).filter(|_| complete).map(held).collect()
        }
        _ => Vec::new(),
    }
}

/// The tasks of a job: `whole` on so many nodes, of which some are `held` one by one. What these do not add up to is spread evenly.
pub(super) fn shares(
    place: &Record,
    field: &str,
    (whole, nodes): (&Amounts, u64),
    held: &[Held],
    report: &mut ImportReport,
) -> Result<Vec<Share>, InstanceError> {
    let known = held.len() as u64 == nodes && held.iter().all(|held| !held.node.is_empty());
    let one_by_one = |name: &str, amount: Decimal| {
        let of = |held: &Held| held.amounts.get(name).copied();
        let sum = held.iter().try_fold(Decimal::ZERO, |sum, held| {
            crate::amounts::added(sum, of(held).unwrap_or(Decimal::ZERO))
        });
        known && sum == Some(amount)
    };
    let mut even = Amounts::new();
    let mut own = BTreeSet::new();
    for (name, amount) in whole {
        if one_by_one(name, *amount) {
            own.insert(name.as_str());
            continue;
        }
        let part = divided(*amount, nodes).ok_or_else(|| {
            place.refused(field, &format!("{name}={amount}"), "cannot be divided among the job's nodes")
        })?;
        let is_counted = matches!(ResourceKind::of(name), ResourceKind::Cores | ResourceKind::Gpu);
        if is_counted && amount.scaled(0).is_some() && part.scaled(0).is_none() {
            report.one(format!(
                "jobs whose {name}s are not a whole number a node: they count as spread evenly"
            ));
        }
        even.insert(name.clone(), part);
    }
    let names = || held.iter().map(|held| held.node.clone());
    if own.is_empty() {
        return Ok(vec![Share { demand: even, count: nodes, on: names().collect() }]);
    }
    let mut shares: Vec<Share> = Vec::new();
    for held in held {
        let own = held.amounts.iter().filter(|(name, _)| own.contains(name.as_str()));
        let mut demand = even.clone();
        demand.extend(own.map(|(name, amount)| (name.clone(), *amount)));
        demand.retain(|_, amount| !amount.is_zero());
        match shares.iter_mut().find(|share| share.demand == demand) {
            Some(share) => {
                share.count += 1;
                share.on.push(held.node.clone());
            }
            None => shares.push(Share { demand, count: 1, on: vec![held.node.clone()] }),
        }
    }
    Ok(shares)
}

/// An `n`th of an amount, to nine decimals and rounded up, so that no node is asked for too little.
fn divided(amount: Decimal, n: u64) -> Option<Decimal> {
    if n == 1 {
        return Some(amount);
    }
    let exponent = amount.exponent().min(-9);
    Decimal::from_units(amount.scaled(exponent)?.div_ceil(u128::from(n)), exponent.into()).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_request_is_divided_among_nodes_and_rounded_up() {
        let divided = |text: &str, n| super::divided(text.parse().unwrap(), n).unwrap().to_string();
        assert_eq!(divided("64", 4), "16");
        assert_eq!(divided("1", 3), "0.333333334");
    }
}
