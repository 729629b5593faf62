//! Many tasks at once, where it is certain which server they go to: on servers that hold very many tasks the cost follows
//! what happens, a server full or a user out of tasks, and not the tasks.
//!
//! Users are served in the order of their shares, so up to a share it is known how many tasks each gets: those that it
//! takes to reach it. While all of them have room on the servers that the rule is sure to choose, they are placed exactly as
//! they would be one by one. Under quotas every limit and guarantee that they count in must have room for one more task after all of
//! them: then whoever may run where stays as it is. Where groups take turns, or tasks consist of kinds, tasks are placed one by one.

use crate::journal::Journal;
use crate::packing::Packing;
use crate::quotas::Accounts;
use crate::rule::Rule;
use crate::shares::Shares;
use crate::tolerance::AT_ONCE;
use fairplan_instances::{ClassId, Gang, Instance, UserId};
use std::collections::BTreeMap;

/// Tasks to be placed one by one between two attempts, for each user: an attempt costs about as much as these.
pub(crate) const SINGLY: usize = 64;

/// So many gaps between shares are tried.
const GAPS: usize = 8;

/// What is placed so far.
pub(crate) struct Filling<'a> {
    pub instance: &'a Instance,
    pub packing: &'a Packing,
    pub shares: Shares,
    pub tasks: Vec<u64>,
    /// The most tasks of each user.
    pub limits: Vec<Option<u64>>,
    /// The gangs of users; empty where nobody has any.
    pub gangs: Vec<Option<Gang>>,
    pub turned_down: Vec<bool>,
    pub journal: Journal,
}

/// A user that is still served, and the server that its tasks go to.
struct Served {
    user: usize,
    shape: usize,
    server: usize,
}

/// A limit or guarantee that tasks count in.
struct Row {
    /// What is left of it.
    left: u128,
    /// The most that one task of anybody takes of it.
    largest: u128,
    /// Which of the served users take how much of it with a task.
    takes: Vec<(usize, u128)>,
}

impl Row {
    /// Whether there is room for one more task of anybody after so many of each user.
    fn keep_room(&self, counts: &[u64]) -> bool {
        let mut sum = self.largest;
        for (at, units) in &self.takes {
            let more = units.checked_mul(u128::from(counts[*at])).and_then(|more| sum.checked_add(more));
            let Some(more) = more else { return false };
            sum = more;
        }
        sum <= self.left
    }
}

impl Filling<'_> {
    /// The shapes of a user's kinds.
    pub fn shapes(&self, user: usize) -> impl Iterator<Item = usize> + '_ {
        let kinds = self.instance.user(UserId(user)).kind_range();
        self.packing.shape_of[kinds].iter().map(|shape| *shape as usize)
    }

    /// Whether a user is to have more tasks, if there is room.
    pub fn may_have_more(&self, user: usize) -> bool {
        self.limits[user].is_none_or(|limit| self.tasks[user] < limit)
            && self.shapes(user).all(|shape| !self.turned_down[shape])
    }

    /// Places as many tasks of everybody as surely have room where the rule puts them, within their quotas: how many of whom on which
    /// class. Nobody has kinds.
    pub fn advance(
        &mut self,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
    ) -> Vec<(usize, ClassId, u64)> {
        let Some(there) = self.shares.side_by_side() else { return Vec::new() };
        let (done, served): (Vec<usize>, Vec<usize>) = there.partition(|user| !self.may_have_more(*user));
        // They would leave when their turn comes, which changes nothing for the others.
        done.into_iter().for_each(|user| self.shares.leave(user));
        let mut of_shape = vec![None; self.packing.shapes.len()];
        let mut users = Vec::with_capacity(served.len());
        for user in served {
            let shape = self.packing.shape_of[user] as usize;
            if let Some(accounts) = &mut accounts
                && let Some(classes) = accounts.classes(shape, &self.packing.shapes[shape].classes)
            {
                self.turned_down[shape] |= classes.is_empty();
                rule.allow(self.packing, shape, &classes);
            }
            if self.turned_down[shape] {
                self.shares.leave(user);
                continue;
            }
            let server = match of_shape[shape] {
                Some(server) => server,
                None => match rule.sure(shape) {
                    Some(server) => *of_shape[shape].insert(server),
                    None => return Vec::new(),
                },
            };
            users.push(Served { user, shape, server });
        }
        let rows = accounts.as_deref().map_or_else(Vec::new, |accounts| self.rows(accounts, &users));
        let Some((pivot, work)) = self.aim(rule, &users, &rows) else { return Vec::new() };
        let class = |served: &Served| self.packing.class_of(served.server);
        let count = |served: &Served| self.shares.tasks_until(served.user, class(served), pivot, work);
        let Some(counts) = users.iter().map(count).collect::<Option<Vec<u64>>>() else { return Vec::new() };
        if !self.have_room(rule, &users, &counts) || !rows.iter().all(|row| row.keep_room(&counts)) {
            return Vec::new();
        }
        let mut many = Vec::with_capacity(users.len());
        for (served, count) in users.iter().zip(counts).filter(|(_, count)| *count > 0) {
            let Served { user, shape, server } = *served;
            rule.take_many(server, shape, count);
            self.tasks[user] += count;
            self.journal.add_many(server as u32, user as u32, count);
            self.shares.add_tasks(user, count, || self.packing.class_of(server));
            many.push((shape, user, self.packing.class_of(server), count));
        }
        if let Some(accounts) = accounts {
            many.iter().for_each(|(shape, _, class, count)| accounts.take_many(*shape, class.0, *count));
        }
        many.into_iter().map(|(_, user, class, count)| (user, class, count)).collect()
    }

    /// The rows of quotas that these users' next tasks count in.
    fn rows(&self, accounts: &Accounts, users: &[Served]) -> Vec<Row> {
        let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
        for (at, served) in users.iter().enumerate() {
            let class = self.packing.class_of(served.server);
            for (row, units) in accounts.rows_of(served.shape, class.0) {
                let (left, largest) = (accounts.left(row), accounts.largest(row));
                let row = rows.entry(row).or_insert(Row { left, largest, takes: Vec::new() });
                row.takes.push((at, units));
            }
        }
        rows.into_values().collect()
    }

    /// A share that all can be brought to who have less, as one user's work: as high as doubles can tell. First it is tried with all
    /// users; then, as where some have had more for being guaranteed it, with those below one of the largest gaps between shares.
    fn aim(&self, rule: &impl Rule, users: &[Served], rows: &[Row]) -> Option<(usize, u128)> {
        let all = self.aim_of(rule, users, rows, (f64::INFINITY, f64::INFINITY));
        if all.is_some() {
            return all;
        }
        let mut shares: Vec<f64> = users.iter().map(|served| self.shares.share(served.user)).collect();
        shares.sort_by(f64::total_cmp);
        let mut gaps: Vec<(f64, f64)> = shares.windows(2).map(|pair| (pair[0], pair[1])).collect();
        gaps.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
        gaps.into_iter().take(GAPS).find_map(|gap| self.aim_of(rule, users, rows, gap))
    }

    /// The same for those who have at most the first of two shares, below the second.
    fn aim_of(
        &self,
        rule: &impl Rule,
        users: &[Served],
        rows: &[Row],
        (most, below): (f64, f64),
    ) -> Option<(usize, u128)> {
        let class = |served: &Served| self.packing.class_of(served.server);
        let step = |served: &Served| self.shares.step(served.user, class(served));
        let moves = |served: &Served| self.shares.share(served.user) <= most;
        let moving = || users.iter().filter(|served| moves(served));
        let highest = moving().map(|served| self.shares.share(served.user)).fold(0.0, f64::max);
        let mut level = below;
        for served in moving() {
            if let Some(limit) = self.limits[served.user] {
                let left = (limit - self.tasks[served.user]) as f64;
                level = level.min(self.shares.share(served.user) + (left - 1.0) * step(served));
            }
        }
        // The share up to which those who take something together find it.
        let until = |free: f64, takers: &mut dyn Iterator<Item = (&Served, f64)>| {
            // Beside what the share takes there are the last task of each user and rounding.
            let (mut taken, mut per_share) = (0.0, 0.0);
            for (served, demand) in takers {
                let step = step(served);
                taken += demand * (2.0 - (self.shares.share(served.user) - highest) / step);
                per_share += demand / step;
            }
            if per_share > 0.0 { highest + (free - taken) / per_share } else { f64::INFINITY }
        };
        let mut by_server: Vec<&Served> = moving().collect();
        by_server.sort_by_key(|served| served.server);
        for users in by_server.chunk_by(|a, b| a.server == b.server) {
            for (r, free) in rule.free(users[0].server).iter().enumerate() {
                let demand = |served: &Served| self.packing.shapes[served.shape].demand[r] as f64;
                let mut takers = users.iter().map(|served| (*served, demand(served)));
                level = level.min(until(*free as f64, &mut takers));
            }
        }
        for row in rows {
            let free = row.left.saturating_sub(row.largest) as f64;
            let takers = row.takes.iter().map(|(at, units)| (&users[*at], *units as f64));
            let mut takers = takers.filter(|(served, _)| moves(served));
            level = level.min(until(free, &mut takers));
        }
        let pivot = moving().min_by(|a, b| step(a).total_cmp(&step(b)))?;
        let tasks = (level - self.shares.share(pivot.user)) / step(pivot) * (1.0 - AT_ONCE);
        let work = self.shares.work_after(pivot.user, class(pivot), tasks as u64)?;
        (level > highest && tasks >= 1.0 && tasks < u64::MAX as f64).then_some((pivot.user, work))
    }

    /// Whether so many tasks of each have room, within their limits.
    fn have_room(&self, rule: &impl Rule, users: &[Served], counts: &[u64]) -> bool {
        let mut loads: Vec<(usize, Vec<u128>)> = Vec::new();
        let mut order: Vec<usize> = (0..users.len()).collect();
        order.sort_by_key(|at| users[*at].server);
        for at in order {
            let Served { user, shape, server } = users[at];
            let within =
                |limit: u64| self.tasks[user].checked_add(counts[at]).is_some_and(|sum| sum <= limit);
            if !within(self.limits[user].unwrap_or(u64::MAX)) {
                return false;
            }
            if loads.last().is_none_or(|(last, _)| *last != server) {
                loads.push((server, vec![0; self.packing.width]));
            }
            let Some((_, load)) = loads.last_mut() else { return false };
            for (sum, demand) in load.iter_mut().zip(&self.packing.shapes[shape].demand) {
                let more = demand.checked_mul(u128::from(counts[at]));
                let Some(more) = more.and_then(|more| sum.checked_add(more)) else { return false };
                *sum = more;
            }
        }
        loads
            .iter()
            .all(|(server, load)| load.iter().zip(rule.free(*server)).all(|(load, free)| load <= free))
    }
}
