//! Kueue's ClusterQueues: each cohort is a pool of quotas by flavor, each queue a user of it.

use crate::manifests::{self, Manifest, nullable, of_kinds};
use crate::queues::rounded;
use crate::report::{ImportFailure, ImportReport, Stopped, counted};
use fairplan_instances::quantity::{Quantity, Written};
use fairplan_instances::{
    ClassId, Decimal, Instance, InstanceBuilder, InstanceError, NewUser, PlacementRule, ServerClass,
    Violation, wording,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// What [`kueue`] reads and how.
#[derive(Clone, Debug, Default)]
pub struct KueueOptions {
    /// Files of ClusterQueues and, if there are any, Cohorts and LocalQueues: JSON or YAML, gzipped or not.
    pub files: Vec<String>,
    /// Who becomes a user.
    pub users: QueueLevel,
    /// What weights the users.
    pub weights: QueueWeights,
}

/// Who becomes a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLevel {
    /// Each ClusterQueue.
    #[default]
    ClusterQueue,
    /// Each LocalQueue; its ClusterQueue's weight is divided by the LocalQueues' own weights.
    LocalQueue,
}

impl FromStr for QueueLevel {
    type Err = Violation;
    /// `cluster-queue` or `local-queue`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "cluster-queue" => Ok(Self::ClusterQueue),
            "local-queue" => Ok(Self::LocalQueue),
            _ => Err(Violation::new("user", text, "choose cluster-queue or local-queue")),
        }
    }
}

/// What weights the users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueWeights {
    /// The part that a queue's nominal quota is of its pool, in its dominant resource.
    #[default]
    Quota,
    /// What `fairSharing.weight` says, by which Kueue divides what is borrowed.
    FairSharing,
}

impl FromStr for QueueWeights {
    type Err = Violation;
    /// `quota` or `fair-sharing`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "quota" => Ok(Self::Quota),
            "fair-sharing" => Ok(Self::FairSharing),
            _ => Err(Violation::new("weights", text, "choose quota or fair-sharing")),
        }
    }
}

#[derive(Deserialize)]
struct Object<S> {
    metadata: manifests::Metadata,
    #[serde(default = "Option::default")]
    spec: Option<S>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct QueueSpec {
    /// `cohort` until v1beta1.
    #[serde(rename = "cohortName", alias = "cohort", deserialize_with = "nullable")]
    cohort: String,
    #[serde(rename = "resourceGroups", deserialize_with = "nullable")]
    groups: Vec<Group>,
    #[serde(rename = "fairSharing", deserialize_with = "nullable")]
    fair_sharing: FairSharing,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CohortSpec {
    /// `parent` until v1beta1.
    #[serde(rename = "parentName", alias = "parent", deserialize_with = "nullable")]
    parent: String,
    #[serde(rename = "resourceGroups", deserialize_with = "nullable")]
    groups: Vec<Group>,
    #[serde(rename = "fairSharing", deserialize_with = "nullable")]
    fair_sharing: FairSharing,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LocalSpec {
    #[serde(rename = "clusterQueue")]
    cluster_queue: String,
    #[serde(rename = "fairSharing", deserialize_with = "nullable")]
    fair_sharing: FairSharing,
}

#[derive(Deserialize, Default)]
struct FairSharing {
    #[serde(default)]
    weight: Option<Written>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Group {
    #[serde(deserialize_with = "nullable")]
    flavors: Vec<Flavor>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Flavor {
    name: String,
    #[serde(deserialize_with = "nullable")]
    resources: Vec<Quota>,
}

#[derive(Deserialize)]
struct Quota {
    name: String,
    #[serde(rename = "nominalQuota")]
    nominal: Written,
    #[serde(rename = "borrowingLimit", default)]
    borrowing: Option<Written>,
    #[serde(rename = "lendingLimit", default)]
    lending: Option<Written>,
}

/// A quota of one resource on one flavor.
struct Amount {
    group: usize,
    flavor: String,
    resource: String,
    nominal: Quantity,
    borrowing: Option<Quantity>,
}

/// A ClusterQueue with what it has.
struct Queue {
    name: String,
    /// Its root cohort, or itself where it has none.
    pool: String,
    alone: bool,
    weight: Quantity,
    amounts: Vec<Amount>,
}

/// The pools and their users as the files tell.
///
/// *Classes*: the nominal quotas of all queues of a cohort (with those of the cohorts above and below it) are one pool,
/// and each of its flavors one server class of one server that holds the sum. Flavors of which a task takes one each,
/// because they stand in different resource groups of one queue, are one class together. A queue without a cohort is
/// alone in its pool. *Users*: a task is a thousandth of the queue's nominal quota, so `tasks` counts in thousandths of
/// the quota: `1000 · (nominal + borrowingLimit) / nominal` at most where borrowing is limited, 1000 without a cohort.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, object, field and value are named), files without a
/// ClusterQueue that has a quota.
pub fn kueue(options: &KueueOptions) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report))
}

fn read(options: &KueueOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
    let kinds = ["ClusterQueue", "Cohort", "LocalQueue"];
    let found = of_kinds(manifests::read(&options.files)?, &kinds, report);
    let of = |kind: &'static str| found.iter().filter(move |manifest| manifest.kind == kind);
    let mut parents: BTreeMap<String, String> = BTreeMap::new();
    let mut cohorts: Vec<(String, Vec<Amount>)> = Vec::new();
    for manifest in of("Cohort") {
        let Object::<CohortSpec> { metadata, spec } = manifest.read()?;
        let spec = spec.unwrap_or_default();
        if spec.fair_sharing.weight.is_some() {
            report.one("cohorts have a weight, which an instance cannot state (queues share by their own)");
        }
        cohorts.push((metadata.name.clone(), amounts(manifest, &spec.groups, report)?));
        if !spec.parent.is_empty() {
            parents.insert(metadata.name, spec.parent);
        }
    }
    let root = |cohort: &str| {
        let mut root = cohort;
        // A cycle, which Kueue refuses to serve, ends somewhere too.
        for _ in 0..=parents.len() {
            root = parents.get(root).map_or(root, String::as_str);
        }
        root.to_owned()
    };
    let mut queues: Vec<Queue> = Vec::new();
    for manifest in of("ClusterQueue") {
        let Object::<QueueSpec> { metadata, spec } = manifest.read()?;
        let spec = spec.unwrap_or_default();
        let weight = weight(manifest, &spec.fair_sharing)?;
        let amounts = amounts(manifest, &spec.groups, report)?;
        report.one("cluster queues");
        if amounts.iter().all(|amount| amount.nominal.is_zero()) {
            report.one("cluster queues left out: they have no quota of their own");
            continue;
        }
        let alone = spec.cohort.is_empty();
        let pool = if alone { metadata.name.clone() } else { root(&spec.cohort) };
        queues.push(Queue { name: metadata.name, pool, alone, weight, amounts });
    }
    let mut locals: BTreeMap<String, Vec<(String, Quantity)>> = BTreeMap::new();
    for manifest in of("LocalQueue") {
        let Object::<LocalSpec> { spec, .. } = manifest.read()?;
        let spec = spec.unwrap_or_default();
        let weight = weight(manifest, &spec.fair_sharing)?;
        report.one("local queues");
        if queues.iter().any(|queue| queue.name == spec.cluster_queue) {
            locals.entry(spec.cluster_queue).or_default().push((manifest.name.clone(), weight));
        } else {
            report.one("local queues left out: their cluster queue is not here or has no quota");
        }
    }
    let failed = |violation| InstanceError::Invalid { file: options.files.join(", "), violation };
    if queues.is_empty() {
        let problem = "there is no ClusterQueue with a quota here; `kubectl get clusterqueues -o json` makes such a file";
        let failure = failed(Violation::new("", "", problem));
        let read_some = report.count("cluster queues") > 0;
        return Err(if read_some { Stopped::Building(failure) } else { Stopped::Reading(failure) });
    }
    let cohorts: Vec<(String, Vec<Amount>)> =
        cohorts.into_iter().map(|(name, amounts)| (root(&name), amounts)).collect();
    instance(options, &queues, &cohorts, &locals, report)
        .map_err(|violation| Stopped::Building(failed(violation)))
}

fn weight(manifest: &Manifest, sharing: &FairSharing) -> Result<Quantity, InstanceError> {
    sharing.weight.as_ref().map_or(Ok(Quantity::ONE), |Written(text)| {
        Quantity::parse(text).map_err(|problem| manifest.refused("spec.fairSharing.weight", text, problem))
    })
}

fn amounts(
    manifest: &Manifest,
    groups: &[Group],
    report: &mut ImportReport,
) -> Result<Vec<Amount>, InstanceError> {
    let mut amounts = Vec::new();
    for (group, Group { flavors }) in groups.iter().enumerate() {
        for Flavor { name, resources } in flavors {
            for quota in resources {
                let read = |field: &str, Written(text): &Written| {
                    let place =
                        format!("spec.resourceGroups[{group}], flavor {name}, {}.{field}", quota.name);
                    Quantity::parse(text).map_err(|problem| manifest.refused(&place, text, problem))
                };
                let nominal = read("nominalQuota", &quota.nominal)?;
                let borrowing =
                    quota.borrowing.as_ref().map(|written| read("borrowingLimit", written)).transpose()?;
                if let Some(written) = &quota.lending {
                    read("lendingLimit", written)?;
                    report.one("quotas have a lending limit, which an instance cannot state (all is lent)");
                }
                amounts.push(Amount {
                    group,
                    flavor: name.clone(),
                    resource: quota.name.clone(),
                    nominal,
                    borrowing,
                });
            }
        }
    }
    Ok(amounts)
}

/// The flavors of a pool that are one server class, with what they hold together.
struct Part {
    pool: String,
    flavors: BTreeSet<String>,
    total: BTreeMap<String, Quantity>,
}

fn instance(
    options: &KueueOptions,
    queues: &[Queue],
    cohorts: &[(String, Vec<Amount>)],
    locals: &BTreeMap<String, Vec<(String, Quantity)>>,
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let mut parts: Vec<Part> = Vec::new();
    for queue in queues {
        for amount in &queue.amounts {
            join(&mut parts, &queue.pool, &[&amount.flavor]);
        }
        let groups: BTreeSet<usize> = queue.amounts.iter().map(|amount| amount.group).collect();
        if groups.len() > 1 {
            let flavors: Vec<&str> = queue.amounts.iter().map(|amount| amount.flavor.as_str()).collect();
            join(&mut parts, &queue.pool, &flavors);
        }
    }
    let of_queues = queues.iter().map(|queue| (&queue.pool, &queue.amounts));
    for (pool, amounts) in of_queues.chain(cohorts.iter().map(|(pool, amounts)| (pool, amounts))) {
        for amount in amounts {
            match parts.iter_mut().find(|part| part.pool == *pool && part.flavors.contains(&amount.flavor)) {
                Some(part) => {
                    let total = part.total.entry(amount.resource.clone()).or_default();
                    *total = total.plus(amount.nominal);
                }
                None => report.one("quotas of cohorts left out: no queue with a quota uses their flavor"),
            }
        }
    }
    report.add(
        parts.iter().filter(|part| part.flavors.len() > 1).count() as u64,
        "classes of several flavors, of which a task takes one each",
    );

    let named: BTreeSet<&str> = queues
        .iter()
        .flat_map(|queue| &queue.amounts)
        .filter(|amount| !amount.nominal.is_zero())
        .map(|amount| amount.resource.as_str())
        .collect();
    let usual = ["cpu", "memory"];
    let first = usual.iter().filter(|name| named.contains(*name));
    let resources: Vec<String> = first
        .chain(named.iter().filter(|name| !usual.contains(name)))
        .map(|name| (*name).to_owned())
        .collect();
    let name = format!("Kueue, {}", wording::counted(queues.len() as u64, "cluster queue", "cluster queues"));
    let mut builder = InstanceBuilder::new(name, resources.clone())?;
    let several = parts.iter().any(|part| part.pool != parts[0].pool);
    for part in &parts {
        let flavors = part.flavors.iter().cloned().collect::<Vec<_>>().join("+");
        let id = if several { format!("{}/{flavors}", part.pool) } else { flavors };
        let exact = |resource: &String| {
            let total = part.total.get(resource).copied().unwrap_or_default();
            total
                .decimal()
                .ok_or_else(|| Violation::new(format!("{id}: {resource}"), "", "has too many digits"))
        };
        let capacity = resources.iter().map(exact).collect::<Result<_, _>>()?;
        builder.class(ServerClass::new(id, 1, capacity))?;
    }
    for queue in queues {
        user(
            options,
            &mut builder,
            &parts,
            queue,
            locals.get(&queue.name).map_or(&[], Vec::as_slice),
            report,
        )?;
    }
    builder.build()
}

/// Makes `flavors` of a pool one part.
fn join(parts: &mut Vec<Part>, pool: &str, flavors: &[&str]) {
    let wanted: BTreeSet<String> = flavors.iter().map(|flavor| (*flavor).to_owned()).collect();
    let touched = |part: &Part| part.pool == pool && !part.flavors.is_disjoint(&wanted);
    match parts.iter().position(touched) {
        None => parts.push(Part { pool: pool.to_owned(), flavors: wanted, total: BTreeMap::new() }),
        Some(first) => {
            let mut together = wanted.clone();
            together.extend(
                parts.iter().filter(|part| touched(part)).flat_map(|part| part.flavors.iter().cloned()),
            );
            let mut position = 0;
            parts.retain(|part| {
                position += 1;
                position - 1 == first || !touched(part)
            });
            parts[first].flavors = together;
        }
    }
}

fn user(
    options: &KueueOptions,
    builder: &mut InstanceBuilder,
    parts: &[Part],
    queue: &Queue,
    locals: &[(String, Quantity)],
    report: &mut ImportReport,
) -> Result<(), Violation> {
    let resources = builder.resources().to_vec();
    let mine = |part: &Part| {
        part.pool == queue.pool && queue.amounts.iter().any(|amount| part.flavors.contains(&amount.flavor))
    };
    let eligible: Vec<ClassId> = (0..parts.len()).filter(|&l| mine(&parts[l])).map(ClassId).collect();
    let mut demand = Vec::new();
    let mut most = if queue.alone { Some(1000) } else { None };
    let mut dominant = 0.0f64;
    for resource in &resources {
        let of = || queue.amounts.iter().filter(|amount| amount.resource == *resource);
        let nominal = of().fold(Quantity::default(), |sum, amount| sum.plus(amount.nominal));
        demand.push(nominal.thousandth().ok_or_else(|| {
            Violation::new(
                format!("{}: {resource}", queue.name),
                "",
                "a thousandth of the quota has too many digits",
            )
        })?);
        if nominal.is_zero() {
            continue;
        }
        let pool =
            parts.iter().filter(|part| part.pool == queue.pool).filter_map(|part| part.total.get(resource));
        dominant =
            dominant.max(nominal.part_of(pool.fold(Quantity::default(), |sum, total| sum.plus(*total))));
        if !queue.alone && of().all(|amount| amount.borrowing.is_some()) {
            let limit = of().filter_map(|amount| amount.borrowing).fold(nominal, Quantity::plus);
            most = Some(most.unwrap_or(u64::MAX).min(limit.thousandths_of(nominal)));
        }
    }
    let weight = match options.weights {
        QueueWeights::Quota => dominant,
        QueueWeights::FairSharing => queue.weight.part_of(Quantity::ONE),
    };
    if weight == 0.0 {
        report.one("queues left out: their weight is 0, so they get only what nobody else wants");
        return Ok(());
    }
    let rule =
        builder.rule(PlacementRule::new((eligible.len() < parts.len()).then_some(eligible), Vec::new()));
    let mut add = |id: &str, weight: f64| -> Result<(), Violation> {
        let weight: Decimal =
            rounded(weight).ok_or_else(|| Violation::new(id, weight, "is no usable weight"))?;
        builder.user(NewUser { weight, tasks: most, rule, ..NewUser::new(id, &demand) }).map(|_| ())
    };
    if options.users == QueueLevel::ClusterQueue {
        return add(&queue.name, weight);
    }
    let total = locals.iter().fold(Quantity::default(), |sum, (_, weight)| sum.plus(*weight));
    report.add(u64::from(locals.is_empty()), "cluster queues left out: no local queue names them");
    locals
        .iter()
        .filter(|(_, own)| !own.is_zero())
        .try_for_each(|(id, own)| add(id, weight * own.part_of(total)))
}

#[cfg(test)]
mod tests;
