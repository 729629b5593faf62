//! Why a user has its share, and what would change it.

use crate::solve::{SolveOptions, Solved, hashed, solver};
use crate::{Control, Error, Found};
use fairplan_analysis::{Explanation, GroupExplanation, InTime};
use fairplan_instances::wording::{did_you_mean, printable};
use fairplan_instances::{GroupId, Instance, InstanceError, Solution, Solver, UserId};

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
    let explain = |solved: &Solution, sha256: &str, solver: &dyn Solver| {
        fairplan_analysis::explain(instance, sha256, solved, solver, user)
    };
    let explanation = asked(instance, options, control, explain)?;
    if explanation.not_asked.is_empty() || !control.deadline.is_over() {
        return Ok(explanation);
    }
    let why = format!("time was over: not asked: {}", explanation.not_asked.join(", "));
    Err(Error::TimeLimit { why, found: Found::some(explanation) })
}

/// What `explain` says of the solution of an instance, which comes with its hash.
fn asked<T>(
    instance: &Instance,
    options: &SolveOptions,
    control: &Control<'_>,
    explain: impl FnOnce(&Solution, &str, &dyn Solver) -> Result<T, InstanceError>,
) -> Result<T, Error> {
    let solver = solver(&options.backend, &control.deadline)?;
    let solve = || Solved::new(instance, &*solver, options.objective, control);
    let (solved, sha256) = hashed(instance, solve)?;
    let solved = solved.certified().map_err(|failure| failure.by(&control.deadline))?;
    control.stage("asking what would change");
    Ok(explain(&solved.solution, &sha256, &InTime::new(&*solver, &control.deadline))?)
}

/// Says why a group has what it has: what holds its members, where it stands among its siblings, and who of them would have more if
/// it asked for less.
///
/// What there was no time to ask is an [`Error::TimeLimit`] with the [`GroupExplanation`] that there is.
///
/// ```
/// use fairplan::{Control, SolveOptions, explain_group, group_named, read};
/// use std::io::Write;
///
/// let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
/// let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
///     "server_classes": [{"id": "node", "count": 3, "capacity": {"cpu": 4}}], "groups": [{"id": "team"}],
///     "users": [{"id": "a", "demand": {"cpu": 1}, "group": "team"}, {"id": "b", "demand": {"cpu": 1}}]}"#;
/// file.write_all(text.as_bytes()).unwrap();
/// let instance = read::instance(file.path().to_str().unwrap())?;
/// let team = group_named(&instance, "group", "team")?;
/// let why = explain_group(&instance, team, &SolveOptions::default(), &Control::none())?;
/// assert_eq!(why.group.id, "team");
/// let told = group_named(&instance, "group", "taem").unwrap_err().to_string();
/// assert!(told.contains("did you mean team?"), "{told}");
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn explain_group(
    instance: &Instance,
    group: GroupId,
    options: &SolveOptions,
    control: &Control<'_>,
) -> Result<GroupExplanation, Error> {
    let explain = |solved: &Solution, sha256: &str, solver: &dyn Solver| {
        fairplan_analysis::explain_group(instance, sha256, solved, solver, group)
    };
    let explanation = asked(instance, options, control, explain)?;
    if explanation.not_asked.is_empty() || !control.deadline.is_over() {
        return Ok(explanation);
    }
    let why = format!("time was over: not asked: {}", explanation.not_asked.join(", "));
    Err(Error::TimeLimit { why, found: Found::some(explanation) })
}

/// So many groups are named where there is none of an id.
const NAMED: usize = 10;

/// The group of this id; an error that names the nearest if there is none. `setting` is what named it. [`explain_group`] has an
/// example.
pub fn group_named(instance: &Instance, setting: &str, id: &str) -> Result<GroupId, Error> {
    instance.group_named(id).ok_or_else(|| {
        let meant = did_you_mean(id, instance.groups().iter().map(|group| group.id.as_str()));
        let id = printable(id, 60);
        let known: Vec<String> =
            instance.groups().iter().take(NAMED).map(|group| printable(&group.id, 60)).collect();
        let known = match instance.groups().len() {
            0 => "; it has no groups".to_owned(),
            n if n > NAMED => format!("; it has {}, … ({n} groups)", known.join(", ")),
            _ => format!("; it has {}", known.join(", ")),
        };
        Error::Setting(format!("{setting} {id}: the instance has no group of this id{meant}{known}"))
    })
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
        let is_group = instance.groups().iter().any(|group| group.id == id);
        let meant = if is_group { "; it is a group".to_owned() } else { meant };
        let id = printable(id, 60);
        Error::Setting(format!("{setting} {id}: the instance has no user of this id{meant}"))
    })
}
