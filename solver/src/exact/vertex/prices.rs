//! What work costs at prices, and which place is cheaper than the key: there the level can be raised.
//!
//! Costs are fractions; doubles tell most places from the cheapest.

use super::super::number::Rational;
use super::super::program::Program;
use super::{Amount, Variable, Vertex};
use crate::tolerance::exact::ROUGHLY;

impl Vertex<'_> {
    /// What raises the level at these prices: of what raises it most, or by Bland's rule the first.
    pub(super) fn entering(&self, prices: &[Rational], first: bool) -> Option<Variable> {
        let mut best: Option<(f64, Variable)> = None;
        for row in &self.tight {
            if prices[*row].is_negative() {
                let (gain, variable) = (f64::INFINITY, Variable::Slack(*row));
                let is_better =
                    best.is_none_or(
                        |(known, other)| {
                            if first || known == gain { variable < other } else { gain > known }
                        },
                    );
                if is_better {
                    best = Some((gain, variable));
                }
            }
        }
        if best.is_some() {
            return best.map(|(_, variable)| variable);
        }
        let rough = Rough::of(prices);
        let alike = self.program.alike(prices);
        for line in 0..self.keys.len() {
            let key = self.keys[line] as usize;
            let places = self.program.places(line).len();
            if places == 1 {
                continue;
            }
            let rough_costs = rough.costs(self.program, line);
            let mut cost_of_key = None;
            for place in (0..places).filter(|place| *place != key) {
                let is_dearer = rough_costs[place] * (1.0 - ROUGHLY) > rough_costs[key];
                if is_dearer || self.program.are_alike(&alike, line, place, key) {
                    continue;
                }
                let cost_of_key = cost_of_key.get_or_insert_with(|| self.cost(prices, line, key));
                if self.cost(prices, line, place) >= *cost_of_key {
                    continue;
                }
                let variable = Variable::Work(line, place);
                if first {
                    return Some(variable);
                }
                let gain = (rough_costs[key] - rough_costs[place]) * self.rate(line).to_f64();
                if best.is_none_or(|(known, _)| gain > known) {
                    best = Some((gain, variable));
                }
            }
        }
        best.map(|(_, variable)| variable)
    }

    /// What a unit of work costs at a place.
    pub fn cost(&self, prices: &[Rational], line: usize, place: usize) -> Rational {
        let priced = self.program.column(line, place).into_iter().filter(|(row, _)| !prices[*row].is_zero());
        priced.fold(Rational::zero(), |sum, (row, entry)| &sum + &(&entry * &prices[row]))
    }

    /// Whether a line pays at its key place. (Prices and what it takes are 0 or more.)
    pub fn pays(&self, prices: &[Rational], line: usize) -> bool {
        let column = self.program.column(line, self.keys[line] as usize);
        column.iter().any(|(row, entry)| prices[*row].is_positive() && entry.is_positive())
    }

    /// What a unit of the level costs all who rise.
    pub fn cost_of_level(&self, prices: &[Rational]) -> Rational {
        product(prices, &self.rising)
    }

    /// The same of those who rose when somebody was first frozen at the last level, as they rose then.
    pub fn cost_of_last_level(&self, prices: &[Rational], rates: &[Rational]) -> Rational {
        let last = self.levels.len() as u32;
        let rose = |line: &usize| match &self.amounts[*line] {
            Amount::Rising => true,
            Amount::Frozen(level) => level + 1 == last,
            Amount::Settled { .. } => false,
        };
        let rate = |line: usize| rates.get(line).unwrap_or(&self.per_level[line]);
        let cost = |line: usize| &self.cost(prices, line, self.keys[line] as usize) * rate(line);
        (0..self.keys.len()).filter(rose).map(cost).fold(Rational::zero(), |sum, cost| &sum + &cost)
    }
}

/// Costs in doubles, which tell most places from the cheapest.
struct Rough {
    prices: Vec<f64>,
}

impl Rough {
    fn of(prices: &[Rational]) -> Self {
        let largest = prices.iter().max().filter(|price| price.is_positive());
        let prices = prices.iter().map(|price| largest.map_or(0.0, |largest| (price / largest).to_f64()));
        Self { prices: prices.collect() }
    }

    fn costs(&self, program: &Program<'_>, line: usize) -> Vec<f64> {
        let cost = |place: usize| {
            let column = program.rough_column(line, place);
            column.into_iter().map(|(row, entry)| entry * self.prices[row]).sum()
        };
        (0..program.places(line).len()).map(cost).collect()
    }
}

/// The sum of the products of what is not zero.
pub(super) fn product(prices: &[Rational], column: &[Rational]) -> Rational {
    let both = prices.iter().zip(column).filter(|(price, entry)| !price.is_zero() && !entry.is_zero());
    both.fold(Rational::zero(), |sum, (price, entry)| &sum + &(price * entry))
}
