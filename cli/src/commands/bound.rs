//! `bound`: the best that any placement of whole tasks can do, from both sides.

use super::solve::{backend_name, in_time, solver_within};
use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, TimeLimit};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan_instances::{Deadline, Instance, Objective, ProportionalBracket, WholeTaskBracket};
use fairplan_report::bound::{DivisibleBound, bound_document, stated_bounds};
use fairplan_report::output::Destination;
use fairplan_report::proportional_bound::{meets, proportional_bound_document};
use fairplan_report::{summary, write_json};
use fairplan_solver::{proportional_bracket, whole_task_bracket};
use fairplan_verify::{
    ProportionalClaim, Verdict, WholeTaskClaim, verify_divisible, verify_proportional, verify_whole_tasks,
};

/// Bracket the best that any placement of whole tasks can do, with a proof
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The value of a placement is its smallest weighted dominant share, or with --objective pf the sum of w ln(dominant \
share). The upper bound is proved from what one task of each \
user is worth and what one server can hold; the lower bound is a placement, server by server. `fairplan verify` proves \
both again. The result is a fairplan.bound.v1, or with pf a fairplan.proportional-bound.v1.

Example: fairplan generate drfh-fig4 | fairplan bound -")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// What is bounded: drfh, the smallest weighted dominant share, or pf, the sum of w ln(dominant share)
    #[arg(long, value_name = "O", default_value = "drfh", value_parser = bounded)]
    objective: Objective,
    /// How to compute the divisible bound: auto, ipm or highs
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    time_limit: TimeLimit,
    objective: Objective,
    backend: String,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        Ok(Self {
            source: arguments.instance.try_into()?,
            time_limit: arguments.time_limit,
            objective: arguments.objective,
            backend: arguments.backend,
            destination: arguments.output.destination()?,
        })
    }
}

/// An objective that whole tasks are bounded for.
fn bounded(text: &str) -> Result<Objective, String> {
    match text.parse() {
        Ok(objective @ (Objective::Drfh | Objective::ProportionalFairness)) => Ok(objective),
        _ => Err("whole tasks are bounded for drfh and for pf".into()),
    }
}

/// The parts of the time that is left for the bound of divisible tasks, and then for finding a bracket; the rest is for
/// checking that.
const DIVISIBLE: f64 = 0.5;
const FINDING: f64 = 0.7;

/// Brackets the smallest share, and re-proves the bracket by code that shares nothing with the solver.
pub fn bracketed(
    instance: &Instance,
    deadline: &Deadline,
    common: CommonOptions,
) -> Result<WholeTaskBracket, Failure> {
    let limit = deadline.after_part(FINDING);
    let bracket =
        progress::during(common.quiet, "bounding whole tasks", || whole_task_bracket(instance, &limit))?;
    let stated = Some(stated_bounds(instance, &bracket));
    let verdicts = progress::during(common.quiet, "checking the bounds", || {
        verify_whole_tasks(instance, &WholeTaskClaim { bracket: &bracket, stated })
    });
    proved(&verdicts).map(|()| bracket)
}

fn proved(verdicts: &[Verdict]) -> Result<(), Failure> {
    match verdicts.iter().find(|verdict| !verdict.holds) {
        None => Ok(()),
        Some(Verdict { property, witness, .. }) => {
            Err(Failure::internal(format!("the bounds of whole tasks are not proved: {property}: {witness}")))
        }
    }
}

/// Brackets the sum of logarithms, and re-proves the bracket by code that shares nothing with the solver.
fn proportionally_bracketed(
    instance: &Instance,
    deadline: &Deadline,
    common: CommonOptions,
) -> Result<ProportionalBracket, Failure> {
    let limit = deadline.after_part(FINDING);
    let bracket =
        progress::during(common.quiet, "bounding whole tasks", || proportional_bracket(instance, &limit))?;
    let claim = ProportionalClaim { bracket: &bracket, proved_optimal: Some(meets(instance, &bracket)) };
    let verdicts =
        progress::during(common.quiet, "checking the bounds", || verify_proportional(instance, &claim));
    proved(&verdicts).map(|()| bracket)
}

/// The properties without which the bound of a solution holds all the same.
const OPEN: [&str; 3] = ["level-gaps", "freezing", "optimality"];

/// Reads, bounds, checks, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let deadline = job.time_limit.deadline();
    match job.objective {
        Objective::ProportionalFairness => job.bound_sum(&instance, &deadline, common),
        _ => job.bound_smallest(&instance, &deadline, common),
    }
}

impl Job {
    fn bound_smallest(
        &self,
        instance: &Instance,
        deadline: &Deadline,
        common: CommonOptions,
    ) -> Result<Answer, Failure> {
        let divisible = self.divisible(instance, deadline, common)?;
        let (bracket, sha256) = hashed(instance, || bracketed(instance, deadline, common))?;
        let document = bound_document(instance, &sha256, &divisible, &bracket);
        self.destination.write(|out| write_json(out, &document))?;
        tell(common, || summary::bound(instance, divisible.bound, &bracket));
        Ok(Answer::Yes)
    }

    fn bound_sum(
        &self,
        instance: &Instance,
        deadline: &Deadline,
        common: CommonOptions,
    ) -> Result<Answer, Failure> {
        let before = deadline.after_part(1.0 - DIVISIBLE);
        let (bracket, sha256) = hashed(instance, || proportionally_bracketed(instance, &before, common))?;
        let is_comparable = bracket.without_tasks.is_empty();
        let divisible = is_comparable.then(|| self.divisible(instance, deadline, common)).transpose()?;
        let document = proportional_bound_document(instance, &sha256, divisible.as_ref(), &bracket);
        self.destination.write(|out| write_json(out, &document))?;
        let divisible = divisible.map(|divisible| divisible.bound);
        tell(common, || summary::proportional_bound(instance, divisible, &bracket));
        Ok(Answer::Yes)
    }

    /// The proved bound of divisible tasks, which is proved once more from its prices alone.
    fn divisible(
        &self,
        instance: &Instance,
        deadline: &Deadline,
        common: CommonOptions,
    ) -> Result<DivisibleBound, Failure> {
        let limit = deadline.after_part(DIVISIBLE);
        let solver = solver_within(&self.backend, &limit)?;
        let solved = Solved::new(instance, &*solver, self.objective, common)?;
        let is_open = |verdict: &Verdict| OPEN.contains(&verdict.property);
        // What prices rule out holds, however far the allocation was from it when time was over.
        if !limit.is_over() || solved.failures.is_empty() || !solved.failures.iter().all(is_open) {
            solved.certified().map_err(|failure| in_time(&limit, failure))?;
        }
        let divisible = DivisibleBound::new(instance, &solved.solution);
        proved(&[verify_divisible(instance, divisible.claim(self.objective))]).map(|()| divisible)
    }
}
