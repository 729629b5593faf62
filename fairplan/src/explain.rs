//! Why a user has its share, and what would change it.

use crate::solve::{SolveOptions, Solved, hashed, solver};
use crate::{Control, Error, Found};
use fairplan_analysis::{Explanation, InTime};
use fairplan_instances::wording::{did_you_mean, printable};
use fairplan_instances::{Instance, UserId};

/// Says why a user has its share: what limits it, what each class costs it, who gains if its tasks need less, and how far the
/// prices hold.
///
/// What there was no time to ask is an [`Error::TimeLimit`] with the [`Explanation`] that there is.
///
/// ```
/// use fairplan::{Control, LimitedBy, SolveOptions, UserId, explain, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let why = explain(&instance, UserId(0), &SolveOptions::default(), &Control::none())?;
/// assert_eq!(why.limited_by, LimitedBy::Capacity);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn explain(
    instance: &Instance,
    user: UserId,
    options: &SolveOptions,
    control: &Control<'_>,
) -> Result<Explanation, Error> {
    instance.without_groups("explain")?;
    let solver = solver(&options.backend, &control.deadline)?;
    let solve = || Solved::new(instance, &*solver, options.objective, control);
    let (solved, sha256) = hashed(instance, solve)?;
    let solved = solved.certified().map_err(|failure| failure.by(&control.deadline))?;
    control.stage("asking what would change");
    let solver = InTime::new(&*solver, &control.deadline);
    let explanation = fairplan_analysis::explain(instance, &sha256, &solved.solution, &solver, user)?;
    if explanation.not_asked.is_empty() {
        return Ok(explanation);
    }
    let why = format!("time was over: not asked: {}", explanation.not_asked.join(", "));
    Err(Error::TimeLimit { why, found: Found::Explanation(Box::new(explanation)) })
}

/// The user of this id; an error that names the nearest if there is none. `setting` is what named it.
///
/// ```
/// use fairplan::{UserId, generate, user_named};
///
/// let instance = generate::drfh_fig1()?;
/// assert_eq!(user_named(&instance, "user", "user-2")?, UserId(1));
/// let error = user_named(&instance, "user", "user2").unwrap_err();
/// assert!(error.to_string().ends_with("(did you mean user-2?)"));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn user_named(instance: &Instance, setting: &str, id: &str) -> Result<UserId, Error> {
    instance.user_named(id).ok_or_else(|| {
        let meant = did_you_mean(id, instance.users().map(|user| user.id()));
        let id = printable(id, 60);
        Error::Setting(format!("{setting} {id}: the instance has no user of this id{meant}"))
    })
}
