//! Groups of users of which more is known than that there are users in them: where they stand, what they weigh, their limits.

use super::amounts::Stated;
use super::report::ImportReport;
use super::servers::Class;
use super::tasks::User;
use fairplan_instances::{
    ClassAmounts, ClassId, Decimal, InstanceBuilder, NewGroup, Owner, Quota, ResourceId,
};
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// A group of users, which may be inside another and have a limit.
pub(super) struct Holder {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) weight: Decimal,
    /// The most of each resource, where that is limited.
    pub(super) limit: Stated,
    /// The same on some of the servers.
    pub(super) limits: Vec<LimitOver>,
}

/// The most of a resource on some servers together.
#[derive(Clone)]
pub(super) struct LimitOver {
    /// The servers, by position.
    pub(super) servers: Rc<HashSet<usize>>,
    pub(super) resource: usize,
    pub(super) most: Decimal,
}

impl LimitOver {
    /// The classes that have these servers and no others; nothing where a class has both.
    fn classes(&self, classes: &[Class<'_>]) -> Option<Vec<ClassId>> {
        let mut covered = Vec::new();
        for (l, class) in classes.iter().enumerate() {
            match class.members.iter().filter(|server| self.servers.contains(*server)).count() {
                0 => {}
                all if all == class.members.len() => covered.push(ClassId(l)),
                _ => return None,
            }
        }
        Some(covered)
    }

    /// Whether nothing of the resource may be had on any of these classes.
    fn bars(&self, r: usize, may_run: &[usize], classes: &[Class<'_>]) -> bool {
        let covers = |l: &usize| classes[*l].members.iter().all(|server| self.servers.contains(server));
        self.resource == r && self.most.is_zero() && may_run.iter().all(covers)
    }
}

/// What is known of groups, by name.
pub(super) struct Holders<'a> {
    list: &'a [Holder],
    position: HashMap<&'a str, usize>,
}

impl<'a> Holders<'a> {
    pub(super) fn new(list: &'a [Holder]) -> Self {
        let position = list.iter().enumerate().map(|(at, holder)| (holder.id.as_str(), at)).collect();
        Self { list, position }
    }

    /// The group and those above it, as far as they are known.
    fn upwards(&self, id: &str) -> impl Iterator<Item = usize> + '_ {
        let named = |id: &str| self.position.get(id).copied();
        let above = |at: &usize| {
            self.list[*at].parent.as_deref().and_then(|parent| self.position.get(parent).copied())
        };
        std::iter::successors(named(id), above).take(self.list.len())
    }

    /// Whether some limit of an owner lets it have nothing of a resource on the classes where it may run.
    pub(super) fn bars(&self, owner: &str, r: usize, may_run: &[usize], classes: &[Class<'_>]) -> bool {
        self.upwards(owner).map(|at| &self.list[at]).any(|holder| {
            holder.limit.get(r).is_some_and(|most| most.is_some_and(Decimal::is_zero))
                || holder.limits.iter().any(|limit| limit.bars(r, may_run, classes))
        })
    }

    /// The known groups with users, then one of weight 1 for each other owner, in the order of their first users.
    pub(super) fn groups(&self, users: &[User<'_>], report: &mut ImportReport) -> Vec<NewGroup> {
        let used: HashSet<usize> = users.iter().flat_map(|user| self.upwards(user.owner)).collect();
        report.add((self.list.len() - used.len()) as u64, "groups left out: nothing runs or waits there");
        let known = (0..self.list.len()).filter(|at| used.contains(at)).map(|at| {
            let Holder { id, parent, weight, .. } = &self.list[at];
            NewGroup { id: id.clone(), weight: *weight, parent: parent.clone() }
        });
        let mut seen: HashSet<&str> = self.position.keys().copied().collect();
        let owners = users.iter().map(|user| user.owner).filter(|owner| seen.insert(*owner));
        let others = owners.map(|id| NewGroup { id: id.to_owned(), weight: Decimal::ONE, parent: None });
        known.chain(others).collect()
    }

    /// The limits of groups, where there is more than that and a user below asks for the resource.
    pub(super) fn limits(
        &self,
        builder: &InstanceBuilder,
        users: &[User<'_>],
        classes: &[Class<'_>],
        report: &mut ImportReport,
    ) -> Vec<(Owner, Quota)> {
        let mut asked = vec![vec![false; builder.resources().len()]; self.list.len()];
        for user in users {
            for at in self.upwards(user.owner) {
                for (asked, r) in asked[at].iter_mut().zip(0..) {
                    *asked |= user.tasks.iter().any(|tasks| !tasks.demand[r as usize].is_zero());
                }
            }
        }
        let all = |r: usize, over: &[ClassId]| -> f64 {
            let class = |id: &ClassId| &classes[id.0];
            over.iter()
                .map(class)
                .map(|class| class.members.len() as f64 * class.server.capacity[r].to_f64())
                .sum()
        };
        let everywhere: Vec<ClassId> = (0..classes.len()).map(ClassId).collect();
        let mut quotas = Vec::new();
        for (at, holder) in self.list.iter().enumerate() {
            let Some(group) = builder.group_named(&holder.id) else { continue };
            let mut quota = Quota::default();
            let mut counts = |r: usize, most: Decimal, over: &[ClassId]| {
                let is_asked = asked[at][r];
                let binds = most.to_f64() < all(r, over);
                if !is_asked {
                    report.one("limits left out: nobody asks for the resource");
                } else if !binds {
                    report.one("limits left out: there is no more than that");
                }
                is_asked && binds
            };
            for (r, limit) in holder.limit.iter().enumerate().filter_map(|(r, limit)| Some((r, (*limit)?))) {
                if counts(r, limit, &everywhere) {
                    quota.limit.push((ResourceId(r), limit));
                }
            }
            let mut split = 0;
            for limit in &holder.limits {
                let LimitOver { resource, most, .. } = *limit;
                let Some(over) = limit.classes(classes) else {
                    split += 1;
                    continue;
                };
                if counts(resource, most, &over) {
                    let amount = (ResourceId(resource), most);
                    match quota.limits.iter_mut().find(|known| known.classes == over) {
                        Some(known) => known.amounts.push(amount),
                        None => quota.limits.push(ClassAmounts { classes: over, amounts: vec![amount] }),
                    }
                }
            }
            report.add(split, "limits left out: they are of some servers among others that are alike");
            quotas.push((Owner::Group(group), quota));
        }
        quotas
    }
}
