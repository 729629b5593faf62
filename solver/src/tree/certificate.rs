//! What the stages prove: the bound of each level by its prices, over the users themselves and from what they have in the end.

use super::stages::Stages;
use crate::certificate::prices_of_classes;
use crate::level::dot;
use crate::streaming::cheapest_costs;
use crate::sums::column;
use crate::tolerance::level::TOLERANCE;
use fairplan_instances::{Allocation, Level, LimitedBy, UserId};

impl Stages<'_> {
    /// The levels with their bounds and prices, and whether all of them close.
    pub fn certify(&self, allocation: &Allocation) -> (Vec<Level>, bool) {
        let (instance, reduction) = (self.question.instance, self.reduction);
        let users = &reduction.users;
        let (unit, of_tasks) = (&self.unit, &self.of_tasks);
        let (level_of, limited_by) = (&self.level_of, &self.limited_by);
        let share = |i: usize| allocation.dominant_share(instance, UserId(users.position(i))) / unit[i];
        let shares: Vec<f64> = column(users.len(), share);
        let mut costs = vec![0.0; users.len()];
        let (mut levels, mut closed) = (Vec::new(), true);
        for (stage, (level, prices)) in self.raised.iter().enumerate() {
            cheapest_costs(users, prices, &reduction.capacities, &mut costs);
            let costs = self.costs_of_shares(&costs);
            let holds = |i: usize| limited_by[i] == LimitedBy::Capacity && (level_of[i] as usize) < stage;
            let ceiling = |i: usize| if holds(i) { shares[i] } else { of_tasks[i] };
            let ceilings: Vec<f64> = column(users.len(), ceiling);
            let worth = dot(prices, &reduction.capacities);
            let bound = self.tree.affordable(&ceilings, &costs, worth, *level);
            closed &= 1.0 - level / bound <= TOLERANCE;
            let slopes = self.tree.at(*level, &ceilings).slope;
            let rising: f64 = slopes.iter().zip(&costs).map(|(slope, cost)| slope * cost).sum();
            let prices = prices_of_classes(instance, &reduction.members, prices, 1.0 / rising);
            levels.push(Level { value: *level, bound: bound.max(*level), prices });
        }
        (levels, closed)
    }
}
