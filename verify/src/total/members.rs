//! What the groups at the root are worth in a sum: as much as their members have of it by their weights.
//!
//! Filling the tree gives a member `S_i = φ_i S`, as long as no tasks run out. So a group has `min_i S_i / φ_i`, and what
//! its members have beyond their parts does not count.

use crate::groups::{Bounds, Tree};
use crate::rounding::{Sum, decimal_down, decimal_up, down, up};
use crate::tolerance;
use crate::users::Subject;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::UserId;

/// A group that is a child of the root and has members that can run.
pub(super) struct Group {
    pub weight: f64,
    /// What it has as far as its members divide it by their weights, at least.
    pub share: f64,
    /// What it is guaranteed that way: no more than any member's guarantee comes to for its part.
    pub floor: f64,
    pub members: Vec<Member>,
}

impl Group {
    /// What a unit of its share costs, a unit of work costing each member so much; rounded down.
    pub fn cost(&self, of_member: impl Fn(usize) -> f64) -> f64 {
        let mut sum = Sum::new();
        for member in &self.members {
            sum.add(down(member.part.low * down(of_member(member.user) / member.task_share)));
        }
        sum.below()
    }
}

/// A member of a group, however deep below it.
pub(super) struct Member {
    pub user: usize,
    /// The part `φ_i` of the group's share that it has.
    pub part: Bounds,
    /// The dominant share of one task, at most.
    pub task_share: f64,
}

/// The groups at the root, given what users are guaranteed.
pub(super) fn of_root(
    Subject { instance, usable_classes, shares }: Subject<'_>,
    floors: &[Bounds],
) -> Vec<Group> {
    if !instance.has_groups() {
        return Vec::new();
    }
    let unlimited = Bounds { low: f64::INFINITY, high: f64::INFINITY };
    let is_able = |i: usize| usable_classes.can_run(i) && instance.user(UserId(i)).tasks() != Some(0);
    let ceiling = |i: usize| if is_able(i) { unlimited } else { Bounds::NOTHING };
    let ceilings: Vec<Bounds> = (0..instance.user_count()).map(ceiling).collect();
    let filled = Tree::of(instance).at(1.0, &ceilings);
    let of_group = |group: &fairplan_instances::Group| Group {
        weight: group.weight.to_f64(),
        share: f64::INFINITY,
        floor: f64::INFINITY,
        members: Vec::new(),
    };
    let mut groups: Vec<Group> = instance.groups().iter().map(of_group).collect();
    for user in instance.users().filter(|user| is_able(user.index().0)) {
        let Some(top) = instance.outermost_group(user.index()) else { continue };
        let (group, i, weight) = (&mut groups[top.0], user.index().0, instance.groups()[top.0].weight);
        let at_one = filled[i].share;
        let part = Bounds {
            low: down(at_one.low / decimal_up(weight)),
            high: up(at_one.high / decimal_down(weight)),
        };
        group.share = group.share.min(down(shares[i].share / part.high));
        let sure = floors.get(i).map_or(0.0, |floor| floor.low);
        group.floor = group.floor.min(down(sure / part.high));
        let task_share = user.task_share() * (1.0 + tolerance::ROUNDINGS);
        group.members.push(Member { user: i, part, task_share });
    }
    groups.retain(|group| !group.members.is_empty());
    groups
}

/// `division`: no member of a group has more than its part of what the group has.
pub(super) fn divide(Subject { instance, shares, .. }: Subject<'_>, groups: &[Group]) -> Verdict {
    let mut worst = Worst::of("division", tolerance::STATED);
    for group in groups {
        for member in &group.members {
            let (has, due) = (shares[member.user].share, group.share * member.part.high);
            let more = if has > due { (has - due) / has } else { 0.0 };
            worst.see(more, || {
                let id = instance.user(UserId(member.user)).id();
                format!("user {id} has {has}, and its part of what its group has is {due}")
            });
        }
    }
    worst.verdict()
}
