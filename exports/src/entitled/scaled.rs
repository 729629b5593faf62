//! What tenants have by hierarchical DRF (Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads, 2013): a tenant with
//! others below it has the dominant share of what these hold together, once those that can have more are scaled down to the one of them that
//! has least. Who has nothing yet does not count.

use super::Told;
use std::collections::BTreeSet;

/// What each tenant has, kept while the cluster is filled.
pub(super) struct Scaled {
    parent: Vec<Option<usize>>,
    weight: Vec<f64>,
    /// Of each what it has, scaled, in parts of what there is; and the largest of these over its weight.
    has: Vec<Vec<f64>>,
    share: Vec<f64>,
    can_rise: Vec<bool>,
    /// Of those below each that can rise and have something: what they have for a share of one, added up, and their shares in order.
    for_a_share: Vec<Vec<f64>>,
    shares: Vec<BTreeSet<(u64, usize)>>,
    /// What the others below it have.
    held: Vec<Vec<f64>>,
}

impl Scaled {
    /// Of nobody having anything.
    pub fn new(tenants: &[Told], resources: usize, can_rise: Vec<bool>) -> Self {
        let nothing = || vec![vec![0.0; resources]; tenants.len()];
        Self {
            parent: tenants.iter().map(|tenant| tenant.parent).collect(),
            weight: tenants.iter().map(|tenant| tenant.weight).collect(),
            has: nothing(),
            share: vec![0.0; tenants.len()],
            can_rise,
            for_a_share: nothing(),
            shares: vec![BTreeSet::new(); tenants.len()],
            held: nothing(),
        }
    }

    /// What a tenant has over its weight.
    pub fn share(&self, tenant: usize) -> f64 {
        self.share[tenant]
    }

    /// A tenant with nobody below it uses these parts of what there is.
    pub fn set(&mut self, tenant: usize, has: Vec<f64>) {
        self.replace(tenant, has, self.can_rise[tenant]);
    }

    /// A tenant can have no more.
    pub fn stop(&mut self, tenant: usize) {
        self.replace(tenant, self.has[tenant].clone(), false);
    }

    fn replace(&mut self, mut tenant: usize, mut has: Vec<f64>, mut can_rise: bool) {
        loop {
            let parent = self.parent[tenant];
            if let Some(parent) = parent {
                self.count(parent, tenant, -1.0);
            }
            self.share[tenant] = has.iter().copied().fold(0.0, f64::max) / self.weight[tenant];
            (self.has[tenant], self.can_rise[tenant]) = (has, can_rise);
            let Some(parent) = parent else { return };
            self.count(parent, tenant, 1.0);
            let least = self.shares[parent].first().map_or(0.0, |(share, _)| f64::from_bits(*share));
            let both = self.for_a_share[parent].iter().zip(&self.held[parent]);
            has = both.map(|(each, held)| (each * least + held).max(0.0)).collect();
            (tenant, can_rise) = (parent, self.can_rise[parent]);
        }
    }

    /// Adds what a tenant has to what is known of those below its parent, or takes it away.
    fn count(&mut self, parent: usize, tenant: usize, sign: f64) {
        let share = self.share[tenant];
        if !self.can_rise[tenant] {
            self.held[parent].iter_mut().zip(&self.has[tenant]).for_each(|(sum, has)| *sum += sign * has);
        } else if share > 0.0 {
            let each = self.for_a_share[parent].iter_mut().zip(&self.has[tenant]);
            each.for_each(|(sum, has)| *sum += sign * has / share);
            // Numbers above zero are in the order of their bits.
            let known = (share.to_bits(), tenant);
            let _ = if sign > 0.0 {
                self.shares[parent].insert(known)
            } else {
                self.shares[parent].remove(&known)
            };
        }
    }
}
