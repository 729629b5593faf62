//! What results say of limits.

use crate::table::{Kind, Table};
use crate::tolerance::part;
use crate::wording::{large_amount, printable};
use crate::{Allocation, Instance, Owner, ResourceMap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One limit of one resource, or what all others may have beside a reserve: what is used of it and what more of it would be worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitResult {
    /// The group whose limit or reserve it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Of a reserve that is kept of the limit of a group: which, and so in which group all others are. Absent: it is kept of the servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The user whose limit or reserve it is, where it is no group's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The server classes that it covers; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// The resource and its most; of a reserve what all others may have together: what there is besides.
    pub limit: ResourceMap,
    /// What is reserved, if it is a reserve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<ResourceMap>,
    /// What is kept beside for others that reserve of the same and have too few tasks to use it: their users are not among those who are limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<ResourceMap>,
    /// The part of it that is used, 0 to 1.
    #[schemars(range(min = 0))]
    pub used: f64,
    /// The increase of `value` for one more unit of it; >= 0.
    #[schemars(range(min = 0))]
    pub price: f64,
}

impl LimitResult {
    /// Whom a reserve of an owner limits: all others.
    fn others(&self, owner: Option<&String>) -> Option<String> {
        let and_others = if self.beside.is_some() { " and idle ones" } else { "" };
        let within =
            self.within.as_ref().map_or(String::new(), |group| format!(" of {}", printable(group, 32)));
        let owner = self.reserve.as_ref().and(owner)?;
        Some(format!("all{within} but {}{and_others}", printable(owner, 32)))
    }
}

/// The table of limits.
pub fn limits_table(limits: &[LimitResult]) -> Table<'_> {
    Table::of(limits)
        .column("group", "group", Kind::Name, |limit| limit.group.as_ref())
        .said(|limit| limit.others(limit.group.as_ref()))
        .column("user", "user", Kind::Name, |limit| limit.user.as_ref())
        .said(|limit| limit.others(limit.user.as_ref()))
        .column("classes", "on", Kind::Name, |limit| limit.classes.as_ref().map(|classes| classes.join(", ")))
        .column("resource", "resource", Kind::Name, |limit| limit.limit.0.first().map(|(name, _)| name))
        .column("limit", "at most", Kind::Number, |limit| limit.limit.0.first().map(|(_, amount)| *amount))
        .said(|limit| limit.limit.0.first().and_then(|(name, amount)| large_amount(name, *amount)))
        .column("reserve", "reserved", Kind::Number, |limit| {
            limit.reserve.as_ref().and_then(|reserve| reserve.0.first()).map(|(_, amount)| *amount)
        })
        .said(|limit| {
            let (name, amount) = limit.reserve.as_ref()?.0.first()?;
            large_amount(name, *amount)
        })
        .column("used", "used", Kind::Part, |limit| limit.used)
        .column("price", "price", Kind::Number, |limit| limit.price)
        .done()
}

/// What is taken of each limit, in its resource's own unit.
pub fn taken_of_limits(instance: &Instance, allocation: &Allocation) -> Vec<f64> {
    let rows = instance.limit_rows();
    let mut taken = vec![0.0; rows.len()];
    if rows.is_empty() {
        return taken;
    }
    for user in instance.users() {
        for j in instance.limits_above(user) {
            let (row, r) = (&rows[j], rows[j].resource.0);
            if allocation.is_pooled() {
                taken[j] += allocation.tasks(user.index()) * user.demand_doubles()[r];
                continue;
            }
            for kind in user.kinds() {
                let placed = allocation.placement_of_kind(user.index(), kind.index());
                let tasks: f64 = placed.filter(|(class, _)| row.covers(*class)).map(|(_, tasks)| tasks).sum();
                taken[j] += tasks * kind.demand_doubles()[r];
            }
        }
    }
    taken
}

/// What a result says of the limits, given their prices (none: nothing is worth anything).
pub fn limit_results(
    instance: &Instance,
    allocation: &Allocation,
    prices: Option<&[f64]>,
) -> Vec<LimitResult> {
    let taken = taken_of_limits(instance, allocation);
    let result = |(j, row): (usize, &crate::LimitRow)| {
        let (group, user) = match row.owner {
            Owner::Group(group) => (Some(instance.groups()[group.0].id.clone()), None),
            Owner::User(user) => (None, Some(instance.user(user).id().to_owned())),
        };
        let amount = row.amount.to_f64();
        let of_resource =
            |amount: f64| ResourceMap(vec![(instance.resources()[row.resource.0].clone(), amount)]);
        let names = |classes: &Vec<crate::ClassId>| {
            classes.iter().map(|class| instance.classes()[class.0].id.clone()).collect()
        };
        let group_name = |group: crate::GroupId| instance.groups()[group.0].id.clone();
        LimitResult {
            group,
            within: row.within.map(group_name),
            user,
            classes: row.classes.as_ref().map(names),
            limit: of_resource(amount),
            reserve: row.reserve.map(|reserve| of_resource(reserve.to_f64())),
            beside: instance.kept_beside(row).map(of_resource),
            used: part(taken[j], amount),
            price: prices.and_then(|prices| prices.get(j)).copied().unwrap_or(0.0),
        }
    };
    instance.limit_rows().iter().enumerate().map(result).collect()
}
