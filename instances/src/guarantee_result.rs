//! What results say of guarantees.

use crate::table::{Kind, Table};
use crate::tolerance::{ABOVE, SAME};
use crate::wording::amount as amount_in_words;
use crate::{
    AboveSiblings, Instance, Owner, ResourceMap, Solution, UserId, guaranteed_shares, objective_share,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a group or a user is guaranteed, and what it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuaranteeResult {
    /// The group that is guaranteed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The user that is guaranteed it, where it is no group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The amounts over all classes.
    pub guarantee: ResourceMap,
    /// The amounts over some classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarantees: Vec<GuaranteedOnClasses>,
    /// The share that it is sure of, counted as shares of groups are: of a user what the tasks come to that the amounts hold, at most
    /// its own; of a group what its members would divide if they were alone in the cluster and the amounts were its limit.
    #[schemars(range(min = 0))]
    pub floor: f64,
    /// The share that it has.
    #[schemars(range(min = 0))]
    pub share: f64,
    /// Whether it has no more than that and stands above others: somebody beside it, or beside a group that it is in, has
    /// less for its weight, and wants more of what it takes. Of a sum over users, which has no levels, whether it has no more.
    pub held_up: bool,
}

/// What is guaranteed on some classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuaranteedOnClasses {
    /// The server classes.
    pub classes: Vec<String>,
    /// The amounts over all of them together.
    pub amounts: ResourceMap,
}

impl GuaranteeResult {
    /// The amounts: `4 cpu, 2 gpu on a100`.
    pub fn in_words(&self) -> String {
        let told = |on: String, amounts: &ResourceMap| -> Vec<String> {
            amounts
                .0
                .iter()
                .map(|(name, amount)| format!("{} {name}{on}", amount_in_words(name, *amount)))
                .collect()
        };
        let over_some = self
            .guarantees
            .iter()
            .map(|over| told(format!(" on {}", over.classes.join(" and ")), &over.amounts));
        std::iter::once(told(String::new(), &self.guarantee))
            .chain(over_some)
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// What is guaranteed to an owner, and nothing of what it has.
    pub fn stated(instance: &Instance, owner: Owner, quota: &crate::Quota) -> Self {
        let map = |amounts: &crate::ResourceAmounts| {
            let named =
                amounts.iter().map(|(r, amount)| (instance.resources()[r.0].clone(), amount.to_f64()));
            ResourceMap(named.collect())
        };
        let over = |over: &crate::ClassAmounts| GuaranteedOnClasses {
            classes: over.classes.iter().map(|class| instance.classes()[class.0].id.clone()).collect(),
            amounts: map(&over.amounts),
        };
        let (group, user) = match owner {
            Owner::Group(group) => (Some(instance.groups()[group.0].id.clone()), None),
            Owner::User(user) => (None, Some(instance.user(user).id().to_owned())),
        };
        let guarantees = quota.guarantees.iter().map(over).collect();
        Self {
            group,
            user,
            guarantee: map(&quota.guarantee),
            guarantees,
            floor: 0.0,
            share: 0.0,
            held_up: false,
        }
    }

    /// Whether so much is no more than the floor.
    pub fn is_at_floor(floor: f64, share: f64) -> bool {
        floor > 0.0 && share <= floor * (1.0 + SAME)
    }
}

/// The table of guarantees.
pub fn guarantees_table(guarantees: &[GuaranteeResult]) -> Table<'_> {
    Table::of(guarantees)
        .column("group", "group", Kind::Name, |one| one.group.as_ref())
        .column("user", "user", Kind::Name, |one| one.user.as_ref())
        .column("guarantee", "guaranteed", Kind::Words, GuaranteeResult::in_words)
        .column("floor", "a share of", Kind::Share, |one| one.floor)
        .column("share", "share", Kind::Share, |one| one.share)
        .column("held_up", "held up by it", Kind::Answer, |one| one.held_up)
        .done()
}

/// What a result says of all guarantees, in the order of the quotas.
pub fn guarantee_results(instance: &Instance, solution: &Solution) -> Vec<GuaranteeResult> {
    if !instance.has_guarantees() {
        return Vec::new();
    }
    let floors = guaranteed_shares(instance, solution.objective, &solution.guaranteed);
    let of_user = |i: usize| (floors[i], objective_share(instance, solution, UserId(i)));
    let of_groups = instance.of_groups((0.0, 0.0), of_user, |a, b| (a.0 + b.0, a.1 + b.1));
    let levels = (solution.certificate.levels(), solution.certificate.level_of().unwrap_or_default());
    let above = AboveSiblings::of(instance, levels, &solution.limited_by, |i| of_user(i).1);
    let guaranteed = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
    let result = |(owner, quota): &(Owner, crate::Quota)| {
        let (floor, share) = match owner {
            Owner::Group(group) => of_groups[group.0],
            Owner::User(user) => of_user(user.0),
        };
        let is_above = above.as_ref().is_none_or(|above| above.by(*owner) > ABOVE);
        let held_up = GuaranteeResult::is_at_floor(floor, share) && is_above;
        GuaranteeResult { floor, share, held_up, ..GuaranteeResult::stated(instance, *owner, quota) }
    };
    guaranteed.map(result).collect()
}
