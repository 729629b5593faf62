//! Where quotas are: the nodes of a flavor, or, of a cluster of which no nodes are known, all quotas of one flavor.

use super::found::{ClusterQueue, Cohort, Found, Groups};
use super::objects::Amount;
use crate::kubernetes::{Conditions, Node};
use crate::report::ImportReport;
use crate::servers::Server;
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Decimal, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// A flavor of each resource group of a queue, as a task takes them.
type Choice = Vec<String>;

/// How many choices a queue may have: each is a user, and a condition on nodes.
const MOST_CHOICES: usize = 1000;

/// The flavors that are used at each place, which is a position.
pub(super) type Flavors = BTreeMap<usize, BTreeSet<String>>;

/// Where a queue is.
#[derive(Default)]
pub(super) struct QueuePlaces {
    /// Where tasks run that ask for something of every group, with the flavors that they take there.
    pub(super) tasks: Flavors,
    /// Where those run that ask for something of these groups only: they take no flavor of the others.
    pub(super) tasks_of: BTreeMap<Groups, Flavors>,
    /// Where the quotas of its flavors count: the same, unless several choices take the same flavor, whose quota is one over all of
    /// their places.
    pub(super) quotas: Flavors,
}

impl QueuePlaces {
    /// Where tasks run that ask for something of these groups.
    pub(super) fn of(&self, groups: &Groups) -> &Flavors {
        self.tasks_of.get(groups).unwrap_or(&self.tasks)
    }

    /// Whether its quotas count at other places than those at which its tasks run.
    pub(super) fn are_apart(&self) -> bool {
        self.tasks != self.quotas
    }
}

/// The flavors of each resource group of a queue.
fn groups(queue: &ClusterQueue) -> BTreeMap<usize, BTreeSet<&str>> {
    let mut groups: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for amount in &queue.amounts {
        groups.entry(amount.group).or_default().insert(&amount.flavor);
    }
    groups
}

/// The choices of a queue for tasks that ask for something of these groups: each flavor of the first with each of the second, and
/// so on.
fn choices(queue: &ClusterQueue, of: &Groups) -> Result<Vec<Choice>, Violation> {
    let mut choices: Vec<Choice> = vec![Vec::new()];
    for flavors in
        groups(queue).into_iter().filter(|(group, _)| of.contains(group)).map(|(_, flavors)| flavors)
    {
        let with = |choice: &Choice| {
            let more = |flavor: &&str| choice.iter().cloned().chain([(*flavor).to_owned()]).collect();
            flavors.iter().map(more).collect::<Vec<Choice>>()
        };
        if choices.len() * flavors.len() > MOST_CHOICES {
            let problem = format!(
                "are more than {MOST_CHOICES}, one flavor of each group; divide the queue, or take out flavors that it does not use"
            );
            let place = format!("ClusterQueue {}: resourceGroups", queue.name);
            let (known, more) = (choices.len(), flavors.len());
            let value = format!("{known} combinations with {more} more flavors");
            return Err(Violation::new(place, value, problem));
        }
        choices = choices.iter().flat_map(with).collect();
    }
    Ok(choices)
}

/// The places of a cluster with its servers.
pub(super) struct Places {
    pub(super) names: Vec<String>,
    pub(super) servers: Vec<Server>,
    /// Of each place and resource, whether several pools have quotas of it there, or nodes may have more than these.
    pub(super) shared: Vec<Vec<bool>>,
    /// Where each queue is.
    pub(super) of_queues: Vec<QueuePlaces>,
    /// Where what the queues of a pool use of a flavor runs, by pool and flavor.
    uses: BTreeMap<(String, String), usize>,
}

impl Places {
    /// Where all that a pool uses of a flavor runs.
    pub(super) fn of_flavor(&self, pool: &str, flavor: &str) -> Option<usize> {
        self.uses.get(&(pool.to_owned(), flavor.to_owned())).copied()
    }

    /// The nodes; a place is all nodes to which a flavor of each group of a queue, or of each that its known tasks ask for something
    /// of, lets tasks. A task has the tolerations of all its flavors.
    ///
    /// # Errors
    /// Queues with more choices than are reasonable, and amounts of too many digits.
    pub(super) fn of_nodes(
        found: &Found,
        nodes: &[Node],
        resources: &[String],
        report: &mut ImportReport,
    ) -> Result<Self, Violation> {
        let Found { queues, flavors: conditions, .. } = found;
        let mut sites = Sites::default();
        let mut of_queues = Vec::with_capacity(queues.len());
        let mut choices_of: Vec<BTreeSet<Choice>> = Vec::with_capacity(queues.len());
        let mut let_in: BTreeMap<Choice, Vec<bool>> = BTreeMap::new();
        for (position, queue) in queues.iter().enumerate() {
            let all = queue.groups_with_something(resources);
            let mut of_queue = QueuePlaces::default();
            let mut choices_of_queue = BTreeSet::new();
            for asked in found.groups_asked(position, resources).into_iter().chain([all.clone()]) {
                let mut choices = choices(queue, &asked)?;
                // Of a flavor in a single group, and of an only combination, it is told where nobody can be.
                let are_combined = choices.len() > 1 && choices.iter().any(|choice| choice.len() > 1);
                let mut tasks = Flavors::new();
                choices.retain(|choice| {
                    let meets = let_in.entry(choice.clone()).or_insert_with_key(|choice| {
                        nodes.iter().map(|node| lets_in(choice, node, conditions)).collect()
                    });
                    let is_kept = !are_combined || meets.contains(&true);
                    if is_kept {
                        tasks.insert(sites.of_choice(choice, meets), choice.iter().cloned().collect());
                    } else {
                        let name = format!("{} {}", queue.name, choice.join("+"));
                        report.named(
                            "combinations of flavors left out: no node lets in tasks with all of them",
                            &name,
                        );
                    }
                    is_kept
                });
                choices_of_queue.extend(choices);
                match asked == all {
                    true => of_queue.tasks = tasks,
                    false => _ = of_queue.tasks_of.insert(asked, tasks),
                }
            }
            of_queue.quotas.clone_from(&of_queue.tasks);
            of_queues.push(of_queue);
            choices_of.push(choices_of_queue);
        }
        for (choices, of_queue) in choices_of.iter().zip(&mut of_queues) {
            if choices.len() > 1 && choices.iter().any(|choice| choice.len() > 1) {
                of_queue.quotas = Flavors::new();
                for flavor in choices.iter().flatten().collect::<BTreeSet<_>>() {
                    let place = sites.of_flavor(flavor, choices, nodes.len());
                    of_queue.quotas.entry(place).or_default().insert(flavor.clone());
                }
            }
        }
        // What queues of a pool use of a flavor runs wherever one of their choices with it does.
        let mut of_pools: BTreeMap<&str, (BTreeSet<Choice>, BTreeSet<&str>)> = BTreeMap::new();
        for (queue, choices) in queues.iter().zip(choices_of) {
            let (of_pool, flavors) = of_pools.entry(&queue.pool).or_default();
            of_pool.extend(choices);
            flavors.extend(queue.amounts.iter().map(|amount| amount.flavor.as_str()));
        }
        let mut uses = BTreeMap::new();
        for (pool, (choices, flavors)) in of_pools {
            for flavor in flavors {
                let place = sites.of_flavor(flavor, &choices, nodes.len());
                uses.insert((pool.to_owned(), flavor.to_owned()), place);
            }
        }
        let mut servers = Vec::with_capacity(nodes.len());
        for (n, node) in nodes.iter().enumerate() {
            let capacity = exact(&node.name, resources, |name| node.allocatable.get(name).copied())?;
            let (name, kind) = (node.name.clone(), node.gpu_model().to_owned());
            let site = node.site();
            let of_node = sites
                .choices
                .iter()
                .zip(&sites.meets)
                .filter(|(_, nodes)| nodes[n])
                .map(|(choice, _)| choice);
            let selects =
                |flavor: &&String| conditions.get(*flavor).is_some_and(|flavor| flavor.select(&site));
            let flavors: BTreeSet<&String> = of_node.flatten().filter(selects).collect();
            let label = flavors.into_iter().cloned().collect::<Vec<_>>().join("+");
            let meets = sites.meets.iter().map(|nodes| nodes[n]).collect();
            servers.push(Server { name, kind, label, capacity, meets, ..Server::default() });
        }
        let Sites { names, .. } = sites;
        let shared = vec![vec![true; resources.len()]; names.len()];
        Ok(Self { names, servers, shared, of_queues, uses })
    }

    /// One server a flavor, with all its quotas; flavors of which a task takes one each are one server: which of them are beside which
    /// no quota says.
    pub(super) fn of_quotas(
        queues: &[ClusterQueue],
        cohorts: &[Cohort],
        resources: &[String],
        report: &mut ImportReport,
    ) -> Result<Self, Violation> {
        let mut parts: Vec<BTreeSet<String>> = Vec::new();
        for queue in queues {
            let groups: Vec<BTreeSet<&str>> = groups(queue).into_values().collect();
            let all = groups.iter().flatten().map(|flavor| BTreeSet::from([(*flavor).to_owned()]));
            if groups.len() == 1 {
                all.for_each(|flavor| join(&mut parts, flavor));
                continue;
            }
            if groups.iter().any(|flavors| flavors.len() > 1) {
                report.named(
                    "cluster queues with several flavors in one of several resource groups: without nodes these flavors are one place \
                     here, so that a task may have of each, which in Kueue takes one",
                    &queue.name,
                );
            }
            join(&mut parts, all.flatten().collect());
        }
        let mut totals: Vec<BTreeMap<&str, Quantity>> = vec![BTreeMap::new(); parts.len()];
        let mut pools: Vec<BTreeMap<&str, BTreeSet<&str>>> = vec![BTreeMap::new(); parts.len()];
        let of_queues = queues.iter().map(|queue| (&queue.pool, &queue.amounts));
        let of_cohorts = cohorts.iter().map(|cohort| (&cohort.pool, &cohort.amounts));
        let place_of = |flavor: &str| parts.iter().position(|flavors| flavors.contains(flavor));
        let mut uses = BTreeMap::new();
        for (pool, amounts) in of_queues.chain(of_cohorts) {
            for amount in amounts {
                if let Some(part) = place_of(&amount.flavor) {
                    uses.insert((pool.clone(), amount.flavor.clone()), part);
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
        let mut of_queues = Vec::with_capacity(queues.len());
        for queue in queues {
            let mut tasks = Flavors::new();
            for flavor in queue.amounts.iter().map(|amount| &amount.flavor) {
                if let Some(place) = place_of(flavor) {
                    tasks.entry(place).or_default().insert(flavor.clone());
                }
            }
            for flavor in tasks.keys().flat_map(|place| &parts[*place]) {
                let is_own = |amount: &Amount| amount.flavor == *flavor;
                let lent =
                    queues.iter().filter(|other| other.pool == queue.pool).flat_map(|other| &other.amounts);
                let mut lent = lent.filter(|amount| is_own(amount)).map(|amount| &amount.resource);
                let is_covered =
                    |resource: &String| queue.amounts.iter().any(|own| own.resource == *resource);
                if !queue.amounts.iter().any(is_own) && lent.any(is_covered) {
                    report.named(
                        "cluster queues that may use a flavor here of which they have no quota, as it is one place with their flavors",
                        &format!("{} ({flavor})", queue.name),
                    );
                }
            }
            of_queues.push(QueuePlaces { quotas: tasks.clone(), tasks, ..QueuePlaces::default() });
        }
        Ok(Self { names, servers, shared, of_queues, uses })
    }
}

/// Places as they are met, over nodes.
#[derive(Default)]
struct Sites {
    names: Vec<String>,
    /// Of each place its nodes.
    meets: Vec<Vec<bool>>,
    /// Of each place that is where a choice lets tasks in, the choice; these are the first.
    choices: Vec<Choice>,
}

impl Sites {
    /// The place of a choice, which lets tasks onto these nodes; all choices come before all flavors.
    fn of_choice(&mut self, choice: &Choice, meets: &[bool]) -> usize {
        if let Some(place) = self.choices.iter().position(|known| known == choice) {
            return place;
        }
        self.names.push(choice.join("+"));
        self.choices.push(choice.clone());
        self.meets.push(meets.to_vec());
        self.choices.len() - 1
    }

    /// The place of a flavor: all nodes to which one of these choices that has it lets tasks.
    fn of_flavor(&mut self, flavor: &str, choices: &BTreeSet<Choice>, nodes: usize) -> usize {
        let has_it = |choice: &Choice| choice.iter().any(|other| other == flavor);
        let mut runs = vec![false; nodes];
        for (known, meets) in self.choices.iter().zip(&self.meets) {
            if has_it(known) && choices.contains(known) {
                runs.iter_mut().zip(meets).for_each(|(runs, meets)| *runs |= meets);
            }
        }
        let names_it = |place: usize| match self.choices.get(place) {
            Some(choice) => has_it(choice),
            None => self.names[place] == flavor,
        };
        let fits = |place: &usize| self.meets[*place] == runs && names_it(*place);
        let own = self.choices.iter().position(|choice| choice[..] == [flavor.to_owned()]).filter(fits);
        if let Some(place) = own.or_else(|| (0..self.names.len()).find(fits)) {
            return place;
        }
        self.names.push(flavor.to_owned());
        self.meets.push(runs);
        self.names.len() - 1
    }
}

/// Whether a task with the flavors of a choice may run on a node: each lets it by its labels, and of every taint one of them
/// brings a toleration.
fn lets_in(choice: &Choice, node: &Node, conditions: &BTreeMap<String, Conditions>) -> bool {
    let site = node.site();
    let flavors: Vec<&Conditions> = choice.iter().filter_map(|flavor| conditions.get(flavor)).collect();
    flavors.len() == choice.len()
        && flavors.iter().all(|flavor| flavor.select(&site))
        && site.repelling().all(|taint| flavors.iter().any(|flavor| flavor.tolerate(taint)))
}

/// Makes these flavors one part.
fn join(parts: &mut Vec<BTreeSet<String>>, mut together: BTreeSet<String>) {
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
