//! What every user shall reach, as an amount of work.
//!
//! A target share is measured against the totals of the cluster as it is, before anything is bought: it is then a fixed
//! amount of work. Measured against the totals after a purchase, buying would raise the target that it is to meet.

use crate::wording::counted;
use crate::{Decimal, Instance, User, UserId, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Targets; of several that concern a user, the largest counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// A weighted dominant share for every user, measured against the totals of the instance (> 0).
    pub share: Option<Decimal>,
    /// For each user the work of the share that is due to it in its group, or by name; 0 where there is none.
    pub due: Option<Vec<f64>>,
    /// So many tasks for every user.
    pub tasks: Option<Decimal>,
    /// So many tasks for some users.
    pub tasks_of: Vec<(UserId, Decimal)>,
    /// For each user the work that it does today.
    pub today: Option<Vec<f64>>,
    /// For each user the work that is so many times what is asked for today; 0 where nothing is scaled.
    pub scaled: Option<Vec<f64>>,
}

impl Target {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The work asked for of each user, in tasks of rate 1. Who has fewer tasks than a target for every user asks for
    /// shall have them all.
    pub fn required(&self, instance: &Instance) -> Result<Vec<f64>, Violation> {
        let mut required: Vec<f64> = instance.users().map(|user| self.of_all(user).min(most(user))).collect();
        for (user, tasks) in &self.tasks_of {
            let view = instance.user(*user);
            if tasks.to_f64() > most(view) {
                let has = view.tasks().unwrap_or_default();
                let mut problem = format!("user {} has only {}", view.id(), counted(has, "task", "tasks"));
                if has > 0 {
                    let times = (tasks.to_f64() / has as f64 * 1e4).ceil() / 1e4;
                    problem +=
                        &format!("; say how many times as many it shall run: --scale {}={times}", view.id());
                }
                return Err(Violation::new("tasks", tasks, problem));
            }
            required[user.0] = required[user.0].max(tasks.to_f64());
        }
        Ok(required)
    }

    fn of_all(&self, user: User<'_>) -> f64 {
        let share =
            self.share.map_or(0.0, |share| share.to_f64() * user.weight().to_f64() / user.task_share());
        let due = self.due.as_ref().map_or(0.0, |works| works[user.index().0]);
        let today = self.today.as_ref().map_or(0.0, |works| works[user.index().0]);
        let scaled = self.scaled.as_ref().map_or(0.0, |works| works[user.index().0]);
        share.max(due).max(self.tasks.map_or(0.0, Decimal::to_f64)).max(today).max(scaled)
    }
}

/// What every user shall reach; of several targets the largest counts for each user.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatedTarget {
    /// A weighted dominant share of the cluster as it is, before anything is bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Whether that is the share of every user without a group and of every group without a parent, which members of groups divide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_in_groups: bool,
    /// How many users have a share of their own as a target, or as members of a group that has one.
    #[serde(default, skip_serializing_if = "is_none")]
    pub users_with_own_share: usize,
    /// So many tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<f64>,
    /// How many users have a number of tasks of their own as a target.
    pub users_with_own_target: usize,
    /// Whether every user shall keep what DRFH gives it today.
    pub as_today: bool,
    /// So many times what is asked for today, by every user that has no factor of its own: all its tasks so many times, or,
    /// without a number of tasks, what DRFH gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// How many users have a factor of their own, or their group's.
    #[serde(default, skip_serializing_if = "is_none")]
    pub users_with_own_scale: usize,
    /// How many users come.
    pub more_users: u64,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The work of all tasks of a user, each at its best rate.
fn most(user: User<'_>) -> f64 {
    let best = user.rule().rates().iter().map(|(_, rate)| rate.to_f64()).fold(1.0, f64::max);
    user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64 * best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Draft;
    use crate::generate::drfh_fig1;

    #[test]
    fn the_largest_of_several_targets_counts_and_nobody_is_asked_for_more_tasks_than_it_has() {
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        draft.users[1].tasks = Some(3);
        draft.users[1].weight = "2".parse().unwrap();
        let instance = draft.build().unwrap();
        let half = "0.5".parse().unwrap();
        // Both users take 1/14 of the pool a task.
        let share = Target { share: Some(half), ..Target::default() };
        let required = share.required(&instance).unwrap();
        assert!((required[0] - 7.0).abs() < 1e-12 && required[1] == 3.0, "{required:?}");
        let both = Target { tasks: Some("8".parse().unwrap()), today: Some(vec![9.0, 1.0]), ..share };
        assert_eq!(both.required(&instance).unwrap(), [9.0, 3.0]);
        let named = Target { tasks_of: vec![(UserId(1), "4".parse().unwrap())], ..Target::default() };
        let refusal = named.required(&instance).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "tasks = 4: user user-2 has only 3 tasks; say how many times as many it shall run: --scale user-2=1.3334"
        );
    }
}
