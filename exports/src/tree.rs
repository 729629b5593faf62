//! The tenants of an instance as a tree: groups above, at the leaves users, or groups whose users are one tenant's.

use crate::amounts::Counted;
use crate::held::Held;
use crate::tolerance::MULTIPLE;
use fairplan_instances::{ClassId, Decimal, GroupId, Instance, Owner, Quota, User};
use std::collections::BTreeSet;

/// A tenant: a node of the tree, in whole units on each class.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenant {
    /// The group's or user's id.
    pub id: String,
    /// What the target calls it.
    pub name: String,
    /// The position of the tenant it belongs to, which stands before it.
    pub parent: Option<usize>,
    /// Whether nothing is below it.
    pub is_leaf: bool,
    /// Among its siblings.
    pub weight: Decimal,
    /// What it has by the answer, in units, row-major `classes × resources`.
    pub exact: Vec<f64>,
    /// The same in whole units that fit.
    pub units: Vec<u64>,
    /// Of the cluster's total, the largest part of a resource that it has by the answer.
    pub share: f64,
    /// The largest parts of a resource that its tasks take, one by one, summed: more than the share where tasks differ.
    pub billed: f64,
    /// Of a leaf: the part of its answer that the target makes sure of, at most 1.
    pub kept: Option<f64>,
    /// Of a leaf: the share that the target's own rule gives it when all ask for more, once that was asked.
    pub entitled: Option<f64>,
    /// So many times its answer are all its tasks.
    pub most: f64,
    /// What one of its tasks asks for, in billionths, of each kind of tasks that it has.
    pub(crate) tasks: BTreeSet<Vec<u128>>,
    /// Whether its tasks ask for resources in the same proportions and may run on the same classes.
    pub(crate) is_alike: bool,
    /// On which classes its tasks may run.
    pub(crate) eligible: Vec<bool>,
    /// The most it may have on a class, in billionths, row-major `classes × resources`.
    pub(crate) limit: Vec<Option<u128>>,
    /// The most it may have on all classes together, by resource.
    pub(crate) limit_over_all: Vec<Option<u128>>,
    /// What stays its own on a class when it is idle.
    pub(crate) reserve: Vec<Option<u128>>,
    /// The same on all classes together.
    pub(crate) reserve_over_all: Vec<Option<u128>>,
}

/// What importers call the queue that a scheduler has above all, where that limits them.
pub(crate) const ROOT: &str = "root";

/// Whether an instance is below one group that is a scheduler's own root.
pub(crate) fn is_below_root(instance: &Instance) -> bool {
    let mut tops = instance.groups().iter().filter(|group| group.parent.is_none());
    let is_root = tops.next().is_some_and(|group| group.id == ROOT) && tops.next().is_none();
    is_root && instance.users().all(|user| user.group().is_some())
}

/// The tenants, each before those below it, with what of their quotas is over several classes but not all, and lost.
pub(crate) struct Tree {
    pub(crate) tenants: Vec<Tenant>,
    pub(crate) lost: BTreeSet<String>,
}

struct Builder<'a> {
    instance: &'a Instance,
    held: &'a Held,
    counted: &'a [Counted],
    /// Of each group, and at last of the root: its groups and users.
    groups_of: Vec<Vec<usize>>,
    users_of: Vec<Vec<usize>>,
    /// How many levels become tenants.
    levels: usize,
    tree: Tree,
}

impl Tree {
    /// The tenants of an instance with what they hold; below `levels` levels nobody is a tenant of its own.
    pub(crate) fn new(instance: &Instance, held: &Held, counted: &[Counted], levels: usize) -> Self {
        let root = instance.groups().len();
        let mut groups_of = vec![Vec::new(); root + 1];
        let mut users_of = vec![Vec::new(); root + 1];
        for (g, group) in instance.groups().iter().enumerate() {
            groups_of[group.parent.map_or(root, |parent| parent.0)].push(g);
        }
        for user in instance.users() {
            users_of[user.group().map_or(root, |group| group.0)].push(user.index().0);
        }
        let tree = Self { tenants: Vec::new(), lost: BTreeSet::new() };
        let mut builder =
            Builder { instance, held, counted, groups_of, users_of, levels: levels.max(1), tree };
        builder.below(root, None, 1);
        builder.tree
    }
}

impl Builder<'_> {
    fn below(&mut self, group: usize, parent: Option<usize>, level: usize) {
        for child in self.groups_of[group].clone() {
            let is_leaf = level >= self.levels || self.is_one(child);
            let position = self.group(child, parent, is_leaf);
            if !is_leaf {
                self.below(child, Some(position), level + 1);
            }
        }
        for user in self.users_of[group].clone() {
            self.user(user, parent);
        }
    }

    /// Whether a group is one tenant: importers make a queue with quotas on several classes a group with a user `QUEUE@CLASSES` for
    /// each. A group without anybody below is one too.
    fn is_one(&self, group: usize) -> bool {
        let is_part = |user: &usize| self.instance.user(fairplan_instances::UserId(*user)).is_part_of_queue();
        self.groups_of[group].is_empty() && self.users_of[group].iter().all(is_part)
    }

    /// Everybody below a group.
    fn members(&self, group: usize) -> Vec<usize> {
        let mut members = self.users_of[group].clone();
        for child in &self.groups_of[group] {
            members.extend(self.members(*child));
        }
        members
    }

    fn group(&mut self, group: usize, parent: Option<usize>, is_leaf: bool) -> usize {
        let members = self.members(group);
        let quota = self.instance.quota_of(Owner::Group(GroupId(group))).cloned();
        let stated = &self.instance.groups()[group];
        let (id, weight) = (stated.id.clone(), stated.weight);
        let mut tenant = self.tenant(id, weight, parent, is_leaf, &members);
        self.state(&mut tenant, quota.as_ref(), None);
        if is_leaf {
            for member in members {
                let user = self.instance.user(fairplan_instances::UserId(member));
                let quota = self.instance.quota_of(Owner::User(user.index())).cloned();
                if self.users_of[group].contains(&member) && self.is_one(group) {
                    self.state(&mut tenant, quota.as_ref(), self.only_class(user));
                } else if quota.is_some_and(|quota| !quota.limit.is_empty() || !quota.limits.is_empty()) {
                    self.tree.lost.insert(format!("limits inside {}", tenant.id));
                }
            }
        }
        self.tree.tenants.push(tenant);
        self.tree.tenants.len() - 1
    }

    fn user(&mut self, user: usize, parent: Option<usize>) {
        let user = self.instance.user(fairplan_instances::UserId(user));
        let (instance, members) = (self.instance, [user.index().0]);
        let mut tenant = self.tenant(user.id().to_owned(), user.weight(), parent, true, &members);
        self.state(&mut tenant, instance.quota_of(Owner::User(user.index())), self.only_class(user));
        self.tree.tenants.push(tenant);
    }

    fn tenant(
        &self,
        id: String,
        weight: Decimal,
        parent: Option<usize>,
        is_leaf: bool,
        members: &[usize],
    ) -> Tenant {
        let (classes, resources) = (self.instance.classes().len(), self.counted.len());
        let mut exact = vec![0.0; classes * resources];
        let mut eligible = vec![false; classes];
        let mut tasks = BTreeSet::new();
        let mut billed = 0.0;
        for &member in members {
            billed += self.held.billed(member);
            for (sum, amount) in exact.iter_mut().zip(self.held.of(member)) {
                *sum += amount;
            }
            let user = self.instance.user(fairplan_instances::UserId(member));
            for (l, eligible) in eligible.iter_mut().enumerate() {
                *eligible |= user.can_use(ClassId(l));
            }
            if is_leaf {
                let asks = |demand: &[Decimal]| -> Vec<u128> {
                    let all = self.counted.iter().zip(demand);
                    all.map(|(counted, amount)| counted.billionths(*amount)).collect()
                };
                tasks.extend(user.kinds().map(|kind| asks(kind.piece())));
            }
        }
        let total = |r: usize| self.instance.total(fairplan_instances::ResourceId(r));
        let part = |r: usize| {
            let sum: f64 = (0..classes).map(|l| exact[l * resources + r]).sum();
            if total(r) > 0.0 { sum / total(r) } else { 0.0 }
        };
        let share = (0..resources).map(part).fold(0.0, f64::max);
        let most = self.most(members, &exact);
        for (position, amount) in exact.iter_mut().enumerate() {
            *amount = self.counted[position % resources].in_units(*amount);
        }
        Tenant {
            id,
            name: String::new(),
            parent,
            is_leaf,
            weight,
            units: vec![0; exact.len()],
            exact,
            share,
            billed,
            kept: None,
            entitled: None,
            most,
            tasks,
            is_alike: self.are_alike(members),
            eligible,
            limit: vec![None; classes * resources],
            limit_over_all: vec![None; resources],
            reserve: vec![None; classes * resources],
            reserve_over_all: vec![None; resources],
        }
    }

    /// Whether all tasks of some users who have any ask for resources in the same proportions and may run on the same classes.
    fn are_alike(&self, members: &[usize]) -> bool {
        let user = |member: &usize| self.instance.user(fairplan_instances::UserId(*member));
        let mut kinds = members.iter().flat_map(|member| user(member).kinds());
        let Some(first) = kinds.next() else { return true };
        let classes = (0..self.instance.classes().len()).map(ClassId);
        let usable: Vec<bool> = classes.map(|class| first.can_use(class)).collect();
        let same = |kind: fairplan_instances::Kind<'_>| {
            let (a, b) = (first.piece(), kind.piece());
            let (unit, other) = (a.iter().position(|d| !d.is_zero()), b.iter().position(|d| !d.is_zero()));
            let (Some(unit), Some(other)) = (unit, other) else { return unit == other };
            let crossed = |r: usize| {
                let (x, y) = (a[r].to_f64() * b[unit].to_f64(), b[r].to_f64() * a[unit].to_f64());
                (x - y).abs() <= MULTIPLE * x.max(y)
            };
            let there = usable.iter().enumerate().all(|(l, may)| kind.can_use(ClassId(l)) == *may);
            unit == other && (0..a.len()).all(crossed) && there
        };
        kinds.all(same)
    }

    /// So many times what they have are all tasks of some users.
    fn most(&self, members: &[usize], has: &[f64]) -> f64 {
        let resources = self.counted.len();
        let mut wants = vec![0.0; resources];
        for &member in members {
            let user = self.instance.user(fairplan_instances::UserId(member));
            let Some(tasks) = user.tasks() else { return f64::INFINITY };
            for (wants, demand) in wants.iter_mut().zip(user.demand_doubles()) {
                *wants += tasks as f64 * demand;
            }
        }
        let times = |(r, wants): (usize, f64)| {
            let has: f64 = has.iter().skip(r).step_by(resources).sum();
            if has > 0.0 { wants / has } else { 0.0 }
        };
        wants.into_iter().enumerate().map(times).fold(1.0, f64::max)
    }

    /// The class that a user runs on, if it can run on one only.
    fn only_class(&self, user: User<'_>) -> Option<usize> {
        let mut usable = (0..self.instance.classes().len()).filter(|l| user.can_use(ClassId(*l)));
        usable.next().filter(|_| usable.next().is_none())
    }

    /// Takes over what a quota states of somebody who runs on `only` one class or on any.
    fn state(&mut self, tenant: &mut Tenant, quota: Option<&Quota>, only: Option<usize>) {
        let Some(quota) = quota else { return };
        let (counted, resources) = (self.counted, self.counted.len());
        let only = only.or_else(|| (self.instance.classes().len() == 1).then_some(0));
        for &(r, amount) in &quota.limit {
            let amount = counted[r.0].billionths(amount);
            match only {
                Some(class) => tighten(&mut tenant.limit[class * resources + r.0], amount),
                None => tighten(&mut tenant.limit_over_all[r.0], amount),
            }
        }
        for limit in &quota.limits {
            match limit.classes[..] {
                [class] => {
                    for &(r, amount) in &limit.amounts {
                        tighten(
                            &mut tenant.limit[class.0 * resources + r.0],
                            counted[r.0].billionths(amount),
                        );
                    }
                }
                _ if covers(tenant, &limit.classes) => {
                    for &(r, amount) in &limit.amounts {
                        tighten(&mut tenant.limit_over_all[r.0], counted[r.0].billionths(amount));
                    }
                }
                _ => {
                    self.tree.lost.insert(format!("limits of {} over several classes", tenant.id));
                }
            }
        }
        for &(r, amount) in &quota.reserve {
            let amount = counted[r.0].billionths(amount);
            let kept = match only {
                Some(class) => &mut tenant.reserve[class * resources + r.0],
                None => &mut tenant.reserve_over_all[r.0],
            };
            *kept = Some(kept.unwrap_or(0) + amount);
        }
        for reserve in &quota.reserves {
            match reserve.classes[..] {
                [class] => {
                    for &(r, amount) in &reserve.amounts {
                        let kept = &mut tenant.reserve[class.0 * resources + r.0];
                        *kept = Some(kept.unwrap_or(0) + counted[r.0].billionths(amount));
                    }
                }
                _ if covers(tenant, &reserve.classes) => {
                    for &(r, amount) in &reserve.amounts {
                        let kept = &mut tenant.reserve_over_all[r.0];
                        *kept = Some(kept.unwrap_or(0) + counted[r.0].billionths(amount));
                    }
                }
                _ => {
                    self.tree.lost.insert(format!("reserves of {} over several classes", tenant.id));
                }
            }
        }
    }
}

/// Whether a tenant's tasks can run on no other classes.
fn covers(tenant: &Tenant, classes: &[ClassId]) -> bool {
    tenant.eligible.iter().enumerate().all(|(l, eligible)| !eligible || classes.contains(&ClassId(l)))
}

fn tighten(limit: &mut Option<u128>, amount: u128) {
    *limit = Some(limit.map_or(amount, |limit| limit.min(amount)));
}
