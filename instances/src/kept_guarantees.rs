//! Which guarantees whole tasks on servers keep, and who is short by the most.

use crate::tolerance::QUOTIENT;
use crate::{GuaranteeResult, Instance, Owner, Placement, Quota, ResourceId, User, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many guarantees a placement keeps. One is kept where no further task, or whole gang, is within it of anybody below it who wants more
/// and fits some server: whole tasks may leave a part open that is less than a task, gangs one that is less than a gang. A limit is no
/// excuse, whoever uses it up, nor is a spread.
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
            has_tasks_left && user.fits_somewhere()
        };
        let missed = |(owner, quota): &(Owner, Quota)| match *owner {
            Owner::User(user) => of_user(instance, tasks, user, wants_more),
            Owner::Group(group) => {
                let inside = instance.groups_inside(group);
                let is_member = |user: User<'_>| user.group().is_some_and(|group| inside[group.0]);
                let members: Vec<User<'_>> = instance.users().filter(|user| is_member(*user)).collect();
                of_group(instance, tasks, quota, &members, wants_more)
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
