//! What tasks are worth where they can be divided: nearly what they are worth whole, where servers hold many of them.

use super::alike::Alike;
use super::master::{Mix, Want, add_wants, wanted_rows};
use super::packing::{Class, Packing};
use crate::interior_point::InteriorPoint;
use crate::level::{Groups, LevelProblem, LevelSolver};
use crate::linear_program::{Ended, Program, Row, Settings};
use crate::linear_solver::solve;
use crate::smooth::{SumProblem, SumSolver};
use crate::tolerance::highs::FEASIBILITY;
use crate::tolerance::whole_tasks::CLOSE;
use fairplan_instances::{Deadline, InstanceError};

/// The worth of a task of each shape and of a server of each class, and how often each want is had, from the program that
/// has what is wanted most with divisible tasks. An error too if time is over before.
pub(super) fn divisible_values(
    packing: &Packing,
    wants: &[Want],
    stop: &Deadline,
) -> Result<Mix, InstanceError> {
    // Tolerances are absolute: a server should be worth about 1, and not next to nothing.
    let scale = packing.servers().iter().sum::<u64>().next_power_of_two() as f64;
    let wants: Vec<Want> = wants.iter().map(|want| want.times(scale)).collect();
    let mut program = Program::maximise();
    let alike = Alike::alone(packing);
    let shapes = wanted_rows(&mut program, &alike, &wants);
    let capacity = |class: &Class| -> Vec<Row> {
        (0..packing.resources).map(|_| program.at_most(class.servers as f64, [])).collect()
    };
    let classes: Vec<Vec<Row>> = packing.classes.iter().map(capacity).collect();
    let limits: Vec<Row> = (0..packing.limits.len()).map(|_| program.at_most(1.0, [])).collect();
    let columns = add_wants(&mut program, packing, (&alike, &shapes), &wants);
    for (s, (shape, row)) in packing.shapes.iter().zip(&shapes).enumerate() {
        let Some(row) = row else { continue };
        for (l, class) in packing.classes.iter().enumerate().filter(|(l, _)| shape.copies[*l] > 0) {
            // A column counts as many tasks as one server holds.
            let copies = shape.copies[l] as f64;
            let takes = |r: usize| copies * shape.demand[r] as f64 / class.capacity[r] as f64;
            let taken = (0..packing.resources).filter(|&r| shape.demand[r] > 0);
            let taken = taken.map(|r| (classes[l][r], takes(r)));
            let of_limits = packing.limits.parts(l, s).map(|(limit, part)| (limits[limit], copies * part));
            let entries = taken.chain(of_limits).chain([(*row, copies / shape.unit())]);
            program.column(0.0, f64::INFINITY, false, entries);
        }
    }
    let settings = Settings { dual: Some(FEASIBILITY), simplex: true, ..Settings::default() };
    let solved = solve(&program, settings, stop)?;
    let duals = &solved.multipliers;
    if solved.ended != Ended::Optimal || duals.iter().any(|dual| !dual.is_finite()) {
        return Err(solved.unusable());
    }
    let prices = &duals[shapes.iter().flatten().count()..];
    let prices: Vec<f64> = prices.iter().map(|dual| (dual / scale).max(0.0)).collect();
    let (prices, limit_values) = prices.split_at(prices.len() - limits.len());
    let prices: Vec<&[f64]> = prices.chunks(packing.resources.max(1)).collect();
    let value = |s: usize| shapes[s].map_or(0.0, |_| cheapest(packing, &prices, limit_values, s));
    let values = (0..packing.shapes.len()).map(value);
    Ok(Mix {
        wanted: solved.columns.iter().zip(&columns).map(|(had, unit)| had * unit).collect(),
        servers: Vec::new(),
        values: values.collect(),
        server_values: prices.iter().map(|prices| prices.iter().sum()).collect(),
        limit_values: limit_values.to_vec(),
        traded: Vec::new(),
    })
}

/// Shapes times classes up to which the program of divisible tasks takes less than a second; beyond, an interior point
/// over the same rows is many times faster.
const SMALL: usize = 10_000;

/// Whether so many shapes and classes are more than the simplex method takes on in a moment.
pub(super) fn is_large(packing: &Packing) -> bool {
    packing.shapes.len() * packing.classes.len() > SMALL
}

/// What an interior point says of divisible tasks.
pub(super) struct Divisible {
    /// What a task of each shape and a server of each class is worth, of any scale.
    pub values: Vec<f64>,
    pub server_values: Vec<f64>,
    /// Tasks of each shape.
    pub tasks: Vec<f64>,
}

/// The same for the largest part of all that is needed, by an interior point, as good as it is when time is over; none where
/// nothing is needed.
pub(super) fn of_all_needed(packing: &Packing, need: &[u64], stop: &Deadline) -> Option<Divisible> {
    let needed: Vec<f64> = need.iter().map(|tasks| *tasks as f64).collect();
    let rows = Rows::new(packing, &needed)?;
    let problem = LevelProblem {
        resources: packing.resources,
        capacities: &rows.capacities,
        groups: &rows.groups,
        limits: None,
    };
    let solved = LevelSolver::solve(&InteriorPoint(stop.clone()), &problem, CLOSE).ok()?;
    let tasks = needed.iter().map(|tasks| tasks * solved.level).collect();
    rows.divisible(packing, &solved.prices, tasks)
}

/// The same for the largest sum of weighted logarithms of tasks: `weights` are those of the users of each shape, `most` the tasks
/// that they have together.
pub(super) fn of_logarithms(
    packing: &Packing,
    weights: &[f64],
    most: &[u64],
    stop: &Deadline,
) -> Option<Divisible> {
    // Around tasks of equal weight in what the cluster has, all works are near one.
    let even: Vec<u64> =
        (0..weights.len()).map(|s| rounded_up(packing, s, weights[s]).min(most[s])).collect();
    let around = of_all_needed(packing, &even, stop)?;
    let rows = Rows::new(packing, &around.tasks)?;
    let of_group = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { rows.shapes.iter().map(|s| of(*s)).collect() };
    let size = of_group(&|s| weights[s]);
    let limit = of_group(&|s| most[s] as f64 / around.tasks[s]);
    let problem = SumProblem {
        alpha: 1.0,
        resources: packing.resources,
        capacities: &rows.capacities,
        groups: &rows.groups,
        size: &size,
        cost: &size,
        limit: &limit,
    };
    let solved = SumSolver::solve(&InteriorPoint(stop.clone()), &problem, CLOSE).ok()?;
    let mut tasks = vec![0.0; weights.len()];
    rows.shapes.iter().zip(&solved.works).for_each(|(s, work)| tasks[*s] = around.tasks[*s] * work);
    rows.divisible(packing, &solved.prices, tasks)
}

/// Tasks of a shape that are so large a part of the cluster, in the resource that they need most of.
fn rounded_up(packing: &Packing, s: usize, part: f64) -> u64 {
    let demand = &packing.shapes[s].demand;
    let of_all = |r: usize| -> f64 {
        packing.classes.iter().map(|class| class.servers as f64 * class.capacity[r] as f64).sum()
    };
    let taken = (0..packing.resources).filter(|&r| demand[r] > 0);
    let tasks = taken.map(|r| part * of_all(r) / demand[r] as f64).fold(f64::INFINITY, f64::min);
    tasks.ceil().max(1.0) as u64
}

/// What interior points see: shapes of which so many tasks count as one, and capacities as parts of all that there is.
struct Rows {
    capacities: Vec<f64>,
    groups: Groups,
    /// The shape of each group.
    shapes: Vec<usize>,
    total: Vec<f64>,
}

impl Rows {
    fn new(packing: &Packing, tasks: &[f64]) -> Option<Self> {
        let m = packing.resources;
        let mut total = vec![0.0; m];
        for class in &packing.classes {
            (0..m).for_each(|r| total[r] += class.servers as f64 * class.capacity[r] as f64);
        }
        let part = |r: usize, amount: f64| if total[r] > 0.0 { amount / total[r] } else { 0.0 };
        let of_class = |class: &Class| -> Vec<f64> {
            (0..m).map(|r| part(r, class.servers as f64 * class.capacity[r] as f64)).collect()
        };
        let capacities = packing.classes.iter().flat_map(of_class).collect();
        let mut groups = Groups::new();
        let mut shapes = Vec::new();
        for (s, shape) in packing.shapes.iter().enumerate().filter(|(s, _)| tasks[*s] > 0.0) {
            let load: Vec<f64> = (0..m).map(|r| part(r, tasks[s] * shape.demand[r] as f64)).collect();
            let classes = (0..packing.classes.len()).filter(|&l| shape.copies[l] > 0);
            groups.push(&load, 0, true, classes.map(|l| (l, 1.0)));
            shapes.push(s);
        }
        (!shapes.is_empty()).then_some(Self { capacities, groups, shapes, total })
    }

    /// In the worth of all that servers have; `None` where prices are no numbers.
    fn divisible(&self, packing: &Packing, prices: &[f64], tasks: Vec<f64>) -> Option<Divisible> {
        let m = packing.resources;
        let worth: f64 = prices.iter().zip(&self.capacities).map(|(price, part)| price * part).sum();
        if !(worth.is_finite() && worth > 0.0) {
            return None;
        }
        let of_server = |class: &Class, prices: &[f64]| -> Vec<f64> {
            let price = |r: usize| prices[r] * class.capacity[r] as f64 / (self.total[r] * worth);
            (0..m).map(|r| if class.capacity[r] > 0 { price(r) } else { 0.0 }).collect()
        };
        let prices: Vec<Vec<f64>> = packing
            .classes
            .iter()
            .zip(prices.chunks(m))
            .map(|(class, prices)| of_server(class, prices))
            .collect();
        let prices: Vec<&[f64]> = prices.iter().map(Vec::as_slice).collect();
        let mut values = vec![0.0; packing.shapes.len()];
        self.shapes.iter().for_each(|s| values[*s] = cheapest(packing, &prices, &[], *s));
        Some(Divisible {
            values,
            server_values: prices.iter().map(|prices| prices.iter().sum()).collect(),
            tasks,
        })
    }
}

/// What a task costs where it costs least, at prices of all that a server of each class has of each resource, and of all of each limit
/// (none where these are not priced). No larger worth goes with these prices, and the program's own is right only up to its tolerance.
fn cheapest(packing: &Packing, prices: &[&[f64]], limits: &[f64], s: usize) -> f64 {
    let shape = &packing.shapes[s];
    let cost = |(l, class): (usize, &Class)| -> f64 {
        let taken = (0..packing.resources).filter(|&r| shape.demand[r] > 0);
        let room = taken.map(|r| prices[l][r] * shape.demand[r] as f64 / class.capacity[r] as f64);
        let paid = packing.limits.parts(l, s).filter_map(|(limit, part)| Some(limits.get(limit)? * part));
        room.sum::<f64>() + paid.sum::<f64>()
    };
    let classes = packing.classes.iter().enumerate().filter(|(l, _)| shape.copies[*l] > 0);
    // What limits close everywhere is worth more than all that there is.
    classes.map(cost).reduce(f64::min).unwrap_or(1.0)
}
