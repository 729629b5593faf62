//! The tasks that run: those of a point, made to fit on every class, with all that is due to users who are settled.
//!
//! A point is right to a small part of its level, which may be far more than users with small shares have at all. What they
//! lack is next to nothing of a class: they get it, and the others there give way by as much.

use super::interior_point::Point;
use super::problem::{Member, Problem, Quantum};
use crate::tolerance::over_time::{LACKING, MARGIN};

/// By quantum, entry and class the tasks of a point, of which no class is overloaded. `due` is what users have to have who
/// are settled, and 0 for the others.
pub(super) fn running(problem: &Problem, point: &Point<'_>, due: &[f64]) -> Vec<Vec<f64>> {
    let classes = problem.rows / problem.resources;
    let mut tasks = problem.nothing();
    for ((block, quantum), tasks) in point.blocks.iter().zip(&problem.quanta).zip(&mut tasks) {
        let mut running = vec![0.0; quantum.users.len()];
        block.for_each_pair(|entry, _, _, x, _| running[entry] += x);
        block.for_each_pair(|entry, user, slot, x, _| {
            let part = (quantum.limit[entry] / running[entry]).min(1.0);
            tasks[entry * classes + problem.users[user].classes[slot]] = x * part;
        });
    }
    let work = problem.work(&tasks);
    let lacking = |(due, work): (&f64, &f64)| if due - work > LACKING * due { due - work } else { 0.0 };
    let mut lacking: Vec<f64> = due.iter().zip(&work).map(lacking).collect();
    for (quantum, tasks) in problem.quanta.iter().zip(&mut tasks) {
        let mut used = usage(problem, quantum, tasks, |user| due[user] > 0.0);
        let rows = tasks.chunks_exact_mut(classes);
        for ((user, limit), row) in quantum.users.iter().zip(&quantum.limit).zip(rows) {
            if lacking[*user] > 0.0 {
                let room = Room { resources: problem.resources, used: &mut used, limit: *limit };
                lacking[*user] -= room.give(&problem.users[*user], row, lacking[*user]);
            }
        }
        fit(problem, quantum, tasks, |user| due[user] > 0.0);
    }
    tasks
}

/// What some users' tasks take of each class.
fn usage(problem: &Problem, quantum: &Quantum, tasks: &[f64], of: impl Fn(usize) -> bool) -> Vec<f64> {
    let m = problem.resources;
    let mut used = vec![0.0; problem.rows];
    let rows = tasks.chunks_exact(problem.rows / m);
    for (user, row) in quantum.users.iter().zip(rows).filter(|(user, _)| of(**user)) {
        let member = &problem.users[*user];
        for (slot, class) in member.classes.iter().enumerate() {
            for (r, load) in member.loads(slot, m).iter().enumerate() {
                used[class * m + r] += load * row[*class];
            }
        }
    }
    used
}

/// What classes have left beside settled users, and how many tasks a user demands.
struct Room<'a> {
    resources: usize,
    used: &'a mut [f64],
    limit: f64,
}

impl Room<'_> {
    /// Adds tasks to a user's row over the classes until they give so much more: where most of what it can have is first, and
    /// then instead of tasks that give less. Returns how much more they give.
    fn give(self, user: &Member, row: &mut [f64], lacking: f64) -> f64 {
        let m = self.resources;
        let mut left = lacking;
        let mut slots: Vec<usize> = (0..user.classes.len()).collect();
        let could = |slot: usize| user.gain[slot] * user.alone[slot];
        slots.sort_by(|a, b| could(*b).total_cmp(&could(*a)));
        for to in &slots {
            let class = user.classes[*to];
            let loads = user.loads(*to, m);
            let used = &mut self.used[class * m..(class + 1) * m];
            let fits = loads.iter().zip(used.iter()).filter(|(load, _)| **load > 0.0);
            let fits = fits.map(|(load, used)| (1.0 - used).max(0.0) / load).fold(f64::INFINITY, f64::min);
            let free = (self.limit - row.iter().sum::<f64>()).max(0.0);
            let added = free.min(fits).min(left / user.gain[*to]);
            row[class] += added;
            left -= added * user.gain[*to];
            let mut taken = added;
            for from in slots.iter().filter(|from| user.gain[**from] < user.gain[*to]) {
                let more = user.gain[*to] - user.gain[*from];
                let moved = row[user.classes[*from]].min((fits - taken).max(0.0)).min(left.max(0.0) / more);
                row[user.classes[*from]] -= moved;
                row[class] += moved;
                left -= moved * more;
                taken += moved;
            }
            used.iter_mut().zip(loads).for_each(|(used, load)| *used += load * taken);
        }
        lacking - left.max(0.0)
    }
}

/// Takes what is too much of a class off the users who are not settled, and if that is not enough off all.
fn fit(problem: &Problem, quantum: &Quantum, tasks: &mut [f64], is_settled: impl Fn(usize) -> bool) {
    let m = problem.resources;
    let classes = problem.rows / m;
    let settled = usage(problem, quantum, tasks, &is_settled);
    let open = usage(problem, quantum, tasks, |user| !is_settled(user));
    for class in 0..classes {
        let rows = || (class * m..(class + 1) * m).map(|row| (settled[row], open[row]));
        let fullest = rows().map(|(settled, _)| settled).fold(1.0, f64::max);
        let left = rows().filter(|(settled, open)| settled + open > fullest);
        let part = left.map(|(settled, open)| (fullest - settled) / open).fold(1.0, f64::min);
        for (user, row) in quantum.users.iter().zip(tasks.chunks_exact_mut(classes)) {
            row[class] *= (1.0 - MARGIN) / fullest * if is_settled(*user) { 1.0 } else { part };
        }
    }
}
