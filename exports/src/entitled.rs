//! What a scheduler's own rule entitles tenants to that all ask for more: it fills the cluster in small steps, as a scheduler does
//! whose tasks are small.
//!
//! First everybody has what it is sure of, or its part of it where that is more than there is. Then, from the top of the tree down, the tenant is served that has least by the scheduler's
//! [`Measure`], until nothing more fits. A step is a thousandth of what the tenant has on all classes, so that what is found is right to
//! about that.

mod filling;
mod measure;
mod parts;
mod scaled;

use filling::Filling;

/// By what a scheduler decides who is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// What it uses over what it is given, of the resource where that is most, and over all there is of what it is given nothing of;
    /// who is given nothing at all comes last, by weight (YARN's capacity scheduler).
    OverGiven,
    /// The same, but who is given nothing at all does not come last; whoever has a higher priority comes before all others (Volcano).
    OverGivenElseAll,
    /// The same, over the most that it and those above it may have of what it is given nothing of (YuniKorn).
    OverGivenElseMost,
    /// What it uses beyond what it is given, of each resource summed over the classes, as a part of all that is given, where that is
    /// most, over its weight (Kueue).
    Borrowed,
    /// What it uses over its fair part: what it is given and, by weight among its siblings of one priority, of what is given to nobody nor taken by
    /// those of a higher one (KAI).
    OverFair,
    /// The largest part of the cluster that it uses, over its weight; who has less than it is given comes first, by the part of that
    /// which it has (YARN's fair scheduler).
    Dominant,
    /// The largest part of the cluster that it uses, over its weight, those below a tenant scaled down to the one of them that has least
    /// (`scaled.rs`): hierarchical DRF. Who has less than it is given comes first here too.
    Scaled,
    /// The sum of the largest parts of the cluster that its tasks take, one by one, over its weight (Slurm with `MAX_TRES`).
    Billed,
}

/// A tenant as a scheduler is told of it. All amounts count in the same units, row-major `classes × resources`; a scheduler that does
/// not know classes has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// The position of the tenant that it belongs to, which stands before it.
    pub parent: Option<usize>,
    /// Among its siblings.
    pub weight: f64,
    /// The same of each amount, where what is given to nobody is divided by other weights than that; empty: by that.
    pub weights: Vec<f64>,
    /// Whoever has more is served first, where the measure goes by that.
    pub priority: f64,
    /// The only resource by which those below it are compared, if it is but one.
    pub compares: Option<usize>,
    /// What it is sure of.
    pub given: Vec<f64>,
    /// The most it may have.
    pub limit: Vec<Option<f64>>,
    /// What it is given and does not lend to others, of what those below it lend; empty: it lends all.
    pub kept: Vec<f64>,
    /// Of one that belongs to nobody: of each resource, summed over classes, all of which those below it may borrow; empty: what it and its siblings
    /// are given.
    pub pool: Vec<f64>,
    /// Of one with nobody below it: what its tasks use where the answer has it run, all together.
    pub uses: Vec<f64>,
    /// The largest parts of the cluster that these tasks take, one by one, summed.
    pub billed: f64,
    /// So many times as much its tasks can use at most, of each class.
    pub most: Vec<f64>,
}

/// A cluster that tenants share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The rule.
    pub measure: Measure,
    /// How many resources there are.
    pub resources: usize,
    /// The only resource by which tenants without a parent are compared, if it is but one.
    pub compares: Option<usize>,
    /// What the scheduler can give out, row-major `classes × resources`.
    pub room: Vec<f64>,
    /// The tenants, each before those below it.
    pub tenants: Vec<Told>,
}

impl Shared {
    /// Of each tenant and class, in the order of the tenants: so many times as much as the answer has it use there. Of those with
    /// somebody below them nothing is said.
    pub fn entitled(&self) -> Vec<Vec<f64>> {
        let classes = self.room.len() / self.resources.max(1);
        // What runs on one class is no matter of another's, but where the measure sums them up.
        if classes > 1 && self.measure != Measure::Borrowed {
            let mut found = vec![Vec::with_capacity(classes); self.tenants.len()];
            for class in 0..classes {
                for (found, alone) in found.iter_mut().zip(self.only(class).entitled()) {
                    found.extend(alone);
                }
            }
            return found;
        }
        let mut filling = Filling::new(self, classes);
        filling.sure();
        filling.rest();
        filling.times
    }

    /// The only resource by which a tenant is compared with its siblings, if it is but one.
    fn compared_by(&self, tenant: usize) -> Option<usize> {
        self.tenants[tenant].parent.map_or(self.compares, |parent| self.tenants[parent].compares)
    }

    /// One class by itself.
    fn only(&self, class: usize) -> Self {
        let range = class * self.resources..(class + 1) * self.resources;
        let tenant = |tenant: &Told| Told {
            given: tenant.given[range.clone()].to_vec(),
            limit: tenant.limit[range.clone()].to_vec(),
            kept: tenant.kept.get(range.clone()).map(<[f64]>::to_vec).unwrap_or_default(),
            weights: tenant.weights.get(range.clone()).map(<[f64]>::to_vec).unwrap_or_default(),
            uses: tenant.uses[range.clone()].to_vec(),
            most: vec![tenant.most[class]],
            ..tenant.clone()
        };
        let tenants = self.tenants.iter().map(tenant).collect();
        Self {
            measure: self.measure,
            resources: self.resources,
            compares: self.compares,
            room: self.room[range.clone()].to_vec(),
            tenants,
        }
    }
}

#[cfg(test)]
mod tests;
