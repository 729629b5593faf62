//! From any allocation to a vertex, in doubles: work moves from place to place, all rows as full as before, until hardly a line
//! is on more than one place.
//!
//! One line after the other gives up its further places. What it gives up there the basis takes: slack of rows, and splits of the
//! lines before it, at most as many as there are rows. Where something of these would fall below nothing it leaves the basis, and the
//! line's own place enters instead. (The push phase of a crossover, with one key place a line as in `vertex/`.)

use super::program::Program;
use crate::sums::Compensated;
use crate::tolerance::exact::{ALIKE, LITTLE, NOTHING};

/// The lines so far, and the basis that took what they gave up.
pub(crate) struct Crossover<'p> {
    program: &'p Program<'p>,
    /// Rows that must stay as full as they are.
    fixed: Vec<bool>,
    /// The columns of the basis: slack of a row, or work of a line away from its key.
    basis: Vec<Basic>,
    /// Its inverse, row-major.
    inverse: Vec<f64>,
    /// All work and the key place of every line; `None` before its turn.
    pub keys: Vec<Option<u32>>,
    work: Vec<f64>,
    /// Splits in the basis by line: (line, position in the basis).
    by_line: hashbrown::HashMap<usize, Vec<usize>>,
    pivots: u32,
    /// The line whose turn it is, and its work that is neither at its key nor in the basis.
    pending: (usize, f64),
    /// Whether time is over: then nothing is worked out afresh.
    is_over: &'p dyn Fn() -> bool,
}

/// A column of the basis, and its value.
#[derive(Clone, Copy, Debug)]
struct Basic {
    variable: Variable,
    value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variable {
    Slack(usize),
    Split { line: usize, place: u32 },
}

/// Pivots after which the inverse is worked out afresh.
const FRESH: u32 = 500;

impl<'p> Crossover<'p> {
    /// Nothing is on the basis but slack: what is left of each row, in parts of it. Rows that are `fixed` stay as they are.
    pub fn new(
        program: &'p Program<'p>,
        slack: &[f64],
        fixed: Vec<bool>,
        is_over: &'p dyn Fn() -> bool,
    ) -> Self {
        let rows = slack.len();
        let basis = |row: usize| Basic { variable: Variable::Slack(row), value: slack[row].max(0.0) };
        let mut inverse = vec![0.0; rows * rows];
        (0..rows).for_each(|row| inverse[row * rows + row] = 1.0);
        Self {
            program,
            fixed,
            basis: (0..rows).map(basis).collect(),
            inverse,
            keys: vec![None; program.lines.len()],
            work: vec![0.0; program.lines.len()],
            by_line: hashbrown::HashMap::new(),
            pivots: 0,
            pending: (usize::MAX, 0.0),
            is_over,
        }
    }

    /// The next line: what it does where.
    pub fn line(&mut self, line: usize, places: &[(u32, f64)]) {
        let largest = places.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((key, _)) = largest else {
            self.keys[line] = Some(0);
            return;
        };
        self.keys[line] = Some(key);
        self.work[line] = places.iter().map(|(_, work)| work).sum();
        let others = || places.iter().filter(|(place, work)| *place != key && *work > 0.0);
        self.pending = (line, others().map(|(_, work)| work).sum());
        for &(place, work) in others() {
            self.push(line, place, work);
        }
        self.pending = (usize::MAX, 0.0);
    }

    /// What moving a unit of a line's work from its key to a place changes in each row.
    fn column(&self, line: usize, place: u32) -> Vec<(usize, f64)> {
        let key = self.keys[line].unwrap_or(0);
        let part = |(row, entry): (usize, f64)| (row, entry / self.program.rough_amount(row));
        let own = self.program.rough_column(line, place as usize).into_iter().map(part);
        let of_key = self.program.rough_column(line, key as usize).into_iter().map(part);
        own.chain(of_key.map(|(row, entry)| (row, -entry))).collect()
    }

    /// How much of each of the basis makes up a column.
    fn made_of(&self, column: &[(usize, f64)]) -> Vec<f64> {
        let rows = self.basis.len();
        let of = |k: usize| column.iter().map(|(row, entry)| self.inverse[k * rows + row] * entry).sum();
        (0..rows).map(of).collect()
    }

    /// What a line has at its key.
    fn at_key(&self, line: usize) -> f64 {
        let splits = self.by_line.get(&line).into_iter().flatten();
        let pending = if self.pending.0 == line { self.pending.1 } else { 0.0 };
        self.work[line] - splits.map(|k| self.basis[*k].value).sum::<f64>() - pending
    }

    /// Takes work away from a place of a line, or takes the place into the basis.
    fn push(&mut self, line: usize, place: u32, work: f64) {
        let column = self.column(line, place);
        let direction = self.made_of(&column);
        // The line's key has the work already, but this part of it.
        let size = column.iter().map(|(_, entry)| entry.abs()).fold(0.0, f64::max);
        let mut ends: Option<(f64, f64, usize, bool)> = None;
        let mut see = |step: f64, weight: f64, k: usize, is_key: bool| {
            let is_first = ends.is_none_or(|(known, of_known, ..)| {
                if (step - known).abs() <= ALIKE * work { weight > of_known } else { step < known }
            });
            if is_first {
                ends = Some((step, weight, k, is_key));
            }
        };
        for (k, by) in direction.iter().enumerate() {
            let Basic { variable, value } = self.basis[k];
            match variable {
                Variable::Slack(row) => {
                    if by.abs() <= NOTHING * size {
                        continue;
                    }
                    if self.fixed[row] {
                        see(0.0, by.abs() / size * 1e6, k, false);
                    } else if *by < 0.0 {
                        see(value / -by, by.abs() / size, k, false);
                    }
                }
                Variable::Split { line: other, .. } => {
                    if *by < -LITTLE {
                        see(value.max(0.0) / -by, by.abs(), k, false);
                    }
                    if *by > LITTLE {
                        // Its key falls as it rises; several of one line together.
                        let own = self.by_line.get(&other).into_iter().flatten();
                        let taken = if other == line { 1.0 } else { 0.0 };
                        let all = own.map(|k| direction[*k]).sum::<f64>() - taken;
                        if all > LITTLE {
                            see(self.at_key(other).max(0.0) / all, *by, k, true);
                        }
                    }
                }
            }
        }
        let step = ends.map_or(work, |(step, ..)| step.min(work)).max(0.0);
        for (basic, by) in self.basis.iter_mut().zip(&direction) {
            basic.value += by * step;
        }
        self.pending.1 -= work;
        let Some((_, _, k, is_key)) = ends.filter(|(end, ..)| *end < work) else { return };
        if is_key {
            self.exchange_key(k);
            // The former key has nothing: it leaves in place of what was made the key.
            let direction = self.made_of(&self.column(line, place));
            self.replace(k, line, place, work - step, &direction);
        } else {
            self.replace(k, line, place, work - step, &direction);
        }
    }

    /// Makes a split its line's key, and the key a split in its place.
    fn exchange_key(&mut self, k: usize) {
        let Variable::Split { line, place } = self.basis[k].variable else { return };
        let rows = self.basis.len();
        let left = self.at_key(line);
        let former = self.keys[line].replace(place).unwrap_or(0);
        let splits = self.by_line.get(&line).cloned().unwrap_or_default();
        for column in 0..rows {
            let sum: f64 = splits.iter().map(|k| self.inverse[k * rows + column]).sum();
            self.inverse[k * rows + column] = -sum;
        }
        self.basis[k] = Basic { variable: Variable::Split { line, place: former }, value: left };
    }

    /// Puts a place of a line in the position of what leaves.
    fn replace(&mut self, k: usize, line: usize, place: u32, value: f64, direction: &[f64]) {
        let rows = self.basis.len();
        let pivot = direction[k];
        if pivot == 0.0 || !pivot.is_finite() {
            return;
        }
        if let Variable::Split { line: other, .. } = self.basis[k].variable
            && let Some(own) = self.by_line.get_mut(&other)
        {
            own.retain(|position| *position != k);
        }
        let own: Vec<f64> =
            self.inverse[k * rows..(k + 1) * rows].iter().map(|entry| entry / pivot).collect();
        for (i, by) in direction.iter().enumerate().filter(|(i, by)| *i != k && **by != 0.0) {
            let row = &mut self.inverse[i * rows..(i + 1) * rows];
            row.iter_mut().zip(&own).for_each(|(entry, own)| *entry -= by * own);
        }
        self.inverse[k * rows..(k + 1) * rows].copy_from_slice(&own);
        self.basis[k] = Basic { variable: Variable::Split { line, place }, value };
        self.by_line.entry(line).or_default().push(k);
        self.pivots += 1;
        if self.pivots.is_multiple_of(FRESH) {
            self.refresh();
        }
    }

    /// Works out afresh what the basis has, from what is left of each row with all work at the keys: sums of millions of moves are
    /// rounded more than the rows allow.
    pub fn settle(&mut self, mut rest: Vec<Compensated>) {
        self.refresh();
        let mut values = vec![0.0; rest.len()];
        // Once more for what the rounding of the inverse leaves.
        for _ in 0..2 {
            let short: Vec<(usize, f64)> = rest.iter().copied().map(Compensated::value).enumerate().collect();
            let more = self.made_of(&short);
            for (k, more) in more.iter().enumerate() {
                values[k] += more;
                match self.basis[k].variable {
                    Variable::Slack(row) => rest[row].add(-more),
                    Variable::Split { line, place } => {
                        self.column(line, place).into_iter().for_each(|(row, by)| rest[row].add(-by * more));
                    }
                }
            }
        }
        self.basis.iter_mut().zip(values).for_each(|(basic, value)| basic.value = value);
    }

    /// Works the inverse out from the columns. Those of slack are unit vectors, so only what the splits take of the rows without
    /// slack has to be inverted. Where there is no inverse, or no time, it stays as it is.
    fn refresh(&mut self) {
        let (rows, tight) = (self.basis.len(), self.tight());
        let mut at_tight = vec![None; rows];
        tight.iter().enumerate().for_each(|(t, row)| at_tight[*row] = Some(t));
        let mut slack_of = vec![0; rows];
        let (mut splits, mut block, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (k, basic) in self.basis.iter().enumerate() {
            match basic.variable {
                Variable::Slack(row) => slack_of[row] = k,
                Variable::Split { line, place } => {
                    for (row, entry) in self.column(line, place) {
                        match at_tight[row] {
                            Some(t) => block.push((t, splits.len(), entry)),
                            None => others.push((row, splits.len(), entry)),
                        }
                    }
                    splits.push(k);
                }
            }
        }
        let mut matrix = vec![0.0; tight.len() * tight.len()];
        block.into_iter().for_each(|(t, split, entry)| matrix[t * tight.len() + split] += entry);
        let Some(inverse) = inverted(matrix, tight.len(), self.is_over) else { return };
        let inverse = |split: usize| inverse[split * tight.len()..][..tight.len()].iter().zip(&tight);
        self.inverse.fill(0.0);
        for (split, k) in splits.iter().enumerate() {
            inverse(split).for_each(|(by, row)| self.inverse[k * rows + row] = *by);
        }
        (0..rows)
            .filter(|row| at_tight[*row].is_none())
            .for_each(|row| self.inverse[slack_of[row] * rows + row] = 1.0);
        for (row, split, entry) in others {
            let own = &mut self.inverse[slack_of[row] * rows..][..rows];
            inverse(split).for_each(|(by, row)| own[*row] -= entry * by);
        }
    }

    /// The splits: (line, place, work there).
    pub fn splits(&self) -> Vec<(usize, u32, f64)> {
        let split = |basic: &Basic| match basic.variable {
            Variable::Split { line, place } => Some((line, place, basic.value)),
            Variable::Slack(_) => None,
        };
        let mut splits: Vec<_> = self.basis.iter().filter_map(split).collect();
        splits.sort_by_key(|(line, place, _)| (*line, *place));
        splits
    }

    /// The rows whose slack is not in the basis: as many as there are splits.
    pub fn tight(&self) -> Vec<usize> {
        let mut is_basic = vec![false; self.basis.len()];
        for basic in &self.basis {
            if let Variable::Slack(row) = basic.variable {
                is_basic[row] = true;
            }
        }
        (0..is_basic.len()).filter(|row| !is_basic[*row]).collect()
    }
}

/// The inverse of a square matrix, row-major, by the largest pivot of each column. `None` where there is none, or time is over.
fn inverted(mut matrix: Vec<f64>, size: usize, is_over: &dyn Fn() -> bool) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; size * size];
    (0..size).for_each(|row| inverse[row * size + row] = 1.0);
    for pivot in 0..size {
        if is_over() {
            return None;
        }
        let entry = |row: &usize| matrix[row * size + pivot].abs();
        let largest = (pivot..size).max_by(|a, b| entry(a).total_cmp(&entry(b)))?;
        let by = matrix[largest * size + pivot];
        if by == 0.0 || !by.is_finite() {
            return None;
        }
        for half in [&mut matrix, &mut inverse] {
            (0..size).for_each(|column| half.swap(pivot * size + column, largest * size + column));
            half[pivot * size..][..size].iter_mut().for_each(|entry| *entry /= by);
        }
        let own = [&matrix, &inverse].map(|half| half[pivot * size..][..size].to_vec());
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = matrix[row * size + pivot];
            if factor == 0.0 {
                continue;
            }
            for (half, own) in [&mut matrix, &mut inverse].into_iter().zip(&own) {
                let row = half[row * size..][..size].iter_mut();
                row.zip(own).for_each(|(entry, own)| *entry -= factor * own);
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_matrix_times_its_inverse_is_the_identity(entries in prop::collection::vec(-5i8..6, 16)) {
            let matrix: Vec<f64> = entries.into_iter().map(f64::from).collect();
            let regular = nalgebra::DMatrix::from_row_slice(4, 4, &matrix);
            let inverse = inverted(matrix, 4, &|| false);
            if regular.determinant().abs() > 0.5 {
                let product = regular * nalgebra::DMatrix::from_row_slice(4, 4, &inverse.unwrap());
                prop_assert!((product - nalgebra::DMatrix::identity(4, 4)).amax() < 1e-9);
            }
        }
    }

    #[test]
    fn there_is_no_inverse_of_what_has_none_and_none_in_no_time() {
        assert_eq!(inverted(vec![1.0, 2.0, 2.0, 4.0], 2, &|| false), None);
        assert_eq!(inverted(vec![0.0, 2.0, 4.0, 0.0], 2, &|| false), Some(vec![0.0, 0.25, 0.5, 0.0]));
        assert_eq!(inverted(vec![0.0, 2.0, 4.0, 0.0], 2, &|| true), None);
    }
}
