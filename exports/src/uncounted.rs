//! What rests on a resource that the target does not count is not sure: others may take all of that resource.
//!
//! It is sure all the same where nobody else asks for the resource, or where the resources that are counted run out first: filled with
//! the tasks that take most of it, a class still has some.

use crate::export::Export;
use crate::tolerance::NOTHING;
use crate::tree::Tenant;

impl Export {
    /// Whether what a tenant has somewhere rests on a resource that the target does not count: then its rule does not say how much it
    /// gets.
    pub fn rests_on_uncounted(&self, tenant: usize) -> bool {
        (0..self.resources.len()).any(|resource| self.rests_on(tenant, resource))
    }

    /// Whether what a tenant has on some class rests on this resource, which the target does not count.
    pub(crate) fn rests_on(&self, tenant: usize, resource: usize) -> bool {
        let has = |class: &usize| self.tenants[tenant].exact[class * self.resources.len() + resource];
        (0..self.classes.len())
            .filter(|class| has(class) > NOTHING)
            .any(|class| self.may_be_taken(tenant, class, resource))
    }

    /// Whether tasks of a tenant may find nothing on a class of something that the target does not count.
    pub(crate) fn may_lack(&self, tenant: usize, class: usize) -> bool {
        let n = self.resources.len();
        let own = &self.tenants[tenant];
        let needs = |r: &usize| match own.is_alike {
            true => asks_for(own, *r),
            false => own.exact[class * n + r] > NOTHING,
        };
        (0..n).filter(needs).any(|resource| self.may_be_taken(tenant, class, resource))
    }

    /// Whether the target does not count a resource, and others can take all of it on a class.
    fn may_be_taken(&self, tenant: usize, class: usize, resource: usize) -> bool {
        let leaves =
            || self.tenants.iter().enumerate().filter(|(_, other)| other.is_leaf && other.eligible[class]);
        let is_asked_for = leaves().any(|(other, leaf)| other != tenant && asks_for(leaf, resource));
        if self.resources[resource].called.is_some() || !is_asked_for {
            return false;
        }
        let has = |r: usize| self.servers[class * self.resources.len() + r] * self.resources[r].unit as f64;
        // Of tasks that ask for the resource, the most that one takes of it for each unit of another.
        let most = |counted: usize| {
            let tasks = leaves().flat_map(|(_, leaf)| &leaf.tasks).filter(|task| task[resource] > 0);
            tasks.map(|task| task[resource] as f64 / task[counted] as f64).fold(0.0, f64::max)
        };
        let counted = (0..self.resources.len()).filter(|r| self.resources[*r].called.is_some());
        !counted.into_iter().any(|r| most(r) * has(r) <= has(resource))
    }
}

fn asks_for(tenant: &Tenant, resource: usize) -> bool {
    tenant.tasks.iter().any(|task| task[resource] > 0)
}
