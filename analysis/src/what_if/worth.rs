//! What one more server of each class is worth: the same cluster with it solved again, beside what the prices say.
//!
//! The smallest weighted share that capacity limits is measured against today's totals throughout, as prices are. Unless tasks
//! run out it is a concave function of every capacity, and prices never say less than a server is worth. Where the tasks of
//! the user at that share run out, the next larger share counts, which may be more.

use super::{NOTICED, change, solved, value, works};
use crate::explain::{PriceRange, measured_today, range_of_price};
use fairplan_instances::{
    ClassId, Decimal, Draft, Instance, ResourceId, Solution, Solver, SolverError, UserId,
};

/// One more server of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerWorth {
    /// The class.
    pub class: ClassId,
    /// By how much the smallest weighted share rises, solved again.
    pub gain: f64,
    /// By how much it rises by the prices.
    pub by_price: f64,
    /// How many users do more work then.
    pub gaining: usize,
    /// How many do less.
    pub losing: usize,
    /// The user whose work grows by the largest part, and that part.
    pub largest_gain: Option<(UserId, f64)>,
    /// The same for one server's amount of each resource that it has, spread over the servers of the class.
    pub resources: Vec<ResourceWorth>,
}

/// One server's amount more of one resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceWorth {
    /// The resource.
    pub resource: ResourceId,
    /// How much of it one server has.
    pub amount: f64,
    /// By how much the smallest weighted share rises, solved again.
    pub gain: f64,
    /// Its rise per unit, by the prices.
    pub price: f64,
    /// Between which capacities of the class that price holds, if it was asked for.
    pub range: Option<PriceRange>,
}

/// What one more server of each class is worth, the most valuable first. `solution` is the DRFH of `instance`; `ranges`
/// asks how far each price holds, which takes some thirty solutions each. `told` hears how many of the classes are done.
pub fn worth_of_servers(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    ranges: bool,
    told: &dyn Fn(usize, usize),
) -> Result<Vec<ServerWorth>, SolverError> {
    let m = instance.resources().len();
    let prices = match solution.certificate.levels().first() {
        Some(level) => level.prices.clone(),
        // Everybody has all its tasks, or can have nothing.
        None => vec![0.0; m * instance.classes().len()],
    };
    let (now, before) = (value(instance, solution), works(instance, solution));
    let draft = Draft::from(instance);
    let asked = |draft: Draft| -> Result<(f64, Vec<f64>), SolverError> {
        let variant = measured_today(instance, draft).ok_or_else(too_long)?;
        let answer = solved(solver, &variant)?;
        Ok((value(&variant, &answer) - now, works(&variant, &answer)))
    };
    let mut worths = Vec::new();
    for (l, class) in instance.classes().iter().enumerate() {
        told(l, instance.classes().len());
        let mut one_more = draft.clone();
        one_more.classes[l].count += 1;
        let (gain, after) = asked(one_more)?;
        let changes: Vec<f64> = before.iter().zip(&after).map(|(b, a)| change(*b, *a)).collect();
        let row = &prices[l * m..(l + 1) * m];
        let mut resources = Vec::new();
        for (r, amount) in class.capacity.iter().enumerate().filter(|(_, c)| !c.is_zero() && class.count > 0)
        {
            let mut more = draft.clone();
            more.classes[l].capacity[r] =
                scaled(*amount, 1.0 + 1.0 / class.count as f64).ok_or_else(too_long)?;
            let (class, resource) = (ClassId(l), ResourceId(r));
            let range = match ranges {
                true => range_of_price(instance, solution, solver, 0, (class, resource, row[r]))?,
                false => None,
            };
            let (gain, amount) = (asked(more)?.0, amount.to_f64());
            resources.push(ResourceWorth { resource, amount, gain, price: row[r], range });
        }
        let largest = changes.iter().enumerate().filter(|(_, part)| **part > NOTICED);
        worths.push(ServerWorth {
            class: ClassId(l),
            gain,
            by_price: class.capacity.iter().zip(row).map(|(capacity, price)| capacity.to_f64() * price).sum(),
            gaining: changes.iter().filter(|part| **part > NOTICED).count(),
            losing: changes.iter().filter(|part| **part < -NOTICED).count(),
            largest_gain: largest
                .map(|(i, part)| (UserId(i), *part))
                .reduce(|most, next| if next.1 > most.1 { next } else { most }),
            resources,
        });
    }
    // What differs by less than solutions are exact stays in the instance's order.
    let rounded = |worth: &ServerWorth| (worth.gain.max(0.0) / now.max(f64::MIN_POSITIVE) * 1e8).round();
    worths.sort_by(|a, b| rounded(b).total_cmp(&rounded(a)));
    Ok(worths)
}

fn scaled(amount: Decimal, factor: f64) -> Option<Decimal> {
    format!("{:.12e}", amount.to_f64() * factor).parse().ok()
}

fn too_long() -> SolverError {
    SolverError::Unsupported(
        "a variant of the instance has numbers that are too long to be exact; round them".into(),
    )
}
