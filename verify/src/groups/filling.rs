//! What a level at the root of a tree of groups comes to for each user, between bounds rounded outward.
//!
//! A child `c` of the root has `S_c = min(max(w_c t, F_c), U_c)`; what a group has is divided so that `S_c = min(max(w_c τ, F_c), U_c)`
//! add up to it. `U` is a user's ceiling, of a group the sum of its members'; `F` is what it is guaranteed, itself or as a member of a
//! group, of a group the sum of its members', at most its ceiling. Every `τ` is guessed and then checked from both sides:
//! what the children take at it, rounded outward, is not more, or not less, than there is.

use crate::rounding::{Sum, decimal_down, decimal_up, down, up};
use crate::tolerance::GUESSED;
use fairplan_instances::Instance;

/// A number between two doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub low: f64,
    pub high: f64,
}

impl Bounds {
    pub const NOTHING: Self = Self { low: 0.0, high: 0.0 };

    fn times(self, other: Self) -> Self {
        let high = if self.high == 0.0 || other.high == 0.0 { 0.0 } else { up(self.high * other.high) };
        Self { low: down(self.low * other.low), high }
    }

    pub fn at_least(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    pub fn at_most(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// What is infinite on the lower side stays so: nobody limits it.
    fn sum(terms: impl Iterator<Item = Self> + Clone) -> Self {
        let (mut low, mut high, mut unlimited) = (Sum::new(), Sum::new(), false);
        for term in terms {
            unlimited |= term.low == f64::INFINITY;
            low.add(term.low);
            high.add(term.high);
        }
        Self { low: if unlimited { f64::INFINITY } else { low.below() }, high: high.above() }
    }
}

/// What the filling gives one user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    /// What it has, at most its ceiling.
    pub share: Bounds,
    /// What it would have without a ceiling of its own.
    pub due: Bounds,
}

/// What a child of the root has over its weight, as far as its members divide it by their weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divided {
    pub has: f64,
    /// Whether any of them wants more.
    pub wants_more: bool,
}

/// What the children of the root have, given what users have and who wants more.
pub(crate) fn divided(
    instance: &Instance,
    has: impl Fn(usize) -> f64,
    wants_more: impl Fn(usize) -> bool,
) -> Vec<Divided> {
    match instance.has_groups() {
        true => divided_in(instance, &Tree::of(instance), has, wants_more),
        false => of_users(instance, has, wants_more),
    }
}

/// The same in a tree in which users and groups may be guaranteed something.
pub(crate) fn divided_in(
    instance: &Instance,
    tree: &Tree,
    has: impl Fn(usize) -> f64,
    wants_more: impl Fn(usize) -> bool,
) -> Vec<Divided> {
    match instance.has_groups() {
        true => tree.divided_at_the_root(has, wants_more),
        false => of_users(instance, has, wants_more),
    }
}

fn of_users(
    instance: &Instance,
    has: impl Fn(usize) -> f64,
    wants_more: impl Fn(usize) -> bool,
) -> Vec<Divided> {
    let over = |user: fairplan_instances::User<'_>| {
        let i = user.index().0;
        Divided { has: has(i) / decimal_down(user.weight()), wants_more: wants_more(i) }
    };
    instance.users().map(over).collect()
}

/// The smallest that any of them has, and the smallest of those that want more; infinite where there is none.
pub(crate) fn smallest(children: &[Divided]) -> [f64; 2] {
    let least = |children: &mut dyn Iterator<Item = &Divided>| {
        children.map(|child| child.has).fold(f64::INFINITY, f64::min)
    };
    [least(&mut children.iter()), least(&mut children.iter().filter(|child| child.wants_more))]
}

/// The tree of an instance. Node 0 is the root, then come the groups, then the users.
pub(crate) struct Tree {
    inner: usize,
    weight: Vec<Bounds>,
    children: Vec<Vec<u32>>,
    /// The inner nodes, every one after the node above it.
    downwards: Vec<usize>,
    /// Of each node whether it is a user or has any below.
    has_users: Vec<bool>,
    /// What each user is guaranteed; of other nodes nothing. Empty where nobody is anything.
    floors: Vec<Bounds>,
}

/// The least number above nothing.
const LEAST: f64 = f64::from_bits(1);

/// Times that a guess is moved outward by twice as much as before: beyond, nothing is known.
const WIDENINGS: i32 = 50;

impl Tree {
    pub fn of(instance: &Instance) -> Self {
        let inner = 1 + instance.groups().len();
        let mut children = vec![Vec::new(); inner];
        let node = |group: Option<fairplan_instances::GroupId>| group.map_or(0, |group| group.0 + 1);
        let mut weight = vec![Bounds { low: 1.0, high: 1.0 }];
        let bounds = |weight| Bounds { low: decimal_down(weight), high: decimal_up(weight) };
        for (g, group) in instance.groups().iter().enumerate() {
            children[node(group.parent)].push(g as u32 + 1);
            weight.push(bounds(group.weight));
        }
        for user in instance.users() {
            children[node(user.group())].push((inner + user.index().0) as u32);
            weight.push(bounds(user.weight()));
        }
        let mut downwards: Vec<usize> = vec![0];
        downwards.extend(instance.groups_upwards().into_iter().rev().map(|group| group.0 + 1));
        let mut has_users = vec![false; inner];
        has_users.resize(weight.len(), true);
        for &v in downwards.iter().rev() {
            has_users[v] = children[v].iter().any(|c| has_users[*c as usize]);
        }
        Self { inner, weight, children, downwards, has_users, floors: Vec::new() }
    }

    /// The same with what users are guaranteed.
    pub fn above_floors(mut self, users: &[Bounds]) -> Self {
        self.floors = vec![Bounds::NOTHING; self.inner];
        self.floors.extend_from_slice(users);
        self
    }

    /// Whether anybody is guaranteed anything.
    pub fn has_floors(&self) -> bool {
        !self.floors.is_empty()
    }

    /// What a user is sure of.
    pub fn floor_of_user(&self, user: usize) -> f64 {
        self.floors.get(self.inner + user).map_or(0.0, |floor| floor.low)
    }

    /// Weight of a user among its siblings.
    pub fn user_weight(&self, user: usize) -> Bounds {
        self.weight[self.inner + user]
    }

    /// The children of the root that have any users, as what they have over their weight, given what users have.
    pub fn at_the_root(&self, users: &[Bounds]) -> impl Iterator<Item = Bounds> {
        let all = self.sums(users);
        let over = move |c: &u32| {
            let (has, weight) = (all[*c as usize], self.weight[*c as usize]);
            let high = if has.high == 0.0 { 0.0 } else { up(has.high / weight.low) };
            Bounds { low: down(has.low / weight.high), high }
        };
        self.children[0].iter().filter(|c| self.has_users[**c as usize]).map(over)
    }

    /// The same for as much as members divide by their weights: what a group can have before filling gives a member who wants
    /// more more than that has.
    fn divided_at_the_root(
        &self,
        has: impl Fn(usize) -> f64,
        wants_more: impl Fn(usize) -> bool,
    ) -> Vec<Divided> {
        let mut all = vec![Divided { has: 0.0, wants_more: false }; self.inner];
        let users = 0..self.weight.len() - self.inner;
        all.extend(users.map(|i| Divided { has: has(i), wants_more: wants_more(i) }));
        let mut floors: Vec<f64> = self.floors.iter().map(|floor| floor.low).collect();
        for &v in self.downwards[1..].iter().rev() {
            let floor = |c: usize| floors.get(c).copied().unwrap_or(0.0);
            let children = || {
                let child = |c: usize| (self.weight[c].low, floor(c), all[c]);
                self.children[v].iter().map(move |c| child(*c as usize))
            };
            let wanting = children().filter(|(.., child)| child.wants_more);
            let each = wanting.map(|(weight, _, child)| child.has / weight).fold(f64::INFINITY, f64::min);
            let has = |(weight, floor, child): (f64, f64, Divided)| match child.wants_more {
                true if floor == 0.0 => weight * each,
                _ => child.has.min(floor.max(weight * each)),
            };
            let of_members: f64 = children().map(|(_, floor, _)| floor).sum();
            let here = Divided { has: children().map(has).sum(), wants_more: each < f64::INFINITY };
            all[v] = here;
            if let Some(own) = floors.get_mut(v) {
                *own = of_members;
            }
        }
        let over = |c: &u32| Divided {
            has: all[*c as usize].has / self.weight[*c as usize].low,
            ..all[*c as usize]
        };
        self.children[0].iter().filter(|c| self.has_users[**c as usize]).map(over).collect()
    }

    /// The weights of the children of the root together.
    pub fn weight_at_the_root(&self) -> f64 {
        self.children[0].iter().map(|c| self.weight[*c as usize].high).sum()
    }

    /// About the least level at which a user has so much, given the users' ceilings.
    pub fn level_of(&self, user: usize, share: f64, ceilings: &[Bounds]) -> f64 {
        let ceilings = self.sums(ceilings);
        let floors = self.floors(&ceilings);
        let sides = Sides { floors: &floors, ceilings: &ceilings };
        let mut above = vec![0; self.weight.len()];
        for (v, children) in self.children.iter().enumerate() {
            children.iter().for_each(|c| above[*c as usize] = v);
        }
        let (mut node, mut each) = (above[self.inner + user], share / self.weight[self.inner + user].low);
        while node != 0 {
            let has = |c: &u32| {
                let c = *c as usize;
                (self.weight[c].low * each).max(sides.floor(c).low).min(ceilings[c].low)
            };
            each = self.children[node].iter().map(has).sum::<f64>() / self.weight[node].low;
            node = above[node];
        }
        each
    }

    /// Of every node the sum over its members.
    fn sums(&self, users: &[Bounds]) -> Vec<Bounds> {
        let mut all = vec![Bounds::NOTHING; self.inner];
        all.extend_from_slice(users);
        for &v in self.downwards[1..].iter().rev() {
            all[v] = Bounds::sum(self.children[v].iter().map(|c| all[*c as usize]));
        }
        all
    }

    /// What every node is guaranteed, at most its ceiling: itself, or its members together.
    fn floors(&self, ceilings: &[Bounds]) -> Vec<Bounds> {
        let mut floors: Vec<Bounds> =
            self.floors.iter().zip(ceilings).map(|(own, top)| own.at_most(*top)).collect();
        if floors.is_empty() {
            return floors;
        }
        for &v in self.downwards[1..].iter().rev() {
            let of_members = Bounds::sum(self.children[v].iter().map(|c| floors[*c as usize]));
            floors[v] = of_members.at_most(ceilings[v]);
        }
        floors
    }

    /// What a level at the root comes to, given the users' ceilings.
    pub fn at(&self, level: f64, ceilings: &[Bounds]) -> Vec<Filled> {
        let ceilings = self.sums(ceilings);
        let floors = self.floors(&ceilings);
        let sides = Sides { floors: &floors, ceilings: &ceilings };
        let mut filled = vec![Filled { share: Bounds::NOTHING, due: Bounds::NOTHING }; ceilings.len()];
        for &v in &self.downwards {
            let each = match v {
                0 => Bounds { low: level, high: level },
                _ => self.each(v, filled[v].share, sides),
            };
            for c in self.children[v].iter().map(|c| *c as usize) {
                let due = self.weight[c].times(each).at_least(sides.floor(c));
                filled[c] = Filled { share: due.at_most(ceilings[c]), due };
            }
        }
        filled.drain(..self.inner);
        filled
    }

    /// What a group that has so much gives its children for each weight.
    fn each(&self, v: usize, has: Bounds, sides: Sides<'_>) -> Bounds {
        let guess = self.guess(v, has.low, sides);
        // What all children take, at most for one side and at least for the other.
        let taken = |each: f64, bound: fn(&Bounds) -> f64, round: fn(f64) -> f64| {
            let mut sum = Sum::new();
            for c in self.children[v].iter().map(|c| *c as usize) {
                let due = round(bound(&self.weight[c]) * each).max(bound(&sides.floor(c)));
                sum.add(due.min(bound(&sides.ceilings[c])));
            }
            sum
        };
        let is_low = |each: &f64| *each == 0.0 || taken(*each, |bounds| bounds.high, up).above() <= has.low;
        let is_high = |each: &f64| taken(*each, |bounds| bounds.low, down).below() >= has.high;
        if sides.floors.is_empty() {
            let steps = || (0..WIDENINGS).map(|k| f64::EPSILON * 2f64.powi(k));
            let low = steps().map(|step| down(guess * (1.0 - step))).find(is_low);
            let high = steps().map(|step| up(guess * (1.0 + step))).find(is_high);
            return Bounds { low: low.unwrap_or(0.0), high: high.unwrap_or(f64::INFINITY) };
        }
        // Where some are at their floors and all others at their ceilings, what all take stays the same for long.
        let edge = |c: &u32| {
            let c = *c as usize;
            let finite = |share: f64| if share < f64::INFINITY { share / self.weight[c].low } else { 0.0 };
            finite(sides.ceilings[c].high).max(finite(sides.floor(c).high))
        };
        let last = self.children[v].iter().map(edge).fold(guess, f64::max);
        let (least, most) = (down(guess * (1.0 - GUESSED)), up(guess * (1.0 + GUESSED)));
        let low = if is_low(&least) { (least, up(guess)) } else { (0.0, least) };
        let far = up(2.0 * last);
        let high = if is_high(&most) { (most, down(guess)) } else { (far, most) };
        Bounds {
            low: nearest(low, is_low),
            high: if is_high(&far) { nearest(high, is_high) } else { f64::INFINITY },
        }
    }

    /// About what each child gets for its weight: who comes to its ceiling leaves more to the others, who is at its floor takes more
    /// from them; of the two those first who put the others off by more.
    fn guess(&self, v: usize, has: f64, sides: Sides<'_>) -> f64 {
        let weight = |c: &u32| self.weight[*c as usize].low;
        let (ceiling, floor) =
            (|c: &u32| sides.ceilings[*c as usize].low, |c: &u32| sides.floor(*c as usize).low);
        let mut between = self.children[v].clone();
        let (mut left, mut each) = (has, 0.0);
        while !between.is_empty() {
            each = left.max(0.0) / between.iter().map(weight).sum::<f64>();
            let over: f64 = between.iter().map(|c| (weight(c) * each - ceiling(c)).max(0.0)).sum();
            let under: f64 = between.iter().map(|c| (floor(c) - weight(c) * each).max(0.0)).sum();
            let count = between.len();
            between.retain(|c| {
                let stays =
                    if over >= under { ceiling(c) > weight(c) * each } else { floor(c) <= weight(c) * each };
                left -= match stays {
                    true => 0.0,
                    false if over >= under => ceiling(c),
                    false => floor(c),
                };
                stays
            });
            if between.len() == count {
                return each;
            }
        }
        // All are at their ceilings: the one that comes there last.
        let last = self.children[v].iter().map(|c| ceiling(c) / weight(c)).fold(0.0, f64::max);
        if sides.floors.is_empty() { last.max(each) } else { each }
    }
}

/// The last number that holds on the way from one that does to one that may not; what holds for a number holds before it.
fn nearest((mut holds, mut other): (f64, f64), is_it: impl Fn(&f64) -> bool) -> f64 {
    // Where floors take all that there is, only nothing holds: halves would come there after a thousand steps.
    if holds == 0.0 && !is_it(&LEAST) {
        return 0.0;
    }
    loop {
        let middle = 0.5 * (holds + other);
        if middle == holds || middle == other {
            return holds;
        }
        *(if is_it(&middle) { &mut holds } else { &mut other }) = middle;
    }
}

/// What every node has at least and at most.
#[derive(Clone, Copy)]
struct Sides<'a> {
    floors: &'a [Bounds],
    ceilings: &'a [Bounds],
}

impl Sides<'_> {
    fn floor(&self, node: usize) -> Bounds {
        self.floors.get(node).copied().unwrap_or(Bounds::NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_last_number_that_holds_is_found_and_nothing_is_found_at_once() {
        let asked = Cell::new(0);
        let up_to = |end: f64| {
            let asked = &asked;
            move |x: &f64| {
                asked.set(asked.get() + 1);
                *x <= end
            }
        };
        assert_eq!(nearest((0.0, 1.0), up_to(0.0)), 0.0);
        assert_eq!(asked.replace(0), 1, "it is not looked for among all numbers");
        for end in [LEAST, 1e-300, 0.3] {
            assert_eq!(nearest((0.0, 1.0), up_to(end)), end);
        }
        assert_eq!(nearest((1.0, 0.0), |x: &f64| *x >= 0.3), 0.3);
    }
}
