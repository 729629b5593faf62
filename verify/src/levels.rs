//! One level's upper bound from its prices (DRFH eq. 7 by linear programming duality), rounded outward.
//!
//! With `c_i(p) = min over usable classes l of Σ_r D_ir p_lr / ρ_il`, the least that a unit of work can cost user
//! `i`, and `X_i = Σ_l ρ_il x_il` its work, every feasible allocation has `Σ_i c_i X_i <= Σ_lr C_lr p_lr`. Shares are
//! `G_i = δ_i X_i`, so `c_i = δ_i y_i` with the `y_i` of [`Level`]: prices need no division by `δ_i`, and
//! `bound = (C·p − Σ_F c_i X_i) / Σ_A c_i w_i/δ_i`. Where a task is a bundle of kinds, `c_i` is the sum of what each costs where
//! it is cheapest. Where a limit of tasks makes a user's cost convex in its work, a
//! tangent takes the place of `c_i X_i`: see `task_limits`.

use crate::claim::Tasks;
use crate::limit_rows::LimitPrices;
use crate::parts::in_parts;
use crate::prices::{capacity_value, cost_of_work, distinct_columns, usable_prices};
use crate::rounding::{Sum, at_least_nothing, down, up};
use crate::task_limits::{has_task_row, tangent};
use crate::tolerance::{CLEARLY, FREEZING, HIDDEN, ROUNDED, surely};
use crate::users::{Subject, UsableClasses};
use fairplan_instances::{Instance, Level, LimitedBy, ResourceId, User, UserId};
use std::ops::Range;

/// What is claimed of the levels and of the users on them.
#[derive(Clone, Copy)]
pub(crate) struct Levels<'a> {
    pub levels: &'a [Level],
    pub level_of: &'a [u32],
    pub limited_by: &'a [LimitedBy],
    pub tasks: &'a Tasks<'a>,
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
    /// The largest gain that the prices leave open to a user whom capacity freezes here, in parts of its [`measure`](UserShares::measure), and that
    /// user.
    pub gain: Option<(f64, usize)>,
    /// For each user whose tasks run out above this level, and not all on its fastest classes, the largest gain that
    /// the prices leave open to it, in parts of what it has.
    pub gains_by_moving: Vec<(usize, f64)>,
}

impl LevelProof {
    /// How far the bound is above what is achieved, relative to the bound.
    pub fn relative_gap(&self) -> f64 {
        relative_gap(self.achieved, self.bound)
    }
}

/// `1 − lower/upper`, 0 when both are the same and finite, rounded up.
pub(crate) fn relative_gap(lower: f64, upper: f64) -> f64 {
    if lower == upper && upper.is_finite() { 0.0 } else { up(1.0 - down(lower / upper)).clamp(0.0, 1.0) }
}

/// Evaluates level `k` of a claim. Prices must be finite and >= 0.
pub(crate) fn prove_level(
    Subject { instance, usable_classes, shares }: Subject<'_>,
    Levels { levels, level_of, limited_by, .. }: Levels<'_>,
    k: usize,
) -> LevelProof {
    let level = &levels[k];
    let prices = LevelPrices::of(instance, usable_classes, level);
    let worth = capacity_value(instance, &prices.prices);
    let rounded = ROUNDED * worth;
    let part = |users: Range<usize>| {
        let mut part = Part::new();
        for i in users.filter(|&i| limited_by[i] != LimitedBy::NoUsableClass) {
            let user = instance.user(UserId(i));
            let (freezes_at, by_tasks) = (level_of[i] as usize, limited_by[i] == LimitedBy::Tasks);
            if freezes_at < k || freezes_at == k && by_tasks {
                let line = prices.line(user, usable_classes, shares[i].work);
                part.frozen.add(down(line.slope * shares[i].work));
                part.lent.add(line.intercept);
                part.none_frozen = false;
                continue;
            }
            let line = prices.line(
                user,
                usable_classes,
                level.value * Level::TANGENTS_AT * shares[i].work_per_level,
            );
            let weighted_price = down(line.slope * shares[i].work_per_level);
            part.active.add(weighted_price);
            part.lent.add(line.intercept);
            part.achieved = part.achieved.min(shares[i].weighted);
            part.freezes |= freezes_at == k;
            // Once more of what a user's gains are measured by has this price.
            let again = |slope: f64| down(slope * shares[i].measure());
            if freezes_at == k && !shares[i].nearly_all_tasks() {
                let price = again(line.slope);
                // Of the others rounding is a gain that is let pass anyway.
                let is_tiny = price * FREEZING < rounded && shares[i].share <= HIDDEN;
                let by = usize::from(is_tiny && prices.hold_clearly(user, usable_classes));
                part.cheapest_gain[by] = cheaper(part.cheapest_gain[by], Some((price, i)));
            }
            if by_tasks && !shares[i].nearly_all_tasks() {
                let own = prices.line(user, usable_classes, shares[i].work * Level::TANGENTS_AT);
                let price = again(own.slope);
                let paid = down(down(own.slope * shares[i].work) - own.intercept);
                part.moves.push(Move { user: i, price, paid, weighted_price, lent: line.intercept });
            }
        }
        part
    };
    let Part { frozen, active, lent, none_frozen, freezes, achieved, cheapest_gain, moves } =
        in_parts(instance.user_count(), part).into_iter().fold(Part::new(), Part::and);

    let left = up(up(worth + lent.above()) - frozen.below());
    let scale = active.below();
    let bound = if scale == 0.0 { f64::INFINITY } else { up(at_least_nothing(left) / scale) };
    // What C·p leaves for one user's gain when all others keep min(own share, w · achieved).
    let slack = at_least_nothing(up(left - down(achieved * scale).min(f64::MAX)));
    let gain = largest_gain(cheapest_gain, slack, rounded);
    let gains_by_moving = moves.iter().map(|by| (by.user, by.gain(slack, achieved))).collect();
    LevelProof { bound, achieved, scale, none_frozen, freezes, gain, gains_by_moving }
}

/// A lower bound on what work costs one user: `slope` a unit of work, less `intercept`.
struct Line {
    slope: f64,
    intercept: f64,
}

/// The prices of a level, and what follows from them for all users of one usable.
pub(crate) struct LevelPrices {
    /// Row-major `classes × resources`.
    prices: Vec<f64>,
    /// For each usable its different price vectors per unit of work.
    columns: Vec<Vec<f64>>,
    /// Those of the limits, where there are any.
    limits: Option<LimitPrices>,
    /// What is left of a cost for certain after its roundings.
    surely: f64,
    /// Which prices are clear, row-major `classes × resources`.
    clear: Vec<bool>,
}

impl LevelPrices {
    pub fn of(instance: &Instance, usable_classes: &UsableClasses, level: &Level) -> Self {
        let m = instance.resources().len();
        let prices = usable_prices(&level.prices);
        let for_all = |(position, price): (usize, &f64)| price * instance.measure(ResourceId(position % m));
        let for_all: Vec<f64> = prices.iter().enumerate().map(for_all).collect();
        let highest = for_all.iter().copied().fold(0.0, f64::max);
        Self {
            clear: for_all.iter().map(|price| *price > 0.0 && *price >= CLEARLY * highest).collect(),
            columns: usable_classes
                .distinct()
                .iter()
                .map(|usable| distinct_columns(usable, &prices, m))
                .collect(),
            prices,
            limits: LimitPrices::of(&level.limit_prices),
            // Demand, price over rate, m products and their sum: fewer than m + 4 roundings of half a step each.
            surely: surely(m),
        }
    }

    /// What all capacity and all limits are worth, rounded up.
    pub fn worth(&self, instance: &Instance) -> f64 {
        let capacity = capacity_value(instance, &self.prices);
        self.limits.as_ref().map_or(capacity, |limits| up(capacity + limits.worth(instance)))
    }

    /// Whether one of the user's kinds needs something that is clearly priced wherever it can run.
    pub fn hold_clearly(&self, user: User<'_>, usable_classes: &UsableClasses) -> bool {
        usable_classes.kinds(user).any(|kind| {
            let demand = usable_classes.demand_doubles(user, kind);
            let priced = |class: usize| {
                let row = &self.clear[class * demand.len()..(class + 1) * demand.len()];
                row.iter().zip(demand).any(|(clear, demand)| *clear && *demand > 0.0)
            };
            usable_classes.of_kind(kind).classes.iter().all(|class| priced(*class))
        })
    }

    /// What a unit of work costs a user at least, whatever its tasks.
    pub fn slope(&self, user: User<'_>, usable_classes: &UsableClasses) -> f64 {
        if let Some(limits) = &self.limits {
            let (cost, roundings) = limits.cheapest(user, usable_classes, &self.prices);
            return down(cost.min(f64::MAX) * surely(user.instance().resources().len() + roundings));
        }
        cost_of_work(user, usable_classes, &self.columns, self.surely)
    }

    /// The best line for this much work.
    fn line(&self, user: User<'_>, usable_classes: &UsableClasses, work: f64) -> Line {
        let usable = usable_classes.of_user(user.index().0);
        if has_task_row(user, usable) {
            let limit = user.tasks().unwrap_or(0) as f64;
            let tangent = tangent(user, usable, &self.prices, work / limit, self.surely);
            return Line { slope: tangent.slope, intercept: up(tangent.intercept * limit) };
        }
        Line { slope: self.slope(user, usable_classes), intercept: 0.0 }
    }
}

/// A user whose tasks run out above a level, and could do more work on other classes.
struct Move {
    user: usize,
    /// What having everything once more would cost the user, at least.
    price: f64,
    /// What its work costs, at least.
    paid: f64,
    /// What the level's proof has counted instead: this much a level, less `lent`.
    weighted_price: f64,
    lent: f64,
}

impl Move {
    /// The largest gain, in parts of what the user has, that is not ruled out when all others keep `min(own share, w · achieved)`.
    fn gain(&self, slack: f64, achieved: f64) -> f64 {
        let counted = up(up(self.weighted_price * achieved) - self.lent);
        up(at_least_nothing(up(slack + up(counted - self.paid))) / self.price)
    }
}

/// What some of the users say about a level.
struct Part {
    /// `Σ_F c_i X_i`.
    frozen: Sum,
    /// `Σ_A c_i w_i/δ_i`.
    active: Sum,
    /// `Σ z_i T_i`, what the intercepts of all these users add to `C·p`.
    lent: Sum,
    none_frozen: bool,
    freezes: bool,
    achieved: f64,
    /// The least that everything once more would cost a user that capacity freezes here, and that user; and the same of tiny users
    /// that need what is clearly priced.
    cheapest_gain: [Option<(f64, usize)>; 2],
    moves: Vec<Move>,
}

impl Part {
    fn new() -> Self {
        Self {
            frozen: Sum::new(),
            active: Sum::new(),
            lent: Sum::new(),
            none_frozen: true,
            freezes: false,
            achieved: f64::INFINITY,
            cheapest_gain: [None; 2],
            moves: Vec::new(),
        }
    }

    /// This part and the one after it.
    fn and(mut self, later: Self) -> Self {
        self.frozen.merge(&later.frozen);
        self.active.merge(&later.active);
        self.lent.merge(&later.lent);
        self.moves.extend(later.moves);
        self.none_frozen &= later.none_frozen;
        self.freezes |= later.freezes;
        self.achieved = self.achieved.min(later.achieved);
        for (gain, later) in self.cheapest_gain.iter_mut().zip(later.cheapest_gain) {
            *gain = cheaper(*gain, later);
        }
        self
    }
}

/// The largest gain that `slack` leaves to anybody, and whose it is: of those that clear prices hold only where slack is more than
/// rounding.
fn largest_gain(
    [held, held_clearly]: [Option<(f64, usize)>; 2],
    slack: f64,
    rounded: f64,
) -> Option<(f64, usize)> {
    let least = if slack <= rounded { held } else { cheaper(held, held_clearly) };
    least.map(|(price, i)| (up(slack / price), i))
}

/// The gain that costs less, with its user; the first of two that cost the same.
fn cheaper(one: Option<(f64, usize)>, other: Option<(f64, usize)>) -> Option<(f64, usize)> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.0 < one.0 { other } else { one }),
        _ => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_held_by_clear_prices_may_gain_what_is_just_rounding_and_no_more() {
        let users = [Some((1e-3, 0)), Some((1e-13, 1))];
        assert_eq!(largest_gain(users, 0.99 * ROUNDED, ROUNDED).map(|(_, user)| user), Some(0));
        assert_eq!(largest_gain(users, 1.01 * ROUNDED, ROUNDED).map(|(_, user)| user), Some(1));
        assert_eq!(largest_gain([users[0], None], 1.0, ROUNDED).map(|(_, user)| user), Some(0));
    }

    #[test]
    fn a_price_is_clear_just_above_its_part_of_the_highest_and_not_just_below() {
        let instance = fairplan_instances::generate::drfh_fig1().unwrap();
        let usable_classes = UsableClasses::of(&instance);
        let holds = |second: f64| {
            let cpu = ResourceId(0);
            let price = 1.0 / instance.measure(cpu);
            let prices = vec![price, 0.0, second * price, 0.0];
            let level = Level { value: 1.0, bound: 1.0, prices, limit_prices: Vec::new() };
            let prices = LevelPrices::of(&instance, &usable_classes, &level);
            prices.hold_clearly(instance.user(UserId(0)), &usable_classes)
        };
        assert!(holds(1.01 * CLEARLY) && !holds(0.99 * CLEARLY) && !holds(0.0));
    }
}
