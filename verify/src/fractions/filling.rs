//! What levels at the root of a tree of groups come to for each user, in fractions, and that it is what filling the tree gives.
//!
//! At the level of a stage a child `c` of the root has `S_c = min(w_c t, U_c)`, and of a group that has `S_v` it has
//! `S_c = min(w_c τ_v, U_c)`, where these add up to `S_v`. A claim says who is at its ceiling `U` at which stage: who has all its tasks,
//! or is held at an earlier one. That determines every `τ`, as a sum of levels; nothing is left but to compare. As these conditions have
//! one solution, what keeps them is the filling.

use super::fraction::Fraction;
use fairplan_instances::{GroupId, Instance, LimitedBy, User, UserId};

/// So much, and so much of each of some levels.
#[derive(Clone, Debug)]
pub(crate) struct OfLevels {
    pub constant: Fraction,
    /// `(level, times)`, by level.
    pub levels: Vec<(usize, Fraction)>,
}

impl OfLevels {
    pub fn constant(constant: Fraction) -> Self {
        Self { constant, levels: Vec::new() }
    }

    /// So much of one level.
    pub fn level(level: usize, times: Fraction) -> Self {
        Self { constant: Fraction::zero(), levels: vec![(level, times)] }
    }

    pub fn times(&self, by: &Fraction) -> Self {
        let levels = self.levels.iter().map(|(level, times)| (*level, times.times(by))).collect();
        Self { constant: self.constant.times(by), levels }
    }

    pub fn over(&self, by: &Fraction) -> Self {
        self.times(&Fraction::whole(1).over(by))
    }

    fn plus(mut self, other: &Self) -> Self {
        self.constant = self.constant.plus(&other.constant);
        for (level, times) in &other.levels {
            match self.levels.binary_search_by_key(level, |(level, _)| *level) {
                Ok(at) => self.levels[at].1 = self.levels[at].1.plus(times),
                Err(at) => self.levels.insert(at, (*level, times.clone())),
            }
        }
        self
    }

    fn minus(self, other: &Self) -> Self {
        self.plus(&other.times(&Fraction::whole(-1)))
    }

    /// What it comes to where `value` is that of each level.
    pub fn at<'a>(&self, value: impl Fn(usize) -> &'a Fraction) -> Fraction {
        let terms = self.levels.iter().map(|(level, times)| times.times(value(*level)));
        terms.fold(self.constant.clone(), |sum, term| sum.plus(&term))
    }
}

/// The tree, and what its users have.
pub(crate) struct Filling {
    nodes: Vec<Node>,
    /// The inner nodes, every one after the node above it; the first is the root.
    downwards: Vec<usize>,
    users: Vec<Leaf>,
    /// The share that each user has in the end, as the objective counts it and without its weight.
    pub shares: Vec<OfLevels>,
}

struct Node {
    above: usize,
    weight: Fraction,
    has_users: bool,
}

/// Where a user ends.
pub(crate) struct End {
    pub reason: LimitedBy,
    pub level: usize,
    /// What its tasks are worth: nothing if it can run none, `None` for no end.
    pub tasks: Option<Fraction>,
}

struct Leaf {
    node: usize,
    weight: Fraction,
    end: End,
}

impl Leaf {
    /// Whether it is at its ceiling at the level of a stage.
    fn is_ended(&self, stage: usize) -> bool {
        match self.end.reason {
            LimitedBy::NoUsableClass => true,
            LimitedBy::Tasks => self.end.level <= stage,
            LimitedBy::Capacity | LimitedBy::Limit => self.end.level < stage,
        }
    }
}

/// How everything rises up to the level of a stage.
pub(crate) struct Rise {
    /// What each node divides, for each weight of its children, where any rises.
    each: Vec<Option<OfLevels>>,
    /// What children at their ceilings have, of each node.
    ended: Vec<OfLevels>,
    stage: usize,
}

impl Rise {
    /// What a user that rises gains with each level; `None` for one at its ceiling.
    pub fn of(&self, filling: &Filling, user: usize) -> Option<Fraction> {
        let leaf = &filling.users[user];
        let each = self.each[leaf.node].as_ref().filter(|_| !leaf.is_ended(self.stage))?;
        let own = each.levels.iter().find(|(level, _)| *level == self.stage);
        own.map(|(_, times)| times.times(&leaf.weight))
    }
}

impl Filling {
    /// Fills the tree level by level as a claim says, which states where each user ends and the value of each level; an error if it is
    /// not so.
    pub fn of(instance: &Instance, ends: Vec<End>, levels: &[&Fraction]) -> Result<Self, String> {
        let node = |group: Option<GroupId>| group.map_or(0, |group| group.0 + 1);
        let of_group = |(above, weight)| Node { above, weight, has_users: false };
        let mut nodes = vec![of_group((0, Fraction::whole(1)))];
        let groups = instance.groups().iter();
        nodes.extend(groups.map(|group| of_group((node(group.parent), Fraction::decimal(group.weight)))));
        let mut downwards = vec![0];
        downwards.extend(instance.groups_upwards().into_iter().rev().map(|group| group.0 + 1));
        let leaf = |(user, end): (User<'_>, End)| Leaf {
            node: node(user.group()),
            weight: Fraction::decimal(user.weight()),
            end,
        };
        let users: Vec<Leaf> = instance.users().zip(ends).map(leaf).collect();
        users.iter().for_each(|leaf| nodes[leaf.node].has_users = true);
        for &v in downwards[1..].iter().rev() {
            if nodes[v].has_users {
                let above = nodes[v].above;
                nodes[above].has_users = true;
            }
        }
        let of_tasks = |leaf: &Leaf| match leaf.end.reason {
            LimitedBy::Tasks | LimitedBy::NoUsableClass => {
                leaf.end.tasks.clone().unwrap_or_else(Fraction::zero)
            }
            // Until its stage is filled.
            LimitedBy::Capacity | LimitedBy::Limit => Fraction::zero(),
        };
        let shares = users.iter().map(|leaf| OfLevels::constant(of_tasks(leaf))).collect();
        let mut filling = Self { nodes, downwards, users, shares };
        for stage in 0..levels.len() {
            filling.fill(instance, levels, stage)?;
        }
        Ok(filling)
    }

    /// How everything rises up to the level of a stage, those before being filled.
    pub fn rise(&self, stage: usize) -> Rise {
        let nothing = || OfLevels::constant(Fraction::zero());
        let mut ended: Vec<OfLevels> = self.nodes.iter().map(|_| nothing()).collect();
        let mut weights = vec![Fraction::zero(); self.nodes.len()];
        for (leaf, share) in self.users.iter().zip(&self.shares) {
            match leaf.is_ended(stage) {
                true => ended[leaf.node] = std::mem::replace(&mut ended[leaf.node], nothing()).plus(share),
                false => weights[leaf.node] = weights[leaf.node].plus(&leaf.weight),
            }
        }
        for &v in self.downwards[1..].iter().rev() {
            let Node { above, weight, .. } = &self.nodes[v];
            if weights[v].is_positive() {
                weights[*above] = weights[*above].plus(weight);
            } else {
                ended[*above] = std::mem::replace(&mut ended[*above], nothing()).plus(&ended[v].clone());
            }
        }
        let mut each = vec![None; self.nodes.len()];
        each[0] = Some(OfLevels::level(stage, Fraction::whole(1)));
        for &v in &self.downwards[1..] {
            let Node { above, weight, .. } = &self.nodes[v];
            let has = each[*above].as_ref().filter(|_| weights[v].is_positive());
            each[v] = has.map(|each: &OfLevels| each.times(weight).minus(&ended[v]).over(&weights[v]));
        }
        Rise { each, ended, stage }
    }

    /// Fills the tree up to the level of a stage.
    fn fill(&mut self, instance: &Instance, levels: &[&Fraction], stage: usize) -> Result<(), String> {
        let value = |level: usize| levels[level];
        let rise = self.rise(stage);
        let due: Vec<Option<Fraction>> =
            rise.each.iter().map(|each| each.as_ref().map(|each| each.at(value))).collect();
        for v in 1..self.nodes.len() {
            let Node { above, weight, has_users } = &self.nodes[v];
            if let (None, Some(due), true) = (&rise.each[v], &due[*above], *has_users)
                && rise.ended[v].at(value) > due.times(weight)
            {
                let id = &instance.groups()[v - 1].id;
                return Err(format!("group {id} has more than level {stage} gives it"));
            }
        }
        for (i, leaf) in self.users.iter().enumerate() {
            let Some(due) = &due[leaf.node] else { continue };
            let due = due.times(&leaf.weight);
            let id = || instance.user(UserId(i)).id();
            if leaf.is_ended(stage) {
                if self.shares[i].at(value) > due {
                    return Err(format!("user {} has more than level {stage} gives it", id()));
                }
                continue;
            }
            if leaf.end.tasks.as_ref().is_some_and(|tasks| *tasks <= due) {
                return Err(format!("the tasks of user {} run out below level {stage}", id()));
            }
            if leaf.end.reason.is_by_prices()
                && leaf.end.level == stage
                && let Some(each) = &rise.each[leaf.node]
            {
                self.shares[i] = each.times(&leaf.weight);
            }
        }
        Ok(())
    }

    /// What the members of each group have together.
    pub fn of_groups(&self) -> Vec<OfLevels> {
        let mut sums: Vec<OfLevels> =
            self.nodes.iter().map(|_| OfLevels::constant(Fraction::zero())).collect();
        for (leaf, share) in self.users.iter().zip(&self.shares) {
            sums[leaf.node] = sums[leaf.node].clone().plus(share);
        }
        for &v in self.downwards[1..].iter().rev() {
            let above = self.nodes[v].above;
            sums[above] = sums[above].clone().plus(&sums[v]);
        }
        sums.split_off(1)
    }

    /// The least that a child of the root with any users has for its weight, groups counted as far as their members divide what they
    /// have by their weights: what a group can have before filling gives a member that wants more more than that has.
    pub fn least(&self, levels: &[&Fraction]) -> Fraction {
        let value = |level: usize| levels[level];
        // Only differences are worked out: levels are long, and what sums have of them is not.
        let lesser = |a: OfLevels, b: OfLevels| match a.clone().minus(&b).at(value).is_positive() {
            true => b,
            false => a,
        };
        let mut inside: Vec<Vec<(&Fraction, OfLevels, bool)>> = vec![Vec::new(); self.nodes.len()];
        for (leaf, share) in self.users.iter().zip(&self.shares) {
            inside[leaf.node].push((&leaf.weight, share.clone(), leaf.end.reason.is_by_prices()));
        }
        for &v in self.downwards[1..].iter().rev().filter(|v| self.nodes[**v].has_users) {
            let children = std::mem::take(&mut inside[v]);
            let wanting = children.iter().filter(|(.., wants)| *wants);
            let each = wanting.map(|(weight, has, _)| has.over(weight)).reduce(lesser);
            let counted = |(weight, has, _): &(&Fraction, OfLevels, bool)| match &each {
                Some(each) => lesser(has.clone(), each.times(weight)),
                None => has.clone(),
            };
            let nothing = OfLevels::constant(Fraction::zero());
            let sum = children.iter().map(counted).fold(nothing, |sum, has| sum.plus(&has));
            let Node { above, weight, .. } = &self.nodes[v];
            inside[*above].push((weight, sum, each.is_some()));
        }
        let least = inside[0].iter().map(|(weight, has, _)| has.over(weight)).reduce(lesser);
        least.map_or_else(Fraction::zero, |least| least.at(value))
    }

    /// The least that all tasks of a child of the root are worth for its weight; infinite where there is no end of any.
    pub fn out_of_tasks(&self) -> f64 {
        let mut worth: Vec<Option<Fraction>> = self.nodes.iter().map(|_| Some(Fraction::zero())).collect();
        let mut least = f64::INFINITY;
        let mut see = |weight: &Fraction, worth: &Option<Fraction>| {
            if let Some(worth) = worth {
                least = least.min(worth.over(weight).near());
            }
        };
        let add = |sum: Option<Fraction>, more: &Option<Fraction>| Some(sum?.plus(more.as_ref()?));
        for leaf in &self.users {
            match leaf.node {
                0 => see(&leaf.weight, &leaf.end.tasks),
                v => worth[v] = add(worth[v].take(), &leaf.end.tasks),
            }
        }
        for &v in self.downwards[1..].iter().rev().filter(|v| self.nodes[**v].has_users) {
            let Node { above, weight, .. } = &self.nodes[v];
            let own = worth[v].clone();
            match above {
                0 => see(weight, &own),
                above => worth[*above] = add(worth[*above].take(), &own),
            }
        }
        least
    }
}
