//! An exact simplex on `A x <= b`, `x >= 0` with `b >= 0`: integer pivots, Bland's rule, and one objective
//! after another, each over the optima of those before.

use crate::Fraction;
use num_bigint::{BigInt, Sign};

/// The full tableau of a basis, as integers over the common denominator `scale` (Edmonds' integer pivoting:
/// every division below is exact, because all entries are minors of the original matrix).
#[derive(Clone)]
pub struct Tableau {
    scale: BigInt,
    rows: Vec<Vec<BigInt>>,
    right: Vec<BigInt>,
    basis: Vec<usize>,
    /// Variables that must stay zero for the earlier objectives to keep their maxima.
    barred: Vec<bool>,
    first_slack: usize,
}

impl Tableau {
    /// Starts at `x = 0`; every row is a list of `variables` coefficients and a right-hand side `>= 0`.
    pub fn new(variables: usize, constraints: Vec<(Vec<BigInt>, BigInt)>) -> Self {
        let count = constraints.len();
        let (mut rows, mut right) = (Vec::new(), Vec::new());
        for (position, (coefficients, limit)) in constraints.into_iter().enumerate() {
            assert!(limit.sign() != Sign::Minus, "x = 0 must satisfy every row");
            let mut row = coefficients;
            row.resize(variables + count, BigInt::ZERO);
            row[variables + position] = BigInt::from(1);
            rows.push(row);
            right.push(limit);
        }
        Self {
            scale: BigInt::from(1),
            rows,
            right,
            basis: (variables..variables + count).collect(),
            barred: vec![false; variables + count],
            first_slack: variables,
        }
    }

    /// The slack variable of a row.
    pub fn slack(&self, row: usize) -> usize {
        self.first_slack + row
    }

    /// Adds a variable, at zero, with these coefficients in the original rows (the others: 0).
    pub fn add_variable(&mut self, coefficients: &[(usize, BigInt)]) -> usize {
        for row in &mut self.rows {
            let entry = coefficients.iter().map(|(of_row, a)| a * &row[self.first_slack + of_row]).sum();
            row.push(entry);
        }
        self.barred.push(false);
        self.barred.len() - 1
    }

    /// Moves to a point where `variable` is as large as the earlier objectives allow; returns its value.
    pub fn maximise(&mut self, variable: usize) -> Fraction {
        if !self.barred[variable] && self.row_of(variable).is_none() {
            self.enter(variable);
        }
        let Some(row) = self.row_of(variable) else { return Fraction::zero() };
        // The variable stays in the basis: only columns that raise it enter.
        while let Some(column) = self.column_that_raises(row) {
            self.enter(column);
        }
        Fraction::new(self.right[row].clone(), self.scale.clone())
    }

    /// Keeps only the points where `variable`, just maximised, has its maximum.
    pub fn keep_maxima_of(&mut self, variable: usize) {
        let Some(row) = self.row_of(variable) else { return };
        for column in 0..self.barred.len() {
            if column != variable && self.rows[row][column].sign() == Sign::Plus {
                self.barred[column] = true;
            }
        }
    }

    fn row_of(&self, variable: usize) -> Option<usize> {
        self.basis.iter().position(|&basic| basic == variable)
    }

    /// The first free column with a negative entry; basic columns have none in rows of other variables.
    fn column_that_raises(&self, row: usize) -> Option<usize> {
        (0..self.barred.len()).find(|&j| !self.barred[j] && self.rows[row][j].sign() == Sign::Minus)
    }

    /// Brings a column into the basis for the row that limits it first; ties: the lowest variable (Bland).
    fn enter(&mut self, column: usize) {
        let leaving = (0..self.rows.len())
            .filter(|&i| self.rows[i][column].sign() == Sign::Plus)
            .min_by(|&i, &j| {
                (&self.right[i] * &self.rows[j][column])
                    .cmp(&(&self.right[j] * &self.rows[i][column]))
                    .then(self.basis[i].cmp(&self.basis[j]))
            })
            .expect("shares are bounded by the capacity");
        let pivot = self.rows[leaving][column].clone();
        let (pivot_row, pivot_right) = (self.rows[leaving].clone(), self.right[leaving].clone());
        for i in (0..self.rows.len()).filter(|&i| i != leaving) {
            let factor = self.rows[i][column].clone();
            let update = |entry: &mut BigInt, in_pivot_row: &BigInt| {
                *entry *= &pivot;
                *entry -= &factor * in_pivot_row;
                *entry /= &self.scale;
            };
            self.rows[i].iter_mut().zip(&pivot_row).for_each(|(entry, other)| update(entry, other));
            update(&mut self.right[i], &pivot_right);
        }
        self.scale = pivot;
        self.basis[leaving] = column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tableau(rows: &[(&[i32], i32)]) -> Tableau {
        let rows = rows.iter().map(|(row, limit)| {
            (row.iter().map(|&entry| BigInt::from(entry)).collect(), BigInt::from(*limit))
        });
        Tableau::new(rows.clone().next().map_or(0, |(row, _): (Vec<_>, _)| row.len()), rows.collect())
    }

    #[test]
    fn finds_the_optimum_of_a_textbook_program() {
        // max z with z <= 3x + 5y, x <= 4, 2y <= 12, 3x + 2y <= 18: 36 at (2, 6).
        let mut tableau = tableau(&[(&[1, 0, 0], 4), (&[0, 2, 0], 12), (&[3, 2, 0], 18), (&[-3, -5, 1], 0)]);
        assert_eq!(tableau.maximise(2), Fraction::new(36, 1));
        tableau.keep_maxima_of(2);
        assert_eq!(tableau.maximise(0), Fraction::new(2, 1));
    }

    #[test]
    fn a_second_objective_moves_only_among_the_optima_of_the_first() {
        // x + y <= 3 has the optima x + y = 3; among them x <= 2 is the largest x, then y = 1.
        let mut tableau = tableau(&[(&[1, 1, 0], 3), (&[1, 0, 0], 2), (&[-1, -1, 1], 0)]);
        assert_eq!(tableau.maximise(2), Fraction::new(3, 1));
        tableau.keep_maxima_of(2);
        assert_eq!(tableau.maximise(0), Fraction::new(2, 1));
        tableau.keep_maxima_of(0);
        assert_eq!(tableau.maximise(1), Fraction::new(1, 1));
    }

    #[test]
    fn degenerate_rows_do_not_cycle() {
        // Beale's example: the largest-coefficient rule cycles here.
        let mut tableau = tableau(&[
            (&[1, -32, -4, 36, 0], 0),
            (&[1, -24, -1, 6, 0], 0),
            (&[0, 0, 1, 0, 0], 1),
            (&[-3, 80, -2, 24, 4], 0),
        ]);
        assert!(tableau.maximise(4) > Fraction::zero());
    }
}
