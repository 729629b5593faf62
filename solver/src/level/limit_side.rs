//! The rows of limits in the Schur complement on the class side.
//!
//! A group below limit `j` adds `a_gr a_gs X(l, A_j)` where the row of class `l` and resource `r` meets that of the limit, and
//! `a_gr a_gs X(A_i, A_j)` where two limits meet, with `A` the classes that a limit covers and
//! `X(A, B) = Σ_{A∩B} Θ − Σ_A Θρ Σ_B Θρ / E`. Large equal terms are left out before they are subtracted.

use super::LevelProblem;
use super::weights::Weights;
use nalgebra::DMatrix;
use std::ops::Range;

/// Adds the columns of the limits, and what is left of each, to the upper triangle; `slack` is `u/p` of each row.
pub(super) fn add(
    problem: &LevelProblem<'_>,
    weights: &Weights,
    slack: impl Fn(usize) -> f64,
    matrix: &mut DMatrix<f64>,
) {
    let (Some(limits), m) = (problem.limits, problem.resources) else { return };
    for row in limits.limits.first_row()..problem.capacities.len() {
        matrix[(row, row)] += slack(row);
    }
    for (g, pattern) in problem.groups.pattern.iter().enumerate() {
        let (load, pairs) = (problem.load(g), problem.groups.pairs(g));
        let of_group = OfGroup { problem, weights, g, pairs: pairs.clone() };
        let met: Vec<_> = limits.of_pattern(*pattern).filter(|(_, r, _)| load[*r] > 0.0).collect();
        for (position, &(column, s, covers)) in met.iter().enumerate() {
            for pair in pairs.clone() {
                let l = problem.groups.class[pair] as usize;
                let part = of_group.meets(|class| class == l, |class| covers[class]);
                for (r, a) in load.iter().enumerate() {
                    matrix[(l * m + r, column)] += a * load[s] * part;
                }
            }
            // Rows of limits rise with their position.
            for &(row, r, others) in &met[..=position] {
                let part = of_group.meets(|class| others[class], |class| covers[class]);
                matrix[(row, column)] += load[r] * load[s] * part;
            }
        }
    }
}

/// A group with its weights.
struct OfGroup<'a> {
    problem: &'a LevelProblem<'a>,
    weights: &'a Weights,
    g: usize,
    pairs: Range<usize>,
}

/// `Σ Θ`, `Σ Θρ` and `Σ Θρ²` over some classes.
#[derive(Clone, Copy, Default)]
struct Moments {
    theta: f64,
    rate: f64,
    square: f64,
}

impl OfGroup<'_> {
    /// `X(A, B)`.
    fn meets(&self, one: impl Fn(usize) -> bool, other: impl Fn(usize) -> bool) -> f64 {
        let Self { problem, weights, g, pairs } = self;
        // In both, in the first only, in the second only, in neither.
        let mut parts = [Moments::default(); 4];
        for pair in pairs.clone() {
            let class = problem.groups.class[pair] as usize;
            let part = &mut parts[usize::from(!one(class)) * 2 + usize::from(!other(class))];
            part.theta += weights.theta[pair];
            part.rate += weights.theta_rate[pair];
            part.square += weights.theta_rate[pair] * weights.rate[pair];
        }
        let [both, first, second, neither] = parts;
        let rates = &weights.rate[pairs.clone()];
        let differ = rates.windows(2).any(|pair| pair[0] != pair[1]);
        // Θ_l Θ_l' ρ' (ρ' − ρ) over classes in both and in one of them: nothing where rates are alike.
        let spread = if differ {
            let inside = (both.theta * both.square - both.rate * both.rate).max(0.0);
            let beside = first.square + second.square;
            inside + both.theta * beside - both.rate * (first.rate + second.rate)
        } else {
            0.0
        };
        let own = both.theta * (weights.e_own[*g] + neither.square);
        (own + spread - first.rate * second.rate) / weights.e[*g]
    }
}
