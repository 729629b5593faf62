//! The small system of the tight rows: what each split takes of them, eliminated exactly.

use super::number::Rational;

/// Row operations that turn the splits' columns into unit vectors.
pub(crate) struct Elimination {
    /// The rows that the operations are about.
    tight: Vec<usize>,
    /// One row of multipliers for each split, and after them one more where there is one more tight row: it makes every split
    /// zero, so it is their prices.
    operations: Vec<Vec<Rational>>,
    splits: usize,
}

impl Elimination {
    /// `None` where the columns are not independent on the tight rows, or time is over.
    pub fn of(columns: &[Vec<Rational>], tight: &[usize], is_over: &dyn Fn() -> bool) -> Option<Self> {
        let (rows, splits) = (tight.len(), columns.len());
        let mut matrix: Vec<Vec<Rational>> = (0..rows)
            .map(|i| {
                let entries = columns.iter().map(|column| column[tight[i]].clone());
                let identity = (0..rows).map(|k| if k == i { Rational::one() } else { Rational::zero() });
                entries.chain(identity).collect()
            })
            .collect();
        for pivot in 0..splits {
            // The shortest number, which keeps the others short.
            let candidates = (pivot..rows).filter(|row| !matrix[*row][pivot].is_zero());
            let row = candidates.min_by_key(|row| matrix[*row][pivot].bits())?;
            matrix.swap(pivot, row);
            let by = matrix[pivot][pivot].clone();
            for entry in matrix[pivot].iter_mut().filter(|entry| !entry.is_zero()) {
                *entry = &*entry / &by;
            }
            let (before, rest) = matrix.split_at_mut(pivot);
            let (own, after) = rest.split_first_mut()?;
            for other in before.iter_mut().chain(after) {
                let factor = other[pivot].clone();
                if factor.is_zero() {
                    continue;
                }
                if is_over() {
                    return None;
                }
                for (entry, own) in other.iter_mut().zip(own.iter()).filter(|(_, own)| !own.is_zero()) {
                    *entry = &*entry - &(&factor * own);
                }
            }
        }
        let operations = matrix.into_iter().map(|row| row[splits..].to_vec()).collect();
        Some(Self { tight: tight.to_vec(), operations, splits })
    }

    /// How much of each split makes this column on the tight rows (on so many of them as there are splits).
    pub fn solve(&self, column: &[Rational]) -> Vec<Rational> {
        let applied = |operation: &Vec<Rational>| {
            let both = operation.iter().zip(&self.tight);
            let terms = both.filter(|(by, row)| !by.is_zero() && !column[**row].is_zero());
            terms.fold(Rational::zero(), |sum, (by, row)| &sum + &(by * &column[*row]))
        };
        self.operations[..self.splits].iter().map(applied).collect()
    }

    /// Prices of all rows at which no split gains or loses, up to their scale and sign: there is one more tight row than splits.
    pub fn prices(&self, tight: &[usize], rows: usize) -> Vec<Rational> {
        let mut prices = vec![Rational::zero(); rows];
        if let Some(of_tight) = self.operations.get(self.splits) {
            tight.iter().zip(of_tight).for_each(|(row, price)| prices[*row] = price.clone());
        }
        prices
    }
}
