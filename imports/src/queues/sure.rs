//! What queues are sure of: amounts hold so many tasks, and none that needs something of which they have 0.

use super::{Part, Queue, Tree, User};
use crate::report::ImportReport;
use fairplan_instances::Decimal;

/// Tasks of a user, with the position of their queue and its parts that they may run at.
struct Tasks<'a> {
    leaf: usize,
    at: Vec<&'a Part>,
    demand: &'a [Decimal],
}

impl Tasks<'_> {
    /// Whether what a queue is given at a place counts for them.
    fn count_at(&self, place: usize) -> bool {
        self.at.iter().any(|part| part.place == place || part.within.contains(&place))
    }
}

/// What is told of guarantees that hold no task, or not all.
const NOBODY: &str = "guarantees left out: their queue is given 0 of something that its tasks need beside";
const NOT_ALL: &str = "guarantees left out: their queue is given 0 of something that some of its tasks need beside, and several kinds do not";
const OF_SOME: &str =
    "guarantees are of one kind of tasks: their queue is given 0 of something that its others need beside";

/// Whose tasks an amount holds that a queue is sure of.
enum Holds {
    /// All that ask for it, or nobody asks.
    All,
    /// Those of this queue alone.
    Only(usize),
    /// Those of several queues but not all, which no quota says.
    Some,
    Nobody,
}

impl<'q> Tree<'q> {
    /// The queues, each without those of its guarantees of which tasks below it that ask for them need something else too, of
    /// which the queue is given 0: where all but those of one queue do, they are that one's.
    pub(super) fn sure_of_tasks(&self, users: &[Vec<User>], report: &mut ImportReport) -> Vec<Queue> {
        let mut queues = self.queues.to_vec();
        for (at, tasks) in self.tasks_below(users).into_iter().enumerate() {
            let parts = &self.queues[at].parts;
            let all = (0..parts.len()).flat_map(|part| (0..self.resources.len()).map(move |r| (part, r)));
            for (part, r) in all {
                let here = |own: &Part| own.place == parts[part].place;
                let (told, to) = match self.holds(parts, (part, r), &tasks) {
                    Holds::All => continue,
                    // Amounts of queues below, which have some of their own, are those of all in them.
                    Holds::Only(_) | Holds::Some if !self.is_above_kinds(at) => continue,
                    Holds::Only(leaf) => match self.queues[leaf].parts.iter().position(here) {
                        Some(own) => (OF_SOME, Some((leaf, own))),
                        None => continue,
                    },
                    Holds::Some => (NOT_ALL, None),
                    Holds::Nobody => (NOBODY, None),
                };
                report.named(told, &format!("{} ({})", self.queues[at].name, self.resources[r]));
                let amount = queues[at].parts[part].guarantee[r].take();
                if let Some((leaf, own)) = to {
                    queues[leaf].parts[own].guarantee[r] = amount;
                }
            }
        }
        queues
    }

    /// Whether what is below a queue are its kinds of tasks, which are given nothing themselves.
    fn is_above_kinds(&self, at: usize) -> bool {
        let is_bare = |part: &Part| part.guarantee.iter().all(Option::is_none);
        let mut below = (0..self.queues.len()).filter(|queue| self.queues[*queue].parent == Some(at));
        !self.is_leaf[at]
            && below.all(|queue| self.is_leaf[queue] && self.queues[queue].parts.iter().all(is_bare))
    }

    /// The tasks at or below each queue that is given 0 of something; nothing of other queues.
    fn tasks_below<'u>(&self, users: &'u [Vec<User>]) -> Vec<Vec<Tasks<'u>>>
    where
        'q: 'u,
    {
        let is_zero = |amount: &Decimal| amount.is_zero();
        let is_given_none =
            |queue: &Queue| queue.parts.iter().flat_map(|part| part.guarantee.iter().flatten()).any(is_zero);
        let asked: Vec<bool> = self.queues.iter().map(is_given_none).collect();
        let mut below: Vec<Vec<Tasks<'u>>> = self.queues.iter().map(|_| Vec::new()).collect();
        for (leaf, users) in users.iter().enumerate() {
            let mut at = Some(leaf);
            while let Some(queue) = at {
                if asked[queue] {
                    let parts: &'q [Part] = &self.queues[leaf].parts;
                    let at = |user: &'u User| user.parts.iter().map(|part| &parts[*part]).collect();
                    let tasks = |user| Tasks { leaf, at: at(user), demand: &user.demand };
                    below[queue].extend(users.iter().map(tasks));
                }
                at = self.queues[queue].parent;
            }
        }
        below
    }

    /// Whose tasks an amount of one of these parts holds.
    fn holds(&self, parts: &[Part], (here, r): (usize, usize), tasks: &[Tasks<'_>]) -> Holds {
        let stated = |part: &Part, r: usize| part.guarantee.get(r).copied().flatten();
        // What one place says nothing of is given at others.
        let is_none = |r: usize| match stated(&parts[here], r) {
            Some(amount) => amount.is_zero(),
            None => {
                let mut elsewhere = parts.iter().filter_map(|part| stated(part, r)).peekable();
                elsewhere.peek().is_some() && elsewhere.all(|amount| amount.is_zero())
            }
        };
        if stated(&parts[here], r).is_none() || is_none(r) {
            return Holds::All;
        }
        let none_of: Vec<usize> = (0..parts[here].guarantee.len()).filter(|r| is_none(*r)).collect();
        // Others do not run there anyway.
        let there = &self.totals[parts[here].place];
        let may_run = |demand: &[Decimal]| (0..demand.len()).all(|r| demand[r].is_zero() || there[r] > 0.0);
        let asking = tasks.iter().filter(|tasks| {
            tasks.count_at(parts[here].place) && !tasks.demand[r].is_zero() && may_run(tasks.demand)
        });
        let (held, others): (Vec<&Tasks<'_>>, Vec<&Tasks<'_>>) =
            asking.partition(|tasks| none_of.iter().all(|none| tasks.demand[*none].is_zero()));
        match (&held[..], &others[..]) {
            (_, []) => Holds::All,
            ([], _) => Holds::Nobody,
            ([one], _) => Holds::Only(one.leaf),
            _ => Holds::Some,
        }
    }
}
