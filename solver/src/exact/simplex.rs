//! Linear programs in whole numbers: what is next to nothing of the sum is decided as surely as all else.
//!
//! ```text
//! maximise c·x    subject to A x <= b, x >= 0, where b >= 0
//! ```
//! The revised simplex method. With `B` the columns of the basis, what is kept is `|det B|` times the inverse of `B`, whose entries are minors and so
//! whole numbers; a step divides them by the determinant before, and nothing is left over (J. Edmonds, Systems of distinct representatives and
//! linear algebra, 1967; E. H. Bareiss, 1968). No fraction is ever brought into lowest terms.

use super::number::Rational;
use crate::linear_program::{Column, Ended, Outcome, Program};
use fairplan_instances::Deadline;
use num_bigint::{BigInt, Sign};

/// Steps that change nothing before Bland's rule decides.
const PATIENCE: u32 = 30;

/// A column in whole numbers: so many times the doubles, a power of two of its own.
struct WholeColumn {
    cost: BigInt,
    entries: Vec<(usize, BigInt)>,
    /// The exponent of that power.
    shift: i32,
}

/// What enters or leaves the basis: a column, or after all of them what is left of a row.
type Variable = usize;

/// The basis, and what follows from it: all of it times `determinant`.
struct Basis<'a> {
    columns: &'a [WholeColumn],
    /// What each row has in the basis.
    variables: Vec<Variable>,
    determinant: BigInt,
    /// The inverse, row by row.
    inverse: Vec<Vec<BigInt>>,
    /// Of what is in the basis, how much.
    values: Vec<BigInt>,
    /// What one more of each row is worth.
    prices: Vec<BigInt>,
}

/// The best columns and what rows are worth, as doubles next to the fractions. Columns that `are_used` in some guess enter first. The program's rows have
/// no least, its columns no most.
pub(crate) fn solve(program: &Program, are_used: &[bool], deadline: &Deadline) -> Outcome {
    let (columns, cost_shift) = in_whole_numbers(program);
    let amounts: Vec<Rational> = program.rows.iter().map(|(_, most)| Rational::double(*most)).collect();
    let unit = amounts.iter().fold(BigInt::from(1), |unit, amount| unit.max(amount.denominator().clone()));
    let amounts = amounts.iter().map(|amount| amount.numerator() * (&unit / amount.denominator())).collect();
    let mut basis = Basis::empty(&columns, amounts);
    let (mut idle, mut ended) = (0, Ended::Optimal);
    while let Some(entering) = basis.entering(are_used, idle > PATIENCE) {
        if deadline.is_over() {
            ended = Ended::OutOfTime;
            break;
        }
        let column = basis.column(entering);
        let Some(leaving) = basis.leaving(&column) else {
            ended = Ended::Otherwise("unbounded".into());
            break;
        };
        idle = if basis.values[leaving].sign() == Sign::NoSign { idle + 1 } else { 0 };
        basis.exchange(entering, leaving, &column);
    }
    basis.outcome(ended, &Rational::new(BigInt::from(1), unit), cost_shift)
}

/// The columns, and the exponent of two that all costs are multiplied by besides.
fn in_whole_numbers(program: &Program) -> (Vec<WholeColumn>, i32) {
    let lowest = |value: f64| if value == 0.0 { i32::MAX } else { lowest_bit(value) };
    let shift_of = |column: &Column| {
        let of_entries = column.entries.iter().map(|(_, entry)| lowest(*entry)).min().unwrap_or(i32::MAX);
        if of_entries == i32::MAX { 0 } else { -of_entries }
    };
    let shifts: Vec<i32> = program.columns.iter().map(shift_of).collect();
    let of_cost = |(column, shift): (&Column, &i32)| match column.cost {
        0.0 => i32::MAX,
        cost => lowest_bit(cost) + shift,
    };
    let least = program.columns.iter().zip(&shifts).map(of_cost).min().unwrap_or(i32::MAX);
    let cost_shift = if least == i32::MAX { 0 } else { -least };
    let whole = |(column, shift): (&Column, &i32)| WholeColumn {
        cost: scaled(column.cost, shift + cost_shift),
        entries: column.entries.iter().map(|(row, entry)| (row.0, scaled(*entry, *shift))).collect(),
        shift: *shift,
    };
    (program.columns.iter().zip(&shifts).map(whole).collect(), cost_shift)
}

/// The exponent of the lowest bit of a double that is not zero.
fn lowest_bit(value: f64) -> i32 {
    let exact = Rational::double(value);
    match exact.numerator().trailing_zeros() {
        Some(zeros) if zeros > 0 => zeros as i32,
        _ => 1 - exact.denominator().bits() as i32,
    }
}

/// A double times a power of two that makes it whole.
fn scaled(value: f64, shift: i32) -> BigInt {
    let exact = Rational::double(value);
    match shift >= 0 {
        true => (exact.numerator() << shift) / exact.denominator(),
        false => exact.numerator() >> -shift,
    }
}

impl<'a> Basis<'a> {
    /// All rows have only what is left of them.
    fn empty(columns: &'a [WholeColumn], values: Vec<BigInt>) -> Self {
        let rows = values.len();
        let unit = |row: usize| (0..rows).map(|at| BigInt::from(u8::from(at == row))).collect();
        Self {
            columns,
            variables: (columns.len()..columns.len() + rows).collect(),
            determinant: BigInt::from(1),
            inverse: (0..rows).map(unit).collect(),
            values,
            prices: vec![BigInt::ZERO; rows],
        }
    }

    /// What would raise the sum: of what is used in the guess and then of all that which would by the largest part of its own worth (of the
    /// largest where it has none); or by Bland's rule the first.
    fn entering(&self, are_used: &[bool], first: bool) -> Option<Variable> {
        let rows = self.values.len();
        if first {
            return (0..self.columns.len() + rows).find(|variable| self.gain(*variable) > BigInt::ZERO);
        }
        let dearest = self.columns.iter().map(|column| &column.cost).max().unwrap_or(&BigInt::ZERO);
        let mut best: Option<(bool, f64, Variable)> = None;
        for variable in 0..self.columns.len() + rows {
            let gain = self.gain(variable);
            if gain <= BigInt::ZERO {
                continue;
            }
            let (is_used, part) = match self.columns.get(variable) {
                Some(column) => {
                    let worth = if column.cost == BigInt::ZERO { dearest } else { &column.cost };
                    (are_used[variable], Rational::new(gain, worth * &self.determinant).to_f64())
                }
                None => (true, f64::INFINITY),
            };
            if best.is_none_or(|(known, most, _)| (is_used, part) > (known, most)) {
                best = Some((is_used, part, variable));
            }
        }
        best.map(|(_, _, variable)| variable)
    }

    /// What a unit of a variable adds to the sum.
    fn gain(&self, variable: Variable) -> BigInt {
        match self.columns.get(variable) {
            Some(column) => {
                let pays = column.entries.iter().map(|(row, entry)| entry * &self.prices[*row]);
                &column.cost * &self.determinant - pays.sum::<BigInt>()
            }
            None => -&self.prices[variable - self.columns.len()],
        }
    }

    /// What a unit of a variable takes of all that is in the basis.
    fn column(&self, variable: Variable) -> Vec<BigInt> {
        let of_row = |inverse: &Vec<BigInt>| match self.columns.get(variable) {
            Some(column) => column.entries.iter().map(|(row, entry)| entry * &inverse[*row]).sum(),
            None => inverse[variable - self.columns.len()].clone(),
        };
        self.inverse.iter().map(of_row).collect()
    }

    /// The row whose variable is used up first; of several the first variable, as Bland's rule wants.
    fn leaving(&self, column: &[BigInt]) -> Option<usize> {
        let mut best: Option<usize> = None;
        for row in (0..column.len()).filter(|row| column[*row] > BigInt::ZERO) {
            let is_sooner = best.is_none_or(|known| {
                let (own, other) = (&self.values[row] * &column[known], &self.values[known] * &column[row]);
                own < other || own == other && self.variables[row] < self.variables[known]
            });
            if is_sooner {
                best = Some(row);
            }
        }
        best
    }

    fn exchange(&mut self, entering: Variable, leaving: usize, column: &[BigInt]) {
        let gain = self.gain(entering);
        let pivot = &column[leaving];
        let step = |own: &mut BigInt, factor: &BigInt, of_pivot: &BigInt, before: &BigInt| {
            // Nearly all of the inverse is nothing, and stays so.
            if *own != BigInt::ZERO || *of_pivot != BigInt::ZERO && *factor != BigInt::ZERO {
                *own = (pivot * &*own - factor * of_pivot) / before;
            }
        };
        let of_pivot = std::mem::take(&mut self.inverse[leaving]);
        let value = self.values[leaving].clone();
        for (row, factor) in column.iter().enumerate().filter(|(row, _)| *row != leaving) {
            let inverse = self.inverse[row].iter_mut().zip(&of_pivot);
            inverse.for_each(|(own, of_pivot)| step(own, factor, of_pivot, &self.determinant));
            step(&mut self.values[row], factor, &value, &self.determinant);
        }
        let prices = self.prices.iter_mut().zip(&of_pivot);
        prices.for_each(|(own, of_pivot)| step(own, &-&gain, of_pivot, &self.determinant));
        self.inverse[leaving] = of_pivot;
        self.variables[leaving] = entering;
        self.determinant = pivot.clone();
    }

    fn outcome(&self, ended: Ended, unit: &Rational, cost_shift: i32) -> Outcome {
        let mut columns = vec![0.0; self.columns.len()];
        for (variable, value) in self.variables.iter().zip(&self.values) {
            if let (Some(column), Some(told)) = (self.columns.get(*variable), columns.get_mut(*variable)) {
                let value = &Rational::new(value.clone(), self.determinant.clone()) * unit;
                *told = (&value * &power_of_two(column.shift)).to_f64();
            }
        }
        let cost = power_of_two(-cost_shift);
        let price =
            |price: &BigInt| (&Rational::new(price.clone(), self.determinant.clone()) * &cost).to_f64();
        let multipliers: Vec<f64> = self.prices.iter().map(price).collect();
        Outcome { ended, columns, multipliers, value: f64::NAN, bound: f64::NAN }
    }
}

fn power_of_two(exponent: i32) -> Rational {
    let power = BigInt::from(1) << exponent.unsigned_abs();
    if exponent >= 0 { Rational::whole(power) } else { Rational::new(BigInt::from(1), power) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_program::Settings;
    use crate::linear_solver;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    /// With one row after the other, and columns of a cost and an entry for each row.
    fn program(rows: &[f64], columns: &[(f64, Vec<f64>)]) -> Program {
        let mut program = Program::maximise();
        let rows: Vec<_> = rows.iter().map(|most| program.at_most(*most, [])).collect();
        for (cost, entries) in columns {
            let entries =
                rows.iter().copied().zip(entries.iter().copied()).filter(|(_, entry)| *entry != 0.0);
            program.column(*cost, f64::INFINITY, false, entries);
        }
        program
    }

    fn solved(program: &Program) -> Outcome {
        solve(program, &vec![false; program.columns.len()], &Deadline::never())
    }

    #[test]
    fn what_is_next_to_nothing_of_the_sum_is_decided_as_all_else() {
        for tiny in [1e-3, 1e-30, 1e-200] {
            let program = program(
                &[1.0, 1.0],
                &[(1.0, vec![1.0, 0.0]), (tiny, vec![0.0, 1.0]), (0.5 * tiny, vec![0.0, 0.25])],
            );
            let outcome = solved(&program);
            assert_eq!(outcome.ended, Ended::Optimal);
            assert_eq!(outcome.columns, [1.0, 0.0, 4.0]);
            assert_eq!(outcome.multipliers, [1.0, 2.0 * tiny]);
        }
    }

    /// On which the largest gain goes round in circles (E. M. L. Beale, 1955).
    #[test]
    fn steps_that_change_nothing_come_to_an_end() {
        let columns = [
            (0.75, vec![0.25, 0.5, 0.0]),
            (-20.0, vec![-8.0, -12.0, 0.0]),
            (0.5, vec![-1.0, -0.5, 1.0]),
            (-6.0, vec![9.0, 3.0, 0.0]),
        ];
        let outcome = solved(&program(&[0.0, 0.0, 1.0], &columns));
        assert_eq!(outcome.columns, [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(outcome.ended, Ended::Optimal);
    }

    #[test]
    fn without_an_end_or_time_there_is_no_optimum() {
        let endless = program(&[1.0], &[(1.0, vec![0.0])]);
        assert_eq!(solved(&endless).ended, Ended::Otherwise("unbounded".into()));
        let over = Deadline::after(std::time::Duration::ZERO);
        let some = program(&[1.0], &[(1.0, vec![1.0])]);
        assert_eq!(solve(&some, &[false], &over).ended, Ended::OutOfTime);
    }

    proptest! {
        #[test]
        fn values_and_prices_are_those_of_the_simplex_method_in_doubles(
            rows in prop::collection::vec(0u8..20, 1..5),
            columns in prop::collection::vec((1u8..20, prop::collection::vec(0u8..9, 5)), 1..8),
            guess in prop::collection::vec(any::<bool>(), 8),
        ) {
            let rows: Vec<f64> = rows.iter().map(|most| f64::from(*most) / 8.0).collect();
            let column = |(cost, entries): &(u8, Vec<u8>)| {
                let mut entries: Vec<f64> = entries[..rows.len()].iter().map(|entry| f64::from(*entry)).collect();
                entries[0] += 1.0;
                (f64::from(*cost), entries)
            };
            let columns: Vec<_> = columns.iter().map(column).collect();
            let program = program(&rows, &columns);
            let outcome = solve(&program, &guess[..columns.len()], &Deadline::never());
            let doubles = linear_solver::solve(&program, Settings::default(), &Deadline::never()).unwrap();
            let value = |outcome: &Outcome| -> f64 {
                outcome.columns.iter().zip(&columns).map(|(x, (cost, _))| x * cost).sum()
            };
            assert_relative_eq!(value(&outcome), value(&doubles), max_relative = 1e-9, epsilon = 1e-12);
            let bound: f64 = outcome.multipliers.iter().zip(&rows).map(|(price, most)| price * most).sum();
            assert_relative_eq!(value(&outcome), bound, max_relative = 1e-12, epsilon = 1e-15);
            prop_assert!(outcome.multipliers.iter().all(|price| *price >= 0.0));
        }
    }
}
