//! How far a price holds: between which capacities the level rises by the price for every unit.
//!
//! As long as the same users have all their tasks, the level is a concave function of a capacity. So where it lies on the price's line
//! at some distance, it does all the way there; where it is below, its tangent there crosses the line where it may leave it at the
//! farthest, and Newton's method finds that place in a few solutions. Where tasks of users run out on the way, the level rises faster
//! from there, and may cross the line again when it rises slower later: a place where it has another slope than the line counts only
//! if it lies on the line just before, too. Shares stay measured by today's servers.

use crate::tolerance::{BEYOND, CLOSE, OFF_THE_LINE, PARALLEL};
use fairplan_instances::{ClassId, Draft, Instance, InstanceError, ResourceId, Solution, Solver, Status};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A capacity with a price above zero.
#[derive(Clone, Copy)]
pub(crate) struct PricedCapacity {
    pub class: ClassId,
    pub resource: ResourceId,
    pub price: f64,
}

/// How far a price holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceRange {
    /// The server class.
    pub class: String,
    /// The resource.
    pub resource: String,
    /// Increase of the user's level per unit.
    pub price: f64,
    /// The capacity of the class now, all servers together.
    pub capacity: f64,
    /// Least capacity at which the price holds (searched down to a tenth).
    pub least: f64,
    /// Largest capacity at which the price holds (searched up to tenfold).
    pub most: f64,
}

/// More rows than this are not asked about: each takes some ten solutions.
const MOST_ROWS: usize = 12;

/// Solutions on the way to where the price stops to hold, at most.
const STEPS: usize = 14;

/// How far is searched, in parts of the capacity.
const LEAST: f64 = 0.1;
const MOST: f64 = 10.0;

pub(super) fn price_ranges(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    level: usize,
    held_by: &[PricedCapacity],
    not_asked: &mut Vec<String>,
) -> Result<Vec<PriceRange>, InstanceError> {
    let holdings = &held_by[..held_by.len().min(MOST_ROWS)];
    let range = |holding: &PricedCapacity| range_of_price(instance, solution, solver, level, *holding);
    let ranges: Vec<_> = holdings.par_iter().map(range).collect();
    let mut found = Vec::new();
    for (holding, range) in holdings.iter().zip(ranges) {
        match range {
            Err(InstanceError::OutOfTime) => {
                let (class, resource) = (&instance.classes()[holding.class.0].id, holding.resource.0);
                let resource = &instance.resources()[resource];
                not_asked.push(format!("how far the price of {resource} in class {class} holds"));
            }
            range => found.extend(range?),
        }
    }
    Ok(found)
}

/// How far the price of one capacity holds, for a level of the solution; `None` if it has no such level.
pub(crate) fn range_of_price(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    level: usize,
    PricedCapacity { class, resource, price }: PricedCapacity,
) -> Result<Option<PriceRange>, InstanceError> {
    let Some(value) = solution.certificate.levels().get(level).map(|level| level.value) else {
        return Ok(None);
    };
    let one = instance.classes()[class.0].capacity[resource.0].to_f64();
    let capacity = one * instance.classes()[class.0].count as f64;
    // On the first level of users who take all they can get.
    let is_concave = level == 0 && !instance.has_task_limits() && instance.quotas().is_empty();
    let at = |factor: f64, is_likely: bool| -> Result<Point, InstanceError> {
        let Some(variant) = with_capacity(instance, class.0, resource.0, one * factor) else {
            return Ok(Point::Unknown);
        };
        let on_the_line = value + price * capacity * (factor - 1.0);
        let answer = match is_likely && level == 0 {
            true => solver.solve_near(&variant, solution.objective, on_the_line),
            false => solver.solve(&variant, solution.objective),
        };
        let answer = match answer {
            // Less capacity may hold less than is guaranteed: then the price says nothing.
            Err(InstanceError::Guarantees(_)) => return Ok(Point::Unknown),
            Err(InstanceError::Inapplicable(_)) if variant.has_guarantees() => return Ok(Point::Unknown),
            answer => answer?,
        };
        let proved = answer.status == Status::Optimal;
        let Some(there) = answer.certificate.levels().get(level).filter(|_| proved) else {
            return Ok(Point::Unknown);
        };
        let off = there.value - on_the_line;
        let slope = there.prices[class.0 * instance.resources().len() + resource.0] - price;
        if off.abs() <= OFF_THE_LINE * value {
            let is_parallel = slope.abs() * capacity <= PARALLEL * value;
            return Ok(Point::OnTheLine { is_sure: is_concave || is_parallel });
        }
        // Where the line through this point meets the price's.
        Ok(Point::Off { meets_at: factor - off / (slope * capacity) })
    };
    // More of what has no price on the first level changes nothing there: the solution and its proof stay as they are. A later level
    // stands on those before it, which may rise.
    let most = if price == 0.0 && level == 0 { MOST } else { reach(MOST, &at)? };
    let (least, most) = (capacity * reach(LEAST, &at)?, capacity * most);
    let (class, resource) =
        (instance.classes()[class.0].id.clone(), instance.resources()[resource.0].clone());
    Ok(Some(PriceRange { class, resource, price, capacity, least, most }))
}

/// The level at another capacity, beside the line that goes by the price.
enum Point {
    /// On it; sure to have been on it all the way where it is concave or goes by the same price there, else the line may be crossed.
    OnTheLine { is_sure: bool },
    /// Off it: a line through this point that the level never exceeds as long as no tasks run out meets the price's at this factor.
    Off { meets_at: f64 },
    /// No level, or none that is proved.
    Unknown,
}

/// The factor nearest to `far` up to which the price holds from 1 on. Where the level is below its tangents, the price holds no further
/// than to where one of them meets its line. Unless tasks run out, that is so: just beyond is asked about, too, and where the
/// price holds there or tangents say nothing, bisection goes on.
fn reach(far: f64, at: &impl Fn(f64, bool) -> Result<Point, InstanceError>) -> Result<f64, InstanceError> {
    let (mut inside, mut outside) = (1.0f64, far);
    let mut next = far;
    let mut by_tangent = false;
    for _ in 0..=STEPS {
        let middle = |inside: f64, outside: f64| (inside * outside).sqrt();
        let mut here = next;
        let mut point = at(here, by_tangent)?;
        if let Point::OnTheLine { is_sure: false } = point {
            let before = next * (inside / next).powf(BEYOND);
            let there = at(before, false)?;
            if !matches!(there, Point::OnTheLine { .. }) {
                (here, point) = (before, there);
            }
        }
        match point {
            Point::OnTheLine { .. } if next == far => return Ok(far),
            Point::OnTheLine { .. } => {
                inside = next;
                next = if by_tangent {
                    inside * (outside / inside).powf(BEYOND)
                } else {
                    middle(inside, outside)
                };
                by_tangent = false;
            }
            Point::Off { meets_at } => {
                outside = here;
                let is_between = (meets_at - inside) * (outside - meets_at) > 0.0;
                if (meets_at / inside).ln().abs() < CLOSE || (outside / inside).ln().abs() < CLOSE {
                    return Ok(inside);
                }
                next = if is_between { meets_at } else { middle(inside, outside) };
                by_tangent = is_between;
            }
            Point::Unknown => {
                outside = here;
                (next, by_tangent) = (middle(inside, outside), false);
            }
        }
    }
    Ok(inside)
}

/// The instance with another capacity, shares measured as before. `None` where its numbers are too long.
fn with_capacity(instance: &Instance, class: usize, resource: usize, capacity: f64) -> Option<Instance> {
    let mut draft = Draft::from(instance).measured_as(instance);
    // A capacity may become any amount, which is no whole number of devices.
    draft.divide();
    draft.classes[class].capacity[resource] = format!("{capacity:.12e}").parse().ok()?;
    draft.build().ok()
}
