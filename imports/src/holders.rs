//! Groups of users of which more is known than that there are users in them: where they stand, what they weigh, their limits.

use super::amounts::Stated;
use super::report::ImportReport;
use super::servers::Class;
use super::tasks::User;
use fairplan_instances::{Decimal, InstanceBuilder, NewGroup, Owner, Quota, ResourceId};
use hashbrown::{HashMap, HashSet};

/// A group of users, which may be inside another and have a limit.
pub(super) struct Holder {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) weight: Decimal,
    /// The most of each resource, where that is limited.
    pub(super) limit: Stated,
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

    /// Whether some limit of an owner lets it have nothing of a resource.
    pub(super) fn bars(&self, owner: &str, r: usize) -> bool {
        self.upwards(owner)
            .any(|at| self.list[at].limit.get(r).is_some_and(|most| most.is_some_and(Decimal::is_zero)))
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
        let all = |r: usize| -> f64 {
            classes.iter().map(|class| class.members.len() as f64 * class.server.capacity[r].to_f64()).sum()
        };
        let mut quotas = Vec::new();
        for (at, holder) in self.list.iter().enumerate() {
            let Some(group) = builder.group_named(&holder.id) else { continue };
            let mut quota = Quota::default();
            for (r, limit) in holder.limit.iter().enumerate().filter_map(|(r, limit)| Some((r, (*limit)?))) {
                if !asked[at][r] {
                    report.one("limits left out: nobody asks for the resource");
                } else if limit.to_f64() >= all(r) {
                    report.one("limits left out: there is no more than that");
                } else {
                    quota.limit.push((ResourceId(r), limit));
                }
            }
            quotas.push((Owner::Group(group), quota));
        }
        quotas
    }
}
