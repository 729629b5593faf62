//! What groups of users hold together.

use super::tenants::Tenants;
use fairplan_instances::Decimal;

/// A child of something: a group, or a user.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    Group(usize),
    User(usize),
}

/// So much of a resource.
#[derive(Clone, Copy, Default)]
pub(super) struct Held {
    pub resource: usize,
    pub amount: u128,
}

/// What groups hold: all that is told of their members together.
#[derive(Default)]
pub(super) struct Groups {
    pub weights: Vec<u64>,
    pub parents: Vec<Option<usize>>,
    /// Of each group what its members hold of the resource that is each one's dominant one, row-major.
    pub parts: Vec<u128>,
    /// Their tasks.
    pub tasks: Vec<u64>,
    /// The groups, every one before the one it is in.
    pub upwards: Vec<usize>,
}

impl Groups {
    pub fn new(tenants: &Tenants, width: usize, weight: impl Fn(Decimal) -> u64) -> Self {
        let parents: Vec<Option<usize>> = tenants.groups.iter().map(|group| group.parent).collect();
        let mut upwards: Vec<usize> = (0..parents.len()).collect();
        upwards.sort_by_key(|group| std::cmp::Reverse(above(&parents, *group).count()));
        Self {
            weights: tenants.groups.iter().map(|group| weight(group.weight)).collect(),
            parts: vec![0; parents.len() * width],
            tasks: vec![0; parents.len()],
            upwards,
            parents,
        }
    }

    /// The groups from the root down to this one.
    pub fn path(&self, group: usize) -> Vec<usize> {
        let mut path: Vec<usize> = above(&self.parents, group).collect();
        path.reverse();
        path
    }

    /// A member holds so much more, or less, of its dominant resource.
    pub fn change(&mut self, path: &[usize], before: Held, after: Held, width: usize) {
        for group in path {
            self.parts[group * width + before.resource] -= before.amount;
            self.parts[group * width + after.resource] += after.amount;
        }
    }
}

fn above(parents: &[Option<usize>], group: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(group), |group| parents[*group])
}
