//! Sums over the members of groups, whatever is summed, and what divides the root.

use super::{GroupId, Instance};

impl Instance {
    /// The groups in an order in which each comes before the group it belongs to.
    pub fn groups_upwards(&self) -> Vec<GroupId> {
        let groups = self.groups();
        let mut children_left = vec![0usize; groups.len()];
        groups.iter().filter_map(|group| group.parent).for_each(|parent| children_left[parent.0] += 1);
        let mut order: Vec<GroupId> =
            (0..groups.len()).filter(|g| children_left[*g] == 0).map(GroupId).collect();
        let mut next = 0;
        while let Some(GroupId(group)) = order.get(next).copied() {
            next += 1;
            if let Some(GroupId(parent)) = groups[group].parent {
                children_left[parent] -= 1;
                if children_left[parent] == 0 {
                    order.push(GroupId(parent));
                }
            }
        }
        order
    }

    /// Of each group whether it is this one or inside it.
    pub fn groups_inside(&self, group: GroupId) -> Vec<bool> {
        let mut inside = vec![false; self.groups().len()];
        inside[group.0] = true;
        for GroupId(below) in self.groups_upwards().into_iter().rev() {
            inside[below] |= self.groups()[below].parent.is_some_and(|above| inside[above.0]);
        }
        inside
    }

    /// For each group what `join` makes of its members, those of groups inside it included; `start` for one without.
    pub fn of_groups<T: Clone>(
        &self,
        start: T,
        of_user: impl Fn(usize) -> T,
        join: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let mut found = vec![start; self.groups().len()];
        let add = |found: &mut Vec<T>, group: Option<GroupId>, more: T| {
            if let Some(GroupId(group)) = group {
                found[group] = join(found[group].clone(), more);
            }
        };
        for user in self.users() {
            add(&mut found, user.group(), of_user(user.index().0));
        }
        for GroupId(group) in self.groups_upwards() {
            let here = found[group].clone();
            add(&mut found, self.groups()[group].parent, here);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decimal, Draft, GroupId, NewGroup};

    #[test]
    fn sums_go_up_the_tree_in_whatever_order_groups_come() {
        let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
        let group = |id: &str, parent: Option<&str>| NewGroup {
            id: id.into(),
            weight: Decimal::ONE,
            parent: parent.map(str::to_owned),
        };
        draft.groups = vec![group("org", None), group("team", Some("unit")), group("unit", Some("org"))];
        (draft.users[0].group, draft.users[1].group) = (Some(1), Some(0));
        let instance = draft.build().unwrap();
        assert_eq!(instance.of_groups(0, |i| i + 1, |a, b| a + b), [3, 1, 1]);
        let inside = |group| instance.groups_inside(GroupId(group));
        assert_eq!([inside(0), inside(1), inside(2)], [[true; 3], [false, true, false], [false, true, true]]);
    }
}
