//! The task row of a group, eliminated before its share row.

use super::dot;

/// With `e = Σ_l Θ_l + f/z` and the mean rate `ρ̄ = Σ_l Θ_l ρ_l / e`, what is left is a share row with rates `ρ_l − ρ̄`, and a
/// second term `k kᵀ / e` to subtract on the class side, where `k_lr = Θ_l a_r`.
#[derive(Clone)]
pub(super) struct TaskRow {
    pub e: f64,
    /// `ρ̄`
    pub mean: f64,
    /// `ρ_l − ρ̄` of each pair.
    pub rates: Vec<f64>,
    /// For each pair `1 − Θ_l (1/e + (ρ_l − ρ̄)²/E)`: the part of its block on the class side that both rows leave.
    pub left: Vec<f64>,
}

impl TaskRow {
    /// From `f/z`, from the part of `E` that does not come from Θ, and from the rates and Θ of the pairs. Nothing here
    /// subtracts large equal terms: Θ grows without bound on the classes that the group uses in the end.
    pub fn of(own: f64, own_of_share: f64, rate: &[f64], theta: &[f64]) -> Self {
        let (e, mean) = Self::sum(own, rate, theta);
        let rates: Vec<f64> = (rate.iter())
            .map(|at| (own * at + rate.iter().zip(theta).map(|(r, theta)| theta * (at - r)).sum::<f64>()) / e)
            .collect();
        // `e E` over some pairs, the determinant of the two rows.
        let determinant = |rate: &[f64], theta: &[f64]| {
            let (e, mean) = Self::sum(own, rate, theta);
            let spread =
                rate.iter().zip(theta).map(|(r, theta)| theta * (r - mean) * (r - mean)).sum::<f64>();
            e * (own_of_share + mean * mean * own + spread)
        };
        let all = determinant(rate, theta);
        let others = |of: &[f64], l: usize| [&of[..l], &of[l + 1..]].concat();
        let left = (0..rate.len()).map(|l| determinant(&others(rate, l), &others(theta, l)) / all).collect();
        Self { e, mean, rates, left }
    }

    /// `e` and `ρ̄` over some pairs.
    fn sum(own: f64, rate: &[f64], theta: &[f64]) -> (f64, f64) {
        let e = own + theta.iter().sum::<f64>();
        (e, dot(rate, theta) / e)
    }
}
