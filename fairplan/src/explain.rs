//! Why a user has its share, and what would change it.

use crate::solve::{SolveOptions, Solved, hashed, solver};
use crate::{Control, Error};
use fairplan_instances::wording::{did_you_mean, printable};
use fairplan_instances::{Instance, UserId};
use fairplan_report::explanation::{ExplanationDocument, explanation_document};

/// What holds a user.
#[derive(Debug)]
pub struct Explanation {
    /// Who is explained.
    pub user: UserId,
    /// The solution that gives it its share.
    pub solved: Solved,
    /// What was found.
    pub found: fairplan_analysis::Explanation,
}

impl Explanation {
    /// The `fairplan.explanation.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> ExplanationDocument<'a> {
        let Solved { solution, sha256, .. } = &self.solved;
        explanation_document(instance, sha256, solution, self.user, &self.found)
    }
}

/// Says why a user has its share: what limits it, what each class costs it, who gains if its tasks need less, and how far the
/// prices hold.
///
/// ```
/// use fairplan::{Control, LimitedBy, SolveOptions, UserId, explain, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let why = explain(&instance, UserId(0), &SolveOptions::default(), &Control::none())?;
/// assert_eq!(why.solved.solution.limited_by[0], LimitedBy::Capacity);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn explain(
    instance: &Instance,
    user: UserId,
    options: &SolveOptions,
    control: &Control<'_>,
) -> Result<Explanation, Error> {
    let solver = solver(&options.backend, &control.deadline)?;
    let solve = || Solved::new(instance, &*solver, options.objective, control);
    let (solved, sha256) = hashed(instance, solve)?;
    let solved = Solved { sha256, ..solved }.certified()?;
    control.stage("asking what would change");
    let found = fairplan_analysis::explain(instance, &solved.solution, &*solver, user)?;
    Ok(Explanation { user, solved, found })
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
