//! One level's upper bound from its prices (DRFH eq. 7 by linear programming duality), rounded outward.
//!
//! With `c_i(p) = min over usable classes l of Σ_r D_ir p_lr / ρ_il`, the least that a unit of work can cost user
//! `i`, and `X_i = Σ_l ρ_il x_il` its work, every feasible allocation has `Σ_i c_i X_i <= Σ_lr C_lr p_lr`. Shares are
//! `G_i = δ_i X_i`, so `c_i = δ_i y_i` with the `y_i` of [`Level`]: prices need no division by `δ_i`, and
//! `bound = (C·p − Σ_F c_i X_i) / Σ_A c_i w_i/δ_i`.

use crate::parts::in_parts;
use crate::rounding::{Sum, decimal_up, down, up};
use crate::users::{Reach, Reaches, Shares};
use fairplan_instances::{Instance, Level, LimitedBy, UserId};
use std::collections::HashSet;
use std::ops::Range;

/// Prices below this count as 0 (any price may be lowered), which keeps every product clear of underflow.
const LEAST_PRICE: f64 = 1e-200;

/// What is claimed of the levels and of the users on them.
#[derive(Clone, Copy)]
pub(crate) struct Levels<'a> {
    pub levels: &'a [Level],
    pub level_of: &'a [u32],
    pub limited_by: &'a [LimitedBy],
}

/// What one level's prices prove.
pub(crate) struct LevelProof {
    /// Upper bound on the smallest weighted share of the level's active users, the frozen ones keeping theirs.
    pub bound: f64,
    /// The smallest weighted share they have, at least; infinite when there are none.
    pub achieved: f64,
    /// `Σ_A w_i y_i`: 1 when prices are the derivative of the level's value.
    pub scale: f64,
    /// Whether no user is frozen below or at this level, so that the bound holds for the smallest share of all.
    pub none_frozen: bool,
    /// Whether capacity freezes any user at this level.
    pub freezes: bool,
    /// The largest gain that the prices leave open to a user whom capacity freezes here, and that user.
    pub gain: Option<(f64, usize)>,
}

impl LevelProof {
    /// How far the bound is above what is achieved, relative to the bound.
    pub fn relative_gap(&self) -> f64 {
        relative_gap(self.achieved, self.bound)
    }
}

/// `1 − lower/upper`, 0 when both are 0, rounded up.
pub(crate) fn relative_gap(lower: f64, upper: f64) -> f64 {
    if lower == upper { 0.0 } else { up(1.0 - down(lower / upper)).clamp(0.0, 1.0) }
}

/// Evaluates level `k` of a claim. Prices must be finite and >= 0.
pub(crate) fn prove_level(
    instance: &Instance,
    reaches: &Reaches,
    shares: &Shares,
    Levels { levels, level_of, limited_by }: Levels<'_>,
    k: usize,
) -> LevelProof {
    let m = instance.resources().len();
    let prices: Vec<f64> =
        levels[k].prices.iter().map(|price| if *price < LEAST_PRICE { 0.0 } else { *price }).collect();
    let columns: Vec<Vec<f64>> =
        reaches.distinct().iter().map(|reach| distinct_columns(reach, &prices, m)).collect();
    // Demand, price over rate, m products and their sum: fewer than m + 4 roundings of half a step each.
    let surely = 1.0 - (m + 4) as f64 * f64::EPSILON;

    let part = |users: Range<usize>| {
        let mut part = Part::new();
        for i in users.filter(|&i| limited_by[i] != LimitedBy::NoUsableClass) {
            let user = instance.user(UserId(i));
            let cost = cheapest(user.demand_doubles(), &columns[reaches.position(i)]);
            let cost = down(cost.min(f64::MAX) * surely);
            let (freezes_at, by_tasks) = (level_of[i] as usize, limited_by[i] == LimitedBy::Tasks);
            if freezes_at < k || freezes_at == k && by_tasks {
                part.frozen.add(down(cost * shares.work[i]));
                part.none_frozen = false;
                continue;
            }
            let weighted_price = down(cost * shares.work_per_level[i]);
            part.active.add(weighted_price);
            part.achieved = part.achieved.min(shares.weighted[i]);
            part.freezes |= freezes_at == k;
            if freezes_at == k && !shares.nearly_all_tasks(user) {
                // A gain counts as a part of the pool, or of the user's own share where rates lift that above 1.
                let price = down(weighted_price / decimal_up(user.weight())) * shares.share[i].max(1.0);
                if part.cheapest_gain.is_none_or(|(least, _)| price < least) {
                    part.cheapest_gain = Some((price, i));
                }
            }
        }
        part
    };
    let Part { frozen, active, none_frozen, freezes, achieved, cheapest_gain } =
        in_parts(instance.user_count(), part).into_iter().fold(Part::new(), Part::and);

    let left = up(capacity_value(instance, &prices) - frozen.below());
    let scale = active.below();
    let bound = if scale == 0.0 { f64::INFINITY } else { up(left.max(0.0) / scale) };
    // What C·p leaves for one user's gain when all others keep min(own share, w · achieved).
    let slack = up(left - down(achieved * scale)).max(0.0);
    let gain = cheapest_gain.map(|(price, i)| (up(slack / price), i));
    LevelProof { bound, achieved, scale, none_frozen, freezes, gain }
}

/// What some of the users say about a level.
struct Part {
    /// `Σ_F c_i X_i`.
    frozen: Sum,
    /// `Σ_A c_i w_i/δ_i`.
    active: Sum,
    none_frozen: bool,
    freezes: bool,
    achieved: f64,
    /// The least price of a gain to a user that capacity freezes here, and that user.
    cheapest_gain: Option<(f64, usize)>,
}

impl Part {
    fn new() -> Self {
        Self {
            frozen: Sum::new(),
            active: Sum::new(),
            none_frozen: true,
            freezes: false,
            achieved: f64::INFINITY,
            cheapest_gain: None,
        }
    }

    /// This part and the one after it.
    fn and(mut self, later: Self) -> Self {
        self.frozen.merge(&later.frozen);
        self.active.merge(&later.active);
        self.none_frozen &= later.none_frozen;
        self.freezes |= later.freezes;
        self.achieved = self.achieved.min(later.achieved);
        let least = self.cheapest_gain.map_or(f64::INFINITY, |(price, _)| price);
        if let Some((price, user)) = later.cheapest_gain
            && (self.cheapest_gain.is_none() || price < least)
        {
            self.cheapest_gain = Some((price, user));
        }
        self
    }
}

/// The different price vectors of the classes that users with this reach can use, per unit of work.
fn distinct_columns(reach: &Reach, prices: &[f64], m: usize) -> Vec<f64> {
    let mut seen = HashSet::new();
    let mut columns = Vec::new();
    for &class in &reach.classes {
        let rate = reach.rate(class).to_f64();
        let per_work = |price: &f64| (price / rate).min(f64::MAX);
        let column: Vec<f64> = prices[class * m..(class + 1) * m].iter().map(per_work).collect();
        if seen.insert(column.iter().map(|price| price.to_bits()).collect::<Vec<_>>()) {
            columns.extend(column);
        }
    }
    columns
}

/// `min over columns of demand · column`, in plain doubles.
fn cheapest(demand: &[f64], columns: &[f64]) -> f64 {
    columns
        .chunks_exact(demand.len())
        .map(|column| demand.iter().zip(column).map(|(demand, price)| demand * price).sum::<f64>())
        .fold(f64::INFINITY, f64::min)
}

/// `Σ_lr C_lr p_lr`, at least.
fn capacity_value(instance: &Instance, prices: &[f64]) -> f64 {
    let mut sum = Sum::new();
    for (class, prices) in instance.classes().iter().zip(prices.chunks(instance.resources().len())) {
        for (capacity, price) in class.capacity.iter().zip(prices) {
            if *price > 0.0 && !capacity.is_zero() && class.count > 0 {
                // A count is below 2^53, so it is a double. Overflow: no bound.
                let value = up(up(decimal_up(*capacity) * price) * class.count as f64);
                if value.is_infinite() {
                    return value;
                }
                sum.add(value);
            }
        }
    }
    sum.above()
}
