//! What all users pay and are worth, added up with the rounding known, and the value, bound and gap that follow.

use crate::rounding::{Sum, at_least_nothing, down, up};
use crate::tolerance::{self, LOOSE, OF_DIFFERENCE};
use fairplan_instances::one_less;

/// What users add up to.
pub(super) struct Sums {
    /// `Σ c X`, at least.
    pub paid: Sum,
    /// `Σ z T`, at most.
    pub limits: Sum,
    /// The second sum of what the bound has above the value, at most.
    pub regrets: Sum,
    /// `Σ M X`.
    pub worth: Sum,
    /// `Σ c X` and `Σ M X` over users whom neither tasks nor guarantees hold, and over those whose tasks barely have a price or who have
    /// barely more than they are guaranteed.
    pub paid_freely: [Sum; 2],
    pub worth_freely: [Sum; 2],
    /// `Σ w ln G` over users with shares above one, and less that over the others.
    pub gains: Sum,
    pub losses: Sum,
    /// What who is worth least is worth at the margin with all that it has, or less.
    pub least: f64,
    /// Whether some term is not finite.
    pub unbounded: bool,
    /// Whether anybody could have anything.
    pub any: bool,
}

/// Somebody whom its guarantee holds up.
pub(super) struct HeldUp {
    /// What a unit of what it has costs, and what the last one is worth to it.
    pub cost: f64,
    pub margin: f64,
    /// How much it has, and of how much it is sure: work of a user, the share of a group.
    pub has: f64,
    pub sure: f64,
    pub weight: f64,
    pub share: f64,
}

/// Adds a number that may be too large.
pub(super) fn add(sum: &mut Sum, x: f64, unbounded: &mut bool) {
    if x.is_finite() { sum.add(x) } else { *unbounded = true }
}

/// `a + b`, rounded up; nothing and nothing is nothing.
pub(super) fn sum_up(a: f64, b: f64) -> f64 {
    if a + b == 0.0 { 0.0 } else { up(a + b) }
}

/// What follows from the sums.
pub(super) struct Found {
    pub primal: f64,
    pub dual: f64,
    pub relative_gap: f64,
    pub worth: f64,
    pub imbalance: f64,
}

impl Sums {
    pub fn new() -> Self {
        Self {
            paid: Sum::new(),
            limits: Sum::new(),
            regrets: Sum::new(),
            worth: Sum::new(),
            paid_freely: [Sum::new(), Sum::new()],
            worth_freely: [Sum::new(), Sum::new()],
            gains: Sum::new(),
            losses: Sum::new(),
            least: f64::INFINITY,
            unbounded: false,
            any: false,
        }
    }

    /// Adds somebody who is held up: it pays for all that it has, and what it has above what it is guaranteed is the most that it could do
    /// better.
    pub fn add_held_up(&mut self, HeldUp { cost, margin, has, sure, weight, share }: HeldUp) {
        let beyond = up(up(at_least_nothing(up(cost - margin))) * at_least_nothing(up(has - sure)));
        add(&mut self.paid, down(cost * has), &mut self.unbounded);
        self.add_worth(margin * has);
        add(&mut self.regrets, beyond, &mut self.unbounded);
        self.add_logarithm(weight, share);
    }

    /// Adds somebody who is worth so much.
    pub fn add_worth(&mut self, worth: f64) {
        add(&mut self.worth, worth, &mut self.unbounded);
        self.least = self.least.min(worth);
    }

    /// Adds `w ln G`.
    pub fn add_logarithm(&mut self, weight: f64, share: f64) {
        let log_share = weight * share.ln();
        let of_sign = if log_share > 0.0 { &mut self.gains } else { &mut self.losses };
        add(of_sign, log_share.abs(), &mut self.unbounded);
    }

    pub fn merge(&mut self, later: &Self) {
        self.paid.merge(&later.paid);
        self.limits.merge(&later.limits);
        self.regrets.merge(&later.regrets);
        self.worth.merge(&later.worth);
        for part in 0..2 {
            self.paid_freely[part].merge(&later.paid_freely[part]);
            self.worth_freely[part].merge(&later.worth_freely[part]);
        }
        self.gains.merge(&later.gains);
        self.losses.merge(&later.losses);
        self.least = self.least.min(later.least);
        self.unbounded |= later.unbounded;
        self.any |= later.any;
    }

    pub fn found(&self, alpha: f64, capacity: f64) -> Found {
        let worth = self.worth.below();
        // In a unit in which all are worth next to nothing, or nearly more than there are numbers, part of it may be lost.
        let is_lost = self.any && !tolerance::WORTH.contains(&worth);
        if self.unbounded || is_lost || capacity.is_infinite() {
            let (primal, dual) = (f64::NEG_INFINITY, f64::INFINITY);
            return Found { primal, dual, relative_gap: f64::INFINITY, worth, imbalance: f64::INFINITY };
        }
        let due = sum_up(capacity, self.limits.above());
        let unsold = if due == 0.0 { 0.0 } else { at_least_nothing(up(due - self.paid.below())) };
        let gap = sum_up(unsold, self.regrets.above());
        let (primal, width) = if alpha == 1.0 {
            let (gains, losses) = (self.gains.below(), self.losses.above());
            let width = OF_DIFFERENCE * (gains + losses);
            (gains - losses - width, 2.0 * width)
        } else {
            let size = worth / one_less(alpha).abs();
            (if alpha < 1.0 { size * (1.0 - LOOSE) } else { -size * (1.0 + LOOSE) }, 4.0 * LOOSE * size)
        };
        let relative_gap = if gap == 0.0 { 0.0 } else { up(gap / (worth * (1.0 - LOOSE))) };
        let imbalance = self.imbalance(worth);
        Found { primal, dual: primal + gap + width, relative_gap, worth, imbalance }
    }

    /// By which part of this worth those whom neither tasks nor guarantees hold pay more or less than they are worth. Who barely pays for its
    /// tasks or its guarantee may be counted either way.
    fn imbalance(&self, worth: f64) -> f64 {
        let [without, barely] =
            [0, 1].map(|part| (self.paid_freely[part].below() - self.worth_freely[part].below()) / worth);
        let with = without + barely;
        let either = worth == 0.0 || without * with <= 0.0;
        if either { 0.0 } else { without.abs().min(with.abs()) }
    }

    /// The same of what they are worth themselves, in a unit in which others may be worth more than any number.
    pub fn imbalance_of_prices(&self) -> f64 {
        self.imbalance(self.worth_freely[0].below() + self.worth_freely[1].below())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a unit in which all are worth so much, where prices take just that.
    fn gap(worth: f64) -> f64 {
        let mut sums = Sums { any: true, ..Sums::new() };
        [&mut sums.worth, &mut sums.paid].into_iter().for_each(|sum| sum.add(worth));
        sums.found(0.5, worth).relative_gap
    }

    #[test]
    fn what_all_are_worth_may_be_as_small_or_large_as_numbers_tell_apart_and_no_more() {
        let (least, most) = tolerance::WORTH.into_inner();
        assert!(gap(1.1 * least) < 1e-9 && gap(0.9 * most) < 1e-9);
        assert_eq!((gap(0.9 * least), gap(1.1 * most)), (f64::INFINITY, f64::INFINITY));
    }
}
