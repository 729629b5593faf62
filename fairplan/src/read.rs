//! Reading what functions are asked about. `-` is standard input; what is wrong names its file, place and value.

use crate::{Error, ResultFile};
use fairplan_instances::files::{self, Rounding};
use fairplan_instances::wording::printable;
use fairplan_instances::{Catalog, Decimal, DemandSeries, FairShares, Instance, Traffic};
use std::collections::BTreeMap;

/// Reads a `fairplan.instance.v1`, gzipped or not.
///
/// ```
/// let error = fairplan::read::instance("/missing.json").unwrap_err();
/// assert!(error.to_string().starts_with("/missing.json: No such file"));
/// ```
pub fn instance(path: &str) -> Result<Instance, Error> {
    Ok(files::read_instance(path)?)
}

/// Reads an instance from a table of server classes, a table of users and, where users are in groups, a table of groups; each
/// CSV, gzipped or not, or Parquet.
///
/// ```
/// assert!(fairplan::read::tables("/missing.csv", "/missing.csv", None).is_err());
/// ```
pub fn tables(servers: &str, users: &str, groups: Option<&str>) -> Result<Instance, Error> {
    Ok(files::read_tables(servers, users, groups)?)
}

/// Reads what can be bought for `instance`: a `fairplan.catalog.v1`, or a table with the columns id and price.
///
/// ```
/// let instance = fairplan::generate::drfh_fig1()?;
/// assert!(fairplan::read::catalog("/missing.csv", &instance).is_err());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn catalog(path: &str, instance: &Instance) -> Result<Catalog, Error> {
    Ok(files::read_catalog(path, instance)?)
}

/// Reads the same, with what the system and the pods of each node take off every bought server; types that are a class of the instance
/// have it off already.
///
/// # Errors
/// Also a resource that the instance does not have, what is no amount, and a type that has not so much.
///
/// ```
/// let instance = fairplan::generate::drfh_fig1()?;
/// let overhead = [("cpu".to_owned(), "500m".to_owned())];
/// assert!(fairplan::read::catalog_less("/missing.csv", &instance, &overhead).is_err());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn catalog_less(
    path: &str,
    instance: &Instance,
    overhead: &[(String, String)],
) -> Result<Catalog, Error> {
    less_overhead(catalog(path, instance)?, path, instance, overhead)
}

/// The same of a catalog that was read from `name`.
///
/// # Errors
/// A resource that the instance does not have, what is no amount, or is more than a server has.
///
/// ```
/// use fairplan::read;
/// use std::io::Write;
///
/// let instance = fairplan::generate::drfh_fig1()?;
/// let mut file = tempfile::NamedTempFile::new().unwrap();
/// file.write_all(b"id,price,cpu,memory\nnew,3,8,8\n").unwrap();
/// let catalog = read::catalog(file.path().to_str().unwrap(), &instance)?;
/// let overhead = [("cpu".to_owned(), "1".to_owned())];
/// let less = read::less_overhead(catalog, "the catalog", &instance, &overhead)?;
/// assert_eq!(less.types[0].capacity[0].to_string(), "7");
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn less_overhead(
    catalog: Catalog,
    name: &str,
    instance: &Instance,
    overhead: &[(String, String)],
) -> Result<Catalog, Error> {
    if overhead.is_empty() {
        return Ok(catalog);
    }
    let mut taken = vec![Decimal::ZERO; instance.resources().len()];
    for (name, amount) in overhead {
        let resource = instance.resources().iter().position(|resource| resource == name);
        let resource = resource.ok_or_else(|| {
            let known = instance.resources().join(", ");
            Error::input(format!(
                "overhead = {}: is no resource of the instance; use {known}",
                printable(name, 60)
            ))
        })?;
        taken[resource] = files::read_amount(amount, name, instance)
            .map_err(|violation| Error::input(format!("overhead.{violation}")))?;
    }
    let less = catalog.less(&taken, instance.resources());
    let less = less.and_then(|less| less.check_devices(instance).map(|()| less));
    less.map_err(|violation| Error::input(format!("{name}: {violation}")))
}

/// Reads which nodes have a label, of `kubectl get nodes -o json`: those of each value of `KEY` in turn, or those with `KEY=VALUE`; each
/// with what they have in common.
///
/// # Errors
/// Also a label that no node has.
///
/// ```
/// let labels = ["topology.kubernetes.io/zone".to_owned()];
/// assert!(fairplan::read::nodes_with_labels(&labels, &["/missing.json".to_owned()]).is_err());
/// ```
pub fn nodes_with_labels(labels: &[String], nodes: &[String]) -> Result<LabelledNodes, Error> {
    let mut found = LabelledNodes::default();
    if labels.is_empty() {
        return Ok(found);
    }
    let nodes = fairplan_imports::node_labels(nodes)?;
    for label in labels {
        let (key, wanted) =
            label.split_once('=').map_or((label.as_str(), None), |(key, value)| (key, Some(value)));
        let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut without = 0;
        for (name, labels) in &nodes {
            match labels.get(key) {
                Some(value) if wanted.is_none_or(|wanted| wanted == *value) => {
                    values.entry(value).or_default().push(name.clone());
                }
                Some(_) => {}
                None => without += 1,
            }
        }
        if values.is_empty() {
            return Err(Error::input(format!("label = {}: no node has it", printable(label, 200))));
        }
        found.together.extend(values.into_iter().map(|(value, names)| (format!("{key}={value}"), names)));
        if wanted.is_none() && without > 0 {
            found.without.push((key.to_owned(), without));
        }
    }
    Ok(found)
}

/// Nodes by what their labels say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelledNodes {
    /// Those that have the same value of a label: `KEY=VALUE` and their names.
    pub together: Vec<(String, Vec<String>)>,
    /// Labels of which all values were asked for, with how many nodes have none of them: these fail with nobody.
    pub without: Vec<(String, u64)>,
}

/// Reads stochastic demand, a `fairplan.traffic.v1`.
///
/// ```
/// assert!(fairplan::read::traffic("/missing.json").is_err());
/// ```
pub fn traffic(path: &str) -> Result<Traffic, Error> {
    Ok(files::read_traffic(path)?)
}

/// Reads a result, to verify it.
///
/// ```
/// assert!(fairplan::read::result("/missing.json").is_err());
/// ```
pub fn result(path: &str) -> Result<ResultFile, Error> {
    let source = files::source::open(path)?;
    let name = source.name().to_owned();
    ResultFile::new(name, source.read_all()?)
}

/// Where demands over time are read from, and what is due to whom.
#[derive(Clone, Debug)]
pub struct DemandsSource {
    /// The demands: a table (CSV, gzipped or not, or Parquet) or a `fairplan.demands.v1`.
    pub demands: String,
    /// What users are due.
    pub due: Due,
    /// Slices in a quantum, to be checked against what users are due.
    pub capacity: Option<u64>,
    /// A table of the quanta in which users who join or leave are members.
    pub members: Option<String>,
    /// What becomes of demands that are no whole number of slices.
    pub rounding: Rounding,
}

/// What users are due in a quantum.
#[derive(Clone, Debug)]
pub enum Due {
    /// Each so many slices.
    PerUser(u64),
    /// So many slices, shared equally.
    Capacity(u64),
    /// Slices by a table with the columns user and fair_share.
    Each(String),
    /// Nothing: demands are tasks over the servers of an instance, which the file of the demands names unless it is named here.
    Instance(Option<String>),
}

/// Demands over time.
pub enum Demands {
    /// Slices of one resource, and what is due to whom.
    Slices(DemandSeries, FairShares),
    /// Tasks over the servers of an instance.
    Tasks(DemandSeries, Box<Instance>),
}

/// Reads demands over time, and what is due to users or the servers that their tasks need.
///
/// ```
/// use fairplan::files::Rounding;
/// use fairplan::read::{Demands, DemandsSource, Due, demands};
/// use std::io::Write;
///
/// let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
/// file.write_all(b"quantum,user,demand\n1,a,3\n2,b,1\n").unwrap();
/// let source = DemandsSource {
///     demands: file.path().display().to_string(),
///     due: Due::PerUser(2),
///     capacity: None,
///     members: None,
///     rounding: Rounding::Refused,
/// };
/// let Demands::Slices(series, _) = demands(&source)? else { panic!("these are slices") };
/// assert_eq!(series.quantum_count(), 2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn demands(source: &DemandsSource) -> Result<Demands, Error> {
    let (series, named) = series(&source.demands, source.members.as_deref(), source.rounding)?;
    let shares = match &source.due {
        Due::Instance(stated) => {
            let Some(path) = stated.as_ref().or(named.as_ref()) else {
                return Err(Error::input(
                    "say how many slices there are (--fair-share, --capacity or --fair-shares), or name an --instance",
                ));
            };
            return Ok(Demands::Tasks(series, Box::new(instance(path)?)));
        }
        _ if named.is_some() => {
            let problem = "names an instance, so that its demands are tasks: state no slices";
            return Err(Error::input(format!("{}: {problem}", source.demands)));
        }
        Due::PerUser(share) => FairShares::PerUser(*share),
        Due::Capacity(capacity) => FairShares::Capacity(*capacity),
        Due::Each(path) => FairShares::Each(files::read_fair_shares(path, &series)?),
    };
    shares.check(&series, source.capacity).map_err(|violation| match &source.due {
        Due::Each(path) => Error::from(violation.in_file(path)),
        _ => violation.into(),
    })?;
    Ok(Demands::Slices(series, shares))
}

/// Reads a series with, where there is a table of them, the users who join or leave; and the file of the instance that the
/// series names, if its demands are tasks.
///
/// ```
/// use fairplan::files::Rounding;
///
/// assert!(fairplan::read::series("/missing.csv", None, Rounding::Refused).is_err());
/// ```
pub fn series(
    demands: &str,
    members: Option<&str>,
    rounding: Rounding,
) -> Result<(DemandSeries, Option<String>), Error> {
    let (series, instance) = files::read_demands_and_instance(demands, rounding)?;
    let series = match members {
        Some(path) => files::read_members(path, series)?,
        None => series,
    };
    Ok((series, instance))
}

/// Reads what users report instead of the truth in `truth`: the file `reported`, of the same users and quanta, read like
/// `source`.
///
/// ```
/// use fairplan::files::Rounding;
/// use fairplan::read::{DemandsSource, Due, reported};
///
/// let source = DemandsSource {
///     demands: "/missing.csv".into(),
///     due: Due::PerUser(2),
///     capacity: None,
///     members: None,
///     rounding: Rounding::Refused,
/// };
/// let truth = fairplan::generate::karma_fig2()?;
/// assert!(reported("/missing.csv", &source, &truth).is_err());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn reported(path: &str, source: &DemandsSource, truth: &DemandSeries) -> Result<DemandSeries, Error> {
    let (series, _) = series(path, source.members.as_deref(), source.rounding)?;
    alike(path, &series, truth).map(|()| series)
}

/// Whether the series that `path` names has the users and quanta of `truth`, as a report has to.
pub fn alike(path: &str, series: &DemandSeries, truth: &DemandSeries) -> Result<(), Error> {
    let differs = |what: &str| Err(Error::input(format!("{path}: the {what} are not those of DEMANDS")));
    let users = |series: &DemandSeries| {
        (0..series.user_count()).map(|user| series.user_id(user).to_owned()).collect::<Vec<_>>()
    };
    if users(series) != users(truth) {
        return differs("users");
    }
    let quanta = series.quantum_count();
    if quanta != truth.quantum_count()
        || (0..quanta).any(|quantum| series.label(quantum) != truth.label(quantum))
    {
        return differs("quanta");
    }
    Ok(())
}
