//! What keeps every allowed purchase from being enough, and the least that must give way.

use super::candidates::Coverage;
use super::planner::Planner;
use crate::tolerance::planning::SLACK;
use fairplan_instances::{HeldNowhere, InstanceError, KeptOut, Obstacle, ResourceId, UserId};

/// Halvings of how far a user's own requirement goes down.
const HALVINGS: usize = 24;

impl Planner<'_> {
    /// Why what is asked for cannot be reached within the limits and the budget.
    pub fn obstacle(&mut self) -> Result<Obstacle, InstanceError> {
        let held_nowhere = self.held_nowhere();
        if let Some(HeldNowhere { user, resource, .. }) = held_nowhere.first() {
            let (user, resource) = (*user, *resource);
            let counts = vec![0; self.candidates.of_type.len()];
            return Ok(Obstacle {
                user,
                resource,
                nowhere: true,
                part: 0.0,
                counts,
                own_part: Some(0.0),
                held_nowhere,
                not_offered: Vec::new(),
                kept_out: None,
            });
        }
        let purchase = self.largest_part(1.0)?.0;
        let servers = self.candidates.servers(&purchase.counts, 1);
        let (user, resource) = match self.candidates.coverage(self.solver, &servers, 1)? {
            Coverage::Stranded(user) => {
                let short = self.nearest(user, |s| servers[s] > 0).map(|(_, r)| r);
                (user, short.unwrap_or_else(|| self.lacking(user)))
            }
            Coverage::Part(_, prices) => {
                let resource = self.dearest(&prices, &servers);
                (self.largest_payer(&prices, &servers, resource), resource)
            }
        };
        let own_part = self.own_part(user, &servers)?;
        let not_offered = self.not_offered(user);
        let (user, resource) = (UserId(user), ResourceId(resource));
        Ok(Obstacle {
            user,
            resource,
            nowhere: false,
            part: purchase.part,
            counts: purchase.counts,
            own_part,
            held_nowhere,
            not_offered,
            kept_out: None,
        })
    }

    /// The same where rules kept tasks of a user out, with this purchase.
    pub(super) fn kept_out(&self, user: usize, bought: &[u64], kept_out: KeptOut) -> Obstacle {
        Obstacle {
            user: UserId(user),
            resource: ResourceId(self.lacking(user)),
            nowhere: false,
            part: kept_out.placed as f64 / kept_out.required.max(1) as f64,
            counts: bought.to_vec(),
            own_part: None,
            held_nowhere: Vec::new(),
            not_offered: Vec::new(),
            kept_out: Some(kept_out),
        }
    }

    /// The tasks that run nowhere, whatever is bought.
    fn held_nowhere(&self) -> Vec<HeldNowhere> {
        let candidates = &self.candidates;
        let is_nowhere = |i: &usize| candidates.rates(*i).iter().all(|rate| *rate == 0.0);
        candidates.asking().filter(is_nowhere).map(|i| self.held_by_none(i, |_| true)).collect()
    }

    /// The tasks that no server on offer takes: those of `user`, and of others that want more of them than the servers that there are hold
    /// where each has them to itself.
    fn not_offered(&self, user: usize) -> Vec<HeldNowhere> {
        let candidates = &self.candidates;
        let held = |i: usize| -> f64 {
            let on_one = |s: usize| {
                let needed = candidates.demand_of(i).iter().zip(candidates.capacity_of(s));
                let times = needed.filter(|(need, _)| **need > 0.0).map(|(need, has)| has / need);
                times.fold(f64::INFINITY, f64::min)
            };
            let there = (0..candidates.len()).filter(|s| candidates.rates(i)[*s] > 0.0);
            there
                .map(|s| {
                    let on_one =
                        if candidates.are_whole() { (on_one(s) * (1.0 + SLACK)).floor() } else { on_one(s) };
                    candidates.owned[s] as f64 * on_one * candidates.rates(i)[s]
                })
                .sum()
        };
        let wants_more = |i: &usize| *i == user || candidates.required[*i] > held(*i) * (1.0 + SLACK);
        let all = candidates.asking().filter(|i| !self.is_offered_to(*i)).filter(wants_more);
        all.map(|i| self.held_by_none(i, |s| self.is_offered(s))).collect()
    }

    /// A task that none of these servers takes, and the one that comes nearest.
    fn held_by_none(&self, i: usize, is_there: impl Fn(usize) -> bool) -> HeldNowhere {
        let candidates = &self.candidates;
        let nearest = self.nearest(i, is_there);
        let r = nearest.map_or_else(|| self.lacking(i), |(_, r)| r);
        HeldNowhere {
            user: UserId(i),
            resource: ResourceId(r),
            needs: candidates.demand_of(i)[r],
            nearest: nearest.map(|(s, r)| (candidates.id_of(s).to_owned(), candidates.capacity_of(s)[r])),
        }
    }

    /// The servers that come nearest to holding a task of a user, of those that are open to it, and the resource that is short on
    /// them: the one of which the task needs the most times what they have.
    fn nearest(&self, user: usize, is_there: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let candidates = &self.candidates;
        let times = |s: usize, r: usize| {
            let (need, has) = (candidates.demand_of(user)[r], candidates.capacity_of(s)[r]);
            if need > 0.0 { need / has } else { 0.0 }
        };
        let scarcest =
            |s: usize| (0..candidates.resources).reduce(|a, b| if times(s, b) > times(s, a) { b } else { a });
        let open = (0..candidates.len()).filter(|s| candidates.is_open_to(*s, user) && is_there(*s));
        let nearer =
            |a: (usize, usize), b: (usize, usize)| if times(b.0, b.1) < times(a.0, a.1) { b } else { a };
        open.filter_map(|s| Some((s, scarcest(s)?))).reduce(nearer)
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

    /// Of those who need a resource, who pays the most.
    fn largest_payer(&self, prices: &[f64], servers: &[u64], resource: usize) -> usize {
        let candidates = &self.candidates;
        let pays = |i: usize| match candidates.demand_of(i)[resource] > 0.0 {
            true => candidates.required[i] * candidates.cheapest(i, prices, |s| servers[s] > 0),
            false => -1.0,
        };
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

    /// The largest part of its own requirement, of all its kinds, with which everyone else has all of theirs on these servers.
    fn own_part(&mut self, user: usize, servers: &[u64]) -> Result<Option<f64>, InstanceError> {
        let own = self.candidates.together_with(user);
        let all = self.candidates.required.clone();
        let mut enough = |part: f64| -> Result<bool, InstanceError> {
            own.iter().for_each(|user| self.candidates.required[*user] = part * all[*user]);
            let coverage = self.candidates.coverage(self.solver, servers, 1);
            self.candidates.required.clone_from(&all);
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
