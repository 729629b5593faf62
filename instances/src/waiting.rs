//! How many tasks wait, of users who have a number of them.

use crate::{Instance, LimitedBy, Solution, UserId};

/// A part of somebody's tasks that rounding leaves of one that runs: less than this does not wait.
const ROUNDED: f64 = 1e-12;

/// The tasks of a user that a solution does not run, in tasks; `None` where it has no number of them. Who is held by nothing but its tasks
/// waits for none, whatever rounding leaves.
pub fn waiting(instance: &Instance, solution: &Solution, user: UserId) -> Option<f64> {
    let all = instance.user(user).tasks()? as f64;
    Some(match solution.limited_by[user.0] {
        LimitedBy::Tasks => 0.0,
        _ => {
            let left = all - solution.allocation.tasks(user);
            if left > ROUNDED * all { left } else { 0.0 }
        }
    })
}

/// The same of all users together; `None` where nobody has a number of tasks.
pub fn all_waiting(instance: &Instance, solution: &Solution) -> Option<f64> {
    let users = || (0..instance.user_count()).filter_map(|i| waiting(instance, solution, UserId(i)));
    instance.has_task_limits().then(|| users().sum())
}
