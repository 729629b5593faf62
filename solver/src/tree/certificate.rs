//! What the stages prove: the bound of each level by its prices, over the users themselves and from what they have in the end.

use super::affordable::MOST_PIECES;
use super::filling::Piece;
use super::stages::{Raised, RaisedBy, Stages};
use crate::certificate::{drop_rounding_noise, prices_of_classes};
use crate::level::dot;
use crate::streaming::cheapest_costs;
use crate::sums::column;
use crate::tolerance::level::{KEPT, PIECE, STEP, TOLERANCE};
use fairplan_instances::{Allocation, Level, LimitedBy};
use std::borrow::Cow;

impl Stages<'_> {
    /// The levels with their bounds and prices, and whether all of them close.
    pub fn certify(&self, allocation: &Allocation) -> (Vec<Level>, bool) {
        let (users, instance) = (&self.reduction.users, self.question.instance);
        let (unit, of_tasks) = (self.units_of_users(), &self.of_tasks);
        let (level_of, limited_by) = (&self.level_of, &self.limited_by);
        let share = |i: usize| allocation.dominant_share(instance, users.user_id(i)) / unit[i];
        let (mut levels, mut closed) = (Vec::new(), true);
        let mut shares = Vec::new();
        for (stage, Raised { level, by }) in self.raised.iter().enumerate() {
            // Nobody is held before the first.
            let ceilings = if stage == 0 {
                Cow::Borrowed(of_tasks)
            } else {
                if shares.is_empty() {
                    shares = column(users.users(), share);
                }
                let holds = |i: usize| limited_by[i] == LimitedBy::Capacity && (level_of[i] as usize) < stage;
                let ceiling = |i: usize| if holds(i) { shares[i] } else { of_tasks[i] };
                Cow::Owned(column(users.users(), ceiling))
            };
            let raw = match by {
                RaisedBy::Prices(raw) => raw,
                RaisedBy::Limits(limits) => {
                    let proved = self.prove_by_limits(*level, &ceilings, limits);
                    closed &= closes(&proved);
                    levels.push(proved);
                    continue;
                }
            };
            let mut prices = raw.clone();
            drop_rounding_noise(&mut prices, &self.reduction.capacities);
            let first = self.first.as_ref().filter(|_| stage == 0 && !self.told.has_ceilings());
            let mut proved = self.prove(*level, &ceilings, &prices, first);
            if !closes(&proved) && prices != *raw {
                // What looks like rounding may be all that keeps users off a class that is next to nothing of the whole.
                proved = self.prove(*level, &ceilings, raw, first);
            }
            closed &= closes(&proved);
            levels.push(proved);
        }
        (levels, closed)
    }

    /// A level at which limits are met that are told from shares: their prices alone, as much for each.
    fn prove_by_limits(&self, value: f64, ceilings: &[f64], limits: &[usize]) -> Level {
        let (instance, reduction) = (self.question.instance, self.reduction);
        let mut costs = vec![0.0; ceilings.len()];
        limits.iter().flat_map(|place| self.told.takes(*place)).for_each(|(i, cost)| costs[i] += cost);
        let (bound, rising) = self.bound(value, ceilings, (&costs, limits.len() as f64), None);
        let mut limit_prices = vec![0.0; instance.limit_rows().len()];
        limits.iter().for_each(|place| self.told.price(instance, *place, 1.0 / rising, &mut limit_prices));
        let nothing = vec![0.0; reduction.capacities.len()];
        let prices = prices_of_classes(instance, &reduction.members, &nothing, 1.0);
        Level { value, bound, prices, limit_prices }
    }

    /// A level with the bound that these prices prove, given what users may have at most and, where it is at hand, the piece that the
    /// level is on.
    fn prove(&self, value: f64, ceilings: &[f64], prices: &[f64], on: Option<&Piece>) -> Level {
        let (instance, reduction) = (self.question.instance, self.reduction);
        let mut costs = vec![0.0; reduction.users.len()];
        cheapest_costs(&reduction.users, prices, &reduction.capacities, &mut costs);
        let costs = self.costs_of_shares(&costs);
        let worth = dot(prices, &reduction.capacities);
        let (bound, rising) = self.bound(value, ceilings, (&costs, worth), on);
        let limit_prices = reduction.users.limits.prices(instance, prices, 1.0 / rising);
        let prices = prices_of_classes(instance, &reduction.members, prices, 1.0 / rising);
        Level { value, bound, prices, limit_prices }
    }

    /// What these costs of shares prove of a level where all that costs is worth so much, and what one more of the level costs. The
    /// ceilings are those of [`Self::prove`].
    fn bound(
        &self,
        value: f64,
        ceilings: &[f64],
        (costs, worth): (&[f64], f64),
        on: Option<&Piece>,
    ) -> (f64, f64) {
        let here = on.filter(|piece| piece.is_at(value));
        let (bound, known) = match here.and_then(|piece| piece.affordable(costs, worth)) {
            Some(bound) => (bound, None),
            None => self.tree.affordable(&self.tree.sides(ceilings), costs, worth, value),
        };
        let bound = bound.max(value);
        let rising_on = |piece: &Piece| piece.cost(costs).1;
        let is_wide = |piece: &&Piece| !self.tree.has_floors() || piece.to > value * (1.0 + STEP);
        let known = known.filter(|piece| piece.is_at(value));
        // Where the parts of those at their floors begin to be more, nobody may have risen just before.
        let rising = match here.or(known.as_ref()).filter(is_wide) {
            Some(piece) => rising_on(piece),
            None if self.tree.has_floors() && value > 0.0 => self.rising_over_a_step(value, ceilings, costs),
            None => rising_on(&self.tree.at(value, ceilings)),
        };
        let rising = match rising {
            none if none == 0.0 && self.tree.has_floors() => {
                rising_on(&self.tree.at(value * (1.0 + 2.0 * PIECE), ceilings))
            }
            rising => rising,
        };
        let is_nothing = value == 0.0 && self.tree.has_floors() && bound * rising <= KEPT * worth;
        (if is_nothing { 0.0 } else { bound }, rising)
    }

    /// What one more of a level costs on average over the step by which the checker moves it: floors of many may end next to one another.
    fn rising_over_a_step(&self, value: f64, ceilings: &[f64], costs: &[f64]) -> f64 {
        let end = value * (1.0 + STEP);
        let (mut paid, mut from, mut slope) = (0.0, value, 0.0);
        for _ in 0..MOST_PIECES {
            if from >= end {
                break;
            }
            let here = self.tree.at(from, ceilings);
            let piece =
                if here.to > from { here } else { self.tree.at(from * (1.0 + 2.0 * PIECE), ceilings) };
            slope = piece.cost(costs).1;
            let to = if piece.to > from { piece.to } else { from * (1.0 + 4.0 * PIECE) };
            paid += slope * (to.min(end) - from);
            from = to;
        }
        (paid + slope * (end - from).max(0.0)) / (end - value)
    }
}

/// Whether the bound is as near as what is promised.
fn closes(level: &Level) -> bool {
    level.value == level.bound || 1.0 - level.value / level.bound <= TOLERANCE
}
