//! What lines of `sacctmgr` do not name stays as it is: an account keeps the limits of resources that the export knows nothing of, and accounts
//! that are not in the export are there afterwards too, as are limits of jobs.

use fairplan_exports::{Export, Target};
use fairplan_imports::{DEPLOYED_ROOT, Deployed, DeployedQueue};
use std::collections::{BTreeMap, BTreeSet};

type Amounts = BTreeMap<(String, String), f64>;

/// Adds to the exported accounts what they have now of resources that no line names, and the accounts that no line names, whose names it
/// returns. Other schedulers are given whole objects, and what else there is of them is told as gone.
pub(super) fn add(export: &Export, before: &Deployed, after: &mut Deployed) -> Vec<String> {
    if export.target != Target::Slurm {
        return Vec::new();
    }
    let named: BTreeSet<String> = export.keys().iter().map(|key| key.resource.to_ascii_lowercase()).collect();
    for (name, new) in after.iter_mut() {
        let Some(old) = before.get(name) else { continue };
        let lists: [fn(&mut DeployedQueue) -> &mut Amounts; 2] =
            [|queue| &mut queue.amounts, |queue| &mut queue.limits];
        let mut old = old.clone();
        for list in lists {
            let taken = std::mem::take(list(&mut old));
            let list = list(new);
            // The QOS of a partition that no line names stays too.
            let is_named = |key: &(String, String)| match name.as_str() {
                DEPLOYED_ROOT => list.contains_key(key),
                _ => named.contains(&key.1),
            };
            let stays: Vec<_> = taken.into_iter().filter(|(key, _)| !is_named(key)).collect();
            list.extend(stays);
        }
    }
    let unnamed: Vec<_> = before.iter().filter(|(name, _)| !after.contains_key(*name)).collect();
    after.extend(unnamed.iter().map(|(name, old)| ((*name).clone(), (*old).clone())));
    // The account above all is there in any case.
    unnamed.into_iter().map(|(name, _)| name.clone()).filter(|name| name != DEPLOYED_ROOT).collect()
}

/// The limits of jobs that accounts have and their QOS, `red: GrpJobs=1`: no line of an export names them.
pub(super) fn limits(before: &Deployed) -> Vec<String> {
    let of_queue = |(name, queue): (&String, &DeployedQueue)| {
        let told = queue.beside.iter().map(|(limit, value)| format!("{name}: {limit}={value}"));
        told.collect::<Vec<_>>()
    };
    before.iter().flat_map(of_queue).collect()
}

/// Leaves those users of accounts out that are no tenants of the export, and returns the others.
pub(super) fn users(export: &Export, before: &mut Deployed) -> Vec<String> {
    let names: BTreeSet<String> = export.queue_names().into_iter().collect();
    before.retain(|name, queue| !queue.is_user || names.contains(name));
    before.iter().filter(|(_, queue)| queue.is_user).map(|(name, _)| name.clone()).collect()
}
