//! What keeps every allowed purchase from being enough, and the least that must give way.

use super::candidates::Coverage;
use super::planner::Planner;
use crate::tolerance::planning::SLACK;
use fairplan_instances::{Obstacle, ResourceId, SolverError, UserId};

/// Halvings of how far a user's own requirement goes down.
const HALVINGS: usize = 24;

impl Planner<'_> {
    /// Why what is asked for cannot be reached within the limits and the budget.
    pub fn obstacle(&mut self) -> Result<Obstacle, SolverError> {
        if let Some(user) = self.without_servers() {
            let counts = vec![0; self.candidates.of_type.len()];
            let resource = ResourceId(self.lacking(user));
            let user = UserId(user);
            return Ok(Obstacle { user, resource, nowhere: true, part: 0.0, counts, own_part: Some(0.0) });
        }
        let purchase = self.largest_part(1.0)?.0;
        let servers = self.candidates.servers(&purchase.counts, 1);
        let (user, resource) = match self.candidates.coverage(self.solver, &servers, 1)? {
            Coverage::Stranded(user) => (user, self.lacking(user)),
            Coverage::Part(_, prices) => {
                (self.largest_payer(&prices, &servers), self.dearest(&prices, &servers))
            }
        };
        let own_part = self.own_part(user, &servers)?;
        let (user, resource) = (UserId(user), ResourceId(resource));
        Ok(Obstacle {
            user,
            resource,
            nowhere: false,
            part: purchase.part,
            counts: purchase.counts,
            own_part,
        })
    }

    /// The resource of which a task needs the most beside what any server has, the cluster being as it is.
    fn lacking(&self, user: usize) -> usize {
        let candidates = &self.candidates;
        let need = |r: &usize| {
            let most = (0..candidates.len()).map(|s| candidates.capacity_of(s)[*r]).fold(0.0, f64::max);
            candidates.demand_of(user)[*r] / most.max(f64::MIN_POSITIVE)
        };
        (0..candidates.resources).reduce(|a, b| if need(&b) > need(&a) { b } else { a }).unwrap_or(0)
    }

    fn largest_payer(&self, prices: &[f64], servers: &[u64]) -> usize {
        let candidates = &self.candidates;
        let pays = |i: usize| candidates.required[i] * candidates.cheapest(i, prices, |s| servers[s] > 0);
        let users = candidates.asking().map(|i| (i, pays(i)));
        users.reduce(|a, b| if b.1 > a.1 { b } else { a }).map_or(0, |(i, _)| i)
    }

    fn dearest(&self, prices: &[f64], servers: &[u64]) -> usize {
        let m = self.candidates.resources;
        let worth = |r: &usize| -> f64 {
            let one = |s: usize| servers[s] as f64 * self.candidates.capacity_of(s)[*r] * prices[s * m + *r];
            (0..self.candidates.len()).map(one).sum()
        };
        (0..m).reduce(|a, b| if worth(&b) > worth(&a) { b } else { a }).unwrap_or(0)
    }

    /// The largest part of its own requirement with which everyone else has all of theirs on these servers.
    fn own_part(&mut self, user: usize, servers: &[u64]) -> Result<Option<f64>, SolverError> {
        let all = self.candidates.required[user];
        let mut enough = |part: f64| -> Result<bool, SolverError> {
            self.candidates.required[user] = part * all;
            let coverage = self.candidates.coverage(self.solver, servers, 1);
            self.candidates.required[user] = all;
            self.in_time()?;
            Ok(matches!(coverage?, Coverage::Part(reached, _) if reached >= 1.0 - SLACK))
        };
        if !enough(0.0)? {
            return Ok(None);
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if enough(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }
}
