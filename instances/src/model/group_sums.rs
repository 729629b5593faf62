//! What groups have of what their members have: sums, and what is left of them where a member has less than its part.

use super::{GroupId, Instance, UserId};
use crate::Decimal;

/// What a user or a group has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Of a user what it has; of a group what its members have as far as they divide it by their weights: the most that it can
    /// have before filling gives a member who wants more than that has.
    pub share: f64,
    /// Whether the user, or any member, wants more.
    pub wants_more: bool,
    /// What it is guaranteed, whatever its weight; of a group what its members are together.
    pub floor: f64,
}

impl Part {
    /// Of a user who is guaranteed nothing.
    pub fn new(share: f64, wants_more: bool) -> Self {
        Self { share, wants_more, floor: 0.0 }
    }

    /// The smallest share, and the smallest of those that want more; infinite where there are none.
    pub fn smallest(parts: &[Self]) -> [f64; 2] {
        let least = |parts: &mut dyn Iterator<Item = &Self>| {
            parts.map(|part| part.share).fold(f64::INFINITY, f64::min)
        };
        [least(&mut parts.iter()), least(&mut parts.iter().filter(|part| part.wants_more))]
    }

    /// What a node has of which these are the children, each with its weight.
    fn above(children: &[(f64, Self)]) -> Self {
        let wanting = children.iter().filter(|(_, part)| part.wants_more);
        let each = wanting.map(|(weight, part)| part.share / weight).fold(f64::INFINITY, f64::min);
        let share = children.iter().map(|(weight, part)| match part.wants_more {
            true if part.floor == 0.0 => weight * each,
            _ => part.share.min(part.floor.max(weight * each)),
        });
        let floor = children.iter().map(|(_, part)| part.floor).sum();
        Self { share: share.sum(), wants_more: each < f64::INFINITY, floor }
    }
}

impl Instance {
    /// What each child of the root (users without a group, and groups without a parent that have members) has over its weight,
    /// given what users have.
    pub fn parts_at_the_root(&self, of_user: impl Fn(usize) -> Part) -> Vec<Part> {
        let over = |part: Part, weight: Decimal| Part { share: part.share / weight.to_f64(), ..part };
        let alone = self.users().filter(|user| user.group().is_none());
        let mut parts: Vec<Part> = alone.map(|user| over(of_user(user.index().0), user.weight())).collect();
        if self.has_groups() {
            let has_members = self.of_groups(false, |_| true, |a, b| a || b);
            let groups = self.groups().iter().zip(self.parts_of_groups(of_user)).zip(has_members);
            let groups = groups.filter(|((group, _), has_members)| group.parent.is_none() && *has_members);
            parts.extend(groups.map(|((group, part), _)| over(part, group.weight)));
        }
        parts
    }

    /// What each group has, given what users have.
    pub fn parts_of_groups(&self, of_user: impl Fn(usize) -> Part) -> Vec<Part> {
        let mut children: Vec<Vec<(f64, Part)>> = vec![Vec::new(); self.groups().len()];
        for user in self.users() {
            if let Some(GroupId(group)) = user.group() {
                children[group].push((user.weight().to_f64(), of_user(user.index().0)));
            }
        }
        let mut parts = vec![Part::new(0.0, false); self.groups().len()];
        for GroupId(group) in self.groups_upwards() {
            parts[group] = Part::above(&children[group]);
            let weight: Decimal = self.groups()[group].weight;
            if let Some(GroupId(parent)) = self.groups()[group].parent {
                children[parent].push((weight.to_f64(), parts[group]));
            }
        }
        parts
    }

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

    /// The child of the root that a user is below; `None` where it is one itself.
    pub fn outermost_group(&self, user: UserId) -> Option<GroupId> {
        let above = |group: &GroupId| self.groups()[group.0].parent;
        std::iter::successors(self.user(user).group(), above).last()
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
    use super::Part;
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

    #[test]
    fn a_group_counts_for_what_it_has_as_far_as_members_divide_it() {
        let user = |weight: f64, share: f64, wants_more: bool| (weight, Part::new(share, wants_more));
        // A second member has more than its part: what the first has, twice.
        let parts = [user(1.0, 2.0, true), user(1.0, 5.0, true)];
        assert_eq!(Part::above(&parts), Part::new(4.0, true));
        // With weight 3 its part is more than it has, and 5/3 is the first one's.
        let parts = [user(1.0, 2.0, true), user(3.0, 5.0, true)];
        assert!((Part::above(&parts).share - 20.0 / 3.0).abs() < 1e-15);
        // Who wants no more takes what it has and nothing else, at most its part.
        let parts = [user(1.0, 2.0, true), user(1.0, 1.0, false), user(1.0, 9.0, false)];
        assert_eq!(Part::above(&parts), Part::new(5.0, true));
        // Who is guaranteed more than its part has it whatever the others have.
        let sure = (1.0, Part { floor: 7.0, ..Part::new(7.0, true) });
        let parts = [user(1.0, 2.0, true), sure];
        assert_eq!(Part::above(&parts), Part { floor: 7.0, ..Part::new(9.0, true) });
        let parts = [user(1.0, 1.0, false), user(1.0, 9.0, false)];
        assert_eq!(Part::above(&parts), Part::new(10.0, false));
    }
}
