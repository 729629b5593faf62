//! What a scheduler's own rule entitles tenants to that all ask for more: it fills the cluster in small steps, as a scheduler does
//! whose tasks are small.
//!
//! First everybody has what it is sure of, or its part of it where that is more than there is. Then, from the top of the tree down, the tenant is served that has least by the scheduler's
//! [`Measure`], until nothing more fits. A step is a thousandth of what the tenant has on all classes, so that what is found is right to
//! about that.

mod scaled;

use crate::tolerance::ENOUGH;
use scaled::Scaled;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

/// The part of what it has that a step is.
const STEP: f64 = 1e-3;
/// The largest part of what it has on a class that a step there is, of those of which it has little.
const LARGEST_STEP: f64 = 0.01;

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

struct Filling<'a> {
    shared: &'a Shared,
    classes: usize,
    /// What each tenant and all below it use.
    used: Vec<Vec<f64>>,
    /// Of each and each resource, what they use beyond what it is given, summed over the classes.
    borrowed: Vec<Vec<f64>>,
    /// What the tasks of each and of all below it are billed.
    billed: Vec<f64>,
    /// What each is given or, by weight, its fair part.
    fair: Vec<Vec<f64>>,
    /// Of each what it does not lend, and what it uses that those below it do not keep for themselves.
    kept: Vec<Vec<f64>>,
    counted: Vec<Vec<f64>>,
    /// What nobody uses or keeps yet.
    free: Vec<f64>,
    /// Of each resource, what is given at the top.
    given: Vec<f64>,
    /// So many times the answer on each class.
    times: Vec<Vec<f64>>,
    /// Of what it has on a class the part that a step there is.
    steps: Vec<Vec<f64>>,
    /// Whether more may fit on a class.
    open: Vec<Vec<bool>>,
    /// Below each tenant, and first of all below none, those that can still be served.
    queues: Vec<BinaryHeap<Next>>,
    /// What each has by hierarchical DRF, where that decides.
    scaled: Option<Scaled>,
}

impl<'a> Filling<'a> {
    fn new(shared: &'a Shared, classes: usize) -> Self {
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
    fn sure(&mut self) {
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
    fn rest(&mut self) {
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

    /// The limit of a tenant, or else of the nearest above it that has one; or all there is.
    fn most(&self, t: usize, at: usize) -> f64 {
        let above = std::iter::successors(Some(t), |t| self.shared.tenants[*t].parent);
        let mut limits = above.filter_map(|t| self.shared.tenants[t].limit[at]);
        limits.next().unwrap_or(self.shared.room[at]).min(self.shared.room[at])
    }

    /// What a tenant uses, in parts of what there is.
    fn parts(&self, t: usize) -> Vec<f64> {
        let parts = self.used[t].iter().zip(&self.shared.room);
        parts.map(|(used, all)| if *all > 0.0 { used / all } else { 0.0 }).collect()
    }

    /// How much a tenant has, by the scheduler's rule; and first, whether it comes after all those of whom that is not so.
    fn measure(&self, t: usize) -> (bool, f64) {
        let (tenant, used) = (&self.shared.tenants[t], &self.used[t]);
        let only = self.shared.compared_by(t);
        let counts = |at: usize| only.is_none_or(|only| at % self.shared.resources == only);
        let over = |of: &[f64]| {
            let part = |(used, of): (&f64, &f64)| match (*used, *of) {
                (0.0, _) => 0.0,
                (_, 0.0) => f64::INFINITY,
                (used, of) => used / of,
            };
            let counted = used.iter().zip(of).enumerate().filter(|(at, _)| counts(*at));
            counted.map(|(_, both)| part(both)).fold(0.0, f64::max)
        };
        let measure = match self.shared.measure {
            Measure::OverGiven | Measure::OverGivenElseAll | Measure::OverGivenElseMost => {
                let else_most = self.shared.measure == Measure::OverGivenElseMost;
                let of = |at: usize| match tenant.given[at] {
                    given if given > 0.0 => given,
                    _ if else_most => self.most(t, at),
                    _ => self.shared.room[at],
                };
                let has_any = (0..used.len()).any(|at| tenant.given[at] > 0.0);
                let weight = if has_any { 1.0 } else { tenant.weight };
                let all: Vec<f64> = (0..used.len()).map(of).collect();
                let is_last = !has_any && self.shared.measure == Measure::OverGiven;
                return (is_last, over(&all) / weight);
            }
            Measure::OverFair => over(&self.fair[t]),
            Measure::Billed => self.billed[t] / tenant.weight,
            Measure::Dominant | Measure::Scaled => {
                let part = |of: &[f64]| {
                    let parts = used.iter().zip(of).enumerate();
                    let parts = parts.filter(|(at, (_, of))| counts(*at) && **of > 0.0);
                    parts.map(|(_, (used, of))| used / of).reduce(f64::max)
                };
                if let Some(part) = part(&tenant.given).filter(|part| *part < 1.0 - ENOUGH) {
                    return (false, part);
                }
                return match &self.scaled {
                    Some(scaled) => (true, scaled.share(t)),
                    None => (true, part(&self.shared.room).unwrap_or(0.0) / tenant.weight),
                };
            }
            Measure::Borrowed => {
                let parts = (0..self.shared.resources).filter(|r| self.given[*r] > 0.0);
                parts.map(|r| self.borrowed[t][r] / self.given[r]).fold(0.0, f64::max) / tenant.weight
            }
        };
        (false, measure)
    }
}

/// Of what a tenant has on each class by the answer, the part that is a thousandth of all that it has: of the resource of which the class
/// has the largest part.
fn steps(tenant: &Told, resources: usize) -> Vec<f64> {
    let all: Vec<f64> = (0..resources).map(|r| tenant.uses.iter().skip(r).step_by(resources).sum()).collect();
    let part = |uses: &[f64]| {
        let parts = uses.iter().zip(&all).filter(|(_, all)| **all > 0.0);
        parts.map(|(uses, all)| uses / all).fold(0.0, f64::max)
    };
    tenant.uses.chunks(resources.max(1)).map(|uses| (STEP / part(uses)).clamp(STEP, LARGEST_STEP)).collect()
}

/// What each tenant is sure of: what it is given, or its part of what there is where siblings are given more than that together.
fn sure_parts(shared: &Shared) -> Vec<Vec<f64>> {
    let tenants = &shared.tenants;
    let mut sums = vec![vec![0.0; shared.room.len()]; tenants.len() + 1];
    let queue = |tenant: &Told| tenant.parent.map_or(0, |parent| parent + 1);
    for tenant in tenants {
        sums[queue(tenant)].iter_mut().zip(&tenant.given).for_each(|(sum, given)| *sum += given);
    }
    let mut sure: Vec<Vec<f64>> = Vec::with_capacity(tenants.len());
    for tenant in tenants {
        let above = tenant.parent.map_or(&shared.room, |parent| &sure[parent]);
        let part = |(at, given): (usize, &f64)| {
            let all: f64 = sums[queue(tenant)][at];
            if all > above[at] { given * above[at] / all } else { *given }
        };
        let own = tenant.given.iter().enumerate().map(part).collect();
        sure.push(own);
    }
    sure
}

/// What each tenant is given and, by weight, its part of what is given to none of its siblings: of those who use some and may have
/// more, so that what one cannot take goes to the others.
fn fair(shared: &Shared) -> Vec<Vec<f64>> {
    let tenants = &shared.tenants;
    let size = shared.room.len();
    let mut used: Vec<Vec<f64>> = tenants.iter().map(|tenant| tenant.uses.clone()).collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); tenants.len() + 1];
    for t in (0..tenants.len()).rev() {
        let parent = tenants[t].parent;
        below[parent.map_or(0, |parent| parent + 1)].push(t);
        if let Some(parent) = parent {
            let own = used[t].clone();
            used[parent].iter_mut().zip(own).for_each(|(sum, amount)| *sum += amount);
        }
    }
    let mut fair: Vec<Vec<f64>> = tenants.iter().map(|tenant| tenant.given.clone()).collect();
    // Parents come before those below them.
    for (queue, siblings) in below.iter().enumerate() {
        for at in 0..size {
            let all = queue.checked_sub(1).map_or(shared.room[at], |parent| fair[parent][at]);
            let mut left = (all - siblings.iter().map(|t| tenants[*t].given[at]).sum::<f64>()).max(0.0);
            // How much of the rest each can take for its weight; the least first.
            let weight_of = |t: usize| tenants[t].weights.get(at).copied().unwrap_or(tenants[t].weight);
            let room = |t: usize| match tenants[t].limit[at] {
                _ if used[t][at] == 0.0 => 0.0,
                Some(limit) => (limit - tenants[t].given[at]).max(0.0) / weight_of(t),
                None => f64::INFINITY,
            };
            let mut order: Vec<(f64, usize)> = siblings.iter().map(|t| (room(*t), *t)).collect();
            let priority = |t: usize| tenants[t].priority;
            order.sort_by(|a, b| {
                let first = priority(b.1).total_cmp(&priority(a.1));
                first.then(a.0.total_cmp(&b.0)).then(a.1.cmp(&b.1))
            });
            let (mut weights, mut of) = (0.0f64, f64::NAN);
            for (room, t) in order {
                // Those of the next priority divide what is left.
                if priority(t) != of {
                    of = priority(t);
                    weights = siblings.iter().filter(|t| priority(**t) == of).map(|t| weight_of(*t)).sum();
                }
                let weight = weight_of(t);
                let part = (left * weight / weights.max(f64::MIN_POSITIVE)).min(room * weight).min(left);
                fair[t][at] += part;
                left -= part;
                weights -= weight;
            }
        }
    }
    fair
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(parent: Option<usize>, weight: f64, given: &[f64], uses: &[f64]) -> Told {
        Told {
            parent,
            weight,
            weights: Vec::new(),
            priority: 0.0,
            compares: None,
            given: given.to_vec(),
            limit: vec![None; given.len()],
            kept: Vec::new(),
            uses: uses.to_vec(),
            billed: 0.0,
            most: vec![f64::INFINITY; 2],
        }
    }

    fn times(measure: Measure, resources: usize, room: &[f64], tenants: Vec<Told>) -> Vec<f64> {
        let shared = Shared { measure, resources, compares: None, room: room.to_vec(), tenants };
        shared.entitled().into_iter().map(|classes| classes.iter().sum()).collect()
    }

    /// Of Kueue's queues and cohorts: what they do not lend is their own, used or not, and of a cohort of those in it.
    #[test]
    fn what_is_not_lent_is_none_of_what_others_borrow() {
        let keeps = |kept: f64, tenant: Told| Told { kept: vec![kept], ..tenant };
        let idle = |kept| keeps(kept, told(None, 1.0, &[10.0], &[0.0]));
        let busy = |parent| told(parent, 1.0, &[10.0], &[1.0]);
        let found = times(Measure::Borrowed, 1, &[30.0], vec![idle(10.0), idle(4.0), busy(None)]);
        near(&found[2..], &[16.0]);
        // A cohort that lends 5 of its 20 keeps 15 for whoever is in it.
        let cohort = keeps(15.0, told(None, 1.0, &[20.0], &[0.0]));
        let found = times(Measure::Borrowed, 1, &[30.0], vec![cohort, busy(Some(0)), busy(None)]);
        near(&found[1..], &[20.0, 10.0]);
        let away = keeps(15.0, told(None, 1.0, &[20.0], &[0.0]));
        let little = Told { most: vec![2.0], ..told(Some(0), 1.0, &[10.0], &[1.0]) };
        let found = times(Measure::Borrowed, 1, &[30.0], vec![away, little, busy(None)]);
        near(&found[1..], &[2.0, 15.0]);
    }

    fn near(found: &[f64], expected: &[f64]) {
        let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 4e-3 * expected.max(1.0);
        assert!(found.iter().zip(expected).all(is_near), "{found:?}, not {expected:?}");
    }

    #[test]
    fn what_a_closed_or_idle_queue_cannot_take_goes_to_its_siblings() {
        let mut closed = told(None, 5.0, &[0.0], &[1.0]);
        closed.limit = vec![Some(0.0)];
        let idle = told(None, 5.0, &[0.0], &[0.0]);
        let tenants = vec![closed, told(None, 1.0, &[0.0], &[1.0]), idle, told(None, 1.0, &[4.0], &[1.0])];
        let shared =
            Shared { measure: Measure::OverFair, resources: 1, compares: None, room: vec![12.0], tenants };
        assert_eq!(fair(&shared), [[0.0], [4.0], [0.0], [8.0]]);
    }

    #[test]
    fn without_anything_given_the_pool_is_shared_by_dominant_shares() {
        // 9 cores and 18 GB, tasks of (1, 4) and (3, 1): the example of the paper on DRF, three and two tasks.
        let tenants = vec![told(None, 1.0, &[0.0; 2], &[1.0, 4.0]), told(None, 1.0, &[0.0; 2], &[3.0, 1.0])];
        near(&times(Measure::Dominant, 2, &[9.0, 18.0], tenants), &[3.0, 2.0]);
    }

    #[test]
    fn each_measure_shares_by_its_own_rule_what_nobody_is_given() {
        let tenants = || vec![told(None, 1.0, &[2.0], &[1.0]), told(None, 3.0, &[4.0], &[1.0])];
        near(&times(Measure::OverGiven, 1, &[12.0], tenants()), &[4.0, 8.0]);
        near(&times(Measure::Borrowed, 1, &[12.0], tenants()), &[3.5, 8.5]);
        near(&times(Measure::OverFair, 1, &[12.0], tenants()), &[3.5, 8.5]);
        near(&times(Measure::Dominant, 1, &[12.0], tenants()), &[3.0, 9.0]);
    }

    #[test]
    fn under_the_fair_scheduler_a_group_below_its_minimum_comes_first() {
        let mut tenants = vec![
            told(None, 1.0, &[8.0], &[0.0]),
            told(Some(0), 1.0, &[0.0], &[1.0]),
            told(Some(0), 3.0, &[0.0], &[1.0]),
            told(None, 1.0, &[0.0], &[1.0]),
        ];
        near(&times(Measure::Dominant, 1, &[12.0], tenants.clone())[1..], &[2.0, 6.0, 4.0]);
        tenants[0].given = vec![3.0];
        near(&times(Measure::Dominant, 1, &[12.0], tenants)[1..], &[1.5, 4.5, 6.0]);
    }

    #[test]
    fn who_is_given_nothing_shares_by_weight_what_those_leave_that_are_given_some() {
        let of = |weight, given: &[f64]| told(None, weight, given, &[1.0, 4.0]);
        let alike = vec![of(1.0, &[0.0; 2]), of(1.0, &[0.0; 2])];
        near(&times(Measure::OverGiven, 2, &[16.0, 64.0], alike.clone()), &[8.0, 8.0]);
        near(&times(Measure::OverGivenElseAll, 2, &[16.0, 64.0], alike), &[8.0, 8.0]);
        let weighted = vec![of(1.0, &[0.0; 2]), of(3.0, &[0.0; 2])];
        near(&times(Measure::OverGiven, 2, &[16.0, 64.0], weighted), &[4.0, 12.0]);
        // Of the second resource nobody is given anything, which is no bound.
        let of_one = vec![of(1.0, &[0.0; 2]), of(1.0, &[4.0, 0.0]), of(1.0, &[8.0, 0.0])];
        near(&times(Measure::OverGiven, 2, &[16.0, 64.0], of_one.clone()), &[0.0, 16.0 / 3.0, 32.0 / 3.0]);
        near(&times(Measure::OverGivenElseAll, 2, &[16.0, 64.0], of_one), &[4.0, 4.0, 8.0]);
    }

    #[test]
    fn those_that_are_given_more_than_there_is_have_their_parts_of_it() {
        for measure in [Measure::OverGiven, Measure::OverFair] {
            let tenants = vec![told(None, 1.0, &[12.0], &[1.0]), told(None, 1.0, &[12.0], &[1.0])];
            near(&times(measure, 1, &[12.0], tenants), &[6.0, 6.0]);
        }
    }

    #[test]
    fn borrowing_is_summed_over_classes_and_other_measures_take_each_by_itself() {
        // One class each beside a common one: whoever borrows on its own class gets less of the common one under Kueue.
        let tenants =
            || vec![told(None, 1.0, &[2.0, 2.0], &[1.0, 1.0]), told(None, 1.0, &[0.0, 2.0], &[0.0, 1.0])];
        near(&times(Measure::OverGiven, 1, &[6.0, 8.0], tenants()), &[10.0, 4.0]);
        // Four borrowed on the first class, four more are free on the second: all go to the other.
        near(&times(Measure::Borrowed, 1, &[6.0, 8.0], tenants()), &[8.0, 6.0]);
    }

    #[test]
    fn an_account_is_billed_for_each_of_its_jobs() {
        // One account with a user of cores and one of memory, and an account of both: of two thirds each, one third for each job.
        let mut tenants = vec![
            told(None, 2.0, &[0.0; 2], &[0.0; 2]),
            told(Some(0), 1.0, &[0.0; 2], &[1.0, 0.0]),
            told(Some(0), 1.0, &[0.0; 2], &[0.0, 1.0]),
            told(None, 2.0, &[0.0; 2], &[1.0, 1.0]),
        ];
        for tenant in &mut tenants[1..] {
            tenant.billed = 1.0 / 12.0;
        }
        near(&times(Measure::Billed, 2, &[12.0; 2], tenants.clone())[1..], &[4.0, 4.0, 8.0]);
        near(&times(Measure::Dominant, 2, &[12.0; 2], tenants)[1..], &[6.0, 6.0, 6.0]);
    }

    #[test]
    fn hierarchical_drf_starves_and_blocks_nobody_in_its_paper_s_cases() {
        // The numbers of Volcano's tests of H-DRF.
        let rescaling = vec![
            told(None, 1.0, &[0.0; 2], &[0.0; 2]),
            told(None, 1.0, &[0.0; 2], &[1.0, 1.0]),
            told(Some(0), 1.0, &[0.0; 2], &[1.0, 0.0]),
            told(Some(0), 1.0, &[0.0; 2], &[0.0, 1.0]),
        ];
        near(&times(Measure::Scaled, 2, &[10.0; 2], rescaling)[1..], &[5.0, 5.0, 5.0]);
        // What is given to the group comes first.
        let sure = vec![
            told(None, 1.0, &[8.0], &[0.0]),
            told(Some(0), 1.0, &[0.0], &[1.0]),
            told(Some(0), 1.0, &[0.0], &[1.0]),
            told(None, 1.0, &[0.0], &[1.0]),
        ];
        near(&times(Measure::Scaled, 1, &[12.0], sure)[1..], &[4.0, 4.0, 4.0]);
        let blocking = vec![
            told(None, 1.0, &[0.0; 2], &[0.0; 2]),
            told(None, 1.0, &[0.0; 2], &[1.0, 0.0]),
            told(None, 1.0, &[0.0; 2], &[1.0, 0.0]),
            told(Some(0), 1.0, &[0.0; 2], &[1.0, 0.0]),
            told(Some(0), 1.0, &[0.0; 2], &[0.0, 1.0]),
            told(None, 1.0, &[0.0; 2], &[0.0, 1.0]),
        ];
        near(&times(Measure::Scaled, 2, &[30.0; 2], blocking)[1..], &[10.0, 10.0, 10.0, 15.0, 15.0]);
    }

    #[test]
    fn groups_share_before_those_in_them_and_limits_hold_for_both() {
        let mut tenants = vec![
            told(None, 1.0, &[0.0], &[0.0]),
            told(Some(0), 1.0, &[0.0], &[1.0]),
            told(Some(0), 2.0, &[0.0], &[1.0]),
            told(None, 1.0, &[0.0], &[1.0]),
        ];
        near(&times(Measure::Dominant, 1, &[12.0], tenants.clone())[1..], &[2.0, 4.0, 6.0]);
        tenants[0].limit = vec![Some(3.0)];
        near(&times(Measure::Dominant, 1, &[12.0], tenants.clone())[1..], &[1.0, 2.0, 9.0]);
        tenants[3].most = vec![5.0];
        near(&times(Measure::Dominant, 1, &[12.0], tenants)[1..], &[1.0, 2.0, 5.0]);
    }
}
