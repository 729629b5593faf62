//! What the failure of servers costs whom: tasks divided anew, or whole ones placed anew.

use super::changes::today;
use crate::solve::{AUTO, solver};
use crate::{Control, Error, PlaceOptions, Progress, place};
use fairplan_analysis::{Failure, InTime, Losses, PlacedBy, WholeTasks, losses_of_whole_tasks};
use fairplan_instances::wording::{counted, printable};
use fairplan_instances::{Instance, Violation, files};

/// What to take away, and how what is left is shared.
#[derive(Clone, Debug)]
pub struct LoseOptions {
    /// So many servers of each class. Default: all of them.
    pub servers: Option<u64>,
    /// Servers that fail together, by a pattern of their names or of their classes' ids (`*` stands for any letters), each a
    /// failure of its own. Default: none, which means class by class.
    pub together: Vec<String>,
    /// Servers that fail together, by their names, with what they have in common: a zone, a rack. Default: none.
    pub named: Vec<(String, Vec<String>)>,
    /// The policy that places whole tasks today, and anew on what is left, under all rules. Default: none, tasks are divided by DRFH.
    pub whole: Option<PlaceOptions>,
    /// What solves: one of [`BACKENDS`](crate::BACKENDS). It has no say in whole tasks. Default: `auto`.
    pub backend: String,
}

impl Default for LoseOptions {
    fn default() -> Self {
        Self { servers: None, together: Vec::new(), named: Vec::new(), whole: None, backend: AUTO.into() }
    }
}

/// Says who loses how much when a class of servers fails, some of its servers are drained, or servers fail together.
///
/// ```
/// use fairplan::{Control, LoseOptions, PlaceOptions, generate, losses};
///
/// let divided = losses(&generate::drfh_fig1()?, &LoseOptions::default(), &Control::none())?;
/// assert_eq!(divided.losses.len(), 2);
/// let options = LoseOptions { whole: Some(PlaceOptions::default()), ..LoseOptions::default() };
/// let whole = losses(&generate::drfh_fig1()?, &options, &Control::none())?;
/// assert!(whole.losses.iter().all(|loss| loss.tasks_lost.is_some()));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn losses(instance: &Instance, options: &LoseOptions, control: &Control<'_>) -> Result<Losses, Error> {
    let failures = failures(instance, options, control)?;
    if let Some(placing) = &options.whole {
        let placed_by = PlacedBy { policy: placing.name()?, seed: placing.seed };
        let place = &mut |variant: &Instance| whole_tasks(variant, placing, control);
        let sha256 = files::sha256_hex(instance);
        return losses_of_whole_tasks(instance, &sha256, placed_by, &failures, place);
    }
    let solver = solver(&options.backend, &control.deadline)?;
    let (solved, sha256) = today(instance, &*solver, control)?;
    control.stage("taking servers away");
    let solver = InTime::new(&*solver, &control.deadline);
    fairplan_analysis::losses(instance, &sha256, &solved.solution, &solver, &failures)
        .map_err(|error| Error::from(error).by(&control.deadline))
}

/// What fails. Of what is named by its servers, as importers may leave some out, what the instance has none of is told and left out.
fn failures(
    instance: &Instance,
    options: &LoseOptions,
    control: &Control<'_>,
) -> Result<Vec<Failure>, Error> {
    match (&options.together[..], &options.named[..]) {
        ([], []) => Ok(Failure::of_each_class(instance, options.servers)),
        _ if options.servers.is_some() => {
            Err(Error::Setting("servers: what fails together is named already; leave one of both out".into()))
        }
        (patterns, named) => {
            let like = patterns.iter().map(|pattern| Failure::of_those_like(instance, pattern));
            let like = like.collect::<Result<Vec<_>, Violation>>();
            let mut failures = like.map_err(|violation| Error::Setting(violation.to_string()))?;
            let mut absent = Vec::new();
            for (name, servers) in named {
                let names = servers.iter().map(String::as_str).collect();
                match Failure::of_servers(instance, name, &names) {
                    Some(failure) => failures.push(failure),
                    None => absent.push(&**name),
                }
            }
            match absent.first() {
                Some(first) if failures.is_empty() => {
                    let problem = "the instance has none of these servers by name; import it with --placement-out, which names them";
                    return Err(Error::Setting(Violation::new("label", *first, problem).to_string()));
                }
                Some(first) => {
                    let count = counted(absent.len() as u64, "label is", "labels are");
                    let (first, more) = (printable(first, 200), if absent.len() > 1 { ", …" } else { "" });
                    let note = format!("{count} of no server of the instance, and left out: {first}{more}");
                    (control.progress)(Progress::Note(&note));
                }
                None => {}
            }
            Ok(failures)
        }
    }
}

/// What a policy places, which the checker has recounted.
fn whole_tasks(
    variant: &Instance,
    placing: &PlaceOptions,
    control: &Control<'_>,
) -> Result<WholeTasks, Error> {
    let placed = place(variant, placing, control)?;
    let figures = placed.figures;
    Ok(WholeTasks {
        tasks: placed.placement.tasks,
        works: figures.works,
        value: figures.value,
        level: figures.level,
    })
}
