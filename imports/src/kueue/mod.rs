//! Kueue: cohorts and their ClusterQueues become a tree of groups and users with the quotas of each flavor.

mod admission;
mod found;
mod lending;
mod objects;
mod options;
mod places;
mod room;
mod stopped;
mod tree;
mod unkept;
mod workloads;

pub use options::{KueueOptions, QueueLevel, QueueWeights};

use crate::files::together;
use crate::kubernetes;
use crate::manifests::{self, Manifest, of_kinds};
use crate::queues::{self, Cluster, NOBODY};
use crate::report::{ImportFailure, ImportReport, Stopped, counted};
use crate::servers::Memory;
use fairplan_instances::{Instance, InstanceError, Violation, wording};
use found::{ClusterQueue, Cohort, Found, IdleCohort, LocalQueue};
use hashbrown::HashMap;
use lending::Lending;
use objects::{Amount, CohortSpec, FIELDS, FlavorSpec, KINDS, LocalSpec, OF_QUOTAS, QueueSpec, amounts};
use places::Places;
use room::Room;
use std::collections::{BTreeMap, BTreeSet};
use stopped::{Stop, Stops};
use workloads::Admitting;

/// The cluster and its queues as the files tell.
///
/// What the format carries: cohorts as groups, nested by their parents; ClusterQueues as users in them, or as groups of their
/// LocalQueues; `fairSharing.weight`; `nominalQuota` as guarantee; what is potentially available as limit (`lending.rs`), over the
/// flavor's classes; `nominalQuota` less `lendingLimit` as reserve, where nodes have all quotas. A queue with quotas on several flavors is a group with a user for
/// each; where a task takes one flavor of each of several resource groups, with a user for each combination of these that some node has,
/// and the quota of each flavor is of the group, over the nodes of all combinations with it. Known tasks that ask for nothing of a
/// resource group take no flavor of it, and of the others only flavors that their node selector, affinity and tolerations allow
/// (`admission.rs`).
///
/// *Classes*: with nodes these, alike in what they have and in the flavors whose labels and taints let tasks run there. Without, each
/// flavor is one server with all its quotas, of which each pool (a root cohort, or a queue without cohort) may have its own. *Tasks*: of Workloads where the
/// files have any, of each shape so many; else one GPU or core with its part of the queue's quotas, or less, so that every server
/// holds one.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, object, field and value are named), cohorts inside themselves,
/// flavors that no file describes where there are nodes or descriptions of others, files without a ClusterQueue that has a quota.
pub fn kueue(options: &KueueOptions) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report))
}

/// What prints a file with all that is read.
const COMMAND: &str = "kubectl get clusterqueues,cohorts,localqueues,resourceflavors,workloads -A -o json";

fn read(options: &KueueOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
    let found = found(&options.files, report)?;
    let files = options.files.iter().chain(&options.nodes);
    let failed = |violation| InstanceError::Invalid { file: together(files.clone()), violation };
    if found.queues.is_empty() {
        if report.count("cluster queues") > 0 {
            return Err(Stopped::Building(failed(Violation::new("", "", NOBODY))));
        }
        let others = manifests::instead(report);
        let problem =
            format!("there is no ClusterQueue with a quota here{others}; `{COMMAND}` makes such a file");
        return Err(Stopped::Reading(failed(Violation::new("", "", problem))));
    }
    if !options.nodes.is_empty() || !found.flavors.is_empty() {
        known_flavors(&found).map_err(|violation| Stopped::Building(failed(violation)))?;
    }
    let resources = resources(&found);
    if resources.is_empty() {
        return Err(Stopped::Building(failed(Violation::new("", "", NOTHING))));
    }
    let places = match options.nodes.as_slice() {
        [] => Places::of_quotas(&found.queues, &found.cohorts, &resources, report),
        files => {
            let nodes = kubernetes::nodes_that_count(files, |_, _| true, report)?;
            let counted: Vec<&str> = resources.iter().map(String::as_str).collect();
            nodes.iter().for_each(|node| node.tell_of_unasked(&counted, "queue", report));
            Places::of_nodes(&found, &nodes, &resources, report)
        }
    };
    let places = places.map_err(|violation| Stopped::Building(failed(violation)))?;
    let lending = Lending::of(&found, &found.without_local_queues(options.users));
    let room = Room::of(&found, &places, &resources, report);
    let tree =
        tree::Tree { found: &found, places: &places, resources: &resources, lending: &lending, room: &room };
    let queues = tree.queues(options, report).map_err(|violation| Stopped::Building(failed(violation)))?;
    let counted = wording::counted(found.queues.len() as u64, "cluster queue", "cluster queues");
    let Places { names, servers, .. } = &places;
    let cluster = Cluster {
        name: format!("Kueue, {counted}"),
        resources: resources.clone(),
        memory: Memory::Bytes,
        servers,
        places: names.clone(),
        root: None,
        are_limits_parts: options.nodes.is_empty(),
    };
    queues::instance(cluster, &queues, report).map_err(|violation| Stopped::Building(failed(violation)))
}

/// Refuses flavors that no object describes.
fn known_flavors(found: &Found) -> Result<(), Violation> {
    let of_queues = found.queues.iter().map(|queue| ("ClusterQueue", &queue.name, &queue.amounts));
    let of_cohorts = found.cohorts.iter().map(|cohort| ("Cohort", &cohort.name, &cohort.amounts));
    for (kind, name, amounts) in of_queues.chain(of_cohorts) {
        if let Some(unknown) = amounts.iter().find(|amount| !found.flavors.contains_key(&amount.flavor)) {
            return Err(Violation::new(format!("{kind} {name}: flavor"), &unknown.flavor, UNKNOWN_FLAVOR));
        }
    }
    let of_idle =
        found.idle.iter().flat_map(|(name, flavors)| flavors.iter().map(move |flavor| (name, flavor)));
    for (name, flavor) in of_idle {
        if !found.flavors.contains_key(flavor) {
            return Err(Violation::new(format!("Cohort {name}: flavor"), flavor, UNKNOWN_FLAVOR));
        }
    }
    Ok(())
}

/// What is said where queues and cohorts have quotas, and each is 0.
const NOTHING: &str = "every nominalQuota of the cluster queues and cohorts here is 0: nobody has anything, and nobody lends anything";

const UNKNOWN_FLAVOR: &str =
    "there is no ResourceFlavor of this name in the files; add `resourceflavors` to what kubectl gets";

/// What is told of queues that hold while something runs there.
const CLUSTERS_HELD: &str =
    "cluster queues that are held (stopPolicy: Hold): they count with what runs there";
const LOCALS_HELD: &str = "local queues that are held (stopPolicy: Hold): they count with what runs there";

/// Reads all objects.
fn found(files: &[String], report: &mut ImportReport) -> Result<Found, InstanceError> {
    let manifests = each_once(of_kinds(manifests::read(files, COMMAND)?, &KINDS, report), report)?;
    for manifest in manifests.iter().filter(|manifest| OF_QUOTAS.contains(&manifest.kind.as_str())) {
        manifest.misspelt(&FIELDS, &["concurrentAdmissionPolicy", "namespaceSelector"], report);
    }
    for manifest in &manifests {
        objects::tell_of_deletion(manifest, report)?;
    }
    let of = |kind: &'static str| manifests.iter().filter(move |manifest| manifest.kind == kind);
    let mut cohorts = Cohorts::default();
    let (mut parents, mut declared) = (Vec::new(), BTreeSet::new());
    for manifest in of("Cohort") {
        let (name, spec) = objects::spec::<CohortSpec>(manifest)?;
        let at = cohorts.named(&name);
        cohorts.list[at].weight = spec.fair_sharing.weight(manifest)?;
        cohorts.list[at].amounts = amounts(manifest, &spec.groups, report)?;
        declared.insert(name);
        if !spec.parent.is_empty() {
            cohorts.list[at].parent = Some(cohorts.named(&spec.parent));
            parents.push((at, manifest, spec.parent));
        }
    }
    let mut told = BTreeSet::new();
    for (cohort, manifest, parent) in parents {
        if cohorts.root(cohort).is_none() {
            return Err(manifest.refused("spec.parentName", &parent, "the cohort is below itself"));
        }
        if !declared.contains(&parent) && told.insert(parent.clone()) {
            report.named(
                "cohorts above others that no Cohort object declares: of weight 1, without quotas or limits, as in Kueue",
                &parent,
            );
        }
    }
    let stops = Stops::read(&manifests)?;
    let mut queues: Vec<ClusterQueue> = Vec::new();
    for manifest in of("ClusterQueue") {
        let (name, spec) = objects::spec::<QueueSpec>(manifest)?;
        let weight = spec.fair_sharing.weight(manifest)?;
        let amounts = amounts(manifest, &spec.groups, report)?;
        report.one("cluster queues");
        if spec.stop() != Stop::No {
            let goes_on = spec.stop() == Stop::Hold && stops.runs_in_cluster(&name);
            report.named(if goes_on { CLUSTERS_HELD } else { "cluster queues left out: stopped" }, &name);
            if !goes_on {
                if let Some(cohort) = cohorts.above(&spec).filter(|_| !amounts.is_empty()) {
                    report.named("queues that are stopped: their cohort lends their quotas", &name);
                    cohorts.lend(cohort, amounts);
                }
                continue;
            }
        }
        let cohort = cohorts.above(&spec);
        if amounts.is_empty() || (cohort.is_none() && amounts.iter().all(|amount| amount.nominal.is_zero())) {
            report.named("cluster queues left out: they have no quota of their own", &name);
            continue;
        }
        unkept::tell_of_queue(manifest, &name, spec.stop() != Stop::No, report)?;
        let limits = amounts.iter().filter(|amount| cohort.is_none() && amount.borrowing.is_some()).count();
        report.add(limits as u64, "borrowing limits left out: there is no cohort to borrow from");
        queues.push(ClusterQueue { pool: name.clone(), name, cohort, weight, amounts });
    }
    let (mut cohorts, idle) = cohorts.settled(&mut queues, report);
    for queue in &mut queues {
        if let Some(cohort) = queue.cohort {
            queue.pool = cohorts[cohort].pool.clone();
        }
    }
    let by_name: HashMap<String, usize> =
        queues.iter().enumerate().map(|(at, queue)| (queue.name.clone(), at)).collect();
    // Groups have unique names.
    for cohort in &mut cohorts {
        if by_name.contains_key(cohort.name.as_str()) {
            cohort.name = format!("cohort/{}", cohort.name);
        }
    }
    let (mut locals, mut stopped_below) = (Vec::new(), BTreeSet::new());
    for manifest in of("LocalQueue") {
        let (_, spec) = objects::spec::<LocalSpec>(manifest)?;
        let weight = spec.fair_sharing.weight(manifest)?;
        report.one("local queues");
        if spec.stop() != Stop::No {
            let goes_on = spec.stop() == Stop::Hold && stops.runs_in(&manifest.name);
            report
                .named(if goes_on { LOCALS_HELD } else { "local queues left out: stopped" }, &manifest.name);
            if !goes_on {
                stopped_below.extend(by_name.get(spec.cluster_queue.as_str()));
                continue;
            }
        }
        match by_name.get(spec.cluster_queue.as_str()) {
            Some(of) => locals.push(LocalQueue { name: manifest.name.clone(), of: *of, weight }),
            None => report
                .one("local queues left out: their cluster queue is not here, is stopped or has no quota"),
        }
    }
    let (mut flavors, mut rules) = (BTreeMap::new(), BTreeMap::new());
    for manifest in of("ResourceFlavor") {
        let (name, spec) = objects::spec::<FlavorSpec>(manifest)?;
        unkept::tell_of_flavor(&spec, &name, report);
        flavors.insert(name.clone(), spec.conditions());
        rules.insert(name, spec);
    }
    let admitting = Admitting { queues: &queues, locals: &locals, rules: &rules, stops: &stops };
    let (workloads, states_workloads) = workloads::read(of("Workload"), &admitting, report)?;
    Ok(Found { cohorts, queues, locals, stopped_below, flavors, workloads, states_workloads, idle })
}

/// Refuses objects of the same kind and name: which of them is in force the files do not say. A workload that is named again is the
/// same one, and left out.
fn each_once(manifests: Vec<Manifest>, report: &mut ImportReport) -> Result<Vec<Manifest>, InstanceError> {
    let mut met = BTreeSet::new();
    let mut found = Vec::with_capacity(manifests.len());
    for manifest in manifests {
        if met.insert((manifest.kind.clone(), manifest.name.clone())) {
            found.push(manifest);
        } else if manifest.kind == "Workload" {
            report.one("workloads left out: named a second time");
        } else {
            return Err(manifest.refused("metadata.name", &manifest.name, "is named twice"));
        }
    }
    Ok(found)
}

/// Cohorts as they are met, in objects or by name only.
#[derive(Default)]
struct Cohorts {
    list: Vec<Cohort>,
    /// Where each is in the list.
    by_name: HashMap<String, usize>,
}

impl Cohorts {
    fn named(&mut self, name: &str) -> usize {
        *self.by_name.entry_ref(name).or_insert_with(|| {
            let (name, pool) = (name.to_owned(), String::new());
            self.list.push(Cohort { name, parent: None, weight: 1.0, amounts: Vec::new(), pool });
            self.list.len() - 1
        })
    }

    /// The cohort that a queue is in.
    fn above(&mut self, queue: &QueueSpec) -> Option<usize> {
        Some(queue.cohort.as_str()).filter(|cohort| !cohort.is_empty()).map(|cohort| self.named(cohort))
    }

    /// Adds to what a cohort has the quotas of a member in which nothing runs, as far as that lends them: Kueue counts them, whether or
    /// not the member admits anything.
    fn lend(&mut self, cohort: usize, amounts: Vec<Amount>) {
        let of_cohort = &mut self.list[cohort].amounts;
        for amount in amounts {
            let lent = amount.lending.map_or(amount.nominal, |lending| lending.min(amount.nominal));
            let is_same = |own: &&mut Amount| own.flavor == amount.flavor && own.resource == amount.resource;
            match of_cohort.iter_mut().find(is_same) {
                Some(own) => own.nominal = own.nominal.plus(lent),
                None => {
                    of_cohort.push(Amount { nominal: lent, borrowing: None, lending: None, ..amount });
                }
            }
        }
    }

    /// The cohort above all; `None` where there is none, because the way up is a circle.
    fn root(&self, cohort: usize) -> Option<usize> {
        let mut root = cohort;
        for _ in 0..=self.list.len() {
            match self.list[root].parent {
                None => return Some(root),
                Some(parent) => root = parent,
            }
        }
        None
    }

    /// The cohorts that some queue is in, with their pools; what others have is lent by the cohort above. Of those the names, and of
    /// which flavors they have quotas.
    fn settled(
        mut self,
        queues: &mut [ClusterQueue],
        report: &mut ImportReport,
    ) -> (Vec<Cohort>, Vec<IdleCohort>) {
        let mut used = vec![false; self.list.len()];
        for queue in queues.iter() {
            let mut at = queue.cohort;
            while let Some(cohort) = at {
                used[cohort] = true;
                at = self.list[cohort].parent;
            }
        }
        // Those below others first.
        let above = |list: &[Cohort], cohort: usize| {
            std::iter::successors(list[cohort].parent, |parent| list[*parent].parent).count()
        };
        let mut named = Vec::new();
        let mut idle: Vec<usize> = (0..used.len()).filter(|cohort| !used[*cohort]).collect();
        idle.sort_by_key(|cohort| std::cmp::Reverse(above(&self.list, *cohort)));
        for cohort in idle {
            let amounts = std::mem::take(&mut self.list[cohort].amounts);
            let flavors = amounts.iter().map(|amount| amount.flavor.clone()).collect();
            named.push((self.list[cohort].name.clone(), flavors));
            let Some(parent) = self.list[cohort].parent.filter(|_| !amounts.is_empty()) else {
                report.one("cohorts left out, in which there is no queue with a quota");
                continue;
            };
            report.one("cohorts without queues, whose quotas are lent by the cohort above");
            self.lend(parent, amounts);
        }
        let place: Vec<usize> = used
            .iter()
            .scan(0, |next, used| {
                *next += usize::from(*used);
                Some(next.saturating_sub(1))
            })
            .collect();
        let moved = |cohort: &mut Option<usize>| *cohort = cohort.map(|cohort| place[cohort]);
        let mut is_used = used.iter();
        self.list.retain(|_| is_used.next().is_some_and(|used| *used));
        self.list.iter_mut().for_each(|cohort| moved(&mut cohort.parent));
        queues.iter_mut().for_each(|queue| moved(&mut queue.cohort));
        for cohort in 0..self.list.len() {
            let root = self.root(cohort).unwrap_or(cohort);
            // A queue without cohort may have the name of a cohort, and is a pool of its own.
            self.list[cohort].pool = format!("cohort/{}", self.list[root].name);
        }
        (self.list, named)
    }
}

/// The resources of which there is a quota, cpu and memory first; those too of which all quotas are 0 that some workload asks for.
fn resources(found: &Found) -> Vec<String> {
    let of_cohorts = found.cohorts.iter().flat_map(|cohort| &cohort.amounts);
    let amounts = || found.queues.iter().flat_map(|queue| &queue.amounts).chain(of_cohorts.clone());
    let mut named: BTreeSet<&str> =
        amounts().filter(|amount| !amount.nominal.is_zero()).map(|amount| amount.resource.as_str()).collect();
    if !named.is_empty() {
        let requests = found.workloads.iter().flat_map(|work| &work.requests);
        let asked: BTreeSet<&str> =
            requests.filter(|(_, amount)| !amount.is_zero()).map(|(name, _)| name.as_str()).collect();
        named.extend(amounts().map(|amount| amount.resource.as_str()).filter(|name| asked.contains(name)));
    }
    let usual = ["cpu", "memory"];
    let first = usual.iter().filter(|name| named.contains(*name));
    first.chain(named.iter().filter(|name| !usual.contains(name))).map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests;
