//! The numbers that a solution document states of users and classes, held in lists so that they can be checked before they
//! are written.

use fairplan_instances::{ClassId, FEW_USERS, Headline, Instance, ResourceId, Solution, UserId};
use fairplan_verify::{Printed, SolutionClaim};
use rayon::prelude::*;

/// What the document of a solution will state.
#[derive(Clone, Debug)]
pub struct StatedNumbers {
    headline: Headline,
    tasks: Vec<f64>,
    dominant_shares: Vec<f64>,
    dominant_resources: Vec<ResourceId>,
    class_utilization: Vec<f64>,
    utilization: Vec<f64>,
}

impl StatedNumbers {
    /// Computes them as the document does.
    pub fn new(instance: &Instance, solution: &Solution) -> Self {
        let headline = Headline::new(instance, solution);
        let users = || (0..instance.user_count()).into_par_iter().with_min_len(FEW_USERS).map(UserId);
        let classes = (0..instance.classes().len()).map(ClassId);
        Self {
            tasks: users().map(|user| solution.allocation.tasks(user)).collect(),
            dominant_shares: users().map(|user| solution.allocation.dominant_share(instance, user)).collect(),
            dominant_resources: users().map(|user| instance.user(user).dominant_resource()).collect(),
            class_utilization: classes
                .filter_map(|class| headline.class_utilization(instance, class))
                .flatten()
                .collect(),
            utilization: headline.utilization(instance),
            headline,
        }
    }

    /// The numbers that head the document.
    pub fn headline(&self) -> &Headline {
        &self.headline
    }

    /// Every user's tasks.
    pub fn tasks(&self) -> &[f64] {
        &self.tasks
    }

    /// Every user's dominant share.
    pub fn dominant_shares(&self) -> &[f64] {
        &self.dominant_shares
    }

    /// Every user's dominant resource.
    pub fn dominant_resources(&self) -> &[ResourceId] {
        &self.dominant_resources
    }

    /// The claim that the document will make.
    pub fn claim<'a>(&'a self, solution: &'a Solution) -> SolutionClaim<'a> {
        let Headline {
            value, level, unplaced, bound, relative_gap, prices, groups, limits, guarantees, ..
        } = &self.headline;
        let printed = Printed {
            value: *value,
            level: *level,
            unplaced: *unplaced,
            groups,
            limits,
            guarantees,
            primal: *value,
            dual: *bound,
            relative_gap: *relative_gap,
            tasks: &self.tasks,
            dominant_shares: &self.dominant_shares,
            dominant_resources: &self.dominant_resources,
            class_utilization: &self.class_utilization,
            utilization: &self.utilization,
            prices,
        };
        SolutionClaim { printed: Some(printed), ..SolutionClaim::from(solution) }
    }
}
