//! Sums of very many fractions: what is alike is added in whole numbers first, and the rest in pairs, so that no number grows before
//! it must.

use super::number::{Rational, common_divisor};
use hashbrown::HashMap;
use num_bigint::{BigInt, BigUint};

/// Adds fractions up, one sum a row.
pub(crate) struct RowSums {
    rows: usize,
    /// The numerators of each row over each denominator.
    by_denominator: HashMap<BigInt, HashMap<usize, BigInt>>,
}

impl RowSums {
    pub fn new(rows: usize) -> Self {
        Self { rows, by_denominator: HashMap::new() }
    }

    pub fn add(&mut self, row: usize, term: &Rational) {
        if term.is_zero() {
            return;
        }
        let of_rows = match self.by_denominator.get_mut(term.denominator()) {
            Some(known) => known,
            None => self.by_denominator.entry(term.denominator().clone()).or_default(),
        };
        *of_rows.entry(row).or_default() += term.numerator();
    }

    /// All sums, over one denominator; `None` where that is longer than [`LONGEST`].
    pub fn finish(self) -> Option<Vec<Rational>> {
        let mut level: Vec<(BigInt, HashMap<usize, BigInt>)> = self.by_denominator.into_iter().collect();
        // The order in which a table lists them changes from run to run; the denominator must not.
        level.sort_by(|a, b| a.0.cmp(&b.0));
        while level.len() > 1 {
            let mut pairs = level.into_iter();
            let mut next = Vec::with_capacity(pairs.len().div_ceil(2));
            while let Some(first) = pairs.next() {
                next.push(match pairs.next() {
                    Some(second) => together(first, second),
                    None => first,
                });
                if next.last().is_some_and(|(denominator, _)| denominator.bits() > LONGEST) {
                    return None;
                }
            }
            level = next;
        }
        let mut sums = vec![Rational::zero(); self.rows];
        if let Some((denominator, of_rows)) = level.pop() {
            for (row, numerator) in of_rows {
                sums[row] = Rational::new(numerator, denominator.clone());
            }
        }
        Some(sums)
    }
}

/// The sums of both over one denominator.
fn together(
    (first, mut of_first): (BigInt, HashMap<usize, BigInt>),
    (second, of_second): (BigInt, HashMap<usize, BigInt>),
) -> (BigInt, HashMap<usize, BigInt>) {
    let common = match first.bits() + second.bits() <= SEARCHED {
        true => BigInt::from(common_divisor(first.magnitude(), second.magnitude())),
        false => BigInt::from(BigUint::from(1u8)),
    };
    let (own, others) = (&first / &common, &second / common);
    of_first.values_mut().for_each(|numerator| *numerator *= &others);
    for (row, numerator) in of_second {
        *of_first.entry(row).or_default() += numerator * &own;
    }
    (first * others, of_first)
}

/// Bits that a denominator may have: some two hundred thousand digits.
pub(crate) const LONGEST: u64 = 700_000;

/// Bits up to which two denominators are searched for a common divisor.
const SEARCHED: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_fractions_add_up_row_by_row() {
        let mut sums = RowSums::new(2);
        let (mut first, mut second) = (Rational::zero(), Rational::zero());
        for k in 1..=1000i64 {
            let term = Rational::new((k % 7 - 3).into(), (1 + k % 97).into());
            sums.add((k % 2) as usize, &term);
            let sum = if k % 2 == 0 { &mut first } else { &mut second };
            *sum = &*sum + &term;
        }
        assert_eq!(sums.finish().unwrap(), [first, second]);
    }

    #[test]
    fn denominators_without_end_are_given_up() {
        let sum_over = |bits: u64| {
            let mut sums = RowSums::new(1);
            for k in 0..2u8 {
                let denominator = (BigInt::from(1) << bits) + 1 + 2 * k;
                sums.add(0, &Rational::new(BigInt::from(1), denominator));
            }
            sums.finish()
        };
        assert!(sum_over(LONGEST / 2 - 2).is_some());
        assert!(sum_over(LONGEST / 2 + 2).is_none());
    }
}
