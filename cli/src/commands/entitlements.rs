//! `entitlements`: what production schedulers' rules promise, beside exact DRFH.

use super::solve::solver;
use super::solved::{Solved, hashed};
use super::{tell, warn};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use fairplan_instances::Headline;
use fairplan_instances::{Decimal, Draft, Instance, Objective, Solver, files};
use fairplan_report::entitlements::{RuleOutcome, entitlements_document};
use fairplan_report::{summary, table};
use fairplan_solver::{SCHEDULER_RULES, entitlements};

/// Show what the rules of YARN, Kueue and Volcano entitle users to, beside exact DRFH
#[derive(Debug, clap::Args)]
#[command(after_help = "\
These rules see all servers as one pool: they measure against the cluster's totals, and every class is open to all.
  yarn-drf            the least usage of a dominant resource over its weight is served first
  kueue               the same of what is used above the nominal quota; without --quotas a quota is the weight's part
                      of the pool, and the rule is that of YARN
  volcano-proportion  each resource by itself in proportion to the weights; tasks run as far as every part goes
Shares are of the cluster's total of the user's dominant resource. `kept` is the largest part of a rule's promises that the \
servers can give to all users at once. The result is a fairplan.entitlements.v1.

Example: fairplan generate drfh-fig1 | fairplan entitlements -")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// Nominal quotas for Kueue: an instance as `import kueue` writes it, where a user's quota is a thousand of its tasks;
    /// a user who is not there has none
    #[arg(long, value_name = "INSTANCE")]
    quotas: Option<String>,
    /// Write the whole result (json), or the table of users
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Tasks that are a quota, as `import kueue` writes them.
const TASKS_A_QUOTA: f64 = 1000.0;

/// Reads, computes what each rule promises, solves, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let source = InstanceSource::try_from(arguments.instance)?;
    let (format, destination) = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    let quotas = arguments.quotas.map(|path| quotas(&instance, &path)).transpose()?;
    warn(common, &instance);
    let solver = solver("auto")?;
    let ((solved, rules), sha256) = hashed(&instance, || {
        let solved = Solved::new(&instance, &*solver, Objective::Drfh, common)?;
        solved.certified()?;
        let outcome = |rule| {
            let tasks = entitlements(&instance, rule, quotas.as_deref());
            let kept = kept(&instance, &tasks, &*solver, common)?;
            Ok(RuleOutcome { name: rule.name(), tasks, kept })
        };
        let rules = SCHEDULER_RULES.into_iter().map(outcome).collect::<Result<Vec<_>, Failure>>()?;
        Ok((solved, rules))
    })?;
    let document = entitlements_document(&instance, &sha256, &solved.solution, &rules);
    destination.write(|out| table::write_result(out, format.table(), &document))?;
    tell(common, || summary::heading(&instance) + &summary::entitlements(&document));
    Ok(Answer::Yes)
}

/// Each user's nominal quota of each resource, from an instance of queues.
fn quotas(instance: &Instance, path: &str) -> Result<Vec<Vec<f64>>, Failure> {
    let queues = files::read_instance(path)?;
    let column = |name: &String| queues.resources().iter().position(|other| other == name);
    let columns: Vec<Option<usize>> = instance.resources().iter().map(column).collect();
    if columns.iter().all(Option::is_none) {
        let (known, wanted) = (queues.resources().join(", "), instance.resources().join(", "));
        return Err(Failure::refused(format!(
            "{path}: has quotas of {known}, but the resources are {wanted}"
        )));
    }
    let quota = |id: &str| -> Vec<f64> {
        let queue = queues.users().find(|queue| queue.id() == id);
        let of = |column: &Option<usize>| match (queue, column) {
            (Some(queue), Some(column)) => TASKS_A_QUOTA * queue.demand()[*column].to_f64(),
            _ => 0.0,
        };
        columns.iter().map(of).collect()
    };
    let quotas: Vec<Vec<f64>> = instance.users().map(|user| quota(user.id())).collect();
    if quotas.iter().flatten().all(|quota| *quota == 0.0) {
        return Err(Failure::refused(format!(
            "{path}: names none of the users; queues and users must have the same ids"
        )));
    }
    Ok(quotas)
}

/// The largest part of `tasks` that the servers can give to all users at once: the smallest weighted share where what is
/// promised is the weight.
fn kept(
    instance: &Instance,
    tasks: &[f64],
    solver: &dyn Solver,
    common: CommonOptions,
) -> Result<f64, Failure> {
    let mut draft = Draft::from(instance);
    let mut promised = instance.users().zip(tasks).map(|(user, tasks)| tasks * user.task_share());
    draft.users.retain_mut(|user| {
        let promise = promised.next().unwrap_or(0.0);
        match Decimal::from_f64(promise) {
            Ok(weight) if !weight.is_zero() => {
                user.weight = weight;
                true
            }
            // Nothing is promised, and that can be kept.
            _ => false,
        }
    });
    if draft.users.is_empty() {
        return Ok(1.0);
    }
    let promises = draft.build()?;
    let solved = Solved::new(&promises, solver, Objective::Drfh, common)?;
    solved.certified()?;
    Ok(Headline::new(&promises, &solved.solution).value.min(1.0))
}
