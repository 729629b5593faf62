//! One group in the Newton system: what is left of it for the prices once its own variables are eliminated.

/// The variables of a group that its splits see: the multiplier `y` of its work and, with a limit, `λ` of its tasks.
/// In the normal equations they have the matrix `[E −B; −B F]` with
/// `E = own + Σ ρ² Θ`, `B = Σ ρ Θ`, `F = slack + Σ Θ`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elimination {
    /// The part of `E` that does not come from Θ.
    own: f64,
    /// The part of `F` that does not come from Θ: infinite without a limit.
    slack: f64,
    /// `E − B²/F`.
    pub pivot: f64,
    /// `B/F`, 0 without a limit.
    pub ratio: f64,
    /// `1/F`, 0 without a limit.
    pub inverse: f64,
    /// The mean rate `B / ΣΘ`.
    mean: f64,
}

impl Elimination {
    pub fn new(own: f64, slack: f64, rates: &[f64], theta: &[f64]) -> Self {
        if slack == f64::INFINITY {
            let pivot = own + rates.iter().zip(theta).map(|(rho, theta)| rho * rho * theta).sum::<f64>();
            return Self { own, slack, pivot, ratio: 0.0, inverse: 0.0, mean: 0.0 };
        }
        let total: f64 = theta.iter().sum();
        let mean = rates.iter().zip(theta).map(|(rho, theta)| rho * theta).sum::<f64>() / total;
        let spread: f64 = rates.iter().zip(theta).map(|(rho, theta)| theta * (rho - mean).powi(2)).sum();
        let inverse = 1.0 / (total + slack);
        // Never a difference of large terms: where all rates are equal the spread is zero exactly.
        let pivot = own + spread + mean * mean * total * (slack * inverse);
        Self { own, slack, pivot, ratio: mean * total * inverse, inverse, mean }
    }

    /// `Θ (ρ − B/F)`: how the multiplier of the work moves the split of a pair.
    pub fn pull(&self, rate: f64, theta: f64) -> f64 {
        if self.inverse == 0.0 {
            return theta * rate;
        }
        theta * ((rate - self.mean) + self.mean * (self.slack * self.inverse))
    }

    /// How much less a pair's split is per unit that its class costs more: `Θ_l det(without l) / det`, a product of
    /// positive numbers.
    pub fn response(&self, l: usize, rates: &[f64], theta: &[f64]) -> f64 {
        let others = || (0..rates.len()).filter(|j| *j != l);
        if self.inverse == 0.0 {
            let own = rates[l] * rates[l] * theta[l];
            let rest = if own < 0.5 * self.pivot {
                self.pivot - own
            } else {
                self.own + others().map(|j| rates[j] * rates[j] * theta[j]).sum::<f64>()
            };
            return theta[l] * (rest / self.pivot);
        }
        let total: f64 = others().map(|j| theta[j]).sum();
        let squares: f64 = others().map(|j| theta[j] * rates[j] * rates[j]).sum();
        let mean = others().map(|j| theta[j] * rates[j]).sum::<f64>() / total.max(f64::MIN_POSITIVE);
        let spread: f64 = others().map(|j| theta[j] * (rates[j] - mean).powi(2)).sum();
        let rest = self.own * (self.slack + total) + self.slack * squares + total * spread;
        theta[l] * (rest / self.pivot) * self.inverse
    }

    /// The same for two pairs, given their [`Self::pull`]: how the split of one falls with the cost of the other.
    pub fn exchange(&self, theta: [f64; 2], pull: [f64; 2]) -> f64 {
        -(pull[0] * (pull[1] / self.pivot)) - theta[0] * (theta[1] * self.inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, Matrix2};

    /// `Θ − Θ [ρ −1] [E −B; −B F]⁻¹ [ρ −1]ᵀ Θ`, worked out as it stands.
    fn plain(own: f64, slack: f64, rates: &[f64], theta: &[f64]) -> DMatrix<f64> {
        let n = rates.len();
        let sum = |power: i32| -> f64 { (0..n).map(|l| rates[l].powi(power) * theta[l]).sum() };
        let inner = Matrix2::new(own + sum(2), -sum(1), -sum(1), slack + sum(0));
        let side = DMatrix::from_fn(2, n, |row, l| if row == 0 { rates[l] } else { -1.0 } * theta[l]);
        let inverse = inner.try_inverse().unwrap();
        let inverse = DMatrix::from_fn(2, 2, |i, j| if slack.is_finite() { inverse[(i, j)] } else { 0.0 });
        let mut matrix = -side.transpose() * &inverse * &side;
        if !slack.is_finite() {
            matrix =
                DMatrix::from_fn(n, n, |l, j| -theta[l] * theta[j] * rates[l] * rates[j] / (own + sum(2)));
        }
        (0..n).for_each(|l| matrix[(l, l)] += theta[l]);
        matrix
    }

    #[test]
    fn responses_are_those_of_the_system_worked_out_as_it_stands() {
        for slack in [0.3, 1e-3, 20.0, f64::INFINITY] {
            for rates in [[1.0, 1.0, 1.0], [1.0, 2.0, 0.5], [3.0, 1.0, 1.0]] {
                let (own, theta) = (0.7, [0.2, 5.0, 1.1]);
                let plain = plain(own, slack, &rates, &theta);
                let group = Elimination::new(own, slack, &rates, &theta);
                for l in 0..3 {
                    approx::assert_relative_eq!(
                        group.response(l, &rates, &theta),
                        plain[(l, l)],
                        max_relative = 1e-10
                    );
                    for j in 0..l {
                        let pull = [l, j].map(|l| group.pull(rates[l], theta[l]));
                        let exchange = group.exchange([theta[l], theta[j]], pull);
                        approx::assert_relative_eq!(exchange, plain[(l, j)], max_relative = 1e-10);
                    }
                }
            }
        }
    }

    #[test]
    fn a_class_that_takes_nearly_all_keeps_every_digit() {
        // The split of the large pair can only change against the others: exactly Θ (own + 1) / (own + 1 + Θ).
        let (theta, rates) = ([1e20, 1.0], [1.0, 1.0]);
        let group = Elimination::new(2.0, f64::INFINITY, &rates, &theta);
        approx::assert_relative_eq!(group.response(0, &rates, &theta), 3.0, max_relative = 1e-14);
        let group = Elimination::new(2.0, 1e-20, &rates, &theta);
        approx::assert_relative_eq!(group.response(0, &rates, &theta), 1.0, max_relative = 1e-14);
    }
}
