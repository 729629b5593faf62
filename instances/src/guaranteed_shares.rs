//! What users are sure of by guarantees, in shares and in whole tasks.

use crate::tolerance::{QUOTIENT, SAME};
use crate::violation::Violation;
use crate::{
    Decimal, Draft, DraftQuota, Instance, Kind, LimitedTasks, Objective, Owner, Quota, QuotaPart, ResourceId,
    Solution, User, UserId, objective_share,
};
use std::collections::HashMap;

/// What every user is sure of, as its group counts shares, given the divisions of what groups are guaranteed: who has a part in one of
/// these what it has there.
pub fn guaranteed_shares(instance: &Instance, objective: Objective, guaranteed: &[Solution]) -> Vec<f64> {
    let users = (0..instance.user_count()).map(UserId);
    let mut shares: Vec<f64> = users.map(|user| guaranteed_share(instance, objective, user)).collect();
    for (alone, solution) in instance.guaranteed_groups().unwrap_or_default().iter().zip(guaranteed) {
        for (i, user) in alone.members.iter().enumerate() {
            shares[user.0] = objective_share(&alone.instance, solution, UserId(i));
        }
    }
    shares
}

/// What a user is guaranteed itself, as its group counts shares; at most what its tasks are worth.
pub fn guaranteed_share(instance: &Instance, objective: Objective, user: UserId) -> f64 {
    let user = instance.user(user);
    let can_run = objective.is_pooled() || user.kinds().all(Kind::can_run);
    let tasks = if can_run { instance.guaranteed_tasks(user) } else { 0.0 };
    let per_share = objective.share_per_level(user) / user.weight().to_f64();
    if tasks == 0.0 || per_share == 0.0 { 0.0 } else { tasks * user.task_share() / per_share }
}

/// The whole tasks that every user is guaranteed itself: of those that its amounts hold the whole ones, in whole gangs, at most what its
/// limits let it have, and none for whom fits on no server. What members have a part in with their group does not count here.
pub fn guaranteed_whole_tasks(instance: &Instance) -> Vec<u64> {
    whole_guarantees(instance, &[])
}

impl LimitedTasks {
    /// The [`guaranteed_whole_tasks`] of the instance that these numbers are of.
    pub fn guaranteed(&self, instance: &Instance) -> Vec<u64> {
        match instance.has_guarantees() {
            true => self.whole(instance, &guaranteed_to_users(instance)),
            false => vec![0; instance.user_count()],
        }
    }

    /// The same as dominant shares.
    pub fn guaranteed_shares(&self, instance: &Instance) -> Vec<f64> {
        shares_of(instance, &self.guaranteed(instance))
    }

    /// The whole tasks that so many hold, of each user.
    fn whole(&self, instance: &Instance, sure: &[f64]) -> Vec<u64> {
        let whole = |(user, sure): (User<'_>, &f64)| {
            if !user.fits_somewhere() {
                return 0;
            }
            (*sure as u64).min(self.most[user.index().0]) / user.at_once() * user.at_once()
        };
        instance.users().zip(sure).map(whole).collect()
    }
}

/// The tasks that every user is guaranteed itself, divided ones, and no rounding less.
fn guaranteed_to_users(instance: &Instance) -> Vec<f64> {
    instance.users().map(|user| instance.guaranteed_tasks(user) * (1.0 + QUOTIENT)).collect()
}

fn shares_of(instance: &Instance, tasks: &[u64]) -> Vec<f64> {
    instance.users().zip(tasks).map(|(user, tasks)| *tasks as f64 * user.task_share()).collect()
}

/// The same with what members of groups have by the divisions of what these are guaranteed, where that is more.
pub fn whole_guarantees(instance: &Instance, divisions: &[Solution]) -> Vec<u64> {
    if !instance.has_guarantees() {
        return vec![0; instance.user_count()];
    }
    let mut sure = guaranteed_to_users(instance);
    // Groups alone are instances of their own, built only where there is something to read of them.
    let groups =
        if divisions.is_empty() { Vec::new() } else { instance.guaranteed_groups().unwrap_or_default() };
    for (alone, solution) in groups.iter().zip(divisions) {
        for (i, user) in alone.members.iter().enumerate() {
            // Divisions are known to some nine digits.
            sure[user.0] = sure[user.0].max(solution.allocation.tasks(UserId(i)) * (1.0 + SAME));
        }
    }
    LimitedTasks::of(instance).whole(instance, &sure)
}

/// Whether users with so many tasks have what they are guaranteed themselves: bounds hold for such placements.
pub fn keeps_guarantees_of_users(instance: &Instance, tasks: &[u64]) -> bool {
    !instance.has_guarantees()
        || guaranteed_whole_tasks(instance).iter().zip(tasks).all(|(sure, has)| has >= sure)
}

/// The [`guaranteed_whole_tasks`] as dominant shares.
pub fn guaranteed_whole_shares(instance: &Instance) -> Vec<f64> {
    shares_of(instance, &guaranteed_whole_tasks(instance))
}

impl Instance {
    /// The instance whose guarantees are so many whole tasks of every user ([`whole_guarantees`]), wherever they run, and nothing of groups.
    /// What divided tasks can reach beside these no placement that keeps them exceeds.
    ///
    /// # Errors
    /// If so many tasks have too many digits, or are more than the limits of a group that is around them.
    pub fn with_whole_guarantees(&self, sure: &[u64]) -> Result<Self, Violation> {
        let mut draft = Draft::from(self);
        draft.leave_out(&[QuotaPart::Guarantees]);
        let of_users = draft.quotas.iter().enumerate().filter(|(_, stated)| !stated.is_group);
        let stated: HashMap<String, usize> =
            of_users.map(|(position, stated)| (stated.owner.clone(), position)).collect();
        for (user, tasks) in self.users().zip(sure.iter().copied()).filter(|(_, tasks)| *tasks > 0) {
            let guarantee = vec![self.amount_of_tasks(user, tasks)?];
            match stated.get(user.id()) {
                Some(position) => draft.quotas[*position].quota.guarantee = guarantee,
                None => draft.quotas.push(DraftQuota {
                    is_group: false,
                    owner: user.id().into(),
                    quota: Quota { guarantee, ..Quota::default() },
                }),
            }
        }
        draft.build()
    }

    /// How much so many tasks take of a resource that their user is guaranteed.
    fn amount_of_tasks(&self, user: User<'_>, tasks: u64) -> Result<(ResourceId, Decimal), Violation> {
        let owner = Owner::User(user.index());
        let quota = self.quota_of(owner);
        let resource = quota.and_then(|quota| {
            quota.guaranteed().map(|sure| sure.resource).find(|resource| user.demand_units(*resource) > 0)
        });
        let resource = resource.unwrap_or_else(|| user.dominant_resource());
        let units = user.demand_units(resource).saturating_mul(tasks.into());
        match self.decimal(resource, units) {
            Some(amount) => Ok((resource, amount)),
            None => {
                let problem = "has too many digits to be counted in whole tasks; round it";
                Err(Violation::new(
                    format!("users[{}].guarantee", user.index().0),
                    self.name_of(owner),
                    problem,
                ))
            }
        }
    }
}
