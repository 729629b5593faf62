//! Poisson arrivals of all classes as one stream. What is drawn for them comes in the order of their arrival, so that
//! simulations with the same seed see the same transactions, whatever shares the pool.

use crate::variates::{exponential, position};
use fairplan_instances::{Random, Traffic};

/// The transactions to come.
pub(crate) struct Arrivals {
    /// Draws the times, the classes, and what the transactions bring.
    pub random: Random,
    /// When the next one comes.
    pub next: f64,
    /// Running sums of the rates of the classes.
    ends: Vec<f64>,
}

impl Arrivals {
    pub fn new(traffic: &Traffic, mut random: Random) -> Self {
        let mut total = 0.0;
        let running_sum = |rate| {
            total += rate;
            total
        };
        let ends: Vec<f64> =
            traffic.classes().iter().map(|class| class.arrival_rate).map(running_sum).collect();
        Self { next: exponential(&mut random) / total, random, ends }
    }

    /// The class of the one that comes now; what it brings must be drawn before the next call of [`Self::schedule`].
    pub fn class(&mut self) -> usize {
        position(&self.ends, &mut self.random)
    }

    /// Draws when the next one comes.
    pub fn schedule(&mut self) {
        self.next += exponential(&mut self.random) / self.ends[self.ends.len() - 1];
    }
}
