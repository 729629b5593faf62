//! Which guarantees whole tasks keep, counted anew.
//!
//! A guarantee is kept where nobody below it who wants more has room within it for one more task, whether a server has or not; of a user with
//! gangs, for one more gang. Of a user with kinds a task is all its pieces. Of a group nobody counts whom a limit inside it, its own among
//! them, lets have no more, whatever class tasks run on.

use crate::groups::guaranteed_tasks;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{
    ClassId, GroupId, GuaranteeResult, Instance, KeptGuarantees, Kind, LimitRow, Owner, Quota, ResourceId,
    User,
};

/// `guarantees`: as many are stated and kept as there are, and who is short by the most is short by so much. `tasks` are those of each
/// user.
pub(crate) fn guarantees(instance: &Instance, tasks: &[u64], stated: Option<&KeptGuarantees>) -> Verdict {
    let mut worst = Worst::of("guarantees", tolerance::STATED);
    let owners: Vec<(Owner, &Quota)> = instance
        .quotas()
        .iter()
        .filter(|(_, quota)| quota.guaranteed().next().is_some())
        .map(|(owner, quota)| (*owner, quota))
        .collect();
    let Some(stated) = stated else {
        if !owners.is_empty() {
            worst.fail(|| format!("{} are guaranteed something, and none is stated", owners.len()));
        }
        return worst.verdict();
    };
    let given = Given::of(instance, tasks);
    let short: Vec<(Owner, &Quota, f64)> = owners
        .iter()
        .filter_map(|(owner, quota)| Some((*owner, *quota, given.part_of_short(*owner, quota)?)))
        .collect();
    let kept = owners.len() - short.len();
    if (stated.guarantees, stated.kept) != (owners.len() as u64, kept as u64) {
        worst.fail(|| {
            let (all, kept_as_stated) = (stated.guarantees, stated.kept);
            format!("guarantees kept: {kept} of {}, stated: {kept_as_stated} of {all}", owners.len())
        });
    }
    let most = short.iter().map(|(.., part)| *part).fold(f64::INFINITY, f64::min);
    match &stated.short {
        None => {
            if let Some((owner, ..)) = short.first() {
                worst.fail(|| format!("{} is short, and nobody is stated", instance.name_of(*owner)));
            }
        }
        Some(claimed) => {
            worst.compare(claimed.part, most, || format!("part that {} has", claimed.owner));
            let is_claimed = |(owner, quota, part): &&(Owner, &Quota, f64)| {
                instance.name_of(*owner) == claimed.owner
                    && *part <= most + tolerance::STATED
                    && GuaranteeResult::stated(instance, *owner, quota).in_words() == claimed.guarantee
            };
            if !short.iter().any(|one| is_claimed(&one)) {
                worst.fail(|| format!("{} is not short of {} by the most", claimed.owner, claimed.guarantee));
            }
        }
    }
    worst.verdict()
}

/// `guarantees`: whoever had what it is guaranteed with so many tasks of each user has it with those after.
pub fn guarantees_stay(instance: &Instance, before: &[u64], after: &[u64]) -> Verdict {
    let mut worst = Worst::of("guarantees", 0.0);
    let (before, after) = (Given::of(instance, before), Given::of(instance, after));
    for (owner, quota) in instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee()) {
        let is_short = |given: &Given<'_>| given.part_of_short(*owner, quota).is_some();
        if is_short(&after) && !is_short(&before) {
            worst.fail(|| {
                let sure = GuaranteeResult::stated(instance, *owner, quota).in_words();
                format!(
                    "{} has what it is guaranteed before, and not in the end: {sure}",
                    instance.name_of(*owner)
                )
            });
        }
    }
    worst.verdict()
}

/// Whole tasks that users have.
struct Given<'a> {
    instance: &'a Instance,
    tasks: &'a [u64],
    /// What they take of each limit on whatever class they run.
    of_limits: Vec<u128>,
}

impl<'a> Given<'a> {
    fn of(instance: &'a Instance, tasks: &'a [u64]) -> Self {
        let mut of_limits = vec![0u128; instance.limit_rows().len()];
        if instance.has_limits() {
            for user in instance.users() {
                for j in instance.limits_above(user) {
                    let each = taken_anywhere(user, &instance.limit_rows()[j]);
                    let units = each.saturating_mul(tasks[user.index().0].into());
                    of_limits[j] = of_limits[j].saturating_add(units);
                }
            }
        }
        Self { instance, tasks, of_limits }
    }

    /// Whether one more task or gang of the user is above a limit of its own, of the group or of one inside it.
    fn is_limited(&self, user: User<'_>, group: GroupId) -> bool {
        self.instance.limits_above(user).into_iter().any(|j| {
            let row = &self.instance.limit_rows()[j];
            let is_inside = match row.owner {
                Owner::User(_) => true,
                Owner::Group(owner) => is_inside(self.instance, Some(owner), group),
            };
            let more = taken_anywhere(user, row).saturating_mul(step(user).into());
            let all = row.amount.scaled(self.instance.unit_exponent(row.resource)).unwrap_or(u128::MAX);
            !row.is_reserve() && is_inside && more > 0 && self.of_limits[j].saturating_add(more) > all
        })
    }

    /// The part of its guarantee that its owner has; `None` where it is kept.
    fn part_of_short(&self, owner: Owner, quota: &Quota) -> Option<f64> {
        let Self { instance, tasks, .. } = *self;
        match owner {
            Owner::User(user) => {
                let (user, has) = (instance.user(user), tasks[user.0]);
                let sure = guaranteed_tasks(instance, user);
                let has_room = (has as f64 + step(user) as f64) <= sure * (1.0 + tolerance::QUOTIENTS);
                (has_room && wants_more(user, has)).then(|| has as f64 / sure)
            }
            Owner::Group(group) => {
                let members: Vec<User<'_>> =
                    instance.users().filter(|user| is_inside(instance, user.group(), group)).collect();
                let amounts: Vec<(ResourceId, u128, u128)> = (0..instance.resources().len())
                    .map(ResourceId)
                    .map(|resource| {
                        let taken = members.iter().map(|user| {
                            user.demand_units(resource).saturating_mul(u128::from(tasks[user.index().0]))
                        });
                        (resource, amount(instance, quota, resource), taken.fold(0, u128::saturating_add))
                    })
                    .filter(|(_, amount, _)| *amount > 0)
                    .collect();
                let has_room = |user: &User<'_>| {
                    let mut is_sure = false;
                    for (resource, amount, taken) in &amounts {
                        let demand = user.demand_units(*resource).saturating_mul(u128::from(step(*user)));
                        if demand > 0 && taken.saturating_add(demand) > *amount {
                            return false;
                        }
                        is_sure |= demand > 0;
                    }
                    is_sure
                };
                let is_short = members.iter().any(|user| {
                    has_room(user)
                        && wants_more(*user, tasks[user.index().0])
                        && !self.is_limited(*user, group)
                });
                let part = |(_, amount, taken): &(ResourceId, u128, u128)| *taken as f64 / *amount as f64;
                is_short.then(|| amounts.iter().map(part).fold(0.0, f64::max))
            }
        }
    }
}

/// What a task takes of a limit on whatever class it runs: what those of its kinds need that can run nowhere but where the limit counts.
fn taken_anywhere(user: User<'_>, row: &LimitRow) -> u128 {
    let classes = || (0..user.instance().classes().len()).map(ClassId);
    let counts = |kind: &Kind<'_>| {
        let mut usable = classes().filter(|class| kind.can_use(*class)).peekable();
        usable.peek().is_some() && usable.all(|class| row.covers(class))
    };
    user.kinds().filter(counts).map(|kind| kind.demand_units(row.resource)).fold(0, u128::saturating_add)
}

/// Whether the user has tasks left, a whole gang where they run in gangs, and may run somewhere, if only in parts.
fn wants_more(user: User<'_>, has: u64) -> bool {
    user.tasks().is_none_or(|all| all.saturating_sub(has) >= step(user)) && user.can_run()
}

/// By how many tasks a user has more: a gang, or one.
fn step(user: User<'_>) -> u64 {
    match user.gang() {
        Some(gang) => gang.tasks,
        None => 1,
    }
}

/// Whether somebody whose group is `at` is in `group` or in one below it.
fn is_inside(instance: &Instance, mut at: Option<GroupId>, group: GroupId) -> bool {
    while let Some(here) = at.filter(|here| *here != group) {
        at = instance.groups()[here.0].parent;
    }
    at.is_some()
}

/// How much of a resource is guaranteed: over all classes, or over some of them together.
fn amount(instance: &Instance, quota: &Quota, resource: ResourceId) -> u128 {
    let (mut over_all, mut over_some) = (None, 0u128);
    for sure in quota.guaranteed().filter(|sure| sure.resource == resource) {
        let units = sure.amount.scaled(instance.unit_exponent(resource)).unwrap_or(u128::MAX);
        match sure.classes {
            None => over_all = Some(units),
            Some(_) => over_some = over_some.saturating_add(units),
        }
    }
    over_all.unwrap_or(over_some)
}
