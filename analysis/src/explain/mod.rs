//! Why a user has its share: what froze it, what it pays, what would change it.
//!
//! What cannot be read off the solution is asked of the solver: the same instance with a smaller demand, or with more
//! or less of a capacity.

mod nothing;
mod ranges;

use fairplan_instances::{
    ClassId, Decimal, Draft, Instance, LimitedBy, ResourceId, Solution, Solver, SolverError, Status, User,
    UserId,
};

pub use ranges::PriceRange;
pub(crate) use ranges::{measured_today, range_of_price};

/// Why one user has what it has. Lists are in the instance's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The resource of which a task takes the largest part of the cluster.
    pub dominant_resource: ResourceId,
    /// The part of the cluster's dominant resource that the user gets.
    pub dominant_share: f64,
    /// The same over its weight.
    pub weighted_share: f64,
    /// How many tasks it gets.
    pub tasks: f64,
    /// What limits it.
    pub limited_by: LimitedBy,
    /// The level at which it is frozen, where there are levels and capacity or tasks limit it: position and value.
    pub level: Option<(usize, f64)>,
    /// The full and priced capacities that keep it from more: on every class it can use, it needs one of them.
    pub held_by: Vec<Holding>,
    /// Every class, as the user sees it.
    pub classes: Vec<ClassView>,
    /// What happens when it needs less of one resource.
    pub smaller_demands: Vec<SmallerDemand>,
    /// How far the prices it pays hold. Empty where prices change with every unit (sums) or it pays none.
    pub price_ranges: Vec<PriceRange>,
    /// The smallest set of facts that leaves the user without any share; empty when it has one.
    pub why_nothing: Vec<String>,
}

/// A full capacity with a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// The class.
    pub class: ClassId,
    /// The resource.
    pub resource: ResourceId,
    /// Increase of the level (or of the sum) per unit of this capacity.
    pub price: f64,
}

/// A class as a user sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassView {
    /// The class.
    pub class: ClassId,
    /// Whether its tasks can run there.
    pub usable: bool,
    /// What a whole share (all of its dominant resource) would cost there, at the prices of its level.
    pub cost_of_share: f64,
    /// Whether no usable class is cheaper.
    pub cheapest: bool,
    /// The tasks it has there.
    pub tasks: f64,
}

/// What happens when a task of the user needs less of one resource.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallerDemand {
    /// The resource.
    pub resource: ResourceId,
    /// One task's demand now.
    pub demand: Decimal,
    /// One unit less, or half where that would leave nothing.
    pub smaller: Decimal,
    /// The user's own tasks then.
    pub own_tasks: f64,
    /// How many others do more work then.
    pub gain: usize,
    /// How many others do less.
    pub lose: usize,
    /// The other user whose work grows by the largest part, and that part.
    pub largest_gain: Option<(UserId, f64)>,
}

/// Part of its work by which a user must change to count as gaining or losing.
const NOTICED: f64 = 1e-6;

/// Explains `user` in `solution`, which `solver` found for `instance`.
pub fn explain(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    user: UserId,
) -> Result<Explanation, SolverError> {
    let view = instance.user(user);
    let levels = solution.certificate.levels();
    let frozen_at = solution.certificate.level_of().map(|level_of| level_of[user.0] as usize);
    let level = frozen_at.and_then(|k| Some((k, levels.get(k)?.value)));
    let prices = match frozen_at {
        Some(k) => levels.get(k).map(|level| level.prices.as_slice()),
        None => solution.certificate.prices().first().copied(),
    };
    let limited_by = solution.limited_by[user.0];
    let (held_by, classes) = match prices.filter(|_| limited_by != LimitedBy::NoUsableClass) {
        Some(prices) => (holdings(view, instance, prices), class_views(view, instance, solution, prices)),
        None => (Vec::new(), class_views(view, instance, solution, &[])),
    };
    let price_ranges = match level {
        Some((k, _)) if limited_by == LimitedBy::Capacity => {
            ranges::price_ranges(instance, solution, solver, k, &held_by)?
        }
        _ => Vec::new(),
    };
    let share = solution.allocation.dominant_share(instance, user);
    Ok(Explanation {
        dominant_resource: view.dominant_resource(),
        dominant_share: share,
        weighted_share: share / view.weight().to_f64(),
        tasks: solution.allocation.tasks(user),
        limited_by,
        level,
        held_by,
        classes,
        smaller_demands: smaller_demands(instance, solution, solver, user)?,
        price_ranges,
        why_nothing: if share > 0.0 { Vec::new() } else { nothing::why(view, instance) },
    })
}

/// The priced capacities that the user needs on the classes it can use.
fn holdings(user: User<'_>, instance: &Instance, prices: &[f64]) -> Vec<Holding> {
    let m = instance.resources().len();
    let usable = (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class));
    usable
        .flat_map(|class| (0..m).map(move |r| (class, ResourceId(r))))
        .map(|(class, resource)| Holding { class, resource, price: prices[class.0 * m + resource.0] })
        .filter(|holding| holding.price > 0.0 && !user.demand()[holding.resource.0].is_zero())
        .collect()
}

fn class_views(user: User<'_>, instance: &Instance, solution: &Solution, prices: &[f64]) -> Vec<ClassView> {
    let m = instance.resources().len();
    // Where all servers are one, nothing is on any class.
    let split = solution.allocation.split(user.index());
    let on = |class: ClassId| {
        split.get(class.0).map_or(0.0, |part| solution.allocation.tasks(user.index()) * part)
    };
    let mut views: Vec<ClassView> = (0..instance.classes().len())
        .map(ClassId)
        .map(|class| {
            let row = prices.get(class.0 * m..(class.0 + 1) * m).unwrap_or_default();
            let task: f64 = user.demand_doubles().iter().zip(row).map(|(demand, price)| demand * price).sum();
            ClassView {
                class,
                usable: user.can_use(class),
                cost_of_share: task / (user.task_share() * user.rule().rate(class).to_f64()),
                cheapest: false,
                tasks: on(class),
            }
        })
        .collect();
    let usable = views.iter().filter(|view| view.usable);
    let least = usable.map(|view| view.cost_of_share).fold(f64::INFINITY, f64::min);
    for view in views.iter_mut().filter(|view| view.usable) {
        view.cheapest = view.cost_of_share <= least * (1.0 + NOTICED);
    }
    views
}

fn smaller_demands(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    user: UserId,
) -> Result<Vec<SmallerDemand>, SolverError> {
    let draft = Draft::from(instance);
    let mut changes = Vec::new();
    for (r, demand) in draft.users[user.0].demand.iter().enumerate().filter(|(_, demand)| !demand.is_zero()) {
        let mut changed = draft.clone();
        let Some(smaller) = one_less(*demand) else { continue };
        changed.users[user.0].demand[r] = smaller;
        let Ok(variant) = changed.build() else { continue };
        let answer = solver.solve(&variant, solution.objective)?;
        if answer.status != Status::Optimal {
            continue;
        }
        let part = |other: UserId| {
            let work = |instance: &Instance, of: &Solution| {
                of.allocation.dominant_share(instance, other) / instance.user(other).task_share()
            };
            let (before, after) = (work(instance, solution), work(&variant, &answer));
            if before > 0.0 { after / before - 1.0 } else { after }
        };
        let others = || (0..instance.user_count()).map(UserId).filter(|other| *other != user);
        changes.push(SmallerDemand {
            resource: ResourceId(r),
            demand: *demand,
            smaller,
            own_tasks: answer.allocation.tasks(user),
            gain: others().filter(|other| part(*other) > NOTICED).count(),
            lose: others().filter(|other| part(*other) < -NOTICED).count(),
            largest_gain: others()
                .map(|other| (other, part(other)))
                .filter(|(_, gain)| *gain > NOTICED)
                .reduce(|most, next| if next.1 > most.1 { next } else { most }),
        });
    }
    Ok(changes)
}

/// One unit less; half, where the demand is one unit or less.
fn one_less(demand: Decimal) -> Option<Decimal> {
    let half = || format!("{:.8e}", demand.to_f64() / 2.0).parse().ok();
    match (demand.to_f64() > 1.0, demand.scaled(demand.exponent().min(0))) {
        (true, Some(units)) => {
            let exponent = demand.exponent().min(0);
            let one = Decimal::ONE.scaled(exponent)?;
            Decimal::new(u64::try_from(units - one).ok()?, i32::from(exponent)).ok()
        }
        _ => half(),
    }
}
