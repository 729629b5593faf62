//! A Slurm cluster: nodes become server classes, jobs that run or wait become tasks of users.

pub(crate) mod accounts;
mod asked;
mod devices;
mod hostlist;
mod jobs;
mod nodes;
mod partitions;
mod printed;
mod shares;
#[cfg(test)]
mod tests;
mod topology;
mod values;

use super::census::{Census, PresentCluster, TaskGrouping};
use super::holders::Holder;
use super::manifests::documents;
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::servers::{Memory, Server};
use super::tasks::{Rules, Tasks};
use fairplan_instances::wording::choose;
use fairplan_instances::{Decimal, Gang, Instance, InstanceError, Violation, wording};
use hashbrown::{HashMap, HashSet};
use jobs::Job;
use nodes::Node;
use partitions::Partitions;
use shares::Share;
use std::collections::BTreeSet;
use std::str::FromStr;
use values::Amounts;

/// What [`slurm`] reads and how.
#[derive(Clone, Debug, Default)]
pub struct SlurmOptions {
    /// What `sinfo --json` or `scontrol show nodes --json` prints.
    pub nodes: Vec<String>,
    /// What `squeue --json` prints.
    pub jobs: Vec<String>,
    /// What `sacctmgr show assoc --json` or `sshare --json` prints.
    pub accounts: Vec<String>,
    /// Whose a job is.
    pub owner: JobOwner,
    /// Whether a user is an owner, or each different request of one.
    pub grouping: TaskGrouping,
    /// Count nodes that are down, drained or otherwise not available as well, and jobs that wait for partitions that start none.
    pub all_nodes: bool,
    /// Keep the rules that only whole tasks meet: GPUs and their shards as devices, jobs of several nodes as gangs.
    pub rules: bool,
    /// With `rules`: `topology.conf` or what `scontrol show topology` prints. The switch of a node is its domain, where jobs are to run
    /// below one.
    pub topology: Vec<String>,
}

/// Whose a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobOwner {
    /// Its user's.
    #[default]
    User,
    /// Its account's.
    Account,
    /// Its partition's.
    Partition,
}

impl FromStr for JobOwner {
    type Err = Violation;
    /// `user`, `account` or `partition`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "user" => Ok(Self::User),
            "account" => Ok(Self::Account),
            "partition" => Ok(Self::Partition),
            _ => Err(Violation::new("user", text, choose(text, &["user", "account", "partition"]))),
        }
    }
}

/// The cluster and its users as the files tell, from Slurm 21.08 on (data parsers up to v0.0.44).
///
/// *Nodes*: cpus, memory in MiB and generic resources of those that are up, without the cores and the memory that are kept
/// for the system (`effective_cpus`, `specialized_memory`); those alike in these, in the types of their gpus and in whose
/// jobs they take are a class. Where `sinfo` describes partitions, their states and `MaxCPUsPerNode` count. *Jobs*: those that run or wait; a job on `n` nodes is `n` tasks, of what it holds on each node
/// where a running job says that, else of an `n`th of its request, a waiting array as many jobs as it names. Generic resources
/// that Slurm does not account for are those of `gres_detail` and `tres_per_job`, `_node`, `_task` and `_socket`. A job may run on the nodes of its partitions that have
/// the types it asks for (`gres/gpu:a100`); of a partition or type that no node names nothing is known, so it restricts
/// nothing. A job that takes whole nodes counts with all cpus of one where its nodes have as many each. Features, named nodes, licenses,
/// reservations, holds, dependencies and parts of heterogeneous jobs are counted and not kept.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, node or job, field and value are named), files without a
/// node or a job.
pub fn slurm(options: &SlurmOptions) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report, Census::instance))
}

/// The same cluster with the names of its nodes, and where its jobs run: one task of a job on each of its nodes.
///
/// # Errors
/// Those of [`slurm`].
pub fn slurm_present(options: &SlurmOptions) -> Result<(PresentCluster, ImportReport), ImportFailure> {
    counted(|report| read(options, report, Census::present))
}

fn read<T>(
    options: &SlurmOptions,
    report: &mut ImportReport,
    made: impl FnOnce(Census, TaskGrouping, &mut ImportReport) -> Result<T, Violation>,
) -> Result<T, Stopped> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut position: HashMap<String, usize> = HashMap::new();
    let mut partitions = Partitions::new(options.all_nodes);
    for path in &options.nodes {
        for document in documents(path, "scontrol show nodes --json")? {
            for node in nodes::read(path, &document, &mut partitions)? {
                match position.get(&node.name) {
                    Some(&known) if node.partitions.is_subset(&nodes[known].partitions) => {
                        report.one("nodes left out: named a second time");
                    }
                    // A node is listed once for each of its partitions.
                    Some(&known) => nodes[known].learn(node),
                    None => {
                        position.insert(node.name.clone(), nodes.len());
                        nodes.push(node);
                    }
                }
            }
        }
    }
    let mut left_out: HashSet<String> = HashSet::new();
    nodes.retain(|node| {
        let counts = options.all_nodes || node.closed.is_none();
        if !counts {
            left_out.insert(node.name.clone());
            report.one(format!("nodes left out: {}", node.closed.as_deref().unwrap_or_default()));
        }
        counts
    });
    report.add(nodes.len() as u64, "nodes");
    partitions.tell(report);
    partitions.take_off(&mut nodes, report);
    let keeping = nodes.iter().filter(|node| node.keeps_some).count();
    report.add(keeping as u64, "nodes have cores or memory for the system only, which are taken off");
    let together = nodes.iter().filter(|node| node.may_be_larger).count();
    report.add(
        together as u64,
        "nodes listed together though they differ, taken as the smallest of them (scontrol show nodes --json tells them apart)",
    );
    for node in nodes.iter().filter(|node| node.has_several_types_of_one()) {
        report.named(
            "nodes with several types of a generic resource, counted together: a job that asks for one may be given others",
            &node.name,
        );
    }
    nodes.iter().flat_map(|node| &node.told).for_each(|told| report.one(told.clone()));
    let mut jobs: Vec<Job> = Vec::new();
    let mut met = HashSet::new();
    for path in &options.jobs {
        for document in documents(path, "squeue --json")? {
            jobs.extend(jobs::read(path, &document, &partitions, &mut met, report)?);
        }
    }
    let there = |job: &&Job| job.runs_on().any(|node| left_out.contains(node));
    let stranded = jobs.iter().filter(there).count() as u64;
    report.add(stranded, "jobs run on nodes left out: they count, and may run on the others");
    let listed: HashSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let is_unknown = |node: &String| !listed.contains(node.as_str()) && !left_out.contains(node);
    let elsewhere = jobs.iter().filter(|job| job.runs_on().any(is_unknown)).count();
    report.add(elsewhere as u64, "jobs run on nodes that are not listed: their tasks there count as waiting");
    if !options.accounts.is_empty()
        && (options.grouping != TaskGrouping::Tree || options.owner == JobOwner::Partition)
    {
        let problem = "accounts are groups of users; choose --group tree and --user user or account";
        let violation = Violation::new("accounts", "", problem);
        return Err(Stopped::Reading(InstanceError::Invalid {
            file: options.accounts.join(", "),
            violation,
        }));
    }
    if !options.topology.is_empty() && !options.rules {
        let problem = "says which nodes are near each other, which is a rule of whole tasks; add --rules";
        let violation = Violation::new("topology", "", problem);
        return Err(Stopped::Reading(InstanceError::Invalid {
            file: options.topology.join(", "),
            violation,
        }));
    }
    let switch_of = topology::switches(&options.topology, report)?;
    let clusters: BTreeSet<&str> =
        met.iter().map(jobs::Identity::cluster).filter(|name| !name.is_empty()).collect();
    let associations = accounts::read(&options.accounts, &clusters, report)?;
    let mut found = census(options, &nodes, &jobs, report);
    // Servers are in domains where that matters to somebody: then all are.
    let is_near = |tasks: &Tasks| tasks.rules.gang.is_some_and(|gang| gang.in_one_domain);
    if found.tasks.iter().any(is_near) {
        for server in &mut found.servers {
            let switch = switch_of.get(&server.name).cloned();
            server.domain = Some(switch.unwrap_or_else(|| "no switch".into()));
        }
    }
    let failed = |violation| {
        let files = options.nodes.iter().chain(&options.jobs).chain(&options.accounts);
        Stopped::Building(InstanceError::Invalid { file: super::files::together(files), violation })
    };
    // Who is in which account the files of accounts alone say.
    let of_accounts = |violation| {
        let file = super::files::together(&options.accounts);
        Stopped::Building(InstanceError::Invalid { file, violation })
    };
    found.holders =
        accounts::holders(&associations, &found.resources, (&nodes, &jobs), report).map_err(of_accounts)?;
    if !options.accounts.is_empty() {
        place_strangers(options, &jobs, &mut found.holders, report);
    }
    made(found, options.grouping, report).map_err(failed)
}

/// Groups for those who have jobs but no association: their account, or a group of their own in it.
fn place_strangers(
    options: &SlurmOptions,
    jobs: &[Job],
    holders: &mut Vec<Holder>,
    report: &mut ImportReport,
) {
    let mut known: HashSet<String> = holders.iter().map(|holder| holder.id.clone()).collect();
    for job in jobs {
        let id = owner(options, job);
        if !known.contains(&id) {
            report.one("owners of jobs that no association names, taken as 1 share");
            let parent =
                Some(job.account.clone()).filter(|account| *account != id && known.contains(account));
            let limit = holders.first().map_or(Vec::new(), |holder| vec![None; holder.limit.len()]);
            holders.push(Holder { id: id.clone(), parent, weight: Decimal::ONE, limit, limits: Vec::new() });
            known.insert(id);
        }
    }
}

/// Whose a job is.
fn owner(options: &SlurmOptions, job: &Job) -> String {
    match options.owner {
        JobOwner::User if !options.accounts.is_empty() => accounts::group_of(&job.account, &job.user),
        JobOwner::User => job.user.clone(),
        JobOwner::Account => job.account.clone(),
        JobOwner::Partition => job.partition.clone(),
    }
}

fn census(options: &SlurmOptions, nodes: &[Node], jobs: &[Job], report: &mut ImportReport) -> Census {
    let mut resources: Vec<String> = vec!["cpu".into(), "memory".into()];
    let others: BTreeSet<&String> =
        jobs.iter().flat_map(|job| &job.shares).flat_map(|share| share.demand.keys()).collect();
    resources.extend(others.into_iter().filter(|name| !["cpu", "memory"].contains(&name.as_str())).cloned());
    let unasked = |node: &Node| -> Vec<String> {
        let names =
            node.capacity.iter().filter(|(name, amount)| !amount.is_zero() && !resources.contains(name));
        names.map(|(name, _)| name.clone()).collect()
    };
    for name in nodes.iter().flat_map(unasked) {
        report.one(format!("nodes have {name}, which no job asks for: it is left out"));
    }
    let amounts = |amounts: &Amounts| -> Vec<Decimal> {
        resources.iter().map(|name| amounts.get(name).copied().unwrap_or(Decimal::ZERO)).collect()
    };

    let partitions: BTreeSet<&str> =
        nodes.iter().flat_map(|node| &node.partitions).map(String::as_str).collect();
    let types: BTreeSet<&str> = nodes.iter().flat_map(|node| &node.types).map(String::as_str).collect();
    let by_name: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(position, node)| (node.name.as_str(), position)).collect();
    let mut conditions: Vec<Wanted> = Vec::new();
    let mut position: HashMap<Wanted, usize> = HashMap::new();
    // Of each condition the cpus of a whole node, once somebody takes one.
    let mut whole: HashMap<usize, Option<Decimal>> = HashMap::new();
    let mut tasks = Vec::new();
    for job in jobs {
        if !job.partitions.iter().any(|partition| partitions.contains(partition.as_str())) {
            let of = job.partitions.iter().cloned().collect::<Vec<_>>().join(",");
            report.one(match of.as_str() {
                "" => "jobs state no partition: they may run everywhere".to_owned(),
                of => format!("jobs of partition {of}, which no node names: they may run everywhere"),
            });
        }
        for unknown in job.types.iter().filter(|name| !types.contains(name.as_str())) {
            report.one(format!("jobs ask for {unknown}, which no node names: any type will do"));
        }
        let known = |names: &BTreeSet<&str>, wanted: &BTreeSet<String>| -> BTreeSet<String> {
            wanted.iter().filter(|name| names.contains(name.as_str())).cloned().collect()
        };
        let wanted =
            Wanted { partitions: known(&partitions, &job.partitions), types: known(&types, &job.types) };
        let condition = *position.entry(wanted).or_insert_with_key(|wanted| {
            conditions.push(wanted.clone());
            conditions.len() - 1
        });
        let of_node = || *whole.entry(condition).or_insert_with(|| whole_node(&conditions[condition], nodes));
        let cpus = job.is_exclusive.then(of_node).flatten();
        if job.is_exclusive {
            report.one(if cpus.is_some() { WHOLE } else { NOT_WHOLE });
        }
        let rules = rules(options, job, report);
        if job.switches > 0 && !rules.gang.is_some_and(|gang| gang.in_one_domain) {
            report.one("jobs that are to run below so many switches (--switches), which is not kept");
        }
        tasks.extend(job.shares.iter().map(|share| Tasks {
            owner: owner(options, job),
            demand: with_cpus(amounts(&share.demand), cpus, job.memory_is_by_cpu),
            count: share.count,
            condition,
            on: running(share, &by_name),
            rules: rules.clone(),
        }));
    }
    let servers = nodes.iter().map(|node| Server {
        name: node.name.clone(),
        kind: gpu_types(node),
        capacity: amounts(&node.capacity),
        meets: conditions.iter().map(|wanted| wanted.met_by(node)).collect(),
        ..Server::default()
    });
    let name = format!(
        "Slurm, {}, {}",
        wording::counted(nodes.len() as u64, "node", "nodes"),
        wording::counted(jobs.len() as u64, "job", "jobs")
    );
    Census {
        name,
        resources: resources.clone(),
        memory: Memory::Mebibytes,
        conditions: conditions.iter().map(Wanted::name).collect(),
        servers: servers.collect(),
        tasks,
        devices: devices::of(options, nodes, &resources, report),
        holders: Vec::new(),
    }
}

/// What is told of jobs that take their nodes whole, with all cpus of one and without.
const WHOLE: &str = "jobs with whole nodes of their own (--exclusive): each counts with all cpus of one, and their memory where it is asked for by the cpu";
const NOT_WHOLE: &str = "jobs with whole nodes of their own (--exclusive), which is not kept: these nodes differ in cpus, so others may run there too";

/// The cpus of a node, where all that a job may run on have as many: no other job has room beside one that has all of them.
fn whole_node(wanted: &Wanted, nodes: &[Node]) -> Option<Decimal> {
    let cpus = |node: &Node| node.capacity.get("cpu").copied().unwrap_or(Decimal::ZERO);
    let mut own = nodes.iter().filter(|node| wanted.met_by(node)).map(cpus);
    let first = own.next().filter(|cpus| !cpus.is_zero())?;
    own.all(|other| other == first).then_some(first)
}

/// A demand with so many cpus if it has fewer, and with the memory of each of them where that is asked for by the cpu. Cpus stand first, and then
/// memory.
fn with_cpus(mut demand: Vec<Decimal>, cpus: Option<Decimal>, memory_is_by_cpu: bool) -> Vec<Decimal> {
    if let ([own, others @ ..], Some(cpus)) = (demand.as_mut_slice(), cpus)
        && own.to_f64() < cpus.to_f64()
    {
        let of_all = |memory: Decimal| {
            Decimal::from_f64((memory.to_f64() / own.to_f64() * cpus.to_f64()).round()).ok()
        };
        if let Some(memory) = others.first_mut().filter(|_| memory_is_by_cpu) {
            *memory = of_all(*memory).unwrap_or(*memory);
        }
        *own = cpus;
    }
    demand
}

/// A job of several nodes is a gang: Slurm starts it on all of them at once, below one switch if it asks for that.
fn rules(options: &SlurmOptions, job: &Job, report: &mut ImportReport) -> Rules {
    if !options.rules || job.nodes < 2 {
        return Rules::default();
    }
    if job.shares.len() > 1 {
        report.one("jobs whose nodes give them different amounts: here each share of them runs for itself");
        return Rules::default();
    }
    report.one("jobs of several nodes, which start together and may have two shares on one node here");
    let in_one_domain = job.switches == 1 && !options.topology.is_empty();
    Rules { gang: Some(Gang { tasks: job.nodes, in_one_domain }), ..Rules::default() }
}

/// Where tasks of a job run: one on each node of their list, as far as the node counts.
fn running(share: &Share, nodes: &HashMap<&str, usize>) -> Vec<(usize, u64)> {
    let most = usize::try_from(share.count).unwrap_or(usize::MAX);
    share.on.iter().take(most).filter_map(|name| nodes.get(name.as_str())).map(|node| (*node, 1)).collect()
}

/// What a job wants of a node, as far as nodes name it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Wanted {
    /// Any of these; none for any partition.
    partitions: BTreeSet<String>,
    /// All of these.
    types: BTreeSet<String>,
}

impl Wanted {
    fn met_by(&self, node: &Node) -> bool {
        (self.partitions.is_empty() || !self.partitions.is_disjoint(&node.partitions))
            && self.types.is_subset(&node.types)
    }

    /// `gpu,batch+gpu:a100`.
    fn name(&self) -> String {
        let partitions = self.partitions.iter().cloned().collect::<Vec<_>>().join(",");
        let parts = std::iter::once(partitions).filter(|name| !name.is_empty());
        parts.chain(self.types.iter().cloned()).collect::<Vec<_>>().join("+")
    }
}

/// The types of a node's gpus: `h100+h200`.
fn gpu_types(node: &Node) -> String {
    let types = node.types.iter().filter_map(|name| name.strip_prefix("gpu:"));
    types.collect::<Vec<_>>().join("+")
}
