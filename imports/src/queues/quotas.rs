//! The groups that queues above others become, and what everybody is guaranteed, limited to and left in reserve.

use super::{Part, Queue, Tree, User, above_zero};
use crate::amounts::{Stated, rounded};
use crate::quota_places::{Spread, sum};
use crate::report::ImportReport;
use crate::servers::{Class, Server};
use crate::tolerance::SUMS;
use fairplan_instances::{
    ClassAmounts, ClassId, Decimal, NewGroup, Quota, ResourceAmounts, ResourceId, Violation,
};

/// What a quota is given: what that is called, where a part states it, and what it becomes over all classes and over some.
type Given<'q> = (&'static str, fn(&Part) -> &Stated, &'q mut ResourceAmounts, &'q mut Vec<ClassAmounts>);

impl Tree<'_> {
    /// The queues above users as groups.
    pub(super) fn groups(
        &self,
        users: &[Vec<User>],
        below: &[Vec<bool>],
        report: &mut ImportReport,
    ) -> Vec<NewGroup> {
        let is_group = |position: usize| {
            let queue = &self.queues[position];
            let divided = !self.is_leaf[position] || users[position].len() > 1;
            let somebody = below[position].contains(&true);
            divided && somebody && (!self.is_root(position) || self.limits(queue))
        };
        self.tell_of_empty(below, report);
        for position in self.weightless.iter().filter(|position| below[**position].contains(&true)) {
            report.named(
                "queues of weight 0, taken as a thousandth of the smallest weight of their siblings",
                &self.queues[*position].name,
            );
        }
        let group = |position: usize| {
            let queue = &self.queues[position];
            let parent = queue.parent.filter(|parent| is_group(*parent));
            NewGroup {
                id: queue.name.clone(),
                weight: self.weights[position],
                parent: parent.map(|parent| self.queues[parent].name.clone()),
            }
        };
        (0..self.queues.len()).filter(|position| is_group(*position)).map(group).collect()
    }

    /// Names the queues above others of which none is left.
    pub(super) fn tell_of_empty(&self, below: &[Vec<bool>], report: &mut ImportReport) {
        for queue in (0..self.queues.len()).filter(|queue| !self.is_leaf[*queue]) {
            if !below[queue].contains(&true) && !self.is_root(queue) {
                report.named("groups left out: nobody is left below", &self.queues[queue].name);
            }
        }
    }

    /// Whether a queue is the scheduler's own root.
    fn is_root(&self, queue: usize) -> bool {
        self.is_above_all(queue) && self.root == Some(self.queues[queue].name.as_str())
    }

    /// Whether a queue may have less than there is.
    fn limits(&self, queue: &Queue) -> bool {
        queue.parts.iter().any(|part| (0..self.resources.len()).any(|r| self.binds(part, r).is_some()))
    }

    /// The limit of a resource, if there is more than that at its place, or may be once servers are added.
    fn binds(&self, part: &Part, r: usize) -> Option<Decimal> {
        let limit = part.limit.get(r).copied().flatten();
        limit.filter(|limit| !self.are_limits_parts || limit.to_f64() < self.totals[part.place][r])
    }

    /// What the servers of a place have of a resource that let in tasks of somebody below a queue, which ask for these resources.
    fn in_reach(&self, below: &[bool], place: usize, r: usize) -> f64 {
        let lets_in = |server: &&Server| server.meets[place] && server.lets_in(|r| below[r]);
        self.servers.iter().filter(lets_in).map(|server| server.capacity[r].to_f64()).sum()
    }

    /// Where what a queue is sure of counts: a leaf where it has users, others where there is any server.
    fn counted_parts(&self, queue: usize, users: &[User]) -> Vec<&Part> {
        let counts = |(position, part): &(usize, &Part)| match self.is_leaf[queue] {
            true => users.iter().any(|user| user.parts.contains(position)),
            false => self.servers.iter().any(|server| server.meets[part.place]),
        };
        self.queues[queue].parts.iter().enumerate().filter(counts).map(|(_, part)| part).collect()
    }

    /// Says of guarantees that are of more than there is, each by itself and those of a resource together.
    pub(super) fn tell_what_cannot_be_kept(
        &self,
        users: &[Vec<User>],
        below: &[Vec<bool>],
        report: &mut ImportReport,
    ) {
        let more = |sure: f64, all: f64| sure > all * (1.0 + SUMS);
        let parts: Vec<Vec<&Part>> =
            (0..self.queues.len()).map(|queue| self.counted_parts(queue, &users[queue])).collect();
        // What a single queue above all is given is left out, unless it is a user.
        let is_user =
            |queue: usize| self.is_leaf[queue] && users[queue].iter().all(|user| user.asks_for.is_none());
        for r in 0..self.resources.len() {
            let (mut sum, mut count) = (0.0, 0);
            for (at, queue) in self.queues.iter().enumerate().filter(|(at, _)| below[*at][r]) {
                let sure =
                    |part: &Part| part.guarantee.get(r).copied().flatten().map_or(0.0, Decimal::to_f64);
                let beyond = |part: &Part| more(sure(part), self.in_reach(&below[at], part.place, r));
                let counts =
                    (is_user(at) || !self.is_above_all(at)) && parts[at].iter().any(|part| sure(part) > 0.0);
                if counts && parts[at].iter().any(|part| beyond(part)) {
                    let name = format!("{} ({})", queue.name, self.resources[r]);
                    report.named("guarantees are of more than their servers have", &name);
                }
                // Of the queue above all nothing is kept: everybody is in it.
                let is_top = |queue: &Queue| queue.parent.is_none() && self.tops == 1;
                let has_some =
                    |above: &Queue| !is_top(above) && above.parts.iter().any(|part| sure(part) > 0.0);
                let is_inside = self.upwards(at).skip(1).any(has_some);
                if counts && !is_inside {
                    sum += parts[at].iter().map(|part| sure(part)).sum::<f64>();
                    count += 1;
                }
            }
            if count > 1 && more(sum, self.all[r]) {
                let resource = &self.resources[r];
                report.add(
                    count,
                    format!("guarantees of {resource} come to more than all servers have together"),
                );
            }
        }
    }

    /// The classes of a place.
    fn classes_of(&self, place: usize, classes: &[Class<'_>]) -> Vec<ClassId> {
        (0..classes.len()).filter(|l| classes[*l].server().meets[place]).map(ClassId).collect()
    }

    /// Whether servers at the places of some parts have a resource.
    fn have<'p>(&self, parts: impl IntoIterator<Item = &'p Part>, r: usize) -> bool {
        parts.into_iter().any(|part| self.totals[part.place][r] > 0.0)
    }

    /// Names a queue that is given a resource for which no task of it asks, and says why.
    fn tell_of_unasked(
        &self,
        what: &str,
        queue: usize,
        parts: &[&Part],
        r: usize,
        report: &mut ImportReport,
    ) {
        let why = match self.have(parts.iter().copied(), r) {
            true => "no task of the queue asks for the resource",
            false => "no server that the queue may use has the resource",
        };
        let name = format!("{} ({})", self.queues[queue].name, self.resources[r]);
        report.named(format!("{what} left out: {why}"), &name);
    }

    /// Among the places of one queue: the largest part of the place that it is sure of.
    pub(super) fn weight_of(&self, part: &Part) -> Decimal {
        let of_all = |(r, amount): (usize, &Option<Decimal>)| {
            let all: f64 = self.totals[part.place][r];
            amount.filter(|_| all > 0.0).map_or(0.0, |amount| amount.to_f64() / all)
        };
        let part = part.guarantee.iter().enumerate().map(of_all).fold(0.0, f64::max);
        rounded(part).filter(|weight| !weight.is_zero()).unwrap_or(Decimal::ONE)
    }

    /// What a queue is given at some of its places together, of what its tasks ask for.
    pub(super) fn quota(
        &self,
        queue: usize,
        parts: &[&Part],
        asked: &[bool],
        classes: &[Class<'_>],
        is_top: bool,
        report: &mut ImportReport,
    ) -> Result<Quota, Violation> {
        let name = &self.queues[queue].name;
        let mut quota = Quota::default();
        let resources = || asked.iter().enumerate();
        // What a queue keeps or may have at most at one of several places is of its servers: others may have as much elsewhere.
        let sets: Vec<Vec<ClassId>> = parts.iter().map(|part| self.classes_of(part.place, classes)).collect();
        // Where it can run nowhere else, what it is sure of can be nowhere else.
        let is_one_place = self.is_leaf[queue] && sets.len() == 1;
        let is_everywhere = sets.len() == 1 && sets[0].len() == classes.len();
        let is_whole = self.places.len() == 1 || is_everywhere;
        let mut stated: Vec<ResourceAmounts> = Vec::new();
        for part in parts {
            let mut amounts = ResourceAmounts::new();
            for (r, asks) in resources() {
                let Some(limit) = part.limit.get(r).copied().flatten().filter(|limit| !limit.is_zero())
                else {
                    continue;
                };
                let sure = part.guarantee.get(r).copied().flatten();
                if let Some(sure) = sure.filter(|sure| sure.to_f64() > limit.to_f64() && !is_top) {
                    let problem = format!("is more than its limit of {limit}; lower it or raise the limit");
                    let resource = &self.resources[r];
                    return Err(Violation::new(
                        format!("queue {name}: guaranteed {resource}"),
                        sure,
                        problem,
                    ));
                }
                match self.binds(part, r) {
                    _ if !self.have(parts.iter().copied(), r) => {
                        self.tell_of_unasked("limits", queue, parts, r, report)
                    }
                    None => report.one("limits left out: there is no more than that"),
                    Some(_) if !asks => self.tell_of_unasked("limits", queue, parts, r, report),
                    Some(limit) => amounts.push((ResourceId(r), limit)),
                }
            }
            if is_whole {
                quota.limit.extend(amounts);
            } else {
                stated.push(amounts);
            }
        }
        let mut shared = false;
        for r in (0..asked.len()).filter(|_| !is_whole) {
            let of =
                |part: usize| stated[part].iter().find(|(other, _)| other.0 == r).map(|(_, limit)| *limit);
            // Where nothing of a resource may be asked for, its limits elsewhere hold on the same servers too.
            let asked: Vec<usize> = (0..parts.len()).filter(|part| parts[*part].may_ask_for(r)).collect();
            let limits: Vec<Option<Decimal>> = asked.iter().map(|part| of(*part)).collect();
            let sets: Vec<Vec<ClassId>> = asked.into_iter().map(|part| sets[part].clone()).collect();
            let spread = Spread { name, resource: &self.resources[r], is_cap: true };
            shared |= spread.over(&sets, &limits, ResourceId(r), &mut quota.limits)?;
        }
        let Quota { guarantee, guarantees, reserve, reserves, .. } = &mut quota;
        let lists: [Given<'_>; 2] = [
            ("guarantees", |part| &part.guarantee, guarantee, guarantees),
            ("reserves", |part| &part.reserve, reserve, reserves),
        ];
        for (what, of, over_all, over_some) in lists {
            for (r, asks) in resources() {
                // Whoever needs something that is kept whole is shut out there, so nothing is left to keep.
                let counts = |part: &Part| what != "reserves" || !self.keeps_whole(part, r);
                let amount = |part: &&Part| above_zero(of(part).get(r).copied().flatten());
                let amounts: Vec<Option<Decimal>> =
                    parts.iter().map(|part| amount(part).filter(|_| counts(part))).collect();
                if amounts.iter().all(Option::is_none) {
                    continue;
                }
                if is_top {
                    report.one(format!("{what} of the top queue left out: everybody is in it"));
                } else if !asks && (what == "guarantees" || !self.have(parts.iter().copied(), r)) {
                    self.tell_of_unasked(what, queue, parts, r, report);
                } else if is_whole || (what == "guarantees" && is_one_place) {
                    over_all.push((ResourceId(r), sum(name, &self.resources[r], &amounts)?));
                } else {
                    let spread = Spread { name, resource: &self.resources[r], is_cap: false };
                    shared |= spread.over(&sets, &amounts, ResourceId(r), over_some)?;
                }
            }
        }
        if shared {
            report.one("queues with several quotas on the same servers, which count together there");
        }
        Ok(quota)
    }
}
