//! Progressive filling, the loop that all policies share.

use crate::at_once::{Filling, SINGLY};
use crate::journal::Journal;
use crate::packing::Packing;
use crate::quotas::Accounts;
use crate::rule::Rule;
use crate::shares::Shares;
use crate::{PlacementError, Turn};
use fairplan_instances::{ClassId, Deadline, DomainId, Instance, KindId, Placement, User, UserId};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Looks for room between two looks at the clock; of rules that look at one server after another, servers that are looked at.
const BETWEEN_STOPS: usize = 1 << 14;

/// Serves users in this order, one task at a time, until nobody is left: at first who is below what it is guaranteed, then all.
pub(crate) fn fill(
    instance: &Instance,
    packing: &Packing,
    rule: impl Rule,
    turn: Turn,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let accounts = Accounts::new(instance, packing);
    begun(instance, packing, turn)?.serve_all(rule, accounts, PlacedOn::new(), turn, deadline)
}

/// The same by the lowest share where some tasks are there already, which the rule has taken the room of. Nobody gets more than `most`
/// where that is said, rounded up to whole gangs.
pub(crate) fn fill_on(
    instance: &Instance,
    packing: &Packing,
    rule: impl Rule,
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
    let mut placed = PlacedOn::new();
    filling.tasks.clone_from(&there.tasks);
    for (server, tasks) in there.servers.iter().enumerate() {
        let class = packing.class_of(server);
        for (kind, count) in tasks {
            filling.journal.add_many(server as u32, *kind, *count);
            if let Some(accounts) = &mut accounts {
                accounts.take_many(packing.shape_of[*kind as usize] as usize, class.0, *count);
            }
            let user = instance.kind(KindId(*kind as usize)).user();
            if !user.has_kinds() {
                *placed.entry((user.index().0, class)).or_default() += count;
            }
        }
    }
    for user in instance.users().filter(|user| user.has_kinds()) {
        // Who has kinds has no rates, so that the class says nothing.
        placed.insert((user.index().0, ClassId(0)), there.tasks[user.index().0]);
    }
    filling.count(&placed);
    filling.serve_all(rule, accounts, placed, Turn::LowestShare, deadline)
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

/// Pieces that are looked at one by one, at most, where no time is set: some minutes. On servers that hold billions of them it would take hours.
const MOST_SINGLY: u64 = 50_000_000;

/// When to look at the clock.
pub(crate) struct Clock<'a> {
    deadline: &'a Deadline,
    /// Servers that are looked at for a piece.
    servers: usize,
    since_stop: usize,
    is_over: bool,
    /// Pieces that were looked at.
    looked_at: u64,
}

impl<'a> Clock<'a> {
    fn new(deadline: &'a Deadline, servers: usize) -> Self {
        Self { deadline, servers, since_stop: 0, is_over: false, looked_at: 0 }
    }

    /// Whether time is over, asked for every piece and looked at now and then; where none is set, whether too many pieces were looked at.
    pub fn is_over(&mut self) -> bool {
        self.since_stop = self.since_stop.saturating_add(self.servers);
        self.looked_at += 1;
        if self.since_stop >= BETWEEN_STOPS {
            self.since_stop = 0;
            let is_too_much = self.looked_at > MOST_SINGLY && self.deadline.time_left().is_none();
            self.is_over |= is_too_much || self.deadline.is_over();
        }
        self.is_over
    }

    /// Why it is over.
    fn refusal(&self, placed: u64) -> PlacementError {
        match self.deadline.is_over() {
            true => PlacementError::OutOfTime { placed },
            false => PlacementError::TooMany { placed },
        }
    }
}

impl Filling<'_> {
    /// Counts tasks that are there in their users' shares.
    fn count(&mut self, placed: &PlacedOn) {
        placed.iter().for_each(|((user, class), count)| self.shares.add_tasks(*user, *count, || *class));
    }

    /// Serves who is below what it is guaranteed, from the innermost owners out, and then all. `placed` is there and counted.
    fn serve_all(
        mut self,
        mut rule: impl Rule,
        mut accounts: Option<Accounts>,
        mut placed: PlacedOn,
        turn: Turn,
        deadline: &Deadline,
    ) -> Result<Placement, PlacementError> {
        while let Some(accounts) = accounts.as_mut().filter(|accounts| accounts.has_guarantees()) {
            for user in 0..self.instance.user_count() {
                if !self.shapes(user).any(|shape| accounts.is_sure(shape)) {
                    self.shares.leave(user);
                }
            }
            for (place, count) in self.serve(&mut rule, Some(&mut *accounts), deadline)? {
                *placed.entry(place).or_default() += count;
            }
            // Where there was no room beside other guarantees there may be some.
            accounts.go_on();
            self.turned_down.fill(false);
            self.shares = Shares::new(self.instance, turn)?;
            self.count(&placed);
        }
        self.serve(&mut rule, accounts.as_mut(), deadline)?;
        Ok(Placement { tasks: self.tasks, servers: self.journal.finish() })
    }

    /// Serves users until nobody is left; where there are accounts it tells what was placed.
    fn serve(
        &mut self,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        deadline: &Deadline,
    ) -> Result<PlacedOn, PlacementError> {
        let (packing, users) = (self.packing, self.tasks.len());
        let can_advance = !self.instance.has_kinds();
        let mut clock = Clock::new(deadline, rule.looks_at());
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
                    gang if self.instance.user(UserId(user)).has_kinds() => {
                        let last = self.place_pieces(user, rule, accounts.as_deref_mut(), &mut clock);
                        let tasks = gang.map_or(1, |gang| gang.tasks) as usize;
                        on.extend(last.into_iter().flat_map(|server| std::iter::repeat_n(server, tasks)));
                    }
                    Some(gang) => {
                        on = self.place_gang(user, gang, rule, accounts.as_deref_mut(), &mut clock);
                    }
                    None => on.extend(self.place_task(user, rule, accounts.as_deref_mut())),
                }
            }
            if clock.is_over() {
                return Err(clock.refusal(self.tasks.iter().sum()));
            }
            for &server in &on {
                self.tasks[user] += 1;
                self.shares.add_tasks(user, 1, || packing.class_of(server));
                if accounts.is_some() {
                    *placed.entry((user, packing.class_of(server))).or_default() += 1;
                }
            }
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
        let server = self.take(shape, None, rule, accounts);
        match server {
            Some(server) => self.journal.add(server as u32, kind as u32),
            None => self.turned_down[shape] = true,
        }
        server
    }

    /// Takes room for one piece of a shape within its quotas, in a domain where one is named.
    pub fn take(
        &self,
        shape: usize,
        domain: Option<DomainId>,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
    ) -> Option<usize> {
        if let Some(accounts) = &mut accounts
            && let Some(classes) = accounts.classes(shape, &self.among(shape, domain))
        {
            rule.allow(self.packing, shape, &classes);
        }
        let server = rule.take(shape)?;
        if let Some(accounts) = accounts {
            accounts.take(shape, self.packing.class_of(server).0);
        }
        Some(server)
    }

    /// The classes that pieces of a shape may run on, in a domain where one is named.
    pub fn among(&self, shape: usize, domain: Option<DomainId>) -> Cow<'_, [usize]> {
        let classes = &self.packing.shapes[shape].classes;
        if domain.is_none() {
            return Cow::Borrowed(classes);
        }
        let inside = classes.iter().copied().filter(|l| self.instance.domain_of(ClassId(*l)) == domain);
        Cow::Owned(inside.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlacementPolicy as _;

    #[test]
    fn where_no_time_is_set_more_tasks_than_anybody_waits_for_are_refused_in_words() {
        let (never, long) = (Deadline::never(), Deadline::after(std::time::Duration::from_secs(3600)));
        let is_over = |deadline: &Deadline, looked_at: u64| {
            let mut clock = Clock { since_stop: BETWEEN_STOPS, looked_at, ..Clock::new(deadline, 1) };
            clock.is_over().then(|| clock.refusal(7))
        };
        assert_eq!(is_over(&never, MOST_SINGLY - 1), None);
        assert_eq!(is_over(&long, MOST_SINGLY), None, "whoever sets a time waits for it");
        let refusal = is_over(&never, MOST_SINGLY).unwrap();
        assert_eq!(refusal, PlacementError::TooMany { placed: 7 });
        assert!(refusal.to_string().contains("make tasks larger, or set a time limit"), "{refusal}");
    }
    #[test]
    fn who_looks_at_many_servers_for_a_piece_looks_at_the_clock_for_each() {
        let over = Deadline::after(std::time::Duration::ZERO);
        assert!(Clock::new(&over, BETWEEN_STOPS).is_over());
        assert!(!Clock::new(&over, BETWEEN_STOPS - 1).is_over());
        let placed = |rule: &str, servers: usize| {
            let text = format!(
                r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
                    "server_classes": [{{"id": "c", "count": {servers}, "capacity": {{"cpu": 1}}}}],
                    "users": [{{"id": "u", "demand": {{"cpu": 1}}, "tasks": 8, {rule}}}]}}"#
            );
            let source = fairplan_instances::files::source::in_memory("it", text.into_bytes()).unwrap();
            let instance = fairplan_instances::files::read_json(source).unwrap();
            crate::Random { seed: 0 }.place_within(&instance, &over)
        };
        for rule in [r#""per_server": 1"#, r#""gang": 4"#] {
            assert_eq!(placed(rule, BETWEEN_STOPS), Err(PlacementError::OutOfTime { placed: 0 }), "{rule}");
            assert!(placed(rule, 9).is_ok(), "few servers are looked at before the clock is");
        }
    }
}
