//! What stochastic demand comes to: how fast transactions are served.

/// Performance of every class in the long run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficOutcome {
    /// By class.
    pub classes: Vec<ClassPerformance>,
    /// How it was found.
    pub evidence: Evidence,
}

/// How fast transactions of a class are served in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassPerformance {
    /// Mean work over mean completion time (MRF's γ).
    pub service_rate: f64,
    /// How far the service rate may be off: an estimate for a Markov chain, half the width of a 95% confidence interval
    /// for simulations.
    pub service_rate_error: f64,
    /// Mean time from arrival to completion.
    pub completion_time: f64,
    /// Mean number in progress.
    pub in_progress: f64,
}

/// Where the numbers come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// The stationary distribution of a truncated Markov chain.
    Chain {
        /// Most transactions of each class that the truncated chain lets in.
        truncation: Vec<u32>,
        /// Its states.
        states: u64,
        /// The largest probability, over the classes, that the chain is where no more of a class are let in.
        border_mass: f64,
        /// Multilevel cycles over the last chain.
        cycles: u64,
    },
    /// Simulations that differ in their seed only.
    Simulations {
        /// How many.
        replications: u64,
        /// Transactions that were measured, over all of them.
        measured: u64,
    },
}
