//! Levels that whole tasks can have, and the tasks that it takes to have more: in exact fractions where users stand side by
//! side, between bounds rounded outward where they stand in groups.

use super::shares::Share;
use super::who_can_have_tasks;
use crate::groups::{Bounds, Divided, Tree, divided, divided_in, smallest, tree_of};
use crate::limited_tasks::{Limited, share_of};
use crate::placement::{is_held, taken_of_limits};
use crate::rounding::{down, up};
use crate::tolerance;
use crate::tolerance::QUOTIENTS;
use fairplan_instances::{Breakpoint, Instance, Placement, User, UserId};

/// Whether this is one of the users that there are.
pub(super) fn check_user(instance: &Instance, user: UserId) -> Result<(), String> {
    match instance.user_count() {
        users if user.0 >= users => Err(format!("there is no user {} of {users}", user.0)),
        _ => Ok(()),
    }
}

/// Whether levels are of tasks that their users can have. In groups more of them would be the same level: what nobody can have is worth
/// nothing there.
pub(super) fn check_levels(instance: &Instance, levels: [Option<Breakpoint>; 2]) -> Result<(), String> {
    let (most, can_have) = (Limited::of(instance).most, who_can_have_tasks(instance));
    for Breakpoint { user, tasks } in levels.into_iter().flatten() {
        check_user(instance, user)?;
        let most = if can_have[user.0] { most[user.0] } else { Some(0) };
        if let Some(most) = most.filter(|most| *most < tasks) {
            let id = instance.user(user).id();
            return Err(format!(
                "a level of {tasks} tasks of user {id} is stated, who can have {most} at most"
            ));
        }
    }
    Ok(())
}

/// The levels of an instance, in which `has_tasks` tells who can have tasks at all.
pub(super) struct Levels<'a> {
    instance: &'a Instance,
    has_tasks: &'a [bool],
    limited: Limited,
    /// Where users stand in groups: the tree, and what all tasks of each user are worth.
    tree: Option<(Tree, Vec<Bounds>)>,
}

impl<'a> Levels<'a> {
    pub fn of(instance: &'a Instance, has_tasks: &'a [bool]) -> Self {
        let limited = Limited::of(instance);
        let cap = |user: User<'_>| match (has_tasks[user.index().0], limited.most[user.index().0]) {
            (false, _) => Bounds::NOTHING,
            (true, None) => Bounds { low: f64::INFINITY, high: f64::INFINITY },
            (true, Some(tasks)) => share_of(user, tasks),
        };
        let floor = |user: User<'_>| match has_tasks[user.index().0] {
            true => share_of(user, limited.sure[user.index().0]),
            false => Bounds::NOTHING,
        };
        let floors = || instance.users().map(floor).collect();
        let floors: Vec<Bounds> = if instance.has_guarantees() { floors() } else { Vec::new() };
        let tree = || (tree_of(instance, &floors), instance.users().map(cap).collect());
        let tree = instance.has_groups().then(tree);
        Self { instance, has_tasks, limited, tree }
    }

    /// Whether a user can have any task.
    pub fn can_have_tasks(&self, user: User<'_>) -> bool {
        self.has_tasks[user.index().0]
    }

    /// Whether a user has all its tasks, or can have none.
    fn is_satisfied(&self, user: User<'_>, tasks: u64) -> bool {
        !self.has_tasks[user.index().0] || user.tasks().is_some_and(|limit| tasks >= limit)
    }

    /// Of each user whether it wants more in a placement: it has tasks left, and no limit holds it.
    pub fn wanting(&self, placement: &Placement) -> Vec<bool> {
        let mut wanting = self.not_held(placement);
        for (user, wants) in self.instance.users().zip(&mut wanting) {
            *wants &= !self.is_satisfied(user, placement.tasks[user.index().0]);
        }
        wanting
    }

    /// Of each user whether no limit holds it in a placement.
    pub fn not_held(&self, placement: &Placement) -> Vec<bool> {
        let taken = taken_of_limits(self.instance, &placement.servers);
        self.instance.users().map(|user| !is_held(user, &taken)).collect()
    }

    /// Whether a user can have no more tasks, for all that it has and its limits, than this level gives it.
    pub fn ends_at(&self, user: User<'_>, at: Breakpoint) -> bool {
        let most = self.limited.most[user.index().0].map(|tasks| Breakpoint { user: user.index(), tasks });
        !self.has_tasks[user.index().0] || most.is_some_and(|most| self.reaches(at, most))
    }

    /// The fewest tasks of each user that a higher level than `at` takes where everybody has what it is guaranteed, in whole gangs, at most
    /// those with which it may want no more: in groups, higher by more than bounds are told apart.
    pub fn needed_for_more(&self, at: Breakpoint) -> Vec<u64> {
        let sure = |user: User<'_>| self.sure(user);
        let limited = |user: User<'_>, tasks: u64| match self.has_tasks[user.index().0] {
            true => {
                let whole = tasks.div_ceil(user.at_once()).saturating_mul(user.at_once()).max(sure(user));
                whole.min(self.limited.fewest[user.index().0].unwrap_or(u64::MAX))
            }
            false => 0,
        };
        let Some((tree, caps)) = &self.tree else {
            let share = Share::at(self.instance, at);
            let needed =
                |user: User<'_>| Share::of_one_task(user).tasks_for_more_than(&share).unwrap_or(u64::MAX);
            return self.instance.users().map(|user| limited(user, needed(user))).collect();
        };
        let level = self.value(at);
        if level == 0.0 {
            // Any level at all takes a task of everybody who is guaranteed none.
            let needed = |user: User<'_>| if sure(user) > 0 { 0 } else { 1 };
            return self.instance.users().map(|user| limited(user, needed(user))).collect();
        }
        let filled = tree.at(level * (1.0 + tolerance::GAP), caps);
        let needed = |user: User<'_>| {
            let share = filled[user.index().0].share;
            if sure(user) > 0 && share.low <= share_of(user, sure(user)).high {
                return 0;
            }
            // What is no whole number of tasks for rounding alone is one.
            let tasks = down(share.low / up(user.task_share())) * (1.0 - QUOTIENTS);
            tasks.ceil() as u64
        };
        self.instance.users().map(|user| limited(user, needed(user))).collect()
    }

    /// A level as a double.
    pub fn value(&self, at: Breakpoint) -> f64 {
        let user = self.instance.user(at.user);
        match &self.tree {
            None => at.tasks as f64 * user.task_share() / user.weight().to_f64(),
            Some((tree, caps)) => tree.level_of(at.user.0, at.tasks as f64 * user.task_share(), caps),
        }
    }

    /// Whether one level is another or above.
    pub fn reaches(&self, one: Breakpoint, other: Breakpoint) -> bool {
        match self.tree {
            None => Share::at(self.instance, one).compare(&Share::at(self.instance, other)).is_ge(),
            Some(_) => self.value(one) >= self.value(other) * (1.0 - tolerance::GAP),
        }
    }

    /// The whole tasks that a user is guaranteed itself.
    pub fn sure(&self, user: User<'_>) -> u64 {
        self.limited.sure[user.index().0]
    }

    /// Whether all who can have tasks have the whole ones that they are guaranteed.
    pub fn keep_guarantees(&self, tasks: &[u64]) -> bool {
        (0..tasks.len()).all(|i| !self.has_tasks[i] || tasks[i] >= self.limited.sure[i])
    }

    /// Whether a placement has this level or one above: nobody who wants more has less.
    pub fn is_reached(&self, placement: &Placement, at: Breakpoint) -> bool {
        self.have(&placement.tasks, &self.not_held(placement), at)
    }

    /// Whether so many tasks come to a level or one above, of those whom no limit holds and who have tasks left.
    pub fn have(&self, tasks: &[u64], not_held: &[bool], at: Breakpoint) -> bool {
        let counts = |i: usize| not_held[i] && !self.is_satisfied(self.instance.user(UserId(i)), tasks[i]);
        match self.tree {
            None => (0..tasks.len())
                .all(|i| !counts(i) || self.reaches(Breakpoint { user: UserId(i), tasks: tasks[i] }, at)),
            Some(_) => {
                let children = self.divided_by(|i| self.share(i, tasks[i]), counts);
                smallest(&children)[1] >= self.value(at) * (1.0 - tolerance::GAP)
            }
        }
    }

    /// The level of a placement; infinite where nobody wants more.
    pub fn of_placement(&self, placement: &Placement) -> f64 {
        let wanting = self.wanting(placement);
        let children = self.divided_by(|i| self.share(i, placement.tasks[i]), |i| wanting[i]);
        smallest(&children)[1]
    }

    /// A breakpoint in groups above one level and not above another, by more than levels are told apart, of somebody who wants more in a placement
    /// and has that many tasks there; if there is any.
    pub fn between(&self, (low, high): (f64, f64), placement: &Placement) -> Option<Breakpoint> {
        let (tree, caps) = self.tree.as_ref()?;
        let wanting = self.wanting(placement);
        let (below, above) = (tree.at(low * (1.0 + tolerance::STATED), caps), tree.at(high, caps));
        let more = |user: User<'_>| {
            let i = user.index().0;
            // What is no whole number of tasks for rounding alone is one.
            let by = |share: f64| (share / user.task_share() * (1.0 + QUOTIENTS)).floor();
            let (had, has) = (by(below[i].share.high), by(above[i].share.low));
            let tasks = has.min(placement.tasks[i] as f64);
            (wanting[i] && tasks > had).then_some(Breakpoint { user: user.index(), tasks: tasks as u64 })
        };
        self.instance.users().find_map(more)
    }

    /// What the children of the root have with so many tasks, as far as their members divide it who have tasks left.
    pub fn divided(&self, tasks: &[u64]) -> Vec<Divided> {
        let wants_more = |i: usize| !self.is_satisfied(self.instance.user(UserId(i)), tasks[i]);
        self.divided_by(|i| self.share(i, tasks[i]), wants_more)
    }

    fn divided_by(&self, has: impl Fn(usize) -> f64, wants_more: impl Fn(usize) -> bool) -> Vec<Divided> {
        match &self.tree {
            Some((tree, _)) => divided_in(self.instance, tree, has, wants_more),
            None => divided(self.instance, has, wants_more),
        }
    }

    /// The smallest of the same where who can have no whole task, though parts of one could run, wants more as well.
    pub fn value_of_placement(&self, tasks: &[u64]) -> f64 {
        let is_satisfied = |user: User<'_>| self.is_satisfied(user, tasks[user.index().0]);
        let wants_more = |user: User<'_>| !is_satisfied(user) || self.lacks_all(user);
        let wants_more = |i: usize| wants_more(self.instance.user(UserId(i)));
        smallest(&self.divided_by(|i| self.share(i, tasks[i]), wants_more))[0]
    }

    fn share(&self, user: usize, tasks: u64) -> f64 {
        tasks as f64 * self.instance.user(UserId(user)).task_share()
    }

    fn lacks_all(&self, user: User<'_>) -> bool {
        !self.has_tasks[user.index().0] && user.tasks() != Some(0) && user.can_run()
    }

    /// How many tasks have no server, of users who have a number of them.
    pub fn waiting(&self, tasks: &[u64]) -> u64 {
        let waiting =
            |(user, placed): (User<'_>, &u64)| user.tasks().map_or(0, |all| all.saturating_sub(*placed));
        self.instance.users().zip(tasks).map(waiting).fold(0, u64::saturating_add)
    }

    /// What the children of the root could have at most for their tasks and limits alone, over their weights, in the same order; 0 where
    /// those inside can have none.
    pub fn caps(&self) -> Vec<f64> {
        let caps = self.divided_by(|i| self.cap(i), |i| self.wants_beyond_limits(i));
        caps.iter().map(|child| child.has).collect()
    }

    /// Whether a user wants more however many tasks limits let it have.
    fn wants_beyond_limits(&self, user: usize) -> bool {
        let all = self.instance.user(UserId(user)).tasks();
        let has_fewer = |all: u64| self.limited.most[user].is_some_and(|most| most < all);
        self.has_tasks[user] && all.is_none_or(has_fewer)
    }

    /// Of the same children whether anybody there can have tasks, whatever limits say.
    pub fn can_have(&self) -> Vec<bool> {
        let can = |i: usize| if self.has_tasks[i] { 1.0 } else { 0.0 };
        divided(self.instance, can, |_| false).iter().map(|child| child.has > 0.0).collect()
    }

    /// The smallest of the same where who can have no whole task, though parts of one could run, lacks what is its part.
    pub fn cap_of_all(&self) -> f64 {
        let lacks = |i: usize| self.lacks_all(self.instance.user(UserId(i))) || self.wants_beyond_limits(i);
        smallest(&self.divided_by(|i| self.cap(i), lacks))[0]
    }

    fn cap(&self, user: usize) -> f64 {
        match (self.has_tasks[user], self.limited.most[user]) {
            (false, _) => 0.0,
            (true, tasks) => tasks.map_or(f64::INFINITY, |tasks| self.share(user, tasks)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::files;

    #[test]
    fn a_level_is_of_no_more_tasks_than_limits_let_its_user_have() {
        let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{"id": "c", "count": 1, "capacity": {"cpu": 10}}],
            "groups": [{"id": "g", "limit": {"cpu": 3}}], "users": [{"id": "u", "group": "g", "demand": {"cpu": 1}}]}"#;
        let source = files::source::in_memory("it", text.as_bytes().to_vec()).unwrap();
        let instance = files::read_json(source).unwrap();
        let of = |tasks: u64| check_levels(&instance, [None, Some(Breakpoint { user: UserId(0), tasks })]);
        assert_eq!(of(3), Ok(()));
        let problem = "a level of 4 tasks of user u is stated, who can have 3 at most";
        assert_eq!(of(4), Err(problem.to_owned()));
    }
}
