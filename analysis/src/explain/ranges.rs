//! How far a price holds: between which capacities the level rises by the price for every unit.
//!
//! The level is a concave function of a capacity. So where it lies on the price's line at some distance, it does all
//! the way there, and bisection finds where it leaves the line. Shares stay measured by today's servers.

use super::PricedCapacity;
use fairplan_instances::{Draft, Instance, Solution, Solver, SolverError, Status};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// More rows than this are not asked about: each takes some thirty solutions.
const MOST_ROWS: usize = 12;

/// By which part of the level a point may lie off the price's line.
const OFF: f64 = 1e-7;

/// Steps of the bisection.
const STEPS: usize = 14;

pub(super) fn price_ranges(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    level: usize,
    held_by: &[PricedCapacity],
    not_asked: &mut Vec<String>,
) -> Result<Vec<PriceRange>, SolverError> {
    let holdings = &held_by[..held_by.len().min(MOST_ROWS)];
    let range = |holding: &PricedCapacity| range_of_price(instance, solution, solver, level, *holding);
    let ranges: Vec<_> = holdings.par_iter().map(range).collect();
    let mut found = Vec::new();
    for (holding, range) in holdings.iter().zip(ranges) {
        match range {
            Err(SolverError::OutOfTime) => {
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
) -> Result<Option<PriceRange>, SolverError> {
    let Some(value) = solution.certificate.levels().get(level).map(|level| level.value) else {
        return Ok(None);
    };
    let one = instance.classes()[class.0].capacity[resource.0].to_f64();
    let capacity = one * instance.classes()[class.0].count as f64;
    let holds = |factor: f64| -> Result<bool, SolverError> {
        let Some(variant) = with_capacity(instance, class.0, resource.0, one * factor) else {
            return Ok(false);
        };
        let answer = match solver.solve(&variant, solution.objective) {
            // Less capacity may hold less than is guaranteed: then the price says nothing.
            Err(SolverError::Guarantees(_)) => return Ok(false),
            Err(SolverError::Inapplicable(_)) if variant.has_guarantees() => return Ok(false),
            answer => answer?,
        };
        let Some(there) = answer.certificate.levels().get(level).map(|level| level.value) else {
            return Ok(false);
        };
        let line = value + price * capacity * (factor - 1.0);
        Ok(answer.status == Status::Optimal && (there - line).abs() <= OFF * value)
    };
    let (least, most) = (capacity * reach(0.1, &holds)?, capacity * reach(10.0, &holds)?);
    let (class, resource) =
        (instance.classes()[class.0].id.clone(), instance.resources()[resource.0].clone());
    Ok(Some(PriceRange { class, resource, price, capacity, least, most }))
}

/// The factor nearest to `far` up to which the price holds from 1 on.
fn reach(far: f64, holds: &impl Fn(f64) -> Result<bool, SolverError>) -> Result<f64, SolverError> {
    if holds(far)? {
        return Ok(far);
    }
    let (mut inside, mut outside) = (1.0f64, far);
    for _ in 0..STEPS {
        let middle = (inside * outside).sqrt();
        if holds(middle)? {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    Ok(inside)
}

/// The instance with another capacity, shares measured as before. `None` where its numbers are too long.
fn with_capacity(instance: &Instance, class: usize, resource: usize, capacity: f64) -> Option<Instance> {
    let mut draft = Draft::from(instance).measured_as(instance);
    draft.classes[class].capacity[resource] = format!("{capacity:.12e}").parse().ok()?;
    draft.build().ok()
}
