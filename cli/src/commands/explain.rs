//! `explain`: why a user has its share, and what would change it.

use super::solve::{backend_name, solver};
use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan_analysis::explain;
use fairplan_instances::wording::{did_you_mean, printable};
use fairplan_instances::{Document, Instance, Objective, Solver};
use fairplan_report::output::Destination;
use fairplan_report::{summary, write_json};

/// Say why a user has its share, and what would change it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows what limits the user, the level at which it is frozen, the full capacities that hold it, what each class costs it, \
who gains if its tasks need less, and how far the prices hold. The result is fairplan.explanation.v1.

Example: fairplan generate drfh-fig1 | fairplan explain - --user user-1")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// The user to explain
    #[arg(long, value_name = "ID")]
    user: String,
    /// What is fair: drfh, pf, alpha=A, utilitarian, tsf, bmf, drf or drf-per-server
    #[arg(long, value_name = "NAME", default_value = "drfh")]
    objective: Objective,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    user: String,
    objective: Objective,
    solver: Box<dyn Solver>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        Ok(Self {
            source: arguments.instance.try_into()?,
            user: arguments.user,
            objective: arguments.objective,
            solver: solver(&arguments.backend)?,
            destination: arguments.output.destination()?,
        })
    }
}

/// What is said to an id that no user has.
pub fn no_such_user(instance: &Instance, option: &str, id: &str) -> Failure {
    let meant = did_you_mean(id, instance.users().map(|user| user.id()));
    let id = printable(id, 60);
    Failure::refused(format!("--{option} {id}: the instance has no user of this id{meant}"))
}

/// Reads, solves, asks what would change, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    let Some(user) = instance.user_named(&job.user) else {
        return Err(no_such_user(&instance, "user", &job.user));
    };
    warn(common, &instance);
    let (solved, sha256) = hashed(&instance, || Solved::new(&instance, &*job.solver, job.objective, common))?;
    solved.certified()?;
    let explanation = progress::during(common.quiet, "asking what would change", || {
        explain(&instance, &sha256, &solved.solution, &*job.solver, user)
    })?;
    let document = Document::new(explanation);
    job.destination.write(|out| write_json(out, &document))?;
    tell(common, || summary::explanation(&document));
    Ok(Answer::Yes)
}
