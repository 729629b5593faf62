//! Progressive filling with the tasks that wait: one scheduling opportunity.
//!
//! The user to be served is looked for among those with tasks that may fit somewhere, and starts the oldest of its tasks
//! that do. A shape that fits nowhere is closed; a user with nothing but closed shapes leaves the round. Of a gang all tasks start,
//! or none.

use super::groups::Child;
use super::running::Task;
use super::servers::Servers;
use super::shares::Shares;
use super::turns::{first_in_tree, hierarchical};
use super::waiting::Waiting;
use crate::ranks::Ranks;
use std::cmp::Ordering;

/// Who is served first.
pub(super) enum Turn<'a> {
    /// The lowest weighted dominant share (DRFH Sec. V-B).
    LowestShare,
    /// The fewest tasks over its weight.
    FewestTasks,
    /// The job whose dominant share is farthest below its ideal one (MRF Sec. 3.1): the ideal shares.
    MostDeprived(&'a [f64]),
    /// The largest of the smallest ranks in bottlenecks (MRF Sec. 3.3).
    LargestRank(Ranks),
    /// Down the tree the lowest share by hierarchical DRF.
    Hierarchical,
}

/// Scratch space of rounds.
#[derive(Default)]
pub(super) struct Round {
    users: Vec<u32>,
    /// The queues of each user with open shapes.
    queues: Vec<Vec<u32>>,
    /// The servers on which room has come free.
    released: Vec<u32>,
    /// Where the tasks that start now are.
    on: Vec<(u32, u32)>,
    /// How many gangs have started.
    gangs: u64,
}

/// If room has come free on more servers than this, where a shape fits is not looked for among them.
const FEW: usize = 16;

impl Round {
    /// Starts tasks until none fits; `started` hears of each.
    pub fn fill(
        &mut self,
        turn: &mut Turn<'_>,
        servers: &mut Servers,
        waiting: &mut Waiting,
        shares: &mut Shares,
        demands: &[u64],
        mut started: impl FnMut(Task),
    ) {
        let width = servers.totals().len();
        servers.drain_released(&mut self.released);
        for server in &self.released {
            waiting.open_fitting(servers.free(*server));
        }
        let few = Some(&self.released[..]).filter(|released| released.len() <= FEW);
        for (user, queue) in waiting.offers() {
            if self.queues.len() <= user as usize {
                self.queues.resize(user as usize + 1, Vec::new());
            }
            let queues = &mut self.queues[user as usize];
            if queues.is_empty() {
                self.users.push(user);
            }
            queues.push(queue);
        }
        while waiting.any_open()
            && let Some(place) = first(turn, shares, &self.users)
        {
            let user = self.users[place];
            let ages =
                self.queues[user as usize].iter().filter_map(|queue| Some((waiting.age(*queue)?, *queue)));
            let Some((_, queue)) = ages.min() else {
                self.queues[user as usize].clear();
                self.users.swap_remove(place);
                continue;
            };
            let shape = waiting.shape(queue);
            let demand = &demands[shape as usize * width..(shape as usize + 1) * width];
            let among = few.filter(|_| !waiting.is_fresh(shape));
            self.on.clear();
            match waiting.gang(shape) {
                Some(gang) => servers.take_gang(shape, demand, gang, &mut self.on),
                None => self.on.extend(servers.take(shape, demand, among)),
            }
            if self.on.is_empty() {
                waiting.close(shape);
                continue;
            }
            if let Some(released) = few.filter(|few| self.on.iter().any(|(server, _)| few.contains(server))) {
                waiting.close_unfit(servers, released);
            }
            let gang = waiting.gang(shape).map(|_| self.gangs);
            self.gangs += u64::from(gang.is_some());
            for (server, devices) in self.on.iter().copied() {
                if let Some(batch) = waiting.pop(queue) {
                    take(turn, shares, user as usize, demand);
                    let (job, duration) = (batch.job, batch.duration);
                    started(Task { user, shape, job, duration, server, devices, gang, number: 0 });
                }
            }
        }
        for user in self.users.drain(..) {
            self.queues[user as usize].clear();
        }
    }
}

/// A user's task begins.
fn take(turn: &mut Turn<'_>, shares: &mut Shares, user: usize, demand: &[u64]) {
    let Turn::LargestRank(ranks) = turn else { return shares.take(user, demand) };
    let held = ranks.held(|bottleneck| shares.weighted(user, bottleneck));
    shares.take(user, demand);
    ranks.change(&held, |bottleneck| shares.weighted(user, bottleneck));
}

/// The place of the user to be served first; ties go to the lowest index.
fn first(turn: &Turn<'_>, shares: &Shares, users: &[u32]) -> Option<usize> {
    let by = |order: &dyn Fn(u32, u32) -> Ordering| {
        let places = users.iter().enumerate();
        places.min_by(|(_, a), (_, b)| order(**a, **b).then(a.cmp(b))).map(|(place, _)| place)
    };
    match turn {
        Turn::LowestShare if shares.has_groups() => {
            first_in_tree(shares, users, |a, b| shares.compare_children(a, b))
        }
        Turn::FewestTasks if shares.has_groups() => {
            first_in_tree(shares, users, |a, b| shares.compare_tasks_of_children(a, b))
        }
        Turn::Hierarchical => {
            let of_groups = hierarchical(shares, users);
            let share = |child| match child {
                Child::Group(group) => of_groups[group],
                Child::User(user) => shares.weighted(user, None),
            };
            first_in_tree(shares, users, |a, b| share(a).total_cmp(&share(b)))
        }
        Turn::LowestShare => shares.least(users),
        Turn::FewestTasks => by(&|a, b| shares.compare_tasks(a as usize, b as usize)),
        Turn::MostDeprived(ideal) => {
            let lacks = |user: u32| ideal[user as usize] - shares.dominant(user as usize);
            by(&|a, b| lacks(b).total_cmp(&lacks(a)))
        }
        Turn::LargestRank(ranks) => {
            let rank = |user: u32| ranks.smallest(|r| shares.weighted(user as usize, r));
            by(&|a, b| rank(b).cmp(&rank(a)))
        }
    }
}
