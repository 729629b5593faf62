//! Whose turn it is where users stand in groups: from the root down, the child with the lowest share over its weight, compared
//! exactly. What a group has is what its members have together.
//!
//! Who leaves is no longer asked, and keeps what it has: so its siblings have the group's turns for themselves, as filling the
//! tree gives them what a member leaves.

use crate::tournament::Tournament;
use fairplan_instances::{Decimal, GroupId, Instance, User, UserId};
use num_bigint::BigUint;

/// The turns of groups and users.
pub(crate) struct Turns {
    /// The root, then the groups.
    nodes: Vec<Node>,
    /// The users' seats.
    users: Vec<Seat>,
    /// The shares of one unit of work of the users, in the common part that all shares are multiples of.
    units: Vec<BigUint>,
    /// The common part as a double.
    part: f64,
}

/// Something that divides what it gets among its children.
struct Node {
    children: Vec<Child>,
    tournament: Tournament,
    /// Where it stands among its siblings; the root's is not asked.
    seat: Seat,
}

/// A child with what it has.
struct Child {
    kind: Kind,
    has: BigUint,
    /// Its weight among its siblings, as multiple of what all their weights are multiples of, and as a double.
    weight: BigUint,
    weight_nearly: f64,
}

#[derive(Clone, Copy)]
enum Kind {
    Group(usize),
    User(usize),
}

/// The place of a group or a user among its siblings.
#[derive(Clone, Copy, Default)]
struct Seat {
    node: usize,
    child: usize,
}

const ROOT: usize = 0;

impl Turns {
    /// Nobody has anything yet. `unit_share` is the dominant share of one unit of work, as a fraction.
    pub fn new(instance: &Instance, unit_share: impl Fn(User<'_>) -> (BigUint, BigUint)) -> Self {
        let node_of = |group: Option<GroupId>| group.map_or(ROOT, |group| group.0 + 1);
        let mut weights: Vec<Vec<(Kind, Decimal)>> = vec![Vec::new(); 1 + instance.groups().len()];
        for (g, group) in instance.groups().iter().enumerate() {
            weights[node_of(group.parent)].push((Kind::Group(g + 1), group.weight));
        }
        for user in instance.users() {
            weights[node_of(user.group())].push((Kind::User(user.index().0), user.weight()));
        }
        let mut nodes: Vec<Node> = weights.into_iter().map(Node::new).collect();
        let mut users = vec![Seat::default(); instance.user_count()];
        for node in 0..nodes.len() {
            for child in 0..nodes[node].children.len() {
                let seat = Seat { node, child };
                match nodes[node].children[child].kind {
                    Kind::Group(group) => nodes[group].seat = seat,
                    Kind::User(user) => users[user] = seat,
                }
            }
        }
        let (units, part) = in_common_parts(instance, unit_share);
        let mut turns = Self { nodes, users, units, part };
        // Groups without members have no turn.
        for GroupId(group) in instance.groups_upwards() {
            if turns.nodes[group + 1].tournament.winner().is_none() {
                turns.replay(turns.nodes[group + 1].seat, true);
            }
        }
        turns
    }

    /// The user to be served next, unless all have left.
    pub fn lowest(&self) -> Option<usize> {
        let mut node = ROOT;
        loop {
            let winner = self.nodes[node].tournament.winner()?;
            match self.nodes[node].children[winner].kind {
                Kind::User(user) => return Some(user),
                Kind::Group(group) => node = group,
            }
        }
    }

    /// Counts more work of a user.
    pub fn add(&mut self, user: usize, work: u128) {
        let more = &self.units[user] * work;
        let mut seat = self.users[user];
        loop {
            self.nodes[seat.node].children[seat.child].has += &more;
            self.replay(seat, false);
            if seat.node == ROOT {
                return;
            }
            seat = self.nodes[seat.node].seat;
        }
    }

    /// Takes a user out of the round, and every group of which it was the last.
    pub fn leave(&mut self, user: usize) {
        let mut seat = self.users[user];
        loop {
            self.replay(seat, true);
            if seat.node == ROOT || self.nodes[seat.node].tournament.winner().is_some() {
                return;
            }
            seat = self.nodes[seat.node].seat;
        }
    }

    /// Finds the lowest of siblings again after one has more, or has left.
    fn replay(&mut self, seat: Seat, has_left: bool) {
        let Node { children, tournament, .. } = &mut self.nodes[seat.node];
        let child = &children[seat.child];
        let nearly = nearly(&child.has) * self.part / child.weight_nearly;
        let nearly = if has_left { f64::INFINITY } else { nearly };
        let is_lower = |a: usize, b: usize| {
            let (a, b) = (&children[a], &children[b]);
            &a.has * &b.weight < &b.has * &a.weight
        };
        tournament.replay(seat.child, nearly, &is_lower);
    }
}

impl Node {
    fn new(weights: Vec<(Kind, Decimal)>) -> Self {
        let finest = weights.iter().map(|(_, weight)| weight.exponent()).min().unwrap_or(0);
        let child = |(kind, weight): &(Kind, Decimal)| {
            // A decimal is a 64-bit whole number of its own last digit.
            let coefficient = weight.scaled(weight.exponent()).unwrap_or_default();
            let power = (i32::from(weight.exponent()) - i32::from(finest)).unsigned_abs();
            Child {
                kind: *kind,
                has: BigUint::ZERO,
                weight: BigUint::from(10u8).pow(power) * coefficient,
                weight_nearly: weight.to_f64(),
            }
        };
        let children: Vec<Child> = weights.iter().map(child).collect();
        Self { tournament: Tournament::new(children.len()), children, seat: Seat::default() }
    }
}

/// The users' shares of one unit of work as whole multiples of one part, and that part.
fn in_common_parts(
    instance: &Instance,
    unit_share: impl Fn(User<'_>) -> (BigUint, BigUint),
) -> (Vec<BigUint>, f64) {
    let shares: Vec<(BigUint, BigUint)> =
        (0..instance.user_count()).map(|i| unit_share(instance.user(UserId(i)))).collect();
    let mut under: Vec<&BigUint> = shares.iter().map(|(_, under)| under).collect();
    under.sort();
    under.dedup();
    let one = BigUint::from(1u8);
    let common = under.into_iter().fold(one, |all, next| &all / greatest_common_divisor(&all, next) * next);
    let part = 1.0 / nearly(&common);
    (shares.into_iter().map(|(over, under)| over * (&common / under)).collect(), part)
}

fn greatest_common_divisor(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// A whole number as a double, its leading 64 digits of two rounded once.
fn nearly(whole: &BigUint) -> f64 {
    let beyond = whole.bits().saturating_sub(64);
    let leading = (whole >> beyond).iter_u64_digits().next().unwrap_or(0);
    leading as f64 * 2f64.powi(beyond.min(1 << 20) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Draft, NewGroup};

    /// Users `a` and `b` in a group of weight 2, and `c` alone; a unit of work is worth a third, a half and a sixth.
    fn turns() -> Turns {
        let mut draft = Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap());
        let group =
            |id: &str, weight: u32| NewGroup { id: id.into(), weight: Decimal::from(weight), parent: None };
        draft.groups = vec![group("empty", 1), group("pair", 2)];
        let model = draft.users[0].clone();
        let users = [("a", Some(1)), ("b", Some(1)), ("c", None)];
        draft.users = users
            .map(|(id, group)| fairplan_instances::DraftUser { id: id.into(), group, ..model.clone() })
            .into();
        let under = [3u8, 2, 6];
        Turns::new(&draft.build().unwrap(), |user| (1u8.into(), under[user.index().0].into()))
    }

    #[test]
    fn groups_are_asked_first_and_equal_shares_in_order() {
        let mut turns = turns();
        // The pair has 1/3, by weight 1/6, when c is served; then both have 1/6, and groups stand before users.
        for expected in [0, 2, 1, 2, 2, 0, 2] {
            let next = turns.lowest().unwrap();
            assert_eq!(next, expected);
            turns.add(next, 1);
        }
    }

    #[test]
    fn who_leaves_keeps_what_it_has_and_leaves_its_turns_to_its_siblings() {
        let mut turns = turns();
        turns.add(0, 1);
        turns.leave(0);
        turns.add(2, 2);
        assert_eq!(turns.lowest(), Some(1));
        turns.leave(1);
        assert_eq!(turns.lowest(), Some(2));
        turns.leave(2);
        assert_eq!(turns.lowest(), None);
    }
}
