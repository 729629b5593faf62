//! The same question of a cluster that is a little another: a server more, servers less, another instance.

use crate::solve::{AUTO, Solved, hashed, solver};
use crate::{Control, Error, Progress};
use fairplan_analysis::{Difference, Failure, InTime, Losses, Worth, differences};
use fairplan_instances::{Instance, Objective, Solver, Violation, files};

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

/// What to take away.
#[derive(Clone, Debug)]
pub struct LoseOptions {
    /// So many servers of each class. Default: all of them.
    pub servers: Option<u64>,
    /// Servers that fail together, by a pattern of their names or of their classes' ids (`*` stands for any letters), each a
    /// failure of its own. Default: none, which means class by class.
    pub together: Vec<String>,
    /// Servers that fail together, by their names, with what they have in common: a zone, a rack. Default: none.
    pub named: Vec<(String, Vec<String>)>,
    /// What solves: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for LoseOptions {
    fn default() -> Self {
        Self { servers: None, together: Vec::new(), named: Vec::new(), backend: AUTO.into() }
    }
}

/// Says who loses how much when a class of servers fails, some of its servers are drained, or servers fail together.
///
/// ```
/// use fairplan::{Control, LoseOptions, generate, losses};
///
/// let losses = losses(&generate::drfh_fig1()?, &LoseOptions::default(), &Control::none())?;
/// assert_eq!(losses.losses.len(), 2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn losses(instance: &Instance, options: &LoseOptions, control: &Control<'_>) -> Result<Losses, Error> {
    let failures = match (&options.together[..], &options.named[..]) {
        ([], []) => Failure::of_each_class(instance, options.servers),
        _ if options.servers.is_some() => {
            return Err(Error::Setting(
                "servers: what fails together is named already; leave one of both out".into(),
            ));
        }
        (patterns, named) => {
            let like = patterns.iter().map(|pattern| Failure::of_those_like(instance, pattern));
            let named = named.iter().map(|(name, servers)| {
                Failure::of_servers(instance, name, &servers.iter().map(String::as_str).collect())
            });
            let failures = like.chain(named).collect::<Result<_, Violation>>();
            failures.map_err(|violation| Error::Setting(violation.to_string()))?
        }
    };
    let solver = solver(&options.backend, &control.deadline)?;
    let (solved, sha256) = today(instance, &*solver, control)?;
    control.stage("taking servers away");
    let solver = InTime::new(&*solver, &control.deadline);
    fairplan_analysis::losses(instance, &sha256, &solved.solution, &solver, &failures)
        .map_err(|error| Error::from(error).by(&control.deadline))
}

/// What DRFH gives users now, and the hash of the instance.
fn today(instance: &Instance, solver: &dyn Solver, control: &Control<'_>) -> Result<(Solved, String), Error> {
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
