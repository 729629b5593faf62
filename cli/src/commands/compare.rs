//! `compare`: placement policies side by side, each with its gap to the best divisible allocation.

use super::place::placed;
use super::solve::{backend_name, solver};
use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use fairplan_heuristics::{PlacementPolicy, policy};
use fairplan_instances::{Objective, Solver};
use fairplan_report::comparison::{Bounds, PolicyResult, comparison_document};
use fairplan_report::output::Destination;
use fairplan_report::placement::PlacementFigures;
use fairplan_report::solution::Headline;
use fairplan_report::{summary, table, write_json};
use std::time::Instant;

/// Compare placement policies with each other and with the best divisible allocation
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A gap is 1 - value / bound, the value being the smallest weighted dominant share. The bound is that of \
divisible tasks (drfh), which whole tasks often cannot reach. The result is a fairplan.comparison.v1.

Example: fairplan generate drfh-fig4 | fairplan compare - --policies best-fit,first-fit,slots=10")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// The policies, separated by commas; `fairplan place --help` explains each
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = ALL)]
    policies: Vec<String>,
    /// Seed of the policy `random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How to compute the divisible bound: auto, ipm or highs
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of policies
    #[arg(long, value_enum, default_value = "json")]
    format: ResultFormat,
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
    policies: Vec<Box<dyn PlacementPolicy>>,
    seed: u64,
    solver: Box<dyn Solver>,
    format: ResultFormat,
    timing: bool,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let mut policies: Vec<Box<dyn PlacementPolicy>> = Vec::new();
        for name in &arguments.policies {
            let new = policy(name, arguments.seed).map_err(Failure::refused)?;
            if policies.iter().any(|other| other.name() == new.name()) {
                return Err(Failure::refused(format!("--policies names {} twice", new.name())));
            }
            policies.push(new);
        }
        Ok(Self {
            source: arguments.instance.try_into()?,
            policies,
            seed: arguments.seed,
            solver: solver(&arguments.backend)?,
            format: arguments.format,
            timing: !arguments.no_timing,
            destination: arguments.output.destination()?,
        })
    }
}

/// Reads, bounds, places by each policy, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let (solved, sha256) =
        hashed(&instance, || Solved::new(&instance, &*job.solver, Objective::Drfh, common))?;
    solved.certified()?;
    let divisible = Headline::new(&instance, &solved.solution).bound;
    let bounds = Bounds { divisible, integral_upper: None, integral_lower: None };
    let names: Vec<String> = job.policies.iter().map(|policy| policy.name()).collect();
    let mut results = Vec::new();
    for (policy, name) in job.policies.iter().zip(&names) {
        let start = Instant::now();
        let placement = placed(&instance, &**policy, common)?;
        let seconds = job.timing.then(|| start.elapsed().as_secs_f64());
        let figures = PlacementFigures::new(&instance, &placement);
        results.push(PolicyResult::new(name, &instance, &figures, bounds, seconds));
    }
    let backend = job.solver.name();
    let document = comparison_document(&instance, &sha256, backend, job.seed, bounds, results);
    job.destination.write(|out| match job.format.table() {
        None => write_json(out, &document),
        Some(format) => table::write_comparison(out, format, &document),
    })?;
    tell(common, || summary::comparison(&instance, &document));
    Ok(Answer::Yes)
}
