//! `plan buy`: the cheapest servers with which every user reaches its target.

use super::target::{Asked, TargetArguments};
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::commands::compare::is_soon_bounded;
use crate::commands::solve::{SOLVING, backend_name, in_time, solver_within};
use crate::commands::solved::Solved;
use crate::commands::{tell, warn};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::{output, progress};
use fairplan_heuristics::{PlacementError, policy};
use fairplan_instances::wording::printable;
use fairplan_instances::{
    Catalog, Deadline, Decimal, Draft, DraftUser, Instance, Objective, Obstacle, Placement, Purchase, Solver,
    SolverError, UserId, files,
};
use fairplan_report::output::{Destination, Prepared, commit};
use fairplan_report::placement::{PlacementFigures, PlacementSettings, placement_document};
use fairplan_report::planning::{PlanParts, TaskKind, plan_document};
use fairplan_report::{summary, table, write_json};
use fairplan_solver::{Planner, ServingOrder, whole_task_bracket};
use fairplan_verify::{PlacementClaim, Verdict, least_cost, verify_placement};
use std::path::{Path, PathBuf};

/// Find the cheapest servers of a catalog with which every user reaches its target
#[derive(Debug, clap::Args)]
#[command(after_help = "\
CATALOG is a fairplan.catalog.v1 or a table with the columns id, price, optionally limit and like, and one a resource. A \
type called like a server class is more of that class; `like` names the class as which users treat a new type. A target \
share is measured against the cluster as it is: a fixed amount of work, which buying does not move. The plan has room for \
what is asked for of all users together, none taking more. Its bound is that of HiGHS's branch and bound; beside it stands \
the one that prices of resources prove by themselves (proved_bound), which needs no trust in a solver. If nothing that may \
be bought is enough, the exit status is 1, with the user and the resource that stand against it and how much less would \
do. The result is a fairplan.plan.v1.

Example: fairplan generate drfh-fig1 -o fig1.json
         printf 'id,price\\nhigh-cpu,3\\nhigh-memory,2\\n' > catalog.csv
         fairplan plan buy fig1.json --catalog catalog.csv --share 0.9")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// What can be bought, with prices
    #[arg(long, value_name = "CATALOG")]
    catalog: Option<String>,
    #[command(flatten)]
    target: TargetArguments,
    /// Count whole tasks, each on one server, and check the plan by a placement of all of them
    #[arg(long)]
    whole: bool,
    /// Buy so much that DRFH by itself gives every user its target, with nobody held to it; the bound is still that of having
    /// room for all targets
    #[arg(long, conflicts_with_all = ["whole", "frontier"])]
    under_drfh: bool,
    /// The most that may be spent
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    budget: Option<Decimal>,
    /// Say too what so many steps from what is reached now to the target cost
    #[arg(long, value_name = "N", conflicts_with = "whole", value_parser = clap::value_parser!(u32).range(1..=1000))]
    frontier: Option<u32>,
    /// Write the cluster after the purchase here, as an instance
    #[arg(long, value_name = "FILE")]
    cluster_out: Option<PathBuf>,
    /// With --whole: write the placement on that cluster here
    #[arg(long, value_name = "FILE", requires = "whole")]
    placement_out: Option<PathBuf>,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// How allocations are solved: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of servers to buy (with --frontier, of its points)
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    catalog: String,
    target: TargetArguments,
    whole: bool,
    under_drfh: bool,
    budget: Option<f64>,
    frontier: Option<u32>,
    cluster_out: Option<Destination>,
    placement_out: Option<Destination>,
    time_limit: TimeLimit,
    backend: String,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        let source: InstanceSource = arguments.instance.try_into()?;
        let catalog = arguments.catalog.ok_or_else(|| {
            Failure::refused(
                "name a --catalog of what can be bought, or say worth, lose, diff or growth; see --help",
            )
        })?;
        if catalog == "-" && source.takes_standard_input() {
            return Err(Failure::refused("only one of INSTANCE and --catalog can be standard input"));
        }
        let file = |path: Option<&Path>| path.map(output::document).transpose();
        Ok(Self {
            source,
            catalog,
            target: arguments.target,
            whole: arguments.whole,
            under_drfh: arguments.under_drfh,
            budget: arguments.budget.map(Decimal::to_f64),
            frontier: arguments.frontier,
            cluster_out: file(arguments.cluster_out.as_deref())?,
            placement_out: file(arguments.placement_out.as_deref())?,
            time_limit: arguments.time_limit,
            backend: arguments.backend,
            format,
            destination,
        })
    }
}

/// What was found.
struct Found {
    part_before: f64,
    part_under_drfh: f64,
    outcome: Result<Purchase, Obstacle>,
    placement: Option<Placement>,
    frontier: Vec<(f64, Purchase)>,
    /// What prove what a purchase costs at least.
    prices: Vec<Vec<f64>>,
}

/// Reads, plans, checks, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    let catalog = files::read_catalog(&job.catalog, &instance)?;
    warn(common, &instance);
    let deadline = job.time_limit.deadline();
    let planning = deadline.after_part(SOLVING);
    let solver = solver_within(&job.backend, &planning)?;
    let asked = job.target.asked(&instance, &*solver, common);
    let mut asked = asked.map_err(|failure| in_time(&planning, failure))?;
    if job.whole {
        // What is a whole number but for rounding is one.
        asked.required.iter_mut().for_each(|work| *work = (*work * (1.0 - 1e-9)).ceil());
    }
    let plan = || job.plan(&asked, &catalog, &*solver, &planning);
    let found = progress::during(common.quiet, "planning", plan);
    let found = found.map_err(|failure| in_time(&planning, failure))?;
    let mut prepared = Vec::new();
    if let Ok(purchase) = &found.outcome {
        let cluster = catalog.added_to(&asked.extended, &purchase.counts, false).build()?;
        match &found.placement {
            Some(placement) => placed(&cluster, placement, &asked.required)?,
            None => {
                let solver = solver_within(&job.backend, &deadline)?;
                reached(&cluster, &asked.required, &*solver, common)
                    .map_err(|failure| in_time(&deadline, failure))?;
            }
        }
        prepared = job.prepare_cluster(&cluster, found.placement.as_ref())?;
    }
    let sha256 = files::sha256_hex(&instance);
    let proved = least_cost(&asked.extended, &catalog, &asked.required, job.whole, &found.prices);
    let document = plan_document(&PlanParts {
        instance: &instance,
        sha256: &sha256,
        extended: &asked.extended,
        catalog: &catalog,
        tasks: if job.whole { TaskKind::Whole } else { TaskKind::Divisible },
        target: asked.target,
        budget: job.budget,
        under_drfh: job.under_drfh,
        part_before: found.part_before,
        part_under_drfh: found.part_under_drfh,
        required: &asked.required,
        placed: found.placement.as_ref().map(|placement| placement.tasks.as_slice()),
        proof: (proved, &found.prices),
        outcome: found.outcome.as_ref(),
        frontier: &found.frontier,
    });
    prepared.push(job.destination.prepare(|out| match job.format.table() {
        None => write_json(out, &document),
        Some(format) => table::write_plan(out, format, &document),
    })?);
    commit(prepared)?;
    tell(common, || summary::plan(&document));
    Ok(Answer::yes_if(document.reachable))
}

impl Job {
    fn plan(
        &self,
        asked: &Asked,
        catalog: &Catalog,
        solver: &dyn Solver,
        deadline: &Deadline,
    ) -> Result<Found, Failure> {
        let required = asked.required.clone();
        let mut planner = Planner::new(&asked.extended, catalog, required, self.whole, self.budget, solver)?
            .within(deadline);
        let part_before = planner.part_with(&vec![0; catalog.types.len()])?;
        let (purchase, placement) = if self.whole {
            match planner.cheapest_of_whole_tasks(&mut |variant, order| {
                place(variant, order, &asked.required, deadline)
            })? {
                Some((purchase, placement)) => (Some(purchase), Some(placement)),
                None => (None, None),
            }
        } else if self.under_drfh {
            (planner.cheapest_under_drfh()?, None)
        } else {
            (planner.cheapest(1.0)?, None)
        };
        let outcome = match purchase {
            Some(purchase) => Ok(purchase),
            None => Err(planner.obstacle()?),
        };
        let part_under_drfh = match &outcome {
            Ok(purchase) if part_before.is_finite() => planner.part_under_drfh(&purchase.counts)?,
            _ => 1.0,
        };
        let most = outcome.as_ref().map_or_else(|obstacle| obstacle.part, |_| 1.0);
        let mut frontier = Vec::new();
        if let Some(steps) = self.frontier.filter(|_| part_before.is_finite()) {
            let least = part_before.min(most);
            for step in 0..=steps {
                let part = least + (most - least) * f64::from(step) / f64::from(steps);
                // What is reached now costs nothing, whatever its last digit.
                let asked = if step == 0 { part * (1.0 - 1e-9) } else { part };
                frontier.extend(planner.cheapest(asked)?.map(|purchase| (part, purchase)));
                if least == most {
                    break;
                }
            }
        }
        let prices = planner.prices()?;
        Ok(Found { part_before, part_under_drfh, outcome, placement, frontier, prices })
    }

    /// The cluster, and the placement on it, where they are asked for.
    fn prepare_cluster(
        &self,
        cluster: &Instance,
        placement: Option<&Placement>,
    ) -> Result<Vec<Prepared>, Failure> {
        let mut prepared = Vec::new();
        if let Some(destination) = &self.cluster_out {
            prepared.push(destination.prepare(|out| files::write_json(cluster, out))?);
        }
        if let (Some(destination), Some(placement)) = (&self.placement_out, placement) {
            let figures = PlacementFigures::new(cluster, placement);
            let sha256 = files::sha256_hex(cluster);
            let settings = PlacementSettings { policy: "plan", seed: 0, servers: true };
            let document = placement_document(cluster, placement, &figures, &sha256, settings);
            prepared.push(destination.prepare(|out| write_json(out, &document))?);
        }
        Ok(prepared)
    }
}

/// The first placement that has all tasks: by two policies, or by one and then by patterns where that takes seconds.
fn place(
    variant: &Instance,
    order: ServingOrder,
    required: &[f64],
    deadline: &Deadline,
) -> Result<Placement, SolverError> {
    let needed: u64 = required.iter().map(|tasks| *tasks as u64).sum();
    let has_all = |placement: &Placement| placement.tasks.iter().sum::<u64>() >= needed;
    let failed = |error: PlacementError| match error {
        PlacementError::OutOfTime { .. } => SolverError::OutOfTime,
        _ => SolverError::Unsupported(error.to_string()),
    };
    let mut last = None;
    let (policies, patterns) = match order {
        ServingOrder::LargestFirst => (&["best-fit", "first-fit"][..], false),
        ServingOrder::Evenly => (&["best-fit"][..], is_soon_bounded(variant)),
    };
    for name in policies {
        let policy = policy(name, 0).map_err(|error| SolverError::Unsupported(error.to_string()))?;
        let placement = policy.place_within(variant, deadline).map_err(failed)?;
        if has_all(&placement) {
            return Ok(placement);
        }
        last = Some(placement);
    }
    match last {
        Some(placement) if !patterns => Ok(placement),
        _ => Ok(whole_task_bracket(variant, deadline)?.placement),
    }
}

/// An error unless the checker counts all required tasks on the servers.
fn placed(cluster: &Instance, placement: &Placement, required: &[f64]) -> Result<(), Failure> {
    let verdicts = verify_placement(cluster, &PlacementClaim::from(placement));
    if let Some(verdict) = verdicts.iter().find(|verdict| !verdict.holds) {
        let (property, witness) = (verdict.property, &verdict.witness);
        return Err(Failure::internal(format!(
            "the plan's placement fails its check: {property}: {witness}"
        )));
    }
    let short = placement.tasks.iter().zip(required).position(|(tasks, work)| (*tasks as f64) < *work);
    match short {
        None => Ok(()),
        Some(user) => {
            Err(Failure::internal(format!("the plan's placement leaves tasks of users[{user}] out")))
        }
    }
}

/// An error unless an allocation that the checker finds to fit gives all users together what is asked for: their max-min
/// where that is their weight.
fn reached(
    cluster: &Instance,
    required: &[f64],
    solver: &dyn Solver,
    common: CommonOptions,
) -> Result<(), Failure> {
    let mut draft = Draft { users: Vec::new(), ..Draft::from(cluster) };
    let mut works = Vec::new();
    for (user, work) in cluster.users().zip(required).filter(|(_, work)| **work > 0.0) {
        let weight = Decimal::from_f64(work * user.task_share()).map_err(Failure::refused)?;
        draft.users.push(DraftUser { weight, tasks: None, ..user.into() });
        works.push(*work);
    }
    if works.is_empty() {
        return Ok(());
    }
    let variant = draft.build()?;
    let solved = Solved::new(&variant, solver, Objective::Drfh, common)?;
    // What is optimal does not matter here: what is allocated must fit, and must be enough.
    let unfit = |verdict: &&Verdict| ["capacity", "eligibility", "task-limits"].contains(&verdict.property);
    if let Some(Verdict { property, witness, .. }) = solved.failures.iter().find(unfit) {
        return Err(Failure::internal(format!("the plan's allocation does not fit: {property}: {witness}")));
    }
    for (i, work) in works.iter().enumerate() {
        let user = variant.user(UserId(i));
        let done = solved.solution.allocation.dominant_share(&variant, user.index()) / user.task_share();
        // The program's slack, and the solver's.
        if done < work * (1.0 - 3e-9) {
            let id = printable(user.id(), 60);
            return Err(Failure::internal(format!(
                "the plan gives user {id} {done} tasks instead of {work}"
            )));
        }
    }
    Ok(())
}
