//! What is lost when servers fail together or are drained: the remaining cluster divided anew, failure by failure.
//!
//! The remaining servers are divided as DRFH divides any cluster, dominant shares measured against what is left. What users
//! lose is told in work, which does not depend on how shares are measured.

use super::failure::Failure;
use super::group_change::{self, GroupChange, most_changed};
use super::guaranteed::{Kept, ShortGuarantee, short_of, solved_as_far_as_guaranteed};
use super::standing::{Standing, Wants};
use super::variants::{both, built_as_far_as_reserved, keep_who_has_a_chance};
use crate::tolerance::NOTICED;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, ClassId, Draft, Instance, InstanceError, InstanceStamp, Solution, Solver, UserId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Users listed for each loss, those that lose the largest part first.
const LISTED: usize = 20;

/// What is lost when servers fail, class by class, or as it was named: DRFH on what is left; of whole tasks, what the same policy
/// places there. The same instance and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Losses {
    /// The instance.
    pub instance: InstanceStamp,
    /// What placed whole tasks, today and anew after each failure. Absent where tasks are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed_by: Option<PlacedBy>,
    /// The smallest weighted dominant share now: of users without a group, and of groups.
    pub value: f64,
    /// The same of those that still want more, where it is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// How many whole tasks are placed now. Absent where tasks are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// Each failure, the worst first: by the largest part that a user loses (a group, where there are any), then by
    /// what is lost in all.
    pub losses: Vec<Loss>,
}

impl Body for Losses {
    const FORMAT: &'static str = "fairplan.loss.v1";
}

/// The loss of servers that fail together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// The class, or what fails together.
    pub class: String,
    /// How many servers are lost.
    pub servers: u64,
    /// How many of which classes, where what fails together was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<LostServers>,
    /// The smallest weighted dominant share then, measured against the totals of the whole cluster.
    pub value: f64,
    /// The same of those that still want more, where it is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// The groups whose members have more or less together, those that lose the largest part first, at most 20: in
    /// dominant shares of the whole cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupChange>,
    /// Why what is guaranteed or reserved cannot be kept then. What users have is told with as much of the guarantees as can be
    /// kept, and without reserves where they are too much. Absent where all is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// Whose guarantees are not kept then, who is short of the largest part first; all others are kept. Of whole tasks those who are
    /// shorter than today: an owner's `kept` is the part of the guarantee that it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short: Vec<ShortGuarantee>,
    /// What is lost over all users that lose, in dominant shares of the whole cluster.
    pub lost: f64,
    /// How many users do less work.
    pub losing: usize,
    /// How many of them can do nothing any more.
    pub stranded: usize,
    /// How many do more.
    pub gaining: usize,
    /// How many whole tasks are placed then. Absent where tasks are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// How many of today's whole tasks have no room then, summed over the users that have fewer. Absent where tasks are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_lost: Option<u64>,
    /// The 20 users that lose the largest part of their work.
    pub losers: Vec<Loser>,
}

/// Servers of a class that fail with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostServers {
    /// The class.
    pub class: String,
    /// How many of its servers.
    pub servers: u64,
}

/// A user that does less work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loser {
    /// The user's id.
    pub id: String,
    /// Its work before, in tasks of rate 1.
    pub before: f64,
    /// Its work after.
    pub after: f64,
    /// The part of its work that is lost.
    pub part: f64,
    /// How many of its whole tasks have no room then. Absent where tasks are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_lost: Option<u64>,
}

/// By what whole tasks are placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacedBy {
    /// The policy.
    pub policy: String,
    /// The seed that it could draw on.
    pub seed: u64,
}

impl Loss {
    /// The group that loses the largest part; `None` where none loses.
    pub fn worst_group(&self) -> Option<&GroupChange> {
        self.groups.first().filter(|group| group.part.is_some_and(|part| part < 0.0))
    }

    /// The largest part of what it has that a group loses, where any does, else that a user loses.
    fn largest_part(&self) -> f64 {
        let of_users = || self.losers.first().map_or(0.0, |loser| loser.part);
        self.worst_group().and_then(|group| group.part).map_or_else(of_users, |part| -part)
    }
}

impl Tabular for Losses {
    /// A row a class, with the group and the user that lose the most (none where nobody loses).
    fn table(&self) -> Table<'_> {
        let worst = |of: fn(&Loser) -> f64| move |loss: &Loss| loss.losers.first().map(of);
        let table = Table::of(&self.losses)
            .column("class", "server class", Kind::Id, |loss| &loss.class)
            .column("servers", "servers lost", Kind::Count, |loss| loss.servers)
            .column("value", "smallest weighted share then", Kind::Share, |loss| loss.value)
            .column("level", "of those that want more", Kind::Share, |loss| loss.level)
            .column("worst_group", "group that loses the most", Kind::Id, |loss| {
                loss.worst_group().map_or("", |group| &group.id)
            })
            .said(|loss| loss.worst_group().is_none().then_some("none"))
            .column("group_part", "of what it has", Kind::Part, |loss| {
                loss.worst_group().and_then(|group| group.part).map(|part| -part)
            })
            .column("lost", "lost in all", Kind::Part, |loss| loss.lost)
            .column("short", "guarantees broken", Kind::Count, |loss| loss.short.len())
            .column("tasks_lost", "tasks without room", Kind::Count, |loss| loss.tasks_lost)
            .column("losing", "users that lose", Kind::Count, |loss| loss.losing)
            .column("stranded", "left with nothing", Kind::Count, |loss| loss.stranded)
            .column("gaining", "users that gain", Kind::Count, |loss| loss.gaining)
            .column("worst_user", "worst off", Kind::Id, |loss| {
                loss.losers.first().map_or("", |user| &user.id)
            })
            .said(|loss| loss.losers.is_empty().then_some("nobody"))
            .column("worst_before", "its tasks before", Kind::Number, worst(|user| user.before))
            .column("worst_after", "its tasks after", Kind::Number, worst(|user| user.after))
            .column("worst_part", "loses", Kind::Part, worst(|user| user.part))
            .done();
        let breaks = self.losses.iter().any(|loss| !loss.short.is_empty());
        let table = if breaks { table } else { table.without(&["short"]) };
        let table = if self.has_groups() { table } else { table.without(&["worst_group", "group_part"]) };
        let table = if self.placed_by.is_some() { table } else { table.without(&["tasks_lost"]) };
        if self.losses.iter().any(|loss| loss.level.is_some()) { table } else { table.without(&["level"]) }
    }
}

impl Losses {
    /// Whether any group has more or less without some servers.
    pub fn has_groups(&self) -> bool {
        self.losses.iter().any(|loss| !loss.groups.is_empty())
    }

    /// A row for each class and group that has more or less without it.
    pub fn groups(&self) -> Table<'_> {
        let rows = self.losses.iter().flat_map(|loss| loss.groups.iter().map(|group| (&*loss.class, group)));
        group_change::table_by("class", "servers lost", rows.collect())
    }

    /// A row for each class and user that loses the most there.
    pub fn losers(&self) -> Table<'_> {
        let losses = self.losses.iter();
        let rows: Vec<(&Loss, &Loser)> =
            losses.flat_map(|loss| loss.losers.iter().map(move |loser| (loss, loser))).collect();
        Table::over(rows.len(), move |row| rows[row])
            .column("class", "servers lost", Kind::Id, |row| &row.0.class)
            .column("user", "user", Kind::Id, |row| &row.1.id)
            .column("before", "tasks before", Kind::Number, |row| row.1.before)
            .column("after", "tasks after", Kind::Number, |row| row.1.after)
            .column("part", "loses", Kind::Part, |row| row.1.part)
            .done()
    }
}

/// What each of these failures costs, the worst first: by the largest part that any user loses (any group, where there are some),
/// then by what is lost in all. `solution` is the DRFH of the instance, which comes with its hash.
pub fn losses(
    instance: &Instance,
    sha256: &str,
    solution: &Solution,
    solver: &dyn Solver,
    failures: &[Failure],
) -> Result<Losses, InstanceError> {
    let today = Standing::of(instance, solution);
    let left = &mut |draft| what_is_left(instance, &today, draft, solver);
    let losses = of_failures(instance, &today, failures, left)?;
    let (value, level) = (today.value, today.stated_level());
    let instance = InstanceStamp::new(instance, sha256);
    Ok(Losses { instance, placed_by: None, value, level, tasks: None, losses })
}

/// What is left when servers are gone.
pub(super) struct Left {
    pub standing: Standing,
    /// Why what is guaranteed or reserved is not kept.
    pub not_kept: Option<String>,
    /// Whose guarantees are not kept.
    pub short: Vec<ShortGuarantee>,
    /// Of whole tasks: how many each user has then, and how many of today's have no room.
    pub tasks: Option<(Vec<u64>, Vec<u64>)>,
}

/// The losses of these failures, the worst first; `left` says what there is on the servers of a draft.
pub(super) fn of_failures<E>(
    instance: &Instance,
    today: &Standing,
    failures: &[Failure],
    left: &mut dyn FnMut(Draft) -> Result<Left, E>,
) -> Result<Vec<Loss>, E> {
    let mut losses = Vec::new();
    for failure in failures {
        let mut draft = Draft::from(instance);
        for (class, lost) in &failure.servers {
            let left = draft.classes[class.0].count.saturating_sub(*lost);
            draft.classes[class.0].set_count(left);
        }
        losses.push(of_failure(instance, today, failure, left(draft)?));
    }
    let rounded = |x: f64| (x * 1e6).round();
    let worst = |loss: &Loss| rounded(loss.largest_part());
    losses.sort_by(|a, b| worst(b).total_cmp(&worst(a)).then(rounded(b.lost).total_cmp(&rounded(a.lost))));
    Ok(losses)
}

fn of_failure(instance: &Instance, today: &Standing, failure: &Failure, left: Left) -> Loss {
    let Failure { name, servers } = failure;
    let Left { standing: left, not_kept, short, tasks } = left;
    let id = |class: ClassId| instance.classes()[class.0].id.as_str();
    let is_class = matches!(&servers[..], [(class, _)] if id(*class) == name);
    let named = servers.iter().filter(|_| !is_class);
    let (before, after) = (&today.works, &left.works);
    let part = |i: usize| 1.0 - after[i] / before[i];
    let mut losers: Vec<usize> =
        (0..before.len()).filter(|i| before[*i] > 0.0 && part(*i) > NOTICED).collect();
    // Parts that differ by rounding are the same.
    let rounded = |i: usize| (part(i) * 1e6).round();
    losers.sort_by(|a, b| rounded(*b).total_cmp(&rounded(*a)));
    let told = |i: &usize| Loser {
        id: instance.user(UserId(*i)).id().into(),
        before: before[*i],
        after: after[*i],
        part: part(*i),
        tasks_lost: tasks.as_ref().map(|(_, lost)| lost[*i]),
    };
    let share = |user: UserId| instance.user(user).task_share();
    let sum = |tasks: &[u64]| tasks.iter().fold(0, |sum: u64, tasks| sum.saturating_add(*tasks));
    Loss {
        class: name.clone(),
        servers: servers.iter().fold(0, |sum, (_, lost)| sum.saturating_add(*lost)),
        classes: named
            .map(|(class, lost)| LostServers { class: id(*class).into(), servers: *lost })
            .collect(),
        value: left.value,
        level: left.stated_level(),
        groups: most_changed(instance, &today.groups, &left.groups, false),
        not_kept,
        short,
        // From 0.0 on: the sum of nothing is -0.0.
        lost: losers.iter().fold(0.0, |sum, i| sum + (before[*i] - after[*i]) * share(UserId(*i))),
        losing: losers.len(),
        stranded: losers.iter().filter(|i| after[**i] == 0.0).count(),
        gaining: before.iter().zip(after).filter(|(b, a)| **a > **b * (1.0 + NOTICED)).count(),
        tasks: tasks.as_ref().map(|(then, _)| sum(then)),
        tasks_lost: tasks.as_ref().map(|(_, lost)| sum(lost)),
        losers: losers.iter().take(LISTED).map(told).collect(),
    }
}

/// What the users of an instance have on what is left of its servers, which may have nothing of some resource.
fn what_is_left(
    instance: &Instance,
    today: &Standing,
    mut draft: Draft,
    solver: &dyn Solver,
) -> Result<Left, InstanceError> {
    let mut works_of_all = vec![0.0; draft.users.len()];
    let mut wants_more = vec![Wants::Nothing; draft.users.len()];
    let mut sure = vec![0.0; draft.users.len()];
    // Divided tasks keep no rules between servers, and what is left need not hold a gang.
    draft.users.iter_mut().for_each(|user| (user.gang, user.spread) = (None, None));
    let kept = keep_who_has_a_chance(&mut draft);
    if kept.is_empty() {
        let standing = today.after(instance, works_of_all, wants_more);
        let short = short_of(instance, today.floors(), &sure);
        return Ok(Left { standing, not_kept: None, short, tasks: None });
    }
    let (variant, unreserved) = built_as_far_as_reserved(draft).map_err(InstanceError::Inapplicable)?;
    let Kept { instance: variant, solution, standing: then, not_kept } =
        solved_as_far_as_guaranteed(solver, variant)?;
    let left = then.works.iter().zip(&solution.limited_by).zip(then.floors());
    for (k, (i, ((work, limited_by), floor))) in kept.into_iter().zip(left).enumerate() {
        (works_of_all[i], wants_more[i]) = (*work, Wants::of(*limited_by));
        // A task is another share of what is left.
        sure[i] = floor / variant.user(UserId(k)).task_share() * instance.user(UserId(i)).task_share();
    }
    let standing = today.after(instance, works_of_all, wants_more);
    let short = short_of(instance, today.floors(), &sure);
    Ok(Left { standing, not_kept: both(unreserved, not_kept), short, tasks: None })
}
