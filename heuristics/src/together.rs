//! What is placed together or not at all: gangs, and tasks of several pieces.

use crate::at_once::Filling;
use crate::filling::Clock;
use crate::quotas::Accounts;
use crate::rule::Rule;
use fairplan_instances::{ClassId, DomainId, Gang, UserId};
use std::collections::BTreeMap;
use std::ops::Range;

impl Filling<'_> {
    /// Places a whole gang, or none of it; the servers of its tasks. Where quotas or time end on the way, or a policy of somebody else's turns
    /// a task down, all of its tasks are taken back; a gang that is to be in one domain is then tried in the others.
    pub fn place_gang(
        &mut self,
        user: usize,
        gang: Gang,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        clock: &mut Clock<'_>,
    ) -> Vec<usize> {
        let (instance, packing) = (self.instance, self.packing);
        let kind = instance.user(UserId(user)).kind_range();
        let shape = packing.shape_of[kind.start] as usize;
        let mut among = packing.shapes[shape].classes.clone();
        let mut on = Vec::new();
        while !among.is_empty() {
            rule.begin();
            if let Some(accounts) = &mut accounts
                && let Some(classes) = accounts.classes(shape, &among)
            {
                rule.allow(packing, shape, &classes);
            }
            rule.take_gang(shape, gang, &mut |server| {
                on.push(server);
                if let Some(accounts) = &mut accounts {
                    accounts.take(shape, packing.class_of(server).0);
                }
                // No class is left where time is over.
                if clock.is_over() {
                    return Some(Vec::new());
                }
                accounts.as_mut()?.classes(shape, &among)
            });
            if on.len() as u64 == gang.tasks {
                on.iter().for_each(|server| self.journal.add(*server as u32, kind.start as u32));
                return on;
            }
            let Some(begun) = on.first().map(|server| packing.class_of(*server)) else { break };
            on.drain(..).for_each(|server| rule.take_back(server, shape, 1));
            accounts.iter_mut().for_each(|accounts| accounts.take_back());
            self.open(kind.clone(), None, rule, accounts.as_deref_mut());
            let elsewhere = |class: &usize| instance.domain_of(ClassId(*class)) != instance.domain_of(begun);
            among.retain(|class| gang.in_one_domain && !clock.is_over() && elsewhere(class));
        }
        self.turned_down[shape] = true;
        on
    }

    /// Places the pieces of a task, or of a gang of tasks, and none if one finds no room; the server of the last. A gang that is to be in
    /// one domain is tried in one after the other, in the order in which classes name them.
    pub fn place_pieces(
        &mut self,
        user: usize,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        clock: &mut Clock<'_>,
    ) -> Option<usize> {
        let view = self.instance.user(UserId(user));
        if !view.gang().is_some_and(|gang| gang.in_one_domain) {
            return self.try_pieces(user, None, rule, accounts, clock);
        }
        let last = view.domains().into_iter().find_map(|domain| {
            self.open(view.kind_range(), Some(domain), rule, accounts.as_deref_mut());
            self.try_pieces(user, Some(domain), rule, accounts.as_deref_mut(), clock)
        });
        self.open(view.kind_range(), None, rule, accounts);
        last
    }

    /// Places pieces one by one, always of the kind that is furthest behind, in a domain where one is named; the server of the last. If one
    /// finds no room all are taken back, so that others may have theirs.
    fn try_pieces(
        &mut self,
        user: usize,
        domain: Option<DomainId>,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        clock: &mut Clock<'_>,
    ) -> Option<usize> {
        let (view, packing) = (self.instance.user(UserId(user)), self.packing);
        let kinds = view.kind_range();
        let each: Vec<u64> = view.kinds().map(|kind| kind.each().saturating_mul(view.at_once())).collect();
        let mut has = vec![0u64; each.len()];
        let mut taken: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut last = None;
        rule.begin();
        // Of kinds that are behind alike the first.
        while let Some(k) = furthest_behind(&has, &each) {
            let shape = packing.shape_of[kinds.start + k] as usize;
            let server = match clock.is_over() {
                true => None,
                false => self.take(shape, domain, rule, accounts.as_deref_mut()),
            };
            let Some(server) = server else {
                // Nothing of it is there: so it lacks room whatever else is placed.
                self.turned_down[shape] |= taken.is_empty() && domain.is_none();
                for ((server, k), count) in taken {
                    rule.take_back(server, packing.shape_of[kinds.start + k] as usize, count);
                }
                accounts.iter_mut().for_each(|accounts| accounts.take_back());
                self.open(kinds, domain, rule, accounts);
                return None;
            };
            *taken.entry((server, k)).or_default() += 1;
            has[k] += 1;
            last = Some(server);
        }
        for ((server, k), count) in taken {
            let (server, kind) = (server as u32, (kinds.start + k) as u32);
            match count {
                1 => self.journal.add(server, kind),
                _ => self.journal.add_many(server, kind, count),
            }
        }
        last
    }

    /// Lets a rule look for room for these kinds as if it had not looked before, in a domain where one is named.
    fn open(
        &self,
        kinds: Range<usize>,
        domain: Option<DomainId>,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
    ) {
        for shape in self.packing.shape_of[kinds].iter().map(|shape| *shape as usize) {
            match &mut accounts {
                Some(accounts) => accounts.ask_anew(shape),
                None => rule.allow(self.packing, shape, &self.among(shape, domain)),
            }
        }
    }
}

/// The kind of which the smallest part of a task's pieces is there; `None` if all are.
fn furthest_behind(has: &[u64], each: &[u64]) -> Option<usize> {
    let missing = (0..each.len()).filter(|k| has[*k] < each[*k]);
    let part = |k: usize| (u128::from(has[k]), u128::from(each[k]));
    // `min_by` keeps the first of equals.
    missing.min_by(|a, b| {
        let ((p, q), (r, s)) = (part(*a), part(*b));
        (p * s).cmp(&(r * q))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_which_the_smallest_part_is_there_is_next_and_the_first_of_equals() {
        let (mut has, each) = (vec![0; 3], [4, 1, 2]);
        let mut order = Vec::new();
        while let Some(k) = furthest_behind(&has, &each) {
            has[k] += 1;
            order.push(k);
        }
        assert_eq!(order, [0, 1, 2, 0, 0, 2, 0]);
    }
}
