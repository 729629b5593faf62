//! What an offline result of tasks states, matched with the demands and the instance that it says it belongs to.

use super::tasks::{ExactTaskLevelResult, TaskLevelResult, TaskQuantum, TaskUser};
use super::{Held, TaskOfflineDocument, task_offline_document};
use crate::foreign::{Foreign, check_stamp, list};
use fairplan_instances::{Against, ExactTaskLevel, ExactTasks, Label, TaskDemands, TaskLevel, TaskOptimum};
use fairplan_verify::{TaskClaim, Verdict, verify_task_optimum};

/// A result's own statement of the tasks and what proves them; nothing in it is believed.
pub struct StatedTaskOffline {
    optimum: TaskOptimum,
}

impl StatedTaskOffline {
    /// Matches a document with its demands and its instance. Fails where they cannot be matched.
    pub fn new(
        document: &TaskOfflineDocument,
        demands: &TaskDemands<'_>,
        [demands_sha256, instance_sha256]: [&str; 2],
    ) -> Result<Self, Foreign> {
        let series = demands.series();
        if document.demands.sha256 != demands_sha256 {
            let problem = format!("is another hash; that of the file is {demands_sha256}");
            return Err(Foreign::new("demands.sha256", &document.demands.sha256, problem));
        }
        check_stamp(&document.instance, demands.instance(), instance_sha256)?;
        let users = (0..series.user_count()).map(|user| series.user_id(user));
        list("users", document.users.iter().map(|user| &*user.id), users)?;
        let tasks = stated_tasks(document, demands, |quantum| Some(("tasks", &quantum.tasks)))?;
        let exact = stated_fractions(document, demands)?;
        let level = |(position, level): (usize, &TaskLevelResult)| {
            let named = |id: &String| {
                let place = || format!("levels[{position}].users");
                let user = series.user_named(id).ok_or_else(|| Foreign::new(place(), id, "no such user"))?;
                Ok(user as u32)
            };
            let prices = stated_prices(demands, &format!("levels[{position}].prices"), &level.prices)?;
            Ok(TaskLevel {
                value: level.value,
                users: level.users.iter().map(named).collect::<Result<_, Foreign>>()?,
                multipliers: level.multipliers.clone(),
                prices,
            })
        };
        let levels = document.levels.iter().enumerate().map(level).collect::<Result<_, Foreign>>()?;
        Ok(Self { optimum: TaskOptimum { tasks, levels, iterations: 0, exact } })
    }

    /// What is found of it: tasks and levels by `verify`, the numbers beside them by recomputing. What is held against
    /// the optimum is not run again, but its regret must be what its value leaves.
    pub fn verdicts(
        &self,
        document: &TaskOfflineDocument,
        demands: &TaskDemands<'_>,
        sha256: [&str; 2],
    ) -> Vec<Verdict> {
        let claim = TaskClaim::from(&self.optimum);
        let proof = verify_task_optimum(demands, claim);
        let again = task_offline_document(demands, sha256, &self.optimum, &proof, Held::default(), false);
        let quanta = demands.series().quantum_count();
        let is_beside = |one: &Against| one.is_beside(again.value, quanta);
        let different: Vec<&str> = [
            ("demands", again.demands == document.demands),
            ("measure", again.measure == document.measure),
            ("status", again.status == document.status),
            ("value", again.value == document.value),
            ("users", again.users == document.users),
            ("metrics", again.metrics == document.metrics),
            ("certificate", again.certificate == document.certificate),
            ("against", document.against.iter().all(is_beside)),
            ("online_bound", document.online_bound.iter().all(is_beside)),
        ]
        .into_iter()
        .filter(|(_, same)| !same)
        .map(|(field, _)| field)
        .collect();
        let mut verdicts = proof.verdicts;
        let told = || format!("{} not what the tasks come to", different.join(", "));
        verdicts.push(Verdict::without_size("stated-numbers", (!different.is_empty()).then(told)));
        verdicts
    }
}

/// Prices of every quantum, class and resource, one after the other.
fn stated_prices<T: Clone>(
    demands: &TaskDemands<'_>,
    place: &str,
    prices: &[Vec<Vec<T>>],
) -> Result<Vec<T>, Foreign> {
    let instance = demands.instance();
    let (classes, resources) = (instance.classes().len(), instance.resources().len());
    let is_whole = |quantum: &Vec<Vec<T>>| {
        quantum.len() == classes && quantum.iter().all(|prices| prices.len() == resources)
    };
    if prices.len() != demands.series().quantum_count() || !prices.iter().all(is_whole) {
        return Err(Foreign::new(place, "", "state the prices of every quantum, class and resource"));
    }
    Ok(prices.iter().flatten().flatten().cloned().collect())
}

/// The fractions of a result that states any.
fn stated_fractions(
    document: &TaskOfflineDocument,
    demands: &TaskDemands<'_>,
) -> Result<Option<ExactTasks>, Foreign> {
    let Some(stated) = &document.exact else {
        let of_users = document.users.iter().position(|user| user.exact.is_some());
        let of_quanta = document.quanta.iter().flatten().position(|quantum| quantum.exact.is_some());
        let place = of_users.map(|user| format!("users[{user}].exact"));
        return match place.or_else(|| of_quanta.map(|quantum| format!("quanta[{quantum}].exact"))) {
            Some(place) => Err(Foreign::new(place, "", "the result states no levels in fractions")),
            None => Ok(None),
        };
    };
    let share = |(user, of): (usize, &TaskUser)| {
        let missing = || Foreign::new(format!("users[{user}].exact"), "", "is missing");
        of.exact.clone().ok_or_else(missing)
    };
    let level = |(k, level): (usize, &ExactTaskLevelResult)| {
        let prices = stated_prices(demands, &format!("exact.levels[{k}].prices"), &level.prices)?;
        let (value, multipliers) = (level.value.clone(), level.multipliers.clone());
        Ok(ExactTaskLevel { value, multipliers, prices })
    };
    Ok(Some(ExactTasks {
        value: stated.value.clone(),
        levels: stated.levels.iter().enumerate().map(level).collect::<Result<_, Foreign>>()?,
        shares: document.users.iter().enumerate().map(share).collect::<Result<_, Foreign>>()?,
        tasks: stated_tasks(document, demands, |quantum| Some(("exact", quantum.exact.as_ref()?)))?,
    }))
}

/// The tasks of each demand above zero, in the order of the series: the rows of each quantum, with the name of their field.
fn stated_tasks<T: Clone>(
    document: &TaskOfflineDocument,
    demands: &TaskDemands<'_>,
    rows: impl Fn(&TaskQuantum) -> Option<(&'static str, &Vec<Vec<T>>)>,
) -> Result<Vec<T>, Foreign> {
    let (series, classes) = (demands.series(), demands.instance().classes().len());
    let Some(quanta) = &document.quanta else {
        return Err(Foreign::without("quanta", super::WITH_QUANTA));
    };
    if quanta.len() != series.quantum_count() {
        let problem = format!("the series has {}", series.quantum_count());
        return Err(Foreign::new("quanta", &format!("{} entries", quanta.len()), problem));
    }
    let mut tasks = Vec::with_capacity(series.entry_count() * classes);
    for (position, quantum) in quanta.iter().enumerate() {
        let label = series.label(position);
        let Some((field, rows)) = rows(quantum) else {
            return Err(Foreign::new(format!("quanta[{position}].exact"), "", "is missing"));
        };
        if quantum.quantum != Label::from(label) || rows.len() != series.user_count() {
            let problem = format!("the series has quantum {label} here, with {} users", series.user_count());
            return Err(Foreign::new(format!("quanta[{position}]"), "", problem));
        }
        let mut demanders = series.demands(position).0.iter().map(|user| *user as usize).peekable();
        for (user, row) in rows.iter().enumerate() {
            let place = || format!("quanta[{position}].{field}[{user}]");
            let stated = || format!("{} numbers", row.len());
            if demanders.next_if_eq(&user).is_none() {
                if !row.is_empty() {
                    return Err(Foreign::new(place(), &stated(), "the user demands nothing here"));
                }
            } else if row.len() == classes {
                tasks.extend_from_slice(row);
            } else {
                return Err(Foreign::new(place(), &stated(), format!("there are {classes} classes")));
            }
        }
    }
    Ok(tasks)
}
