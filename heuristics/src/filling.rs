//! Progressive filling, the loop that all policies share.

use crate::at_once::{Filling, SINGLY};
use crate::journal::Journal;
use crate::packing::Packing;
use crate::quotas::Accounts;
use crate::rule::Rule;
use crate::shares::Shares;
use crate::{PlacementError, Turn};
use fairplan_instances::{ClassId, Deadline, Gang, Instance, KindId, Placement, User, UserId};
use std::collections::BTreeMap;

/// Pieces placed between two looks at the clock.
const BETWEEN_STOPS: usize = 1 << 14;

/// Serves users in this order, one task at a time, until nobody is left: at first who is below what it is guaranteed, then all.
pub(crate) fn fill(
    instance: &Instance,
    packing: &Packing,
    mut rule: impl Rule,
    turn: Turn,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let mut accounts = Accounts::new(instance, packing);
    let mut filling = begun(instance, packing, turn)?;
    let mut placed = PlacedOn::new();
    while let Some(accounts) = accounts.as_mut().filter(|accounts| accounts.has_guarantees()) {
        for user in 0..instance.user_count() {
            if !filling.shapes(user).any(|shape| accounts.is_sure(shape)) {
                filling.shares.leave(user);
            }
        }
        for (place, count) in filling.serve(&mut rule, Some(&mut *accounts), deadline)? {
            *placed.entry(place).or_default() += count;
        }
        // Where there was no room beside other guarantees there may be some.
        accounts.go_on();
        filling.turned_down.fill(false);
        filling.shares = Shares::new(instance, turn)?;
        for ((user, class), count) in &placed {
            filling.shares.add_tasks(*user, *count, || *class);
        }
    }
    filling.serve(&mut rule, accounts.as_mut(), deadline)?;
    Ok(Placement { tasks: filling.tasks, servers: filling.journal.finish() })
}

/// The same by the lowest share where some tasks are there already, which the rule has taken the room of; nothing is guaranteed. Nobody
/// gets more than `most` where that is said, rounded up to whole gangs.
pub(crate) fn fill_on(
    instance: &Instance,
    packing: &Packing,
    mut rule: impl Rule,
    (there, most): (&Placement, Option<&[u64]>),
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let mut filling = begun(instance, packing, Turn::LowestShare)?;
    for (user, (limit, most)) in instance.users().zip(filling.limits.iter_mut().zip(most.unwrap_or_default()))
    {
        let most = most.checked_next_multiple_of(user.at_once()).unwrap_or(u64::MAX);
        *limit = Some(limit.unwrap_or(u64::MAX).min(most));
    }
    let mut accounts = Accounts::new(instance, packing);
    filling.tasks.clone_from(&there.tasks);
    for (server, tasks) in there.servers.iter().enumerate() {
        for (kind, count) in tasks {
            filling.journal.add_many(server as u32, *kind, *count);
            if let Some(accounts) = &mut accounts {
                let shape = packing.shape_of[*kind as usize] as usize;
                accounts.take_many(shape, packing.class_of(server).0, *count);
            }
            let user = instance.kind(KindId(*kind as usize)).user();
            if !user.has_kinds() {
                filling.shares.add_tasks(user.index().0, *count, || packing.class_of(server));
            }
        }
    }
    for user in instance.users().filter(|user| user.has_kinds()) {
        // Who has kinds has no rates, so that the class says nothing.
        filling.shares.add_tasks(user.index().0, there.tasks[user.index().0], || ClassId(0));
    }
    filling.serve(&mut rule, accounts.as_mut(), deadline)?;
    Ok(Placement { tasks: filling.tasks, servers: filling.journal.finish() })
}

/// Nothing is placed yet.
fn begun<'a>(
    instance: &'a Instance,
    packing: &'a Packing,
    turn: Turn,
) -> Result<Filling<'a>, PlacementError> {
    Ok(Filling {
        instance,
        packing,
        shares: Shares::new(instance, turn)?,
        tasks: vec![0u64; instance.user_count()],
        limits: instance.users().map(most_tasks).collect(),
        gangs: instance
            .users()
            .map(|user| user.gang())
            .filter(|_| instance.has_rules_between_servers())
            .collect(),
        turned_down: vec![false; packing.shapes.len()],
        journal: Journal::new(packing.servers()),
    })
}

/// The most tasks of a user that can run: whole gangs.
fn most_tasks(user: User<'_>) -> Option<u64> {
    user.tasks().map(|tasks| tasks - tasks % user.at_once())
}

/// How many tasks of whom were placed on the servers of which class; of users with kinds, who have no rates, the class says nothing.
type PlacedOn = BTreeMap<(usize, ClassId), u64>;

/// When to look at the clock.
struct Clock<'a> {
    deadline: &'a Deadline,
    since_stop: usize,
    is_over: bool,
}

impl Clock<'_> {
    /// Whether time is over, looked at now and then.
    fn is_over(&mut self) -> bool {
        self.since_stop += 1;
        if self.since_stop >= BETWEEN_STOPS {
            self.since_stop = 0;
            self.is_over |= self.deadline.is_over();
        }
        self.is_over
    }
}

impl Filling<'_> {
    /// Serves users until nobody is left; where there are accounts it tells what was placed.
    fn serve(
        &mut self,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        deadline: &Deadline,
    ) -> Result<PlacedOn, PlacementError> {
        let (packing, users) = (self.packing, self.tasks.len());
        let can_advance = !self.instance.has_kinds();
        let mut clock = Clock { deadline, since_stop: 0, is_over: false };
        let mut singly = 0;
        // The servers of the tasks that are placed now, of kinds that of a task's last piece.
        let (mut placed, mut on) = (PlacedOn::new(), Vec::new());
        while let Some(user) = self.shares.lowest() {
            singly += 1;
            if singly > SINGLY * users && can_advance {
                singly = 0;
                let many = self.advance(rule, accounts.as_deref_mut());
                if accounts.is_some() {
                    for (user, class, count) in many {
                        *placed.entry((user, class)).or_default() += count;
                    }
                }
                continue;
            }
            on.clear();
            if self.may_have_more(user) {
                if let Some(accounts) = &mut accounts {
                    accounts.begin();
                }
                match self.gangs.get(user).copied().flatten() {
                    Some(gang) => self.place_gang(user, gang, rule, accounts.as_deref_mut(), &mut on),
                    None if self.instance.user(UserId(user)).has_kinds() => {
                        on.extend(self.place_pieces(user, rule, accounts.as_deref_mut(), &mut clock));
                    }
                    None => on.extend(self.place_task(user, rule, accounts.as_deref_mut())),
                }
            }
            if clock.is_over() {
                return Err(PlacementError::OutOfTime { placed: self.tasks.iter().sum() });
            }
            for &server in &on {
                self.tasks[user] += 1;
                self.shares.add_tasks(user, 1, || packing.class_of(server));
                if accounts.is_some() {
                    *placed.entry((user, packing.class_of(server))).or_default() += 1;
                }
            }
            clock.since_stop += on.len().saturating_sub(1);
            if on.is_empty() {
                self.shares.leave(user);
            }
        }
        Ok(placed)
    }

    /// Places a task that is one piece; its server.
    fn place_task(
        &mut self,
        user: usize,
        rule: &mut impl Rule,
        accounts: Option<&mut Accounts>,
    ) -> Option<usize> {
        let kind = self.instance.user(UserId(user)).kind_range().start;
        let shape = self.packing.shape_of[kind] as usize;
        let server = self.take(shape, rule, accounts);
        match server {
            Some(server) => self.journal.add(server as u32, kind as u32),
            None => self.turned_down[shape] = true,
        }
        server
    }

    /// Places a whole gang, or none of it. Where quotas end on the way all of its tasks are taken back; a gang that is to be in one domain
    /// is then tried in the others.
    fn place_gang(
        &mut self,
        user: usize,
        gang: Gang,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        on: &mut Vec<usize>,
    ) {
        let (instance, packing) = (self.instance, self.packing);
        let kind = instance.user(UserId(user)).kind_range();
        let shape = packing.shape_of[kind.start] as usize;
        let mut among = packing.shapes[shape].classes.clone();
        loop {
            if let Some(accounts) = &mut accounts {
                rule.begin();
                if let Some(classes) = accounts.classes(shape, &among) {
                    rule.allow(packing, shape, &classes);
                }
            }
            rule.take_gang(shape, gang, &mut |server| {
                on.push(server);
                let accounts = accounts.as_mut()?;
                accounts.take(shape, packing.class_of(server).0);
                accounts.classes(shape, &among)
            });
            if on.len() as u64 == gang.tasks {
                on.iter().for_each(|server| self.journal.add(*server as u32, kind.start as u32));
                return;
            }
            let Some(begun) = on.first().map(|server| packing.class_of(*server)) else { break };
            on.drain(..).for_each(|server| rule.take_back(server, shape, 1));
            self.begin_anew(kind.clone(), rule, accounts.as_deref_mut());
            let elsewhere = |class: &usize| instance.domain_of(ClassId(*class)) != instance.domain_of(begun);
            among.retain(|class| gang.in_one_domain && elsewhere(class));
            if among.is_empty() {
                break;
            }
        }
        self.turned_down[shape] = true;
    }

    /// Places the pieces of a task one by one, always of the kind that is furthest behind; the server of the last. If one finds no room
    /// all are taken back, so that others may have theirs.
    fn place_pieces(
        &mut self,
        user: usize,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        clock: &mut Clock<'_>,
    ) -> Option<usize> {
        let kinds = self.instance.user(UserId(user)).kinds();
        let first = self.instance.user(UserId(user)).kind_range().start;
        let each: Vec<u64> = kinds.map(|kind| kind.each()).collect();
        let mut has = vec![0u64; each.len()];
        let mut taken: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut last = None;
        rule.begin();
        // Of kinds that are behind alike the first.
        while let Some(k) = furthest_behind(&has, &each) {
            let shape = self.packing.shape_of[first + k] as usize;
            let server = match clock.is_over() {
                true => None,
                false => self.take(shape, rule, accounts.as_deref_mut()),
            };
            let Some(server) = server else {
                // Nothing of it is there: so it lacks room whatever else is placed.
                self.turned_down[shape] |= taken.is_empty();
                for ((server, k), count) in taken {
                    rule.take_back(server, self.packing.shape_of[first + k] as usize, count);
                }
                self.begin_anew(first..first + each.len(), rule, accounts);
                return None;
            };
            *taken.entry((server, k)).or_default() += 1;
            has[k] += 1;
            last = Some(server);
        }
        for ((server, k), count) in taken {
            let (server, kind) = (server as u32, (first + k) as u32);
            match count {
                1 => self.journal.add(server, kind),
                _ => self.journal.add_many(server, kind, count),
            }
        }
        last
    }

    /// Lets a rule look for room for these kinds as if it had not looked before.
    fn begin_anew(
        &self,
        kinds: std::ops::Range<usize>,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
    ) {
        let shapes = self.packing.shape_of[kinds].iter().map(|shape| *shape as usize);
        match &mut accounts {
            Some(accounts) => accounts.take_back(shapes),
            None => {
                shapes.for_each(|shape| rule.allow(self.packing, shape, &self.packing.shapes[shape].classes));
            }
        }
    }

    /// Takes room for one piece of a shape within its quotas.
    fn take(&self, shape: usize, rule: &mut impl Rule, mut accounts: Option<&mut Accounts>) -> Option<usize> {
        if let Some(accounts) = &mut accounts
            && let Some(classes) = accounts.classes(shape, &self.packing.shapes[shape].classes)
        {
            rule.allow(self.packing, shape, &classes);
        }
        let server = rule.take(shape)?;
        if let Some(accounts) = accounts {
            accounts.take(shape, self.packing.class_of(server).0);
        }
        Some(server)
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
