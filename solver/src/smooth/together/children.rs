//! Who counts in a sum over bundles: the children of the root, with what each is made of and what it is guaranteed.

use crate::progress::{cap, fastest_rates};
use crate::question::Question;
use crate::tree::Tree;
use fairplan_instances::guaranteed_shares;

/// A child of the root that can have something: a user, or a group by its members.
pub(super) struct Child {
    pub weight: f64,
    /// The largest share that its tasks allow.
    pub cap: f64,
    /// The share that it is guaranteed; of a group what its members' guarantees come to if all are in proportion to their parts.
    pub floor: f64,
    /// Its users, and what part of its share each of them has.
    pub users: Vec<(usize, f64)>,
}

/// The children of the root, in the order of their first users, given what each user is guaranteed.
pub(super) fn children(question: &Question<'_>, sure: &[f64]) -> Vec<Child> {
    let (instance, reduction) = (question.instance, question.reduction());
    let users = &reduction.users;
    let fastest = fastest_rates(reduction);
    let cap_of_line = |line: usize| cap(reduction, &fastest, line) / users.part(line);
    let cap = |i: usize| users.lines_of(i).map(cap_of_line).fold(f64::INFINITY, f64::min);
    let caps: Vec<f64> = (0..users.users()).map(cap).collect();
    let able = || (0..caps.len()).filter(|i| caps[*i] > 0.0);
    let user = |i: usize| -> Child {
        let weight = users.lines_of(i).next().map_or(0.0, |line| users.weight(line) / users.part(line));
        Child { weight, cap: caps[i], floor: sure[i].min(caps[i]), users: vec![(i, 1.0)] }
    };
    if !instance.has_groups() {
        return able().map(user).collect();
    }
    // Who can have nothing leaves its part to its siblings; the others go on without an end, and so in proportion.
    let tree = Tree::new(instance, question.objective, reduction);
    let ceilings: Vec<f64> = caps.iter().map(|cap| if *cap > 0.0 { f64::INFINITY } else { 0.0 }).collect();
    let rises = tree.at(1.0, &ceilings).slope;
    let mut children: Vec<Child> = Vec::new();
    let mut child_of = vec![None; instance.groups().len()];
    for i in able() {
        let Some(group) = instance.outermost_group(users.user_id(i)) else {
            children.push(user(i));
            continue;
        };
        let weight = instance.groups()[group.0].weight.to_f64();
        let at = *child_of[group.0].get_or_insert_with(|| {
            children.push(Child { weight, cap: f64::INFINITY, floor: f64::INFINITY, users: Vec::new() });
            children.len() - 1
        });
        let part = rises[i] / weight;
        children[at].users.push((i, part));
        children[at].floor = children[at].floor.min(sure[i] / part);
    }
    children
}

/// What each user is guaranteed, as a dominant share.
pub(super) fn sure_of(question: &Question<'_>) -> Vec<f64> {
    let (instance, users) = (question.instance, &question.reduction().users);
    if !instance.has_guarantees() {
        return vec![0.0; users.users()];
    }
    let shares = guaranteed_shares(instance, question.objective, &question.guaranteed().solutions);
    (0..users.users()).map(|i| shares[users.user_id(i).0]).collect()
}
