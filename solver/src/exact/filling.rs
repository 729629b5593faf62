//! What a level at the root comes to for everybody, in fractions: each node divides what it has among those inside that still rise, by
//! their weights, once those that have come to their end have kept what they have.
//!
//! ```text
//! S_c = w_c t              a child of the root that rises
//! S_c = w_c (S_v - Σ S_e) / Σ w_d     a child of group v that rises; e are those inside v that have all they will have, d the others
//! ```
//! Who runs out of tasks leaves the rest to its siblings, so between two such ends everybody's share is a straight line in the level.
//! A user is at its end once it has all its tasks, or is held at a level; a group once all its members are. Who came to its end at a
//! level is there at all higher ones.

use super::number::Rational;
use super::of_levels::{OfLevels, Rise};
use super::vertex::{Amount, Vertex};
use fairplan_instances::GroupId;
use std::ops::Range;

/// Who rises how, and when it comes to its end.
pub(crate) struct Filling {
    /// The lines of users outside groups whose tasks last for so high a level only, the lowest first.
    caps: Vec<(Rational, usize)>,
    /// The nodes: the root, then the groups.
    nodes: Vec<Node>,
    /// The inner nodes, every one after the node above it.
    downwards: Vec<usize>,
    /// The users in groups who can have something.
    members: Vec<Member>,
}

struct Node {
    above: usize,
    weight: Rational,
}

struct Member {
    lines: Range<usize>,
    node: usize,
    weight: Rational,
    /// Work that a share of one is.
    work: Rational,
    /// What all its tasks are worth.
    tasks: Option<Rational>,
}

/// What a node has: so much, and so much of the level that rises.
type Line = (OfLevels, Rational);

impl Filling {
    pub fn of(vertex: &Vertex<'_>) -> Self {
        let program = vertex.program;
        let instance = program.instance;
        let mut nodes = vec![Node { above: 0, weight: Rational::one() }];
        let position = |group: Option<GroupId>| group.map_or(0, |group| group.0 + 1);
        nodes.extend(
            instance
                .groups()
                .iter()
                .map(|group| Node { above: position(group.parent), weight: Rational::decimal(group.weight) }),
        );
        let mut downwards = vec![0];
        downwards.extend(instance.groups_upwards().into_iter().rev().map(|group| group.0 + 1));
        let (mut caps, mut members, mut first) = (Vec::new(), Vec::new(), 0);
        for of_user in program.lines.chunk_by(|a, b| a.user == b.user) {
            let lines = first..first + of_user.len();
            first = lines.end;
            let user = program.user(lines.start);
            let cap = |line: usize| Some(&program.most_work(line)? / vertex.per_level(line));
            if user.group().is_none() {
                caps.extend(lines.filter_map(|line| Some((cap(line)?, line))));
                continue;
            }
            let weight = Rational::decimal(user.weight());
            members.push(Member {
                node: position(user.group()),
                work: vertex.per_level(lines.start) / &weight,
                tasks: cap(lines.start).map(|cap| &cap * &weight),
                weight,
                lines,
            });
        }
        caps.sort();
        Self { caps, nodes, downwards, members }
    }

    /// Settles all who have all their tasks at this level, which is none below the vertex's last, and tells the others how they rise
    /// from there.
    pub fn settle(&self, vertex: &mut Vertex<'_>, level: &Rational) {
        let stage = vertex.levels.len() as u32;
        for (cap, line) in self.caps.iter().take_while(|(cap, _)| cap <= level) {
            if vertex.is_rising(*line) {
                vertex.amounts[*line] = Amount::Settled { work: cap * vertex.per_level(*line), stage };
            }
        }
        while !self.members.is_empty() {
            self.divide(vertex);
            let is_over = |member: &&Member| {
                let tasks = member.tasks.as_ref().filter(|_| vertex.is_rising(member.lines.start));
                tasks.is_some_and(|tasks| *tasks <= &member.has(vertex, level) / &member.work)
            };
            // What they leave makes nobody have less, so all of them are at their end.
            let over: Vec<&Member> = self.members.iter().filter(is_over).collect();
            if over.is_empty() {
                break;
            }
            for member in over {
                let work = member.tasks.as_ref().map_or_else(Rational::zero, |tasks| tasks * &member.work);
                for line in member.lines.clone() {
                    vertex.amounts[line] = Amount::Settled { work: work.clone(), stage };
                }
            }
        }
    }

    /// The level at which the next has all its tasks.
    pub fn next(&self, vertex: &Vertex<'_>) -> Option<Rational> {
        let of_root = self.caps.iter().find(|(_, line)| vertex.is_rising(*line)).map(|(cap, _)| cap.clone());
        let of_member = |member: &Member| {
            let line = member.lines.start;
            let tasks = member.tasks.as_ref().filter(|_| vertex.is_rising(line))?;
            let rise = vertex.rise(line)?;
            Some(&(&(tasks * &member.work) - &rise.above.at(&vertex.levels)) / &rise.rate)
        };
        self.members.iter().filter_map(of_member).chain(of_root).min()
    }

    /// Tells every member that rises how, by who is at its end.
    fn divide(&self, vertex: &mut Vertex<'_>) {
        // What those at their end have in each node, and the weights of those that rise.
        let mut ended = vec![OfLevels::nothing(); self.nodes.len()];
        let mut rising = vec![Rational::zero(); self.nodes.len()];
        for member in &self.members {
            match vertex.is_rising(member.lines.start) {
                true => rising[member.node] = &rising[member.node] + &member.weight,
                false => ended[member.node].add(&member.ended(vertex)),
            }
        }
        for &v in self.downwards[1..].iter().rev() {
            let Node { above, weight } = &self.nodes[v];
            match rising[v].is_zero() {
                true => {
                    let of_node = ended[v].clone();
                    ended[*above].add(&of_node);
                }
                false => rising[*above] = &rising[*above] + weight,
            }
        }
        // What each node divides, for each weight.
        let mut each: Vec<Option<Line>> = vec![None; self.nodes.len()];
        each[0] = Some((OfLevels::nothing(), Rational::one()));
        for &v in &self.downwards[1..] {
            let Node { above, weight } = &self.nodes[v];
            if let (Some((base, rate)), false) = (&each[*above], rising[v].is_zero()) {
                let mut has = base.times(weight);
                has.add(&ended[v].times(&-&Rational::one()));
                let part = &Rational::one() / &rising[v];
                each[v] = Some((has.times(&part), &(rate * weight) * &part));
            }
        }
        for member in &self.members {
            if let (Some((base, rate)), true) = (&each[member.node], vertex.is_rising(member.lines.start)) {
                let work = &member.weight * &member.work;
                let rise = Rise { above: base.times(&work), rate: rate * &work };
                member.lines.clone().for_each(|line| vertex.set_rise(line, rise.clone()));
            }
        }
    }
}

impl Member {
    /// The work it has at a level while it rises.
    fn has(&self, vertex: &Vertex<'_>, level: &Rational) -> Rational {
        vertex
            .rise(self.lines.start)
            .map_or_else(Rational::zero, |rise| &rise.above.at(&vertex.levels) + &(&rise.rate * level))
    }

    /// The share it keeps.
    fn ended(&self, vertex: &Vertex<'_>) -> OfLevels {
        vertex.work_at_end(self.lines.start).over(&self.work)
    }
}

/// What the children of the root have for their weights, as far as members divide it by theirs: the least of them. What a group can
/// have before filling gives a member that wants more more than that has. `shares` are without weights.
pub(crate) fn least_at_the_root(
    vertex: &Vertex<'_>,
    shares: &[OfLevels],
    wants_more: &dyn Fn(usize) -> bool,
) -> Rational {
    let instance = vertex.program.instance;
    let least = |all: &mut dyn Iterator<Item = OfLevels>| all.reduce(|a, b| a.lesser(b, &vertex.levels));
    let node = |group: Option<GroupId>| group.map_or(0, |group| group.0 + 1);
    let mut inside: Vec<Vec<(Rational, OfLevels, bool)>> = vec![Vec::new(); instance.groups().len() + 1];
    for user in instance.users() {
        let i = user.index().0;
        let child = (Rational::decimal(user.weight()), shares[i].clone(), wants_more(i));
        inside[node(user.group())].push(child);
    }
    let over = |(weight, has, _): &(Rational, OfLevels, bool)| has.over(weight);
    for group in instance.groups_upwards() {
        let children = std::mem::take(&mut inside[group.0 + 1]);
        let each = least(&mut children.iter().filter(|(.., wants)| *wants).map(over));
        let mut sum = OfLevels::nothing();
        for (weight, has, wants) in &children {
            match &each {
                None => sum.add(has),
                Some(each) if *wants => sum.add(&each.times(weight)),
                Some(each) => sum.add(&has.clone().lesser(each.times(weight), &vertex.levels)),
            }
        }
        if !children.is_empty() {
            let of = &instance.groups()[group.0];
            inside[node(of.parent)].push((Rational::decimal(of.weight), sum, each.is_some()));
        }
    }
    let least = least(&mut inside[0].iter().map(over));
    least.map_or_else(Rational::zero, |least| least.at(&vertex.levels))
}
