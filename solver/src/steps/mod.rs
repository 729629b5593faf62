//! Steps from one placement to another, in an order in which each can be made: no piece comes to a server that has no room for it at
//! that moment, nor where it has as many as may be on one server, nor where a limit or a reserve would not be kept then. A placement does
//! not say which devices a task has, so what is on a server has room on its devices if some way to share them out has. Rules between
//! servers are kept by what the steps lead to: until the last step domains may differ by more than a spread, and gangs and the pieces of
//! a task may be on their way.
//!
//! What only stops does so first. Then pieces come wherever there is room; who makes room for others by it is preferred. Where
//! nothing can come, pieces wait for each other in a circle: one of them moves to a server that has room for it meanwhile, and from
//! there to its place later. Where no server has, it is stopped, and started again when there is room. So is what holds others up by a
//! limit alone.

mod servers;

use fairplan_instances::{Instance, KindId, MoveRules, Placement, Step, Violation};
use servers::Servers;
use std::collections::{BTreeMap, BTreeSet};

/// Circles that are broken by moving a piece out of the way.
const MOST_CIRCLES: u64 = 100_000;

/// The steps from `before` to `after`, which keeps all rules, and what they cost.
///
/// # Errors
/// Devices whose amounts are too long to count.
pub fn steps_between(
    instance: &Instance,
    before: &Placement,
    after: &Placement,
    rules: &MoveRules,
) -> Result<(Vec<Step>, u64), Violation> {
    let mut carrying = Carrying::new(instance, before, after, rules)?;
    carrying.stop_what_ends();
    loop {
        carrying.come_where_there_is_room();
        if carrying.coming.is_empty() {
            break;
        }
        if !carrying.break_a_circle() {
            // Every server that pieces come to could be emptied of those that leave; so this is not reached.
            break;
        }
    }
    let cost = carrying.steps.iter().filter(|step| step.from.is_some());
    let of_step =
        |step: &Step| step.count.saturating_mul(rules.costs[instance.kind(step.kind).user().index().0]);
    let cost = cost.map(of_step).fold(0, u64::saturating_add);
    Ok((carrying.steps, cost))
}

/// The servers while pieces are carried.
struct Carrying<'a> {
    rules: &'a MoveRules,
    servers: Servers<'a>,
    /// Pieces that are to leave a server, and that are to come: `(server, kind)`.
    leaving: BTreeMap<(usize, u32), u64>,
    coming: BTreeMap<(usize, u32), u64>,
    /// Of each kind, the servers that its pieces are to leave.
    sources: Vec<BTreeSet<usize>>,
    /// Of each kind, how many are to leave and to come.
    to_leave: Vec<u64>,
    to_come: Vec<u64>,
    /// Pieces that are still to come, and circles that were broken.
    waiting: u64,
    circles: u64,
    /// Servers at which something may have changed for those that are to come.
    looked_at: BTreeSet<usize>,
    steps: Vec<Step>,
}

impl<'a> Carrying<'a> {
    fn new(
        instance: &'a Instance,
        before: &Placement,
        after: &'a Placement,
        rules: &'a MoveRules,
    ) -> Result<Self, Violation> {
        let kinds = instance.kind_count();
        let mut carrying = Self {
            rules,
            servers: Servers::new(instance, before, after)?,
            leaving: BTreeMap::new(),
            coming: BTreeMap::new(),
            sources: vec![BTreeSet::new(); kinds],
            to_leave: vec![0; kinds],
            to_come: vec![0; kinds],
            waiting: 0,
            circles: 0,
            looked_at: BTreeSet::new(),
            steps: Vec::new(),
        };
        for (s, (before, after)) in before.servers.iter().zip(&after.servers).enumerate() {
            let count = |pieces: &[(u32, u64)], kind: u32| {
                pieces.binary_search_by_key(&kind, |(kind, _)| *kind).map_or(0, |at| pieces[at].1)
            };
            for (kind, had) in before {
                let left = had.saturating_sub(count(after, *kind));
                if left > 0 {
                    carrying.leaving.insert((s, *kind), left);
                    carrying.sources[*kind as usize].insert(s);
                    carrying.to_leave[*kind as usize] += left;
                }
            }
            for (kind, has) in after {
                let came = has.saturating_sub(count(before, *kind));
                if came > 0 {
                    carrying.coming.insert((s, *kind), came);
                    carrying.to_come[*kind as usize] += came;
                    carrying.waiting = carrying.waiting.saturating_add(came);
                    carrying.looked_at.insert(s);
                }
            }
        }
        Ok(carrying)
    }

    fn step(&mut self, kind: u32, from: Option<usize>, to: Option<usize>, count: u64) {
        let at = |server: Option<usize>| server.map(|server| server as u64);
        if let Some(from) = from {
            let mut freed = self.servers.leave(from, kind, count);
            self.looked_at.append(&mut freed);
            self.looked_at.insert(from);
        }
        if let Some(to) = to {
            self.servers.come(to, kind, count);
        }
        self.steps.push(Step { kind: KindId(kind as usize), from: at(from), to: at(to), count });
    }

    /// Takes pieces off the list of those that are to leave a server.
    fn left(&mut self, server: usize, kind: u32, count: u64) {
        if let Some(left) = self.leaving.get_mut(&(server, kind)) {
            *left -= count;
            if *left == 0 {
                self.leaving.remove(&(server, kind));
                self.sources[kind as usize].remove(&server);
            }
        }
        self.to_leave[kind as usize] -= count;
    }

    /// Of kinds of which more pieces leave than come, some stop: those first that leave a server that others come to.
    fn stop_what_ends(&mut self) {
        for kind in 0..self.sources.len() {
            let mut ending = self.to_leave[kind].saturating_sub(self.to_come[kind]);
            let is_wanted = |server: &usize| self.looked_at.contains(server);
            let (wanted, others): (Vec<usize>, Vec<usize>) =
                self.sources[kind].iter().partition(|s| is_wanted(s));
            for server in wanted.into_iter().chain(others) {
                let here = self.leaving.get(&(server, kind as u32)).copied().unwrap_or(0);
                let count = here.min(ending);
                if count == 0 {
                    continue;
                }
                ending -= count;
                self.left(server, kind as u32, count);
                let waits = self.looked_at.contains(&server);
                self.step(kind as u32, Some(server), None, count);
                if !waits {
                    self.looked_at.remove(&server);
                }
            }
        }
    }

    /// Brings pieces to servers with room for them, as long as there are any.
    fn come_where_there_is_room(&mut self) {
        while let Some(server) = self.looked_at.pop_first() {
            let waiting = self.coming.range((server, 0)..=(server, u32::MAX));
            let waiting: Vec<(u32, u64)> = waiting.map(|((_, kind), count)| (*kind, *count)).collect();
            for (kind, mut count) in waiting {
                while count > 0 {
                    let came = self.bring(server, kind, count);
                    if came == 0 {
                        break;
                    }
                    count -= came;
                }
            }
        }
    }

    /// Brings some of `most` pieces of a kind to a server, as far as there is room: from where they leave, if any still do.
    fn bring(&mut self, server: usize, kind: u32, most: u64) -> u64 {
        // What only waited here for its own way on has arrived.
        let there = self.leaving.get(&(server, kind)).copied().unwrap_or(0).min(most);
        if there > 0 {
            self.left(server, kind, there);
            self.came(server, kind, there);
            return there;
        }
        let most = self.servers.room(server, kind, most);
        if most == 0 {
            return 0;
        }
        let (source, within) = match self.source_for(server, kind) {
            Some((source, within)) => (Some(source), within),
            // While any leave, none starts: of these some come later.
            None if !self.sources[kind as usize].is_empty() => return 0,
            None => (None, self.servers.within_limits(kind, None, server)),
        };
        let here = source.and_then(|source| self.leaving.get(&(source, kind)).copied()).unwrap_or(most);
        let count = most.min(within).min(here);
        if count == 0 {
            return 0;
        }
        if let Some(source) = source {
            self.left(source, kind, count);
        }
        self.step(kind, source, Some(server), count);
        self.came(server, kind, count);
        count
    }

    /// A server that pieces of a kind leave and may come from, and how many limits let come; where others wait for room, leaving helps
    /// the most.
    fn source_for(&mut self, server: usize, kind: u32) -> Option<(usize, u64)> {
        let Self { servers, sources, coming, .. } = self;
        let sources = &sources[kind as usize];
        let waited_for =
            |source: &&usize| coming.range((**source, 0)..=(**source, u32::MAX)).next().is_some();
        let first = sources.iter().take(64).find(waited_for);
        let mut within = |source: &usize| {
            let within = servers.within_limits(kind, Some(*source), server);
            (within > 0).then_some((*source, within))
        };
        first.and_then(&mut within).or_else(|| sources.iter().find_map(within))
    }

    /// Takes pieces off the list of those that are to come to a server.
    fn came(&mut self, server: usize, kind: u32, count: u64) {
        if let Some(left) = self.coming.get_mut(&(server, kind)) {
            *left -= count;
            if *left == 0 {
                self.coming.remove(&(server, kind));
            }
        }
        self.to_come[kind as usize] -= count;
        self.waiting = self.waiting.saturating_sub(count);
    }

    /// Moves pieces out of the way of others that come, one server at least; whether there were any.
    fn break_a_circle(&mut self) -> bool {
        self.circles += 1;
        // The server where the fewest pieces are in the way of the first that can come then.
        let blocked = self.coming.keys().filter(|(server, kind)| self.servers.room(*server, *kind, 1) == 0);
        let blocked: BTreeSet<usize> = blocked.map(|(server, _)| *server).collect();
        let in_the_way = |server: &usize| -> u64 {
            self.leaving.range((*server, 0)..=(*server, u32::MAX)).map(|(_, count)| *count).sum()
        };
        let candidates = blocked.into_iter().map(|server| (in_the_way(&server), server));
        let Some((_, server)) = candidates.filter(|(count, _)| *count > 0).min() else {
            return self.stop_what_limits_hold();
        };
        let leaving = self.leaving.range((server, 0)..=(server, u32::MAX));
        let leaving: Vec<u32> = leaving.map(|((_, kind), _)| *kind).collect();
        for kind in leaving {
            // Pieces that are in each other's way again and again end in a stop.
            let elsewhere = (self.circles <= MOST_CIRCLES).then(|| self.way_out(server, kind)).flatten();
            self.left(server, kind, 1);
            self.step(kind, Some(server), elsewhere, 1);
            if let Some(other) = elsewhere {
                *self.leaving.entry((other, kind)).or_default() += 1;
                self.sources[kind as usize].insert(other);
                self.to_leave[kind as usize] += 1;
            }
            self.looked_at.insert(server);
            let waiting = self.waiting;
            self.come_where_there_is_room();
            if self.waiting < waiting {
                return true;
            }
        }
        true
    }

    /// Another server where a piece has room meanwhile.
    fn way_out(&mut self, server: usize, kind: u32) -> Option<usize> {
        (0..self.servers.count()).find(|other| {
            // What came to a server that keeps its tasks could not leave it again.
            let is_way = *other != server && !self.rules.kept_servers[*other];
            is_way
                && self.servers.may_run(*other, kind)
                && self.servers.room(*other, kind, 1) > 0
                && self.servers.within_limits(kind, Some(server), *other) > 0
        })
    }

    /// Where servers have room and a limit or a reserve does not, stops a piece that leaves and counts in it; whether there was any.
    fn stop_what_limits_hold(&mut self) -> bool {
        let Some((at, kind)) = self.coming.keys().find_map(|held| {
            self.leaving.keys().find(|leaving| self.servers.is_in_the_way(**leaving, *held)).copied()
        }) else {
            return false;
        };
        self.left(at, kind, 1);
        self.step(kind, Some(at), None, 1);
        true
    }
}
