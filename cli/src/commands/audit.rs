//! `audit`: the fairness properties that an objective has on an instance, with a witness for each that fails.

use super::solve::{backend_name, solver};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan_analysis::{Audit, AuditSettings, audit};
use fairplan_instances::{Document, Objective, Solver, SolverError, files};
use fairplan_report::output::Destination;
use fairplan_report::{summary, write_json};
use std::io::Write;

/// Test the fairness properties of an objective on an instance, with a witness for each that fails
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Envy-freeness, Pareto optimality, sharing incentive, truthfulness and the others of DRFH Sec. III-C are tested on the \
instance itself and on variants of it: a user misreports or leaves, a server is added. What is found is exact for the \
instance; that nothing is found says what was searched, not that nothing exists. The result is fairplan.audit.v1; with \
--all one line an objective. The exit status is 1 if a property fails.

Example: fairplan generate drfh-fig1 | fairplan audit - --objective drfh")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// What is fair: drfh, pf, alpha=A, utilitarian, tsf, bmf, drf or drf-per-server
    #[arg(long, value_name = "NAME", default_value = "drfh")]
    objective: Objective,
    /// Every objective that the instance can have, alpha=2 among them
    #[arg(long, conflicts_with = "objective")]
    all: bool,
    /// How many users misreport, leave and are asked for envy, evenly spread over the instance
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    users_searched: u32,
    /// Seed of the servers dealt out to compare with sharing
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    objectives: Vec<Objective>,
    all: bool,
    settings: AuditSettings,
    solver: Box<dyn Solver>,
    destination: Destination,
}

/// The objectives of `--all`.
const ALL: [&str; 8] = ["drfh", "tsf", "pf", "alpha=2", "utilitarian", "bmf", "drf", "drf-per-server"];

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let objectives = match arguments.all {
            true => ALL.iter().filter_map(|name| name.parse().ok()).collect(),
            false => vec![arguments.objective],
        };
        Ok(Self {
            source: arguments.instance.try_into()?,
            objectives,
            all: arguments.all,
            settings: AuditSettings { users: arguments.users_searched as usize, seed: arguments.seed },
            solver: solver(&arguments.backend)?,
            destination: match arguments.all {
                true => arguments.output.lines()?,
                false => arguments.output.destination()?,
            },
        })
    }
}

/// Reads, tests each objective, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let sha256 = files::sha256_hex(&instance);
    let mut documents: Vec<Document<Audit>> = Vec::new();
    let mut left_out = Vec::new();
    for objective in job.objectives {
        let audited = progress::during(common.quiet, "searching for violations", || {
            audit(&instance, &sha256, objective, &*job.solver, &*job.solver, job.settings)
        });
        match audited {
            Ok(audit) => documents.push(Document::new(audit)),
            Err(error @ (SolverError::Unsupported(_) | SolverError::Inapplicable(_))) if job.all => {
                left_out.push((objective, error.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    job.destination.write(|out| match &documents[..] {
        [only] if !job.all => write_json(out, only),
        several => several.iter().try_for_each(|document| {
            serde_json::to_writer(&mut *out, document)?;
            out.write_all(b"\n")
        }),
    })?;
    tell(common, || summary::audits(&documents));
    tell(common, || {
        left_out.iter().map(|(objective, reason)| format!("{objective} is left out: {reason}\n")).collect()
    });
    Ok(Answer::yes_if(documents.iter().all(|document| document.holds())))
}
