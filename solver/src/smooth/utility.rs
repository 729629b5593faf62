//! What a share is worth to a user: `w U(G)` with `U' = G^−α`, in the unit of some prices.

use crate::tolerance::sum::SERIES;

/// Utilities with the unit of prices: a price of `π` a unit of share is `π / θ` in the objective's own unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Utility {
    pub alpha: f64,
    /// `ln θ`, since θ itself may be beyond any double.
    log_scale: f64,
    /// θ, for those α with which it never is.
    scale: f64,
}

impl Utility {
    /// With `ln θ`.
    pub fn new(alpha: f64, log_scale: f64) -> Self {
        Self { alpha, log_scale, scale: log_scale.exp() }
    }

    /// `ln θ`.
    pub fn log_scale(&self) -> f64 {
        self.log_scale
    }

    /// The same with a θ that is larger by this much in logarithms.
    pub fn scaled(&self, log_factor: f64) -> Self {
        Self::new(self.alpha, self.log_scale + log_factor)
    }

    /// The share `(w θ / π)^(1/α)` of which one more unit is worth its price. α must not be 0.
    pub fn demand(&self, weight: f64, price: f64) -> f64 {
        if self.alpha == 1.0 {
            weight * self.scale / price
        } else if self.alpha == 2.0 {
            (weight * self.scale / price).sqrt()
        } else {
            ((weight / price).ln() / self.alpha + self.log_scale / self.alpha).exp()
        }
    }

    /// What one more unit of a share is worth: `w θ G^−α`, and no more than a sum of many of them can hold. (Users far
    /// above what they have tasks for may be worth any power; a part of that is lost at the same part of less.)
    pub fn marginal(&self, weight: f64, share: f64) -> f64 {
        if self.alpha == 0.0 {
            weight * self.scale
        } else if self.alpha == 1.0 {
            weight * self.scale / share
        } else if self.alpha == 2.0 {
            weight * self.scale / (share * share)
        } else {
            (weight.ln() + self.log_scale - self.alpha * share.ln()).min(MOST_LOG_WORTH).exp()
        }
    }

    /// `w θ (U(G) − U(G')) / (G w θ U'(G))` with `G' = ratio · G`: by how much less a smaller share is worth, in parts of
    /// what the larger one's last unit says. Negative where the ratio is above one.
    pub fn shortfall(&self, ratio: f64) -> f64 {
        let log = (ratio - 1.0).ln_1p();
        let power = 1.0 - self.alpha;
        if power == 0.0 { -log } else { -(power * log).exp_m1() / power }
    }

    /// What a user loses that has `ratio` times the share that it demands at its price, in parts of the price of that
    /// share: `(w θ U(G*) − π G*) − (w θ U(G) − π G)` over `π G*`, never negative.
    pub fn regret(&self, ratio: f64) -> f64 {
        let x = ratio - 1.0;
        if x.abs() * self.alpha.max(1.0) < SERIES {
            // The first two terms of the series; the next is smaller by another x².
            return 0.5 * self.alpha * x * x * (1.0 - (self.alpha + 1.0) * x / 3.0);
        }
        (self.shortfall(ratio) + x).max(0.0)
    }

    /// What a user loses with a share that is worth so much at the margin, where it demands another at its price; where a price is next to
    /// none, [`Self::most_lost`] tells more.
    pub fn lost(&self, price: f64, demand: f64, share: f64, worth: f64) -> f64 {
        let lost = price * demand * self.regret(share / demand);
        let most = self.most_lost(worth) + price * share;
        if lost <= most { lost } else { most }
    }

    /// The most that is lost with a share that is worth so much at the margin, whatever more would be worth: without an end, unless α is
    /// above one, where nobody is ever worth more than nothing.
    pub fn most_lost(&self, worth: f64) -> f64 {
        if self.alpha > 1.0 { worth / (self.alpha - 1.0) } else { f64::INFINITY }
    }
}

/// The largest logarithm of a marginal worth.
const MOST_LOG_WORTH: f64 = 500.0;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn a_wish_is_where_the_marginal_is_the_price() {
        for alpha in [0.1, 0.5, 1.0, 2.0, 7.5, 64.0] {
            for log_scale in [-700.0, -2.0, 0.0, 3.0] {
                if log_scale < -600.0 && alpha <= 2.0 {
                    continue; // Such scales only go with large α.
                }
                let utility = Utility::new(alpha, log_scale);
                let share = utility.demand(2.0, 0.3);
                assert_relative_eq!(utility.marginal(2.0, share), 0.3, max_relative = 1e-10);
            }
        }
    }

    #[test]
    fn regrets_are_differences_of_utilities() {
        let value =
            |alpha: f64, g: f64| if alpha == 1.0 { g.ln() } else { g.powf(1.0 - alpha) / (1.0 - alpha) };
        for alpha in [0.0, 0.3, 1.0, 2.0, 5.0] {
            let utility = Utility::new(alpha, 0.0);
            for ratio in [0.2, 0.9, 1.1, 3.0] {
                let plain = value(alpha, 1.0) - value(alpha, ratio) + ratio - 1.0;
                assert_relative_eq!(utility.regret(ratio), plain, max_relative = 1e-9, epsilon = 1e-14);
            }
            // Both sides of where the series takes over.
            for x in [-1.0, 1.0].into_iter().filter(|_| alpha > 0.0) {
                let edge = SERIES / alpha.max(1.0);
                let [below, above] = [0.999, 1.001].map(|part| utility.regret(1.0 + x * part * edge));
                assert_relative_eq!(below / above, (0.999f64 / 1.001).powi(2), max_relative = 2e-6);
            }
            assert_eq!(utility.regret(1.0), 0.0);
        }
    }

    #[test]
    fn where_a_price_is_next_to_none_no_more_is_lost_than_all_that_a_share_falls_short_of() {
        let utility = Utility::new(64.0, 0.0);
        for price in [1.0, 1e-3, 1e-300, f64::MIN_POSITIVE * f64::EPSILON, 0.0] {
            let lost = utility.lost(price, utility.demand(1.0, price), 1.0, 1.0);
            assert!(lost >= 0.0 && lost <= 1.0 / 63.0 + price, "{lost} at {price}");
        }
    }
}
