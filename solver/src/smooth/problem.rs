//! The largest mean of works over groups of users: what a sum over users comes to once they share splits.
//!
//! ```text
//! maximise M(v) = (Σ_g ω_g v_g^(1−α))^(1/(1−α))      (Π_g v_g^ω_g where α = 1), Σ_g ω_g = 1
//! subject to   Σ_g a_gr ζ_gl <= c_lr                 every class l and resource r
//!              v_g <= Σ_l ρ_gl ζ_gl                  every group g
//!              Σ_l ζ_gl <= κ_g                       every group g with a limit
//!              ζ >= 0
//! ```
//! A group stands for users whose dominant shares are in fixed proportions, `G_i = s_i v_g`; its load is the sum of
//! `s_i d_i` and its size `ω_g` in proportion to `Σ w_i s_i^(1−α)`. The mean is a rising function of the sum of
//! `w_i U(G_i)`, and its value is a share, whatever α: the share that would be worth as much if everybody had it.

use crate::level::{Groups, dot};
use fairplan_instances::{Deadline, InstanceError};

/// A problem over groups. Where amounts `s_i` are near what users get, all works are near one and every number here
/// is of an ordinary size, also for large α.
pub(crate) struct SumProblem<'a> {
    /// `α >= 0`.
    pub alpha: f64,
    /// Resources `m`.
    pub resources: usize,
    /// `c`, row-major `classes × resources`; a row may hold zeros.
    pub capacities: &'a [f64],
    /// Loads and pairs of the groups, at least one.
    pub groups: &'a Groups,
    /// `ω > 0`.
    pub size: &'a [f64],
    /// What a group is expected to pay for its work, in the unit of the sizes: the size itself, but less for groups
    /// that a limit keeps from more.
    pub cost: &'a [f64],
    /// `κ`, infinite for groups without a limit.
    pub limit: &'a [f64],
}

impl SumProblem<'_> {
    pub fn classes(&self) -> usize {
        self.capacities.len() / self.resources
    }

    pub fn load(&self, group: usize) -> &[f64] {
        &self.groups.loads[group * self.resources..(group + 1) * self.resources]
    }

    pub fn is_limited(&self, group: usize) -> bool {
        self.limit[group] < f64::INFINITY
    }

    /// The first row of the class of a pair in anything that is `classes × resources`.
    pub fn row(&self, pair: usize) -> usize {
        self.groups.class[pair] as usize * self.resources
    }

    /// `a_g · x_l` for the class of a pair.
    pub fn cost_at(&self, x: &[f64], group: usize, pair: usize) -> f64 {
        let row = self.row(pair);
        dot(self.load(group), &x[row..row + self.resources])
    }
}

/// A solution with its multipliers.
#[derive(Clone, Debug)]
pub(crate) struct SumSolution {
    /// `v` of each group.
    pub works: Vec<f64>,
    /// `ζ` of each pair.
    pub splits: Vec<f64>,
    /// Multipliers of the capacity rows, row-major `classes × resources`, >= 0, in a unit of their own.
    pub prices: Vec<f64>,
    /// `ln t` of that unit: at the optimum the price of a group's work is `ω_g (v_g / t)^−α`.
    pub log_level: f64,
    /// The widest gap of a group in parts of what its own work is worth.
    pub widest: f64,
    /// Steps taken.
    pub iterations: u64,
}

/// A way to solve such problems.
pub(crate) trait SumSolver: Sync {
    /// Solves to the relative gap `accuracy` or better, as exactly as the method can. A poor answer is caught by the
    /// certificate; an error is for a backend that broke.
    /// When time is over the best found so far is returned, or an error where nothing is.
    fn solve(&self, problem: &SumProblem<'_>, accuracy: f64) -> Result<SumSolution, InstanceError>;

    /// When to end.
    fn deadline(&self) -> &Deadline;
}
