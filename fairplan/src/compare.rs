//! Placement policies and placements made elsewhere side by side, each with its gap to the best divisible allocation and to the
//! best that whole tasks can do.

use crate::bound::{
    AllocatedBound, Bound, Counted, Divided, WholeTaskObjective, allocated_bracketed, bracketed, divided,
    resource_named,
};
use crate::place::Placer;
use crate::solve::{AUTO, Solved, hashed, solver};
use crate::{Control, Error, Found, Progress, ResultFile};
use fairplan_analysis::{BrokenRule, Judgement};
use fairplan_heuristics::{OutsidePolicy, emptied};
use fairplan_instances::{
    ClassId, Draft, Headline, Instance, InstanceStamp, KeptGuarantees, Kind, KindId, Objective, Placement,
    PlacementFigures, ResourceId, User, WholeTaskBracket, files, keeps_guarantees_of_users, stated_bounds,
};
use fairplan_report::comparison::{
    Allocated, AllocatedBounds, Bounds, ComparedPolicy, ComparedUser, Comparison,
};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_report::given_placement::GivenPlacement;
use fairplan_solver::with_best_of;
use fairplan_verify::{Verdict, is_best, verify_rules};
use std::path::Path;
use std::time::Instant;

/// What to compare.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Some of [`POLICIES`](crate::POLICIES), [`DEVICE_POLICIES`](crate::DEVICE_POLICIES) and [`PATTERNS`](crate::PATTERNS). Default: all
    /// of the first, Slots with the number that served the DRFH
    /// paper best (its Table II), and none of the others.
    pub policies: Vec<String>,
    /// Policies in other processes. Default: none.
    pub commands: Vec<OutsidePolicy>,
    /// Seed of the policy `random` and of the policies that look at devices. Default: 0.
    pub seed: u64,
    /// By what placements are held against the best that whole tasks can do: the smallest share, or how much of a resource they take.
    /// Default: the smallest share.
    pub objective: WholeTaskObjective,
    /// What finds the bound of divisible tasks: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
    /// Placements made elsewhere, each a `fairplan.placement.v1` with its servers, of which nothing but what runs where is
    /// believed. They are judged like the policies' own. Default: none.
    pub placements: Vec<ResultFile>,
    /// Whether to say what each user has under each policy. Default: no.
    pub per_user: bool,
    /// Whether to say how long each policy took, the only numbers that differ from run to run. Default: yes.
    pub timing: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        let policies = ["best-fit", "first-fit", "slots=14", "worst-fit", "dot-product", "random"];
        let policies = policies.map(Into::into).into();
        Self {
            policies,
            commands: Vec::new(),
            seed: 0,
            objective: WholeTaskObjective::default(),
            backend: AUTO.into(),
            placements: Vec::new(),
            per_user: false,
            timing: true,
        }
    }
}

impl CompareOptions {
    /// Refuses what cannot be meant, whatever the instance.
    pub fn check(&self) -> Result<(), Error> {
        if self.objective == WholeTaskObjective::ProportionalFairness {
            return Err(Error::Setting(
                "objective = pf: placements are compared by drfh and allocated=RESOURCE".into(),
            ));
        }
        self.placers().map(drop)
    }

    fn placers(&self) -> Result<Vec<Placer>, Error> {
        let named = self.policies.iter().map(|name| Placer::named(name, self.seed));
        let outside = self.commands.iter().map(|command| Ok(Placer::outside(command)));
        let placers = named.chain(outside).collect::<Result<Vec<Placer>, Error>>()?;
        distinct(&placers).map(|()| placers)
    }
}

/// Places by each policy, and holds the placements against the bounds of divisible and of whole tasks.
///
/// Until a deadline policies place first, and the bounds have the rest of the time. Policies that are not done are left out, which
/// [`Progress::Note`] tells; [`Error::TimeLimit`] if none is done. Without a deadline the bound of whole tasks is left out where
/// it may take minutes.
///
/// ```
/// use fairplan::{CompareOptions, Control, compare, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let policies = vec!["best-fit".into(), "first-fit".into()];
/// let options = CompareOptions { policies, ..CompareOptions::default() };
/// let comparison = compare(&instance, &options, &Control::none())?;
/// assert_eq!(comparison.policies[0].proved_optimal, Some(true));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn compare(
    instance: &Instance,
    options: &CompareOptions,
    control: &Control<'_>,
) -> Result<Comparison, Error> {
    compare_by(instance, &options.placers()?, options, control)
}

/// The bound of whole tasks that placements are held against, with what proves it.
#[derive(Clone, Debug)]
pub enum ComparedBound {
    /// On the smallest share.
    SmallestShare(Box<Bound>),
    /// On how much of a resource is taken.
    Allocated(Box<AllocatedBound>),
}

/// The same comparison, and the bound of whole tasks that it holds placements against, if there is one, as [`bound()`](crate::bound()) and
/// [`bound_allocated`](crate::bound_allocated) have it, so that [`verify`](crate::verify()) proves it again.
///
/// ```
/// use fairplan::{CompareOptions, ComparedBound, Control, compare_with_bound, generate};
///
/// let (_, bound) = compare_with_bound(&generate::drfh_fig1()?, &CompareOptions::default(), &Control::none())?;
/// assert!(matches!(bound, Some(ComparedBound::SmallestShare(_))));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn compare_with_bound(
    instance: &Instance,
    options: &CompareOptions,
    control: &Control<'_>,
) -> Result<(Comparison, Option<ComparedBound>), Error> {
    compared(instance, &options.placers()?, options, control)
}

/// Whether no two have the same name.
fn distinct(placers: &[Placer]) -> Result<(), Error> {
    let mut names: Vec<String> = placers.iter().map(Placer::name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::Setting(format!("policies names {} twice", pair[0]))),
        None => Ok(()),
    }
}

/// The same of any placers, whatever policies the options name.
///
/// ```
/// use fairplan::{CompareOptions, Control, Placer, compare_by, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let placers = [Placer::named("first-fit", 0)?, Placer::Pattern];
/// let comparison = compare_by(&instance, &placers, &CompareOptions::default(), &Control::none())?;
/// assert_eq!(comparison.policies.len(), 2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn compare_by(
    instance: &Instance,
    placers: &[Placer],
    options: &CompareOptions,
    control: &Control<'_>,
) -> Result<Comparison, Error> {
    compared(instance, placers, options, control).map(|(comparison, _)| comparison)
}

fn compared(
    instance: &Instance,
    placers: &[Placer],
    options: &CompareOptions,
    control: &Control<'_>,
) -> Result<(Comparison, Option<ComparedBound>), Error> {
    distinct(placers)?;
    options.check()?;
    let resource = match &options.objective {
        WholeTaskObjective::Allocated(resource) => Some(resource_named(instance, resource)?),
        _ => None,
    };
    let given = given(instance, options, placers)?;
    let placed = placed(instance, placers, control)?;
    if placed.is_empty() && given.is_empty() {
        let why = "no policy was done in time; allow more".into();
        return Err(Error::TimeLimit { why, found: Found::nothing() });
    }
    let solving = control.deadline.after_part(DIVIDING);
    let solver = solver(&options.backend, &solving)?;
    let divides = |counted| divided(instance, counted, Objective::Drfh, &options.backend, control);
    let (mut found, sha256) = hashed(instance, || divides(Counted::all(instance, Objective::Drfh)))?;
    let taken = resource.map(|resource| {
        let limited = control.until(control.deadline.after_part(BOUNDING));
        allocated_bracketed(instance, resource, &limited)
    });
    let taken = taken.transpose()?;
    let with_placed = |counted: &Instance, bracket: WholeTaskBracket| {
        let placements = placed.iter().map(|placed| &placed.placement);
        let all = std::iter::once(&bracket.placement).chain(placements).cloned().collect();
        with_best_of(counted, bracket, all)
    };
    let bracketed = |divisible: &DivisibleBound| {
        let counted = &*divisible.counted(instance);
        let bracket = if taken.is_some() { None } else { whole_task_bound(counted, control) };
        bracket.map(|bracket| with_placed(counted, bracket)).transpose()
    };
    let bracket = loop {
        let bracket = bracketed(&found.bound)?;
        let counted = &*found.bound.counted(instance);
        let are_kept = match &bracket {
            Some(bracket) => keeps_guarantees_of_users(counted, &bracket.placement.tasks),
            None => placed.iter().any(|placed| keeps_guarantees_of_users(counted, &placed.placement.tasks)),
        };
        match found.fewer {
            Some(fewer) if !are_kept => found = divides(fewer)?,
            _ => break bracket,
        }
    };
    let Divided { instance: bounded, solution, bound: divisible, divisions, .. } = found;
    let counted = &*divisible.counted(instance);
    // Whom the level of a placement does not count that of divisible tasks beside it does not either.
    let placeable = placeable(&bounded)?;
    let (measured, solution) = match &placeable {
        None => (&*bounded, solution),
        Some(placeable) => {
            let solved = Solved::new(placeable, &*solver, Objective::Drfh, control)?.certified();
            (placeable, Some(solved.map_err(|failure| failure.by(&solving))?.solution))
        }
    };
    let level = solution.as_ref().and_then(|solution| Headline::new(measured, solution).level);
    // The first level says nothing of the level of those whom no limit holds.
    let first = solution.as_ref().and_then(|solution| solution.certificate.levels().first());
    let divisible_level = first.filter(|_| instance.limit_rows().is_empty()).map(|level| level.bound);
    let stated = bracket.as_ref().map(|bracket| stated_bounds(counted, bracket, Some(divisible.bound)));
    let mut bounds = Bounds {
        divisible: divisible.bound,
        divisible_level,
        drfh_level: level.filter(|_| bounded.has_limits()),
        integral_upper: stated.map(|bounds| bounds.upper),
        integral_lower: stated.map(|bounds| bounds.lower),
        integral_level_upper: stated.and_then(|bounds| bounds.level_upper),
        integral_level_lower: stated.and_then(|bounds| bounds.level_lower),
        integral_unplaced: stated.and_then(|bounds| bounds.unplaced),
    };
    let judges = !given.is_empty();
    let mut allocated = taken.as_ref().map(|bracket| AllocatedBounds::new(instance, bracket));
    let judge = |placement: &Placement| {
        let mut judged = Judged::new(instance, counted, placement, bracket.as_ref(), judges)?;
        judged.allocated = taken.as_ref().map(|bracket| {
            let units = placement.units_of(instance, bracket.resource);
            Allocated::new(instance, bracket, units, judged.is_valid)
        });
        let users = options.per_user.then(|| ComparedUser::all(instance, placement, &judged.figures));
        Ok::<_, Error>(Judged { users, ..judged })
    };
    let mut rows = Vec::new();
    for Placed { name, placement, seconds } in placed {
        rows.push((name, None, judge(&placement)?, options.timing.then_some(seconds)));
    }
    for Given { name, file, placement } in given {
        rows.push((name, Some(file), judge(&placement)?, None));
    }
    for (.., judged, _) in &rows {
        let figures = &judged.figures;
        let taken = allocated.as_mut().zip(judged.allocated).filter(|_| judged.is_valid);
        if let Some((bounds, taken)) = taken {
            bounds.integral_lower = bounds.integral_lower.max(taken.amount);
        }
        if judged.is_bounded {
            bounds.integral_lower = bounds.integral_lower.map(|lower| lower.max(figures.value));
            // Who has placed everything has a level above any that is stated.
            bounds.integral_level_lower =
                bounds.integral_level_lower.zip(figures.level).map(|(lower, level)| lower.max(level));
        }
    }
    let result = |(name, file, judged, seconds): (String, Option<String>, Judged, Option<f64>)| {
        let Judged { figures, is_optimal, is_valid, judgement, users, allocated, .. } = judged;
        let row = ComparedPolicy::new(&name, instance, &figures, bounds, is_optimal, seconds);
        let row = if is_valid { row } else { row.without_gaps() };
        ComparedPolicy { file, allocated, judgement, users, ..row }
    };
    let comparison = Comparison {
        in_groups: instance.has_groups(),
        weighted: instance.has_weights(),
        under_quotas: !instance.quotas().is_empty(),
        counted_guarantees: divisible.counted_guarantees,
        instance: InstanceStamp::new(instance, &sha256),
        backend: solver.name().into(),
        seed: options.seed,
        bounds,
        allocated,
        policies: rows.into_iter().map(result).collect(),
    };
    let bound = match taken {
        Some(bracket) => Some(ComparedBound::Allocated(Box::new(AllocatedBound { bracket, sha256 }))),
        None => bracket.map(|bracket| {
            ComparedBound::SmallestShare(Box::new(Bound { divisible, divisions, bracket, sha256 }))
        }),
    };
    Ok((comparison, bound))
}

/// What a policy placed, and in which time.
struct Placed {
    name: String,
    placement: Placement,
    seconds: f64,
}

/// The part of the time for the policies; and of what is left the part of those that use up what they are given, each before the others.
const PLACING: f64 = 0.8;
const SEARCHING: f64 = 0.4;

/// Places by each policy, in their order; those last that look for a better placement as long as there is time. Who is not done in time is
/// left out, which is told.
fn placed(instance: &Instance, placers: &[Placer], control: &Control<'_>) -> Result<Vec<Placed>, Error> {
    let all = control.deadline.after_part(PLACING);
    let mut placed: Vec<Option<Placed>> = placers.iter().map(|_| None).collect();
    let mut late = Vec::new();
    let (searching, others): (Vec<usize>, Vec<usize>) =
        (0..placers.len()).partition(|at| matches!(placers[*at], Placer::Pattern));
    for at in others.into_iter().chain(searching) {
        let placer = &placers[at];
        let until = match placer {
            Placer::Pattern => all.after_part(SEARCHING),
            _ => all.clone(),
        };
        let start = Instant::now();
        match placer.place(instance, &control.until(until.clone())) {
            Err(failure) if until.is_over() => {
                late.push(format!("{} is left out: {failure}", placer.name()));
            }
            placement => {
                let (name, placement, seconds) = (placer.name(), placement?, start.elapsed().as_secs_f64());
                placed[at] = Some(Placed { name, placement, seconds });
            }
        }
    }
    late.iter().for_each(|note| control.note(note));
    Ok(placed.into_iter().flatten().collect())
}

/// A placement made elsewhere.
struct Given {
    /// What it is called beside the policies.
    name: String,
    /// The name of its file, without folders.
    file: String,
    placement: Placement,
}

/// Reads the placements made elsewhere. Each is called by the policy that it names; by its file where it names none, or another
/// has that name.
fn given(instance: &Instance, options: &CompareOptions, placers: &[Placer]) -> Result<Vec<Given>, Error> {
    if options.placements.is_empty() {
        return Ok(Vec::new());
    }
    let sha256 = files::sha256_hex(instance);
    let mut taken: Vec<String> = placers.iter().map(Placer::name).collect();
    let mut all = Vec::with_capacity(options.placements.len());
    for (position, file) in options.placements.iter().enumerate() {
        if let Some(same) = options.placements[..position].iter().find(|other| other.bytes == file.bytes) {
            let problem = format!(
                "placement {} says the same as {}, byte for byte: name it once",
                file.name, same.name
            );
            return Err(Error::Setting(problem));
        }
        let GivenPlacement { policy, placement } =
            GivenPlacement::read(&file.name, &file.bytes, instance, &sha256)?;
        let path = Path::new(&file.name);
        let named =
            path.file_name().map_or_else(|| file.name.clone(), |name| name.to_string_lossy().into_owned());
        let stem = named.split('.').next().filter(|stem| !stem.is_empty()).map(str::to_owned);
        let mut names = [policy, stem, Some(named.clone()), Some(file.name.clone())].into_iter().flatten();
        let Some(name) = names.find(|name| !taken.contains(name)) else {
            return Err(Error::Setting(format!("placement names {} twice", file.name)));
        };
        taken.push(name.clone());
        all.push(Given { name, file: named, placement });
    }
    Ok(all)
}

/// What a placement leaves, and which rules it breaks by the checker.
fn judged(instance: &Instance, placement: &Placement) -> Judgement {
    let broken = verify_rules(instance, &placement.servers).into_iter().filter(|verdict| !verdict.holds);
    let told = |verdict: Verdict| BrokenRule { rule: verdict.property.into(), first: verdict.witness };
    Judgement::new(instance, placement, broken.map(told).collect())
}

/// What a placement comes to, whoever made it.
struct Judged {
    figures: PlacementFigures,
    /// Whether it is proved that none is better; `None` without a bound.
    is_optimal: Option<bool>,
    /// Whether it breaks no rule, and whether it keeps what bounds on the smallest share count of guarantees besides, so that they hold
    /// for it.
    is_valid: bool,
    is_bounded: bool,
    /// What it leaves, where that is asked for.
    judgement: Option<Judgement>,
    /// What each user has, where that is asked for.
    users: Option<Vec<ComparedUser>>,
    /// What it takes of a resource, where that is asked for.
    allocated: Option<Allocated>,
}

impl Judged {
    /// `counted` is the instance that bounds are of.
    fn new(
        instance: &Instance,
        counted: &Instance,
        placement: &Placement,
        bracket: Option<&WholeTaskBracket>,
        judges: bool,
    ) -> Result<Self, Error> {
        let judgement = match judges {
            // Which servers can be emptied is not found where only whole tasks meet rules.
            true if instance.has_server_rules() => Some(judged(instance, placement)),
            true => {
                let found = emptied(instance, placement)?;
                let judgement = judged(instance, placement);
                Some(judgement.with_emptied(placement, found.servers.len() as u64, found.tasks))
            }
            false => None,
        };
        // What was placed now has passed its check.
        let is_valid = judgement.as_ref().is_none_or(Judgement::is_valid);
        let is_optimal = bracket.map(|bracket| is_valid && is_best(counted, placement, bracket));
        let guarantees = KeptGuarantees::of(instance, placement);
        let figures = PlacementFigures { guarantees, ..PlacementFigures::new(counted, placement) };
        let is_bounded = is_valid && keeps_guarantees_of_users(counted, &placement.tasks);
        Ok(Self { figures, is_optimal, is_valid, is_bounded, judgement, users: None, allocated: None })
    }
}

/// The instance in which nobody asks for a task that fits no server whole: whom the level of a placement does not count, that of divisible
/// tasks beside it does not either. `None` where nobody does.
fn placeable(instance: &Instance) -> Result<Option<Instance>, Error> {
    let fits_nowhere = |user: &User<'_>| user.tasks() != Some(0) && !user.fits_somewhere();
    let nowhere: Vec<usize> = instance.users().filter(fits_nowhere).map(|user| user.index().0).collect();
    if nowhere.is_empty() {
        return Ok(None);
    }
    let mut draft = Draft::from(instance);
    nowhere.into_iter().for_each(|user| draft.users[user].tasks = Some(0));
    Ok(Some(draft.build()?))
}

/// The part of the time that is left for each of the two bounds, one after the other: what is left of the first is for the second.
const DIVIDING: f64 = 0.5;
const BOUNDING: f64 = 0.8;

/// The best that whole tasks can do, where that can be told in reasonable time.
fn whole_task_bound(instance: &Instance, control: &Control<'_>) -> Option<WholeTaskBracket> {
    let has_rates = instance.rules().iter().any(|rule| !rule.rates().is_empty());
    let has_limit = control.deadline.time_left().is_some();
    if has_rates || (!has_limit && !is_soon_bounded(instance)) {
        return None;
    }
    let limited = control.until(control.deadline.after_part(BOUNDING));
    let told = |failure: Error| {
        let note = format!("The bound of whole tasks is left out: {failure}");
        (control.progress)(Progress::Note(&note));
    };
    // Policies can be compared without it.
    bracketed(instance, &limited).map_err(told).ok()
}

/// More users times classes than these are bounded only when a time limit is given: the first where a server holds up to
/// `SMALLEST` tasks of a user, the second otherwise.
const BOUNDED: (usize, usize) = (5_000, 1_000);
const SMALLEST: u128 = 64;

/// Whether the best that whole tasks can do is found, and proved, in seconds.
pub(crate) fn is_soon_bounded(instance: &Instance) -> bool {
    let most = |kind: Kind<'_>, class: usize| {
        let resources = (0..instance.resources().len()).map(ResourceId);
        let demanded = resources.filter(|r| kind.piece_units(*r) > 0);
        demanded.map(|r| instance.capacity_units(ClassId(class), r) / kind.piece_units(r)).min().unwrap_or(0)
    };
    let classes = instance.classes().len();
    let size = instance.kind_count().saturating_mul(classes);
    let mut kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
    size <= BOUNDED.1
        || size <= BOUNDED.0 && kinds.all(|kind| (0..classes).all(|class| most(kind, class) <= SMALLEST))
}
