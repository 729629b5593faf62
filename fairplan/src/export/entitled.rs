//! What a scheduler's own rule entitles tenants to under a configuration, as it stands in its files.

use super::noun;
use fairplan_exports::{Export, Key, Measure, Shared, Target, Told};
use fairplan_imports::{Deployed, DeployedQueue};
use fairplan_instances::is_memory;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The priority of a queue of KAI that states none.
const KAI_PRIORITY: f64 = 100.0;

/// The largest part of the cluster that each tenant of `export` is entitled to, by its target's rule under the configuration
/// `deployed`; `None` for tenants with somebody below them, those that the configuration does not have, and those whose
/// tasks need what the target does not count: of that its rule says nothing.
pub(super) fn entitled(export: &Export, deployed: &Deployed) -> Vec<Option<f64>> {
    let (shared, places) = shared(export, deployed);
    let times = shared.entitled();
    let share = |(t, place): (usize, &Option<usize>)| {
        let is_said = export.tenants[t].is_leaf && !export.rests_on_uncounted(t);
        let place = place.filter(|_| is_said)?;
        Some(export.share_of(t, &times[place]))
    };
    places.iter().enumerate().map(share).collect()
}

/// The configuration as its scheduler sees it, and where each tenant of the export is in it.
pub(super) fn shared(export: &Export, deployed: &Deployed) -> (Shared, Vec<Option<usize>>) {
    let keys = export.keys();
    let names = export.queue_names();
    let order = parents_first(export.target, deployed);
    let positions: HashMap<&str, usize> =
        order.iter().enumerate().map(|(position, (name, _))| (*name, position)).collect();
    // What is a queue of Kueue in the export may be a cohort there.
    let as_cohort = |name: &String| {
        let cohort = positions.get(format!("cohort {name}").as_str());
        cohort.filter(|_| export.target == Target::Kueue)
    };
    let place = |name: &String| positions.get(name.as_str()).or_else(|| as_cohort(name)).copied();
    let places: Vec<Option<usize>> = names.iter().map(place).collect();
    let tenant_at: HashMap<usize, usize> =
        places.iter().enumerate().filter_map(|(t, place)| Some(((*place)?, t))).collect();
    // Of queues below one that is a tenant with nobody below it what is asked for is that tenant's.
    let mut is_inside = vec![false; order.len()];
    let cluster = export.cluster();
    let within = within_root(export, deployed, &keys, &cluster);
    let mut tenants: Vec<Told> = Vec::with_capacity(order.len());
    let whole = Whole {
        is_of_all: export.target == Target::YarnFair,
        keys: &keys,
        cluster: &cluster,
        within: &within,
        weights: sums_of_weights(&order),
    };
    let memory = keys.iter().position(|key| is_memory(&key.resource));
    let compares =
        |queue: &DeployedQueue| memory.filter(|_| queue.by_memory).map(|at| at % export.resource_count());
    let with_others_below = with_others_below(export.target, order.iter().map(|(_, queue)| *queue));
    let is_above = |name: &str| noun(export.target, name) == "cohort" || with_others_below.contains(name);
    for (position, (name, queue)) in order.iter().enumerate() {
        let parent = above(export.target, queue).and_then(|above| positions.get(above.as_str()).copied());
        let told_above = parent.map(|parent| &tenants[parent]);
        let (given, limit) = (whole.given(queue, told_above), whole.limit(queue, told_above));
        let weight = queue.weight.filter(|weight| *weight > 0.0).unwrap_or(1.0);
        let weights =
            amounts_of(&queue.weights, &keys).into_iter().map(|own| own.unwrap_or(weight)).collect();
        let mut told = Told {
            parent,
            weight,
            weights,
            priority: queue.priority.unwrap_or(if export.target == Target::Kai { KAI_PRIORITY } else { 0.0 }),
            compares: compares(queue),
            limit,
            uses: vec![0.0; keys.len()],
            billed: 0.0,
            most: vec![1.0; keys.len()],
            kept: Vec::new(),
            pool: Vec::new(),
            given,
        };
        let is_tenant = |above: &usize| tenant_at.get(above).is_some_and(|t| export.tenants[*t].is_leaf);
        is_inside[position] = parent.is_some_and(|above| is_inside[above] || is_tenant(&above));
        match tenant_at.get(&position).copied() {
            // What is stopped runs nothing, and what it has is lent all the same.
            _ if queue.is_stopped || is_inside[position] => {}
            Some(t) if export.tenants[t].is_leaf => {
                (told.uses, told.most) = (export.uses(t), export.most(t));
                told.billed = export.tenants[t].billed;
            }
            // Of a queue that is not exported nothing else is known than that it uses what it has; cohorts run nothing themselves.
            None if !is_above(name) => {
                // Of what has no end nothing is known at all.
                let stated = amounts_of(&queue.amounts, &keys);
                let is_endless = |stated: &Option<f64>| stated.is_some_and(f64::is_infinite);
                let uses =
                    |(given, stated): (&f64, &Option<f64>)| if is_endless(stated) { 0.0 } else { *given };
                told.uses = told.given.iter().zip(&stated).map(uses).collect();
                let parts = told.uses.iter().zip(&cluster).filter(|(_, all)| **all > 0.0);
                told.billed = parts.map(|(uses, all)| uses / all).fold(0.0, f64::max);
            }
            _ => {}
        }
        tenants.push(told);
    }
    sums(export.target, &mut tenants);
    if export.target == Target::Kueue {
        let lends: Vec<Vec<Option<f64>>> =
            order.iter().map(|(_, queue)| amounts_of(&queue.lends, &keys)).collect();
        keep(&mut tenants, &lends);
        // What is above all is in no cohort from which it could borrow.
        for tenant in tenants.iter_mut().filter(|tenant| tenant.parent.is_none()) {
            tenant.limit = tenant.given.iter().copied().map(Some).collect();
            tenant.pool = vec![0.0; export.resource_count()];
            let of_resource = tenant.given.iter().enumerate();
            of_resource.for_each(|(at, given)| tenant.pool[at % export.resource_count()] += given);
        }
    }
    let room = match export.target.measure() {
        // Quotas are all that Kueue knows.
        Measure::Borrowed => {
            let top = || tenants.iter().filter(|tenant| tenant.parent.is_none());
            (0..keys.len()).map(|at| top().map(|tenant| tenant.given[at]).sum()).collect()
        }
        _ => within,
    };
    let shared = Shared {
        measure: export.target.measure(),
        resources: export.resource_count(),
        compares: deployed.get("root").and_then(compares),
        room,
        tenants,
    };
    (shared, places)
}

type Amounts = BTreeMap<(String, String), f64>;

/// What percentages and weights of queues are parts of.
struct Whole<'a> {
    /// Whether percentages are of the cluster at every depth, as in YARN's fair scheduler, and not of what the queue above has or may have.
    is_of_all: bool,
    keys: &'a [Key],
    cluster: &'a [f64],
    within: &'a [f64],
    weights: HashMap<(&'a str, &'a str), f64>,
}

impl Whole<'_> {
    /// What a queue is given below one that is told so; all that this one is given of what has no end.
    fn given(&self, queue: &DeployedQueue, above: Option<&Told>) -> Vec<f64> {
        let stated = amounts_of(&queue.amounts, self.keys);
        let of_key = |(at, (key, stated)): (usize, (&Key, Option<f64>))| {
            let above = above.map_or(self.cluster[at], |above| above.given[at]);
            let whole = if self.is_of_all { self.cluster[at] } else { above };
            let percent = percent(&queue.amounts, key).map_or(0.0, |percent| percent / 100.0 * whole);
            let weight = queue.amounts.get(&(key.class.clone(), "weight".to_owned())).map_or(0.0, |weight| {
                let all = self.weights.get(&(queue.parent.as_str(), key.class.as_str())).copied();
                all.filter(|all| *all > 0.0).map_or(0.0, |all| weight / all * above)
            });
            let given = stated.unwrap_or(0.0) + percent + weight;
            if given.is_infinite() { above } else { given }
        };
        self.keys.iter().zip(stated).enumerate().map(of_key).collect()
    }

    /// The most that it may have.
    fn limit(&self, queue: &DeployedQueue, above: Option<&Told>) -> Vec<Option<f64>> {
        let stated = amounts_of(&queue.limits, self.keys);
        let of_key = |(at, (key, stated)): (usize, (&Key, Option<f64>))| {
            let above = above.and_then(|above| above.limit[at]).unwrap_or(self.within[at]);
            let whole = if self.is_of_all { self.cluster[at] } else { above };
            percent(&queue.limits, key).map(|percent| percent / 100.0 * whole).or(stated)
        };
        self.keys.iter().zip(stated).enumerate().map(of_key).collect()
    }
}

/// The percentage of a resource, or of all.
fn percent(amounts: &Amounts, key: &Key) -> Option<f64> {
    let of = |what: String| amounts.get(&(key.class.clone(), what)).copied();
    of(format!("percent {}", key.resource)).or_else(|| of("percent".into()))
}

/// Amounts in the units of `keys`.
fn amounts_of(amounts: &BTreeMap<(String, String), f64>, keys: &[Key]) -> Vec<Option<f64>> {
    let amount = |key: &Key| Some(amounts.get(&(key.class.clone(), key.resource.clone()))? / key.unit);
    keys.iter().map(amount).collect()
}

/// What Kueue's queues and cohorts do not lend: what they are given beyond their lending limits, of what those below them lend.
fn keep(tenants: &mut [Told], lends: &[Vec<Option<f64>>]) {
    let mut kept_below: Vec<Vec<f64>> = tenants.iter().map(|tenant| vec![0.0; tenant.given.len()]).collect();
    for t in (0..tenants.len()).rev() {
        let lent = |(at, given): (usize, &f64)| {
            let own = given - kept_below[t][at];
            lends[t][at].map_or(0.0, |most| (own - most).max(0.0))
        };
        tenants[t].kept = tenants[t].given.iter().enumerate().map(lent).collect();
        if let Some(parent) = tenants[t].parent {
            for at in 0..tenants[t].kept.len() {
                kept_below[parent][at] += tenants[t].kept[at] + kept_below[t][at];
            }
        }
    }
}

/// What all tenants together may have, by `keys`: no more than the target's own root may.
fn within_root(export: &Export, deployed: &Deployed, keys: &[Key], cluster: &[f64]) -> Vec<f64> {
    let root = deployed.get("root").filter(|_| export.target.reserves_root());
    let most = |key: &Key, all: f64| {
        let stated = |what: &str| root?.limits.get(&(key.class.clone(), what.to_owned())).copied();
        let part = stated("percent").map(|percent| percent / 100.0 * all);
        stated(&key.resource).map(|limit| limit / key.unit).into_iter().chain(part).fold(all, f64::min)
    };
    keys.iter().zip(cluster).map(|(key, all)| most(key, *all)).collect()
}

/// The weights that the capacities of siblings are, by their parent and the class.
fn sums_of_weights<'a>(order: &[(&str, &'a DeployedQueue)]) -> HashMap<(&'a str, &'a str), f64> {
    let mut sums = HashMap::new();
    for (_, queue) in order {
        for ((class, _), weight) in queue.amounts.iter().filter(|((_, what), _)| what == "weight") {
            *sums.entry((queue.parent.as_str(), class.as_str())).or_insert(0.0) += weight;
        }
    }
    sums
}

/// Whoever has others below it has at least what they have together, where its scheduler adds that up; of Kueue's cohorts it is in addition to
/// their own, and what they may borrow comes on top of it. In other schedulers it is given what is said of itself, which may be nothing.
fn sums(target: Target, tenants: &mut [Told]) {
    if !matches!(target, Target::Kueue | Target::Volcano | Target::Yarn) {
        return;
    }
    let mut below: Vec<Vec<f64>> = tenants.iter().map(|tenant| vec![0.0; tenant.given.len()]).collect();
    for t in (0..tenants.len()).rev() {
        let is_cohort = target == Target::Kueue;
        let tenant = &mut tenants[t];
        for ((given, limit), below) in tenant.given.iter_mut().zip(&mut tenant.limit).zip(&below[t]) {
            *given = if is_cohort { *given + below } else { given.max(*below) };
            *limit = limit.map(|limit| if is_cohort { limit + below } else { limit });
        }
        if let Some(parent) = tenants[t].parent {
            for (sum, given) in below[parent].iter_mut().zip(&tenants[t].given) {
                *sum += given;
            }
        }
    }
}

/// The queues that have others below them.
pub(super) fn with_others_below<'a>(
    target: Target,
    queues: impl Iterator<Item = &'a DeployedQueue>,
) -> HashSet<String> {
    queues.filter_map(|queue| above(target, queue)).collect()
}

/// The queue above, as it is named itself; `None` at the top, where all is.
fn above(target: Target, queue: &DeployedQueue) -> Option<String> {
    if queue.parent.is_empty() || (target.reserves_root() && queue.parent == "root") {
        return None;
    }
    Some(if target == Target::Kueue { format!("cohort {}", queue.parent) } else { queue.parent.clone() })
}

/// Queues, each after the one that it is in; those in a circle are left out.
fn parents_first(target: Target, deployed: &Deployed) -> Vec<(&str, &DeployedQueue)> {
    // What all are in is no queue beside others.
    let is_root = |name: &str| target.reserves_root() && name == "root";
    let mut left: Vec<(&str, &DeployedQueue)> = deployed
        .iter()
        .filter(|(name, _)| !is_root(name))
        .map(|(name, queue)| (name.as_str(), queue))
        .collect();
    let mut order: Vec<(&str, &DeployedQueue)> = Vec::with_capacity(left.len());
    let mut known: HashSet<String> = HashSet::new();
    loop {
        let before = order.len();
        left.retain(|(name, queue)| {
            let above = above(target, queue).filter(|above| deployed.contains_key(above));
            let is_next = above.is_none_or(|above| known.contains(&above));
            if is_next {
                order.push((name, queue));
            }
            !is_next
        });
        known.extend(order[before..].iter().map(|(name, _)| (*name).to_owned()));
        if order.len() == before {
            return order;
        }
    }
}
