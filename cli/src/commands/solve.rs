//! `solve`: the exact divisible allocation, with prices and a certificate.

use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use fairplan_instances::wording::unknown;
use fairplan_instances::{Deadline, Objective, Solver};
use fairplan_report::output::Destination;
use fairplan_report::solution::{solution_document, users_of};
use fairplan_report::{summary, table, write_json};

/// Find the exact fair allocation of divisible tasks, with prices and a proof
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With drfh the smallest weighted dominant share is made as large as possible, then the next smallest, and so on; with \
pf the sum of weighted logarithms of dominant shares; with alpha=A that of share^(1-A)/(1-A). With tsf it is the tasks \
over the most that the user could run alone if it were eligible everywhere that are compared, instead of dominant \
shares. drf and bmf treat all servers as one: their tasks are on no class, and may not fit the servers. \
The result (fairplan.solution.v1) is checked in exact arithmetic before it is written; one that is not \
proved optimal says `uncertified`, and the exit status is 3.

Example: fairplan generate drfh-fig1 | fairplan solve - -o solution.json")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// What is fair: drfh (equal weighted dominant shares over all servers together), pf (proportional fairness),
    /// alpha=A (alpha-fair, A from 0 to 64), utilitarian (the largest sum), tsf (task share fairness), drf (dominant
    /// resource fairness, all servers as one), drf-per-server (the same inside each server apart) or bmf (bottleneck max
    /// fairness, all servers as one)
    #[arg(long, value_name = "NAME", default_value = "drfh", value_parser = str::parse::<Objective>)]
    objective: Objective,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// Write the whole result (json), or the table of users
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    /// Leave out the seconds, so that the same input gives the same bytes
    #[arg(long)]
    no_timing: bool,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    objective: Objective,
    backend: String,
    time_limit: TimeLimit,
    format: ResultFormat,
    timing: bool,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        Ok(Self {
            source: arguments.instance.try_into()?,
            objective: arguments.objective,
            backend: arguments.backend,
            time_limit: arguments.time_limit,
            format,
            timing: !arguments.no_timing,
            destination,
        })
    }
}

/// The name, if it is a backend's.
pub fn backend_name(name: &str) -> Result<String, String> {
    let known = fairplan_solver::BACKENDS;
    if known.contains(&name) { Ok(name.into()) } else { Err(unknown("backend", name, known)) }
}

/// The backend of this name, without a limit of time.
pub fn solver(backend: &str) -> Result<Box<dyn Solver>, Failure> {
    solver_within(backend, &Deadline::never())
}

/// The backend of this name.
pub fn solver_within(backend: &str, deadline: &Deadline) -> Result<Box<dyn Solver>, Failure> {
    fairplan_solver::backend_within(backend, deadline)
        .ok_or_else(|| Failure::refused(format!("there is no backend {backend}")))
}

/// The part of the time that solving may take; the rest is for checking.
pub const SOLVING: f64 = 0.9;

/// The failure of work that had to end by a deadline.
pub fn in_time(deadline: &Deadline, failure: Failure) -> Failure {
    if deadline.is_over() { Failure::internal(format!("time was over: {failure}")) } else { failure }
}

/// Reads, solves, checks, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    warn(common, &instance);
    let deadline = job.time_limit.deadline().after_part(SOLVING);
    let solver = solver_within(&job.backend, &deadline)?;
    let solve = || Solved::new(&instance, &*solver, job.objective, common);
    let (solved, sha256) = match job.format.table() {
        None => hashed(&instance, solve)?,
        // A table does not say of which instance it is.
        Some(_) => (solve()?, String::new()),
    };
    let solution = &solved.solution;
    let headline = solved.numbers.headline();
    job.destination.write(|out| match job.format.table() {
        None => write_json(out, &solution_document(&instance, solution, headline, &sha256, job.timing)),
        Some(format) => table::write_table(out, format, &users_of(&instance, solution)),
    })?;
    tell(common, || summary::solution(&instance, solution, headline));
    solved.certified().map_err(|failure| in_time(&deadline, failure))?;
    Ok(Answer::Yes)
}
