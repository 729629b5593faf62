//! Quotas: what a user or a group is sure of, what it can have at most, and what is kept for it when it is idle.

use super::{ClassId, GroupId, Instance, ResourceId, User, UserId};
use crate::Decimal;
use crate::violation::Violation;
use std::sync::Arc;

/// Whose quota it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A group: what its members have together.
    Group(GroupId),
    /// A user.
    User(UserId),
}

/// Amounts of some resources, those of one resource once, in the order of the instance's resources.
pub type ResourceAmounts = Vec<(ResourceId, Decimal)>;

/// What a user or a group is sure of and what it can have at most. Nothing is stated of a resource that is not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// What comes first, before anybody has more by its weight, over all classes.
    pub guarantee: ResourceAmounts,
    /// The same over some classes.
    pub guarantees: Vec<ClassAmounts>,
    /// The most of a resource over all classes.
    pub limit: ResourceAmounts,
    /// The most of a resource over some classes.
    pub limits: Vec<ClassAmounts>,
    /// What all others leave unused, over all classes.
    pub reserve: ResourceAmounts,
    /// The same over some classes.
    pub reserves: Vec<ClassAmounts>,
}

/// Amounts of some resources over some classes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassAmounts {
    /// The classes, each once, in the instance's order.
    pub classes: Vec<ClassId>,
    /// The amount of each resource.
    pub amounts: ResourceAmounts,
}

/// An amount of one resource over some classes, or over all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaAmount<'a> {
    /// The classes, in order; `None`: all.
    pub classes: Option<&'a [ClassId]>,
    /// The resource.
    pub resource: ResourceId,
    /// How much of it.
    pub amount: Decimal,
}

impl QuotaAmount<'_> {
    /// Whether what runs on a class counts.
    pub fn covers(&self, class: ClassId) -> bool {
        self.classes.is_none_or(|classes| classes.binary_search(&class).is_ok())
    }

    /// Whether it is over all that the other is over.
    fn covers_all_of(&self, other: &Self) -> bool {
        match (self.classes, other.classes) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(_), Some(classes)) => classes.iter().all(|class| self.covers(*class)),
        }
    }
}

/// The quota of a user or a group of a [`Draft`](super::Draft), which is named: users and groups of a draft may move.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftQuota {
    /// Whether it is a group's; else it is a user's.
    pub is_group: bool,
    /// The id of the group or the user.
    pub owner: String,
    /// The quota; it names classes and resources by position.
    pub quota: Quota,
}

/// One limit of one resource: `Σ D_ir x_il <= amount` over the users below its owner and the classes that it covers; or a reserve,
/// which is one over all users, or those of a group, that are not below its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// Whose limit it is.
    pub owner: Owner,
    /// The resource that it counts.
    pub resource: ResourceId,
    /// The classes that it covers, in order; `None`: all.
    pub classes: Option<Vec<ClassId>>,
    /// The most there may be (> 0).
    pub amount: Decimal,
    /// What is reserved, if it is a reserve: `amount` is what there is besides that and what those in `beside` reserve.
    pub reserve: Option<Decimal>,
    /// Of a reserve the group whose limit it is kept of, and which holds all others; `None`: it is kept of the servers.
    pub within: Option<GroupId>,
    /// Whoever has too few tasks to use what it reserves of the same; its users are not among the others either. In order, and perhaps the
    /// owner is among them.
    pub beside: Arc<[Owner]>,
}

impl LimitRow {
    /// Whether it is a reserve of its owner, below which are all others.
    pub fn is_reserve(&self) -> bool {
        self.reserve.is_some()
    }

    /// Whether what runs on a class counts.
    pub fn covers(&self, class: ClassId) -> bool {
        self.classes.as_ref().is_none_or(|classes| classes.binary_search(&class).is_ok())
    }
}

impl Quota {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether anything is guaranteed.
    pub fn has_guarantee(&self) -> bool {
        !self.guarantee.is_empty() || !self.guarantees.is_empty()
    }

    /// All that is over some classes: guarantees, limits and reserves.
    pub fn over_classes(&self) -> impl Iterator<Item = &ClassAmounts> {
        self.guarantees.iter().chain(&self.limits).chain(&self.reserves)
    }

    /// The same, to be changed.
    pub(crate) fn over_classes_mut(&mut self) -> impl Iterator<Item = &mut ClassAmounts> {
        self.guarantees.iter_mut().chain(&mut self.limits).chain(&mut self.reserves)
    }

    /// The field that states what is guaranteed: the one over all classes, if there is something in it.
    pub fn guarantee_field(&self) -> &'static str {
        if self.guarantee.is_empty() { "guarantees" } else { "guarantee" }
    }

    /// What is guaranteed, over all classes first.
    pub fn guaranteed(&self) -> impl Iterator<Item = QuotaAmount<'_>> + Clone {
        over(&self.guarantee, &self.guarantees)
    }

    /// The limits, those over all classes first.
    pub fn limited(&self) -> impl Iterator<Item = QuotaAmount<'_>> + Clone {
        over(&self.limit, &self.limits)
    }

    /// What is reserved, over all classes first.
    pub fn reserved(&self) -> impl Iterator<Item = QuotaAmount<'_>> + Clone {
        over(&self.reserve, &self.reserves)
    }

    /// The same with its amounts in the order of the resources and its classes in that of the instance; no guarantee and no reserve of
    /// nothing, which say nothing.
    fn in_order(mut self) -> Self {
        let some = |amounts: &mut ResourceAmounts| amounts.retain(|(_, amount)| !amount.is_zero());
        let sort = |amounts: &mut ResourceAmounts| amounts.sort_by_key(|(resource, _)| *resource);
        [&mut self.guarantee, &mut self.reserve].into_iter().for_each(some);
        [&mut self.guarantee, &mut self.limit, &mut self.reserve].into_iter().for_each(sort);
        for of_nothing in [&mut self.guarantees, &mut self.reserves] {
            of_nothing.iter_mut().for_each(|over| some(&mut over.amounts));
            of_nothing.retain(|over| !over.amounts.is_empty());
        }
        for over in [&mut self.guarantees, &mut self.limits, &mut self.reserves].into_iter().flatten() {
            over.classes.sort();
            sort(&mut over.amounts);
        }
        self
    }

    /// The limits as rows, those over all classes first.
    fn rows(&self, owner: Owner) -> impl Iterator<Item = LimitRow> + '_ {
        self.limited().map(move |QuotaAmount { classes, resource, amount }| LimitRow {
            owner,
            resource,
            classes: classes.map(<[ClassId]>::to_vec),
            amount,
            reserve: None,
            within: None,
            beside: Arc::default(),
        })
    }

    /// All amounts.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (ResourceId, Decimal)> + '_ {
        let all = self.guaranteed().chain(self.limited()).chain(self.reserved());
        all.map(|one| (one.resource, one.amount))
    }

    /// What the lists over some classes say, by the name of each.
    fn over_some(&self) -> [(&'static str, &'static str, &[ClassAmounts]); 3] {
        [
            ("guarantees", "guarantee", &self.guarantees),
            ("limits", "limit", &self.limits),
            ("reserves", "reserve", &self.reserves),
        ]
    }

    /// Checks what the quota alone says; a violation's place starts at its owner (`groups[2].limit.cpu`).
    pub(super) fn check(self, place: &str, resources: &[String], classes: usize) -> Result<Self, Violation> {
        let named = |list: &str, resource: ResourceId| format!("{place}.{list}.{}", resources[resource.0]);
        for (list, over_all, all) in self.over_some() {
            for (position, over) in all.iter().enumerate() {
                let wrong = |field: &str, problem: &str| {
                    Err(Violation::new(format!("{place}.{list}[{position}].{field}"), "", problem))
                };
                if over.classes.is_empty() {
                    let what = format!("a {over_all} over all of them is `{over_all}`");
                    return wrong("classes", &format!("name the server classes that it covers; {what}"));
                }
                if over.amounts.is_empty() {
                    return wrong("amounts", "name at least one resource");
                }
            }
        }
        let quota = self.in_order();
        let mut lists = vec![
            ("guarantee".to_owned(), &quota.guarantee),
            ("limit".to_owned(), &quota.limit),
            ("reserve".to_owned(), &quota.reserve),
        ];
        for (list, _, all) in quota.over_some() {
            for (position, over) in all.iter().enumerate() {
                let list = format!("{list}[{position}]");
                let wrong =
                    |problem: &str| Err(Violation::new(format!("{place}.{list}.classes"), "", problem));
                if over.classes.windows(2).any(|pair| pair[0] == pair[1]) {
                    return wrong("a class is named twice");
                }
                if over.classes.iter().any(|class| class.0 >= classes) {
                    return wrong("there is no such class");
                }
                lists.push((format!("{list}.amounts"), &over.amounts));
            }
        }
        for (list, amounts) in lists {
            if let Some(pair) = amounts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(Violation::new(named(&list, pair[0].0), "", "named twice"));
            }
            let zero = amounts.iter().find(|(_, amount)| amount.is_zero());
            if let (true, Some((resource, amount))) = (list.starts_with("limit"), zero) {
                let problem = "a limit of nothing lets nothing run; give the users `tasks` 0 or leave the classes out of their \
                               `eligible` ones";
                return Err(Violation::new(named(&list, *resource), amount, problem));
            }
        }
        for sure in quota.guaranteed() {
            let is_less = |limit: &QuotaAmount<'_>| {
                limit.resource == sure.resource
                    && limit.covers_all_of(&sure)
                    && is_less(limit.amount, sure.amount)
            };
            if let Some(limit) = quota.limited().find(is_less) {
                let problem = format!(
                    "more than its limit of {}; lower the guarantee or raise the limit",
                    limit.amount
                );
                let list = if sure.classes.is_some() { "guarantees" } else { "guarantee" };
                return Err(Violation::new(named(list, sure.resource), sure.amount, problem));
            }
        }
        Ok(quota)
    }
}

impl Instance {
    /// The quotas, those of groups first, each in the instance's order; nobody else has one.
    pub fn quotas(&self) -> &[(Owner, Quota)] {
        &self.quotas
    }

    /// The quota of a user or a group that has one.
    pub fn quota_of(&self, owner: Owner) -> Option<&Quota> {
        let found = self.quotas.binary_search_by_key(&owner, |(owner, _)| *owner);
        found.ok().map(|position| &self.quotas[position].1)
    }

    /// All limits and reserves, in the order of the quotas; of each owner its limits first.
    pub fn limit_rows(&self) -> &[LimitRow] {
        &self.limit_rows
    }

    /// Whether anybody has a limit; reserves are none.
    pub fn has_limits(&self) -> bool {
        self.limit_rows.iter().any(|row| !row.is_reserve())
    }

    /// The amount of a limit in whole smallest units.
    pub fn limit_units(&self, row: &LimitRow) -> u128 {
        self.in_units(row.resource, row.amount)
    }

    /// The limits of an owner itself, as positions among [`Instance::limit_rows`], rising; what it reserves is a limit of others.
    pub(crate) fn limits_of(&self, owner: Owner) -> impl Iterator<Item = usize> + '_ {
        let from = self.limit_rows.partition_point(|row| row.owner < owner);
        let to = self.limit_rows.partition_point(|row| row.owner <= owner);
        (from..to).filter(|j| !self.limit_rows[*j].is_reserve())
    }

    /// The limits above a user, as positions among [`Instance::limit_rows`], rising: its own, those of the groups it is in, and what
    /// all others reserve of a resource that it needs. Where it has kinds, all of them count in these, each for what it needs.
    pub fn limits_above(&self, user: User<'_>) -> Vec<usize> {
        if self.limit_rows.is_empty() {
            return Vec::new();
        }
        let owners: Vec<Owner> = self.owners_above(user.index()).collect();
        let limits = owners.iter().flat_map(|owner| self.limits_of(*owner));
        let of_others = |j: &&usize| {
            let row = &self.limit_rows[**j];
            let is_kept = |owner: &Owner| row.owner == *owner || row.beside.binary_search(owner).is_ok();
            let is_inside = row.within.is_none_or(|group| owners.contains(&Owner::Group(group)));
            is_inside && !user.demand()[row.resource.0].is_zero() && !owners.iter().any(is_kept)
        };
        let mut above: Vec<usize> =
            limits.chain(self.rows_of_reserves.iter().filter(of_others).copied()).collect();
        above.sort_unstable();
        above
    }

    /// What an owner is called, for messages: `group research`.
    pub fn name_of(&self, owner: Owner) -> String {
        match owner {
            Owner::Group(group) => format!("group {}", self.groups[group.0].id),
            Owner::User(user) => format!("user {}", self.user(user).id()),
        }
    }

    /// For what knows plain users only: one demand each, no limits, guarantees or reserves, and no rules inside servers.
    ///
    /// # Errors
    /// If somebody is no plain user, naming the first; `what` asks.
    pub fn plain(&self, what: &str) -> Result<(), Violation> {
        self.without_kinds(what)?;
        self.without_server_rules(what)?;
        self.without_quotas(what)
    }

    /// For what does not know quotas.
    ///
    /// # Errors
    /// If there is one; `what` asks.
    pub fn without_quotas(&self, what: &str) -> Result<(), Violation> {
        match self.quotas.first() {
            None => Ok(()),
            Some((owner, _)) => Err(self.quota_not_known(what, *owner)),
        }
    }

    /// Where the first quota of an owner is stated (`groups[2].limit`), and whose it is.
    pub(crate) fn first_quota(&self) -> Option<(String, String)> {
        let (owner, quota) = self.quotas.first()?;
        let fields = [
            ("guarantee", !quota.guarantee.is_empty()),
            ("guarantees", !quota.guarantees.is_empty()),
            ("limit", !quota.limit.is_empty()),
            ("limits", !quota.limits.is_empty()),
            ("reserve", !quota.reserve.is_empty()),
        ];
        let field = fields.iter().find(|(_, is_there)| *is_there).map_or("reserves", |(field, _)| field);
        Some((format!("{}.{field}", place_of(*owner)), self.name_of(*owner)))
    }

    fn quota_not_known(&self, what: &str, owner: Owner) -> Violation {
        let problem = format!(
            "{what} does not know guarantees, limits and reserves yet; leave them out (`convert --without \
             guarantees,limits,reserves`)"
        );
        Violation::new(place_of(owner), self.name_of(owner), problem)
    }

    /// Notes the limits as rows, once all quotas are there; and checks what they say of others.
    pub(super) fn settle_quotas(&mut self) -> Result<(), Violation> {
        self.quotas.sort_by_key(|(owner, _)| *owner);
        let mut rows = Vec::new();
        let mut reserves = self.reserve_rows()?.into_iter().peekable();
        for (owner, quota) in &self.quotas {
            rows.extend(quota.rows(*owner));
            rows.extend(std::iter::from_fn(|| reserves.next_if(|row| row.owner == *owner)));
        }
        self.limit_rows = rows;
        self.rows_of_reserves =
            (0..self.limit_rows.len()).filter(|j| self.limit_rows[*j].is_reserve()).collect();
        if !self.has_guarantees() {
            return Ok(());
        }
        let m = self.resources.len();
        let needs = |i: usize| -> Vec<bool> {
            self.user(UserId(i)).demand().iter().map(|demand| !demand.is_zero()).collect()
        };
        let either = |a: Vec<bool>, b: Vec<bool>| a.iter().zip(b).map(|(a, b)| *a || b).collect();
        let of_groups = self.of_groups(vec![false; m], needs, either);
        let has_users = self.of_groups(false, |_| true, |a, b| a || b);
        for (owner, quota) in &self.quotas {
            let needed = match owner {
                Owner::Group(group) => of_groups[group.0].clone(),
                Owner::User(user) => needs(user.0),
            };
            if let Some(sure) = quota.guaranteed().find(|sure| !needed[sure.resource.0]) {
                let (who, name) = (self.name_of(*owner), &self.resources[sure.resource.0]);
                let problem = match owner {
                    Owner::Group(group) if !has_users[group.0] => {
                        format!(
                            "{who} has no users, so nothing can be kept for it; leave it out or give the group users"
                        )
                    }
                    _ => format!("no task of {who} needs {name}; leave it out"),
                };
                let list = if sure.classes.is_some() { "guarantees" } else { "guarantee" };
                return Err(Violation::new(
                    format!("{}.{list}.{name}", place_of(*owner)),
                    sure.amount,
                    problem,
                ));
            }
        }
        Ok(())
    }
}

/// Amounts over all classes, then those over some.
fn over<'a>(
    all: &'a ResourceAmounts,
    some: &'a [ClassAmounts],
) -> impl Iterator<Item = QuotaAmount<'a>> + Clone {
    let amount = |classes: Option<&'a [ClassId]>, &(resource, amount): &(ResourceId, Decimal)| QuotaAmount {
        classes,
        resource,
        amount,
    };
    let over_some =
        move |over: &'a ClassAmounts| over.amounts.iter().map(move |one| amount(Some(&over.classes), one));
    all.iter().map(move |one| amount(None, one)).chain(some.iter().flat_map(over_some))
}

/// Exactly, where both can be counted in one unit.
fn is_less(one: Decimal, other: Decimal) -> bool {
    let unit = one.exponent().min(other.exponent());
    match (one.scaled(unit), other.scaled(unit)) {
        (Some(one), Some(other)) => one < other,
        _ => one.to_f64() < other.to_f64(),
    }
}

/// Where the owner of a quota is in a file.
pub(super) fn place_of(owner: Owner) -> String {
    match owner {
        Owner::Group(GroupId(group)) => format!("groups[{group}]"),
        Owner::User(UserId(user)) => format!("users[{user}]"),
    }
}
