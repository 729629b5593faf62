//! Filling the tree: what a level at the root comes to for each user, by weights from the root down.
//!
//! ```text
//! root      S_c = min(max(w_c t, F_c), U_c)                         every child c
//! node v    S_c = min(max(w_c τ_v, F_c), U_c),  Σ_c S_c = S_v       every child c
//! ```
//! `U` is a user's ceiling (what its tasks are worth, or what it has once nothing more is to be had) and of a group the sum
//! of its members'. `F` is a floor: what a user is guaranteed, itself or as a member of a group, and of a group the
//! sum of its members'; at most the ceiling. So every user's `S` is a piecewise linear and rising function of `t`: what a user leaves goes to its
//! siblings first, then up, and what it is guaranteed above its part is taken from its siblings first.

use super::places::Places;
use crate::reduction::Reduction;
use crate::sums::{Compensated, column, part_length, table_of_sums};
use crate::tolerance::level::{PIECE, ROUNDING};
use fairplan_instances::{FEW_USERS, GroupId, Instance, Objective, pieces_together};
use rayon::prelude::*;
use std::ops::Range;

/// The tree of an instance: the root, its groups, and its users in the order of the reduction (of the instance, where they have
/// kinds of tasks).
///
/// Nodes are numbered: 0 is the root, then come the groups. Users stand in places, those of one node after those of the other,
/// so that what a node divides lies side by side.
pub(crate) struct Tree {
    /// The node above each node; the root's is itself.
    above: Vec<u32>,
    /// Weight of each node among its siblings.
    weight: Vec<f64>,
    /// The nodes, every one after the node above it, and where those as deep as each other end.
    downwards: Vec<usize>,
    depths: Vec<usize>,
    /// The groups directly inside each node.
    groups: Vec<Vec<usize>>,
    /// Where the users directly inside each node begin, and at last where all end.
    starts: Vec<usize>,
    /// The user at each place, and the place of each user.
    user_at: Vec<u32>,
    place_of: Vec<u32>,
    /// Weight of the user at each place.
    user_weight: Vec<f64>,
    /// What users are guaranteed, by place; `None` where nobody is anything.
    floors: Option<Vec<f64>>,
}

/// The floors by place and of nodes; none where nobody has one.
struct Floors {
    places: Vec<f64>,
    nodes: Vec<f64>,
}

/// The users' shares at levels from `from` to `to`: `base + slope · t`.
pub(crate) struct Piece {
    pub base: Vec<f64>,
    pub slope: Vec<f64>,
    pub from: f64,
    pub to: f64,
}

impl Piece {
    /// The share of a user at a level.
    pub fn share(&self, user: usize, level: f64) -> f64 {
        if self.slope[user] == 0.0 { self.base[user] } else { self.base[user] + self.slope[user] * level }
    }

    /// What the users pay, `Σ cost · share`: a constant, and so much a level.
    pub fn cost(&self, costs: &[f64]) -> (f64, f64) {
        let totals = table_of_sums(costs.len(), 2, |users, sums| {
            for i in users {
                sums[0].add(self.base[i] * costs[i]);
                sums[1].add(self.slope[i] * costs[i]);
            }
        });
        (totals[0], totals[1])
    }

    pub(super) fn contains(&self, level: f64) -> bool {
        (self.from..=self.to).contains(&level)
    }

    /// Whether a level is where this piece ends, but for rounding.
    pub fn ends_at(&self, level: f64) -> bool {
        level >= self.to * (1.0 - PIECE) && level <= self.to * (1.0 + PIECE) && self.to < f64::INFINITY
    }

    /// A level just after this piece.
    pub fn after(&self) -> f64 {
        self.to * (1.0 + 2.0 * PIECE)
    }

    /// Whether a level is on this piece and no other: a break belongs to both, and rounding moves it.
    pub fn is_at(&self, level: f64) -> bool {
        level > self.from * (1.0 + PIECE) && level < self.to * (1.0 - PIECE)
    }
}

/// What a node divides among its children below their ceilings: so much for each weight, as a constant and so much a level.
#[derive(Clone, Copy, Default)]
struct Division {
    each: f64,
    rate: f64,
}

/// Where somebody is at a level: at its floor, at its ceiling, or between.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    Floor,
    #[default]
    Between,
    Ceiling,
}

impl Place {
    fn of(due: f64, floor: f64, ceiling: f64) -> Self {
        if ceiling <= due {
            Self::Ceiling
        } else if floor > 0.0 && due < floor {
            Self::Floor
        } else {
            Self::Between
        }
    }
}

/// What children of a node are numbered: its groups, and after them the users directly inside it.
struct Children<'a> {
    groups: &'a [usize],
    places: Range<usize>,
}

/// What a level comes to inside a node.
struct Filled {
    /// The levels between which nobody directly inside comes to its floor or ceiling.
    from: f64,
    to: f64,
    /// What each group directly inside has, as a constant and so much a level; `None` where it is at its ceiling.
    groups: Vec<Option<(f64, f64)>>,
}

/// The ceilings of all users by place and of all nodes, and their floors.
pub(crate) struct Sides {
    users: Vec<f64>,
    nodes: Vec<f64>,
    floors: Floors,
}

impl Children<'_> {
    fn len(&self) -> usize {
        self.groups.len() + self.places.len()
    }
}

impl Division {
    fn at(self, level: f64) -> f64 {
        self.each + self.rate * level
    }
}

impl Tree {
    pub fn new(instance: &Instance, objective: Objective, reduction: &Reduction) -> Self {
        let (groups, users) = (instance.groups(), &reduction.users);
        let (n, view) = (users.users(), |i: usize| instance.user(users.user_id(i)));
        let node_of = |group: Option<GroupId>| group.map_or(0, |group| group.0 as u32 + 1);
        let nodes = 1 + groups.len();
        let above: Vec<u32> =
            std::iter::once(0).chain(groups.iter().map(|group| node_of(group.parent))).collect();
        let of_user: Vec<u32> = column(n, |i| node_of(view(i).group()));
        let Places { starts, user_at, place_of } = Places::by_node(&of_user, nodes);
        let mut inside = vec![Vec::new(); nodes];
        (1..nodes).for_each(|v| inside[above[v] as usize].push(v));
        let (mut downwards, mut depths) = (vec![0], vec![1]);
        for position in 0..nodes {
            if depths.last() == Some(&position) {
                depths.push(downwards.len());
            }
            // Parents lead to all, since no group is inside itself.
            downwards.extend_from_slice(&inside[downwards[position]]);
        }
        // Where the objective's own weights are those of the users, they are there already.
        let is_at_hand = users.lines.is_none() && objective.counts_by_weight();
        let weight = |i: usize| if is_at_hand { users.weight(i) } else { view(i).weight().to_f64() };
        let user_weight = column(n, |p| weight(user_at[p] as usize));
        Self {
            weight: std::iter::once(1.0).chain(groups.iter().map(|group| group.weight.to_f64())).collect(),
            user_weight,
            groups: inside,
            above,
            downwards,
            depths,
            starts,
            user_at,
            place_of,
            floors: None,
        }
    }

    /// The same with what users are guaranteed.
    pub fn above_floors(mut self, users: &[f64]) -> Self {
        self.floors = Some(column(users.len(), |p| users[self.user_at[p] as usize]));
        self
    }

    /// How many nodes there are, the root among them.
    pub(super) fn nodes(&self) -> usize {
        self.above.len()
    }

    /// Whether anybody is guaranteed anything.
    pub fn has_floors(&self) -> bool {
        self.floors.is_some()
    }

    /// What a user is guaranteed.
    pub fn floor(&self, user: usize) -> f64 {
        self.floors.as_ref().map_or(0.0, |floors| floors[self.place_of[user] as usize])
    }

    /// Weight of a user among its siblings.
    pub fn user_weight(&self, user: usize) -> f64 {
        self.user_weight[self.place_of[user] as usize]
    }

    /// The places of the users directly inside a node.
    pub(super) fn places(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    /// The ceilings of all nodes, given those of the users by place.
    fn ceilings(&self, by_place: &[f64]) -> Vec<f64> {
        let own = |v: usize| {
            let mut sum = Compensated::default();
            by_place[self.places(v)].iter().for_each(|ceiling| sum.add(*ceiling));
            // A compensated sum of what is infinite is no number.
            let unlimited = by_place[self.places(v)].contains(&f64::INFINITY);
            if unlimited { f64::INFINITY } else { sum.value() }
        };
        let mut ceilings: Vec<f64> =
            (0..self.above.len()).into_par_iter().with_min_len(FEW_USERS).map(own).collect();
        for &v in self.downwards[1..].iter().rev() {
            ceilings[self.above[v] as usize] += ceilings[v];
        }
        ceilings
    }

    /// The floors of all, none above its ceiling; nothing where nobody has one.
    fn floors(&self, by_place: &[f64], ceilings: &[f64]) -> Floors {
        let Some(stated) = &self.floors else { return Floors { places: Vec::new(), nodes: Vec::new() } };
        let places: Vec<f64> = column(by_place.len(), |p| stated[p].min(by_place[p]));
        let own = |v: usize| {
            let mut sum = Compensated::default();
            places[self.places(v)].iter().for_each(|floor| sum.add(*floor));
            sum.value()
        };
        let mut nodes: Vec<f64> = column(self.above.len(), own);
        for &v in self.downwards[1..].iter().rev() {
            nodes[v] = nodes[v].min(ceilings[v]);
            nodes[self.above[v] as usize] += nodes[v];
        }
        Floors { places, nodes }
    }

    /// The ceilings of all, given those of the users, and their floors.
    pub fn sides(&self, users: &[f64]) -> Sides {
        let users = self.by_place(users);
        let nodes = self.ceilings(&users);
        let floors = self.floors(&users, &nodes);
        Sides { users, nodes, floors }
    }

    /// Something about every user, by place.
    pub(super) fn by_place(&self, users: &[f64]) -> Vec<f64> {
        column(users.len(), |p| users[self.user_at[p] as usize])
    }

    /// The piece at a level, given the users' ceilings.
    pub fn at(&self, level: f64, users: &[f64]) -> Piece {
        self.piece(level, &self.sides(users))
    }

    /// The piece at a level.
    pub fn piece(&self, level: f64, sides: &Sides) -> Piece {
        let n = sides.users.len();
        // By place, since a node's users lie together there, and then by user.
        let mut lines = vec![(0.0, 0.0); n];
        let mut of_nodes: Vec<&mut [(f64, f64)]> = Vec::with_capacity(self.above.len());
        let mut rest = &mut lines[..];
        for v in 0..self.above.len() {
            let (own, after) = rest.split_at_mut(self.places(v).len());
            of_nodes.push(own);
            rest = after;
        }
        let write = |lines: &mut &mut [(f64, f64)], user: usize, line| lines[user] = line;
        let (from, to) = self.fill_all(level, sides, &mut of_nodes, write);
        let (mut base, mut slope) = (vec![0.0; n], vec![0.0; n]);
        let length = part_length(n);
        let parts = base.par_chunks_mut(length).zip(slope.par_chunks_mut(length));
        parts.with_min_len(pieces_together(n)).enumerate().for_each(|(part, (base, slope))| {
            for (offset, (base, slope)) in base.iter_mut().zip(slope).enumerate() {
                (*base, *slope) = lines[self.place_of[part * length + offset] as usize];
            }
        });
        Piece { base, slope, from, to }
    }

    /// Tells what a level comes to for every user, node by node (to each node's own `of_nodes`, with the user's position among
    /// those of the node and its line), and between which levels that is so.
    pub(super) fn fill_all<T: Send>(
        &self,
        level: f64,
        sides: &Sides,
        of_nodes: &mut [T],
        tell: impl Fn(&mut T, usize, (f64, f64)) + Sync,
    ) -> (f64, f64) {
        let n = sides.users.len();
        let mut of_nodes: Vec<Option<&mut T>> = of_nodes.iter_mut().map(Some).collect();
        let mut has = vec![None; self.above.len()];
        has[0] = Some((0.0, 1.0));
        let (mut from, mut to) = (0.0f64, f64::INFINITY);
        let mut first = 0;
        for &end in &self.depths {
            let nodes = &self.downwards[first..end];
            first = end;
            let mut dividing: Vec<(usize, &mut T)> =
                nodes.iter().filter_map(|v| Some((*v, of_nodes[*v].take()?))).collect();
            let fill = |(v, own): &mut (usize, &mut T)| match has[*v] {
                Some(has) => Some(self.fill(*v, has, level, sides, |user, line| tell(own, user, line))),
                None => {
                    let ceilings = sides.users[self.places(*v)].iter().enumerate();
                    ceilings.for_each(|(user, ceiling)| tell(own, user, (*ceiling, 0.0)));
                    None
                }
            };
            let filled: Vec<Option<Filled>> =
                dividing.par_iter_mut().with_min_len(pieces_together(n)).map(fill).collect();
            for (v, filled) in nodes.iter().zip(filled) {
                let Some(filled) = filled else { continue };
                (from, to) = (from.max(filled.from), to.min(filled.to));
                self.groups[*v].iter().zip(filled.groups).for_each(|(g, of_group)| has[*g] = of_group);
            }
        }
        // Where breaks coincide, rounding may let the two pass each other.
        (from.min(level), to.max(level))
    }

    /// What a level comes to inside a node that has `base + slope · level`: the lines of the users directly inside it are told.
    fn fill(
        &self,
        node: usize,
        has: (f64, f64),
        level: f64,
        sides: &Sides,
        mut tell: impl FnMut(usize, (f64, f64)),
    ) -> Filled {
        let children = Children { groups: &self.groups[node], places: self.places(node) };
        if has == (or_nothing(&sides.floors.nodes, node), 0.0) && has.0 > 0.0 {
            // At its floor a node has what is guaranteed in it, and nothing to divide: what one large guarantee leaves of it says little of a small one.
            let floor_of = |c: usize| self.child(&children, sides, c).1;
            let groups = children.groups.len();
            (groups..children.len()).for_each(|c| tell(c - groups, (floor_of(c), 0.0)));
            let groups = (0..groups).map(|c| Some((floor_of(c), 0.0))).collect();
            return Filled { from: 0.0, to: f64::INFINITY, groups };
        }
        let (division, standing, is_break) = match node {
            0 => {
                let at = |c: usize| {
                    let (weight, floor, ceiling) = self.child(&children, sides, c);
                    Place::of(weight * level, floor, ceiling)
                };
                (Division { each: 0.0, rate: 1.0 }, (0..children.len()).map(at).collect(), false)
            }
            _ => self.share_out(&children, has, level, sides),
        };
        // What each would have for its weight where somebody comes to a side, the nearest such on both.
        let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut groups = Vec::new();
        for (c, place) in standing.iter().enumerate() {
            let (weight, floor, ceiling) = self.child(&children, sides, c);
            let line = match place {
                Place::Ceiling => {
                    from = from.max(ceiling / weight);
                    (ceiling, 0.0)
                }
                Place::Floor => {
                    to = to.min(floor / weight);
                    (floor, 0.0)
                }
                Place::Between => {
                    to = to.min(ceiling / weight);
                    if floor > 0.0 {
                        from = from.max(floor / weight);
                    }
                    (weight * division.each, weight * division.rate)
                }
            };
            match c.checked_sub(children.groups.len()) {
                Some(user) => tell(user, line),
                None => groups.push((*place != Place::Ceiling).then_some(line)),
            }
        }
        let at = |each: f64| match each.is_finite() {
            true if is_break => level,
            true => (each - division.each) / division.rate,
            false => each,
        };
        Filled { from: at(from).max(0.0), to: at(to).min(f64::INFINITY), groups }
    }

    /// Weight, floor and ceiling of a child.
    #[inline]
    fn child(&self, children: &Children<'_>, sides: &Sides, child: usize) -> (f64, f64, f64) {
        match children.groups.get(child) {
            Some(g) => (self.weight[*g], or_nothing(&sides.floors.nodes, *g), sides.nodes[*g]),
            None => {
                let p = children.places.start + child - children.groups.len();
                (self.user_weight[p], or_nothing(&sides.floors.places, p), sides.users[p])
            }
        }
    }

    /// How a node divides what it has, `base + slope · level`, and where that leaves its children: who comes to its ceiling leaves more to
    /// the others, who is at its floor takes more from them. Of the two, those go first who put the others off by more: they stay there
    /// whatever the rest have. Who stays between is told here: asked again with the division found, rounding may tell otherwise.
    ///
    /// At last, whether this is a break and no more: where nobody is between, some at their floors, and the node rises, those at their
    /// floors rise right after.
    fn share_out(
        &self,
        children: &Children<'_>,
        (base, slope): (f64, f64),
        level: f64,
        sides: &Sides,
    ) -> (Division, Vec<Place>, bool) {
        let mut standing = vec![Place::Between; children.len()];
        let mut between: Vec<u32> = (0..children.len() as u32).collect();
        let mut left = Compensated::default();
        left.add(base);
        loop {
            let mut weights = Compensated::default();
            between.iter().for_each(|c| weights.add(self.child(children, sides, *c as usize).0));
            let mut division =
                Division { each: left.value() / weights.value(), rate: slope / weights.value() };
            if self.has_floors() && division.at(level) * weights.value() <= ROUNDING * (base + slope * level)
            {
                // What floors leave is nothing, but for their rounding.
                division = if slope == 0.0 { Division::default() } else { division };
            }
            let due = division.at(level);
            let (mut over, mut under) = (0.0, 0.0);
            for c in between.iter().filter(|_| self.has_floors()) {
                let (weight, floor, ceiling) = self.child(children, sides, *c as usize);
                over += (weight * due - ceiling).max(0.0);
                under += (floor - weight * due).max(0.0);
            }
            let goes = if over >= under { Place::Ceiling } else { Place::Floor };
            let count = between.len();
            between.retain(|c| {
                let (weight, floor, ceiling) = self.child(children, sides, *c as usize);
                let place = Place::of(weight * due, floor, ceiling);
                let stays = place != goes;
                if !stays {
                    left.add(if place == Place::Floor { -floor } else { -ceiling });
                    standing[*c as usize] = place;
                }
                stays
            });
            if between.len() == count || between.is_empty() {
                let is_break = between.is_empty() && slope > 0.0 && standing.contains(&Place::Floor);
                return (division, standing, is_break);
            }
        }
    }
}

/// A number of a list that is empty where all are nothing.
fn or_nothing(list: &[f64], position: usize) -> f64 {
    list.get(position).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Decimal, Draft, Instance, NewGroup};

    #[test]
    fn a_level_is_where_a_piece_ends_just_inside_the_tolerance_and_just_outside_on_one_piece_alone() {
        let piece = Piece { base: Vec::new(), slope: Vec::new(), from: 1.0, to: 2.0 };
        for near in [2.0 * (1.0 - 0.9 * PIECE), 2.0 * (1.0 + 0.9 * PIECE)] {
            assert!(piece.ends_at(near) && !piece.is_at(near), "{near}");
        }
        for (beyond, is_at) in [(2.0 * (1.0 - 1.1 * PIECE), true), (2.0 * (1.0 + 1.1 * PIECE), false)] {
            assert!(!piece.ends_at(beyond) && piece.is_at(beyond) == is_at, "{beyond}");
        }
        assert!(!piece.is_at(1.0 + 0.9 * PIECE) && piece.is_at(1.0 + 1.1 * PIECE));
    }

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
        Tree::new(&instance, Objective::Drfh, &Reduction::new(&instance, Objective::Drfh))
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
            let (level, _) = tree.affordable(&tree.sides(&ceilings), &costs, worth, 1.0);
            let (constant, rising) = tree.at(level, &ceilings).cost(&costs);
            assert!((constant + rising * level - worth).abs() < 1e-12 * worth, "{worth}: {level}");
        }
        assert_eq!(tree.affordable(&tree.sides(&[1.0; 4]), &costs, 40.0, 1.0).0, f64::INFINITY);
    }
}
