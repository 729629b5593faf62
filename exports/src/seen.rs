//! The cluster and its tenants as the target sees them: on which places it counts what, and under which names its files say so.

use crate::Target;
use crate::amounts::{BILLION, MEBI};
use crate::entitled::Measure;
use crate::export::Export;
use crate::names;
use crate::tree::Tenant;

/// A resource at a place where the target counts it: on a class, or on the whole cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// What the target's files call the class; nothing where they name none.
    pub class: String,
    /// What they call the resource; nothing where the target does not count it.
    pub resource: String,
    /// What a unit is: in cores, bytes (of YARN and Slurm: MiB) or pieces.
    pub unit: f64,
}

impl Target {
    /// By what it decides who is next.
    pub fn measure(self) -> Measure {
        match self {
            Self::Kueue => Measure::Borrowed,
            Self::Yarn => Measure::OverGiven,
            Self::YuniKorn => Measure::OverGivenElseMost,
            Self::Volcano => Measure::OverGivenElseAll,
            Self::Kai => Measure::OverFair,
            Self::YarnFair => Measure::Dominant,
            Self::Slurm => Measure::Billed,
        }
    }
}

impl Export {
    /// What the target counts where, classes first.
    pub fn keys(&self) -> Vec<Key> {
        let in_mebibytes = !self.target.is_kubernetes();
        let places = match self.target.knows_classes() {
            true => names::of_classes(self.target, &self.named_classes()),
            false => vec![String::new()],
        };
        let key = |place: &String, resource: &crate::amounts::Counted| {
            let size = if in_mebibytes && resource.is_memory { MEBI } else { 1 };
            Key {
                class: place.clone(),
                resource: resource.called.clone().unwrap_or_default(),
                unit: resource.unit as f64 / (BILLION * size) as f64,
            }
        };
        places
            .iter()
            .flat_map(|place| self.resources.iter().map(move |resource| key(place, resource)))
            .collect()
    }

    /// How many resources the instance has.
    pub fn resource_count(&self) -> usize {
        self.resources.len()
    }

    /// What the servers have, by [`Self::keys`], in units.
    pub fn cluster(&self) -> Vec<f64> {
        self.by_key(&self.servers)
    }

    /// What a tenant uses by the answer, by [`Self::keys`], of what the target counts.
    pub fn uses(&self, tenant: usize) -> Vec<f64> {
        let mut uses = self.by_key(&self.tenants[tenant].exact);
        let n = self.resources.len();
        for (at, amount) in uses.iter_mut().enumerate() {
            if self.resources[at % n].called.is_none() {
                *amount = 0.0;
            }
        }
        uses
    }

    /// So many times what it uses are all tasks of a tenant, by the places of [`Self::keys`]. What the headroom takes of the answer makes
    /// them more.
    pub fn most(&self, tenant: usize) -> Vec<f64> {
        let Tenant { most, share, .. } = self.tenants[tenant];
        if self.target.knows_classes() {
            return self.left.iter().map(|left| most / left).collect();
        }
        let now = self.share_of(tenant, &vec![1.0; self.classes.len()]);
        vec![if now > 0.0 { most * (share / now).max(1.0) } else { most }]
    }

    /// Of the cluster's total the largest part of a resource that a tenant has with so many times its answer on each class; one number
    /// where the target does not know classes.
    pub fn share_of(&self, tenant: usize, times: &[f64]) -> f64 {
        let (n, exact) = (self.resources.len(), &self.tenants[tenant].exact);
        let on = |l: usize| times.get(l).or(times.first()).copied().unwrap_or(0.0);
        let part = |r: usize| {
            let sum: f64 = (0..self.classes.len()).map(|l| on(l) * exact[l * n + r]).sum();
            if self.totals[r] > 0.0 { sum / self.totals[r] } else { 0.0 }
        };
        (0..n).map(part).fold(0.0, f64::max)
    }

    /// What the target's files call each tenant: by its path, where they do.
    pub fn queue_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::with_capacity(self.tenants.len());
        for tenant in &self.tenants {
            let above = tenant.parent.map(|parent| names[parent].as_str());
            names.push(names::queue(self.target, above, &tenant.name, tenant.is_leaf));
        }
        names
    }

    /// The class whose nodes have no label in YARN.
    pub(crate) fn unlabelled(&self) -> usize {
        names::unlabelled(&self.named_classes())
    }

    /// What classes are called, and how many servers they have.
    fn named_classes(&self) -> Vec<(&str, u64)> {
        self.classes.iter().map(|class| (class.name.as_str(), class.count)).collect()
    }

    /// Amounts on each class as they are, or summed over them.
    fn by_key(&self, amounts: &[f64]) -> Vec<f64> {
        if self.target.knows_classes() {
            return amounts.to_vec();
        }
        let n = self.resources.len();
        (0..n).map(|r| amounts.iter().skip(r).step_by(n).sum()).collect()
    }
}
