//! The users of an instance row by row, each with its own rates: what a pass at given prices reads.

use crate::merged_classes::MergedClasses;
use crate::population::CHUNK;
use crate::smooth::consumer::Consumer;
use crate::smooth::utility::Utility;
use fairplan_instances::{ClassId, FEW_USERS, Instance, ResourceId, User, UserId};
use rayon::prelude::*;

/// Users and classes in the terms of [`crate::reduction::Reduction`], in the order of the instance.
pub(super) struct Users {
    pub resources: usize,
    pub classes: MergedClasses,
    /// `users × classes`: work of a task on each merged class, 0 where the user cannot run.
    rates: Vec<f64>,
    /// `users × resources`, the largest entry of each row 1.
    directions: Vec<f64>,
    weights: Option<Vec<f64>>,
    tasks: Option<Vec<f64>>,
}

impl Users {
    pub fn new(instance: &Instance) -> Self {
        let (n, m) = (instance.user_count(), instance.resources().len());
        let classes = MergedClasses::new(instance, false);
        let k = classes.members.len();
        let measures: Vec<f64> = (0..m).map(|r| instance.measure(ResourceId(r))).collect();
        let view = |i: usize| instance.user(UserId(i));
        let (mut rates, mut directions) = (vec![0.0; n * k], vec![0.0; n * m]);
        let pieces = rates.par_chunks_mut(CHUNK * k).zip(directions.par_chunks_mut(CHUNK * m)).enumerate();
        pieces.for_each(|(chunk, (rates, directions))| {
            let rows = rates.chunks_mut(k).zip(directions.chunks_mut(m)).enumerate();
            for (offset, (rates, direction)) in rows {
                let user = view(chunk * CHUNK + offset);
                let share = user.task_share();
                for ((part, demand), measure) in
                    direction.iter_mut().zip(user.demand_doubles()).zip(&measures)
                {
                    *part = if *demand > 0.0 { demand / measure / share } else { 0.0 };
                }
                set_rates(user, &classes, direction, rates);
            }
        });
        let weights = instance.is_weighted().then(|| {
            (0..n).into_par_iter().with_min_len(FEW_USERS).map(|i| view(i).weight().to_f64()).collect()
        });
        let tasks =
            |user: User<'_>| user.tasks().map_or(f64::INFINITY, |tasks| user.task_share() * tasks as f64);
        let tasks = instance
            .users()
            .any(|user| user.tasks().is_some())
            .then(|| (0..n).into_par_iter().with_min_len(FEW_USERS).map(|i| tasks(view(i))).collect());
        Self { resources: m, classes, rates, directions, weights, tasks }
    }

    pub fn len(&self) -> usize {
        self.directions.len() / self.resources
    }

    /// Merged classes.
    pub fn class_count(&self) -> usize {
        self.classes.members.len()
    }

    pub fn direction(&self, i: usize) -> &[f64] {
        &self.directions[i * self.resources..(i + 1) * self.resources]
    }

    pub fn rates(&self, i: usize) -> &[f64] {
        let k = self.class_count();
        &self.rates[i * k..(i + 1) * k]
    }

    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    pub fn tasks(&self, i: usize) -> f64 {
        self.tasks.as_ref().map_or(f64::INFINITY, |tasks| tasks[i])
    }

    /// Where a user stands at these prices; `None` if it can have nothing whatever they are.
    pub fn consumer<'a>(
        &'a self,
        i: usize,
        utility: Utility,
        prices: &[f64],
        costs: &'a mut [f64],
    ) -> Option<Consumer<'a>> {
        let (rates, tasks) = (self.rates(i), self.tasks(i));
        if tasks == 0.0 || rates.iter().all(|rate| *rate == 0.0) {
            return None;
        }
        let direction = self.direction(i);
        for (cost, prices) in costs.iter_mut().zip(prices.chunks_exact(self.resources)) {
            *cost = prices.iter().zip(direction).map(|(price, part)| price * part).sum();
        }
        Some(Consumer { utility, weight: self.weight(i), tasks, rates, costs })
    }
}

/// The rates of a user's rule on the merged classes that have all it needs.
fn set_rates(user: User<'_>, classes: &MergedClasses, direction: &[f64], rates: &mut [f64]) {
    let rule = user.rule();
    let capacities = classes.capacities.chunks_exact(direction.len());
    for ((rate, members), capacities) in rates.iter_mut().zip(&classes.members).zip(capacities) {
        let class: ClassId = members[0];
        let has_all =
            direction.iter().zip(capacities).all(|(part, capacity)| *part == 0.0 || *capacity > 0.0);
        if has_all && rule.allows(class) {
            *rate = rule.rate(class).to_f64();
        }
    }
}
