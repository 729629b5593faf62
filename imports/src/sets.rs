//! Sets of unlike tasks that start together or not at all, such as a launcher and its workers: users of one task a set, whose kinds are the
//! tasks that are alike.

use super::report::ImportReport;
use super::tasks::{Piece, Tasks, User};
use hashbrown::HashMap;

/// The sets as they are found, task by task.
#[derive(Default)]
pub(super) struct Sets<'a> {
    found: Vec<Set<'a>>,
    /// By owner and name.
    position: HashMap<(&'a str, &'a str), usize>,
}

struct Set<'a> {
    owner: &'a str,
    /// Each with the classes that it may run on.
    tasks: Vec<(&'a Tasks, &'a [usize])>,
    /// Whether a task of it was left out.
    is_short: bool,
}

impl<'a> Sets<'a> {
    fn named(&mut self, tasks: &'a Tasks) -> Option<&mut Set<'a>> {
        let (owner, name) = (tasks.owner.as_str(), tasks.rules.set.as_deref()?);
        let at = *self.position.entry((owner, name)).or_insert_with(|| {
            self.found.push(Set { owner, tasks: Vec::new(), is_short: false });
            self.found.len() - 1
        });
        self.found.get_mut(at)
    }

    /// Takes tasks that are of a set; says whether they are.
    pub(super) fn take(&mut self, tasks: &'a Tasks, may_run: &'a [usize]) -> bool {
        self.named(tasks).map(|set| set.tasks.push((tasks, may_run))).is_some()
    }

    /// Tasks are left out: if they are of a set, all of it is.
    pub(super) fn leave_out(&mut self, tasks: &'a Tasks) {
        self.named(tasks).into_iter().for_each(|set| set.is_short = true);
    }

    /// The users: sets of one owner of the same tasks are one.
    pub(super) fn users(self, report: &mut ImportReport) -> Vec<User<'a>> {
        let mut users: Vec<User<'a>> = Vec::new();
        for Set { owner, mut tasks, is_short } in self.found {
            if is_short {
                let count = tasks.iter().map(|(tasks, _)| tasks.count).sum();
                report.add(count, "tasks left out: they start together with others that are left out");
                continue;
            }
            // In any order that is the same for sets of the same tasks.
            tasks.sort_by_cached_key(|(tasks, may_run)| {
                (tasks.demand.iter().map(ToString::to_string).collect::<Vec<_>>(), *may_run)
            });
            let mut pieces: Vec<Piece<'a>> = Vec::new();
            for (tasks, may_run) in &tasks {
                match pieces.last_mut().filter(|piece| piece.is_like(&tasks.demand, may_run)) {
                    Some(piece) => piece.each += tasks.count,
                    None => pieces.push(Piece { demand: &tasks.demand, may_run, each: tasks.count }),
                }
            }
            let Some((first, may_run)) = tasks.first().copied() else { continue };
            let tasks = tasks.into_iter().map(|(tasks, _)| tasks);
            match users.iter_mut().find(|user| user.owner == owner && user.pieces == pieces) {
                Some(user) => user.tasks.extend(tasks),
                None => {
                    users.push(User { owner, may_run, rules: &first.rules, tasks: tasks.collect(), pieces })
                }
            }
        }
        users
    }
}
