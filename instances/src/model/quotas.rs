//! Quotas: what a user or a group is sure of, what it can have at most, and what is kept for it when it is idle.

use super::{ClassId, GroupId, Instance, ResourceId, User, UserId};
use crate::Decimal;
use crate::violation::Violation;

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
    /// What comes first, before anybody has more by its weight.
    pub guarantee: ResourceAmounts,
    /// The most of a resource over all classes.
    pub limit: ResourceAmounts,
    /// The most of a resource over some classes.
    pub limits: Vec<ClassLimit>,
    /// What all others leave unused.
    pub reserve: ResourceAmounts,
}

/// The most of some resources over some classes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassLimit {
    /// The classes, each once, in the instance's order.
    pub classes: Vec<ClassId>,
    /// The most of each resource.
    pub amounts: ResourceAmounts,
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

/// One limit of one resource: `Σ D_ir x_il <= amount` over the users below its owner and the classes that it covers.
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
}

impl LimitRow {
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

    /// The same with its amounts in the order of the resources and its classes in that of the instance; no guarantee and no reserve of
    /// nothing, which say nothing.
    fn in_order(mut self) -> Self {
        self.guarantee.retain(|(_, amount)| !amount.is_zero());
        self.reserve.retain(|(_, amount)| !amount.is_zero());
        let sort = |amounts: &mut ResourceAmounts| amounts.sort_by_key(|(resource, _)| *resource);
        [&mut self.guarantee, &mut self.limit, &mut self.reserve].into_iter().for_each(sort);
        for limit in &mut self.limits {
            limit.classes.sort();
            sort(&mut limit.amounts);
        }
        self
    }

    /// The limits as rows, those over all classes first.
    fn rows(&self, owner: Owner) -> impl Iterator<Item = LimitRow> + '_ {
        let row = move |classes: Option<&[ClassId]>, &(resource, amount): &(ResourceId, Decimal)| LimitRow {
            owner,
            resource,
            classes: classes.map(<[ClassId]>::to_vec),
            amount,
        };
        let over_some = move |limit: &'_ ClassLimit| {
            limit.amounts.iter().map(|amount| row(Some(&limit.classes), amount)).collect::<Vec<_>>()
        };
        self.limit.iter().map(move |amount| row(None, amount)).chain(self.limits.iter().flat_map(over_some))
    }

    /// All amounts.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (ResourceId, Decimal)> + '_ {
        let lists = [&self.guarantee, &self.limit, &self.reserve];
        let over_some = self.limits.iter().flat_map(|limit| &limit.amounts);
        lists.into_iter().flatten().chain(over_some).copied()
    }

    /// Checks what the quota alone says; a violation's place starts at its owner (`groups[2].limit.cpu`).
    pub(super) fn check(self, place: &str, resources: &[String], classes: usize) -> Result<Self, Violation> {
        let named = |list: &str, resource: ResourceId| format!("{place}.{list}.{}", resources[resource.0]);
        let quota = self.in_order();
        let mut lists = vec![
            ("guarantee".to_owned(), &quota.guarantee),
            ("limit".to_owned(), &quota.limit),
            ("reserve".to_owned(), &quota.reserve),
        ];
        for (position, limit) in quota.limits.iter().enumerate() {
            let list = format!("limits[{position}]");
            if limit.classes.is_empty() {
                let problem = "name the server classes that it covers; a limit over all of them is `limit`";
                return Err(Violation::new(format!("{place}.{list}.classes"), "", problem));
            }
            if limit.amounts.is_empty() {
                return Err(Violation::new(
                    format!("{place}.{list}.amounts"),
                    "",
                    "name at least one resource",
                ));
            }
            if limit.classes.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(Violation::new(format!("{place}.{list}.classes"), "", "a class is named twice"));
            }
            if limit.classes.iter().any(|class| class.0 >= classes) {
                return Err(Violation::new(format!("{place}.{list}.classes"), "", "there is no such class"));
            }
            lists.push((format!("{list}.amounts"), &limit.amounts));
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
        for &(resource, guarantee) in &quota.guarantee {
            let of = |amounts: &ResourceAmounts| {
                amounts.iter().find(|(other, _)| *other == resource).map(|(_, amount)| *amount)
            };
            if let Some(limit) = of(&quota.limit).filter(|limit| is_less(*limit, guarantee)) {
                let problem =
                    format!("more than its limit of {limit}; lower the guarantee or raise the limit");
                return Err(Violation::new(named("guarantee", resource), guarantee, problem));
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

    /// All limits, in the order of the quotas.
    pub fn limit_rows(&self) -> &[LimitRow] {
        &self.limit_rows
    }

    /// The amount of a limit in whole smallest units.
    pub fn limit_units(&self, row: &LimitRow) -> u128 {
        self.in_units(row.resource, row.amount)
    }

    /// The limits above a user, as positions among [`Instance::limit_rows`], rising: its own and those of the groups it is in.
    pub fn limits_above(&self, user: User<'_>) -> Vec<usize> {
        if self.limit_rows.is_empty() {
            return Vec::new();
        }
        let of = |owner: Owner| {
            let from = self.limit_rows.partition_point(|row| row.owner < owner);
            let to = self.limit_rows.partition_point(|row| row.owner <= owner);
            from..to
        };
        let mut above: Vec<usize> = of(Owner::User(user.index())).collect();
        let mut group = user.group();
        while let Some(here) = group {
            above.extend(of(Owner::Group(here)));
            group = self.groups[here.0].parent;
        }
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

    /// For what knows limits only.
    ///
    /// # Errors
    /// If there is a guarantee or a reserve; `what` asks.
    pub fn without_floors(&self, what: &str) -> Result<(), Violation> {
        let has_floor =
            |(_, quota): &&(Owner, Quota)| !quota.guarantee.is_empty() || !quota.reserve.is_empty();
        let Some((owner, quota)) = self.quotas.iter().find(has_floor) else { return Ok(()) };
        let field = if quota.guarantee.is_empty() { "reserve" } else { "guarantee" };
        let problem = format!("{what} does not know guarantees and reserves yet; leave it out");
        Err(Violation::new(format!("{}.{field}", place_of(*owner)), "", problem))
    }

    fn quota_not_known(&self, what: &str, owner: Owner) -> Violation {
        let problem = format!("{what} does not know guarantees, limits and reserves yet; leave them out");
        Violation::new(place_of(owner), self.name_of(owner), problem)
    }

    /// Notes the limits as rows, once all quotas are there; and checks what they say of others.
    pub(super) fn settle_quotas(&mut self) -> Result<(), Violation> {
        self.quotas.sort_by_key(|(owner, _)| *owner);
        self.limit_rows = self.quotas.iter().flat_map(|(owner, quota)| quota.rows(*owner)).collect();
        if self.quotas.iter().all(|(_, quota)| quota.guarantee.is_empty()) {
            return Ok(());
        }
        let m = self.resources.len();
        let needs = |i: usize| -> Vec<bool> {
            self.user(UserId(i)).demand().iter().map(|demand| !demand.is_zero()).collect()
        };
        let either = |a: Vec<bool>, b: Vec<bool>| a.iter().zip(b).map(|(a, b)| *a || b).collect();
        let of_groups = self.of_groups(vec![false; m], needs, either);
        for (owner, quota) in &self.quotas {
            let needed = match owner {
                Owner::Group(group) => of_groups[group.0].clone(),
                Owner::User(user) => needs(user.0),
            };
            if let Some((resource, amount)) = quota.guarantee.iter().find(|(resource, _)| !needed[resource.0])
            {
                let (who, name) = (self.name_of(*owner), &self.resources[resource.0]);
                let problem = format!("no task of {who} needs {name}; leave it out");
                return Err(Violation::new(
                    format!("{}.guarantee.{name}", place_of(*owner)),
                    amount,
                    problem,
                ));
            }
        }
        Ok(())
    }
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
