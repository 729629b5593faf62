//! A program, one of its bases and the values there: what steps change and prices are asked of.
//!
//! Every row has a variable of its own, `Σ entry x − r = 0`, between the row's bounds.

use super::columns::Columns;
use super::factor::{Entries, Factor};
use crate::linear_program::{Column, Program, Row, Sense, Settings, power};
use crate::tolerance::simplex::{DUAL, PRIMAL};

/// Exchanges after which the factors are found anew.
pub(super) const EXCHANGES: usize = 64;

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableStatus {
    /// At this position of the basis.
    Basic(u32),
    Lower,
    Upper,
    /// Without bounds, at zero.
    Free,
}

/// A program and a basis of it. Variables are those of the rows, then the columns; all numbers are scaled by powers of two.
pub(crate) struct Simplex {
    pub(super) rows: usize,
    /// -1 where more is better.
    pub(super) sign: f64,
    pub(super) row_scale: Vec<f64>,
    pub(super) column_scale: Vec<f64>,
    pub(super) columns: Columns,
    pub(super) cost: Vec<f64>,
    /// Bounds as they are, and as they are moved.
    pub(super) bounds: Vec<(f64, f64)>,
    pub(super) moved: Vec<(f64, f64)>,
    pub(super) place: Vec<VariableStatus>,
    pub(super) value: Vec<f64>,
    /// Variable at each position of the basis.
    pub(super) basis: Vec<u32>,
    pub(super) factor: Factor,
    /// Whether the factors are those of the basis.
    pub(super) is_factored: bool,
    pub(super) primal: f64,
    /// By how much a variable may be worth more than it costs.
    pub(super) dual: Vec<f64>,
    /// The least of these.
    pub(super) least_dual: f64,
    pub(super) column_dual: f64,
    /// Bounds that were moved so far: numbers that draw by how much.
    pub(super) draws: u64,
}

impl Simplex {
    pub fn new(program: &Program, settings: Settings) -> Self {
        let rows = program.rows.len();
        let mut simplex = Self {
            rows,
            sign: if program.sense == Sense::Maximise { -1.0 } else { 1.0 },
            row_scale: row_scales(program),
            column_scale: Vec::new(),
            columns: Columns::new(),
            cost: vec![0.0; rows],
            bounds: Vec::new(),
            moved: Vec::new(),
            place: (0..rows as u32).map(VariableStatus::Basic).collect(),
            value: vec![0.0; rows],
            basis: (0..rows as u32).collect(),
            factor: Factor::default(),
            is_factored: false,
            primal: settings.primal.unwrap_or(PRIMAL),
            dual: Vec::new(),
            least_dual: f64::INFINITY,
            column_dual: settings.dual.unwrap_or(DUAL),
            draws: 0,
        };
        let scaled = program.rows.iter().zip(&simplex.row_scale);
        simplex.bounds = scaled.map(|((least, most), scale)| (least * scale, most * scale)).collect();
        simplex.moved = simplex.bounds.clone();
        simplex.dual = simplex.row_scale.iter().map(|scale| simplex.column_dual / scale).collect();
        simplex.least_dual = simplex.dual.iter().copied().fold(f64::INFINITY, f64::min);
        for column in &program.columns {
            simplex.add(column);
        }
        simplex
    }

    /// A column more, at 0.
    pub fn add(&mut self, column: &Column) {
        let entries = column.entries.iter().filter(|(_, entry)| *entry != 0.0);
        let mut entries: Entries =
            entries.map(|(Row(row), entry)| (*row as u32, entry * self.row_scale[*row])).collect();
        entries.sort_by_key(|(row, _)| *row);
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        let scale = 1.0 / power(entries.iter().fold(0.0, |most: f64, (_, entry)| most.max(entry.abs())));
        entries.iter_mut().for_each(|(_, entry)| *entry *= scale);
        self.columns.push(&entries);
        self.column_scale.push(scale);
        self.cost.push(self.sign * column.cost * scale);
        self.dual.push(self.column_dual * scale);
        self.least_dual = self.least_dual.min(self.column_dual * scale);
        self.bounds.push((0.0, column.most / scale));
        self.moved.push((0.0, column.most / scale));
        self.place.push(VariableStatus::Lower);
        self.value.push(0.0);
    }

    /// Another cost for a column.
    pub fn cost(&mut self, column: usize, cost: f64) {
        self.cost[self.rows + column] = self.sign * cost * self.column_scale[column];
    }

    /// Other bounds for a column.
    pub(super) fn bound(&mut self, column: usize, bounds: (f64, f64)) {
        let variable = self.rows + column;
        let scale = self.column_scale[column];
        self.bounds[variable] = (bounds.0 / scale, bounds.1 / scale);
        self.moved[variable] = self.bounds[variable];
        if !matches!(self.place[variable], VariableStatus::Basic(_)) {
            self.settle(variable);
        }
    }

    /// Puts a variable that is not in the basis on the bound where it is, or on one that it has.
    pub(super) fn settle(&mut self, variable: usize) {
        let (least, most) = self.moved[variable];
        let (place, value) = match self.place[variable] {
            VariableStatus::Upper if most.is_finite() => (VariableStatus::Upper, most),
            _ if least.is_finite() => (VariableStatus::Lower, least),
            _ if most.is_finite() => (VariableStatus::Upper, most),
            _ => (VariableStatus::Free, 0.0),
        };
        self.place[variable] = place;
        self.value[variable] = value;
    }

    /// What one more of each row's bound adds to the objective.
    pub(super) fn multipliers(&self) -> Vec<f64> {
        let prices = self.prices(|variable| self.cost[variable]);
        prices.iter().zip(&self.row_scale).map(|(price, scale)| self.sign * price * scale).collect()
    }

    /// Entries of a variable's column.
    fn column(&self, variable: usize) -> Entries {
        match variable.checked_sub(self.rows) {
            Some(column) => self.columns.of(column).collect(),
            None => vec![(variable as u32, -1.0)],
        }
    }

    pub(super) fn scatter(&self, variable: usize, times: f64, vector: &mut [f64]) {
        match variable.checked_sub(self.rows) {
            Some(column) => {
                self.columns.of(column).for_each(|(row, entry)| vector[row as usize] += times * entry);
            }
            None => vector[variable] -= times,
        }
    }

    /// The sum of a variable's entries, each times the number of its row.
    pub(super) fn times(&self, variable: usize, rows: &[f64]) -> f64 {
        match variable.checked_sub(self.rows) {
            Some(column) => self.columns.times(column, rows),
            None => -rows[variable],
        }
    }

    /// What one more of each row costs where the basic variables have these costs.
    pub(super) fn prices(&self, cost: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut costs: Vec<f64> = self.basis.iter().map(|variable| cost(*variable as usize)).collect();
        let mut prices = vec![0.0; self.rows];
        self.factor.solve_transposed(&mut costs, &mut prices);
        prices
    }

    /// Finds the factors anew; columns that depend on others give way to the variables of rows.
    pub(super) fn factorise(&mut self) {
        for _ in 0..=self.rows {
            let columns = self.basis.iter().map(|variable| self.column(*variable as usize)).collect();
            match Factor::new(columns) {
                Ok(factor) => {
                    self.factor = factor;
                    self.is_factored = true;
                    break;
                }
                Err(dependent) => {
                    for (position, row) in dependent.positions.into_iter().zip(dependent.rows) {
                        let leaves = std::mem::replace(&mut self.basis[position], row as u32) as usize;
                        self.place[leaves] = VariableStatus::Lower;
                        self.settle(leaves);
                        self.place[row] = VariableStatus::Basic(position as u32);
                    }
                }
            }
        }
        self.value_basis();
    }

    /// The values of the basis by those of all others, refined once.
    pub(super) fn value_basis(&mut self) {
        self.basis.iter().for_each(|variable| self.value[*variable as usize] = 0.0);
        let mut solved = vec![0.0; self.rows];
        for _ in 0..2 {
            let mut left = vec![0.0; self.rows];
            let values = self.value.iter().enumerate().filter(|(_, value)| **value != 0.0);
            values.for_each(|(variable, value)| self.scatter(variable, -value, &mut left));
            self.factor.solve(&mut left, &mut solved);
            for (variable, more) in self.basis.iter().zip(&solved) {
                self.value[*variable as usize] += more;
            }
        }
    }
}

/// Powers of two by which rows are multiplied, so that entries of a row are around one.
fn row_scales(program: &Program) -> Vec<f64> {
    let mut range = vec![(f64::INFINITY, 0.0_f64); program.rows.len()];
    let mut scales = vec![1.0; program.rows.len()];
    for _ in 0..3 {
        range.fill((f64::INFINITY, 0.0));
        for column in &program.columns {
            let sizes = column.entries.iter().filter(|(_, entry)| *entry != 0.0);
            let sizes: Vec<(usize, f64)> =
                sizes.map(|(Row(row), entry)| (*row, entry.abs() * scales[*row])).collect();
            let largest = sizes.iter().fold(0.0, |most: f64, (_, size)| most.max(*size));
            for (row, size) in sizes {
                let (least, most) = range[row];
                range[row] = (least.min(size / largest), most.max(size / largest));
            }
        }
        for (scale, (least, most)) in scales.iter_mut().zip(&range) {
            if *most > 0.0 {
                *scale /= power((least * most).sqrt());
            }
        }
    }
    scales
}
