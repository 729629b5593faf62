//! Weighted dominant shares of whole tasks as exact fractions, and the tasks that it takes to have more.

use fairplan_instances::{Breakpoint, Instance, User};
use num_bigint::BigUint;

/// A fraction; it need not be in lowest terms.
pub(super) struct Share {
    over: BigUint,
    under: BigUint,
}

impl Share {
    /// The share of one task over the weight, `δ_i / w_i`.
    pub fn of_one_task(user: User<'_>) -> Self {
        let (taken, of_all) = user.exact_task_share();
        let weight = user.weight();
        let digits = BigUint::from(weight.scaled(weight.exponent()).unwrap_or_default());
        let power = BigUint::from(10u8).pow(weight.exponent().unsigned_abs().into());
        let over = BigUint::from(taken);
        let under = BigUint::from(of_all) * digits;
        if weight.exponent() < 0 {
            Self { over: over * power, under }
        } else {
            Self { over, under: under * power }
        }
    }

    /// The share at a breakpoint.
    pub fn at(instance: &Instance, breakpoint: Breakpoint) -> Self {
        let Self { over, under } = Self::of_one_task(instance.user(breakpoint.user));
        Self { over: over * breakpoint.tasks, under }
    }

    /// The fewest tasks of this share each that are together more than `other`; `None` beyond what can be counted.
    pub fn tasks_for_more_than(&self, other: &Self) -> Option<u64> {
        let whole = (&other.over * &self.under) / (&other.under * &self.over);
        u64::try_from(whole).ok()?.checked_add(1)
    }

    /// Compared exactly.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        (&self.over * &other.under).cmp(&(&other.over * &self.under))
    }
}
