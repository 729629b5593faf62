//! What every user shall reach.

use crate::solve::Solved;
use crate::{Control, Error, user_named};
use fairplan_instances::{
    Decimal, Instance, MoreUsers, Objective, Solver, StatedTarget, Target, UserId, with_more_users,
};

/// Targets; of several, the largest counts for each user. By default there is none, which is refused.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// Every user shall reach this weighted dominant share of the cluster as it is now, or have all its tasks.
    pub share: Option<Decimal>,
    /// Every user shall be able to run so many tasks, or all it has.
    pub tasks: Option<Decimal>,
    /// Users, by id, that shall be able to run so many tasks.
    pub tasks_of: Vec<(String, Decimal)>,
    /// Every user shall keep what DRFH gives it today.
    pub as_today: bool,
    /// So many users come, like a user of this id, or each like one of the instance's in turn. They have the targets of those
    /// they are like; without another target, what those have today.
    pub more_users: Vec<(Option<String>, u64)>,
}

/// What is asked for, of whom.
pub(super) struct Asked {
    /// The instance with the users that come.
    pub extended: Instance,
    /// The work asked for of each user.
    pub required: Vec<f64>,
    /// What is echoed.
    pub target: StatedTarget,
}

impl TargetOptions {
    /// The work asked for of each user of `instance` and of those that come. What users have today is solved for if it is
    /// asked for.
    pub(super) fn asked(
        &self,
        instance: &Instance,
        solver: &dyn Solver,
        control: &Control<'_>,
    ) -> Result<Asked, Error> {
        if self.share.is_some_and(Decimal::is_zero) {
            return Err(Error::Setting("share 0: must be > 0".into()));
        }
        let mut target = Target { share: self.share, tasks: self.tasks, ..Target::default() };
        for (id, tasks) in &self.tasks_of {
            target.tasks_of.push((user_named(instance, "tasks", id)?, *tasks));
        }
        let mut more = Vec::new();
        for (id, count) in &self.more_users {
            let like = id.as_ref().map(|id| user_named(instance, "more-users", id)).transpose()?;
            more.push(MoreUsers { like, count: *count });
        }
        let as_today = self.as_today || target.is_empty() && !more.is_empty();
        if as_today {
            let solved = Solved::new(instance, solver, Objective::Drfh, control)?.certified()?;
            let allocation = &solved.solution.allocation;
            let work = |id| allocation.dominant_share(instance, id) / instance.user(id).task_share();
            target.today = Some((0..instance.user_count()).map(|i| work(UserId(i))).collect());
        }
        if target.is_empty() {
            return Err(Error::input(
                "say what every user shall reach: --share, --tasks, --as-today or --more-users",
            ));
        }
        let known = target.required(instance).map_err(|violation| Error::Setting(violation.to_string()))?;
        if known.iter().all(|work| *work == 0.0) {
            return Err(Error::input("nothing is asked for of any user; state a target above 0"));
        }
        let (extended, models) = with_more_users(instance, &more)?;
        Ok(Asked {
            required: models.iter().map(|model| known[model.0]).collect(),
            target: StatedTarget {
                share: self.share.map(Decimal::to_f64),
                tasks: target.tasks.map(Decimal::to_f64),
                users_with_own_target: target.tasks_of.len(),
                as_today,
                more_users: (extended.user_count() - instance.user_count()) as u64,
            },
            extended,
        })
    }
}
