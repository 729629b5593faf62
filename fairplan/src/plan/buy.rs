//! The cheapest servers with which every user reaches its target, and the check that it does.

use super::TargetOptions;
use super::target::Asked;
use super::whole::{bought, in_whole_tasks, place, placed};
use super::whole_part::WholePart;
use crate::solve::{AUTO, SOLVING, Solved, solver};
use crate::tolerance::{PROMISED, REACHED};
use crate::{Control, Error, Placed, Progress};
use fairplan_instances::wording::printable;
use fairplan_instances::{
    Catalog, Deadline, Decimal, Draft, DraftUser, Instance, InstanceError, Objective, Obstacle, Placement,
    PlacementFigures, Purchase, QuotaPart, Solver, UserId, files, kinds_apart, lint_catalog, pieces_of,
    tasks_of,
};
use fairplan_report::planning::{PlanDocument, PlanParts, TaskKind, plan_document};
use fairplan_solver::Planner;
use fairplan_verify::{Verdict, least_cost};
use std::borrow::Cow;

/// What shall be reached, and how it may be bought.
#[derive(Clone, Debug)]
pub struct BuyOptions {
    /// What every user shall reach. Default: nothing, which is refused.
    pub target: TargetOptions,
    /// Whether tasks are whole, each on one server, and the plan is checked by a placement of all of them. Default: no.
    pub whole: bool,
    /// Whether DRFH by itself has to give every user its target, with nobody held to it; not with `whole` or `frontier`.
    /// Default: no.
    pub under_drfh: bool,
    /// The most that may be spent. Default: no limit.
    pub budget: Option<f64>,
    /// Into how many steps to divide the way from what is reached now to the target, to say what each costs; not with `whole`.
    /// Default: none.
    pub frontier: Option<u32>,
    /// What solves: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for BuyOptions {
    fn default() -> Self {
        Self {
            target: TargetOptions::default(),
            whole: false,
            under_drfh: false,
            budget: None,
            frontier: None,
            backend: AUTO.into(),
        }
    }
}

/// What to buy, or what stands against it.
pub struct Plan {
    /// The cheapest purchase; or, where nothing that may be bought is enough, what is in the way.
    pub outcome: Result<Purchase, Obstacle>,
    /// The cluster after the purchase; with `whole` each kind of tasks is a user `USER/KIND` of its own there.
    pub cluster: Option<Instance>,
    /// The placement of whole tasks on that cluster.
    pub placement: Option<Placement>,
    /// No purchase that is enough costs less, as the prices prove by themselves.
    pub proved: f64,
    asked: Asked,
    options: BuyOptions,
    part_before: f64,
    part_under_drfh: f64,
    /// The part of what is asked for of each user that DRFH gives it on the servers that there are, and with the purchase; empty where
    /// that was not asked.
    parts_under_drfh: [Vec<f64>; 2],
    frontier: Vec<(f64, Purchase)>,
    /// What prove what a purchase costs at least.
    prices: Vec<Vec<f64>>,
    sha256: String,
}

impl Plan {
    /// The `fairplan.plan.v1`.
    pub fn document(&self, instance: &Instance, catalog: &Catalog) -> PlanDocument {
        let placed = self.placement.as_ref().map(|placed| tasks_of(&self.asked.extended, &placed.tasks));
        plan_document(&PlanParts {
            instance,
            sha256: &self.sha256,
            extended: &self.asked.extended,
            catalog,
            tasks: if self.options.whole { TaskKind::Whole } else { TaskKind::Divisible },
            target: self.asked.target,
            budget: self.options.budget,
            under_drfh: self.options.under_drfh,
            part_before: self.part_before,
            part_under_drfh: self.part_under_drfh,
            parts_under_drfh: self.parts_under_drfh.each_ref().map(Vec::as_slice),
            scale_of_groups: &self.asked.scale_of_groups,
            required: &self.asked.required,
            placed: placed.as_deref(),
            proof: (self.proved, &self.prices),
            outcome: self.outcome.as_ref(),
            frontier: &self.frontier,
        })
    }

    /// The placement as a result of its own, and the cluster that it belongs to.
    pub fn placed(&self) -> Option<(&Instance, Placed)> {
        let (cluster, placement) = (self.cluster.as_ref()?, self.placement.clone()?);
        let figures = PlacementFigures::new(cluster, &placement);
        let sha256 = files::sha256_hex(cluster);
        Some((
            cluster,
            Placed { policy: "plan".into(), seed: 0, placement, figures, divisions: Vec::new(), sha256 },
        ))
    }
}

/// Finds the cheapest servers of a catalog with which every user reaches its target, and checks the plan: by an allocation, or
/// a placement of whole tasks, that fits.
///
/// That nothing is enough is an answer: [`Plan::outcome`] says what stands against it. Of a user whose tasks consist of kinds so many
/// pieces of each kind are asked for, which run wherever they may.
///
/// ```
/// use fairplan::{BuyOptions, Control, TargetOptions, buy, generate, read};
/// use std::io::Write;
///
/// let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
/// file.write_all(b"id,price\nhigh-cpu,3\nhigh-memory,2\n").unwrap();
/// let instance = generate::drfh_fig1()?;
/// let catalog = read::catalog(file.path().to_str().unwrap(), &instance)?;
/// let target = TargetOptions { share: Some("0.9".parse().unwrap()), ..TargetOptions::default() };
/// let options = BuyOptions { target, ..BuyOptions::default() };
/// let plan = buy(&instance, &catalog, &options, &Control::none())?;
/// assert!(plan.outcome.is_ok_and(|purchase| purchase.cost > 0.0));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn buy(
    instance: &Instance,
    catalog: &Catalog,
    options: &BuyOptions,
    control: &Control<'_>,
) -> Result<Plan, Error> {
    if options.under_drfh {
        instance.without_quotas("plan buy --under-drfh")?;
    }
    let deadline = control.deadline.after_part(SOLVING);
    let planning = &*solver(&options.backend, &deadline)?;
    let asked = options.target.asked(instance, planning, control);
    let mut asked = asked.map_err(|error| error.by(&deadline))?;
    for warning in lint_catalog(&asked.extended, catalog) {
        (control.progress)(Progress::Note(&warning.to_string()));
    }
    if options.whole {
        catalog.check_domains(&asked.extended)?;
        in_whole_tasks(&mut asked, control);
    }
    control.stage("planning");
    let plan = plan(asked, catalog, options, planning, &deadline);
    let mut plan = plan.map_err(|error| error.by(&deadline))?;
    let Asked { extended, .. } = &plan.asked;
    let (apart, pieces) = pieces(&plan.asked)?;
    let users = apart.as_ref().unwrap_or(extended);
    if let Ok(purchase) = &plan.outcome {
        let users = &*seen(users, options)?;
        let cluster = catalog.added_to(users, &purchase.counts, false).build()?;
        match &plan.placement {
            Some(placement) => placed(&cluster, placement, &pieces)?,
            None => {
                let checking = solver(&options.backend, &control.deadline)?;
                let reached = reached(&cluster, &pieces, &*checking, control);
                reached.map_err(|error| error.by(&control.deadline))?;
            }
        }
        plan.cluster = Some(match options.whole {
            true => cluster,
            false => bought(extended, catalog, purchase, control)?,
        });
    }
    plan.proved = least_cost(users, catalog, &pieces, options.whole, &plan.prices);
    plan.sha256 = files::sha256_hex(instance);
    Ok(plan)
}

/// The instance with each kind of tasks as a user of its own, where there are kinds, and what is asked for of each.
pub(super) fn pieces(asked: &Asked) -> Result<(Option<Instance>, Vec<f64>), Error> {
    Ok((kinds_apart(&asked.extended)?, pieces_of(&asked.extended, &asked.required)))
}

/// Users as tasks see them that are whole or divided: whole ones meet rules of their own.
fn seen<'a>(users: &'a Instance, options: &BuyOptions) -> Result<Cow<'a, Instance>, Error> {
    Ok(if options.whole { Cow::Borrowed(users) } else { users.divided()? })
}

/// The plan before its check.
fn plan(
    asked: Asked,
    catalog: &Catalog,
    options: &BuyOptions,
    solver: &dyn Solver,
    deadline: &Deadline,
) -> Result<Plan, Error> {
    let (apart, pieces) = pieces(&asked)?;
    let users = &*seen(apart.as_ref().unwrap_or(&asked.extended), options)?;
    let mut planner =
        Planner::new(users, catalog, pieces.clone(), options.whole, options.budget, solver)?.within(deadline);
    if apart.is_some() {
        planner = planner.with_kinds_of(&asked.extended, &asked.required);
    }
    let nothing = vec![0; catalog.types.len()];
    let part_before = planner.part_with(&nothing)?;
    // Among whom DRFH divides: users with the tasks that they grow to, exactly, if these are divided.
    let divided = |instance: &Instance| if options.whole { Ok(None) } else { asked.in_parts(instance) };
    if let Some((parts, required)) = divided(&asked.extended)? {
        planner = planner.with_kinds_of(&parts, &required);
    }
    if let Some(ruled) = asked.under_quotas.as_ref().filter(|_| part_before.is_finite()) {
        let dividing = |ruled: &Instance| -> Result<(Instance, Vec<f64>), Error> {
            Ok(divided(ruled)?.unwrap_or_else(|| (ruled.clone(), asked.required.clone())))
        };
        let (users, required) = dividing(ruled)?;
        planner = planner.with_kinds_of(&users, &required);
        // What cannot be kept today gives nobody anything.
        if let Err(InstanceError::Guarantees(_)) = planner.parts_under_drfh(&nothing) {
            let (users, required) = dividing(&ruled.without_parts(&[QuotaPart::Guarantees])?)?;
            planner = planner.with_kinds_of(&users, &required);
        }
    }
    let (outcome, placement) = if options.whole {
        let place = &mut |variant: &Instance, order| place(variant, order, &pieces, deadline);
        match planner.cheapest_of_whole_tasks(place)? {
            Ok((purchase, placement)) => (Ok(purchase), Some(placement)),
            Err(mut obstacle) => {
                let is_by_rules =
                    obstacle.kept_out.as_ref().is_some_and(|kept_out| !kept_out.rules.is_empty());
                if !obstacle.nowhere && !is_by_rules {
                    WholePart { asked: &asked, catalog, options, solver, deadline }.tell(&mut obstacle)?;
                }
                (Err(obstacle), None)
            }
        }
    } else {
        let purchase =
            if options.under_drfh { planner.cheapest_under_drfh()? } else { planner.cheapest(1.0)? };
        (purchase.map_or_else(|| planner.obstacle().map(Err), |purchase| Ok(Ok(purchase)))?, None)
    };
    let with_purchase = match &outcome {
        Ok(purchase) if part_before.is_finite() => planner.parts_under_drfh(&purchase.counts)?,
        _ => Vec::new(),
    };
    let part_under_drfh = match with_purchase.as_slice() {
        [] => 1.0,
        parts => parts.iter().copied().fold(f64::INFINITY, f64::min),
    };
    // Who waits today is told of groups.
    let is_asked = asked.extended.has_groups() && part_before.is_finite();
    let today = is_asked.then(|| planner.parts_under_drfh(&nothing));
    let today = match today.unwrap_or_else(|| Ok(Vec::new())) {
        Err(error @ InstanceError::OutOfTime) => return Err(error.into()),
        parts => parts.unwrap_or_default(),
    };
    let most = outcome.as_ref().map_or_else(|obstacle| obstacle.part, |_| 1.0);
    let mut frontier = Vec::new();
    if let Some(steps) = options.frontier.filter(|_| part_before.is_finite()) {
        let least = part_before.min(most);
        for step in 0..=steps {
            let part = least + (most - least) * f64::from(step) / f64::from(steps);
            // What is reached now costs nothing, whatever its last digit.
            let asked = if step == 0 { part * (1.0 - REACHED) } else { part };
            frontier.extend(planner.cheapest(asked)?.map(|purchase| (part, purchase)));
            if least == most {
                break;
            }
        }
    }
    let prices = planner.prices()?;
    drop(planner);
    Ok(Plan {
        outcome,
        cluster: None,
        placement,
        proved: 0.0,
        asked,
        options: options.clone(),
        part_before,
        part_under_drfh,
        parts_under_drfh: [today, with_purchase],
        frontier,
        prices,
        sha256: String::new(),
    })
}

/// An error unless an allocation that the checker finds to fit gives all users together what is asked for: their max-min
/// where that is their weight.
pub(super) fn reached(
    cluster: &Instance,
    required: &[f64],
    solver: &dyn Solver,
    control: &Control<'_>,
) -> Result<(), Error> {
    let mut draft = Draft { users: Vec::new(), groups: Vec::new(), ..Draft::from(cluster) };
    let mut works = Vec::new();
    for (user, work) in cluster.users().zip(required).filter(|(_, work)| **work > 0.0) {
        let weight = Decimal::from_f64(work * user.task_share()).map_err(Error::input)?;
        draft.users.push(DraftUser { weight, tasks: None, group: None, ..user.into() });
        works.push(*work);
    }
    if works.is_empty() {
        return Ok(());
    }
    let variant = draft.build()?;
    let solved = Solved::new(&variant, solver, Objective::Drfh, control)?;
    // What is optimal does not matter here: what is allocated must fit, and must be enough.
    let unfit = |verdict: &&Verdict| ["capacity", "eligibility", "task-limits"].contains(&verdict.property);
    if let Some(Verdict { property, witness, .. }) = solved.failures.iter().find(unfit) {
        return Err(Error::uncertified(format!("the plan's allocation does not fit: {property}: {witness}")));
    }
    for (i, work) in works.iter().enumerate() {
        let user = variant.user(UserId(i));
        let done = solved.solution.allocation.dominant_share(&variant, user.index()) / user.task_share();
        if done < work * (1.0 - PROMISED) {
            let id = printable(user.id(), 60);
            return Err(Error::uncertified(format!(
                "the plan gives user {id} {done} tasks instead of {work}"
            )));
        }
    }
    Ok(())
}
