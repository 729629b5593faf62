//! What every user shall reach, as it is named on the command line.

use crate::arguments::CommonOptions;
use crate::commands::explain::no_such_user;
use crate::commands::solved::Solved;
use crate::failure::Failure;
use fairplan_instances::{Decimal, Instance, MoreUsers, Objective, Solver, Target, UserId, with_more_users};
use fairplan_report::planning::TargetResult;

/// Targets; of several, the largest counts for each user.
#[derive(Clone, Debug, clap::Args)]
pub struct TargetArguments {
    /// Every user shall reach this weighted dominant share of the cluster as it is now, or have all its tasks
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    share: Option<Decimal>,
    /// Every user shall be able to run so many tasks (or all it has), or those of a user: 40 or user-1=100,user-2=7
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Every user shall keep what DRFH gives it today
    #[arg(long)]
    as_today: bool,
    /// So many users come, each like one of the instance's in turn, or like a user: 20 or user-1=5. They have the targets
    /// of those they are like; without another target, what those have today
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    more_users: Vec<String>,
}

/// What is asked for, of whom.
pub struct Asked {
    /// The instance with the users that come.
    pub extended: Instance,
    /// The work asked for of each user.
    pub required: Vec<f64>,
    /// What is echoed.
    pub target: TargetResult,
}

/// An entry of a list: `ID=NUMBER`, or a number alone.
fn entry<'a>(option: &str, text: &'a str) -> Result<(Option<&'a str>, Decimal), Failure> {
    let (id, number) = match text.rsplit_once('=') {
        Some((id, number)) => (Some(id), number),
        None => (None, text),
    };
    let refused = |problem| Failure::refused(format!("--{option} {text}: {problem}"));
    Ok((id, Decimal::parse(number.as_bytes()).map_err(refused)?))
}

fn user(instance: &Instance, option: &str, id: &str) -> Result<UserId, Failure> {
    instance.user_named(id).ok_or_else(|| no_such_user(instance, option, id))
}

impl TargetArguments {
    /// The work asked for of each user of `instance` and of those that come. What users have today is solved for if it is
    /// asked for.
    pub fn asked(
        &self,
        instance: &Instance,
        solver: &dyn Solver,
        common: CommonOptions,
    ) -> Result<Asked, Failure> {
        let mut target = Target { share: self.share, ..Target::default() };
        if self.share.is_some_and(Decimal::is_zero) {
            return Err(Failure::refused("--share 0: must be > 0"));
        }
        for text in &self.tasks {
            let (id, tasks) = entry("tasks", text)?;
            match id {
                None => target.tasks = Some(tasks),
                Some(id) => target.tasks_of.push((user(instance, "tasks", id)?, tasks)),
            }
        }
        let mut more = Vec::new();
        for text in &self.more_users {
            let (id, count) = entry("more-users", text)?;
            let whole = count.scaled(0).and_then(|count| u64::try_from(count).ok());
            let whole = whole
                .ok_or_else(|| Failure::refused(format!("--more-users {text}: must be a whole number")))?;
            let like = id.map(|id| user(instance, "more-users", id)).transpose()?;
            more.push(MoreUsers { like, count: whole });
        }
        let as_today = self.as_today || target.is_empty() && !more.is_empty();
        if as_today {
            let solved = Solved::new(instance, solver, Objective::Drfh, common)?;
            solved.certified()?;
            let allocation = &solved.solution.allocation;
            let work = |id| allocation.dominant_share(instance, id) / instance.user(id).task_share();
            target.today = Some((0..instance.user_count()).map(|i| work(UserId(i))).collect());
        }
        if target.is_empty() {
            return Err(Failure::refused(
                "say what every user shall reach: --share, --tasks, --as-today or --more-users",
            ));
        }
        let known =
            target.required(instance).map_err(|violation| Failure::refused(format!("--{violation}")))?;
        if known.iter().all(|work| *work == 0.0) {
            return Err(Failure::refused("nothing is asked for of any user; state a target above 0"));
        }
        let (extended, models) = with_more_users(instance, &more)?;
        Ok(Asked {
            required: models.iter().map(|model| known[model.0]).collect(),
            target: TargetResult {
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
