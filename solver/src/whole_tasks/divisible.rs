//! What tasks are worth where they can be divided: nearly what they are worth whole, where servers hold many of them.

use super::master::{Mix, Want, add_wants, wanted_rows};
use super::packing::{Class, Packing, Shape};
use crate::highs::solve;
use crate::linear_program::{Ended, Program, Row, Settings};
use crate::tolerance::highs::FEASIBILITY;
use fairplan_instances::{Deadline, SolverError};

/// The worth of a task of each shape and of a server of each class, and how often each want is had, from the program that
/// has what is wanted most with divisible tasks. An error too if time is over before.
pub(super) fn divisible_values(
    packing: &Packing,
    wants: &[Want],
    stop: &Deadline,
) -> Result<Mix, SolverError> {
    // Tolerances of HiGHS are absolute: a server should be worth about 1, and not next to nothing.
    let scale = packing.servers().iter().sum::<u64>().next_power_of_two() as f64;
    let wants: Vec<Want> = wants.iter().map(|want| want.times(scale)).collect();
    let mut program = Program::maximise();
    let shapes = wanted_rows(&mut program, packing, &wants);
    let capacity = |class: &Class| -> Vec<Row> {
        (0..packing.resources).map(|_| program.at_most(class.servers as f64, [])).collect()
    };
    let classes: Vec<Vec<Row>> = packing.classes.iter().map(capacity).collect();
    let columns = add_wants(&mut program, packing, &shapes, &wants);
    for (shape, row) in packing.shapes.iter().zip(&shapes) {
        let Some(row) = row else { continue };
        for (l, class) in packing.classes.iter().enumerate().filter(|(l, _)| shape.copies[*l] > 0) {
            // A column counts as many tasks as one server holds.
            let copies = shape.copies[l] as f64;
            let takes = |r: usize| copies * shape.demand[r] as f64 / class.capacity[r] as f64;
            let taken = (0..packing.resources).filter(|&r| shape.demand[r] > 0);
            let taken = taken.map(|r| (classes[l][r], takes(r)));
            program.column(0.0, f64::INFINITY, false, taken.chain([(*row, copies / shape.unit())]));
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
    let prices: Vec<&[f64]> = prices.chunks(packing.resources.max(1)).collect();
    let values = packing.shapes.iter().zip(&shapes);
    let values =
        values.map(|(shape, row)| if row.is_some() { cheapest(packing, &prices, shape) } else { 0.0 });
    Ok(Mix {
        wanted: solved.columns.iter().zip(&columns).map(|(had, unit)| had * unit).collect(),
        servers: Vec::new(),
        values: values.collect(),
        server_values: prices.iter().map(|prices| prices.iter().sum()).collect(),
    })
}

/// What a task costs where it costs least, at prices of all that a server of each class has of each resource. No larger
/// worth goes with these prices, and the program's own is right only up to its tolerance.
fn cheapest(packing: &Packing, prices: &[&[f64]], shape: &Shape) -> f64 {
    let cost = |class: &Class, prices: &[f64]| -> f64 {
        let taken = (0..packing.resources).filter(|&r| shape.demand[r] > 0);
        taken.map(|r| prices[r] * shape.demand[r] as f64 / class.capacity[r] as f64).sum()
    };
    let classes = packing.classes.iter().zip(prices).zip(&shape.copies).filter(|(_, copies)| **copies > 0);
    classes.map(|((class, prices), _)| cost(class, prices)).fold(f64::INFINITY, f64::min)
}
