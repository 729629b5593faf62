//! The largest `c x` with `A x <= b` and `x >= 0`, where `b >= 0`: a simplex for a handful of rows, by Bland's rule.

/// A program and its optimum; solving another one in the same place takes no new memory.
#[derive(Default)]
pub(super) struct SmallProgram {
    columns: usize,
    /// Each basic variable is `right - Σ entries × free variable`: row after row.
    entries: Vec<f64>,
    right: Vec<f64>,
    gains: Vec<f64>,
    /// Variables from `columns` on are the slack of rows.
    free: Vec<usize>,
    basic: Vec<usize>,
    /// The row that is taken from the others.
    taken: Vec<f64>,
    pub point: Vec<f64>,
    /// Of the rows; they prove that there is no better point.
    pub prices: Vec<f64>,
}

/// Where what a variable adds to the objective counts as nothing, beside the largest coefficient (which is scaled to 1).
const NO_GAIN: f64 = 1e-15;

/// Where an entry of a column counts as nothing; entries are expected to be at most about 1.
const NO_PIVOT: f64 = 1e-13;

impl SmallProgram {
    /// Begins anew, without rows.
    pub fn start(&mut self, gains: impl Iterator<Item = f64>) {
        self.gains.clear();
        self.gains.extend(gains);
        self.columns = self.gains.len();
        self.entries.clear();
        self.right.clear();
    }

    /// Adds a row, one entry a column.
    pub fn row(&mut self, entries: impl Iterator<Item = f64>, right: f64) {
        self.entries.extend(entries);
        self.right.push(right);
    }

    /// Finds `point` and `prices`. The program must be bounded.
    pub fn maximise(&mut self) {
        let (n, m) = (self.columns, self.right.len());
        let largest = self.gains.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            self.gains.iter_mut().for_each(|gain| *gain /= largest);
        }
        self.free.clear();
        self.free.extend(0..n);
        self.basic.clear();
        self.basic.extend(n..n + m);
        // Bland's rule ends in exact arithmetic; roundings might keep it turning.
        for _ in 0..100 * (n + m) {
            let Some((row, column)) = self.step() else { break };
            self.pivot(row, column);
        }
        self.point.clear();
        self.point.resize(n, 0.0);
        self.prices.clear();
        self.prices.resize(m, 0.0);
        for (variable, value) in self.basic.iter().zip(&self.right) {
            if *variable < n {
                self.point[*variable] = *value;
            }
        }
        for (variable, gain) in self.free.iter().zip(&self.gains) {
            if *variable >= n {
                self.prices[*variable - n] = (-gain).max(0.0) * largest;
            }
        }
    }

    /// Which row's variable leaves for which column's; `None` where nothing is gained any more.
    fn step(&self) -> Option<(usize, usize)> {
        let gaining = (0..self.columns).filter(|j| self.gains[*j] > NO_GAIN);
        let column = gaining.min_by_key(|j| self.free[*j])?;
        let entry = |i: usize| self.entries[i * self.columns + column];
        let ratio = |i: usize| self.right[i] / entry(i);
        let holding = (0..self.right.len()).filter(|i| entry(*i) > NO_PIVOT);
        let leaves = |i: &usize, j: &usize| {
            ratio(*i).total_cmp(&ratio(*j)).then_with(|| self.basic[*i].cmp(&self.basic[*j]))
        };
        Some((holding.min_by(leaves)?, column))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let n = self.columns;
        let own = &mut self.entries[row * n..(row + 1) * n];
        let pivot = std::mem::replace(&mut own[column], 1.0);
        own.iter_mut().for_each(|entry| *entry /= pivot);
        self.taken.clear();
        self.taken.extend_from_slice(own);
        self.right[row] /= pivot;
        let amount = self.right[row];
        let leave = |entries: &mut [f64]| {
            let factor = std::mem::replace(&mut entries[column], 0.0);
            if factor != 0.0 {
                entries.iter_mut().zip(&self.taken).for_each(|(entry, taken)| *entry -= factor * taken);
            }
            factor
        };
        for (i, entries) in self.entries.chunks_exact_mut(n).enumerate().filter(|(i, _)| *i != row) {
            // What is below zero is rounding.
            self.right[i] = (self.right[i] - leave(entries) * amount).max(0.0);
        }
        leave(&mut self.gains);
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
    fn where_nothing_is_wanted_nothing_is_done() {
        let program = solved(&[0.0], &[&[1.0]], &[1.0]);
        assert_eq!((&program.point[..], &program.prices[..]), (&[0.0][..], &[0.0][..]));
    }
}
