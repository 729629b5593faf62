//! The task row of a group, eliminated before its share row.

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
        let all = Rows::but(NO_PAIR, own, own_of_share, rate, theta);
        let rates: Vec<f64> = (rate.iter())
            .map(|at| {
                (own * at + rate.iter().zip(theta).map(|(r, theta)| theta * (at - r)).sum::<f64>()) / all.e
            })
            .collect();
        let left = |l| Rows::but(l, own, own_of_share, rate, theta).determinant / all.determinant;
        Self { e: all.e, mean: all.mean, rates, left: (0..rate.len()).map(left).collect() }
    }
}

/// The two rows over all pairs but one.
struct Rows {
    e: f64,
    mean: f64,
    /// `e E`
    determinant: f64,
}

/// No pair.
const NO_PAIR: usize = usize::MAX;

impl Rows {
    /// In plain loops without lists of their own: this is done for every pair in every iteration.
    fn but(skipped: usize, own: f64, own_of_share: f64, rate: &[f64], theta: &[f64]) -> Self {
        let (mut weight, mut work) = (0.0, 0.0);
        for (l, (rate, theta)) in rate.iter().zip(theta).enumerate() {
            if l != skipped {
                weight += theta;
                work += rate * theta;
            }
        }
        let e = own + weight;
        let mean = work / e;
        let mut spread = 0.0;
        for (l, (rate, theta)) in rate.iter().zip(theta).enumerate() {
            if l != skipped {
                spread += theta * (rate - mean) * (rate - mean);
            }
        }
        Self { e, mean, determinant: e * (own_of_share + mean * mean * own + spread) }
    }
}
