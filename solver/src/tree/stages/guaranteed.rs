//! Whether the servers hold all that is guaranteed together; if not, how much of it, and what stands against it.

use super::super::filling::Tree;
use super::Stages;
use super::highest::MOST_HALVES;
use crate::aggregation::{Solved, gives_up};
use crate::bins::{Amounts, Bins, NO_BIN};
use crate::certificate::prices_of_classes;
use crate::interior_point::InteriorPoint;
use crate::level::dot;
use crate::question::{Guaranteed, Question};
use crate::streaming::cheapest_costs;
use crate::sums::column;
use crate::tolerance::level::{ABOVE, KEPT, MISSING, TAKEN, TOLERANCE};
use fairplan_instances::{InstanceError, Shortfall, ShortfallProof, UserId, guaranteed_shares};

impl Stages<'_> {
    /// What everybody is guaranteed, in the objective's shares.
    fn floors(&self) -> Vec<f64> {
        let piece = self.tree.at(0.0, &self.ceilings);
        column(self.shares.len(), |i| piece.share(i, 0.0))
    }

    /// Whether all that is guaranteed fits the servers together.
    pub(super) fn keep_guarantees(&mut self) -> Result<(), InstanceError> {
        if !self.tree.has_floors() {
            return Ok(());
        }
        let floors = self.floors();
        if !floors.iter().any(|floor| *floor > 0.0) {
            return Ok(());
        }
        let mut costs = vec![0.0; self.reduction.users.len()];
        let (held, prices) = self.holds(&floors, &mut costs)?;
        let by_limit = self.told.least_part(&floors);
        let mut part = f64::INFINITY;
        if !held {
            cheapest_costs(&self.reduction.users, &prices, &self.reduction.capacities, &mut costs);
            costs = self.costs_of_shares(&costs);
            let paid: f64 = floors.iter().zip(&costs).map(|(floor, cost)| floor * cost).sum();
            part = dot(&prices, &self.reduction.capacities) / paid;
        }
        let (instance, reduction) = (self.question.instance, self.reduction);
        let nothing = vec![0.0; reduction.capacities.len()];
        let (part, prices, limit) = match by_limit {
            Some((less, place)) if less < part => (less, nothing, Some(place)),
            _ => (part, prices, None),
        };
        if part >= 1.0 - KEPT {
            return if held || part <= 1.0 + TOLERANCE { Ok(()) } else { Err(gives_up()) };
        }
        if let Some(place) = limit {
            costs = vec![0.0; floors.len()];
            self.told.takes(place).for_each(|(i, cost)| costs[i] = cost);
        }
        let paid: f64 = floors.iter().zip(&costs).map(|(floor, cost)| floor * cost).sum();
        let mut of_limits = reduction.users.limits.prices(instance, &prices, 1.0 / paid);
        if let Some(place) = limit {
            self.told.price(instance, place, 1.0 / paid, &mut of_limits);
        }
        let of_classes = prices_of_classes(instance, &reduction.members, &prices, 1.0 / paid);
        let mut of_users = vec![0.0; instance.user_count()];
        for (i, (floor, cost)) in floors.iter().zip(&costs).enumerate() {
            of_users[reduction.users.user_id(i).0] = floor * cost / paid;
        }
        let proof = ShortfallProof { part, prices: of_classes, limit_prices: of_limits };
        let Guaranteed { groups, solutions } = self.question.guaranteed();
        let objective = self.question.objective;
        let shortfall = Shortfall::new(instance, objective, proof, &of_users, solutions.clone(), groups);
        Err(InstanceError::Guarantees(Box::new(shortfall)))
    }
}

impl Stages<'_> {
    /// A share that the servers hold of all who rise beside the floors of the others, or one that prices rule out to be exceeded, with these; told
    /// apart from nothing, where all that rise would come to `all` with a share of one.
    fn room_beside(
        &mut self,
        floors: &[f64],
        rises: &[bool],
        all: f64,
    ) -> Result<(f64, Solved), InstanceError> {
        let mut costs = vec![0.0; self.reduction.users.len()];
        let (mut step, mut halves) = (ABOVE / all, 0);
        loop {
            let shares = column(floors.len(), |i| if rises[i] { step } else { floors[i] });
            let together = Amounts::new(self.in_dominant_shares(&shares), vec![true; self.unit.len()]);
            let solved = self.solve(&together, &mut costs)?;
            if solved.solution.level >= 1.0 - MISSING {
                return Ok((step, solved));
            }
            cheapest_costs(
                &self.reduction.users,
                &solved.solution.prices,
                &self.reduction.capacities,
                &mut costs,
            );
            let of_users = self.costs_of_shares(&costs);
            let paid: f64 = floors.iter().zip(&of_users).map(|(floor, cost)| floor * cost).sum();
            let rising: f64 =
                of_users.iter().zip(rises).filter(|(_, rises)| **rises).map(|(cost, _)| cost).sum();
            let worth = dot(&solved.solution.prices, &self.reduction.capacities);
            let most = ((worth - paid) / rising).max(0.0);
            if most * all <= KEPT || halves == MOST_HALVES {
                return Ok((most, solved));
            }
            step = 0.5 * most.min(step);
            halves += 1;
        }
    }
}

/// A user that can have nothing where all guarantees are kept, and those whose guarantees cost something where that is so, the dearest first.
pub(crate) struct LeftNothing {
    pub user: UserId,
    pub guaranteed: Vec<UserId>,
}

/// The first user that guarantees leave nothing, if any: where everybody has what it is guaranteed, all who are guaranteed nothing are to rise
/// together, and cannot.
pub(crate) fn left_nothing(question: &Question<'_>) -> Result<Option<LeftNothing>, InstanceError> {
    let (bins, solver) = (Bins::exact(question.reduction()), InteriorPoint(question.deadline.clone()));
    let mut stages = Stages::start(question, bins, &solver, f64::INFINITY)?;
    let users = &stages.reduction.users;
    let floors = stages.floors();
    let rises = column(floors.len(), |i| floors[i] == 0.0 && stages.of_tasks[i] > 0.0);
    let shares = column(floors.len(), |i| if rises[i] { 1.0 } else { floors[i] });
    let rising = column(users.len(), |line| rises[users.user_of(line)]);
    if !rising.contains(&true) || !floors.iter().any(|floor| *floor > 0.0) {
        return Ok(None);
    }
    let amounts = Amounts::new(stages.in_dominant_shares(&shares), rising);
    let mut costs = vec![0.0; users.len()];
    let mut solved = stages.solve(&amounts, &mut costs)?;
    let mut level = solved.solution.level;
    let counts = column(users.len(), |line| amounts.rising[line] && stages.bins.of[line] != NO_BIN);
    let lines = || (0..users.len()).filter(|line| counts[*line]);
    let all: f64 = lines().map(|line| amounts.amount[line]).sum();
    if level * all > KEPT && solved.missing() > TAKEN {
        // Who rises has taken it from those who are to keep what they are guaranteed.
        (level, solved) = stages.room_beside(&floors, &rises, all)?;
    }
    if level * all > KEPT {
        return Ok(None);
    }
    let is_held = |line: &usize| solved.solution.frozen[solved.grouping.group(stages.bins.of[*line], true)];
    let first = lines().find(is_held).or_else(|| lines().next());
    cheapest_costs(users, &solved.solution.prices, &stages.reduction.capacities, &mut costs);
    let costs = stages.costs_of_shares(&costs);
    let mut paying: Vec<(usize, f64)> =
        floors.iter().zip(&costs).map(|(floor, cost)| floor * cost).enumerate().collect();
    let all: f64 = paying.iter().map(|(_, paid)| paid).sum();
    paying.retain(|(_, paid)| *paid > KEPT * all);
    paying.sort_by(|one, other| other.1.total_cmp(&one.1));
    let guaranteed = paying.into_iter().map(|(i, _)| users.user_id(i)).collect();
    Ok(first.map(|line| LeftNothing { user: users.user_id(users.user_of(line)), guaranteed }))
}

/// The tree with what its users are guaranteed, counted as the objective counts shares; who can run nowhere is guaranteed nothing.
pub(super) fn above_guarantees(tree: Tree, question: &Question<'_>, of_tasks: &[f64]) -> Tree {
    let (instance, users) = (question.instance, &question.reduction().users);
    if !instance.has_guarantees() {
        return tree;
    }
    let shares = guaranteed_shares(instance, question.objective, &question.guaranteed().solutions);
    // What is nearly all is all.
    let floor = |i: usize| match shares[users.user_id(i).0] {
        _ if of_tasks[i] == 0.0 => 0.0,
        share if share >= of_tasks[i] * (1.0 - KEPT) => of_tasks[i],
        share => share,
    };
    let floors: Vec<f64> = (0..users.users()).map(floor).collect();
    tree.above_floors(&floors)
}
