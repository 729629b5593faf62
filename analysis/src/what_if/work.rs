//! The work that users do, and by how much it changes.

use fairplan_instances::{Instance, Solution, UserId};

/// The work of every user, in tasks of rate 1.
pub(super) fn works(instance: &Instance, solution: &Solution) -> Vec<f64> {
    let work =
        |user: UserId| solution.allocation.dominant_share(instance, user) / instance.user(user).task_share();
    (0..instance.user_count()).map(|i| work(UserId(i))).collect()
}

/// By which part of itself an amount changed, where it is in both and was any.
pub(super) fn part_changed(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    let (before, after) = before.zip(after)?;
    (before > 0.0).then(|| after / before - 1.0)
}

/// By which part an amount changes: by an infinite one if it was nothing and is something.
pub(super) fn change(before: f64, after: f64) -> f64 {
    match before > 0.0 {
        true => after / before - 1.0,
        false if after > 0.0 => f64::INFINITY,
        false => 0.0,
    }
}

/// A place among others: those that lose the largest part first, those that had nothing after all that gain, and those that are in one
/// only last.
pub(super) fn rank(before: Option<f64>, after: Option<f64>) -> f64 {
    // What differs by rounding stays in the order it has.
    let in_both = |(before, after)| (change(before, after) * 1e6).round().min(f64::MAX);
    before.zip(after).map_or(f64::INFINITY, in_both)
}
