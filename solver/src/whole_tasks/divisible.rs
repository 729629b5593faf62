//! What tasks are worth where they can be divided: nearly what they are worth whole, where servers hold many of them.

use super::master::{Mix, Want, add_wants, broken, panicked, wanted_rows};
use super::packing::Packing;
use crate::highs::ONE_MODEL_AT_A_TIME;
use fairplan_instances::SolverError;
use highs::{ColProblem, HighsModelStatus, Row, Sense};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

/// The worth of a task of each shape and of a server of each class, and how often each want is had, from the program that
/// has what is wanted most with divisible tasks.
pub(super) fn divisible_values(packing: &Packing, wants: &[Want]) -> Result<Mix, SolverError> {
    let _alone = ONE_MODEL_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let solve = || {
        let mut program = ColProblem::default();
        let shapes = wanted_rows(&mut program, packing, wants);
        let capacity = |class: &super::packing::Class| -> Vec<Row> {
            (0..packing.resources).map(|_| program.add_row(..=class.servers as f64)).collect()
        };
        let classes: Vec<Vec<Row>> = packing.classes.iter().map(capacity).collect();
        add_wants(&mut program, &shapes, wants);
        for (shape, row) in packing.shapes.iter().zip(&shapes) {
            let Some(row) = row else { continue };
            for (l, class) in packing.classes.iter().enumerate().filter(|(l, _)| shape.copies[*l] > 0) {
                // A column counts as many tasks as one server holds.
                let copies = shape.copies[l] as f64;
                let takes = |r: usize| copies * shape.demand[r] as f64 / class.capacity[r] as f64;
                let taken = (0..packing.resources).filter(|&r| shape.demand[r] > 0);
                let taken = taken.map(|r| (classes[l][r], takes(r)));
                program.add_column(0.0, 0.0.., taken.chain([(*row, copies)]));
            }
        }
        let mut model = program.optimise(Sense::Maximise);
        model.make_quiet();
        model.set_option("threads", 1);
        model.set_option("parallel", "off");
        model.set_option("solver", "simplex");
        model.try_solve().map(|solved| (solved.status(), solved.get_solution(), shapes))
    };
    let (status, solution, shapes) = catch_unwind(AssertUnwindSafe(solve))
        .map_err(|_| panicked())?
        .map_err(|status| broken(format!("stopped with {status:?}")))?;
    let duals = solution.dual_rows();
    if status != HighsModelStatus::Optimal || duals.iter().any(|dual| !dual.is_finite()) {
        return Err(broken(format!("stopped with status {status:?}")));
    }
    let (of_shapes, of_classes) = duals.split_at(shapes.iter().flatten().count());
    let mut of_shapes = of_shapes.iter().map(|dual| (-dual).max(0.0));
    let values = shapes.iter().map(|row| row.and_then(|_| of_shapes.next()).unwrap_or(0.0)).collect();
    let server = |duals: &[f64]| duals.iter().map(|dual| dual.max(0.0)).sum();
    Ok(Mix {
        wanted: solution.columns()[..wants.len()].to_vec(),
        servers: Vec::new(),
        values,
        server_values: of_classes.chunks(packing.resources.max(1)).map(server).collect(),
    })
}
