//! One level of the lexicographic max-min as a linear program over groups of users and merged classes.
//!
//! ```text
//! maximise t   subject to   Σ_g a_gr ζ_gl <= c_lr          every class l and resource r
//!                           Σ_l ρ_gl ζ_gl >= t             every rising group g
//!                           Σ_l ρ_gl ζ_gl >= 1             every settled group g
//!                           ζ >= 0, and ζ_gl = 0 where ρ_gl = 0
//! ```
//! A rising group stands for users whose weighted dominant share is the level `t`; its load `a_g` is the sum of
//! `w_i d_i` over them. A settled group stands for users whose shares `G_i` are fixed; its load is the sum of
//! `G_i d_i`. Users of one group run with the same split `ζ_g`, so loads simply add up.

use fairplan_instances::SolverError;

/// Which classes a kind of group can use, and how fast: one number a class, 0 where it cannot run.
pub(crate) type Rates = Vec<f64>;

/// The linear program of one level.
pub(crate) struct LevelProblem<'a> {
    /// Resources `m`.
    pub resources: usize,
    /// `c`, row-major `classes × resources`; a row may hold zeros.
    pub capacities: &'a [f64],
    /// `ρ` of each kind of group, every one with some class to run on.
    pub kinds: &'a [Rates],
    /// The groups, at least one of them rising.
    pub groups: &'a Groups,
}

/// The groups of a level problem, column by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// `a`, row-major `groups × resources`, every row with a positive entry.
    pub loads: Vec<f64>,
    /// Index into the kinds.
    pub kind: Vec<u32>,
    /// Whether the group rises with the level (otherwise it is settled).
    pub rising: Vec<bool>,
}

impl Groups {
    pub fn len(&self) -> usize {
        self.kind.len()
    }
}

impl LevelProblem<'_> {
    pub fn classes(&self) -> usize {
        self.capacities.len() / self.resources
    }

    pub fn load(&self, group: usize) -> &[f64] {
        &self.groups.loads[group * self.resources..(group + 1) * self.resources]
    }

    pub fn rates(&self, group: usize) -> &[f64] {
        &self.kinds[self.groups.kind[group] as usize]
    }
}

/// A solution of one level with its multipliers.
#[derive(Clone, Debug)]
pub(crate) struct LevelSolution {
    /// The level `t` reached.
    pub level: f64,
    /// `ζ`, row-major `groups × classes`.
    pub splits: Vec<f64>,
    /// Multipliers of the capacity rows, row-major `classes × resources`, >= 0.
    pub prices: Vec<f64>,
    /// For each group whether it cannot rise above this level (settled groups: true).
    pub frozen: Vec<bool>,
    /// Iterations spent.
    pub iterations: u64,
}

/// A way to solve level problems.
pub(crate) trait LevelSolver: Sync {
    /// Solves one level as exactly as the method can. A poor answer is caught by the certificate; an error is
    /// for a backend that broke.
    fn solve(&self, problem: &LevelProblem<'_>) -> Result<LevelSolution, SolverError>;
}
