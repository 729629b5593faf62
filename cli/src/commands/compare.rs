//! `compare`: placement policies side by side, each with its gap to the best divisible allocation and to the best that
//! whole tasks can do.

use super::bound::bracketed;
use super::placer::Placer;
use super::solve::{backend_name, in_time, solver_within};
use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, seconds};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use fairplan_instances::Headline;
use fairplan_instances::{ClassId, Deadline, Instance, Objective, ResourceId, User, WholeTaskBracket};
use fairplan_report::bound::stated_bounds;
use fairplan_report::comparison::{Bounds, PolicyResult, comparison_document};
use fairplan_report::output::Destination;
use fairplan_report::placement::PlacementFigures;
use fairplan_report::{summary, table};
use fairplan_verify::reaches;
use std::time::{Duration, Instant};

/// Compare placement policies with each other and with the best that any placement can do
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A gap is 1 - value / bound, the value being the smallest weighted dominant share. One bound is that of \
divisible tasks (drfh), which whole tasks often cannot reach; the other is that of whole tasks, as `fairplan bound` \
proves it. A policy that reaches it is proved optimal. The result is a fairplan.comparison.v1.

Example: fairplan generate drfh-fig4 | fairplan compare - --policies best-fit,first-fit,slots=10")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// The policies, separated by commas; `fairplan place --help` explains each
    #[arg(long, alias = "policy", value_name = "LIST", value_delimiter = ',', default_value = ALL)]
    policies: Vec<String>,
    /// Seed of the policy `random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How to compute the divisible bound: auto, ipm or highs
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Take no longer than this, half of it for the whole-task bound; policies that are not done then are left out. Without
    /// a limit the bound is left out where users times classes are more than 5000, or more than 1000 and a server holds
    /// more than 64 tasks of a user
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    time_limit: Option<Duration>,
    /// Write the whole result (json), or the table of policies
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    /// Leave out the seconds, so that the same input gives the same bytes
    #[arg(long)]
    no_timing: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// Every policy, and Slots with the number that served the DRFH paper best (its Table II).
const ALL: &str = "best-fit,first-fit,slots=14,worst-fit,dot-product,random";

struct Job {
    source: InstanceSource,
    placers: Vec<Placer>,
    seed: u64,
    time_limit: Option<Duration>,
    backend: String,
    format: ResultFormat,
    timing: bool,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        let mut placers: Vec<Placer> = Vec::new();
        for name in &arguments.policies {
            let new = Placer::named(name, arguments.seed)?;
            if placers.iter().any(|other| other.name() == new.name()) {
                return Err(Failure::refused(format!("--policies names {} twice", new.name())));
            }
            placers.push(new);
        }
        Ok(Self {
            source: arguments.instance.try_into()?,
            placers,
            seed: arguments.seed,
            time_limit: arguments.time_limit,
            backend: arguments.backend,
            format,
            timing: !arguments.no_timing,
            destination,
        })
    }
}

/// More users times classes than these are bounded only when a time limit is given: the first where a server holds up to
/// `SMALLEST` tasks of a user, the second otherwise.
const BOUNDED: (usize, usize) = (5_000, 1_000);
const SMALLEST: u128 = 64;

/// Whether the best that whole tasks can do is found, and proved, in seconds.
pub fn is_soon_bounded(instance: &Instance) -> bool {
    let most = |user: User<'_>, class: usize| {
        let resources = (0..instance.resources().len()).map(ResourceId);
        let demanded = resources.filter(|r| user.demand_units(*r) > 0);
        demanded.map(|r| instance.capacity_units(ClassId(class), r) / user.demand_units(r)).min().unwrap_or(0)
    };
    let classes = instance.classes().len();
    let size = instance.user_count().saturating_mul(classes);
    size <= BOUNDED.1
        || size <= BOUNDED.0
            && instance.users().all(|user| (0..classes).all(|class| most(user, class) <= SMALLEST))
}

/// The part of the time that is left for each of the two bounds, one after the other.
const BOUNDING: f64 = 0.5;

impl Job {
    /// The best that whole tasks can do, where that can be told in reasonable time.
    fn bracket(
        &self,
        instance: &Instance,
        deadline: &Deadline,
        common: CommonOptions,
    ) -> Result<Option<WholeTaskBracket>, Failure> {
        let has_rates = instance.rules().iter().any(|rule| !rule.rates().is_empty());
        if has_rates || (self.time_limit.is_none() && !is_soon_bounded(instance)) {
            return Ok(None);
        }
        // Policies can be compared without it.
        bracketed(instance, deadline, common).map(Some).or_else(|failure| {
            tell(common, || format!("The bound of whole tasks is left out: {failure}\n"));
            Ok(None)
        })
    }
}

/// Reads, bounds, places by each policy, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let deadline = job.time_limit.map_or_else(Deadline::never, Deadline::after);
    let solving = deadline.after_part(BOUNDING);
    let solver = solver_within(&job.backend, &solving)?;
    let (solved, sha256) = hashed(&instance, || Solved::new(&instance, &*solver, Objective::Drfh, common))?;
    solved.certified().map_err(|failure| in_time(&solving, failure))?;
    let divisible = Headline::new(&instance, &solved.solution).bound;
    let bracket = job.bracket(&instance, &deadline.after_part(BOUNDING), common)?;
    let stated = bracket.as_ref().map(|bracket| stated_bounds(&instance, bracket));
    let mut bounds = Bounds {
        divisible,
        integral_upper: stated.map(|bounds| bounds.upper),
        integral_lower: stated.map(|bounds| bounds.lower),
    };
    let names: Vec<String> = job.placers.iter().map(Placer::name).collect();
    let (mut results, mut late) = (Vec::new(), Vec::new());
    for (placer, name) in job.placers.iter().zip(&names) {
        let start = Instant::now();
        let placement = match placer.place(&instance, &deadline, common) {
            Err(failure) if deadline.is_over() => {
                late.push((name, failure));
                continue;
            }
            placement => placement?,
        };
        let seconds = job.timing.then(|| start.elapsed().as_secs_f64());
        let figures = PlacementFigures::new(&instance, &placement);
        bounds.integral_lower = bounds.integral_lower.map(|lower| lower.max(figures.value));
        let is_optimal = bracket.as_ref().map(|bracket| {
            let without = &bracket.without_tasks;
            bracket.upper.is_none_or(|upper| reaches(&instance, &placement.tasks, upper, without))
        });
        results.push(PolicyResult::new(name, &instance, &figures, bounds, is_optimal, seconds));
    }
    for (name, failure) in &late {
        tell(common, || format!("{name} is left out: {failure}\n"));
    }
    if results.is_empty() {
        return Err(Failure::internal("no policy was done in time; allow more"));
    }
    let backend = solver.name();
    let document = comparison_document(&instance, &sha256, backend, job.seed, bounds, results);
    job.destination.write(|out| table::write_result(out, job.format.table(), &document))?;
    tell(common, || summary::comparison(&instance, &document));
    Ok(Answer::Yes)
}
