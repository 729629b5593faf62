//! The simplex method over a dense table, for small linear programs at a point that is feasible: `max c·x`, `A x ≤ b`, `0 ≤ x ≤ u`, all `b ≥ 0`.
//!
//! Nobody believes what it finds: who asks holds the point against the rows, and the prices against the duality of linear programs.

use fairplan_instances::Random;

/// A linear program without its objective.
pub(crate) struct Program {
    /// `b`, all >= 0.
    pub room: Vec<f64>,
    pub variables: Vec<Variable>,
}

/// A variable between 0 and its most, with its coefficients.
pub(crate) struct Variable {
    /// `(row, coefficient)`, each row at most once.
    pub entries: Vec<(usize, f64)>,
    pub most: f64,
}

/// What a row takes, the size of all that adds to it and takes from it, and whether some of that has a coefficient that counts for nothing.
#[derive(Clone, Copy)]
struct Taken {
    sum: f64,
    size: f64,
    has_nothing: bool,
}

/// Where the objective is largest, and prices of the rows that show it.
pub(crate) struct Best {
    pub point: Vec<f64>,
    pub prices: Vec<f64>,
}

impl Best {
    /// What the point is worth.
    pub fn reached(&self, gains: &[f64]) -> f64 {
        gains.iter().zip(&self.point).map(|(gain, value)| gain * value).sum()
    }
}

impl Program {
    /// By how much less a point is worth that keeps within all rows, as prices have it; `None` where a row without a price is exceeded by more than
    /// rounding of what adds to it and takes from it, or of all of it where no coefficient there was taken for nothing.
    pub fn excess(&self, best: &Best) -> Option<f64> {
        let rows = self.taken(&best.point).into_iter().zip(&self.room).zip(&best.prices);
        let of_row = |((row, room), price): ((Taken, &f64), &f64)| {
            let over = (row.sum - room).max(0.0);
            let rounding = if row.has_nothing { NOTHING * row.size } else { (NOTHING * row.size).max(DUST) };
            (*price > 0.0 || over <= rounding).then_some(over * price)
        };
        rows.map(of_row).sum()
    }

    /// What each row takes at a point.
    fn taken(&self, point: &[f64]) -> Vec<Taken> {
        let nothing = Taken { sum: 0.0, size: 0.0, has_nothing: false };
        let mut taken = vec![nothing; self.room.len()];
        for (variable, value) in self.variables.iter().zip(point).filter(|(_, value)| **value > 0.0) {
            let largest = variable.entries.iter().map(|(_, entry)| entry.abs()).fold(0.0, f64::max);
            for (row, coefficient) in &variable.entries {
                let row = &mut taken[*row];
                row.sum += coefficient * value;
                row.size += (coefficient * value).abs();
                row.has_nothing |= coefficient.abs() < NOTHING * largest;
            }
        }
        taken
    }

    /// No point is worth more than this, whatever the prices, all >= 0.
    pub fn bound(&self, gains: &[f64], prices: &[f64]) -> f64 {
        let of_rows: f64 = self.room.iter().zip(prices).map(|(room, price)| room * price).sum();
        let of_variable = |(variable, gain): (&Variable, &f64)| {
            let paid: f64 =
                variable.entries.iter().map(|(row, coefficient)| coefficient * prices[*row]).sum();
            if *gain > paid { (gain - paid) * variable.most } else { 0.0 }
        };
        of_rows + self.variables.iter().zip(gains).map(of_variable).sum::<f64>()
    }
}

/// The part of all that adds up to it by which a gain is rounding.
const ROUNDING: f64 = 1e-13;

/// The part of the largest coefficient of a column by which another is rounding: numbers of a program may be far apart.
const NOTHING: f64 = 1e-9;

/// The part of a row that is rounding of all of it.
const DUST: f64 = 1e-15;

/// Steps that gain nothing, one after the other, from which on chance decides what goes in, which ends all circles.
const STUCK: usize = 50;

/// Steps after which the table is worked out again from the program, since each adds to what rounding did to it before.
const STALE: usize = 20;

/// Steps at most: so many, and so many for each variable. Those that come to an end take half as many as there are variables.
const MOST_STEPS: (usize, usize) = (500, 2);

/// The part of what prices show to be the most that may be missing: beyond it, steps only follow rounding.
const MISSING: f64 = 1e-12;

/// The program solved for the variables of a basis. Those that are at their most are turned: they are measured from there downwards.
pub(crate) struct Table<'a> {
    program: &'a Program,
    /// Of variables and slacks, row after row.
    cells: Vec<f64>,
    values: Vec<f64>,
    basis: Vec<usize>,
    is_turned: Vec<bool>,
}

impl<'a> Table<'a> {
    pub fn of(program: &'a Program) -> Self {
        let (rows, variables) = (program.room.len(), program.variables.len());
        let width = variables + rows;
        let mut cells = vec![0.0; rows * width];
        for (j, variable) in program.variables.iter().enumerate() {
            variable.entries.iter().for_each(|(row, coefficient)| cells[row * width + j] = *coefficient);
        }
        (0..rows).for_each(|row| cells[row * width + variables + row] = 1.0);
        let basis = (variables..width).collect();
        Self { program, cells, values: program.room.clone(), basis, is_turned: vec![false; width] }
    }

    fn width(&self) -> usize {
        self.is_turned.len()
    }

    fn most(&self, j: usize) -> f64 {
        self.program.variables.get(j).map_or(f64::INFINITY, |variable| variable.most)
    }

    /// The best point of an objective but for so much, from the last one on; `None` where rounding gets in the way.
    pub fn maximize(&mut self, gains: &[f64], but_for: f64) -> Option<Best> {
        let (mut stuck, mut stale, mut chance) = (0, 0, Random::new(1, 0));
        for _ in 0..MOST_STEPS.0 + MOST_STEPS.1 * self.width() {
            if stale >= STALE {
                self.refresh()?;
                stale = 0;
            }
            let (worth, size) = self.reduced(gains);
            if stale == 0 {
                let best = self.best(&worth);
                let bound = self.program.bound(gains, &best.prices);
                if bound - best.reached(gains) <= but_for.max(MISSING * bound) {
                    return Some(best);
                }
            }
            // Coefficients are no larger than one, so that what a unit of a row is worth adds no more than that to the bound.
            let most = |j: usize| self.program.variables.get(j).map_or(1.0, |variable| variable.most);
            let is_better = |j: &usize| {
                worth[*j] > ROUNDING * size[*j] && worth[*j] * most(*j) * self.width() as f64 > but_for
            };
            let better = (0..self.width()).filter(is_better);
            let enters = match stuck < STUCK {
                true => {
                    let lengths = self.squared_lengths();
                    let slope = |j: usize| worth[j] * worth[j] / lengths[j];
                    better.max_by(|a, b| slope(*a).total_cmp(&slope(*b)))
                }
                false => better.max_by_key(|_| chance.below(u64::MAX)),
            };
            let Some(enters) = enters else {
                if stale == 0 {
                    return Some(self.best(&worth));
                }
                stale = STALE;
                continue;
            };
            let gained = self.step(enters)?;
            stuck = if gained { 0 } else { stuck + 1 };
            stale += 1;
        }
        None
    }

    /// Of each variable the square of how far all of them go by a unit of it: the objective rises fastest along the edge where it gains most beside that.
    fn squared_lengths(&self) -> Vec<f64> {
        let mut lengths = vec![1.0; self.width()];
        for row in self.cells.chunks(self.width()) {
            lengths.iter_mut().zip(row).for_each(|(length, cell)| *length += cell * cell);
        }
        lengths
    }

    /// Works the table out again. Values stay: those that never changed are still exact. `None` where the basis is none but for rounding.
    fn refresh(&mut self) -> Option<()> {
        let (width, variables) = (self.width(), self.program.variables.len());
        let fresh = Self::of(self.program);
        let (basis, values) = (std::mem::take(&mut self.basis), std::mem::take(&mut self.values));
        self.cells = fresh.cells;
        for row in self.cells.chunks_mut(width) {
            row.iter_mut()
                .zip(&self.is_turned)
                .filter(|(_, turned)| **turned)
                .for_each(|(cell, _)| *cell = -*cell);
        }
        (self.basis, self.values) = (vec![usize::MAX; basis.len()], vec![0.0; basis.len()]);
        // Slacks first: each has its own row.
        let (slacks, others): (Vec<usize>, Vec<usize>) =
            (0..basis.len()).partition(|at| basis[*at] >= variables);
        for at in slacks.into_iter().chain(others) {
            let free = (0..self.basis.len()).filter(|row| self.basis[*row] == usize::MAX);
            let size = |row: &usize| self.cells[row * width + basis[at]].abs();
            let row = free.max_by(|a, b| size(a).total_cmp(&size(b)))?;
            if size(&row) == 0.0 {
                return None;
            }
            self.eliminate(row, basis[at]);
            (self.basis[row], self.values[row]) = (basis[at], values[at]);
        }
        Some(())
    }

    /// What a unit of each variable adds to the objective, and the size of the numbers that this is the sum of.
    fn reduced(&self, gains: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let width = self.width();
        let gain = |j: usize| match gains.get(j) {
            Some(gain) if self.is_turned[j] => -gain,
            Some(gain) => *gain,
            None => 0.0,
        };
        let mut worth: Vec<f64> = (0..width).map(gain).collect();
        let mut size: Vec<f64> = worth.iter().map(|worth| worth.abs()).collect();
        for (row, j) in self.basis.iter().enumerate() {
            let of_basic = gain(*j);
            if of_basic != 0.0 {
                let cells = &self.cells[row * width..(row + 1) * width];
                for ((worth, size), cell) in worth.iter_mut().zip(&mut size).zip(cells) {
                    *worth -= of_basic * cell;
                    *size += (of_basic * cell).abs();
                }
            }
        }
        self.basis.iter().for_each(|j| worth[*j] = 0.0);
        (worth, size)
    }

    /// Raises a variable as far as it goes. Says whether that was any way at all; `None` where there is no end to it.
    fn step(&mut self, enters: usize) -> Option<bool> {
        let width = self.width();
        let column: Vec<f64> = (0..self.basis.len()).map(|row| self.cells[row * width + enters]).collect();
        let least = NOTHING * column.iter().fold(0.0, |most: f64, cell| most.max(cell.abs()));
        // How far it goes until the variable of a row comes to nothing or to its most.
        let room = |row: usize| match column[row] {
            cell if cell > least => self.values[row] / cell,
            cell if cell < -least => (self.most(self.basis[row]) - self.values[row]).max(0.0) / -cell,
            _ => f64::INFINITY,
        };
        let far = (0..column.len()).map(room).fold(f64::INFINITY, f64::min);
        let own = self.most(enters);
        if far.min(own) == f64::INFINITY {
            return None;
        }
        if own <= far {
            column
                .iter()
                .zip(&mut self.values)
                .for_each(|(cell, value)| *value = (*value - cell * own).max(0.0));
            self.turn(enters);
            return Some(own > 0.0);
        }
        let leaves = (0..column.len()).filter(|row| room(*row) <= far * (1.0 + ROUNDING));
        let leaves = leaves.max_by(|a, b| column[*a].abs().total_cmp(&column[*b].abs()))?;
        if column[leaves] < 0.0 {
            // It comes to its most: from there on it is measured downwards.
            let before = self.basis[leaves];
            self.values[leaves] = (self.most(before) - self.values[leaves]).max(0.0);
            self.turn_basic(leaves);
        }
        self.pivot(leaves, enters, far);
        Some(far > 0.0)
    }

    /// Measures a variable outside the basis from its other end.
    fn turn(&mut self, j: usize) {
        let width = self.width();
        self.is_turned[j] = !self.is_turned[j];
        (0..self.basis.len()).for_each(|row| self.cells[row * width + j] *= -1.0);
    }

    /// The same of the variable of a row, whose value is told already.
    fn turn_basic(&mut self, row: usize) {
        let (width, j) = (self.width(), self.basis[row]);
        self.is_turned[j] = !self.is_turned[j];
        let cells = &mut self.cells[row * width..(row + 1) * width];
        cells.iter_mut().for_each(|cell| *cell = -*cell);
        cells[j] = 1.0;
    }

    /// Puts a variable into the basis that goes so far, in place of that of a row.
    fn pivot(&mut self, leaves: usize, enters: usize, far: f64) {
        let width = self.width();
        for row in (0..self.basis.len()).filter(|row| *row != leaves) {
            let cell = self.cells[row * width + enters];
            if cell != 0.0 {
                self.values[row] = (self.values[row] - cell * far).max(0.0);
            }
        }
        self.eliminate(leaves, enters);
        (self.basis[leaves], self.values[leaves]) = (enters, far);
    }

    /// Solves a row for a variable, and takes that out of all other rows.
    fn eliminate(&mut self, leaves: usize, enters: usize) {
        let width = self.width();
        let by = self.cells[leaves * width + enters];
        let pivot: Vec<f64> =
            self.cells[leaves * width..(leaves + 1) * width].iter().map(|cell| cell / by).collect();
        for row in 0..self.basis.len() {
            let cells = &mut self.cells[row * width..(row + 1) * width];
            if row == leaves {
                cells.copy_from_slice(&pivot);
                cells[enters] = 1.0;
                continue;
            }
            let cell = cells[enters];
            if cell != 0.0 {
                cells.iter_mut().zip(&pivot).for_each(|(cell_of, pivot)| *cell_of -= cell * pivot);
                cells[enters] = 0.0;
            }
        }
    }

    fn best(&self, worth: &[f64]) -> Best {
        let variables = self.program.variables.len();
        let mut point = vec![0.0; self.width()];
        self.basis.iter().zip(&self.values).for_each(|(j, value)| point[*j] = *value);
        point.truncate(variables);
        for (j, value) in point.iter_mut().enumerate().filter(|(j, _)| self.is_turned[*j]) {
            *value = self.most(j) - *value;
        }
        let prices = worth[variables..].iter().map(|worth| (-worth).max(0.0)).collect();
        Best { point, prices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(room: &[f64], variables: &[(&[(usize, f64)], f64)]) -> Program {
        let variable =
            |(entries, most): &(&[(usize, f64)], f64)| Variable { entries: entries.to_vec(), most: *most };
        Program { room: room.to_vec(), variables: variables.iter().map(variable).collect() }
    }

    fn value(gains: &[f64], point: &[f64]) -> f64 {
        gains.iter().zip(point).map(|(gain, value)| gain * value).sum()
    }

    #[test]
    fn variables_come_to_rows_or_to_their_most() {
        let program = program(&[4.0, 6.0], &[(&[(0, 1.0), (1, 1.0)], 3.0), (&[(0, 1.0), (1, 3.0)], 9.0)]);
        let mut table = Table::of(&program);
        for (gains, best) in [([3.0, 2.0], [3.0, 1.0]), ([1.0, 2.0], [3.0, 1.0]), ([0.0, 1.0], [0.0, 2.0])] {
            let found = table.maximize(&gains, 1e-12).unwrap();
            assert!((found.reached(&gains) - value(&gains, &best)).abs() < 1e-12, "{:?}", found.point);
            assert!(program.bound(&gains, &found.prices) - found.reached(&gains) < 1e-12);
        }
    }

    #[test]
    fn points_and_prices_of_random_programs_meet() {
        let mut random = Random::new(5, 0);
        for case in 0..300 {
            let (rows, columns) = (1 + random.below(8) as usize, 1 + random.below(12) as usize);
            // Many rows have no room at all.
            let room: Vec<f64> = (0..rows).map(|_| random.below(3) as f64).collect();
            let variables = (0..columns).map(|_| {
                let entry = |row| (row, random.below(7) as f64 - 3.0);
                let entries = (0..rows).map(entry).filter(|(_, coefficient)| *coefficient != 0.0).collect();
                Variable { entries, most: 1.0 + random.below(4) as f64 }
            });
            let program = Program { variables: variables.collect(), room };
            let mut table = Table::of(&program);
            for _ in 0..3 {
                let gains: Vec<f64> = (0..columns).map(|_| random.below(9) as f64 - 2.0).collect();
                let best = table.maximize(&gains, 1e-12).unwrap();
                let inside = best.point.iter().zip(&program.variables);
                assert!(inside.clone().all(|(x, variable)| (0.0..=variable.most).contains(x)), "case {case}");
                let taken = program.taken(&best.point);
                assert!(taken.iter().zip(&program.room).all(|(taken, room)| taken.sum <= room + 1e-9));
                let (reached, bound) = (best.reached(&gains), program.bound(&gains, &best.prices));
                assert!((bound - reached).abs() < 1e-9, "case {case}: {reached} {bound}");
            }
        }
    }
}
