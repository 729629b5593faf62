//! Fills the cluster: first what everybody is sure of, then step by step for whoever has least.

use super::parts::{fair, steps, sure_parts};
use super::scaled::Scaled;
use super::{Measure, Shared, Told};
use crate::tolerance::ENOUGH;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A tenant to be served; the one with the smallest measure comes first, of equal ones the first.
#[derive(PartialEq)]
struct Next {
    /// Where that decides.
    priority: f64,
    measure: (bool, f64),
    tenant: usize,
}

impl Eq for Next {}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((late, measure), (other_late, of_other)) = (self.measure, other.measure);
        let first = self.priority.total_cmp(&other.priority).then(other_late.cmp(&late));
        first.then(of_other.total_cmp(&measure)).then(other.tenant.cmp(&self.tenant))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A cluster that is being filled.
pub(super) struct Filling<'a> {
    pub(super) shared: &'a Shared,
    classes: usize,
    /// What each tenant and all below it use.
    pub(super) used: Vec<Vec<f64>>,
    /// Of each and each resource, what they use beyond what it is given, summed over the classes.
    pub(super) borrowed: Vec<Vec<f64>>,
    /// What the tasks of each and of all below it are billed.
    pub(super) billed: Vec<f64>,
    /// What each is given or, by weight, its fair part.
    pub(super) fair: Vec<Vec<f64>>,
    /// Of each what it does not lend, and what it uses that those below it do not keep for themselves.
    kept: Vec<Vec<f64>>,
    counted: Vec<Vec<f64>>,
    /// What nobody uses or keeps yet.
    free: Vec<f64>,
    /// Of each resource, what is given at the top.
    pub(super) given: Vec<f64>,
    /// So many times the answer on each class.
    pub times: Vec<Vec<f64>>,
    /// Of what it has on a class the part that a step there is.
    steps: Vec<Vec<f64>>,
    /// Whether more may fit on a class.
    open: Vec<Vec<bool>>,
    /// Below each tenant, and first of all below none, those that can still be served.
    queues: Vec<BinaryHeap<Next>>,
    /// What each has by hierarchical DRF, where that decides.
    pub(super) scaled: Option<Scaled>,
}

impl<'a> Filling<'a> {
    pub fn new(shared: &'a Shared, classes: usize) -> Self {
        let size = shared.room.len();
        let tenants = &shared.tenants;
        let mut given = vec![0.0; shared.resources];
        for tenant in tenants.iter().filter(|tenant| tenant.parent.is_none()) {
            for (at, amount) in tenant.given.iter().enumerate() {
                given[at % shared.resources] += amount;
            }
        }
        let kept = |tenant: &Told| if tenant.kept.is_empty() { vec![0.0; size] } else { tenant.kept.clone() };
        let kept: Vec<Vec<f64>> = tenants.iter().map(kept).collect();
        let lent = |at: usize| shared.room[at] - kept.iter().map(|kept| kept[at]).sum::<f64>();
        let runs = |tenant: &Told, class: usize| {
            tenant.uses[class * shared.resources..(class + 1) * shared.resources]
                .iter()
                .any(|amount| *amount > 0.0)
        };
        Self {
            shared,
            classes,
            used: vec![vec![0.0; size]; tenants.len()],
            borrowed: vec![vec![0.0; shared.resources]; tenants.len()],
            billed: vec![0.0; tenants.len()],
            fair: fair(shared),
            free: (0..size).map(lent).collect(),
            counted: vec![vec![0.0; size]; tenants.len()],
            kept,
            given,
            times: vec![vec![0.0; classes]; tenants.len()],
            steps: tenants.iter().map(|tenant| steps(tenant, shared.resources)).collect(),
            open: tenants
                .iter()
                .map(|tenant| (0..classes).map(|class| runs(tenant, class)).collect())
                .collect(),
            queues: Vec::new(),
            scaled: None,
        }
    }

    /// Everybody gets what it is sure of, as far as its tasks can use it.
    pub fn sure(&mut self) {
        let resources = self.shared.resources;
        let sure = sure_parts(self.shared);
        // Of what nothing is said where amounts are guarantees of single resources, there is no bound.
        let may_be_nothing = matches!(
            self.shared.measure,
            Measure::OverGiven | Measure::OverGivenElseAll | Measure::OverGivenElseMost
        );
        for (t, sure) in sure.iter().enumerate() {
            let tenant = &self.shared.tenants[t];
            for class in 0..self.classes {
                let range = class * resources..(class + 1) * resources;
                let used = range.clone().filter(|at| tenant.uses[*at] > 0.0);
                let used = used.filter(|at| !may_be_nothing || tenant.given[*at] > 0.0);
                let times = used.map(|at| sure[at] / tenant.uses[at]).fold(f64::INFINITY, f64::min);
                if times.is_finite() {
                    let fits = self.fits(t, class).max(0.0);
                    self.add(t, class, times.min(tenant.most[class]).min(fits));
                }
            }
        }
    }

    /// What is left goes to whoever has least.
    pub fn rest(&mut self) {
        let tenants = &self.shared.tenants;
        self.queues = (0..=tenants.len()).map(|_| BinaryHeap::new()).collect();
        // From below: whoever has nobody to serve below it is not served.
        let mut served: Vec<bool> = self.open.iter().map(|open| open.contains(&true)).collect();
        for t in (0..tenants.len()).rev() {
            if let Some(parent) = tenants[t].parent {
                served[parent] |= served[t];
            }
        }
        if self.shared.measure == Measure::Scaled {
            let mut is_leaf = vec![true; tenants.len()];
            tenants.iter().filter_map(|tenant| tenant.parent).for_each(|parent| is_leaf[parent] = false);
            let mut scaled = Scaled::new(tenants, self.shared.resources, served.clone());
            (0..tenants.len()).filter(|t| is_leaf[*t]).for_each(|t| scaled.set(t, self.parts(t)));
            self.scaled = Some(scaled);
        }
        for t in (0..tenants.len()).filter(|t| served[*t]) {
            let next = self.next(t);
            self.queues[tenants[t].parent.map_or(0, |parent| parent + 1)].push(next);
        }
        while self.serve(0) {}
    }

    fn next(&self, tenant: usize) -> Next {
        let goes_by_priority = self.shared.measure == Measure::OverGivenElseAll;
        let priority = if goes_by_priority { self.shared.tenants[tenant].priority } else { 0.0 };
        Next { priority, measure: self.measure(tenant), tenant }
    }

    /// Serves somebody in a queue; no more if nobody there can be.
    fn serve(&mut self, queue: usize) -> bool {
        let Some(Next { tenant, .. }) = self.queues[queue].pop() else { return false };
        let is_leaf = self.queues[tenant + 1].is_empty();
        let goes_on = if is_leaf { self.step(tenant) } else { self.serve(tenant + 1) };
        let is_left = if is_leaf { goes_on } else { !self.queues[tenant + 1].is_empty() };
        if let Some(mut scaled) = self.scaled.take() {
            if is_leaf {
                scaled.set(tenant, self.parts(tenant));
            }
            if !is_left {
                scaled.stop(tenant);
            }
            self.scaled = Some(scaled);
        }
        if is_left {
            let next = self.next(tenant);
            self.queues[queue].push(next);
        }
        !self.queues[queue].is_empty()
    }

    /// One step on the first class where one fits; whether another may.
    fn step(&mut self, tenant: usize) -> bool {
        for class in 0..self.classes {
            if !self.open[tenant][class] {
                continue;
            }
            let times = self.times[tenant][class];
            let wanted = times.max(1.0) * self.steps[tenant][class];
            let left = self.shared.tenants[tenant].most[class] - times;
            let fits = self.fits(tenant, class).min(left);
            self.add(tenant, class, wanted.min(fits).max(0.0));
            self.open[tenant][class] = fits > wanted * (1.0 + ENOUGH);
            return self.open[tenant].contains(&true);
        }
        false
    }

    /// So many times the answer fit on a class yet, by what is free and by the limits of the tenant and those above.
    fn fits(&self, tenant: usize, class: usize) -> f64 {
        let resources = self.shared.resources;
        let uses = &self.shared.tenants[tenant].uses;
        let mut fits = f64::INFINITY;
        for at in (class * resources..(class + 1) * resources).filter(|at| uses[*at] > 0.0) {
            let mut free = self.free[at];
            let mut most = f64::INFINITY;
            let mut above = Some(tenant);
            while let Some(t) = above {
                free += (self.kept[t][at] - self.counted[t][at]).max(0.0);
                if let Some(limit) = self.shared.tenants[t].limit[at] {
                    most = most.min(limit - self.used[t][at]);
                }
                above = self.shared.tenants[t].parent;
            }
            fits = fits.min(free.min(most) / uses[at]);
        }
        fits
    }

    fn add(&mut self, tenant: usize, class: usize, times: f64) {
        let resources = self.shared.resources;
        self.times[tenant][class] += times;
        let mut above = Some(tenant);
        while let Some(t) = above {
            self.billed[t] += self.shared.tenants[tenant].billed * times;
            above = self.shared.tenants[t].parent;
        }
        for at in class * resources..(class + 1) * resources {
            let amount = self.shared.tenants[tenant].uses[at] * times;
            // What is taken of what somebody keeps is none of what those above it lend.
            let mut seen = amount;
            let mut above = Some(tenant);
            while let Some(t) = above {
                let (counted, kept) = (&mut self.counted[t][at], self.kept[t][at]);
                let beyond = (*counted - kept).max(0.0);
                *counted += seen;
                seen = (*counted - kept).max(0.0) - beyond;
                let (used, given) = (&mut self.used[t][at], self.shared.tenants[t].given[at]);
                let beyond = (*used - given).max(0.0);
                *used += amount;
                self.borrowed[t][at % resources] += (*used - given).max(0.0) - beyond;
                above = self.shared.tenants[t].parent;
            }
            self.free[at] -= seen;
        }
    }
}
