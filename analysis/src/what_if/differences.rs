//! What differs between two instances, and which difference moved whose work: the changes made one after the other.

use super::group_change::{self, GroupChange};
use super::guaranteed::{Kept, solved_as_far_as_guaranteed};
use super::part_change::PartChange;
use super::quota_changes::{on_classes, quota_changes};
use super::variants::{both, built_as_far_as_reserved};
use super::work::{change, part_changed, rank};
use crate::tolerance::NOTICED;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, Draft, DraftKind, DraftUser, GroupId, Instance, InstanceError, InstanceStamp, LimitedBy, NewGroup,
    Objective, ResourceId, Solver, User, UserId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What differs between two instances or two results. The same files give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The first.
    pub before: DifferenceSide,
    /// The second.
    pub after: DifferenceSide,
    /// Server classes that are in one only, or not the same in both. Of instances only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_classes: Vec<PartChange>,
    /// Users that are in one only, or not the same in both. Of instances only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_users: Vec<PartChange>,
    /// Groups that are in one only, or not the same in both. Of instances only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_groups: Vec<PartChange>,
    /// From the first instance to the second, kind of change by kind of change, DRFH solved anew after each. Of instances
    /// only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Every group of either, the largest part lost first: what its members have together. Of instances in dominant shares of
    /// the servers of the first (of what those have none of, the second's); of results in the shares that each states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupChange>,
    /// Every user of either, the largest part lost first.
    pub users: Vec<UserChange>,
}

impl Body for Difference {
    const FORMAT: &'static str = "fairplan.difference.v1";
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DifferenceSide {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The value of the objective. Absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The smallest weighted share of those that still want more, where it is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
}

/// The cluster after one more kind of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// `before`, `servers`, `users removed`, `groups` (where there are any), `quotas` (where there are any), `users changed` or
    /// `users added`.
    pub change: String,
    /// The smallest weighted dominant share then: of users without a group, and of groups. Absent where the change alone leaves no
    /// cluster that its users can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The same of those that still want more, where it is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Why what is guaranteed or reserved cannot be kept then; what users have is told with as much of the guarantees as can be
    /// kept, and without reserves where they are too much. Absent where all is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// How many users do more work than before this step.
    pub gaining: usize,
    /// How many do less.
    pub losing: usize,
}

impl Step {
    /// Whether guarantees and reserves are kept then, for people.
    fn kept_in_words(&self) -> Option<&'static str> {
        let is_cluster = self.value.is_some();
        is_cluster.then_some(if self.not_kept.is_some() { "not all kept" } else { "all kept" })
    }
}

/// A user in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    /// The user's id.
    pub id: String,
    /// Its tasks in the first (of instances: its work under DRFH). Absent if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// Its tasks in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
    /// By which part of itself that changed. Absent where it is in one only, or had nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<f64>,
    /// What limited it in the first. Of results only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_before: Option<LimitedBy>,
    /// What limits it in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_after: Option<LimitedBy>,
}

impl UserChange {
    /// A user's work in both.
    pub fn new(id: String, before: Option<f64>, after: Option<f64>) -> Self {
        let part = part_changed(before, after);
        Self { id, before, after, part, limited_before: None, limited_after: None }
    }
}

impl Tabular for Difference {
    /// A row a user.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("user", "user", Kind::Id, |user| &user.id)
            .column("before", "tasks before", Kind::Number, |user| user.before)
            .said(|user| user.before.is_none().then_some("not there"))
            .column("after", "tasks after", Kind::Number, |user| user.after)
            .said(|user| user.after.is_none().then_some("not there"))
            .column("part", "change", Kind::Change, |user| user.part)
            .column("limited_before", "limited by, before", Kind::Words, |user| {
                user.limited_before.map(LimitedBy::in_words)
            })
            .column("limited_after", "limited by, after", Kind::Words, |user| {
                user.limited_after.map(LimitedBy::in_words)
            })
            .done()
    }
}

impl UserChange {
    /// Whether it has more or less, by more than solutions are exact to.
    pub fn has_moved(&self) -> bool {
        self.change().is_none_or(|part| part.abs() > NOTICED)
    }

    /// By which part of itself its work changed: by an infinite one if it had nothing. `None` where it is in one only.
    pub fn change(&self) -> Option<f64> {
        Some(change(self.before?, self.after?))
    }

    /// Its place among others: those that lose the largest part first, those that are in one only last.
    pub fn rank(&self) -> f64 {
        rank(self.before, self.after)
    }
}

impl Difference {
    /// What changed of server classes or of users, which `what` says.
    pub fn changes<'a>(&self, what: &'a str, changes: &'a [PartChange]) -> Table<'a> {
        Table::of(changes)
            .column("id", what, Kind::Id, |change| &change.id)
            .column("kind", "is", Kind::Words, |change| &change.kind)
            .column("changes", "what changed", Kind::Words, |change| change.changes.join(", "))
            .done()
    }

    /// A row a group.
    pub fn groups(&self) -> Table<'_> {
        group_change::table(&self.groups)
    }

    /// From the first instance to the second, kind of change by kind of change.
    pub fn steps(&self) -> Table<'_> {
        let table = Table::of(&self.steps)
            .column("change", "after the change of", Kind::Words, |step| &step.change)
            .column("value", "smallest weighted share", Kind::Share, |step| step.value)
            .said(|step| step.value.is_none().then_some("no cluster"))
            .column("level", "of those that want more", Kind::Share, |step| step.level)
            .column("gaining", "users that gain", Kind::Count, |step| step.gaining)
            .column("losing", "users that lose", Kind::Count, |step| step.losing)
            .column("all_kept", "guarantees and reserves", Kind::Words, |step| step.kept_in_words())
            .done();
        let has = |column: fn(&Step) -> bool| self.steps.iter().any(column);
        let table = if has(|step| step.level.is_some()) { table } else { table.without(&["level"]) };
        if has(|step| step.not_kept.is_some()) { table } else { table.without(&["all_kept"]) }
    }
}

/// A user with its classes and its group by name, so that it can be held against one of another instance.
#[derive(Clone, PartialEq)]
struct Named {
    user: DraftUser,
    eligible: Option<Vec<String>>,
    /// Where the pieces of each of its kinds may run.
    kinds_on: Vec<Option<Vec<String>>>,
    rates: Vec<(String, String)>,
    group: Option<String>,
}

/// Compares two instances of the same resources. DRFH is solved anew after each kind of change.
pub fn differences(
    [before, after]: [&Instance; 2],
    sha256: [&str; 2],
    solver: &dyn Solver,
) -> Result<Difference, InstanceError> {
    if before.resources() != after.resources() {
        let problem = "the two instances have different resources, or in another order; state the same ones in both, with 0 where servers have none";
        return Err(InstanceError::Unsupported(problem.into()));
    }
    let (first, second) = (Draft::from(before), Draft::from(after));
    let (old, new) = (named(&first), named(&second));
    let old_of: HashMap<&str, &Named> = old.iter().map(|user| (user.user.id.as_str(), user)).collect();
    let new_of: HashMap<&str, &Named> = new.iter().map(|user| (user.user.id.as_str(), user)).collect();
    let stays = |user: &&Named| new_of.contains_key(user.user.id.as_str());
    // The users after each kind of change, on the servers of the second instance.
    let kept: Vec<&Named> = old.iter().filter(stays).collect();
    let changed: Vec<&Named> = kept.iter().map(|user| new_of[user.user.id.as_str()]).collect();
    let has_groups = before.has_groups() || after.has_groups();
    let then = |user: &&Named| in_groups(user, after, &new_of);
    let regrouped: Vec<Named> = kept.iter().filter(|_| has_groups).map(then).collect();
    let has_quotas = !before.quotas().is_empty() || !after.quotas().is_empty();
    let old_quotas = Draft { quotas: on_classes(&first, &second), ..second.clone() };
    let all = old.iter().collect::<Vec<_>>();
    let in_new_groups = regrouped.iter().collect::<Vec<_>>();
    let last_of_old = if has_groups { &in_new_groups } else { &kept };
    let stages = [
        Some(("before", first.clone())),
        Some(("servers", on_servers(&old_quotas, &first.groups, &all))),
        Some(("users removed", on_servers(&old_quotas, &first.groups, &kept))),
        has_groups.then(|| ("groups", on_servers(&old_quotas, &second.groups, &in_new_groups))),
        has_quotas.then(|| ("quotas", on_servers(&second, &second.groups, last_of_old))),
        Some(("users changed", on_servers(&second, &second.groups, &changed))),
        Some(("users added", second.clone())),
    ];
    let mut steps = Vec::new();
    let mut last: HashMap<String, f64> = HashMap::new();
    let mut first_works = HashMap::new();
    for (name, draft) in stages.into_iter().flatten() {
        // A stage need not be an instance: a user may need what only later servers, or earlier ones, have.
        let Ok((instance, unreserved)) = built_as_far_as_reserved(draft) else {
            let (change, value, level, not_kept) = (name.into(), None, None, None);
            steps.push(Step { change, value, level, not_kept, gaining: 0, losing: 0 });
            continue;
        };
        let Kept { instance, standing, not_kept, .. } = solved_as_far_as_guaranteed(solver, instance)?;
        let not_kept = both(unreserved, not_kept);
        let by_id: HashMap<String, f64> =
            instance.users().map(|user| user.id().to_owned()).zip(standing.works.iter().copied()).collect();
        let parts =
            || by_id.iter().filter_map(|(id, work)| last.get(id).map(|before| change(*before, *work)));
        let gaining = parts().filter(|part| *part > NOTICED).count();
        let losing = parts().filter(|part| *part < -NOTICED).count();
        let (value, level) = (Some(standing.value), standing.stated_level());
        steps.push(Step { change: name.into(), value, level, not_kept, gaining, losing });
        if name == "before" {
            first_works = by_id.clone();
        }
        last = by_id;
    }
    let users = old.iter().chain(new.iter().filter(|user| !old_of.contains_key(user.user.id.as_str())));
    let mut works: Vec<UserChange> = users
        .map(|user| {
            let id = user.user.id.clone();
            UserChange::new(id.clone(), first_works.get(&id).copied(), last.get(&id).copied())
        })
        .collect();
    works.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
    let side = |instance: &Instance, sha256: &str, step: Option<&Step>| DifferenceSide {
        instance: InstanceStamp::new(instance, sha256),
        objective: Objective::Drfh.to_string(),
        value: step.and_then(|step| step.value),
        level: step.and_then(|step| step.level),
    };
    Ok(Difference {
        before: side(before, sha256[0], steps.first()),
        after: side(after, sha256[1], steps.last()),
        server_classes: class_changes(&first, &second),
        changed_users: quota_changes([&first, &second], false, user_changes(&old, &new, &old_of, &new_of)),
        changed_groups: quota_changes([&first, &second], true, group_changes(before, after)),
        groups: groups_of_both([before, after], [&first_works, &last]),
        steps,
        users: works,
    })
}

fn named(draft: &Draft) -> Vec<Named> {
    let name = |class: usize| draft.classes[class].id.clone();
    let names = |eligible: &Option<Vec<usize>>| {
        eligible.as_ref().map(|all| {
            let mut names: Vec<String> = all.iter().map(|class| name(*class)).collect();
            names.sort();
            names
        })
    };
    let of = |user: &DraftUser| Named {
        eligible: names(&user.eligible),
        kinds_on: user.kinds.iter().map(|kind| names(&kind.eligible)).collect(),
        rates: {
            let mut rates: Vec<(String, String)> =
                user.rates.iter().map(|(class, rate)| (name(*class), rate.to_string())).collect();
            rates.sort();
            rates
        },
        group: user.group.map(|group| draft.groups[group].id.clone()),
        user: user.clone(),
    };
    draft.users.iter().map(of).collect()
}

/// A user in the group that it was in, if the second instance has that; else where the second has the user.
fn in_groups(user: &Named, second: &Instance, new_of: &HashMap<&str, &Named>) -> Named {
    let is_there = |id: &String| second.group_named(id).is_some();
    let then = || new_of.get(user.user.id.as_str()).and_then(|then| then.group.clone());
    let group = if user.group.as_ref().is_none_or(is_there) { user.group.clone() } else { then() };
    Named { group, ..user.clone() }
}

/// These users in these groups on the servers of `servers`; classes that are not there are dropped from what users name.
fn on_servers(servers: &Draft, groups: &[NewGroup], users: &[&Named]) -> Draft {
    let group_at: HashMap<&str, usize> =
        groups.iter().enumerate().map(|(g, group)| (&*group.id, g)).collect();
    let position = |name: &String| servers.classes.iter().position(|class| class.id == *name);
    let there =
        |names: &Option<Vec<String>>| names.as_ref().map(|names| names.iter().filter_map(position).collect());
    let moved = |named: &&Named| {
        let kinds = named.user.kinds.iter().zip(&named.kinds_on);
        let rates = named.rates.iter().filter_map(|(name, rate)| Some((position(name)?, rate.parse().ok()?)));
        DraftUser {
            eligible: there(&named.eligible),
            kinds: kinds.map(|(kind, on)| DraftKind { eligible: there(on), ..kind.clone() }).collect(),
            rates: rates.collect(),
            group: named.group.as_ref().and_then(|id| group_at.get(id.as_str()).copied()),
            ..named.user.clone()
        }
    };
    Draft { users: users.iter().map(moved).collect(), groups: groups.to_vec(), ..servers.clone() }
}

fn class_changes(first: &Draft, second: &Draft) -> Vec<PartChange> {
    let mut found = Vec::new();
    for class in &first.classes {
        let Some(other) = second.classes.iter().find(|other| other.id == class.id) else {
            found.push(PartChange { id: class.id.clone(), kind: "removed".into(), changes: Vec::new() });
            continue;
        };
        let mut changes = Vec::new();
        differs(&mut changes, "count", class.count, other.count);
        for ((name, a), b) in first.resources.iter().zip(&class.capacity).zip(&other.capacity) {
            differs(&mut changes, name, *a, *b);
        }
        if !changes.is_empty() {
            found.push(PartChange { id: class.id.clone(), kind: "changed".into(), changes });
        }
    }
    let is_new = |id: &str| first.classes.iter().all(|class| class.id != id);
    let added = second.classes.iter().filter(|class| is_new(&class.id));
    found.extend(added.map(|class| PartChange {
        id: class.id.clone(),
        kind: "added".into(),
        changes: Vec::new(),
    }));
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
            found.push(PartChange { id, kind: "removed".into(), changes: Vec::new() });
            continue;
        };
        let mut changes = Vec::new();
        // Of kinds a task's demand is the sum.
        let has_kinds = !user.kinds.is_empty() || !other.user.kinds.is_empty();
        for (r, (a, b)) in user.demand.iter().zip(&other.user.demand).enumerate().filter(|_| !has_kinds) {
            differs(&mut changes, &format!("demand[{r}]"), *a, *b);
        }
        kinds_differ(&mut changes, named, other);
        differs(&mut changes, "weight", user.weight, other.user.weight);
        let tasks = |tasks: Option<u64>| tasks.map_or("unlimited".into(), |tasks| tasks.to_string());
        differs(&mut changes, "tasks", tasks(user.tasks), tasks(other.user.tasks));
        let list = |names: &Option<Vec<String>>| names.as_ref().map_or("all".into(), |names| names.join(";"));
        differs(&mut changes, "eligible", list(&named.eligible), list(&other.eligible));
        let rates = |rates: &[(String, String)]| {
            rates.iter().map(|(name, rate)| format!("{name}={rate}")).collect::<Vec<_>>().join(";")
        };
        differs(&mut changes, "rates", rates(&named.rates), rates(&other.rates));
        let group = |group: &Option<String>| group.clone().unwrap_or_else(|| "none".into());
        differs(&mut changes, "group", group(&named.group), group(&other.group));
        if !changes.is_empty() {
            found.push(PartChange { id, kind: "changed".into(), changes });
        }
    }
    let added = new.iter().filter(|named| !old_of.contains_key(named.user.id.as_str()));
    found.extend(added.map(|named| PartChange {
        id: named.user.id.clone(),
        kind: "added".into(),
        changes: Vec::new(),
    }));
    found
}

/// What changed of a user's kinds of tasks, kind by kind.
fn kinds_differ(changes: &mut Vec<String>, before: &Named, after: &Named) {
    let list = |names: &Option<Vec<String>>| names.as_ref().map_or("all".into(), |names| names.join(";"));
    let find = |of: &Named, id: &str| of.user.kinds.iter().position(|kind| kind.id == id);
    for (k, kind) in before.user.kinds.iter().enumerate() {
        let Some(other) = find(after, &kind.id) else {
            changes.push(format!("kind {} removed", kind.id));
            continue;
        };
        let (then, field) = (&after.user.kinds[other], |field: &str| format!("kind {} {field}", kind.id));
        differs(changes, &field("each"), kind.each, then.each);
        for (r, (a, b)) in kind.demand.iter().zip(&then.demand).enumerate() {
            differs(changes, &field(&format!("demand[{r}]")), *a, *b);
        }
        differs(changes, &field("eligible"), list(&before.kinds_on[k]), list(&after.kinds_on[other]));
    }
    let is_new = |id: &str| find(before, id).is_none();
    let added = after.user.kinds.iter().filter(|kind| is_new(&kind.id));
    changes.extend(added.map(|kind| format!("kind {} added", kind.id)));
}

fn differs<T: PartialEq + std::fmt::Display>(changes: &mut Vec<String>, field: &str, before: T, after: T) {
    if before != after {
        changes.push(format!("{field} {before} -> {after}"));
    }
}

/// What changed of groups.
fn group_changes(before: &Instance, after: &Instance) -> Vec<PartChange> {
    let only = |id: &str, kind: &str| PartChange { id: id.into(), kind: kind.into(), changes: Vec::new() };
    let parent = |instance: &Instance, parent: Option<GroupId>| {
        parent.map_or("none".to_owned(), |parent| instance.groups()[parent.0].id.clone())
    };
    let mut found = Vec::new();
    for group in before.groups() {
        let Some(other) = after.group_named(&group.id).map(|other| &after.groups()[other.0]) else {
            found.push(only(&group.id, "removed"));
            continue;
        };
        let mut changes = Vec::new();
        differs(&mut changes, "weight", group.weight, other.weight);
        differs(&mut changes, "parent", parent(before, group.parent), parent(after, other.parent));
        if !changes.is_empty() {
            found.push(PartChange { changes, ..only(&group.id, "changed") });
        }
    }
    let added = after.groups().iter().filter(|group| before.group_named(&group.id).is_none());
    found.extend(added.map(|group| only(&group.id, "added")));
    found
}

/// What the groups of either instance have in both, given the work of each user by its id. Shares are of the servers of the
/// first instance; of what those have none of, the second's.
fn groups_of_both(
    [before, after]: [&Instance; 2],
    [first, last]: [&HashMap<String, f64>; 2],
) -> Vec<GroupChange> {
    let measure = |r: ResourceId| if before.total(r) > 0.0 { before.total(r) } else { after.total(r) };
    let share = |user: User<'_>, works: &HashMap<String, f64>| {
        let demand = user.demand_doubles().iter().enumerate().filter(|(_, demand)| **demand > 0.0);
        let of_task = demand.map(|(r, demand)| demand / measure(ResourceId(r))).fold(0.0, f64::max);
        of_task * works.get(user.id()).copied().unwrap_or(0.0)
    };
    let sums = |instance: &Instance, works: &HashMap<String, f64>| {
        instance.of_groups(0.0, |i| share(instance.user(UserId(i)), works), |a, b| a + b)
    };
    let named = |(instance, works): (&Instance, &HashMap<String, f64>)| {
        let ids: Vec<String> = instance.groups().iter().map(|group| group.id.clone()).collect();
        ids.into_iter().zip(sums(instance, works))
    };
    GroupChange::of_both([(before, first), (after, last)].map(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_moved_just_above_what_is_noticed_and_not_just_below() {
        let moved = |part: f64| UserChange::new("a".into(), Some(1.0), Some(1.0 + part)).has_moved();
        assert!(moved(1.1 * NOTICED) && moved(-1.1 * NOTICED));
        assert!(!moved(0.9 * NOTICED) && !moved(-0.9 * NOTICED) && !moved(0.0));
    }
}
