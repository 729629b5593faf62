//! What differs between two instances, and which difference moved whose work: the changes made one after the other.

use super::{NOTICED, change, solved, value, works};
use fairplan_instances::{Draft, DraftUser, Instance, Solver, SolverError};
use std::collections::HashMap;

/// What differs between two instances, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Server classes that are in one only, or not the same in both.
    pub classes: Vec<PartChange>,
    /// Users that are in one only, or not the same in both.
    pub users: Vec<PartChange>,
    /// From the first instance to the second, kind of change by kind of change; first how it was.
    pub steps: Vec<Step>,
    /// The work of every user of either, the largest part lost first.
    pub works: Vec<UserChange>,
}

/// A class or a user that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartChange {
    /// Its id.
    pub id: String,
    /// `added`, `removed` or `changed`.
    pub kind: &'static str,
    /// What changed, such as `count 3 -> 5`; empty for what is added or removed.
    pub changes: Vec<String>,
}

/// The cluster after one more kind of change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// `before`, `servers`, `users removed`, `users changed` or `users added`.
    pub change: &'static str,
    /// The smallest weighted dominant share then; nothing where the change alone leaves no cluster with users.
    pub value: Option<f64>,
    /// How many users do more work than before this step.
    pub gaining: usize,
    /// How many do less.
    pub losing: usize,
}

/// A user's work in both.
#[derive(Clone, Debug, PartialEq)]
pub struct UserChange {
    /// Its id.
    pub id: String,
    /// Its work in the first, in tasks of rate 1; nothing if it is not there.
    pub before: Option<f64>,
    /// Its work in the second.
    pub after: Option<f64>,
}

/// A user with its classes by name, so that it can be held against one of another instance.
#[derive(Clone, PartialEq)]
struct Named {
    user: DraftUser,
    eligible: Option<Vec<String>>,
    rates: Vec<(String, String)>,
}

/// Compares two instances of the same resources. DRFH is solved anew after each kind of change.
pub fn differences(
    before: &Instance,
    after: &Instance,
    solver: &dyn Solver,
) -> Result<Difference, SolverError> {
    if before.resources() != after.resources() {
        let problem =
            "the two instances have different resources, or in another order; only like can be compared";
        return Err(SolverError::Unsupported(problem.into()));
    }
    let (first, second) = (Draft::from(before), Draft::from(after));
    let (old, new) = (named(&first), named(&second));
    let old_of: HashMap<&str, &Named> = old.iter().map(|user| (user.user.id.as_str(), user)).collect();
    let new_of: HashMap<&str, &Named> = new.iter().map(|user| (user.user.id.as_str(), user)).collect();
    let stays = |user: &&Named| new_of.contains_key(user.user.id.as_str());
    // The users after each kind of change, on the servers of the second instance.
    let kept: Vec<&Named> = old.iter().filter(stays).collect();
    let changed: Vec<&Named> = kept.iter().map(|user| new_of[user.user.id.as_str()]).collect();
    let stages: [(&'static str, Draft); 4] = [
        ("before", first.clone()),
        ("servers", on_servers(&second, &old.iter().collect::<Vec<_>>())),
        ("users removed", on_servers(&second, &kept)),
        ("users changed", on_servers(&second, &changed)),
    ];
    let mut steps = Vec::new();
    let mut last: HashMap<String, f64> = HashMap::new();
    let mut first_works = HashMap::new();
    for (name, draft) in stages.into_iter().chain([("users added", second.clone())]) {
        // A stage need not be an instance: a user may need what only later servers, or earlier ones, have.
        let Ok(instance) = draft.build() else {
            steps.push(Step { change: name, value: None, gaining: 0, losing: 0 });
            continue;
        };
        let solution = solved(solver, &instance)?;
        let done = works(&instance, &solution);
        let by_id: HashMap<String, f64> =
            instance.users().map(|user| user.id().to_owned()).zip(done).collect();
        let parts =
            || by_id.iter().filter_map(|(id, work)| last.get(id).map(|before| change(*before, *work)));
        let gaining = parts().filter(|part| *part > NOTICED).count();
        let losing = parts().filter(|part| *part < -NOTICED).count();
        steps.push(Step { change: name, value: Some(value(&instance, &solution)), gaining, losing });
        if name == "before" {
            first_works = by_id.clone();
        }
        last = by_id;
    }
    let all = old.iter().chain(new.iter().filter(|user| !old_of.contains_key(user.user.id.as_str())));
    let mut works: Vec<UserChange> = all
        .map(|user| {
            let id = user.user.id.clone();
            UserChange { before: first_works.get(&id).copied(), after: last.get(&id).copied(), id }
        })
        .collect();
    let part = |user: &UserChange| match (user.before, user.after) {
        (Some(before), Some(after)) => (change(before, after) * 1e6).round(),
        _ => f64::INFINITY,
    };
    works.sort_by(|a, b| part(a).total_cmp(&part(b)));
    Ok(Difference {
        classes: class_changes(&first, &second),
        users: user_changes(&old, &new, &old_of, &new_of),
        steps,
        works,
    })
}

fn named(draft: &Draft) -> Vec<Named> {
    let name = |class: usize| draft.classes[class].id.clone();
    let of = |user: &DraftUser| Named {
        eligible: user.eligible.as_ref().map(|all| {
            let mut names: Vec<String> = all.iter().map(|class| name(*class)).collect();
            names.sort();
            names
        }),
        rates: {
            let mut rates: Vec<(String, String)> =
                user.rates.iter().map(|(class, rate)| (name(*class), rate.to_string())).collect();
            rates.sort();
            rates
        },
        user: user.clone(),
    };
    draft.users.iter().map(of).collect()
}

/// These users on the servers of `servers`; classes that are not there are dropped from what users name.
fn on_servers(servers: &Draft, users: &[&Named]) -> Draft {
    let position = |name: &String| servers.classes.iter().position(|class| class.id == *name);
    let moved = |named: &&Named| {
        let rates = named.rates.iter().filter_map(|(name, rate)| Some((position(name)?, rate.parse().ok()?)));
        DraftUser {
            eligible: named.eligible.as_ref().map(|names| names.iter().filter_map(position).collect()),
            rates: rates.collect(),
            ..named.user.clone()
        }
    };
    Draft { users: users.iter().map(moved).collect(), ..servers.clone() }
}

fn class_changes(first: &Draft, second: &Draft) -> Vec<PartChange> {
    let mut found = Vec::new();
    for class in &first.classes {
        let Some(other) = second.classes.iter().find(|other| other.id == class.id) else {
            found.push(PartChange { id: class.id.clone(), kind: "removed", changes: Vec::new() });
            continue;
        };
        let mut changes = Vec::new();
        differs(&mut changes, "count", class.count, other.count);
        for ((name, a), b) in first.resources.iter().zip(&class.capacity).zip(&other.capacity) {
            differs(&mut changes, name, *a, *b);
        }
        if !changes.is_empty() {
            found.push(PartChange { id: class.id.clone(), kind: "changed", changes });
        }
    }
    let is_new = |id: &str| first.classes.iter().all(|class| class.id != id);
    let added = second.classes.iter().filter(|class| is_new(&class.id));
    found.extend(added.map(|class| PartChange { id: class.id.clone(), kind: "added", changes: Vec::new() }));
    found
}

fn user_changes(
    old: &[Named],
    new: &[Named],
    old_of: &HashMap<&str, &Named>,
    new_of: &HashMap<&str, &Named>,
) -> Vec<PartChange> {
    let mut found = Vec::new();
    for named in old {
        let (user, id) = (&named.user, named.user.id.clone());
        let Some(other) = new_of.get(id.as_str()) else {
            found.push(PartChange { id, kind: "removed", changes: Vec::new() });
            continue;
        };
        let mut changes = Vec::new();
        for (r, (a, b)) in user.demand.iter().zip(&other.user.demand).enumerate() {
            differs(&mut changes, &format!("demand[{r}]"), *a, *b);
        }
        differs(&mut changes, "weight", user.weight, other.user.weight);
        let tasks = |tasks: Option<u64>| tasks.map_or("unlimited".into(), |tasks| tasks.to_string());
        differs(&mut changes, "tasks", tasks(user.tasks), tasks(other.user.tasks));
        let list = |names: &Option<Vec<String>>| names.as_ref().map_or("all".into(), |names| names.join(";"));
        differs(&mut changes, "eligible", list(&named.eligible), list(&other.eligible));
        let rates = |rates: &[(String, String)]| {
            rates.iter().map(|(name, rate)| format!("{name}={rate}")).collect::<Vec<_>>().join(";")
        };
        differs(&mut changes, "rates", rates(&named.rates), rates(&other.rates));
        if !changes.is_empty() {
            found.push(PartChange { id, kind: "changed", changes });
        }
    }
    let added = new.iter().filter(|named| !old_of.contains_key(named.user.id.as_str()));
    found.extend(added.map(|named| PartChange {
        id: named.user.id.clone(),
        kind: "added",
        changes: Vec::new(),
    }));
    found
}

fn differs<T: PartialEq + std::fmt::Display>(changes: &mut Vec<String>, field: &str, before: T, after: T) {
    if before != after {
        changes.push(format!("{field} {before} -> {after}"));
    }
}
