//! The same question of a cluster that is a little another: a server more, servers less, another instance.

use crate::solve::{Solved, hashed, solver};
use crate::{Control, Error, Progress};
use fairplan_analysis::{Loss, ServerWorth, differences};
use fairplan_instances::{Instance, Objective, Solver, files};
use fairplan_report::planning::{
    DifferenceDocument, LossDocument, WorthDocument, difference_document, loss_document, worth_document,
};
use fairplan_report::solution::Headline;
use fairplan_solver::BACKENDS;

/// How to say what servers are worth.
#[derive(Clone, Debug)]
pub struct WorthOptions {
    /// Whether to say how far prices hold, which takes some thirty solutions for each class and resource. Default: yes.
    pub ranges: bool,
    /// What solves: one of [`BACKENDS`]. Default: `auto`.
    pub backend: String,
}

impl Default for WorthOptions {
    fn default() -> Self {
        Self { ranges: true, backend: BACKENDS[0].into() }
    }
}

/// What one more server of each class is worth.
#[derive(Clone, Debug)]
pub struct Worth {
    /// The smallest weighted dominant share under DRFH.
    pub smallest: f64,
    /// The smallest that capacity limits, which is what more servers raise.
    pub limited: f64,
    /// Of each class.
    pub classes: Vec<ServerWorth>,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl Worth {
    /// The `fairplan.worth.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> WorthDocument<'a> {
        worth_document(instance, &self.sha256, (self.smallest, self.limited), &self.classes)
    }
}

/// Says what one more server of each class is worth, solved again beside what the prices say.
///
/// ```
/// use fairplan::{Control, WorthOptions, generate, worth_of_servers};
///
/// let options = WorthOptions { ranges: false, ..WorthOptions::default() };
/// let worth = worth_of_servers(&generate::drfh_fig1()?, &options, &Control::none())?;
/// assert_eq!(worth.classes.len(), 2);
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
    let classes =
        fairplan_analysis::worth_of_servers(instance, &solved.solution, &*solver, options.ranges, &told)
            .map_err(|error| Error::from(error).by(&control.deadline))?;
    let smallest = Headline::new(instance, &solved.solution).value;
    let limited = solved.solution.certificate.levels().first().map_or(smallest, |level| level.value);
    Ok(Worth { smallest, limited, classes, sha256 })
}

/// What to take away.
#[derive(Clone, Debug)]
pub struct LoseOptions {
    /// So many servers of each class. Default: all of them.
    pub servers: Option<u64>,
    /// What solves: one of [`BACKENDS`]. Default: `auto`.
    pub backend: String,
}

impl Default for LoseOptions {
    fn default() -> Self {
        Self { servers: None, backend: BACKENDS[0].into() }
    }
}

/// What failures cost.
#[derive(Clone, Debug)]
pub struct Losses {
    /// The smallest weighted dominant share of today.
    pub value: f64,
    /// Of each class, the worst first.
    pub classes: Vec<Loss>,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl Losses {
    /// The `fairplan.loss.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> LossDocument<'a> {
        loss_document(instance, &self.sha256, self.value, &self.classes)
    }
}

/// Says who loses how much when a class of servers fails, or some of its servers are drained.
///
/// ```
/// use fairplan::{Control, LoseOptions, generate, losses};
///
/// let losses = losses(&generate::drfh_fig1()?, &LoseOptions::default(), &Control::none())?;
/// assert_eq!(losses.classes.len(), 2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn losses(instance: &Instance, options: &LoseOptions, control: &Control<'_>) -> Result<Losses, Error> {
    let solver = solver(&options.backend, &control.deadline)?;
    let (solved, sha256) = today(instance, &*solver, control)?;
    control.stage("taking servers away");
    let classes = fairplan_analysis::losses(instance, &solved.solution, &*solver, options.servers)
        .map_err(|error| Error::from(error).by(&control.deadline))?;
    Ok(Losses { value: Headline::new(instance, &solved.solution).value, classes, sha256 })
}

/// What DRFH gives users now, and the hash of the instance.
fn today(instance: &Instance, solver: &dyn Solver, control: &Control<'_>) -> Result<(Solved, String), Error> {
    let (solved, sha256) = hashed(instance, || Solved::new(instance, solver, Objective::Drfh, control))?;
    let solved = solved.certified().map_err(|failure| failure.by(&control.deadline))?;
    Ok((solved, sha256))
}

/// What differs between two instances.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What was added, removed or changed, and what that did.
    pub found: fairplan_analysis::Difference,
    /// The SHA-256 of both.
    pub sha256: [String; 2],
}

impl Difference {
    /// The `fairplan.difference.v1`.
    pub fn document<'a>(&'a self, before: &'a Instance, after: &'a Instance) -> DifferenceDocument<'a> {
        let [first, second] = &self.sha256;
        difference_document([(before, first), (after, second)], &self.found)
    }
}

/// Says what differs between two instances, and who has more or less for it: DRFH is solved anew after each kind of change. The
/// backend is one of [`BACKENDS`].
///
/// ```
/// use fairplan::{Control, compare_instances, generate};
///
/// let (before, after) = (generate::drfh_fig4(&[1, 2, 3])?, generate::drfh_fig4(&[1, 2])?);
/// let difference = compare_instances(&before, &after, "auto", &Control::none())?;
/// assert!(!difference.document(&before, &after).users.is_empty());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn compare_instances(
    before: &Instance,
    after: &Instance,
    backend: &str,
    control: &Control<'_>,
) -> Result<Difference, Error> {
    let sha256 = [before, after].map(files::sha256_hex);
    let solver = solver(backend, &control.deadline)?;
    control.stage("comparing");
    Ok(Difference { found: differences(before, after, &*solver)?, sha256 })
}
