//! What a server costs when it is reserved: a lower price a period for those who commit to some periods, needed or not.

use crate::tolerance::NO_PERIOD;
use crate::{Decimal, Violation};

/// A reservation of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment {
    /// Its price a period (> 0, at most that on demand).
    pub price: Decimal,
    /// The periods that one commits to and pays for (> 0).
    pub periods: u64,
}

impl Commitment {
    /// The commitment beside a price on demand, or what is wrong with it: the place says which of both numbers.
    pub fn new(price: Decimal, periods: u64, on_demand: Decimal) -> Result<Self, Violation> {
        if price.is_zero() {
            return Err(Violation::new("price", price, Violation::ABOVE_ZERO));
        }
        if price.to_f64() > on_demand.to_f64() {
            let problem = format!(
                "is more than the price on demand, {on_demand}; state the price of one period, not that of the whole commitment"
            );
            return Err(Violation::new("price", price, problem));
        }
        if periods == 0 {
            return Err(Violation::new(
                "periods",
                periods,
                "must be at least 1: how many periods are committed to",
            ));
        }
        Ok(Self { price, periods })
    }

    /// What a commitment costs, whether the server is needed or not.
    pub fn cost(self) -> f64 {
        self.price.to_f64() * self.periods as f64
    }

    /// So many periods on demand cost as much as a commitment: who needs a server for longer saves by it.
    pub fn break_even(self, on_demand: Decimal) -> f64 {
        self.cost() / on_demand.to_f64()
    }

    /// How many commitments one after the other cover so many periods.
    pub fn covering(self, needed: f64) -> u64 {
        (needed / self.periods as f64 - NO_PERIOD).ceil().max(0.0) as u64
    }

    /// How many commitments one after the other make so many periods cheapest, with what is left on demand; the fewest.
    pub fn cheapest(self, on_demand: Decimal, needed: f64) -> u64 {
        let all = self.covering(needed);
        let left = needed - all.saturating_sub(1) as f64 * self.periods as f64;
        if all > 0 && left <= self.break_even(on_demand) * (1.0 + NO_PERIOD) { all - 1 } else { all }
    }

    /// What so many periods cost with so many commitments, and what is left on demand.
    pub fn cost_with(self, commitments: u64, on_demand: Decimal, needed: f64) -> f64 {
        let left = (needed - commitments as f64 * self.periods as f64).max(0.0);
        commitments as f64 * self.cost() + left * on_demand.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn a_commitment_that_saves_nothing_or_lasts_for_nothing_is_refused() {
        let refused = |price: &str, periods| {
            Commitment::new(decimal(price), periods, decimal("80")).unwrap_err().to_string()
        };
        assert!(refused("660", 12).starts_with("price = 660: is more than the price on demand, 80"));
        assert!(refused("0", 12).contains("price = 0: must be > 0"));
        assert!(refused("55", 0).contains("periods = 0: must be at least 1"));
        assert!(Commitment::new(decimal("80"), 12, decimal("80")).is_ok());
    }

    #[test]
    fn a_reservation_is_worth_it_beyond_its_break_even_and_what_is_left_is_had_on_demand() {
        let on_demand = decimal("80");
        let commitment = Commitment::new(decimal("55"), 12, on_demand).unwrap();
        assert_eq!((commitment.cost(), commitment.break_even(on_demand)), (660.0, 8.25));
        // Twelve and eight periods, twelve and nine; at the break-even nobody is bound who need not be.
        let best = [0.0, 8.0, 8.25, 8.5, 12.0, 20.0, 21.0, 24.0]
            .map(|needed| commitment.cheapest(on_demand, needed));
        assert_eq!(best, [0, 0, 0, 1, 1, 1, 2, 2]);
        assert_eq!(commitment.covering(24.0) + commitment.covering(0.1 * 120.0 + 1e-12), 3);
        assert_eq!(commitment.cost_with(1, on_demand, 20.0), 660.0 + 640.0);
        // No other number of commitments is cheaper.
        for needed in (0..400).map(|tenths| f64::from(tenths) / 10.0) {
            let least =
                (0..5).map(|k| commitment.cost_with(k, on_demand, needed)).fold(f64::INFINITY, f64::min);
            let ours = commitment.cost_with(commitment.cheapest(on_demand, needed), on_demand, needed);
            assert!((ours - least).abs() < 1e-6, "{needed}: {ours} {least}");
        }
    }
}
