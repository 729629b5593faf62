//! Which guarantees whole tasks on servers keep, and who is short by the most.

use crate::limited_tasks::Limits;
use crate::tolerance::QUOTIENT;
use crate::{GuaranteeResult, Instance, Owner, Placement, Quota, ResourceId, User, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many guarantees a placement keeps. One is kept where no further task, or whole gang, is within it of anybody below it who wants more,
/// whether a server has room for it or not: whole tasks may leave a part open that is less than a task, gangs one that is less than a gang. What a group is
/// guaranteed counts as far as the limits inside it, its own among them, let its members have it. No other limit is an excuse, whoever
/// uses it up, nor is a spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptGuarantees {
    /// How many users and groups are guaranteed something.
    pub guarantees: u64,
    /// Of how many of them it is kept.
    pub kept: u64,
    /// Who is short by the largest part. Absent where all are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<ShortOwner>,
}

/// Who has less than it is guaranteed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortOwner {
    /// `user` or `group`, and its id.
    pub owner: String,
    /// What it is guaranteed: `4 cpu, 2 gpu on a100`.
    pub guarantee: String,
    /// Which part of that it has, wherever it runs: of a group of the resource of which it has the largest part.
    pub part: f64,
}

impl KeptGuarantees {
    /// What a placement keeps; `None` where nothing is guaranteed.
    pub fn of(instance: &Instance, placement: &Placement) -> Option<Self> {
        if !instance.has_guarantees() {
            return None;
        }
        let guarantees = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee()).count() as u64;
        let mut short = Self::short_of(instance, &placement.tasks).into_iter();
        let kept = guarantees - short.len() as u64;
        Some(Self { guarantees, kept, short: short.next() })
    }

    /// Who has less than it is guaranteed where users have so many whole tasks, who is short by the largest part first.
    pub fn short_of(instance: &Instance, tasks: &[u64]) -> Vec<ShortOwner> {
        let wants_more = |user: User<'_>| {
            let next = tasks[user.index().0].saturating_add(user.at_once());
            let has_tasks_left = user.tasks().is_none_or(|all| next <= all);
            has_tasks_left && user.can_run()
        };
        let taken = TakenOfLimits::of(instance, tasks);
        let missed = |(owner, quota): &(Owner, Quota)| match *owner {
            Owner::User(user) => of_user(instance, tasks, user, wants_more),
            Owner::Group(group) => {
                let inside = instance.groups_inside(group);
                let is_member = |user: User<'_>| user.group().is_some_and(|group| inside[group.0]);
                let members: Vec<User<'_>> = instance.users().filter(|user| is_member(*user)).collect();
                let may_have_more = |user: User<'_>| wants_more(user) && !taken.hold(user, &inside);
                of_group(instance, tasks, quota, &members, may_have_more)
            }
        };
        let guaranteed = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
        let told = |(owner, quota): &(Owner, Quota), part: f64| ShortOwner {
            owner: instance.name_of(*owner),
            guarantee: GuaranteeResult::stated(instance, *owner, quota).in_words(),
            part,
        };
        let mut short: Vec<ShortOwner> =
            guaranteed.filter_map(|stated| missed(stated).map(|part| told(stated, part))).collect();
        // Of those who are short alike the first stays first.
        short.sort_by(|a, b| a.part.total_cmp(&b.part));
        short
    }
}

/// What whole tasks take of each limit, wherever they run: of kinds that could run beside the limit nothing is known, and nothing counts.
struct TakenOfLimits(Vec<u128>);

impl TakenOfLimits {
    fn of(instance: &Instance, tasks: &[u64]) -> Self {
        let mut taken = vec![0u128; instance.limit_rows().len()];
        for user in instance.users().filter(|_| instance.has_limits()) {
            let limits = Limits::above(user);
            for j in &limits.rows {
                let units = limits.surely_of_a_task(*j).saturating_mul(tasks[user.index().0].into());
                taken[*j] = taken[*j].saturating_add(units);
            }
        }
        Self(taken)
    }

    /// Whether a limit of the user, or of one of these groups, has no room for one more of its tasks or gangs.
    fn hold(&self, user: User<'_>, groups: &[bool]) -> bool {
        let (instance, limits) = (user.instance(), Limits::above(user));
        let is_full = |j: usize| {
            let row = &instance.limit_rows()[j];
            let more = limits.surely_of_a_task(j).saturating_mul(user.at_once().into());
            let is_inside = match row.owner {
                Owner::User(_) => true,
                Owner::Group(group) => groups[group.0],
            };
            is_inside && more > 0 && self.0[j].saturating_add(more) > instance.limit_units(row)
        };
        limits.rows.iter().any(|j| is_full(*j))
    }
}

/// The part of its guarantee that a user has; `None` where it is kept.
fn of_user(
    instance: &Instance,
    tasks: &[u64],
    user: UserId,
    wants_more: impl Fn(User<'_>) -> bool,
) -> Option<f64> {
    let sure = instance.guaranteed_tasks(instance.user(user));
    let has = tasks[user.0] as f64;
    let next = has + instance.user(user).at_once() as f64;
    let is_short = next <= sure * (1.0 + QUOTIENT) && wants_more(instance.user(user));
    is_short.then_some(has / sure)
}

/// The same of a group, whose members have their parts anywhere.
fn of_group(
    instance: &Instance,
    tasks: &[u64],
    quota: &Quota,
    members: &[User<'_>],
    wants_more: impl Fn(User<'_>) -> bool,
) -> Option<f64> {
    let resources: Vec<(ResourceId, u128)> = (0..instance.resources().len())
        .map(ResourceId)
        .map(|resource| (resource, instance.guaranteed_units(quota, resource)))
        .filter(|(_, much)| *much > 0)
        .collect();
    let used = |resource: ResourceId| {
        let of =
            |user: &User<'_>| user.demand_units(resource).saturating_mul(u128::from(tasks[user.index().0]));
        members.iter().map(of).fold(0, u128::saturating_add)
    };
    let rows: Vec<(ResourceId, u128, u128)> =
        resources.into_iter().map(|(resource, much)| (resource, much, used(resource))).collect();
    let is_within = |user: &&User<'_>| {
        let next = |r: ResourceId| user.demand_units(r).saturating_mul(u128::from(user.at_once()));
        let mut needed = rows.iter().filter(|(r, ..)| user.demand_units(*r) > 0).peekable();
        needed.peek().is_some() && needed.all(|(r, much, used)| used.saturating_add(next(*r)) <= *much)
    };
    members.iter().find(|user| is_within(user) && wants_more(**user))?;
    Some(rows.iter().map(|(_, much, used)| *used as f64 / *much as f64).fold(0.0, f64::max))
}
