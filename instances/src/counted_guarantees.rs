//! Which guarantees bounds of whole tasks count.

use crate::tolerance::SAME;
use crate::{GroupId, Instance, Owner, Quota, QuotaPart, ResourceId, User};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which guarantees bounds count: a bound holds for placements that keep these. Guarantees are counted in whole tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountedGuarantees {
    /// All. What a group is guaranteed counts as its members would divide it alone.
    All,
    /// Those of users: no placement is known that also gives members what they have by such a division.
    OfUsers,
    /// None, since no placement is known that keeps those of users together: what is known is of all placements.
    None,
}

impl CountedGuarantees {
    /// Which ones are counted where those of users are, or none is; `None` where nobody has any.
    pub fn of(instance: &Instance, are_counted: bool) -> Option<Self> {
        match (instance.has_guarantees(), are_counted) {
            (false, _) => None,
            (true, false) => Some(Self::None),
            (true, true) if guarantees_more_than_members(instance) => Some(Self::OfUsers),
            (true, true) => Some(Self::All),
        }
    }

    /// The instance that bounds are of: without guarantees where none is counted.
    pub fn instance(counted: Option<Self>, instance: &Instance) -> Cow<'_, Instance> {
        // Less never makes an instance that was built one that is not.
        let without = || instance.without_parts(&[QuotaPart::Guarantees]).ok();
        match counted {
            Some(Self::None) => without().map_or(Cow::Borrowed(instance), Cow::Owned),
            _ => Cow::Borrowed(instance),
        }
    }
}

/// Whether some group is guaranteed more than its members are themselves.
pub fn guarantees_more_than_members(instance: &Instance) -> bool {
    let is_more = |(owner, quota): &(Owner, Quota)| match owner {
        Owner::Group(group) => quota.has_guarantee() && !is_that_of_members(instance, *group, quota),
        Owner::User(_) => false,
    };
    instance.quotas().iter().any(is_more)
}

/// Whether the members of a group are guaranteed all of it themselves: of a resource that all of them need who need anything of it, the tasks
/// that they are guaranteed take it all, so that no more of anybody's fit.
fn is_that_of_members(instance: &Instance, group: GroupId, quota: &Quota) -> bool {
    let inside = instance.groups_inside(group);
    let needs = |user: &User<'_>, resource: ResourceId| user.demand_units(resource) > 0;
    let has_part = |user: &User<'_>| quota.guaranteed().any(|sure| needs(user, sure.resource));
    let is_member = |user: &User<'_>| user.group().is_some_and(|group| inside[group.0]) && has_part(user);
    let members: Vec<User<'_>> = instance.users().filter(is_member).collect();
    let is_used_up = |resource: ResourceId| {
        let taken = |user: &User<'_>| instance.guaranteed_tasks(*user) * user.demand_units(resource) as f64;
        let of_members: f64 = members.iter().map(taken).sum();
        members.iter().all(|user| needs(user, resource))
            && of_members >= instance.guaranteed_units(quota, resource) as f64 * (1.0 - SAME)
    };
    members.is_empty() || quota.guaranteed().any(|sure| is_used_up(sure.resource))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, DraftQuota, NewGroup};

    #[test]
    fn a_group_that_is_guaranteed_what_its_members_are_adds_nothing() {
        let counted = |of_group: &str, of_members: [&str; 2]| {
            let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
            draft.groups = vec![NewGroup { id: "g".into(), weight: crate::Decimal::ONE, parent: None }];
            draft.users.iter_mut().for_each(|user| user.group = Some(0));
            let ids: Vec<String> = draft.users.iter().map(|user| user.id.clone()).collect();
            for (owner, cpu) in [("g", of_group), (&*ids[0], of_members[0]), (&*ids[1], of_members[1])] {
                let guarantee = vec![(ResourceId(0), cpu.parse().unwrap())];
                let quota = Quota { guarantee, ..Quota::default() };
                draft.quotas.push(DraftQuota { is_group: owner == "g", owner: owner.into(), quota });
            }
            CountedGuarantees::of(&draft.build().unwrap(), true)
        };
        assert_eq!(counted("3", ["2", "1"]), Some(CountedGuarantees::All));
        assert_eq!(counted("3.1", ["2", "1"]), Some(CountedGuarantees::OfUsers));
    }
}
