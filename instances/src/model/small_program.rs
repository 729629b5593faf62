//! The largest `c x` with `A x <= b` and `x >= 0`, where `b >= 0`: a simplex for a handful of rows, by Bland's rule.
//!
//! The rule may have to divide by next to nothing, which blows roundings up. Then the basis is set up anew from the program itself, by
//! its largest entries, and the rule goes on from there.

use crate::tolerance::{NO_GAIN, NO_PIVOT, SOUND_PIVOT};

/// A program and its optimum; solving another one in the same place takes no new memory.
#[derive(Default)]
pub(super) struct SmallProgram {
    columns: usize,
    /// As it was stated: the gains scaled so that the largest is 1.
    stated: Rows,
    now: Rows,
    /// Variables from `columns` on are the slack of rows.
    free: Vec<usize>,
    basic: Vec<usize>,
    /// The row that is taken from the others.
    taken: Vec<f64>,
    pub point: Vec<f64>,
    /// Of the rows; they prove that there is no better point.
    pub prices: Vec<f64>,
}

/// The rows of a basis.
#[derive(Clone, Default)]
struct Rows {
    /// Each basic variable is `right - Σ entries × free variable`: row after row.
    entries: Vec<f64>,
    right: Vec<f64>,
    gains: Vec<f64>,
}

/// How often a basis is set up anew at most; the first time is nearly always enough.
const MOST_SET_UP: usize = 20;

impl SmallProgram {
    /// Begins anew, without rows.
    pub fn start(&mut self, gains: impl Iterator<Item = f64>) {
        self.stated.gains.clear();
        self.stated.gains.extend(gains);
        self.columns = self.stated.gains.len();
        self.stated.entries.clear();
        self.stated.right.clear();
    }

    /// Adds a row, one entry a column.
    pub fn row(&mut self, entries: impl Iterator<Item = f64>, right: f64) {
        self.stated.entries.extend(entries);
        self.stated.right.push(right);
    }

    /// Finds `point` and `prices`. The program must be bounded.
    pub fn maximise(&mut self) {
        let (n, m) = (self.columns, self.stated.right.len());
        let largest = self.stated.gains.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            self.stated.gains.iter_mut().for_each(|gain| *gain /= largest);
        }
        self.without_basis();
        for _ in 0..MOST_SET_UP {
            if self.go_to_the_end() >= SOUND_PIVOT {
                break;
            }
            self.set_up_again();
        }
        self.point.clear();
        self.point.resize(n, 0.0);
        self.prices.clear();
        self.prices.resize(m, 0.0);
        for (variable, value) in self.basic.iter().zip(&self.now.right) {
            if *variable < n {
                self.point[*variable] = *value;
            }
        }
        for (variable, gain) in self.free.iter().zip(&self.now.gains) {
            if *variable >= n {
                self.prices[*variable - n] = (-gain).max(0.0) * largest;
            }
        }
    }

    /// All variables are free, and the slack of each row is all of it.
    fn without_basis(&mut self) {
        let n = self.columns;
        self.now.clone_from(&self.stated);
        self.free.clear();
        self.free.extend(0..n);
        self.basic.clear();
        self.basic.extend(n..n + self.now.right.len());
    }

    /// Goes on until nothing is gained any more. The smallest entry by which a row was divided; 1 if none was.
    fn go_to_the_end(&mut self) -> f64 {
        let mut smallest = 1.0f64;
        // Bland's rule ends in exact arithmetic; roundings might keep it turning.
        for _ in 0..100 * (self.columns + self.now.right.len()) {
            let Some((row, column)) = self.step() else { break };
            smallest = smallest.min(self.entry(row, column));
            self.pivot(row, column);
            self.clear_roundings();
        }
        smallest
    }

    /// The same basis, from the program itself.
    fn set_up_again(&mut self) {
        let n = self.columns;
        let goal = self.basic.clone();
        let enter = goal.iter().filter(|variable| **variable < n).count();
        self.without_basis();
        for _ in 0..enter {
            let enters = |column: &usize| self.free[*column] < n && goal.contains(&self.free[*column]);
            let leaves = |row: &usize| !goal.contains(&self.basic[*row]);
            let pairs = (0..self.basic.len()).filter(leaves);
            let pairs = pairs.flat_map(|row| (0..n).filter(enters).map(move |column| (row, column)));
            let size = |pair: &(usize, usize)| self.entry(pair.0, pair.1).abs();
            let Some((row, column)) = pairs.max_by(|a, b| size(a).total_cmp(&size(b))) else { break };
            self.pivot(row, column);
        }
        self.clear_roundings();
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        self.now.entries[row * self.columns + column]
    }

    /// At a basis that the rule goes to nothing is below zero but by rounding.
    fn clear_roundings(&mut self) {
        self.now.right.iter_mut().for_each(|right| *right = right.max(0.0));
    }

    /// Which row's variable leaves for which column's; `None` where nothing is gained any more.
    fn step(&self) -> Option<(usize, usize)> {
        let gaining = (0..self.columns).filter(|j| self.now.gains[*j] > NO_GAIN);
        let column = gaining.min_by_key(|j| self.free[*j])?;
        let ratio = |i: usize| self.now.right[i] / self.entry(i, column);
        let holding = (0..self.now.right.len()).filter(|i| self.entry(*i, column) > NO_PIVOT);
        let leaves = |i: &usize, j: &usize| {
            ratio(*i).total_cmp(&ratio(*j)).then_with(|| self.basic[*i].cmp(&self.basic[*j]))
        };
        Some((holding.min_by(leaves)?, column))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let n = self.columns;
        let Rows { entries, right, gains } = &mut self.now;
        let own = &mut entries[row * n..(row + 1) * n];
        let pivot = std::mem::replace(&mut own[column], 1.0);
        own.iter_mut().for_each(|entry| *entry /= pivot);
        self.taken.clear();
        self.taken.extend_from_slice(own);
        right[row] /= pivot;
        let amount = right[row];
        let leave = |entries: &mut [f64]| {
            let factor = std::mem::replace(&mut entries[column], 0.0);
            if factor != 0.0 {
                entries.iter_mut().zip(&self.taken).for_each(|(entry, taken)| *entry -= factor * taken);
            }
            factor
        };
        for (i, entries) in entries.chunks_exact_mut(n).enumerate().filter(|(i, _)| *i != row) {
            right[i] -= leave(entries) * amount;
        }
        leave(gains);
        std::mem::swap(&mut self.free[column], &mut self.basic[row]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(gains: &[f64], rows: &[&[f64]], right: &[f64]) -> SmallProgram {
        let mut program = SmallProgram::default();
        // Whatever was there before does not matter.
        program.start([2.0].into_iter());
        program.row([1.0].into_iter(), 7.0);
        program.maximise();
        program.start(gains.iter().copied());
        rows.iter().zip(right).for_each(|(row, right)| program.row(row.iter().copied(), *right));
        program.maximise();
        program
    }

    #[test]
    fn finds_the_optimum_of_a_textbook_program_and_its_prices() {
        // max 3x + 5y with x <= 4, 2y <= 12, 3x + 2y <= 18: 36 at (2, 6), at prices 0, 3/2 and 1.
        let rows: [&[f64]; 3] = [&[1.0, 0.0], &[0.0, 2.0], &[3.0, 2.0]];
        let program = solved(&[3.0, 5.0], &rows, &[4.0, 12.0, 18.0]);
        let close =
            |found: &[f64], truth: &[f64]| found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(close(&program.point, &[2.0, 6.0]), "{:?}", program.point);
        assert!(close(&program.prices, &[0.0, 1.5, 1.0]), "{:?}", program.prices);
    }

    #[test]
    fn degenerate_rows_do_not_cycle() {
        // Beale's example, on which the rule of the largest coefficient turns for ever: 1/20 at (1/25, 0, 1, 0).
        let gains = [0.75, -150.0, 0.02, -6.0];
        let rows: [&[f64]; 3] =
            [&[0.25, -60.0, -0.04, 9.0], &[0.5, -90.0, -0.02, 3.0], &[0.0, 0.0, 1.0, 0.0]];
        let program = solved(&gains, &rows, &[0.0, 0.0, 1.0]);
        let worth: f64 = program.point.iter().zip(gains).map(|(x, gain)| x * gain).sum();
        assert!((worth - 0.05).abs() < 1e-14, "{:?}", program.point);
    }

    #[test]
    fn a_pivot_that_is_next_to_nothing_leaves_the_prices_right() {
        // max t with t <= x, t <= (1 - ε) x + y, x + y <= 1: t = 1/(1 + ε), and the first row costs ε beside the second.
        let epsilon = 1e-9;
        let rows: [&[f64]; 3] = [&[1.0, -1.0, 0.0], &[1.0, epsilon - 1.0, -1.0], &[0.0, 1.0, 1.0]];
        let program = solved(&[1.0, 0.0, 0.0], &rows, &[0.0, 0.0, 1.0]);
        assert!((program.point[0] - 1.0 / (1.0 + epsilon)).abs() < 1e-15, "{:?}", program.point);
        assert!((program.prices[0] / epsilon - 1.0).abs() < 1e-6, "{:?}", program.prices);
        assert!((program.prices[2] - 1.0 / (1.0 + epsilon)).abs() < 1e-15, "{:?}", program.prices);
    }

    #[test]
    fn where_nothing_is_wanted_nothing_is_done() {
        let program = solved(&[0.0], &[&[1.0]], &[1.0]);
        assert_eq!((&program.point[..], &program.prices[..]), (&[0.0][..], &[0.0][..]));
    }
}
