//! Who is in which group of users, and what everybody weighs among its siblings.

use fairplan_instances::{Decimal, GroupId, Instance};
use hashbrown::HashMap;

/// Groups of users, by the ids of users.
#[derive(Clone, Debug, Default)]
pub struct Tenants {
    pub(super) groups: Vec<Group>,
    users: HashMap<String, (Decimal, Option<usize>)>,
}

/// A group, its weight among its siblings, and the group that it is in.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub id: String,
    pub weight: Decimal,
    pub parent: Option<usize>,
}

impl Tenants {
    /// Those of an instance, of which nothing else counts.
    pub fn of(instance: &Instance) -> Self {
        let number = |group: Option<GroupId>| group.map(|group| group.0);
        let group = |group: &fairplan_instances::Group| Group {
            id: group.id.clone(),
            weight: group.weight,
            parent: number(group.parent),
        };
        let users = instance.users().map(|user| (user.id().into(), (user.weight(), number(user.group()))));
        Self { groups: instance.groups().iter().map(group).collect(), users: users.collect() }
    }

    /// The weight of a user among its siblings, if it is one of these, and its group.
    pub(super) fn user(&self, id: &str) -> (Option<Decimal>, Option<usize>) {
        self.users.get(id).map_or((None, None), |(weight, group)| (Some(*weight), *group))
    }

    /// All weights, with what each is the weight of.
    pub(super) fn weights(&self) -> impl Iterator<Item = (String, Decimal)> {
        let groups = self.groups.iter().map(|group| (format!("group {}", group.id), group.weight));
        groups.chain(self.users.iter().map(|(id, (weight, _))| (format!("user {id}"), *weight)))
    }
}
