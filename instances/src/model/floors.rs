//! Floors: what guarantees come to for users, and for groups where a result counts what members have.

use super::{Instance, Owner, User, UserId};
use crate::violation::Violation;

impl Instance {
    /// Whether anybody is guaranteed anything.
    pub fn has_guarantees(&self) -> bool {
        self.quotas().iter().any(|(_, quota)| !quota.guarantee.is_empty())
    }

    /// The tasks that a user is sure of: as many as hold what it is guaranteed, `min_r a_r / D_ir`, at most its own; 0 without a
    /// guarantee.
    pub fn guaranteed_tasks(&self, user: User<'_>) -> f64 {
        let quota = self.quota_of(Owner::User(user.index())).filter(|quota| !quota.guarantee.is_empty());
        let Some(quota) = quota else { return 0.0 };
        let demand = user.demand_doubles();
        let of =
            |(resource, amount): &(super::ResourceId, crate::Decimal)| amount.to_f64() / demand[resource.0];
        let tasks = quota.guarantee.iter().map(of).fold(f64::INFINITY, f64::min);
        user.tasks().map_or(tasks, |all| tasks.min(all as f64))
    }

    /// For what knows the guarantees that can be solved.
    ///
    /// # Errors
    /// If somebody's cannot.
    pub fn check_guarantees(&self) -> Result<(), Violation> {
        for (owner, _) in self.quotas().iter().filter(|(_, quota)| !quota.guarantee.is_empty()) {
            let Owner::User(UserId(i)) = *owner else {
                let problem = "guarantees of groups are not solved yet; give them to the group's users";
                let place = format!("{}.guarantee", super::quotas::place_of(*owner));
                return Err(Violation::new(place, self.name_of(*owner), problem));
            };
            if !self.user(UserId(i)).rule().rates().is_empty() {
                let problem = "what is guaranteed to a user whose tasks do different work on different classes is not \
                               defined; leave out its rates or its guarantee";
                return Err(Violation::new(format!("users[{i}].guarantee"), self.name_of(*owner), problem));
            }
        }
        Ok(())
    }
}
