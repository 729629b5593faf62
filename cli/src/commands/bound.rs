//! `bound`: the best that any placement of whole tasks can do, from both sides.

use super::solve::{backend_name, solver};
use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan_instances::{Instance, Objective, Solver, WholeTaskBracket};
use fairplan_report::bound::{bound_document, stated_bounds};
use fairplan_report::output::Destination;
use fairplan_report::solution::Headline;
use fairplan_report::{summary, write_json};
use fairplan_solver::whole_task_bracket;
use fairplan_verify::{WholeTaskClaim, verify_whole_tasks};
use std::time::{Duration, Instant};

/// Bracket the best that any placement of whole tasks can do, with a proof
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The value of a placement is its smallest weighted dominant share. The upper bound is proved from what one task of each \
user is worth and what one server can hold; the lower bound is a placement, server by server. `fairplan verify` proves \
both again. The result is a fairplan.bound.v1.

Example: fairplan generate drfh-fig4 | fairplan bound -")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// Take the best bracket found in this time, half of which is for the upper bound and half for the placement; without
    /// a limit the same input gives the same bytes
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, allow_negative_numbers = true)]
    time_limit: Option<Duration>,
    /// How to compute the divisible bound: auto, ipm or highs
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    time_limit: Option<Duration>,
    solver: Box<dyn Solver>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        Ok(Self {
            source: arguments.instance.try_into()?,
            time_limit: arguments.time_limit,
            solver: solver(&arguments.backend)?,
            destination: arguments.output.destination()?,
        })
    }
}

/// A time in seconds, above 0.
pub fn time_limit(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "state seconds, more than 0".into())
}

/// Brackets, and re-proves the bracket by code that shares nothing with the solver.
pub fn bracketed(
    instance: &Instance,
    time_limit: Option<Duration>,
    common: CommonOptions,
) -> Result<WholeTaskBracket, Failure> {
    let start = Instant::now();
    let stop = |part| time_limit.is_some_and(|limit| start.elapsed() >= limit.mul_f64(part));
    let bracket =
        progress::during(common.quiet, "bounding whole tasks", || whole_task_bracket(instance, &stop))?;
    let stated = Some(stated_bounds(instance, &bracket));
    let verdicts = progress::during(common.quiet, "checking the bounds", || {
        verify_whole_tasks(instance, &WholeTaskClaim { bracket: &bracket, stated })
    });
    match verdicts.iter().find(|verdict| !verdict.holds) {
        None => Ok(bracket),
        Some(verdict) => Err(Failure::internal(format!(
            "the bounds of whole tasks are not proved: {}: {}",
            verdict.property, verdict.witness
        ))),
    }
}

/// Reads, bounds, checks, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let (bracket, sha256) = hashed(&instance, || bracketed(&instance, job.time_limit, common))?;
    let solved = Solved::new(&instance, &*job.solver, Objective::Drfh, common)?;
    solved.certified()?;
    let divisible = Headline::new(&instance, &solved.solution).bound;
    let document = bound_document(&instance, &sha256, divisible, &bracket);
    job.destination.write(|out| write_json(out, &document))?;
    tell(common, || summary::bound(&instance, divisible, &bracket));
    Ok(Answer::Yes)
}
