//! What users have, in amounts of each resource on each class.

use fairplan_instances::{ClassId, Instance, KindId, ResourceId};

/// What users have on each class.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    classes: usize,
    resources: usize,
    /// Row-major `users × classes × resources`.
    amounts: Vec<f64>,
    /// Of each user, its tasks' largest parts of the cluster, summed.
    billed: Vec<f64>,
}

impl Held {
    /// From how many tasks of each kind (of each user, where it has no kinds) run on each class.
    pub fn new(instance: &Instance, tasks: impl IntoIterator<Item = (KindId, ClassId, f64)>) -> Self {
        let (classes, resources) = (instance.classes().len(), instance.resources().len());
        let mut amounts = vec![0.0; instance.user_count() * classes * resources];
        let mut billed = vec![0.0; instance.user_count()];
        let totals: Vec<f64> = (0..resources).map(|r| instance.total(ResourceId(r))).collect();
        for (kind, class, tasks) in tasks {
            let kind = instance.kind(kind);
            let parts = kind.demand_doubles().iter().zip(&totals).filter(|(_, total)| **total > 0.0);
            billed[kind.user().index().0] +=
                tasks * parts.map(|(demand, total)| demand / total).fold(0.0, f64::max);
            let start = (kind.user().index().0 * classes + class.0) * resources;
            for (amount, demand) in amounts[start..start + resources].iter_mut().zip(kind.demand_doubles()) {
                *amount += tasks * demand;
            }
        }
        Self { classes, resources, amounts, billed }
    }

    /// What a user has, row-major `classes × resources`.
    pub(crate) fn of(&self, user: usize) -> &[f64] {
        let length = self.classes * self.resources;
        &self.amounts[user * length..(user + 1) * length]
    }

    /// The largest parts of the cluster's total that each task of a user takes of a resource, summed.
    pub(crate) fn billed(&self, user: usize) -> f64 {
        self.billed[user]
    }
}
