//! The best that any placement of whole tasks can do, from both sides, proved before anyone sees it.

mod in_time;

use crate::error::all_hold;
use crate::solve::{AUTO, Solved, hashed, solver};
use crate::{Control, Error};
use fairplan_heuristics::{PlacementError, device_policy, place_along, policy};
use fairplan_instances::wording::{choose, unknown};
use fairplan_instances::{
    AllocatedBracket, CountedGuarantees, Deadline, Instance, Objective, Placement, ProportionalBracket,
    QuotaPart, ResourceId, Solution, SolverError, WholeTaskBracket, keeps_guarantees_of_users,
};
use fairplan_report::allocated_bound::{AllocatedBoundDocument, allocated_bound_document, allocated_claim};
use fairplan_report::bound::{BoundDocument, DivisibleBound, bound_document, stated_bounds};
use fairplan_report::placement::ServerResults;
use fairplan_report::proportional_bound::{ProportionalBoundDocument, proportional_bound_document};
use fairplan_solver::{
    allocated_bracket, allocated_by_prices, allocated_placement, joined, proportional_bracket,
    proportional_joined, proportional_with_best_of, whole_task_bracket, with_best_of,
};
use fairplan_verify::{
    PlacementClaim, ProportionalClaim, Verdict, WholeTaskClaim, is_best_sum, verify_allocated,
    verify_divisible, verify_placement, verify_proportional, verify_whole_tasks,
};
use in_time::Bracketing;
use std::borrow::Cow;
use std::cell::RefCell;
use std::str::FromStr;

/// What whole tasks are bounded for, and compared by: `drfh`, `pf` or `allocated=RESOURCE`.
///
/// ```
/// use fairplan::WholeTaskObjective;
///
/// assert_eq!("allocated=gpu".parse(), Ok(WholeTaskObjective::Allocated("gpu".into())));
/// assert!("utilitarian".parse::<WholeTaskObjective>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WholeTaskObjective {
    /// The smallest weighted dominant share, of those who want more where tasks are limited.
    #[default]
    SmallestShare,
    /// The sum `Σ w ln(dominant share)`.
    ProportionalFairness,
    /// How much of this resource is taken.
    Allocated(String),
}

impl FromStr for WholeTaskObjective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse(), text.split_once('=')) {
            (Ok(Objective::Drfh), _) => Ok(Self::SmallestShare),
            (Ok(Objective::ProportionalFairness), _) => Ok(Self::ProportionalFairness),
            (_, Some(("allocated", resource))) if !resource.is_empty() => {
                Ok(Self::Allocated(resource.into()))
            }
            _ => {
                let known = ["drfh", "pf", "allocated=RESOURCE"];
                Err(format!("whole tasks are not bounded for it; {}", choose(text, &known)))
            }
        }
    }
}

/// How to bound.
#[derive(Clone, Debug)]
pub struct BoundOptions {
    /// What finds the bound of divisible tasks: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self { backend: AUTO.into() }
    }
}

/// The smallest weighted dominant share of whole tasks, between a placement and a proved bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The bound of divisible tasks.
    pub divisible: DivisibleBound,
    /// The bracket of whole ones.
    pub bracket: WholeTaskBracket,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl Bound {
    /// The `fairplan.bound.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> BoundDocument<ServerResults<'a>> {
        bound_document(instance, &self.sha256, &self.divisible, &self.bracket)
    }
}

/// The sum `Σ w ln(dominant share)` of whole tasks, between a placement and a proved bound.
#[derive(Clone, Debug)]
pub struct ProportionalBound {
    /// The bound of divisible tasks, where it can be compared (everybody can have a task) and was proved in time.
    pub divisible: Option<DivisibleBound>,
    /// The bracket of whole ones.
    pub bracket: ProportionalBracket,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl ProportionalBound {
    /// The `fairplan.proportional-bound.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> ProportionalBoundDocument<ServerResults<'a>> {
        proportional_bound_document(instance, &self.sha256, self.divisible.as_ref(), &self.bracket)
    }
}

/// The most of a resource that whole tasks can take, between a placement and a proved bound.
#[derive(Clone, Debug)]
pub struct AllocatedBound {
    /// The bracket.
    pub bracket: AllocatedBracket,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl AllocatedBound {
    /// The `fairplan.allocated-bound.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> AllocatedBoundDocument<ServerResults<'a>> {
        allocated_bound_document(instance, &self.sha256, &self.bracket)
    }
}

/// Brackets the smallest weighted dominant share that whole tasks can reach, where users have kinds with all pieces of a task somewhere,
/// and within the rules inside servers (devices, limits a server).
///
/// Whom a limit holds needs no more than it has: a level is about those who want more. Limits and reserves are counted as servers are. Of
/// rules between servers the bound counts whole gangs, what each user could have alone, and whole gangs in each domain. It holds for placements
/// that give users the whole tasks that they are guaranteed; what groups are guaranteed beyond that is not counted, and nothing where no
/// placement is found that keeps them together ([`CountedGuarantees`]). Where there are quotas or rules between servers, the placement is the best of the policies', which
/// keep them, and, where nothing is guaranteed, of what limits, reserves and rules between servers leave of the patterns.
///
/// By a deadline the bracket is as narrow as it got, and proved; [`Error::TimeLimit`] if there is none yet.
///
/// ```
/// use fairplan::{BoundOptions, Control, bound, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let bound = bound(&instance, &BoundOptions::default(), &Control::none())?;
/// assert_eq!(bound.bracket.placement.tasks, [10, 10]);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn bound(instance: &Instance, options: &BoundOptions, control: &Control<'_>) -> Result<Bound, Error> {
    let divisible = divided(instance, Objective::Drfh, &options.backend, control)?.bound;
    let bracket = || {
        let found = bracketed(&divisible.counted(instance), control);
        if !divisible.is_above_guarantees()
            || found.as_ref().is_ok_and(|found| keeps_guarantees(instance, found))
        {
            return found.map(|bracket| (divisible, bracket));
        }
        if let Err(failure @ Error::TimeLimit { .. }) = found {
            return Err(failure);
        }
        let divisible =
            divided_without_guarantees(instance, Objective::Drfh, &options.backend, control)?.bound;
        let bracket = bracketed(&divisible.counted(instance), control)?;
        Ok((divisible, bracket))
    };
    let ((divisible, bracket), sha256) = hashed(instance, bracket)?;
    Ok(Bound { divisible, bracket, sha256 })
}

/// The same for proportional fairness: the sum `Σ w ln(dominant share)` of users who stand side by side.
///
/// ```
/// use fairplan::{BoundOptions, Control, bound_proportional, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let bound = bound_proportional(&instance, &BoundOptions::default(), &Control::none())?;
/// assert_eq!(bound.bracket.placement.tasks, [10, 10]);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn bound_proportional(
    instance: &Instance,
    options: &BoundOptions,
    control: &Control<'_>,
) -> Result<ProportionalBound, Error> {
    instance.without_groups("bound --objective pf")?;
    let before = control.until(control.deadline.after_part(1.0 - DIVISIBLE));
    let (bracket, sha256) = hashed(instance, || proportionally_bracketed(instance, &before))?;
    let find = || divided(instance, Objective::ProportionalFairness, &options.backend, control);
    let divisible = match bracket.without_tasks.is_empty().then(find).transpose() {
        // The bracket stands without it.
        Err(Error::TimeLimit { .. }) => {
            control.note("time was over: the bound of divisible tasks is left out");
            None
        }
        found => found?.map(|divided| divided.bound),
    };
    Ok(ProportionalBound { divisible, bracket, sha256 })
}

/// How much of a resource any placement of whole tasks can take: tasks may be refused, and nobody has more than all its own.
///
/// By a deadline the bracket is as narrow as it got, and proved.
///
/// ```
/// use fairplan::{Control, bound_allocated, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let bracket = bound_allocated(&instance, "memory", &Control::none())?.bracket;
/// assert!(bracket.lower(&instance) <= bracket.upper);
/// assert!(bracket.upper <= instance.total_units(bracket.resource));
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for a resource that the instance does not have.
pub fn bound_allocated(
    instance: &Instance,
    resource: &str,
    control: &Control<'_>,
) -> Result<AllocatedBound, Error> {
    let resource = resource_named(instance, resource)?;
    let (bracket, sha256) = hashed(instance, || allocated_bracketed(instance, resource, control))?;
    Ok(AllocatedBound { bracket, sha256 })
}

/// A placement of whole tasks that takes much of a resource: tasks may be refused, and nobody has more than all its own. How much more
/// could be taken, [`bound_allocated`] says, which takes longer.
///
/// ```
/// use fairplan::{Control, allocate_most, generate};
/// use fairplan::instances::ResourceId;
///
/// let instance = generate::drfh_fig1()?;
/// let placement = allocate_most(&instance, "memory", &Control::none())?;
/// assert!(placement.units_of(&instance, ResourceId(1)) > 0);
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for a resource that the instance does not have; kinds of tasks are refused: servers are filled with tasks, not with
/// pieces of which a task needs several.
pub fn allocate_most(instance: &Instance, resource: &str, control: &Control<'_>) -> Result<Placement, Error> {
    instance.without_kinds("filling servers for one resource")?;
    let resource = resource_named(instance, resource)?;
    let filled = allocated_placement(instance, resource, &control.deadline)?;
    let placement = match patterns_know_all_rules(instance) {
        true => filled,
        false => {
            let placements = Beside::new(instance, control).under_all_rules(&filled, control)?;
            taking_most(instance, resource, placements).unwrap_or(filled)
        }
    };
    let verdicts = verify_placement(instance, &PlacementClaim::from(&placement));
    all_hold("the placement breaks a rule", &verdicts).map(|()| placement)
}

/// The resource of this name.
pub(crate) fn resource_named(instance: &Instance, name: &str) -> Result<ResourceId, Error> {
    let position = instance.resources().iter().position(|resource| resource == name);
    position.map(ResourceId).ok_or_else(|| {
        let known = instance.resources().iter().map(String::as_str);
        Error::Setting(format!("objective = allocated={name}: {}", unknown("resource", name, known)))
    })
}

/// Brackets how much of a resource can be taken, and re-proves the bracket by code that shares nothing with the solver.
pub(crate) fn allocated_bracketed(
    instance: &Instance,
    resource: ResourceId,
    control: &Control<'_>,
) -> Result<AllocatedBracket, Error> {
    let beside = Beside::new(instance, control);
    let find = |control: &Control<'_>| {
        control.stage("bounding what can be allocated");
        let mut bracket = allocated_bracket(instance, resource, &control.deadline.after_part(SEARCHING))?;
        let is_best = bracket.is_closed(instance);
        let placements = beside.what_was_found(&bracket.placement, is_best, control)?;
        bracket.placement = taking_most(instance, resource, placements).unwrap_or(bracket.placement);
        Ok(bracket)
    };
    let join = |best: &AllocatedBracket, found: AllocatedBracket| {
        let is_lower = found.upper < best.upper;
        let placements = vec![best.placement.clone(), found.placement.clone()];
        let mut joined = if is_lower { found } else { best.clone() };
        joined.placement = taking_most(instance, resource, placements).unwrap_or(joined.placement);
        Ok((is_lower || joined.placement != best.placement).then_some(joined))
    };
    let check = |bracket: &AllocatedBracket, end: &Deadline| {
        control.stage(CHECKING);
        verify_allocated(instance, &allocated_claim(instance, bracket), end)
    };
    let by_prices = |bracket: &AllocatedBracket| {
        let other = allocated_by_prices(instance, resource, bracket.placement.clone(), &control.deadline)?;
        // What time cut short may say less than what was proved before.
        match control.deadline.is_over() {
            true => Err(SolverError::OutOfTime.into()),
            false => Ok(other),
        }
    };
    let stands_in = Some(&by_prices as _);
    in_time::proved(control, &Bracketing { find: &find, join: &join, check: &check, stands_in })
}

/// The same around a placement that is there, without a search: the bound is the one that prices of devices alone prove, or else those of
/// divided tasks, which takes a moment and is a little looser.
///
/// ```
/// use fairplan::{Control, PlaceOptions, bound_allocated_around, generate, place};
///
/// let instance = generate::drfh_fig1()?;
/// let placement = place(&instance, &PlaceOptions::default(), &Control::none())?.placement;
/// let bracket = bound_allocated_around(&instance, "memory", placement, &Control::none())?.bracket;
/// assert!(bracket.lower(&instance) <= bracket.upper);
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for a resource that the instance does not have; a placement that breaks a rule.
pub fn bound_allocated_around(
    instance: &Instance,
    resource: &str,
    placement: Placement,
    control: &Control<'_>,
) -> Result<AllocatedBound, Error> {
    let resource = resource_named(instance, resource)?;
    let bracket = || {
        let bracket = allocated_by_prices(instance, resource, placement, &control.deadline)?;
        let verdicts = verify_allocated(instance, &allocated_claim(instance, &bracket), &control.deadline);
        all_hold(NOT_PROVED, &verdicts).map(|()| bracket)
    };
    let (bracket, sha256) = hashed(instance, bracket)?;
    Ok(AllocatedBound { bracket, sha256 })
}

/// The first of those placements that take most of a resource.
fn taking_most(instance: &Instance, resource: ResourceId, placements: Vec<Placement>) -> Option<Placement> {
    let units = |placement: &Placement| placement.units_of(instance, resource);
    placements.into_iter().reduce(|best, next| if units(&next) > units(&best) { next } else { best })
}

/// The part of the time that is left for the bound of divisible tasks.
const DIVISIBLE: f64 = 0.5;

const NOT_PROVED: &str = "the bounds of whole tasks are not proved";

/// Brackets the smallest share, and re-proves the bracket by code that shares nothing with the solver.
pub(crate) fn bracketed(instance: &Instance, control: &Control<'_>) -> Result<WholeTaskBracket, Error> {
    let check = |bracket: &WholeTaskBracket, end: &Deadline| {
        control.stage(CHECKING);
        let stated = Some(stated_bounds(instance, bracket, None));
        verify_whole_tasks(instance, &WholeTaskClaim { bracket, stated }, end)
    };
    best_found(instance, &check, control)
}

/// A bracket by patterns, with the best placement of all that keep the rules, as far as it passes a check.
pub(crate) fn best_found(
    instance: &Instance,
    check: &dyn Fn(&WholeTaskBracket, &Deadline) -> Vec<Verdict>,
    control: &Control<'_>,
) -> Result<WholeTaskBracket, Error> {
    let beside = Beside::new(instance, control);
    let find = |control: &Control<'_>| {
        control.stage("bounding whole tasks");
        let bracket = whole_task_bracket(instance, &control.deadline.after_part(SEARCHING))?;
        // Where nobody has anything the best are told apart by the tasks that wait.
        let is_best = bracket.is_closed && bracket.lower.is_none_or(|lower| lower.tasks > 0);
        let placements = beside.what_was_found(&bracket.placement, is_best, control)?;
        Ok(with_best_of(instance, bracket, placements)?)
    };
    let join = |best: &WholeTaskBracket, found: WholeTaskBracket| Ok(joined(instance, best, found)?);
    in_time::proved(control, &Bracketing { find: &find, join: &join, check, stands_in: None })
}

/// Whether what patterns place keeps all rules: neither quotas nor rules between servers are among them.
fn patterns_know_all_rules(instance: &Instance) -> bool {
    instance.quotas().is_empty() && !instance.has_rules_between_servers()
}

/// The part of the time in which patterns are looked for: what rules leave of them is filled in the rest.
const SEARCHING: f64 = 0.8;

/// The part of the time for the policies.
const PLACING: f64 = 0.4;

/// What begins when a bracket is checked.
const CHECKING: &str = "checking the bounds";

/// Placements beside those by patterns: what the policies place, once for all searches.
struct Beside<'a> {
    instance: &'a Instance,
    control: &'a Control<'a>,
    by_policies: RefCell<Option<Vec<Placement>>>,
}

impl<'a> Beside<'a> {
    fn new(instance: &'a Instance, control: &'a Control<'a>) -> Self {
        Self { instance, control, by_policies: RefCell::new(None) }
    }

    /// Those that may be better than what a search by patterns found: where these do not know all rules, those that do; unless it is the
    /// best, what was found and what the policies place. Nothing else, nor where the policies have no time.
    fn what_was_found(
        &self,
        found: &Placement,
        is_best: bool,
        control: &Control<'_>,
    ) -> Result<Vec<Placement>, Error> {
        if !patterns_know_all_rules(self.instance) {
            return self.under_all_rules(found, control);
        }
        if is_best {
            return Ok(Vec::new());
        }
        let placements = self.by_policies()?;
        Ok(if placements.is_empty() { placements } else { [vec![found.clone()], placements].concat() })
    }

    /// Placements that keep all rules: what these leave of a placement that knows too few, filled up, and the policies'. Who is guaranteed
    /// something comes before whatever a placement has, so that then only the policies' are left. There is at least one.
    fn under_all_rules(&self, along: &Placement, control: &Control<'_>) -> Result<Vec<Placement>, Error> {
        let mut placements = self.by_policies()?;
        if !self.instance.has_guarantees() {
            match place_along(self.instance, along, None, &control.deadline) {
                // The policies' stand without it.
                Err(PlacementError::OutOfTime { .. }) => {}
                along => placements.insert(0, along?),
            }
        }
        match placements.is_empty() {
            true => Err(SolverError::OutOfTime.into()),
            false => Ok(placements),
        }
    }

    /// What the policies place, which know all rules, as far as they are done in time.
    fn by_policies(&self) -> Result<Vec<Placement>, Error> {
        if let Some(known) = &*self.by_policies.borrow() {
            return Ok(known.clone());
        }
        let until = self.control.deadline.after_part(PLACING);
        let all = PLACING_POLICIES.map(|name| policy(name, 0)).into_iter().chain([device_policy("fgd", 0)]);
        let (mut placements, mut failure) = (Vec::new(), None);
        for policy in all {
            match policy?.place_within(self.instance, &until) {
                Ok(placement) => placements.push(placement),
                // Who looks at the devices of one resource has none to look at.
                Err(PlacementError::DevicesNeeded { .. } | PlacementError::OutOfTime { .. }) => {}
                Err(other) => failure = Some(other),
            }
        }
        if let (Some(failure), true) = (failure, placements.is_empty()) {
            return Err(failure.into());
        }
        *self.by_policies.borrow_mut() = Some(placements.clone());
        Ok(placements)
    }
}

/// Policies of which the best placement is taken where patterns know too little, or are not proved to be the best.
const PLACING_POLICIES: [&str; 4] = ["best-fit", "first-fit", "worst-fit", "dot-product"];

/// Brackets the sum of logarithms, and re-proves the bracket by code that shares nothing with the solver.
fn proportionally_bracketed(
    instance: &Instance,
    control: &Control<'_>,
) -> Result<ProportionalBracket, Error> {
    let beside = Beside::new(instance, control);
    let find = |control: &Control<'_>| {
        control.stage("bounding whole tasks");
        let bracket = proportional_bracket(instance, &control.deadline.after_part(SEARCHING))?;
        let is_best = is_best_sum(instance, &bracket);
        let placements = beside.what_was_found(&bracket.placement, is_best, control)?;
        Ok(proportional_with_best_of(instance, bracket, placements)?)
    };
    let join = |best: &ProportionalBracket, found: ProportionalBracket| {
        Ok(proportional_joined(instance, best, found)?)
    };
    let check = |bracket: &ProportionalBracket, end: &Deadline| {
        control.stage(CHECKING);
        let proved_optimal = Some(is_best_sum(instance, bracket));
        verify_proportional(instance, &ProportionalClaim { bracket, proved_optimal }, end)
    };
    in_time::proved(control, &Bracketing { find: &find, join: &join, check: &check, stands_in: None })
}

/// The properties without which the bound of a solution holds all the same; it is proved from the prices alone anyway.
const OPEN: [&str; 4] = ["level-gaps", "freezing", "optimality", "price-scale"];

/// Divided tasks within limits and reserves, and the bound that they prove.
pub(crate) struct Divided<'a> {
    /// The instance with what whole tasks can keep of its guarantees; without guarantees for sums, or where they cannot be kept together.
    pub instance: Cow<'a, Instance>,
    /// `None` where prices rule out more than the bound, but nothing closes the gap to it.
    pub solution: Option<Solution>,
    pub bound: DivisibleBound,
}

/// The proved bound of divisible tasks, which is proved once more from its prices, tasks, guarantees and limits alone. Where guarantees let
/// an instance not be solved, they are left out; then limits and reserves.
pub(crate) fn divided<'a>(
    instance: &'a Instance,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    if instance.has_guarantees() && objective == Objective::Drfh {
        match divided_where(instance, Counted::Quotas, objective, backend, control) {
            Err(failure) if !matches!(failure, Error::TimeLimit { .. }) => {
                control.note(&format!("guarantees are left out of the bounds: {failure}"));
            }
            divided => return divided,
        }
    }
    divided_without_guarantees(instance, objective, backend, control)
}

/// Whether a bracket's placement gives users what they are guaranteed: else none is known that does.
pub(crate) fn keeps_guarantees(instance: &Instance, bracket: &WholeTaskBracket) -> bool {
    keeps_guarantees_of_users(instance, &bracket.placement.tasks)
}

/// The same whatever is guaranteed.
pub(crate) fn divided_without_guarantees<'a>(
    instance: &'a Instance,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    let solve = |counted: Counted| divided_where(instance, counted, objective, backend, control);
    match solve(Counted::Limits) {
        Err(failure) if !instance.limit_rows().is_empty() && !matches!(failure, Error::TimeLimit { .. }) => {
            control.note(&format!(
                "limits and reserves are left out of the bound of divisible tasks: {failure}"
            ));
            solve(Counted::Nothing)
        }
        divided => divided,
    }
}

/// Which quotas divided tasks keep: all, guarantees in whole tasks; limits and reserves; or none.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Quotas,
    Limits,
    Nothing,
}

fn divided_where<'a>(
    instance: &'a Instance,
    counted: Counted,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    let limit = control.deadline.after_part(DIVISIBLE);
    let solver = solver(backend, &limit)?;
    let bounded = match instance.quotas().is_empty() {
        true => Cow::Borrowed(instance),
        false => Cow::Owned(match counted {
            Counted::Quotas => instance.with_whole_guarantees()?,
            Counted::Limits => instance.without_parts(&[QuotaPart::Guarantees])?,
            Counted::Nothing => {
                instance.without_parts(&[QuotaPart::Guarantees, QuotaPart::Limits, QuotaPart::Reserves])?
            }
        }),
    };
    let solved = Solved::new(&bounded, &*solver, objective, control)?.certified();
    let is_closed = solved.is_ok();
    let solved = solved.map_err(|failure| failure.by(&limit)).or_else(what_prices_rule_out)?;
    let guarantees = CountedGuarantees::of(instance, counted == Counted::Quotas);
    let guarantees = guarantees.filter(|_| objective == Objective::Drfh);
    let bound =
        DivisibleBound::new(&bounded, &solved.solution, guarantees).within_limits(instance, objective);
    let verdict = verify_divisible(instance, bound.claim(objective));
    all_hold(NOT_PROVED, &[verdict])?;
    Ok(Divided { instance: bounded, solution: is_closed.then_some(solved.solution), bound })
}

/// What prices rule out holds, however far the allocation is from it, when time was over or since nothing closes the gap.
fn what_prices_rule_out(mut failure: Error) -> Result<Solved, Error> {
    let is_open = |verdict: &Verdict| OPEN.contains(&verdict.property);
    match failure.take_found::<Solved>() {
        Some(solved) if !solved.failures.is_empty() && solved.failures.iter().all(is_open) => Ok(solved),
        _ => Err(failure),
    }
}
