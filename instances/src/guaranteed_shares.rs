//! What users are sure of by guarantees, in shares.

use crate::{Instance, Kind, Objective, Solution, UserId, objective_share};

/// What every user is sure of, as its group counts shares, given the divisions of what groups are guaranteed: who has a part in one of
/// these what it has there.
pub fn guaranteed_shares(instance: &Instance, objective: Objective, guaranteed: &[Solution]) -> Vec<f64> {
    let users = (0..instance.user_count()).map(UserId);
    let mut shares: Vec<f64> = users.map(|user| guaranteed_share(instance, objective, user)).collect();
    for (alone, solution) in instance.guaranteed_groups().unwrap_or_default().iter().zip(guaranteed) {
        for (i, user) in alone.members.iter().enumerate() {
            shares[user.0] = objective_share(&alone.instance, solution, UserId(i));
        }
    }
    shares
}

/// What a user is guaranteed itself, as its group counts shares; at most what its tasks are worth.
pub fn guaranteed_share(instance: &Instance, objective: Objective, user: UserId) -> f64 {
    let user = instance.user(user);
    let can_run = objective.is_pooled() || user.kinds().all(Kind::can_run);
    let tasks = if can_run { instance.guaranteed_tasks(user) } else { 0.0 };
    let per_share = objective.share_per_level(user) / user.weight().to_f64();
    if tasks == 0.0 || per_share == 0.0 { 0.0 } else { tasks * user.task_share() / per_share }
}
