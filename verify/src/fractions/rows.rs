//! Very many fractions, added row by row: over each denominator in whole numbers first, then in pairs.

use super::fraction::{Fraction, divisor};
use num_bigint::BigInt;
use std::collections::BTreeMap;

/// Bits up to which it is worth looking for what two denominators have in common.
const SEARCHED: u64 = 1 << 16;

/// Sums of rows.
#[derive(Default)]
pub(crate) struct Rows {
    over: BTreeMap<BigInt, BTreeMap<usize, BigInt>>,
}

impl Rows {
    pub fn add(&mut self, row: usize, term: &Fraction) {
        if term.is_zero() {
            return;
        }
        if !self.over.contains_key(term.below()) {
            self.over.insert(term.below().clone(), BTreeMap::new());
        }
        if let Some(rows) = self.over.get_mut(term.below()) {
            *rows.entry(row).or_default() += term.above();
        }
    }

    /// The sum of each row that has any.
    pub fn sums(self) -> BTreeMap<usize, Fraction> {
        let mut parts: Vec<(BigInt, BTreeMap<usize, BigInt>)> = self.over.into_iter().collect();
        while parts.len() > 1 {
            let odd = if parts.len() % 2 == 1 { parts.pop() } else { None };
            let mut halves = Vec::with_capacity(parts.len() / 2 + 1);
            let mut rest = parts.into_iter();
            while let (Some((one, mut of_one)), Some((other, of_other))) = (rest.next(), rest.next()) {
                let common = match one.bits() + other.bits() <= SEARCHED {
                    true => BigInt::from(divisor(one.magnitude().clone(), other.magnitude().clone())),
                    false => BigInt::from(1),
                };
                let (by, others) = (&one / &common, &other / common);
                of_one.values_mut().for_each(|above| *above *= &others);
                for (row, above) in of_other {
                    *of_one.entry(row).or_default() += above * &by;
                }
                halves.push((one * others, of_one));
            }
            halves.extend(odd);
            parts = halves;
        }
        let Some((below, rows)) = parts.pop() else { return BTreeMap::new() };
        rows.into_iter().map(|(row, above)| (row, Fraction::of(above, below.clone()))).collect()
    }
}
