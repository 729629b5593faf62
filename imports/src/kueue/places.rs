//! Where quotas are: the nodes of a flavor, or, of a cluster of which no nodes are known, all quotas of one flavor.

use super::found::{ClusterQueue, Cohort};
use crate::kubernetes::{Conditions, Node, Taint};
use crate::servers::Server;
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Decimal, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// Of each resource group of a queue the flavors among which a task takes one.
pub(super) type Choice = Vec<BTreeSet<String>>;

/// The choices of a queue: of a single resource group each flavor for itself; of several, where a task takes a flavor of
/// each, all of them together.
pub(super) fn choices(queue: &ClusterQueue) -> Vec<Choice> {
    let mut groups: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for amount in &queue.amounts {
        groups.entry(amount.group).or_default().insert(amount.flavor.clone());
    }
    let mut groups = groups.into_values();
    match (groups.next(), groups.len()) {
        (None, _) => Vec::new(),
        (Some(flavors), 0) => flavors.into_iter().map(|flavor| vec![BTreeSet::from([flavor])]).collect(),
        (Some(first), _) => vec![std::iter::once(first).chain(groups).collect()],
    }
}

/// The places of a cluster with its servers.
pub(super) struct Places {
    pub(super) names: Vec<String>,
    pub(super) servers: Vec<Server>,
    /// Of each place and resource, whether several pools have quotas of it there, or nodes may have more than these.
    pub(super) shared: Vec<Vec<bool>>,
    /// Without nodes: the flavors of each place.
    flavors: Vec<BTreeSet<String>>,
    /// With nodes: which place a choice is.
    choices: Vec<Choice>,
    /// With nodes: where what the queues of a pool use of a flavor runs, by pool and flavor.
    uses: BTreeMap<(String, String), usize>,
}

impl Places {
    /// Where a queue has its quotas, of each of its choices.
    pub(super) fn of_choice(&self, choice: &Choice) -> Option<usize> {
        if let Some(place) = self.choices.iter().position(|known| known == choice) {
            return Some(place);
        }
        let flavor = choice.iter().flatten().next()?;
        self.flavors.iter().position(|flavors| flavors.contains(flavor))
    }

    /// Where all that a pool uses of a flavor runs.
    pub(super) fn of_flavor(&self, pool: &str, flavor: &str) -> Option<usize> {
        let used = self.uses.get(&(pool.to_owned(), flavor.to_owned()));
        used.copied().or_else(|| self.flavors.iter().position(|flavors| flavors.contains(flavor)))
    }

    /// The nodes; a place is all nodes to which a flavor of each group of a choice lets tasks. A task has the tolerations of all its
    /// flavors.
    pub(super) fn of_nodes(
        queues: &[ClusterQueue],
        nodes: &[Node],
        conditions: &BTreeMap<String, Conditions>,
        resources: &[String],
    ) -> Result<Self, Violation> {
        let mut choices: Vec<Choice> = Vec::new();
        for queue in queues {
            for choice in self::choices(queue) {
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
        }
        let mut meets: Vec<Vec<bool>> = choices
            .iter()
            .map(|choice| nodes.iter().map(|node| lets_in(choice, node, conditions)).collect())
            .collect();
        let group = |flavors: &BTreeSet<String>| flavors.iter().cloned().collect::<Vec<_>>().join(",");
        let mut names: Vec<String> =
            choices.iter().map(|choice| choice.iter().map(group).collect::<Vec<_>>().join("+")).collect();
        // What queues of a pool use of a flavor runs wherever one of their choices with it does.
        let mut runs: BTreeMap<(String, String), Vec<bool>> = BTreeMap::new();
        for queue in queues {
            for choice in self::choices(queue) {
                let Some(place) = choices.iter().position(|known| *known == choice) else { continue };
                for flavor in choice.iter().flatten() {
                    let key = (queue.pool.clone(), flavor.clone());
                    let runs = runs.entry(key).or_insert_with(|| vec![false; nodes.len()]);
                    runs.iter_mut().zip(&meets[place]).for_each(|(runs, meets)| *runs |= meets);
                }
            }
        }
        let mut uses = BTreeMap::new();
        for ((pool, flavor), runs) in runs {
            let only = vec![BTreeSet::from([flavor.clone()])];
            let is_it = |place: &usize| {
                meets[*place] == runs
                    && choices.get(*place).is_some_and(|choice| choice.iter().flatten().any(|f| *f == flavor))
            };
            let own = choices.iter().position(|choice| *choice == only).filter(is_it);
            let place = own.or_else(|| (0..choices.len()).find(is_it)).unwrap_or(meets.len());
            if place == meets.len() {
                meets.push(runs);
                names.push(flavor.clone());
            }
            uses.insert((pool, flavor), place);
        }
        let mut servers = Vec::with_capacity(nodes.len());
        for (n, node) in nodes.iter().enumerate() {
            let capacity = exact(&node.name, resources, |name| node.allocatable.get(name).copied())?;
            let (name, kind) = (node.name.clone(), node.gpu_model().to_owned());
            let site = node.site();
            let of_node = choices.iter().zip(&meets).filter(|(_, nodes)| nodes[n]).map(|(choice, _)| choice);
            let selects =
                |flavor: &&String| conditions.get(*flavor).is_some_and(|flavor| flavor.select(&site));
            let flavors: BTreeSet<&String> = of_node.flatten().flatten().filter(selects).collect();
            let label = flavors.into_iter().cloned().collect::<Vec<_>>().join("+");
            let meets = meets.iter().map(|nodes| nodes[n]).collect();
            servers.push(Server { name, kind, label, capacity, domain: None, meets });
        }
        let shared = vec![vec![true; resources.len()]; names.len()];
        Ok(Self { names, servers, shared, flavors: Vec::new(), choices, uses })
    }

    /// One server a flavor, with all its quotas; flavors of which a task takes one each are one server.
    pub(super) fn of_quotas(
        queues: &[ClusterQueue],
        cohorts: &[Cohort],
        resources: &[String],
    ) -> Result<Self, Violation> {
        let mut parts: Vec<BTreeSet<String>> = Vec::new();
        queues.iter().for_each(|queue| choices(queue).iter().for_each(|choice| join(&mut parts, choice)));
        let mut totals: Vec<BTreeMap<&str, Quantity>> = vec![BTreeMap::new(); parts.len()];
        let mut pools: Vec<BTreeMap<&str, BTreeSet<&str>>> = vec![BTreeMap::new(); parts.len()];
        let of_queues = queues.iter().map(|queue| (&queue.pool, &queue.amounts));
        let of_cohorts = cohorts.iter().map(|cohort| (&cohort.pool, &cohort.amounts));
        for (pool, amounts) in of_queues.chain(of_cohorts) {
            for amount in amounts {
                if let Some(part) = parts.iter().position(|flavors| flavors.contains(&amount.flavor)) {
                    let total = totals[part].entry(&amount.resource).or_default();
                    *total = total.plus(amount.nominal);
                    pools[part].entry(&amount.resource).or_default().insert(pool);
                }
            }
        }
        let name = |flavors: &BTreeSet<String>| flavors.iter().cloned().collect::<Vec<_>>().join("+");
        let names: Vec<String> = parts.iter().map(name).collect();
        let mut servers = Vec::with_capacity(parts.len());
        for (place, total) in totals.iter().enumerate() {
            let capacity = exact(&names[place], resources, |name| total.get(name).copied())?;
            let meets = (0..parts.len()).map(|other| other == place).collect();
            servers.push(Server { name: names[place].clone(), capacity, meets, ..Server::default() });
        }
        let is_shared = |pools: &BTreeMap<&str, BTreeSet<&str>>| -> Vec<bool> {
            let several = |name: &String| pools.get(name.as_str()).is_some_and(|pools| pools.len() > 1);
            resources.iter().map(several).collect()
        };
        let shared = pools.iter().map(is_shared).collect();
        Ok(Self { names, servers, shared, flavors: parts, choices: Vec::new(), uses: BTreeMap::new() })
    }
}

/// Whether a task with a flavor of each group of a choice may run on a node: each lets it by its labels, and of every taint one of them
/// brings a toleration.
fn lets_in(choice: &Choice, node: &Node, conditions: &BTreeMap<String, Conditions>) -> bool {
    let site = node.site();
    let taints: Vec<&Taint> = site.taints.iter().filter(|taint| taint.repels()).collect();
    let mut tolerated = BTreeSet::from([vec![false; taints.len()]]);
    for flavors in choice {
        let allowed = flavors.iter().filter_map(|flavor| conditions.get(flavor));
        let with = |flavor: &Conditions| {
            let more = |before: &Vec<bool>| -> Vec<bool> {
                before.iter().zip(&taints).map(|(before, taint)| *before || flavor.tolerate(taint)).collect()
            };
            tolerated.iter().map(more).collect::<Vec<_>>()
        };
        tolerated = allowed.filter(|flavor| flavor.select(&site)).flat_map(with).collect();
    }
    tolerated.iter().any(|taints| taints.iter().all(|tolerated| *tolerated))
}

/// Makes the flavors of a choice one part.
fn join(parts: &mut Vec<BTreeSet<String>>, choice: &Choice) {
    let mut together: BTreeSet<String> = choice.iter().flatten().cloned().collect();
    let touched = |flavors: &BTreeSet<String>| !flavors.is_disjoint(&together);
    let at = parts.iter().position(touched).unwrap_or(parts.len());
    let (joined, others): (Vec<_>, Vec<_>) = std::mem::take(parts).into_iter().partition(touched);
    *parts = others;
    together.extend(joined.into_iter().flatten());
    parts.insert(at.min(parts.len()), together);
}

fn exact(
    place: &str,
    resources: &[String],
    of: impl Fn(&str) -> Option<Quantity>,
) -> Result<Vec<Decimal>, Violation> {
    let amount = |name: &String| {
        let amount = of(name).unwrap_or_default().decimal();
        amount.ok_or_else(|| Violation::new(format!("{place}: {name}"), "", "has too many digits"))
    };
    resources.iter().map(amount).collect()
}
