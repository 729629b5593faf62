//! Shapes that are alike: in a program of very many they share a row, in which each counts for what it is worth divisible.
//!
//! So what tasks of such shapes are worth keeps its ratios, and the program only finds how much more or less than divisible all of them are worth.
//! Any worth bounds, so shared rows make the best bound a little looser, the less so the more alike the shapes are.

use super::packing::{Packing, Shape};
use hashbrown::HashMap;

/// The row of each shape, and for how much a task of it counts there.
pub(super) struct Alike {
    pub rows: Vec<usize>,
    pub counts: Vec<f64>,
    /// A shape of each row.
    pub first: Vec<usize>,
}

impl Alike {
    /// A row for each shape.
    pub fn alone(packing: &Packing) -> Self {
        let rows: Vec<usize> = (0..packing.shapes.len()).collect();
        let counts = packing.shapes.iter().map(|shape| 1.0 / shape.unit()).collect();
        Self { first: rows.clone(), rows, counts }
    }

    /// About so many rows for the shapes that are needed and worth something; the others keep a row each.
    pub fn sharing(packing: &Packing, need: &[u64], values: &[f64], most: usize) -> Self {
        let mut alike = Self::alone(packing);
        alike.first.clear();
        let shares = |s: &usize| need[*s] > 0 && values[*s] > 0.0;
        let (sharing, others): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(shares);
        let mean = sharing.iter().map(|s| values[*s]).sum::<f64>() / sharing.len().max(1) as f64;
        for members in cells(packing, values, sharing, most) {
            for s in &members {
                (alike.rows[*s], alike.counts[*s]) = (alike.first.len(), values[*s] / mean);
            }
            alike.first.push(members[0]);
        }
        for s in others {
            alike.rows[s] = alike.first.len();
            alike.first.push(s);
        }
        alike
    }
}

/// Shapes that may run on the same classes, and are of like demand.
struct Cell {
    shapes: Vec<usize>,
    /// The resource in which their demands differ most, and how much it would help to tell them apart.
    widest: usize,
    spread: f64,
}

/// Cells are cut in the middle until there are as many as wanted, those first whose demands differ most.
fn cells(packing: &Packing, values: &[f64], shapes: Vec<usize>, most: usize) -> Vec<Vec<usize>> {
    let mut on_classes: HashMap<Vec<bool>, usize> = HashMap::new();
    let mut together: Vec<Vec<usize>> = Vec::new();
    for s in shapes {
        let may_run = packing.shapes[s].copies.iter().map(|copies| *copies > 0).collect();
        let at = *on_classes.entry(may_run).or_insert(together.len());
        if at == together.len() {
            together.push(Vec::new());
        }
        together[at].push(s);
    }
    let cell = |shapes| Cell::new(packing, values, shapes);
    let mut cells: Vec<Cell> = together.into_iter().map(cell).collect();
    while cells.len() < most {
        let widest = (0..cells.len()).max_by(|a, b| cells[*a].spread.total_cmp(&cells[*b].spread));
        let Some(at) = widest.filter(|at| cells[*at].spread > 0.0) else { break };
        let Cell { mut shapes, widest, .. } = cells.swap_remove(at);
        shapes.sort_by_key(|s| (packing.shapes[*s].demand[widest], *s));
        let others = shapes.split_off(shapes.len() / 2);
        cells.extend([cell(shapes), cell(others)]);
    }
    cells.into_iter().map(|cell| cell.shapes).collect()
}

impl Cell {
    fn new(packing: &Packing, values: &[f64], shapes: Vec<usize>) -> Self {
        let width = |r: usize| {
            let demand = |shape: &Shape| shape.demand[r];
            let all = || shapes.iter().map(|s| demand(&packing.shapes[*s]));
            let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
            (most - least) as f64 / packing.largest(r).max(1) as f64
        };
        let widths = (0..packing.resources).map(|r| (width(r), r));
        let (width, widest) = widths.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0));
        let worth: f64 = shapes.iter().map(|s| values[*s]).sum();
        let spread = if shapes.len() > 1 { width * worth.sqrt() } else { 0.0 };
        Self { shapes, widest, spread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole_tasks::tests::random_google;

    #[test]
    fn shapes_that_share_a_row_may_run_on_the_same_classes_and_count_for_what_they_are_worth() {
        let packing = Packing::new(&random_google(400, 1)).unwrap();
        let mut need = vec![3; packing.shapes.len()];
        need[7] = 0;
        let values: Vec<f64> = (0..need.len()).map(|s| 1.0 + s as f64).collect();
        let alike = Alike::sharing(&packing, &need, &values, 50);
        assert_eq!(alike.first.len(), 51);
        let may_run = |s: usize| packing.shapes[s].copies.iter().map(|c| *c > 0).collect::<Vec<bool>>();
        for s in 0..need.len() {
            let first = alike.first[alike.rows[s]];
            assert_eq!(may_run(s), may_run(first), "{s} {first}");
            let ratio = alike.counts[s] / alike.counts[first] * values[first] / values[s];
            assert!((ratio - 1.0).abs() < 1e-12, "{s} {first}");
        }
        let own = alike.rows[7];
        assert_eq!(alike.rows.iter().filter(|row| **row == own).count(), 1);
    }
}
