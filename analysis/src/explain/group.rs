//! Why a group has what it has: what holds its members, where it stands among its siblings, and who of them would have more if
//! it asked for less.

use super::quotas;
use super::{LevelReached, holdings};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::wording::ordinal;
use fairplan_instances::{
    Body, ClassId, Decimal, Draft, GroupId, GroupResult, GuaranteeResult, Instance, InstanceError,
    InstanceStamp, LimitResult, LimitedBy, ResourceId, Solution, Solver, Status, UserId, group_results,
    objective_share,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why one group has what it has. The same instance and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupExplanation {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The group: what its members have together, its level among its siblings, and what limits it.
    pub group: GroupResult,
    /// The full, priced capacities that keep its members from more.
    pub held_by: Vec<GroupHolding>,
    /// Its limits, those of the groups that it is in, and what others reserve, that are used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitResult>,
    /// What it and the groups that it is in are guaranteed, and have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarantees: Vec<GuaranteeResult>,
    /// Its members, those of groups inside it included, in the instance's order.
    pub members: Vec<Member>,
    /// The groups inside it, in the instance's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupResult>,
    /// How many siblings it has: groups and users that the same group, or the root, divides its part among.
    pub siblings_in_all: usize,
    /// The siblings that would gain most if it asked for a tenth less than it has, at most 20; the others in the instance's order,
    /// groups first.
    pub siblings: Vec<Sibling>,
    /// The questions that were not asked, and why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_asked: Vec<String>,
}

impl Body for GroupExplanation {
    const FORMAT: &'static str = "fairplan.group-explanation.v1";
}

/// A full capacity that holds members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupHolding {
    /// The server class.
    pub class: String,
    /// The resource.
    pub resource: String,
    /// How many of the members it keeps from more.
    pub members: usize,
    /// The first level at which it does, and the increase of that level per unit, with everybody who is held before kept as it is.
    pub level: usize,
    /// That price.
    pub price: f64,
    /// The part of it that the group has.
    pub part: f64,
}

/// A user of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The user's id.
    pub id: String,
    /// The group that it belongs to itself.
    pub group: String,
    /// Its share, of which the group's is the sum.
    pub share: f64,
    /// How many tasks it gets.
    pub tasks: f64,
    /// What limits it.
    pub limited_by: LimitedBy,
    /// The level at the root at which it is held. Absent where none holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<LevelReached>,
    /// What it has costs so much at the prices of that level, as a part of what all servers are worth. Absent as `level` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pays: Option<f64>,
}

/// A sibling of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sibling {
    /// Its id.
    pub id: String,
    /// `group` or `user`.
    pub kind: String,
    /// Its weight.
    pub weight: f64,
    /// What it has; of a group all members together.
    pub share: f64,
    /// The share over the weight.
    pub level: f64,
    /// What limits it.
    pub limited_by: LimitedBy,
    /// What it would have if the explained group asked for a tenth less than it has. Absent where that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<f64>,
}

impl Sibling {
    /// By how much it would have more, of a whole share.
    pub fn gain(&self) -> f64 {
        self.then.map_or(0.0, |then| then - self.share)
    }
}

impl Tabular for GroupExplanation {
    /// A row a member.
    fn table(&self) -> Table<'_> {
        Table::of(&self.members)
            .column("user", "user", Kind::Id, |member| &member.id)
            .column("group", "in", Kind::Name, |member| &member.group)
            .column("share", "share", Kind::Share, |member| member.share)
            .column("tasks", "tasks", Kind::Number, |member| member.tasks)
            .column("limited_by", "limited by", Kind::Words, |member| member.limited_by.name())
            .said(|member| Some(member.limited_by.in_words()))
            .column("level", "held at", Kind::Share, |member| member.level.map(|level| level.value))
            .column("pays", "pays", Kind::Part, |member| member.pays)
            .done()
    }
}

impl GroupExplanation {
    /// The full capacities that keep its members from more.
    pub fn holding(&self) -> Table<'_> {
        Table::of(&self.held_by)
            .column("class", "server class", Kind::Id, |held| &held.class)
            .column("resource", "resource", Kind::Name, |held| &held.resource)
            .column("members", "members held", Kind::Count, |held| held.members)
            .column("part", "of it the group has", Kind::Part, |held| held.part)
            .column("level", "from which level on", Kind::Count, |held| held.level)
            .said(|held| Some(ordinal(held.level as u64 + 1)))
            .column("price", "price there", Kind::Number, |held| held.price)
            .done()
    }

    /// Its siblings.
    pub fn siblings(&self) -> Table<'_> {
        Table::of(&self.siblings)
            .column("sibling", "sibling", Kind::Id, |sibling| &sibling.id)
            .column("kind", "is a", Kind::Words, |sibling| &sibling.kind)
            .column("weight", "weight", Kind::Number, |sibling| sibling.weight)
            .column("share", "share", Kind::Share, |sibling| sibling.share)
            .column("level", "share by weight", Kind::Share, |sibling| sibling.level)
            .column("limited_by", "limited by", Kind::Words, |sibling| sibling.limited_by.name())
            .said(|sibling| Some(sibling.limited_by.in_words()))
            .column("then", "if the group asked for a tenth less", Kind::Share, |sibling| sibling.then)
            .done()
    }
}

/// Siblings that are listed.
const LISTED: usize = 20;

/// The part of what a group has that it asks for where it asks for less.
const LESS: f64 = 0.9;

/// Tasks are divided into `10^6` where a number of them is asked for that need not be whole, unless there are that many.
const PARTS_POWER: i32 = 6;

/// Explains a group in `solution`, which `solver` found for `instance`; that comes with its hash. What the solver has no time for
/// ([`InstanceError::OutOfTime`]) is not asked.
pub fn explain_group(
    instance: &Instance,
    sha256: &str,
    solution: &Solution,
    solver: &dyn Solver,
    group: GroupId,
) -> Result<GroupExplanation, InstanceError> {
    let all = group_results(instance, solution);
    let inside = instance.groups_inside(group);
    let is_member = |user: UserId| instance.user(user).group().is_some_and(|group| inside[group.0]);
    let members: Vec<UserId> =
        (0..instance.user_count()).map(UserId).filter(|user| is_member(*user)).collect();
    let mut not_asked = Vec::new();
    let then = with_less(instance, solution, solver, &members, &mut not_asked)?;
    let (siblings_in_all, siblings) = siblings(instance, solution, &all, group, then.as_ref());
    let is_inside = |(g, _): &(usize, &GroupResult)| inside[*g] && *g != group.0;
    Ok(GroupExplanation {
        instance: InstanceStamp::new(instance, sha256),
        objective: solution.objective.to_string(),
        held_by: held_by(instance, solution, &members),
        limits: limits_of(instance, solution, &members),
        guarantees: quotas::guarantees_of(instance, solution, Some(group), None),
        members: members.iter().map(|user| member(instance, solution, *user)).collect(),
        groups: all.iter().enumerate().filter(is_inside).map(|(_, group)| group.clone()).collect(),
        group: all[group.0].clone(),
        siblings_in_all,
        siblings,
        not_asked,
    })
}

/// The used up limits that all members are below, and what others reserve of what all of them need.
fn limits_of(instance: &Instance, solution: &Solution, members: &[UserId]) -> Vec<LimitResult> {
    let [first, others @ ..] = members else { return Vec::new() };
    let all = quotas::limits_above(instance.user(*first), solution, &[]);
    let is_above = |limit: &LimitResult| {
        others.iter().all(|user| quotas::limits_above(instance.user(*user), solution, &[]).contains(limit))
    };
    all.into_iter().filter(|limit| limit.user.is_none() && is_above(limit)).collect()
}

/// The level that holds a user.
fn held_at(solution: &Solution, user: UserId) -> Option<(usize, &fairplan_instances::Level)> {
    if solution.limited_by[user.0] != LimitedBy::Capacity {
        return None;
    }
    let k = *solution.certificate.level_of()?.get(user.0)? as usize;
    Some((k, solution.certificate.levels().get(k)?))
}

fn member(instance: &Instance, solution: &Solution, user: UserId) -> Member {
    let (view, m) = (instance.user(user), instance.resources().len());
    let held = held_at(solution, user);
    let pays = held.map(|(_, level)| {
        let cost = |demand: &[f64], tasks: f64, class: ClassId| {
            let row = &level.prices[class.0 * m..(class.0 + 1) * m];
            tasks * demand.iter().zip(row).map(|(demand, price)| demand * price).sum::<f64>()
        };
        let of_kind = |kind: fairplan_instances::Kind<'_>| {
            let parts = solution.allocation.placement_of_kind(user, kind.index());
            parts.map(|(class, tasks)| cost(kind.demand_doubles(), tasks, class)).sum::<f64>()
        };
        let worth = |(class, row): (&fairplan_instances::ServerClass, &[f64])| {
            let one: f64 =
                class.capacity.iter().zip(row).map(|(capacity, price)| capacity.to_f64() * price).sum();
            class.count as f64 * one
        };
        let all: f64 = instance.classes().iter().zip(level.prices.chunks(m)).map(worth).sum();
        // Where all servers are one, a unit costs the same on every class.
        let paid: f64 = match solution.allocation.is_pooled() {
            true => cost(view.demand_doubles(), solution.allocation.tasks(user), ClassId(0)),
            false => view.kinds().map(of_kind).sum(),
        };
        if all > 0.0 { paid / all } else { 0.0 }
    });
    Member {
        id: view.id().into(),
        group: view.group().map_or(String::new(), |group| instance.groups()[group.0].id.clone()),
        share: objective_share(instance, solution, user),
        tasks: solution.allocation.tasks(user),
        limited_by: solution.limited_by[user.0],
        level: held.map(|(position, level)| LevelReached { position, value: level.value }),
        pays,
    }
}

/// The priced capacities of the levels at which members are held.
fn held_by(instance: &Instance, solution: &Solution, members: &[UserId]) -> Vec<GroupHolding> {
    let mut found: BTreeMap<(usize, usize), GroupHolding> = BTreeMap::new();
    for &user in members {
        let Some((k, level)) = held_at(solution, user) else { continue };
        for held in holdings(instance.user(user), instance, &level.prices) {
            let here = found.entry((held.class.0, held.resource.0)).or_insert_with(|| GroupHolding {
                class: instance.classes()[held.class.0].id.clone(),
                resource: instance.resources()[held.resource.0].clone(),
                members: 0,
                level: k,
                price: held.price,
                part: part_of(instance, solution, members, held.class, held.resource),
            });
            here.members += 1;
            if k < here.level {
                (here.level, here.price) = (k, held.price);
            }
        }
    }
    found.into_values().collect()
}

/// The part of a class's capacity that users have; of the whole cluster's, where all servers are one.
fn part_of(
    instance: &Instance,
    solution: &Solution,
    users: &[UserId],
    class: ClassId,
    resource: ResourceId,
) -> f64 {
    let pooled = solution.allocation.is_pooled();
    let tasks = |user: UserId, kind: fairplan_instances::Kind<'_>| match pooled {
        true => solution.allocation.tasks(user),
        false => {
            let parts = solution.allocation.placement_of_kind(user, kind.index());
            parts.filter(|(on, _)| *on == class).map(|(_, tasks)| tasks).sum()
        }
    };
    let of_user = |user: &UserId| -> f64 {
        let kinds = instance.user(*user).kinds();
        kinds.map(|kind| tasks(*user, kind) * kind.demand_doubles()[resource.0]).sum()
    };
    let load: f64 = users.iter().map(of_user).sum();
    let server = &instance.classes()[class.0];
    let capacity = match pooled {
        true => instance.total(resource),
        false => server.capacity[resource.0].to_f64() * server.count as f64,
    };
    if capacity > 0.0 { load / capacity } else { 0.0 }
}

/// The solution if each of these users asked for a tenth less than it has, and its instance.
fn with_less(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    members: &[UserId],
    not_asked: &mut Vec<String>,
) -> Result<Option<(Instance, Solution)>, InstanceError> {
    let mut why_not = |why: &str| {
        not_asked.push(format!("who would gain if the group asked for less: {why}"));
        Ok(None)
    };
    let mut draft = Draft::from(instance);
    for &user in members {
        // Less than a whole task may be less than it has: the same work in smaller tasks.
        let tasks = solution.allocation.tasks(user);
        let power = if tasks < 10f64.powi(PARTS_POWER) { PARTS_POWER } else { 0 };
        let smaller = |demand: &Decimal| {
            let units = demand.scaled(demand.exponent())?;
            Decimal::from_units(units, i32::from(demand.exponent()) - power).ok()
        };
        let user_then = &mut draft.users[user.0];
        let demands = user_then.kinds.iter_mut().map(|kind| &mut kind.demand);
        for demand in std::iter::once(&mut user_then.demand).chain(demands) {
            let Some(then) = demand.iter().map(smaller).collect::<Option<Vec<_>>>() else {
                return why_not("its demands have too many digits");
            };
            *demand = then;
        }
        user_then.tasks = Some((LESS * tasks * 10f64.powi(power)).round() as u64);
    }
    let Ok(variant) = draft.build() else { return why_not("its numbers are too long") };
    match solver.solve(&variant, solution.objective) {
        Ok(answer) if answer.status == Status::Optimal => Ok(Some((variant, answer))),
        Ok(_) => why_not("the solution of that is not proved"),
        Err(InstanceError::OutOfTime) => why_not("time was over"),
        Err(InstanceError::Unsupported(why)) => why_not(&why),
        // Its members would have few tasks then.
        Err(InstanceError::Inapplicable(violation)) => why_not(&violation.problem),
        Err(InstanceError::Guarantees(_)) => why_not("guarantees cannot be kept then"),
        Err(error) => Err(error),
    }
}

/// How many siblings a group has, and those that gain the most from what it leaves.
fn siblings(
    instance: &Instance,
    solution: &Solution,
    all: &[GroupResult],
    group: GroupId,
    then: Option<&(Instance, Solution)>,
) -> (usize, Vec<Sibling>) {
    let parent = instance.groups()[group.0].parent;
    let groups_then = then.map(|(instance, solution)| group_results(instance, solution));
    let groups =
        instance.groups().iter().enumerate().filter(|(g, other)| other.parent == parent && *g != group.0);
    let groups = groups.map(|(g, _)| Sibling {
        id: all[g].id.clone(),
        kind: "group".into(),
        weight: all[g].weight,
        share: all[g].share,
        level: all[g].level,
        limited_by: all[g].limited_by,
        then: groups_then.as_ref().map(|then| then[g].share),
    });
    let users = instance.users().filter(|user| user.group() == parent).map(|user| {
        let (share, weight) = (objective_share(instance, solution, user.index()), user.weight().to_f64());
        Sibling {
            id: user.id().into(),
            kind: "user".into(),
            weight,
            share,
            level: share / weight,
            limited_by: solution.limited_by[user.index().0],
            then: then.map(|(instance, solution)| objective_share(instance, solution, user.index())),
        }
    });
    let mut siblings: Vec<Sibling> = groups.chain(users).collect();
    let rank = |sibling: &Sibling| (sibling.gain() * 1e9).round();
    siblings.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let count = siblings.len();
    siblings.truncate(LISTED);
    (count, siblings)
}
