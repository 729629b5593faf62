//! The same question of a cluster that is a little another: a server more, another instance.

use crate::solve::{AUTO, Solved, hashed, solver};
use crate::{Control, Error, Progress};
use fairplan_analysis::{Difference, InTime, Worth, differences};
use fairplan_instances::{Instance, Objective, Solver, files};

/// How to say what servers are worth.
#[derive(Clone, Debug)]
pub struct WorthOptions {
    /// Whether to say how far prices hold, which takes some ten solutions for each class and resource. Default: yes.
    pub ranges: bool,
    /// What solves: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for WorthOptions {
    fn default() -> Self {
        Self { ranges: true, backend: AUTO.into() }
    }
}

/// Says what one more server of each class is worth, solved again beside what the prices say.
///
/// ```
/// use fairplan::{Control, WorthOptions, generate, worth_of_servers};
///
/// let options = WorthOptions { ranges: false, ..WorthOptions::default() };
/// let worth = worth_of_servers(&generate::drfh_fig1()?, &options, &Control::none())?;
/// assert_eq!(worth.server_classes.len(), 2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn worth_of_servers(
    instance: &Instance,
    options: &WorthOptions,
    control: &Control<'_>,
) -> Result<Worth, Error> {
    let solver = solver(&options.backend, &control.deadline)?;
    let (solved, sha256) = today(instance, &*solver, control)?;
    let asking = "asking what servers are worth";
    control.stage(asking);
    let told = |done: usize, all: usize| {
        (control.progress)(Progress::Step(&format!("{asking}: {done} of {all} classes")));
    };
    let Solved { solution, .. } = &solved;
    let solver = InTime::new(&*solver, &control.deadline);
    fairplan_analysis::worth_of_servers(instance, &sha256, solution, &solver, options.ranges, &told)
        .map_err(|error| Error::from(error).by(&control.deadline))
}

/// What DRFH gives users now, and the hash of the instance.
pub(super) fn today(
    instance: &Instance,
    solver: &dyn Solver,
    control: &Control<'_>,
) -> Result<(Solved, String), Error> {
    let (solved, sha256) = hashed(instance, || Solved::new(instance, solver, Objective::Drfh, control))?;
    let solved = solved.certified().map_err(|failure| failure.by(&control.deadline))?;
    Ok((solved, sha256))
}

/// Says what differs between two instances, and who has more or less for it: DRFH is solved anew after each kind of change. The
/// backend is one of [`BACKENDS`](crate::BACKENDS).
///
/// ```
/// use fairplan::{Control, compare_instances, generate};
///
/// let (before, after) = (generate::drfh_fig4(&[1, 2, 3])?, generate::drfh_fig4(&[1, 2])?);
/// let difference = compare_instances(&before, &after, "auto", &Control::none())?;
/// assert!(!difference.users.is_empty());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn compare_instances(
    before: &Instance,
    after: &Instance,
    backend: &str,
    control: &Control<'_>,
) -> Result<Difference, Error> {
    let sha256 = [before, after].map(files::sha256_hex);
    let divided = [before.divided()?, after.divided()?];
    let [before, after] = divided.each_ref().map(|instance| &**instance);
    let solver = solver(backend, &control.deadline)?;
    control.stage("comparing");
    let solver = InTime::new(&*solver, &control.deadline);
    differences([before, after], sha256.each_ref().map(String::as_str), &solver)
        .map_err(|error| Error::from(error).by(&control.deadline))
}
