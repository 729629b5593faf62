//! Which variable enters: the one along whose edge the objective falls fastest, edges measured by Devex reference weights.

use super::basis::{Simplex, VariableStatus};
use crate::tolerance::simplex::DUAL;

/// Weights above this say nothing of edges any more: the reference begins anew.
const HEAVY: f64 = 1e9;

/// Reduced costs and weights of all variables.
pub(super) struct Pricing {
    pub reduced: Vec<f64>,
    weight: Vec<f64>,
}

impl Pricing {
    pub fn new(variables: usize) -> Self {
        Self { reduced: vec![0.0; variables], weight: vec![1.0; variables] }
    }

    /// Finds all reduced costs anew, for these costs.
    pub fn refresh(&mut self, simplex: &Simplex, cost: impl Fn(usize) -> f64) {
        if self.weight.iter().any(|weight| *weight > HEAVY) {
            self.weight.fill(1.0);
        }
        let prices = simplex.prices(&cost);
        for (variable, reduced) in self.reduced.iter_mut().enumerate() {
            *reduced = match simplex.place[variable] {
                VariableStatus::Basic(_) => 0.0,
                _ => cost(variable) - simplex.times(variable, &prices),
            };
        }
    }

    /// By how much the objective falls for each unit of a variable that is worth to enter.
    fn gain(&self, simplex: &Simplex, first: bool, variable: usize) -> Option<f64> {
        let reduced = self.reduced[variable];
        let gain = match simplex.place[variable] {
            VariableStatus::Basic(_) => return None,
            VariableStatus::Lower => -reduced,
            VariableStatus::Upper => reduced,
            VariableStatus::Free => reduced.abs(),
        };
        let (least, most) = simplex.moved[variable];
        let worthwhile = if first { DUAL } else { simplex.dual[variable] };
        (gain > worthwhile && least != most).then_some(gain)
    }

    /// The variable to enter, and whether it rises.
    pub fn entering(&self, simplex: &Simplex, first: bool, is_barred: &[bool]) -> Option<(usize, bool)> {
        let mut best = (f64::NEG_INFINITY, None);
        // Most variables are worth nothing, as one look at their reduced costs tells.
        let least = if first { DUAL } else { simplex.least_dual };
        for (variable, reduced) in self.reduced.iter().enumerate() {
            if reduced.abs() <= least {
                continue;
            }
            let Some(gain) = self.gain(simplex, first, variable).filter(|_| !is_barred[variable]) else {
                continue;
            };
            let speed = gain * gain / self.weight[variable];
            if speed > best.0 {
                best = (speed, Some(variable));
            }
        }
        let (_, variable) = best;
        variable.map(|variable| (variable, self.reduced[variable] < 0.0))
    }

    /// After `entering` took the place of `leaving`, which stood at `position`, before the exchange reaches the factors.
    pub fn exchange(&mut self, simplex: &Simplex, position: usize, entering: usize, leaving: usize) {
        let mut unit = vec![0.0; simplex.rows];
        unit[position] = 1.0;
        let mut row = vec![0.0; simplex.rows];
        simplex.factor.solve_transposed(&mut unit, &mut row);
        let pivot = simplex.times(entering, &row);
        if pivot == 0.0 {
            return;
        }
        let (ratio, weight) = (self.reduced[entering] / pivot, self.weight[entering]);
        let numbers = self.reduced.iter_mut().zip(&mut self.weight).zip(&simplex.place);
        for (variable, ((reduced, of), place)) in numbers.enumerate() {
            if matches!(place, VariableStatus::Basic(_)) {
                continue;
            }
            let along = simplex.times(variable, &row);
            if along != 0.0 {
                *reduced -= ratio * along;
                let times = along / pivot;
                *of = of.max(times * times * weight);
            }
        }
        self.reduced[entering] = 0.0;
        self.reduced[leaving] = -ratio;
        self.weight[leaving] = (weight / (pivot * pivot)).max(1.0);
    }
}
