//! What a solver returns: the allocation, the multipliers that prove it, and how it came about.

use crate::tolerance::TANGENT;
use crate::{Allocation, ExactSolution, Objective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why the solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The certificate closes: no level can be raised by more than 1e-9 of its value, or a sum by more than 1e-9 of
    /// what it would gain, to first order, if all shares doubled (of the sum of all weights for `pf`).
    Optimal,
    /// A valid allocation and a valid bound, but the gap between them is wider.
    Uncertified,
}

impl Status {
    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Uncertified => "uncertified",
        }
    }
}

/// What keeps a user from more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// Capacity: more for this user would mean less for one that has no larger weighted share.
    Capacity,
    /// All tasks of the user run; where they would do more work on other classes, those have no room for them.
    Tasks,
    /// A limit of its own or of a group that it is in: wherever it can run, some limit above it is used up.
    Limit,
    /// No class that the user may run on has every resource that its tasks need.
    NoUsableClass,
}

impl LimitedBy {
    /// All of them, in the order in which they are declared.
    pub const ALL: [Self; 4] = [Self::Capacity, Self::Tasks, Self::Limit, Self::NoUsableClass];

    /// Whether prices hold the user: those of capacity, or of limits.
    pub fn is_by_prices(self) -> bool {
        matches!(self, Self::Capacity | Self::Limit)
    }

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Tasks => "tasks",
            Self::Limit => "limit",
            Self::NoUsableClass => "no-usable-class",
        }
    }

    /// What holds two: capacity if it holds one, then a limit, no usable class only if it holds both.
    pub fn hardest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let rank = |reason: &Self| match reason {
            Self::Capacity => 3,
            Self::Limit => 2,
            Self::Tasks => 1,
            Self::NoUsableClass => 0,
        };
        one.into_iter().chain(other).max_by_key(rank)
    }

    /// The words for it.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Tasks => "its tasks",
            Self::Limit => "a limit",
            Self::NoUsableClass => "no usable class",
        }
    }
}

/// The proof of a solution.
#[derive(Clone, Debug, PartialEq)]
pub enum Certificate {
    /// Of a lexicographic max-min: prices for every level.
    Levels {
        /// The capacity levels, rising. Empty when every user has all its tasks or no usable class.
        levels: Vec<Level>,
        /// For each user the first level whose value it does not exceed by more than its tasks allow: the level at
        /// which it is frozen (`levels.len()` for users that no level reaches, whom their tasks limit).
        level_of: Vec<u32>,
    },
    /// Of a sum over the users: one set of prices.
    Total(Total),
    /// Of an allocation that is defined by what holds each user: the definition itself. Under bottleneck max fairness
    /// every user has the largest weighted share of some resource that is used up (MRF Sec. 2.4). Under dominant
    /// resource fairness inside each server, every user has in each server that it can use the largest weighted
    /// dominant share, of that server, among those that need some resource that is used up there.
    Bottlenecks,
}

impl Certificate {
    /// The levels, where there are any.
    pub fn levels(&self) -> &[Level] {
        match self {
            Self::Levels { levels, .. } => levels,
            Self::Total(_) | Self::Bottlenecks => &[],
        }
    }

    /// The level at which each user is frozen, where there are levels.
    pub fn level_of(&self) -> Option<&[u32]> {
        match self {
            Self::Levels { level_of, .. } => Some(level_of),
            Self::Total(_) | Self::Bottlenecks => None,
        }
    }

    /// The prices of every level, or those of the sum, row-major `classes × resources` each. Where all servers are one,
    /// every class has the prices of the pool.
    pub fn prices(&self) -> Vec<&[f64]> {
        match self {
            Self::Levels { levels, .. } => levels.iter().map(|level| level.prices.as_slice()).collect(),
            Self::Total(total) => vec![&total.prices],
            Self::Bottlenecks => Vec::new(),
        }
    }

    /// The prices of limits beside [the first](Self::prices); empty where there are none.
    pub fn first_limit_prices(&self) -> &[f64] {
        match self {
            Self::Levels { levels, .. } => levels.first().map_or(&[], |level| &level.limit_prices),
            Self::Total(total) => &total.limit_prices,
            Self::Bottlenecks => &[],
        }
    }
}

/// One level of the lexicographic max-min with its proof.
///
/// With `y_i = π_i(p) = min over usable classes l of Σ_r d_ir p_lr / ρ_il`, where `d_ir = D_ir / δ_i`:
/// `value <= (Σ_lr C_lr p_lr − Σ_F y_i G_i) / Σ_A w_i y_i`, for any prices `p >= 0`. `A` are the users of this
/// level or a later one that are limited by capacity, or by tasks that last beyond this level; `F` are the
/// others with a usable class. (DRFH eq. 7 by linear programming duality.)
///
/// Where a user's tasks are limited and do different work on different classes, its row `Σ_l x_il <= T_i` has a
/// multiplier `z_i >= 0` too: `y_i = min over usable classes of (Σ_r d_ir p_lr + z_i) / ρ_il`, and
/// `Σ z_i δ_i T_i` over the users of `A` and of `F` is added to `Σ_lr C_lr p_lr`. The best `z_i` for these prices follow
/// from them: a share costs the user a convex function of the share, whose tangent has slope `y_i` and meets 0 at
/// `−z_i δ_i T_i`. The tangents are taken at the user's share (`F`) and just above the level (`A`), at
/// [`Level::TANGENTS_AT`] times its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The weighted dominant share of the users that capacity limits at this level.
    pub value: f64,
    /// The upper bound that the prices prove.
    pub bound: f64,
    /// Multipliers of the capacity rows, row-major `classes × resources`, >= 0: the increase of `value` per
    /// unit of that resource in that class, dominant shares still measured against today's totals.
    pub prices: Vec<f64>,
    /// Multipliers of the limits, one for each of [`Instance::limit_rows`](crate::Instance::limit_rows), >= 0: the increase of `value` per unit of that
    /// limit. Users below a limit pay it for what they take on the classes that it covers, and its amount at its price
    /// is worth as much as capacity is.
    pub limit_prices: Vec<f64>,
}

impl Level {
    /// Where the tangents of users in `A` are taken, in parts of the level's value: above a kink that is at the level
    /// but for rounding, so that prices count what the next bit of share costs.
    pub const TANGENTS_AT: f64 = 1.0 + TANGENT;
}

/// The value of a sum `Σ w_i U(G_i)` over the users that can have more than nothing, with its proof. `U` is `ln`, or
/// `G^(1−A) / (1−A)` for alpha-fairness.
///
/// For any prices `p >= 0` and multipliers `λ_i >= 0` of the tasks (0 without a limit), with
/// `y_i = min over usable classes l of (Σ_r d_ir p_lr + λ_i) / ρ_il` and `τ_i = δ_i T_i`: no allocation has more than
/// `Σ_lr C_lr p_lr + Σ_i λ_i τ_i + Σ_i max_G (w_i U(G) − y_i G)`. (Lagrangian duality.) Limits are rows as capacities are, and who is
/// guaranteed a share has no less in the last sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// `Σ w_i U(G_i)`, in units of `10^exponent`.
    pub value: f64,
    /// The upper bound that the prices prove, in units of `10^exponent`.
    pub bound: f64,
    /// How far the bound is above the value, in parts of `Σ w_i G_i U'(G_i)`: what the value would gain, to first
    /// order, if all shares grew by that part of themselves.
    pub relative_gap: f64,
    /// Multipliers of the capacity rows, row-major `classes × resources`, >= 0: the increase of the value per unit
    /// of that resource in that class, dominant shares still measured against today's totals; in units of
    /// `10^price_exponent`.
    pub prices: Vec<f64>,
    /// Multipliers of the limits, one for each of [`Instance::limit_rows`](crate::Instance::limit_rows), >= 0, in the same units: as
    /// [`Level::limit_prices`] are those of a level.
    pub limit_prices: Vec<f64>,
    /// 0, unless the value would be beyond what a double holds.
    pub exponent: i32,
    /// The same as `exponent`, unless some prices would be too small for a double beside the value: where somebody adds nearly all of it who
    /// has little and needs no price to be held, because all its tasks run.
    pub price_exponent: i32,
}

/// How a solution came about. Nothing here decides what the solution is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Wall-clock seconds from instance to certified solution.
    pub seconds: f64,
    /// Iterations of the innermost method, over all levels and rounds.
    pub iterations: u64,
    /// Users in the last problem solved, after merging those that can share a split.
    pub users_merged: usize,
    /// Server classes in the last problem solved, after merging those with proportional capacities.
    pub classes_merged: usize,
    /// Rounds of adaptive aggregation, over all levels.
    pub rounds: u64,
}

/// A solved instance. Everything is in the instance's own order and units.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Which allocation was asked for.
    pub objective: Objective,
    /// Which backend was asked for.
    pub backend: &'static str,
    /// What that backend did in the end (`aggregation`, `interior-point`, `price-discovery`, `simplex`, `highs-interior-point`,
    /// `progressive-filling`, `exact-simplex`, `bottleneck-sort`, `bottleneck-path`).
    pub method: &'static str,
    /// Why it stopped.
    pub status: Status,
    /// Tasks per user and class; feasible in exact arithmetic.
    pub allocation: Allocation,
    /// What proves that no allocation is better.
    pub certificate: Certificate,
    /// For each user what limits it.
    pub limited_by: Vec<LimitedBy>,
    /// How it came about.
    pub statistics: Statistics,
    /// The fractions that its numbers are next to, where they are known: then these are what is proved.
    pub exact: Option<Box<ExactSolution>>,
    /// What groups are guaranteed: the divisions of [`Instance::guaranteed_groups`](crate::Instance::guaranteed_groups), in that order.
    pub guaranteed: Vec<Self>,
}
