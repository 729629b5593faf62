//! The tenants of an export as a tree, and what each property asks of one of them.

use super::{AmountClaim, ExportClaim, ExportedTenantClaim};
use crate::verdict::Worst;
use fairplan_instances::{ClassId, GroupId, Instance, Owner, ResourceId, User, UserId};
use std::collections::{BTreeMap, HashSet};

/// What an amount is by the answer, in what the instance counts in.
pub(super) fn exact(amount: &AmountClaim) -> f64 {
    amount.exact * amount.unit as f64 / 1e9 / amount.per as f64
}

/// What a tenant has of a resource on these classes.
pub(super) fn has_of(
    tenant: &ExportedTenantClaim,
    resource: ResourceId,
    covers: impl Fn(ClassId) -> bool,
) -> f64 {
    let counts = |amount: &&AmountClaim| amount.resource == resource && covers(amount.class);
    tenant.amounts.iter().filter(counts).map(exact).sum()
}

pub(super) struct Tree<'a> {
    pub(super) instance: &'a Instance,
    claim: &'a ExportClaim,
    /// Of each tenant, those of the claim directly below it; at last those at the top.
    below: Vec<Vec<usize>>,
    groups_of: BTreeMap<Option<GroupId>, Vec<GroupId>>,
    users_of: BTreeMap<Option<GroupId>, Vec<UserId>>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(instance: &'a Instance, claim: &'a ExportClaim) -> Self {
        let mut below = vec![Vec::new(); claim.tenants.len() + 1];
        for (t, tenant) in claim.tenants.iter().enumerate() {
            below[tenant.parent.unwrap_or(claim.tenants.len())].push(t);
        }
        let mut groups_of: BTreeMap<_, Vec<GroupId>> = BTreeMap::new();
        for (g, group) in instance.groups().iter().enumerate() {
            groups_of.entry(group.parent).or_default().push(GroupId(g));
        }
        let mut users_of: BTreeMap<_, Vec<UserId>> = BTreeMap::new();
        for user in instance.users() {
            users_of.entry(user.group()).or_default().push(user.index());
        }
        Self { instance, claim, below, groups_of, users_of }
    }

    /// Whether nobody is told below a tenant.
    pub(super) fn is_leaf(&self, tenant: usize) -> bool {
        self.below[tenant].is_empty()
    }

    fn groups(&self, of: Option<GroupId>) -> &[GroupId] {
        self.groups_of.get(&of).map_or(&[], Vec::as_slice)
    }

    fn users(&self, of: Option<GroupId>) -> &[UserId] {
        self.users_of.get(&of).map_or(&[], Vec::as_slice)
    }

    /// Everybody whose tasks are a tenant's.
    pub(super) fn members(&self, owner: Owner) -> Vec<User<'a>> {
        match owner {
            Owner::User(user) => vec![self.instance.user(user)],
            Owner::Group(group) => {
                let mut members: Vec<User<'a>> =
                    self.users(Some(group)).iter().map(|user| self.instance.user(*user)).collect();
                for below in self.groups(Some(group)) {
                    members.extend(self.members(Owner::Group(*below)));
                }
                members
            }
        }
    }

    /// Whether nothing below a group is ever told by itself: there is nobody, or only users called `GROUP@…`, which are parts of it.
    fn is_one(&self, group: GroupId) -> bool {
        let id = &self.instance.groups()[group.0].id;
        let is_part = |user: &UserId| {
            let rest = self.instance.user(*user).id().strip_prefix(id.as_str());
            rest.is_some_and(|rest| rest.starts_with('@'))
        };
        self.groups(Some(group)).is_empty() && self.users(Some(group)).iter().all(is_part)
    }

    /// Everybody at the top, and all of a group of which somebody is told; groups end on one level.
    pub(super) fn all_are_there(&self, seen: &mut Worst) {
        let tenants = &self.claim.tenants;
        let places = std::iter::once((None, tenants.len()))
            .chain(tenants.iter().enumerate().map(|(t, tenant)| (Some(tenant.owner), t)));
        let (mut deepest_divided, mut first_whole) = (0, usize::MAX);
        for (owner, place) in places {
            let of = match owner {
                Some(Owner::User(_)) => continue,
                Some(Owner::Group(group)) => Some(group),
                None => None,
            };
            let told: HashSet<Owner> = self.below[place].iter().map(|t| tenants[*t].owner).collect();
            if let (Some(group), true) = (of, told.is_empty()) {
                if !self.is_one(group) {
                    first_whole = first_whole.min(self.level(place));
                }
                continue;
            }
            if of.is_some() {
                deepest_divided = deepest_divided.max(self.level(place));
            }
            let groups = self.groups(of).iter().map(|group| Owner::Group(*group));
            let users = self.users(of).iter().map(|user| Owner::User(*user));
            for owner in groups.chain(users).filter(|owner| !told.contains(owner)) {
                seen.fail(|| format!("{} is not there", self.id_of(owner)));
            }
        }
        if deepest_divided >= first_whole {
            seen.fail(|| format!("groups end on level {first_whole} and go on on level {deepest_divided}"));
        }
    }

    fn id_of(&self, owner: Owner) -> &str {
        match owner {
            Owner::Group(group) => &self.instance.groups()[group.0].id,
            Owner::User(user) => self.instance.user(user).id(),
        }
    }

    /// One at the top.
    fn level(&self, tenant: usize) -> usize {
        let parents = std::iter::successors(Some(tenant), |t| self.claim.tenants[*t].parent);
        parents.count()
    }

    fn place(&self, tenant: &ExportedTenantClaim, class: ClassId, resource: ResourceId) -> String {
        let (class, resource) =
            (&self.instance.classes()[class.0].id, &self.instance.resources()[resource.0]);
        format!("{}: {resource} on {class}", tenant.id)
    }

    pub(super) fn runs_where_it_may(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
        let members = self.members(tenant.owner);
        for amount in tenant.amounts.iter().filter(|amount| amount.units > 0 || amount.exact > 0.0) {
            let asks = |user: &User<'_>| {
                user.can_use(amount.class) && user.demand_doubles()[amount.resource.0] > 0.0
            };
            if !members.iter().any(asks) {
                let place = self.place(tenant, amount.class, amount.resource);
                seen.fail(|| format!("{place}: none of its tasks can use it there"));
            }
        }
    }

    /// Of tasks that are all alike, each resource on a class is of as many.
    pub(super) fn has_whole_tasks(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
        let members = self.members(tenant.owner);
        let [user] = members[..] else { return };
        if user.has_kinds() {
            return;
        }
        let demand = user.demand_doubles();
        let mut on: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
        for amount in &tenant.amounts {
            *on.entry(amount.class.0).or_default().entry(amount.resource.0).or_default() += exact(amount);
        }
        for (class, amounts) in on {
            let tasks = |r: usize| amounts.get(&r).map_or(0.0, |amount| amount / demand[r]);
            let asked = (0..demand.len()).filter(|r| demand[*r] > 0.0);
            let Some(most) = asked.clone().max_by(|a, b| tasks(*a).total_cmp(&tasks(*b))) else { continue };
            for r in asked {
                seen.compare(tasks(r), tasks(most), || {
                    format!("{}: tasks by it", self.place(tenant, ClassId(class), ResourceId(r)))
                });
            }
        }
    }

    pub(super) fn is_within_limits(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
        let mut see = |resource: ResourceId, has: f64, most: f64, what: &str| {
            let name = &self.instance.resources()[resource.0];
            let over = if most > 0.0 { has / most - 1.0 } else { has };
            seen.see(over, || format!("{}: {has} {name}, but {what} {most}", tenant.id));
        };
        if let Some(quota) = self.instance.quota_of(tenant.owner) {
            for limit in quota.limited() {
                let has = has_of(tenant, limit.resource, |class| limit.covers(class));
                see(limit.resource, has, limit.amount.to_f64(), "its limit is");
            }
        }
        let members = self.members(tenant.owner);
        for r in (0..self.instance.resources().len()).map(ResourceId) {
            let used = |user: &User<'a>| Some(user.tasks()? as f64 * user.demand_doubles()[r.0]);
            if let Some(all) = members.iter().map(used).sum::<Option<f64>>() {
                see(r, has_of(tenant, r, |_| true), all, "all its tasks use");
            }
        }
    }

    /// A group has what those below it have together.
    pub(super) fn has_what_is_below(&self, position: usize, seen: &mut Worst) {
        if self.is_leaf(position) {
            return;
        }
        let tenant = &self.claim.tenants[position];
        let sums = |tenants: &mut dyn Iterator<Item = &ExportedTenantClaim>| {
            let mut sums: BTreeMap<(ClassId, ResourceId), f64> = BTreeMap::new();
            for amount in tenants.flat_map(|tenant| &tenant.amounts) {
                *sums.entry((amount.class, amount.resource)).or_default() += exact(amount);
            }
            sums
        };
        let own = sums(&mut std::iter::once(tenant));
        let below = sums(&mut self.below[position].iter().map(|t| &self.claim.tenants[*t]));
        for key in own.keys().chain(below.keys()) {
            let of = |sums: &BTreeMap<_, f64>| sums.get(key).copied().unwrap_or(0.0);
            seen.compare(of(&own), of(&below), || self.place(tenant, key.0, key.1));
        }
    }

    /// The amounts come to the stated share, or to less by no more than the headroom takes.
    pub(super) fn has_its_share(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
        let part = |resource: usize| {
            let of = tenant.amounts.iter().filter(|amount| amount.resource.0 == resource);
            let total = self.instance.total(ResourceId(resource));
            if total > 0.0 { of.map(exact).sum::<f64>() / total } else { 0.0 }
        };
        let has = (0..self.instance.resources().len()).map(part).fold(0.0, f64::max);
        let least = tenant.share * (1.0 - self.claim.headroom.to_f64());
        let nearest = if tenant.share.is_nan() { f64::NAN } else { has.max(least).min(tenant.share) };
        seen.compare(nearest, has, || format!("{}: share {}", tenant.id, tenant.share));
    }
}
