//! When queues have the same amounts, and the first difference where they have not.

use crate::tolerance::AMOUNT;
use fairplan_exports::{Target, ToldQueue};
use std::collections::{BTreeMap, BTreeSet};

/// What a queue has, by class and resource.
pub(super) type Amounts = BTreeMap<(String, String), f64>;

pub(super) fn is_near(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= AMOUNT * one.abs().max(other.abs()).min(f64::MAX)
}

/// Whether a file of the target says what a queue gets: Kueue's and Slurm's say it of leaves only, and none of the target's own root.
pub(super) fn is_stated(target: Target, queue: &ToldQueue) -> bool {
    let is_root = target.has_root() && queue.name == "root";
    queue.is_leaf || !(is_root || matches!(target, Target::Kueue | Target::Slurm))
}

/// The first difference between what is told and what was found.
pub(super) fn difference(
    target: Target,
    told: &[ToldQueue],
    found: &BTreeMap<String, Amounts>,
) -> Option<String> {
    let nothing = Amounts::new();
    for queue in told.iter().filter(|queue| is_stated(target, queue)) {
        let has = found.get(&queue.name);
        if has.is_none() && target != Target::Slurm {
            return Some(format!("{} is not there", queue.name));
        }
        let has = has.unwrap_or(&nothing);
        let classes: BTreeSet<&String> = has.keys().map(|(class, _)| class).collect();
        let is_full = target == Target::Kueue && classes.len() >= ToldQueue::CLASSES;
        for key in queue.amounts.keys().chain(has.keys()).collect::<BTreeSet<_>>() {
            let [told, has] = [&queue.amounts, has].map(|amounts| amounts.get(key).copied());
            let (is_left_out, told, has) =
                (has.is_none() && is_full, told.unwrap_or(0.0), has.unwrap_or(0.0));
            let (class, resource) = key;
            // A QOS of Slurm has no limit of the cores or memory that no task asks for: 0 would let no job run.
            let is_endless = target == Target::Slurm
                && (told, has) == (0.0, f64::INFINITY)
                && ["cpu", "mem"].contains(&resource.as_str());
            if !is_near(told, has) && !is_left_out && !is_endless {
                let has = if has.is_infinite() { "no end of".to_owned() } else { has.to_string() };
                let on = if class.is_empty() { String::new() } else { format!(" on {class}") };
                return Some(format!("{} has {has} {resource}{on}, not {told}", queue.name));
            }
        }
    }
    let known: BTreeSet<&str> = told.iter().map(|queue| queue.name.as_str()).collect();
    let is_root = |name: &str| target.reserves_root() && name == "root";
    let more = found.iter().find(|(name, amounts)| {
        !known.contains(name.as_str()) && !is_root(name) && amounts.values().any(|amount| *amount != 0.0)
    });
    // Cohorts are told no amounts of their own.
    let of_cohort = || {
        let mut cohorts =
            found.iter().filter(|(name, _)| target == Target::Kueue && name.starts_with("cohort "));
        cohorts.find(|(_, amounts)| amounts.values().any(|amount| *amount != 0.0))
    };
    more.map(|(name, _)| format!("{name} has amounts, and is not in the export"))
        .or_else(|| of_cohort().map(|(name, _)| format!("{name} has amounts of its own")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_one_just_inside_the_part_of_them_that_a_text_loses_and_two_just_outside() {
        assert!(is_near(7.0, 7.0 * (1.0 + 0.9 * AMOUNT)) && !is_near(7.0, 7.0 * (1.0 + 1.1 * AMOUNT)));
        assert!(is_near(f64::INFINITY, f64::INFINITY) && !is_near(f64::INFINITY, 1e300));
    }
}
