//! How much of what is asked for whole tasks can have where they cannot have all: the largest part, rounded up to whole tasks, for which a
//! purchase was found on which all of them were placed. What divided tasks can have may be more, and is no answer.

use super::buy::BuyOptions;
use super::target::Asked;
use super::whole::{place, rounded_up};
use crate::Error;
use crate::tolerance::WHOLE;
use fairplan_instances::{
    Catalog, Deadline, Instance, Obstacle, Purchase, Solver, User, kinds_apart, pieces_of,
};
use fairplan_solver::Planner;

/// Parts that are tried, at most.
const TRIALS: usize = 16;

/// Who asks, and how what it takes is looked for.
pub(super) struct WholePart<'a> {
    pub asked: &'a Asked,
    pub catalog: &'a Catalog,
    pub options: &'a BuyOptions,
    pub solver: &'a dyn Solver,
    pub deadline: &'a Deadline,
}

impl WholePart<'_> {
    /// Says of what stands in the way how much would be enough. Divided tasks have no more than its part.
    pub fn tell(&self, obstacle: &mut Obstacle) -> Result<(), Error> {
        obstacle.own_part = None;
        let apart = kinds_apart(&self.asked.extended)?;
        let users = apart.as_ref().unwrap_or(&self.asked.extended);
        let (mut low, mut high) = (0.0, obstacle.part.min(1.0));
        let mut best = vec![0; self.catalog.types.len()];
        let mut tried = high;
        for _ in 0..TRIALS {
            let tasks = self.tasks(tried);
            match self.purchase(users, &tasks)? {
                Some(purchase) => (low, best) = (self.part_of(&tasks), purchase.counts),
                None => high = tried,
            }
            // Just above what is enough the next whole task is asked for.
            if low >= high || self.tasks(low * (1.0 + 2.0 * WHOLE)) == self.tasks(high) {
                break;
            }
            tried = 0.5 * (low + high);
        }
        (obstacle.part, obstacle.counts) = (low, best);
        Ok(())
    }

    /// The whole tasks that such a part of what is asked for is.
    fn tasks(&self, part: f64) -> Vec<f64> {
        let of = |(user, work): (User<'_>, &f64)| rounded_up(user, part * work);
        self.asked.extended.users().zip(&self.asked.required).map(of).collect()
    }

    /// The largest part for which no more tasks are needed.
    fn part_of(&self, tasks: &[f64]) -> f64 {
        let asking = self.asked.required.iter().zip(tasks).filter(|(work, _)| **work > 0.0);
        asking.map(|(work, tasks)| tasks / work).fold(1.0, f64::min)
    }

    /// What is bought for so many tasks; nothing where no purchase was found that is allowed and holds them.
    fn purchase(&self, users: &Instance, tasks: &[f64]) -> Result<Option<Purchase>, Error> {
        let Self { catalog, options, solver, deadline, .. } = *self;
        let pieces = pieces_of(&self.asked.extended, tasks);
        let planner = Planner::new(users, catalog, pieces.clone(), true, options.budget, solver)?;
        let place = &mut |variant: &Instance, order| place(variant, order, &pieces, deadline);
        let found = planner.within(deadline).cheapest_of_whole_tasks(place)?;
        Ok(found.ok().map(|(purchase, _)| purchase))
    }
}
