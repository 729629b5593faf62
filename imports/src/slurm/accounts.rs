//! Accounts and associations: the tree that Slurm divides shares in, from `sacctmgr show assoc --json` or `sshare --json`.
//!
//! What they carry: accounts with their parents, and users in them, as groups; shares as weights; `GrpTRES` as limit, of one type of a generic resource
//! (`gres/gpu:a100`) on the nodes that have that type and no other, and of a user in one partition on the nodes of that partition.

use super::jobs::Job;
use super::nodes::Node;
use super::printed::array;
use super::values::{Amounts, Number, Record, Words, number};
use crate::holders::{Holder, LimitOver};
use crate::manifests::documents;
use crate::report::ImportReport;
use fairplan_instances::{Decimal, InstanceError, Violation};
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What stands for the shares of the account above: `Fairshare=parent`.
pub(crate) const PARENT: f64 = 2_147_483_647.0;

/// An account, or a user in one.
pub(super) struct Association {
    account: String,
    /// Nothing for an account itself.
    user: String,
    parent: String,
    /// `None`: those of the account above.
    shares: Option<Decimal>,
    /// The most it may use at once.
    limit: Amounts,
    /// The same of a user's jobs in single partitions, which Slurm states in associations of their own.
    in_partitions: Vec<(String, Amounts)>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    account: String,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    parent_account: Option<String>,
    #[serde(default)]
    partition: Option<String>,
    #[serde(default)]
    cluster: Option<String>,
    #[serde(default)]
    shares_raw: Option<Number>,
    #[serde(default)]
    max: Max,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Max {
    tres: MaxTres,
    /// `MaxJobs`, `MaxSubmitJobs`, `GrpJobs`, `MaxWall` and the like, by what they are of.
    jobs: Value,
    /// `GrpWall`.
    per: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MaxTres {
    total: Vec<Tres>,
    /// `MaxTRESPerJob` and `MaxTRESPerNode`.
    per: Value,
    /// `GrpTRESMins` and the like.
    minutes: Value,
    group: Value,
}

#[derive(Deserialize)]
struct Tres {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    count: Option<Number>,
}

#[derive(Deserialize)]
struct Shared {
    name: String,
    #[serde(default)]
    cluster: Option<String>,
    #[serde(default)]
    parent: String,
    #[serde(default)]
    partition: Option<String>,
    #[serde(default)]
    shares: Option<Number>,
    #[serde(rename = "type", default)]
    kind: Words,
}

/// Where an association holds: its partition, empty for all, and its cluster, empty where the file names none.
struct Scope {
    partition: String,
    cluster: String,
}

/// The associations of all files that are of the cluster whose jobs were read; `clusters` are those that the jobs name.
///
/// # Errors
/// A file that cannot be read, associations of several clusters where the jobs do not name one of them, and of another one.
pub(super) fn read(
    files: &[String],
    clusters: &BTreeSet<&str>,
    report: &mut ImportReport,
) -> Result<Vec<Association>, InstanceError> {
    let all = of_all_clusters(files, report)?;
    let stated: BTreeSet<&str> =
        all.iter().map(|(scope, _)| scope.cluster.as_str()).filter(|cluster| !cluster.is_empty()).collect();
    let meant: Vec<&str> = match clusters.is_empty() {
        true => stated.iter().copied().collect(),
        false => stated.intersection(clusters).copied().collect(),
    };
    if meant.len() > 1 || meant.is_empty() && !stated.is_empty() {
        let listed = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
        let of_jobs = match clusters.is_empty() {
            true => "the jobs name none".to_owned(),
            false => format!("the jobs are of {}", listed(clusters)),
        };
        let problem =
            format!("{of_jobs}; give those of one, as `sacctmgr show assoc cluster=NAME --json` prints them");
        let violation = Violation::new("clusters of the associations", listed(&stated), problem);
        return Err(InstanceError::Invalid { file: files.join(", "), violation });
    }
    let meant = meant.first().map(|cluster| (*cluster).to_owned());
    let mut found = Found::default();
    for (Scope { partition, cluster }, association) in all {
        if meant.as_ref().is_some_and(|meant| !cluster.is_empty() && cluster != *meant) {
            report.one("associations left out: they are of another cluster than the jobs");
        } else if partition.is_empty() {
            found.add(association, report);
        } else if association.user.is_empty() {
            report.one("associations of accounts left out: they are of one partition only");
        } else {
            found.add_in_partition(partition, association, report);
        }
    }
    let found = found.list;
    report.add(found.iter().filter(|one| one.user.is_empty()).count() as u64, "accounts");
    report.add(found.iter().filter(|one| !one.user.is_empty()).count() as u64, "users in accounts");
    Ok(found)
}

/// The associations of one cluster, an account or a user in one each.
#[derive(Default)]
struct Found {
    list: Vec<Association>,
    position: HashMap<(String, String), usize>,
    /// Those of which only associations of single partitions are known.
    only_in_partitions: HashSet<usize>,
}

impl Found {
    fn position(&self, association: &Association) -> Option<usize> {
        self.position.get(&(association.account.clone(), association.user.clone())).copied()
    }

    fn push(&mut self, association: Association) -> usize {
        let (at, name) = (self.list.len(), (association.account.clone(), association.user.clone()));
        self.position.insert(name, at);
        self.list.push(association);
        at
    }

    /// One that holds in all partitions.
    fn add(&mut self, association: Association, report: &mut ImportReport) {
        match self.position(&association) {
            None => {
                self.push(association);
            }
            Some(at) if self.only_in_partitions.remove(&at) => {
                let in_partitions = std::mem::take(&mut self.list[at].in_partitions);
                self.list[at] = Association { in_partitions, ..association };
            }
            Some(_) => report.one("associations left out: named a second time"),
        }
    }

    /// One of a user in a partition: its limit holds there, and its shares count where the user has no others.
    fn add_in_partition(&mut self, partition: String, association: Association, report: &mut ImportReport) {
        let known = self.position(&association);
        let at = known.unwrap_or_else(|| {
            let whole = Association {
                account: association.account.clone(),
                user: association.user.clone(),
                limit: Amounts::new(),
                ..association
            };
            let at = self.push(whole);
            self.only_in_partitions.insert(at);
            at
        });
        let user = &mut self.list[at];
        if user.in_partitions.iter().any(|(other, _)| *other == partition) {
            report.one("associations left out: named a second time");
            return;
        }
        report.one("associations of users in one partition, whose limits hold on its nodes");
        if known.is_some() && association.shares != user.shares {
            report.one("shares of users in one partition left out: a user has others elsewhere, which count");
        }
        user.in_partitions.push((partition, association.limit));
    }
}

/// The associations of all files, each with where it holds.
fn of_all_clusters(
    files: &[String],
    report: &mut ImportReport,
) -> Result<Vec<(Scope, Association)>, InstanceError> {
    let mut found = Vec::new();
    for file in files {
        for document in documents(file, "sacctmgr show assoc --json")? {
            // `sshare` wraps its list once more.
            let document = document.get("shares").filter(|inner| inner.is_object()).unwrap_or(&document);
            let command = "sacctmgr show assoc --json` or `sshare --json";
            let (form, elements) = array(file, document, &["associations", "shares"], command)?;
            for (position, element) in elements.iter().enumerate() {
                let place = Record { file, object: format!("association {}", position + 1) };
                found.push(match form {
                    0 => listed(&place, element, report)?,
                    _ => shared(&place, element)?,
                });
            }
        }
    }
    Ok(found)
}

fn listed(
    place: &Record,
    element: &Value,
    report: &mut ImportReport,
) -> Result<(Scope, Association), InstanceError> {
    let Listed { account, user, parent_account, partition, cluster, shares_raw, max } =
        place.read(element)?;
    if account.is_empty() {
        return Err(place.refused("account", "", "is missing"));
    }
    for (what, stated) in [
        ("limits of single jobs or nodes left out (MaxTRES, MaxTRESPerNode)", &max.tres.per),
        (
            "limits of resources over time left out (GrpTRESMins, MaxTRESMins, GrpTRESRunMins)",
            &max.tres.minutes,
        ),
        (
            "limits of resources over time left out (GrpTRESMins, MaxTRESMins, GrpTRESRunMins)",
            &max.tres.group,
        ),
        ("limits of jobs left out (MaxJobs, GrpJobs, MaxSubmitJobs, MaxWall)", &max.jobs),
        ("limits of the time that all jobs run together left out (GrpWall)", &max.per),
    ] {
        if has_number(stated) {
            let user = user.as_deref().unwrap_or_default();
            report.named(what, format!("{account}/{user}").trim_end_matches('/'));
        }
    }
    let mut limit = Amounts::new();
    for Tres { kind, name, count } in max.tres.total {
        let name = match (kind.as_str(), name.unwrap_or_default()) {
            ("cpu", _) => "cpu".to_owned(),
            ("mem", _) => "memory".to_owned(),
            ("gres", name) if !name.is_empty() => name,
            (kind, name) => {
                let name = if name.is_empty() { kind.to_owned() } else { format!("{kind}/{name}") };
                report.one(format!("limits of {name} left out, which no task is measured in"));
                continue;
            }
        };
        let count = place.whole("max.tres.total.count", &count)?;
        let amount = Decimal::new(count, 0)
            .map_err(|error| place.refused("max.tres.total.count", &count.to_string(), &error.to_string()))?;
        limit.insert(name, amount);
    }
    let shares = shares(place, "shares_raw", &shares_raw)?;
    let user = user.unwrap_or_default();
    let parent = parent_account.unwrap_or_default();
    Ok((
        scope(partition, cluster),
        Association { account, user, parent, shares, limit, in_partitions: Vec::new() },
    ))
}

/// Whether any number is set in what `sacctmgr` states of a limit: `{"set": false, …}` and lists of nothing say none.
fn has_number(stated: &Value) -> bool {
    match stated {
        Value::Object(fields) => match fields.get("set") {
            Some(is_set) => is_set.as_bool() == Some(true),
            None => fields.iter().any(|(name, value)| name != "id" && has_number(value)),
        },
        Value::Array(list) => list.iter().any(has_number),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => false,
    }
}

fn scope(partition: Option<String>, cluster: Option<String>) -> Scope {
    Scope { partition: partition.unwrap_or_default(), cluster: cluster.unwrap_or_default() }
}

fn shared(place: &Record, element: &Value) -> Result<(Scope, Association), InstanceError> {
    let Shared { name, cluster, parent, partition, shares: stated, kind } = place.read(element)?;
    let shares = shares(place, "shares", &stated)?;
    let is_user = kind.states().contains("user");
    let (account, user, parent) =
        if is_user { (parent, name, String::new()) } else { (name, String::new(), parent) };
    let (limit, in_partitions) = (Amounts::new(), Vec::new());
    let association = Association { account, user, parent, shares, limit, in_partitions };
    Ok((scope(partition, cluster), association))
}

/// One where nothing is stated, which is what Slurm takes.
fn shares(place: &Record, field: &str, stated: &Option<Number>) -> Result<Option<Decimal>, InstanceError> {
    let infinite = matches!(stated, Some(Number::Wrapped { infinite: true, .. } | Number::Named(_)));
    match number(stated) {
        _ if infinite => Ok(None),
        Some(shares) if shares >= PARENT => Ok(None),
        None => Ok(Some(Decimal::ONE)),
        Some(shares) => Decimal::from_f64(shares)
            .map(Some)
            .map_err(|_| place.refused(field, &shares.to_string(), "must be a number >= 0")),
    }
}

/// The associations as groups: an account has its name, a user in it `ACCOUNT/USER`.
///
/// The account `root`, in which all are, is a group only where it has a limit. Shares of 0 are taken as a thousandth: such users
/// and accounts get what nobody else wants.
///
/// # Errors
/// Parents that are not there, and accounts inside themselves.
pub(super) fn holders(
    associations: &[Association],
    resources: &[String],
    (nodes, jobs): (&[Node], &[Job]),
    report: &mut ImportReport,
) -> Result<Vec<Holder>, Violation> {
    let accounts: HashMap<&str, &Association> = associations
        .iter()
        .filter(|association| association.user.is_empty())
        .map(|association| (association.account.as_str(), association))
        .collect();
    let is_root = |name: &str| name == "root" && accounts.get(name).is_none_or(|root| root.limit.is_empty());
    let mut jobs_of: HashMap<(&str, &str), Vec<&Job>> = HashMap::new();
    for job in jobs {
        jobs_of.entry((job.account.as_str(), job.user.as_str())).or_default().push(job);
    }
    let mut holders = Vec::with_capacity(associations.len());
    for association in associations {
        let Association { account, user, parent, shares, limit, in_partitions } = association;
        let (id, above) = match user.is_empty() {
            true => (account.clone(), parent),
            false => (group_of(account, user), account),
        };
        if user.is_empty() && is_root(account) {
            continue;
        }
        if !above.is_empty() && above != "root" && !accounts.contains_key(above.as_str()) {
            let place = format!("association {id}: {}", if user.is_empty() { "parent" } else { "account" });
            let problem = "there is no such account among the associations; what a user is shown is a part of them: \
                           `sshare --all --json`, or `sacctmgr show assoc --json` by who may see all, has the others";
            return Err(Violation::new(place, above, problem));
        }
        let mut at = account.as_str();
        for _ in 0..=accounts.len() {
            at = accounts.get(at).map_or("", |account| account.parent.as_str());
        }
        if !at.is_empty() {
            let place = format!("association {id}: parent");
            return Err(Violation::new(place, above, "the account is below itself"));
        }
        let weight = match shares {
            None => {
                report.one("associations with Fairshare=parent, taken as 1 share");
                Decimal::ONE
            }
            Some(shares) if shares.is_zero() => {
                report.one("associations of 0 shares, taken as a thousandth of one");
                Decimal::new(1, -3).unwrap_or(Decimal::ONE)
            }
            Some(shares) => *shares,
        };
        // What is of a whole resource is a limit over all.
        let is_whole = |name: &String| resources.contains(name);
        let of_types = limit.iter().filter(|(name, _)| !is_whole(name));
        let of_types: Amounts = of_types.map(|(name, most)| (name.clone(), *most)).collect();
        let mut limits = over((0..nodes.len()).collect(), &of_types, resources, nodes, report);
        for (partition, limit) in in_partitions {
            let own = jobs_of.get(&(account.as_str(), user.as_str())).map_or(&[][..], Vec::as_slice);
            match nodes_of(partition, nodes, own) {
                Some(servers) => limits.extend(over(servers, limit, resources, nodes, report)),
                None => report.add(limit.len() as u64, ELSEWHERE),
            }
        }
        let parent = Some(above.clone()).filter(|above| !above.is_empty() && !is_root(above));
        // Whoever is directly below a root that no file lists is at the top.
        let parent = parent.filter(|parent| accounts.contains_key(parent.as_str()));
        let limit = resources.iter().map(|name| limit.get(name).copied()).collect();
        holders.push(Holder { id, parent, weight, limit, limits });
    }
    Ok(holders)
}

/// What is told of limits that would hold more than Slurm holds.
pub(super) const ELSEWHERE: &str = "limits of users in one partition left out: no node is in it, or their jobs of other partitions may run on its nodes too";

/// The positions of the nodes of a partition, where no job of another partition may run of those given; of a job that waits for several
/// partitions nobody knows in which it will run.
fn nodes_of(partition: &str, nodes: &[Node], jobs: &[&Job]) -> Option<HashSet<usize>> {
    let is_inside = |node: &Node| node.partitions.contains(partition);
    let inside: HashSet<usize> = (0..nodes.len()).filter(|at| is_inside(&nodes[*at])).collect();
    let others: BTreeSet<&String> = inside.iter().flat_map(|at| &nodes[*at].partitions).collect();
    let is_known = |other: &String| nodes.iter().any(|node| node.partitions.contains(other));
    // Of a partition that no node names nothing is known: such a job may run everywhere.
    let may_run_inside = |job: &&Job| {
        job.partitions.iter().any(|other| other != partition && others.contains(other))
            || !job.partitions.iter().any(is_known)
    };
    (!inside.is_empty() && !jobs.iter().any(may_run_inside)).then_some(inside)
}

/// Limits over some nodes; of one type of a generic resource over those of them that have it.
fn over(
    servers: HashSet<usize>,
    limit: &Amounts,
    resources: &[String],
    nodes: &[Node],
    report: &mut ImportReport,
) -> Vec<LimitOver> {
    let servers = Rc::new(servers);
    let named = |name: &str| resources.iter().position(|resource| resource == name);
    let mut limits = Vec::new();
    for (name, most) in limit {
        let of_type = name.split_once(':').and_then(|(kind, _)| named(kind));
        match (named(name), of_type.map(|resource| (resource, with_type(name, nodes)))) {
            (Some(resource), _) => {
                limits.push(LimitOver { servers: Rc::clone(&servers), resource, most: *most })
            }
            (None, None) => report.one("limits left out: no job asks for the resource"),
            (None, Some((_, None))) => {
                report.one(format!("limits of {name} left out: nodes have it beside another type"));
            }
            (None, Some((resource, Some(with)))) => {
                let servers: HashSet<usize> = with.intersection(&servers).copied().collect();
                match servers.is_empty() {
                    true => report.one(format!("limits of {name} left out: no node names the type")),
                    false => limits.push(LimitOver { servers: Rc::new(servers), resource, most: *most }),
                }
            }
        }
    }
    limits
}

/// The positions of the nodes that have this type of a generic resource, unless some have another type of it too.
fn with_type(name: &str, nodes: &[Node]) -> Option<HashSet<usize>> {
    let with = || nodes.iter().enumerate().filter(|(_, node)| node.types.contains(name));
    let several = with().any(|(_, node)| node.has_several_types_of_one());
    (!several).then(|| with().map(|(position, _)| position).collect())
}

/// What the group of a user in an account is called.
pub(super) fn group_of(account: &str, user: &str) -> String {
    format!("{account}/{user}")
}
