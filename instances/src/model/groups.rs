//! Groups: users that share one weight among their siblings, and groups inside groups, as a tree.

use super::GroupId;
use crate::Decimal;
use crate::violation::Violation;
use crate::wording::no_such;
use std::collections::HashMap;

/// Users, and other groups, that count as one beside their siblings.
///
/// The children of a node divide what it gets by their weights (filling the tree). Users and groups without a parent are the
/// children of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Unique name among groups.
    pub id: String,
    /// Weight among its siblings (> 0).
    pub weight: Decimal,
    /// The group it belongs to; `None`: the root.
    pub parent: Option<GroupId>,
}

/// One group on its way into an instance; parents are named, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct NewGroup {
    /// Unique name among groups.
    pub id: String,
    /// Weight (> 0).
    pub weight: Decimal,
    /// The id of the group it belongs to.
    pub parent: Option<String>,
}

/// Checks the groups and looks up their parents. A violation's place starts at the group (`groups[2].parent`).
pub(super) fn tree(groups: Vec<NewGroup>) -> Result<(Vec<Group>, HashMap<String, usize>), Violation> {
    let mut positions = HashMap::with_capacity(groups.len());
    for (position, group) in groups.iter().enumerate() {
        let place = |field: &str| format!("groups[{position}].{field}");
        if group.id.is_empty() {
            return Err(Violation::new(place("id"), "", "a group needs an id"));
        }
        if group.weight.is_zero() {
            return Err(Violation::new(place("weight"), group.weight, Violation::ABOVE_ZERO));
        }
        if positions.insert(group.id.clone(), position).is_some() {
            return Err(Violation::new(place("id"), &group.id, "duplicate id"));
        }
    }
    let resolve = |(position, group): (usize, NewGroup)| {
        let parent = match &group.parent {
            None => None,
            Some(name) => Some(GroupId(*positions.get(name).ok_or_else(|| {
                let mut known: Vec<&str> = positions.keys().map(String::as_str).collect();
                known.sort_unstable();
                let problem = no_such("group", name, known);
                Violation::new(format!("groups[{position}].parent"), name, problem)
            })?)),
        };
        Ok(Group { id: group.id, weight: group.weight, parent })
    };
    let groups = groups.into_iter().enumerate().map(resolve).collect::<Result<Vec<_>, Violation>>()?;
    refuse_cycles(&groups)?;
    Ok((groups, positions))
}

/// A group may not be inside itself.
fn refuse_cycles(groups: &[Group]) -> Result<(), Violation> {
    // Each group is followed upwards once: what an earlier walk has seen leads to the root.
    const UNSEEN: usize = usize::MAX;
    let mut walk_of = vec![UNSEEN; groups.len()];
    for start in 0..groups.len() {
        let mut next = Some(GroupId(start));
        while let Some(GroupId(here)) = next {
            if walk_of[here] == start {
                let problem = "the group is inside itself; some parent on the way up must be another";
                return Err(Violation::new(format!("groups[{here}].parent"), &groups[here].id, problem));
            }
            if walk_of[here] != UNSEEN {
                break;
            }
            walk_of[here] = start;
            next = groups[here].parent;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InstanceBuilder, NewUser, ServerClass, UserId};

    fn group(id: &str, parent: Option<&str>) -> NewGroup {
        NewGroup { id: id.into(), weight: Decimal::ONE, parent: parent.map(str::to_owned) }
    }

    fn refusal(groups: Vec<NewGroup>) -> String {
        tree(groups).unwrap_err().to_string()
    }

    #[test]
    fn parents_are_found_in_whatever_order_groups_come() {
        let (groups, positions) = tree(vec![group("a", Some("org")), group("org", None)]).unwrap();
        assert_eq!(groups[0].parent, Some(GroupId(1)));
        assert_eq!(positions["org"], 1);
    }

    #[test]
    fn a_user_called_like_its_group_and_a_part_is_part_of_a_queue() {
        let is_part = |user: &str| {
            let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
            builder.class(ServerClass::new("s", 1, vec![Decimal::ONE])).unwrap();
            builder.groups(vec![group("q", None)]).unwrap();
            let below = |name, group| NewUser { group, ..NewUser::new(name, &[Decimal::ONE]) };
            builder.user(below(user, Some(GroupId(0)))).unwrap();
            builder.user(below("q@alone", None)).unwrap();
            let instance = builder.build().unwrap();
            assert!(!instance.user(UserId(1)).is_part_of_queue(), "without a group");
            instance.user(UserId(0)).is_part_of_queue()
        };
        assert!(is_part("q@big"));
        assert!(!is_part("q") && !is_part("qq@big") && !is_part("other@big"));
    }

    #[test]
    fn each_broken_rule_of_groups_names_its_place_and_value() {
        assert_eq!(
            refusal(vec![group("a", Some("b"))]),
            "groups[0].parent = b: there is no group with this id"
        );
        assert_eq!(refusal(vec![group("a", None), group("a", None)]), "groups[1].id = a: duplicate id");
        assert_eq!(refusal(vec![group("", None)]), "groups[0].id: a group needs an id");
        let weightless = NewGroup { weight: Decimal::ZERO, ..group("a", None) };
        assert_eq!(refusal(vec![weightless]), "groups[0].weight = 0: must be > 0");
        let inside_itself = "the group is inside itself; some parent on the way up must be another";
        assert_eq!(refusal(vec![group("a", Some("a"))]), format!("groups[0].parent = a: {inside_itself}"));
        assert_eq!(
            refusal(vec![group("out", None), group("a", Some("b")), group("b", Some("a"))]),
            format!("groups[1].parent = a: {inside_itself}")
        );
    }
}
