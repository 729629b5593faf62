//! Accounts and associations: the tree that Slurm divides shares in, from `sacctmgr show assoc --json` or `sshare --json`.
//!
//! What they carry: accounts with their parents, and users in them, as groups; shares as weights; `GrpTRES` as limit, of one type of a generic resource
//! (`gres/gpu:a100`) on the nodes that have that type and no other.

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
const PARENT: f64 = 2_147_483_647.0;

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
        all.iter().map(|(cluster, _)| cluster.as_str()).filter(|cluster| !cluster.is_empty()).collect();
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
    let mut found: Vec<Association> = Vec::new();
    let mut known: HashSet<(String, String)> = HashSet::new();
    for (cluster, association) in all {
        if meant.as_ref().is_some_and(|meant| !cluster.is_empty() && cluster != *meant) {
            report.one("associations left out: they are of another cluster than the jobs");
        } else if known.insert((association.account.clone(), association.user.clone())) {
            found.push(association);
        } else {
            report.one("associations left out: named a second time");
        }
    }
    report.add(found.iter().filter(|one| one.user.is_empty()).count() as u64, "accounts");
    report.add(found.iter().filter(|one| !one.user.is_empty()).count() as u64, "users in accounts");
    Ok(found)
}

/// The associations of all files that hold on all partitions, each with its cluster.
fn of_all_clusters(
    files: &[String],
    report: &mut ImportReport,
) -> Result<Vec<(String, Association)>, InstanceError> {
    let mut found = Vec::new();
    for file in files {
        for document in documents(file, "sacctmgr show assoc --json")? {
            // `sshare` wraps its list once more.
            let document = document.get("shares").filter(|inner| inner.is_object()).unwrap_or(&document);
            let command = "sacctmgr show assoc --json` or `sshare --json";
            let (form, elements) = array(file, document, &["associations", "shares"], command)?;
            for (position, element) in elements.iter().enumerate() {
                let place = Record { file, object: format!("association {}", position + 1) };
                let (scope, association) = match form {
                    0 => listed(&place, element, report)?,
                    _ => shared(&place, element)?,
                };
                match scope.partition.is_empty() {
                    true => found.push((scope.cluster, association)),
                    false => report.one("associations left out: they are of one partition only"),
                }
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
    ] {
        if has_number(stated) {
            report.one(what);
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
    Ok((scope(partition, cluster), Association { account, user, parent, shares, limit }))
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
    let limit = Amounts::new();
    let association = match kind.states().contains("user") {
        true => Association { account: parent, user: name, parent: String::new(), shares, limit },
        false => Association { account: name, user: String::new(), parent, shares, limit },
    };
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
    nodes: &[Node],
    report: &mut ImportReport,
) -> Result<Vec<Holder>, Violation> {
    let accounts: HashMap<&str, &Association> = associations
        .iter()
        .filter(|association| association.user.is_empty())
        .map(|association| (association.account.as_str(), association))
        .collect();
    let is_root = |name: &str| name == "root" && accounts.get(name).is_none_or(|root| root.limit.is_empty());
    let mut holders = Vec::with_capacity(associations.len());
    for association in associations {
        let Association { account, user, parent, shares, limit } = association;
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
        let named = |name: &str| resources.iter().position(|resource| resource == name);
        let mut limits = Vec::new();
        for (name, most) in limit.iter().filter(|(name, _)| named(name).is_none()) {
            let of_type = name.split_once(':').and_then(|(kind, _)| named(kind));
            match of_type.map(|resource| (resource, with_type(name, nodes))) {
                None => report.one("limits left out: no job asks for the resource"),
                Some((_, None)) => {
                    report.one(format!("limits of {name} left out: nodes have it beside another type"))
                }
                Some((_, Some(servers))) if servers.is_empty() => {
                    report.one(format!("limits of {name} left out: no node names the type"));
                }
                Some((resource, Some(servers))) => {
                    limits.push(LimitOver { servers: Rc::new(servers), resource, most: *most });
                }
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
