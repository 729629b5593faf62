//! What an export says of its tenants, held against the instance: who they are, where their tasks may run, and how much they may have.

use super::{AmountClaim, ExportClaim, ExportedTenantClaim, used_up};
use crate::tolerance::STATED;
use crate::verdict::Worst;
use fairplan_instances::{ClassId, GroupId, Instance, Owner, ResourceId, User, UserId};
use std::collections::{BTreeMap, HashSet};

/// By which part of it a limit may be exceeded: answers of a solver are sums of doubles.
const BEYOND: f64 = 1e-6;

/// The properties in which an export is one of the instance.
pub(super) fn seen(instance: &Instance, claim: &ExportClaim) -> Vec<Worst> {
    let tree = Tree::new(instance, claim);
    let mut all = Worst::of("all-tenants", 0.0);
    let mut runs = Worst::of("may-run", 0.0);
    let mut tasks = Worst::of("whole-tasks", STATED);
    let mut limits = Worst::of("within-limits", BEYOND);
    let mut sums = Worst::of("sums", STATED);
    let mut shares = Worst::of("export-shares", STATED);
    tree.all_are_there(&mut all);
    for (t, tenant) in claim.tenants.iter().enumerate() {
        tree.runs_where_it_may(tenant, &mut runs);
        tree.has_whole_tasks(tenant, &mut tasks);
        tree.is_within_limits(tenant, &mut limits);
        tree.has_what_is_below(t, &mut sums);
        tree.has_its_share(tenant, &mut shares);
    }
    vec![all, runs, tasks, limits, sums, shares, used_up::seen(&tree, claim)]
}

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
    fn new(instance: &'a Instance, claim: &'a ExportClaim) -> Self {
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
    fn all_are_there(&self, seen: &mut Worst) {
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

    fn runs_where_it_may(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
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
    fn has_whole_tasks(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
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

    fn is_within_limits(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
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
    fn has_what_is_below(&self, position: usize, seen: &mut Worst) {
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
    fn has_its_share(&self, tenant: &ExportedTenantClaim, seen: &mut Worst) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify_export;
    use fairplan_instances::files::{read_json, source};

    const CLUSTER: &str = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
        "server_classes": [{"id": "S", "count": 2, "capacity": {"cpu": 7, "memory": 14}},
                           {"id": "T", "count": 3, "capacity": {"cpu": 5, "memory": 15}}],
        "groups": [{"id": "g"}],
        "users": [{"id": "a", "demand": {"cpu": 1, "memory": 2}, "limit": {"cpu": 5}},
                  {"id": "b", "demand": {"cpu": 1, "memory": 1}, "eligible": ["S"], "group": "g"},
                  {"id": "c", "demand": {"cpu": 1, "memory": 1}, "tasks": 4, "group": "g"}]}"#;

    fn cluster() -> Instance {
        read_json(source::in_memory("it", CLUSTER.as_bytes().to_vec()).unwrap()).unwrap()
    }

    /// So many tasks of a user on the two classes.
    fn tenant(
        instance: &Instance,
        user: usize,
        parent: Option<usize>,
        tasks: [u64; 2],
    ) -> ExportedTenantClaim {
        let user = instance.user(UserId(user));
        let amounts = (0..2).flat_map(|class| (0..2).map(move |r| (class, r))).filter_map(|(class, r)| {
            let units = tasks[class] * user.demand_doubles()[r] as u64;
            let (class, resource) = (ClassId(class), ResourceId(r));
            let amount =
                AmountClaim { class, resource, unit: 1_000_000_000, per: 1, exact: units as f64, units };
            (units > 0).then_some(amount)
        });
        let (id, owner) = (user.id().to_owned(), Owner::User(user.index()));
        let mut tenant = ExportedTenantClaim { id, owner, parent, share: 0.0, amounts: amounts.collect() };
        tenant.share = share(instance, &tenant);
        tenant
    }

    fn share(instance: &Instance, tenant: &ExportedTenantClaim) -> f64 {
        let part = |r: usize| {
            let of = tenant.amounts.iter().filter(|amount| amount.resource.0 == r);
            of.map(exact).sum::<f64>() / instance.total(ResourceId(r))
        };
        part(0).max(part(1))
    }

    /// Five tasks of `a` on T; in `g` fourteen of `b` on S and four of `c` on T.
    fn claim(instance: &Instance) -> ExportClaim {
        let (a, b, c) = (
            tenant(instance, 0, None, [0, 5]),
            tenant(instance, 1, Some(0), [14, 0]),
            tenant(instance, 2, Some(0), [0, 4]),
        );
        let amounts = b.amounts.iter().chain(&c.amounts).cloned().collect();
        let owner = Owner::Group(GroupId(0));
        let mut g = ExportedTenantClaim { id: "g".into(), owner, parent: None, share: 0.0, amounts };
        g.share = share(instance, &g);
        ExportClaim { tenants: vec![g, b, c, a], ..ExportClaim::default() }
    }

    #[test]
    fn an_export_of_other_tenants_or_of_what_they_may_not_have_is_refused() {
        let instance = cluster();
        let failed = |change: &dyn Fn(&mut ExportClaim)| -> Vec<&str> {
            let mut claim = claim(&instance);
            change(&mut claim);
            let verdicts = verify_export(&instance, &claim);
            let failed =
                verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property);
            // Whoever has less than it may leaves something over, of which another test speaks.
            failed.filter(|property| *property != "used-up").collect()
        };
        assert!(failed(&|_| {}).is_empty());
        assert_eq!(failed(&|claim| claim.tenants.clear()), ["all-tenants"]);
        assert_eq!(failed(&|claim| drop(claim.tenants.pop())), ["all-tenants"]);
        // Without those below it the group is told as a whole, as by --levels 1.
        assert!(failed(&|claim| drop(claim.tenants.drain(1..3))).is_empty());
        let replaced = |at: usize, user: usize, tasks: [u64; 2]| {
            let (parent, instance) = (claim(&instance).tenants[at].parent, &instance);
            let tenant = tenant(instance, user, parent, tasks);
            move |claim: &mut ExportClaim| {
                claim.tenants[at] = tenant.clone();
                let below = [1, 2].map(|t| claim.tenants[t].amounts.clone()).concat();
                claim.tenants[0].amounts = below;
                claim.tenants[0].share = share(instance, &claim.tenants[0]);
            }
        };
        assert_eq!(failed(&replaced(1, 1, [5, 3])), ["may-run"]);
        assert_eq!(failed(&replaced(2, 2, [0, 5])), ["within-limits"]);
        assert_eq!(failed(&replaced(3, 0, [0, 6])), ["within-limits"]);
        let one_more = |claim: &mut ExportClaim, at: usize| {
            let amount = &mut claim.tenants[at].amounts[0];
            (amount.units, amount.exact) = (amount.units - 1, amount.exact - 1.0);
        };
        assert_eq!(failed(&|claim| one_more(claim, 3)), ["whole-tasks", "export-shares"]);
        assert_eq!(failed(&|claim| one_more(claim, 2)), ["whole-tasks", "sums", "export-shares"]);
        assert_eq!(failed(&|claim| claim.tenants[3].share *= 1.1), ["export-shares"]);
        assert!(failed(&|claim| claim.headroom = "0.5".parse().unwrap()).contains(&"units-fit"));
    }

    #[test]
    fn an_export_that_leaves_over_what_a_tenant_could_use_is_refused() {
        let instance = cluster();
        let left_over = |change: &dyn Fn(&mut ExportClaim)| {
            let mut claim = claim(&instance);
            change(&mut claim);
            let verdicts = verify_export(&instance, &claim);
            let verdict = verdicts.into_iter().find(|verdict| verdict.property == "used-up").unwrap();
            (!verdict.holds).then_some(verdict.witness)
        };
        let less = |claim: &mut ExportClaim, at: usize, tasks: f64| {
            for amount in &mut claim.tenants[at].amounts {
                amount.exact *= tasks;
            }
        };
        // All is used, all tasks run or the limit is reached.
        assert_eq!(left_over(&|_| {}), None);
        assert!(
            left_over(&|claim| less(claim, 3, 0.8)).unwrap().starts_with("a: 1 tasks more of a fit on T")
        );
        assert!(left_over(&|claim| less(claim, 2, 0.5)).unwrap().starts_with("c: "));
        assert!(left_over(&|claim| claim.tenants.iter_mut().for_each(|it| it.amounts.clear())).is_some());
        // Of a group that is one tenant nothing is known of those with tasks or limits, but b takes what is free.
        assert_eq!(left_over(&|claim| drop(claim.tenants.drain(1..3))), None);
        let half = |claim: &mut ExportClaim| {
            claim.tenants.drain(1..3);
            less(claim, 0, 0.5);
        };
        assert!(left_over(&half).unwrap().contains("of b fit on S"));
    }

    #[test]
    fn a_smaller_headroom_does_not_come_to_the_shares() {
        let instance = cluster();
        let mut claim = claim(&instance);
        // Half of everybody's answer is left, as a headroom of a half would leave of what is used up.
        for tenant in &mut claim.tenants {
            for amount in &mut tenant.amounts {
                amount.exact /= 2.0;
                amount.units = amount.exact as u64;
            }
        }
        let holds = |headroom: &str| {
            let claim = ExportClaim { headroom: headroom.parse().unwrap(), ..claim.clone() };
            verify_export(&instance, &claim).iter().all(|verdict| verdict.holds)
        };
        assert!(holds("0.5"));
        assert!(!holds("0.25"));
    }
}
