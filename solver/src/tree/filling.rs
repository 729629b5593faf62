//! Filling the tree: what a level at the root comes to for each user, by weights from the root down.
//!
//! ```text
//! root      S_c = min(w_c t, U_c)                         every child c
//! node v    S_c = min(w_c τ_v, U_c),  Σ_c S_c = S_v       every child c
//! ```
//! `U` is a user's ceiling (what its tasks are worth, or what it has once nothing more is to be had) and of a group the sum
//! of its members'. So every user's `S` is a piecewise linear and rising function of `t`: what a user leaves goes to its
//! siblings first, then up.

use crate::reduction::Reduction;
use crate::sums::Compensated;
use fairplan_instances::{Instance, UserId};

/// The tree of an instance: the root, its groups, and its users in the order of the reduction.
///
/// Nodes are numbered: 0 is the root, then come the groups, then the users.
pub(super) struct Tree {
    /// The root and its groups.
    inner: usize,
    /// The node above each node; the root's is itself.
    above: Vec<u32>,
    /// Weight of each node among its siblings.
    weight: Vec<f64>,
    /// The inner nodes, every one after the node above it.
    downwards: Vec<usize>,
    /// The children of inner nodes, those of one after those of the other.
    children: Vec<u32>,
    /// Where those of each begin, and at last where they all end.
    starts: Vec<usize>,
}

/// The users' shares at levels from `from` to `to`: `base + slope · t`.
pub(super) struct Piece {
    pub base: Vec<f64>,
    pub slope: Vec<f64>,
    pub from: f64,
    pub to: f64,
}

/// Pieces that a search for a level looks at, at most; few steps of Newton's method are usual.
pub(super) const MOST_PIECES: usize = 200;

impl Piece {
    /// The share of a user at a level.
    pub fn share(&self, user: usize, level: f64) -> f64 {
        if self.slope[user] == 0.0 { self.base[user] } else { self.base[user] + self.slope[user] * level }
    }

    /// What the users pay, `Σ cost · share`: a constant, and so much a level.
    fn cost(&self, costs: &[f64]) -> (f64, f64) {
        let (mut constant, mut rising) = (Compensated::default(), Compensated::default());
        for ((base, slope), cost) in self.base.iter().zip(&self.slope).zip(costs) {
            if *base != 0.0 {
                constant.add(base * cost);
            }
            if *slope != 0.0 {
                rising.add(slope * cost);
            }
        }
        (constant.value(), rising.value())
    }

    fn contains(&self, level: f64) -> bool {
        (self.from..=self.to).contains(&level)
    }
}

/// The part of a level search that is left.
#[derive(Clone, Copy)]
pub(super) struct Bracket {
    /// No level below is too high, none above is possible.
    pub low: f64,
    pub high: f64,
}

impl Bracket {
    pub const EVERYTHING: Self = Self { low: 0.0, high: f64::INFINITY };

    /// A level inside, where possible this one.
    pub fn inside(self, level: f64) -> f64 {
        let Self { low, high } = self;
        if level > low && level < high {
            level
        } else if high == f64::INFINITY {
            if low > 0.0 { 2.0 * low } else { 1.0 }
        } else {
            0.5 * (low + high)
        }
    }

    pub fn is_closed(self) -> bool {
        self.high <= self.low * (1.0 + 2.0 * f64::EPSILON)
    }
}

impl Tree {
    pub fn new(instance: &Instance, reduction: &Reduction) -> Self {
        let (groups, users) = (instance.groups(), &reduction.users);
        let view = |i: usize| instance.user(UserId(users.position(i)));
        let node_of =
            |group: Option<fairplan_instances::GroupId>| group.map_or(0, |group| group.0 as u32 + 1);
        let inner = 1 + groups.len();
        let mut above = vec![0];
        above.extend(groups.iter().map(|group| node_of(group.parent)));
        above.extend((0..users.len()).map(|i| node_of(view(i).group())));
        let mut weight = vec![1.0];
        weight.extend(groups.iter().map(|group| group.weight.to_f64()));
        weight.extend((0..users.len()).map(|i| view(i).weight().to_f64()));
        let mut starts = vec![0; inner + 1];
        above[1..].iter().for_each(|v| starts[*v as usize + 1] += 1);
        (0..inner).for_each(|v| starts[v + 1] += starts[v]);
        let mut next = starts.clone();
        let mut children = vec![0; above.len() - 1];
        for node in 1..above.len() {
            let place = &mut next[above[node] as usize];
            children[*place] = node as u32;
            *place += 1;
        }
        let mut tree = Self { inner, above, weight, downwards: vec![0], children, starts };
        let mut position = 0;
        while let Some(&v) = tree.downwards.get(position) {
            let groups = tree.children(v).iter().map(|c| *c as usize).filter(|c| *c < inner);
            let groups: Vec<usize> = groups.collect();
            tree.downwards.extend(groups);
            position += 1;
        }
        tree
    }

    fn children(&self, node: usize) -> &[u32] {
        &self.children[self.starts[node]..self.starts[node + 1]]
    }

    /// Weight of a user among its siblings.
    pub fn user_weight(&self, user: usize) -> f64 {
        self.weight[self.inner + user]
    }

    /// The ceilings of all nodes, given those of the users.
    fn ceilings(&self, users: &[f64]) -> Vec<f64> {
        let mut sums = vec![Compensated::default(); self.inner];
        let mut unlimited = vec![false; self.inner];
        for (ceiling, v) in users.iter().zip(&self.above[self.inner..]) {
            if *ceiling == f64::INFINITY {
                unlimited[*v as usize] = true
            } else {
                sums[*v as usize].add(*ceiling)
            }
        }
        for &v in self.downwards[1..].iter().rev() {
            let (sum, above) = (sums[v].value(), self.above[v] as usize);
            sums[above].add(sum);
            unlimited[above] |= unlimited[v];
        }
        let ceiling = |v: usize| if unlimited[v] { f64::INFINITY } else { sums[v].value() };
        (0..self.inner).map(ceiling).chain(users.iter().copied()).collect()
    }

    /// The piece at a level, given the users' ceilings.
    pub fn at(&self, level: f64, users: &[f64]) -> Piece {
        let ceilings = self.ceilings(users);
        // What each node has, a constant and so much a level: its ceiling, unless it is below.
        let mut base = ceilings.clone();
        let mut slope = vec![0.0; base.len()];
        let (mut from, mut to) = (0.0f64, f64::INFINITY);
        let mut below: Vec<u32> = Vec::new();
        for &v in &self.downwards {
            if v > 0 && slope[v] == 0.0 {
                continue;
            }
            below.clear();
            below.extend_from_slice(self.children(v));
            let (each, rate) = if v == 0 {
                below.retain(|c| ceilings[*c as usize] > self.weight[*c as usize] * level);
                (0.0, 1.0)
            } else {
                self.share_out((base[v], slope[v]), level, &ceilings, &mut below)
            };
            for &c in &below {
                let c = c as usize;
                (base[c], slope[c]) = (self.weight[c] * each, self.weight[c] * rate);
            }
            for c in self.children(v).iter().map(|c| *c as usize) {
                let meets = (ceilings[c] / self.weight[c] - each) / rate;
                if slope[c] > 0.0 { to = to.min(meets) } else { from = from.max(meets) }
            }
        }
        base.drain(..self.inner);
        slope.drain(..self.inner);
        // Where breaks coincide, rounding may let the two pass each other.
        Piece { base, slope, from: from.min(level), to: to.max(level) }
    }

    /// What a node that has `base + slope · level` gives its children below their ceilings for each weight, as a constant
    /// and so much a level. Leaves those children in `below`: who comes to its ceiling leaves more to the others, until no
    /// further one does.
    fn share_out(
        &self,
        (base, slope): (f64, f64),
        level: f64,
        ceilings: &[f64],
        below: &mut Vec<u32>,
    ) -> (f64, f64) {
        let mut left = Compensated::default();
        left.add(base);
        loop {
            let mut weights = Compensated::default();
            below.iter().for_each(|c| weights.add(self.weight[*c as usize]));
            let (each, rate) = (left.value() / weights.value(), slope / weights.value());
            let due = each + rate * level;
            let count = below.len();
            below.retain(|c| {
                let (ceiling, weight) = (ceilings[*c as usize], self.weight[*c as usize]);
                let stays = ceiling > weight * due;
                if !stays {
                    left.add(-ceiling);
                }
                stays
            });
            if below.len() == count || below.is_empty() {
                return (each, rate);
            }
        }
    }

    /// The largest level at which the users' shares cost no more than `worth`, looked for from `level` on; infinite where
    /// not even all ceilings do. Newton's method on the pieces.
    pub fn affordable(&self, users: &[f64], costs: &[f64], worth: f64, mut level: f64) -> f64 {
        let mut bracket = Bracket::EVERYTHING;
        for _ in 0..MOST_PIECES {
            let piece = self.at(level, users);
            let (constant, rising) = piece.cost(costs);
            let root = match rising > 0.0 {
                true => (worth - constant) / rising,
                false if constant <= worth => f64::INFINITY,
                false => 0.0,
            };
            if piece.contains(root) {
                return root;
            }
            if root > piece.to {
                bracket.low = piece.to
            } else {
                bracket.high = piece.from
            }
            if bracket.is_closed() {
                break;
            }
            level = bracket.inside(root);
        }
        bracket.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Decimal, Draft, Instance, NewGroup, Objective};

    /// Two groups of weights 1 and 3 with two users each, of weights 1 and 1, and 1 and 2; and a user of its own.
    fn instance() -> Instance {
        let mut draft = Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap());
        let group = |id: &str, weight: u32, parent: Option<&str>| NewGroup {
            id: id.into(),
            weight: Decimal::from(weight),
            parent: parent.map(str::to_owned),
        };
        draft.groups = vec![group("inner", 3, Some("outer")), group("outer", 2, None)];
        let model = draft.users[0].clone();
        let users = [("a", 1, None), ("b", 1, Some(1)), ("c", 1, Some(0)), ("d", 2, Some(0))];
        draft.users = users
            .map(|(id, weight, group)| {
                let mut user = model.clone();
                (user.id, user.weight, user.group) = (id.into(), Decimal::from(weight as u32), group);
                user
            })
            .to_vec();
        draft.build().unwrap()
    }

    fn tree() -> Tree {
        let instance = instance();
        Tree::new(&instance, &Reduction::new(&instance, Objective::Drfh))
    }

    fn shares(ceilings: &[f64], level: f64) -> Vec<f64> {
        let piece = tree().at(level, ceilings);
        assert!(piece.contains(level));
        (0..ceilings.len()).map(|i| piece.share(i, level)).collect()
    }

    #[test]
    fn without_ceilings_weights_divide_each_node() {
        // outer has 2 of 8, of which b gets a quarter; inner's 6 go to c and d one to two.
        assert_eq!(shares(&[f64::INFINITY; 4], 4.0), [4.0, 2.0, 2.0, 4.0]);
    }

    #[test]
    fn what_a_user_leaves_goes_to_its_siblings_first_then_up() {
        let infinite = f64::INFINITY;
        assert_eq!(shares(&[infinite, infinite, 1.0, infinite], 4.0), [4.0, 2.0, 1.0, 5.0]);
        assert_eq!(shares(&[infinite, infinite, 1.0, 2.0], 4.0), [4.0, 5.0, 1.0, 2.0]);
        assert_eq!(shares(&[infinite, 2.0, 1.0, 2.0], 4.0), [4.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn a_piece_ends_where_somebody_comes_to_its_ceiling() {
        let tree = tree();
        let ceilings = [f64::INFINITY, f64::INFINITY, 1.0, f64::INFINITY];
        let (before, after) = (tree.at(1.0, &ceilings), tree.at(3.0, &ceilings));
        assert_eq!((before.from, before.to), (0.0, 2.0));
        assert_eq!((after.from, after.to), (2.0, f64::INFINITY));
        assert_eq!((after.base[3], after.slope[3]), (-1.0, 1.5));
    }

    #[test]
    fn the_affordable_level_costs_what_there_is() {
        let tree = tree();
        let ceilings = [f64::INFINITY, 2.0, 1.0, 2.0];
        let costs = [1.0, 2.0, 1.0, 3.0];
        for worth in [0.5, 3.0, 10.0, 12.0, 40.0] {
            let level = tree.affordable(&ceilings, &costs, worth, 1.0);
            let (constant, rising) = tree.at(level, &ceilings).cost(&costs);
            assert!((constant + rising * level - worth).abs() < 1e-12 * worth, "{worth}: {level}");
        }
        assert_eq!(tree.affordable(&[1.0; 4], &costs, 40.0, 1.0), f64::INFINITY);
    }
}
